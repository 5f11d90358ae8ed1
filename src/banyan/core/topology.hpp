// Seam 1: a topology builds a graph and publishes the structure that routing functions stand on.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "banyan/config/schema.hpp"
#include "banyan/core/graph.hpp"

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
};

class Topology {
 public:
  virtual ~Topology() = default;
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  /// Name of a switch in the literature's terms ("stage 3 box 5", "(2,1)").
  [[nodiscard]] virtual std::string label(u32 switch_) const = 0;
  /// Name of an output port ("x+", "up 2"); input ports carry the names of the outputs of the same number.
  [[nodiscard]] virtual std::string port_label(u32 switch_, u32 port) const {
    static_cast<void>(switch_);
    return std::to_string(port);
  }
  [[nodiscard]] virtual const Multistage* multistage() const { return nullptr; }
  [[nodiscard]] virtual const Grid* grid() const { return nullptr; }

 protected:
  Topology() = default;
  Graph graph_;
};

/// Registration row of a topology: `const core::TopologyRow row_NAME` in `namespace banyan::topology`, file NAME.cpp.
/// `make` throws ConfigError (through Values::fail) when the parameters do not fit together.
struct TopologyRow {
  config::ComponentInfo info;
  std::unique_ptr<Topology> (*make)(const config::Values&) = nullptr;
};

}  // namespace banyan::core
