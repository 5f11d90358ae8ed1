// Exact integer moments: the same bits in whatever order values are added and parts are merged.
#pragma once

#include <algorithm>
#include <limits>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/stats/wide.hpp"

namespace banyan::stats {

/// Count, sum, sum of squares, least and greatest of u64 values (unit: the value's). Floating point appears only in
/// mean() and variance(). Exact while the sum of squares stays below 2^128, e.g. 2^40 values of up to 2^44.
class Moments {
 public:
  void add(u64 value) noexcept {
    ++count_;
    sum_ += value;
    squares_ += static_cast<u128>(value) * value;
    minimum_ = std::min(minimum_, value);
    maximum_ = std::max(maximum_, value);
  }

  void merge(const Moments& other) noexcept {
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    minimum_ = std::min(minimum_, other.minimum_);
    maximum_ = std::max(maximum_, other.maximum_);
  }

  void hash_into(Hasher& hasher) const noexcept {
    hasher.add(count_);
    add_wide(hasher, sum_);
    add_wide(hasher, squares_);
    hasher.add(minimum_);
    hasher.add(maximum_);
  }

  [[nodiscard]] u64 count() const noexcept { return count_; }
  [[nodiscard]] u128 sum() const noexcept { return sum_; }
  [[nodiscard]] u128 sum_of_squares() const noexcept { return squares_; }
  /// Least and greatest value; 0 when there is none.
  [[nodiscard]] u64 minimum() const noexcept { return count_ == 0 ? 0 : minimum_; }
  [[nodiscard]] u64 maximum() const noexcept { return maximum_; }

  /// 0 when there is no value.
  [[nodiscard]] double mean() const noexcept {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }

  /// Unbiased sample variance (divisor count - 1), unit squared; 0 below two values. The squares are centred on the
  /// integer part of the mean before anything is rounded: with sum = n m + r,
  ///   sum (x - m)^2 = squares - m (sum + r)   and   sum (x - mean)^2 = sum (x - m)^2 - r^2 / n,
  /// so that no digits cancel when the mean is far above the deviation.
  [[nodiscard]] double variance() const noexcept {
    if (count_ < 2) return 0.0;
    const u128 whole = sum_ / count_;
    const u128 rest = sum_ % count_;
    const u128 centred = squares_ - whole * (sum_ + rest);
    const u128 correction = rest * rest / count_;
    const u128 fraction = rest * rest % count_;
    const auto n = static_cast<double>(count_);
    return (static_cast<double>(centred - correction) - static_cast<double>(fraction) / n) / (n - 1.0);
  }

  friend bool operator==(const Moments&, const Moments&) = default;

 private:
  u64 count_ = 0;
  u64 minimum_ = std::numeric_limits<u64>::max();
  u64 maximum_ = 0;
  u128 sum_ = 0;
  u128 squares_ = 0;
};

}  // namespace banyan::stats
