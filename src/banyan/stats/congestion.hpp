// Congestion trees of a run as a series of samples, and the events between them (docs/explanation/congestion-trees.md).
// Numbers only: places, channels and terminals are those of the network's graph.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::stats {

/// A buffer, port, memory or source of the network (engine/blocked.hpp: Resource), as far as something was ever in it.
struct CongestionPlace {
  u8 kind = 0;  ///< engine::ResourceKind
  u32 index = 0;
  u32 lane = 0;
  u32 capacity = 1;
  bool operator==(const CongestionPlace&) const = default;
};

struct CongestionFlow {
  u32 source = 0;
  u32 destination = 0;
  u32 packets = 0;
  bool operator==(const CongestionFlow&) const = default;
};

struct CongestionMember {
  u32 place = 0;    ///< in CongestionRecord::places
  u32 depth = 0;    ///< switches between it and the root; 0: at the root's switch
  u32 victims = 0;  ///< packets in it that do not go through the root
  bool operator==(const CongestionMember&) const = default;
};

struct CongestionTree {
  u32 id = 0;    ///< the same as long as the tree lives
  u32 root = 0;  ///< channel of the root's port
  u32 depth = 0;
  u32 leaves = 0;    ///< members that no other member waits for
  u32 switches = 0;  ///< that hold members, the root's included
  u32 sources = 0;   ///< terminals whose next packet waits for the tree
  u32 packets = 0;   ///< in members, that go through the root
  u32 flows = 0;     ///< (source, destination) of these
  u32 victims = 0;   ///< packets in members that do not go through the root
  u32 victim_flows = 0;
  u32 idle_ports = 0;  ///< ports that victims want next and that stand idle: bandwidth lost, in channels
  std::vector<CongestionMember> members;   ///< by depth, then by place
  std::vector<u32> per_stage;              ///< members by level of their switch
  std::vector<CongestionFlow> most_flows;  ///< those with the most packets
  std::vector<CongestionFlow> most_victims;
  void archive(Archive& a) {
    a(id, root, depth, leaves, switches, sources, packets, flows, victims, victim_flows, idle_ports, members,
      per_stage);
    a(most_flows, most_victims);
  }
  bool operator==(const CongestionTree&) const = default;
};

enum class CongestionEventKind : u8 { born, grown, moved_downstream, moved_upstream, merged, split, overlap, died };
inline constexpr std::array<const char*, 8> kCongestionEventNames{
    "born",   "grown", "root moved downstream",    "root moved upstream",
    "merged", "split", "overlapping but separate", "died"};

struct CongestionEvent {
  u64 at = 0;
  CongestionEventKind kind = CongestionEventKind::born;
  u32 tree = 0;
  u32 other = 0;  ///< merged: into which; split: from which; overlap: with which. Else the tree itself
  u32 root = 0;
  u32 old_root = 0;  ///< where the root moved
  u32 members = 0;
  u32 depth = 0;
  bool operator==(const CongestionEvent&) const = default;
};

/// A queue that the switch itself set aside for what it takes for a tree.
struct CongestionQueue {
  u32 place = 0;
  u32 root = 0;  ///< channel
  u32 used = 0;
  bool operator==(const CongestionQueue&) const = default;
};

struct CongestionSample {
  u64 at = 0;
  u64 delivered_flits = 0;    ///< since the sample before
  u64 delivered_packets = 0;  ///< likewise
  u64 latency = 0;            ///< sum over these, cycles
  std::vector<u8> fill;       ///< [place]: 0 empty, 255 full; later places are empty
  std::vector<u8> use;        ///< [channel]: share of the time since the sample before, 255: all; empty: not counted
  std::vector<CongestionTree> trees;
  std::vector<CongestionQueue> queues;
  void archive(Archive& a) { a(at, delivered_flits, delivered_packets, latency, fill, use, trees, queues); }
  bool operator==(const CongestionSample&) const = default;
};

/// Time that the packets of a flow waited behind another flow, in samples at which a packet did.
struct CongestionWait {
  u32 source = 0;
  u32 destination = 0;
  u8 why = 0;  ///< engine::Why
  u32 behind_source = kNone;
  u32 behind_destination = kNone;
  u32 root = kNone;  ///< channel; kNone: no tree
  u64 samples = 0;
  bool operator==(const CongestionWait&) const = default;
};

struct CongestionRecord {
  u64 interval = 0;  ///< cycles between samples
  double threshold = 1.0;
  std::vector<CongestionPlace> places;
  std::vector<CongestionSample> samples;
  std::vector<CongestionEvent> events;
  std::vector<CongestionWait> waits;
  void archive(Archive& a) { a(interval, threshold, places, samples, events, waits); }
  bool operator==(const CongestionRecord&) const = default;
};

}  // namespace banyan::stats
