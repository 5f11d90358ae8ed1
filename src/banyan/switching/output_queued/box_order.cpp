#include "banyan/switching/output_queued/box_order.hpp"

#include <algorithm>

namespace banyan::switching::output_queued {

BoxOrder::BoxOrder(const core::Graph& graph, const Layout& layout) {
  std::vector<u32> depth(layout.boxes, 0);
  u32 deepest = 0;
  for (const u32 s : graph.topological_order()) {
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 c = graph.channel_out_of(s, p);
      if (c == kNone || graph.channel(c).to.terminal) continue;
      u32& d = depth[graph.channel(c).to.node];
      d = std::max(d, depth[s] + 1);
      deepest = std::max(deepest, d);
    }
  }
  const auto leads_to_terminals = [&](u32 s) {
    u32 terminals = 0;
    u32 others = 0;
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 q = layout.target[s * layout.stride + p];
      if (q != kNone) ++(q >= layout.ejection_base ? terminals : others);
    }
    mixed_ |= terminals != 0 && others != 0;
    return terminals != 0;
  };
  boxes_.reserve(layout.boxes);
  words_.reserve(layout.boxes);
  for (u32 d = deepest + 1; d > 0; --d) {
    const auto first = boxes_.end();
    for (u32 s = 0; s < layout.boxes; ++s) {
      if (depth[s] == d - 1) boxes_.push_back(s);
    }
    const auto middle = std::stable_partition(first, boxes_.end(), leads_to_terminals);
    add_group(layout, {first, middle}, true);
    add_group(layout, {middle, boxes_.end()}, false);
  }
}

void BoxOrder::add_group(const Layout& layout, std::span<const u32> boxes, bool last) {
  if (boxes.empty()) return;
  const u64 ports = ~u64{0} >> (64 - layout.stride);
  const std::size_t first = words_.size();
  for (const u32 s : boxes) {
    const u32 base = s * layout.stride;
    if (words_.size() == first || words_.back().word != base >> 6U) words_.push_back({base >> 6U, 0});
    words_.back().inputs |= ports << (base & 63U);
  }
  groups_.push_back({boxes, {words_.begin() + static_cast<std::ptrdiff_t>(first), words_.end()}, last});
}

}  // namespace banyan::switching::output_queued
