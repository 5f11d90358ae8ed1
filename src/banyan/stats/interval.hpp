// Confidence intervals of means, of ratios and of paired differences from independent groups (replications, sessions).
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/stats/metric.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// Fewer equal samples have no interval (half_width_of_equal: 31 % of their value for n = 8), as for batches
/// (BatchRule::fewest).
inline constexpr std::size_t kFewestEqual = 20;
/// Samples whose spread is below this share of their values are equal: sums and quotients round by about 1e-16 each.
inline constexpr double kEqualUpTo = 1e-12;

inline constexpr double kConfidence = 0.95;  ///< what readers expect of an error bar unless it says otherwise

/// The half width of the mean of n independent samples that are all equal. They show no spread, which is not to say
/// that there is none, but how rare other samples are: at this confidence rarer than 1 - (1 - confidence)^(1 / n),
/// about 3 / n at 95 % (the rule of three: Hanley, Lippman-Hand 1983, J. American Medical Association 249(13)). How far
/// those lie no sample tells; they are taken to differ by as much as `scale`, which is the value of the equal ones.
[[nodiscard]] double half_width_of_equal(double scale, double samples, double confidence) noexcept;
/// What samples that are all equal are taken to differ by from those that were not seen: their value, 1 where it is 0.
[[nodiscard]] inline double scale_of_equal(double value) noexcept { return value == 0.0 ? 1.0 : std::abs(value); }
/// Of pairs whose differences are all equal, from both means and the residuals of each: by the difference, or as much
/// as samples that are no pair differ where that is more; where these are equal too, by their value.
[[nodiscard]] double scale_of_equal_pairs(double a, double b, std::span<const double> residuals_a,
                                          std::span<const double> residuals_b) noexcept;

/// A mean and its two-sided Student interval mean +- half_width. Unit: that of the samples.
struct Interval {
  double mean = 0.0;
  double standard_error = 0.0;
  std::optional<double> half_width;  ///< absent: fewer than two groups, or fewer than kFewestEqual that are equal
  double confidence = kConfidence;
  double degrees_of_freedom = 0.0;
  u64 groups = 0;  ///< replications, sessions or batches that the interval stands on
  u64 count = 0;   ///< single observations that the mean stands on

  [[nodiscard]] double low() const noexcept { return mean - half_width.value_or(0.0); }
  [[nodiscard]] double high() const noexcept { return mean + half_width.value_or(0.0); }
  [[nodiscard]] bool contains(double value) const noexcept { return low() <= value && value <= high(); }
  /// half_width / |mean|; absent when there is no half width, or the mean is 0 and the half width is not. Where all
  /// samples are 0, that of one unit.
  [[nodiscard]] std::optional<double> relative_half_width() const noexcept;
};

/// Arithmetic mean; 0 of no values.
[[nodiscard]] double average(std::span<const double> values) noexcept;

/// The interval with this mean, standard error and degrees of freedom (none: no half width).
[[nodiscard]] Interval make_interval(double mean, double standard_error, double degrees_of_freedom, double confidence);

/// Student's quantile (positive, two-sided) for the mean of skewed residuals. A mean of few skewed values is itself
/// skewed, and where it comes out low its error is underestimated: delays of queues, whose 95 % intervals from 20
/// groups cover 85 to 90 %. Hall's transformation of Student's statistic (Hall 1992, J. Royal Stat. Soc. B 54; as in
/// Skart, Tafazzoli, Wilson, Lada, Steiger 2011, IEEE Trans. Automatic Control 56): with b = skewness / (6 sqrt(n)),
///   G(t) = (cbrt(1 + 6 b (t - b)) - 1) / (2 b),
/// of which the larger of both sides is taken, for a symmetric interval. Without skewness: t itself.
[[nodiscard]] double skewed_quantile(double t, std::span<const double> residuals) noexcept;

/// Mean of independent samples, one per replication; n - 1 degrees of freedom, skewed_quantile. Without a half width
/// where fewer than kFewestEqual samples are all equal.
[[nodiscard]] Interval mean_interval(std::span<const double> samples, double confidence = kConfidence);

/// Mean over all observations of all groups, R = sum y_i / sum x_i with y_i = groups[i].sum and x_i = groups[i].count,
/// where only the groups are independent (messages within a session are not). Linearised variance
///   sum (y_i - R x_i)^2 / (n (n - 1) xbar^2),   n - 1 degrees of freedom, skewed_quantile
/// (Cochran, Sampling Techniques, 3rd ed. 1977, ch. 6; in simulation Crane and Lemoine 1977, classical estimator).
/// Its bias is of order 1/n, below the half width by a factor of about sqrt(n). The count may be any denominator.
/// Without a half width where the ratios of fewer than kFewestEqual groups are all equal.
[[nodiscard]] Interval ratio_interval(std::span<const SumCount> groups, double confidence = kConfidence);

/// The difference B - A, absolute and relative to A.
struct Difference {
  Interval absolute;  ///< unit of the samples
  Interval relative;  ///< (B - A) / A, 0.01 = 1 %; no half width and mean 0 when A is 0
  /// Whether 0 lies outside the absolute interval.
  [[nodiscard]] bool significant() const noexcept;
  /// What the absolute interval leaves open because all differences are equal, the relative one does too: what varies
  /// in it is A alone.
  void open_relative(double a) noexcept;
};

/// Paired difference of means over all observations (ratio_interval) of groups that share their random numbers (Law,
/// Simulation Modeling and Analysis, 5th ed., 10.2.1 paired-t): R_b - R_a, linearised in both ratios, so that their
/// correlation counts. a[i] and b[i] belong together: the sizes must be equal, else InvariantError. Without half widths
/// where fewer than kFewestEqual differences are all equal.
[[nodiscard]] Difference paired_ratio_difference(std::span<const SumCount> a, std::span<const SumCount> b,
                                                 double confidence = kConfidence);

/// Difference of two independent estimates (Welch 1938, degrees of freedom after Satterthwaite 1946), for runs that
/// share no random numbers; standard errors are those that the half widths stand for, skewness included. Both need an
/// interval, else the result has none.
[[nodiscard]] Difference independent_difference(const Interval& a, const Interval& b, double confidence = kConfidence);

/// The row of a result table.
[[nodiscard]] Metric to_metric(std::string name, std::string unit, const Interval& interval);

}  // namespace banyan::stats
