// Dragonfly (Kim, Dally, Scott and Abts 2008): groups of fully connected routers, and global channels between groups.
// Global channel l of a group (router l / h, port l % h) leads, with o = l % (g - 1) and as many whole rounds of g - 1
// as there are channels for (Camarero, Vallejo and Beivide 2014):
//   consecutive  to group o, own number skipped: o or o + 1.
//   palm_tree    to group i - o - 1 (mod g).
// Channels beyond the last whole round stay unconnected.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "banyan/topology/parts/damage.hpp"
#include "banyan/topology/parts/grid.hpp"

namespace banyan::topology::dragonfly {
namespace {

class DragonflyWiring final : public parts::DirectWiring {
 public:
  struct Links {
    core::Link local;
    core::Link global;
    core::Link terminal;
  };

  DragonflyWiring(const core::Dragonfly& shape, bool palm_tree, const Links& links)
      : DirectWiring(shape.groups * shape.routers, shape.routers - 1 + shape.global_ports, shape.terminals,
                     links.terminal),
        routers_(shape.routers),
        global_ports_(shape.global_ports),
        groups_(shape.groups),
        connected_(shape.routers * shape.global_ports / (shape.groups - 1) * (shape.groups - 1)),
        palm_tree_(palm_tree),
        links_(links) {}

  /// The group behind global port j of a switch, or kNone.
  [[nodiscard]] u32 group_behind(u32 s, u32 j) const {
    return peer(s / routers_, s % routers_ * global_ports_ + j).group;
  }

 private:
  /// The far end of global channel l of group i.
  struct Peer {
    u32 group = kNone;
    u32 channel = 0;
  };
  [[nodiscard]] Peer peer(u32 i, u32 l) const {
    if (l >= connected_) return {};
    const u32 g = groups_;
    const u32 round = l / (g - 1);
    const u32 o = l % (g - 1);
    if (palm_tree_) return {(i + g - o - 1) % g, round * (g - 1) + (g - 2 - o)};
    const u32 target = o < i ? o : o + 1;
    return {target, round * (g - 1) + (i < target ? i : i - 1)};
  }
  [[nodiscard]] Way neighbour(u32 s, u32 port) const override {
    const u32 router = s % routers_;
    if (port < routers_ - 1) {
      const u32 to = port < router ? port : port + 1;
      return {core::End::of_switch(s - router + to, router < to ? router : router - 1), links_.local};
    }
    const Peer far = peer(s / routers_, router * global_ports_ + port - (routers_ - 1));
    if (far.group == kNone) return {};
    return {core::End::of_switch(far.group * routers_ + far.channel / global_ports_,
                                 routers_ - 1 + far.channel % global_ports_),
            links_.global};
  }
  [[nodiscard]] u32 empty_before(u32 s) const override {
    const u32 before = s % routers_ * global_ports_;  // global ports of the routers before it in its group
    return s / routers_ * (routers_ * global_ports_ - connected_) + (before > connected_ ? before - connected_ : 0);
  }

  u32 routers_;
  u32 global_ports_;
  u32 groups_;
  u32 connected_;  ///< global channels of a group: whole rounds
  bool palm_tree_;
  Links links_;
};

class DragonflyTopology final : public core::Topology {
 public:
  explicit DragonflyTopology(const config::Values& values) {
    shape_.terminals = values.natural("terminals_per_router");
    shape_.routers = values.natural("routers_per_group");
    shape_.global_ports = values.natural("global_ports");
    const u64 most = u64{shape_.routers} * shape_.global_ports + 1;
    const u32 groups = values.natural("groups");
    shape_.groups = groups == 0 ? static_cast<u32>(most) : groups;
    if (shape_.groups < 2 || shape_.groups > most) {
      values.fail("groups", fmt::format("{} groups, but a group has channels to {} others", shape_.groups, most - 1),
                  fmt::format("use 2 to {} groups", most));
    }
    if (u64{shape_.groups} * shape_.routers * std::max(shape_.terminals, shape_.routers) > parts::kMostTerminals) {
      values.fail("groups",
                  fmt::format("the network would have more than {} terminals or ports", parts::kMostTerminals),
                  "make the groups fewer or smaller");
    }
    const u64 channels =
        u64{shape_.groups} * shape_.routers * (shape_.routers - 1 + shape_.global_ports + u64{2} * shape_.terminals);
    if (channels > core::Graph::kMost) {
      values.fail("global_ports",
                  fmt::format("the network would have {} channels, more than {}", channels, core::Graph::kMost),
                  "make the groups fewer or smaller, or give routers fewer global ports");
    }
    build(values);
    lost_terminals_ = parts::Damage(values, graph_).lost_terminals();
  }

