#include "banyan/stats/batch_means.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/stats/linearized.hpp"
#include "banyan/stats/student.hpp"

namespace banyan::stats {

namespace {

/// Means of batches of `size` windows. What does not fill a batch is left out in front, next to the warm-up.
std::vector<double> batches_of(std::span<const double> windows, std::size_t size) {
  std::vector<double> batches;
  batches.reserve(windows.size() / size);
  for (std::size_t i = windows.size() % size; i < windows.size(); i += size) {
    batches.push_back(average(windows.subspan(i, size)));
  }
  return batches;
}

double margin_of(std::size_t batches, const BatchRule& rule) noexcept {
  return rule.margin / std::sqrt(static_cast<double>(batches));
}

/// An autocorrelation near 1 says only that the run is far too short; the factor then stays at 39.
constexpr double kLargestLag1 = 0.95;

/// How many of the batches of `size` windows hold an observation.
std::size_t observed_batches(std::span<const SumCount> windows, std::size_t size) {
  std::size_t observed = 0;
  for (std::size_t i = windows.size() % size; i < windows.size(); i += size) {
    const auto batch = windows.subspan(i, size);
    observed += std::any_of(batch.begin(), batch.end(), [](const SumCount& w) { return w.count != 0; }) ? 1U : 0U;
  }
  return observed;
}

/// Beyond saturation short windows look independent, and are not: what one accepts too much its neighbour accepts too
/// little (on an 8 x 8 mesh at 0.45 the lag-1 autocorrelation of windows of 8 cycles is -0.16), which hides a
/// dependence over hundreds of cycles (0.33 between windows of 256). It shows in long batches only. So the half width
/// is the largest of all numbers of batches down to kFewestDrifting, and what the mean of the second half differs by
/// from that of the first counts as an error beside it: while queues fill, less is accepted than at first.
double drifting(std::span<const double> residuals, std::size_t size, double half_width, const BatchRule& rule) {
  constexpr std::size_t kFewestDrifting = 5;  // with fewer, Student's factor alone is above 3
  for (size *= 2; residuals.size() / size >= kFewestDrifting; size *= 2) {
    const std::vector<double> batches = batches_of(residuals, size);
    const double degrees = std::min(static_cast<double>(batches.size()) - 1.0, rule.most_degrees);
    const double error = mean_interval(batches, rule.confidence).standard_error;
    half_width = std::max(half_width, two_sided_student(rule.confidence, degrees) * error);
  }
  const std::size_t half = residuals.size() / 2;
  return std::hypot(half_width, average(residuals.first(half)) - average(residuals.last(half)));
}

/// The interval of `mean` (over all windows) whose error is the mean of the residuals. `windows`: what the residuals
/// are of, where a window may hold no observation; otherwise empty. Residuals below kEqualUpTo of `value` are rounding.
/// `scale`: that of half_width_of_equal; 0: windows that are equal are exact.
BatchMeans from_residuals(double mean, u64 count, std::span<const double> residuals, const BatchRule& rule,
                          std::span<const SumCount> windows = {}, double value = 0.0, double scale = 0.0) {
  BatchMeans result;
  std::size_t size = 1;
  std::vector<double> batches = batches_of(residuals, size);
  result.lag1 = lag1_autocorrelation(batches);
  while (result.lag1 + margin_of(batches.size(), rule) > rule.small_lag1 &&
         residuals.size() / (2 * size) >= rule.fewest) {
    size *= 2;
    batches = batches_of(residuals, size);
    result.lag1 = lag1_autocorrelation(batches);
  }
  const auto count_of_batches = static_cast<double>(batches.size());
  const bool correlated = result.lag1 > margin_of(batches.size(), rule);
  const double left = batches.size() < 2 ? 0.0 : std::min(result.lag1 + 1.0 / count_of_batches, kLargestLag1);
  if (left > 0.0) result.inflation = (1.0 + left) / (1.0 - left);
  const double spread = mean_interval(batches, rule.confidence).standard_error * std::sqrt(result.inflation);
  const double error = spread > kEqualUpTo * value ? spread : 0.0;
  // A batch without an observation tells nothing of how much these differ, and a few that are all equal do not show
  // that the next one is: five of them miss a value that every fourth has in a quarter of all runs.
  const std::size_t observed = windows.empty() ? batches.size() : observed_batches(windows, size);
  const bool varies = error > 0.0 || windows.empty() || observed >= rule.fewest;
  const bool enough = observed >= 2 && varies && rule.most_degrees >= 1.0;
  const double most = std::min(static_cast<double>(observed) - 1.0, rule.most_degrees);
  const double degrees = enough ? std::min(std::max(1.0, (count_of_batches - 1.0) / result.inflation), most) : 0.0;
  result.interval = make_interval(mean, error, degrees, rule.confidence);
  if (result.interval.half_width && error == 0.0) {
    // Equal windows show no dependence, and were merged for nothing.
    const std::size_t equal = windows.empty() ? residuals.size() : observed_batches(windows, 1);
    const double groups = std::min(static_cast<double>(equal), rule.most_degrees + 1.0);
    if (scale > 0.0) result.interval.half_width = half_width_of_equal(scale, groups, rule.confidence);
  } else if (result.interval.half_width) {
    const double middle = average(batches);
    for (double& batch : batches) batch -= middle;
    const double symmetric = *result.interval.half_width;
    result.interval.half_width = skewed_quantile(two_sided_student(rule.confidence, degrees), batches) * error;
    if (rule.of_queues) result.curvature = curvature_of(symmetric, residuals);
    if (result.curvature >= 1.0) {
      result.interval.half_width = std::nullopt;
    } else if (result.curvature > 0.0) {
      result.interval.half_width = std::max(*result.interval.half_width, symmetric / (1.0 - result.curvature));
    }
    if (rule.drifts && result.interval.half_width)
      result.interval.half_width = drifting(residuals, size, *result.interval.half_width, rule);
  }
  result.interval.groups = batches.size();
  result.interval.count = count;
  result.batch_windows = size;
  result.independent = !correlated && batches.size() >= rule.fewest;
  return result;
}

/// Windows of two runs, with as many observations as both hold.
std::vector<SumCount> in_both(std::span<const SumCount> a, std::span<const SumCount> b) {
  std::vector<SumCount> both(a.begin(), a.end());
  for (std::size_t i = 0; i < both.size(); ++i) both[i].count = std::min(a[i].count, b[i].count);
  return both;
}

std::pair<Linearized, Linearized> linearize_pair(std::span<const SumCount> a, std::span<const SumCount> b) {
  if (a.size() != b.size()) throw InvariantError("paired difference of runs with unequal numbers of windows");
  return {linearize(a), linearize(b)};
}

}  // namespace

double lag1_autocorrelation(std::span<const double> values) noexcept {
  const double mean = average(values);
  double products = 0.0;
  double squares = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double deviation = values[i] - mean;
    squares += deviation * deviation;
    if (i + 1 < values.size()) products += deviation * (values[i + 1] - mean);
  }
  return squares > 0.0 ? products / squares : 0.0;
}

