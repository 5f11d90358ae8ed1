// Does fully adaptive routing offer every shortest way, and an escape at every step that proves it free of deadlock?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::minimal_adaptive_test {
namespace {

std::unique_ptr<core::Routing> adaptive(const core::Topology& t, u32 vcs, bool leave) {
  return routing("minimal_adaptive", t, vcs, {{"leave_escape", leave}});
}

TEST(MinimalAdaptive, EveryChoiceIsAShortestWay) {
  for (const auto& t : spaces()) {
    expect_minimal(*t, *adaptive(*t, 4, false), 4);
    expect_minimal(*t, *adaptive(*t, 4, true), 4);
  }
}

TEST(MinimalAdaptive, TheEscapeSubnetworkIsAcyclic) {
  for (const Sizes& size : {Sizes{5, 4}, {3, 3, 3}}) {
    const auto mesh = mesh_of(size);
    expect_verdict(*mesh, *adaptive(*mesh, 2, false), 2, core::DependencyVerdict::escape);
    expect_verdict(*mesh, *adaptive(*mesh, 2, true), 2, core::DependencyVerdict::escape_when_empty);
  }
  for (const Sizes& size : {Sizes{5, 4}, {6, 6}}) {
    const auto torus = torus_of(size);
    expect_verdict(*torus, *adaptive(*torus, 3, false), 3, core::DependencyVerdict::escape);
    expect_verdict(*torus, *adaptive(*torus, 4, true), 4, core::DependencyVerdict::escape_when_empty);
  }
  const auto cube = cube_of(4);
  expect_verdict(*cube, *adaptive(*cube, 2, false), 2, core::DependencyVerdict::escape);
  expect_verdict(*cube, *adaptive(*cube, 2, true), 2, core::DependencyVerdict::escape_when_empty);
}

TEST(MinimalAdaptive, OffersAllDirectionsThatLeadNearer) {
  const auto torus = torus_of({4, 5});
  core::Packet packet;
  packet.destination = 2 + 4;  // two to the right, either way around, and one up
  core::RouteRequest request;
  request.packet = &packet;
  request.in_port = 4;
  core::Candidates next;
  adaptive(*torus, 3, false)->route(request, next);
  ASSERT_EQ(next.size(), 4U);
  for (u32 i = 0; i < 3; ++i) {
    EXPECT_EQ(next[i].vc_begin, 2);
    EXPECT_FALSE(next[i].escape);
    EXPECT_GT(next[i].priority, next[3].priority);
  }
  EXPECT_TRUE(next[3].escape);
}

TEST(MinimalAdaptive, PacketsStayOnEscapeChannelsUnlessTold) {
  const auto mesh = mesh_of({4, 4});
  core::Packet packet;
  packet.destination = 15;
  core::RouteRequest request;
  request.packet = &packet;
  request.at = 1;
  request.in_port = 1;
  for (const bool leave : {false, true}) {
    core::Candidates next;
    adaptive(*mesh, 2, leave)->route(request, next);
    EXPECT_EQ(next.size(), leave ? 3U : 1U);
  }
}

TEST(MinimalAdaptive, NeedsAnEscapeAndOneMore) {
  const auto torus = torus_of({4, 4});
  EXPECT_NE(refusal([&] { adaptive(*torus, 2, false); }).find("with vcs = 3"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::minimal_adaptive_test
