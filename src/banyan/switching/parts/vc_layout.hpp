// How ports and virtual channels of a switch are numbered in bitmasks: the virtual channels of a port are neighbours,
// padded to a power of two, so that the field of one port never straddles two words.
#pragma once

#include <bit>

#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

/// Up to 64 ports with up to 64 virtual channels each.
class VcLayout {
 public:
  VcLayout(u32 ports, u32 vcs)
      : ports_(ports),
        vcs_(vcs),
        shift_(static_cast<u32>(std::bit_width(vcs - 1))),
        field_(vcs == 64 ? ~u64{0} : (u64{1} << vcs) - 1) {}

  [[nodiscard]] u32 ports() const noexcept { return ports_; }
  [[nodiscard]] u32 vcs() const noexcept { return vcs_; }
  /// Numbers per switch, unused ones of the padding included.
  [[nodiscard]] u32 size() const noexcept { return ports_ << shift_; }
  [[nodiscard]] u32 words() const noexcept { return (size() + 63) / 64; }

  [[nodiscard]] u32 index(u32 port, u32 vc) const noexcept { return (port << shift_) + vc; }
  [[nodiscard]] u32 port(u32 index) const noexcept { return index >> shift_; }
  [[nodiscard]] u32 vc(u32 index) const noexcept { return index & ((1U << shift_) - 1); }
  /// Bits 0 .. vcs - 1.
  [[nodiscard]] u64 field() const noexcept { return field_; }
  /// The word that holds a port's field, and the field's place in it.
  [[nodiscard]] u32 word_of_port(u32 port) const noexcept { return (port << shift_) >> 6U; }
  [[nodiscard]] u32 place_of_port(u32 port) const noexcept { return (port << shift_) & 63U; }

 private:
  u32 ports_;
  u32 vcs_;
  u32 shift_;
  u64 field_;
};

[[nodiscard]] inline bool test_bit(const u64* bits, u32 i) noexcept { return (bits[i >> 6U] >> (i & 63U) & 1U) != 0; }
inline void set_bit(u64* bits, u32 i) noexcept { bits[i >> 6U] |= u64{1} << (i & 63U); }
inline void clear_bit(u64* bits, u32 i) noexcept { bits[i >> 6U] &= ~(u64{1} << (i & 63U)); }

}  // namespace banyan::switching::parts
