// Looks now and then whether anything still moves.
#pragma once

#include "banyan/engine/machine.hpp"

namespace banyan::engine {

class ProgressWatch {
 public:
  explicit ProgressWatch(Tick patience) : patience_(patience) {}

  /// True when packets are in the network and nothing will ever be due, or nothing has moved for `patience` ticks (0:
  /// do not look at movement).
  [[nodiscard]] bool stuck(const Machine& machine, Tick now) {
    if (machine.next() == kNever) {
      const Totals sum = machine.totals();
      return sum.taken != sum.delivered;
    }
    if (patience_ == 0 || now < next_look_) return false;
    next_look_ = now + kPeriod;
    const Totals sum = machine.totals();
    if (sum.movements != movements_ || sum.taken == sum.delivered) {
      movements_ = sum.movements;
      moved_at_ = now;
      return false;
    }
    return now - moved_at_ >= patience_;
  }

 private:
  static constexpr Tick kPeriod = 256;  ///< ticks between looks: rare enough to cost nothing

  Tick patience_;
  Tick next_look_ = 0;
  Tick moved_at_ = 0;
  u64 movements_ = 0;
};

}  // namespace banyan::engine
