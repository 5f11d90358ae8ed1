// What fat trees share: levels of switches, wired by a rule, with the digits that routing functions read.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/size.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/damage.hpp"

namespace banyan::topology::parts {

/// Terminals and switches that one tree may have.
inline constexpr u64 kMostTreeNodes = u64{1} << 24U;

/// Where an up port leads: switch of the next level (counted on that level) and its down port.
struct UpLink {
  u32 node = 0;
  u32 port = 0;
};

struct TreePlan {
  core::Tree tree;                  ///< complete but for `first`
  u32 terminals = 0;                ///< terminal t is at port t % down_ports of switch t / down_ports of level 0
  u32 spare_ports = 0;              ///< unused ports of the switches of the highest level
  std::vector<u32> latency_cycles;  ///< of the links above each level
  u32 terminal_latency_cycles = 1;
};

/// Input and output ports carry the same numbers. Channels: first those of the terminals (injection, ejection), then
/// link by link from the lowest level up (upward, downward).
class TreeTopology final : public core::Topology {
 public:
  /// `up_link(level, node, up port)` says where links lead.
  template <typename Wiring>
  TreeTopology(TreePlan plan, const config::Values& values, const Wiring& up_link) : tree_(std::move(plan.tree)) {
    graph_ = core::Graph(plan.terminals);
    u32 next = 0;
    for (u32 l = 0; l < tree_.levels.size(); ++l) {
      core::TreeLevel& level = tree_.levels[l];
      level.first = next;
      next += level.count;
      const u32 ports = level.down_ports + level.up_ports + (l + 1 == tree_.levels.size() ? plan.spare_ports : 0);
      for (u32 n = 0; n < level.count; ++n) graph_.add_switch(ports, ports, l);
    }
    const core::TreeLevel& leaves = tree_.levels.front();
    for (u32 t = 0; t < plan.terminals; ++t) {
      connect(core::End::of_terminal(t), core::End::of_switch(t / leaves.down_ports, t % leaves.down_ports),
              plan.terminal_latency_cycles);
    }
    for (u32 l = 0; l + 1 < tree_.levels.size(); ++l) {
      const core::TreeLevel& level = tree_.levels[l];
      for (u32 n = 0; n < level.count; ++n) {
        for (u32 u = 0; u < level.up_ports; ++u) {
          const UpLink up = up_link(l, n, u);
          connect(core::End::of_switch(level.first + n, level.down_ports + u),
                  core::End::of_switch(tree_.levels[l + 1].first + up.node, up.port), plan.latency_cycles[l]);
        }
      }
    }
    lost_terminals_ = Damage(values, graph_).lost_terminals();
  }

  [[nodiscard]] std::string label(u32 s) const override {
    const u32 level = graph_.level(s);
    return fmt::format("level {} switch {}", level, s - tree_.levels[level].first);
  }
  [[nodiscard]] std::string port_label(u32 s, u32 port) const override {
    const core::TreeLevel& level = tree_.levels[graph_.level(s)];
    return port < level.down_ports ? fmt::format("down {}", port) : fmt::format("up {}", port - level.down_ports);
  }
  [[nodiscard]] std::vector<u32> coordinates(u32 s) const override {
    return {graph_.level(s), s - tree_.levels[graph_.level(s)].first};
  }
  [[nodiscard]] const core::Tree* tree() const override { return lost_terminals_ ? nullptr : &tree_; }

 private:
  void connect(core::End a, core::End b, u32 latency) {
    graph_.add_channel(a, b, {latency, 1});
    graph_.add_channel(b, a, {latency, 1});
  }

