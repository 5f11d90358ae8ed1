// What each operation of a run has waited for last, so that the chain that ended last can be told.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/workload/replay.hpp"

namespace banyan::workload {

class TraceBack {
 public:
  static constexpr Place kNobody{kNone, kNone};

  /// Keeps nothing where a run is too large, or repeats its operations.
  TraceBack(const Program& program, u32 repeats) {
    if (!traces(program, repeats)) return;
    u64 sum = 0;
    for (u32 r = 0; r < program.ranks(); ++r) {
      first_.push_back(sum);
      sum += program.operations(r);
    }
    steps_.resize(sum);
  }

  [[nodiscard]] static bool traces(const Program& program, u32 repeats) {
    return repeats == 1 && program.operations() <= kMostTraced;
  }

  /// `cause` was done at `at`, and `place` waits for it.
  void waited(Place place, Place cause, u64 at) noexcept {
    if (steps_.empty() || cause == kNobody) return;
    Step& step = steps_[first_[place.rank] + place.operation];
    if (step.cause != kNobody && at < step.at) return;
    step.cause = cause;
    step.at = at;
  }
  void begun(Place place, u64 at) noexcept {
    if (!steps_.empty()) steps_[first_[place.rank] + place.operation].begin = at;
  }
  /// The message of a send went onto the wire, or all of it has arrived.
  void sent(Place send, u64 at) noexcept {
    if (!steps_.empty()) steps_[first_[send.rank] + send.operation].sent = at;
  }
  void arrived(Place send, u64 at) noexcept {
    if (!steps_.empty()) steps_[first_[send.rank] + send.operation].arrived = at;
  }
  void ended(Place place, u64 at) noexcept {
    if (steps_.empty()) return;
    steps_[first_[place.rank] + place.operation].at = at;
    if (at < end_) return;
    end_ = at;
    last_ = place;
  }

  /// What it has waited for last, until now.
  [[nodiscard]] Place cause_of(Place place) const noexcept {
    return steps_.empty() ? kNobody : steps_[first_[place.rank] + place.operation].cause;
  }

  /// Of the end of a run: `place` held a core until then, though it had ended itself.
  void held(Place place, u64 until) noexcept {
    if (steps_.empty() || place == kNobody || until <= end_) return;
    ended(place, until);
  }

  [[nodiscard]] std::vector<CriticalStep> chain() const {
    std::vector<CriticalStep> all;
    for (Place p = last_; p != kNobody && all.size() < steps_.size();) {
      const Step& step = steps_[first_[p.rank] + p.operation];
      all.push_back({p, step.begin, step.at, step.sent, step.arrived});
      p = step.cause;
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  void archive(Archive& a) { a(steps_, last_, end_); }

 private:
  struct Step {
    Place cause = kNobody;
    u64 at = 0;  ///< of the cause; of the operation's end, when that is known
    u64 begin = 0;
    u64 sent = 0;
    u64 arrived = 0;
  };
  std::vector<u64> first_;
  std::vector<Step> steps_;
  Place last_ = kNobody;
  u64 end_ = 0;
};

}  // namespace banyan::workload
