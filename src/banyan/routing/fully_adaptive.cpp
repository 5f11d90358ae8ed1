// Every port on a shortest path, every virtual channel: as free as minimal routing can be, and without any means
// against deadlock. For switches that hold nothing while they wait: circuits that come back when they are blocked.
#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/hop_paths.hpp"
#include "banyan/routing/parts/space.hpp"

namespace banyan::routing::fully_adaptive {
namespace {

/// The ports of all pairs (switch, switch with terminals), where they are few enough to be kept.
constexpr std::size_t kMostEntries = std::size_t{1} << 22U;

class FullyAdaptive final : public core::Routing {
 public:
  FullyAdaptive(const config::Values& values, const core::RoutingContext& context)
      : graph_(&context.topology->graph()),
        places_(*graph_),
        vcs_(static_cast<u8>(context.vcs)),
        switches_(graph_->switches()) {
    if (values.text("directions") == "up") {
      space_ = std::make_unique<parts::Space>(values, context);
      require_rings(values);
    } else {
      paths_ = std::make_unique<parts::HopPaths>(values, context);
    }
    if (graph_->most_ports() > 64 || std::size_t{switches_} * switches_ > kMostEntries) return;
    masks_.resize(std::size_t{switches_} * switches_);
    std::vector<bool> done(switches_);
    for (u32 t = 0; t < graph_->terminals(); ++t) {
      const u32 host = places_.switch_of(t);
      if (done[host]) continue;
      done[host] = true;
      for (u32 at = 0; at < switches_; ++at) {
        if (at == host) continue;
        visit(at, host, [&](u32 port) { masks_[std::size_t{host} * switches_ + at] |= u64{1} << port; });
      }
    }
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 destination = request.packet->destination;
    const u32 host = places_.switch_of(destination);
    const auto add = [&](u32 port) { out.add({static_cast<u16>(port), 0, vcs_}); };
    if (request.at == host) return add(places_.port_of(destination));
    if (masks_.empty()) return visit(request.at, host, add);
    for (u64 bits = masks_[std::size_t{host} * switches_ + request.at]; bits != 0; bits &= bits - 1) {
      add(static_cast<u32>(std::countr_zero(bits)));
    }
  }
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false, .random = false};
  }

 private:
  void require_rings(const config::Values& values) const {
    for (u32 d = 0; d < space_->dimensions(); ++d) {
      if (space_->ring(d) || space_->size(d) == 2) continue;
      values.fail("directions", "one direction leads everywhere only on rings",
                  fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                                return t.grid() != nullptr && t.grid()->is_torus();
                              })));
    }
  }

  template <class Visit>
  void visit(u32 at, u32 host, const Visit& found) const noexcept {
    if (paths_ != nullptr) return paths_->nearer(at, host, found);
    for (u32 d = 0; d < space_->dimensions(); ++d) {
      if (space_->coordinate(at, d) != space_->coordinate(host, d)) found(space_->port_up(d));
    }
  }

  const core::Graph* graph_;
  parts::Places places_;
  std::unique_ptr<parts::HopPaths> paths_;
  std::unique_ptr<parts::Space> space_;
  u8 vcs_;
  u32 switches_;
  std::vector<u64> masks_;  ///< [host * switches + at]: bit per port
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  if (context.for_remedy && !context.free_first_step) {
    values.fail("name",
                "fully_adaptive has nothing against deadlock, and is no remedy where packets hold what they have",
                "use another routing");
  }
  return std::make_unique<FullyAdaptive>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_fully_adaptive;
const core::RoutingRow row_fully_adaptive{
    {"fully_adaptive",
     "Any port on a shortest path, any virtual channel; nothing against deadlock.",
     "Linder and Harden, An Adaptive and Fault Tolerant Wormhole Routing Strategy for k-ary n-cubes, IEEE Transactions "
     "on Computers 40(1), 1991",
     {Parameter::choice("directions", {"both", "up"}, "both")
          .doc("On rings: the shorter way round (both at half of the length), or always upwards, as with links of one "
               "direction only.")}},
    make};

}  // namespace banyan::routing::fully_adaptive
