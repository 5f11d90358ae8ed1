// Does Valiant's algorithm deliver over every intermediate switch, in the hops of two uniform journeys, without cycles?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::valiant_test {
namespace {

TEST(Valiant, TwoPhasesOfClassesHaveNoCycles) {
  for (const auto& t : spaces()) {
    const u32 needed = 2 * ring_classes(*t);
    for (const u32 vcs : {needed, needed + 3}) {
      const auto r = routing("valiant", *t, vcs);
      EXPECT_EQ(r->required_vcs(), needed);
      expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
    }
  }
}

TEST(Valiant, OtherGraphsTakeAClassPerHop) {
  for (const char* name : {"slim_fly", "dragonfly", "graph_file"}) {
    const auto t = topology(name);
    const u32 diameter = distances(t->graph()).diameter;
    const auto r = routing("valiant", *t, 2 * diameter);
    EXPECT_EQ(r->required_vcs(), 2 * diameter);
    if (t->graph().terminals() < 100) expect_verdict(*t, *r, 2 * diameter, core::DependencyVerdict::acyclic);
    expect_delivered(*t, *r, 2 * diameter, 1);
  }
}

/// Hops of (s, d) averaged over all intermediate switches: mean distance to s plus mean distance to d, 0 within a
/// switch.
TEST(Valiant, HopsAreThoseOfTwoUniformJourneys) {
  for (const auto& t : spaces()) {
    const auto r = routing("valiant", *t, 8);
    const core::Graph& graph = t->graph();
    u64 expected = 0;
    for (u32 s = 0; s < graph.terminals(); ++s) {
      const auto from = distances_from(graph, switch_of(graph, s));
      for (u32 d = 0; d < graph.terminals(); ++d) {
        if (switch_of(graph, s) == switch_of(graph, d)) continue;
        const auto to = distances_from(graph, switch_of(graph, d));
        for (u32 m = 0; m < graph.switches(); ++m) expected += from[m] + to[m];
      }
    }
    const MeanHops mean = mean_hops(*t, *r);
    EXPECT_EQ(mean.sum, expected);
    EXPECT_EQ(mean.count, u64{graph.terminals()} * graph.terminals() * graph.switches());
  }
}

/// A packet from (0,0) to (1,0) over (3,0): XY passes the destination on the way out.
TEST(Valiant, APacketLeavesWhereItPassesItsDestinationWhenItMay) {
  const auto t = mesh_of({4, 4});
  core::Packet packet;
  packet.destination = 1;
  packet.state = 3;
  const auto hops = [&](const std::string& early_exit) {
    return follow(*t, *routing("valiant", *t, 2, {{"early_exit", early_exit}}), packet, 1, 20);
  };
  EXPECT_EQ(hops("source"), 5U);
  EXPECT_EQ(hops("never"), 5U);
  EXPECT_EQ(hops("anywhere"), 1U);
}

TEST(Valiant, APacketToItsOwnSwitchTakesTheDetourWhenItMust) {
  const auto t = mesh_of({4, 4});
  core::Packet packet;
  packet.source = packet.destination = 1;
  packet.state = 3;
  const auto hops = [&](const std::string& early_exit) {
    return follow(*t, *routing("valiant", *t, 2, {{"early_exit", early_exit}}), packet, 1, 20);
  };
  EXPECT_EQ(hops("source"), 0U);
  EXPECT_EQ(hops("anywhere"), 0U);
  EXPECT_EQ(hops("never"), 4U);
  packet.state = 1;
  EXPECT_EQ(hops("never"), 0U) << "it is at the random switch";
}

TEST(Valiant, EveryExitDeliversWithoutCycles) {
  for (const auto& t : spaces()) {
    const u32 vcs = 2 * ring_classes(*t);
    for (const char* early_exit : {"anywhere", "never"}) {
      const auto r = routing("valiant", *t, vcs, {{"early_exit", std::string(early_exit)}});
      expect_delivered(*t, *r, 40, 1);
      expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
    }
  }
}

/// A square of four switches, rows before columns: over the lowest port, a phase is dimension order.
TEST(Valiant, WithoutClassesOfHopsAPhaseHasOneClass) {
  const auto t = topology(
      "graph_file", {{"lines", std::vector<std::string>{"switch a", "switch b", "switch c", "switch d", "terminal 0 a",
                                                        "terminal 1 b", "terminal 2 c", "terminal 3 d", "link a b",
                                                        "link c d", "link a c", "link b d"}}});
  const auto r = routing("valiant", *t, 2, {{"hop_classes", false}});
  EXPECT_EQ(r->required_vcs(), 2U);
  expect_delivered(*t, *r, 4, 1);
  expect_verdict(*t, *r, 2, core::DependencyVerdict::acyclic);
  EXPECT_EQ(routing("valiant", *t, 4)->required_vcs(), 4U);
}

TEST(Valiant, TooFewVirtualChannelsAreRefused) {
  const auto torus = torus_of({4, 4});
  EXPECT_NE(refusal([&] { routing("valiant", *torus, 3); }).find("with vcs = 4"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::valiant_test
