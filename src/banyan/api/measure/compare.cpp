#include "banyan/api/measure/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "banyan/api/catalog.hpp"
#include "banyan/api/export.hpp"
#include "banyan/api/measure/steady_windows.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"
#include "banyan/config/resolve.hpp"
#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/student.hpp"

namespace banyan::api {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using stats::Difference;
using stats::Interval;
using stats::SumCount;
using Axes = std::vector<std::pair<std::string, std::string>>;

// --- may they be compared ------------------------------------------------------------------------------------------

json part_of(const Result& result, const char* section) {
  const json configuration = json::parse(result.configuration, nullptr, false);
  return configuration.is_object() && configuration.contains(section) ? configuration.at(section) : json::object();
}

std::string value_text(const json& table, const std::string& key) {
  return table.contains(key) ? config::dump(table.at(key)) : "absent";
}

void require_same_network(const Result& a, const Result& b) {
  const json first = part_of(a, "topology");
  const json second = part_of(b, "topology");
  std::vector<std::string> differing;
  json keys = first;
  keys.update(second);
  for (const auto& [key, value] : keys.items()) {
    const std::string in_a = value_text(first, key);
    const std::string in_b = value_text(second, key);
    if (in_a != in_b) differing.push_back(fmt::format("topology.{} is {} in A and {} in B", key, in_a, in_b));
  }
  if (differing.empty()) return;
  throw ConfigError({}, fmt::format("the runs are of different networks: {}", fmt::join(differing, ", ")),
                    "compare runs of one network, which differ in switch, routing, traffic or run");
}

// --- what a cycle and a flit are worth -----------------------------------------------------------------------------

/// The worth of a unit in each of the two runs, in one other unit.
struct Worths {
  double a = 1.0;
  double b = 1.0;
  std::string unit;
};

/// What the run says of itself in a metric; 0: nothing.
double said(const Result& result, const char* metric) {
  const stats::Metric* found = result.find(metric);
  return found == nullptr ? 0.0 : found->mean;
}

/// How two runs that count in cycles and flits of their own are compared.
class Units {
 public:
  Units(const Result& a, const Result& b)
      : a_(a),
        b_(b),
        cycle_a_(said(a, "cycle_length")),
        cycle_b_(said(b, "cycle_length")),
        flit_a_(said(a, "flit_size")),
        flit_b_(said(b, "flit_size")) {}

  /// Both say it, and it is not the same.
  [[nodiscard]] bool differ() const { return differ(cycle_a_, cycle_b_) || differ(flit_a_, flit_b_); }
  /// The factors that make the metrics of a unit comparable: one each where differ() is false, or nobody knows better.
  [[nodiscard]] Worths of(const std::string& unit) const {
    constexpr std::string_view kRate = "flits/cycle";
    const std::optional<Worth> in_a = worth_of(unit, a_);
    const std::optional<Worth> in_b = worth_of(unit, b_);
    if (in_a && in_b) return {in_a->factor, in_b->factor, in_a->unit};
    if (!unit.starts_with(kRate)) return {1.0, 1.0, unit};
    // What both know of the two.
    const std::string rest = unit.substr(kRate.size());
    if (cycle_a_ != 0.0 && cycle_b_ != 0.0) return {1.0 / cycle_a_, 1.0 / cycle_b_, "flits/ns" + rest};
    if (flit_a_ != 0.0 && flit_b_ != 0.0) return {flit_a_, flit_b_, "B/cycle" + rest};
    return {1.0, 1.0, unit};
  }
  [[nodiscard]] std::string text() const {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, double in_a, double in_b, const char* unit) {
      if (in_a == in_b) return;
      if (differ(in_a, in_b)) {
        parts.push_back(fmt::format("a {} is {:.6g} {} in A and {:.6g} {} in B: compared in {}", what, in_a, unit, in_b,
                                    unit, unit));
      } else {
        parts.push_back(
            fmt::format("{} alone says what a {} is worth: compared in {}s", in_a == 0.0 ? "B" : "A", what, what));
      }
    };
    add("cycle", cycle_a_, cycle_b_, "ns");
    add("flit", flit_a_, flit_b_, "bytes");
    return fmt::format("{}", fmt::join(parts, "; "));
  }

