// The axes of charts: what they show, where a value lies on them, and their marks. Static drawings and charts of the
// terminal have them from here; web/src/extent.ts has the same for pages, and tests/report/axis_cases.json holds both
// to it.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "banyan/report/chart.hpp"

namespace banyan::report {

/// The smallest of 1, 2, 5 times a power of ten that divides `span` > 0 into at most `parts` > 0.
[[nodiscard]] double nice_step(double span, u32 parts);

/// Round values that divide [low, high] into about `count` parts. `whole`: no others than whole numbers.
[[nodiscard]] std::vector<double> nice_ticks(double low, double high, u32 count, bool whole = false);

/// At most `most` round values in [low, high], low > 0, for a logarithmic axis: powers of ten, with 2 and 5 times them
/// where there is room; evenly spaced values where the range holds hardly any of these. `binary`: powers of two, for
/// places that are such themselves.
[[nodiscard]] std::vector<double> log_ticks(double low, double high, u32 most, bool binary);

/// A unit that values up to some size are easy to read in.
struct Prefix {
  double factor;  ///< of values in the unit before
  std::string unit;
};

/// Of "ns" with values up to 50,000: 0.001 and "µs"; of cycles "thousands of cycles". Other units stay as they are.
[[nodiscard]] Prefix prefix_of(const std::string& unit, double most);

/// Gives a linear horizontal axis of that unit the one that it is easy to read in, and its points what they are in it.
void ease_x(Chart& chart, const std::string& unit);

/// A linear or logarithmic axis.
class Axis {
 public:
  explicit Axis(bool logarithmic) : log_(logarithmic) {}

  [[nodiscard]] bool logarithmic() const { return log_; }
  /// Whether a value can be drawn: it is finite, and on a logarithmic axis above zero.
  [[nodiscard]] bool shows(double value) const;
  /// Widens the axis to a value, if it can show it.
  void add(double value);
  [[nodiscard]] bool empty() const { return low_ > high_; }
  /// Gives an axis without values a range, and one with a single value some room on both sides.
  void close();
  /// The same for values of which the bars of a linear axis begin at zero: it goes to zero and to round values, at most
  /// `parts` of them apart.
  void close_from_zero(u32 parts);

  [[nodiscard]] double low() const { return low_; }
  [[nodiscard]] double high() const { return high_; }
  /// Where a value lies: 0 at the low end, 1 at the high one.
  [[nodiscard]] double share(double value) const { return (map(value) - map(low_)) / (map(high_) - map(low_)); }
  /// The value that lies there.
  [[nodiscard]] double value(double share) const;
  /// Marks of an axis that was closed from zero: at most `most` where it is logarithmic, else the round values.
  [[nodiscard]] std::vector<double> marks(u32 most) const;

 private:
  [[nodiscard]] double map(double value) const;
  bool log_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  double step_ = 0.0;  ///< between the round values
};

/// An axis on a stretch of a drawing.
struct Scale {
  Axis axis;
  double from, to;
  [[nodiscard]] double at(double value) const { return from + axis.share(value) * (to - from); }
  [[nodiscard]] bool shows(double value) const { return axis.shows(value); }
};

struct Plane {
  Axis x, y;
  bool empty;  ///< no point can be drawn
};

/// What shows every point of a chart. `bars`: with its error bar, but for those that would stretch the axis: an
/// interval that nearly reaches zero takes a logarithmic one over decades, and one that ends farther from the values
/// than these and zero lie apart leaves them a part of a linear one. Such a bar is cut at the edge of the plot, as one
/// below zero is. `parts`: between round values of a linear vertical axis, at most.
[[nodiscard]] Plane plane_of(const Chart& chart, bool bars, u32 parts);

}  // namespace banyan::report