  core::Tree tree_;
  bool lost_terminals_ = false;
};

/// Latencies of trees.
inline std::vector<config::Parameter> tree_latency_parameters() {
  using config::Parameter;
  return {
      Parameter::integers("latency", {1})
          .unit("cycles")
          .range(1, 1 << 20)
          .doc("Latency of the channels between switches: one value, or one per pair of levels from below."),
      terminal_latency_parameter(),
  };
}

inline std::vector<config::Parameter> tree_parameters(std::vector<config::Parameter> own) {
  for (config::Parameter& p : tree_latency_parameters()) own.push_back(std::move(p));
  return with_damage(std::move(own));
}

inline void read_tree_latency(const config::Values& values, TreePlan& plan) {
  const std::vector<i64>& latency = values.integers("latency");
  const std::size_t pairs = plan.tree.levels.size() - 1;
  if (latency.size() != 1 && latency.size() != pairs) {
    values.fail("latency", fmt::format("{} latencies for {} pairs of levels", latency.size(), pairs),
                "give one value for all channels, or one per pair of levels");
  }
  for (std::size_t i = 0; i < pairs; ++i) {
    plan.latency_cycles.push_back(static_cast<u32>(latency[latency.size() == 1 ? 0 : i]));
  }
  plan.terminal_latency_cycles = values.natural("terminal_latency");
}

/// The size of a tree whose level l has count[l] switches with down[l] and up[l] ports that lead somewhere; `spare`
/// ports of the highest level do not. `children[l]`: by how much a switch of the level has more terminals below it than
/// one of the level below.
struct TreeShape {
  double terminals = 1.0;
  double spare = 0.0;
  std::vector<double> count;
  std::vector<double> down;
  std::vector<double> up;
  std::vector<double> children;
};
inline core::NetworkSize tree_size(const TreeShape& tree) {
  core::NetworkSize size;
  size.terminals = tree.terminals;
  size.channels = 2.0 * tree.terminals;
  size.passed = 0.0;
  double below = 1.0;
  double counted = 0.0;
  for (std::size_t l = 0; l < tree.count.size(); ++l) {
    const bool highest = l + 1 == tree.count.size();
    size.switches += tree.count[l];
    size.inputs += tree.count[l] * (tree.down[l] + tree.up[l] + (highest ? tree.spare : 0.0));
    size.channels += 2.0 * tree.count[l] * tree.up[l];
    // The share of the terminals whose nearest common ancestors are on this level, and the switches on the way there.
    const double reached = highest ? tree.terminals : below * tree.children[l];
    size.passed += (reached - counted) / tree.terminals * static_cast<double>(2 * l + 1);
    below = counted = reached;
  }
  return size;
}

inline core::NetworkSize xgft_size(const std::vector<double>& children, const std::vector<double>& parents) {
  TreeShape tree;
  tree.children = children;
  tree.down = children;
  for (const double m : children) tree.terminals *= m;
  double below = 1.0;
  double alike = 1.0;
  for (std::size_t l = 0; l < children.size(); ++l) {
    below *= children[l];
    alike *= l < parents.size() ? parents[l] : 1.0;
    tree.count.push_back(tree.terminals / below * alike);
    tree.up.push_back(l + 1 < parents.size() ? parents[l + 1] : 0.0);
  }
  return tree_size(tree);
}

/// XGFT(h; m_1 .. m_h; w_1 .. w_h) of Oehring, Ibel, Das, Kumar 1995 with w_1 = 1: `children[i]` and `parents[i]` are
/// m_(i+1) and w_(i+1).
inline std::unique_ptr<core::Topology> make_xgft(const config::Values& values, const char* key,
                                                 const std::vector<u32>& children, const std::vector<u32>& parents) {
  TreePlan plan;
  u64 terminals = 1;
  for (const u32 m : children) terminals = std::min(terminals * m, kMostTreeNodes + 1);
  u64 below = 1;  // terminals below a switch
  u64 alike = 1;  // switches of a level with the same terminals below
  u64 nodes = terminals;
  for (std::size_t l = 0; l < children.size() && nodes <= kMostTreeNodes; ++l) {
    core::TreeLevel level;
    level.port_divide = static_cast<u32>(below);
    level.port_modulo = children[l];
    below *= children[l];
    alike *= parents[l];
    level.down_ports = children[l];
    level.up_ports = l + 1 < parents.size() ? parents[l + 1] : 0;
    level.key_divide = static_cast<u32>(below);
    level.key_modulo = static_cast<u32>(terminals / below);
    nodes += terminals / below * alike;
    if (nodes > kMostTreeNodes) break;
    level.count = static_cast<u32>(terminals / below * alike);
    for (u32 n = 0; n < level.count; ++n) plan.tree.key.push_back(static_cast<u32>(n / alike));
    plan.tree.levels.push_back(level);
  }
  if (nodes > kMostTreeNodes) {
    values.fail(key, fmt::format("the tree would have more than {} switches and terminals", kMostTreeNodes),
                "make it narrower or lower");
  }
  if (terminals < 2) values.fail(key, "a tree of one terminal carries no traffic", "give a level 2 children");
  plan.terminals = static_cast<u32>(terminals);
  read_tree_latency(values, plan);
  std::vector<u32> alike_at(children.size(), 1);
  for (std::size_t l = 1; l < children.size(); ++l) alike_at[l] = alike_at[l - 1] * parents[l];
  return std::make_unique<TreeTopology>(std::move(plan), values, [&](u32 l, u32 n, u32 u) {
    const u32 group = n / alike_at[l];
    return UpLink{group / children[l + 1] * alike_at[l + 1] + n % alike_at[l] + u * alike_at[l],
                  group % children[l + 1]};
  });
}

}  // namespace banyan::topology::parts
