// What the endpoints of one shard are built from, and what their traffics ask of them: read by the source, the sink and
// the recorder alike, and constant while a network lives.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "banyan/core/routing.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/steady_record.hpp"

namespace banyan::engine {

class Flows;
class Probe;

struct EndpointSetup {
  std::vector<u32> terminals;                ///< global numbers, ascending
  std::span<core::Traffic* const> traffics;  ///< in order of priority within one tick
  const core::Routing* routing = nullptr;
  std::vector<core::HotSpot> hot_spots;
  u32 total_terminals = 0;
  u32 shard = 0;
  u32 packet_slots = 1;        ///< of the packet pool
  SteadyPlan steady;           ///< windows of a steady run
  bool check_order = false;    ///< count packets of a pair that arrive out of order
  u32 generation_series = 0;   ///< length of the series of births after window.from; 0: none
  Probe* probe = nullptr;      ///< told of packets that leave their source and that arrive
  u32 longest_packet = kNone;  ///< that the switch model cuts messages into, whatever the traffic says
  u32 queues = 1;              ///< source queues per terminal; a message joins one of them at random
  u64 seed = 0;
  std::shared_ptr<Flows> flows;   ///< where an admission holds packets back; nullptr: every gate is open
  bool tells_in_packets = false;  ///< the last traffic is the packets that ends of flows tell each other something in
};

/// What has to be done at departures and arrivals of a traffic.
/// kWatched: it disturbs the network, or another does beside it, and series are recorded (FireRecord).
enum Special : u8 { kCut = 1, kAnswers = 2, kMulticasts = 4, kSifts = 8, kAdmitted = 16, kControl = 32, kWatched = 64 };

struct EndpointPlan : EndpointSetup {
  explicit EndpointPlan(EndpointSetup setup);

  /// Source queues of the shard: a "local terminal" is one of them. The queues of a terminal are neighbours.
  [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(terminals.size()); }
  [[nodiscard]] static u32 service_class(u32 traffic, u8 flags) noexcept {
    return traffic * 2 + ((flags & core::kReply) != 0 ? 1U : 0U);
  }
  [[nodiscard]] bool is_hot(u32 terminal) const noexcept { return (hot[terminal >> 6U] >> (terminal & 63U) & 1U) != 0; }

  u32 traffic_count = 0;
  u32 counted = 0;             ///< traffics of the experiment: those that are load and have latencies
  u32 control = kNone;         ///< the one that is not; kNone: there is none
  std::vector<u32> longest;    ///< [traffic]: packet, flits
  std::vector<u8> special;     ///< [traffic]: bits of Special
  std::vector<u8> is_finite;   ///< [traffic]
  std::vector<u8> priorities;  ///< [service class]
  bool prioritized = false;    ///< they differ
  bool any_answers = false;
  std::vector<core::HotSpot> flagged;  ///< hot spots that Packet::pending speaks of; none where nobody reads it
  std::vector<u64> hot;                ///< bit per global terminal: is a hot spot
  std::vector<u32> local_of;           ///< [global terminal]: its first queue, where a traffic answers
};

}  // namespace banyan::engine