 private:
  [[nodiscard]] static bool differ(double a, double b) { return a != 0.0 && b != 0.0 && a != b; }

  const Result& a_;
  const Result& b_;
  double cycle_a_;
  double cycle_b_;
  double flit_a_;
  double flit_b_;
};

stats::Metric scaled(stats::Metric metric, double factor, const std::string& unit) {
  metric.mean *= factor;
  if (metric.half_width) *metric.half_width *= factor;
  metric.unit = unit;
  return metric;
}

void scale(Interval& interval, double factor) {
  interval.mean *= factor;
  if (interval.half_width) *interval.half_width *= factor;
}

// --- one metric ----------------------------------------------------------------------------------------------------

const Groups* groups_of(const Result& result, const std::string& metric) {
  const auto found =
      std::find_if(result.groups.begin(), result.groups.end(), [&](const Groups& g) { return g.metric == metric; });
  return found == result.groups.end() || found->sums.empty() ? nullptr : &*found;
}

/// The sums of windows, `factor` neighbours at a time.
std::vector<SumCount> joined(std::span<const SumCount> windows, u64 factor) {
  std::vector<SumCount> out(windows.size() / factor);
  for (std::size_t i = 0; i < out.size() * factor; ++i) out[i / factor].merge(windows[i]);
  return out;
}

/// What both runs measured at the same time: the same sessions, or windows of one length after the later warm-up.
struct Pairs {
  std::vector<SumCount> a;
  std::vector<SumCount> b;
};

std::optional<Pairs> pairs_of(const Result& a, const Result& b, const Groups& in_a, const Groups& in_b) {
  const bool sessions = a.group_cycles == 0.0;
  if (a.seed != b.seed || sessions != (b.group_cycles == 0.0)) return std::nullopt;
  const double longer = std::max(a.group_cycles, b.group_cycles);
  // Windows that are no whole multiple of the other run's, or longer than that run, have no partner there.
  const double most = static_cast<double>(std::max(in_a.sums.size(), in_b.sums.size()));
  for (const Result* r : {&a, &b}) {
    const double ratio = sessions ? 1.0 : longer / r->group_cycles;
    if (!(ratio >= 1.0 && ratio <= most) || ratio != std::floor(ratio)) return std::nullopt;
  }
  const auto factor = [&](const Result& r) { return sessions ? u64{1} : static_cast<u64>(longer / r.group_cycles); };
  const u64 cut = std::max((a.group_cut + factor(a) - 1) / factor(a), (b.group_cut + factor(b) - 1) / factor(b));
  Pairs pairs{joined(in_a.sums, factor(a)), joined(in_b.sums, factor(b))};
  const std::size_t size = std::min(pairs.a.size(), pairs.b.size());
  if (size <= cut + 1) return std::nullopt;
  for (std::vector<SumCount>* side : {&pairs.a, &pairs.b}) {
    side->resize(size);
    side->erase(side->begin(), side->begin() + static_cast<std::ptrdiff_t>(cut));
  }
  return pairs;
}

/// The time on wires that queue_degrees() leaves out; 0 where the configuration is of another version.
double wire_cycles(const Result& result) {
  const stats::Metric* hops = result.find("hops");
  const bool multicasts = std::any_of(result.metrics.begin(), result.metrics.end(), [](const stats::Metric& metric) {
    return metric.name.rfind("multicast_latency", 0) == 0;
  });
  if (hops == nullptr || multicasts) return 0.0;
  try {
    const Experiment experiment = experiment_from(result.configuration, catalog());
    return shortest_wires(build_topology(experiment)->graph()).cycles(hops->mean);
  } catch (const ConfigError&) { return 0.0; }
}

