#include "banyan/report/study_report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <variant>

#include "banyan/api/export.hpp"
#include "banyan/api/version.hpp"

namespace banyan::report {
namespace {

using study::ClaimResult;
using study::ClaimVerdict;
using study::FigureResult;
using study::Point;
using study::StudyResult;

std::string cell(const std::optional<stats::Metric>& metric) {
  if (!metric) return "";
  return study::to_string(study::Estimate{metric->mean, metric->half_width.value_or(0.0), 0, true});
}

Table values_of(const StudyResult& result, const FigureResult& figure) {
  Table table;
  if (figure.points.empty() || figure.spec.metrics.empty()) return table;
  const auto column = [&](const std::string& head, bool numeric) {
    table.head.push_back(head);
    table.numeric.push_back(numeric);
  };
  column("Series", false);
  const std::string& over = figure.spec.over;
  for (const auto& [axis, value] : figure.points.front().axes) {
    if (axis != over) column(result.spec.axis(axis)->symbol, true);
  }
  for (const std::string& name : figure.spec.metrics) {
    const study::MetricSpec& metric = *result.spec.metric(name);
    column(metric.symbol + (metric.unit.empty() ? "" : " (" + metric.unit + ")"), true);
  }
  column("Verdict", false);
  if (over.empty()) column("State hash", false);
  for (const study::Pool& pool : study::pools_of(figure)) {
    const Point& point = *pool.first;
    const study::SeriesSpec* series = result.spec.find_series(point.series);
    const api::Result& run = result.run_of(point);
    Table::Row row{{series == nullptr ? point.series : series->label}, point.run};
    for (const auto& [axis, value] : point.axes) {
      if (axis != over) row.cells.push_back(value);
    }
    for (const std::string& name : figure.spec.metrics) row.cells.push_back(cell(study::metric_of(result, pool, name)));
    row.cells.push_back(api::verdict_text(run.verdict, run.certain));
    if (over.empty()) row.cells.push_back(fmt::format("{:016x}", run.state_hash));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// The table of a fire: a row per remedy, means over the seeds.
Table fire_values_of(const StudyResult& result, const FigureResult& figure) {
  Table table;
  const std::vector<study::FireCell> cells = study::fire_cells(result, figure);
  if (cells.empty()) return table;
  table.head = {"Remedy"};
  table.numeric = {false};
  for (const study::FireCell& cell : cells) {
    const study::MetricSpec* metric = result.spec.metric(cell.column);
    if (cell.remedy == cells.front().remedy) {
      table.head.push_back(metric == nullptr      ? cell.column
                           : metric->unit.empty() ? metric->symbol
                                                  : metric->symbol + " (" + metric->unit + ")");
      table.numeric.push_back(true);
    }
    const std::string& label = result.spec.find_series(cell.remedy)->label;
    if (table.rows.empty() || table.rows.back().cells.front() != label) {
      const auto point = std::find_if(figure.points.begin(), figure.points.end(),
                                      [&](const Point& p) { return p.series == cell.remedy; });
      table.rows.push_back({{label}, point->run});
    }
    table.rows.back().cells.push_back(study::to_string(cell));
  }
  return table;
}

/// Each warning once, with the series whose runs have it.
void add_warnings(std::string& caption, const StudyResult& result, const study::FigureSpec& figure) {
  std::vector<std::pair<std::string, std::string>> all;  // text, series
  for (const study::RunWarning& warning : study::warnings(result)) {
    if (warning.figure != figure.id) continue;
    const auto known =
        std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.first == warning.text; });
    const study::SeriesSpec* const series = result.spec.find_series(warning.series);
    const std::string label = series == nullptr ? warning.series : series->label;
    if (known == all.end()) {
      all.emplace_back(warning.text, label);
    } else {
      known->second += (known->second.empty() ? "" : "; ") + label;
    }
  }
  for (const auto& [text, series] : all) {
    caption +=
        fmt::format("{}Warning{}: {}.", caption.empty() ? "" : " ", series.empty() ? "" : " (" + series + ")", text);
  }
}

Figure figure_of(const StudyResult& result, const FigureResult& measured) {
  const study::FigureSpec& spec = measured.spec;
  // A figure of the paper has its number as id.
  const bool numbered = !spec.id.empty() && spec.id.find_first_not_of("0123456789") == std::string::npos;
  Figure figure;
  figure.id = spec.id;
  figure.title = (numbered ? "Figure " + spec.id + ": " : "") + spec.title;
  figure.caption = spec.caption;
  add_warnings(figure.caption, result, spec);
  figure.charts = charts_of(result, measured);
  figure.csv_file = file_name("figure-" + spec.id) + ".csv";
  figure.csv = study::to_csv(result, measured);
  figure.values = fire_values_of(result, measured);
  if (figure.values.rows.empty()) figure.values = values_of(result, measured);
  return figure;
}

/// The runs of a figure that recorded congestion trees, on a page of their own.
std::optional<Page> network_page_of(const StudyResult& result, const FigureResult& measured) {
  Page page;
  for (const study::Point& point : measured.points) {
    const api::Result& run = result.run_of(point);
    if (run.trees == nullptr) continue;
    std::string title = point.series;
    for (const auto& [axis, value] : point.axes)
      title += fmt::format("{}{} = {}", title.empty() ? "" : ", ", axis, value);
    page.runs.push_back(&run);
    page.run_titles.push_back(title.empty() ? measured.spec.title : title);
  }
  if (page.runs.empty()) return std::nullopt;
  page.title = figure_of(result, measured).title;
  page.reference = result.spec.reference;
  page.summary = measured.spec.caption;
  page.provenance = provenance_of(page.runs);
  return page;
}

/// Measured against simulated, with the line on which both are equal.
Chart chart_of(const study::FilesFigure& measured) {
  Chart chart;
  chart.title = measured.title;
  chart.x_label = with_unit(measured.x_label, measured.unit);
  chart.x_symbol = measured.x_label;
  chart.y_label = with_unit(measured.y_label, measured.unit);
  chart.y_unit = measured.unit;
  chart.log_x = chart.log_y = true;
  std::vector<double> ends;
  for (const study::FilesFigure::Series& series : measured.scatter) {
    ChartLine line;
    line.label = series.label;
    line.colour = static_cast<u32>(chart.lines.size());
    line.family = chart.lines.size() + 1 < measured.scatter.size() ? 1 : 0;  // the last one filled
    line.joined = false;
    for (const study::FilesFigure::Dot& dot : series.dots) {
      line.points.push_back({dot.x, dot.y, std::nullopt, dot.name});
      ends.insert(ends.end(), {dot.x, dot.y});
    }
    std::stable_sort(line.points.begin(), line.points.end(),
                     [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    chart.lines.push_back(std::move(line));
  }
  if (ends.empty()) return chart;
  ChartLine equal;
  equal.label = "equal";
  equal.colour = static_cast<u32>(chart.lines.size());
  equal.analytical = true;
  const auto [low, high] = std::minmax_element(ends.begin(), ends.end());
  for (const double end : {*low, *high}) equal.points.push_back({end, end, std::nullopt, ""});
  chart.lines.push_back(std::move(equal));
  return chart;
}

Figure figure_of(const study::FilesFigure& measured) {
  Figure figure;
  figure.id = file_name(measured.id);
  figure.title = measured.title;
  figure.caption = measured.caption;
  if (!measured.scatter.empty()) figure.charts.push_back({figure.id + ".svg", chart_of(measured)});
  figure.csv_file = figure.id + ".csv";
  figure.csv = api::to_csv(measured.values);
  figure.values.head = measured.values.columns;
  figure.values.numeric.assign(measured.values.columns.size(), false);
  for (const auto& row : measured.values.rows) {
    Table::Row& shown = figure.values.rows.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i) {
      shown.cells.push_back(api::to_text(row[i]));
      if (!std::holds_alternative<std::string>(row[i])) figure.values.numeric[i] = true;
    }
  }
  return figure;
}

std::string network_file_of(const FigureResult& measured) { return file_name("network-" + measured.spec.id) + ".html"; }

}  // namespace

Page page_of(const StudyResult& result) {
  Page page;
  page.title = result.spec.title;
  page.reference = result.spec.reference;
  page.summary = result.spec.summary;
  page.claims = result.claims;
  const auto reproduced = std::count_if(result.claims.begin(), result.claims.end(),
                                        [](const ClaimResult& c) { return c.verdict == ClaimVerdict::reproduced; });
  const auto tested = std::count_if(result.claims.begin(), result.claims.end(),
                                    [](const ClaimResult& c) { return c.verdict != ClaimVerdict::not_tested; });
  if (tested > 0) page.tiles.emplace_back(fmt::format("{} of {}", reproduced, tested), "claims reproduced");
  page.tiles.insert(page.tiles.end(),
                    {{fmt::format("{}", result.figures.size()), result.figures.size() == 1 ? "figure" : "figures"},
                     {fmt::format("{}", result.runs.size()), fmt::format("runs for {} points", result.points)},
                     {fmt::format("{:.1f} s", result.cpu_seconds()), "CPU time"},
                     {study::to_string(result.mode), "form of the run"}});
  for (const FigureResult& figure : result.figures) page.figures.push_back(figure_of(result, figure));
  for (const api::Result& run : result.runs) page.runs.push_back(&run);
  for (const FigureResult& figure : result.figures) {
    if (const std::optional<Page> network = network_page_of(result, figure)) {
      page.network_pages.emplace_back(network_file_of(figure), network->title);
    }
  }
  page.provenance = {{"Study", result.spec.name}, {"Form", study::to_string(result.mode)}};
  for (auto& row : provenance_of(page.runs)) page.provenance.push_back(std::move(row));
  page.provenance.emplace_back("State hash of all runs", fmt::format("{:016x}", result.state_hash()));
  page.provenance.emplace_back("Intervals",
                               "half widths at the confidence of the runs, over independent sessions, or batches of a "
                               "steady run; drawn as error bars");
  return page;
}

Page page_of(const study::StudySpec& spec, const study::FilesResult& result) {
  Page page;
  page.title = spec.title;
  page.reference = spec.reference;
  page.summary = spec.summary;
  page.tiles = result.tiles;
  for (const study::FilesFigure& figure : result.figures) page.figures.push_back(figure_of(figure));
  page.provenance = {{"Study", spec.name}, {"Banyan", api::version()}};
  page.provenance.insert(page.provenance.end(), result.provenance.begin(), result.provenance.end());
  return page;
}

std::string study_page(const StudyResult& result) { return to_html(page_of(result)); }

std::string write_study_report(const StudyResult& result, const std::string& folder) {
  Page page = page_of(result);
  if (page.network_pages.empty()) {
    // A study that is read again has no trees; the pages of its run are still there.
    for (const FigureResult& figure : result.figures) {
      std::error_code error;
      if (!std::filesystem::is_regular_file(std::filesystem::path(folder) / network_file_of(figure), error)) continue;
      page.network_pages.emplace_back(network_file_of(figure), figure_of(result, figure).title);
    }
  }
  const std::string path = write_page(page, folder);
  for (const FigureResult& figure : result.figures) {
    const std::optional<Page> network = network_page_of(result, figure);
    if (network) write_html(*network, (std::filesystem::path(folder) / network_file_of(figure)).string());
  }
  return path;
}

}  // namespace banyan::report
