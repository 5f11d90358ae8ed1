#include "banyan/report/sweep_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "banyan/api/axis_units.hpp"
#include "banyan/api/export.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/pool_seeds.hpp"
#include "banyan/config/sweep.hpp"
#include "banyan/config/units.hpp"
#include "banyan/report/axis.hpp"
#include "banyan/report/jobs_figures.hpp"
#include "banyan/report/run_figures.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::report {
namespace {

using stats::Metric;

/// Metrics drawn at the top; the others follow below.
constexpr std::size_t kFirstMetrics = 6;
/// Curves of one chart over time: the rest is in the table and in the store, and in the comparison of the page.
constexpr std::size_t kSeriesLines = 12;
/// A metric that a sweep has at one time stands in so many charts, no more.
constexpr std::size_t kSeriesCharts = 12;
/// Beyond this ratio of the largest to the smallest value of an axis, its steps are taken as factors.
constexpr double kWide = 64.0;

/// The unit that values along an axis are written with first; "": none is, or some are words: "1q" beside "voqsw" is
/// one.
std::string unit_along(const api::ExperimentSet& set, std::size_t axis) {
  std::string unit;
  for (const api::Experiment& point : set.points) {
    const auto quantity = config::parse_quantity(point.axes[axis].second);
    if (!quantity) return "";
    if (unit.empty()) unit = quantity->unit;
  }
  return unit;
}

/// A value along an axis in the unit of unit_along(). Nothing for words, and where another unit does not fit that.
std::optional<double> as_number(const std::string& text, const std::string& unit) {
  const auto quantity = config::parse_quantity(text);
  if (!quantity || quantity->unit.empty() != unit.empty()) return std::nullopt;
  return quantity->unit == unit ? quantity->number : config::convert(*quantity, unit);
}

/// "traffic.uniform.load" is "load" beside a value.
std::string short_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

/// "packet_latency" as words.
std::string words(std::string name) {
  std::replace(name.begin(), name.end(), '_', ' ');
  if (!name.empty() && name.front() >= 'a' && name.front() <= 'z') name.front() = static_cast<char>(name.front() - 32);
  return name;
}

/// Seeds are repetitions of one point, not places along an axis.
bool is_seed(const std::string& axis) { return short_name(axis) == "seed"; }

bool has_numbers(const api::ExperimentSet& set, std::size_t axis) {
  return std::all_of(set.points.begin(), set.points.end(),
                     [&, unit = unit_along(set, axis)](const api::Experiment& point) {
                       return as_number(point.axes[axis].second, unit).has_value();
                     });
}

/// What tells a point from the others of its sweep, without the axis that curves are drawn over, and without seeds
/// unless they are asked for.
std::string label_of(const api::Experiment& point, std::optional<std::size_t> without, bool seeds = false) {
  std::string label;
  for (std::size_t a = 0; a < point.axes.size(); ++a) {
    const auto& [key, value] = point.axes[a];
    if (a == without || (!seeds && is_seed(key))) continue;
    const bool named = a < point.labels.size();
    const std::string word = named ? point.labels[a] : short_name(key) + " = " + value;
    if (!word.empty()) label += (label.empty() ? "" : ", ") + word;
  }
  return label;
}

ChartLine& line_of(Chart& chart, const std::string& label) {
  for (ChartLine& line : chart.lines) {
    if (line.label == label) return line;
  }
  // Where the palette begins again, curves are dashed.
  const auto place = static_cast<u32>(chart.lines.size());
  chart.lines.push_back({label, {}, place % kPaletteSize, place / kPaletteSize % kFamilies, true});
  return chart.lines.back();
}

/// Says of a chart with more curves than colours and dashes give that they cannot be told apart by these alone.
void tell_repeats(Chart& chart) {
  constexpr u32 kLooks = kPaletteSize * kFamilies;
  if (chart.lines.size() <= kLooks) return;
  chart.subtitle += fmt::format("{}{} curves: colours and dashes repeat after {}", chart.subtitle.empty() ? "" : "; ",
                                chart.lines.size(), kLooks);
}

/// Values such as 1, 4, 16, 256: their steps are factors.
bool is_wide(const std::vector<double>& values) {
  if (values.size() < 4) return false;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *low > 0 && *high / *low >= kWide;
}

/// Lists, in the order of first appearance, those with an interval or at least with a sampling error.
std::vector<std::string> sampled_metrics(const std::vector<api::Result>& results) {
  std::vector<std::string> names;
  for (const api::Result& result : results) {
    for (const Metric& metric : result.metrics) {
      if (metric.counter || std::find(names.begin(), names.end(), metric.name) != names.end()) continue;
      names.push_back(metric.name);
    }
  }
  return names;
}

std::string unit_of(const std::vector<api::Result>& results, const std::string& metric) {
  for (const api::Result& result : results) {
    if (const Metric* found = result.find(metric)) return found->unit;
  }
  return "";
}

/// "1,966,080": the digits before the point of a large number in groups.
std::string grouped(std::string number) {
  const std::size_t first = number.front() == '-' ? 1 : 0;
  const std::size_t end = std::min(number.find_first_not_of("0123456789", first), number.size());
  if (end - first < 5) return number;
  for (std::size_t at = end - 3; at > first; at -= std::min<std::size_t>(3, at - first)) number.insert(at, ",");
  return number;
}

std::string estimate(const Metric* metric) {
  if (metric == nullptr || !std::isfinite(metric->mean)) return "";
  if (metric->counter || !metric->half_width) return grouped(api::number_text(metric->mean));
  return study::to_string(study::Estimate{metric->mean, *metric->half_width, metric->count, true});
}

/// The curves of models that predict the metric, each in the colour of its measured line.
void add_models(Chart& chart, const api::ExperimentSet& set, std::size_t x, const std::vector<api::Result>& results,
                const std::string& metric) {
  const std::vector<ChartLine> measured = chart.lines;
  for (std::size_t i = 0; i < results.size(); ++i) {
    for (const Metric& m : results[i].metrics) {
      if (!m.name.starts_with(metric + api::kPredictedBy)) continue;
      const std::string where = label_of(set.points[i], x);
      // The runs of all seeds have the same prediction.
      const std::string model = m.name.substr(metric.size() + 1);
      ChartLine& line = line_of(chart, where.empty() ? model : model + ", " + where);
      line.analytical = true;
      line.family = 0;
      for (const ChartLine& beside : measured) {
        if (beside.label == where) line.colour = beside.colour;
      }
      const std::string& value = set.points[i].axes[x].second;
      ChartPoint point{*as_number(value, unit_along(set, x)),
                       m.mean,
                       {},
                       fmt::format("{}, {} = {}: {:.5g} {}", model, set.axis_names[x], value, m.mean, m.unit)};
      point.run = i;
      line.points.push_back(std::move(point));
    }
  }
}

Table points_table(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                   const std::vector<std::string>& metrics) {
  Table table;
  const auto column = [&](const std::string& head, bool numeric) {
    table.head.push_back(head);
    table.numeric.push_back(numeric);
  };
  const std::vector<std::string> units = api::axis_units(set, results);
  for (std::size_t a = 0; a < set.axis_names.size(); ++a) column(with_unit(set.axis_names[a], units[a]), true);
  for (const std::string& name : metrics) column(with_unit(name, unit_of(results, name)), true);
  column("Verdict", false);
  column("State hash", false);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Table::Row row{{}, i};
    for (std::size_t a = 0; a < set.points[i].axes.size(); ++a) row.cells.push_back(api::value_name(set.points[i], a));
    for (const std::string& name : metrics) row.cells.push_back(estimate(results[i].find(name)));
    row.cells.push_back(api::verdict_text(results[i].verdict, results[i].certain));
    row.cells.push_back(fmt::format("{:016x}", results[i].state_hash));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table run_table(const api::Result& result) {
  Table table{{"Metric", "Mean", "Half width", "Samples", "Unit"}, {false, true, true, true, false}, {}};
  const bool physical = std::ranges::any_of(
      result.metrics, [&](const Metric& metric) { return !api::in_physical_units(metric, result).empty(); });
  if (physical) {
    table.head.emplace_back("In other units");
    table.numeric.push_back(false);
  }
  for (const Metric& metric : result.metrics) {
    const std::string width = metric.counter      ? ""
                              : metric.half_width ? fmt::format("{:.3g}", *metric.half_width)
                                                  : "unknown";
    const std::string mean = estimate(&metric);
    table.rows.push_back({{metric.name, mean.substr(0, mean.find(" ±")), width,
                           metric.counter ? "" : grouped(fmt::format("{}", metric.count)), metric.unit},
                          0});
    if (physical) table.rows.back().cells.push_back(api::in_physical_units(metric, result));
  }
  return table;
}

std::vector<NamedChart> metric_charts(const api::ExperimentSet& set, const std::vector<api::Result>& results,
                                      const std::vector<std::string>& metrics) {
  std::vector<NamedChart> charts;
  const std::optional<std::size_t> x = abscissa(set);
  if (!x) return charts;
  for (const std::string& name : metrics) {
    charts.push_back({file_name("sweep-" + name) + ".svg", sweep_chart(set, *x, results, name)});
    tell_repeats(charts.back().chart);
  }
  return charts;
}

Chart over_time(const std::string& name, const std::string& unit) {
  Chart chart;
  chart.title = words(name) + " over time";
  chart.x_label = unit == "cycles" ? unit : with_unit("time", unit);
  chart.x_symbol = unit == "cycles" ? "cycle" : "t";
  return chart;
}

/// The names of the series of all points, each once.
std::vector<std::string> series_names(const std::vector<api::Result>& results) {
  std::vector<std::string> names;
  for (const api::Result& result : results) {
    for (const stats::Series& series : result.series) {
      if (std::find(names.begin(), names.end(), series.name) == names.end()) names.push_back(series.name);
    }
  }
  return names;
}

const stats::Series* find_series(const api::Result& result, const std::string& name) {
  const auto found = std::find_if(result.series.begin(), result.series.end(),
                                  [&](const stats::Series& series) { return series.name == name; });
  return found == result.series.end() ? nullptr : &*found;
}

/// The curves of all points over each other, pooled over seeds: the mean of those that have a value at that time, up to
/// where the first of them ends. Those that go on are no sample of all: of runs that end when they have recovered, they
/// are the unlucky ones.
Chart pooled_series(const api::ExperimentSet& set, const std::vector<api::Result>& results, const std::string& name,
                    const std::string& time_unit) {
  Chart chart = over_time(name, time_unit);
  std::vector<std::map<double, std::vector<double>>> values;
  std::vector<std::size_t> runs;
  std::vector<double> ends;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const stats::Series* series = find_series(results[i], name);
    if (series == nullptr) continue;
    chart.y_unit = series->unit;
    ChartLine& line = line_of(chart, label_of(set.points[i], std::nullopt));
    line.markers = false;
    const auto place = static_cast<std::size_t>(&line - chart.lines.data());
    if (place == values.size()) {
      values.emplace_back();
      runs.push_back(i);
      ends.push_back(std::numeric_limits<double>::infinity());
    }
    ends[place] = std::min(ends[place], series->start + static_cast<double>(series->values.size()) * series->interval);
    for (std::size_t k = 0; k < series->values.size(); ++k) {
      if (!std::isfinite(series->values[k])) continue;
      values[place][series->start + static_cast<double>(k) * series->interval].push_back(series->values[k]);
    }
  }
  chart.y_label = with_unit(name, chart.y_unit);
  for (std::size_t place = 0; place < values.size(); ++place) {
    for (const auto& [time, samples] : values[place]) {
      if (time >= ends[place]) break;
      ChartPoint point{time, stats::average(samples), std::nullopt, ""};
      point.run = runs[place];
      chart.lines[place].points.push_back(std::move(point));
    }
  }
  if (chart.lines.size() > kSeriesLines) {
    chart.subtitle = fmt::format("the first {} of {} curves", kSeriesLines, chart.lines.size());
    chart.lines.resize(kSeriesLines);
  }
  if (chart.lines.size() == 1 && chart.lines[0].label.empty()) chart.lines[0].label = name;
  ease_x(chart, time_unit);
  return chart;
}

std::vector<NamedChart> time_charts(const api::ExperimentSet& set, const std::vector<api::Result>& results, bool single,
                                    const std::string& time_unit) {
  std::vector<NamedChart> charts;
  if (single) {
    for (const api::Result& result : results) {
      for (Chart& chart : series_charts(result)) {
        for (ChartLine& line : chart.lines) {
          for (ChartPoint& point : line.points) point.run = 0;
        }
        charts.push_back({fmt::format("series-{}.svg", charts.size()), std::move(chart)});
      }
    }
    return charts;
  }
  for (const std::string& name : series_names(results)) {
    if (charts.size() == kSeriesCharts) break;
    charts.push_back({file_name("series-" + name) + ".svg", pooled_series(set, results, name, time_unit)});
  }
  return charts;
}

std::size_t count_of(const std::vector<api::Result>& results, api::Verdict verdict) {
  return static_cast<std::size_t>(
      std::count_if(results.begin(), results.end(), [&](const api::Result& r) { return r.verdict == verdict; }));
}

std::vector<std::pair<std::string, std::string>> tiles_of(const std::vector<api::Result>& results,
                                                          std::size_t planned) {
  double cpu_seconds = 0.0;
  for (const api::Result& result : results) cpu_seconds += std::isfinite(result.cpu_seconds) ? result.cpu_seconds : 0.0;
  std::vector<std::pair<std::string, std::string>> tiles;
  if (planned == 1) {
    tiles.emplace_back(results.empty() ? "none" : api::verdict_text(results.front().verdict, results.front().certain),
                       "verdict");
  } else {
    const bool whole = results.size() == planned;
    tiles.emplace_back(whole ? fmt::format("{}", planned) : fmt::format("{} of {}", results.size(), planned),
                       whole ? "points" : "points finished");
    for (const api::Verdict verdict : {api::Verdict::saturated, api::Verdict::deadlocked}) {
      if (const std::size_t n = count_of(results, verdict); n > 0)
        tiles.emplace_back(fmt::format("{}", n), to_string(verdict));
    }
    const auto doubts = std::count_if(results.begin(), results.end(), [](const api::Result& r) { return !r.certain; });
    if (doubts > 0) tiles.emplace_back(fmt::format("{}", doubts), "uncertain");
  }
  tiles.emplace_back(fmt::format("{:.1f} s", cpu_seconds), "CPU time");
  return tiles;
}

/// What the page of a run would show, had it been asked for.
std::vector<Page::Unrecorded> unrecorded(const api::Result& result) {
  const auto has = [&](std::string_view name) {
    return std::any_of(result.tables.begin(), result.tables.end(),
                       [&](const auto& table) { return table.name == name; });
  };
  const bool jobs = !result.jobs.empty();
  const bool sessions = result.find("sessions") != nullptr;
  std::vector<Page::Unrecorded> list;
  if (!has("channels")) list.push_back({"how busy each link is", jobs ? "run.tables=channels" : "run.tables=all"});
  if (!jobs && !has("flows")) list.push_back({"how each terminal and each flow is served", "run.tables=all"});
  if (!jobs && result.series.empty()) {
    const stats::Metric* cycles = result.find("simulated_cycles");
    const double window = cycles == nullptr ? 100.0 : std::max(1.0, nice_step(std::max(1.0, cycles->mean), 100));
    list.push_back(
        {"load and latency over time", sessions ? "run.series=all" : fmt::format("run.window={:.0f}", window)});
  }
  if (!jobs && result.trees == nullptr)
    list.push_back({"the network over time, with its congestion trees", "run.trees=true"});
  list.push_back({"every packet with its path, as a table of its own", "--log packets.csv"});
  return list;
}

/// `csv`: of the results as they are, in cycles and flits.
void add_sweep_figures(Page& page, const api::ExperimentSet& set, const std::vector<api::Result>& results,
                       std::string csv) {
  const std::vector<std::string> metrics = sampled_metrics(results);
  const std::size_t cut = std::min(metrics.size(), kFirstMetrics);
  Figure first{"metrics", "Metrics over the sweep", "", {}, "sweep.csv", std::move(csv), {}};
  first.charts = metric_charts(set, results, {metrics.begin(), metrics.begin() + static_cast<std::ptrdiff_t>(cut)});
  first.values = points_table(set, results, metrics);
  Figure more{"more-metrics", "More metrics", "", {}, first.csv_file, first.csv, {}};
  page.figures.push_back(std::move(first));
  if (cut == metrics.size() || !abscissa(set)) return;
  more.charts = metric_charts(set, results, {metrics.begin() + static_cast<std::ptrdiff_t>(cut), metrics.end()});
  page.figures.push_back(std::move(more));
}

/// The place of a value of one axis, by what it is called there.
std::size_t place_of(Comparison::Axis& axis, const std::string& name, std::optional<double> value) {
  const auto found = std::find(axis.names.begin(), axis.names.end(), name);
  if (found != axis.names.end()) return static_cast<std::size_t>(found - axis.names.begin());
  axis.names.push_back(name);
  axis.numbers.push_back(value.value_or(std::nan("")));
  return axis.names.size() - 1;
}

/// Every axis and every point, for a reader who chooses what is drawn over what.
Comparison comparison_of(const api::ExperimentSet& set, const std::vector<api::Result>& results) {
  Comparison comparison;
  const std::vector<std::string> units = api::axis_units(set, results);
  const std::vector<std::string> names = config::short_names(set.axis_names);
  std::vector<std::string> written;
  for (std::size_t a = 0; a < set.axis_names.size(); ++a) {
    const std::string& key = set.axis_names[a];
    written.push_back(unit_along(set, a));
    comparison.axes.push_back({key, names[a], written[a].empty() ? units[a] : written[a], is_seed(key), {}, {}});
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    const api::Experiment& point = set.points[i];
    std::vector<std::size_t> at;
    for (std::size_t a = 0; a < point.axes.size(); ++a) {
      at.push_back(
          place_of(comparison.axes[a], api::value_name(point, a), as_number(point.axes[a].second, written[a])));
    }
    comparison.points.push_back(std::move(at));
  }
  if (std::none_of(set.axis_names.begin(), set.axis_names.end(), is_seed)) return comparison;
  std::map<std::vector<std::size_t>, std::size_t> pools;
  for (std::size_t i = 0; i < results.size(); ++i) {
    std::vector<std::size_t> at = comparison.points[i];
    for (std::size_t a = 0; a < at.size(); ++a) at[a] = comparison.axes[a].seed ? 0 : at[a];
    const std::size_t pool = pools.try_emplace(std::move(at), pools.size()).first->second;
    comparison.pools.resize(pools.size());
    comparison.pools[pool].push_back(i);
  }
  return comparison;
}

}  // namespace

