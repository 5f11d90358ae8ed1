// Are the wirings what their literature says, and are they all one network?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "topology/digits.hpp"
#include "topology/networks.hpp"

namespace banyan::multistage_cube_test {
namespace {

using namespace test;

/// Runs `check(topology)` on every wiring and size.
template <typename Check>
void on_every_network(const Check& check) {
  for (const auto& [terminals, radix] : all_sizes()) {
    for (const std::string& wiring : all_wirings()) {
      SCOPED_TRACE(wiring + " of " + std::to_string(terminals) + " terminals, radix " + std::to_string(radix));
      check(*cube(terminals, radix, wiring));
    }
  }
}

/// For every switch and terminal: the number of paths from the switch to the terminal.
std::vector<std::vector<u32>> paths_to_terminals(const core::Graph& graph) {
  std::vector<std::vector<u32>> count(graph.switches(), std::vector<u32>(graph.terminals(), 0));
  const std::vector<u32> order = graph.topological_order();
  for (auto s = order.rbegin(); s != order.rend(); ++s) {
    for (u32 port = 0; port < graph.outputs(*s); ++port) {
      const core::End to = graph.channel(graph.channel_out_of(*s, port)).to;
      if (to.terminal) ++count[*s][to.node];
      for (u32 t = 0; t < graph.terminals() && !to.terminal; ++t) count[*s][t] += count[to.node][t];
    }
  }
  return count;
}

/// For every switch: the terminals that have a path to it.
std::vector<std::set<u32>> sources_of_switches(const core::Graph& graph) {
  std::vector<std::set<u32>> sources(graph.switches());
  for (const u32 s : graph.topological_order()) {
    for (u32 port = 0; port < graph.inputs(s); ++port) {
      const core::End from = graph.channel(graph.channel_into(s, port)).from;
      if (from.terminal) {
        sources[s].insert(from.node);
      } else {
        sources[s].insert(sources[from.node].begin(), sources[from.node].end());
      }
    }
  }
  return sources;
}

std::vector<std::set<u32>> destinations_of_switches(const core::Graph& graph) {
  std::vector<std::set<u32>> destinations(graph.switches());
  const auto count = paths_to_terminals(graph);
  for (u32 s = 0; s < graph.switches(); ++s) {
    for (u32 t = 0; t < graph.terminals(); ++t) {
      if (count[s][t] != 0) destinations[s].insert(t);
    }
  }
  return destinations;
}

TEST(MultistageCube, EveryPairHasExactlyOnePath) {
  on_every_network([](const core::Topology& topology) {
    const core::Graph& graph = topology.graph();
    const auto count = paths_to_terminals(graph);
    for (u32 s = 0; s < graph.terminals(); ++s) {
      const core::Channel& entry = graph.channel(graph.injection(s));
      ASSERT_FALSE(entry.to.terminal);
      EXPECT_TRUE(std::all_of(count[entry.to.node].begin(), count[entry.to.node].end(), [](u32 c) { return c == 1; }));
    }
  });
}

TEST(MultistageCube, BoxesAreNumberedStageByStageInTheOrderOfTraversal) {
  on_every_network([](const core::Topology& topology) {
    const core::Graph& graph = topology.graph();
    const core::Multistage& stages = *topology.multistage();
    const u32 boxes = graph.terminals() / stages.radix;
    ASSERT_EQ(graph.levels(), stages.digits);
    ASSERT_EQ(stages.digit_of_stage.size(), stages.digits);
    ASSERT_EQ(stages.stage_label.size(), stages.digits);
    ASSERT_EQ(graph.switches(), boxes * stages.digits);
    for (u32 s = 0; s < graph.switches(); ++s) {
      EXPECT_EQ(graph.level(s), s / boxes);
      EXPECT_EQ(graph.inputs(s), stages.radix);
      EXPECT_EQ(graph.outputs(s), stages.radix);
    }
    for (const core::Channel& c : graph.channels()) {
      EXPECT_FALSE(c.failed);
      if (c.from.terminal || c.to.terminal) continue;
      EXPECT_EQ(graph.level(c.from.node) + 1, graph.level(c.to.node));
    }
  });
}

TEST(MultistageCube, TheOutputPortOfAStageSetsItsDigitOfTheDestination) {
  on_every_network([](const core::Topology& topology) {
    const core::Graph& graph = topology.graph();
    const core::Multistage& stages = *topology.multistage();
    const auto destinations = destinations_of_switches(graph);
    for (const core::Channel& c : graph.channels()) {
      if (c.from.terminal) continue;
      const u32 i = stages.digit_of_stage[graph.level(c.from.node)];
      const std::set<u32> behind = c.to.terminal ? std::set<u32>{c.to.node} : destinations[c.to.node];
      for (const u32 d : behind) ASSERT_EQ(digit(d, stages.radix, i), c.from.port);
    }
  });
}

TEST(MultistageCube, StageIOfTheGeneralizedCubeJoinsLinksThatDifferInDigitIOnly) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = cube(terminals, radix);
    const core::Graph& graph = topology->graph();
    const std::vector<u32> number = link_numbers(graph);
    for (u32 s = 0; s < graph.switches(); ++s) {
      const u32 i = topology->multistage()->stage_label[graph.level(s)];
      EXPECT_EQ(i, topology->multistage()->digits - 1 - graph.level(s));
      const u32 first = number[graph.channel_into(s, 0)];
      for (u32 port = 0; port < radix; ++port) {
        ASSERT_EQ(number[graph.channel_into(s, port)], with_digit(first, radix, i, port));
      }
    }
    for (u32 t = 0; t < terminals; ++t) EXPECT_EQ(number[graph.ejection(t)], t);
  }
}

