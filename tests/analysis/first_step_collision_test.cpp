// Do equations (1) and (2) of Buzzard and Mudge say how often two messages want the same first link?
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "support/rows.hpp"

namespace banyan::test::first_step_collision_test {
namespace {

std::map<std::string, double> predicted(i64 degree) {
  const auto cube = topology("hypercube", {{"degree", degree}});
  const core::AnalysisRow& row = row_named(core::analysis_rows(), "first_step_collision");
  core::AnalysisContext context;
  context.topology = cube.get();
  std::map<std::string, double> values;
  for (const core::Prediction& p : row.make(settings(row.info, {}), context)->predict()) values[p.metric] = p.value;
  return values;
}

/// The first step of a message, from the routing itself. QAP takes the shortest queue, the lowest dimension among
/// equals; `busy` has the other message.
u32 step(const core::Routing& r, u32 source, u32 destination, u32 degree, u32 random, u32 busy) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  core::RouteRequest request;
  request.at = source;
  request.in_port = degree;
  request.packet = &packet;
  request.random = random;
  core::Candidates next;
  r.route(request, next);
  for (const core::Candidate& c : next) {
    if (c.port != busy) return c.port;
  }
  return next[0].port;
}

TEST(FirstStepCollision, AgreesWithMonteCarloOverTheRoutingsThemselves) {
  constexpr u32 kPairs = 200000;
  for (const u32 degree : {2U, 4U, 6U}) {
    const auto cube = topology("hypercube", {{"degree", i64{degree}}});
    const auto values = predicted(degree);
    for (const char* name : {"ecube", "qap", "qap_random"}) {
      const auto r = routing(name, *cube, 2);
      u32 collisions = 0;
      for (u32 i = 0; i < kPairs; ++i) {
        const u64 a = mix64(i * 2ULL + 1);
        const u64 b = mix64(i * 2ULL + 2);
        const u32 others = (1U << degree) - 1;
        const u32 first = step(*r, 0, 1 + static_cast<u32>(a % others), degree, static_cast<u32>(a >> 32U), kNone);
        const u32 second = step(*r, 0, 1 + static_cast<u32>(b % others), degree, static_cast<u32>(b >> 32U), first);
        collisions += first == second ? 1U : 0U;
      }
      const double p = values.at(std::string("collision_") + name);
      EXPECT_NEAR(collisions, kPairs * p, 5.0 * std::sqrt(kPairs * p)) << name << ' ' << degree;
    }
    // Equation (2) as printed is larger by 2^n / (2^n - 1).
    EXPECT_NEAR(values.at("collision_qap_as_printed") / values.at("collision_qap"),
                std::ldexp(1.0, static_cast<int>(degree)) / (std::ldexp(1.0, static_cast<int>(degree)) - 1.0), 1e-12);
  }
}

TEST(FirstStepCollision, HasThePapersLimits) {
  const auto large = predicted(16);
  EXPECT_NEAR(large.at("collision_ecube"), 1.0 / 3.0, 2e-5);
  EXPECT_LT(large.at("collision_qap"), 2e-5);
  EXPECT_LT(large.at("collision_qap_as_printed"), 2e-5);
  for (i64 n = 2; n <= 12; ++n) EXPECT_GT(predicted(n).at("collision_ecube"), predicted(n).at("collision_qap")) << n;
  // By hand for n = 2: first links 0, 1, 0 of destinations 1, 2, 3: (2/3)^2 + (1/3)^2.
  EXPECT_NEAR(predicted(2).at("collision_ecube"), 5.0 / 9.0, 1e-12);
}

TEST(FirstStepCollision, NeedsAHypercube) {
  const auto mesh = topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  const core::AnalysisRow& row = row_named(core::analysis_rows(), "first_step_collision");
  core::AnalysisContext context;
  context.topology = mesh.get();
  EXPECT_NE(refusal([&] { static_cast<void>(row.make(settings(row.info, {}), context)); }).find("hypercube"),
            std::string::npos);
}

}  // namespace
}  // namespace banyan::test::first_step_collision_test