std::optional<std::size_t> abscissa(const api::ExperimentSet& set) {
  std::optional<std::size_t> words;
  for (std::size_t a = set.points.empty() ? 0 : set.axis_names.size(); a-- > 0;) {
    if (is_seed(set.axis_names[a])) continue;
    if (has_numbers(set, a)) return a;
    if (!words) words = a;
  }
  return words;
}

namespace {

/// The points of a curve at one place: one, or one per seed.
struct Pool {
  std::vector<std::size_t> points;
};

/// The mean over the seeds, with the interval that their means give.
ChartPoint pooled_point(const Pool& pool, const std::vector<api::Result>& results, const std::string& metric) {
  ChartPoint point{0.0, std::nan(""), {}, ""};
  std::vector<const api::Result*> seeds;
  const Metric* one = nullptr;
  std::size_t unsettled = 0;
  for (const std::size_t i : pool.points) {
    seeds.push_back(&results[i]);
    if (const Metric* here = results[i].find(metric)) one = here;
    const std::string verdict = api::to_string(results[i].verdict);
    if (is_unsettled(verdict)) ++unsettled;
    point.certain = point.certain && results[i].certain;
    if (point.verdict.empty() || is_unsettled(verdict)) point.verdict = verdict;
  }
  point.run = pool.points.front();
  const std::string some = fmt::format("{} of {} {}", unsettled, pool.points.size(), point.verdict);
  const std::optional<stats::Interval> pooled = api::pool_seeds(seeds, metric);
  if (!pooled) {
    point.tip = seeds.size() == 1 ? point.verdict
                : unsettled != 0  ? some
                                  : fmt::format("none in {} of {}", api::seeds_without(seeds, metric), seeds.size());
    return point;
  }
  point.y = pooled->mean;
  if (seeds.size() == 1) {
    point.error = one->half_width;
    if (!one->counter) point.count = one->count;
    point.tip = estimate(one) + " " + one->unit;
    return point;
  }
  point.error = pooled->half_width;
  point.count = pooled->groups;
  const std::string text = study::to_string(study::Estimate{point.y, point.error.value_or(0.0), pooled->groups, true});
  point.tip =
      fmt::format("{} {}, {} seeds", point.error ? text : fmt::format("{:.6g}", point.y), one->unit, pooled->groups);
  if (unsettled > 0) point.tip += ", " + some;
  return point;
}

/// 1, 2, ... in the order in which the names appear.
double place_of_name(std::vector<std::string>& names, const std::string& name) {
  const auto found = std::find(names.begin(), names.end(), name);
  const auto place = static_cast<double>(found - names.begin()) + 1.0;
  if (found == names.end()) names.push_back(name);
  return place;
}

/// The curves of one name, in so much of the way to the next.
void stand_side_by_side(Chart& chart) {
  constexpr double kShare = 0.6;
  const auto count = static_cast<double>(chart.lines.size());
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    const double aside = kShare * ((static_cast<double>(i) + 0.5) / count - 0.5);
    for (ChartPoint& point : chart.lines[i].points) point.x += aside;
  }
}

}  // namespace

