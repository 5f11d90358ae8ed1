// O1TURN (Seo et al. 2005): half of the packets correct their coordinates in ascending order of the dimensions, half in
// descending order, on virtual channels of their own: XY and YX on a two-dimensional mesh. Or, as BookSim2's
// adaptive_xy_yx has it, every packet takes the order whose first channel has fewer flits in front of it.
#include <algorithm>
#include <memory>

#include "banyan/base/rng.hpp"
#include "banyan/routing/parts/space.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::o1turn {
namespace {

class O1Turn final : public core::Routing {
 public:
  O1Turn(const config::Values& values, const core::RoutingContext& context)
      : space_(values, context),
        classes_(context.vcs, std::min(context.vcs, 2 * space_.ring_classes())),
        adaptive_(values.text("choice") == "adaptive") {
    parts::require_vcs(values, context, required_vcs(), "one class per order, twice on rings");
  }

  void prepare(core::Packet& packet, u32 word) const noexcept override { packet.state = below(word, 2); }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 target = space_.switch_of(request.packet->destination);
    if (request.at == target) return out.add(eject(*request.packet));
    out.add(candidate(request, target, adaptive_ ? adaptive_order(request, target) : order_of(*request.packet)));
  }
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 target = space_.switch_of(request.packet->destination);
    if (request.at == target) return out.add(eject(*request.packet));
    if (adaptive_ && space_.just_entered(request)) {
      for (const u32 order : {0U, 1U}) candidates(request, target, order, out);
    } else {
      candidates(request, target, adaptive_ ? order_on_way(request) : order_of(*request.packet), out);
    }
  }
  [[nodiscard]] u32 headers(u32, u32) const noexcept override { return 2; }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false,
            .sight = adaptive_ ? core::Sight::own_switch : core::Sight::none,
            .required_vcs = 2 * space_.ring_classes()};
  }

 private:
  /// 0: ascending, 1: descending; drawn for the packet.
  [[nodiscard]] static u32 order_of(const core::Packet& packet) noexcept { return static_cast<u32>(packet.state); }
  /// On its way a packet keeps to the order that its virtual channel tells.
  [[nodiscard]] u32 order_on_way(const core::RouteRequest& request) const noexcept {
    return classes_.of(request.in_vc) / space_.ring_classes();
  }

  [[nodiscard]] core::Candidate eject(const core::Packet& packet) const noexcept {
    return classes_.any(space_.port_of(packet.destination));
  }
  [[nodiscard]] core::Candidate candidate(const parts::Space::Step& step, u32 order) const noexcept {
    const u32 first = order * space_.ring_classes() + (step.ring ? step.ring_class : 0);
    return classes_.candidate(step.port, first, first + (step.ring ? 1 : space_.ring_classes()));
  }
  [[nodiscard]] core::Candidate candidate(const core::RouteRequest& request, u32 target, u32 order) const noexcept {
    return candidate(space_.ordered_step(request.at, target, request.random, order == 0), order);
  }
  /// Whatever the random word is.
  void candidates(const core::RouteRequest& request, u32 target, u32 order, core::Candidates& out) const noexcept {
    const parts::Space::Steps ordered = space_.ordered_steps(request.at, target, order == 0);
    for (u32 i = 0; i < ordered.count; ++i) out.add(candidate(ordered.step[i], order));
  }
  [[nodiscard]] u32 adaptive_order(const core::RouteRequest& request, u32 target) const noexcept {
    if (!space_.just_entered(request)) return order_on_way(request);
    const u32 ascending = request.occupancy->used(request.at, candidate(request, target, 0).port);
    const u32 descending = request.occupancy->used(request.at, candidate(request, target, 1).port);
    return ascending == descending ? order_of(*request.packet) : ascending < descending ? 0 : 1;
  }

  parts::Space space_;
  parts::VcClasses classes_;
  bool adaptive_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<O1Turn>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_o1turn;
const core::RoutingRow row_o1turn{
    {"o1turn",
     "O1TURN: dimension order, ascending for half of the packets and descending for the other half.",
     "D. Seo, A. Ali, W.-T. Lim, N. Rafique and M. Thottethodi, Near-Optimal Worst-Case Throughput Routing for "
     "Two-Dimensional Mesh Networks, ISCA 2005",
     {Parameter::choice("choice", {"random", "adaptive"}, "random")
          .doc("How a packet comes to its order: at random, or by the fewer flits that the two first channels have in "
               "front of them.")}},
    make};

}  // namespace banyan::routing::o1turn
