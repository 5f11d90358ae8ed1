// Packet records of one shard, in chunks whose addresses never change: foreign shards may read them. They are read in
// any order, so that those of a large network lie on huge pages.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/engine/destination_sets.hpp"

namespace banyan::engine {

/// What a contribution to a reduction in the network brings, or its result.
struct Contribution {
  u64 value = 0;
  u64 weight = 0;  ///< terminals that it is of
};

/// A handle is a slot and a place in it. A pool has several slots where there are few shards, and so more packets.
class PacketPool {
 public:
  static constexpr u32 kChunkBits = 12;
  static constexpr u32 kIndexBits = 24;              ///< of a place
  static constexpr u32 kPerSlot = 1U << kIndexBits;  ///< packets
  static constexpr u32 kSlots = 256;                 ///< of all shards
  static constexpr u32 kMostSlots = 16;              ///< of one: 17 GB of records
  /// Of a handle in a network that is one shard: the number of its record.
  static constexpr u32 kIndexOfOne = kMostSlots * kPerSlot - 1;

  /// `shards`: whose slots it has, from `shard` on.
  explicit PacketPool(u32 shard = 0, u32 slots = 1, u32 shards = 1)
      : shard_(shard),
        base_(shard * slots << kIndexBits),
        most_(slots * shards << kIndexBits),
        chunks_(std::make_unique<core::Packet*[]>(most_ >> kChunkBits)) {}

  [[nodiscard]] u32 shard() const noexcept { return shard_; }
  /// Packets that fit.
  [[nodiscard]] u32 most() const noexcept { return most_; }

  /// Makes room for `packets` records, so that a run allocates nothing.
  void reserve(u32 packets) {
    while (created_ < packets) grow();
  }

  /// Keeps a value of 16 bits beside each record, from now on (before any packet is made).
  void keep_values() {
    keeps_values_ = true;
    values_ = std::make_unique<Values[]>(most_ >> kChunkBits);
  }
  [[nodiscard]] bool keeps_values() const noexcept { return keeps_values_; }
  /// Requires keeps_values(), as the two below. Whoever holds the head of the packet may read and write it, in whatever
  /// shard: a head is in one place at a time, and between shards the end of a window orders the two.
  [[nodiscard]] u16 value(core::PacketId id) const noexcept { return value_of(id); }
  void raise_value(core::PacketId id, u16 value) noexcept { value_of(id) = std::max(value_of(id), value); }
  void clear_value(core::PacketId id) noexcept { value_of(id) = 0; }

  /// Keeps the destinations of multidestination packets beside the records, from now on (before any packet is made).
  void keep_sets(u32 terminals) { sets_.keep(terminals, most_, kChunkBits); }
  [[nodiscard]] bool keeps_sets() const noexcept { return sets_.kept(); }
  // Requires keeps_sets().
  [[nodiscard]] u32 words_of_header() const noexcept { return sets_.words(); }
  /// A bit per terminal that the packet is for. Any shard may ask.
  [[nodiscard]] const u64* header(core::PacketId id) const noexcept { return sets_.header(index_of(id)); }
  /// `fill(std::span<u64>)` sets the bits of a new packet.
  template <class Fill>
  void open_header(core::PacketId id, Fill&& fill) {
    sets_.open(index_of(id), fill);
  }
  void copy_header(core::PacketId id, const u64* header) { sets_.copy(index_of(id), header); }
  /// A copy is at its terminal. False where none was due there.
  bool strike(core::PacketId id, u32 terminal) noexcept { return sets_.remove(index_of(id), terminal); }
  /// Copies that are not at their terminals, as far as the pool was told.
  [[nodiscard]] u32 owed(core::PacketId id) const noexcept { return sets_.owed(index_of(id)); }
  /// The same of all packets.
  [[nodiscard]] u64 owed_by_all() const noexcept { return sets_.owed_by_all(); }

  /// Keeps a contribution beside each record, from now on (before any packet is made).
  void keep_contributions() {
    keeps_contributions_ = true;
    contributions_ = std::make_unique<Contributions[]>(most_ >> kChunkBits);
  }
  [[nodiscard]] bool keeps_contributions() const noexcept { return keeps_contributions_; }
  /// Requires keeps_contributions(). Whoever has the tail of the packet may read and write it, in whatever shard.
  [[nodiscard]] Contribution& contribution(core::PacketId id) const noexcept {
    const u32 index = index_of(id);
    return contributions_[index >> kChunkBits][index & ((1U << kChunkBits) - 1)];
  }

  [[nodiscard]] core::PacketId allocate() {
    if (free_count_ == 0) grow();
    return base_ + free_[--free_count_];
  }
  void release(core::PacketId id) { free_[free_count_++] = index_of(id); }
  [[nodiscard]] core::Packet& operator[](core::PacketId id) noexcept {
    const u32 index = index_of(id);
    return chunks_[index >> kChunkBits][index & ((1U << kChunkBits) - 1)];
  }
  [[nodiscard]] const core::Packet& operator[](core::PacketId id) const noexcept {
    const u32 index = index_of(id);
    return chunks_[index >> kChunkBits][index & ((1U << kChunkBits) - 1)];
  }
  [[nodiscard]] u64 live() const noexcept { return created_ - free_count_; }
  [[nodiscard]] u32 created() const noexcept { return created_; }

