// Uniform random destinations.
#include "banyan/traffic/parts/injection.hpp"

namespace banyan::traffic {
namespace {

class Uniform final : public OpenLoop {
 public:
  Uniform(const config::Values& values, const core::TrafficContext& context)
      : OpenLoop(values, context), terminals_(context.terminals), include_self_(values.flag("include_self")) {}

  bool next(u32 terminal, u64 nth, Tick previous, core::Message& out) const noexcept override {
    const Words words = injection_.next(terminal, nth, previous, out);
    if (include_self_) {
      out.destination = below(words[2], terminals_);
    } else {
      const u32 other = below(words[2], terminals_ - 1);
      out.destination = other + (other >= terminal ? 1U : 0U);
    }
    return out.birth != kNever;
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
                            Injection::parameters()};
  row.parameters.push_back(config::Parameter::boolean("include_self", false)
                               .doc("Whether a terminal may send to itself (true in paper 1 and in BookSim2)"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_uniform;
const core::TrafficRow row_uniform{info(), &make};

}  // namespace banyan::traffic
