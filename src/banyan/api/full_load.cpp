#include "banyan/api/full_load.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/api/predictions.hpp"

namespace banyan::api {
namespace {

constexpr double kNoCrossing = std::numeric_limits<double>::infinity();
constexpr double kExact = 1e-9;      ///< of a ratio
constexpr int kMostSecants = 16;     ///< each builds the network
constexpr double kSmallLoad = 0.01;  ///< of the greatest: no model looks for a bound of an overload there

struct Point {
  double load = 0.0;
  Fullness fullness;
};

/// Where the line through two points is 1.
double crossing(const Point& a, const Point& b) {
  const double slope = (b.fullness.ratio - a.fullness.ratio) / (b.load - a.load);
  return slope > 0.0 ? a.load + (1.0 - a.fullness.ratio) / slope : kNoCrossing;
}

/// Points at which the ratio was asked for, by load: the first has a ratio below 1.
class Secants {
 public:
  Secants(const std::function<Fullness(double)>& at, Point first) : at_(at), points_{std::move(first)} {}

  Point& ask(double load) {
    const auto behind = std::ranges::upper_bound(points_, load, {}, &Point::load);
    return *points_.insert(behind, Point{load, at_(load)});
  }
  /// A line through two points on one side lies below a convex function on the other: it crosses 1 behind it.
  [[nodiscard]] double next() const {
    const std::size_t b = first_above();
    double beyond = kNoCrossing;
    if (b >= 2) beyond = crossing(points_[b - 2], points_[b - 1]);
    if (b + 1 < points_.size()) beyond = std::min(beyond, crossing(points_[b], points_[b + 1]));
    const bool nearer = beyond > points_[b - 1].load && beyond < points_[b].load * (1.0 - kExact);
    return nearer ? beyond : crossing(points_[b - 1], points_[b]);
  }
  [[nodiscard]] const Point& above() const { return points_[first_above()]; }

 private:
  [[nodiscard]] std::size_t first_above() const {
    const auto full = [](const Point& p) { return p.fullness.ratio >= 1.0; };
    return static_cast<std::size_t>(std::ranges::find_if(points_, full) - points_.begin());
  }

  const std::function<Fullness(double)>& at_;
  std::vector<Point> points_;
};

}  // namespace

Fullness fullness_of(const Experiment& experiment) {
  const Network network = build_network(experiment);
  Fullness all;
  for (const auto& traffic : build_traffics(experiment, *network.topology)) all.offered += traffic->offered_load();
  for (const Predictions& model : proven_bounds(experiment, network)) {
    std::optional<double> steady;  // what no steady state exceeds
    std::optional<double> most;    // what is accepted at the most
    const auto least = [](std::optional<double>& of, double value) { of = std::min(of.value_or(value), value); };
    for (const core::Prediction& p : model.list) {
      if (p.metric == "accepted_load" && p.bound == core::Bound::overload) least(most, p.value);
      const bool is_steady = p.metric == "accepted_load" || p.metric == "proportional_throughput";
      if (is_steady && p.bound == core::Bound::upper && p.value > 0.0) least(steady, p.value);
    }
    if (most) least(all.most, *most);
    // Where the demands are not known, what is accepted however they are met is accepted of a steady state, too.
    const std::optional<double> bound = steady ? steady : most;
    if (!bound || *bound <= 0.0 || (!all.model.empty() && all.offered / *bound <= all.ratio)) continue;
    all.ratio = all.offered / *bound;
    all.model = model.model;
  }
  return all;
}

std::optional<FullLoad> full_load(const std::function<Fullness(double)>& at, double greatest) {
  const Point zero{0.0, at(0.0)};
  const double others = zero.fullness.offered;
  if (zero.fullness.ratio >= 1.0) return FullLoad{0.0, others, others, zero.fullness.model};
  if (others == 0.0) {  // all grows in proportion
    const double load = kSmallLoad * greatest;
    const Fullness some = at(load);
    if (some.model.empty() || some.ratio <= 0.0) return std::nullopt;
    return FullLoad{load / some.ratio, some.offered / some.ratio, 0.0, some.model};
  }
  Secants secants(at, zero);
  Point point = secants.ask(greatest);
  if (point.fullness.model.empty()) return std::nullopt;
  if (point.fullness.ratio < 1.0) {
    const double load = crossing(secants.ask(greatest / 2.0), point);
    if (load == kNoCrossing) return std::nullopt;
    const double offered = others + (point.fullness.offered - others) / greatest * load;
    return FullLoad{load, offered, others, point.fullness.model};
  }
  for (int i = 0; i < kMostSecants && std::abs(point.fullness.ratio - 1.0) > kExact; ++i) {
    point = secants.ask(secants.next());
  }
  if (std::abs(point.fullness.ratio - 1.0) > kExact) point = secants.above();
  return FullLoad{point.load, point.fullness.offered, others, point.fullness.model};
}

}  // namespace banyan::api
