// The seeds of one point of a sweep as one estimate: tables, charts and pages all have this one.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::api {

/// The mean over the runs of their means of a metric, with the interval that these give (stats::mean_interval);
/// `groups` counts the runs that have a mean. Nothing where none has one, or where some found no steady state and have
/// none: the others are no sample of all, and their mean would be too good.
[[nodiscard]] std::optional<stats::Interval> pool_seeds(const std::vector<const Result*>& runs,
                                                        const std::string& metric);

}  // namespace banyan::api
