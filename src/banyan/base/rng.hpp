// Randomness is addressed, not consumed: Philox 4x32 (Salmon et al., SC 2011; Random123) with the counter
// (entity, event) and a key made of seed, stream and replication. There is no generator state: the same address gives
// the same words, whatever else happened before, on any thread.
#pragma once

#include <Random123/philox.h>

#include <array>
#include <cmath>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan {

/// Rounds of Philox 4x32: 7 is the least number that passes all of BigCrush (Salmon et al. 2011, table 2); the
/// library's default of 10 is a margin that costs 40 % more time per draw.
inline constexpr unsigned kPhiloxRounds = 7;

/// Four independent 32-bit words of one address.
using Words = std::array<u32, 4>;

/// Uniform integer in [0, n) from one 32-bit word (Lemire 2019 without rejection): exact when n is a power of two,
/// otherwise each value's probability is off by less than 2^-32.
[[nodiscard]] constexpr u32 below(u32 word, u32 n) noexcept {
  return static_cast<u32>((static_cast<u64>(word) * n) >> 32U);
}

/// Uniform real in [0, 1) with 53 random bits from two words.
[[nodiscard]] constexpr double unit_real(u32 high, u32 low) noexcept {
  const u64 bits = ((static_cast<u64>(high) << 32U) | low) >> 11U;
  return static_cast<double>(bits) * 0x1.0p-53;
}

/// One named stream of addressed randomness.
class Random {
 public:
  Random() = default;
  Random(u64 seed, u64 stream, u64 replication) noexcept {
    const u64 key =
        mix64(mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) ^ stream) + 0x632be59bd9b4e019ULL * (replication + 1));
    key_.v[0] = static_cast<u32>(key);
    key_.v[1] = static_cast<u32>(key >> 32U);
  }

  /// The words at address (entity, event).
  [[nodiscard]] Words at(u64 entity, u64 event) const noexcept {
    const r123::Philox4x32::ctr_type counter{{static_cast<u32>(entity), static_cast<u32>(entity >> 32U),
                                              static_cast<u32>(event), static_cast<u32>(event >> 32U)}};
    const r123::Philox4x32::ctr_type out = philox4x32_R(kPhiloxRounds, counter, key_);
    return {out.v[0], out.v[1], out.v[2], out.v[3]};
  }

 private:
  r123::Philox4x32::key_type key_{{0, 0}};
};

}  // namespace banyan
