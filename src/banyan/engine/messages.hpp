// Messages of several packets of which some have arrived at a terminal of a shard, and others have not.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::engine {

/// A hash table with linear probing that doubles when it is half full and never shrinks.
class PartialMessages {
 public:
  PartialMessages() : entries_(kSmallest) {}

  /// Adds a packet that arrived at `now`; `first`: when the first packet of its message did. True when it completes
  /// the message, whatever the order in which its packets came.
  bool add(const core::Packet& packet, Tick now, Tick& first) {
    if (used_ * 2 >= entries_.size()) grow();
    Entry& entry = entries_[find({packet.source, packet.destination, packet.message, packet.traffic, 0, 0})];
    if (entry.flits == 0) {
      entry = {packet.source, packet.destination, packet.message, packet.traffic, 0, now};
      ++used_;
    }
    entry.flits += packet.flits;
    first = entry.first;
    if (entry.flits != packet.message_flits) return false;
    remove(static_cast<std::size_t>(&entry - entries_.data()));
    return true;
  }

  void clear() {
    entries_.assign(entries_.size(), Entry{});
    used_ = 0;
  }

  [[nodiscard]] u64 digest() const noexcept {
    if (used_ == 0) return 0;
    u64 sum = 0;
    for (const Entry& e : entries_) {
      if (e.flits == 0) continue;
      Hasher h;
      for (const u64 v : {u64{e.source}, u64{e.destination}, u64{e.message}, u64{e.traffic}, u64{e.flits}, e.first})
        h.add(v);
      sum += h.value();
    }
    return sum;
  }

  void archive(Archive& a) { a(entries_, used_); }

 private:
  static constexpr std::size_t kSmallest = 256;

  struct Entry {
    u32 source = 0;
    u32 destination = 0;
    u32 message = 0;
    u32 traffic = 0;
    u32 flits = 0;  ///< arrived; 0: a free place
    Tick first = 0;
  };

  [[nodiscard]] std::size_t home(const Entry& e) const noexcept {
    const u64 ends = mix64(static_cast<u64>(e.source) << 32U | e.destination);
    return mix64(ends + (static_cast<u64>(e.traffic) << 32U | e.message)) & (entries_.size() - 1);
  }
  [[nodiscard]] std::size_t after(std::size_t i) const noexcept { return (i + 1) & (entries_.size() - 1); }

  /// The place of a message, or the free one where it belongs.
  [[nodiscard]] std::size_t find(const Entry& key) const noexcept {
    const auto is_other = [&](const Entry& e) {
      return e.flits != 0 && (e.source != key.source || e.destination != key.destination || e.message != key.message ||
                              e.traffic != key.traffic);
    };
    std::size_t i = home(key);
    while (is_other(entries_[i])) i = after(i);
    return i;
  }

  /// Moves later entries of the run back where the hole would hide them.
  void remove(std::size_t hole) noexcept {
    for (std::size_t i = after(hole); entries_[i].flits != 0; i = after(i)) {
      const std::size_t from = home(entries_[i]);
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
      if (e.flits != 0) entries_[find(e)] = e;
    }
  }

  std::vector<Entry> entries_;
  std::size_t used_ = 0;
};

}  // namespace banyan::engine
