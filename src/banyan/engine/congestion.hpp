// Congestion trees of one moment, out of the relation that switch models publish (blocked.hpp). The definition is that
// of docs/explanation/congestion-trees.md: a root is a port that could not serve its waiters, a member is whatever
// waits for the root, directly or through others.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/engine/blocked.hpp"
#include "banyan/engine/mark_log.hpp"
#include "banyan/stats/congestion.hpp"

namespace banyan::engine {

/// Gives every resource that is ever seen a small number; the order of the first sighting does not depend on shards.
class Places {
 public:
  explicit Places(const core::Graph& graph);

  /// Learns the resources of a view.
  void learn(const BlockedView& view);
  /// The index of a resource that was learnt.
  [[nodiscard]] u32 of(u64 id) const noexcept { return find(id); }
  [[nodiscard]] bool has(u64 id) const noexcept { return find(id) != kNone; }
  [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(ids_.size()); }
  [[nodiscard]] u64 id(u32 place) const noexcept { return ids_[place]; }
  [[nodiscard]] u32 capacity(u32 place) const noexcept { return capacity_[place]; }

  void archive(Archive& a) { a(of_, lanes_, far_, ids_, capacity_); }

 private:
  static constexpr u32 kMostLanes = 4096;  ///< of one place, that have an entry each; the others are in a map
  struct Lanes {
    u32 begin = 0;  ///< in lanes_
    u32 size = 0;
  };

  [[nodiscard]] u32 find(u64 id) const noexcept {
    const Resource r = Resource::of(id);
    const Lanes lanes = of_[static_cast<std::size_t>(r.kind)][r.index];
    if (r.lane < lanes.size) return lanes_[lanes.begin + r.lane];
    if (r.lane < kMostLanes) return kNone;
    const auto it = far_.find(id);
    return it == far_.end() ? kNone : it->second;
  }
  void add(u64 id, u32 capacity);

  std::array<std::vector<Lanes>, 5> of_;  ///< [kind][index]
  std::vector<u32> lanes_;                ///< place of a lane, or kNone
  std::unordered_map<u64, u32> far_;
  std::vector<u64> ids_;
  std::vector<u32> capacity_;
};

/// Follows the ports that packets carry with them (Content::route).
class SourceRoutes {
 public:
  explicit SourceRoutes(const core::Graph& graph);

  /// Calls visit(channel) for every channel of a way, of `bits` per switch, that begins behind a channel. One to a
  /// terminal has none.
  template <class Visit>
  void follow(u32 channel, u64 route, u32 bits, Visit&& visit) const {
    const u64 mask = (u64{1} << bits) - 1;
    for (u32 at = begins_[channel]; at != kNone; route >>= bits) {
      const Hop hop = hops_[at + (route & mask)];
      visit(hop.channel);
      at = hop.begins;
    }
  }

 private:
  struct Hop {
    u32 channel;
    u32 begins;
  };

  std::vector<u32> begins_;  ///< [channel]: the first output of the switch behind it; kNone: a terminal is
  std::vector<Hop> hops_;    ///< [output of a switch]: its channel, and begins_ of that
};

/// Ways of packets from where they are to their destinations, found once for all packets that are routed alike.
class Ways {
 public:
  struct Way {
    u32 begin = 0;         ///< in the list of channels
    u32 size = 0;          ///< channels that can be passed, in the order in which they are found
    u32 single = 0;        ///< that the routing leaves no choice up to, from the first one on
    bool cut_off = false;  ///< too many to say that a channel cannot be passed
  };
  /// Channels that can be passed from a place on: a part of the list of channels.
  struct Rest {
    u32 begin = 0;
    u32 size = 0;  ///< kNone: too many to say that a channel cannot be passed
  };
  /// What the routing function can see of a packet.
  struct Header {
    u64 tag = 0;
    u64 state = 0;
    u32 kind = 0;  ///< Packet: traffic, flags, pending, vc_class
    u32 route = 0;
    u32 begin = 0;  ///< the way from the source, where the routing leaves no choice; else its size is 0
    u32 size = 0;
  };

  Ways(const core::Graph& graph, const core::Routing* routing);

