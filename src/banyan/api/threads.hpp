// How many threads step one network: as many as were asked for, or as there are free cores, where they pay.
#pragma once

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"

namespace banyan::api {

/// Cores that this process may use, less the load of the machine in the last minute; at least 1.
[[nodiscard]] u32 free_cores();

/// Threads to build a machine for: `wanted` (0: free_cores()), no more than cores, no more than pay for so many
/// switches. An experiment that says its number of shards is taken at its word.
[[nodiscard]] u32 threads_for(const Experiment& experiment, u32 switches, u32 wanted);

/// Sets the threads and ranks of a machine, and what it is cut for: the threads of all ranks. These need not have
/// equally many; each gets as many shards. `wanted` as above; `ranks`: nullptr where one process has the network.
void share_out(engine::EngineSettings& settings, const Experiment& experiment, u32 switches, u32 wanted,
               engine::Ranks* ranks);

/// Why a machine that was shared out so has fewer threads than `wanted`; empty where it does not.
[[nodiscard]] std::string why_fewer_threads(const Experiment& experiment, const engine::Machine& machine, u32 switches,
                                            u32 wanted, const engine::Ranks* ranks);

}  // namespace banyan::api
