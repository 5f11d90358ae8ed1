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

TEST(Taper, WithoutCoordinatesItIsRefused) {
  EXPECT_THROW(test::make_traffic(traffic::taper::row_taper, {}, 64), ConfigError);
}

}  // namespace
}  // namespace banyan::traffic
