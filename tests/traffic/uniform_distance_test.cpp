// Does uniform_distance reach every distance equally often, and every terminal at it?
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <map>

#include "component_rows.hpp"
#include "support/rows.hpp"

namespace banyan::traffic::uniform_distance_test {

namespace {

using Given = std::vector<std::pair<std::string, config::Value>>;

std::unique_ptr<core::Traffic> make(const core::Topology& topology, const Given& given) {
  config::Values values = config::Values::defaults(traffic::uniform_distance::row_uniform_distance.info);
  for (const auto& [name, value] : given) values.set(name, value);
  core::TrafficContext context;
  context.topology = &topology;
  context.terminals = topology.graph().terminals();
  context.seed = 7;
  auto traffic = traffic::uniform_distance::row_uniform_distance.make(values, context);
  traffic->begin(0);
  return traffic;
}

std::map<u32, u32> destinations(const core::Traffic& traffic, u32 terminal, u32 draws) {
  std::map<u32, u32> count;
  core::Message message;
  Tick previous = kNever;
  for (u64 nth = 0; nth < draws; ++nth) {
    EXPECT_TRUE(traffic.next(terminal, nth, previous, message));
    previous = message.birth;
    ++count[message.destination];
  }
  return count;
}

TEST(UniformDistance, ReachesEveryDistanceAndEveryTerminalAtItEquallyOften) {
  constexpr u32 kDraws = 60000;
  const auto cube = test::topology("hypercube", {{"degree", i64{4}}});
  // The same cube as a mesh of two per dimension takes the way over lists.
  const auto mesh = test::topology("mesh", {{"size", std::vector<i64>{2, 2, 2, 2}}, {"concentration", i64{1}}});
  const auto listed = test::topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  for (const auto* topology : {cube.get(), mesh.get()}) {
    const auto count = destinations(*make(*topology, {}), 5, kDraws);
    const std::vector<double> at_distance{0, 4, 6, 4, 1};
    EXPECT_EQ(count.size(), 15U);
    for (const auto& [to, times] : count) {
      const double p = 1.0 / 4.0 / at_distance[static_cast<std::size_t>(std::popcount(to ^ 5U))];
      EXPECT_NEAR(times, kDraws * p, 5.0 * std::sqrt(kDraws * p)) << to;
    }
  }
  // From the middle of a 3 x 3 mesh: four neighbours, four corners; distances 1 and 2 only.
  const auto count = destinations(*make(*listed, {{"most", i64{2}}}), 4, kDraws);
  EXPECT_EQ(count.size(), 8U);
  for (const auto& [to, times] : count) EXPECT_NEAR(times, kDraws / 8.0, 5.0 * std::sqrt(kDraws / 8.0)) << to;
}

TEST(UniformDistance, KeepsItsRange) {
  const auto cube = test::topology("hypercube", {{"degree", i64{6}}});
  const auto count = destinations(*make(*cube, {{"least", i64{2}}, {"most", i64{3}}}), 9, 20000);
  EXPECT_EQ(count.size(), 15U + 20U);
  for (const auto& [to, times] : count) {
    const int d = std::popcount(to ^ 9U);
    EXPECT_TRUE(d == 2 || d == 3) << to;
    EXPECT_GT(times, 0U);
  }
}

TEST(UniformDistance, NormalDistancesHaveTheirMeanAndNoNegativeOnes) {
  const auto cube = test::topology("hypercube", {{"degree", i64{2}}});
  for (const auto& [reading, deviation] : {std::pair{"deviation", 512.0}, {"variance", std::sqrt(512.0)}}) {
    const auto traffic = make(*cube, {{"process", std::string("normal")},
                                      {"interval", i64{1024}},
                                      {"spread_is", std::string(reading)},
                                      {"size", i64{512}},
                                      {"size_distribution", std::string("exponential")}});
    core::Message message;
    Tick previous = 0;
    double sum = 0.0;
    double squares = 0.0;
    u32 zero = 0;
    constexpr u32 kDraws = 40000;
    for (u64 nth = 0; nth < kDraws; ++nth) {
      ASSERT_TRUE(traffic->next(1, nth, nth == 0 ? kNever : previous, message));
      ASSERT_GE(message.birth, previous);
      const double gap = static_cast<double>(message.birth - previous);
      zero += message.birth == previous ? 1U : 0U;
      sum += gap;
      squares += gap * gap;
      previous = message.birth;
    }
    const double mean = sum / kDraws;
    // mean Phi(2) + deviation phi(2) where a draw may be negative, and the same of the second moment.
    const bool cut = deviation > 500.0;
    EXPECT_NEAR(mean, cut ? 1024.0 * 0.9772499 + 512.0 * 0.0539910 : 1024.0, 5.0 * deviation / std::sqrt(kDraws));
    EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean), deviation, cut ? 15.0 : 1.0);
    EXPECT_NEAR(zero, cut ? kDraws * 0.02275 : 0.0, 150.0);
    EXPECT_NEAR(traffic->offered_load(), 512.0 / mean, 0.005);
  }
}

