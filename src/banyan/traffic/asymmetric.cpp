// The asymmetric pattern: a terminal sends to its own place in the lower or the upper half of the network.
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::asymmetric {
namespace {

class Asymmetric final : public Pattern {
 public:
  Asymmetric(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context), half_(context.terminals / 2), include_self_(values.flag("include_self")) {}

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    return target(terminal, below(words[2], 2) != 0);
  }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    for (const bool upper : {false, true}) shares[target(terminal, upper)] += weight / 2;
  }

 private:
  [[nodiscard]] u32 target(u32 terminal, bool upper) const noexcept {
    const u32 place = terminal % half_;
    const u32 to = place + (upper ? half_ : 0);
    return to != terminal || include_self_ ? to : place + (terminal < half_ ? half_ : 0);
  }

  u32 half_;
  bool include_self_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.terminals % 2 != 0) {
    values.fail("name", "the network of " + std::to_string(context.terminals) + " terminals has no two equal halves",
                "use a network with an even number of terminals, or another traffic");
  }
  return std::make_unique<Asymmetric>(values, context);
}

config::ComponentInfo info() {
  config::ComponentInfo row{
      "asymmetric", "A terminal sends to its own place in the lower or the upper half of the network, at random",
      "Duato, Yalamanchili, Ni, Interconnection Networks: An Engineering Approach, 2003, chapter 9; BookSim2's pattern "
      "of the same name",
      Pattern::parameters()};
  row.parameters.push_back(
      config::Parameter::boolean("include_self", true)
          .doc("Whether a terminal may send to itself, which is half of its messages; otherwise all go to the other "
               "half"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_asymmetric;
const core::TrafficRow row_asymmetric{info(), &make};

}  // namespace banyan::traffic::asymmetric
