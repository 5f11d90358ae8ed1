// Small integer helpers: powers, digits, bit masks.
#pragma once

#include <bit>
#include <optional>
#include <span>

#include "banyan/base/types.hpp"

namespace banyan {

[[nodiscard]] constexpr bool is_power_of_two(u64 x) noexcept { return std::has_single_bit(x); }

/// The exponent k with base^k == x, if there is one.
[[nodiscard]] constexpr std::optional<u32> exact_log(u64 x, u64 base) noexcept {
  if (base < 2 || x == 0) return std::nullopt;
  u32 exponent = 0;
  while (x % base == 0) {
    x /= base;
    ++exponent;
  }
  return x == 1 ? std::optional<u32>(exponent) : std::nullopt;
}

[[nodiscard]] constexpr u64 power(u64 base, u32 exponent) noexcept {
  u64 result = 1;
  for (u32 i = 0; i < exponent; ++i) result *= base;
  return result;
}

/// The i-th base-n digit of x (i = 0: the least significant).
[[nodiscard]] constexpr u32 digit(u64 x, u32 n, u32 i) noexcept { return static_cast<u32>(x / power(n, i) % n); }

/// The position of the k-th set bit of `mask` (k = 0: the lowest). Requires popcount(mask) > k.
[[nodiscard]] constexpr u32 nth_set_bit(u64 mask, u32 k) noexcept {
  for (; k > 0; --k) mask &= mask - 1;
  return static_cast<u32>(std::countr_zero(mask));
}

/// Calls f(i) for each set bit of a row of words, from the lowest.
template <class F>
constexpr void for_each_bit(std::span<const u64> row, F&& f) {
  for (std::size_t w = 0; w < row.size(); ++w) {
    for (u64 bits = row[w]; bits != 0; bits &= bits - 1) f(static_cast<u32>(w * 64) + nth_set_bit(bits, 0));
  }
}

}  // namespace banyan
