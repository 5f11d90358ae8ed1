// One long run: warm-up cut by MSER-5, batch means, saturation as a verdict.
#pragma once

#include "banyan/api/network.hpp"

namespace banyan::api {

/// Windows for a run of that length after run.warmup.
[[nodiscard]] engine::SteadyPlan steady_plan(const config::Values& run, Tick measure);

[[nodiscard]] Result measure_steady(const Experiment& experiment, const Network& network,
                                    engine::EngineSettings settings, const RunOptions& options);

}  // namespace banyan::api
