// The audits of a run with run.audit = "full": how often the whole state of the network is looked at.
#pragma once

#include "banyan/base/archive.hpp"
#include "banyan/engine/machine.hpp"

namespace banyan::engine {

/// An audit looks at every packet in the network, those that wait at their sources in queues of the switch model
/// included, of which there may be any number. The next one is made when as many flits have moved as this one looked at
/// packets: audits stay proportional to the work of the run, and a network that stands still is looked at once.
class FullAudits {
 public:
  static constexpr Tick kPeriod = 64;  ///< ticks between two of them, at the least

  explicit FullAudits(bool wanted) : wanted_(wanted) {}

  [[nodiscard]] bool wanted() const noexcept { return wanted_; }

  /// Audits between two ticks if it is time. Throws InvariantError.
  void look(const Machine& machine) {
    if (!wanted_) return;
    const u64 moved = machine.totals().movements;
    if (moved < due_) return;
    due_ = moved + machine.audit();
  }
  void archive(Archive& a) { a(due_); }

 private:
  bool wanted_;
  u64 due_ = 0;  ///< movements at which the next one is made
};

}  // namespace banyan::engine
