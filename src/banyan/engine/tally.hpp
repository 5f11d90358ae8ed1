// Integer counters of a run. One set per shard, merged in a fixed order; no floating point before the report.
#pragma once

#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Sums over the counted packets of one class. Times in ticks.
struct Tally {
  u64 packets = 0;
  u64 flits = 0;
  u64 latency = 0;        ///< arrival of the tail - generation
  u64 queueing = 0;       ///< entry into the network - generation
  u64 serialization = 0;  ///< arrival of the tail - arrival of the head
  u64 hops = 0;           ///< switches passed
  // Of traffics whose messages are cut into packets:
  u64 messages = 0;       ///< of which all packets arrived
  u64 message_first = 0;  ///< arrival of the first packet - generation
  u64 message_last = 0;   ///< arrival of the last packet - generation
  // Of traffics that multicast:
  u64 multicasts = 0;       ///< that arrived everywhere
  u64 multicast_first = 0;  ///< first arrival - generation
  u64 multicast_last = 0;   ///< last arrival - generation
  u64 multicast_mean = 0;   ///< mean over the destinations of arrival - generation, in ticks / kMeanUnit
  u64 unicasts = 0;         ///< messages with one destination
  u64 unicast_latency = 0;

  static constexpr u64 kMeanUnit = 1024;

  Tally& operator+=(const Tally& other) noexcept {
    packets += other.packets;
    flits += other.flits;
    latency += other.latency;
    queueing += other.queueing;
    serialization += other.serialization;
    hops += other.hops;
    messages += other.messages;
    message_first += other.message_first;
    message_last += other.message_last;
    multicasts += other.multicasts;
    multicast_first += other.multicast_first;
    multicast_last += other.multicast_last;
    multicast_mean += other.multicast_mean;
    unicasts += other.unicasts;
    unicast_latency += other.unicast_latency;
    return *this;
  }
  void hash(Hasher& h) const noexcept {
    for (const u64 v : {packets, flits, latency, queueing, serialization, hops}) h.add(v);
    if (messages == 0) return;
    for (const u64 v : {messages, message_first, message_last}) h.add(v);
    // Multicasts of which parts arrive in several shards are summed up at the end (MulticastLedger has their digest).
  }
};

/// Classes of packets that are told apart: per traffic, and within it by "goes to a hot spot".
[[nodiscard]] constexpr u32 tally_class(u32 traffic, bool hot) noexcept { return traffic * 2 + (hot ? 1U : 0U); }

}  // namespace banyan::engine
