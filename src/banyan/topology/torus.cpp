// k-ary n-cube with any size per dimension: a mesh whose rows are closed to rings. A dimension of size 2 has one pair
// of channels, as in a mesh: the wrap channels would double it. A dimension of size 1 has none.
#include <memory>
#include <utility>

#include "banyan/topology/parts/grid.hpp"

namespace banyan::topology::torus {
namespace {

std::unique_ptr<core::Topology> make(const config::Values& values) {
  parts::GridPlan plan = parts::read_grid(values, true);
  for (std::size_t d = 0; d < plan.grid.size.size(); ++d) plan.grid.wrap[d] = plan.grid.size[d] > 2;
  return std::make_unique<parts::GridTopology>(std::move(plan), values, parts::coordinate_label);
}

core::NetworkSize size(const config::Values& values) { return parts::grid_size(values, true); }

}  // namespace

extern const core::TopologyRow row_torus;
const core::TopologyRow row_torus{
    {
        "torus",
        "Torus of any number of dimensions, with one or more terminals per switch.",
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
        parts::grid_parameters(),
    },
    make,
    size,
    {"dimension_order"},
};

}  // namespace banyan::topology::torus
