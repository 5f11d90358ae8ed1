// Events of a population that runs itself: numbers by tick, in the order of putting in. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// A wheel of lists of chunks for near ticks and a heap beyond it. An event is any number below 2^32.
class Calendar {
 public:
  static constexpr u32 kMostSlots = 4096;  ///< one word of a summary per 64 slots

  /// `longest`: how far ahead most events are put. `events`: as many as there may be at once without an allocation.
  Calendar(Tick longest, std::size_t events)
      : slots_(static_cast<u32>(std::bit_ceil(std::clamp<Tick>(longest + 2, 64, kMostSlots)))),
        lists_(slots_),
        words_(slots_ / 64) {
    chunks_.reserve(events / kRoom + slots_ + 1);
  }

  void clear() {
    std::fill(lists_.begin(), lists_.end(), List{});
    std::fill(words_.begin(), words_.end(), 0);
    summary_ = 0;
    chunks_.clear();
    free_ = kNone;
    far_.clear();
    order_ = 0;
  }

  /// Puts an event at `at` > `now`, the tick that is being done.
  void put(u32 event, Tick at, Tick now) {
    if (at - now >= slots_) [[unlikely]]
      return put_far(event, at);
    const u32 slot = static_cast<u32>(at) & (slots_ - 1);
    List& list = lists_[slot];
    if (list.last == kNone) {
      list.first = list.last = new_chunk();
      words_[slot >> 6U] |= u64{1} << (slot & 63U);
      summary_ |= u64{1} << (slot >> 6U);
    } else if (chunks_[list.last].count == kRoom) {
      const u32 chunk = new_chunk();
      chunks_[list.last].next = chunk;
      list.last = chunk;
    }
    Chunk& chunk = chunks_[list.last];
    chunk.events[chunk.count++] = event;
  }

  /// Calls `each(events, count, i)` for the events of `now`, and forgets them. `whole`: with all of them in one list,
  /// so that memory can be asked for ahead; otherwise a few at a time.
  template <class Each>
  void take(Tick now, bool whole, Each&& each) {
    const u32 slot = static_cast<u32>(now) & (slots_ - 1);
    const u32 first = lists_[slot].first;
    if (first != kNone) {
      lists_[slot] = {};
      words_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
      if (words_[slot >> 6U] == 0) summary_ &= ~(u64{1} << (slot >> 6U));
    }
    list_.clear();
    for (u32 at = first; at != kNone;) {
      // Chunks may move while events are put: a copy is safe.
      const Chunk chunk = chunks_[at];
      chunks_[at].next = free_;
      free_ = at;
      if (whole) {
        list_.insert(list_.end(), chunk.events.begin(), chunk.events.begin() + chunk.count);
      } else {
        for (u32 i = 0; i < chunk.count; ++i) each(chunk.events.data(), chunk.count, i);
      }
      at = chunk.next;
    }
    const u32 count = static_cast<u32>(list_.size());
    for (u32 i = 0; i < count; ++i) each(list_.data(), count, i);
    while (!far_.empty() && far_.front().at <= now) {
      const u32 event = far_.front().event;
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      far_.pop_back();
      each(&event, 1U, 0U);
    }
  }

  /// The next tick after `now` that has an event; kNever: none has.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    const Tick far = far_.empty() ? kNever : far_.front().at;
    if (summary_ == 0) return far;
    const u32 from = static_cast<u32>(now + 1) & (slots_ - 1);
    const u32 word = from >> 6U;
    u32 slot = 0;
    if (const u64 here = words_[word] >> (from & 63U); here != 0) {
      slot = from + static_cast<u32>(std::countr_zero(here));
    } else {
      const u64 later = word == 63 ? 0 : summary_ & ~((u64{2} << word) - 1);
      const u32 found = static_cast<u32>(std::countr_zero(later != 0 ? later : summary_));
      slot = found * 64 + static_cast<u32>(std::countr_zero(words_[found]));
    }
    return std::min(far, now + 1 + ((slot - from) & (slots_ - 1)));
  }

  /// `f(ticks ahead of now, event)` for all, in no certain order.
  template <class F>
  void for_each(Tick now, F&& f) const {
    for (u32 ahead = 1; ahead < slots_; ++ahead) {
      for (u32 at = lists_[static_cast<u32>(now + ahead) & (slots_ - 1)].first; at != kNone; at = chunks_[at].next) {
        for (u32 i = 0; i < chunks_[at].count; ++i) f(Tick{ahead}, chunks_[at].events[i]);
      }
    }
    for (const Far& e : far_) f(e.at - now, e.event);
  }

  void archive(Archive& a) { a(lists_, words_, summary_, chunks_, free_, far_, order_); }

 private:
  static constexpr u32 kRoom = 14;
  struct Chunk {
    u32 count = 0;
    u32 next = kNone;
    std::array<u32, kRoom> events{};
  };
  static_assert(sizeof(Chunk) == 64);
  struct List {
    u32 first = kNone;
    u32 last = kNone;
  };
  struct Far {
    Tick at = 0;
    u64 order = 0;
    u32 event = 0;
    friend bool operator>(const Far& a, const Far& b) { return a.at != b.at ? a.at > b.at : a.order > b.order; }
  };

  [[nodiscard]] u32 new_chunk() {
    if (free_ == kNone) {
      chunks_.emplace_back();
      return static_cast<u32>(chunks_.size() - 1);
    }
    const u32 chunk = free_;
    free_ = chunks_[chunk].next;
    chunks_[chunk].count = 0;
    chunks_[chunk].next = kNone;
    return chunk;
  }
  void put_far(u32 event, Tick at) {
    far_.push_back({at, order_++, event});
    std::push_heap(far_.begin(), far_.end(), std::greater<>());
  }

  u32 slots_;
  std::vector<List> lists_;  ///< [slot]
  std::vector<u64> words_;   ///< bit per slot
  u64 summary_ = 0;          ///< bit per word
  std::vector<Chunk> chunks_;
  u32 free_ = kNone;
  std::vector<Far> far_;
  std::vector<u32> list_;  ///< of the tick that is being done
  u64 order_ = 0;
};

}  // namespace banyan::engine
