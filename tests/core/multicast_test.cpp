// Do reachability strings and the ways of worms look as in the paper's Figure 3?
#include "banyan/core/multicast.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::topology::multicast_test {}
namespace banyan::routing {}

namespace {

using namespace banyan;
using core::MulticastRoutes;

/// 16 nodes of switches with 2 parents and 2 children: 4 stages of 8, as in Figure 3.
struct Figure3 {
  Figure3() {
    config::Values values = config::Values::defaults(topology::bidirectional_min::row_bidirectional_min.info);
    values.set("hosts", i64{16});
    values.set("ports", i64{4});
    values.set("wiring", std::string("k_ary_n_tree"));
    topology = topology::bidirectional_min::row_bidirectional_min.make(values);
    routing = routing::nearest_common_ancestor::row_nearest_common_ancestor.make(
        config::Values::defaults(routing::nearest_common_ancestor::row_nearest_common_ancestor.info),
        {topology.get(), {}, 1});
    routes = routing->multicast_routes();
  }
  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  std::unique_ptr<MulticastRoutes> routes;
};

TEST(MulticastRoutes, StringsOfFigure3HaveTwiceAsManyBitsPerStage) {
  const Figure3 f;
  ASSERT_NE(f.routes, nullptr);
  const core::Tree& tree = *f.topology->tree();
  ASSERT_EQ(tree.levels.size(), 4U);
  for (u32 l = 0; l < 4; ++l) {
    const u32 s = tree.levels[l].first;  // the first switch of a stage lies above the first nodes
    const u64 half = (u64{1} << (1U << l)) - 1;
    EXPECT_EQ(*f.routes->reach(s, 0), half) << l;
    EXPECT_EQ(*f.routes->reach(s, 1), half << (1U << l)) << l;
    EXPECT_EQ(*f.routes->below(s), half | half << (1U << l)) << l;
    for (u32 p = 2; p < 4; ++p) EXPECT_EQ(*f.routes->reach(s, p), 0U) << "ports that lead up have no string";
    EXPECT_EQ(f.routes->up_ports(s).size(), l < 3 ? 2U : 0U);
  }
}

TEST(MulticastRoutes, AWormGoesUpUntilAllIsBelowAndThenWhereHeaderAndStringMeet) {
  const Figure3 f;
  const core::Tree& tree = *f.topology->tree();
  const u64 header = 1U << 2U | 1U << 3U | 1U << 7U;  // from node 0: the ancestors of 8 nodes cover it
  const u32 leaf = 0;
  EXPECT_TRUE(f.routes->branches(leaf, 0, &header, false).up);
  EXPECT_EQ(f.routes->branches(leaf, 0, &header, false).down, 0U);
  const u32 second = tree.levels[1].first;
  EXPECT_TRUE(f.routes->branches(second, 0, &header, false).up);
  EXPECT_EQ(f.routes->branches(second, 0, &header, true).down, 2U) << "on both ways: nodes 2 and 3 from here";
  EXPECT_TRUE(f.routes->branches(second, 0, &header, true).up);
  const u32 third = tree.levels[2].first;
  EXPECT_FALSE(f.routes->branches(third, 0, &header, false).up);
  EXPECT_EQ(f.routes->branches(third, 0, &header, false).down, 3U);
  EXPECT_EQ(f.routes->branches(third, 0, &header, true).down, 2U) << "the first half was served on the way";
  // On the way down a switch looks at its strings only.
  EXPECT_EQ(f.routes->branches(second, 2, &header, false).down, 2U);
  EXPECT_FALSE(f.routes->branches(second, 2, &header, false).up);
}

TEST(MulticastRoutes, OverlappingStringsAreRefused) {
  core::Graph graph(2);
  for (int s = 0; s < 3; ++s) graph.add_switch(4, 4);
  graph.add_channel(core::End::of_terminal(0), core::End::of_switch(0, 0));
  graph.add_channel(core::End::of_terminal(1), core::End::of_switch(0, 1));
  std::vector<MulticastRoutes::Way> way(2, MulticastRoutes::Way::up);
  const auto down = [&](core::End from, core::End to) {
    graph.add_channel(from, to);
    way.push_back(MulticastRoutes::Way::down);
  };
  down(core::End::of_switch(0, 0), core::End::of_switch(1, 0));
  down(core::End::of_switch(0, 1), core::End::of_switch(2, 0));
  down(core::End::of_switch(1, 0), core::End::of_terminal(0));
  EXPECT_NO_THROW(MulticastRoutes(graph, way));
  down(core::End::of_switch(2, 0), core::End::of_switch(1, 1));  // both reach terminal 0: the higher port is not used
  EXPECT_NO_THROW(MulticastRoutes(graph, way));
  down(core::End::of_switch(2, 1), core::End::of_terminal(1));  // one reaches more
  EXPECT_THROW(MulticastRoutes(graph, way), std::logic_error);
}

}  // namespace