TEST(MultistageCube, StageIOfTheIndirectBinaryCubeJoinsLinksThatDifferInDigitIOnlyLowestDigitFirst) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = cube(terminals, radix, "indirect_binary_cube");
    const core::Graph& graph = topology->graph();
    const std::vector<u32> number = link_numbers(graph);
    for (u32 s = 0; s < graph.switches(); ++s) {
      const u32 first = number[graph.channel_into(s, 0)];
      for (u32 port = 0; port < radix; ++port) {
        ASSERT_EQ(number[graph.channel_into(s, port)], with_digit(first, radix, graph.level(s), port));
      }
    }
    for (u32 t = 0; t < terminals; ++t) EXPECT_EQ(number[graph.ejection(t)], t);
  }
}

TEST(MultistageCube, TheEightByEightOmegaNetworkIsThatOfLawrie) {
  const TopologyPointer topology = cube(8, 2, "omega");
  const core::Graph& graph = topology->graph();
  // The perfect shuffle of eight cards: 0 1 2 3 | 4 5 6 7 go to positions 0 2 4 6 | 1 3 5 7.
  const std::vector<u32> position{0, 2, 4, 6, 1, 3, 5, 7};
  for (u32 x = 0; x < 8; ++x) {
    const core::End into{position[x] / 2, static_cast<u16>(position[x] % 2), false};
    EXPECT_EQ(graph.channel(graph.injection(x)).to, into);
    EXPECT_EQ(graph.channel(graph.channel_out_of(x / 2, x % 2)).to.node, 4 + into.node);
    EXPECT_EQ(graph.channel(graph.channel_out_of(8 + x / 2, x % 2)).to, core::End::of_terminal(x));
  }
}

TEST(MultistageCube, TheFlipNetworkIsTheOmegaNetworkTraversedBackwards) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer omega = cube(terminals, radix, "omega");
    const TopologyPointer flip = cube(terminals, radix, "flip");
    const u32 boxes = terminals / radix;
    const u32 last = omega->multistage()->digits - 1;
    const auto mirrored = [&](core::End end) {
      if (!end.terminal) end.node = (last - end.node / boxes) * boxes + end.node % boxes;
      return end;
    };
    for (const core::Channel& c : omega->graph().channels()) {
      const core::End from = mirrored(c.to);
      const u32 there =
          from.terminal ? flip->graph().injection(from.node) : flip->graph().channel_out_of(from.node, from.port);
      ASSERT_EQ(flip->graph().channel(there).to, mirrored(c.from));
    }
  }
}

