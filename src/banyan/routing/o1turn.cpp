// O1TURN (Seo et al. 2005): half of the packets correct their coordinates in ascending order of the dimensions, half in
// descending order, on virtual channels of their own: XY and YX on a two-dimensional mesh.
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
      : space_(values, context), classes_(context.vcs, std::min(context.vcs, 2 * space_.ring_classes())) {
    parts::require_vcs(values, context, required_vcs(), "one class per order, twice on rings");
  }

  void prepare(core::Packet& packet, u32 word) const noexcept override { packet.state = below(word, 2); }
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const core::Packet& packet = *request.packet;
    const u32 target = space_.switch_of(packet.destination);
    if (request.at == target) return out.add(classes_.any(space_.port_of(packet.destination)));
    const parts::Space::Step step = space_.ordered_step(request.at, target, packet.state == 0);
    const u32 first = static_cast<u32>(packet.state) * space_.ring_classes() + (step.ring ? step.ring_class : 0);
    out.add(classes_.candidate(step.port, first, first + (step.ring ? 1 : space_.ring_classes())));
  }
  [[nodiscard]] u32 headers(u32, u32) const noexcept override { return 2; }
  [[nodiscard]] bool reads_source() const noexcept override { return false; }
  [[nodiscard]] u32 required_vcs() const noexcept override { return 2 * space_.ring_classes(); }

 private:
  parts::Space space_;
  parts::VcClasses classes_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<O1Turn>(values, context);
}

}  // namespace

extern const core::RoutingRow row_o1turn;
const core::RoutingRow row_o1turn{
    {"o1turn",
     "O1TURN: dimension order, ascending for half of the packets and descending for the other half.",
     "D. Seo, A. Ali, W.-T. Lim, N. Rafique and M. Thottethodi, Near-Optimal Worst-Case Throughput Routing for "
     "Two-Dimensional Mesh Networks, ISCA 2005",
     {}},
    make};

}  // namespace banyan::routing::o1turn