  /// Before a sample: forgets all when it is too much. What the other functions return is valid up to here.
  void begin();
  [[nodiscard]] const Header& header(const core::Packet& packet);
  /// From the end of a channel, on a virtual channel. A packet that has no choice goes on as it came from its source.
  void behind(u32 channel, u32 vc, const Header& header, const core::Packet& packet, Rest& rest) {
    if (header.size != 0 && channel == graph_.injection(packet.source)) {
      rest.begin = header.begin;
      rest.size = header.size;
      return;
    }
    for (u32 i = 0; i < header.size; ++i) {
      if (channels_[header.begin + i] != channel) continue;
      rest.begin = header.begin + i + 1;
      rest.size = header.size - i - 1;
      return;
    }
    rest = rest_of(way_from(channel, vc, header, packet));
  }
  /// What is left of the way from a switch, whatever the port.
  [[nodiscard]] Rest from_switch(u32 switch_, const Header& header, const core::Packet& packet);
  [[nodiscard]] const Way& way_from(u32 channel, u32 vc, const Header& header, const core::Packet& packet);

  [[nodiscard]] u32 channel(u32 index) const noexcept { return channels_[index]; }
  [[nodiscard]] bool passes(const Rest& rest, u32 channel) const noexcept {
    if (rest.size == kNone) return true;
    for (u32 i = rest.begin; i < rest.begin + rest.size; ++i) {
      if (channels_[i] == channel) return true;
    }
    return false;
  }
  /// A number of the packet's source and destination, below flows().
  [[nodiscard]] u32 flow_of(const core::Packet& packet) {
    return numbers_flows_ ? flows_.of({static_cast<u64>(packet.source) << 32U | packet.destination})
                          : packet.source * graph_.terminals() + packet.destination;
  }
  /// (source << 32) + destination
  [[nodiscard]] u64 flow(u32 index) const noexcept {
    if (numbers_flows_) return flows_.key(index)[0];
    return static_cast<u64>(index / graph_.terminals()) << 32U | index % graph_.terminals();
  }
  [[nodiscard]] u32 flows() const noexcept {
    return numbers_flows_ ? flows_.size() : graph_.terminals() * graph_.terminals();
  }

 private:
  /// Numbers keys of words in the order in which they come.
  template <u32 words>
  class Numbers {
   public:
    using Key = std::array<u64, words>;
    [[nodiscard]] u32 of(const Key& key);
    [[nodiscard]] const Key& key(u32 index) const noexcept { return keys_[index]; }
    [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(keys_.size()); }
    void clear();

   private:
    void grow();
    std::vector<Key> keys_;
    std::vector<u32> slots_;  ///< a power of two, at most half full
  };
  struct Head {
    u32 at;
    u32 port;
    u32 vc;
  };

  static Rest rest_of(const Way& way) noexcept { return {way.begin, way.cut_off ? kNone : way.size}; }
  u32 make_header(const core::Packet& packet, u32 kind);
  u32 find(u64 start, const Head& head, u32 route, const core::Packet& packet);
  Way follow(const Head& head, const core::Packet& packet);

  const core::Graph& graph_;
  const core::Routing* routing_;
  bool numbers_flows_;
  Numbers<1> flows_;  ///< in large networks; in others a flow's number is that of its pair of terminals
  Numbers<4> headers_;
  std::vector<Header> of_header_;
  std::vector<u32> latest_;  ///< [source * terminals + destination], in small networks: the header that was seen last
  Numbers<4> routes_;
  Numbers<2> starts_;  ///< (place, route)
  std::vector<Way> ways_;
  std::vector<u32> channels_;
  core::Candidates candidates_;
  std::vector<Head> stack_;
  std::vector<u32> seen_;
};

class TreeFinder {
 public:
  /// `threshold`: share of its capacity from which a buffer counts as congested.
  TreeFinder(const core::Topology& topology, const core::Routing* routing, double threshold);

  /// A look before the moment itself. A queue behind a congested one moves now and then, so that one look may find its
  /// front ready: what was blocked in any look since the last find() does not wait for its port's bandwidth.
  void look(const BlockedView& view);
  /// The trees of the moment, by their roots; `id` is not set. The moment is a look too.
  [[nodiscard]] std::vector<stats::CongestionTree> find(const BlockedView& view);

  [[nodiscard]] const Places& places() const noexcept { return places_; }
  /// After find(): used and capacity of a place, the first packet of the wait of a place, the trees of a place.
  [[nodiscard]] u32 used(u32 place) const noexcept { return used_[place]; }
  [[nodiscard]] const Blocked* front(u32 place) const noexcept { return front_[place]; }
  /// Root of the first tree that a place belongs to, or kNone.
  [[nodiscard]] u32 root_of(u32 place) const noexcept { return root_of_[place]; }
  /// Whether marked packets can go through one of these channels from there on, the one that they left for among them.
  [[nodiscard]] bool goes_through(const MarkLog::Entry& marked, std::span<const u32> channels);
  /// The channel that a place lies at, or kNone for the memory of a switch.
  [[nodiscard]] u32 channel_of(u32 place) const;

