// What a run writes down beside its counters when it is asked to: flits per channel, packets per flow, and every event
// of watched packets and ports. Absent by default: one pointer that is tested per event. A probe watches; nothing that
// it does may change a result.
#pragma once

#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/engine/mark_log.hpp"

namespace banyan::engine {

/// The nth packet that a terminal sent (of whichever traffic), or the last one of a message.
struct WatchedPacket {
  u32 source = 0;
  u32 sequence = 0;
  u32 tag = kNone;  ///< of a message of the first traffic, in place of `sequence`
  bool operator==(const WatchedPacket&) const = default;
};

/// A port of a switch, in both directions; or a terminal.
struct WatchedPort {
  bool terminal = false;
  u32 node = 0;
  u32 port = 0;
  bool operator==(const WatchedPort&) const = default;
};

struct ProbePlan {
  bool channels = false;      ///< flits per channel
  bool flows = false;         ///< packets, flits and latency per (source, destination)
  bool messages = false;      ///< every message that leaves its source queue
  bool marks = false;         ///< packets that switches mark, and where, for who samples congestion trees
  bool every_packet = false;  ///< its beginning, its channels and its arrivals, for engine/packet_log.hpp
  u32 control = kNone;        ///< the traffic that is no part of load: of no flow, and its marks do not count
  Tick cycle = 1;             ///< ticks of a cycle
  Tick from = 0;              ///< counting starts here, or with the measured window when that starts later
  std::vector<WatchedPacket> packets;
  std::vector<WatchedPort> ports;
  std::size_t most_events = 1'000'000;  ///< ticks in which more come together are counted from there on, not kept

  [[nodiscard]] bool watches() const { return !packets.empty() || !ports.empty(); }
  [[nodiscard]] bool any() const { return channels || flows || messages || marks || every_packet || watches(); }
};

/// The kinds stand in the order in which they happen to a packet within one tick.
enum class EventKind : u8 { arrived, credited, taken, sent, delivered };

struct Event {
  Tick at = 0;
  EventKind kind = EventKind::arrived;
  bool terminal = false;  ///< `node` is a terminal, not a switch
  u32 node = 0;
  u32 port = 0;
  u32 vc = 0;
  // These tell of the packet; of a credit `flit` tells how many places it gives back.
  u32 source = 0;
  u32 sequence = 0;
  u32 traffic = 0;
  u32 message = 0;  ///< Packet::message
  u32 destination = 0;
  Tick birth = 0;
  u32 flit = 0;
  u32 flits = 0;

  /// Events are ordered by time, and in a fixed way within a tick.
  friend bool operator<(const Event& a, const Event& b) {
    const auto key = [](const Event& e) {
      return std::tie(e.at, e.kind, e.terminal, e.node, e.port, e.vc, e.source, e.sequence, e.traffic, e.message,
                      e.destination, e.birth, e.flit, e.flits);
    };
    return key(a) < key(b);
  }
};

struct Flow {
  u32 source = 0;
  u32 destination = 0;
  u64 packets = 0;
  u64 flits = 0;
  u64 latency = 0;  ///< sum, ticks
  u64 longest = 0;  ///< ticks
  // Parts of the latency, sums in ticks.
  u64 queueing = 0;       ///< at the source
  u64 serialization = 0;  ///< from the arrival of the head to that of the tail
  u64 wire = 0;           ///< on channels: of every measured packet, also of those that are still on their way
  u64 marked = 0;         ///< packets that arrived with a mark

  bool operator==(const Flow&) const = default;
  /// Adds what another probe saw of the same pair.
  void merge(const Flow& other);
};

/// A message whose first packet left its source queue.
struct SentMessage {
  Tick birth = 0;
  u32 source = 0;
  u32 traffic = 0;
  u32 sequence = 0;  ///< of its first packet, among those of the source and the traffic
  u32 destination = 0;
  u32 flits = 0;

  friend bool operator<(const SentMessage& a, const SentMessage& b) {
    const auto key = [](const SentMessage& m) { return std::tie(m.birth, m.source, m.traffic, m.sequence); };
    return key(a) < key(b);
  }
};

/// Names one packet of a replication.
struct PacketName {
  u32 source = 0;
  u32 sequence = 0;  ///< among those of the source and the traffic
  u32 traffic = 0;

  bool operator==(const PacketName&) const = default;
  friend bool operator<(const PacketName& a, const PacketName& b) {
    return std::tie(a.source, a.traffic, a.sequence) < std::tie(b.source, b.traffic, b.sequence);
  }
};

/// What one shard saw of the packets since it was last asked.
struct PacketSteps {
  struct Start {
    PacketName packet;
    u32 destination = 0;
    u32 flits = 0;
    u32 copies = 0;  ///< so many of `terminals` are its own; 0: it has one destination
    Tick birth = 0;
    Tick enter = 0;
  };
  /// The head begins to cross a channel of the graph.
  struct Hop {
    PacketName packet;
    u32 channel = 0;
    Tick at = 0;
  };
  struct End {
    PacketName packet;
    u32 terminal = 0;
    Tick enter = 0;
    Tick at = 0;
    bool answer = false;  ///< it is back at its source; where it met another one on its way, it was at no terminal
  };
  std::vector<Start> starts;
  std::vector<u32> terminals;  ///< of packets for several, in the order of `starts`
  std::vector<Hop> hops;
  std::vector<End> ends;

