// What probes wrote down (engine/probe.hpp), in the names of the topology.
#pragma once

#include <optional>

#include "banyan/api/experiment.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/probe.hpp"
#include "banyan/engine/tree_recorder.hpp"

namespace banyan::api {

/// What a run is to write down: run.tables, the watches and the trace. Throws ConfigError for a watch that names
/// nothing in this network. `from`: first tick that counts.
[[nodiscard]] engine::ProbePlan probe_plan(const Experiment& experiment, const core::Topology& topology,
                                           const RunOptions& options, Tick from);

/// Adds the tables "channels", "flows" and "events", and the metrics that summarize them. `cycles`: length of what was
/// measured.
void add_recorded(Result& result, const Experiment& experiment, const engine::ProbePlan& plan,
                  const engine::ProbeReport& report, const core::Topology& topology, u64 cycles);

/// The messages that a probe saw as the text of a trace.
[[nodiscard]] std::string trace_text(const engine::ProbeReport& report, std::size_t traffics,
                                     const core::Topology& topology);

/// What run.trees asks for; of interval 0 when it does not.
[[nodiscard]] engine::TreePlan tree_plan(const Experiment& experiment);
/// Adds the record and the metrics that sum it up.
void add_trees(Result& result, const stats::CongestionRecord& record, const engine::JudgedMarks& marks);

/// Whether run.activity or run.energy asks for what the hardware does.
[[nodiscard]] bool counts_activity(const Experiment& experiment);

/// Adds run.activity's counters as metrics.
void add_activity(Result& result, const Experiment& experiment, const std::optional<engine::Activity>& activity);

/// Share of the time that a channel is busy with so many flits, and beyond their time (`overhead`, as in
/// engine::ProbeReport). A flit is counted when it is handed to its channel, which may carry it after what is measured,
/// as the rest of its packet or behind what waits for a slow channel: no channel is busy for longer than there is.
[[nodiscard]] double utilization(u64 flits, u64 overhead, const core::Link& link, const Experiment& experiment,
                                 u64 cycles);

}  // namespace banyan::api
