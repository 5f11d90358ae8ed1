// The random choices of packets on their way.
#pragma once

#include "banyan/base/rng.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::core {

/// Words of choices that are made for a packet at a switch, addressed by source, sequence, traffic, switch and hop
/// under a key of seed and replication. No two of them share words, and neither does the same packet when it comes to
/// a switch for the second time.
class HopRandom {
 public:
  HopRandom() = default;
  HopRandom(u64 seed, Stream stream, u32 replication) noexcept : random_(seed, stream, 0, replication) {}

  /// `hop`: switches that the packet has passed, or attempts that it has made, 24 bits of them.
  [[nodiscard]] Words at(const Packet& packet, u32 switch_, u32 hop) const noexcept {
    return random_.at(entity(packet), event(packet, switch_, hop));
  }

 private:
  friend class HopWord;

  [[nodiscard]] static u64 entity(const Packet& packet) noexcept { return u64{packet.source} << 32U | packet.sequence; }
  [[nodiscard]] static u64 event(const Packet& packet, u32 switch_, u32 hop) noexcept {
    return u64{packet.traffic} << 56U | u64{hop & 0xffffffU} << 32U | switch_;
  }

  Random random_;
};

/// The random word of a routing's choice for one packet at one hop: drawn when the routing asks for it, and the same
/// however often it asks. Must not outlive its HopRandom.
class HopWord {
 public:
  constexpr HopWord() noexcept = default;
  /// A fixed word, for analyses and tests.
  constexpr HopWord(u32 word) noexcept : entity_(word) {}  // NOLINT(google-explicit-constructor): stands for its word
  HopWord(const HopRandom& random, const Packet& packet, u32 switch_, u32 hop) noexcept
      : random_(&random), entity_(HopRandom::entity(packet)), event_(HopRandom::event(packet, switch_, hop)) {}

  [[nodiscard]] u32 operator()() const noexcept { return random_ == nullptr ? static_cast<u32>(entity_) : block()[0]; }
  /// All that is drawn at its address; of a fixed word nothing else.
  [[nodiscard]] Words block() const noexcept {
    return random_ == nullptr ? Words{static_cast<u32>(entity_)} : random_->random_.at(entity_, event_);
  }

 private:
  const HopRandom* random_ = nullptr;
  u64 entity_ = 0;  ///< the word itself where it is fixed
  u64 event_ = 0;
};

}  // namespace banyan::core
