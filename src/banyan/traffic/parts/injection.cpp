#include "banyan/traffic/parts/injection.hpp"

#include <cmath>

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
    inverse_log_ = 1.0 / portable_log(1.0 - p);
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
  return 1 + static_cast<Tick>(portable_log(u01) * inverse_log_);
}

std::vector<config::Parameter> Injection::parameters() {
  using config::Parameter;
  return {
      Parameter::real("load", 0.1)
          .unit("flits/cycle")
          .range(0, 1)
          .doc("Offered load per terminal: flits generated per cycle, as a fraction of the injection bandwidth"),
      Parameter::integer("size", 1).unit("flits").range(1, 65535).doc("Length of every packet"),
  };
}

Injection::Injection(const config::Values& values, const core::TrafficContext& context)
    : seed_(context.seed),
      stream_(0x7472616666696300ULL + context.index),
      ticks_per_cycle_(context.ticks_per_cycle),
      load_(values.real("load")),
      flits_(values.natural("size")),
      gap_(load_ / flits_) {}

}  // namespace banyan::traffic
