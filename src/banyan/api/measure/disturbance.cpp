#include "banyan/api/measure/disturbance.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "banyan/stats/fairness.hpp"

namespace banyan::api {
namespace {

/// The first window that begins at or after a tick, of so many.
std::size_t window_from(Tick at, double length, std::size_t windows) {
  return static_cast<std::size_t>(std::min(static_cast<double>(windows), std::ceil(static_cast<double>(at) / length)));
}

/// The window that a tick lies in. A disturbance may begin within one, of which nothing is before it then.
std::size_t window_of(Tick at, double length, std::size_t windows) {
  return static_cast<std::size_t>(std::min(static_cast<double>(windows), std::floor(static_cast<double>(at) / length)));
}

double mean_of(const std::vector<double>& values, std::size_t from, std::size_t to) {
  const auto first = values.begin() + static_cast<std::ptrdiff_t>(from);
  return std::accumulate(first, values.begin() + static_cast<std::ptrdiff_t>(to), 0.0) / static_cast<double>(to - from);
}

void add(Result& result, const std::string& name, const std::string& unit, double value, u64 count) {
  result.metrics.push_back(stats::Metric::exact(name, unit, value, count));
}

}  // namespace

Aftermath::Aftermath(std::span<core::Traffic* const> traffics)
    : traffics_(traffics), when_(engine::disturbance_of(traffics)) {
  for (u32 i = 0; i < traffics.size(); ++i) {
    if (traffics[i]->disturbance().from == kNever) victims_.push_back(i);
    for (u32 s = 0; s < traffics[i]->streams(); ++s) streams_.push_back(traffics[i]->stream(s));
  }
  if (!victims_.empty()) return;
  victims_.resize(traffics.size());
  std::iota(victims_.begin(), victims_.end(), 0U);
}

std::vector<double> Aftermath::throughput(const engine::Timeline& timeline, Tick end) const {
  std::vector<double> values(end / timeline.length());
  for (std::size_t i = 0; i < values.size(); ++i) {
    u64 flits = 0;
    for (const u32 traffic : victims_) flits += timeline.at(i, traffic).accepted;
    values[i] = static_cast<double>(flits) / static_cast<double>(timeline.length());
  }
  return values;
}

std::optional<Tick> Aftermath::over(const engine::FireProgress& record, Tick now) const {
  Tick last = when_.from;
  for (const core::Traffic* traffic : traffics_) {
    if (traffic->disturbance().from == kNever || traffic->disturbance().to == kNever) continue;
    last = std::max(last, traffic->disturbance().to);
    if (last >= now) return std::nullopt;
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (record.streams[i].flits < streams_[i].flits) return std::nullopt;
    if (streams_[i].flits != 0) last = std::max(last, record.streams[i].last);
  }
  return last;
}

std::optional<double> Aftermath::before(const std::vector<double>& values, double length) const {
  const std::size_t begin = window_of(when_.from, length, values.size());
  const std::size_t settled = window_from(when_.from / 2, length, values.size());
  if (settled >= begin) return std::nullopt;
  return mean_of(values, settled, begin);
}

std::optional<std::size_t> Aftermath::recovered(const std::vector<double>& values, double length, Tick over,
                                                u64 packet) const {
  const std::optional<double> usual = before(values, length);
  if (!usual) return std::nullopt;
  // A packet counts in the window in which its end arrives: windows of one flow at a constant rate differ by one
  // packet.
  const double enough = kRecovered * *usual - static_cast<double>(packet) / length;
  const auto back = [&](std::size_t i) { return values[i] >= enough; };
  for (std::size_t i = window_from(over, length, values.size()); i + 2 < values.size(); ++i) {
    if (back(i) && back(i + 1) && back(i + 2)) return i;
  }
  return std::nullopt;
}

bool Aftermath::settled(const engine::SteadyProgress& progress, Tick now, Tick settle) const {
  const std::optional<Tick> end = over(progress.fire, now);
  if (!end) return false;
  if (now >= *end + settle) return true;
  const auto length = static_cast<double>(progress.timeline.length());
  return recovered(throughput(progress.timeline, now), length, *end, progress.fire.longest).has_value();
}

void Aftermath::report(Result& result, const engine::SteadyRecord& record, Tick end) const {
  if (!record.timeline.on() || !disturbed()) return;
  const std::vector<double> values = throughput(record.timeline, end);
  if (values.empty()) return;
  const auto length = static_cast<double>(record.timeline.length());
  const std::optional<Tick> ended = over(record.fire, end);
  const std::size_t first = window_of(when_.from, length, values.size());
  const std::size_t last = ended ? window_from(*ended, length, values.size()) : values.size();
  const auto add_mean = [&](const char* name, std::size_t from, std::size_t to) {
    if (from < to) add(result, name, "flits/cycle", mean_of(values, from, to), to - from);
  };
  const double known = length * static_cast<double>(values.size());
  if (ended && static_cast<double>(*ended) > known) {
    result.explanation += fmt::format(
        "{}the disturbance ends in cycle {}, behind the last window of time at {}: throughput_during and "
        "lowest_throughput are of what came before, incast_completion, fairness and victim_latency_p99 of all of it",
        result.explanation.empty() ? "" : "; ", *ended, known);
  }
  add_mean("throughput_before", window_from(when_.from / 2, length, values.size()), first);
  add_mean("throughput_during", first, last);
  add_mean("throughput_after", last, values.size());
  if (first < values.size()) {
    const auto lowest = std::min_element(values.begin() + static_cast<std::ptrdiff_t>(first), values.end());
    add(result, "lowest_throughput", "flits/cycle", *lowest, values.size() - first);
    const std::optional<std::size_t> back =
        ended ? recovered(values, length, *ended, record.fire.longest) : std::nullopt;
    if (back) {
      const double time = static_cast<double>(*back) * length - static_cast<double>(*ended);
      add(result, "recovery_time", "cycles", time, 1);
    }
  }
  report_streams(result, record.fire, end);
}

void Aftermath::report_streams(Result& result, const engine::FireRecord& record, Tick end) const {
  std::vector<Tick> completions;
  std::vector<u64> rates;  // millionths of a flit per cycle
  u64 unfinished = 0;
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const core::Traffic::Stream& planned = streams_[i];
    const engine::FireRecord::Stream& seen = record.streams[i];
    const bool complete = planned.flits != 0 && seen.flits >= planned.flits;
    const Tick until = complete ? seen.last : std::min(end, planned.to);
    if (complete) completions.push_back(seen.last - planned.from);
    unfinished += planned.flits != 0 && !complete ? 1U : 0U;
    if (until > planned.from) rates.push_back(seen.timely * 1'000'000 / (until - planned.from));
  }
  std::sort(completions.begin(), completions.end());
  const u64 known = completions.size() + unfinished;
  // The mean of two in the middle, where there is none between as many earlier and later ones.
  const auto add_completion = [&](const char* name, u64 rank, u64 other) {
    if (other >= completions.size()) return;
    const auto at = [&](u64 i) { return static_cast<double>(completions[static_cast<std::size_t>(i)]); };
    add(result, name, "cycles", (at(rank) + at(other)) / 2.0, known);
  };
  if (known != 0) {
    add_completion("incast_completion_first", 0, 0);
    add_completion("incast_completion_median", (known - 1) / 2, known / 2);
    add_completion("incast_completion_last", known - 1, known - 1);
    add(result, "incast_unfinished", "streams", static_cast<double>(unfinished), known);
  }
  if (!rates.empty()) add(result, "fairness", "Jain's index", stats::fairness(rates).jain, rates.size());
  double worst = 0.0;
  u64 packets = 0;
  // While it lasts, all are victims.
  engine::FireRecord victims = record;
  victims.close(over(record, end).value_or(kNever));
  for (const stats::Histogram& victim : victims.victims) {
    packets += victim.count();
    worst = std::max(worst, victim.quantile(0.99).value);
  }
  if (packets != 0) add(result, "victim_latency_p99", "cycles", worst, packets);
}

}  // namespace banyan::api
