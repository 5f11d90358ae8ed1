// Do diameters and mean distances equal their closed forms, exactly?
#include <gtest/gtest.h>

#include "support/rows.hpp"

namespace banyan::test::distances_test {
namespace {

using Sizes = std::vector<i64>;

/// Sum of distances over all ordered pairs of a line and of a ring of k.
u64 line_sum(u64 k) { return k * (k * k - 1) / 3; }
u64 ring_sum(u64 k) { return k * (k * k / 4); }

TEST(Distances, OfMeshesAndToriAddUpOverTheirDimensions) {
  for (const Sizes& size : {Sizes{5, 4}, {8, 8}, {3, 4, 5}, {7}, {6, 3}}) {
    u64 switches = 1;
    for (const i64 k : size) switches *= static_cast<u64>(k);
    u64 mesh = 0;
    u64 torus = 0;
    u32 mesh_diameter = 0;
    u32 torus_diameter = 0;
    for (const i64 n : size) {
      const u64 k = static_cast<u64>(n);
      const u64 others = switches / k;
      mesh += line_sum(k) * others * others;
      torus += ring_sum(k) * others * others;
      mesh_diameter += static_cast<u32>(k - 1);
      torus_diameter += static_cast<u32>(k / 2);
    }
    const Distances of_mesh = distances(topology("mesh", {{"size", size}})->graph());
    const Distances of_torus = distances(topology("torus", {{"size", size}})->graph());
    EXPECT_EQ(of_mesh.sum, mesh);
    EXPECT_EQ(of_mesh.diameter, mesh_diameter);
    EXPECT_EQ(of_torus.sum, torus);
    EXPECT_EQ(of_torus.diameter, torus_diameter);
  }
}

TEST(Distances, OfHypercubesAreHammingDistances) {
  for (const u32 n : {1U, 4U, 7U}) {
    const Distances d = distances(topology("hypercube", {{"degree", i64{n}}})->graph());
    EXPECT_EQ(d.diameter, n);
    EXPECT_EQ(d.sum, (u64{1} << (2 * n)) * n / 2);
  }
}

TEST(Distances, OfFatTreesAreTwiceTheLevelOfTheNearestCommonAncestor) {
  for (const auto& [k, n] : {std::pair<u64, u64>{2, 5}, {4, 3}, {3, 3}}) {
    u64 expected = 0;
    u64 below = k;
    for (u64 level = 1; level < n; ++level) {
      expected += 2 * level * below * (k - 1);
      below *= k;
    }
    const auto t = topology("fat_tree", {{"arity", static_cast<i64>(k)}, {"levels", static_cast<i64>(n)}});
    const Distances d = distances(t->graph());
    EXPECT_EQ(d.diameter, 2 * (n - 1));
    EXPECT_EQ(d.sum, below * expected);
  }
}

TEST(Distances, OfBidirectionalNetworksEqualThoseOfTheTree) {
  for (const i64 hosts : {16, 64, 256}) {
    const Distances tree =
        distances(topology("bidirectional_min", {{"hosts", hosts}, {"wiring", std::string("k_ary_n_tree")}})->graph());
    const Distances shuffle = distances(topology("bidirectional_min", {{"hosts", hosts}})->graph());
    EXPECT_EQ(tree.sum, shuffle.sum);
    EXPECT_EQ(tree.diameter, shuffle.diameter);
  }
}

}  // namespace
}  // namespace banyan::test::distances_test
