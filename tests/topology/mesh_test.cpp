// Is a mesh wired as the literature draws it: neighbours, edges, labels, latencies?
#include <gtest/gtest.h>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::topology::mesh_test {
namespace {

config::Values values(std::vector<i64> size, i64 concentration = 1, std::vector<i64> latency = {1}) {
  config::Values v = config::Values::defaults(topology::mesh::row_mesh.info);
  v.set("size", std::move(size));
  v.set("concentration", concentration);
  v.set("latency", std::move(latency));
  return v;
}

u32 neighbour(const core::Graph& graph, u32 s, u32 port) {
  const u32 c = graph.channel_out_of(s, port);
  return c == kNone ? kNone : graph.channel(c).to.node;
}

TEST(Mesh, OpenEdgesLeaveTwoChannelsPerPairOfNeighbours) {
  const auto mesh = topology::mesh::row_mesh.make(values({4, 3}));
  const core::Graph& graph = mesh->graph();
  EXPECT_EQ(graph.switches(), 12U);
  EXPECT_EQ(graph.terminals(), 12U);
  // 3 links in each of 3 rows, 2 in each of 4 columns; injection and ejection of 12 terminals.
  EXPECT_EQ(graph.channels().size(), 2U * (3 * 3 + 2 * 4) + 2U * 12);
}

TEST(Mesh, PortsLeadToTheNeighboursOfEachDimension) {
  const auto mesh = topology::mesh::row_mesh.make(values({4, 3}));
  const core::Grid& grid = *mesh->grid();
  const u32 s = 5;  // (1,1)
  EXPECT_EQ(neighbour(mesh->graph(), s, grid.port_up[0]), 6U);
  EXPECT_EQ(neighbour(mesh->graph(), s, grid.port_down[0]), 4U);
  EXPECT_EQ(neighbour(mesh->graph(), s, grid.port_up[1]), 9U);
  EXPECT_EQ(neighbour(mesh->graph(), s, grid.port_down[1]), 1U);
}

TEST(Mesh, EdgesStayOpen) {
  const auto mesh = topology::mesh::row_mesh.make(values({4, 3}));
  const core::Grid& grid = *mesh->grid();
  EXPECT_EQ(neighbour(mesh->graph(), 0, grid.port_down[0]), kNone);
  EXPECT_EQ(neighbour(mesh->graph(), 0, grid.port_down[1]), kNone);
  EXPECT_EQ(neighbour(mesh->graph(), 11, grid.port_up[0]), kNone);
  EXPECT_EQ(neighbour(mesh->graph(), 11, grid.port_up[1]), kNone);
}

TEST(Mesh, EveryChannelHasItsReverseAtTheSamePorts) {
  const auto mesh = topology::mesh::row_mesh.make(values({3, 2, 4}, 2));
  for (const core::Channel& c : mesh->graph().channels()) {
    if (c.from.terminal || c.to.terminal) continue;
    const u32 back = mesh->graph().channel_out_of(c.to.node, c.to.port);
    ASSERT_NE(back, kNone);
    EXPECT_EQ(mesh->graph().channel(back).to, c.from);
  }
}

TEST(Mesh, TerminalsSitAtTheLastPortsOfTheirSwitch) {
  const auto mesh = topology::mesh::row_mesh.make(values({3, 3}, 4));
  const core::Graph& graph = mesh->graph();
  EXPECT_EQ(graph.terminals(), 36U);
  for (u32 t = 0; t < graph.terminals(); ++t) {
    const core::End at = core::End::of_switch(t / 4, 4 + t % 4);
    EXPECT_EQ(graph.channel(graph.injection(t)).to, at);
    EXPECT_EQ(graph.channel(graph.ejection(t)).from, at);
  }
}

TEST(Mesh, SmallDimensionsHaveOnePortOrNone) {
  const auto mesh = topology::mesh::row_mesh.make(values({2, 1, 3}));
  const core::Grid& grid = *mesh->grid();
  EXPECT_EQ(grid.port_up[0], grid.port_down[0]);
  EXPECT_EQ(grid.port_up[1], kNone);
  EXPECT_EQ(mesh->graph().outputs(0), 1U + 0 + 2 + 1);
}

TEST(Mesh, LatencyMayDifferPerDimension) {
  const auto mesh = topology::mesh::row_mesh.make(values({3, 3, 3}, 1, {1, 2, 5}));
  const core::Grid& grid = *mesh->grid();
  const core::Graph& graph = mesh->graph();
  for (std::size_t d = 0; d < 3; ++d) {
    const u32 expected[] = {1, 2, 5};
    EXPECT_EQ(graph.channel(graph.channel_out_of(13, grid.port_up[d])).link.latency_cycles, expected[d]);
  }
  EXPECT_EQ(graph.channel(graph.injection(0)).link.latency_cycles, 1U);
}

TEST(Mesh, LabelsAreCoordinates) {
  EXPECT_EQ(topology::mesh::row_mesh.make(values({4, 3}))->label(6), "(2,1)");
  EXPECT_EQ(topology::mesh::row_mesh.make(values({5}))->label(3), "(3)");
  EXPECT_EQ(topology::mesh::row_mesh.make(values({2, 3, 4}))->label(23), "(1,2,3)");
}

TEST(Mesh, ShapesThatDoNotFitAreRefusedWithARemedy) {
  for (const config::Values& bad : {values({}), values({4, 0}), values({1, 1}), values({70000, 70000}),
                                    values({4, 4}, 1, {1, 2, 3}), values({4, 4}, 1, {})}) {
    try {
      static_cast<void>(topology::mesh::row_mesh.make(bad));
      ADD_FAILURE() << "accepted";
    } catch (const ConfigError& error) {
      EXPECT_FALSE(error.cause().empty());
      EXPECT_FALSE(error.remedy().empty());
    }
  }
}

}  // namespace
}  // namespace banyan::topology::mesh_test
