// Numbers by their digits, as the papers write the ports of cubes.
#pragma once

#include "banyan/base/bits.hpp"

namespace banyan::test {

/// x with its i-th base-n digit replaced by d.
[[nodiscard]] constexpr u64 with_digit(u64 x, u32 n, u32 i, u32 d) noexcept {
  const u64 weight = power(n, i);
  return x - digit(x, n, i) * weight + d * weight;
}

}  // namespace banyan::test
