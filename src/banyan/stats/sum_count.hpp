// The smallest statistic: a sum and the number of values in it (one window, one session, one replication).
#pragma once

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::stats {

/// Sum of integer values (unit: the value's) and how many they were. Exact while the sum is below 2^64.
struct SumCount {
  u64 sum = 0;
  u64 count = 0;

  void add(u64 value) noexcept {
    sum += value;
    ++count;
  }
  void merge(const SumCount& other) noexcept {
    sum += other.sum;
    count += other.count;
  }
  void hash_into(Hasher& hasher) const noexcept {
    hasher.add(sum);
    hasher.add(count);
  }
  /// sum / count, or 0 when nothing was added (the count tells the two apart).
  [[nodiscard]] double mean() const noexcept {
    return count == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(count);
  }
  friend bool operator==(const SumCount&, const SumCount&) = default;
};

}  // namespace banyan::stats
