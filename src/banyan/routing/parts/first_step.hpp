// Hypercube routing whose first step may be chosen and whose later steps are e-cube: the lowest dimension in which the
// addresses differ (Buzzard and Mudge, section 3).
#pragma once

#include <fmt/core.h>

#include <bit>

#include "banyan/base/bits.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/routing/parts/places.hpp"
#include "banyan/routing/parts/vc_classes.hpp"

namespace banyan::routing::parts {

/// How the first step is found.
enum class FirstStep : u8 {
  fixed,     ///< e-cube as well
  shortest,  ///< every dimension that leads nearer is offered: the switch takes the shortest queue
  random,    ///< one of these dimensions, uniformly
};

template <FirstStep first>
class HypercubeSteps final : public core::Routing {
 public:
  HypercubeSteps(const config::Values& values, const core::RoutingContext& context)
      : vcs_(static_cast<u8>(context.vcs)) {
    require_whole(values, context);
    const core::Grid* const grid = context.topology->grid();
    if (grid == nullptr || !grid->is_hypercube()) {
      values.fail("name",
                  fmt::format("{} needs a hypercube: it corrects one bit of the address per step", values.component()),
                  or_another(fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                                           return t.grid() != nullptr && t.grid()->is_hypercube();
                                         })),
                             values, context));
    }
    concentration_ = grid->concentration;
    dimensions_ = static_cast<u32>(grid->size.size());
    if (first == FirstStep::fixed || context.free_first_step) return;
    if (context.vcs < 2) {
      values.fail(
          "name",
          fmt::format("{} could deadlock: with 1 virtual channel packets on their first step and others would "
                      "wait for each other",
                      values.component()),
          or_another(fmt::format("use the switch {} or more, the switch {}", switch_with_vcs(2),
                                 core::switches_with([](const core::SwitchRow& row) { return row.free_first_step; })),
                     values, context));
    }
    split_ = static_cast<u8>(context.vcs / 2);
  }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 wrong = request.at ^ switch_of(request.packet->destination);
    if (first != FirstStep::random || wrong == 0 || !just_entered(request)) return all_candidates(request, out);
    const u32 chosen = nth_set_bit(wrong, below(request.random(), static_cast<u32>(std::popcount(wrong))));
    out.add({static_cast<u16>(chosen), 0, first_end()});
  }

  /// Ports are numbered as the dimensions, then come the terminals.
  void all_candidates(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const u32 destination = request.packet->destination;
    u32 wrong = request.at ^ switch_of(destination);
    if (wrong == 0) {
      const u32 terminal = concentration_ == 1 ? 0 : destination % concentration_;
      return out.add({static_cast<u16>(dimensions_ + terminal), 0, vcs_});
    }
    if (first == FirstStep::fixed || !just_entered(request)) {
      return out.add({static_cast<u16>(std::countr_zero(wrong)), split_, vcs_});
    }
    for (; wrong != 0; wrong &= wrong - 1) out.add({static_cast<u16>(std::countr_zero(wrong)), 0, first_end()});
  }

  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    // There is one path per pair; on several virtual channels packets of a pair may still pass each other.
    return {.reads_source = false,
            .required_vcs = split_ == 0 ? 1U : 2U,
            .random = first == FirstStep::random,
            .in_order = first == FirstStep::fixed && vcs_ == 1};
  }

 private:
  [[nodiscard]] u32 switch_of(u32 terminal) const noexcept {
    return concentration_ == 1 ? terminal : terminal / concentration_;
  }
  [[nodiscard]] bool just_entered(const core::RouteRequest& request) const noexcept {
    return request.in_port >= dimensions_;
  }
  [[nodiscard]] u8 first_end() const noexcept { return split_ == 0 ? vcs_ : split_; }

  u32 concentration_ = 1;
  u32 dimensions_ = 0;
  u8 vcs_;
  /// Virtual channels below it are for first steps, the others for later ones: a first step waits for later ones, never
  /// the other way round. 0: no classes.
  u8 split_ = 0;
};

}  // namespace banyan::routing::parts
