// Batch means: the interval of a mean from one long run, whose neighbouring values depend on each other.
#pragma once

#include <limits>
#include <span>

#include "banyan/base/types.hpp"
#include "banyan/stats/interval.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// How windows are gathered into batches.
struct BatchRule {
  double confidence = kConfidence;
  /// Merging stops before fewer batches are left. Schmeiser (1982): beyond 10 to 30 batches there is little to gain,
  /// and with 20 the Student factor is only 7 % above the normal one.
  u64 fewest = 20;
  /// Merging stops early once the lag-1 autocorrelation is shown to lie below this: an autocorrelation of 0.05 makes
  /// the half width 5 % too small at most, which is as much as the Student factor of 20 batches costs.
  double small_lag1 = 0.05;
  /// One-sided level of "shown" and of "significant" (normal quantile of 0.95).
  double margin = 1.645;
  /// Degrees of freedom are at most these, however many batches look independent: a run that is short against the time
  /// in which a process forgets cannot see how much its values depend on each other. Below 1: no half width.
  double most_degrees = std::numeric_limits<double>::infinity();
  /// The mean is of what queues do (curvature_of()).
  bool of_queues = false;
  /// The mean is of a network beyond saturation, whose queues at the sources go on filling (drifting()).
  bool drifts = false;
};

/// The interval and what it stands on.
struct BatchMeans {
  Interval interval;         ///< groups: batches; count: observations
  u64 batch_windows = 0;     ///< windows per batch
  double lag1 = 0.0;         ///< lag-1 autocorrelation of the batch means (biased by about -1 / batches)
  bool independent = false;  ///< lag1 is not significantly positive, and there are at least `fewest` batches
  double inflation = 1.0;    ///< factor on the variance for what dependence is left (below)
  double curvature = 0.0;    ///< curvature_of(), where the mean is of what queues do
};

/// Mean of equally long windows (one value each). Windows are merged two by two until the lag-1 autocorrelation of the
/// batch means is shown to be small or fewer than 2 x `fewest` batches are left. What is left of it, r = lag1 + 1 /
/// batches (the second term takes the bias away), counts where it is positive, shown or not: the variance is multiplied
/// by (1 + r) / (1 - r), the variance inflation of a first-order autoregressive process, and the degrees of freedom are
/// divided by it, as in Skart (Tafazzoli, Wilson, Lada, Steiger 2011), from which the quantile for skewed batches is
/// too (skewed_quantile). The mean is over all windows, also the few that fill no batch. Unit: that of the values.
/// Where the rule says that it drifts, the half width is drifting().
/// `step`: what a window that holds something differs by from one that holds nothing; where no window does, the half
/// width is that of half_width_of_equal.
[[nodiscard]] BatchMeans batch_means(std::span<const double> windows, const BatchRule& rule = {}, double step = 0.0);

/// Mean over all observations, sum of sums / sum of counts, of windows that hold different numbers of them: the same
/// procedure on the linearised residuals (see ratio_interval). The one to use for latencies. Batches that hold no
/// observation add no degree of freedom. Observations that are equal in all batches have the half width of
/// half_width_of_equal, and none in fewer than `fewest` batches.
[[nodiscard]] BatchMeans ratio_batch_means(std::span<const SumCount> windows, const BatchRule& rule = {});

/// B - A of two runs with common random numbers and equal windows: batch means of the paired residuals. Batches count
/// as in ratio_batch_means where both runs hold an observation; so do differences that are all equal.
/// Throws InvariantError when the numbers of windows differ.
[[nodiscard]] BatchMeans paired_batch_difference(std::span<const SumCount> a, std::span<const SumCount> b,
                                                 const BatchRule& rule = {});

/// The same relative to A, (B - A) / A; without a half width when A is 0.
[[nodiscard]] BatchMeans paired_batch_relative(std::span<const SumCount> a, std::span<const SumCount> b,
                                               const BatchRule& rule = {});

/// How far the error of the mean of a queue depends on that mean: `half_width`, of a symmetric interval, over the mean
/// of what is slow in the queue. In heavy traffic the error of a mean waiting time Q is as Q^2 (the asymptotic variance
/// of reflected Brownian motion is 8 Q^4 / sigma^2; Whitt 1989, Planning queueing simulations, Management Science 35),
/// whatever the length: a run in which the queue happened to be short shows too small an error, and its interval
/// misses on that side only. What is symmetric is then 1 / Q, and the upper end of the interval lies at a distance of
/// half_width / (1 - curvature); at 1 there is none. The stationary deviation of such a queue is its mean, so that Q is
/// taken from how much `residuals` of windows vary, without what the next window has forgotten where they show that
/// they remember. The mean of several queues varies less than it is; then this is more than is needed.
[[nodiscard]] double curvature_of(double half_width, std::span<const double> residuals) noexcept;

/// Lag-1 autocorrelation sum d_i d_(i+1) / sum d_i^2 with d_i = values_i - mean; 0 for constant or fewer than 2 values.
[[nodiscard]] double lag1_autocorrelation(std::span<const double> values) noexcept;

}  // namespace banyan::stats