  /// Is called between two looks; ways are found again.
  void archive(Archive& a) { a(places_, waited_for_, blocked_, looks_, seen_); }

 private:
  struct Edge {
    u32 waiter;
    u32 look;
    Why why;
  };
  struct Seen {
    u32 waiter;
    u32 on;
    u32 via;   ///< channel, or kNone
    u32 look;  ///< nth
    Why why;
  };
  void mark_blocked(std::span<const Seen> look);
  void sort_edges();
  [[nodiscard]] bool is_congested(u32 place) const noexcept;
  [[nodiscard]] bool is_root(u32 place);
  [[nodiscard]] bool is_overloaded(u32 port);
  [[nodiscard]] bool brings_too_much(u32 port) const;
  [[nodiscard]] bool ask_for_feeders(u32 buffer);
  void index_contents(const BlockedView& view);
  /// Channel over which a packet reached a switch, or kNone where its routing leaves a choice.
  [[nodiscard]] u32 way_in(const core::Packet& packet, u32 switch_);
  void ask_for(u32 channel, u32 look);
  void collect(const std::vector<u32>& roots, stats::CongestionTree& tree);
  void count_contents(const BlockedView& view, std::vector<stats::CongestionTree>& trees);
  void find_ways(u32 place);
  void count_members(stats::CongestionTree& tree, u32 nth);
  [[nodiscard]] u32 switch_of(u32 place) const;
  /// The channel on which all packets of a place go on, or kNone.
  [[nodiscard]] u32 starts_on(const Resource& resource) const;

  const core::Graph& graph_;
  const core::Routing* routing_;
  double threshold_;
  Places places_;
  std::vector<u32> used_;              ///< [place]
  std::vector<u8> waited_for_;         ///< [place]: somebody waits for room in it
  std::vector<u8> waits_;              ///< [place]: it waits for something
  std::vector<u8> blocked_;            ///< [place]: in some look it had nothing to go on with
  std::vector<u32> ready_;             ///< [place]: channel whose bandwidth it waits for in a look; kNone: none
  std::vector<Seen> held_;             ///< of a look, who waits for what is held
  u32 looks_ = 0;                      ///< since the last find()
  std::vector<Seen> seen_;             ///< in all of them
  std::vector<const Blocked*> front_;  ///< [place]
  std::vector<u32> edge_begin_;        ///< [place + 1]
  std::vector<Edge> edges_;
  std::vector<u32> depth_;  ///< [place], of the tree that is collected; kNone: not a member
  std::vector<u32> root_of_;
  std::optional<SourceRoutes> source_routes_;  ///< where a view has such ways
  Ways ways_;
  struct Asking {
    u32 channel;
    u32 look;  ///< in which; kNone: in all
    bool operator==(const Asking&) const = default;
  };
  std::vector<Asking> asking_;
  const BlockedView* view_ = nullptr;  ///< of the moment
  bool indexed_ = false;
  std::vector<u32> content_begin_;  ///< [place], in contents_
  std::vector<u32> content_end_;
  std::span<const Content> contents_;  ///< of the view, or sorted_
  std::vector<Content> sorted_;
  static constexpr std::size_t kRoots = 64;  ///< trees whose contents are counted together: a bit each
  struct Routed {
    u64 roots = 0;  ///< bit i: the packet can go through the root of tree i of those
    u32 flow = 0;
    u32 next = kNone;  ///< channel that it can pass first; kNone: there is none, or too many
  };
  std::vector<Routed> routed_;  ///< of contents_, where the place belongs to a tree
  std::vector<u8> routed_place_;
  std::vector<u64> root_bit_;  ///< [channel]
  std::vector<u32> through_;   ///< [flow]: packets of a tree
  std::vector<u32> past_;      ///< [flow]: victims
  std::vector<u32> flows_through_;
  std::vector<u32> flows_past_;
  std::vector<stats::CongestionFlow> counted_;  ///< all of a tree, of which the record keeps the most
  std::vector<u8> busy_;                        ///< [channel]: somebody is ready for it, or waits for room behind it
  std::vector<u8> wanted_;                      ///< [channel]
  std::vector<u32> wants_;
};

}  // namespace banyan::engine
