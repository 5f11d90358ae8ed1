// What is to be done at its time, in an order of its own within a tick. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Things with a tick `due`, however many and however far ahead. Those of one tick come by T::before(), whatever the
/// order in which they were put in. The ticks of one span have a list each, those of later spans one list for each
/// span, which is spread out when time gets there: neither putting nor taking depends on how many there are.
template <class T>
class Agenda {
 public:
  Agenda() { clear(); }

  void clear() {
    items_.clear();
    free_items_.clear();
    near_.assign(kTicks, List{});
    far_.assign(kSpans, List{});
    bits_.fill(0);
    summary_ = 0;
    beyond_.clear();
    chunks_.clear();
    free_chunk_ = kNone;
    span_ = 0;
    far_next_ = kNever;
    next_ = kNever;
    taking_ = false;  // what is taken may throw
  }

  [[nodiscard]] bool empty() const noexcept { return items_.size() == free_items_.size(); }
  /// The earliest tick for which something is put in; kNever: for none.
  [[nodiscard]] Tick next() const noexcept { return next_; }

  void put(const T& item) {
    if (taking_ && item.due <= taken_at_) [[unlikely]] {
      pending_.insert(
          std::upper_bound(pending_.begin() + static_cast<std::ptrdiff_t>(done_), pending_.end(), item, &T::before),
          item);
      return;
    }
    u32 place = static_cast<u32>(items_.size());
    if (free_items_.empty()) {
      items_.push_back(item);
    } else {
      place = free_items_.back();
      free_items_.pop_back();
      items_[place] = item;
    }
    file(place, item.due);
    next_ = std::min(next_, item.due);
  }

  /// Calls `f` for all that is due up to `now`, and forgets it. What `f` puts in and is due by then too comes in its
  /// turn.
  template <class F>
  void take(Tick now, F&& f) {
    while (next_ <= now) {
      if (summary_ == 0) spread();
      const u32 slot = first_slot();
      taking_ = true;
      taken_at_ = span_ * kTicks + slot;
      pending_.clear();
      done_ = 0;
      const List list = take_list(slot);
      if (const Chunk& only = chunks_[list.first]; only.count == 1 && list.first == list.last) {  // mostly
        const T item = items_[only.entries[0].item];
        free_items_.push_back(only.entries[0].item);
        give_back(list);
        f(item);
      } else {
        gather(list);
      }
      while (done_ < pending_.size()) {
        const T item = pending_[done_++];
        f(item);
      }
      taking_ = false;
      next_ = summary_ == 0 ? far_next_ : soonest();
    }
  }

  /// In no certain order.
  template <class F>
  void for_each(F&& f) const {
    for (const List& list : near_) each_entry(list, [&](const Entry& e) { f(items_[e.item]); });
    for (const List& list : far_) each_entry(list, [&](const Entry& e) { f(items_[e.item]); });
    for (const u32 item : beyond_) f(items_[item]);
  }

  void archive(Archive& a) {
    a(items_, free_items_, near_, far_, bits_, summary_, beyond_, chunks_, free_chunk_, span_, far_next_, next_);
  }

 private:
  static constexpr u32 kTicks = 4096;  ///< of a span: one word of a summary for 64 of them
  static constexpr u32 kSpans = 1024;  ///< that have lists; those of later rounds lie among them
  static constexpr u32 kRoom = 7;
  struct Entry {
    u32 item;
    u32 due;  ///< the lower half of its tick
  };
  struct Chunk {
    u32 count = 0;
    u32 next = kNone;
    std::array<Entry, kRoom> entries{};
  };
  static_assert(sizeof(Chunk) == 64);
  struct List {
    u32 first = kNone;
    u32 last = kNone;
  };

  template <class F>
  void each_entry(const List& list, F&& f) const {
    for (u32 at = list.first; at != kNone; at = chunks_[at].next) {
      for (u32 i = 0; i < chunks_[at].count; ++i) f(chunks_[at].entries[i]);
    }
  }
  void append(List& list, const Entry& entry) {
    if (list.last == kNone || chunks_[list.last].count == kRoom) {
      u32 fresh = free_chunk_;
      if (fresh == kNone) {
        fresh = static_cast<u32>(chunks_.size());
        chunks_.emplace_back();
      } else {
        free_chunk_ = chunks_[fresh].next;
        chunks_[fresh].count = 0;
        chunks_[fresh].next = kNone;
      }
      (list.last == kNone ? list.first : chunks_[list.last].next) = fresh;
      list.last = fresh;
    }
    Chunk& chunk = chunks_[list.last];
    chunk.entries[chunk.count++] = entry;
  }
  void give_back(const List& list) {
    if (list.first == kNone) return;
    chunks_[list.last].next = free_chunk_;
    free_chunk_ = list.first;
  }

