// Binary n-cube: switches whose addresses differ in bit d are neighbours through port d.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/topology/parts/grid.hpp"

namespace banyan::topology::hypercube {
namespace {

std::unique_ptr<core::Topology> make(const config::Values& values) {
  const u32 degree = values.natural("degree");
  parts::GridPlan plan;
  plan.grid.size.assign(degree, 2);
  plan.grid.wrap.assign(degree, false);
  plan.grid.concentration = values.natural("concentration");
  if ((u64{plan.grid.concentration} << degree) > parts::kMostTerminals) {
    values.fail("degree", "the network would have more than " + std::to_string(parts::kMostTerminals) + " terminals",
                "make the degree or the concentration smaller");
  }
  plan.latency_cycles.assign(degree, values.natural("latency"));
  plan.cycles_per_flit.assign(degree, 1);
  plan.terminal_latency_cycles = values.natural("terminal_latency");
  return std::make_unique<parts::GridTopology>(std::move(plan), values, parts::binary_label);
}

core::NetworkSize size(const config::Values& values) {
  const std::vector<double> size(values.natural("degree"), 2.0);
  return parts::of_wiring(parts::grid_size(size, false, values.natural("concentration")), values);
}

}  // namespace

using config::Parameter;

extern const core::TopologyRow row_hypercube;
const core::TopologyRow row_hypercube{
    {
        "hypercube",
        "Binary n-cube with one or more terminals per switch.",
        "C. L. Seitz, The Cosmic Cube, Communications of the ACM 28(1), 1985",
        parts::with_damage({
            Parameter::integer("degree", 6).range(1, 24).doc("Dimensions n; the network has 2^n switches."),
            parts::concentration_parameter(),
            parts::latency_parameter(),
            parts::terminal_latency_parameter(),
        }),
    },
    make,
    size,
    {"ecube"},
};

}  // namespace banyan::topology::hypercube
