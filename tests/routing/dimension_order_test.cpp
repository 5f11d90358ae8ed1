// Is dimension-order routing minimal on every grid, and free of deadlock exactly when it says so?
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numeric>

#include "banyan/base/hash.hpp"
#include "banyan/core/dependencies.hpp"
#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::routing::dimension_order_test {
namespace {

using TopologyPtr = std::unique_ptr<core::Topology>;

TopologyPtr grid(const core::TopologyRow& row, std::vector<i64> size, i64 concentration = 1) {
  config::Values v = config::Values::defaults(row.info);
  v.set("size", std::move(size));
  v.set("concentration", concentration);
  return row.make(v);
}

TopologyPtr hypercube(i64 degree) {
  config::Values v = config::Values::defaults(topology::hypercube::row_hypercube.info);
  v.set("degree", degree);
  return topology::hypercube::row_hypercube.make(v);
}

struct Options {
  u32 vcs = 2;
  bool datelines = true;
  std::string classes = "change";
  std::string order = "ascending";
};

std::unique_ptr<core::Routing> routing(const core::Topology& topology, const Options& options = {}) {
  config::Values v = config::Values::defaults(routing::dimension_order::row_dimension_order.info);
  v.set("datelines", options.datelines);
  v.set("classes", options.classes);
  v.set("order", options.order);
  return routing::dimension_order::row_dimension_order.make(v, {&topology, {}, options.vcs});
}

struct Hop {
  u32 channel = 0;
  u32 vc_begin = 0;
  u32 vc_end = 0;
};

/// All channels after injection that a packet takes, ejection included. Stops after `most` hops.
std::vector<Hop> path(const core::Topology& topology, const core::Routing& routing, u32 source, u32 destination,
                      u32 most = 1000) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  routing.prepare(packet, 0);
  std::vector<Hop> hops;
  core::End at = topology.graph().channel(topology.graph().injection(source)).to;
  while (!at.terminal && hops.size() < most) {
    core::Candidates candidates;
    routing.route({at.node, at.port, 0, &packet, 0}, candidates);
    if (candidates.size() != 1) return {};
    const core::Candidate& c = candidates[0];
    const u32 channel = topology.graph().channel_out_of(at.node, c.port);
    if (channel == kNone) return {};
    hops.push_back({channel, c.vc_begin, c.vc_end});
    at = topology.graph().channel(channel).to;
  }
  return hops;
}

u32 distance(const core::Grid& grid, u32 a, u32 b) {
  u32 sum = 0;
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    const u32 k = grid.size[d];
    const u32 direct = static_cast<u32>(std::abs(static_cast<i32>(a % k) - static_cast<i32>(b % k)));
    sum += grid.wrap[d] ? std::min(direct, k - direct) : direct;
    a /= k;
    b /= k;
  }
  return sum;
}

void expect_minimal(const core::Topology& topology, const core::Routing& routing) {
  const core::Graph& graph = topology.graph();
  const u32 concentration = topology.grid()->concentration;
  for (u32 s = 0; s < graph.terminals(); ++s) {
    for (u32 t = 0; t < graph.terminals(); ++t) {
      const std::vector<Hop> hops = path(topology, routing, s, t);
      ASSERT_FALSE(hops.empty());
      ASSERT_EQ(graph.channel(hops.back().channel).to, core::End::of_terminal(t));
      ASSERT_EQ(hops.size(), 1 + distance(*topology.grid(), s / concentration, t / concentration));
    }
  }
}

