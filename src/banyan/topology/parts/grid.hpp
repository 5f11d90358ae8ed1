// What mesh, torus and hypercube share: the wiring of a grid of switches with `concentration` terminals each.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/size.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/damage.hpp"
#include "banyan/topology/parts/direct_wiring.hpp"

namespace banyan::topology::parts {

/// Switches and terminals that one grid may have: keeps indices of ports and channels well inside 32 bits.
inline constexpr u64 kMostTerminals = u64{1} << 24U;
/// Dimensions that one grid may have.
inline constexpr u32 kMostDimensions = 24;

/// What a grid is built from. `grid.port_up` and `grid.port_down` are filled by GridTopology.
struct GridPlan {
  core::Grid grid;
  std::vector<u32> latency_cycles;   ///< of the channels between switches, per dimension
  std::vector<u32> cycles_per_flit;  ///< likewise
  u32 terminal_latency_cycles = 1;   ///< of injection and ejection channels
};

/// Numbers the ports, dimension by dimension, and returns how many they are. A dimension of size 1 has no port
/// (port_up and port_down are kNone), one of size 2 has one, others have two, up before down.
inline u32 number_ports(core::Grid& grid) {
  u32 next = 0;
  grid.port_up.assign(grid.size.size(), kNone);
  grid.port_down.assign(grid.size.size(), kNone);
  for (std::size_t d = 0; d < grid.size.size(); ++d) {
    if (grid.size[d] < 2) continue;
    grid.port_up[d] = next++;
    grid.port_down[d] = grid.size[d] == 2 ? grid.port_up[d] : next++;
  }
  return next;
}

/// Coordinate of a switch per dimension; dimension 0 varies fastest.
inline std::vector<u32> coordinates(const core::Grid& grid, u32 index) {
  std::vector<u32> result;
  result.reserve(grid.size.size());
  for (const u32 size : grid.size) {
    result.push_back(index % size);
    index /= size;
  }
  return result;
}

/// "(x,y)", dimension 0 first.
inline std::string coordinate_label(const core::Grid& grid, u32 index) {
  std::string text;
  for (const u32 c : coordinates(grid, index)) text += (text.empty() ? "(" : ",") + std::to_string(c);
  return text + ")";
}

/// Binary address, the highest dimension first: "0110".
inline std::string binary_label(const core::Grid& grid, u32 index) {
  std::string text;
  for (const u32 bit : coordinates(grid, index)) text.insert(text.begin(), bit != 0 ? '1' : '0');
  return text;
}

/// The wiring of a grid. Input and output ports carry the same numbers: those of number_ports(), then one per terminal.
/// Ports that point over the edge of a mesh exist but carry no channel.
class GridWiring final : public DirectWiring {
 public:
  /// `neighbours`: what number_ports() gave for the grid.
  GridWiring(const GridPlan& plan, u32 switches, u32 neighbours)
      : DirectWiring(switches, neighbours, plan.grid.concentration, {plan.terminal_latency_cycles, 1}) {
    u32 stride = 1;
    for (std::size_t d = 0; d < plan.grid.size.size(); ++d) {
      const Dimension dimension{plan.grid.size[d], stride, plan.grid.wrap[d]};
      stride *= dimension.size;
      if (dimension.size < 2) continue;
      if (dimension.size > 2 && !dimension.wrap) edges_.push_back(dimension);
      const core::Link link{plan.latency_cycles[d], plan.cycles_per_flit[d]};
      const u32 up = plan.grid.port_up[d];
      const u32 down = plan.grid.port_down[d];
      ports_.push_back({dimension, link, true, static_cast<u16>(down)});
      if (down != up) ports_.push_back({dimension, link, false, static_cast<u16>(up)});
    }
  }

 private:
  struct Dimension {
    u32 size = 1;
    u32 stride = 1;
    bool wrap = false;
  };
  struct Port {
    Dimension dimension;
    core::Link link;
    bool up = true;
    u16 far = 0;  ///< port at the other end
  };

  [[nodiscard]] Way neighbour(u32 s, u32 port) const override {
    const Port& p = ports_[port];
    const auto& [size, stride, wrap] = p.dimension;
    const u32 at = s / stride % size;
    const u32 above = at + 1 == size ? 0 : at + 1;
    const u32 to = p.up ? above : (at == 0 ? size : at) - 1;
    if (!wrap && size > 2 && (p.up ? to < at : to > at)) return {};
    return {core::End::of_switch(s - at * stride + to * stride, p.far), p.link};
  }
  [[nodiscard]] u32 empty_before(u32 s) const override {
    u32 empty = 0;
    for (const Dimension& d : edges_) {
      const u32 plane = d.size * d.stride;
      const u32 rest = s % plane;
      const u32 highest = (d.size - 1) * d.stride;  // the switches from here on have no channel up
      empty += s / plane * 2 * d.stride + std::min(rest, d.stride) + (rest > highest ? rest - highest : 0);
    }
    return empty;
  }

  std::vector<Port> ports_;
  std::vector<Dimension> edges_;  ///< those that are no rings
};

class GridTopology final : public core::Topology {
 public:
  using Label = std::string (*)(const core::Grid&, u32);

  GridTopology(GridPlan plan, const config::Values& values, Label name_of) : grid_(plan.grid), label_(name_of) {
    const u32 neighbour_ports = number_ports(grid_);
    first_terminal_port_ = neighbour_ports;
    u32 switches = 1;
    for (const u32 size : grid_.size) switches *= size;
    plan.grid = grid_;
    graph_ = core::Graph(std::make_shared<GridWiring>(plan, switches, neighbour_ports));
    lost_terminals_ = Damage(values, graph_).lost_terminals();
  }

