// The workers of a sweep in parts, watched by their signs of life: under Slurm, and where mpirun started them.
#pragma once

#include <functional>
#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/cli/arguments.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {

/// The part that the environment gives to this process, where mpirun or srun started several: "3/8"; "" otherwise.
[[nodiscard]] std::string part_of_environment();

/// Submits a job array whose tasks are the parts, and with --wait follows it until all points are there. Returns false
/// when the points are not awaited.
[[nodiscard]] bool run_on_slurm(const api::ExperimentSet& set, const store::Source& source,
                                const RunArguments& arguments);

/// Waits until every part is finished. Throws ConfigError when one fails, or is silent for too long.
void await_parts(const api::ExperimentSet& set, const store::Source& source, u32 parts, const RunArguments& arguments);

}  // namespace banyan::cli
