// Do failed links and switches, listed or at random, leave the rest of a network as it was?
#include <gtest/gtest.h>

#include <set>

#include "support/rows.hpp"

namespace banyan::test::damage_test {
namespace {

using Texts = std::vector<std::string>;

std::set<u32> failed(const core::Graph& graph) {
  std::set<u32> list;
  for (u32 c = 0; c < graph.channels().size(); ++c) {
    if (graph.channel(c).failed) list.insert(c);
  }
  return list;
}

TEST(Damage, AListedLinkFailsInBothDirections) {
  const auto whole = topology("mesh", {{"size", std::vector<i64>{4, 4}}});
  const auto t = topology("mesh", {{"size", std::vector<i64>{4, 4}}, {"failed_links", Texts{"5 0"}}});
  EXPECT_FALSE(whole->graph().damaged());
  EXPECT_TRUE(t->graph().damaged());
  const std::set<u32> channels = failed(t->graph());
  ASSERT_EQ(channels.size(), 2U);
  for (const u32 c : channels) {
    const core::Channel& channel = t->graph().channel(c);
    EXPECT_EQ(std::min(channel.from.node, channel.to.node), 5U);
    EXPECT_EQ(std::max(channel.from.node, channel.to.node), 6U);
  }
}

TEST(Damage, RandomLinksDependOnTheSeedAlone) {
  const auto random = [](i64 links, i64 seed) {
    return failed(
        topology("torus", {{"size", std::vector<i64>{6, 6}}, {"random_failed_links", links}, {"failure_seed", seed}})
            ->graph());
  };
  EXPECT_EQ(random(7, 1).size(), 14U);
  EXPECT_EQ(random(7, 1), random(7, 1));
  EXPECT_NE(random(7, 1), random(7, 2));
  EXPECT_EQ(random(72, 3).size(), 144U);
}

TEST(Damage, AFailedSwitchTakesItsTerminalsAlong) {
  const auto t = topology(
      "mesh", {{"size", std::vector<i64>{3, 3}}, {"concentration", i64{2}}, {"failed_switches", std::vector<i64>{4}}});
  const core::Graph& graph = t->graph();
  EXPECT_EQ(graph.terminals(), 16U);
  EXPECT_EQ(graph.switches(), 9U);
  EXPECT_EQ(switch_of(graph, 7), 3U);
  EXPECT_EQ(switch_of(graph, 8), 5U);  // the terminals of switch 4 are gone, those behind moved up
  EXPECT_EQ(failed(graph).size(), 8U);
  EXPECT_EQ(t->grid(), nullptr);
  EXPECT_TRUE(distances(graph).connected);
}

TEST(Damage, SwitchesWithoutTerminalsLeaveTheNumbersAlone) {
  const auto t = topology("fat_tree", {{"failed_switches", std::vector<i64>{40}}});
  EXPECT_EQ(t->graph().terminals(), 64U);
  EXPECT_NE(t->tree(), nullptr);
  EXPECT_EQ(failed(t->graph()).size(), 8U);
  EXPECT_TRUE(distances(t->graph()).connected);
}

TEST(Damage, RandomSwitchesAreChosenAmongTheOthers) {
  for (const i64 seed : {1, 2, 3}) {
    const auto t = topology("torus", {{"size", std::vector<i64>{4, 4}},
                                      {"failed_switches", std::vector<i64>{3}},
                                      {"random_failed_switches", i64{2}},
                                      {"failure_seed", seed}});
    EXPECT_EQ(t->graph().terminals(), 13U);
  }
}

TEST(Damage, MistakesAreNamed) {
  const auto with = [](const Settings& given) { return refusal([&] { topology("torus", given); }); };
  EXPECT_NE(with({{"failed_links", Texts{"5"}}}).find("write it as \"SWITCH PORT\""), std::string::npos);
  EXPECT_NE(with({{"failed_links", Texts{"5 x"}}}).find("write it as \"SWITCH PORT\""), std::string::npos);
  EXPECT_NE(with({{"failed_links", Texts{"64 0"}}}).find("switches are 0 to 63"), std::string::npos);
  EXPECT_NE(with({{"failed_links", Texts{"5 4"}}}).find("no link to another switch"), std::string::npos);
  EXPECT_NE(with({{"failed_switches", std::vector<i64>{64}}}).find("switches are 0 to 63"), std::string::npos);
  EXPECT_NE(with({{"random_failed_links", i64{129}}}).find("use at most 128"), std::string::npos);
  EXPECT_NE(with({{"random_failed_switches", i64{63}}}).find("fewer than 2 terminals"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::damage_test
