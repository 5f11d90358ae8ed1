// 128-bit sums: exact for every run that fits into a lifetime.
#pragma once

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::stats {

/// A GNU extension that both supported compilers have; the keyword keeps -Wpedantic quiet.
__extension__ typedef unsigned __int128 u128;  // NOLINT(modernize-use-using): an alias takes no __extension__

inline void add_wide(Hasher& hasher, u128 value) noexcept {
  hasher.add(static_cast<u64>(value));
  hasher.add(static_cast<u64>(value >> 64U));
}

}  // namespace banyan::stats