  [[nodiscard]] std::string label(u32 s) const override {
    return fmt::format("group {} router {}", s / shape_.routers, s % shape_.routers);
  }
  [[nodiscard]] std::vector<u32> coordinates(u32 s) const override { return {s / shape_.routers, s % shape_.routers}; }
  [[nodiscard]] std::string port_label(u32, u32 port) const override {
    const u32 local = shape_.routers - 1;
    if (port < local) return fmt::format("local {}", port);
    if (port < local + shape_.global_ports) return fmt::format("global {}", port - local);
    return fmt::format("terminal {}", port - local - shape_.global_ports);
  }
  [[nodiscard]] const core::Dragonfly* dragonfly() const override { return lost_terminals_ ? nullptr : &shape_; }

 private:
  void build(const config::Values& values) {
    const auto wiring = std::make_shared<DragonflyWiring>(
        shape_, values.text("global_links") == "palm_tree",
        DragonflyWiring::Links{
            {values.natural("local_latency"), 1},
            {values.natural("global_latency"), values.natural("global_cycles_per_flit")},
            {values.natural("terminal_latency"), 1},
        });
    graph_ = core::Graph(wiring);
    shape_.peer.reserve(std::size_t{shape_.groups} * shape_.routers * shape_.global_ports);
    for (u32 s = 0; s < shape_.groups * shape_.routers; ++s) {
      for (u32 j = 0; j < shape_.global_ports; ++j) shape_.peer.push_back(wiring->group_behind(s, j));
    }
  }

  core::Dragonfly shape_;
  bool lost_terminals_ = false;
};

std::unique_ptr<core::Topology> make(const config::Values& values) {
  return std::make_unique<DragonflyTopology>(values);
}

core::NetworkSize size(const config::Values& values) {
  const double p = values.natural("terminals_per_router");
  const double a = values.natural("routers_per_group");
  const double h = values.natural("global_ports");
  const double g = values.natural("groups") == 0 ? a * h + 1.0 : values.natural("groups");
  core::NetworkSize all;
  all.switches = g * a;
  all.terminals = all.switches * p;
  all.inputs = all.switches * (a - 1.0 + h + p);
  const double rounds = g > 1.0 ? std::floor(a * h / (g - 1.0)) : 0.0;
  all.channels = all.switches * (a - 1.0 + 2.0 * p) + g * rounds * (g - 1.0);
  all.passed = 2.0 + 2.0 * (a - 1.0) / a;  // local, global, local
  return parts::of_wiring(all, values);
}

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_dragonfly;
const core::TopologyRow row_dragonfly{
    {"dragonfly", "Dragonfly: groups of fully connected routers, joined by global channels.",
     "J. Kim, W. J. Dally, S. Scott and D. Abts, Technology-Driven, Highly-Scalable Dragonfly Topology, ISCA 2008; C. "
     "Camarero, E. Vallejo and R. Beivide, Topological Characterization of Hamming and Dragonfly Networks, ACM TACO "
     "11(4), 2014",
     parts::with_damage({
         Parameter::integer("terminals_per_router", 2).range(1, 1024).doc("Terminals at each router, p."),
         Parameter::integer("routers_per_group", 4).range(1, 4096).doc("Routers of a group, a."),
         Parameter::integer("global_ports", 2).range(1, 4096).doc("Global channels of a router, h."),
         Parameter::integer("groups", 0).range(0, 1 << 24).doc("Groups, g; 0: as many as there can be, a h + 1."),
         Parameter::choice("global_links", {"consecutive", "palm_tree"}, "consecutive")
             .doc("Which groups a router's global channels lead to."),
         parts::cycles_parameter("local_latency", "Latency of the channels inside a group."),
         parts::cycles_parameter("global_latency", "Latency of the channels between groups."),
         parts::cycles_parameter("global_cycles_per_flit", "Cycles that a flit takes on a channel between groups."),
         parts::terminal_latency_parameter(),
     })},
    make,
    size,
    {"dragonfly_routing"}};

}  // namespace banyan::topology::dragonfly
