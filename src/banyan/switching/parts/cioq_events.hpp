// Exact time for CIOQ networks: a wheel for ends of transfers, queues for what takes equally long every time.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::switching::cioq {

/// Things that become due in the order in which they were added.
template <class T>
class Fifo {
 public:
  void clear() noexcept { head_ = tail_ = 0; }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] T& front() noexcept { return items_[head_ & (items_.size() - 1)]; }
  [[nodiscard]] const T& front() const noexcept { return items_[head_ & (items_.size() - 1)]; }
  [[nodiscard]] Tick next() const noexcept { return empty() ? kNever : front().at; }
  [[nodiscard]] u64 size() const noexcept { return tail_ - head_; }
  [[nodiscard]] const T& operator[](u64 i) const noexcept { return items_[(head_ + i) & (items_.size() - 1)]; }
  void pop() noexcept { ++head_; }
  void push(const T& item) {
    if (tail_ - head_ == items_.size()) grow();
    items_[tail_++ & (items_.size() - 1)] = item;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.size() * 2);
    for (u64 i = 0; i < size(); ++i) larger[(head_ + i) & (larger.size() - 1)] = (*this)[i];
    items_ = std::move(larger);
  }
  std::vector<T> items_ = std::vector<T>(1024);
  u64 head_ = 0;
  u64 tail_ = 0;
};

/// Every node (a port that transfers) is in at most one slot.
class Wheel {
 public:
  void resize(u32 nodes, u32 longest) {
    next_.assign(nodes, kNone);
    heads_.assign(std::bit_ceil(std::max(longest + 1, 64U)), kNone);
    occupied_.assign(heads_.size() / 64, 0);
  }
  void clear() {
    heads_.assign(heads_.size(), kNone);
    occupied_.assign(occupied_.size(), 0);
  }
  void add(Tick at, u32 node) noexcept {
    const u32 slot = static_cast<u32>(at & (heads_.size() - 1));
    next_[node] = heads_[slot];
    heads_[slot] = node;
    occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
  }
  /// Takes the list of nodes that are due at `at`; go on with next().
  [[nodiscard]] u32 take(Tick at) noexcept {
    const u32 slot = static_cast<u32>(at & (heads_.size() - 1));
    const u32 first = heads_[slot];
    heads_[slot] = kNone;
    occupied_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    return first;
  }
  [[nodiscard]] u32 next(u32 node) const noexcept { return next_[node]; }
  /// The earliest time from `from` on at which a node is due; kNever.
  [[nodiscard]] Tick earliest(Tick from) const noexcept {
    const u32 slots = static_cast<u32>(heads_.size());
    const u32 words = slots / 64;
    const u32 start = static_cast<u32>(from & (slots - 1));
    const u64 first = occupied_[start >> 6U] >> (start & 63U);
    if (first != 0) return from + static_cast<u32>(std::countr_zero(first));
    for (u32 step = 1; step <= words; ++step) {
      const u64 word = occupied_[((start >> 6U) + step) & (words - 1)];
      if (word == 0) continue;
      const u32 slot = (((start >> 6U) + step) & (words - 1)) * 64 + static_cast<u32>(std::countr_zero(word));
      return from + ((slot - start) & (slots - 1));
    }
    return kNever;
  }

 private:
  std::vector<u32> next_;
  std::vector<u32> heads_;
  std::vector<u64> occupied_;
};

}  // namespace banyan::switching::cioq
