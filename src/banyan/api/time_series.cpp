#include "banyan/api/time_series.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/network.hpp"

namespace banyan::api {
namespace {

using engine::TimelineWindow;

class SeriesOf {
 public:
  SeriesOf(Result& result, std::vector<TimelineWindow> windows, double length, u32 terminals)
      : result_(result), windows_(std::move(windows)), length_(length), terminals_(terminals) {}

  /// `suffix`: of the traffic's name.
  void add_flows(const std::string& suffix) {
    const double per_terminal = 1.0 / (length_ * terminals_);
    add("offered_load" + suffix, "flits/cycle/terminal",
        [&](const TimelineWindow& w) { return static_cast<double>(w.offered) * per_terminal; });
    add("accepted_load" + suffix, "flits/cycle/terminal",
        [&](const TimelineWindow& w) { return static_cast<double>(w.accepted) * per_terminal; });
    add("throughput" + suffix, "flits/cycle",
        [&](const TimelineWindow& w) { return static_cast<double>(w.accepted) / length_; });
    add("packet_latency" + suffix, "cycles", [](const TimelineWindow& w) {
      return w.delivered == 0 ? std::numeric_limits<double>::quiet_NaN()
                              : static_cast<double>(w.latency) / static_cast<double>(w.delivered);
    });
  }

  /// What is somewhere at a time.
  void add_holdings() {
    u64 inside = 0;
    add("packets_in_network", "packets", [&](const TimelineWindow& w) {
      const double before = static_cast<double>(inside);
      inside += w.entered - w.delivered;
      return before + static_cast<double>(static_cast<i64>(w.stay)) / length_;
    });
    u64 waiting = 0;
    add("source_backlog", "flits", [&](const TimelineWindow& w) {
      waiting += w.offered - w.taken;
      return static_cast<double>(waiting);
    });
  }

 private:
  template <class F>
  void add(const std::string& name, const std::string& unit, F&& value_of) {
    stats::Series series{name, unit, length_ / 2.0, length_, {}};
    series.values.reserve(windows_.size());
    for (const TimelineWindow& window : windows_) series.values.push_back(value_of(window));
    result_.series.push_back(std::move(series));
  }

  Result& result_;
  std::vector<TimelineWindow> windows_;
  double length_;
  double terminals_;
};

}  // namespace

void add_time_series(Result& result, const Experiment& experiment, const engine::Timeline& timeline, Tick end,
                     u32 terminals) {
  if (!timeline.on()) return;
  const std::size_t whole = end / timeline.length();
  if (whole == 0) {
    const std::string cause =
        fmt::format("no time series: run.window is {} cycles, and the run has {}", timeline.length(), end);
    result.warning += (result.warning.empty() ? "" : "; ") + cause;
    result.explanation += "; " + cause;
    return;
  }
  std::vector<TimelineWindow> all(whole);
  for (std::size_t i = 0; i < whole; ++i) {
    for (u32 t = 0; t < timeline.traffics(); ++t) all[i] += timeline.at(i, t);
  }
  const auto length = static_cast<double>(timeline.length());
  SeriesOf whole_run(result, std::move(all), length, terminals);
  whole_run.add_flows("");
  whole_run.add_holdings();
  if (timeline.traffics() < 2) return;
  for (u32 t = 0; t < timeline.traffics(); ++t) {
    std::vector<TimelineWindow> windows;
    for (std::size_t i = 0; i < whole; ++i) windows.push_back(timeline.at(i, t));
    SeriesOf(result, std::move(windows), length, terminals).add_flows(traffic_suffix(experiment, t));
  }
}

namespace {

void add_value(Result& result, const char* name, const std::string& unit, double value, u64 count) {
  stats::Metric& metric = result.metrics.emplace_back();
  metric.name = name;
  metric.unit = unit;
  metric.mean = value;
  metric.count = count;
  metric.counter = true;
}

}  // namespace

void add_cycle_length(Result& result, double ns) {
  if (ns > 0.0) add_value(result, "cycle_length", "ns", ns, 1);
}

void add_disturbance(Result& result, std::span<core::Traffic* const> traffics) {
  const auto throughput = std::find_if(result.series.begin(), result.series.end(),
                                       [](const stats::Series& s) { return s.name == "throughput"; });
  core::Traffic::Disturbance when;
  for (const core::Traffic* traffic : traffics) {
    const core::Traffic::Disturbance its = traffic->disturbance();
    if (its.from == kNever) continue;
    when.from = std::min(when.from, its.from);
    when.to = when.to == kNever ? its.to : std::max(when.to, its.to);
  }
  if (throughput == result.series.end() || when.from == kNever) return;
  const std::vector<double>& values = throughput->values;
  const double length = throughput->interval;
  const auto window = [&](Tick at) {  // the first that begins at or after it
    return std::min(values.size(), static_cast<std::size_t>(std::ceil(static_cast<double>(at) / length)));
  };
  const auto add = [&](const char* name, const std::string& unit, double value, std::size_t count) {
    add_value(result, name, unit, value, count);
  };
  const auto add_mean = [&](const char* name, std::size_t from, std::size_t to) {
    if (from >= to) return;
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(from);
    const double sum = std::accumulate(first, values.begin() + static_cast<std::ptrdiff_t>(to), 0.0);
    add(name, throughput->unit, sum / static_cast<double>(to - from), to - from);
  };
  const std::size_t begin = window(when.from);
  const std::size_t end = window(when.to);
  const std::size_t settled = window(when.from / 2);
  add_mean("throughput_before", settled, begin);
  add_mean("throughput_during", begin, end);
  add_mean("throughput_after", end, values.size());
  if (begin == values.size()) return;
  const auto lowest = std::min_element(values.begin() + static_cast<std::ptrdiff_t>(begin), values.end());
  add("lowest_throughput", throughput->unit, *lowest, values.size() - begin);
  if (settled == begin) return;
  const double before = std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(settled),
                                        values.begin() + static_cast<std::ptrdiff_t>(begin), 0.0) /
                        static_cast<double>(begin - settled);
  const auto back = [&](std::size_t i) { return values[i] >= 0.95 * before; };
  for (std::size_t i = end; i + 2 < values.size(); ++i) {
    if (!back(i) || !back(i + 1) || !back(i + 2)) continue;
    add("recovery_time", "cycles", static_cast<double>(i) * length - static_cast<double>(when.to), 1);
    return;
  }
}

}  // namespace banyan::api
