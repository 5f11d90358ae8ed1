// Randomness is addressed, not consumed: Philox 4x32 (Salmon et al., SC 2011; Random123) with the counter
// (entity, event) and a key made of seed, stream and replication. There is no generator state: the same address gives
// the same words, whatever else happened before, on any thread.
#pragma once

#if defined(__SSE4_1__)
#include <smmintrin.h>
#else
#include <Random123/philox.h>
#endif

#include <array>
#include <bit>
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

/// The words at address (entity, event) under a key of two words.
#if defined(__SSE4_1__)
/// In a third of the library's instructions: one multiplication of two lanes gives both products of a round.
/// The constants are those of Philox 4x32 (Salmon et al. 2011); a test compares the words with Random123's.
[[nodiscard]] inline Words philox(u64 entity, u64 event, std::array<u32, 2> key) noexcept {
  const __m128i multiplier = _mm_set_epi32(0, static_cast<int>(0xcd9e8d57U), 0, static_cast<int>(0xd2511f53U));
  const __m128i step = _mm_set_epi32(0, static_cast<int>(0xbb67ae85U), 0, static_cast<int>(0x9e3779b9U));
  __m128i round_key = _mm_set_epi32(0, static_cast<int>(key[1]), 0, static_cast<int>(key[0]));
  __m128i words = _mm_set_epi64x(static_cast<i64>(event), static_cast<i64>(entity));
  for (unsigned round = 0; round < kPhiloxRounds; ++round) {
    // The lanes {low 0, high 0, low 1, high 1} take the reverse order in the next round.
    const __m128i products = _mm_shuffle_epi32(_mm_mul_epu32(words, multiplier), 0b00'01'10'11);
    words = _mm_xor_si128(_mm_xor_si128(products, _mm_srli_epi64(words, 32)), round_key);
    round_key = _mm_add_epi32(round_key, step);
  }
  return std::bit_cast<Words>(words);
}
#else
[[nodiscard]] inline Words philox(u64 entity, u64 event, std::array<u32, 2> key) noexcept {
  const r123::Philox4x32::ctr_type counter{{static_cast<u32>(entity), static_cast<u32>(entity >> 32U),
                                            static_cast<u32>(event), static_cast<u32>(event >> 32U)}};
  const r123::Philox4x32::ctr_type out = philox4x32_R(kPhiloxRounds, counter, {{key[0], key[1]}});
  return {out.v[0], out.v[1], out.v[2], out.v[3]};
}
#endif

/// One named stream of addressed randomness.
class Random {
 public:
  Random() = default;
  Random(u64 seed, u64 stream, u64 replication) noexcept {
    const u64 key =
        mix64(mix64(mix64(seed + 0x9e3779b97f4a7c15ULL) ^ stream) + 0x632be59bd9b4e019ULL * (replication + 1));
    key_[0] = static_cast<u32>(key);
    key_[1] = static_cast<u32>(key >> 32U);
  }

  /// The words at address (entity, event).
  [[nodiscard]] Words at(u64 entity, u64 event) const noexcept { return philox(entity, event, key_); }

 private:
  std::array<u32, 2> key_{};
};

}  // namespace banyan
