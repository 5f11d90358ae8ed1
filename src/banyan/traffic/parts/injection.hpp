// When messages are generated and how long they are: shared by every open-loop pattern.
#pragma once

#include <array>
#include <vector>

#include "banyan/base/math.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::traffic {

/// Exact draws from the geometric distribution on 1, 2, ... with success probability p, by inversion of a 64-bit
/// uniform. For p >= 1/64 through a guide table (Chen and Asau 1974), below it by portable logarithms.
class GeometricGap {
 public:
  GeometricGap() = default;
  explicit GeometricGap(double p);

  /// Cycles until the next message, at least 1; kNever for p = 0. `u` is uniform on 64 bits.
  [[nodiscard]] Tick operator()(u64 u) const noexcept {
    if (table_.empty()) return by_logarithm(u);
    u32 k = guide_[u >> 56U];
    while (u < table_[k]) ++k;  // table_ ends with 0: it stops
    return k;
  }

 private:
  [[nodiscard]] Tick by_logarithm(u64 u) const noexcept;

  double p_ = 0.0;
  double inverse_log_ = 0.0;      ///< 1 / ln(1 - p)
  std::vector<u64> table_;        ///< [k]: 2^64 P(gap > k)
  std::array<u16, 256> guide_{};  ///< smallest k that a u with this top byte can have
};

/// The parameters that every open-loop pattern shares (load, process, size), and their use.
class Injection {
 public:
  static std::vector<config::Parameter> parameters();

  Injection(const config::Values& values, const core::TrafficContext& context);

  void begin(u32 replication) { random_ = Random(seed_, stream_, replication); }

  /// Fills birth, flits and word of the nth message; returns the words for the destination draw. kNever: no message.
  [[nodiscard]] Words next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept {
    const Words words = random_.at(terminal, nth);
    const Tick gap = gap_((static_cast<u64>(words[0]) << 32U) | words[1]);
    out.flits = flits_;
    out.word = words[3];
    out.flags = 0;
    if (gap == kNever) {
      out.birth = kNever;
    } else {
      // The first message's gap counts from one cycle before the start: cycle 0 generates like any other.
      out.birth = previous == kNever ? (gap - 1) * ticks_per_cycle_ : previous + gap * ticks_per_cycle_;
    }
    return words;
  }

  [[nodiscard]] double load() const noexcept { return load_; }
  [[nodiscard]] u32 flits() const noexcept { return flits_; }

 private:
  u64 seed_;
  u64 stream_;
  Tick ticks_per_cycle_;
  double load_;
  u32 flits_;
  GeometricGap gap_;
  Random random_;
};

}  // namespace banyan::traffic
