// HyperX (Ahn et al. 2009): switches at the points of a grid, each joined to all others that differ in one coordinate.
// With equal sizes it is the flattened butterfly of Kim, Dally and Abts 2007 (a k-ary n-flat has n - 1 dimensions of
// size k and k terminals per switch); with one dimension a full mesh; with sizes of 2 the hypercube.
#include <fmt/core.h>

#include "banyan/topology/parts/grid.hpp"

namespace banyan::topology::hyperx {
namespace {

class HyperXWiring final : public parts::DirectWiring {
 public:
  HyperXWiring(const parts::GridPlan& plan, u32 switches, u32 neighbours)
      : DirectWiring(switches, neighbours, plan.grid.concentration, {plan.terminal_latency_cycles, 1}) {
    u32 stride = 1;
    u32 first = 0;
    for (std::size_t d = 0; d < plan.grid.size.size(); ++d) {
      const u32 size = plan.grid.size[d];
      dimensions_.push_back({size, stride, first, {plan.latency_cycles[d], plan.cycles_per_flit[d]}});
      stride *= size;
      first += size - 1;
    }
  }

 private:
  struct Dimension {
    u32 size = 1;
    u32 stride = 1;
    u32 first_port = 0;
    core::Link link;
  };

  [[nodiscard]] Way neighbour(u32 s, u32 port) const override {
    std::size_t i = dimensions_.size() - 1;
    while (dimensions_[i].first_port > port) --i;
    const Dimension& d = dimensions_[i];
    const u32 at = s / d.stride % d.size;
    const u32 index = port - d.first_port;
    const u32 to = index < at ? index : index + 1;
    const u32 other = s - at * d.stride + to * d.stride;
    return {core::End::of_switch(other, d.first_port + (at < to ? at : at - 1)), d.link};
  }

  std::vector<Dimension> dimensions_;
};

class HyperXTopology final : public core::Topology {
 public:
  explicit HyperXTopology(const config::Values& values) {
    parts::GridPlan plan = parts::read_grid(values, false);
    shape_.size = plan.grid.size;
    shape_.concentration = plan.grid.concentration;
    u32 ports = 0;
    u64 switches = 1;
    for (const u32 size : shape_.size) {
      shape_.first_port.push_back(ports);
      ports += size - 1;
      switches *= size;
    }
    first_terminal_port_ = ports;
    if (switches * (ports + shape_.concentration) > parts::kMostTerminals * 4) {
      values.fail("size", fmt::format("the network would have {} ports", switches * (ports + shape_.concentration)),
                  "make a dimension or the concentration smaller");
    }
    graph_ = core::Graph(std::make_shared<HyperXWiring>(plan, static_cast<u32>(switches), ports));
    lost_terminals_ = parts::Damage(values, graph_).lost_terminals();
  }

  [[nodiscard]] std::string label(u32 s) const override { return parts::coordinate_label(as_grid(), s); }
  [[nodiscard]] std::vector<u32> coordinates(u32 s) const override { return parts::coordinates(as_grid(), s); }
  /// "x to 3", "d4 to 0" beyond z; "terminal 1".
  [[nodiscard]] std::string port_label(u32 s, u32 port) const override {
    if (port >= first_terminal_port_) return fmt::format("terminal {}", port - first_terminal_port_);
    std::size_t d = shape_.size.size() - 1;
    while (shape_.first_port[d] > port) --d;
    const u32 index = port - shape_.first_port[d];
    const u32 other = index < coordinates(s)[d] ? index : index + 1;
    return shape_.size.size() <= 3 ? fmt::format("{} to {}", "xyz"[d], other) : fmt::format("d{} to {}", d, other);
  }
  [[nodiscard]] const core::HyperX* hyperx() const override { return lost_terminals_ ? nullptr : &shape_; }

 private:
  [[nodiscard]] core::Grid as_grid() const {
    core::Grid grid;
    grid.size = shape_.size;
    return grid;
  }

  core::HyperX shape_;
  u32 first_terminal_port_ = 0;
  bool lost_terminals_ = false;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<HyperXTopology>(values); }

core::NetworkSize size(const config::Values& values) {
  const double concentration = values.natural("concentration");
  core::NetworkSize all;
  all.switches = 1.0;
  double neighbours = 0.0;
  for (const i64 k : values.integers("size")) {
    const auto switches = static_cast<double>(k);
    all.switches *= switches;
    neighbours += switches - 1.0;
    all.passed += (switches - 1.0) / switches;
  }
  all.terminals = all.switches * concentration;
  all.inputs = all.switches * (neighbours + concentration);
  all.channels = all.switches * (neighbours + 2.0 * concentration);
  return parts::of_wiring(all, values);
}

}  // namespace

extern const core::TopologyRow row_hyperx;
const core::TopologyRow row_hyperx{
    {"hyperx",
     "HyperX: every switch is joined to all that differ in one coordinate; equal sizes make a flattened butterfly.",
     "J. H. Ahn, N. Binkert, A. Davis, M. McLaren and R. S. Schreiber, HyperX: Topology, Routing, and Packaging of "
     "Efficient Large-Scale Networks, SC 2009; J. Kim, W. J. Dally and D. Abts, Flattened Butterfly, ISCA 2007",
     parts::grid_parameters()},
    make,
    size,
    {"dimension_order"}};

}  // namespace banyan::topology::hyperx
