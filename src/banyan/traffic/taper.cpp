// Tapered locality: a part of the messages goes to the neighbourhood of the source's switch, the rest is uniform.
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::taper {
namespace {

class Taper final : public Pattern {
 public:
  Taper(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context),
        places_(*context.topology->places()),
        terminals_(context.terminals),
        local_(values.real("local")) {
    for (const u32 k : places_.size) near_ *= near(k);
  }

  u32 destination(u32 terminal, u64 nth, const Words& words) const noexcept override {
    const Words choice = choices_.at(terminal, nth);
    const bool stays = unit_real(choice[0], choice[1]) < local_;
    return stays ? neighbour(terminal, below(words[2], choices())) : below(words[2], terminals_);
  }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    for (u32 i = 0; i < choices(); ++i) shares[neighbour(terminal, i)] += weight * local_ / choices();
    add_uniform(terminal, weight * (1.0 - local_), true, shares);
  }

 private:
  /// Coordinates that differ by one at most, of k. Where there are two, one step leads to the other one either way.
  [[nodiscard]] static u32 near(u32 k) noexcept { return std::min(k, 3U); }
  [[nodiscard]] u32 choices() const noexcept { return near_ * places_.concentration; }
  /// A terminal on a switch whose coordinates differ by one at most, around the edges of meshes too.
  [[nodiscard]] u32 neighbour(u32 terminal, u32 choice) const noexcept {
    u32 move = choice / places_.concentration;
    u32 rest = terminal / places_.concentration;
    u32 stride = 1;
    u32 to = 0;
    for (const u32 k : places_.size) {
      to += (rest % k + k - (k > 2 ? 1 : 0) + move % near(k)) % k * stride;
      move /= near(k);
      rest /= k;
      stride *= k;
    }
    return to * places_.concentration + choice % places_.concentration;
  }

  core::Places places_;
  u32 terminals_;
  u32 near_ = 1;  ///< switches of a neighbourhood
  double local_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.topology == nullptr || !context.topology->places()) {
    values.fail("name", "the topology has no coordinates, so that terminals have no neighbourhood",
                fmt::format("use the topology {}, without failed switches",
                            core::topologies_with([](const core::Topology& t) { return t.places().has_value(); })));
  }
  return std::make_unique<Taper>(values, context);
}

config::ComponentInfo info() {
  config::ComponentInfo row{"taper",
                            "A fixed part of the messages goes to switches at most one step away in every dimension, "
                            "the rest is uniform",
                            "Generalizes the pattern taper64 of BookSim2, which is for 64 terminals",
                            Pattern::parameters()};
  row.parameters.push_back(config::Parameter::real("local", 0.5)
                               .range(0, 1)
                               .doc("Probability that a message stays in the neighbourhood, the source included"));
  return row;
}

}  // namespace

extern const core::TrafficRow row_taper;
const core::TrafficRow row_taper{info(), &make};

}  // namespace banyan::traffic::taper
