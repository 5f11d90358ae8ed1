// Results as one SVG chart: the report room's charts over the api's results.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::cli {

/// The first chosen metric (the first one with an interval when none is chosen) over the last axis whose values are
/// numbers; the other axes make one line each. Throws ConfigError when there is nothing to plot.
[[nodiscard]] std::string plot_sweep(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                                     const std::vector<std::string>& metrics);

/// The time series of one run, over its cycles. Throws ConfigError when it has none.
[[nodiscard]] std::string plot_series(const api::Result& result);

}  // namespace banyan::cli
