#include "banyan/study/claim_statistics.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "banyan/stats/student.hpp"

namespace banyan::study {
namespace {

constexpr double kConfidence = 0.95;

double quadrature(double a, double b) { return std::sqrt(a * a + b * b); }

/// Decides "a < limit", where h is the half width of the difference.
Decision below(double a, double limit, double h) {
  if (a + h < limit) return Decision::holds;
  if (a - h > limit) return Decision::fails;
  return a < limit ? Decision::likely : Decision::undecided;
}

/// Decides "the excess over a tolerance is not positive": `excess` is the mean's, `h` the half width of what it is made
/// of.
Decision within(double excess, double tolerance, double h) {
  if (excess > h) return Decision::fails;
  if (excess > 0) return Decision::undecided;
  return h <= tolerance ? Decision::holds : Decision::likely;
}

bool all_known(const std::vector<Estimate>& values) {
  return std::all_of(values.begin(), values.end(), [](const Estimate& e) { return e.known; });
}

/// Decimals that keep two digits of the interval, or four significant digits without one.
int decimals(double value, double half_width) {
  const double scale = half_width > 0 ? half_width / 10 : std::fabs(value) / 1000;
  if (!(scale > 0)) return 0;
  return std::clamp(static_cast<int>(std::ceil(-std::log10(scale))), 0, 6);
}

}  // namespace

Estimate operator+(const Estimate& a, const Estimate& b) {
  return {a.mean + b.mean, quadrature(a.half_width, b.half_width), std::min(a.count, b.count), a.known && b.known};
}

Estimate operator-(const Estimate& a, const Estimate& b) { return a + (-1.0) * b; }

Estimate operator*(double factor, const Estimate& a) {
  return {factor * a.mean, std::fabs(factor) * a.half_width, a.count, a.known};
}

Estimate operator/(const Estimate& a, const Estimate& b) {
  if (b.mean == 0.0) return Estimate::unknown();
  const double ratio = a.mean / b.mean;
  const double h = quadrature(a.half_width / b.mean, ratio * b.half_width / b.mean);
  return {ratio, h, std::min(a.count, b.count), a.known && b.known};
}

Estimate magnitude(const Estimate& a) { return {std::fabs(a.mean), a.half_width, a.count, a.known}; }

Estimate mean_of(const std::vector<double>& values) {
  if (values.empty()) return Estimate::unknown();
  const auto n = static_cast<double>(values.size());
  double mean = 0.0;
  for (const double value : values) mean += value / n;
  if (values.size() == 1) return {mean, 0.0, 1, false};
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double h = stats::two_sided_student(kConfidence, n - 1) * std::sqrt(squares / (n - 1) / n);
  return {mean, h, values.size(), std::isfinite(mean)};
}

Estimate mean_of(const std::vector<Estimate>& values) {
  if (values.empty()) return Estimate::unknown();
  Estimate sum = values.front();
  for (std::size_t i = 1; i < values.size(); ++i) sum = sum + values[i];
  return (1.0 / static_cast<double>(values.size())) * sum;
}

bool all_equal(const std::vector<double>& values) {
  constexpr double kRounding = 1e-12;  // as a part of the values
  if (values.empty()) return true;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low <= kRounding * std::fabs(*high);
}

std::string to_string(const Estimate& estimate) {
  if (!estimate.known) return "not measured";
  const int places = decimals(estimate.mean, estimate.half_width);
  if (estimate.half_width <= 0) return fmt::format("{:.{}f}", estimate.mean, places);
  return fmt::format("{:.{}f} ± {:.{}f}", estimate.mean, places, estimate.half_width, places);
}

Decision both(Decision a, Decision b) { return std::max(a, b); }
Decision either(Decision a, Decision b) { return std::min(a, b); }

Decision alike(Decision a, Decision b) {
  const auto decided = [](Decision d) { return d == Decision::holds || d == Decision::fails; };
  const auto yes = [](Decision d) { return d == Decision::holds || d == Decision::likely; };
  if (decided(a) && decided(b)) return a == b ? Decision::holds : Decision::fails;
  return yes(a) && yes(b) ? Decision::likely : Decision::undecided;
}

Decision less(const Estimate& a, const Estimate& b, double margin) {
  if (!a.known || !b.known) return Decision::undecided;
  const double keep = 1.0 - margin;
  return below(a.mean, keep * b.mean, quadrature(a.half_width, keep * b.half_width));
}

Decision greater(const Estimate& a, const Estimate& b) { return less(b, a); }

Decision inside(const Estimate& a, double low, double high) {
  if (!a.known) return Decision::undecided;
  return within(std::max(low - a.mean, a.mean - high), (high - low) / 2, a.half_width);
}

Decision one_on_average(const std::vector<Estimate>& ratios, double average, double each) {
  Decision decision = inside(mean_of(ratios), 1 - average, 1 + average);
  for (const Estimate& ratio : ratios) {
    const Decision one = inside(ratio, 1 - each, 1 + each);
    if (one != Decision::likely) decision = both(decision, one);
  }
  return decision;
}

Decision equal_within(const Estimate& a, const Estimate& b, double tolerance) {
  if (!a.known || !b.known) return Decision::undecided;
  const double limit = tolerance * std::max(std::fabs(a.mean), std::fabs(b.mean));
  return within(std::fabs(a.mean - b.mean) - limit, limit, quadrature(a.half_width, b.half_width));
}

Decision level(const std::vector<Estimate>& values, double tolerance) {
  if (values.size() < 2 || !all_known(values)) return Decision::undecided;
  // Every pair counts: the interval of a value in the middle can hide an extreme.
  Decision decision = Decision::holds;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      decision = both(decision, equal_within(values[i], values[j], tolerance));
    }
  }
  return decision;
}

