#include "banyan/cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/config/units.hpp"
#include "banyan/report/chart.hpp"

namespace banyan::cli {
namespace {

using stats::Metric;

std::optional<double> as_number(const std::string& text) {
  const auto quantity = config::parse_quantity(text);
  return quantity ? std::optional<double>(quantity->number) : std::nullopt;
}

/// The last axis along which every value is a number.
std::optional<std::size_t> numeric_axis(const api::ExperimentSet& set) {
  for (std::size_t a = set.axis_names.size(); a-- > 0;) {
    const auto is_number = [&](const api::Experiment& point) { return as_number(point.axes[a].second).has_value(); };
    if (std::all_of(set.points.begin(), set.points.end(), is_number)) return a;
  }
  return std::nullopt;
}

const Metric& chosen_metric(const api::Result& first, const std::vector<std::string>& metrics) {
  if (!metrics.empty()) return first.at(metrics.front());
  for (const Metric& metric : first.metrics) {
    if (!metric.counter) return metric;
  }
  throw ConfigError({}, "the points report no metric with an interval", "choose one with --metric");
}

std::string with_unit(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : fmt::format("{} [{}]", name, unit);
}

std::string label_of(const api::Experiment& point, std::size_t x) {
  std::string label;
  for (std::size_t a = 0; a < point.axes.size(); ++a) {
    if (a == x) continue;
    const std::string& key = point.axes[a].first;
    label += (label.empty() ? "" : ", ") + key.substr(key.rfind('.') + 1) + " = " + point.axes[a].second;
  }
  return label;
}

report::ChartLine& line_of(report::Chart& chart, const std::string& label) {
  for (report::ChartLine& line : chart.lines) {
    if (line.label == label) return line;
  }
  chart.lines.push_back({label, {}, static_cast<u32>(chart.lines.size()), false, true});
  return chart.lines.back();
}

}  // namespace

std::string plot_sweep(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                       const std::vector<std::string>& metrics) {
  const std::optional<std::size_t> x = numeric_axis(set);
  if (!x || results.empty()) {
    throw ConfigError({set.file, 0, 0, "sweep"}, "no axis of numbers to plot over", "sweep a numeric parameter");
  }
  const Metric metric = chosen_metric(results.front(), metrics);
  report::Chart chart;
  chart.title = set.points.front().name;
  chart.x_label = set.axis_names[*x];
  chart.y_label = with_unit(metric.name, metric.unit);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Metric* here = results[i].find(metric.name);
    if (here == nullptr || !std::isfinite(here->mean)) continue;
    const std::string tip =
        fmt::format("{} = {}: {:.6g}", set.axis_names[*x], set.points[i].axes[*x].second, here->mean);
    line_of(chart, label_of(set.points[i], *x))
        .points.push_back({*as_number(set.points[i].axes[*x].second), here->mean, here->half_width, tip});
  }
  for (report::ChartLine& line : chart.lines) {
    std::stable_sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
  }
  return report::to_svg(chart, true);
}

std::string plot_series(const api::Result& result) {
  if (result.series.empty()) {
    throw ConfigError({}, "the run recorded no time series to plot", "add run.series=all, or plot a sweep");
  }
  report::Chart chart;
  chart.title = "Time series";
  chart.x_label = "cycles";
  chart.y_label = result.series.front().unit;
  for (const stats::Series& series : result.series) {
    report::ChartLine line{with_unit(series.name, series.unit), {}, static_cast<u32>(chart.lines.size()), false, false};
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (!std::isfinite(series.values[i])) continue;
      line.points.push_back(
          {series.start + static_cast<double>(i) * series.interval, series.values[i], std::nullopt, ""});
    }
    chart.lines.push_back(std::move(line));
  }
  return report::to_svg(chart, true);
}

}  // namespace banyan::cli
