// Does the neighbourhood get its share, and everybody theirs of the rest?
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"
#include "component_rows.hpp"
#include "traffic/samples.hpp"

namespace banyan::topology::taper_test {}
namespace banyan::traffic {
namespace {

constexpr u64 kMessages = 200000;

std::unique_ptr<core::Topology> grid(const core::TopologyRow& row) {
  config::Values values = config::Values::defaults(row.info);
  values.set("size", std::vector<i64>{8, 8});
  return row.make(values);
}

TEST(Taper, HalfStaysWithinOneStepAroundTheEdges) {
  for (const core::TopologyRow* row : {&topology::mesh::row_mesh, &topology::hyperx::row_hyperx}) {
    const auto network = grid(*row);
    const auto traffic = test::make_traffic(traffic::taper::row_taper, {}, 64, network.get());
    for (const u32 source : {0U, 27U, 39U}) {
      const auto share = test::shares_of(*traffic, source, 64, kMessages);
      for (u32 t = 0; t < 64; ++t) {
        const u32 dx = (t % 8 + 8 - source % 8) % 8;
        const u32 dy = (t / 8 + 8 - source / 8) % 8;
        const bool near = (dx <= 1 || dx == 7) && (dy <= 1 || dy == 7);
        test::expect_share(share[t], 0.5 / 64 + (near ? 0.5 / 9 : 0.0), kMessages);
      }
    }
  }
}

/// With two places in a dimension a step in either direction leads to the other one.
TEST(Taper, TheNeighbourhoodIsUniformInSmallDimensions) {
  const std::vector<std::vector<i64>> sizes{{2, 2, 2}, {5, 2}, {2, 2, 3}, {1, 6}, {3, 2}};
  for (const std::vector<i64>& size : sizes) {
    config::Values values = config::Values::defaults(topology::torus::row_torus.info);
    values.set("size", size);
    const auto network = topology::torus::row_torus.make(values);
    const u32 terminals = network->graph().terminals();
    const auto traffic = test::make_traffic(traffic::taper::row_taper, {{"local", 1.0}}, terminals, network.get());
    u32 near = 1;
    for (const i64 k : size) near *= static_cast<u32>(std::min<i64>(k, 3));
    for (const u32 source : {0U, terminals / 2, terminals - 1}) {
      const auto share = test::shares_of(*traffic, source, terminals, kMessages);
      for (u32 t = 0; t < terminals; ++t) {
        bool inside = true;
        u32 a = source;
        u32 b = t;
        for (const i64 k : size) {
          const auto n = static_cast<u32>(k);
          const u32 apart = (a % n + n - b % n) % n;
          inside = inside && (apart <= 1 || apart == n - 1);
          a /= n;
          b /= n;
        }
        test::expect_share(share[t], inside ? 1.0 / near : 0.0, kMessages);
      }
    }
  }
}

TEST(Taper, WithoutCoordinatesItIsRefused) {
  EXPECT_THROW(test::make_traffic(traffic::taper::row_taper, {}, 64), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic
