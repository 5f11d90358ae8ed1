// The report of a study.
#pragma once

#include <string>
#include <vector>

#include "banyan/report/page.hpp"
#include "banyan/study/study.hpp"

namespace banyan::report {

/// A figure's charts: one per metric and value of its panel axes, or one per point for a figure over time.
[[nodiscard]] std::vector<NamedChart> charts_of(const study::StudyResult& result, const study::FigureResult& figure);

/// Title, paper, claims with verdicts, figures with their data, provenance. Points into `result`.
[[nodiscard]] Page page_of(const study::StudyResult& result);

/// The whole page: to_html(page_of(result)).
[[nodiscard]] std::string study_page(const study::StudyResult& result);

/// Writes report.html and one SVG per chart into `folder`; returns the path of the page. Throws ConfigError when a
/// file cannot be written.
std::string write_study_report(const study::StudyResult& result, const std::string& folder);

/// The page of a study that measures files.
[[nodiscard]] Page page_of(const study::StudySpec& spec, const study::FilesResult& result);

}  // namespace banyan::report
