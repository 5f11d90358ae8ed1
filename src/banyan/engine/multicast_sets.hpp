// Destinations of the multidestination packets of one shard, by the index of the packet's record; and multicasts of
// which some messages have arrived and others have not.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/flat_map.hpp"
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
    return static_cast<std::size_t>(id & PacketPool::kIndexOfOne) * words_;
  }
  [[nodiscard]] std::span<u64> row(core::PacketId id) { return {rows_.data() + place(id), words_}; }
  void grow(u32 packets) {
    if (rows_.size() < std::size_t{packets} * words_) rows_.resize(std::size_t{packets} * words_);
  }

  u32 words_ = 0;
  std::vector<u64> rows_;
};

/// Multicasts under way, whether one packet that switches replicate or many that the terminals forward.
class MulticastLedger {
 public:
  struct Entry {
    u64 group = 0;
    Tick birth = kNever;  ///< of its first message
    Tick first = kNever;  ///< first arrival
    Tick last = 0;        ///< last arrival
    u64 sum = 0;          ///< of the arrivals
    u32 arrived = 0;
    u32 copies = 0;
    u32 traffic = 0;
  };

  /// A message of a group of `copies` arrived; true when it was the last, `out` is the whole group then.
  bool add(u32 traffic, u64 group, u32 copies, Tick birth, Tick now, Entry& out) {
    Hasher h;
    for (const u64 v : {mix64(group) + traffic, birth, now}) h.add(v);
    seen_ += h.value();
    return join({group, birth, now, now, now, 1, copies, traffic}, out);
  }
  /// The same for several arrivals of a group, that another ledger has seen.
  bool join(const Entry& some, Entry& out) {
    const Key key{some.group, some.traffic};
    Entry& entry = entries_[key];
    if (entry.arrived == 0) {
      entry = some;
    } else {
      entry.birth = std::min(entry.birth, some.birth);
      entry.first = std::min(entry.first, some.first);
      entry.last = std::max(entry.last, some.last);
      entry.sum += some.sum;
      entry.arrived += some.arrived;
    }
    if (entry.arrived != entry.copies) return false;
    out = entry;
    entries_.erase(key);
    return true;
  }
  template <class F>
  void for_each(F&& f) const {
    entries_.for_each([&](const Key&, const Entry& entry) { f(entry); });
  }
  void clear() {
    entries_.clear();
    seen_ = 0;
  }
  /// A sum over all that arrived: it does not depend on where.
  [[nodiscard]] u64 digest() const noexcept { return seen_; }

  void archive(Archive& a) { a(entries_, seen_); }

 private:
  struct Key {
    u64 group = ~u64{0};
    u64 traffic = ~u64{0};

    friend bool operator==(const Key&, const Key&) = default;
    [[nodiscard]] u64 hash() const noexcept { return mix64(mix64(group) + traffic); }
  };

  FlatMap<Entry, Key> entries_{1024};
  u64 seen_ = 0;
};

}  // namespace banyan::engine
