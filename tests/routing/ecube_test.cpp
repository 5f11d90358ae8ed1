// Is e-cube dimension order on a hypercube?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::ecube_test {
namespace {

TEST(ECube, IsMinimalInOrderAndAcyclicOnOneVirtualChannel) {
  const auto cube = cube_of(4);
  const auto r = routing("ecube", *cube, 1);
  expect_minimal(*cube, *r, 4);
  expect_verdict(*cube, *r, 1, core::DependencyVerdict::acyclic);
  EXPECT_TRUE(r->in_order());
}

TEST(ECube, TakesTheLowestDimensionAsDimensionOrderDoes) {
  const auto cube = topology("hypercube", {{"degree", i64{3}}, {"concentration", i64{2}}});
  const auto ecube = routing("ecube", *cube, 2);
  const auto order = routing("dimension_order", *cube, 2);
  for (u32 at = 0; at < 8; ++at) {
    for (u32 to = 0; to < 16; ++to) {
      core::Packet packet;
      packet.destination = to;
      core::RouteRequest request;
      request.at = at;
      request.packet = &packet;
      core::Candidates a;
      core::Candidates b;
      ecube->route(request, a);
      order->route(request, b);
      ASSERT_EQ(a.size(), 1U);
      EXPECT_EQ(a[0].port, b[0].port) << at << ' ' << to;
      EXPECT_EQ(a[0].vc_begin, b[0].vc_begin);
      EXPECT_EQ(a[0].vc_end, b[0].vc_end);
    }
  }
}

}  // namespace
}  // namespace banyan::test::ecube_test