/// What queue_degrees() allows a steady run; without limit where that cannot be told.
double degrees_of(const Result& result) {
  const stats::Metric* latency = result.find("packet_latency");
  const Groups* load = groups_of(result, "accepted_load");
  if (latency == nullptr || load == nullptr || result.group_cycles == 0.0) {
    return std::numeric_limits<double>::infinity();
  }
  double terminal_cycles = 0.0;
  for (std::size_t i = result.group_cut; i < load->sums.size(); ++i) {
    terminal_cycles += static_cast<double>(load->sums[i].count);
  }
  const auto windows = static_cast<double>(load->sums.size() - std::min(load->sums.size(), result.group_cut));
  return queue_degrees({windows * result.group_cycles, terminal_cycles, latency->mean, wire_cycles(result)});
}

/// Windows of one run depend on their neighbours: batches in which their difference hardly does.
Difference paired(const Pairs& pairs, double a, bool sessions, const stats::BatchRule& rule) {
  if (sessions) return stats::paired_ratio_difference(pairs.a, pairs.b, rule.confidence);
  Difference difference{stats::paired_batch_difference(pairs.a, pairs.b, rule).interval,
                        stats::paired_batch_relative(pairs.a, pairs.b, rule).interval};
  if (a != 0.0) difference.open_relative(a);
  return difference;
}

/// Moves an estimate to `mean` and widens its interval by as much, so that it still holds what it held.
void recentre(Interval& interval, double mean) {
  if (interval.half_width) *interval.half_width += std::abs(interval.mean - mean);
  interval.mean = mean;
}

/// The interval of one run alone, as it was reported, for Welch's formula.
Interval interval_of(const Result& result, const stats::Metric& metric, const Groups* groups) {
  constexpr double kDegrees = 19.0;  // of about as many batches as a steady run has
  const bool sessions = groups != nullptr && result.group_cycles == 0.0 && groups->sums.size() > 1;
  const double degrees = sessions ? static_cast<double>(groups->sums.size() - 1) : kDegrees;
  const double width = metric.half_width.value_or(0.0);
  return stats::make_interval(metric.mean, width / stats::two_sided_student(metric.confidence, degrees), degrees,
                              metric.confidence);
}

bool is_reported(const stats::Metric* metric) { return metric != nullptr && std::isfinite(metric->mean); }

/// How many of the differences have an interval, and how it was made.
struct Methods {
  u32 paired = 0;
  u32 independent = 0;
};

/// B - A where one of the two has no interval.
Difference bare_difference(double a, double b) {
  Difference difference;
  difference.absolute.mean = b - a;
  if (a != 0.0) difference.relative.mean = (b - a) / a;
  return difference;
}

/// Has an interval, or needs none: a deterministic mean is exact.
bool is_known(const Result& result, const stats::Metric& metric) {
  return metric.half_width || result.find(kDeterministic) != nullptr;
}

/// One experiment twice, of which no state differs: whatever it measures is equal, and not by chance.
bool is_same_run(const Result& a, const Result& b) {
  return a.state_hash == b.state_hash && a.configuration == b.configuration;
}

Difference no_difference(const stats::Metric& metric) {
  Difference difference;
  for (Interval* interval : {&difference.absolute, &difference.relative}) {
    interval->confidence = metric.confidence;
    interval->half_width = 0.0;
  }
  return difference;
}

