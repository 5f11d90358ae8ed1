// Where the time of ranks goes: unions of intervals, which come nearly in their order.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/workload/replay.hpp"

namespace banyan::workload {

/// The length of a union of intervals. What ends before settle() is only counted.
class IntervalUnion {
 public:
  void add(u64 from, u64 to) {
    if (from >= to) return;
    // Mostly it meets one of the last, in whatever order they come.
    const std::size_t oldest = open_.size() - std::min(open_.size(), kTried);
    for (std::size_t i = open_.size(); i > oldest; --i) {
      Interval& last = open_[i - 1];
      if (from > last.to || to < last.from) continue;
      last = {std::min(last.from, from), std::max(last.to, to)};
      return;
    }
    if (open_.size() == full_) {
      join();
      full_ = std::max(kFewest, open_.size() * 2);
    }
    open_.push_back({from, to});
  }
  /// Nothing that is added later begins before `from`.
  void settle(u64 from) { settled_ = from; }
  [[nodiscard]] u64 length() const {
    IntervalUnion all = *this;
    all.join();
    u64 length = all.length_;
    for (const Interval& i : all.open_) length += i.to - i.from;
    return length;
  }

  void archive(Archive& a) { a(open_, full_, settled_, length_); }

 private:
  static constexpr std::size_t kFewest = 16;
  static constexpr std::size_t kTried = 2;

  struct Interval {
    u64 from = 0;
    u64 to = 0;
  };
  /// Makes the intervals ascending and disjoint, and only counts those that are over. It is done when there are twice
  /// as many as it left the last time, so that an interval costs as much as sorting, in whatever order they come.
  void join() {
    std::sort(open_.begin(), open_.end(), [](const Interval& a, const Interval& b) { return a.from < b.from; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < open_.size();) {
      Interval joined = open_[i++];
      for (; i < open_.size() && open_[i].from <= joined.to; ++i) joined.to = std::max(joined.to, open_[i].to);
      if (joined.to < settled_) {
        length_ += joined.to - joined.from;
      } else {
        open_[kept++] = joined;
      }
    }
    open_.resize(kept);
  }

  std::vector<Interval> open_;
  std::size_t full_ = kFewest;  ///< so many, and they are joined
  u64 settled_ = 0;
  u64 length_ = 0;  ///< of those that are over
};

class RankClock {
 public:
  /// `one_core`: what a rank computes and handles does not overlap. `in_order`: what is added at `now` begins no
  /// earlier than it.
  RankClock(u32 ranks, bool one_core, bool in_order) : one_core_(one_core), in_order_(in_order), ranks_(ranks) {}

  void computes(u32 rank, u64 from, u64 to, u64 now) {
    Unions& of = ranks_[rank];
    add(of.computing, of.sum_computing, from, to, now);
    add(of.busy, of.sum_busy, from, to, now);
    add_to_all(of, from, to, now);
  }
  void handles(u32 rank, u64 from, u64 to, u64 now) {
    Unions& of = ranks_[rank];
    add(of.busy, of.sum_busy, from, to, now);
    add_to_all(of, from, to, now);
  }
  /// A message is on its way to the rank.
  void awaits(u32 rank, u64 from, u64 to, u64 now) { add_to_all(ranks_[rank], from, to, now); }

  [[nodiscard]] std::vector<RankTimes> times(u64 start, const std::vector<u64>& ends) const {
    std::vector<RankTimes> times;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const u64 computing = ranks_[r].computing.length() + ranks_[r].sum_computing;
      const u64 busy = ranks_[r].busy.length() + ranks_[r].sum_busy;
      const u64 all = ranks_[r].all.length();
      const u64 whole = ends[r] - std::min(ends[r], start);
      times.push_back({computing, busy - computing, all - busy, whole - std::min(whole, all)});
    }
    return times;
  }

  void archive(Archive& a) { a(ranks_); }

 private:
  struct Unions {
    IntervalUnion computing;
    IntervalUnion busy;  ///< computing, and overheads
    IntervalUnion all;   ///< busy, and messages on their way
    // Ranks with one core have it in place of the first two.
    u64 sum_computing = 0;
    u64 sum_busy = 0;
    void archive(Archive& a) { a(computing, busy, all, sum_computing, sum_busy); }
  };
  void add(IntervalUnion& into, u64& sum, u64 from, u64 to, u64 now) {
    if (one_core_) {
      if (from < to) sum += to - from;
      return;
    }
    if (in_order_) into.settle(now);
    into.add(from, to);
  }
  void add_to_all(Unions& of, u64 from, u64 to, u64 now) {
    if (in_order_) of.all.settle(now);
    of.all.add(from, to);
  }

  bool one_core_;
  bool in_order_;
  std::vector<Unions> ranks_;
};

}  // namespace banyan::workload
