// Integer names and the clock type that every room shares.
#pragma once

#include <cstdint>
#include <limits>

namespace banyan {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

/// Simulated time: cycle x phases + phase, and every model has one phase (docs/explanation/engine.md, The clock).
using Tick = u64;

/// "Never": no wake-up, no birth, no deadline.
inline constexpr Tick kNever = std::numeric_limits<Tick>::max();

/// "None" for 32-bit indices (no switch, no terminal, no packet).
inline constexpr u32 kNone = std::numeric_limits<u32>::max();

}  // namespace banyan