Chart sweep_chart(const api::ExperimentSet& set, std::size_t x, const std::vector<api::Result>& results,
                  const std::string& metric) {
  Chart chart;
  chart.title = words(metric);
  const std::string unit = unit_along(set, x);
  chart.x_label = with_unit(set.axis_names[x], unit.empty() ? api::axis_units(set, results)[x] : unit);
  chart.x_symbol = short_name(set.axis_names[x]);
  chart.y_unit = unit_of(results, metric);
  chart.y_label = with_unit(metric, chart.y_unit);
  const bool numbers = has_numbers(set, x);
  std::vector<double> places;
  std::vector<std::map<double, Pool>> pools;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Metric* here = results[i].find(metric);
    const bool known = here != nullptr && std::isfinite(here->mean);
    if (!known && !is_unsettled(api::to_string(results[i].verdict))) continue;
    const double place = numbers ? *as_number(set.points[i].axes[x].second, unit)
                                 : place_of_name(chart.x_names, api::value_name(set.points[i], x));
    if (std::find(places.begin(), places.end(), place) == places.end()) places.push_back(place);
    const ChartLine& line = line_of(chart, label_of(set.points[i], x));
    pools.resize(chart.lines.size());
    pools[static_cast<std::size_t>(&line - chart.lines.data())][place].points.push_back(i);
  }
  for (std::size_t place = 0; place < pools.size(); ++place) {
    for (const auto& [at, pool] : pools[place]) {
      ChartPoint point = pooled_point(pool, results, metric);
      point.x = at;
      point.tip =
          fmt::format("{} = {}: {}", set.axis_names[x], api::value_name(set.points[pool.points.front()], x), point.tip);
      chart.lines[place].points.push_back(std::move(point));
    }
  }
  chart.log_x = numbers && is_wide(places);
  if (numbers) add_models(chart, set, x, results, metric);
  if (!numbers) stand_side_by_side(chart);
  // One curve needs a name only for the pointer: the metric's.
  if (!chart.lines.empty() && chart.lines[0].label.empty()) chart.lines[0].label = metric;
  for (ChartLine& line : chart.lines) {
    std::stable_sort(line.points.begin(), line.points.end(), [](const auto& a, const auto& b) { return a.x < b.x; });
    // The seeds of a point have one prediction.
    const auto same = [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x && a.y == b.y; };
    line.points.erase(std::unique(line.points.begin(), line.points.end(), same), line.points.end());
  }
  return chart;
}

