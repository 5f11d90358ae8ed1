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

TEST(Valiant, TooFewVirtualChannelsAreRefused) {
  const auto torus = torus_of({4, 4});
  EXPECT_NE(refusal([&] { routing("valiant", *torus, 3); }).find("with vcs = 4"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::valiant_test
