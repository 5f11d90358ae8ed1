// Are the patterns permutations, and those of the literature?
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::traffic::permutation_test {
namespace {

config::Values values(const std::string& pattern, bool include_self = true) {
  config::Values v = config::Values::defaults(traffic::permutation::row_permutation.info);
  v.set("pattern", pattern);
  v.set("include_self", include_self);
  v.set("load", 0.5);
  return v;
}

/// Destination of every terminal's first message, kNone where it sends none.
std::vector<u32> destinations(const config::Values& v, u32 terminals, const core::Topology* topology = nullptr) {
  const auto traffic = traffic::permutation::row_permutation.make(v, {topology, terminals, 0, 7, 1});
  traffic->begin(0);
  std::vector<u32> result;
  for (u32 t = 0; t < terminals; ++t) {
    core::Message m;
    result.push_back(traffic->next(t, 0, kNever, m) ? m.destination : kNone);
  }
  return result;
}

std::unique_ptr<core::Topology> grid(const core::TopologyRow& row, std::vector<i64> size, i64 concentration = 1) {
  config::Values v = config::Values::defaults(row.info);
  v.set("size", std::move(size));
  v.set("concentration", concentration);
  return row.make(v);
}

TEST(Permutation, EveryPatternReachesEveryTerminalOnce) {
  const auto torus = grid(topology::torus::row_torus, {8, 8});
  const auto concentrated = grid(topology::mesh::row_mesh, {4, 4}, 4);
  for (const char* pattern :
       {"transpose", "bit_complement", "bit_reverse", "shuffle", "tornado", "neighbour", "random"}) {
    for (const core::Topology* topology : {torus.get(), concentrated.get(), static_cast<core::Topology*>(nullptr)}) {
      std::vector<u32> all = destinations(values(pattern), 64, topology);
      std::sort(all.begin(), all.end());
      std::vector<u32> expected(64);
      std::iota(expected.begin(), expected.end(), 0U);
      EXPECT_EQ(all, expected) << pattern;
    }
  }
}

TEST(Permutation, PatternsMatchExamplesByHand) {
  EXPECT_EQ(destinations(values("bit_complement"), 16)[5], 10U);
  EXPECT_EQ(destinations(values("bit_reverse"), 16)[0b0011], 0b1100U);
  EXPECT_EQ(destinations(values("bit_reverse"), 32)[0b00101], 0b10100U);
  EXPECT_EQ(destinations(values("shuffle"), 16)[0b1010], 0b0101U);
  EXPECT_EQ(destinations(values("shuffle"), 8)[0b100], 0b001U);
  EXPECT_EQ(destinations(values("transpose"), 16)[0b0111], 0b1101U);
}

TEST(Permutation, TransposeExchangesTheCoordinatesOfASquareGrid) {
  const std::vector<u32> map = destinations(values("transpose"), 49);
  EXPECT_EQ(map[3 + 7 * 5], 5U + 7 * 3);
}

TEST(Permutation, TornadoGoesNearlyHalfwayRoundEveryRing) {
  const auto torus = grid(topology::torus::row_torus, {8, 5});
  const std::vector<u32> map = destinations(values("tornado"), 40, torus.get());
  EXPECT_EQ(map[6 + 8 * 4], (6U + 3) % 8 + 8 * ((4U + 2) % 5));
}

TEST(Permutation, NeighbourAddsOneToEveryCoordinateAndKeepsTheLocalTerminal) {
  const auto mesh = grid(topology::mesh::row_mesh, {4, 3}, 2);
  const std::vector<u32> map = destinations(values("neighbour"), 24, mesh.get());
  EXPECT_EQ(map[2 * (3 + 4 * 1) + 1], 2 * (0U + 4 * 2) + 1);
}

/// Terminal 4 is the first of switch (1, 0), and 24 the first of switch (2, 1).
TEST(Permutation, HyperXHasTheCoordinatesOfAMesh) {
  const auto mesh = grid(topology::mesh::row_mesh, {4, 4}, 4);
  const auto hyperx = grid(topology::hyperx::row_hyperx, {4, 4}, 4);
  for (const char* pattern : {"tornado", "neighbour"}) {
    EXPECT_EQ(destinations(values(pattern), 64, hyperx.get())[4], 24U);
    EXPECT_EQ(destinations(values(pattern), 64, hyperx.get()), destinations(values(pattern), 64, mesh.get()));
  }
}

TEST(Permutation, WithoutCoordinatesTheTerminalsAreOneRing) {
  EXPECT_EQ(destinations(values("neighbour"), 10)[9], 0U);
  EXPECT_EQ(destinations(values("tornado"), 10)[0], 4U);
}

TEST(Permutation, TheRandomPermutationDependsOnItsSeedOnly) {
  config::Values one = values("random");
  config::Values two = values("random");
  two.set("permutation_seed", i64{2});
  EXPECT_EQ(destinations(one, 64), destinations(one, 64));
  EXPECT_NE(destinations(one, 64), destinations(two, 64));
  const auto traffic = traffic::permutation::row_permutation.make(one, {nullptr, 64, 3, 12345, 4});
  traffic->begin(9);
  core::Message m;
  ASSERT_TRUE(traffic->next(0, 0, kNever, m));
  EXPECT_EQ(m.destination, destinations(one, 64)[0]);
}

TEST(Permutation, TerminalsMappedToThemselvesAreSilentAndOfferNothing) {
  const config::Values v = values("transpose", false);
  const std::vector<u32> map = destinations(v, 64);
  for (u32 t = 0; t < 64; ++t) EXPECT_EQ(map[t] == kNone, t % 8 == t / 8);
  EXPECT_DOUBLE_EQ(traffic::permutation::row_permutation.make(v, {nullptr, 64, 0, 7, 1})->offered_load(),
                   0.5 * 56 / 64);
}

TEST(Permutation, PatternsThatDoNotFitAreRefused) {
  EXPECT_THROW(destinations(values("transpose"), 32), ConfigError);
  EXPECT_THROW(destinations(values("shuffle"), 12), ConfigError);
  EXPECT_THROW(destinations(values("bit_reverse"), 1), ConfigError);
  EXPECT_THROW(destinations(values("tornado", false), 2), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic::permutation_test
