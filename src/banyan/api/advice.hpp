// Which choices of a routing function suit a network, by the mean loads of its channels: for remedies and notes, which
// ask the registry and the network instead of naming components.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/network.hpp"

namespace banyan::api {

/// A routing function with the values that an experiment would give it.
struct RoutingChoice {
  config::Values values;
  std::string text;         ///< as it is written in an experiment: up = "d_mod_k", or routing = { name = "..." }
  double throughput = 0.0;  ///< flits per cycle and terminal of uniform traffic; 0: not known
};

/// Flits per cycle and terminal of uniform traffic at which a channel is full, at most what a terminal's channel
/// carries. Where the routing function leaves a choice to the switch, all ports are taken equally often: an estimate.
/// 0: not known (routing by queues, too many paths).
[[nodiscard]] double uniform_throughput(const core::Topology& topology, const core::Routing& routing, u32 vcs);

/// The defaults of a routing function, and each other value of its choices by itself; none where a parameter is
/// required.
[[nodiscard]] std::vector<RoutingChoice> routing_choices(const config::ComponentInfo& info);

/// The remedy for a switch model that needs all packets of a pair on one path: of all rows of the registry that exist
/// on this topology, by their defaults and by each value of their choices, the one that carries most uniform traffic.
/// Rows of the experiment's own routing function come first among equals.
[[nodiscard]] std::string in_order_remedy(const Experiment& experiment, const core::Topology& topology, u32 vcs);

/// One note for each choice or flag of the routing function that leaves the experiment's traffic half of what another
/// value would, by the load of the most loaded channel; each network once. Where no other value of the routing function
/// helps, those of the topology are looked at. The other value is known to run, and to let no packets wait for each
/// other in a circle. Of a routing function that looks at queues, the load counts that no queues can keep from a
/// channel. Only of networks that are small enough to follow all paths at once.
[[nodiscard]] std::vector<std::string> check_choices(const std::vector<Experiment>& points);

}  // namespace banyan::api