  [[nodiscard]] std::string label(u32 index) const override { return label_(grid_, index); }
  /// "x+", "y-", "d3+" for dimensions beyond z, "d0" in a dimension of size 2; "terminal 1".
  [[nodiscard]] std::string port_label(u32, u32 port) const override {
    for (std::size_t d = 0; d < grid_.size.size(); ++d) {
      if (port != grid_.port_up[d] && port != grid_.port_down[d]) continue;
      const std::string name = grid_.size.size() <= 3 ? std::string(1, "xyz"[d]) : "d" + std::to_string(d);
      return grid_.size[d] == 2 ? name : name + (port == grid_.port_up[d] ? "+" : "-");
    }
    return "terminal " + std::to_string(port - first_terminal_port_);
  }
  [[nodiscard]] std::vector<u32> coordinates(u32 index) const override { return parts::coordinates(grid_, index); }
  [[nodiscard]] const core::Grid* grid() const override { return lost_terminals_ ? nullptr : &grid_; }

 private:
  core::Grid grid_;
  Label label_;
  u32 first_terminal_port_ = 0;
  bool lost_terminals_ = false;
};

/// The parameters that mesh and torus share.
inline std::vector<config::Parameter> grid_parameters() {
  using config::Parameter;
  return with_damage({
      Parameter::integers("size", {8, 8}).range(1, 1 << 24).doc("Switches per dimension; dimension 0 varies fastest."),
      concentration_parameter(),
      Parameter::integers("latency", {1})
          .unit("cycles")
          .range(1, 1 << 20)
          .doc("Latency of the channels between switches: one value, or one per dimension."),
      Parameter::integers("cycles_per_flit", {1})
          .unit("cycles")
          .range(1, 1 << 20)
          .doc("Cycles that a flit takes on a channel between switches: one value, or one per dimension."),
      terminal_latency_parameter(),
  });
}

/// A parameter with one value for all dimensions, or one per dimension.
inline std::vector<u32> per_dimension(const config::Values& values, const char* name, std::size_t dimensions) {
  const std::vector<i64>& given = values.integers(name);
  if (given.size() != 1 && given.size() != dimensions) {
    values.fail(name, fmt::format("{} values of {} for {} dimensions", given.size(), name, dimensions),
                "give one value for all channels, or one per dimension");
  }
  std::vector<u32> result;
  for (std::size_t d = 0; d < dimensions; ++d) result.push_back(static_cast<u32>(given[given.size() == 1 ? 0 : d]));
  return result;
}

/// The size of a grid; wrap: every dimension of more than two switches is a ring.
inline core::NetworkSize grid_size(const std::vector<double>& size, bool wrap, double concentration) {
  core::NetworkSize all;
  all.switches = 1.0;
  for (const double k : size) all.switches *= k;
  all.terminals = all.switches * concentration;
  all.inputs = all.terminals;
  all.channels = 2.0 * all.terminals;
  for (const double k : size) {
    if (k < 2.0) continue;
    const double lines = all.switches / k;
    all.inputs += all.switches * (k == 2.0 ? 1.0 : 2.0);
    all.channels += 2.0 * lines * (wrap && k > 2.0 ? k : k - 1.0);
    all.passed += wrap && k > 2.0 ? k / 4.0 : (k - 1.0 / k) / 3.0;
  }
  return all;
}

/// The same from grid_parameters().
inline core::NetworkSize grid_size(const config::Values& values, bool wrap) {
  const std::vector<i64>& size = values.integers("size");
  return of_wiring(grid_size({size.begin(), size.end()}, wrap, values.natural("concentration")), values);
}

/// Reads grid_parameters() and checks that they fit together. Throws ConfigError.
inline GridPlan read_grid(const config::Values& values, bool wrap) {
  GridPlan plan;
  const std::vector<i64>& size = values.integers("size");
  if (size.empty() || size.size() > kMostDimensions) {
    values.fail(
        "size",
        "a grid has 1 to " + std::to_string(kMostDimensions) + " dimensions, not " + std::to_string(size.size()),
        "give the switches per dimension, for example size = [8, 8]");
  }
  plan.grid.concentration = values.natural("concentration");
  u64 terminals = plan.grid.concentration;
  for (const i64 k : size) {
    if (k < 1) {
      values.fail("size", "a dimension of size " + std::to_string(k) + " holds no switch",
                  "give at least 1 switch per dimension, for example size = [8, 8]");
    }
    if (static_cast<u64>(k) > kMostTerminals / terminals) {
      values.fail("size", "the network would have more than " + std::to_string(kMostTerminals) + " terminals",
                  "make a dimension or the concentration smaller");
    }
    terminals *= static_cast<u64>(k);
    plan.grid.size.push_back(static_cast<u32>(k));
    plan.grid.wrap.push_back(wrap);
  }
  if (terminals < 2) {
    values.fail("size", "a network of one terminal carries no traffic",
                "raise size or concentration to have 2 terminals");
  }
  plan.latency_cycles = per_dimension(values, "latency", size.size());
  plan.cycles_per_flit = per_dimension(values, "cycles_per_flit", size.size());
  plan.terminal_latency_cycles = values.natural("terminal_latency");
  return plan;
}

}  // namespace banyan::topology::parts
