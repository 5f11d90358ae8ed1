// The wiring of networks in which every switch has terminals: grids, HyperX networks and dragonflies.
#pragma once

#include "banyan/core/graph.hpp"

namespace banyan::topology::parts {

/// All switches have `neighbours` ports to other switches, some of which may lead nowhere, and then one for each of
/// `concentration` terminals. Channels are numbered switch by switch: first those to its neighbours in the order of its
/// ports, then injection and ejection of each of its terminals.
class DirectWiring : public core::Wiring {
 public:
  [[nodiscard]] u32 terminals() const override { return switches_ * concentration_; }
  [[nodiscard]] u32 channels() const override { return first_channel(switches_); }
  [[nodiscard]] std::vector<Block> blocks() const override { return {{switches_, neighbours_ + concentration_, 0}}; }

  [[nodiscard]] Way way(const core::End& from) const override {
    if (from.terminal) {
      return {core::End::of_switch(from.node / concentration_, neighbours_ + from.node % concentration_), terminal_};
    }
    if (from.port < neighbours_) return neighbour(from.node, from.port);
    return {core::End::of_terminal(from.node * concentration_ + from.port - neighbours_), terminal_};
  }
  [[nodiscard]] u32 number(const core::End& from) const override {
    if (!from.terminal && from.port < neighbours_) return first_channel(from.node) + ports_before(from.node, from.port);
    const u32 s = from.terminal ? from.node / concentration_ : from.node;
    const u32 i = from.terminal ? from.node % concentration_ : from.port - neighbours_;
    return first_channel(s + 1) - 2 * (concentration_ - i) + (from.terminal ? 0 : 1);
  }
  [[nodiscard]] core::End begin_of(u32 channel) const override {
    const u32 s = switch_of(channel);
    const u32 after = first_channel(s + 1) - channel;  // 1: the last channel of the switch
    if (after > 2 * concentration_) return core::End::of_switch(s, port_of(s, channel - first_channel(s)));
    const u32 i = concentration_ - (after + 1) / 2;
    return after % 2 == 0 ? core::End::of_terminal(s * concentration_ + i) : core::End::of_switch(s, neighbours_ + i);
  }

 protected:
  DirectWiring(u32 switches, u32 neighbours, u32 concentration, core::Link terminal)
      : switches_(switches), neighbours_(neighbours), concentration_(concentration), terminal_(terminal) {}

  /// Where the channel at a port below `neighbours` leads.
  [[nodiscard]] virtual Way neighbour(u32 s, u32 port) const = 0;
  /// Ports that lead nowhere, of the switches before s.
  [[nodiscard]] virtual u32 empty_before(u32 s) const {
    static_cast<void>(s);
    return 0;
  }

 private:
  [[nodiscard]] u32 most_channels() const { return neighbours_ + 2 * concentration_; }
  [[nodiscard]] u32 first_channel(u32 s) const { return s * most_channels() - empty_before(s); }
  [[nodiscard]] bool full(u32 s) const { return first_channel(s + 1) - first_channel(s) == most_channels(); }
  /// Ports of a switch below `port` that lead somewhere.
  [[nodiscard]] u32 ports_before(u32 s, u32 port) const {
    if (full(s)) return port;
    u32 count = 0;
    for (u32 p = 0; p < port; ++p) count += neighbour(s, p).to.node != kNone ? 1 : 0;
    return count;
  }
  /// The port of the switch's `index`-th channel to a neighbour.
  [[nodiscard]] u32 port_of(u32 s, u32 index) const {
    if (full(s)) return index;
    u32 port = 0;
    while (neighbour(s, port).to.node == kNone || index-- != 0) ++port;
    return port;
  }
  [[nodiscard]] u32 switch_of(u32 channel) const {
    u32 low = channel / most_channels();  // no switch has more channels
    u32 high = switches_;
    if (first_channel(low + 1) > channel) return low;
    while (high - low > 1) {
      const u32 middle = low + (high - low) / 2;
      (first_channel(middle) <= channel ? low : high) = middle;
    }
    return low;
  }

  u32 switches_;
  u32 neighbours_;
  u32 concentration_;
  core::Link terminal_;
};

}  // namespace banyan::topology::parts
