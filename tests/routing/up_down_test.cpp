// Does up*/down* reach everything on any connected graph, without ever going up again, and without cycles?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/rows.hpp"

namespace banyan::test::up_down_test {
namespace {

std::unique_ptr<core::Routing> up_down(const core::Topology& t, const std::string& choice = "adaptive",
                                       const std::string& order = "breadth_first", i64 root = -1) {
  return routing("up_down", t, 1, {{"choice", choice}, {"order", order}, {"root", root}});
}

TEST(UpDown, DeliversOnEveryTopologyWithoutCycles) {
  for (const char* name : {"mesh", "torus", "fat_tree", "dragonfly", "graph_file", "bidirectional_min"}) {
    const auto t = topology(name);
    for (const char* choice : {"fixed", "random", "adaptive"}) {
      for (const char* order : {"breadth_first", "automatic"}) {
        const auto r = up_down(*t, choice, order);
        expect_delivered(*t, *r, t->graph().switches(), 1);
        expect_verdict(*t, *r, 1, core::DependencyVerdict::acyclic);
      }
    }
  }
}

TEST(UpDown, OnATreeByLevelsItIsNearestCommonAncestorRouting) {
  for (const char* name : {"fat_tree", "xgft", "bidirectional_min"}) {
    const auto t = topology(name);
    expect_minimal(*t, *up_down(*t, "adaptive", "levels"));
    expect_verdict(*t, *up_down(*t, "adaptive", "levels"), 1, core::DependencyVerdict::acyclic);
  }
}

RC_GTEST_PROP(UpDown, RandomGraphsAreReachedExactlyWhereTheyAreConnected, ()) {
  const u32 switches = *rc::gen::inRange<u32>(2, 10);
  std::vector<std::string> lines;
  for (u32 s = 0; s < switches; ++s) {
    lines.push_back("switch s" + std::to_string(s));
    lines.push_back("terminal t" + std::to_string(s) + " s" + std::to_string(s));
    if (s > 0) {  // a random tree keeps it connected
      lines.push_back("link s" + std::to_string(s) + " s" + std::to_string(*rc::gen::inRange<u32>(0, s)));
    }
  }
  const u32 more = *rc::gen::inRange<u32>(0, 8);
  for (u32 i = 0; i < more; ++i) {
    const u32 a = *rc::gen::inRange<u32>(0, switches);
    const u32 b = *rc::gen::inRange<u32>(0, switches);
    if (a != b) lines.push_back("link s" + std::to_string(a) + " s" + std::to_string(b));
  }
  const i64 links = switches - 1;
  const auto t =
      topology("graph_file", {{"lines", lines},
                              {"random_failed_links", *rc::gen::inRange<i64>(0, std::min<i64>(links, 3) + 1)},
                              {"failure_seed", *rc::gen::inRange<i64>(0, 1000)}});
  if (!distances(t->graph()).connected) {
    RC_ASSERT(refusal([&] { up_down(*t); }).find("no path up and then down") != std::string::npos);
    return;
  }
  const char* const order = *rc::gen::element("breadth_first", "automatic");
  const auto r = up_down(*t, "adaptive", order, *rc::gen::inRange<i64>(-1, switches));
  expect_delivered(*t, *r, 2 * switches);
  expect_verdict(*t, *r, 1, core::DependencyVerdict::acyclic);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(UpDown, OneWayLinksGetARootFromWhichEveryPairHasAWay) {
  // From b to a, packets go over c, which must be above both.
  const std::vector<std::string> lines{"switch a",     "switch b",         "switch c", "terminal 0 a",
                                       "terminal 1 b", "link a b one_way", "link a c", "link b c"};
  const auto t = topology("graph_file", {{"lines", lines}});
  for (const char* order : {"breadth_first", "automatic"}) {
    const auto r = up_down(*t, "fixed", order);
    expect_delivered(*t, *r, 3, 1);
    expect_verdict(*t, *r, 1, core::DependencyVerdict::acyclic);
  }
  EXPECT_NE(refusal([&] { up_down(*t, "fixed", "automatic", 0); }).find("leave out root"), std::string::npos);
}

TEST(UpDown, TheRemedyIsOneThatHelps) {
  const std::vector<std::string> ring{"switch a",         "switch b",         "switch c",
                                      "terminal 0 a",     "terminal 1 b",     "terminal 2 c",
                                      "link a b one_way", "link b c one_way", "link c a one_way"};
  const std::string one_way = refusal([&] { up_down(*topology("graph_file", {{"lines", ring}})); });
  EXPECT_NE(one_way.find("make links two-way, or the routing "), std::string::npos) << one_way;
  EXPECT_NE(one_way.find("shortest_path"), std::string::npos) << one_way;
  EXPECT_EQ(one_way.find("fail"), std::string::npos) << one_way;
  const auto damaged = topology("mesh", {{"size", std::vector<i64>{2}}, {"random_failed_links", i64{1}}});
  const std::string cut = refusal([&] { up_down(*damaged); });
  EXPECT_NE(cut.find("let fewer links and switches fail"), std::string::npos) << cut;
  EXPECT_EQ(cut.find("two-way"), std::string::npos) << cut;
}

TEST(UpDown, TheRootIsInTheMiddleOfALine) {
  // Five switches in a line: with the root at an end or in the middle, all ways are the same; with a ring the way
  // around through the root is forbidden to packets that went down.
  const auto line = topology("mesh", {{"size", std::vector<i64>{5}}});
  expect_minimal(*line, *up_down(*line));
  const auto ring = topology("torus", {{"size", std::vector<i64>{6}}});
  u32 longer = 0;
  for (u32 s = 0; s < 6; ++s) {
    const auto distance = distances_from(ring->graph(), s);
    for (u32 d = 0; d < 6; ++d) longer += hops(*ring, *up_down(*ring), s, d, 1) > distance[d] ? 1 : 0;
  }
  EXPECT_GT(longer, 0U);
}

TEST(UpDown, DamagedTreesByLevelsMayHaveNoWay) {
  // A leaf's links to all parents but one fail; the other side loses that parent.
  const std::vector<std::string> failed{"0 5", "0 6", "0 7", "1 4"};
  const auto t = topology("fat_tree", {{"levels", i64{2}}, {"failed_links", failed}});
  EXPECT_NE(refusal([&] { up_down(*t, "adaptive", "levels"); }).find("use order = \"breadth_first\""),
            std::string::npos);
  expect_delivered(*t, *up_down(*t), 10);
  expect_delivered(*t, *up_down(*t, "adaptive", "automatic"), 10);
}

/// Ports that a packet may leave its first switch by.
u32 ways(const core::Topology& t, const core::Routing& r, u32 source, u32 destination) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  const core::End at = t.graph().channel(t.graph().injection(source)).to;
  core::Candidates candidates;
  r.route({at.node, at.port, 0, &packet, 0, nullptr}, candidates);
  return candidates.size();
}

TEST(UpDown, ByItselfItKeepsAllRootsOfATreeInUse) {
  const auto tree = topology("fat_tree", {{"arity", i64{4}}, {"levels", i64{2}}});
  EXPECT_EQ(ways(*tree, *up_down(*tree, "adaptive", "automatic"), 0, 15), 4U);
  EXPECT_EQ(ways(*tree, *up_down(*tree, "adaptive", "breadth_first"), 0, 15), 1U);
  // A root that is named is one.
  EXPECT_EQ(ways(*tree, *up_down(*tree, "adaptive", "automatic", 4), 0, 15), 1U);
}

/// Breadth first from a root in the middle leads half of a mesh's packets past that root.
TEST(UpDown, ByItselfItGoesByNumberWhereThatLoadsChannelsLess) {
  const auto mesh = topology("mesh", {{"size", std::vector<i64>{4, 4}}});
  u32 differ = 0;
  for (u32 s = 0; s < 16; ++s) {
    for (u32 d = 0; d < 16; ++d) {
      if (s == d) continue;
      const u32 automatic = ways(*mesh, *up_down(*mesh, "adaptive", "automatic"), s, d);
      EXPECT_EQ(automatic, ways(*mesh, *up_down(*mesh, "adaptive", "levels"), s, d));
      differ += automatic != ways(*mesh, *up_down(*mesh), s, d) ? 1U : 0U;
    }
  }
  EXPECT_GT(differ, 20U);
  // Some switch has no neighbour with a lower number: by number there is no way, and breadth first there is one.
  const auto damaged =
      topology("mesh", {{"size", std::vector<i64>{4, 4}}, {"failed_links", std::vector<std::string>{"5 1", "5 3"}}});
  EXPECT_NE(refusal([&] { up_down(*damaged, "adaptive", "levels"); }), "");
  expect_delivered(*damaged, *up_down(*damaged, "adaptive", "automatic"), 16);
}

TEST(UpDown, MistakesAreNamed) {
  const auto mesh = topology("mesh");
  EXPECT_NE(refusal([&] { up_down(*mesh, "fixed", "breadth_first", 64); }).find("no switch 64"), std::string::npos);
  const auto stages = topology("multistage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}});
  EXPECT_NE(refusal([&] { up_down(*stages); }).find("use such a network, or the routing destination_tag"),
            std::string::npos);
}

}  // namespace
}  // namespace banyan::test::up_down_test
