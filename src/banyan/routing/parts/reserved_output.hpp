// The input stage of an Extra Stage Cube with its upper outputs kept for hot-spot traffic (paper 1, section 4).
// The three schemes differ only in what a pending hot spot means for background packets to one destination.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/routing/parts/places.hpp"
#include "banyan/routing/parts/stage_tag.hpp"

namespace banyan::routing {

/// Rules for background packets to one destination; bit t speaks of traffic t's hot spot. A packet whose source has a
/// pending request (Packet::pending) of a hot spot in `upper` takes the upper output; otherwise, of one in `avoid`, any
/// other output; otherwise it goes straight.
struct HotSpotRules {
  u8 upper = 0;
  u8 avoid = 0;
};

/// Decided when a packet is generated: synchronization packets take the upper output, background packets follow the
/// rules. To avoid the upper output is to go straight from every other input, and to take one of the n-1 others with
/// equal probability from the upper input.
class ReservedOutput final : public core::Routing {
 public:
  /// `rules_of(hot_spot, destination)` gives {upper, avoid} for one hot spot.
  template <typename RulesOf>
  ReservedOutput(const config::Values& values, const core::RoutingContext& context, const RulesOf& rules_of)
      : tag_(values, context, true), others_(tag_.radix() - 1) {
    check(values, context);
    for (u32 d = 0; d < tag_.graph().terminals(); ++d) {
      Row row{tag_.towards(d), {}};
      for (const core::HotSpot& spot : context.hot_spots) {
        const std::pair<bool, bool> rules = rules_of(spot, d);
        row.rules.upper = static_cast<u8>(row.rules.upper | (u32{rules.first} << spot.traffic));
        row.rules.avoid = static_cast<u8>(row.rules.avoid | (u32{rules.second} << spot.traffic));
      }
      rows_.push_back(row);
    }
  }

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    const Row& row = rows_[packet.destination];
    const u32 straight = tag_.straight(packet.source);
    // Masks instead of branches: flags of random packets cannot be predicted.
    const u32 elsewhere = straight == 0 ? 1 + below(word, others_) : straight;
    const u32 avoiding = 0U - u32{(packet.pending & row.rules.avoid) != 0};
    const u32 upper = 0U - u32{(packet.flags & core::kSynchronization) != 0 || (packet.pending & row.rules.upper) != 0};
    const u32 port = ((elsewhere & avoiding) | (straight & ~avoiding)) & ~upper;
    packet.tag = row.tag | port;
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    tag_.route(request, out);
  }

  /// In boxes of two outputs there is nothing to choose.
  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.tag_format = tag_.format(), .reads_pending = true, .random = others_ > 1};
  }

 private:
  struct Row {
    u64 tag = 0;
    HotSpotRules rules;
  };

  void check(const config::Values& values, const core::RoutingContext& context) const {
    if (!tag_.free_first()) {
      values.fail("name", "the routing chooses among the paths of an Extra Stage Cube with both outer stages enabled",
                  StageTag::kFreeFirst);
    }
    // A detour would break the promise that background stays away from the reserved boxes.
    const auto& channels = tag_.graph().channels();
    if (std::any_of(channels.begin(), channels.end(), [](const core::Channel& c) { return c.failed; })) {
      values.fail("name", "the routing needs every path, but the topology has faults",
                  parts::or_another("use a topology without faults", values, context));
    }
    for (const core::HotSpot& spot : context.hot_spots) {
      if (spot.traffic >= 8) {
        values.fail(
            "name",
            fmt::format("traffic {} has a hot spot, but packets carry flags of eight traffics only", spot.traffic),
            "list traffics with hot spots among the first eight");
      }
    }
  }

  StageTag tag_;
  std::vector<Row> rows_;
  u32 others_;
};

}  // namespace banyan::routing
