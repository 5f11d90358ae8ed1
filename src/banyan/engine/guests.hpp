// Copies of the records of packets that another rank sends, while they are here (docs/decisions/0009).
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/packet_pool.hpp"

namespace banyan::engine {

/// The packets of one other rank. Each has a handle of this rank in place of its owner's, so that a rank has room for
/// what is here, and not for all that the other one has under way. One thread translates, between two windows.
class Guests {
 public:
  /// `first`, `shards`: those of the other rank; `slots`: of the pool of each.
  Guests(u32 first, u32 shards, u32 slots) : pool_(first, slots, shards), table_(kSmallest, 0) {}

  [[nodiscard]] PacketPool& pool() noexcept { return pool_; }

  /// A head has come, with the record: the handle of this rank. One that is here already, with flits that have not
  /// left, or because nobody said so, gets the new record.
  [[nodiscard]] core::PacketId enter(core::PacketId theirs, const core::Packet& record, u16 value);
  /// The handle of one that is here.
  [[nodiscard]] core::PacketId ours(core::PacketId theirs) const;
  [[nodiscard]] core::PacketId theirs(core::PacketId ours) const noexcept { return of_[pool_.place(ours)].theirs; }
  /// A tail has gone on to another rank. Where as many have as heads came, the packet is forgotten.
  void leave(core::PacketId ours);
  /// The packet is gone.
  void forget(core::PacketId ours);
  void clear();

  void archive(Archive& a);

 private:
  struct Origin {
    core::PacketId theirs = 0;
    u32 heads = 0;  ///< that came, less tails that left

    void archive(Archive& a) { a(theirs, heads); }
  };
  static constexpr std::size_t kSmallest = 64;  ///< places of the table, a power of two

  [[nodiscard]] std::size_t home(core::PacketId theirs) const noexcept;
  /// Its place in the table, or the empty one where it belongs.
  [[nodiscard]] std::size_t find(core::PacketId theirs) const noexcept;
  void put(u32 entry);
  void grow();

  PacketPool pool_;
  std::vector<Origin> of_;  ///< [place in the pool]
  std::vector<u32> table_;  ///< open addressing: place in the pool + 1; 0: empty
  std::size_t count_ = 0;
};

}  // namespace banyan::engine
