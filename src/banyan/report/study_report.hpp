// The plain report of a study: one HTML file that needs no network, and its charts as SVG files. The interactive report
// is another renderer over the same StudyResult.
#pragma once

#include <string>
#include <vector>

#include "banyan/report/chart.hpp"
#include "banyan/study/study.hpp"

namespace banyan::report {

/// One chart of a figure and the file name it is exported under ("figure-15-mu_syn-gamma-0.4.svg").
struct NamedChart {
  std::string file;
  Chart chart;
};

/// A figure's charts: one per metric and value of its panel axes, or one per point for a figure over time.
[[nodiscard]] std::vector<NamedChart> charts_of(const study::StudyResult& result, const study::FigureResult& figure);

/// The whole page: title, paper, claims with verdicts, figures with their data, configuration, seed, versions.
[[nodiscard]] std::string study_page(const study::StudyResult& result);

/// Writes report.html and one SVG per chart into `folder`; returns the path of the page. Throws ConfigError when a
/// file cannot be written.
std::string write_study_report(const study::StudyResult& result, const std::string& folder);

}  // namespace banyan::report
