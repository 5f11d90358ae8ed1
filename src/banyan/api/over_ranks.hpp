// How several processes share a run, and what they cannot share yet (docs/how-to/run-on-a-cluster.md tells users).
#pragma once

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"

namespace banyan::api {

/// Throws ConfigError where ranks cannot share the experiment.
void require_shareable(const Experiment& experiment);

/// Throws ConfigError where they cannot share the traffics.
void require_shareable(const Experiment& experiment, const Traffics& traffics);

}  // namespace banyan::api
