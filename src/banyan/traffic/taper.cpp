// Tapered locality: a part of the messages goes to the neighbourhood of the source's switch, the rest is uniform.
#include <fmt/core.h>

#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/traffic/parts/pattern.hpp"

namespace banyan::traffic::taper {
namespace {

class Taper final : public Pattern {
 public:
  Taper(const config::Values& values, const core::TrafficContext& context)
      : Pattern(values, context),
        grid_(*context.topology->grid()),
        terminals_(context.terminals),
        local_(values.real("local")) {
    for (std::size_t d = 0; d < grid_.size.size(); ++d) places_ *= 3;
  }

  u32 destination(u32 terminal, u64 nth, const Words& words) const noexcept override {
    const Words choice = choices_.at(terminal, nth);
    const bool near = unit_real(choice[0], choice[1]) < local_;
    return near ? neighbour(terminal, below(words[2], choices())) : below(words[2], terminals_);
  }
  void add_shares(u32 terminal, double weight, std::span<double> shares) const override {
    for (u32 i = 0; i < choices(); ++i) shares[neighbour(terminal, i)] += weight * local_ / choices();
    add_uniform(terminal, weight * (1.0 - local_), true, shares);
  }

 private:
  [[nodiscard]] u32 choices() const noexcept { return places_ * grid_.concentration; }
  /// A terminal on a switch whose coordinates differ by one at most, around the edges of meshes too.
  [[nodiscard]] u32 neighbour(u32 terminal, u32 choice) const noexcept {
    u32 move = choice / grid_.concentration;
    u32 rest = terminal / grid_.concentration;
    u32 stride = 1;
    u32 to = 0;
    for (const u32 k : grid_.size) {
      to += (rest % k + k - 1 + move % 3) % k * stride;
      move /= 3;
      rest /= k;
      stride *= k;
    }
    return to * grid_.concentration + choice % grid_.concentration;
  }

  core::Grid grid_;
  u32 terminals_;
  u32 places_ = 1;
  double local_;
};

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  if (context.topology == nullptr || context.topology->grid() == nullptr) {
    values.fail("name", "the topology has no coordinates, so that terminals have no neighbourhood",
                fmt::format("use the topology {}",
                            core::topologies_with([](const core::Topology& t) { return t.grid() != nullptr; })));
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
