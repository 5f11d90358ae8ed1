#include "banyan/stats/warmup.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "banyan/stats/wide.hpp"

namespace banyan::stats {

namespace {

constexpr std::size_t kTail = 5;           ///< last groups that are no candidates
constexpr std::size_t kFewestGroups = 10;  ///< below, candidates and tail would overlap in the first half

/// MSER(d) for every candidate d, by Welford's recurrence from the end (no cancellation: a constant tail gives exactly
/// 0).
std::vector<double> statistics_of(const std::vector<double>& groups) {
  std::vector<double> statistics(groups.size());
  double mean = 0.0;
  double squares = 0.0;
  for (std::size_t d = groups.size(); d-- > 0;) {
    const auto n = static_cast<double>(groups.size() - d);
    const double deviation = groups[d] - mean;
    mean += deviation / n;
    squares += deviation * (groups[d] - mean);
    statistics[d] = squares / (n * n);
  }
  statistics.resize(groups.size() - kTail);
  return statistics;
}

/// `starts[i]`: the first window of group i.
Warmup cut_of(const std::vector<double>& groups, const std::vector<u64>& starts, u64 windows, const MserRule& rule) {
  Warmup result;
  result.of = windows;
  result.rule = rule;
  if (groups.size() < kFewestGroups) return result;
  const std::vector<double> statistics = statistics_of(groups);
  const auto minimum = std::ranges::min_element(statistics);  // the first of equal ones
  result.valid = 2 * (minimum - statistics.begin()) <= static_cast<std::ptrdiff_t>(groups.size());
  const double enough = *minimum * (1.0 + rule.tolerance);
  const auto earliest = std::ranges::find_if(statistics, [&](double statistic) { return statistic <= enough; });
  result.windows = starts[static_cast<std::size_t>(earliest - statistics.begin())];
  return result;
}

}  // namespace

Warmup mser(std::span<const double> windows, const MserRule& rule) {
  const u64 group = rule.group;
  std::vector<double> groups;
  std::vector<u64> starts;
  for (std::size_t start = 0; start + group <= windows.size(); start += group) {
    double sum = 0.0;
    for (const double value : windows.subspan(start, group)) sum += value;
    groups.push_back(sum / static_cast<double>(group));
    starts.push_back(start);
  }
  return cut_of(groups, starts, windows.size(), rule);
}

Warmup mser(std::span<const SumCount> windows, const MserRule& rule) {
  const u64 group = rule.group;
  std::vector<double> groups;
  std::vector<u64> starts;
  for (std::size_t start = 0; start + group <= windows.size(); start += group) {
    SumCount total;
    for (const SumCount& window : windows.subspan(start, group)) total.merge(window);
    if (total.count == 0) continue;
    groups.push_back(total.mean());
    starts.push_back(start);
  }
  return cut_of(groups, starts, windows.size(), rule);
}

Warmup later(const Warmup& a, const Warmup& b) {
  Warmup result = a.windows >= b.windows ? a : b;
  result.valid = a.valid && b.valid;
  return result;
}

std::string Warmup::statement(double window_cycles) const {
  std::string text = fmt::format("warm-up by MSER-{} (White, Cobb, Spratt 2000)", rule.group);
  if (rule.tolerance > 0.0)
    text += fmt::format(", earliest point within {:g} % of its minimum", rule.tolerance * 100.0);
  if (!valid) return text + ": none in the first half of the run, where it would be valid; nothing is cut for it";
  text += fmt::format(": first {} of {} windows ({:.0f} cycles)", windows, of,
                      static_cast<double>(windows) * window_cycles);
  return text;
}

}  // namespace banyan::stats
