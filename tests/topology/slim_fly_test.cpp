// Are Slim Flies the graphs of McKay, Miller and Siran: regular, of diameter 2, near the Moore bound?
#include <gtest/gtest.h>

#include "support/rows.hpp"

namespace banyan::test::slim_fly_test {
namespace {

std::unique_ptr<core::Topology> slim_fly(i64 q, i64 concentration = 0) {
  return topology("slim_fly", {{"q", q}, {"concentration", concentration}});
}

TEST(SlimFly, IsRegularOfDiameterTwoWithItsNumberOfSwitches) {
  for (const i64 q : {3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19}) {
    const auto t = slim_fly(q, 1);
    const core::Graph& graph = t->graph();
    const i64 delta = q % 4 == 3 ? -1 : q % 4;
    const u64 degree = static_cast<u64>(3 * q - delta) / 2;
    const u64 switches = static_cast<u64>(2 * q * q);
    EXPECT_EQ(graph.switches(), switches);
    EXPECT_EQ(graph.channels().size(), switches * (degree + 2)) << q;
    expect_bidirectional(graph);
    const Distances d = distances(graph);
    EXPECT_EQ(d.diameter, 2U) << q;
    // All but itself and its neighbours are two apart.
    EXPECT_EQ(d.sum, switches * (degree + 2 * (switches - 1 - degree))) << q;
  }
}

TEST(SlimFly, ComesNearTheMooreBound) {
  // No graph of degree k and diameter 2 has more than k^2 + 1 nodes; these tend to 8/9 of it.
  for (const u64 q : {5U, 13U, 17U, 29U}) {
    const u64 degree = (3 * q - 1) / 2;
    EXPECT_GT(9.0 * static_cast<double>(2 * q * q), 0.98 * 8.0 * static_cast<double>(degree * degree + 1)) << q;
    EXPECT_LE(2 * q * q, degree * degree + 1);
  }
  EXPECT_EQ(slim_fly(5)->graph().switches(), 50U);  // the Hoffman-Singleton graph reaches the bound of degree 7
}

TEST(SlimFly, TheSmallestOfDegreeSevenIsTheHoffmanSingletonGraph) {
  // Moore graph: 50 = 7^2 + 1 switches, hence no triangles and no squares: any two switches have at most one neighbour
  // in common, neighbours none.
  const auto t = slim_fly(5, 1);
  for (u32 a = 0; a < 50; ++a) {
    const std::vector<u32> from_a = distances_from(t->graph(), a);
    for (u32 b = 0; b < 50; ++b) {
      if (a == b) continue;
      const std::vector<u32> from_b = distances_from(t->graph(), b);
      u32 common = 0;
      for (u32 s = 0; s < 50; ++s) common += from_a[s] == 1 && from_b[s] == 1 ? 1 : 0;
      EXPECT_EQ(common, from_a[b] == 1 ? 0U : 1U);
    }
  }
}

TEST(SlimFly, HasHalfOfTheDegreeInTerminalsByDefault) {
  EXPECT_EQ(slim_fly(5)->graph().terminals(), 50U * 4);
  EXPECT_EQ(slim_fly(7)->graph().terminals(), 98U * 6);
  EXPECT_EQ(slim_fly(5, 2)->graph().terminals(), 100U);
  EXPECT_EQ(slim_fly(5)->label(31), "(1,1,1)");
}

TEST(SlimFly, PowersOfPrimesFollowTheFieldOfTheirOrder) {
  // 27 = 4 * 7 - 1 and 25 = 4 * 6 + 1: of the third and the second power of a prime, both kinds of sets.
  for (const i64 q : {25, 27}) {
    const auto t = slim_fly(q, 1);
    EXPECT_EQ(t->graph().switches(), static_cast<u64>(2 * q * q));
    const std::vector<u32> from = distances_from(t->graph(), 0);
    EXPECT_EQ(*std::max_element(from.begin(), from.begin() + 2 * q * q), 2U) << q;
  }
}

TEST(SlimFly, RefusesWhatIsNoPowerOfAPrime) {
  EXPECT_NE(refusal([] { slim_fly(6); }).find("use 5 or 7"), std::string::npos);
  EXPECT_NE(refusal([] { slim_fly(12); }).find("use 11 or 13"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::slim_fly_test
