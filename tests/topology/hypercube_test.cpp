// Is a hypercube one: neighbours differ in exactly one bit of their addresses?
#include <gtest/gtest.h>

#include <bit>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::topology::hypercube_test {
namespace {

config::Values values(i64 degree, i64 concentration = 1) {
  config::Values v = config::Values::defaults(topology::hypercube::row_hypercube.info);
  v.set("degree", degree);
  v.set("concentration", concentration);
  return v;
}

TEST(Hypercube, PortDLeadsToTheSwitchThatDiffersInBitD) {
  const auto cube = topology::hypercube::row_hypercube.make(values(4));
  const core::Graph& graph = cube->graph();
  EXPECT_EQ(graph.switches(), 16U);
  EXPECT_EQ(graph.channels().size(), 16U * 4 + 2U * 16);
  for (u32 s = 0; s < 16; ++s) {
    for (u32 d = 0; d < 4; ++d) {
      const core::Channel& c = graph.channel(graph.channel_out_of(s, d));
      EXPECT_EQ(c.to, core::End::of_switch(s ^ (1U << d), d));
    }
  }
}

TEST(Hypercube, TerminalsFollowTheNeighbourPorts) {
  const auto cube = topology::hypercube::row_hypercube.make(values(3, 2));
  EXPECT_EQ(cube->graph().terminals(), 16U);
  EXPECT_EQ(cube->graph().outputs(0), 5U);
  EXPECT_EQ(cube->graph().channel(cube->graph().ejection(7)).from, core::End::of_switch(3, 4));
}

TEST(Hypercube, LabelsAreBinaryAddresses) {
  EXPECT_EQ(topology::hypercube::row_hypercube.make(values(4))->label(6), "0110");
}

TEST(Hypercube, TooManyTerminalsAreRefused) {
  EXPECT_THROW(topology::hypercube::row_hypercube.make(values(24, 2)), ConfigError);
}

}  // namespace
}  // namespace banyan::topology::hypercube_test
