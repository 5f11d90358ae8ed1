// A binary heap that knows where each of its entries is, so that one may leave from the middle or become another in the
// order. `before(a, b)`: a is nearer to the front; `place(x)`: where the position of x is kept. Why its own: decision
// 0011.
#pragma once

#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::engine {

/// The entry at position i has changed: it goes to where it belongs.
template <class Entry, class Before, class Place>
void heap_settle(std::vector<Entry>& heap, u32 i, Before&& before, Place&& place) noexcept {
  const u32 size = static_cast<u32>(heap.size());
  const Entry moving = heap[i];
  const auto put = [&](u32 at, const Entry& x) {
    heap[at] = x;
    place(x) = at;
  };
  for (; i != 0 && before(moving, heap[(i - 1) / 2]); i = (i - 1) / 2) put(i, heap[(i - 1) / 2]);
  for (u32 child = 2 * i + 1; child < size; child = 2 * i + 1) {
    if (child + 1 < size && before(heap[child + 1], heap[child])) ++child;
    if (!before(heap[child], moving)) break;
    put(i, heap[child]);
    i = child;
  }
  put(i, moving);
}

template <class Entry, class Before, class Place>
void heap_push(std::vector<Entry>& heap, const Entry& x, Before&& before, Place&& place) {
  heap.push_back(x);
  heap_settle(heap, static_cast<u32>(heap.size()) - 1, before, place);
}

template <class Entry, class Before, class Place>
void heap_erase(std::vector<Entry>& heap, u32 i, Before&& before, Place&& place) noexcept {
  const Entry last = heap.back();
  heap.pop_back();
  if (i == heap.size()) return;
  heap[i] = last;
  heap_settle(heap, i, before, place);
}

}  // namespace banyan::engine
