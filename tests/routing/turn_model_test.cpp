// Do the turn models forbid enough turns, and no more than they must?
#include <gtest/gtest.h>

#include <set>

#include "banyan/api/experiment.hpp"
#include "routing/spaces.hpp"

namespace banyan::test::turn_model_test {
namespace {

constexpr const char* kRules[] = {"west_first", "north_last", "negative_first", "odd_even"};

std::unique_ptr<core::Routing> turns(const core::Topology& t, const std::string& rule, u32 vcs = 1) {
  return routing("turn_model", t, vcs, {{"rule", rule}});
}

TEST(TurnModel, EveryRuleIsMinimalAndHasNoCyclesOnOneVirtualChannel) {
  for (const auto& t : meshes()) {
    for (const char* rule : kRules) {
      SCOPED_TRACE(rule);
      expect_minimal(*t, *turns(*t, rule), 4);
      expect_verdict(*t, *turns(*t, rule), 1, core::DependencyVerdict::acyclic);
      expect_verdict(*t, *turns(*t, rule, 3), 3, core::DependencyVerdict::acyclic);
    }
  }
  const auto even = mesh_of({7, 6});
  expect_verdict(*even, *turns(*even, "odd_even"), 1, core::DependencyVerdict::acyclic);
}

TEST(TurnModel, NegativeFirstWorksInAnyNumberOfDimensions) {
  for (const Sizes& size : {Sizes{3, 3, 3}, {6}, {2, 3, 2, 2}}) {
    const auto t = mesh_of(size);
    expect_minimal(*t, *turns(*t, "negative_first"), 4);
    expect_verdict(*t, *turns(*t, "negative_first"), 1, core::DependencyVerdict::acyclic);
  }
  const auto cube = cube_of(4);
  expect_verdict(*cube, *turns(*cube, "negative_first"), 1, core::DependencyVerdict::acyclic);
}

TEST(TurnModel, ABrokenRuleHasACycleOfFourTurns) {
  const auto t = mesh_of({4, 4});
  const core::DependencyReport report = core::check_dependencies(*t, *turns(*t, "unrestricted", 2), 2);
  ASSERT_EQ(report.verdict, core::DependencyVerdict::cyclic);
  EXPECT_EQ(report.cycle.size(), 4U);
  std::set<u32> ports;
  for (const core::DependencyStep& step : report.cycle) ports.insert(t->graph().channel(step.held.channel).from.port);
  EXPECT_EQ(ports, (std::set<u32>{0, 1, 2, 3})) << "one channel in each direction";
}

TEST(TurnModel, WithoutARuleALoadedMeshDeadlocksAndWithOneItDoesNot) {
  for (const char* rule : {"unrestricted", "west_first", "north_last", "negative_first", "odd_even"}) {
    const std::string text =
        "topology = { name = 'mesh', size = [6, 6] }\n"
        "switch = { name = 'vc_router', vcs = 1, buffer = 2 }\n"
        "routing = { name = 'turn_model', rule = '" +
        std::string(rule) +
        "' }\n"
        "traffic = [{ name = 'uniform', load = 0.9, size = 12 }]\n"
        "run = { warmup = 500, measure = 4000, drain = 500, watchdog = 1000 }\n";
    const api::Result result = api::run(api::read_experiments_text(text, "turns", {}).points.front());
    EXPECT_EQ(result.verdict == api::Verdict::deadlocked, std::string(rule) == "unrestricted") << rule;
    if (result.verdict == api::Verdict::deadlocked) {
      EXPECT_NE(result.explanation.find("wait on each other in a cycle"), std::string::npos) << result.explanation;
    }
  }
}

/// Ways of a packet from (sx, sy) to (dx, dy): paths that the rule allows.
u64 ways(const core::Topology& t, const core::Routing& r, u32 source, u32 destination, u32 at) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  core::RouteRequest request;
  request.packet = &packet;
  request.at = at;
  core::Candidates next;
  r.route(request, next);
  u64 sum = 0;
  for (const core::Candidate& c : next) {
    const core::End& to = t.graph().channel(t.graph().channel_out_of(at, c.port)).to;
    sum += to.terminal ? 1 : ways(t, r, source, destination, to.node);
  }
  return sum;
}

TEST(TurnModel, AdaptivityIsThatOfTheLiterature) {
  // Glass and Ni 1992, section 6: all binomial(x + y, x) shortest ways where the rule permits, else one.
  const auto t = mesh_of({5, 5});
  const u32 south_west = 0;
  const u32 north_east = 18;  // (3,3)
  const u32 south_east = 3;
  const u32 north_west = 15;
  const auto count = [&](const char* rule, u32 a, u32 b) { return ways(*t, *turns(*t, rule), a, b, a); };
  EXPECT_EQ(count("west_first", south_west, north_east), 20U);
  EXPECT_EQ(count("west_first", north_east, south_west), 1U);
  EXPECT_EQ(count("north_last", north_east, south_west), 20U);
  EXPECT_EQ(count("north_last", south_west, north_east), 1U);
  EXPECT_EQ(count("negative_first", south_west, north_east), 20U);
  EXPECT_EQ(count("negative_first", north_east, south_west), 20U);
  EXPECT_EQ(count("negative_first", north_west, south_east), 1U);
  EXPECT_EQ(count("unrestricted", north_west, south_east), 20U);
  // Odd-even: more than one way in each of the four quadrants.
  for (const auto& [a, b] : {std::pair{south_west, north_east},
                             {north_east, south_west},
                             {north_west, south_east},
                             {south_east, north_west}}) {
    EXPECT_GT(count("odd_even", a, b), 1U);
    EXPECT_LT(count("odd_even", a, b), 20U);
  }
}

TEST(TurnModel, OtherNetworksAreRefused) {
  const auto torus = torus_of({4, 4});
  const auto hyperx = hyperx_of({4, 4});
  const auto cube = mesh_of({3, 3, 3});
  EXPECT_NE(refusal([&] { turns(*torus, "west_first"); }).find("need a mesh"), std::string::npos);
  EXPECT_NE(refusal([&] { turns(*hyperx, "west_first"); }).find("need a mesh"), std::string::npos);
  EXPECT_NE(refusal([&] { turns(*cube, "odd_even"); }).find("the mesh has 3"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::turn_model_test
