// ROMM with two phases (Nesson and Johnsson 1995): dimension order to a random switch inside the box of all shortest
// paths, and dimension order from there. Minimal, and spread over many paths.
#include <memory>

#include "banyan/base/rng.hpp"
#include "banyan/routing/parts/minimal_paths.hpp"

namespace banyan::routing::romm {
namespace {

class Romm final : public core::Routing {
 public:
  Romm(const config::Values& values, const core::RoutingContext& context)
      : space_(values, context), phases_(values, context) {}

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    const u32 from = space_.switch_of(packet.source);
    const u32 to = space_.switch_of(packet.destination);
    u32 index = below(word, headers(packet.source, packet.destination));
    u32 middle = 0;
    for (u32 d = 0; d < space_.dimensions(); ++d) {
      const u32 choices = space_.distance(d, from, to) + 1;
      middle += space_.toward(d, from, to, index % choices) * space_.stride(d);
      index /= choices;
    }
    packet.state = middle;
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    if (!space_.just_entered(request)) return out.add(phases_.next_step(request));
    const core::Packet& packet = *request.packet;
    if (request.at == space_.switch_of(packet.destination)) return out.add(phases_.eject(packet));
    out.add(phases_.first_step(request, parts::TwoPhases::intermediate(packet) == request.at));
  }
  /// Switches inside the box.
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    u32 count = 1;
    for (u32 d = 0; d < space_.dimensions(); ++d) {
      count *= space_.distance(d, space_.switch_of(source), space_.switch_of(destination)) + 1;
    }
    return count;
  }
  [[nodiscard]] u32 required_vcs() const noexcept override { return phases_.required_vcs(); }

 private:
  parts::Space space_;
  parts::TwoPhases phases_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<Romm>(values, context);
}

}  // namespace

extern const core::RoutingRow row_romm;
const core::RoutingRow row_romm{{"romm",
                                 "ROMM: dimension order over a random switch inside the box of shortest paths.",
                                 "T. Nesson and S. L. Johnsson, ROMM Routing on Mesh and Torus Networks, SPAA 1995",
                                 {}},
                                make};

}  // namespace banyan::routing::romm
