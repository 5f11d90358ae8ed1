// The seeds of one point of a sweep as one estimate: tables, charts and pages all have this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::api {

/// The confidence of the intervals of a run (run.confidence).
[[nodiscard]] double confidence_of(const Result& result);

/// How many of the runs have no such metric, or none that is a number: an incast that is not done, a recovery that does
/// not come, a latency without a steady state.
[[nodiscard]] std::size_t seeds_without(const std::vector<const Result*>& runs, const std::string& metric);

/// The mean over the runs of their means of a metric, with the interval that these give (stats::mean_interval), of
/// their confidence. Nothing where one of them has none: the others are no sample of all, and their mean would be that
/// of the lucky ones.
[[nodiscard]] std::optional<stats::Interval> pool_seeds(const std::vector<const Result*>& runs,
                                                        const std::string& metric);

}  // namespace banyan::api
