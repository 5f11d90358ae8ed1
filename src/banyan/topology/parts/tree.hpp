// What fat trees share: levels of switches, wired by a rule, with the digits that routing functions read.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <memory>
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

/// An end of a link between two levels: a switch, counted on its level, and which of its up ports, or of its down
/// ports.
struct TreeEnd {
  u32 node = 0;
  u32 port = 0;
};
/// Where links lead. Each is the other's inverse.
struct TreeLinks {
  /// (level, node, up port) to a node of the level above and its down port.
  std::function<TreeEnd(u32, u32, u32)> up;
  /// (level, node, down port) to a node of the level below and its up port; level > 0.
  std::function<TreeEnd(u32, u32, u32)> down;
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
class TreeWiring final : public core::Wiring {
 public:
  /// The levels have their `first`.
  TreeWiring(const TreePlan& plan, TreeLinks links)
      : levels_(plan.tree.levels),
        terminals_(plan.terminals),
        spare_ports_(plan.spare_ports),
        latency_(plan.latency_cycles),
        terminal_latency_(plan.terminal_latency_cycles),
        links_(std::move(links)) {
    first_.push_back(2 * terminals_);
    for (std::size_t l = 0; l + 1 < levels_.size(); ++l) {
      first_.push_back(first_.back() + 2 * levels_[l].count * levels_[l].up_ports);
    }
  }

  [[nodiscard]] u32 terminals() const override { return terminals_; }
  [[nodiscard]] u32 channels() const override { return first_.back(); }
  [[nodiscard]] std::vector<Block> blocks() const override {
    std::vector<Block> blocks;
    for (u32 l = 0; l < levels_.size(); ++l) {
      const u32 spare = l + 1 == levels_.size() ? spare_ports_ : 0;
      blocks.push_back({levels_[l].count, levels_[l].down_ports + levels_[l].up_ports + spare, l});
    }
    return blocks;
  }

  [[nodiscard]] Way way(const core::End& from) const override {
    if (from.terminal) {
      const u32 leaves = levels_.front().down_ports;
      return {core::End::of_switch(from.node / leaves, from.node % leaves), {terminal_latency_, 1}};
    }
    const u32 l = level_of(from.node);
    const core::TreeLevel& level = levels_[l];
    const u32 node = from.node - level.first;
    if (from.port < level.down_ports) {
      if (l == 0) return {core::End::of_terminal(node * level.down_ports + from.port), {terminal_latency_, 1}};
      const TreeEnd below = links_.down(l, node, from.port);
      return {core::End::of_switch(levels_[l - 1].first + below.node, levels_[l - 1].down_ports + below.port),
              {latency_[l - 1], 1}};
    }
    const u32 port = from.port - level.down_ports;
    if (l + 1 == levels_.size()) return {};
    const TreeEnd above = links_.up(l, node, port);
    return {core::End::of_switch(levels_[l + 1].first + above.node, above.port), {latency_[l], 1}};
  }
  [[nodiscard]] u32 number(const core::End& from) const override {
    if (from.terminal) return 2 * from.node;
    const u32 l = level_of(from.node);
    const core::TreeLevel& level = levels_[l];
    const u32 node = from.node - level.first;
    if (from.port >= level.down_ports) return first_[l] + 2 * (node * level.up_ports + from.port - level.down_ports);
    if (l == 0) return 2 * (node * level.down_ports + from.port) + 1;
    const TreeEnd below = links_.down(l, node, from.port);
    return first_[l - 1] + 2 * (below.node * levels_[l - 1].up_ports + below.port) + 1;
  }
  [[nodiscard]] core::End begin_of(u32 channel) const override {
    if (channel < first_.front()) {
      const core::End terminal = core::End::of_terminal(channel / 2);
      return channel % 2 == 0 ? terminal : way(terminal).to;
    }
    u32 l = 0;
    while (first_[l + 1] <= channel) ++l;
    const u32 link = (channel - first_[l]) / 2;
    const core::TreeLevel& level = levels_[l];
    const core::End lower =
        core::End::of_switch(level.first + link / level.up_ports, level.down_ports + link % level.up_ports);
    return (channel - first_[l]) % 2 == 0 ? lower : way(lower).to;
  }

 private:
  [[nodiscard]] u32 level_of(u32 s) const {
    u32 l = static_cast<u32>(levels_.size()) - 1;
    while (levels_[l].first > s) --l;
    return l;
  }

  std::vector<core::TreeLevel> levels_;
  std::vector<u32> first_;  ///< [level]: channel of its first link up; then how many there are
  u32 terminals_;
  u32 spare_ports_;
  std::vector<u32> latency_;
  u32 terminal_latency_;
  TreeLinks links_;
};

class TreeTopology final : public core::Topology {
 public:
  TreeTopology(TreePlan plan, const config::Values& values, TreeLinks links) {
    u32 next = 0;
    for (core::TreeLevel& level : plan.tree.levels) {
      level.first = next;
      next += level.count;
    }
    graph_ = core::Graph(std::make_shared<TreeWiring>(plan, std::move(links)));
    tree_ = std::move(plan.tree);
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
  u64 channels = 2 * terminals;
  for (const core::TreeLevel& level : plan.tree.levels) channels += u64{2} * level.count * level.up_ports;
  if (channels > core::Graph::kMost) {
    values.fail(key, fmt::format("the tree would have {} channels, more than {}", channels, core::Graph::kMost),
                "give its levels fewer parents");
  }
  if (terminals < 2) values.fail(key, "a tree of one terminal carries no traffic", "give a level 2 children");
  plan.terminals = static_cast<u32>(terminals);
  read_tree_latency(values, plan);
  std::vector<u32> alike_at(children.size(), 1);
  for (std::size_t l = 1; l < children.size(); ++l) alike_at[l] = alike_at[l - 1] * parents[l];
  const auto up = [children, alike_at](u32 l, u32 n, u32 u) {
    const u32 group = n / alike_at[l];
    return TreeEnd{group / children[l + 1] * alike_at[l + 1] + n % alike_at[l] + u * alike_at[l],
                   group % children[l + 1]};
  };
  const auto down = [children, alike_at](u32 l, u32 n, u32 port) {
    const u32 group = n / alike_at[l] * children[l] + port;
    const u32 among = n % alike_at[l];
    return TreeEnd{group * alike_at[l - 1] + among % alike_at[l - 1], among / alike_at[l - 1]};
  };
  return std::make_unique<TreeTopology>(std::move(plan), values, TreeLinks{up, down});
}

}  // namespace banyan::topology::parts
