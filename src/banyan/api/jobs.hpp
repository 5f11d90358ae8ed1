// Experiments of jobs: schedules of ranks on hosts ([[job]]), on a network without contention or on a simulated one
// (docs/workload/jobs.md). run() and check() of experiment.hpp come here where an experiment has jobs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// The parameters of `[[job]]`, those of its generator, host and collectives included.
[[nodiscard]] const config::ComponentInfo& job_info();
/// Whether a parameter of `[[job]]` is for Chakra traces only.
[[nodiscard]] bool is_for_traces(std::string_view parameter);
/// `flit`, `packet` and `cycle_time` of an experiment of jobs.
[[nodiscard]] const config::ComponentInfo& messages_info();

/// Whether the switch model of that name has no contention: its jobs run in a loop of their own and ask no routing.
[[nodiscard]] bool is_without_contention(std::string_view switch_name);

/// Names the jobs and finds their files, and gives `flit` and `packet` what the switch model says. Throws ConfigError.
void complete_jobs(Experiment& experiment);
/// Adds the jobs to a canonical configuration.
void describe_jobs(const Experiment& experiment, nlohmann::json& all);

/// Leaves of a canonical configuration's [run] what runs of jobs depend on; `has_limit`: the file gives a
/// session_limit.
void keep_run_of_jobs(nlohmann::json& run, bool has_limit);

/// The network that jobs run on as an experiment: with the traffic "injected" first, and without the jobs.
[[nodiscard]] Experiment network_of_jobs(const Experiment& experiment);

/// Reads every job's schedule, builds the network and places the ranks. Returns notes of what was done with the ranks.
/// Throws ConfigError where something is not sound.
[[nodiscard]] std::vector<std::string> check_jobs(const Experiment& experiment);

/// Throws ConfigError where a job cannot be run to its end, saying why; Interrupted. Of a network that is deadlocked
/// the verdict says so.
[[nodiscard]] Result run_jobs(const Experiment& experiment, const RunOptions& options);

}  // namespace banyan::api
