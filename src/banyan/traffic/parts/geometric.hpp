// Geometric draws from one 64-bit word: gaps of Bernoulli processes, sojourns of on-off processes, lengths.
#pragma once

#include <array>
#include <vector>

#include "banyan/base/math.hpp"
#include "banyan/base/types.hpp"

namespace banyan::traffic {

/// ln(1 - p). By its series where 1 - p has lost digits of p.
[[nodiscard]] inline double log_of_complement(double p) noexcept {
  return p < 1e-6 ? -p * (1.0 + p * (0.5 + p / 3.0)) : portable_log(1.0 - p);
}

/// Exact draws from the geometric distribution on 1, 2, ... with success probability p, by inversion of a 64-bit
/// uniform. For p >= 1/64 through a guide table (Chen and Asau 1974), below it by portable logarithms.
class GeometricGap {
 public:
  /// A gap that is not shorter is none: kNever. It is longer than any run, and times the ticks of a cycle still a tick.
  static constexpr double kLongest = 0x1.0p52;

  GeometricGap() = default;
  explicit GeometricGap(double p);

  /// Cycles until the next message, at least 1; kNever for p = 0. `u` is uniform on 64 bits.
  [[nodiscard]] Tick operator()(u64 u) const noexcept {
    if (table_.empty()) return by_logarithm(u);
    u32 k = guide_[u >> 56U];
    while (u < table_[k]) ++k;  // table_ ends with 0: it stops
    return k;
  }

 private:
  [[nodiscard]] Tick by_logarithm(u64 u) const noexcept;

  double p_ = 0.0;
  double inverse_log_ = 0.0;      ///< 1 / ln(1 - p)
  std::vector<u64> table_;        ///< [k]: 2^64 P(gap > k)
  std::array<u16, 256> guide_{};  ///< smallest k that a u with this top byte can have
};

}  // namespace banyan::traffic
