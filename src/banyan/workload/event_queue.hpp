// A heap with four children per node: half the levels of a binary one, and siblings share a line of the cache.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace banyan::workload {

/// `Event` has before(other), a strict order.
template <class Event>
class EventQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return events_.empty(); }
  /// The first, which stays; there must be one.
  [[nodiscard]] const Event& first() const noexcept { return events_.front(); }
  void push(const Event& event) {
    events_.push_back(event);
    std::size_t i = events_.size() - 1;
    while (i != 0 && event.before(events_[(i - 1) / 4])) {
      events_[i] = events_[(i - 1) / 4];
      i = (i - 1) / 4;
    }
    events_[i] = event;
  }
  /// The first; there must be one.
  Event pop() {
    const Event top = events_.front();
    const Event last = events_.back();
    events_.pop_back();
    const std::size_t size = events_.size();
    if (size == 0) return top;
    std::size_t i = 0;
    for (;;) {
      const std::size_t first = i * 4 + 1;
      if (first >= size) break;
      std::size_t best = first;
      for (std::size_t c = first + 1; c < std::min(first + 4, size); ++c) {
        if (events_[c].before(events_[best])) best = c;
      }
      if (!events_[best].before(last)) break;
      events_[i] = events_[best];
      i = best;
    }
    events_[i] = last;
    return top;
  }

 private:
  std::vector<Event> events_;
};

}  // namespace banyan::workload
