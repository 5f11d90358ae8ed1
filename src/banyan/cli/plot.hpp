// Results as charts: in the terminal for a quick look, or as one SVG file.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/report/chart.hpp"

namespace banyan::cli {

/// The last axis whose values are numbers: sweep_plots() draws over it. Throws ConfigError when there is none.
[[nodiscard]] std::size_t plotted_axis(const api::ExperimentSet& set);

/// Each chosen metric (the packets' latency when none is chosen, or else the first one, with an interval where there
/// is one) over plotted_axis(); the other axes make one line each. Throws ConfigError when there is nothing to plot.
[[nodiscard]] std::vector<report::Chart> sweep_plots(const api::ExperimentSet& set,
                                                     const std::vector<api::Result>& results,
                                                     const std::vector<std::string>& metrics);

/// The time series of one run, over its cycles, one chart per unit; none when it recorded none.
[[nodiscard]] std::vector<report::Chart> run_plots(const api::Result& result);

/// Draws on a stream as wide as columns_of() says, in colours unless NO_COLOR is set or it is no
/// terminal.
void draw_plots(const std::vector<report::Chart>& charts, std::FILE* stream);

}  // namespace banyan::cli
