// Properties that every fat tree has.
#pragma once

#include <set>

#include "banyan/base/bits.hpp"
#include "support/rows.hpp"

namespace banyan::test {

/// The terminals that channels down lead to from every switch, computed from the graph.
inline std::vector<std::set<u32>> terminals_below(const core::Graph& graph, const core::Tree& tree) {
  std::vector<std::set<u32>> below(graph.switches());
  for (u32 s = 0; s < graph.switches(); ++s) {
    for (u32 p = 0; p < tree.levels[graph.level(s)].down_ports; ++p) {
      const core::End& to = graph.channel(graph.channel_out_of(s, p)).to;
      if (to.terminal) {
        below[s].insert(to.node);
      } else {
        EXPECT_LT(to.node, s);
        below[s].insert(below[to.node].begin(), below[to.node].end());
      }
    }
  }
  return below;
}

/// The digits of core::Tree agree with the channels, and ports up lead to ancestors of everything below.
inline void expect_tree(const core::Topology& topology) {
  const core::Graph& graph = topology.graph();
  ASSERT_NE(topology.tree(), nullptr);
  const core::Tree& tree = *topology.tree();
  const std::vector<std::set<u32>> below = terminals_below(graph, tree);
  for (u32 s = 0; s < graph.switches(); ++s) {
    const core::TreeLevel& level = tree.levels[graph.level(s)];
    ASSERT_GE(s, level.first);
    ASSERT_LT(s, level.first + level.count);
    for (u32 t = 0; t < graph.terminals(); ++t) {
      const bool under = t / level.key_divide % level.key_modulo == tree.key[s];
      ASSERT_EQ(under, below[s].contains(t)) << topology.label(s) << " and terminal " << t;
      if (!under) continue;
      const u32 first = t / level.port_divide % level.port_modulo * level.port_times;
      for (u32 p = 0; p < level.down_ports; ++p) {
        const core::End& to = graph.channel(graph.channel_out_of(s, p)).to;
        const bool leads = to.terminal ? to.node == t : below[to.node].contains(t);
        ASSERT_EQ(leads, p >= first && p < first + level.port_times)
            << topology.label(s) << " port " << p << " to " << t;
      }
    }
    for (u32 p = 0; p < level.up_ports; ++p) {
      const core::End& to = graph.channel(graph.channel_out_of(s, level.down_ports + p)).to;
      ASSERT_FALSE(to.terminal);
      EXPECT_EQ(graph.level(to.node), graph.level(s) + 1);
      EXPECT_TRUE(std::includes(below[to.node].begin(), below[to.node].end(), below[s].begin(), below[s].end()));
    }
  }
}

}  // namespace banyan::test
