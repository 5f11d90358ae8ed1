// How several processes share a run, and what they cannot share yet (docs/how-to/run-on-a-cluster.md tells users).
#pragma once

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"

namespace banyan::api {

/// Throws ConfigError where ranks cannot share the experiment.
void require_shareable(const Experiment& experiment);

/// Whether ranks share out the sessions of an experiment instead of its network: each runs some in a network of its
/// own, whatever the switches and traffics are. Where there are enough of them, and the network is no burden.
[[nodiscard]] bool deals_sessions(const Experiment& experiment, const Network& network, const RunOptions& options);

/// Throws ConfigError where they cannot share a job. `reduces`: switches add up what it contributes.
void require_shareable(const config::Values& job, bool reduces);

/// Throws ConfigError where they cannot share the traffics.
void require_shareable(const Experiment& experiment, const Traffics& traffics);

}  // namespace banyan::api