  void archive(Archive& a) { a(starts, terminals, hops, ends); }
  /// Adds what other shards saw.
  void join(const PacketSteps& other);
};

/// What all shards saw; in an order that does not depend on shards and threads.
struct ProbeReport {
  std::vector<u64> channel_flits;     ///< [channel of the graph]; empty when not asked for
  std::vector<u64> channel_overhead;  ///< likewise: time that packets took it beyond that of their flits, in
                                      ///< cycles times its bandwidth (core::Capacity::channel)
  std::vector<Flow> flows;            ///< by (source, destination)
  std::vector<Event> events;          ///< by time
  std::vector<SentMessage> messages;  ///< by birth, source, traffic
  u64 lost_events = 0;                ///< beyond ProbePlan::most_events
  Tick first_lost = kNever;           ///< of all ticks before it every event is here

  void archive(Archive& a) { a(channel_flits, channel_overhead, flows, events, messages, lost_events, first_lost); }
  /// Adds another replication's counts. Events and messages are not merged: those of the first stay.
  void merge(const ProbeReport& other);
  /// Adds what other shards saw of the same replication.
  void join(const ProbeReport& other);
  /// Loses the tick in which there are more events than `most`, and all after it: however many shards kept them.
  void keep_events(std::size_t most);
};

/// What is watched in one shard.
class Probe {
 public:
  Probe(const ProbePlan& plan, const core::Graph& graph);

  /// How a population numbers its entities: entity e is nodes[e] of the graph, its port p has number e * ports + p.
  struct Numbering {
    bool terminals = false;
    u32 ports = 1;
    std::vector<u32> nodes;
  };
  void number(u32 population, Numbering numbering);

  void reset();
  /// The measured window; counting happens where it and the plan agree.
  void set_window(Tick from, Tick to);

  void sent(u32 population, u32 out, const core::Flit& flit, const core::Packet& packet, Tick now);
  void arrived(u32 population, u32 entity, u32 port, const core::Flit& flit, const core::Packet& packet, Tick now);
  void credited(u32 population, u32 entity, u32 port, const core::Control& control, Tick now);
  /// `header`: a bit per terminal that a packet with Packet::copies is for; empty: it has one destination.
  void taken(u32 terminal, const core::Packet& packet, Tick now, std::span<const u64> header = {});
  /// `answer`: a fetch-and-add is back at its source, over the channels that it took on its way there.
  void delivered(const core::Packet& packet, Tick now, Tick serialization, bool marked = false, bool answer = false);
  /// A switch marks a packet that has no mark yet and leaves for a channel of the graph, on a virtual channel there.
  void marked(const core::Packet& packet, u32 channel, u32 vc, Tick now);
  /// What was marked since it was last cleared.
  [[nodiscard]] MarkLog& marks() noexcept { return marks_; }
  /// A whole packet crosses a channel of the graph: for models that keep no channels of their own. `overhead`: as in
  /// ProbeReport::channel_overhead.
  void crossed(u32 channel, const core::Packet& packet, Tick now, u64 overhead = 0);
  /// So many flits of a packet are handed to a channel, `first`: its first ones among them. For models whose packets
  /// cross channels in chunks. `overhead`: likewise.
  void chunk_sent(u32 channel, const core::Packet& packet, u32 flits, bool first, Tick now, u64 overhead = 0);

  /// What was seen of packets since the last time (ProbePlan::every_packet).
  [[nodiscard]] PacketSteps take_steps() { return std::exchange(steps_, {}); }

  void add_to(ProbeReport& report) const;
  [[nodiscard]] std::size_t most_events() const noexcept { return plan_.most_events; }
  void archive(Archive& a) {
    a(from_, to_, channel_flits_, channel_overhead_, flows_, events_, messages_, lost_events_, first_lost_, marks_);
  }

 private:
  /// The head of a packet that is measured was on a channel for so long.
  void on_wire(const core::Packet& packet, Tick ticks);
  void count_on(u32 channel, u32 flits, u64 overhead, Tick now);
  void note_sent(u32 channel, const core::Packet& packet, Tick now);
  void note_hop(u32 channel, const core::Packet& packet, Tick now);
  [[nodiscard]] Flow* flow_of(const core::Packet& packet);
  [[nodiscard]] bool counts(Tick now) const { return now >= from_ && now <= to_; }
  [[nodiscard]] bool watched(const core::Packet& packet) const;
  [[nodiscard]] bool watched(bool terminal, u32 node, u32 port) const;
  void note(EventKind kind, bool terminal, u32 node, u32 port, const core::Flit& flit, const core::Packet& packet,
            Tick now);
  void keep(const Event& event);

  ProbePlan plan_;
  const core::Graph& graph_;
  std::vector<Numbering> populations_;
  std::vector<std::vector<u32>> channel_of_;  ///< [population][output number]
  std::vector<bool> source_watched_;          ///< [terminal]: of some watched packet
  Tick from_ = 0;
  Tick to_ = kNever;
  std::vector<u64> channel_flits_;
  std::vector<u64> channel_overhead_;
  std::unordered_map<u64, Flow> flows_;
  std::vector<Event> events_;
  std::vector<SentMessage> messages_;
  u64 lost_events_ = 0;
  Tick first_lost_ = kNever;
  MarkLog marks_;
  PacketSteps steps_;
};

}  // namespace banyan::engine