double curvature_of(double half_width, std::span<const double> residuals) noexcept {
  const auto n = static_cast<double>(residuals.size());
  const double mean = average(residuals);
  double squares = 0.0;
  double products = 0.0;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    const double deviation = residuals[i] - mean;
    squares += deviation * deviation;
    if (i + 1 < residuals.size()) products += deviation * (residuals[i + 1] - mean);
  }
  if (!(half_width > 0.0) || !(squares > 0.0)) return 0.0;
  constexpr double kShown = 2.0;  // standard errors of an autocorrelation
  const bool remember = products > kShown * squares / std::sqrt(n);
  return half_width / std::sqrt((remember ? products : squares) / n);
}

BatchMeans batch_means(std::span<const double> windows, const BatchRule& rule, double step) {
  const double mean = average(windows);
  std::vector<double> residuals(windows.begin(), windows.end());
  for (double& value : residuals) value -= mean;
  return from_residuals(mean, windows.size(), residuals, rule, {}, 0.0, mean == 0.0 ? step : 0.0);
}

BatchMeans ratio_batch_means(std::span<const SumCount> windows, const BatchRule& rule) {
  const Linearized linear = linearize(windows);
  return from_residuals(linear.ratio, linear.count, linear.residuals, rule, windows, std::abs(linear.ratio),
                        scale_of_equal(linear.ratio));
}

BatchMeans paired_batch_difference(std::span<const SumCount> a, std::span<const SumCount> b, const BatchRule& rule) {
  const auto [linear_a, linear_b] = linearize_pair(a, b);
  if (linear_a.count == 0 || linear_b.count == 0) return {};
  std::vector<double> residuals = linear_b.residuals;
  for (std::size_t i = 0; i < residuals.size(); ++i) residuals[i] -= linear_a.residuals[i];
  return from_residuals(linear_b.ratio - linear_a.ratio, linear_a.count + linear_b.count, residuals, rule,
                        in_both(a, b), std::max(std::abs(linear_a.ratio), std::abs(linear_b.ratio)),
                        scale_of_equal_pairs(linear_a.ratio, linear_b.ratio, linear_a.residuals, linear_b.residuals));
}

BatchMeans paired_batch_relative(std::span<const SumCount> a, std::span<const SumCount> b, const BatchRule& rule) {
  const auto [linear_a, linear_b] = linearize_pair(a, b);
  if (linear_a.count == 0 || linear_b.count == 0 || linear_a.ratio == 0.0) return {};
  // The error of B / A is, to first order, (e_b - B / A e_a) / A.
  const double quotient = linear_b.ratio / linear_a.ratio;
  std::vector<double> residuals = linear_b.residuals;
  for (std::size_t i = 0; i < residuals.size(); ++i) {
    residuals[i] = (residuals[i] - quotient * linear_a.residuals[i]) / linear_a.ratio;
  }
  return from_residuals(quotient - 1.0, linear_a.count + linear_b.count, residuals, rule, in_both(a, b),
                        std::max(1.0, std::abs(quotient)),
                        scale_of_equal_pairs(linear_a.ratio, linear_b.ratio, linear_a.residuals, linear_b.residuals) /
                            std::abs(linear_a.ratio));
}

}  // namespace banyan::stats
