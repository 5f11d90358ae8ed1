// Congestion trees of one moment, out of the relation that switch models publish (blocked.hpp). The definition is that
// of docs/explanation/congestion-trees.md: a root is a port that could not serve its waiters, a member is whatever
// waits for the root, directly or through others.
#pragma once

#include <array>
#include <vector>

#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/engine/blocked.hpp"
#include "banyan/stats/congestion.hpp"

namespace banyan::engine {

/// Gives every resource that is ever seen a small number; the order of the first sighting does not depend on shards.
class Places {
 public:
  explicit Places(const core::Graph& graph);

  /// Learns the resources of a view.
  void learn(const BlockedView& view);
  /// Of a resource that was learnt.
  [[nodiscard]] u32 of(u64 id) const noexcept {
    const Resource r = Resource::of(id);
    u32 place = first_[static_cast<std::size_t>(r.kind)][r.index];
    while (ids_[place] != id) place = next_[place];
    return place;
  }
  [[nodiscard]] bool has(u64 id) const noexcept;
  [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(ids_.size()); }
  [[nodiscard]] u64 id(u32 place) const noexcept { return ids_[place]; }
  [[nodiscard]] u32 capacity(u32 place) const noexcept { return capacity_[place]; }

 private:
  std::array<std::vector<u32>, 5> first_;  ///< [kind][index]: place, or kNone
  std::vector<u32> next_;                  ///< [place]: another one of the same kind and index
  std::vector<u64> ids_;
  std::vector<u32> capacity_;
};

class TreeFinder {
 public:
  /// `threshold`: share of its capacity from which a buffer counts as congested.
  TreeFinder(const core::Topology& topology, const core::Routing* routing, double threshold);

  /// A look before the moment itself. A queue behind a congested one moves now and then, so that one look may find its
  /// front ready: what waited for room in any look since the last find() waits for room, not for its port's bandwidth.
  void look(const BlockedView& view);
  /// The trees of the moment, by their roots; `id` is not set. The moment is a look too.
  [[nodiscard]] std::vector<stats::CongestionTree> find(const BlockedView& view);

  [[nodiscard]] const Places& places() const noexcept { return places_; }
  /// After find(): used and capacity of a place, the first packet of the wait of a place, the trees of a place.
  [[nodiscard]] u32 used(u32 place) const noexcept { return used_[place]; }
  [[nodiscard]] const Blocked* front(u32 place) const noexcept { return front_[place]; }
  /// Root of the first tree that a place belongs to, or kNone.
  [[nodiscard]] u32 root_of(u32 place) const noexcept { return root_of_[place]; }
  /// The channel that a place lies at, or kNone for the memory of a switch.
  [[nodiscard]] u32 channel_of(u32 place) const;

 private:
  struct Edge {
    u32 waiter;
    Why why;
  };
  struct Seen {
    u32 waiter;
    u32 on;
    Why why;
  };
  void sort_edges();
  [[nodiscard]] bool is_congested(u32 place) const noexcept;
  [[nodiscard]] bool is_root(u32 place);
  [[nodiscard]] bool is_overloaded(u32 port);
  [[nodiscard]] bool brings_too_much(u32 port) const;
  [[nodiscard]] bool ask_for_feeders(u32 buffer);
  void index_contents();
  /// Channel over which a packet reached a switch, or kNone where its routing leaves a choice.
  [[nodiscard]] u32 way_in(const core::Packet& packet, u32 switch_);
  void ask_for(u32 channel);
  void collect(const std::vector<u32>& roots, stats::CongestionTree& tree);
  void count_contents(const BlockedView& view, std::vector<stats::CongestionTree>& trees);
  [[nodiscard]] u32 switch_of(u32 place) const;
  /// Whether a packet in a place can go through a channel, and the first channel that it takes from there.
  [[nodiscard]] bool passes(u32 place, const core::Packet& packet, u32 channel, u32& next);

  const core::Graph& graph_;
  const core::Routing* routing_;
  double threshold_;
  Places places_;
  std::vector<u32> used_;              ///< [place]
  std::vector<u8> waited_for_;         ///< [place]: somebody waits for room in it
  std::vector<u8> waits_;              ///< [place]: it waits for something
  std::vector<u8> blocked_;            ///< [place]: it waited for room, or for what is held
  std::vector<Seen> looks_;            ///< of all looks
  std::vector<const Blocked*> front_;  ///< [place]
  std::vector<u32> edge_begin_;        ///< [place + 1]
  std::vector<Edge> edges_;
  std::vector<u32> depth_;  ///< [place], of the tree that is collected; kNone: not a member
  std::vector<u32> root_of_;
  std::vector<std::vector<std::pair<u32, u32>>> trees_of_;  ///< [place]: (tree, member)
  std::vector<u32> touched_;
  core::Candidates candidates_;
  struct Head {
    u32 at;
    u32 port;
    u32 vc;
  };
  std::vector<u32> asking_;            ///< channels
  const BlockedView* view_ = nullptr;  ///< of the moment
  bool indexed_ = false;
  std::vector<u32> content_begin_;  ///< [place + 1]
  std::vector<const core::Packet*> contents_;
  std::vector<Head> stack_;
  std::vector<u32> seen_;
  struct Counted {
    std::vector<u64> flows;
    std::vector<u64> victims;
    std::vector<u32> wanted;
  };
  std::vector<Counted> counted_;
};

}  // namespace banyan::engine
