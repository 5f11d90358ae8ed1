// How busy a link is, as switches measure it and write it into packets: a number of 16 bits, and the meter of a link.
#pragma once

#include <algorithm>
#include <bit>

#include "banyan/base/types.hpp"

namespace banyan::core {

/// A utilization in 16 bits: floating point with 5 bits of exponent and 11 of mantissa, from 2^-16 to 2^16. Codes are
/// ordered as what they stand for, so that the larger of two utilizations has the larger code; rounding is to the
/// nearest, the relative error at most 2^-12 (0.025 %). Below 2^-16 it is 0, above the range its end.
namespace utilization_code {
constexpr u32 kDropped = 12;                 ///< bits of the mantissa of a float
constexpr u32 kLeast = (127U - 16U) << 11U;  ///< exponent of the least one, as a float has it
constexpr float kMost = 65'520.0F;           ///< that is not rounded up to 2^16
}  // namespace utilization_code

[[nodiscard]] inline u16 encode_utilization(double utilization) noexcept {
  using namespace utilization_code;
  const float number = std::min(static_cast<float>(utilization), kMost);
  if (!(number > 0x1p-16F)) return 0;
  const u32 rounded = (std::bit_cast<u32>(number) + (1U << (kDropped - 1))) >> kDropped;
  return static_cast<u16>(rounded - kLeast);
}

[[nodiscard]] inline double decode_utilization(u16 code) noexcept {
  using namespace utilization_code;
  return code == 0 ? 0.0 : static_cast<double>(std::bit_cast<float>((code + kLeast) << kDropped));
}

/// Measures a link as HPCC does (SIGCOMM 2019, equation 2: what waits for it over what it carries in T, plus the share
/// of its rate that is used), averaged over T in the switch (PINT, SIGCOMM 2020, section 4.3), so that one number is
/// enough for the end hosts. Work is counted in ticks for which it occupies the link.
class LinkMeter {
 public:
  /// The link begins to send a packet at `now`, which is after last(); `waiting`: the work that waits behind it;
  /// `sent`: what the link began to send between the packet before and this one, the former included.
  void sample(double now, double waiting, double sent, double period) noexcept {
    const double passed = now - last_;
    last_ = now;
    const double weight = std::min(passed / period, 1.0);
    utilization_ += weight * (waiting / period + sent / passed - utilization_);
  }
  [[nodiscard]] double utilization() const noexcept { return utilization_; }
  [[nodiscard]] double last() const noexcept { return last_; }

 private:
  double utilization_ = 0.0;
  double last_ = 0.0;
};

}  // namespace banyan::core
