// What a command says and refuses before it builds what may not fit.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::cli {

/// Refuses experiments whose networks, so many at once, cannot fit into the memory; notes on standard error what they
/// need where that is much, unless `quiet`. What is not said at once is returned, for a
/// ProgressDisplay to say: only networks that take long to build are told of before it is known that there is no error
/// in them.
[[nodiscard]] std::string announce_needs(const std::vector<api::Experiment>& points, u32 at_once, bool quiet);

/// Warns on standard error of parameters that are given and mean nothing (api::idle_parameters).
void warn_of_idle_parameters(const std::vector<api::Experiment>& points);

/// Warns on standard error of values of the routing function or of the topology that halve the throughput of these
/// experiments, which are saturated (api::check_choices).
void warn_of_choices(const std::vector<api::Experiment>& saturated);

}  // namespace banyan::cli
