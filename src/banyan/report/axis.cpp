#include "banyan/report/axis.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace banyan::report {
namespace {

constexpr std::size_t kFewest = 3;  ///< marks of a logarithmic axis; where round powers give fewer, even steps do

/// The multiples of `step` in a range.
std::vector<double> multiples(double low, double high, double step) {
  const double magnitude = std::pow(10.0, std::floor(std::log10(step) + 1e-9));
  std::vector<double> values;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1.0) {
    // 3 x 0.1 is meant to be 0.3.
    values.push_back(std::round(k * step / magnitude * 1e3) / 1e3 * magnitude + 0.0);
  }
  return values;
}

/// A quantity without a value below zero has no error bar there either, however wide its intervals are.
double lowest_of_bars(double lowest_value) {
  return lowest_value < 0.0 ? -std::numeric_limits<double>::infinity() : 0.0;
}

void add_bars(const Chart& chart, const Axis& x, Axis& y) {
  const double lowest_value = std::min(y.low(), 0.0);
  const double highest_value = std::max(y.high(), 0.0);
  const double reach =
      highest_value > lowest_value ? highest_value - lowest_value : std::numeric_limits<double>::infinity();
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      if (!x.shows(point.x) || !y.shows(point.y)) continue;
      const double low = point.y - point.error.value_or(0);
      const double high = point.y + point.error.value_or(0);
      if (y.logarithmic() ? low >= point.y / 10 : low >= lowest_value - reach) {
        y.add(std::max(low, lowest_of_bars(lowest_value)));
      }
      if (y.logarithmic() || high <= highest_value + reach) y.add(high);
    }
  }
}

}  // namespace

double nice_step(double span, u32 parts) {
  const double rough = span / parts;
  const double magnitude = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * magnitude >= rough * (1 - 1e-9)) return factor * magnitude;
  }
  return 10 * magnitude;
}

std::vector<double> nice_ticks(double low, double high, u32 count, bool whole) {
  if (!(high > low) || count == 0) return {low};
  const double step = nice_step(high - low, count);
  return multiples(low, high, whole ? std::max(step, 1.0) : step);
}

std::vector<double> log_ticks(double low, double high, u32 most, bool binary) {
  if (!(high > low) || !(low > 0)) return {low};
  const auto powers = [&](double base, int step, std::initializer_list<double> factors) {
    std::vector<double> ticks;
    const double first = std::floor(std::log(low) / std::log(base) / step - 1e-9) * step;
    for (double e = first; std::pow(base, e) <= high; e += step) {
      for (const double factor : factors) {
        const double value = factor * std::pow(base, e);
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) ticks.push_back(value);
      }
    }
    return ticks;
  };
  std::vector<double> ticks = binary ? powers(2, 1, {1}) : powers(10, 1, {1, 2, 5});
  if (ticks.size() < kFewest) return nice_ticks(low, high, std::min(most, 5U));
  for (int step = 1; ticks.size() > most; ++step) ticks = powers(binary ? 2 : 10, step, {1});
  return ticks;
}

Prefix prefix_of(const std::string& unit, double most) {
  struct Chain {
    std::vector<std::string> units;
    double readable;
  };
  static const Chain chains[] = {{{"ps", "ns", "\u00b5s", "ms", "s"}, 1e4},
                                 {{"cycles", "thousands of cycles", "millions of cycles", "billions of cycles"}, 1e6}};
  Prefix prefix{1.0, unit};
  for (const auto& [units, readable] : chains) {
    auto at = std::find(units.begin(), units.end(), unit == "us" ? "\u00b5s" : unit);
    if (at == units.end()) continue;
    for (; most * prefix.factor >= readable && at + 1 != units.end(); ++at) prefix.factor /= 1000.0;
    prefix.unit = *at;
  }
  return prefix;
}

void ease_x(Chart& chart, const std::string& unit) {
  if (chart.log_x) return;
  double most = 0.0;
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) most = std::max(most, std::fabs(point.x));
  }
  const Prefix prefix = prefix_of(unit, most);
  if (prefix.factor == 1.0) return;
  for (ChartLine& line : chart.lines) {
    for (ChartPoint& point : line.points) point.x *= prefix.factor;
  }
  const std::size_t at = chart.x_label.rfind(unit);
  if (at != std::string::npos) chart.x_label.replace(at, unit.size(), prefix.unit);
  if (chart.x_symbol == "cycle") chart.x_symbol = "t";
}

bool Axis::shows(double value) const { return std::isfinite(value) && (!log_ || value > 0); }

void Axis::add(double value) {
  if (!shows(value)) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
}

void Axis::close() {
  if (empty()) {
    low_ = log_ ? 1.0 : 0.0;
    high_ = low_ + 1.0;
  } else if (!(high_ > low_)) {
    low_ -= log_ ? low_ / 2 : 0.5;
    high_ += log_ ? high_ : 0.5;
  }
}

void Axis::close_from_zero(u32 parts) {
  if (log_) return close();
  add(0.0);
  if (!(high_ > low_)) high_ = low_ + 1.0;
  step_ = nice_step(high_ - low_, parts);
  low_ = std::floor(low_ / step_ + 1e-9) * step_;
  high_ = std::ceil(high_ / step_ - 1e-9) * step_;
}

double Axis::map(double value) const { return log_ ? std::log2(value) : value; }

double Axis::value(double share) const {
  const double mapped = map(low_) + share * (map(high_) - map(low_));
  return log_ ? std::exp2(mapped) : mapped;
}

std::vector<double> Axis::marks(u32 most) const {
  return log_ ? log_ticks(low_, high_, most, false) : multiples(low_, high_, step_);
}

Plane plane_of(const Chart& chart, bool bars, u32 parts) {
  Plane plane{Axis(chart.log_x), Axis(chart.log_y), true};
  for (const ChartLine& line : chart.lines) {
    for (const ChartPoint& point : line.points) {
      if (plane.y.shows(point.y) || is_beyond(point)) plane.x.add(point.x);
      if (plane.x.shows(point.x)) plane.y.add(point.y);
    }
  }
  plane.empty = plane.x.empty() || plane.y.empty();
  if (bars && !plane.empty) add_bars(chart, plane.x, plane.y);
  if (!chart.x_names.empty()) {
    plane.x = Axis(false);
    plane.x.add(0.5);
    plane.x.add(static_cast<double>(chart.x_names.size()) + 0.5);
  }
  plane.x.close();
  plane.y.close_from_zero(parts);
  return plane;
}

}  // namespace banyan::report
