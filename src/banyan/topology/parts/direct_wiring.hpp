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
    const u32 s = from.terminal ? from.node / concentration_ : from.node;
    if (!from.terminal && from.port < neighbours_) {
      const Row row{s, first_channel(s), first_channel(s + 1)};
      return row.first + (full(row) ? from.port : ports_before(s, from.port));
    }
    const u32 i = from.terminal ? from.node % concentration_ : from.port - neighbours_;
    return first_channel(s + 1) - 2 * (concentration_ - i) + (from.terminal ? 0 : 1);
  }
  [[nodiscard]] core::End begin_of(u32 channel) const override {
    const Row row = row_of(channel);
    const u32 s = row.of;
    const u32 after = row.end - channel;  // 1: the last channel of the switch
    if (after > 2 * concentration_) {
      const u32 index = channel - row.first;
      return core::End::of_switch(s, full(row) ? index : port_of(s, index));
    }
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
  /// The channels of a switch and of its terminals: [first, end).
  struct Row {
    u32 of = 0;
    u32 first = 0;
    u32 end = 0;
  };

  [[nodiscard]] u32 most_channels() const { return neighbours_ + 2 * concentration_; }
  [[nodiscard]] u32 first_channel(u32 s) const { return s * most_channels() - empty_before(s); }
  [[nodiscard]] bool full(const Row& row) const { return row.end - row.first == most_channels(); }
  /// Ports of a switch below `port` that lead somewhere.
  [[nodiscard]] u32 ports_before(u32 s, u32 port) const {
    u32 count = 0;
    for (u32 p = 0; p < port; ++p) count += neighbour(s, p).to.node != kNone ? 1 : 0;
    return count;
  }
  /// The port of the switch's `index`-th channel to a neighbour.
  [[nodiscard]] u32 port_of(u32 s, u32 index) const {
    u32 port = 0;
    while (neighbour(s, port).to.node == kNone || index-- != 0) ++port;
    return port;
  }
  /// From a guess by the mean; no switch has more than most_channels(), so that no step goes too far.
  [[nodiscard]] Row row_of(u32 channel) const {
    const u32 most = most_channels();
    const u32 all = channels();
    if (all == switches_ * most) return {channel / most, channel / most * most, (channel / most + 1) * most};
    u32 s = static_cast<u32>(u64{channel} * switches_ / all);
    for (;;) {
      const u32 first = first_channel(s);
      if (channel < first) {
        s -= (first - channel + most - 1) / most;
        continue;
      }
      const u32 end = first_channel(s + 1);
      if (channel < end) return {s, first, end};
      s += 1 + (channel - end) / most;
    }
  }

  u32 switches_;
  u32 neighbours_;
  u32 concentration_;
  core::Link terminal_;
};

}  // namespace banyan::topology::parts
