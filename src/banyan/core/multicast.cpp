#include "banyan/core/multicast.hpp"

#include <algorithm>
#include <stdexcept>

namespace banyan::core {
namespace {

/// Switches such that every channel down leads to an earlier one; empty when there is a cycle.
std::vector<u32> bottom_up(const Graph& graph, const std::vector<MulticastRoutes::Way>& way) {
  std::vector<u32> open(graph.switches(), 0);  // channels down that lead to switches not yet listed
  std::vector<u32> order;
  const auto leads_down = [&](u32 c) {
    return c != kNone && !graph.channel(c).failed && way[c] == MulticastRoutes::Way::down;
  };
  for (u32 s = 0; s < graph.switches(); ++s) {
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 c = graph.channel_out_of(s, p);
      if (leads_down(c) && !graph.channel(c).to.terminal) ++open[s];
    }
    if (open[s] == 0) order.push_back(s);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (u32 p = 0; p < graph.inputs(order[i]); ++p) {
      const u32 c = graph.channel_into(order[i], p);
      if (!leads_down(c) || graph.channel(c).from.terminal) continue;
      if (--open[graph.channel(c).from.node] == 0) order.push_back(graph.channel(c).from.node);
    }
  }
  if (order.size() != graph.switches()) order.clear();
  return order;
}

}  // namespace

MulticastRoutes::MulticastRoutes(const Graph& graph, const std::vector<Way>& way)
    : graph_(graph),
      words_((graph.terminals() + 63) / 64),
      reach_(std::size_t{graph.total_outputs()} * words_),
      below_(std::size_t{graph.switches()} * words_),
      from_above_(graph.total_inputs()),
      served_(graph.total_inputs()),
      replicating_up_(graph.switches()) {
  const std::vector<u32> order = bottom_up(graph, way);
  if (order.size() != graph.switches()) throw std::logic_error("channels that lead down form a cycle");
  for (const u32 s : order) {
    u64* const below = below_.data() + std::size_t{s} * words_;
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 c = graph.channel_out_of(s, p);
      if (c == kNone || graph.channel(c).failed || way[c] != Way::down) continue;
      u64* const row = reach_.data() + std::size_t{graph.output_base(s) + p} * words_;
      const End& to = graph.channel(c).to;
      if (to.terminal) {
        row[to.node / 64] = u64{1} << (to.node % 64);
      } else {
        std::copy_n(this->below(to.node), words_, row);
      }
      bool shares = false;
      bool adds = false;
      for (u32 w = 0; w < words_; ++w) {
        shares |= (row[w] & below[w]) != 0;
        adds |= (row[w] & ~below[w]) != 0;
      }
      if (shares && adds) throw std::logic_error("two ports of a switch reach overlapping sets of terminals");
      if (shares) std::fill_n(row, words_, 0);
      for (u32 w = 0; w < words_; ++w) below[w] |= row[w];
    }
  }
  up_begin_.push_back(0);
  for (u32 s = 0; s < graph.switches(); ++s) {
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 c = graph.channel_out_of(s, p);
      if (c != kNone && !graph.channel(c).failed && way[c] == Way::up) up_.push_back(static_cast<u16>(p));
    }
    up_begin_.push_back(static_cast<u32>(up_.size()));
    for (u32 i = 0; i < graph.inputs(s); ++i) {
      const u32 in = graph.channel_into(s, i);
      if (in == kNone || graph.channel(in).from.terminal) continue;
      from_above_[graph.input_base(s) + i] = way[in] == Way::down ? 1 : 0;
      served_[graph.input_base(s) + i] = ports_of(s, this->below(graph.channel(in).from.node));
    }
  }
  // Switches are looked at from the top, because a way up is of use when what lies above can go on.
  for (auto s = order.rbegin(); s != order.rend(); ++s) {
    for (const u16 p : up_ports(*s)) {
      const u32 above = graph.channel(graph.channel_out_of(*s, p)).to.node;
      if (!tells_apart(*s, above) || (replicating_up_[above] == 0 && !reaches_all(above))) continue;
      replicating_up_[*s] |= u64{1} << p;
    }
  }
}

