#include "banyan/api/measure/steady_windows.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "banyan/stats/warmup.hpp"

namespace banyan::api {
namespace {

/// Groups that are kept of a run: enough for batches after any cut, few enough for stores of many runs.
constexpr std::size_t kMostGroups = 512;

/// Mean latencies, less the time on wires, of all terminals together that are worth a degree of freedom.
constexpr double kLatenciesPerDegree = 200.0;
/// A run of fewer mean times in the network says nothing about what is accepted: a half of it is needed to fill the
/// network.
constexpr u64 kTransits = 4;
/// A network in which packets are for more times as long as in an empty one is full of packets that wait; what does not
/// arrive is not on its way over long wires (the usual criterion of saturation by latency).
constexpr double kFull = 5.0;
/// So many packets, the first ones, find the network nearly empty and have a mean that is known within tenths.
constexpr u64 kFirst = 30;

/// Degrees of freedom that a run has before it ends, as many as batches: of 65 that ended with 11 (a queue of constant
/// packets at 0.9 of its channel) 53 held the mean, of 115 with 22 degrees 105.
constexpr double kFewestDegrees = 20.0;
/// What is known better than this is known after nearly every run of the length, so that the lucky ones are not
/// selected.
constexpr double kNarrow = 0.02;
/// The other rule: no end of the interval is further away than four thirds of a symmetric one. A fifth in place of a
/// quarter makes runs near saturation twice as long, and no more of their intervals hold.
constexpr double kMostCurvature = 0.25;

template <class Windows>
stats::SumCount total(const Windows& windows) {
  stats::SumCount sum;
  for (const stats::SumCount& window : windows) sum.merge(window);
  return sum;
}

}  // namespace

Wires shortest_wires(const core::Graph& graph) {
  Wires least{kNone, kNone, kNone};
  for (const core::Channel& channel : graph.channels()) {
    if (channel.failed) continue;
    u32& kind = channel.from.terminal ? least.from_terminal
                : channel.to.terminal ? least.to_terminal
                                      : least.between_switches;
    kind = std::min(kind, channel.link.latency_cycles);
  }
  for (u32* latency : {&least.from_terminal, &least.between_switches, &least.to_terminal}) {
    if (*latency == kNone) *latency = 0;
  }
  return least;
}

double queue_degrees(const Measurement& measurement) {
  if (!(measurement.latency > 0.0)) return std::numeric_limits<double>::infinity();
  const double queues = std::max(measurement.latency - measurement.wires, 1.0);
  return std::min(measurement.of_terminals * measurement.evenness / queues / kLatenciesPerDegree,
                  measurement.length / measurement.latency);
}

double evenness(const engine::EndSums& ends, double wires, u64 terminals) {
  double packets = 0.0;
  double waited = 0.0;
  double errors = 0.0;
  double errors_by_degree = 0.0;
  for (const engine::EndSums::Sum& end : ends.sums()) {
    if (end.packets == 0) continue;
    const auto n = static_cast<double>(end.packets);
    const double queues = std::max(static_cast<double>(end.latency) / n - wires, 1.0);
    const double error = n * n * queues * queues * queues;
    packets += n;
    waited += n * queues;
    errors += error;
    errors_by_degree += error * error * queues;
  }
  if (packets == 0.0) return 1.0;
  const auto all = static_cast<double>(std::min<u64>(terminals, ends.sums().size()));
  return std::min(errors * errors / errors_by_degree * (waited / packets) / all, 1.0);
}

SteadyWindows::SteadyWindows(const engine::SteadyRecord& record, const config::Values& run,
                             const core::Topology& topology, const Sources& sources)
    : record_(record),
      terminals_(topology.traffic_terminals()),
      sources_(sources),
      window_(Tick{1} << record.plan.shift) {
  rule_.confidence = run.real("confidence");
  whole_ = record.plan.end / window_;
  const u64 given = (static_cast<u64>(run.integer("warmup")) + window_ - 1) / window_;
  const stats::Warmup found = stats::later(stats::mser(latencies()), stats::mser(arrivals()));
  // What arrives first was on its way for as long as the network takes: until then too little is accepted.
  const std::vector<stats::SumCount> insides = births([](const Births& born) { return born.latency - born.queueing; });
  const stats::SumCount inside = total(insides);
  stats::SumCount first;
  for (u64 i = 0; i < whole_ && first.count < kFirst; ++i) first.merge(insides[i]);
  full_ = inside.mean() > kFull * first.mean();
  nothing_arrived_ = inside.count == 0 &&
                     std::any_of(record.offered.begin(), record.offered.end(), [](u64 flits) { return flits != 0; });
  warmup_found_ = found.valid;
  transit_ = inside.mean() / static_cast<double>(window_);
  cut_ = std::max(
      {given, found.valid ? found.windows : 0, std::min(static_cast<u64>(std::ceil(transit_)) + 1, whole_ / 2)});
  cut_ = std::min(cut_, whole_ == 0 ? 0 : whole_ - 1);
  warmup_text_ =
      fmt::format("warm-up: {} cycles cut (run.warmup = {}; {}; packets are in the network for {:.0f} cycles)",
                  cut_ * window_, run.integer("warmup"), found.statement(static_cast<double>(window_)), inside.mean());
  rule_.most_degrees = memories();
  accepted_rule_ = queue_rule_ = rule_;
  queue_rule_.of_queues = true;
  queue_rule_.most_degrees = std::min({rule_.most_degrees, mixings(), queue_degrees(measurement(topology.graph()))});
}

double SteadyWindows::memories() const { return measured_over(sources_.remembers); }

double SteadyWindows::mixings() const { return measured_over(sources_.keeps_phase); }

double SteadyWindows::measured_over(double cycles) const {
  if (!(cycles > 0.0)) return std::numeric_limits<double>::infinity();
  return static_cast<double>((whole_ - cut_) * window_) / cycles;
}

Measurement SteadyWindows::measurement(const core::Graph& graph) const {
  const auto length = static_cast<double>((whole_ - cut_) * window_);
  const double latency = total(measured(latencies())).mean();
  const stats::SumCount hops = total(measured(births([](const Births& born) { return born.hops; })));
  // A multicast counts the switches of all its branches.
  const bool unicast = std::all_of(record_.births.begin(), record_.births.end(),
                                   [](const Births& born) { return born.multicasts + born.unicasts == 0; });
  const double wires = unicast ? shortest_wires(graph).cycles(hops.mean()) : 0.0;
  const double even =
      std::min(evenness(record_.by_source, wires, terminals_), evenness(record_.by_destination, wires, terminals_));
  return {length, length * static_cast<double>(terminals_), latency, wires, even};
}

std::vector<stats::SumCount> SteadyWindows::arrivals() const {
  std::vector<stats::SumCount> windows;
  for (u64 i = 0; i < whole_; ++i) windows.push_back({record_.accepted[i], window_});
  return windows;
}

bool SteadyWindows::too_short_for_loads() const {
  return nothing_arrived_ || static_cast<double>(whole_) < static_cast<double>(kTransits) * transit_;
}

std::string SteadyWindows::shortness() const {
  if (too_short_for_loads()) {
    return fmt::format(
        "too short to tell what is accepted: the run ends before {} mean times in the network; run.warmup and "
        "run.measure should be longer",
        kTransits);
  }
  const auto length = static_cast<double>((whole_ - cut_) * window_);
  if (mixings() < 1.0) {
    return "no interval of latencies: the sources send at nearly equal distances to the same destinations, and meet "
           "each "
           "other in the same way from the begin to the end; give them a larger spread, or run several seeds";
  }
  if (memories() == 0.0) {
    return "no intervals: what the sources send remembers without end (it is self-similar), and no run is long against "
           "that; run several seeds";
  }
  if (queue_rule_.most_degrees < 1.0) {
    return fmt::format(
        "too short for intervals of latencies: the measurement should last {:.0f} cycles at least, better ten times as "
        "long: 200 mean latencies, without the time on wires, of all terminals together, and one with it",
        std::ceil(length / queue_rule_.most_degrees));
  }
  const double curvature = mean(latencies()).curvature;
  if (curvature < 1.0) return "";
  return fmt::format(
      "too short for an interval of latencies: the measurement should last {:.0f} cycles at least, better ten times as "
      "long: what it shows of the queues is as uncertain as it is long",
      std::ceil(length * curvature * curvature));
}

stats::BatchMeans SteadyWindows::load(const std::vector<u64>& flits, const stats::BatchRule& rule) const {
  const double scale = 1.0 / (static_cast<double>(window_) * static_cast<double>(terminals_));
  std::vector<double> rates;
  for (const u64 f : measured(flits)) rates.push_back(static_cast<double>(f) * scale);
  return stats::batch_means(rates, rule, scale * sources_.message);
}

stats::Interval SteadyWindows::accepted_beside(const stats::Interval& offered, stats::Interval accepted) {
  if (!offered.half_width || !accepted.half_width) return accepted;
  const double least = *offered.half_width + std::abs(accepted.mean - offered.mean);
  accepted.half_width = std::max(*accepted.half_width, least);
  return accepted;
}

stats::BatchMeans SteadyWindows::settled_latency() const {
  const std::vector<stats::SumCount> all = latencies();
  const Tick longest = record_.latency.count() == 0 ? 0 : record_.latency.moments().maximum();
  const u64 settled = longest >= record_.plan.end ? 0 : (record_.plan.end - longest) / window_;
  if (settled <= cut_) return {};
  return stats::ratio_batch_means(std::span<const stats::SumCount>(all).subspan(cut_, settled - cut_), queue_rule_);
}

bool SteadyWindows::latencies_stand() const {
  const stats::BatchMeans latency = settled_latency();
  const std::optional<double> width = latency.interval.relative_half_width();
  if (!width) return false;
  const bool long_enough = queue_rule_.most_degrees >= kFewestDegrees * (1.0 + *width);  // also if it is the upper end
  return long_enough && (*width <= kNarrow || latency.curvature <= kMostCurvature);
}

stats::Evidence SteadyWindows::evidence() const {
  stats::Evidence evidence;
  evidence.growth = growth();
  evidence.warmup_found = warmup_found_;
  evidence.filling = filling();
  evidence.memories = memories();
  evidence.mixings = mixings();
  return evidence;
}

stats::Growth SteadyWindows::growth() const {
  return stats::growth(measured(record_.offered), measured(record_.accepted), sources_.queues);
}

void SteadyWindows::keep(Result& result, const std::string& metric, std::vector<stats::SumCount> windows) const {
  windows.resize(whole_);
  u64 joined = 1;
  for (; windows.size() > kMostGroups; joined *= 2) {
    for (std::size_t i = 0; i + 1 < windows.size(); i += 2) {
      windows[i / 2] = windows[i];
      windows[i / 2].merge(windows[i + 1]);
    }
    windows.resize(windows.size() / 2);
  }
  result.groups.push_back({metric, std::move(windows)});
  result.group_cycles = static_cast<double>(joined * window_);
  result.group_cut = (cut_ + joined - 1) / joined;
}

void SteadyWindows::keep_load(Result& result, const std::string& metric, const std::vector<u64>& flits) const {
  std::vector<stats::SumCount> windows;
  for (const u64 f : flits) windows.push_back({f, window_ * terminals_});
  keep(result, metric, std::move(windows));
}

}  // namespace banyan::api
