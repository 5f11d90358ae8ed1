// Looks now and then whether anything still moves: at the same ticks however the network is sharded or woken.
#pragma once

#include "banyan/engine/machine.hpp"

namespace banyan::engine {

class ProgressWatch {
 public:
  explicit ProgressWatch(Tick patience) : patience_(patience) {}

  /// The next tick at which it wants to be asked.
  [[nodiscard]] Tick next_look() const noexcept { return patience_ == 0 ? kNever : next_look_; }

  /// Nothing is in the network before `due`: looks again after it.
  void skip_to(Tick due) noexcept {
    next_look_ = (due + kPeriod - 1) / kPeriod * kPeriod;
    moved_at_ = next_look_;
  }

  /// True when packets are in the network, nothing has moved for `patience` ticks (0: never), and nothing is on its way
  /// over a channel either, however long that takes.
  [[nodiscard]] bool stuck(const Machine& machine, Tick now) {
    if (now < next_look()) return false;
    next_look_ = now + kPeriod;
    const Totals sum = machine.totals();
    if (sum.movements != movements_ || sum.taken == sum.delivered) {
      movements_ = sum.movements;
      moved_at_ = now;
      return false;
    }
    return now - moved_at_ >= patience_ && !machine.on_the_way();
  }

 private:
  static constexpr Tick kPeriod = 256;  ///< ticks between looks: rare enough to cost nothing

  Tick patience_;
  Tick next_look_ = 0;
  Tick moved_at_ = 0;
  u64 movements_ = 0;
};

}  // namespace banyan::engine
