// Marks that the switches of a shard made, until a sample of congestion trees judges them (tree_recorder.hpp).
#pragma once

#include <array>
#include <span>
#include <unordered_map>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::engine {

/// Packets that are routed alike and were marked before the same channel are one entry.
class MarkLog {
 public:
  struct Entry {
    core::Packet packet;  ///< one of them
    u32 channel = 0;      ///< that the packets left the switch for
    u32 vc = 0;
    u64 marks = 0;
  };

  void add(const core::Packet& packet, u32 channel, u32 vc) {
    const Key key{u64{packet.source} << 32U | packet.destination, packet.tag, packet.state,
                  u64{packet.traffic} | u64{packet.flags} << 8U | u64{packet.pending} << 16U |
                      u64{packet.vc_class} << 24U | u64{vc} << 32U,
                  channel};
    const auto [place, is_new] = known_.try_emplace(key, entries_.size());
    if (is_new) entries_.push_back({packet, channel, vc, 0});
    ++entries_[place->second].marks;
  }
  [[nodiscard]] std::span<const Entry> entries() const noexcept { return entries_; }
  void clear() noexcept {
    known_.clear();
    entries_.clear();
  }
  void archive(Archive& a) { a(known_, entries_); }

 private:
  using Key = std::array<u64, 5>;
  struct HashOf {
    std::size_t operator()(const Key& key) const noexcept {
      u64 hash = 0;
      for (const u64 word : key) hash = mix64(hash ^ word) + word;
      return hash;
    }
  };

  std::unordered_map<Key, std::size_t, HashOf> known_;
  std::vector<Entry> entries_;
};

}  // namespace banyan::engine
