// Jobs on a simulated network: the event loops of their hosts, coupled with a network that is stepped.
#pragma once

#include <optional>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/packet_log_file.hpp"
#include "banyan/api/profile.hpp"
#include "banyan/workload/replay.hpp"

namespace banyan::api {

/// One job as it is replayed.
struct PlacedJob {
  const workload::Program* program = nullptr;
  workload::Host host;
  u64 start = 0;
  u32 repeats = 1;
  std::vector<u32> terminals;           ///< [rank]
  std::vector<double> cycles_per_flit;  ///< [rank]: of its terminal's link into the network; 0: without limit
  u64 sends = 0;                        ///< of one repeat, that cross the network
  bool reduces = false;       ///< what its ranks send to themselves are contributions to reductions in the network
  bool only_reduces = false;  ///< and they send nothing else
  u32 door = 0;               ///< of the traffics "injected", the one for contributions
};

/// What happened in the network to a message of a critical path. Times in cycles.
struct WatchedMessage {
  workload::Place send;
  u32 repeat = 0;  ///< of the rank that sends, from 0
  u64 idle = 0;    ///< what it would have taken in the idle network
  struct Passage {
    bool terminal = false;  ///< `node` is a terminal, not a switch
    u32 node = 0;
    u32 port = 0;
    u64 left = 0;    ///< when the head of its last packet left
    u64 waited = 0;  ///< before, longer than where the message is alone in the network
  };
  std::vector<Passage> passages;  ///< of its last packet; empty: it was not watched
};

struct NetworkJobsOutcome {
  struct OfJob {
    workload::JobOutcome outcome;
    /// Against the job without other jobs and traffics, and on a network without contention; nullopt: not all jobs came
    /// to their end.
    std::optional<double> slowdown_alone;
    std::optional<double> slowdown_ideal;
    std::vector<WatchedMessage> watched;  ///< of its critical path, in the order of the path
  };
  std::vector<OfJob> jobs;
  u64 hash = 0;                       ///< of the network at the end
  std::vector<u64> channel_flits;     ///< [channel of the graph], of all traffics; empty: they were not counted
  std::vector<u64> channel_overhead;  ///< likewise: engine::ProbeReport::channel_overhead
  std::string blockage;               ///< why the network does not move any more; empty: it does
  bool not_followed = false;          ///< too many flits for a second run, which would say more of critical paths
  std::string fewer_threads;          ///< why not as many stepped as were asked for; empty: they did
  double helper_cpu_seconds = 0.0;    ///< of threads beside the caller's, in all runs that were made
  bool late = false;                  ///< run.session_limit came before the end of all jobs
};

/// `experiment`: with the traffic "injected" first, and behind it perhaps the one for requests and consents, and those
/// of jobs that reduce in the network. `flit`:
/// bytes that one carries. Times in cycles. Stops at the first job that cannot go on. Networks through which no more
/// than kMostFlitsAgain have gone, or that `again` is said of, are run once more to see what happened to the messages
/// of critical paths. `log` and `profile`, if there are any, are of the first run, which has all jobs. Of several ranks
/// (options.ranks) each has the hosts of all jobs, and its part of the network. Throws ConfigError, InvariantError,
/// Interrupted.
[[nodiscard]] NetworkJobsOutcome run_on_network(const Experiment& experiment, u32 flit,
                                                const std::vector<PlacedJob>& jobs, const RunOptions& options,
                                                bool again, PacketLogFile* log, Profile* profile);

inline constexpr u64 kMostFlitsAgain = u64{1} << 22U;

}  // namespace banyan::api