/// The metric as the runs report it: windows can be paired where its unit is worth the same in both.
MetricDifference difference_of(const Result& a, const Result& b, const stats::Metric& in_a, const stats::Metric& in_b,
                               bool pairable, Methods& methods) {
  MetricDifference row{in_a.name, in_a.unit, in_a.mean, in_b.mean, {}, in_a.counter || in_b.counter};
  if (row.counter || !is_known(a, in_a) || !is_known(b, in_b)) {
    row.difference = bare_difference(in_a.mean, in_b.mean);
    return row;
  }
  const double confidence = std::max(in_a.confidence, in_b.confidence);
  const Groups* groups_a = groups_of(a, in_a.name);
  const Groups* groups_b = groups_of(b, in_a.name);
  std::optional<Pairs> pairs;
  if (pairable && groups_a != nullptr && groups_b != nullptr) pairs = pairs_of(a, b, *groups_a, *groups_b);
  if (pairs) {
    ++methods.paired;
    stats::BatchRule rule;
    rule.confidence = confidence;
    rule.most_degrees = std::min(degrees_of(a), degrees_of(b));
    rule.of_queues = in_a.name.find("_load") == std::string::npos;
    rule.drifts = a.verdict == Verdict::saturated || b.verdict == Verdict::saturated;
    row.difference = paired(*pairs, in_a.mean, a.group_cycles == 0.0, rule);
  } else {
    ++methods.independent;
    row.difference =
        stats::independent_difference(interval_of(a, in_a, groups_a), interval_of(b, in_b, groups_b), confidence);
  }
  // What is said agrees with the means that stand beside it. Pairs of runs of one length leave out little of these (a
  // warm-up that only the other run cut, windows that fill no batch); of runs that differ in length they know the time
  // that both have, and the interval is wider by what the rest moves the difference.
  if (!pairs) return row;
  recentre(row.difference.absolute, in_b.mean - in_a.mean);
  if (in_a.mean != 0.0) recentre(row.difference.relative, (in_b.mean - in_a.mean) / in_a.mean);
  return row;
}

/// The same in units that are worth the same in both runs.
MetricDifference difference_in(const Units& units, const Result& a, const Result& b, const stats::Metric& in_a,
                               const stats::Metric& in_b, Methods& methods) {
  if (!units.differ()) return difference_of(a, b, in_a, in_b, true, methods);
  const Worths worths = units.of(in_a.unit);
  if (worths.a != worths.b) {
    return difference_of(a, b, scaled(in_a, worths.a, worths.unit), scaled(in_b, worths.b, worths.unit), false,
                         methods);
  }
  MetricDifference row = difference_of(a, b, in_a, in_b, true, methods);
  row.unit = worths.unit;
  row.a *= worths.a;
  row.b *= worths.b;
  scale(row.difference.absolute, worths.a);
  return row;
}

std::string method_of(const Result& a, const Result& b, bool same_units, const Methods& methods) {
  if (methods.paired + methods.independent == 0)
    return "no interval: one value of each run, and nothing that says how much of a difference is chance";
  if (methods.independent == 0) {
    return a.group_cycles == 0.0 ? "sessions compared in pairs that share their random numbers"
                                 : "windows of time compared in pairs that share their random numbers";
  }
  if (a.seed != b.seed) return "unpaired: the seeds differ; runs compared as independent (Welch)";
  if (a.groups.empty() || b.groups.empty()) {
    return "unpaired: runs of fixed length, and results that older versions printed, have no sums per session or "
           "window; "
           "runs compared as independent (Welch)";
  }
  if (!same_units) {
    return "unpaired where cycles or flits count, which are not worth the same in both; there, runs compared as "
           "independent (Welch)";
  }
  return "unpaired: the runs have no sessions or windows in common; runs compared as independent (Welch)";
}

// --- many points ---------------------------------------------------------------------------------------------------