TEST(MultistageCube, EveryHalfBehindTheFirstStageOfABaselineNetworkIsABaselineNetwork) {
  const TopologyPointer whole = cube(64, 4, "baseline");
  const TopologyPointer part = cube(16, 4, "baseline");
  for (u32 q = 0; q < 4; ++q) {
    // Box b of stage s of sub-network q is box 4q + b of stage s + 1 of the whole.
    const auto lifted = [&](core::End end) {
      if (end.terminal) return core::End::of_terminal(16 * q + end.node);
      return core::End::of_switch((end.node / 4 + 1) * 16 + 4 * q + end.node % 4, end.port);
    };
    for (const core::Channel& c : part->graph().channels()) {
      if (c.from.terminal) continue;
      const core::End from = lifted(c.from);
      const u32 there = whole->graph().channel_out_of(from.node, from.port);
      ASSERT_EQ(whole->graph().channel(there).to, lifted(c.to));
    }
  }
}

// The isomorphism. In a network with one path per pair, the terminals fall into nested classes: at each stage, those
// that reach the same boxes. A map of the terminals that respects the classes on both sides maps the boxes, too: a box
// is known by its stage, its sources and its destinations. Whether that map keeps the channels is then checked edge by
// edge, so that no theorem is trusted.

/// The terminals in an order in which every class is contiguous. `classes[t]`: class of t at each stage, finest first.
std::vector<u32> in_order_of_classes(std::vector<std::vector<u32>> classes) {
  for (auto& list : classes) std::reverse(list.begin(), list.end());
  std::vector<u32> order(classes.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](u32 a, u32 b) { return classes[a] < classes[b]; });
  return order;
}

/// The classes of the terminals at every stage: equal exactly when the same boxes of that stage have both in `sets`.
std::vector<std::vector<u32>> classes_by_boxes(const core::Graph& graph, const std::vector<std::set<u32>>& sets) {
  std::vector<std::vector<u32>> classes(graph.terminals());
  for (u32 level = 0; level < graph.levels(); ++level) {
    std::map<std::vector<u32>, u32> numbers;
    for (u32 t = 0; t < graph.terminals(); ++t) {
      std::vector<u32> boxes;
      for (u32 s = 0; s < graph.switches(); ++s) {
        if (graph.level(s) == level && sets[s].count(t) != 0) boxes.push_back(s);
      }
      classes[t].push_back(numbers.try_emplace(boxes, static_cast<u32>(numbers.size())).first->second);
    }
  }
  return classes;
}

struct Orders {
  std::vector<u32> sources;
  std::vector<u32> destinations;
};

Orders class_orders(const core::Graph& graph) {
  auto towards = classes_by_boxes(graph, destinations_of_switches(graph));
  for (auto& list : towards) std::reverse(list.begin(), list.end());
  return {in_order_of_classes(classes_by_boxes(graph, sources_of_switches(graph))),
          in_order_of_classes(std::move(towards))};
}

/// map[a[i]] = b[i]
std::vector<u32> pairing(const std::vector<u32>& a, const std::vector<u32>& b) {
  std::vector<u32> map(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) map[a[i]] = b[i];
  return map;
}

std::set<u32> image(const std::set<u32>& set, const std::vector<u32>& map) {
  std::set<u32> mapped;
  for (const u32 x : set) mapped.insert(map[x]);
  return mapped;
}

using BoxKey = std::pair<u32, std::pair<std::set<u32>, std::set<u32>>>;

