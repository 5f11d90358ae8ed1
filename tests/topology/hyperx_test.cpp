// Is every pair of switches that differ in one coordinate joined, and nothing else?
#include <gtest/gtest.h>

#include "support/rows.hpp"

namespace banyan::test::hyperx_test {
namespace {

std::unique_ptr<core::Topology> hyperx(std::vector<i64> size, i64 concentration = 1) {
  return topology("hyperx", {{"size", std::move(size)}, {"concentration", concentration}});
}

TEST(HyperX, NeighboursDifferInOneCoordinate) {
  for (const auto& size : {std::vector<i64>{4, 4}, {3, 5, 2}, {7}, {1, 4}, {2, 2, 2}}) {
    const auto t = hyperx(size, 2);
    u32 degree = 0;
    for (const i64 k : size) degree += static_cast<u32>(k - 1);
    const core::Graph& graph = t->graph();
    EXPECT_EQ(graph.channels().size(), std::size_t{graph.switches()} * (degree + 4));
    for (const core::Channel& c : graph.channels()) {
      if (c.from.terminal || c.to.terminal) continue;
      const std::vector<u32> a = t->coordinates(c.from.node);
      const std::vector<u32> b = t->coordinates(c.to.node);
      u32 different = 0;
      for (std::size_t d = 0; d < a.size(); ++d) different += a[d] != b[d] ? 1 : 0;
      EXPECT_EQ(different, 1U);
    }
    expect_bidirectional(graph);
  }
}

TEST(HyperX, DistancesAreHammingDistances) {
  // A coordinate out of k differs with probability (k - 1) / k.
  const auto t = hyperx({4, 3, 5}, 2);
  const Distances d = distances(t->graph());
  EXPECT_EQ(d.diameter, 3U);
  EXPECT_EQ(d.sum, 120U * 120U * 3 / 4 + 120U * 120U * 2 / 3 + 120U * 120U * 4 / 5);
}

TEST(HyperX, SizesOfTwoMakeAHypercube) {
  const Distances cube = distances(topology("hypercube", {{"degree", i64{5}}})->graph());
  const Distances same = distances(hyperx({2, 2, 2, 2, 2})->graph());
  EXPECT_EQ(cube.diameter, same.diameter);
  EXPECT_EQ(cube.sum, same.sum);
}

TEST(HyperX, PortsAreNamedByTheCoordinateTheyLeadTo) {
  const auto t = hyperx({4, 4});
  EXPECT_EQ(t->label(6), "(2,1)");
  EXPECT_EQ(t->port_label(6, 0), "x to 0");
  EXPECT_EQ(t->port_label(6, 2), "x to 3");
  EXPECT_EQ(t->port_label(6, 3), "y to 0");
  EXPECT_EQ(t->port_label(6, 4), "y to 2");
  EXPECT_EQ(t->port_label(6, 6), "terminal 0");
  for (u32 port = 0; port < 6; ++port) {
    const u32 to = t->graph().channel(t->graph().channel_out_of(6, port)).to.node;
    const u32 named = static_cast<u32>(std::stoul(t->port_label(6, port).substr(5)));
    EXPECT_EQ(port < 3 ? to % 4 : to / 4, named);
  }
}

TEST(HyperX, RefusesWhatDoesNotFit) {
  EXPECT_NE(refusal([] { hyperx({}); }).find("dimensions"), std::string::npos);
  EXPECT_NE(refusal([] { hyperx({1}); }).find("one terminal"), std::string::npos);
  EXPECT_NE(refusal([] { hyperx({1 << 20}); }).find("ports"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::hyperx_test
