// Experiments of jobs: schedules of ranks on hosts ([[job]]), on the ideal network or on a simulated one
// (docs/workload/jobs.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/config/tree.hpp"
#include "banyan/workload/replay.hpp"

namespace banyan::api {

/// One `[[job]]`, with its parameters in the file's units.
struct Job {
  std::string name;
  config::Values values;                    ///< of job_info()
  std::optional<config::Values> generator;  ///< of workload::collective_info(), in place of a file
};

struct JobExperiment {
  std::string name;
  config::Values topology;
  config::Values switching;           ///< of ideal_info(), unless there is a network
  std::optional<Experiment> network;  ///< with the traffic "injected" first; none: the ideal network
  u32 flit = 32;                      ///< bytes of a flit of the network
  double cycle_ns = 0.0;              ///< 0: a cycle has no length
  u64 seed = 1;
  std::vector<Job> jobs;
  std::string configuration;  ///< canonical JSON
};

/// The parameters of `[[job]]`, and of the switch model `ideal`.
[[nodiscard]] const config::ComponentInfo& job_info();
[[nodiscard]] const config::ComponentInfo& ideal_info();

/// Nothing when the file has no `[[job]]`. Throws ConfigError.
[[nodiscard]] std::optional<JobExperiment> read_jobs(const std::string& file, const Overrides& overrides);

/// What a job has shown, times in nanoseconds where a cycle has a length, else in cycles.
struct JobResult {
  std::string name;
  workload::JobOutcome outcome;
  double unit = 1.0;        ///< of the outcome's times
  bool finished = true;     ///< false: the network was deadlocked before
  bool on_network = false;  ///< not on the ideal one
  double slowdown_alone = 1.0;
  double slowdown_ideal = 1.0;
  /// Operations of the chain that ended last, with text and end.
  struct Step {
    u32 rank = 0;
    u32 operation = 0;
    std::string what;
    u64 end = 0;
  };
  std::vector<Step> critical_path;
};

struct JobsResult {
  Result result;  ///< verdict, metrics, state hash
  std::vector<JobResult> jobs;
};

/// Reads every job's schedule, and throws ConfigError where one is not sound.
void check_jobs(const JobExperiment& experiment);

/// Throws ConfigError where a job cannot be run to its end, saying why; Interrupted. Of a network that is deadlocked
/// the verdict says so.
[[nodiscard]] JobsResult run_jobs(const JobExperiment& experiment, const RunOptions& options);

/// The JSON of a result with the array "jobs".
[[nodiscard]] std::string to_json(const JobsResult& result);
[[nodiscard]] std::string to_table(const JobsResult& result);

}  // namespace banyan::api
