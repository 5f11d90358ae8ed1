#include "banyan/stats/interval.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/stats/linearized.hpp"
#include "banyan/stats/student.hpp"

namespace banyan::stats {

namespace {

void require_pairs(std::size_t a, std::size_t b) {
  if (a != b) throw InvariantError("paired difference of samples of unequal number");
}

/// The interval around `mean` whose error is the mean of n independent residuals of mean 0.
Interval from_residuals(double mean, u64 count, std::span<const double> residuals, double confidence) {
  const auto n = static_cast<double>(residuals.size());
  const double degrees = residuals.size() < 2 ? 0.0 : n - 1.0;
  const double error = degrees > 0.0 ? std::sqrt(sum_of_squares(residuals) / (n * degrees)) : 0.0;
  Interval interval = make_interval(mean, error, degrees, confidence);
  if (interval.half_width) {
    interval.half_width = skewed_quantile(two_sided_student(confidence, degrees), residuals) * error;
  }
  interval.groups = residuals.size();
  interval.count = count;
  return interval;
}

/// What the interval of samples that are all equal (up to the rounding of values of about `value`) leaves open, where
/// others differ from them by `scale`.
Interval open_where_equal(Interval interval, double value, double scale) {
  if (!interval.half_width || interval.standard_error > kEqualUpTo * value) return interval;
  interval.standard_error = 0.0;
  interval.half_width = half_width_of_equal(scale, static_cast<double>(interval.groups), interval.confidence);
  if (interval.groups < kFewestEqual) {
    interval.half_width = std::nullopt;
    interval.degrees_of_freedom = 0.0;
  }
  return interval;
}

/// The standard error that an interval's half width stands for.
double error_of(const Interval& interval) {
  if (!interval.half_width || !(interval.degrees_of_freedom > 0.0)) return interval.standard_error;
  return *interval.half_width / two_sided_student(interval.confidence, interval.degrees_of_freedom);
}

/// e_b - scale e_a, element by element.
std::vector<double> combine(std::span<const double> b, double scale, std::span<const double> a) {
  std::vector<double> result(b.begin(), b.end());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] -= scale * a[i];
  return result;
}

std::vector<double> deviations(std::span<const double> samples, double mean) {
  std::vector<double> result(samples.begin(), samples.end());
  for (double& value : result) value -= mean;
  return result;
}

/// B - A and B / A - 1 from both means and the residuals of each. With q = B / A the error of q is, to first order,
/// (e_b - q e_a) / A.
Difference linear_difference(double a, double b, u64 count, std::span<const double> residuals_a,
                             std::span<const double> residuals_b, double confidence) {
  const double value = std::max(std::abs(a), std::abs(b));
  const double scale = scale_of_equal_pairs(a, b, residuals_a, residuals_b);
  Difference result;
  result.absolute =
      open_where_equal(from_residuals(b - a, count, combine(residuals_b, 1.0, residuals_a), confidence), value, scale);
  if (a == 0.0) return result;
  std::vector<double> relative = combine(residuals_b, b / a, residuals_a);
  for (double& residual : relative) residual /= a;
  result.relative = open_where_equal(from_residuals((b - a) / a, count, relative, confidence), value / std::abs(a),
                                     scale / std::abs(a));
  result.open_relative(a);
  return result;
}

}  // namespace

double half_width_of_equal(double scale, double samples, double confidence) noexcept {
  return scale * (1.0 - std::pow(1.0 - confidence, 1.0 / samples));
}

double scale_of_equal_pairs(double a, double b, std::span<const double> residuals_a,
                            std::span<const double> residuals_b) noexcept {
  const double squares = sum_of_squares(residuals_a) + sum_of_squares(residuals_b);
  const double apart = residuals_a.empty() ? 0.0 : std::sqrt(squares / static_cast<double>(residuals_a.size()));
  const double scale = std::max(std::abs(b - a), apart);
  return scale > 0.0 ? scale : scale_of_equal(std::max(std::abs(a), std::abs(b)));
}

double average(std::span<const double> samples) noexcept {
  double sum = 0.0;
  for (const double sample : samples) sum += sample;
  return samples.empty() ? 0.0 : sum / static_cast<double>(samples.size());
}

std::optional<double> Interval::relative_half_width() const noexcept {
  if (!half_width) return std::nullopt;
  if (*half_width == 0.0) return 0.0;
  if (mean == 0.0) return standard_error == 0.0 ? half_width : std::nullopt;
  return *half_width / std::abs(mean);
}