std::string axes_text(const Axes& axes) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : axes) parts.push_back(fmt::format("{} = {}", key, value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::size_t point_with(const Runs& runs, const Axes& axes, const Runs& other) {
  const auto found = std::find(runs.axes.begin(), runs.axes.end(), axes);
  if (found != runs.axes.end()) return static_cast<std::size_t>(found - runs.axes.begin());
  throw ConfigError({runs.name, 0, 0, ""},
                    fmt::format("has no finished point {}, which {} has", axes_text(axes), other.name),
                    "compare sweeps over the same points");
}

/// Metrics that one side alone reports at some point, or that are not in one unit at all points, in order.
std::vector<std::string> partial_metrics(const std::vector<Comparison>& points) {
  std::vector<std::string> names;
  for (const MetricDifference& first : points.empty() ? std::vector<MetricDifference>{} : points.front().metrics) {
    const bool other = std::ranges::any_of(points, [&](const Comparison& point) {
      return std::ranges::any_of(point.metrics, [&](const MetricDifference& row) {
        return row.metric == first.metric && row.unit != first.unit;
      });
    });
    if (other) names.push_back(first.metric);
  }
  for (const Comparison& point : points) {
    for (const auto* list : {&point.only_a, &point.only_b}) {
      for (const std::string& name : *list) {
        if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
      }
    }
  }
  return names;
}

std::vector<MetricDifference> mean_over(const std::vector<Comparison>& points) {
  std::vector<MetricDifference> means = points.front().metrics;
  std::erase_if(means, [&](const MetricDifference& mean) {
    return !std::all_of(points.begin(), points.end(), [&](const Comparison& point) {
      return std::any_of(point.metrics.begin(), point.metrics.end(), [&](const MetricDifference& row) {
        return row.metric == mean.metric && row.unit == mean.unit;
      });
    });
  });
  const double scale = 1.0 / static_cast<double>(points.size());
  for (MetricDifference& mean : means) {
    double a = 0.0;
    double b = 0.0;
    double width = 0.0;
    double offset = 0.0;
    bool known = true;
    for (const Comparison& point : points) {
      const auto row = std::find_if(point.metrics.begin(), point.metrics.end(),
                                    [&](const MetricDifference& r) { return r.metric == mean.metric; });
      a += row->a * scale;
      b += row->b * scale;
      offset += row->difference.absolute.mean * scale;
      known = known && row->difference.absolute.half_width;
      width += row->difference.absolute.half_width.value_or(0.0) * scale;
    }
    if (points.size() == 1) continue;
    mean.a = a;
    mean.b = b;
    mean.difference = {};
    mean.difference.absolute.mean = offset;
    if (known) mean.difference.absolute.half_width = width;
    if (a == 0.0) continue;
    mean.difference.relative.mean = offset / a;
    if (known) mean.difference.relative.half_width = width / std::abs(a);
  }
  return means;
}

// --- for reading ---------------------------------------------------------------------------------------------------

bool shown(const std::string& metric, const std::vector<std::string>& chosen) {
  return chosen.empty() || std::find(chosen.begin(), chosen.end(), metric) != chosen.end();
}

/// ": A alone does".
std::string reported_by_one(const RunsComparison& comparison, const std::string& name) {
  const auto in = [&](std::vector<std::string> Comparison::*side) {
    return std::any_of(comparison.points.begin(), comparison.points.end(), [&](const Comparison& point) {
      return std::find((point.*side).begin(), (point.*side).end(), name) != (point.*side).end();
    });
  };
  const bool a = in(&Comparison::only_a);
  const bool b = in(&Comparison::only_b);
  return a == b ? "" : fmt::format(": {} alone does", a ? "A" : "B");
}

void require_compared(const RunsComparison& comparison, const std::vector<std::string>& chosen) {
  std::vector<std::string> names;
  for (const Comparison& point : comparison.points) {
    for (const MetricDifference& row : point.metrics) names.push_back(row.metric);
  }
  for (const std::string& name : chosen) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    throw ConfigError(
        {"", 0, 0, name}, "the runs do not both report such a metric" + reported_by_one(comparison, name),
        names.empty() ? "the two have no metric in common" : config::suggestion(name, names, "there are"));
  }
}

ordered_json row_json(const MetricDifference& row) {
  const auto finite = [](double value) { return std::isfinite(value) ? ordered_json(value) : ordered_json(nullptr); };
  const auto maybe = [&](const std::optional<double>& value) { return value ? finite(*value) : ordered_json(nullptr); };
  ordered_json object;
  object["difference"] = finite(row.difference.absolute.mean);
  object["half_width"] = maybe(row.difference.absolute.half_width);
  object["relative"] = row.a == 0.0 ? ordered_json(nullptr) : finite(row.difference.relative.mean);
  object["relative_half_width"] = row.a == 0.0 ? ordered_json(nullptr) : maybe(row.difference.relative.half_width);
  object["a"] = finite(row.a);
  object["b"] = finite(row.b);
  object["confidence"] = row.difference.absolute.confidence;
  object["unit"] = row.unit;
  return object;
}

ordered_json rows_json(const std::vector<MetricDifference>& rows, const std::vector<std::string>& chosen) {
  ordered_json object = ordered_json::object();
  for (const MetricDifference& row : rows) {
    if (shown(row.metric, chosen)) object[row.metric] = row_json(row);
  }
  return object;
}

std::string only_text(const char* side, const std::vector<std::string>& names) {
  return names.empty() ? "" : fmt::format("  reported by {} alone: {}\n", side, fmt::join(names, ", "));
}

/// So many digits, and no power of ten.
std::string rounded(double value, int digits) {
  const std::string text = fmt::format("{:.{}g}", value, digits);
  return text.find("e+") == std::string::npos ? text : fmt::format("{:.0f}", value);
}

/// The differences without an interval: a table, and the names of the metrics that are equal.
std::string bare_text(const std::vector<MetricDifference>& rows) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells{{"  without an interval", "A", "B", "B - A", "B / A", "unit"}};
  std::vector<std::string> same;
  for (const MetricDifference& row : rows) {
    if (row.a == row.b) {
      same.push_back(row.metric);
      continue;
    }
    cells.push_back({"  " + row.metric, number_text(row.a), number_text(row.b),
                     (row.b > row.a ? "+" : "") + number_text(row.b - row.a),
                     row.a > 0.0 ? fmt::format("{:.4f}", row.b / row.a) : "-", row.unit});
  }
  std::string text = cells.size() == 1 ? "" : aligned(cells);
  if (!same.empty()) text += fmt::format("  the same in both: {}\n", fmt::join(same, ", "));
  return text;
}