  /// What is overdue comes first in the span.
  void file_near(u32 item, Tick due) {
    const u32 slot = due / kTicks < span_ ? 0 : static_cast<u32>(due % kTicks);
    append(near_[slot], {item, static_cast<u32>(due)});
    bits_[slot >> 6U] |= u64{1} << (slot & 63U);
    summary_ |= u64{1} << (slot >> 6U);
  }
  void file(u32 item, Tick due) {
    const Tick span = due / kTicks;
    if (span <= span_) return file_near(item, due);
    far_next_ = std::min(far_next_, due);
    if (span - span_ >= (Tick{1} << 31U) / kTicks) {
      beyond_.push_back(item);
    } else {
      append(far_[span % kSpans], {item, static_cast<u32>(due)});
    }
  }
  [[nodiscard]] u32 first_slot() const noexcept {
    const u32 word = static_cast<u32>(std::countr_zero(summary_));
    return word * 64 + static_cast<u32>(std::countr_zero(bits_[word]));
  }
  /// Of the span, in which something is.
  [[nodiscard]] Tick soonest() const noexcept {
    const u32 slot = first_slot();
    Tick due = span_ * kTicks + slot;
    if (slot != 0) return due;
    each_entry(near_[0], [&](const Entry& e) { due = std::min(due, items_[e.item].due); });
    return due;
  }
  /// The list of a tick, which has none from then on.
  [[nodiscard]] List take_list(u32 slot) {
    bits_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    if (bits_[slot >> 6U] == 0) summary_ &= ~(u64{1} << (slot >> 6U));
    return std::exchange(near_[slot], List{});
  }
  /// Takes the things of a list into pending_, in order.
  void gather(const List& list) {
    each_entry(list, [&](const Entry& e) { __builtin_prefetch(&items_[e.item]); });
    each_entry(list, [&](const Entry& e) {
      pending_.push_back(items_[e.item]);
      free_items_.push_back(e.item);
    });
    give_back(list);
    std::sort(pending_.begin(), pending_.end(), &T::before);
  }
  /// The span in which the next thing is due becomes the one with a list for each tick.
  void spread() {
    span_ = far_next_ / kTicks;
    List& list = far_[span_ % kSpans];
    const List all = std::exchange(list, List{});
    std::vector<u32> far = std::exchange(beyond_, {});
    each_entry(all, [&](const Entry& e) { moved_.push_back(e); });
    give_back(all);
    for (const Entry& e : moved_) {
      if (e.due / kTicks == static_cast<u32>(span_ % (Tick{1} << 20U))) {
        file_near(e.item, span_ * kTicks + e.due % kTicks);
      } else {
        append(list, e);
      }
    }
    moved_.clear();
    far_next_ = kNever;
    for (const u32 item : far) file(item, items_[item].due);
    find_far_next();
  }
  /// The first of the spans that have something is the next one that is not empty, unless that is of a later round.
  void find_far_next() {
    for (u32 i = 1; i <= kSpans; ++i) {
      const Tick span = span_ + i;
      if (i != kSpans && far_next_ / kTicks < span) return;
      each_entry(far_[span % kSpans], [&](const Entry& e) {
        const Tick ahead = static_cast<u32>(e.due - static_cast<u32>(span_ * kTicks));
        far_next_ = std::min(far_next_, span_ * kTicks + ahead);
      });
    }
  }

  std::vector<T> items_;
  std::vector<u32> free_items_;
  std::vector<List> near_;               ///< [tick of the span]
  std::array<u64, kTicks / 64> bits_{};  ///< which of them have something
  u64 summary_ = 0;                      ///< a bit for each word of these
  std::vector<List> far_;                ///< [span % kSpans]
  std::vector<u32> beyond_;              ///< items that are due too far ahead for these
  std::vector<Chunk> chunks_;
  u32 free_chunk_ = kNone;
  Tick span_ = 0;
  Tick far_next_ = kNever;  ///< the earliest that is not in the span
  Tick next_ = kNever;
  std::vector<T> pending_;  ///< of the tick that is being taken
  std::vector<Entry> moved_;
  std::size_t done_ = 0;  ///< of these
  bool taking_ = false;
  Tick taken_at_ = 0;
};

}  // namespace banyan::engine
