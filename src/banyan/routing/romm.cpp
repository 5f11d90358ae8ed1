// ROMM with two phases (Nesson and Johnsson 1995): dimension order to a random switch inside the box of all shortest
// paths, and dimension order from there. Minimal, and spread over many paths. At half of the length of a ring there is
// a box on either side: one of the two is drawn, then a switch inside.
#include <algorithm>
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
      const u32 choices = places(d, from, to);
      const u32 length = space_.distance(d, from, to) + 1;
      middle += space_.toward(d, from, to, index % choices % length, index % choices / length) * space_.stride(d);
      index /= choices;
    }
    packet.state = middle;
  }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, true, out);
  }
  /// Switches inside the boxes.
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    u32 count = 1;
    for (u32 d = 0; d < space_.dimensions(); ++d) {
      count *= places(d, space_.switch_of(source), space_.switch_of(destination));
    }
    return count;
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.required_vcs = phases_.required_vcs()};
  }

 private:
  /// Coordinates between two switches. At half of the length of a ring there is a box on either side, and each is taken
  /// by half of the packets.
  [[nodiscard]] u32 places(u32 d, u32 from, u32 to) const noexcept {
    return (space_.distance(d, from, to) + 1) * std::max(space_.steps(d, from, to).count, 1U);
  }
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    if (!space_.just_entered(request)) return phases_.next_step(request, all, out);
    const core::Packet& packet = *request.packet;
    if (request.at == space_.switch_of(packet.destination)) return out.add(phases_.eject(packet));
    phases_.first_step(request, parts::TwoPhases::intermediate(packet) == request.at, all, out);
  }

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
