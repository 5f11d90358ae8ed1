// One way to go the shortest way anywhere: dimension order where there are coordinates, tables of distances elsewhere.
// Parts of routing functions in several phases, each of which is a shortest path with virtual channels of its own.
#pragma once

#include <numeric>
#include <optional>
#include <vector>

#include "banyan/routing/parts/hop_paths.hpp"
#include "banyan/routing/parts/space.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::parts {

class MinimalPaths {
 public:
  /// A port and the classes [first, last) of a phase that may be used.
  struct Hop {
    u32 port = 0;
    u32 first = 0;
    u32 last = 1;
  };

  /// `hop_classes`: where there are no coordinates, every hop of a phase has a class of its own. Without them a phase
  /// has one class, and goes over the lowest port that leads nearer.
  MinimalPaths(const config::Values& values, const core::RoutingContext& context, bool hop_classes)
      : graph_(&context.topology->graph()), hop_classes_(hop_classes) {
    const core::Topology& topology = *context.topology;
    if (!topology.graph().damaged() && (topology.grid() != nullptr || topology.hyperx() != nullptr)) {
      space_.emplace(values, context);
      hosts_.resize(space_->switches());
      std::iota(hosts_.begin(), hosts_.end(), 0U);
    } else {
      table_.emplace(values, context);
      hosts_ = table_->hosts();
    }
  }

  /// Classes of virtual channels that a phase needs.
  [[nodiscard]] u32 classes() const noexcept {
    if (space_) return space_->ring_classes();
    return hop_classes_ ? table_->diameter() : 1;
  }
  /// Switches with terminals.
  [[nodiscard]] const std::vector<u32>& hosts() const noexcept { return hosts_; }
  [[nodiscard]] u32 distance(u32 at, u32 host) const noexcept {
    return space_ ? space_->distance(at, host) : table_->distance(at, host);
  }
  [[nodiscard]] u32 switch_of(u32 terminal) const noexcept {
    return space_ ? space_->switch_of(terminal) : table_->places().switch_of(terminal);
  }
  [[nodiscard]] u32 port_of(u32 terminal) const noexcept {
    return space_ ? space_->port_of(terminal) : table_->places().port_of(terminal);
  }
  [[nodiscard]] bool just_entered(const core::RouteRequest& request) const noexcept {
    return space_ ? space_->just_entered(request) : table_->places().just_entered(request);
  }

  /// The switch behind a port.
  [[nodiscard]] u32 behind(u32 at, u32 port) const noexcept {
    return graph_->channel(graph_->channel_out_of(at, port)).to.node;
  }

  /// The next hop to a switch with terminals, at != host. `previous`: the class of this phase that the packet arrived
  /// on, kNone when the phase begins here. Of several shortest ways `word` chooses, each with the same probability.
  [[nodiscard]] Hop hop(u32 at, u32 host, u32 previous, const core::HopWord& word) const noexcept {
    if (!space_ && !hop_classes_) return {table_->lowest(at, host), 0, 1};
    if (!space_) return climb(table_->choose(at, host, word), previous);
    return along(space_->ordered_step(at, host, word));
  }
  /// Calls visit(hop) for all that hop() may return, whatever the word is.
  template <typename Visit>
  void hops(u32 at, u32 host, u32 previous, const Visit& visit) const noexcept {
    if (!space_ && !hop_classes_) return visit(Hop{table_->lowest(at, host), 0, 1});
    if (!space_) return table_->nearer(at, host, [&](u32 port) { visit(climb(port, previous)); });
    const Space::Steps found = space_->ordered_steps(at, host);
    for (u32 i = 0; i < found.count; ++i) visit(along(found.step[i]));
  }

 private:
  [[nodiscard]] static Hop climb(u32 port, u32 previous) noexcept {
    const u32 next = previous == kNone ? 0 : previous + 1;
    return {port, next, next + 1};
  }
  [[nodiscard]] Hop along(const Space::Step& step) const noexcept {
    if (!step.ring) return {step.port, 0, space_->ring_classes()};
    return {step.port, step.ring_class, step.ring_class + 1U};
  }

  const core::Graph* graph_;
  bool hop_classes_;
  std::optional<Space> space_;
  std::optional<HopPaths> table_;
  std::vector<u32> hosts_;
};

/// Two phases of shortest paths: to an intermediate switch, Packet::state, and from there to the destination. The
/// virtual channel that a packet arrived on tells its phase.
class TwoPhases {
 public:
  TwoPhases(const config::Values& values, const core::RoutingContext& context, bool hop_classes = true)
      : paths_(values, context, hop_classes), classes_(context.vcs, std::min(context.vcs, 2 * paths_.classes())) {
    require_vcs(values, context, 2 * paths_.classes(), "two phases of shortest paths");
  }

  [[nodiscard]] const MinimalPaths& paths() const noexcept { return paths_; }
  [[nodiscard]] u32 required_vcs() const noexcept { return 2 * paths_.classes(); }
  [[nodiscard]] core::Candidate eject(const core::Packet& packet) const noexcept {
    return classes_.any(paths_.port_of(packet.destination));
  }
  /// The first step of a packet that stands at its source's switch: straight to the destination, or to its intermediate
  /// switch. Neither is here. `all`: every step that may be taken, and not the one that the request's word chooses.
  void first_step(const core::RouteRequest& request, bool direct, bool all, core::Candidates& out) const noexcept {
    const u32 goal = direct ? paths_.switch_of(request.packet->destination) : intermediate(*request.packet);
    go(request, goal, kNone, direct ? 1 : 0, all, out);
  }
  /// The step of a packet that is on its way.
  void next_step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 c = classes_.of(request.in_vc);
    const u32 phase = c / paths_.classes();
    const u32 target = paths_.switch_of(request.packet->destination);
    if (phase == 1) {
      if (request.at == target) return out.add(eject(*request.packet));
      return go(request, target, c - paths_.classes(), 1, all, out);
    }
    if (request.at == intermediate(*request.packet)) {
      if (request.at == target) return out.add(eject(*request.packet));
      return go(request, target, kNone, 1, all, out);
    }
    go(request, intermediate(*request.packet), c, 0, all, out);
  }
  [[nodiscard]] static u32 intermediate(const core::Packet& packet) noexcept { return static_cast<u32>(packet.state); }
  /// The row of the parameter `hop_classes`.
  [[nodiscard]] static config::Parameter hop_classes_row() {
    return config::Parameter::boolean("hop_classes", true)
        .doc(
            "On graphs without coordinates: whether the i-th hop of a phase uses class i of its virtual channels. "
            "false: a phase uses all of its, over the lowest ports that lead nearer, and freedom from deadlock "
            "depends on the graph (banyan check).");
  }

 private:
  void go(const core::RouteRequest& request, u32 goal, u32 previous, u32 phase, bool all,
          core::Candidates& out) const noexcept {
    if (!all) return out.add(candidate(paths_.hop(request.at, goal, previous, request.random), phase));
    paths_.hops(request.at, goal, previous, [&](const MinimalPaths::Hop& hop) { out.add(candidate(hop, phase)); });
  }
  [[nodiscard]] core::Candidate candidate(const MinimalPaths::Hop& hop, u32 phase) const noexcept {
    return classes_.candidate(hop.port, phase * paths_.classes() + hop.first, phase * paths_.classes() + hop.last);
  }

  MinimalPaths paths_;
  VcClasses classes_;
};

}  // namespace banyan::routing::parts
