#include "banyan/switching/worms/reduction_tree.hpp"

#include <algorithm>

namespace banyan::switching {
namespace {

class Growing {
 public:
  Growing(const core::Graph& graph, const core::MulticastRoutes& routes, std::span<const u64> members)
      : graph_(graph), routes_(routes), members_(members) {}

  /// Whether all members lie below a switch.
  [[nodiscard]] bool covers(u32 s) const {
    for (std::size_t w = 0; w < members_.size(); ++w) {
      if ((members_[w] & ~routes_.below(s)[w]) != 0) return false;
    }
    return true;
  }
  /// Switches on the longest way from a member to `top`; 0: some way down has no way up beside it.
  [[nodiscard]] u32 depth(u32 top) { return grow(top, nullptr); }
  [[nodiscard]] ReductionTree tree(u32 top) {
    ReductionTree found;
    found.places.resize(graph_.switches());
    static_cast<void>(grow(top, &found));
    found.places[top].top = true;
    for (u32 p = 0; p < graph_.outputs(top); ++p) {
      if (leads_to_members(top, p)) found.places[top].outputs |= u64{1} << p;
    }
    return found;
  }

 private:
  [[nodiscard]] bool leads_to_members(u32 s, u32 port) const {
    const core::TerminalBits reach = routes_.reach(s, port);
    for (std::size_t w = 0; w < members_.size(); ++w) {
      if ((reach[w] & members_[w]) != 0) return true;
    }
    return false;
  }
  /// The channel up from where the port of a switch leads to: the one at the port of the same number if there are
  /// several, so that the two directions of one cable are used.
  [[nodiscard]] u32 way_up(u32 s, u32 port) const {
    const core::End& below = graph_.channel(graph_.channel_out_of(s, port)).to;
    if (below.terminal) {
      const u32 c = graph_.injection(below.node);
      return c != kNone && !graph_.channel(c).failed && graph_.channel(c).to.node == s ? c : kNone;
    }
    u32 found = kNone;
    for (const u16 p : routes_.up_ports(below.node)) {
      const u32 c = graph_.channel_out_of(below.node, p);
      const core::End& to = graph_.channel(c).to;
      if (to.node == s && (found == kNone || to.port == port)) found = c;
    }
    return found;
  }
  u32 grow(u32 s, ReductionTree* into) {
    u32 deepest = 0;
    for (u32 p = 0; p < graph_.outputs(s); ++p) {
      if (!leads_to_members(s, p)) continue;
      const u32 c = way_up(s, p);
      if (c == kNone) return 0;
      const core::Channel& up = graph_.channel(c);
      if (into != nullptr) into->places[s].children |= u64{1} << up.to.port;
      if (up.from.terminal) continue;
      if (into != nullptr) into->places[up.from.node].outputs = u64{1} << up.from.port;
      const u32 depth = grow(up.from.node, into);
      if (depth == 0) return 0;
      deepest = std::max(deepest, depth);
    }
    return deepest + 1;
  }

  const core::Graph& graph_;
  const core::MulticastRoutes& routes_;
  std::span<const u64> members_;
};

}  // namespace

std::optional<ReductionTree> reduction_tree(const core::Graph& graph, const core::MulticastRoutes& routes,
                                            std::span<const u64> members, u32 choice) {
  Growing growing(graph, routes, members);
  std::vector<u32> tops;
  u32 least = kNone;
  for (u32 s = 0; s < graph.switches(); ++s) {
    const u32 depth = growing.covers(s) ? growing.depth(s) : 0;
    if (depth == 0 || depth > least) continue;
    if (depth < least) tops.clear();
    least = depth;
    tops.push_back(s);
  }
  if (tops.empty()) return std::nullopt;
  return growing.tree(tops[choice % tops.size()]);
}

}  // namespace banyan::switching
