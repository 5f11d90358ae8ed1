// Jobs on a simulated network: the event loops of their hosts, coupled with a network that is stepped.
#pragma once

#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/workload/replay.hpp"

namespace banyan::api {

/// One job as it is replayed.
struct PlacedJob {
  const workload::Program* program = nullptr;
  workload::Host host;
  u64 start = 0;
  u32 repeats = 1;
  std::vector<u32> terminals;  ///< [rank]
};

struct NetworkJobsOutcome {
  struct OfJob {
    workload::JobOutcome outcome;
    double slowdown_alone = 1.0;  ///< against the job without other jobs and traffics
    double slowdown_ideal = 1.0;  ///< against the job on a network without contention
  };
  std::vector<OfJob> jobs;
  u64 hash = 0;          ///< of the network at the end
  std::string blockage;  ///< why the network does not move any more; empty: it does
};

/// `experiment`: with the traffic "injected" first. `flit`: bytes that one carries. Times in cycles. Stops at the first
/// job that cannot go on. Throws ConfigError, InvariantError, Interrupted.
[[nodiscard]] NetworkJobsOutcome run_on_network(const Experiment& experiment, u32 flit,
                                                const std::vector<PlacedJob>& jobs, const RunOptions& options);

}  // namespace banyan::api
