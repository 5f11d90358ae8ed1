// Destination-tag routing: the digits of the destination are the output ports (Lawrie 1975). An extra stage in front
// leaves one port free, which selects one of n disjoint paths; under faults it selects one that works.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/reachability.hpp"
#include "banyan/routing/parts/stage_tag.hpp"

namespace banyan::routing::destination_tag {
namespace {

/// Which first ports lead from a source to a destination over working channels only.
class WorkingPaths {
 public:
  explicit WorkingPaths(const core::Graph& graph) : graph_(graph), reach_(graph) {}

  [[nodiscard]] bool works(u32 source, u32 port, u32 destination) const noexcept {
    const u32 next = behind(source, port);
    return next != kNone && reach_.reaches(next, destination);
  }
  /// Bit p: the path over output p of the first stage works.
  [[nodiscard]] u64 ports(u32 source, u32 destination, u32 radix) const noexcept {
    u64 good = 0;
    for (u32 port = 0; port < radix; ++port) good |= u64{works(source, port, destination)} << port;
    return good;
  }
  [[nodiscard]] bool connected(u32 source, u32 destination) const noexcept {
    const core::Channel& entry = graph_.channel(graph_.injection(source));
    return !entry.failed && reach_.reaches(entry.to.node, destination);
  }

 private:
  /// The switch behind output `port` of the source's first switch, kNone when the way there has failed.
  [[nodiscard]] u32 behind(u32 source, u32 port) const noexcept {
    const core::Channel& entry = graph_.channel(graph_.injection(source));
    const core::Channel& next = graph_.channel(graph_.channel_out_of(entry.to.node, port));
    return entry.failed || next.failed ? kNone : next.to.node;
  }

  const core::Graph& graph_;
  core::Reachability reach_;
};

class DestinationTag final : public core::Routing {
 public:
  DestinationTag(const config::Values& values, const core::RoutingContext& context)
      : tag_(values, context), random_(tag_.free_first() && values.text("input_stage") == "random") {
    one_path_ = !random_;
    const auto& channels = tag_.graph().channels();
    if (std::none_of(channels.begin(), channels.end(), [](const core::Channel& c) { return c.failed; })) return;
    paths_ = std::make_unique<WorkingPaths>(tag_.graph());
    check_pairs(values, context);
  }

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    packet.tag = tag_.towards(packet.destination);
    if (tag_.free_first()) packet.tag |= first_port(packet.source, packet.destination, word);
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    tag_.route(request, out);
  }

  /// First ports among which prepare() draws: all that work, or one where the straight one does.
  [[nodiscard]] u32 headers(u32 source, u32 destination) const noexcept override {
    if (!tag_.free_first() || keeps_straight(source, destination)) return 1;
    return paths_ == nullptr ? tag_.radix() : static_cast<u32>(std::popcount(working(source, destination)));
  }

  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {
        .tag_format = tag_.format(), .random = random_ || paths_ != nullptr, .in_order = one_path_ && tag_.vcs() == 1};
  }

  /// Worms replicate at every stage; a free first stage is passed over its lowest port.
  [[nodiscard]] std::unique_ptr<core::MulticastRoutes> multicast_routes() const override {
    using Way = core::MulticastRoutes::Way;
    std::vector<Way> way;
    for (const core::Channel& c : tag_.graph().channels()) way.push_back(c.from.terminal ? Way::up : Way::down);
    try {
      auto routes = std::make_unique<core::MulticastRoutes>(tag_.graph(), way);
      if (routes->complete()) return routes;
    } catch (const std::logic_error&) {}  // faults leave sets that overlap in part
    return nullptr;
  }

 private:
  [[nodiscard]] u64 working(u32 source, u32 destination) const noexcept {
    return paths_->ports(source, destination, tag_.radix());
  }
  [[nodiscard]] bool keeps_straight(u32 source, u32 destination) const noexcept {
    return !random_ && (paths_ == nullptr || paths_->works(source, tag_.straight(source), destination));
  }
  [[nodiscard]] u32 first_port(u32 source, u32 destination, u32 word) const noexcept {
    if (keeps_straight(source, destination)) return tag_.straight(source);
    if (paths_ == nullptr) return below(word, tag_.radix());
    const u64 good = working(source, destination);
    return nth_set_bit(good, below(word, static_cast<u32>(std::popcount(good))));
  }

  /// Refuses disconnected pairs, and finds out whether any pair has to choose among several detours.
  void check_pairs(const config::Values& values, const core::RoutingContext& context) {
    const u32 terminals = tag_.graph().terminals();
    for (u32 s = 0; s < terminals; ++s) {
      for (u32 d = 0; d < terminals; ++d) {
        if (!paths_->connected(s, d)) {
          values.fail("name", fmt::format("the faults leave no path from terminal {} to terminal {}", s, d),
                      context.topology->multistage()->extra_stage
                          ? "remove a fault"
                          : "remove a fault, or let the topology reconfigure = true enable both outer stages");
        }
        if (tag_.free_first() && one_path_ && !paths_->works(s, tag_.straight(s), d)) {
          one_path_ = std::popcount(paths_->ports(s, d, tag_.radix())) == 1;
        }
      }
    }
  }

  StageTag tag_;
  std::unique_ptr<WorkingPaths> paths_;  ///< only in a network with faults
  bool random_;
  bool one_path_ = true;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  return std::make_unique<DestinationTag>(values, context);
}

}  // namespace

using config::Parameter;
extern const core::RoutingRow row_destination_tag;
const core::RoutingRow row_destination_tag{
    {"destination_tag",
     "Destination-tag routing through a multistage network; with an extra stage the first port is free.",
     "D. H. Lawrie: Access and alignment of data in an array processor. IEEE Trans. Computers C-24(12), 1975; G. B. "
     "Adams III, H. J. Siegel: The extra stage cube. IEEE Trans. Computers C-31(5), 1982",
     {
         Parameter::choice("input_stage", {"straight", "random"}, "straight")
             .doc("How packets pass an enabled extra stage, as far as faults permit; without one it means nothing."),
     }},
    make};

}  // namespace banyan::routing::destination_tag
