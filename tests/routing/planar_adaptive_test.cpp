// Is planar-adaptive routing minimal, adaptive in planes, and free of cycles on three classes?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::planar_adaptive_test {
namespace {

TEST(PlanarAdaptive, IsMinimalAndHasNoCycles) {
  for (const Sizes& size : {Sizes{5, 4}, {4, 4}, {3, 3, 3}, {6}, {3, 2, 3, 2}, {2, 2, 2}}) {
    const auto t = mesh_of(size);
    for (const u32 vcs : {3U, 5U}) {
      const auto r = routing("planar_adaptive", *t, vcs);
      expect_minimal(*t, *r, 4);
      expect_verdict(*t, *r, vcs, core::DependencyVerdict::acyclic);
    }
  }
}

TEST(PlanarAdaptive, OffersBothDimensionsOfThePlaneOnly) {
  const auto t = mesh_of({4, 4, 4});
  core::Packet packet;
  packet.destination = 63;
  core::RouteRequest request;
  request.packet = &packet;
  core::Candidates next;
  const auto r = routing("planar_adaptive", *t, 3);
  r->route(request, next);
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].port, t->grid()->port_up[0]);
  EXPECT_EQ(next[1].port, t->grid()->port_up[1]);
  EXPECT_EQ(next[1].vc_begin, 0);
  packet.destination = 60;  // only y and z are left
  next.clear();
  r->route(request, next);
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[1].port, t->grid()->port_up[2]);
}

TEST(PlanarAdaptive, NeedsAMeshAndThreeVirtualChannels) {
  const auto torus = torus_of({4, 4});
  const auto mesh = mesh_of({4, 4});
  EXPECT_NE(refusal([&] { routing("planar_adaptive", *torus, 3); }).find("needs a mesh"), std::string::npos);
  EXPECT_NE(refusal([&] { routing("planar_adaptive", *mesh, 2); }).find("vcs = 3"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::planar_adaptive_test
