// How ports and virtual channels of a switch are numbered in bitmasks: the virtual channels of a port are neighbours,
// padded to a power of two, so that the field of one port never straddles two words.
#pragma once

#include <bit>

#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

/// The shift is that of the number of virtual channels, whatever it is.
inline constexpr u32 kAnyShift = 64;

/// Up to 64 ports with up to 64 virtual channels each. Shift: binary logarithm of the numbers that a port takes, where
/// it is known at compile time.
template <u32 Shift>
class VcLayoutOf {
 public:
  VcLayoutOf(u32 ports, u32 vcs)
      : ports_(ports),
        vcs_(vcs),
        any_shift_(static_cast<u32>(std::bit_width(vcs - 1))),
        field_(vcs == 64 ? ~u64{0} : (u64{1} << vcs) - 1) {}

  [[nodiscard]] u32 ports() const noexcept { return ports_; }
  [[nodiscard]] u32 vcs() const noexcept { return vcs_; }
  [[nodiscard]] u32 shift() const noexcept { return Shift == kAnyShift ? any_shift_ : Shift; }
  /// Numbers per switch, unused ones of the padding included.
  [[nodiscard]] u32 size() const noexcept { return ports_ << shift(); }
  [[nodiscard]] u32 words() const noexcept { return (size() + 63) / 64; }

  [[nodiscard]] u32 index(u32 port, u32 vc) const noexcept { return (port << shift()) + vc; }
  [[nodiscard]] u32 port(u32 index) const noexcept { return index >> shift(); }
  [[nodiscard]] u32 vc(u32 index) const noexcept { return index & ((1U << shift()) - 1); }
  /// Bits 0 .. vcs - 1.
  [[nodiscard]] u64 field() const noexcept { return field_; }
  /// The word that holds a port's field, and the field's place in it.
  [[nodiscard]] u32 word_of_port(u32 port) const noexcept { return (port << shift()) >> 6U; }
  [[nodiscard]] u32 place_of_port(u32 port) const noexcept { return (port << shift()) & 63U; }

 private:
  u32 ports_;
  u32 vcs_;
  u32 any_shift_;
  u64 field_;
};

using VcLayout = VcLayoutOf<kAnyShift>;

[[nodiscard]] inline bool test_bit(const u64* bits, u32 i) noexcept { return (bits[i >> 6U] >> (i & 63U) & 1U) != 0; }
inline void set_bit(u64* bits, u32 i) noexcept { bits[i >> 6U] |= u64{1} << (i & 63U); }

}  // namespace banyan::switching::parts
