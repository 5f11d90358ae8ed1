// The hosts that ranks run on: what a message costs its ends, in the units of time of a run. The wire between them is
// the network's.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::workload {

/// A time per byte with a fraction, in steps of 2^-32, the next that is not less: so many bytes that their time is
/// whole take it, and all machines round alike.
class PerByte {
 public:
  PerByte() = default;
  explicit PerByte(double units) : scaled_(static_cast<u64>(std::ceil(units * 4294967296.0))) {}
  /// The time of one byte less than none, with -1 as 64 bits have it: LogGOPSim's messages of no bytes.
  [[nodiscard]] u64 of(u64 bytes) const noexcept {
    const u64 fraction = bytes == ~u64{0} ? 0 : scaled_ & 0xffffffffU;
    return (scaled_ >> 32U) * bytes + (fraction * (bytes >> 32U)) + (fraction * (bytes & 0xffffffffU) >> 32U);
  }
  [[nodiscard]] bool operator<(const PerByte& other) const noexcept { return scaled_ < other.scaled_; }
  [[nodiscard]] u64 scaled() const noexcept { return scaled_; }

 private:
  u64 scaled_ = 0;
};

/// Calculations, which are in nanoseconds, in the units of a run. What one has beyond whole units is added to the next
/// of the same core, so that any number of them takes what they take together, to a unit.
class Calculations {
 public:
  Calculations(double units_per_ns, std::size_t cores)
      : units_per_ns_(units_per_ns), left_(units_per_ns == 1.0 ? 0 : cores) {}

  [[nodiscard]] u64 of(u64 nanoseconds, std::size_t core) noexcept {
    if (left_.empty()) return nanoseconds;
    constexpr double kRounding = 1e-6;  // of products that would be whole
    const double exact = static_cast<double>(nanoseconds) * units_per_ns_ + left_[core];
    const double whole = std::max(0.0, std::floor(exact + kRounding));
    left_[core] = exact - whole;
    return static_cast<u64>(whole);
  }
  void archive(Archive& a) { a(left_); }

 private:
  double units_per_ns_;
  std::vector<double> left_;  ///< [core]
};

/// Times of a run stay below this, and each operation takes less than kLongestOperation.
inline constexpr u64 kEndOfTime = u64{1} << 63U;
inline constexpr u64 kLongestOperation = u64{1} << 62U;

enum class HostRules : u8 { physical, loggopsim };

/// LogGOPS on a host. Times in units of the run.
struct Host {
  u64 overhead = 0;           ///< of a core, per message that is sent or received (o)
  PerByte overhead_per_byte;  ///< likewise per byte after the first (O)
  u64 gap = 0;                ///< of a network interface, between two messages (g)
  PerByte gap_per_byte;       ///< likewise per byte after the first (G)
  u64 eager = ~u64{0};        ///< longest message, in bytes, that is sent without asking the receiver (S)
  u32 cores = 0;              ///< 0: as many as the schedule names
  u32 nics = 0;               ///< likewise
  HostRules rules = HostRules::physical;
  double units_per_ns = 1.0;  ///< of calculations
};

/// A network without contention: a message is at the other end after `latency`, and its further bytes after `per_byte`
/// each.
struct IdealWire {
  u64 latency = 0;
  PerByte per_byte;
};

}  // namespace banyan::workload
