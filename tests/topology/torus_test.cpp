// Is a torus a mesh with closed rings, also where a ring is too short to be one?
#include <gtest/gtest.h>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::topology::torus_test {
namespace {

std::unique_ptr<core::Topology> torus(std::vector<i64> size, i64 concentration = 1) {
  config::Values v = config::Values::defaults(topology::torus::row_torus.info);
  v.set("size", std::move(size));
  v.set("concentration", concentration);
  return topology::torus::row_torus.make(v);
}

u32 neighbour(const core::Graph& graph, u32 s, u32 port) {
  return graph.channel(graph.channel_out_of(s, port)).to.node;
}

TEST(Torus, EverySwitchHasTwoChannelsPerDimension) {
  const auto t = torus({4, 3, 5});
  EXPECT_EQ(t->graph().channels().size(), 60U * 2 * 3 + 2U * 60);
  for (u32 s = 0; s < 60; ++s) {
    for (u32 port = 0; port < 7; ++port) {
      EXPECT_NE(t->graph().channel_out_of(s, port), kNone);
      EXPECT_NE(t->graph().channel_into(s, port), kNone);
    }
  }
}

TEST(Torus, WrapLinksCloseTheRings) {
  const auto t = torus({4, 3});
  const core::Grid& grid = *t->grid();
  EXPECT_EQ(neighbour(t->graph(), 3, grid.port_up[0]), 0U);
  EXPECT_EQ(neighbour(t->graph(), 0, grid.port_down[0]), 3U);
  EXPECT_EQ(neighbour(t->graph(), 9, grid.port_up[1]), 1U);
  EXPECT_EQ(neighbour(t->graph(), 1, grid.port_down[1]), 9U);
}

TEST(Torus, WalkingUpOneRingReturnsToTheStart) {
  const auto t = torus({5, 7});
  for (std::size_t d = 0; d < 2; ++d) {
    u32 s = 11;
    for (u32 i = 0; i < t->grid()->size[d]; ++i) s = neighbour(t->graph(), s, t->grid()->port_up[d]);
    EXPECT_EQ(s, 11U);
  }
}

TEST(Torus, SizeTwoHasOnePairOfChannelsAndDoesNotWrap) {
  const auto t = torus({2, 4});
  const core::Grid& grid = *t->grid();
  EXPECT_EQ(grid.port_up[0], grid.port_down[0]);
  EXPECT_FALSE(grid.wrap[0]);
  EXPECT_TRUE(grid.wrap[1]);
  EXPECT_EQ(t->graph().channels().size(), 8U * (1 + 2) + 2U * 8);
  EXPECT_EQ(neighbour(t->graph(), 0, grid.port_up[0]), 1U);
  EXPECT_EQ(neighbour(t->graph(), 1, grid.port_up[0]), 0U);
}

TEST(Torus, SizeOneHasNoChannel) {
  const auto t = torus({1, 4}, 2);
  EXPECT_EQ(t->grid()->port_up[0], kNone);
  EXPECT_EQ(t->grid()->port_down[0], kNone);
  EXPECT_EQ(t->graph().channels().size(), 4U * 2 + 2U * 8);
}

TEST(Torus, LabelsAreCoordinates) { EXPECT_EQ(torus({4, 3})->label(11), "(3,2)"); }

}  // namespace
}  // namespace banyan::topology::torus_test
