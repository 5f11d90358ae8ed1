// Parameters that are given and mean nothing: a value that is taken in silence and does nothing looks like one that
// does.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// One sentence, with its place, for each parameter that some of these points give another value than its default
/// although it means nothing beside their other values (config::Parameter::only_with), and that means something in none
/// of them; but not what an override of another value has made idle. "x.toml:4:10: switch.saqs: 4 changes nothing with
/// queues = voqsw; it means something only with ...".
[[nodiscard]] std::vector<std::string> idle_parameters(const std::vector<Experiment>& points);

}  // namespace banyan::api
