// Sessions as independent replications, spread over threads and merged in their order.
#pragma once

#include "banyan/api/network.hpp"
#include "banyan/engine/session.hpp"

namespace banyan::api {

/// What the parameters say about every session.
[[nodiscard]] engine::SessionSettings session_settings(const config::Values& run);

/// Whether ranks share out the sessions of an experiment instead of its network: each runs some in a network of its
/// own, whatever the switches and traffics are. Where there are enough of them, and the network is no burden.
[[nodiscard]] bool deals_sessions(const Experiment& experiment, const Network& network, const RunOptions& options);

[[nodiscard]] Result measure_sessions(const Experiment& experiment, const Network& network,
                                      engine::EngineSettings settings, const RunOptions& options);

}  // namespace banyan::api
