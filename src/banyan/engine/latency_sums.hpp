// The one record of what is summed up over packets, messages and multicasts, under whatever key it is kept: by class of
// packets, by window of generation, by traffic. Integers only; no floating point before the report.
#pragma once

#include <array>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Times in ticks.
struct LatencySums {
  u64 packets = 0;
  u64 flits = 0;
  u64 latency = 0;        ///< arrival of the tail - generation
  u64 queueing = 0;       ///< entry into the network - generation
  u64 serialization = 0;  ///< arrival of the tail - arrival of the head
  u64 hops = 0;           ///< switches passed
  // For traffics whose messages are cut into packets:
  u64 messages = 0;       ///< of which all packets arrived
  u64 message_first = 0;  ///< arrival of the first packet - generation
  u64 message_last = 0;   ///< arrival of the last packet - generation
  // The next ones are for traffics that multicast:
  u64 multicasts = 0;       ///< that arrived everywhere
  u64 multicast_first = 0;  ///< first arrival - generation
  u64 multicast_last = 0;   ///< last arrival - generation
  u64 multicast_mean = 0;   ///< mean over the destinations of arrival - generation, in ticks / kMeanUnit
  u64 unicasts = 0;         ///< messages with one destination
  u64 unicast_latency = 0;

  static constexpr u64 kMeanUnit = 1024;

  /// What a field is of. Fields of messages and multicasts enter a digest only where there are any.
  enum Group : u8 { kPackets = 1, kFlits = 2, kMessages = 4, kMulticasts = 8 };

  LatencySums& operator+=(const LatencySums& other) noexcept;
  /// Adds the fields of the groups in `of` (bits of Group) to a digest.
  void hash(Hasher& h, u32 of) const noexcept;
};

/// Every field once: what adds, digests or compares records walks through this table.
struct LatencyField {
  u64 LatencySums::*sum;
  LatencySums::Group group;
};
inline constexpr std::array kLatencyFields{
    LatencyField{&LatencySums::packets, LatencySums::kPackets},
    LatencyField{&LatencySums::flits, LatencySums::kFlits},
    LatencyField{&LatencySums::latency, LatencySums::kPackets},
    LatencyField{&LatencySums::queueing, LatencySums::kPackets},
    LatencyField{&LatencySums::serialization, LatencySums::kPackets},
    LatencyField{&LatencySums::hops, LatencySums::kPackets},
    LatencyField{&LatencySums::messages, LatencySums::kMessages},
    LatencyField{&LatencySums::message_first, LatencySums::kMessages},
    LatencyField{&LatencySums::message_last, LatencySums::kMessages},
    LatencyField{&LatencySums::multicasts, LatencySums::kMulticasts},
    LatencyField{&LatencySums::multicast_first, LatencySums::kMulticasts},
    LatencyField{&LatencySums::multicast_last, LatencySums::kMulticasts},
    LatencyField{&LatencySums::multicast_mean, LatencySums::kMulticasts},
    LatencyField{&LatencySums::unicasts, LatencySums::kMulticasts},
    LatencyField{&LatencySums::unicast_latency, LatencySums::kMulticasts},
};
static_assert(sizeof(LatencySums) == kLatencyFields.size() * sizeof(u64), "every field of the record is in the table");

inline LatencySums& LatencySums::operator+=(const LatencySums& other) noexcept {
  for (const LatencyField& field : kLatencyFields) this->*field.sum += other.*field.sum;
  return *this;
}

inline void LatencySums::hash(Hasher& h, u32 of) const noexcept {
  if (messages == 0) of &= ~u32{kMessages};
  if (multicasts + unicasts == 0) of &= ~u32{kMulticasts};
  for (const LatencyField& field : kLatencyFields) {
    if ((of & field.group) != 0) h.add(this->*field.sum);
  }
}

/// Classes of packets that are told apart: per traffic, and within it by "goes to a hot spot".
[[nodiscard]] constexpr u32 tally_class(u32 traffic, bool hot) noexcept { return traffic * 2 + (hot ? 1U : 0U); }

}  // namespace banyan::engine