/// True when the dependencies between (channel, virtual channel) over all pairs form a cycle.
bool dependencies_have_cycle(const core::Topology& topology, const core::Routing& routing, u32 vcs) {
  const core::Graph& graph = topology.graph();
  std::vector<std::vector<u32>> next(graph.channels().size() * vcs);
  for (u32 s = 0; s < graph.terminals(); ++s) {
    for (u32 t = 0; t < graph.terminals(); ++t) {
      const std::vector<Hop> hops = path(topology, routing, s, t);
      for (std::size_t i = 1; i < hops.size(); ++i) {
        for (u32 a = hops[i - 1].vc_begin; a < hops[i - 1].vc_end; ++a) {
          for (u32 b = hops[i].vc_begin; b < hops[i].vc_end; ++b) {
            next[hops[i - 1].channel * vcs + a].push_back(hops[i].channel * vcs + b);
          }
        }
      }
    }
  }
  std::vector<u32> waiting(next.size(), 0);
  for (std::vector<u32>& list : next) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    for (const u32 n : list) ++waiting[n];
  }
  std::vector<u32> order;
  for (u32 n = 0; n < next.size(); ++n) {
    if (waiting[n] == 0) order.push_back(n);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const u32 n : next[order[i]]) {
      if (--waiting[n] == 0) order.push_back(n);
    }
  }
  return order.size() != next.size();
}

TEST(DimensionOrder, EveryPairOfAMeshTakesTheManhattanDistance) {
  for (const auto& size : {std::vector<i64>{5, 4}, {7}, {3, 2, 4}, {1, 6}}) {
    const TopologyPtr mesh = grid(topology::mesh::row_mesh, size);
    expect_minimal(*mesh, *routing(*mesh));
    expect_minimal(*mesh, *routing(*mesh, {.vcs = 1, .order = "descending"}));
  }
}

