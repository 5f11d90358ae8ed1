// Stopping a run at a requested precision.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "banyan/base/types.hpp"
#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/interval.hpp"

namespace banyan::stats {

/// "Half width at most `relative` of the mean."
struct PrecisionGoal {
  double relative = 0.05;  ///< 0.01: within 1 %
  /// Fewer groups never satisfy: a half width from few groups is itself so uncertain (18 % for 17 of them) that
  /// stopping at the first lucky one would lose coverage (Law and Carson 1979; Heidelberger and Welch 1983).
  u64 minimum_groups = 20;
};

/// Checks should lie this factor of run length apart: every look at the data is one more chance to stop by luck
/// (Heidelberger and Welch 1983 grow the run by 1.5 between checkpoints).
inline constexpr double kCheckpointGrowth = 1.5;

[[nodiscard]] inline bool reached(const Interval& interval, const PrecisionGoal& goal) noexcept {
  const std::optional<double> width = interval.relative_half_width();
  return width && interval.groups >= goal.minimum_groups && *width <= goal.relative;
}

/// Batches that still depend on each other do not satisfy: their interval is a guess.
[[nodiscard]] inline bool reached(const BatchMeans& mean, const PrecisionGoal& goal) noexcept {
  return mean.independent && reached(mean.interval, goal);
}

/// How much longer, as a multiple of the length measured so far (0: reached; 3: three times as much again), from
/// half width ~ 1 / sqrt(length). Absent when nothing can be said (no interval, or a mean of 0).
[[nodiscard]] inline std::optional<double> remaining_effort(const Interval& interval,
                                                            const PrecisionGoal& goal) noexcept {
  if (interval.groups == 0 || !(goal.relative > 0.0)) return std::nullopt;
  const std::optional<double> width = interval.relative_half_width();
  if (!width) return std::nullopt;
  const double by_width = std::pow(*width / goal.relative, 2.0);
  const double by_groups = static_cast<double>(goal.minimum_groups) / static_cast<double>(interval.groups);
  return std::max({by_width, by_groups, 1.0}) - 1.0;
}

/// The next length to check at, in the unit of `length`: as far as the estimate says, but at most kCheckpointGrowth
/// times as long, because an early estimate is poor, and at least 10 % longer, so that looks stay few.
[[nodiscard]] inline u64 next_checkpoint(u64 length, std::optional<double> remaining) noexcept {
  constexpr double kLeastGrowth = 1.1;
  const double factor = std::clamp(1.0 + remaining.value_or(kCheckpointGrowth), kLeastGrowth, kCheckpointGrowth);
  return std::max(length + 1, static_cast<u64>(std::ceil(static_cast<double>(length) * factor)));
}

}  // namespace banyan::stats
