// Does QAP offer every dimension that leads nearer at the source, and e-cube from then on?
#include <gtest/gtest.h>

#include <bit>

#include "routing/spaces.hpp"

namespace banyan::test::qap_test {
namespace {

std::vector<u32> ports(const core::Routing& r, u32 at, u32 in_port, u32 destination, bool all = false) {
  core::Packet packet;
  packet.destination = destination;
  core::RouteRequest request;
  request.at = at;
  request.in_port = in_port;
  request.packet = &packet;
  core::Candidates next;
  all ? r.all_candidates(request, next) : r.route(request, next);
  std::vector<u32> list;
  for (const core::Candidate& c : next) list.push_back(c.port);
  return list;
}

std::unique_ptr<core::Routing> free_first_step(const std::string& name, const core::Topology& t) {
  const core::RoutingRow& row = row_named(core::routing_rows(), name);
  return row.make(settings(row.info, {}), {&t, {}, 1, true});
}

TEST(Qap, OffersAllProfitableDimensionsAtTheSourceAndTheLowestOneLater) {
  const auto cube = cube_of(4);
  const auto r = free_first_step("qap", *cube);
  EXPECT_EQ(ports(*r, 0b0001, 4, 0b1100), (std::vector<u32>{0, 2, 3}));
  EXPECT_EQ(ports(*r, 0b0001, 1, 0b1100), (std::vector<u32>{0}));
  EXPECT_EQ(ports(*r, 0b1100, 1, 0b1100), (std::vector<u32>{4}));
}

TEST(Qap, IsMinimalAndAcyclicWithClassesForFirstAndLaterSteps) {
  for (const char* name : {"qap", "qap_random"}) {
    const auto cube = cube_of(4);
    for (const u32 vcs : {2U, 5U}) {
      const auto r = routing(name, *cube, vcs);
      expect_minimal(*cube, *r, 4);
      expect_verdict(*cube, *r, vcs, core::DependencyVerdict::acyclic);
    }
    const std::string cause = refusal([&] { routing(name, *cube, 1); });
    EXPECT_NE(cause.find("could deadlock"), std::string::npos) << cause;
    EXPECT_NE(cause.find("ecube"), std::string::npos) << cause;
    // What has nothing against deadlock is no remedy for it.
    EXPECT_EQ(cause.find("fully_adaptive"), std::string::npos) << cause;
    EXPECT_EQ(routing(name, *cube, 2)->required_vcs(), 2U);
  }
}

TEST(Qap, NeedsNoClassesOnSwitchesThatHoldNothingWhileTheyWait) {
  for (const char* name : {"packet_node", "circuit"}) {
    EXPECT_TRUE(row_named(core::switching_rows(), name).free_first_step) << name;
  }
  for (const char* name : {"vc_router", "cioq", "central_buffer", "input_buffer"}) {
    EXPECT_FALSE(row_named(core::switching_rows(), name).free_first_step) << name;
  }
}

TEST(Qap, WithoutClassesItHasACycle) {
  const auto cube = cube_of(4);
  expect_verdict(*cube, *free_first_step("qap", *cube), 1, core::DependencyVerdict::cyclic);
}

TEST(Qap, NeedsAHypercube) {
  for (const char* name : {"qap", "qap_random", "ecube"}) {
    const auto mesh = mesh_of({4, 4});
    const std::string cause = refusal([&] { routing(name, *mesh, 2); });
    EXPECT_NE(cause.find("needs a hypercube"), std::string::npos) << cause;
  }
}

}  // namespace
}  // namespace banyan::test::qap_test
