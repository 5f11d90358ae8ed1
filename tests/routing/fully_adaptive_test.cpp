// Does fully adaptive routing offer every port on a shortest path, and nothing else?
#include <gtest/gtest.h>

#include <set>

#include "banyan/base/error.hpp"
#include "routing/spaces.hpp"

namespace banyan::test::fully_adaptive_test {
namespace {

std::set<u32> ports(const core::Routing& routing, u32 at, u32 destination) {
  core::Packet packet;
  packet.destination = destination;
  core::RouteRequest request;
  request.at = at;
  request.packet = &packet;
  core::Candidates out;
  routing.route(request, out);
  std::set<u32> result;
  for (const core::Candidate& c : out) {
    EXPECT_EQ(c.vc_begin, 0);
    EXPECT_EQ(c.vc_end, 3);
    EXPECT_TRUE(result.insert(c.port).second);
  }
  return result;
}

TEST(FullyAdaptive, EveryChoiceIsAShortestWay) {
  for (const auto& t : spaces()) expect_minimal(*t, *routing("fully_adaptive", *t, 3), 3);
}

TEST(FullyAdaptive, BothWaysAroundAnEvenRing) {
  const auto torus = torus_of({8, 8});
  const auto subject = routing("fully_adaptive", *torus, 3);
  const core::Grid& grid = *torus->grid();
  EXPECT_EQ(ports(*subject, 0, 4 + 8 * 4),
            (std::set<u32>{grid.port_up[0], grid.port_down[0], grid.port_up[1], grid.port_down[1]}));
  EXPECT_EQ(ports(*subject, 0, 3), (std::set<u32>{grid.port_up[0]}));
  EXPECT_EQ(ports(*subject, 0, 8 * 5), (std::set<u32>{grid.port_down[1]}));
  EXPECT_EQ(ports(*subject, 9, 9).size(), 1U);
}

TEST(FullyAdaptive, OneDirectionLeadsAroundTheRing) {
  const auto torus = torus_of({5, 4});
  const auto subject = routing("fully_adaptive", *torus, 3, {{"directions", std::string("up")}});
  const core::Grid& grid = *torus->grid();
  EXPECT_EQ(ports(*subject, 1, 0), (std::set<u32>{grid.port_up[0]}));
  EXPECT_EQ(ports(*subject, 1, 5), (std::set<u32>{grid.port_up[0], grid.port_up[1]}));
  const auto mesh = mesh_of({5, 4});
  EXPECT_THROW(static_cast<void>(routing("fully_adaptive", *mesh, 3, {{"directions", std::string("up")}})),
               ConfigError);
}

/// Whether the first way that is offered arrives, from every switch to every terminal.
bool arrives(const core::Topology& t, const core::Routing& subject) {
  const core::Graph& graph = t.graph();
  for (u32 destination = 0; destination < graph.terminals(); ++destination) {
    for (u32 from = 0; from < graph.switches(); ++from) {
      core::End at = core::End::of_switch(from, 0);
      for (u32 steps = 0; !at.terminal; ++steps) {
        const u32 channel = graph.channel_out_of(at.node, *ports(subject, at.node, destination).begin());
        if (channel == kNone || steps > graph.switches()) return false;
        at = graph.channel(channel).to;
      }
      if (at.node != destination) return false;
    }
  }
  return true;
}

TEST(FullyAdaptive, OneDirectionIsRefusedWhereItLeadsNowhere) {
  int accepted = 0;
  for (const auto& t : spaces()) {
    try {
      const auto subject = routing("fully_adaptive", *t, 3, {{"directions", std::string("up")}});
      EXPECT_TRUE(arrives(*t, *subject));
      ++accepted;
    } catch (const ConfigError&) { continue; }
  }
  EXPECT_GE(accepted, 1);
}

TEST(FullyAdaptive, DependenciesCloseCycles) {
  const auto torus = torus_of({4, 4});
  expect_verdict(*torus, *routing("fully_adaptive", *torus, 3), 3, core::DependencyVerdict::cyclic);
}

}  // namespace
}  // namespace banyan::test::fully_adaptive_test