TEST(DimensionOrder, EveryPairOfATorusTakesTheShortestWay) {
  for (const auto& size : {std::vector<i64>{8, 8}, {5, 6}, {7}, {4, 2, 3}, {2, 2}, {1, 4}, {3, 3, 3}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    for (const char* classes : {"change", "fixed", "balanced"}) {
      expect_minimal(*torus, *routing(*torus, {.classes = classes}));
      expect_minimal(*torus, *routing(*torus, {.classes = classes, .order = "descending"}));
    }
  }
}

TEST(DimensionOrder, EveryPairOfAHypercubeTakesTheHammingDistance) {
  const TopologyPtr cube = hypercube(6);
  expect_minimal(*cube, *routing(*cube));
}

TEST(DimensionOrder, EveryPairOfAHyperXTakesOneChannelPerDimensionThatDiffers) {
  for (const auto& size : {std::vector<i64>{4, 3}, {5}, {2, 3, 4}, {1, 4}}) {
    const TopologyPtr hyperx = grid(topology::hyperx::row_hyperx, size, 2);
    const auto one = routing(*hyperx, {.vcs = 1});
    EXPECT_EQ(one->required_vcs(), 1U);
    EXPECT_FALSE(dependencies_have_cycle(*hyperx, *one, 1));
    for (u32 s = 0; s < hyperx->graph().terminals(); ++s) {
      const std::vector<u32> from = hyperx->coordinates(s / 2);
      for (u32 t = 0; t < hyperx->graph().terminals(); ++t) {
        const std::vector<u32> to = hyperx->coordinates(t / 2);
        std::size_t differ = 0;
        for (std::size_t d = 0; d < from.size(); ++d) differ += from[d] != to[d] ? 1 : 0;
        for (const char* order : {"ascending", "descending"}) {
          const std::vector<Hop> hops = path(*hyperx, *routing(*hyperx, {.vcs = 1, .order = order}), s, t);
          ASSERT_EQ(hops.size(), differ + 1);
          EXPECT_EQ(hyperx->graph().channel(hops.back().channel).to, core::End::of_terminal(t));
        }
      }
    }
  }
}

TEST(DimensionOrder, ConcentratedTerminalsAreReachedAtTheirOwnPorts) {
  const TopologyPtr mesh = grid(topology::mesh::row_mesh, {3, 3}, 4);
  expect_minimal(*mesh, *routing(*mesh));
  const TopologyPtr torus = grid(topology::torus::row_torus, {4, 3}, 3);
  expect_minimal(*torus, *routing(*torus));
}

TEST(DimensionOrder, AscendingCorrectsDimensionZeroFirst) {
  const TopologyPtr mesh = grid(topology::mesh::row_mesh, {4, 4});
  const core::Graph& graph = mesh->graph();
  const auto visited = [&](const char* order) {
    std::vector<u32> nodes;
    for (const Hop& hop : path(*mesh, *routing(*mesh, {.order = order}), 0, 10)) {  // (0,0) to (2,2)
      if (!graph.channel(hop.channel).to.terminal) nodes.push_back(graph.channel(hop.channel).to.node);
    }
    return nodes;
  };
  EXPECT_EQ(visited("ascending"), (std::vector<u32>{1, 2, 6, 10}));
  EXPECT_EQ(visited("descending"), (std::vector<u32>{4, 8, 9, 10}));
}

TEST(DimensionOrder, DatelinesMakeTheDependenciesOfATorusAcyclic) {
  for (const auto& size : {std::vector<i64>{8}, {7}, {3}, {4, 4}, {6, 5}, {3, 4, 2}, {8, 8}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    for (const char* classes : {"change", "fixed", "balanced"}) {
      for (const u32 vcs : {2U, 3U, 4U}) {
        EXPECT_FALSE(dependencies_have_cycle(*torus, *routing(*torus, {.vcs = vcs, .classes = classes}), vcs))
            << classes << " " << vcs << " vcs, first dimension " << size[0];
      }
    }
  }
}

TEST(DimensionOrder, WithoutDatelinesTheDependenciesOfATorusHaveACycle) {
  for (const auto& size : {std::vector<i64>{8}, {5}, {4, 4}, {6, 5}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    for (const u32 vcs : {1U, 2U}) {
      EXPECT_TRUE(dependencies_have_cycle(*torus, *routing(*torus, {.vcs = vcs, .datelines = false}), vcs));
    }
  }
}

TEST(DimensionOrder, ThePairsThatStandForAllDecideAsAllDo) {
  for (const auto& size : {std::vector<i64>{4, 4}, {3, 4}, {4, 3}, {3, 3, 4}, {6, 5}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    for (const char* classes : {"change", "fixed", "balanced"}) {
      for (const bool datelines : {false, true}) {
        const auto order = routing(*torus, {.vcs = 2, .datelines = datelines, .classes = classes});
        const core::DependencyReport all = core::check_dependencies(*torus, *order, 2);
        const u64 terminals = torus->graph().terminals();
        const core::DependencyReport some = core::check_dependencies(*torus, *order, 2, terminals * terminals * 16 - 1);
        EXPECT_FALSE(all.represented);
        EXPECT_TRUE(some.represented);
        EXPECT_EQ(all.verdict, some.verdict) << classes << " " << datelines << " " << size[0] << " x " << size[1];
      }
    }
  }
}

/// What Routing::represents promises, on which the check stands that asks only for such pairs.
TEST(DimensionOrder, WithAPairBothItsEndsStandForOthersBesideTerminalZero) {
  for (const auto& size : {std::vector<i64>{4, 4}, {3, 3, 4}, {7}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    const auto order = routing(*torus, {.vcs = 2});
    u32 pairs = 0;
    for (u32 s = 0; s < torus->graph().terminals(); ++s) {
      for (u32 d = 0; d < torus->graph().terminals(); ++d) {
        if (!order->represents(s, d)) continue;
        ++pairs;
        EXPECT_TRUE(order->represents(s, 0)) << s << " " << d;
        EXPECT_TRUE(order->represents(0, d)) << s << " " << d;
      }
    }
    EXPECT_GT(pairs, torus->graph().terminals());
  }
}

TEST(DimensionOrder, MeshAndHypercubeNeedNoClasses) {
  const TopologyPtr mesh = grid(topology::mesh::row_mesh, {5, 4});
  EXPECT_FALSE(dependencies_have_cycle(*mesh, *routing(*mesh, {.vcs = 1}), 1));
  EXPECT_FALSE(dependencies_have_cycle(*mesh, *routing(*mesh, {.vcs = 3}), 3));
  const TopologyPtr cube = hypercube(5);
  EXPECT_FALSE(dependencies_have_cycle(*cube, *routing(*cube, {.vcs = 1}), 1));
}

TEST(DimensionOrder, VirtualChannelsAreNeededOnRingsOnly) {
  const TopologyPtr mesh = grid(topology::mesh::row_mesh, {4, 4});
  const TopologyPtr torus = grid(topology::torus::row_torus, {4, 4});
  const TopologyPtr short_torus = grid(topology::torus::row_torus, {2, 2, 1});
  EXPECT_EQ(routing(*mesh)->required_vcs(), 1U);
  EXPECT_EQ(routing(*torus)->required_vcs(), 2U);
  EXPECT_EQ(routing(*torus, {.datelines = false})->required_vcs(), 1U);
  EXPECT_EQ(routing(*short_torus)->required_vcs(), 1U);
}

TEST(DimensionOrder, OneVirtualChannelOnATorusIsRefusedWithTheRemedy) {
  const TopologyPtr torus = grid(topology::torus::row_torus, {4, 4});
  try {
    static_cast<void>(routing(*torus, {.vcs = 1}));
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) { EXPECT_NE(error.remedy().find("vcs = 2"), std::string::npos); }
  EXPECT_NO_THROW(static_cast<void>(routing(*torus, {.vcs = 1, .datelines = false})));
}

TEST(DimensionOrder, OrderIsPromisedOnOneVirtualChannelOnly) {
  const TopologyPtr mesh = grid(topology::mesh::row_mesh, {4, 4});
  EXPECT_TRUE(routing(*mesh, {.vcs = 1})->in_order());
  EXPECT_FALSE(routing(*mesh, {.vcs = 2})->in_order());
}

/// Switches remember the steps of a routing that says so.
TEST(DimensionOrder, WithoutRingsNothingCountsButSwitchAndDestination) {
  std::vector<TopologyPtr> topologies;
  topologies.push_back(grid(topology::mesh::row_mesh, {4, 3}, 2));
  topologies.push_back(grid(topology::mesh::row_mesh, {300, 2}));  // whose coordinates are not looked up
  topologies.push_back(grid(topology::torus::row_torus, {2, 2}));
  topologies.push_back(hypercube(4));
  topologies.push_back(grid(topology::hyperx::row_hyperx, {3, 4}, 2));
  for (const TopologyPtr& topology : topologies) {
    const auto r = routing(*topology, {.vcs = 4});
    ASSERT_TRUE(r->by_destination());
    const u32 terminals = topology->graph().terminals();
    const u32 switches = topology->graph().switches();
    for (u32 k = 0; k < 2000; ++k) {
      const u64 word = mix64(k);
      const u32 at = static_cast<u32>(word & 0xffffU) % switches;
      core::Packet packet;
      packet.destination = static_cast<u32>(word >> 16U & 0xffffU) % terminals;
      core::Candidates first;
      r->route({at, 0, 0, &packet, 0}, first);
      packet.source = static_cast<u32>(word >> 32U & 0xffffU) % terminals;
      packet.sequence = packet.flits = static_cast<u32>(word >> 40U);
      packet.vc_class = static_cast<u8>(word >> 48U);
      core::Candidates again;
      r->route({at, static_cast<u32>(word >> 52U & 1U), 3, &packet, static_cast<u32>(word >> 20U)}, again);
      ASSERT_EQ(first.size(), 1U);
      ASSERT_EQ(again.size(), 1U);
      EXPECT_EQ(first[0].port, again[0].port);
      EXPECT_EQ(first[0].vc_begin, again[0].vc_begin);
      EXPECT_EQ(first[0].vc_end, again[0].vc_end);
      const std::vector<core::Visit> visits{{at, packet.destination}, {switches - 1 - at, packet.destination}};
      std::vector<core::Candidate> steps(visits.size());
      r->steps(visits, steps.data());
      EXPECT_EQ(steps[0].port, first[0].port);
      EXPECT_EQ(steps[0].vc_begin, first[0].vc_begin);
      EXPECT_EQ(steps[0].vc_end, first[0].vc_end);
      core::Candidates from_there;
      r->route({visits[1].at, 0, 0, &packet, 0}, from_there);
      EXPECT_EQ(steps[1].port, from_there[0].port);
    }
  }
  const TopologyPtr torus = grid(topology::torus::row_torus, {4, 2});
  EXPECT_FALSE(routing(*torus)->by_destination());
}

TEST(DimensionOrder, ClassesSplitTheVirtualChannelsEvenly) {
  const TopologyPtr torus = grid(topology::torus::row_torus, {4, 4});
  const auto wide = routing(*torus, {.vcs = 8});
  for (u32 t = 1; t < 16; ++t) {
    for (const Hop& hop : path(*torus, *wide, 0, t)) {
      const bool ejection = torus->graph().channel(hop.channel).to.terminal;
      EXPECT_EQ(hop.vc_end - hop.vc_begin, ejection ? 8U : 4U);
      EXPECT_EQ(hop.vc_begin % 4, 0U);
    }
  }
}

TEST(DimensionOrder, TheClassChangesBehindTheWrapLink) {
  const TopologyPtr ring = grid(topology::torus::row_torus, {8});
  const auto classes_of = [&](u32 s, u32 t) {
    std::vector<u32> classes;
    for (const Hop& hop : path(*ring, *routing(*ring), s, t)) classes.push_back(hop.vc_begin);
    classes.pop_back();  // ejection
    return classes;
  };
  EXPECT_EQ(classes_of(6, 1), (std::vector<u32>{0, 0, 1}));  // 6 -> 7 -> 0 -> 1
  EXPECT_EQ(classes_of(1, 6), (std::vector<u32>{0, 0, 1}));  // 1 -> 0 -> 7 -> 6
  EXPECT_EQ(classes_of(1, 4), (std::vector<u32>{1, 1, 1}));
}

/// Flows per channel between switches under uniform traffic, one per pair.
std::vector<u32> channel_loads(const core::Topology& topology, const core::Routing& routing) {
  const core::Graph& graph = topology.graph();
  std::vector<u32> load(graph.channels().size(), 0);
  for (u32 s = 0; s < graph.terminals(); ++s) {
    for (u32 t = 0; t < graph.terminals(); ++t) {
      for (const Hop& hop : path(topology, routing, s, t)) ++load[hop.channel];
    }
  }
  std::vector<u32> between;
  for (std::size_t c = 0; c < load.size(); ++c) {
    if (!graph.channel(static_cast<u32>(c)).to.terminal && !graph.channel(static_cast<u32>(c)).from.terminal) {
      between.push_back(load[c]);
    }
  }
  return between;
}

TEST(DimensionOrder, TiesLoadAllChannelsOfATorusEqually) {
  for (const auto& size : {std::vector<i64>{8, 8}, {6, 6}, {4, 6}, {4, 4, 4}, {8}}) {
    const TopologyPtr torus = grid(topology::torus::row_torus, size);
    const std::vector<u32> loads = channel_loads(*torus, *routing(*torus));
    for (std::size_t d = 0; d < size.size(); ++d) {
      // Channels of one switch stand in the order of its ports: up and down of each dimension.
      for (std::size_t c = 2 * d; c < loads.size(); c += 2 * size.size()) {
        EXPECT_EQ(loads[c], loads[2 * d]);
        EXPECT_EQ(loads[c + 1], loads[2 * d]);
      }
    }
  }
}

TEST(DimensionOrder, BalancedClassesCarryEqualLoadOnATorus) {
  const TopologyPtr torus = grid(topology::torus::row_torus, {8, 8});
  const auto balanced = routing(*torus, {.classes = "balanced"});
  u32 load[2] = {0, 0};
  for (u32 s = 0; s < 64; ++s) {
    for (u32 t = 0; t < 64; ++t) {
      std::vector<Hop> hops = path(*torus, *balanced, s, t);
      hops.pop_back();
      for (const Hop& hop : hops) ++load[hop.vc_begin];
    }
  }
  EXPECT_EQ(load[0], load[1]);
}

}  // namespace
}  // namespace banyan::routing::dimension_order_test