/// A sentence for each difference with an interval, then the others.
std::string rows_text(const std::vector<MetricDifference>& rows, const std::vector<std::string>& chosen) {
  std::string text;
  std::vector<MetricDifference> bare;
  for (const MetricDifference& row : rows) {
    if (!shown(row.metric, chosen)) continue;
    if (row.counter || !row.difference.absolute.half_width) {
      bare.push_back(row);
    } else {
      text += "  " + sentence(row) + "\n";
    }
  }
  return text + bare_text(bare);
}

/// Two digits of the half width, and as many of the value.
std::string estimate(double value, double width) {
  const int digits =
      width > 0.0 && std::isfinite(width) ? std::clamp(1 - static_cast<int>(std::floor(std::log10(width))), 0, 9) : 3;
  return fmt::format("{:.{}f}", value, digits);
}

}  // namespace

Comparison compare(const Result& a, const Result& b) {
  require_same_network(a, b);
  const Units units(a, b);
  Comparison comparison;
  comparison.units = units.text();
  comparison.a = a.verdict;
  comparison.b = b.verdict;
  comparison.a_certain = a.certain;
  comparison.b_certain = b.certain;
  Methods methods;
  const bool same_run = is_same_run(a, b);
  for (const stats::Metric& metric : a.metrics) {
    const stats::Metric* other = b.find(metric.name);
    if (is_reported(&metric) && is_reported(other)) {
      comparison.metrics.push_back(difference_in(units, a, b, metric, *other, methods));
      if (same_run && metric.mean == other->mean) comparison.metrics.back().difference = no_difference(metric);
    } else if (is_reported(&metric)) {
      comparison.only_a.push_back(metric.name);
    }
  }
  for (const stats::Metric& metric : b.metrics) {
    if (is_reported(&metric) && !is_reported(a.find(metric.name))) comparison.only_b.push_back(metric.name);
  }
  comparison.method = method_of(a, b, !units.differ(), methods);
  return comparison;
}

RunsComparison compare(const Runs& a, const Runs& b) {
  for (const auto& [one, many] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
    if (one->axis_names.empty() && many->results.size() > 1) {
      throw ConfigError(
          {one->name, 0, 0, ""},
          fmt::format("is a single run, and {} is a sweep of {} points", many->name, many->results.size()),
          "compare a run with a run, or sweeps over the same points");
    }
  }
  RunsComparison all;
  for (std::size_t i = 0; i < a.results.size(); ++i) {
    const bool single = a.results.size() == 1 && b.results.size() == 1;
    const std::size_t other = single ? 0 : point_with(b, a.axes[i], a);
    all.axes.push_back(single ? Axes{} : a.axes[i]);
    all.points.push_back(compare(a.results[i], b.results[other]));
  }
  for (const Axes& axes : b.axes) {
    if (b.results.size() > 1) static_cast<void>(point_with(a, axes, b));
  }
  if (!all.points.empty()) all.metrics = mean_over(all.points);
  all.partial = partial_metrics(all.points);
  return all;
}

