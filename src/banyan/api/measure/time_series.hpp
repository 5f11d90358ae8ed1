// The series of a steady run that were asked for with run.window.
#pragma once

#include "banyan/api/experiment.hpp"
#include "banyan/engine/timeline.hpp"

namespace banyan::api {

/// Adds, for every whole window of the run (its time is the middle of the window, cycles):
/// offered_load, accepted_load (flits/cycle/terminal), throughput (flits/cycle of the whole network), packet_latency
/// (cycles, mean of the packets that arrive; NaN where none does), packets_in_network (mean over the window),
/// source_backlog (flits that wait at their sources when it ends); with several traffics offered_load, accepted_load,
/// throughput and packet_latency of each. A last window that `end` cuts short is left out.
void add_time_series(Result& result, const Experiment& experiment, const engine::Timeline& timeline, Tick end,
                     u32 terminals);

/// Adds what a cycle and a flit are worth as metrics; 0: nobody says.
void add_units(Result& result, double cycle_ns, u32 flit_bytes);

}  // namespace banyan::api
