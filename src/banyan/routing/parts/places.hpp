// Where terminals sit, and what routing functions demand of a network.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "banyan/core/registry.hpp"

namespace banyan::routing::parts {

/// Switch and port of every terminal. In networks where packets leave at the switch that they entered.
class Places {
 public:
  explicit Places(const core::Graph& graph) : graph_(&graph) {
    for (u32 t = 0; t < graph.terminals(); ++t) {
      const core::End& exit = graph.channel(graph.ejection(t)).from;
      at_.push_back({exit.node, exit.port});
    }
  }
  [[nodiscard]] u32 switch_of(u32 terminal) const noexcept { return at_[terminal].node; }
  [[nodiscard]] u32 port_of(u32 terminal) const noexcept { return at_[terminal].port; }
  /// True for a packet that stands at the switch of its source, at the port of a terminal.
  [[nodiscard]] bool just_entered(const core::RouteRequest& request) const noexcept {
    const u32 c = graph_->channel_into(request.at, request.in_port);
    return c != kNone && graph_->channel(c).from.terminal;
  }

 private:
  struct Place {
    u32 node;
    u32 port;
  };
  const core::Graph* graph_;
  std::vector<Place> at_;
};

/// A remedy, and the routing functions that exist where this one does not.
inline std::string or_another(const std::string& remedy, const config::Values& values,
                              const core::RoutingContext& context) {
  const std::string others = core::routings_on(context, values.component());
  return others.empty() ? remedy : fmt::format("{}, or the routing {}", remedy, others);
}

/// Refuses a damaged network for a routing function that knows no way around.
inline void require_whole(const config::Values& values, const core::RoutingContext& context) {
  if (!context.topology->graph().damaged()) return;
  values.fail("name", fmt::format("{} does not go around failed links and switches", values.component()),
              or_another("use a network without failures", values, context));
}

/// Refuses a network in which some terminal's packets leave at another switch than they enter.
inline void require_one_switch_per_terminal(const config::Values& values, const core::RoutingContext& context) {
  const core::Graph& graph = context.topology->graph();
  for (u32 t = 0; t < graph.terminals(); ++t) {
    if (graph.channel(graph.injection(t)).to.node == graph.channel(graph.ejection(t)).from.node) continue;
    values.fail("name", fmt::format("{} needs terminals that enter and leave at one switch", values.component()),
                or_another("use such a network", values, context));
  }
}

}  // namespace banyan::routing::parts
