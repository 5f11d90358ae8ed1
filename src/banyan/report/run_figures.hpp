// What one run recorded beside its means: how latencies are distributed, how full its links are, how its terminals
// are served.
#pragma once

#include <memory>
#include <vector>

#include "banyan/report/page.hpp"

namespace banyan::report {

/// One figure for each of these that the run has: histograms always where latencies were measured, the others with
/// run.tables. The runs of their points are the first of the page.
[[nodiscard]] std::vector<Figure> run_figures(const api::Result& result);

/// The utilization of channels as a record of one sample without trees, for the drawing of the network; nullptr where
/// the run has no table of channels.
[[nodiscard]] std::shared_ptr<const stats::PackedCongestion> links_record(const api::Result& result);

}  // namespace banyan::report
