// Slurm, through its own programs: sbatch, squeue, scancel.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::cli {

/// What a job array runs, and how.
struct SlurmJob {
  std::string name;    ///< by which it is found again
  std::string folder;  ///< of the script and the jobs' words
  std::string script;
  std::string time;       ///< as Slurm writes it; "" leaves it to the partition
  std::string partition;  ///< "": the default one
  u32 threads = 0;        ///< per task; 0: what the partition gives
  u32 at_once = 0;        ///< tasks; 0: as many as there is room for
};

/// A task of an array, as squeue shows it.
struct SlurmTask {
  std::string id;     ///< "123_4"
  std::string state;  ///< "PENDING", "RUNNING" ...
  std::string reason;
};

/// Submits tasks of the array; returns the job's number. Throws ConfigError when there is no Slurm, or it refuses.
[[nodiscard]] std::string submit(const SlurmJob& job, const std::vector<u32>& tasks);

/// The tasks of this user in the queue, by their index in the array; of two with one index the later job. Nothing when
/// Slurm does not answer. Throws ConfigError when there is no Slurm.
[[nodiscard]] std::optional<std::map<u32, SlurmTask>> queued(const std::string& name);

/// Asks Slurm to forget a task; whether it does is not waited for.
void cancel(const std::string& task);

}  // namespace banyan::cli