Interval make_interval(double mean, double standard_error, double degrees_of_freedom, double confidence) {
  Interval interval;
  interval.mean = mean;
  interval.standard_error = standard_error;
  interval.degrees_of_freedom = degrees_of_freedom;
  interval.confidence = confidence;
  if (degrees_of_freedom > 0.0) {
    interval.half_width = two_sided_student(confidence, degrees_of_freedom) * standard_error;
  }
  return interval;
}

double skewed_quantile(double t, std::span<const double> residuals) noexcept {
  const auto n = static_cast<double>(residuals.size());
  double squares = 0.0;
  double cubes = 0.0;
  for (const double residual : residuals) {
    squares += residual * residual;
    cubes += residual * residual * residual;
  }
  if (!(squares > 0.0)) return t;
  const double skewness = cubes / n / std::pow(squares / n, 1.5);
  const double b = skewness / (6.0 * std::sqrt(n));
  if (std::abs(b) < 1e-9) return t;
  const auto hall = [b](double x) { return std::abs((std::cbrt(1.0 + 6.0 * b * (x - b)) - 1.0) / (2.0 * b)); };
  return std::max({t, hall(t), hall(-t)});
}

Interval mean_interval(std::span<const double> samples, double confidence) {
  const double mean = average(samples);
  return open_where_equal(from_residuals(mean, samples.size(), deviations(samples, mean), confidence), std::abs(mean),
                          scale_of_equal(mean));
}

Interval ratio_interval(std::span<const SumCount> groups, double confidence) {
  const Linearized linear = linearize(groups);
  return open_where_equal(from_residuals(linear.ratio, linear.count, linear.residuals, confidence),
                          std::abs(linear.ratio), scale_of_equal(linear.ratio));
}

void Difference::open_relative(double a) noexcept {
  if (!absolute.half_width) {
    relative.half_width = std::nullopt;
  } else if (absolute.standard_error == 0.0 && relative.half_width) {
    relative.half_width = std::max(*relative.half_width, *absolute.half_width / std::abs(a));
  }
}

bool Difference::significant() const noexcept { return absolute.half_width && !absolute.contains(0.0); }

Difference paired_ratio_difference(std::span<const SumCount> a, std::span<const SumCount> b, double confidence) {
  require_pairs(a.size(), b.size());
  const Linearized linear_a = linearize(a);
  const Linearized linear_b = linearize(b);
  if (linear_a.count == 0 || linear_b.count == 0) return {};
  return linear_difference(linear_a.ratio, linear_b.ratio, linear_a.count + linear_b.count, linear_a.residuals,
                           linear_b.residuals, confidence);
}

Difference independent_difference(const Interval& a, const Interval& b, double confidence) {
  const double error_a = error_of(a);
  const double error_b = error_of(b);
  const auto welch = [&](double mean, double scale_a, double scale_b) {
    const double part_a = std::pow(scale_a * error_a, 2);
    const double part_b = std::pow(scale_b * error_b, 2);
    const bool both = a.degrees_of_freedom > 0.0 && b.degrees_of_freedom > 0.0;
    const double spread = both ? part_a * part_a / a.degrees_of_freedom + part_b * part_b / b.degrees_of_freedom : 0.0;
    // Two estimates without any spread: as many degrees of freedom as both have, for a half width of 0.
    const double degrees = spread > 0.0 ? (part_a + part_b) * (part_a + part_b) / spread
                           : both       ? a.degrees_of_freedom + b.degrees_of_freedom
                                        : 0.0;
    Interval interval = make_interval(mean, std::sqrt(part_a + part_b), degrees, confidence);
    interval.groups = a.groups + b.groups;
    interval.count = a.count + b.count;
    return interval;
  };
  Difference result;
  result.absolute = welch(b.mean - a.mean, 1.0, 1.0);
  if (a.mean != 0.0) { result.relative = welch((b.mean - a.mean) / a.mean, b.mean / (a.mean * a.mean), 1.0 / a.mean); }
  return result;
}

Metric to_metric(std::string name, std::string unit, const Interval& interval) {
  Metric metric;
  metric.name = std::move(name);
  metric.unit = std::move(unit);
  metric.mean = interval.mean;
  metric.half_width = interval.half_width;
  metric.confidence = interval.confidence;
  metric.count = interval.count;
  return metric;
}

}  // namespace banyan::stats
