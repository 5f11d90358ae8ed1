// What waits in queues of one shard: messages in the flows of a source, in the admittance queues of `cioq`, in the
// request queues of `packet_node`, and posted messages behind a cursor. All queues of a kind share one memory, which
// stays as large as it once had to be.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// The two ends of a queue. It lies where its owner wants it: in a flow, in a link, in a table.
struct Queue {
  u32 first = kNone;
  u32 last = kNone;  ///< of no meaning where the queue is empty

  [[nodiscard]] bool empty() const noexcept { return first == kNone; }
};

/// A vector in chunks: it grows without moving what it holds. What waits in a network that is full for long is read in
/// any order, and may be gigabytes: from the first megabytes on it lies on huge pages.
template <class Item, u32 kBits>
class Chunks {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] Item& operator[](u32 i) noexcept { return chunks_[i >> kBits][i & (kLength - 1)]; }
  [[nodiscard]] const Item& operator[](u32 i) const noexcept { return chunks_[i >> kBits][i & (kLength - 1)]; }
  void reserve(std::size_t items) {
    while (chunks_.size() << kBits < items) make();
  }
  void emplace_back() { reserve(++size_); }
  void clear() noexcept { size_ = 0; }
  void archive(Archive& a) {
    a(size_);
    reserve(size_);
    for (std::size_t first = 0; first < size_; first += kLength) {
      a.row(chunks_[first >> kBits], std::min<std::size_t>(kLength, size_ - first));
    }
  }

 private:
  static constexpr u32 kLength = 1U << kBits;
  static constexpr u32 kSmall = 16;  ///< chunks that have memory of their own
  static constexpr u32 kBlock = 64;  ///< chunks of the others that share theirs: what is not used of it takes no memory

  void make() {
    const std::size_t chunk = chunks_.size();
    const std::size_t place = chunk < kSmall ? 0 : (chunk - kSmall) % kBlock;
    if (place == 0) blocks_.emplace_back(std::size_t{chunk < kSmall ? 1 : kBlock} << kBits);
    chunks_.push_back(blocks_.back().data() + (place << kBits));
  }

  std::vector<PageVector<Item>> blocks_;
  std::vector<Item*> chunks_;
  std::size_t size_ = 0;
};

/// `Item` has a member `u32 next`, which belongs to the queues. `Memory`: std::vector or Chunks.
template <class Item, class Memory = std::vector<Item>>
class Queues {
 public:
  void reserve(std::size_t items) { memory_.reserve(items); }
  /// Forgets all items, keeps the memory. The ends of the queues are their owners'.
  void clear() noexcept {
    memory_.clear();
    free_ = kNone;
  }

  [[nodiscard]] Item& operator[](u32 place) noexcept { return memory_[place]; }
  [[nodiscard]] const Item& operator[](u32 place) const noexcept { return memory_[place]; }
  /// Places that were ever taken: those that are free now hold what was there last.
  [[nodiscard]] std::size_t size() const noexcept { return memory_.size(); }
  /// Places for which there is memory.
  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.capacity(); }

  /// A place for an item, in no queue yet. What was there before still is.
  [[nodiscard]] u32 take() {
    const u32 place = free_;
    if (place == kNone) [[unlikely]]
      return take_new();
    free_ = memory_[place].next;
    return place;
  }
  /// The item is in no queue any more, and forgotten.
  void give_back(u32 place) noexcept { memory_[place].next = std::exchange(free_, place); }

  void append(Queue& queue, u32 place) noexcept {
    memory_[place].next = kNone;
    const u32 last = std::exchange(queue.last, place);
    (queue.empty() ? queue.first : memory_[last].next) = place;
  }
  /// Behind `before`, which is in the queue; kNone: as its first.
  void insert(Queue& queue, u32 before, u32 place) noexcept {
    if (queue.empty() || before == queue.last) return append(queue, place);
    memory_[place].next = std::exchange(before == kNone ? queue.first : memory_[before].next, place);
  }
  /// The first leaves its queue, which is not empty, and keeps its place.
  u32 pop(Queue& queue) noexcept { return std::exchange(queue.first, memory_[queue.first].next); }

  template <class F>
  void for_each(const Queue& queue, F&& f) const {
    for (u32 place = queue.first; place != kNone; place = memory_[place].next) f(memory_[place]);
  }

  void archive(Archive& a) { a(memory_, free_); }

 private:
  [[gnu::noinline]] u32 take_new() {
    memory_.emplace_back();
    return static_cast<u32>(memory_.size() - 1);
  }

  Memory memory_;
  u32 free_ = kNone;  ///< places that may be taken, the last given back first
};

}  // namespace banyan::engine
