// Planar-adaptive routing on meshes (Chien and Kim 1992): a packet is adaptive in one plane of two dimensions at a
// time. In plane i it corrects dimension i on class 2 of the virtual channels and dimension i + 1 on class 0 or 1, by
// the sign of its way in dimension i, so that packets of the two signs never meet; when dimension i is done, plane i +
// 1 follows. What is left of the last dimension goes on its class 2, which no plane uses.
#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/space.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::planar_adaptive {
namespace {

constexpr u32 kClasses = 3;

class PlanarAdaptive final : public core::Routing {
 public:
  PlanarAdaptive(const config::Values& values, const core::RoutingContext& context)
      : space_(values, context), classes_(context.vcs, std::min(context.vcs, kClasses)) {
    parts::require_vcs(values, context, kClasses, "three classes");
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 destination = request.packet->destination;
    const u32 target = space_.switch_of(destination);
    u32 d = 0;
    while (d < space_.dimensions() && space_.coordinate(request.at, d) == space_.coordinate(target, d)) ++d;
    if (d == space_.dimensions()) return out.add(classes_.any(space_.port_of(destination)));
    const bool up = space_.coordinate(request.at, d) < space_.coordinate(target, d);
    out.add(classes_.candidate(space_.steps(d, request.at, target).step[0].port, 2, 3));
    if (d + 1 == space_.dimensions()) return;
    const parts::Space::Steps other = space_.steps(d + 1, request.at, target);
    if (other.count != 0) out.add(classes_.candidate(other.step[0].port, up ? 0 : 1, up ? 1 : 2));
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false, .required_vcs = kClasses, .random = false};
  }

 private:
  parts::Space space_;
  parts::VcClasses classes_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const core::Grid* const grid = context.topology->grid();
  auto routing = std::make_unique<PlanarAdaptive>(values, context);
  if (grid == nullptr || !grid->is_mesh()) {
    values.fail("name", "planar_adaptive needs a mesh",
                fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                              return t.grid() != nullptr && t.grid()->is_mesh();
                            })));
  }
  return routing;
}

}  // namespace

extern const core::RoutingRow row_planar_adaptive;
const core::RoutingRow row_planar_adaptive{
    {"planar_adaptive",
     "Planar-adaptive routing on meshes: adaptive in two dimensions at a time, with three virtual channels.",
     "A. A. Chien and J. H. Kim, Planar-Adaptive Routing: Low-Cost Adaptive Networks for Multiprocessors, ISCA 1992",
     {}},
    make};

}  // namespace banyan::routing::planar_adaptive