std::vector<Chart> series_charts(const api::Result& result) {
  std::vector<Chart> charts;
  const api::PhysicalResults shown = api::in_physical_units(std::vector<const api::Result*>{&result});
  for (const stats::Series& series : shown.results.front().series) {
    auto chart = std::find_if(charts.begin(), charts.end(), [&](const Chart& c) { return c.y_unit == series.unit; });
    if (chart == charts.end()) {
      charts.push_back(over_time(series.name, shown.time_unit));
      chart = charts.end() - 1;
      chart->y_unit = chart->y_label = series.unit;
    }
    ChartLine line{series.name, {}, static_cast<u32>(chart->lines.size()), 0, false};
    for (std::size_t i = 0; i < series.values.size(); ++i) {
      if (!std::isfinite(series.values[i])) continue;
      line.points.push_back(
          {series.start + static_cast<double>(i) * series.interval, series.values[i], std::nullopt, ""});
    }
    chart->lines.push_back(std::move(line));
  }
  for (Chart& chart : charts) ease_x(chart, shown.time_unit);
  return charts;
}

Page sweep_page(const api::ExperimentSet& set, const std::vector<api::Result>& results, std::size_t planned) {
  Page page;
  const bool single = planned == 1;
  page.title = set.points.empty() ? set.file : set.points.front().name;
  page.reference = fmt::format("{} of {}", single ? "Run" : "Sweep", set.file);
  if (!set.axis_names.empty()) page.summary = fmt::format("Swept: {}.", fmt::join(set.axis_names, ", "));
  if (single && !results.empty()) page.summary = results.front().explanation;
  // A warning may be a part of the explanation already.
  if (const std::string warning = api::warnings_of(results);
      !warning.empty() && (!single || page.summary.find(results.front().warning) == std::string::npos)) {
    page.summary += fmt::format("{}{}.", page.summary.empty() ? "" : " ", warning);
  }
  page.tiles = tiles_of(results, planned);
  for (std::size_t i = 0; i < results.size(); ++i) {
    page.runs.push_back(&results[i]);
    page.run_titles.push_back(label_of(set.points[i], std::nullopt, true));
  }
  api::PhysicalResults shown;
  if (!single) {
    shown = api::in_physical_units(results);
    add_sweep_figures(page, set, shown.results, api::to_csv(set, results));
  } else if (!results.empty()) {
    page.figures.push_back(
        {"metrics", "Metrics", "", {}, "run.csv", api::to_csv(results.front()), run_table(results.front())});
  }
  if (single && !results.empty()) {
    for (Figure& figure : run_figures(results.front())) page.figures.push_back(std::move(figure));
    for (Figure& figure : jobs_figures(results.front())) page.figures.push_back(std::move(figure));
  }
  if (auto charts = time_charts(set, single ? results : shown.results, single, shown.time_unit); !charts.empty()) {
    const bool seeds = std::any_of(set.axis_names.begin(), set.axis_names.end(), is_seed);
    const std::string caption = seeds ? "means over seeds" : "";
    page.figures.push_back({"series",
                            "Over time",
                            caption,
                            std::move(charts),
                            "series.csv",
                            single ? api::series_csv(results.front()) : api::series_csv(set, results),
                            {}});
  }
  if (!single) page.comparison = comparison_of(set, results);
  if (single && !results.empty()) page.unrecorded = unrecorded(results.front());
  page.provenance = {{"Experiment", set.file}};
  for (auto& row : provenance_of(page.runs)) page.provenance.push_back(std::move(row));
  if (single && !results.empty()) {
    page.provenance.emplace_back("State hash", fmt::format("{:016x}", results.front().state_hash));
  }
  page.provenance.emplace_back("Intervals", "half widths at the confidence of the runs; drawn as error bars");
  return page;
}

