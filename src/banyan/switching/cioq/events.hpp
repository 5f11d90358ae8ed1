// Exact time for CIOQ networks: a wheel for ends of transfers, queues for what takes equally long. Decision 0011.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::switching::cioq {

/// Things that become due in the order in which they were added. Behind the last one stands one that is never due, so
/// that nobody has to ask whether there is another.
template <class T>
class Fifo {
 public:
  Fifo() { clear(); }
  Fifo(Fifo&&) noexcept = default;
  Fifo& operator=(Fifo&&) noexcept = default;
  void clear() noexcept {
    head_ = tail_ = 0;
    items_[0].at = kNever;
    find_front();
  }
  [[nodiscard]] bool empty() const noexcept { return head_ == tail_; }
  [[nodiscard]] const T& front() const noexcept { return *front_; }
  /// When the first is due; kNever.
  [[nodiscard]] Tick next() const noexcept { return front_->at; }
  [[nodiscard]] u64 size() const noexcept { return tail_ - head_; }
  [[nodiscard]] const T& operator[](u64 i) const noexcept { return items_[(head_ + i) & mask_]; }
  void pop() noexcept {
    ++head_;
    find_front();
  }
  /// Adds what came from elsewhere, in whatever order, and empties that list. What is due at the same time stays in the
  /// order of the list only where it was sorted.
  void merge(std::vector<T>& more) {
    const auto before = [](const T& a, const T& b) { return a.at < b.at; };
    if (!std::is_sorted(more.begin(), more.end(), before)) std::sort(more.begin(), more.end(), before);
    u64 old = size();
    u64 place = old + more.size();
    for (const T& item : more) push(item);
    for (std::size_t n = more.size(); n-- > 0;) {
      for (; old != 0 && at(old - 1).at > more[n].at; --old) at(--place) = at(old - 1);
      at(--place) = more[n];
    }
    more.clear();
  }
  /// Puts something behind all that is due no later.
  void insert(const T& item) {
    push(item);
    u64 place = size() - 1;
    for (; place != 0 && at(place - 1).at > item.at; --place) at(place) = at(place - 1);
    at(place) = item;
  }
  /// What is due later than `latest` is due then.
  void bring_forward(Tick latest) noexcept {
    for (u64 i = 0; i < size(); ++i) at(i).at = std::min(at(i).at, latest);
  }
  void push(const T& item) {
    if (tail_ - head_ >= mask_) [[unlikely]]
      grow();
    items_[tail_++ & mask_] = item;
    items_[tail_ & mask_].at = kNever;
  }

  void archive(Archive& a) {
    a(items_, mask_, head_, tail_);
    find_front();
  }

 private:
  void find_front() noexcept { front_ = &items_[head_ & mask_]; }
  [[nodiscard]] T& at(u64 i) noexcept { return items_[(head_ + i) & mask_]; }
  [[gnu::noinline, gnu::cold]] void grow() {
    std::vector<T> larger(items_.size() * 2);
    for (u64 i = 0; i < size(); ++i) larger[(head_ + i) & (larger.size() - 1)] = (*this)[i];
    items_ = std::move(larger);
    mask_ = items_.size() - 1;
    find_front();
  }
  std::vector<T> items_ = std::vector<T>(1024);
  const T* front_ = nullptr;  ///< in items_
  u64 mask_ = 1023;
  u64 head_ = 0;
  u64 tail_ = 0;
};

