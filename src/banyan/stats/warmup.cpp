#include "banyan/stats/warmup.hpp"

#include <fmt/core.h>

#include <cstddef>
#include <limits>
#include <vector>

#include "banyan/stats/wide.hpp"

namespace banyan::stats {

namespace {

constexpr std::size_t kTail = 5;           ///< last groups that are no candidates
constexpr std::size_t kFewestGroups = 10;  ///< below, candidates and tail would overlap in the first half

/// The d that minimises MSER(d), by Welford's recurrence from the end (no cancellation: a constant tail gives exactly
/// 0).
std::size_t best_cut(const std::vector<double>& groups) {
  double mean = 0.0;
  double squares = 0.0;
  double best = std::numeric_limits<double>::infinity();
  std::size_t cut = 0;
  for (std::size_t d = groups.size(); d-- > 0;) {
    const auto n = static_cast<double>(groups.size() - d);
    const double deviation = groups[d] - mean;
    mean += deviation / n;
    squares += deviation * (groups[d] - mean);
    const double statistic = squares / (n * n);
    if (groups.size() - d > kTail && statistic <= best) {
      best = statistic;
      cut = d;
    }
  }
  return cut;
}

/// `starts[i]`: the first window of group i.
Warmup cut_of(const std::vector<double>& groups, const std::vector<u64>& starts, u64 windows, u64 group) {
  Warmup result;
  result.of = windows;
  result.group = group;
  if (groups.size() < kFewestGroups) return result;
  const std::size_t cut = best_cut(groups);
  result.windows = starts[cut];
  result.valid = 2 * cut <= groups.size();
  return result;
}

}  // namespace

Warmup mser(std::span<const double> windows, u64 group) {
  std::vector<double> groups;
  std::vector<u64> starts;
  for (std::size_t start = 0; start + group <= windows.size(); start += group) {
    double sum = 0.0;
    for (const double value : windows.subspan(start, group)) sum += value;
    groups.push_back(sum / static_cast<double>(group));
    starts.push_back(start);
  }
  return cut_of(groups, starts, windows.size(), group);
}

Warmup mser(std::span<const SumCount> windows, u64 group) {
  std::vector<double> groups;
  std::vector<u64> starts;
  for (std::size_t start = 0; start + group <= windows.size(); start += group) {
    SumCount total;
    for (const SumCount& window : windows.subspan(start, group)) total.merge(window);
    if (total.count == 0) continue;
    groups.push_back(total.mean());
    starts.push_back(start);
  }
  return cut_of(groups, starts, windows.size(), group);
}

Warmup later(const Warmup& a, const Warmup& b) {
  Warmup result = a.windows >= b.windows ? a : b;
  result.valid = a.valid && b.valid;
  return result;
}

std::string Warmup::statement(u64 window_cycles) const {
  const std::string rule = group == 1 ? "MSER" : fmt::format("MSER-{}", group);
  std::string text = fmt::format("warm-up by {} (White, Cobb, Spratt 2000): first {} of {} windows ({} cycles) cut",
                                 rule, windows, of, windows * window_cycles);
  if (!valid) text += "; NOT VALID: the run is too short to tell where its steady state begins";
  return text;
}

}  // namespace banyan::stats
