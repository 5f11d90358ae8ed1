// What one run over several processes cannot do yet (docs/how-to/run-on-a-cluster.md lists it for users).
#pragma once

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"

namespace banyan::api {

/// Throws ConfigError where ranks cannot share what is asked for beside the result, or an experiment of jobs.
void require_shareable(const Experiment& experiment, const RunOptions& options);

/// Throws ConfigError where they cannot share the traffics.
void require_shareable(const Experiment& experiment, const Traffics& traffics, bool sessions);

}  // namespace banyan::api
