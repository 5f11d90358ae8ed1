#include "banyan/api/measure/time_series.hpp"

#include <fmt/format.h>

#include <limits>
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
  result.metrics.push_back(stats::Metric::exact(name, unit, value, count));
}

}  // namespace

void add_units(Result& result, double cycle_ns, u32 flit_bytes) {
  if (cycle_ns > 0.0) add_value(result, "cycle_length", "ns", cycle_ns, 1);
  if (flit_bytes != 0) add_value(result, "flit_size", "B", flit_bytes, 1);
}

}  // namespace banyan::api