TEST(UniformDistance, RefusesDistancesThatDoNotExist) {
  const auto cube = test::topology("hypercube", {{"degree", i64{3}}});
  const auto mesh = test::topology("mesh", {{"size", std::vector<i64>{3, 3}}});
  const auto cause = [](const core::Topology& t, const Given& given) { return test::refusal([&] { make(t, given); }); };
  EXPECT_NE(cause(*cube, {{"most", i64{4}}}).find("no terminals are 4 links apart"), std::string::npos);
  EXPECT_NE(cause(*cube, {{"least", i64{3}}, {"most", i64{2}}}).find("is empty"), std::string::npos);
  const auto large = test::topology("mesh", {{"size", std::vector<i64>{80, 64}}});
  EXPECT_NE(cause(*large, {}).find("lists all pairs"), std::string::npos);
  EXPECT_NE(cause(*mesh, {}).find("has no other"), std::string::npos) << "the middle has no other 3 links away";
  EXPECT_NE(cause(*cube, {{"interval", i64{100}}}).find("does not draw normal distances"), std::string::npos);
  EXPECT_NE(cause(*cube, {{"process", std::string("normal")}, {"interval", i64{100}}, {"load", 0.3}})
                .find("both say how often"),
            std::string::npos);
}

/// A torus too large for lists of pairs: 5,120 terminals, of which 4, 8 and 12 are one, two and three links away.
TEST(UniformDistance, KnowsLargeToriByTheirSymmetry) {
  constexpr u32 kDraws = 60000;
  const auto torus = test::topology("torus", {{"size", std::vector<i64>{80, 64}}});
  const auto traffic = make(*torus, {{"most", i64{3}}});
  const core::Graph& graph = torus->graph();
  for (const u32 terminal : {0U, 777U, 5119U}) {
    const std::vector<u32> distance = graph.distances_from(graph.channel(graph.injection(terminal)).to.node);
    const auto count = destinations(*traffic, terminal, kDraws);
    EXPECT_EQ(count.size(), 24U);
    std::vector<double> shares(graph.terminals());
    EXPECT_TRUE(traffic->demands(terminal, shares));
    const double load = traffic->offered_load();
    for (const auto& [to, times] : count) {
      const u32 d = distance[graph.channel(graph.ejection(to)).from.node];
      ASSERT_GE(d, 1U);
      ASSERT_LE(d, 3U);
      const double p = 1.0 / 3.0 / (4.0 * d);
      EXPECT_NEAR(times, kDraws * p, 5.0 * std::sqrt(kDraws * p)) << to;
      EXPECT_NEAR(shares[to], load * p, 1e-12) << to;
    }
  }
}

}  // namespace
}  // namespace banyan::traffic::uniform_distance_test
