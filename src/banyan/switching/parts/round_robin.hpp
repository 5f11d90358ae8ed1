// Round-robin arbiters on bitmasks.
#pragma once

#include <bit>

#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

/// The first set bit at or after bit `from`, cyclically. Requires mask != 0 and from < 64.
[[nodiscard]] constexpr u32 round_robin(u64 mask, u32 from) noexcept {
  // Without a branch: which side of `from` the bit lies on is as good as random.
  const u64 turned = std::rotr(mask, static_cast<int>(from));
  if (turned == 0) __builtin_unreachable();
  return (static_cast<u32>(std::countr_zero(turned)) + from) & 63U;
}

/// The first set bit i of `words` words with f(i), cyclically from bit `from`; kNone when there is none.
template <class F>
[[nodiscard]] u32 find_cyclically(const u64* bits, u32 words, u32 from, F&& f) {
  const u32 first = from >> 6U;
  for (u32 k = 0; k <= words; ++k) {
    const u32 w = first + k < words ? first + k : first + k - words;
    u64 mask = bits[w];
    if (k == 0) mask &= ~u64{0} << (from & 63U);
    if (k == words) mask &= ~(~u64{0} << (from & 63U));
    for (; mask != 0; mask &= mask - 1) {
      const u32 i = w * 64 + static_cast<u32>(std::countr_zero(mask));
      if (f(i)) return i;
    }
  }
  return kNone;
}

}  // namespace banyan::switching::parts
