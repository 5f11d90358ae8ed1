// Looks now and then whether anything still moves: at the same ticks however the network is sharded or woken.
#pragma once

#include "banyan/base/archive.hpp"
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
    ran_ = true;
  }

  /// True when packets are in the network, and for `patience` ticks (0: never) more than the switch model may need
  /// nothing has moved and nothing was to be expected, however long a channel or a transfer takes.
  [[nodiscard]] bool stuck(const Machine& machine, Tick now) {
    if (now < next_look()) return false;
    next_look_ = now + kPeriod;
    const Totals sum = machine.totals();
    const bool empty = sum.taken == sum.delivered;
    const bool expects = machine.expects(now);
    if (empty || expects || sum.movements != movements_ || ran_) {
      movements_ = sum.movements;
      quiet_from_ = now;
      // What was expected, or came into the empty network, may come at any tick before the next look.
      ran_ = empty || expects;
      return false;
    }
    return now - quiet_from_ >= patience_ + machine.longest_silence();
  }
  void archive(Archive& a) { a(next_look_, quiet_from_, ran_, movements_); }

 private:
  static constexpr Tick kPeriod = 256;  ///< ticks between looks: rare enough to cost nothing

  Tick patience_;
  Tick next_look_ = 0;
  Tick quiet_from_ = 0;
  bool ran_ = true;  ///< something could happen after the last look, or before the first, without being a movement
  u64 movements_ = 0;
};

}  // namespace banyan::engine
