// What is likely to disappoint in an experiment that runs.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/network.hpp"

namespace banyan::api {

/// What makes this network slower than its channels by the parameters of its switches, and what its admission waits for
/// in vain, each in a sentence. `carried`: a run has shown that the load is carried.
[[nodiscard]] std::vector<std::string> warnings_of(const Experiment& experiment, const Network& network,
                                                   const Traffics& traffics, bool carried = false);

}  // namespace banyan::api