/// Things to look at, each at most twice: once, and once more while they are looked at.
class Marks {
 public:
  void resize(u32 most) { list_.resize(std::size_t{most} * 2 + 1); }
  void clear() noexcept { count_ = 0; }
  /// Without a branch: whether there is something to look at is as good as random.
  void push_if(bool wanted, u32 thing) noexcept {
    list_[count_] = thing;
    count_ += wanted ? 1U : 0U;
  }
  /// Forgets all but those from `first` on.
  void keep_from(u32 first) noexcept {
    std::copy(list_.begin() + first, list_.begin() + count_, list_.begin());
    count_ -= first;
  }
  [[nodiscard]] u32 operator[](u32 n) const noexcept { return list_[n]; }
  [[nodiscard]] u32 size() const noexcept { return count_; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

  void archive(Archive& a) { a(list_, count_); }

 private:
  std::vector<u32> list_;
  u32 count_ = 0;
};

/// Ports that transfer, of two kinds: each is in at most one slot, the last one first. The kinds are apart, so that
/// nobody has to ask which one it is: the answer would be as good as random. Those of a slot and kind lie in rows;
/// where they are few, they are linked, which leaves less to guess. Who knows at compile time which it is says so.
class Wheel {
 public:
  void resize(u32 nodes, u32 longest, bool few) {
    const u32 slots = std::bit_ceil(std::max(longest + 1, 64U));
    heads_.assign(std::size_t{slots} * 2, kNone);
    occupied_.assign(slots / 64, 0);
    mask_ = slots - 1;
    rows_.resize(few ? 0 : (nodes / kNodes + heads_.size() + 1) * kRow);
    links_.resize(few ? std::size_t{nodes} * 2 : 0);
    clear();
  }
  void clear() {
    heads_.assign(heads_.size(), kNone);
    occupied_.assign(occupied_.size(), 0);
    free_ = 0;
    for (u32 row = 0; row < rows_.size(); row += kRow) rows_[row + kNodes] = row + kRow;
  }
  template <bool Few>
  [[gnu::always_inline]] void add(Tick at, u32 kind, u32 node) noexcept {
    const u32 slot = static_cast<u32>(at & mask_);
    u32& head = heads_[slot * 2 + kind];
    if (!Few) return add_to_row(slot, head, node);
    links_[node * 2 + kind] = std::exchange(head, node);
    occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
  }
  /// Calls `first` for every node of kind 0 that is due at `at`, then `second` for those of kind 1.
  template <bool Few, class First, class Second>
  void take(Tick at, First&& first, Second&& second) noexcept {
    const u32 slot = static_cast<u32>(at & mask_);
    occupied_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    take_list<Few, 0>(heads_[slot * 2], first);
    take_list<Few, 1>(heads_[slot * 2 + 1], second);
  }
  /// The earliest time from `from` on at which a node is due; kNever.
  [[nodiscard]] Tick earliest(Tick from) const noexcept {
    const u32 start = static_cast<u32>(from & mask_);
    const u64 first = occupied_[start >> 6U] >> (start & 63U);
    if (first != 0) return from + static_cast<u32>(std::countr_zero(first));
    const u32 slots = mask_ + 1;
    const u32 words = slots / 64;
    for (u32 step = 1; step <= words; ++step) {
      const u64 word = occupied_[((start >> 6U) + step) & (words - 1)];
      if (word == 0) continue;
      const u32 slot = (((start >> 6U) + step) & (words - 1)) * 64 + static_cast<u32>(std::countr_zero(word));
      return from + ((slot - start) & (slots - 1));
    }
    return kNever;
  }

  void archive(Archive& a) { a(heads_, rows_, free_, links_, occupied_); }

 private:
  static constexpr u32 kRow = 16;
  static constexpr u32 kNodes = 15;  ///< in a row; behind them the place behind the last one of the row before

  [[gnu::noinline]] void add_to_row(u32 slot, u32& head, u32 node) noexcept {
    u32 place = head;
    if (place == kNone || (place & (kRow - 1)) == kNodes) {
      const u32 row = free_;
      free_ = rows_[row + kNodes];
      rows_[row + kNodes] = place;
      place = row;
      occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
    }
    rows_[place] = node;
    head = place + 1;
  }

  template <bool Few, u32 Kind, class F>
  void take_list(u32& head, F&& f) noexcept {
    u32 place = std::exchange(head, kNone);
    if (Few) {
      for (u32 node = place; node != kNone;) {
        const u32 next = links_[node * 2 + Kind];
        f(node);
        node = next;
      }
      return;
    }
    while (place != kNone) {
      const u32 row = (place - 1) & ~(kRow - 1);
      while (place != row) f(rows_[--place]);
      place = rows_[row + kNodes];
      rows_[row + kNodes] = free_;
      free_ = row;
    }
  }

  std::vector<u32> heads_;  ///< [slot][kind]: place behind the last node
  std::vector<u32> rows_;
  u32 free_ = 0;
  std::vector<u32> links_;  ///< [node][kind]: the one that was added before
  std::vector<u64> occupied_;
  u32 mask_ = 0;
};

}  // namespace banyan::switching::cioq
