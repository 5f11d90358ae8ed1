// One long run: warm-up cut by MSER-5, batch means, saturation as a verdict. Or one of fixed length (run.duration):
// everything counts, nothing is waited for.
#pragma once

#include "banyan/api/network.hpp"

namespace banyan::api {

/// The end of the measurement when no precision prolongs it, ticks.
[[nodiscard]] Tick planned_end(const config::Values& run);

/// Windows for a run of that length after run.warmup.
[[nodiscard]] engine::SteadyPlan steady_plan(const config::Values& run, Tick measure);

[[nodiscard]] Result measure_steady(const Experiment& experiment, const Network& network,
                                    engine::EngineSettings settings, const RunOptions& options);

}  // namespace banyan::api
