// What jobs have shown, as JSON and as text: Result::jobs (docs/workload/jobs.md, "What a job says").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/network_jobs.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::api {

/// A collective that a job has, by kind.
struct CollectiveCount {
  std::string kind;
  std::string algorithm;  ///< several, with ", " between them, where it depends on the size
  u64 count = 0;
  u64 bytes = 0;  ///< of the vectors
};

struct JobRecord {
  std::string name;
  workload::JobOutcome outcome;
  double unit = 1.0;                           ///< of the outcome's times: ns, or cycles
  bool in_ns = false;                          ///< what `unit` is
  bool finished = true;                        ///< false: the network was deadlocked before, or the run had an end
  bool on_network = false;                     ///< not on the ideal one
  std::optional<double> slowdown_alone = 1.0;  ///< nullopt: it was not looked at
  std::optional<double> slowdown_ideal = 1.0;
  const workload::Program* program = nullptr;
  workload::Host host;
  std::vector<u32> terminals;  ///< [rank]; empty: the ideal network knows none
  std::vector<CollectiveCount> collectives;
  std::vector<WatchedMessage> watched;  ///< of the critical path, what happened to it in the network
};

/// The JSON array. `topology`: of the terminals and of what is watched; nullptr on the ideal network.
[[nodiscard]] std::string jobs_json(const std::vector<JobRecord>& jobs, const core::Topology* topology);

/// What people are shown of such an array.
[[nodiscard]] std::string jobs_text(const std::string& json);

}  // namespace banyan::api
