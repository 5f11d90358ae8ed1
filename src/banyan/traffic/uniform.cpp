// Uniform random destinations.
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::uniform {
namespace {

class Uniform final : public Pattern {
 public:
  Uniform(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context), terminals_(context.terminals), include_self_(values.flag("include_self")) {}

  u32 destination(u32 terminal, u64, const Words& words) const noexcept override {
    if (include_self_) return below(words[2], terminals_);
    const u32 other = below(words[2], terminals_ - 1);
    return other + (other >= terminal ? 1U : 0U);
  }

  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    add_uniform(terminal, weight, include_self_, shares);
  }

 private:
  u32 terminals_;
  bool include_self_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.terminals < 2 && !values.flag("include_self")) {
    values.fail("include_self", "a network of one terminal has no other destination", "use include_self = true");
  }
  return std::make_unique<Uniform>(values, context);
}

config::ComponentInfo info() {
  config::ComponentInfo row{"uniform", "Uniform random destinations",
                            "Dally and Towles, Principles and Practices of Interconnection Networks, section 3.2",
                            Pattern::parameters()};
  row.parameters.push_back(config::Parameter::boolean("include_self", false)
                               .doc("Whether a terminal may send to itself (true in paper 1 and in BookSim2)"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_uniform;
const core::TrafficRow row_uniform{info(), &make};

}  // namespace banyan::traffic::uniform