bool MulticastRoutes::reaches_all(u32 s) const noexcept {
  for (u32 t = 0; t < graph_.terminals(); ++t) {
    if ((below(s)[t / 64] >> (t % 64) & 1U) == 0) return false;
  }
  return true;
}

bool MulticastRoutes::tells_apart(u32 below_switch, u32 above) const noexcept {
  const TerminalBits served = below(below_switch);
  const auto within = [&](TerminalBits row) {
    for (u32 w = 0; w < words_; ++w) {
      if ((row[w] & ~served[w]) != 0) return false;
    }
    return true;
  };
  const u64 mixed = ports_of(above, served);
  for (u32 p = 0; p < graph_.outputs(above); ++p) {
    if ((mixed >> p & 1U) != 0 && !within(reach(above, p))) return false;
  }
  for (u32 w = 0; w < words_; ++w) {
    if ((served[w] & ~below(above)[w]) != 0) return false;  // it would go on up for what was served
  }
  return true;
}

bool MulticastRoutes::complete() const {
  // A worm of all terminals finds an ancestor from every switch that terminals inject into.
  std::vector<u8> good(graph_.switches(), 0);
  for (u32 s = 0; s < graph_.switches(); ++s) good[s] = reaches_all(s) ? 1 : 0;
  // A switch is good when all of its ways up are: the worm may take any of them.
  for (bool more = true; more;) {
    more = false;
    for (u32 s = 0; s < graph_.switches(); ++s) {
      if (good[s] != 0 || up_ports(s).empty()) continue;
      const bool leads = std::all_of(up_ports(s).begin(), up_ports(s).end(), [&](u16 p) {
        return good[graph_.channel(graph_.channel_out_of(s, p)).to.node] != 0;
      });
      if (!leads) continue;
      good[s] = 1;
      more = true;
    }
  }
  for (u32 t = 0; t < graph_.terminals(); ++t) {
    const u32 c = graph_.injection(t);
    if (c == kNone || graph_.ejection(t) == kNone || good[graph_.channel(c).to.node] == 0) return false;
  }
  return true;
}

bool MulticastRoutes::complete_both_ways() const {
  for (u32 t = 0; t < graph_.terminals(); ++t) {
    const u32 c = graph_.injection(t);
    if (c == kNone || graph_.ejection(t) == kNone) return false;
    const u32 s = graph_.channel(c).to.node;
    if (replicating_up_[s] == 0 && !reaches_all(s)) return false;
  }
  return true;
}

u64 MulticastRoutes::ports_of(u32 s, TerminalBits header) const noexcept {
  u64 mask = 0;
  const u32 ports = std::min(graph_.outputs(s), 64U);
  const u64* row = reach(s, 0);
  for (u32 p = 0; p < ports; ++p, row += words_) {
    u64 any = 0;
    for (u32 w = 0; w < words_; ++w) any |= header[w] & row[w];
    mask |= static_cast<u64>(any != 0) << p;
  }
  return mask;
}

MulticastRoutes::Branches MulticastRoutes::branches(u32 s, u32 in_port, TerminalBits header,
                                                    bool both_ways) const noexcept {
  const u32 input = graph_.input_base(s) + in_port;
  if (from_above_[input] != 0) return {ports_of(s, header), false};
  const u64* const under = below(s);
  u64 elsewhere = 0;
  for (u32 w = 0; w < words_; ++w) elsewhere |= header[w] & ~under[w];
  // On both ways, what lies below the switch that the worm comes from was served there.
  const u64 served = both_ways ? served_[input] : 0;
  if (elsewhere == 0) return {ports_of(s, header) & ~served, false};
  return {both_ways ? ports_of(s, header) & ~served : 0, true};
}

}  // namespace banyan::core
