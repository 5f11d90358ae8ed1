// Randomness is addressed, not consumed: Philox 4x32 (Salmon et al., SC 2011; Random123) with the counter
// (entity, event) and a key made of seed, stream, user and replication. There is no generator state: the same address
// gives the same words, whatever else happened before, on any thread.
#pragma once

#if defined(__SSE4_1__)
#include <smmintrin.h>
#else
#include <Random123/philox.h>
#endif

#include <array>
#include <bit>
#include <cmath>
#include <string_view>

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

/// What words are for. Every place that draws for a purpose of its own has a stream of its own, whose name says which
/// one: "component: purpose". Names are unique (a test reads them all), so that no two purposes share words.
class Stream {
 public:
  consteval explicit Stream(std::string_view name) noexcept : id_(fold(name)) {}
  [[nodiscard]] constexpr u64 id() const noexcept { return id_; }

 private:
  /// FNV-1a (Fowler, Noll, Vo).
  static consteval u64 fold(std::string_view name) noexcept {
    u64 hash = 0xcbf29ce484222325ULL;
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
  }

  u64 id_;
};

/// The words of one stream under one seed, for the `index`th of several users (a traffic's number, mostly), in one
/// replication. The four are hashed into the key by Philox itself; none is ever added or XORed to another, so that the
/// words of one seed are not those of another one in another order.
class Random {
 public:
  Random() = default;
  Random(u64 seed, Stream stream, u32 index, u32 replication) noexcept {
    const Words purpose = philox(seed, stream.id(), {0, 0});
    const Words key =
        philox(u64{purpose[1]} << 32U | purpose[0], u64{index} << 32U | replication, {purpose[2], purpose[3]});
    key_ = {key[0], key[1]};
  }

  /// The words at address (entity, event).
  [[nodiscard]] Words at(u64 entity, u64 event) const noexcept { return philox(entity, event, key_); }

 private:
  std::array<u32, 2> key_{};
};

}  // namespace banyan
