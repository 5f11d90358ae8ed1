// A run that stops itself: the goal from the parameters, and what to say when it is over.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/stats/precision.hpp"

namespace banyan::api {

/// Reads run.precision; there is none when it is 0, or the run has a fixed length.
[[nodiscard]] std::optional<stats::PrecisionGoal> precision_goal(const config::Values& run);

/// The length at which it gives up, from the length asked for (run.measure or run.sessions).
[[nodiscard]] u64 precision_limit(const config::Values& run, u64 length);

/// The measured length at which a steady run with an uncertain verdict gives up, from run.measure and run.extension;
/// `length` itself where it has another reason to end.
[[nodiscard]] u64 extension_limit(const config::Values& run, u64 length);

/// How much longer a run should have been, as a multiple of its length (0: what was asked is reached), by the widest of
/// these metrics; absent when one of them has no interval. Metrics that the result does not have are passed over.
[[nodiscard]] std::optional<double> precision_missing(const Result& result, const stats::PrecisionGoal& goal,
                                                      const std::vector<std::string>& metrics);

/// Adds to the explanation how precise the metrics are; warns when one of them is wider than asked. Metrics that the
/// result does not have are passed over. Without a goal: nothing. `forgets`: a longer run would be more precise.
void state_precision(Result& result, const config::Values& run, const std::vector<std::string>& metrics,
                     bool forgets = true);

}  // namespace banyan::api
