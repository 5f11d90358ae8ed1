// Log-linear histogram: percentiles of 64-bit integers with a bounded relative error, in integers only.
// The layout is that of HdrHistogram (G. Tene): powers of two, each cut into 2^bits equal sub-buckets.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/stats/moments.hpp"

namespace banyan::stats {

/// A quantile of the recorded values (not of the population). The exact one lies in [low, high].
struct Quantile {
  double value = 0.0;  ///< middle of [low, high], unit of the values
  u64 low = 0;
  u64 high = 0;
  /// Largest possible |value - exact|, unit of the values; at most relative_error() x exact within the maximum.
  [[nodiscard]] double error_bound() const noexcept { return static_cast<double>(high - low) / 2.0; }
};

/// Counts u64 values in buckets whose width is at most 2^-bits of their lower edge; values below 2^(bits + 1) are
/// exact. Memory: about (log2(maximum) - bits + 2) x 2^bits x 8 B, taken once; 58 KiB for the defaults. Values above
/// `maximum` share one bucket, of which least and greatest are known only through the maximum of all.
class Histogram {
 public:
  static constexpr u32 kDefaultBits = 7;  ///< quantiles within 0.4 % (middle), buckets within 0.8 %

  explicit Histogram(u32 sub_bucket_bits = kDefaultBits, u64 maximum = std::numeric_limits<u64>::max())
      : bits_(sub_bucket_bits), maximum_(maximum) {
    if (bits_ < 1 || bits_ > 16) throw InvariantError("histogram: sub-bucket bits outside 1 .. 16");
    overflow_ = bucket_of(maximum_) + 1;
    counts_.assign(overflow_ + 1, 0);
  }

  void add(u64 value) noexcept {
    ++counts_[index_of(value)];
    moments_.add(value);
  }

  /// Adds the other's counts. Throws InvariantError when bits or maximum differ.
  void merge(const Histogram& other) {
    if (bits_ != other.bits_ || maximum_ != other.maximum_) throw InvariantError("histograms of unlike layout merged");
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    moments_.merge(other.moments_);
  }

  void hash_into(Hasher& hasher) const noexcept {
    hasher.add(bits_);
    hasher.add(maximum_);
    moments_.hash_into(hasher);
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] == 0) continue;
      hasher.add(i);
      hasher.add(counts_[i]);
    }
  }

  /// Count, sum, sum of squares, least and greatest: exact, whatever the buckets.
  [[nodiscard]] const Moments& moments() const noexcept { return moments_; }
  [[nodiscard]] u64 count() const noexcept { return moments_.count(); }
  [[nodiscard]] u32 sub_bucket_bits() const noexcept { return bits_; }

  /// Bound on |quantile.value - exact| / exact for quantiles within the maximum: half a bucket, 2^-(bits + 1).
  [[nodiscard]] double relative_error() const noexcept { return std::ldexp(1.0, -static_cast<int>(bits_) - 1); }

  /// The value at rank ceil(p x count) (the inverse of the empirical distribution; Hyndman and Fan 1996, definition 1).
  /// p in [0, 1], taken to nine decimals so that ranks are integers, the same everywhere. The first and the last rank
  /// are exact. All zero when empty.
  [[nodiscard]] Quantile quantile(double p) const noexcept {
    if (count() == 0) return {};
    const u64 rank = rank_of(p);
    if (rank == 1) return exactly(moments_.minimum());
    if (rank == count()) return exactly(moments_.maximum());
    u64 seen = 0;
    std::size_t bucket = 0;
    while ((seen += counts_[bucket]) < rank) ++bucket;
    return quantile_in(bucket);
  }

  /// Calls f(low, high, count) for every bucket that holds values, ascending; low and high are both inclusive.
  template <typename F>
  void for_each_bucket(F&& f) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] != 0) f(low_of(i), high_of(i), counts_[i]);
    }
  }

  friend bool operator==(const Histogram&, const Histogram&) = default;

  void archive(Archive& a) { a(bits_, maximum_, overflow_, counts_, moments_); }

 private:
  // Bucket i < 2^bits holds the value i. Later ones come in rows of 2^bits: row s >= 1 has buckets of width 2^(s-1).
  [[nodiscard]] std::size_t bucket_of(u64 value) const noexcept {
    const u64 row_size = u64{1} << bits_;
    if (value < row_size) return value;
    const u32 shift = static_cast<u32>(std::bit_width(value)) - 1 - bits_;
    return (static_cast<std::size_t>(shift) << bits_) + (value >> shift);
  }
  [[nodiscard]] std::size_t index_of(u64 value) const noexcept {
    return value <= maximum_ ? bucket_of(value) : overflow_;
  }
  [[nodiscard]] u64 low_of(std::size_t bucket) const noexcept {
    if (bucket == overflow_) return maximum_ == std::numeric_limits<u64>::max() ? maximum_ : maximum_ + 1;
    const u64 row_size = u64{1} << bits_;
    if (bucket < row_size) return bucket;
    const u64 shift = (bucket >> bits_) - 1;
    return (row_size + (bucket & (row_size - 1))) << shift;
  }
  [[nodiscard]] u64 high_of(std::size_t bucket) const noexcept {
    if (bucket == overflow_) return std::numeric_limits<u64>::max();
    const u64 row_size = u64{1} << bits_;
    if (bucket < row_size) return bucket;
    const u64 width = u64{1} << ((bucket >> bits_) - 1);
    return std::min(maximum_, low_of(bucket) + (width - 1));
  }

  [[nodiscard]] u64 rank_of(double p) const noexcept {
    constexpr u64 kBillion = 1'000'000'000;
    const auto scaled = static_cast<u64>(std::llround(std::clamp(p, 0.0, 1.0) * static_cast<double>(kBillion)));
    const auto rank = static_cast<u64>((static_cast<u128>(scaled) * count() + (kBillion - 1)) / kBillion);
    return std::clamp<u64>(rank, 1, count());
  }
  [[nodiscard]] static Quantile exactly(u64 value) noexcept { return {static_cast<double>(value), value, value}; }
  [[nodiscard]] Quantile quantile_in(std::size_t bucket) const noexcept {
    Quantile result;
    result.low = std::max(low_of(bucket), moments_.minimum());
    result.high = std::min(high_of(bucket), moments_.maximum());
    result.value = static_cast<double>(result.low) + result.error_bound();
    return result;
  }

  u32 bits_;
  u64 maximum_;
  std::size_t overflow_ = 0;
  std::vector<u64> counts_;
  Moments moments_;
};

}  // namespace banyan::stats
