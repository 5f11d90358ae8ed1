#include "banyan/cli/plot.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "banyan/api/physical.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/report/sweep_report.hpp"
#include "banyan/report/terminal_chart.hpp"

namespace banyan::cli {
namespace {

constexpr const char* kUsual = "packet_latency";
constexpr std::size_t kMostColumns = 160;
constexpr std::size_t kRows = 17;

bool reported(const std::vector<api::Result>& results, const std::string& metric) {
  return std::any_of(results.begin(), results.end(), [&](const api::Result& r) { return r.find(metric) != nullptr; });
}

std::vector<std::string> plotted(const std::vector<api::Result>& results, const std::vector<std::string>& chosen) {
  for (const std::string& name : chosen) {
    // Throws, and names the nearest.
    if (!reported(results, name)) static_cast<void>(results.front().at(name));
  }
  if (!chosen.empty()) return chosen;
  if (reported(results, kUsual)) return {kUsual};
  const std::vector<stats::Metric>& all = results.front().metrics;
  for (const stats::Metric& metric : all) {
    if (!metric.counter) return {metric.name};
  }
  if (!all.empty()) return {all.front().name};
  throw ConfigError({}, "the points report no metric", "choose one with --metric");
}

}  // namespace

std::size_t plotted_axis(const api::ExperimentSet& set) {
  if (const std::optional<std::size_t> x = report::abscissa(set)) return *x;
  throw ConfigError({set.file, 0, 0, "sweep"}, "no axis to plot over: seeds are repetitions of one point",
                    "sweep another parameter too, or run the sweep with --out DIR in place of --plot and --svg: "
                    "\"banyan report DIR\" shows its points in a table");
}

std::vector<report::Chart> sweep_plots(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                                       const std::vector<std::string>& metrics) {
  const std::size_t x = plotted_axis(set);
  std::vector<report::Chart> charts;
  if (results.empty()) return charts;
  const std::vector<api::Result> shown = api::in_physical_units(results).results;
  for (const std::string& metric : plotted(results, metrics)) {
    charts.push_back(report::sweep_chart(set, x, shown, metric));
  }
  return charts;
}

std::vector<report::Chart> run_plots(const api::Result& result) { return report::series_charts(result); }

void draw_plots(const std::vector<report::Chart>& charts, std::FILE* stream) {
  const report::TerminalStyle style{std::min(columns_of(stream), kMostColumns), kRows, has_colour(stream)};
  for (const report::Chart& chart : charts) { std::fputs(("\n" + report::to_terminal(chart, style)).c_str(), stream); }
}

}  // namespace banyan::cli
