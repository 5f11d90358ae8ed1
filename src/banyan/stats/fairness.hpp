// How evenly terminals are served.
#pragma once

#include <cstddef>
#include <span>

#include "banyan/base/types.hpp"
#include "banyan/stats/wide.hpp"

namespace banyan::stats {

/// How equal the x_i are: what terminal i got (accepted flits, delivered messages) in equal times.
struct Fairness {
  double jain = 1.0;  ///< in [1/n, 1]; 1: all equal (also when all are 0)
  u64 minimum = 0;    ///< of the worst terminal, unit of x
  u32 worst = kNone;  ///< the first terminal with the minimum
  u64 maximum = 0;
  double mean = 0.0;
};

/// Jain's index (sum x)^2 / (n sum x^2) (Jain, Chiu, Hawe 1984, DEC TR-301), minimum and maximum. `amounts`: one entry
/// per terminal; leave out those that were to get nothing. Integers until the last division: exact while the sum of
/// squares is below 2^128, e.g. for 2^16 terminals of up to 2^56.
[[nodiscard]] inline Fairness fairness(std::span<const u64> amounts) noexcept {
  Fairness result;
  if (amounts.empty()) return result;
  u128 sum = 0;
  u128 squares = 0;
  for (std::size_t i = 0; i < amounts.size(); ++i) {
    const u64 amount = amounts[i];
    sum += amount;
    squares += static_cast<u128>(amount) * amount;
    if (i == 0 || amount < result.minimum) {
      result.minimum = amount;
      result.worst = static_cast<u32>(i);
    }
    if (amount > result.maximum) result.maximum = amount;
  }
  const auto n = static_cast<double>(amounts.size());
  const auto total = static_cast<double>(sum);
  result.mean = total / n;
  if (squares != 0) result.jain = total / n * (total / static_cast<double>(squares));
  return result;
}

}  // namespace banyan::stats
