// Events by their order. Much of what comes into being comes in that order already: what is free at the start, or the
// messages of one sender. Such events wait in a lane, of which only the first is in the heap, so that the heap is as
// small as there are lanes and stays in the cache. It has four children per node, which pays together with the lanes
// only. What both gain: decision 0011.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "banyan/base/archive.hpp"

namespace banyan::workload {

/// `Event` has before(other), a strict order.
template <class Event>
class EventQueue {
 public:
  static constexpr u32 kNoLane = kNone;

  explicit EventQueue(std::size_t lanes) : lanes_(lanes) {}

  [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
  /// The first, which stays; there must be one.
  [[nodiscard]] const Event& first() const noexcept { return heap_.front().event; }
  /// Events of one lane mostly come in their order; any other order is right too.
  void push(const Event& event, u32 lane) {
    if (lane == kNoLane) return rise({event, kNoLane});
    Lane& of = lanes_[lane];
    if (!of.in_heap) {
      of.in_heap = true;
      of.last = event;
      rise({event, lane});
    } else if (event.before(of.last)) {
      rise({event, kNoLane});
    } else {
      of.last = event;
      of.append(event);
    }
  }
  /// The first; there must be one.
  Event pop() {
    const Entry top = heap_.front();
    if (top.lane != kNoLane) {
      Lane& of = lanes_[top.lane];
      if (of.done != of.waiting.size()) {
        sink({of.waiting[of.done++], top.lane});
        return top.event;
      }
      of.in_heap = false;
    }
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return top.event;
  }

  void archive(Archive& a) { a(heap_, lanes_); }

 private:
  struct Entry {
    Event event;
    u32 lane = kNoLane;
  };
  struct Lane {
    std::vector<Event> waiting;  ///< ascending; behind the one that is in the heap
    std::size_t done = 0;        ///< how many of them have left
    Event last;
    bool in_heap = false;

    void archive(Archive& a) { a(waiting, done, last, in_heap); }
    /// What is done makes room once it is the larger part.
    void append(const Event& event) {
      if (waiting.size() == waiting.capacity() && done * 2 >= waiting.size()) {
        waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(done));
        done = 0;
      }
      waiting.push_back(event);
    }
  };

  void rise(const Entry& entry) {
    heap_.push_back(entry);
    std::size_t i = heap_.size() - 1;
    while (i != 0 && entry.event.before(heap_[(i - 1) / 4].event)) {
      heap_[i] = heap_[(i - 1) / 4];
      i = (i - 1) / 4;
    }
    heap_[i] = entry;
  }
  /// Puts an entry in the place of the first.
  void sink(const Entry& entry) {
    const std::size_t size = heap_.size();
    std::size_t i = 0;
    for (;;) {
      const std::size_t child = i * 4 + 1;
      if (child >= size) break;
      std::size_t best = child;
      for (std::size_t c = child + 1; c < std::min(child + 4, size); ++c) {
        best = heap_[c].event.before(heap_[best].event) ? c : best;
      }
      if (!heap_[best].event.before(entry.event)) break;
      heap_[i] = heap_[best];
      i = best;
    }
    heap_[i] = entry;
  }

  std::vector<Entry> heap_;
  std::vector<Lane> lanes_;
};

}  // namespace banyan::workload
