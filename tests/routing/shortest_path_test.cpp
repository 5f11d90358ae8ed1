// Does shortest_path take shortest paths on any graph, whole or damaged, and is it free of deadlock by its classes?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/rows.hpp"

namespace banyan::test::shortest_path_test {
namespace {

std::unique_ptr<core::Routing> shortest(const core::Topology& t, u32 vcs, const std::string& choice = "adaptive") {
  return routing("shortest_path", t, vcs, {{"choice", choice}});
}

void expect_right(const core::Topology& t, bool tree = false) {
  const u32 diameter = std::max(1U, distances(t.graph()).diameter);
  for (const char* choice : {"fixed", "random", "adaptive"}) {
    for (const u32 vcs : {diameter, 2 * diameter + 1}) {
      const auto r = shortest(t, vcs, choice);
      EXPECT_EQ(r->required_vcs(), tree ? 1U : diameter);
      expect_minimal(t, *r);
      expect_verdict(t, *r, vcs, core::DependencyVerdict::acyclic);
    }
  }
}

TEST(ShortestPath, EveryTopologyIsCrossedByShortestPathsWithoutCycles) {
  expect_right(*topology("mesh", {{"size", std::vector<i64>{3, 4}}}));
  expect_right(*topology("torus", {{"size", std::vector<i64>{5, 4}}}));
  expect_right(*topology("hypercube", {{"degree", i64{4}}}));
  expect_right(*topology("fat_tree", {{"arity", i64{3}}, {"levels", i64{2}}}), true);
  expect_right(*topology("dragonfly"));
  expect_right(*topology("hyperx", {{"size", std::vector<i64>{3, 4}}}));
  expect_right(*topology("slim_fly", {{"concentration", i64{1}}}));
  expect_right(*topology("graph_file"));
}

RC_GTEST_PROP(ShortestPath, DamageIsGoneAroundOrRefused, ()) {
  const i64 links = *rc::gen::inRange<i64>(0, 14);
  const i64 switches = *rc::gen::inRange<i64>(0, 3);
  const i64 seed = *rc::gen::inRange<i64>(0, 1 << 30);
  const auto t = topology("torus", {{"size", std::vector<i64>{4, 4}},
                                    {"random_failed_links", links},
                                    {"random_failed_switches", switches},
                                    {"failure_seed", seed}});
  const Distances d = distances(t->graph());
  if (!d.connected) {
    RC_ASSERT(refusal([&] { shortest(*t, 16); }).find("no path leads from terminal") != std::string::npos);
    return;
  }
  const u32 vcs = std::max(1U, d.diameter);
  const auto r = shortest(*t, vcs);
  expect_minimal(*t, *r);
  expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(ShortestPath, TreesNeedNoClasses) {
  for (const char* name : {"fat_tree", "xgft", "bidirectional_min"}) {
    const auto t = topology(name);
    for (const char* choice : {"fixed", "first", "random", "adaptive"}) {
      const auto r = shortest(*t, 1, choice);
      EXPECT_EQ(r->required_vcs(), 1U);
      expect_minimal(*t, *r);
      expect_verdict(*t, *r, 1, core::DependencyVerdict::acyclic);
    }
  }
  // A leaf's links to all parents but one fail; the other side loses that parent: the way leads up again.
  const std::vector<std::string> failed{"0 5", "0 6", "0 7", "1 4"};
  const auto damaged = topology("fat_tree", {{"levels", i64{2}}, {"failed_links", failed}});
  const auto r = shortest(*damaged, 8);
  EXPECT_EQ(r->required_vcs(), distances(damaged->graph()).diameter);
  expect_verdict(*damaged, *r, 8, core::DependencyVerdict::acyclic);
}

RC_GTEST_PROP(ShortestPath, DamagedTreesHaveClassesWhereTheyNeedThem, ()) {
  const auto t = topology("fat_tree", {{"arity", i64{2}},
                                       {"levels", i64{3}},
                                       {"random_failed_links", *rc::gen::inRange<i64>(0, 9)},
                                       {"failure_seed", *rc::gen::inRange<i64>(0, 1 << 30)}});
  const Distances d = distances(t->graph());
  if (!d.connected) return;
  const auto r = shortest(*t, 16);
  RC_ASSERT(r->required_vcs() == 1U || r->required_vcs() >= d.diameter);
  const u32 vcs = r->required_vcs();
  expect_verdict(*t, *shortest(*t, vcs), vcs, core::DependencyVerdict::acyclic);
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(ShortestPath, TooFewVirtualChannelsAreRefusedWithTheirNumber) {
  const auto mesh = topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  EXPECT_NE(refusal([&] { shortest(*mesh, 3); }).find("with vcs = 4"), std::string::npos);
}

TEST(ShortestPath, OneWayNetworksAreRefused) {
  const auto cube = topology("multistage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}});
  EXPECT_NE(refusal([&] { shortest(*cube, 8); }).find("enter and leave at one switch"), std::string::npos);
}

TEST(ShortestPath, OrderIsPromisedForFixedPathsOnSingleChannels) {
  const auto mesh = topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  EXPECT_FALSE(shortest(*mesh, 4, "fixed")->in_order()) << "a packet enters and leaves on any virtual channel";
  EXPECT_FALSE(shortest(*mesh, 5, "fixed")->in_order());
  const auto pair = topology("mesh", {{"size", std::vector<i64>{2}}});
  EXPECT_TRUE(shortest(*pair, 1, "fixed")->in_order());
  EXPECT_FALSE(shortest(*mesh, 4, "adaptive")->in_order());
}

}  // namespace
}  // namespace banyan::test::shortest_path_test
