// Fully adaptive minimal routing with an escape (Duato 1993): every port that leads nearer, on any virtual channel but
// the lowest, and dimension order on the lowest one (the lowest two where there are rings), which is free of deadlock
// by itself.
//
// A packet on an escape channel stays there by default: then the escape subnetwork depends on nothing else, and the
// network is safe however virtual channels are given to packets. With leave_escape = true packets return to the
// adaptive channels, as Duato's condition permits if a virtual channel holds flits of one packet only.
#include <memory>

#include "banyan/routing/parts/space.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::minimal_adaptive {
namespace {

class MinimalAdaptive final : public core::Routing {
 public:
  MinimalAdaptive(const config::Values& values, const core::RoutingContext& context)
      : space_(values, context), vcs_(static_cast<u8>(context.vcs)), leave_escape_(values.flag("leave_escape")) {
    parts::require_vcs(values, context, required_vcs(), "the escape channels and one more");
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, false, out);
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    step(request, true, out);
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    // Draws the way around a ring at half of its length.
    return {.reads_source = false, .required_vcs = space_.ring_classes() + 1, .random = space_.rings()};
  }

 private:
  void step(const core::RouteRequest& request, bool all, core::Candidates& out) const noexcept {
    const u32 destination = request.packet->destination;
    const u32 target = space_.switch_of(destination);
    if (request.at == target) return out.add({static_cast<u16>(space_.port_of(destination)), 0, vcs_});
    const u8 escapes = static_cast<u8>(space_.ring_classes());
    if (leave_escape_ || request.in_vc >= escapes || space_.just_entered(request)) {
      for (u32 d = 0; d < space_.dimensions(); ++d) {
        const parts::Space::Steps steps = space_.steps(d, request.at, target);
        for (u32 i = 0; i < steps.count; ++i) out.add({steps.step[i].port, escapes, vcs_, 1});
      }
    }
    const parts::Space::Steps ordered = space_.ordered_steps(request.at, target);
    for (u32 i = 0; i < ordered.count; ++i) {
      if (!all && ordered.count == 2 && i != (request.random() & 1U)) continue;
      const parts::Space::Step& step = ordered.step[i];
      const u8 first = step.ring ? step.ring_class : u8{0};
      out.add({step.port, first, step.ring ? static_cast<u8>(first + 1) : escapes, 0, true});
    }
  }

  parts::Space space_;
  u8 vcs_;
  bool leave_escape_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<MinimalAdaptive>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_minimal_adaptive;
const core::RoutingRow row_minimal_adaptive{
    {"minimal_adaptive",
     "Fully adaptive shortest paths, with dimension order on escape channels.",
     "J. Duato, A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks, IEEE Transactions on Parallel and "
     "Distributed Systems 4(12), 1993",
     {
         Parameter::boolean("leave_escape", false)
             .doc("Whether packets return from the escape channels to the adaptive ones."),
     }},
    make};

}  // namespace banyan::routing::minimal_adaptive