  /// Throws ConfigError where so many more packets would not fit. What makes packets may not throw, and a program ends
  /// where it does: whoever runs it asks here in between.
  void require_room(u64 more) const {
    if (most_ - live() < more) refuse();
  }

  /// The number of a record in this pool, and back.
  [[nodiscard]] u32 place(core::PacketId id) const noexcept { return id - base_; }
  [[nodiscard]] core::PacketId at(u32 place) const noexcept { return base_ + place; }
  /// Writes the copy of a record that came from another rank, with its value.
  void copy(core::PacketId id, const core::Packet& packet, u16 value) {
    (*this)[id] = packet;
    if (keeps_values_) value_of(id) = value;
  }

  /// Forgets every packet, keeps the memory.
  void clear() {
    sets_.clear();
    free_count_ = 0;
    for (u32 index = created_; index > 0; --index) free_[free_count_++] = index - 1;
  }

  void archive(Archive& a) {
    u32 created = created_;
    a(created);
    while (created_ < created) grow();
    a(free_count_);
    a.row(free_.data(), free_count_);
    a(sets_);
    for (u32 chunk = 0; chunk < created_ >> kChunkBits; ++chunk) archive_chunk(a, chunk);
  }

 private:
  static constexpr u32 kSmall = 8;   ///< chunks that have memory of their own: 2 MB, a huge page
  static constexpr u32 kBlock = 64;  ///< chunks of the others that share theirs: what is not used of it takes no memory
  using Values = std::unique_ptr<u16[]>;
  using Contributions = std::unique_ptr<Contribution[]>;

  [[noreturn]] void refuse() const {
    throw ConfigError(
        {}, "more than " + std::to_string(most_) + " packets of one shard are in the network and its queues",
        "lower the load, simulate fewer cycles, or use more shards (run.shards) where the switch model has them");
  }
  /// Requires that the packet is of this pool's shard: builds for the debugger stop where it is not, since those who
  /// ask throw nothing, and others would take the record of another packet.
  [[nodiscard]] u32 index_of(core::PacketId id) const {
#ifdef BANYAN_CHECKED
    if (id - base_ >= most_) throw InvariantError("a packet was looked up in the pool of another shard");
#endif
    return id - base_;
  }
  [[nodiscard]] u16& value_of(core::PacketId id) const noexcept {
    const u32 index = index_of(id);
    return values_[index >> kChunkBits][index & ((1U << kChunkBits) - 1)];
  }
  void archive_chunk(Archive& a, u32 chunk) {
    a.row(chunks_[chunk], 1U << kChunkBits);
    if (keeps_values_) a.row(values_[chunk].get(), 1U << kChunkBits);
    if (keeps_contributions_) a.row(contributions_[chunk].get(), 1U << kChunkBits);
    sets_.archive(a, chunk);
  }
  void make(u32 chunk) {
    if (keeps_values_) values_[chunk] = std::make_unique<u16[]>(1U << kChunkBits);
    if (keeps_contributions_) contributions_[chunk] = std::make_unique<Contribution[]>(1U << kChunkBits);
    sets_.grow();
    const u32 place = chunk < kSmall ? 0 : (chunk - kSmall) % kBlock;
    if (place == 0) blocks_.emplace_back(std::size_t{chunk < kSmall ? 1 : kBlock} << kChunkBits);
    chunks_[chunk] = blocks_.back().data() + (std::size_t{place} << kChunkBits);
    std::fill_n(chunks_[chunk], 1U << kChunkBits, core::Packet{});
  }
  void grow() {
    const u32 chunk = created_ >> kChunkBits;
    if (chunk == most_ >> kChunkBits) refuse();
    make(chunk);
    const u32 first = created_;
    created_ += 1U << kChunkBits;
    free_.resize(created_);
    for (u32 index = created_; index > first; --index) free_[free_count_++] = index - 1;
  }

  u32 shard_;
  u32 base_;  ///< handle of the first record
  u32 most_;
  u32 created_ = 0;
  u32 free_count_ = 0;
  std::vector<u32> free_;  ///< [0, free_count_): indices of free records, the last used on top
  std::vector<PageVector<core::Packet>> blocks_;
  std::unique_ptr<core::Packet*[]> chunks_;
  bool keeps_values_ = false;
  std::unique_ptr<Values[]> values_;  ///< where they are kept
  bool keeps_contributions_ = false;
  std::unique_ptr<Contributions[]> contributions_;  ///< where they are kept
  DestinationSets sets_;
};

}  // namespace banyan::engine
