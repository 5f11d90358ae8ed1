// The state hash: order-dependent, portable, equal on every machine and compiler.
#pragma once

#include <bit>
#include <cstring>
#include <string_view>

#include "banyan/base/types.hpp"

namespace banyan {

/// The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection on 64 bits that mixes well.
[[nodiscard]] constexpr u64 mix64(u64 x) noexcept {
  x ^= x >> 30U;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27U;
  x *= 0x94d049bb133111ebULL;
  x ^= x >> 31U;
  return x;
}

/// Eight bytes, the first of them the lowest on every machine.
[[nodiscard]] inline u64 word_at(const char* bytes) noexcept {
  u64 word = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&word, bytes, sizeof word);
  } else {
    for (unsigned k = 0; k < 8; ++k) word |= static_cast<u64>(static_cast<unsigned char>(bytes[k])) << (8U * k);
  }
  return word;
}

/// Accumulates integers in order. Not cryptographic; used to compare states and key results.
class Hasher {
 public:
  void add(u64 value) noexcept { state_ = mix64(state_ ^ value) + 0x9e3779b97f4a7c15ULL; }
  void add(std::string_view text) noexcept {
    add(static_cast<u64>(text.size()));
    std::size_t i = 0;
    for (; i + 8 <= text.size(); i += 8) add(word_at(text.data() + i));
    if (i == text.size()) return;
    u64 word = 0;
    for (std::size_t k = 0; i + k < text.size(); ++k) {
      word |= static_cast<u64>(static_cast<unsigned char>(text[i + k])) << (8U * k);
    }
    add(word);
  }
  [[nodiscard]] u64 value() const noexcept { return mix64(state_); }

 private:
  u64 state_ = 0x6a09e667f3bcc908ULL;
};

}  // namespace banyan