void add_bracket(Page& page, const api::ExperimentSet& set, const std::vector<api::Result>& results,
                 const std::string& key) {
  const std::string of_which = key.empty() ? "" : " of " + key;
  page.reference = fmt::format("Search for saturation of {}", set.file);
  struct End {
    double load;
    std::string text;
    bool deadlocked;
  };
  std::vector<End> below;
  std::optional<End> above;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (set.points[i].axes.empty()) continue;
    const std::string& text = set.points[i].axes.back().second;
    const std::string unit = unit_along(set, set.points[i].axes.size() - 1);
    const End end{as_number(text, unit).value_or(std::nan("")), text, results[i].verdict == api::Verdict::deadlocked};
    if (!is_unsettled(api::to_string(results[i].verdict))) {
      below.push_back(end);
    } else if (!above || end.load < above->load) {
      above = end;
    }
  }
  std::erase_if(below, [&](const End& end) { return above && !(end.load < above->load); });
  const auto highest =
      std::max_element(below.begin(), below.end(), [](const End& a, const End& b) { return a.load < b.load; });
  const std::string low = highest == below.end() ? "0" : highest->text;
  if (!above) {
    const bool sure = std::all_of(results.begin(), results.end(), [](const api::Result& r) { return r.certain; });
    page.summary = fmt::format("A search for saturation: {} at the greatest load, {}{}.",
                               sure ? "not saturated" : "not shown to saturate", low, of_which);
    page.tiles.insert(page.tiles.begin(), {"none", fmt::format("saturation up to a load of {}", low)});
    return;
  }
  const char* what = above->deadlocked ? "deadlocks, and is not shown to saturate," : "saturates";
  std::string seconds;
  const auto rate = results.empty() ? std::nullopt : api::worth_of("flits/cycle", results.front());
  const auto least = highest == below.end() ? 0.0 : highest->load;
  if (rate && std::isfinite(least) && std::isfinite(above->load)) {
    seconds = fmt::format(" ({:.4g} and {:.4g} {})", least * rate->factor, above->load * rate->factor, rate->unit);
  }
  page.summary =
      fmt::format("A search for saturation: the network {} between {} and {} flits per cycle and terminal{}{}.", what,
                  low, above->text, of_which, seconds);
  page.tiles.insert(page.tiles.begin(), {fmt::format("{} to {}", low, above->text),
                                         above->deadlocked ? "load of the deadlock" : "saturation load"});
}

}  // namespace banyan::report