std::string sentence(const MetricDifference& row) {
  const Difference& difference = row.difference;
  const bool percent = row.a != 0.0 && std::isfinite(difference.relative.mean);
  const double scale = percent ? 100.0 : 1.0;
  const Interval& interval = percent ? difference.relative : difference.absolute;
  const std::string unit = percent ? " %" : row.unit.empty() ? "" : " " + row.unit;
  const double mean = interval.mean * scale;
  if (!interval.half_width || !difference.absolute.half_width) {
    if (mean == 0.0) return fmt::format("B's {} is the same, without an interval", row.metric);
    return fmt::format("B's {} is {}{} {}, without an interval", row.metric, rounded(std::abs(mean), percent ? 3 : 6),
                       unit, mean < 0.0 ? "lower" : "higher");
  }
  const double width = *interval.half_width * scale;
  if (mean == 0.0 && width == 0.0) return fmt::format("B's {} is the same", row.metric);
  if (!difference.significant()) {
    return fmt::format("B's {} is equal within {}{}", row.metric, rounded(std::abs(mean) + width, 2), unit);
  }
  return fmt::format("B's {} is {}{} +- {}{} {}", row.metric, estimate(std::abs(mean), width), unit,
                     estimate(width, width), unit, mean < 0.0 ? "lower" : "higher");
}

std::string to_text(const RunsComparison& comparison, const Runs& a, const Runs& b,
                    const std::vector<std::string>& chosen) {
  require_compared(comparison, chosen);
  std::string text = fmt::format("A: {}\nB: {}\n", a.name, b.name);
  if (!comparison.points.empty()) text += comparison.points.front().method + "\n";
  for (std::size_t i = 0; i < comparison.points.size(); ++i) {
    const Comparison& point = comparison.points[i];
    if (!comparison.axes[i].empty()) text += axes_text(comparison.axes[i]) + "\n";
    if (point.a != point.b || !point.a_certain || !point.b_certain) {
      text += fmt::format("  A is {}, B is {}\n", verdict_text(point.a, point.a_certain),
                          verdict_text(point.b, point.b_certain));
    }
    if (!point.units.empty()) text += fmt::format("  {}\n", point.units);
    text += rows_text(point.metrics, chosen);
    if (chosen.empty()) text += only_text("A", point.only_a) + only_text("B", point.only_b);
  }
  if (comparison.points.size() > 1 && !comparison.metrics.empty()) {
    text += fmt::format("mean over {} points\n", comparison.points.size());
    text += rows_text(comparison.metrics, chosen);
    if (!comparison.partial.empty() && chosen.empty()) {
      text += fmt::format("  not at every point on both sides, or not in one unit: {}\n",
                          fmt::join(comparison.partial, ", "));
    }
  }
  return text;
}

std::string to_json(const RunsComparison& comparison, const std::vector<std::string>& chosen) {
  require_compared(comparison, chosen);
  ordered_json all;
  all["metrics"] = rows_json(comparison.metrics, chosen);
  all["partial"] = comparison.partial;
  all["points"] = ordered_json::array();
  for (std::size_t i = 0; i < comparison.points.size(); ++i) {
    const Comparison& point = comparison.points[i];
    ordered_json axes = ordered_json::object();
    for (const auto& [key, value] : comparison.axes[i]) axes[key] = value;
    all["points"].push_back({{"axes", axes},
                             {"verdicts", {to_string(point.a), to_string(point.b)}},
                             {"certain", {point.a_certain, point.b_certain}},
                             {"method", point.method},
                             {"units", point.units},
                             {"metrics", rows_json(point.metrics, chosen)},
                             {"only_a", point.only_a},
                             {"only_b", point.only_b}});
  }
  return config::dump(all, 2);
}

}  // namespace banyan::api
