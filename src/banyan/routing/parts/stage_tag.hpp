// Source routes through multistage networks: one port per stage in Packet::tag, first stage lowest.
#pragma once

#include <fmt/core.h>

#include <bit>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/core/routing.hpp"

namespace banyan::routing {

/// Packs the ports of one path and decodes them. The first port is a free choice where the network has an extra stage.
class StageTag {
 public:
  /// Where a network has a free choice, as a remedy.
  static constexpr const char* kFreeFirst =
      "use the topology extra_stage_cube with input_stage and output_stage enabled";

  /// Throws ConfigError on other topologies and when the ports of a path do not fit into the tag.
  /// `free_first`: only networks with a free choice will do.
  StageTag(const config::Values& values, const core::RoutingContext& context, bool free_first = false)
      : graph_(&context.topology->graph()), vcs_(static_cast<u8>(context.vcs)) {
    const core::Multistage* const stages = context.topology->multistage();
    if (stages == nullptr) {
      values.fail("name", "the routing needs a multistage network",
                  free_first ? std::string(kFreeFirst)
                             : fmt::format("use the topology {}", core::topologies_with([](const core::Topology& t) {
                                             return t.multistage() != nullptr;
                                           })));
    }
    radix_ = stages->radix;
    format_ = {static_cast<u32>(std::bit_width(radix_ - 1)), static_cast<u32>(stages->digit_of_stage.size())};
    if (format_.bits_per_hop * format_.hops > 64) {
      values.fail("name",
                  fmt::format("{} stages with {} bits each do not fit into a tag of 64 bits", format_.hops,
                              format_.bits_per_hop),
                  "use fewer terminals");
    }
    mask_ = (u64{1} << format_.bits_per_hop) - 1;
    free_first_ = stages->extra_stage;
    fill(*stages);
  }

  [[nodiscard]] const core::Graph& graph() const noexcept { return *graph_; }
  [[nodiscard]] u32 radix() const noexcept { return radix_; }
  [[nodiscard]] u32 vcs() const noexcept { return vcs_; }
  /// True when the port of the first stage is a choice.
  [[nodiscard]] bool free_first() const noexcept { return free_first_; }
  [[nodiscard]] core::TagFormat format() const noexcept { return format_; }

  /// The tag towards `destination`; a free first port is left 0, to be or-ed in.
  [[nodiscard]] u64 towards(u32 destination) const noexcept { return tag_[destination]; }
  /// The port of the first stage at which packets of `source` arrive: taking the output of the same number is
  /// "straight".
  [[nodiscard]] u32 straight(u32 source) const noexcept { return straight_[source]; }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept {
    const u32 shift = graph_->level(request.at) * format_.bits_per_hop;
    out.add({static_cast<u16>((request.packet->tag >> shift) & mask_), 0, vcs_, 0});
  }

 private:
  void fill(const core::Multistage& stages) {
    for (u32 t = 0; t < graph_->terminals(); ++t) {
      u64 tag = 0;
      for (u32 s = free_first_ ? 1 : 0; s < format_.hops; ++s) {
        tag |= u64{digit(t, radix_, stages.digit_of_stage[s])} << (s * format_.bits_per_hop);
      }
      tag_.push_back(tag);
      straight_.push_back(static_cast<u8>(graph_->channel(graph_->injection(t)).to.port));
    }
  }

  const core::Graph* graph_;
  std::vector<u64> tag_;
  std::vector<u8> straight_;
  core::TagFormat format_;
  u64 mask_ = 0;
  u32 radix_ = 0;
  u8 vcs_ = 1;
  bool free_first_ = false;
};

}  // namespace banyan::routing
