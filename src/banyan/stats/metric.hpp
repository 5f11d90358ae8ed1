// One reported number. The names, the same everywhere, stand in docs/reference/metrics.md.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::stats {

/// A mean with its confidence interval, or a plain counter (no interval).
struct Metric {
  std::string name;
  double mean = 0.0;
  std::optional<double> half_width;  ///< of the confidence interval; absent: a counter, or too few samples
  double confidence = 0.95;
  u64 count = 0;  ///< samples that the mean stands on
  std::string unit;
  bool counter = false;  ///< exact count, no sampling error

  /// A number without a sampling error, that stands on `count` samples.
  [[nodiscard]] static Metric exact(std::string name, std::string unit, double value, u64 count = 1) {
    return {.name = std::move(name),
            .mean = value,
            .half_width = {},
            .count = count,
            .unit = std::move(unit),
            .counter = true};
  }
};

/// A named series over time (occupancy per stage, messages generated per cycle, tree height ...).
struct Series {
  std::string name;
  std::string unit;
  double start = 0.0;     ///< time of the first value, cycles
  double interval = 1.0;  ///< cycles between values
  std::vector<double> values;
};

}  // namespace banyan::stats
