#include "banyan/api/cost_prediction.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "banyan/api/needs.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api {
namespace {

constexpr std::size_t kShare = 20;  ///< a new fit for every twentieth of the points
constexpr int kRounds = 6;          ///< of fitting one axis after the other
constexpr double kCaution = 0.5;    ///< points that speak against any difference between the values of an axis
constexpr double kLeast = 1e-4;     ///< seconds; below it the clock tells nothing
constexpr double kMostRatio = 3.0;  ///< of logarithms: how far an axis may be continued beyond its known values

double estimate_of(const Experiment& point, WorkOfRuns& work_of) {
  if (!point.jobs.empty()) return 1.0;  // what they cost their schedules say
  try {
    const std::optional<Needs> needs = needs_of(point);
    const std::optional<Work> work = work_of(point);
    if (needs && work) return std::max(kLeast, needs->build_seconds + seconds_of(point, *work));
  } catch (const ConfigError&) { return 1.0; }  // the run itself will say so
  return 1.0;
}

double number_of(const std::string& text) {
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc{} && read.ptr == end ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

CostPrediction::CostPrediction(const std::vector<Experiment>& points) {
  WorkOfRuns work_of;
  for (const Experiment& point : points) {
    points_.push_back(values_of(point.axes));
    estimates_.push_back(estimate_of(point, work_of));
  }
}

std::vector<std::size_t> CostPrediction::values_of(const Axes& axes) {
  std::vector<std::size_t> values;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (i == axes_.size()) axes_.push_back({axes[i].first, {}, {}, {}, {}});
    Axis& axis = axes_[i];
    const auto found = std::find(axis.values.begin(), axis.values.end(), axes[i].second);
    values.push_back(static_cast<std::size_t>(found - axis.values.begin()));
    if (found != axis.values.end()) continue;
    axis.values.push_back(axes[i].second);
    axis.numbers.push_back(number_of(axes[i].second));
  }
  return values;
}

void CostPrediction::add(std::size_t point, double seconds) {
  done_.push_back({points_[point], std::log(std::max(seconds, kLeast) / estimates_[point])});
}

void CostPrediction::add(const Experiment& point, double seconds) {
  WorkOfRuns work_of;
  done_.push_back({values_of(point.axes), std::log(std::max(seconds, kLeast) / estimate_of(point, work_of))});
}

void CostPrediction::fit() const {
  // A few points among many change little, and fitting takes time.
  if (fitted_ > 0 && done_.size() < fitted_ + std::max<std::size_t>(1, fitted_ / kShare)) return;
  fitted_ = done_.size();
  ++version_;
  mean_ = 0.0;
  for (const Done& done : done_) mean_ += done.log_ratio / static_cast<double>(done_.size());
  for (const Axis& axis : axes_) {
    axis.factors.assign(axis.values.size(), 0.0);
    axis.known.assign(axis.values.size(), false);
  }
  const auto predicted = [this](const Done& done) {
    double sum = mean_;
    for (std::size_t i = 0; i < done.values.size(); ++i) sum += axes_[i].factors[done.values[i]];
    return sum;
  };
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const Axis& axis = axes_[i];
      std::vector<double> sums(axis.values.size(), 0.0);
      std::vector<double> counts(axis.values.size(), 0.0);
      for (const Done& done : done_) {
        if (i >= done.values.size()) continue;
        const std::size_t value = done.values[i];
        sums[value] += done.log_ratio - predicted(done) + axis.factors[value];
        counts[value] += 1.0;
        axis.known[value] = true;
      }
      for (std::size_t v = 0; v < sums.size(); ++v) axis.factors[v] = sums[v] / (counts[v] + kCaution);
    }
  }
  for (const Axis& axis : axes_) fill_gaps(axis);
}

void CostPrediction::fill_gaps(const Axis& axis) const {
  std::vector<std::pair<double, double>> known;  // number and factor
  for (std::size_t v = 0; v < axis.values.size(); ++v) {
    if (axis.known[v] && !std::isnan(axis.numbers[v])) known.emplace_back(axis.numbers[v], axis.factors[v]);
  }
  std::sort(known.begin(), known.end());
  if (known.empty()) return;
  for (std::size_t v = 0; v < axis.values.size(); ++v) {
    const double at = axis.numbers[v];
    if (axis.known[v] || std::isnan(at)) continue;
    if (known.size() == 1) {
      axis.factors[v] = known.front().second;
      continue;
    }
    // The two neighbours, or, outside, the two nearest.
    auto above = std::lower_bound(known.begin(), known.end(), std::pair(at, -kMostRatio * 1e3));
    if (above == known.begin()) ++above;
    if (above == known.end()) --above;
    const auto below = above - 1;
    const double slope = (above->second - below->second) / (above->first - below->first);
    const auto& near = at < above->first ? *below : *above;
    axis.factors[v] = near.second + std::clamp(slope * (at - near.first), -kMostRatio, kMostRatio);
  }
}

u64 CostPrediction::version() const {
  if (!done_.empty()) fit();
  return version_;
}

double CostPrediction::seconds(std::size_t point) const {
  if (done_.empty()) return estimates_[point];
  fit();
  double sum = mean_;
  for (std::size_t i = 0; i < points_[point].size(); ++i) sum += axes_[i].factors[points_[point][i]];
  return estimates_[point] * std::exp(sum);
}

}  // namespace banyan::api
