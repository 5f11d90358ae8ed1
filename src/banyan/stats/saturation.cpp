#include "banyan/stats/saturation.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan::stats {

namespace {

constexpr std::size_t kStretches = 20;  ///< increments for the error: as many as batches, for the same reason

std::vector<double> levels_of(std::span<const SumCount> backlog) {
  std::vector<double> levels;
  levels.reserve(backlog.size());
  double last = 0.0;
  for (const SumCount& window : backlog) {
    if (window.count > 0) last = window.mean();
    levels.push_back(last);
  }
  return levels;
}

/// Least-squares slope per window.
double least_squares_slope(std::span<const double> levels) noexcept {
  const double middle = (static_cast<double>(levels.size()) - 1.0) / 2.0;
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const double offset = static_cast<double>(i) - middle;
    products += offset * levels[i];
    squares += offset * offset;
  }
  return squares > 0.0 ? products / squares : 0.0;
}

/// Variance per window of a random walk that was averaged over windows, from its increments over `stride` windows. The
/// average over a window takes a third of a window's variance away from each increment (Working 1960).
double walk_variance(std::span<const double> increments, std::size_t stride) {
  const Interval mean = mean_interval(increments);
  const double variance = std::pow(mean.standard_error, 2) * static_cast<double>(increments.size());
  return variance / (static_cast<double>(stride) - 1.0 / 3.0);
}

std::string describe(const Saturation& verdict, const SaturationRule& rule) {
  const double scale = verdict.offered > 0.0 ? 100.0 / verdict.offered : 0.0;
  std::string text = verdict.saturated ? "saturated: "
                     : verdict.certain ? "not saturated: "
                                       : "not shown to be saturated (run too short to exclude it): ";
  if (verdict.slope.groups > 0) {
    text +=
        fmt::format("source backlog grows by {:.2f} % +- {:.2f} % of the offered load (limit {:.0f} %), ",
                    verdict.slope.mean * scale, verdict.slope.half_width.value_or(0.0) * scale, rule.growth * 100.0);
  }
  text += fmt::format("accepted {:.2f} % +- {:.2f} % of it", verdict.accepted_ratio.mean * 100.0,
                      verdict.accepted_ratio.half_width.value_or(0.0) * 100.0);
  return text;
}

double per_cycle(std::span<const u64> windows, double window_cycles) noexcept {
  double sum = 0.0;
  for (const u64 flits : windows) sum += static_cast<double>(flits);
  return windows.empty() ? 0.0 : sum / (static_cast<double>(windows.size()) * window_cycles);
}

}  // namespace

Interval backlog_growth(std::span<const SumCount> backlog, double window_cycles, double confidence) {
  const std::vector<double> levels = levels_of(backlog);
  const std::size_t stride = std::max<std::size_t>(1, levels.size() / (kStretches + 1));
  std::vector<double> increments;
  for (std::size_t i = levels.size() % stride; i + stride < levels.size(); i += stride) {
    increments.push_back(levels[i + stride] - levels[i]);
  }
  const double slope = least_squares_slope(levels);
  Interval growth;
  if (increments.size() < 3) {
    growth = make_interval(slope / window_cycles, 0.0, 0.0, confidence);
  } else {
    const double error = std::sqrt(1.2 * walk_variance(increments, stride) / static_cast<double>(levels.size()));
    const double degrees = static_cast<double>(increments.size()) - 1.0;
    growth = make_interval(slope / window_cycles, error / window_cycles, degrees, confidence);
  }
  growth.groups = increments.size();
  growth.count = levels.size();
  return growth;
}

Saturation saturation(std::span<const SumCount> backlog, std::span<const u64> offered, std::span<const u64> accepted,
                      double window_cycles, const SaturationRule& rule) {
  if (offered.size() != accepted.size() || (!backlog.empty() && backlog.size() != offered.size())) {
    throw InvariantError("saturation: series of unequal length");
  }
  std::vector<SumCount> pairs;
  pairs.reserve(offered.size());
  for (std::size_t i = 0; i < offered.size(); ++i) pairs.push_back({accepted[i], offered[i]});
  BatchRule batches;
  batches.confidence = rule.confidence;

  Saturation verdict;
  verdict.offered = per_cycle(offered, window_cycles);
  verdict.accepted = per_cycle(accepted, window_cycles);
  verdict.accepted_ratio = ratio_batch_means(pairs, batches).interval;
  if (!backlog.empty()) verdict.slope = backlog_growth(backlog, window_cycles, rule.confidence);
  const double limit = rule.growth * verdict.offered;
  verdict.backlog_grows = verdict.slope.half_width && verdict.slope.low() > limit;
  verdict.falls_short = verdict.offered > 0.0 && verdict.accepted_ratio.half_width &&
                        verdict.accepted_ratio.high() < 1.0 - rule.shortfall;
  verdict.saturated = verdict.backlog_grows || verdict.falls_short;
  const bool backlog_level = backlog.empty() || (verdict.slope.half_width && verdict.slope.high() < limit);
  const bool enough = verdict.accepted_ratio.half_width && verdict.accepted_ratio.low() >= 1.0 - rule.shortfall;
  verdict.certain = verdict.saturated || (backlog_level && enough);
  verdict.statement = describe(verdict, rule);
  return verdict;
}

}  // namespace banyan::stats
