#include "banyan/traffic/parts/geometric.hpp"

#include "banyan/base/math.hpp"

namespace banyan::traffic {
namespace {

constexpr double kTwo64 = 18446744073709551616.0;
/// Below this probability the table would need more than about 64 * 44 entries to cover 64 bits.
constexpr double kTableFrom = 1.0 / 64.0;

}  // namespace

GeometricGap::GeometricGap(double p) : p_(p) {
  if (p <= 0.0) return;
  if (p >= 1.0) {
    table_ = {~u64{0}, 0};
    guide_.fill(1);
    return;
  }
  if (p < kTableFrom) {
    inverse_log_ = 1.0 / log_of_complement(p);
    return;
  }
  table_.push_back(~u64{0});
  for (double tail = 1.0 - p; tail * kTwo64 >= 1.0; tail *= 1.0 - p) table_.push_back(static_cast<u64>(tail * kTwo64));
  table_.push_back(0);
  for (u32 top = 0; top < 256; ++top) {
    const u64 largest = (static_cast<u64>(top) << 56U) | ((u64{1} << 56U) - 1);
    u16 k = 1;
    while (largest < table_[k]) ++k;
    guide_[top] = k;
  }
}

Tick GeometricGap::by_logarithm(u64 u) const noexcept {
  if (p_ <= 0.0) return kNever;
  // u + 1 in (0, 2^64]: P(gap > k) = P(u01 <= (1-p)^k).
  const double u01 = (static_cast<double>(u >> 11U) + 1.0) * 0x1.0p-53;
  const double gap = portable_log(u01) * inverse_log_;
  return gap < kLongest ? 1 + static_cast<Tick>(gap) : kNever;
}

}  // namespace banyan::traffic
