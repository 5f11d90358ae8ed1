// What each operation of a run has waited for last, so that the chain that ended last can be told.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "banyan/base/pages.hpp"
#include "banyan/workload/replay.hpp"

namespace banyan::workload {

/// An operation in one of the repeats of its rank, as TraceBack numbers it.
using Execution = u64;

class TraceBack {
 public:
  static constexpr Execution kNobody = ~Execution{0};  ///< also where nothing is traced

  /// Keeps nothing where a run is too large.
  TraceBack(const Program& program, u32 repeats) : repeat_(program.ranks(), kNone) {
    if (!traces(program, repeats)) return;
    u64 sum = 0;
    for (u32 r = 0; r < program.ranks(); ++r) {
      first_.push_back(sum);
      operations_.push_back(program.operations(r));
      sum += u64{repeats} * program.operations(r);
    }
    reserve_pages(steps_, sum);
    steps_.resize(sum);
    base_ = first_;
    ended_.resize(program.ranks(), kNobody);
    if (repeats == 1) return;
    arrived_.resize(sum / repeats);
    met_.resize(sum / repeats);
  }

  [[nodiscard]] static bool traces(const Program& program, u32 repeats) {
    return program.operations() * repeats <= kMostTraced;
  }

  /// The rank begins with its operations, for the first time or once more.
  void again(u32 rank) noexcept {
    ++repeat_[rank];
    if (!steps_.empty()) base_[rank] = first_[rank] + u64{repeat_[rank]} * operations_[rank];
  }
  [[nodiscard]] u32 repeat_of(u32 rank) const noexcept { return repeat_[rank]; }
  /// The operation in the present repeat of its rank.
  [[nodiscard]] Execution now(Place place) const noexcept {
    return steps_.empty() ? kNobody : base_[place.rank] + place.operation;
  }
  /// Its beginning alone, where it holds a core and then waits for another rank: who waits for that core does not wait
  /// for what its end waits for.
  [[nodiscard]] Execution beginning(Place place) const noexcept {
    return steps_.empty() ? kNobody : now(place) | kBeginning;
  }
  /// What has ended last at a rank.
  [[nodiscard]] Execution last_of(u32 rank) const noexcept { return steps_.empty() ? kNobody : ended_[rank]; }

  /// The processor is to fetch what is known of an operation that something will be told of soon.
  void fetch(Place place) const noexcept {
    const Execution e = steps_.empty() ? 0 : std::min<Execution>(base_[place.rank] + place.operation, steps_.size());
    __builtin_prefetch(steps_.data() + e, 1);
  }

  /// `cause` was done at `at`, and `place` waits for it.
  void waited(Place place, Execution cause, u64 at) noexcept {
    if (cause == kNobody) return;
    Step& step = steps_[base_[place.rank] + place.operation];
    if (step.cause != kNobody && at < step.at) return;
    step.cause = cause;
    step.at = at;
  }
  void begun(Place place, u64 at) noexcept {
    if (steps_.empty()) return;
    Step& step = steps_[base_[place.rank] + place.operation];
    step.begin = at;
    step.before = step.cause;
  }
  /// The message of a send went onto the wire.
  void sent(Place send, u64 at) noexcept {
    if (!steps_.empty()) steps_[base_[send.rank] + send.operation].sent = at;
  }
  /// A send that asked has its interface at `at`, for which it waited.
  void resumed(Place send, u64 at) {
    if (!steps_.empty()) resumed_[now(send)] = at;
  }
  /// All of a message has arrived; returns its send. The rank of the send may be in a later repeat: messages of one
  /// operation are taken to arrive in the order in which they were sent.
  Execution arrived(Place send, u64 at) noexcept {
    if (steps_.empty()) return kNobody;
    const Execution of = next(arrived_, send);
    steps_[of].arrived = at;
    return of;
  }
  /// A message has met its receive; returns its send.
  Execution met(Place send) noexcept { return steps_.empty() ? kNobody : next(met_, send); }
  void ended(Place place, u64 at) noexcept {
    if (steps_.empty()) return;
    const Execution of = base_[place.rank] + place.operation;
    Execution& last = ended_[place.rank];
    if (last == kNobody || at >= steps_[last].at) last = of;
    end(of, at);
  }

  /// What it has waited for last, until now.
  [[nodiscard]] Execution cause_of(Place place) const noexcept {
    return steps_.empty() ? kNobody : steps_[base_[place.rank] + place.operation].cause;
  }

  /// The run may end with this: `of` held a core until then, though it had ended itself.
  void held(Execution of, u64 until) noexcept {
    if (of != kNobody && until > end_) end(of, until);
  }

  [[nodiscard]] std::vector<CriticalStep> chain() const {
    std::vector<CriticalStep> all;
    for (Execution e = last_; e != kNobody && all.size() < steps_.size();) {
      const bool begins = (e & kBeginning) != 0;
      const u64 number = e & ~kBeginning;
      const auto rank = static_cast<u32>(std::upper_bound(first_.begin(), first_.end(), number) - first_.begin() - 1);
      const u64 within = number - first_[rank];
      const Step& step = steps_[number];
      // What comes after a beginning began when that was over.
      const u64 end = begins ? std::min(step.at, all.back().begin) : step.at;
      const auto resumed = begins ? resumed_.end() : resumed_.find(number);
      all.push_back({{rank, static_cast<u32>(within % operations_[rank])},
                     step.begin,
                     end,
                     step.sent,
                     step.arrived,
                     resumed == resumed_.end() ? 0 : resumed->second,
                     static_cast<u32>(within / operations_[rank])});
      e = begins ? step.before : step.cause;
    }
    std::reverse(all.begin(), all.end());
    return all;
  }

  void archive(Archive& a) { a(steps_, repeat_, base_, ended_, arrived_, met_, resumed_, last_, end_); }

 private:
  static constexpr Execution kBeginning = Execution{1} << 63U;

  struct Step {
    Execution cause = kNobody;
    Execution before = kNobody;  ///< what it had waited for when it began
    u64 at = 0;                  ///< of the cause; of the operation's end, when that is known
    u64 begin = 0;
    u64 sent = 0;
    u64 arrived = 0;
  };

  [[nodiscard]] Execution number(Place place, u32 repeat) const noexcept {
    return first_[place.rank] + u64{repeat} * operations_[place.rank] + place.operation;
  }
  /// The execution of a send whose turn it is. `counts` has one count for each operation of the program; those of a
  /// rank begin at first_ / repeats, for steps_ has each operation once per repeat.
  Execution next(std::vector<u32>& counts, Place send) noexcept {
    if (counts.empty()) return number(send, 0);
    const u64 repeats = steps_.size() / counts.size();
    return number(send, counts[first_[send.rank] / repeats + send.operation]++);
  }
  void end(Execution of, u64 at) noexcept {
    steps_[of].at = at;
    if (at < end_) return;
    end_ = at;
    last_ = of;
  }

  std::vector<u64> first_;        ///< [rank], its first execution
  std::vector<u32> operations_;   ///< [rank], in one repeat
  std::vector<Step> steps_;       ///< [execution]
  std::vector<u32> repeat_;       ///< [rank], from 0
  std::vector<Execution> ended_;  ///< [rank]
  std::vector<u32> arrived_;      ///< [operation], messages; empty where each is executed once
  std::vector<u32> met_;          ///< likewise
  std::vector<Execution> base_;   ///< [rank], the first of its present repeat
  std::unordered_map<Execution, u64> resumed_;
  Execution last_ = kNobody;
  u64 end_ = 0;
};

}  // namespace banyan::workload
