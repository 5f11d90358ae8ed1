// Permutations: every terminal sends all its messages to one other terminal.
#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::permutation {
namespace {

using Map = std::vector<u32>;

class Permutation final : public Pattern {
 public:
  Permutation(const config::Values& values, const core::TrafficContext& context, Map map)
      : Pattern(values, context), map_(std::move(map)) {
    if (!values.flag("include_self")) {
      for (u32 t = 0; t < map_.size(); ++t) {
        if (map_[t] == t) map_[t] = kNone;
      }
    }
  }

  u32 destination(u32 terminal, u64, const Words&) const noexcept override { return map_[terminal]; }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    shares[map_[terminal]] += weight;
  }
  bool draws_destinations() const noexcept override { return false; }
  bool sends(u32 terminal) const noexcept override { return map_[terminal] != kNone; }

 private:
  Map map_;  ///< destination of each terminal, kNone: sends nothing
};

/// The number of address bits of `terminals`, for patterns that permute bits.
u32 address_bits(const config::Values& values, u32 terminals) {
  if (terminals < 2 || !is_power_of_two(terminals)) {
    values.fail("pattern",
                values.text("pattern") + " permutes address bits, and " + std::to_string(terminals) +
                    " terminals are no power of 2",
                "use a network with 2, 4, 8 ... terminals, or bit_complement or random");
  }
  return static_cast<u32>(std::countr_zero(terminals));
}

/// (row, column) to (column, row) of the square that the terminals' numbers fill: the transposed coordinates on a
/// square grid, the exchanged halves of the address bits when the number of terminals is a power of 2.
Map transpose(const config::Values& values, u32 terminals) {
  u32 side = 0;
  while (u64{side} * side < terminals) ++side;
  if (u64{side} * side != terminals) {
    values.fail("pattern", "transpose needs a square number of terminals, not " + std::to_string(terminals),
                "use a network with 16, 64, 256 ... terminals");
  }
  Map map(terminals);
  for (u32 t = 0; t < terminals; ++t) map[t] = t % side * side + t / side;
  return map;
}

Map bit_reverse(const config::Values& values, u32 terminals) {
  const u32 bits = address_bits(values, terminals);
  Map map(terminals);
  for (u32 t = 0; t < terminals; ++t) {
    for (u32 i = 0; i < bits; ++i) map[t] |= (t >> i & 1U) << (bits - 1 - i);
  }
  return map;
}

/// Address bits rotated by one place to the left.
Map shuffle(const config::Values& values, u32 terminals) {
  const u32 bits = address_bits(values, terminals);
  Map map(terminals);
  for (u32 t = 0; t < terminals; ++t) map[t] = (t << 1U | t >> (bits - 1)) & (terminals - 1);
  return map;
}

/// Adds offset(size) to every coordinate of the terminal's switch; a network without coordinates is one ring.
Map shift_coordinates(const core::TrafficContext& context, u32 (*offset)(u32 size)) {
  const std::optional<core::Places> places = context.topology == nullptr ? std::nullopt : context.topology->places();
  const auto [size, concentration] = places.value_or(core::Places{{context.terminals}, 1});
  Map map(context.terminals);
  for (u32 t = 0; t < context.terminals; ++t) {
    u32 rest = t / concentration;
    u32 stride = 1;
    u32 to = 0;
    for (const u32 k : size) {
      to += (rest % k + offset(k)) % k * stride;
      rest /= k;
      stride *= k;
    }
    map[t] = to * concentration + t % concentration;
  }
  return map;
}

/// Fisher and Yates' shuffle on addressed random words.
constexpr Stream kPermutation{"permutation: destinations"};

Map random_permutation(u64 seed, u32 terminals) {
  const Random random(seed, kPermutation, 0, 0);
  Map map(terminals);
  std::iota(map.begin(), map.end(), 0U);
  for (u32 left = terminals; left > 1; --left) std::swap(map[left - 1], map[below(random.at(left, 0)[0], left)]);
  return map;
}

Map make_map(const config::Values& values, const core::TrafficContext& context) {
  const std::string& pattern = values.text("pattern");
  const u32 terminals = context.terminals;
  if (pattern == "transpose") return transpose(values, terminals);
  if (pattern == "bit_reverse") return bit_reverse(values, terminals);
  if (pattern == "shuffle") return shuffle(values, terminals);
  if (pattern == "tornado") return shift_coordinates(context, [](u32 k) { return (k + 1) / 2 - 1; });
  if (pattern == "neighbour") return shift_coordinates(context, [](u32 k) { return 1 % k; });
  if (pattern == "random") return random_permutation(values.natural("permutation_seed"), terminals);
  Map complement(terminals);
  for (u32 t = 0; t < terminals; ++t) complement[t] = terminals - 1 - t;
  return complement;
}

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  Map map = make_map(values, context);
  bool moves = values.flag("include_self");
  for (u32 t = 0; t < map.size(); ++t) moves = moves || map[t] != t;
  if (!moves) {
    values.fail("pattern", values.text("pattern") + " sends every terminal to itself on this network",
                "choose another pattern, or include_self = true");
  }
  return std::make_unique<Permutation>(values, context, std::move(map));
}

config::ComponentInfo info() {
  using config::Parameter;
  config::ComponentInfo row{"permutation", "Every terminal sends to one fixed other terminal, given by a pattern",
                            "Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2",
                            Pattern::parameters()};
  row.parameters.push_back(
      Parameter::choice("pattern",
                        {"transpose", "bit_complement", "bit_reverse", "shuffle", "tornado", "neighbour", "random"},
                        "transpose")
          .doc("Which destination belongs to which source"));
  row.parameters.push_back(Parameter::integer("permutation_seed", 1)
                               .only_with("pattern", {"random"})
                               .range(0, 4294967295.0)
                               .doc("Selects the random permutation; independent of the run's seed"));
  row.parameters.push_back(
      Parameter::boolean("include_self", false)
          .doc("Whether terminals that the pattern maps to themselves send; otherwise they are silent"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_permutation;
const core::TrafficRow row_permutation{info(), &make};

}  // namespace banyan::traffic::permutation
