// Seam 1: a topology builds a graph and publishes the structure that routing functions stand on.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/core/size.hpp"

namespace banyan::core {

/// Facet of unidirectional multistage networks of n x n interchange boxes: the digits that each stage sets.
/// Output port m of a box at the s-th traversed stage sets digit digit_of_stage[s] of the link number to m.
/// Destination-tag routing takes port digit(destination, radix, digit_of_stage[s]) there.
struct Multistage {
  u32 radix = 0;                    ///< n
  u32 digits = 0;                   ///< log_n N
  std::vector<u32> digit_of_stage;  ///< one entry per traversed (not bypassed) stage, first stage first
  std::vector<u32> stage_label;     ///< the literature's stage number of each traversed stage
  bool extra_stage = false;         ///< the first traversed stage is a free choice (its digit is set again later)
};

/// Facet of meshes, tori and hypercubes: switch s has coordinate (s / stride(d)) % size[d] in dimension d.
struct Grid {
  std::vector<u32> size;   ///< switches per dimension
  std::vector<bool> wrap;  ///< torus (true) or mesh (false) per dimension
  u32 concentration = 1;   ///< terminals per switch; terminal t sits at switch t / concentration
  /// Output and input port towards the higher / lower neighbour in dimension d. For size 2 both are equal.
  std::vector<u32> port_up;
  std::vector<u32> port_down;

  [[nodiscard]] bool is_mesh() const { return std::find(wrap.begin(), wrap.end(), true) == wrap.end(); }
  [[nodiscard]] bool is_hypercube() const {
    return std::all_of(size.begin(), size.end(), [](u32 switches) { return switches == 2; });
  }
  /// Every dimension closes in itself.
  [[nodiscard]] bool is_torus() const {
    for (std::size_t d = 0; d < size.size(); ++d) {
      if (!wrap[d] && size[d] != 2) return false;
    }
    return true;
  }
};

/// One level of a fat tree; level 0 holds the terminals. Ports [0, down_ports) lead down, the next up_ports lead up.
struct TreeLevel {
  u32 first = 0;  ///< its first switch; switches are numbered level by level
  u32 count = 0;
  u32 down_ports = 0;
  u32 up_ports = 0;
  u32 key_divide = 1;  ///< terminal t is below switch s when key(t) = t / key_divide % key_modulo is Tree::key[s]
  u32 key_modulo = 1;
  u32 port_divide = 1;  ///< the ports from there down to t begin at t / port_divide % port_modulo * port_times ...
  u32 port_modulo = 1;
  u32 port_times = 1;  ///< ... and there are so many: all of them lead to t
};

/// Facet of fat trees: up over any port, and down from every common ancestor. All digits are functions of the number.
struct Tree {
  std::vector<TreeLevel> levels;
  std::vector<u32> key;  ///< of each switch
};

/// Facet of HyperX networks: switch s has coordinate (s / stride(d)) % size[d], and a channel to every switch that
/// differs in one coordinate only. Ports of dimension d start at first_port[d], in the order of the others'
/// coordinates.
struct HyperX {
  std::vector<u32> size;
  u32 concentration = 1;  ///< terminal t sits at switch t / concentration
  std::vector<u32> first_port;
};

/// Where the terminals of meshes, tori, hypercubes and HyperX networks are, whatever joins their switches: terminal t
/// at switch s = t / concentration, which has coordinate (s / stride(d)) % size[d].
struct Places {
  std::vector<u32> size;
  u32 concentration = 1;
};

/// Facet of dragonflies: groups of `routers` fully connected switches, each with `global_ports` channels to others.
/// Switch s is router s % routers of group s / routers. Ports: routers - 1 local ones in the order of the others'
/// numbers, then the global ones, then one per terminal.
struct Dragonfly {
  u32 terminals = 1;     ///< p, per router
  u32 routers = 1;       ///< a, per group
  u32 global_ports = 1;  ///< h, per router
  u32 groups = 1;        ///< g
  /// Group behind global port j of router r of group i, at [(i * routers + r) * global_ports + j]; kNone: no channel.
  std::vector<u32> peer;
};

class Topology {
 public:
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Copies of the network that lie side by side. Every terminal that traffics know of has a terminal of the graph in
  /// each: terminal t in the i-th copy is terminal t * subnetworks() + i of the graph, likewise the switches.
  [[nodiscard]] u32 subnetworks() const { return subnetworks_; }
  /// The network of which they are copies.
  [[nodiscard]] virtual const Topology& one_subnetwork() const { return *this; }
  /// Terminals that traffics know of.
  [[nodiscard]] u32 traffic_terminals() const { return graph_.terminals() / subnetworks_; }
  /// Name of a switch in the literature's terms ("stage 3 box 5", "(2,1)").
  [[nodiscard]] virtual std::string label(u32 switch_) const = 0;
  /// Coordinates of a switch in the topology's own terms; level and position on it where it has none.
  [[nodiscard]] virtual std::vector<u32> coordinates(u32 switch_) const { return {graph_.level(switch_), switch_}; }
  /// Name of an output port ("x+", "up 2"); input ports carry the names of the outputs of the same number.
  [[nodiscard]] virtual std::string port_label(u32 switch_, u32 port) const {
    static_cast<void>(switch_);
    return std::to_string(port);
  }
  [[nodiscard]] virtual const Multistage* multistage() const { return nullptr; }
  [[nodiscard]] virtual const Grid* grid() const { return nullptr; }
  [[nodiscard]] virtual const Tree* tree() const { return nullptr; }
  [[nodiscard]] virtual const HyperX* hyperx() const { return nullptr; }
  [[nodiscard]] virtual const Dragonfly* dragonfly() const { return nullptr; }
  [[nodiscard]] std::optional<Places> places() const {
    if (const Grid* const g = grid()) return Places{g->size, g->concentration};
    if (const HyperX* const h = hyperx()) return Places{h->size, h->concentration};
    return std::nullopt;
  }

 protected:
  Topology() = default;
  Graph graph_;
  u32 subnetworks_ = 1;
};

/// Registration row of a topology: `const core::TopologyRow row_NAME` in `namespace banyan::topology::NAME`, file
/// NAME.cpp. `make` throws ConfigError (through Values::fail) when the parameters do not fit together.
struct TopologyRow {
  /// What carries packets where an experiment names no routing: one fixed way for each pair, a shortest one where it
  /// can be, free of deadlock with the virtual channels that switch models have by default.
  struct UsualRouting {
    const char* name = nullptr;       ///< nullptr: every experiment names its own; none of Banyan's topologies does so
    const char* parameter = nullptr;  ///< that is not as by default; nullptr: none
    const char* value = nullptr;      ///< one of its choices
  };
  config::ComponentInfo info;
  std::unique_ptr<Topology> (*make)(const config::Values&) = nullptr;
  /// The size of what `make` would build, without subnetworks; of parameters that do not fit together it may tell
  /// anything. nullptr: the network is no larger than what was written down for it.
  NetworkSize (*size)(const config::Values&) = nullptr;
  UsualRouting routing{};
};

}  // namespace banyan::core
