// Traffic whose parameters are times: what a cycle lasts is the switch model's to say.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "banyan/config/schema.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::traffic {

/// Nanoseconds as cycles, to the nearest; fails where a cycle has no length, or so little that there are too many.
[[nodiscard]] inline Tick cycles_of(const config::Values& values, const core::TrafficContext& context,
                                    std::string_view parameter, double ns) {
  if (context.cycle_ns <= 0.0) {
    values.fail(parameter, "the times of " + values.component() + " are nanoseconds, and the switch has only cycles",
                "give run.cycle_time, or use a switch whose links have a rate: " +
                    core::switches_with([](const core::SwitchRow& row) { return row.cycle_ns != nullptr; }));
  }
  constexpr double kMostTicks = 0x1.0p61;  // so that sums of a few are ticks
  if (!(ns / context.cycle_ns * static_cast<double>(context.ticks_per_cycle) < kMostTicks)) {
    values.fail(parameter, fmt::format("{} ns are more cycles than can be counted", ns), "use a shorter time");
  }
  return static_cast<Tick>(std::llround(ns / context.cycle_ns)) * context.ticks_per_cycle;
}

/// Messages of one length at even distances, as exact as integers are: the nth begins at nth * flits / load.
class EvenGaps {
 public:
  /// Flits per cycle; far beyond what a terminal sends, and so few that the messages of a cycle can be counted.
  static constexpr double kMostLoad = 1024;

  /// No message is later; no run gets that far, and times behind one more than that are ticks.
  static constexpr Tick kLatest = Tick{1} << 61U;

  EvenGaps() = default;
  EvenGaps(u32 flits, double load, Tick ticks_per_cycle) {
    const double parts = static_cast<double>(flits) / load * kScale;
    if (!(parts * static_cast<double>(ticks_per_cycle) < 0x1.0p62)) {
      whole_ = kLatest;
      return;
    }
    const u64 gap = static_cast<u64>(std::llround(parts)) * ticks_per_cycle;
    whole_ = gap / kWhole;
    part_ = gap % kWhole;
  }
  /// `nth`: below 2^44.
  [[nodiscard]] Tick at(u64 nth) const noexcept {
    Tick ticks = 0;
    if (__builtin_mul_overflow(nth, whole_, &ticks) || ticks > kLatest) return kLatest;
    return ticks + nth * part_ / kWhole;
  }
  [[nodiscard]] Tick gap() const noexcept { return whole_; }

 private:
  static constexpr double kScale = 1048576.0;
  static constexpr u64 kWhole = 1U << 20U;
  Tick whole_ = 0;  ///< ticks
  u64 part_ = 0;    ///< of a tick, in 2^-20
};

}  // namespace banyan::traffic
