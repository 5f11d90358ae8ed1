// Is the k-ary n-tree a full fat tree, and do its digits say where terminals are?
#include <gtest/gtest.h>

#include "topology/trees.hpp"

namespace banyan::test::fat_tree_test {
namespace {

TEST(FatTree, HasTheSizeOfAKAryNTree) {
  for (const auto& [k, n] : {std::pair<i64, i64>{4, 3}, {2, 4}, {3, 2}, {5, 1}, {2, 1}}) {
    const auto t = topology("fat_tree", {{"arity", k}, {"levels", n}});
    const u32 terminals = static_cast<u32>(power(static_cast<u64>(k), static_cast<u32>(n)));
    EXPECT_EQ(t->graph().terminals(), terminals);
    EXPECT_EQ(t->graph().switches(), n * terminals / k);
    EXPECT_EQ(t->graph().channels().size(), 2 * static_cast<std::size_t>(n) * terminals);
    expect_tree(*t);
    expect_bidirectional(t->graph());
  }
}

TEST(FatTree, DistancesAreThoseOfTheNearestCommonAncestor) {
  // Terminals whose switches meet at level l are 2 l channels apart: k^(l+1) - k^l of them for every terminal.
  const auto t = topology("fat_tree", {{"arity", i64{4}}, {"levels", i64{3}}});
  const Distances d = distances(t->graph());
  EXPECT_EQ(d.diameter, 4U);
  EXPECT_EQ(d.sum, 64U * ((16 - 4) * 2 + (64 - 16) * 4));
}

TEST(FatTree, EverySwitchButTheRootsHasAsManyParentsAsChildren) {
  const auto t = topology("fat_tree", {{"arity", i64{3}}, {"levels", i64{3}}});
  for (u32 s = 0; s < t->graph().switches(); ++s) {
    EXPECT_EQ(t->graph().outputs(s), t->graph().level(s) == 2 ? 3U : 6U);
  }
  EXPECT_EQ(t->label(10), "level 1 switch 1");
  EXPECT_EQ(t->port_label(10, 4), "up 1");
}

TEST(FatTree, LatenciesArePerPairOfLevels) {
  const auto t = topology("fat_tree", {{"latency", std::vector<i64>{2, 5}}, {"terminal_latency", i64{3}}});
  for (const core::Channel& c : t->graph().channels()) {
    const bool terminal = c.from.terminal || c.to.terminal;
    const u32 lower = terminal ? 0 : std::min(t->graph().level(c.from.node), t->graph().level(c.to.node));
    EXPECT_EQ(c.link.latency_cycles, terminal ? 3U : lower == 0 ? 2U : 5U);
  }
  const auto three = [] { topology("fat_tree", {{"latency", std::vector<i64>{1, 2, 3}}}); };
  EXPECT_NE(refusal(three).find("3 latencies for 2 pairs of levels"), std::string::npos);
}

TEST(FatTree, RefusesWhatIsNoNetwork) {
  EXPECT_NE(refusal([] { topology("fat_tree", {{"arity", i64{1}}}); }).find("one terminal"), std::string::npos);
  EXPECT_NE(refusal([] {
              topology("fat_tree", {{"arity", i64{64}}, {"levels", i64{5}}});
            }).find("more than"),
            std::string::npos);
}

}  // namespace
}  // namespace banyan::test::fat_tree_test
