// The statistics that claims are made of. Every one answers with a Decision that respects the intervals of what it
// compares, under one rule: wider intervals and missing values never turn an answer into a better one.
#pragma once

#include <string>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::study {

/// A mean with the half width of its interval.
struct Estimate {
  double mean = 0.0;
  double half_width = 0.0;
  u64 count = 0;
  bool known = true;  ///< false: the run reported no such metric, or no interval for it

  [[nodiscard]] static Estimate exactly(double value) { return {value, 0.0, 0, true}; }
  [[nodiscard]] static Estimate unknown() { return {0.0, 0.0, 0, false}; }
};

/// Sums and products of independent estimates; the half widths add in quadrature.
[[nodiscard]] Estimate operator+(const Estimate& a, const Estimate& b);
[[nodiscard]] Estimate operator-(const Estimate& a, const Estimate& b);
[[nodiscard]] Estimate operator*(double factor, const Estimate& a);
[[nodiscard]] Estimate operator/(const Estimate& a, const Estimate& b);  ///< first order
[[nodiscard]] Estimate magnitude(const Estimate& a);                     ///< |a|

/// The mean of independent values, such as one per seed, with its interval of 95 % after Student. One value alone says
/// nothing about its error, and is not known.
[[nodiscard]] Estimate mean_of(const std::vector<double>& values);
/// The mean of estimates of different things, such as the errors of a model in several cases; unknown when one is.
[[nodiscard]] Estimate mean_of(const std::vector<Estimate>& values);

/// Equal but for rounding: such values do not say how far others may lie, so that their mean has no interval.
[[nodiscard]] bool all_equal(const std::vector<double>& values);

/// "117.4 ± 1.9"
[[nodiscard]] std::string to_string(const Estimate& estimate);

/// What a comparison says. `holds` and `fails` are significant. In between the intervals allow both readings: `likely`
/// when the means say that it holds, `undecided` when they do not, or when something was not measured.
enum class Decision { holds, likely, undecided, fails };

/// Both hold; the worse of two decisions.
[[nodiscard]] Decision both(Decision a, Decision b);
/// One of them holds; the better of two decisions.
[[nodiscard]] Decision either(Decision a, Decision b);
/// The comparisons come out alike: both hold or both fail. Never decided where one of them is not.
[[nodiscard]] Decision alike(Decision a, Decision b);

/// a < b. With a margin: a < (1 - margin) b, so margin 0.5 is "less than half".
[[nodiscard]] Decision less(const Estimate& a, const Estimate& b, double margin = 0.0);
[[nodiscard]] Decision greater(const Estimate& a, const Estimate& b);
/// low <= a <= high. As for all statements of equality below: it holds when the mean is inside and the interval is not
/// wider than the range, since wider ones could not tell it from its opposite.
[[nodiscard]] Decision inside(const Estimate& a, double low, double high);
/// Ratios that are 1 within `average` on average, none of whose means is off by more than `each`: for many values whose
/// own intervals are wide.
[[nodiscard]] Decision one_on_average(const std::vector<Estimate>& ratios, double average, double each);
/// |a - b| <= tolerance * max(|a|, |b|)
[[nodiscard]] Decision equal_within(const Estimate& a, const Estimate& b, double tolerance);
/// The largest and the smallest are equal within the tolerance.
[[nodiscard]] Decision level(const std::vector<Estimate>& values, double tolerance);

/// What is read off a printed curve as a straight way down: a bump of up to a tenth of the whole fall.
inline constexpr double kBump = 0.1;
/// The last is below the first, and on the way nothing rises by more than `bump` of the whole fall. Two values at
/// least.
[[nodiscard]] Decision falls(const std::vector<Estimate>& values, double bump = kBump);
[[nodiscard]] Decision rises(const std::vector<Estimate>& values, double bump = kBump);
/// The last is above `factor` times the first.
[[nodiscard]] Decision grows(const std::vector<Estimate>& values, double factor);

/// Between which two values of a sweep something sets in: not yet at `last`, at `next`. No value between the two is
/// more likely than another, so that a comparison of brackets is decided or it is not.
struct Bracket {
  double last = 0.0;
  double next = 0.0;
  double before = 0.0;  ///< the value of the sweep below `next`: `last` where nothing between the two was left open

  [[nodiscard]] double width() const { return next - last; }
};
/// From the answers along the sweep's ascending values: "not yet" holds, "set in" fails. What is undecided widens the
/// bracket. `beyond`: where the sweep would end when it does not set in.
[[nodiscard]] Bracket bracket(const std::vector<double>& at, const std::vector<Decision>& not_yet, double beyond);
/// a sets in at a higher value than b, wherever the two are in their brackets.
[[nodiscard]] Decision later(const Bracket& a, const Bracket& b);
/// a does not set in earlier than b, as far as the sweep tells: within one of its steps the two are alike.
[[nodiscard]] Decision not_earlier(const Bracket& a, const Bracket& b);
/// a sets in at `low` or above, and at `high` or below.
[[nodiscard]] Decision inside(const Bracket& a, double low, double high);
/// What the brackets allow for the ratio of a to b.
[[nodiscard]] Bracket ratio(const Bracket& a, const Bracket& b);

}  // namespace banyan::study
