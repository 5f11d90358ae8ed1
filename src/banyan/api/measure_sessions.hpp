// Sessions as independent replications, spread over threads and merged in their order.
#pragma once

#include "banyan/api/network.hpp"

namespace banyan::api {

[[nodiscard]] Result measure_sessions(const Experiment& experiment, const Network& network,
                                      engine::EngineSettings settings, const RunOptions& options);

}  // namespace banyan::api
