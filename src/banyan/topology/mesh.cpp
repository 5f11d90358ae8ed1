// k-ary n-mesh with any size per dimension: each switch is joined to its neighbours, the edges stay open.
#include <memory>

#include "banyan/topology/parts/grid.hpp"

namespace banyan::topology::mesh {
namespace {

std::unique_ptr<core::Topology> make(const config::Values& values) {
  return std::make_unique<parts::GridTopology>(parts::read_grid(values, false), values, parts::coordinate_label);
}

core::NetworkSize size(const config::Values& values) { return parts::grid_size(values, false); }

}  // namespace

extern const core::TopologyRow row_mesh;
const core::TopologyRow row_mesh{
    {
        "mesh",
        "Mesh of any number of dimensions, with one or more terminals per switch.",
        "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
        parts::grid_parameters(),
    },
    make,
    size,
    {"dimension_order"},
};

}  // namespace banyan::topology::mesh
