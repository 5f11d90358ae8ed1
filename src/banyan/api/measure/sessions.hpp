// Sessions as independent replications, spread over threads and merged in their order.
#pragma once

#include "banyan/api/network.hpp"
#include "banyan/engine/session.hpp"

namespace banyan::api {

/// What the parameters say about every session.
[[nodiscard]] engine::SessionSettings session_settings(const config::Values& run);

/// How many sessions there are at least: one where all are equal by construction.
[[nodiscard]] u64 sessions_of(const Experiment& experiment, const Network& network);

/// Over ranks, see deals_sessions().
[[nodiscard]] Result measure_sessions(const Experiment& experiment, const Network& network,
                                      engine::EngineSettings settings, const RunOptions& options);

}  // namespace banyan::api
