// The report of a sweep, or of a single run.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/report/page.hpp"

namespace banyan::report {

/// What curves are drawn over: the last axis along which every value is a number, or else the last one, whose values
/// are names then. Nothing where seeds alone are swept.
[[nodiscard]] std::optional<std::size_t> abscissa(const api::ExperimentSet& set);

/// One metric over the axis `x`; the other axes make one line each. `results` belong to the points of the set.
[[nodiscard]] Chart sweep_chart(const api::ExperimentSet& set, std::size_t x, const std::vector<api::Result>& results,
                                const std::string& metric);

/// The time series of a run over its cycles, one chart per unit.
[[nodiscard]] std::vector<Chart> series_charts(const api::Result& result);

/// Curves of every metric with an interval, series over time, values and configurations. `planned`: points of the
/// sweep, finished or not. Points into `results`.
[[nodiscard]] Page sweep_page(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                              std::size_t planned);

/// To the head of the page of a search for saturation, whose points are its probes at loads (its last axis): between
/// which loads the network saturates.
void add_bracket(Page& page, const api::ExperimentSet& set, const std::vector<api::Result>& results,
                 const std::string& key);

}  // namespace banyan::report
