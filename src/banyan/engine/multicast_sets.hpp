// Destinations of the multidestination packets of one shard, by the index of the packet's record; and multicasts of
// which some messages have arrived and others have not.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/engine/packet_pool.hpp"

namespace banyan::engine {

/// One row of bits per packet record: the terminals that it has not reached yet.
class MulticastSets {
 public:
  MulticastSets() = default;
  explicit MulticastSets(u32 terminals) : words_((terminals + 63) / 64) {}

  void reserve(u32 packets) { grow(packets); }
  /// The row of a new packet, empty.
  [[nodiscard]] std::span<u64> open(core::PacketId id, u32 created) {
    grow(created);
    const std::span<u64> bits = row(id);
    std::fill(bits.begin(), bits.end(), 0);
    return bits;
  }
  [[nodiscard]] const u64* bits(core::PacketId id) const noexcept { return rows_.data() + place(id); }
  /// One copy arrived. False when it was not due.
  bool remove(core::PacketId id, u32 terminal) noexcept {
    u64& word = rows_[place(id) + terminal / 64];
    const u64 bit = u64{1} << (terminal % 64);
    const bool due = (word & bit) != 0;
    word &= ~bit;
    return due;
  }
  /// Copies that have not arrived.
  [[nodiscard]] u32 owed(core::PacketId id) const noexcept {
    u32 count = 0;
    for (u32 w = 0; w < words_; ++w) count += static_cast<u32>(std::popcount(rows_[place(id) + w]));
    return count;
  }

  void archive(Archive& a) { a(rows_); }

 private:
  [[nodiscard]] std::size_t place(core::PacketId id) const noexcept {
    return static_cast<std::size_t>(id & (PacketPool::kMost - 1)) * words_;
  }
  [[nodiscard]] std::span<u64> row(core::PacketId id) { return {rows_.data() + place(id), words_}; }
  void grow(u32 packets) {
    if (rows_.size() < std::size_t{packets} * words_) rows_.resize(std::size_t{packets} * words_);
  }

  u32 words_ = 0;
  std::vector<u64> rows_;
};

/// Multicasts under way, whether one packet that switches replicate or many that the terminals forward. A hash table
/// with linear probing that doubles when it is half full and never shrinks.
class MulticastLedger {
 public:
  struct Entry {
    u64 key = 0;
    Tick birth = kNever;  ///< of its first message
    Tick first = kNever;  ///< first arrival
    Tick last = 0;        ///< last arrival
    u64 sum = 0;          ///< of the arrivals
    u32 arrived = 0;      ///< 0: a free place
    u32 copies = 0;
    u32 traffic = 0;
  };

  MulticastLedger() : entries_(kSmallest) {}

  /// A message of a group of `copies` arrived; true when it was the last, `out` is the whole group then.
  bool add(u32 traffic, u64 group, u32 copies, Tick birth, Tick now, Entry& out) {
    Entry one{mix64(group) + traffic, birth, now, now, now, 1, copies, traffic};
    Hasher h;
    for (const u64 v : {one.key, birth, now}) h.add(v);
    seen_ += h.value();
    return join(one, out);
  }
  /// The same for several arrivals of a group, that another ledger has seen.
  bool join(const Entry& some, Entry& out) {
    if (used_ * 2 >= entries_.size()) grow();
    const std::size_t i = find(some.key);
    Entry& entry = entries_[i];
    if (entry.arrived == 0) {
      if (some.arrived == some.copies) {
        out = some;
        return true;
      }
      entry = some;
      ++used_;
      return false;
    }
    entry.birth = std::min(entry.birth, some.birth);
    entry.first = std::min(entry.first, some.first);
    entry.last = std::max(entry.last, some.last);
    entry.sum += some.sum;
    entry.arrived += some.arrived;
    if (entry.arrived != entry.copies) return false;
    out = entry;
    remove(i);
    return true;
  }
  template <class F>
  void for_each(F&& f) const {
    for (const Entry& e : entries_) {
      if (e.arrived != 0) f(e);
    }
  }
  void clear() {
    entries_.assign(entries_.size(), Entry{});
    used_ = 0;
    seen_ = 0;
  }
  /// Of all that arrived: a sum, that does not depend on where it did.
  [[nodiscard]] u64 digest() const noexcept { return seen_; }

  void archive(Archive& a) { a(entries_, used_, seen_); }

 private:
  static constexpr std::size_t kSmallest = 1024;

  [[nodiscard]] std::size_t home(u64 key) const noexcept { return mix64(key) & (entries_.size() - 1); }
  [[nodiscard]] std::size_t after(std::size_t i) const noexcept { return (i + 1) & (entries_.size() - 1); }
  [[nodiscard]] std::size_t find(u64 key) const noexcept {
    std::size_t i = home(key);
    while (entries_[i].arrived != 0 && entries_[i].key != key) i = after(i);
    return i;
  }
  void remove(std::size_t hole) noexcept {
    for (std::size_t i = after(hole); entries_[i].arrived != 0; i = after(i)) {
      const std::size_t from = home(entries_[i].key);
      if (((i - from) & (entries_.size() - 1)) < ((i - hole) & (entries_.size() - 1))) continue;
      entries_[hole] = entries_[i];
      hole = i;
    }
    entries_[hole] = {};
    --used_;
  }
  void grow() {
    std::vector<Entry> old(entries_.size() * 2);
    old.swap(entries_);
    for (const Entry& e : old) {
      if (e.arrived != 0) entries_[find(e.key)] = e;
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
  u64 seen_ = 0;
};

}  // namespace banyan::engine
