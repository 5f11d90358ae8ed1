// What the points of a sweep will cost, told from those that are done: for the order in which they are run, and for the
// time that is left. No result depends on it.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/types.hpp"

namespace banyan::api {

/// Seconds of CPU time are the product of an estimate from the parameters (api/needs.hpp) and of one factor per value
/// of each axis, which is fitted to the points that are done; a number on an axis that no done point has takes the
/// factor of its neighbours.
class CostPrediction {
 public:
  explicit CostPrediction(const std::vector<Experiment>& points);

  /// A point of the constructor's that is done.
  void add(std::size_t point, double seconds);
  /// One that was done before, of this sweep or of another with the same axes.
  void add(const Experiment& point, double seconds);

  /// 1 where nothing is known.
  [[nodiscard]] double seconds(std::size_t point) const;
  /// Counts how often the prediction has changed: not with every point, when there are many.
  [[nodiscard]] u64 version() const;
  /// Whether any point is done: without one the unit is a guess.
  [[nodiscard]] bool grounded() const { return !done_.empty(); }

 private:
  struct Done {
    std::vector<std::size_t> values;  ///< per axis
    double log_ratio = 0.0;           ///< of measured seconds to the estimate
  };
  struct Axis {
    std::string name;
    std::vector<std::string> values;
    std::vector<double> numbers;  ///< NaN for values that are none
    mutable std::vector<double> factors;
    mutable std::vector<bool> known;
  };
  using Axes = std::vector<std::pair<std::string, std::string>>;

  std::vector<std::size_t> values_of(const Axes& axes);
  void fit() const;
  void fill_gaps(const Axis& axis) const;

  std::vector<Axis> axes_;
  std::vector<std::vector<std::size_t>> points_;
  std::vector<double> estimates_;
  std::vector<Done> done_;
  mutable double mean_ = 0.0;
  mutable std::size_t fitted_ = 0;  ///< points
  mutable u64 version_ = 0;
};

}  // namespace banyan::api
