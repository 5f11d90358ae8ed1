// The multistage cube networks: log_n N stages of n x n interchange boxes, one path per pair of terminals.
//
// Each wiring stands here as its own literature defines it; a test shows that all are the same graph up to the names of
// boxes and terminals (C.-L. Wu and T.-Y. Feng, IEEE Trans. Computers C-29(8), 1980).
#include <fmt/core.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/core/topology.hpp"
#include "banyan/topology/parts/columns.hpp"
#include "banyan/topology/parts/subnetworks.hpp"

namespace banyan::topology::multistage_cube {
namespace {

using Digits = DigitPermutation;

/// A wiring: the permutations around the columns, the digit of the destination that each column sets, and the
/// literature's numbers of the columns.
struct Plan {
  std::vector<Digits> wires;
  std::vector<u32> digit_of_stage;
  std::vector<u32> stage_label;
};

std::vector<u32> upwards(u32 k) {
  std::vector<u32> list;
  for (u32 i = 0; i < k; ++i) list.push_back(i);
  return list;
}

std::vector<u32> downwards(u32 k) {
  std::vector<u32> list;
  for (u32 i = k; i > 0; --i) list.push_back(i - 1);
  return list;
}

/// Lawrie 1975: a perfect shuffle before every stage.
Plan omega(u32 k) {
  std::vector<Digits> wires(k, Digits::shuffle(k, k));
  wires.push_back(Digits::identity(k));
  return {std::move(wires), downwards(k), downwards(k)};
}

/// Batcher 1976: an inverse shuffle after every stage.
Plan flip(u32 k) {
  std::vector<Digits> wires{Digits::identity(k)};
  wires.insert(wires.end(), k, Digits::unshuffle(k, k));
  return {std::move(wires), upwards(k), upwards(k)};
}

/// Wu and Feng 1980: the boxes of the first stage lead to n networks of 1/n the size, and so on inside these.
Plan baseline(u32 k) {
  std::vector<Digits> wires{Digits::identity(k)};
  for (u32 s = 0; s + 1 < k; ++s) wires.push_back(Digits::unshuffle(k, k - s));
  wires.push_back(Digits::identity(k));
  return {std::move(wires), downwards(k), upwards(k)};
}

/// Crowther et al. 1985; Dally and Towles 2004, section 4.1: digit k-1-s changes places with digit 0 behind stage s.
Plan butterfly(u32 k) {
  std::vector<Digits> wires{Digits::identity(k)};
  for (u32 s = 0; s + 1 < k; ++s) wires.push_back(Digits::exchange(k, k - 1 - s));
  wires.push_back(Digits::identity(k));
  return {std::move(wires), downwards(k), upwards(k)};
}

/// Pease 1977, as drawn by Wu and Feng 1980: digit s+1 changes places with digit 0 behind stage s, and an inverse
/// shuffle ends the network.
Plan indirect_cube(u32 k) {
  std::vector<Digits> wires{Digits::identity(k)};
  for (u32 s = 0; s + 1 < k; ++s) wires.push_back(Digits::exchange(k, s + 1));
  wires.push_back(Digits::unshuffle(k, k));
  return {std::move(wires), upwards(k), upwards(k)};
}

class MultistageCube final : public core::Topology {
 public:
  explicit MultistageCube(const config::Values& values) {
    const u32 terminals = values.natural("terminals");
    facet_.digits = checked_digits(values);
    facet_.radix = values.natural("radix");
    const std::string& wiring = values.text("wiring");
    if (wiring == "generalized_cube") {
      // Siegel and McMillen 1981; paper 1, section 2: stages k-1 .. 0, links keep their numbers through the boxes.
      facet_.digit_of_stage = downwards(facet_.digits);
      facet_.stage_label = facet_.digit_of_stage;
      graph_ = build_cube_columns(terminals, facet_.radix, facet_.digits, facet_.digit_of_stage);
      return;
    }
    Plan plan = plan_of(wiring);
    graph_ = build_columns(terminals, facet_.radix, plan.wires);
    facet_.digit_of_stage = std::move(plan.digit_of_stage);
    facet_.stage_label = std::move(plan.stage_label);
  }

  [[nodiscard]] std::string label(u32 node) const override {
    const u32 boxes = graph_.terminals() / facet_.radix;
    return fmt::format("stage {} box {}", facet_.stage_label[node / boxes], node % boxes);
  }
  [[nodiscard]] const core::Multistage* multistage() const override { return &facet_; }

 private:
  [[nodiscard]] Plan plan_of(const std::string& wiring) const {
    if (wiring == "omega") return omega(facet_.digits);
    if (wiring == "flip") return flip(facet_.digits);
    if (wiring == "baseline") return baseline(facet_.digits);
    if (wiring == "butterfly") return butterfly(facet_.digits);
    return indirect_cube(facet_.digits);
  }

  core::Multistage facet_;
};

std::unique_ptr<core::Topology> make(const config::Values& values) { return std::make_unique<MultistageCube>(values); }

core::NetworkSize size(const config::Values& values) { return columns_size(values, 0.0); }

}  // namespace

using config::Parameter;
extern const core::TopologyRow row_multistage_cube;
const core::TopologyRow row_multistage_cube{
    {"multistage_cube",
     "Multistage cube network of n x n interchange boxes in log_n N stages, in any of six equivalent wirings.",
     "H. J. Siegel, W. G. Nation, C. P. Kruskal, L. M. Napolitano: Using the multistage cube network topology in "
     "parallel supercomputers. Proceedings of the IEEE 77(12), 1989; C.-L. Wu, T.-Y. Feng: On a class of multistage "
     "interconnection networks. IEEE Trans. Computers C-29(8), 1980",
     {
         Parameter::integer("terminals", 256).range(2, 1 << 20).doc("Terminals N, a power of the radix."),
         Parameter::integer("radix", 4).range(2, 64).doc("Inputs and outputs of an interchange box, n."),
         Parameter::choice("wiring",
                           {"generalized_cube", "omega", "baseline", "butterfly", "indirect_binary_cube", "flip"},
                           "generalized_cube")
             .doc("Which of the equivalent networks of the literature connects the stages."),
         parts::subnetworks_parameter(),
     }},
    make,
    size,
    {"destination_tag"}};

}  // namespace banyan::topology::multistage_cube
