// Shared by the estimators of this room: a ratio of sums and the residuals that carry its variance.
#pragma once

#include <span>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/stats/sum_count.hpp"
#include "banyan/stats/wide.hpp"

namespace banyan::stats {

/// R = sum y_i / sum x_i and e_i = (y_i - R x_i) / xbar. The mean of the e_i is 0 and, to first order, the error of R
/// is the mean of n variables distributed like them: every estimator of the variance of a mean then also serves a
/// ratio.
struct Linearized {
  double ratio = 0.0;
  u64 count = 0;  ///< sum x_i
  std::vector<double> residuals;
};

[[nodiscard]] inline Linearized linearize(std::span<const SumCount> groups) {
  Linearized result;
  u128 sum = 0;
  for (const SumCount& group : groups) {
    sum += group.sum;
    result.count += group.count;
  }
  if (result.count == 0) return result;
  result.ratio = static_cast<double>(sum) / static_cast<double>(result.count);
  const double mean_count = static_cast<double>(result.count) / static_cast<double>(groups.size());
  result.residuals.reserve(groups.size());
  for (const SumCount& group : groups) {
    const double residual = static_cast<double>(group.sum) - result.ratio * static_cast<double>(group.count);
    result.residuals.push_back(residual / mean_count);
  }
  return result;
}

[[nodiscard]] inline double sum_of_squares(std::span<const double> values) noexcept {
  double sum = 0.0;
  for (const double value : values) sum += value * value;
  return sum;
}

}  // namespace banyan::stats
