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
    // Mostly it follows or prolongs the last one.
    if (open_.empty() || from > open_.back().to) {
      open_.push_back({from, to});
    } else if (from >= open_.back().from) {
      open_.back().to = std::max(open_.back().to, to);
    } else {
      merge(from, to);
    }
  }
  /// Nothing that is added later begins before `from`.
  void settle(u64 from) {
    if (open_.empty() || open_.front().to >= from) return;
    std::size_t done = 0;
    for (; done < open_.size() && open_[done].to < from; ++done) length_ += open_[done].to - open_[done].from;
    open_.erase(open_.begin(), open_.begin() + static_cast<std::ptrdiff_t>(done));
  }
  [[nodiscard]] u64 length() const {
    u64 length = length_;
    for (const Interval& i : open_) length += i.to - i.from;
    return length;
  }

 private:
  struct Interval {
    u64 from = 0;
    u64 to = 0;
  };
  /// Of an interval that begins before the last one does.
  void merge(u64 from, u64 to) {
    const auto reaches = [](const Interval& i, u64 begin) { return i.to < begin; };
    const auto first = std::lower_bound(open_.begin(), open_.end(), from, reaches);
    auto last = first;
    for (; last != open_.end() && last->from <= to; ++last) {
      from = std::min(from, last->from);
      to = std::max(to, last->to);
    }
    if (first == last) {
      open_.insert(first, {from, to});
      return;
    }
    *first = {from, to};
    open_.erase(first + 1, last);
  }

  std::vector<Interval> open_;  ///< disjoint, ascending
  u64 length_ = 0;
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

 private:
  struct Unions {
    IntervalUnion computing;
    IntervalUnion busy;  ///< computing, and overheads
    IntervalUnion all;   ///< busy, and messages on their way
    // Of ranks with one core, in place of the first two.
    u64 sum_computing = 0;
    u64 sum_busy = 0;
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