void expect_isomorphic(const core::Graph& a, const core::Graph& b) {
  const Orders orders_a = class_orders(a);
  const Orders orders_b = class_orders(b);
  const std::vector<u32> source_map = pairing(orders_a.sources, orders_b.sources);
  const std::vector<u32> destination_map = pairing(orders_a.destinations, orders_b.destinations);

  std::map<BoxKey, u32> box_of;
  const auto from_b = sources_of_switches(b);
  const auto to_b = destinations_of_switches(b);
  for (u32 s = 0; s < b.switches(); ++s) box_of[{b.level(s), {from_b[s], to_b[s]}}] = s;
  ASSERT_EQ(box_of.size(), b.switches());

  const auto from_a = sources_of_switches(a);
  const auto to_a = destinations_of_switches(a);
  std::vector<u32> box_map(a.switches(), kNone);
  for (u32 s = 0; s < a.switches(); ++s) {
    const auto found = box_of.find({a.level(s), {image(from_a[s], source_map), image(to_a[s], destination_map)}});
    ASSERT_NE(found, box_of.end()) << "no box like box " << s;
    box_map[s] = found->second;
  }
  EXPECT_EQ(std::set<u32>(box_map.begin(), box_map.end()).size(), b.switches());

  using Edge = std::pair<std::pair<bool, u32>, std::pair<bool, u32>>;
  std::multiset<Edge> edges_b;
  std::multiset<Edge> mapped;
  for (const core::Channel& c : b.channels()) {
    edges_b.insert({{c.from.terminal, c.from.node}, {c.to.terminal, c.to.node}});
  }
  for (const core::Channel& c : a.channels()) {
    mapped.insert({{c.from.terminal, c.from.terminal ? source_map[c.from.node] : box_map[c.from.node]},
                   {c.to.terminal, c.to.terminal ? destination_map[c.to.node] : box_map[c.to.node]}});
  }
  EXPECT_TRUE(mapped == edges_b);
}

TEST(MultistageCube, EveryWiringIsIsomorphicToTheGeneralizedCubeStageByStage) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer generalized = cube(terminals, radix);
    for (const std::string& wiring : all_wirings()) {
      SCOPED_TRACE(wiring + " " + std::to_string(terminals) + " " + std::to_string(radix));
      expect_isomorphic(cube(terminals, radix, wiring)->graph(), generalized->graph());
    }
  }
}

TEST(MultistageCube, TheWiringsAreDifferentDrawingsOfTheSameNetwork) {
  // Were they built as renamed cubes, the isomorphism would say nothing.
  std::set<std::vector<u32>> drawings;
  for (const std::string& wiring : all_wirings()) {
    std::vector<u32> ends;
    const TopologyPointer topology = cube(16, 2, wiring);
    for (const core::Channel& c : topology->graph().channels()) ends.push_back(c.to.node * 2 + c.to.port);
    drawings.insert(ends);
  }
  EXPECT_EQ(drawings.size(), all_wirings().size());
}

TEST(MultistageCube, OneBoxIsANetwork) {
  for (const std::string& wiring : all_wirings()) {
    const TopologyPointer topology = cube(4, 4, wiring);
    EXPECT_EQ(topology->graph().switches(), 1U);
    EXPECT_EQ(topology->graph().channel(topology->graph().ejection(3)).from, core::End::of_switch(0, 3));
  }
}

TEST(MultistageCube, BoxesAreLabelledWithTheStageNumbersOfTheLiterature) {
  EXPECT_EQ(cube(64, 4)->label(0), "stage 2 box 0");
  EXPECT_EQ(cube(64, 4)->label(37), "stage 0 box 5");
  EXPECT_EQ(cube(64, 4, "baseline")->label(37), "stage 2 box 5");
}

TEST(MultistageCube, TerminalsThatAreNoPowerOfTheRadixAreRefusedWithThePowersAround) {
  EXPECT_EQ(config_error([] { cube(100, 4); }), "100 terminals are no power of the radix 4 | use 64 or 256");
  EXPECT_EQ(config_error([] { cube(2, 8); }), "2 terminals are no power of the radix 8 | use 8 or 64");
  EXPECT_EQ(config_error([] { cube(80, 3); }), "80 terminals are no power of the radix 3 | use 27 or 81");
}

}  // namespace
}  // namespace banyan::multistage_cube_test