Decision falls(const std::vector<Estimate>& values, double bump) {
  if (values.size() < 2 || !all_known(values)) return Decision::undecided;
  const double fall = values.front().mean - values.back().mean;
  Decision decision = less(values.back(), values.front());
  Estimate lowest = values.front();
  for (const Estimate& value : values) {
    const Estimate rise = value - lowest;
    const double excess = rise.mean - std::max(0.0, bump * fall);
    if (excess > 0) decision = both(decision, excess > rise.half_width ? Decision::fails : Decision::undecided);
    if (value.mean < lowest.mean) lowest = value;
  }
  return decision;
}

Decision rises(const std::vector<Estimate>& values, double bump) {
  return falls({values.rbegin(), values.rend()}, bump);
}

Decision grows(const std::vector<Estimate>& values, double factor) {
  if (values.size() < 2) return Decision::undecided;
  return less(factor * values.front(), values.back());
}

Bracket bracket(const std::vector<double>& at, const std::vector<Decision>& not_yet, double beyond) {
  Bracket found{0.0, beyond, 0.0};
  bool open = false;
  for (std::size_t i = 0; i < at.size(); ++i) {
    if (not_yet[i] == Decision::fails) {
      found.next = at[i];
      return found;
    }
    open = open || not_yet[i] != Decision::holds;
    if (!open) found.last = at[i];
    found.before = at[i];
  }
  return found;
}

Decision later(const Bracket& a, const Bracket& b) {
  if (a.last >= b.next) return Decision::holds;
  if (a.next <= b.last) return Decision::fails;
  return Decision::undecided;
}

Decision not_earlier(const Bracket& a, const Bracket& b) {
  if (a.last >= b.before) return Decision::holds;
  if (a.next <= b.last) return Decision::fails;
  return Decision::undecided;
}

Decision inside(const Bracket& a, double low, double high) {
  if (a.last >= low && a.next <= high) return Decision::holds;
  if (a.next <= low || a.last >= high) return Decision::fails;
  return Decision::undecided;
}

Bracket ratio(const Bracket& a, const Bracket& b) {
  constexpr double kUnbounded = 1e9;  // b may set in at once
  return {b.next > 0.0 ? a.last / b.next : 0.0, b.last > 0.0 ? a.next / b.last : kUnbounded};
}

}  // namespace banyan::study
