// Is ROMM minimal over every switch of the box, and free of cycles?
#include <gtest/gtest.h>

#include <set>

#include "routing/spaces.hpp"

namespace banyan::test::romm_test {
namespace {

TEST(Romm, EveryHeaderIsAShortestWay) {
  for (const auto& t : spaces()) {
    const MeanHops mean = mean_hops(*t, *routing("romm", *t, 4));
    EXPECT_GT(mean.count, 0U);
    expect_minimal(*t, *routing("romm", *t, 5), 6);
  }
}

TEST(Romm, TheIntermediateSwitchesAreTheBoxOfShortestPaths) {
  for (const auto& t : spaces()) {
    const auto r = routing("romm", *t, 4);
    const core::Graph& graph = t->graph();
    const auto from = distances_from(graph, switch_of(graph, 1));
    for (u32 d = 0; d < graph.terminals(); ++d) {
      const auto to = distances_from(graph, switch_of(graph, d));
      std::set<u64> middles;
      const u32 headers = r->headers(1, d);
      for (u32 h = 0; h < headers; ++h) {
        core::Packet packet;
        packet.source = 1;
        packet.destination = d;
        r->prepare(packet, static_cast<u32>(((u64{h} << 32U) + (u64{1} << 31U)) / headers));
        middles.insert(packet.state);
        EXPECT_EQ(from[packet.state] + to[packet.state], from[switch_of(graph, d)]);
      }
      u32 between = 0;  // switches on any shortest way, on both sides of a ring at half of its length
      for (u32 m = 0; m < graph.switches(); ++m) between += from[m] + to[m] == from[switch_of(graph, d)] ? 1U : 0U;
      EXPECT_EQ(middles.size(), between);
    }
  }
}

TEST(Romm, TwoPhasesHaveNoCycles) {
  for (const auto& t : spaces()) {
    const u32 vcs = 2 * ring_classes(*t);
    expect_verdict(*t, *routing("romm", *t, vcs), vcs, core::DependencyVerdict::acyclic);
    EXPECT_NE(refusal([&] { routing("romm", *t, vcs - 1); }).find("virtual channels"), std::string::npos);
  }
}

TEST(Romm, NeedsCoordinates) {
  const auto tree = topology("fat_tree");
  EXPECT_NE(refusal([&] { routing("romm", *tree, 4); }).find("needs a topology with coordinates"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::romm_test
