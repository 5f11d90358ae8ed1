// What a switch model per switch may start from: the switches of its shard with their ports numbered in one sequence,
// the routing's candidates, and the audit of the places behind channels. The model itself is run by PopulationOf; what
// it has to add is in core/switch_model.hpp.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/core/switch_model.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"

namespace banyan::engine {

/// Switches with one virtual channel, over channels of a flit per tick.
class PerSwitch {
 public:
  [[nodiscard]] u32 entities() const noexcept { return static_cast<u32>(switches_.size()); }
  [[nodiscard]] Tick horizon() const noexcept { return longest_; }
  [[nodiscard]] u64 movements() const noexcept { return movements_; }
  /// A flit on its way to an input takes a place there, a credit on its way back is one.
  void hold_arrival(u32 e, u32 port, const core::Flit&, Holdings& into) const {
    into.places.known(into_[e * ports_ + port], 0, 1);
  }
  void hold_arrival(u32 e, u32 port, const core::Control& credit, Holdings& into) const {
    into.places.known(out_of_[e * ports_ + port], 0, credit.argument);
  }

  /// Builds a network of such switches with `places` flits per input: `Model(builder, shard, ports, places)` for each
  /// shard, and interfaces that send as credits allow. `bytes`: that a port takes, about. Throws ConfigError where a
  /// channel is slower than a flit per tick.
  template <class Model>
  static void install(const config::Values& values, Builder& builder, u32 places, u64 bytes) {
    static_assert(core::SwitchModel<Model>, "core/switch_model.hpp says what is missing: see the first note below");
    const core::Graph& graph = builder.topology().graph();
    for (const core::Channel& c : graph.channels()) {
      if (c.link.cycles_per_flit == 1) continue;
      values.fail("name", "these switches send a flit per cycle, and a channel is slower than that",
                  "use channels of full bandwidth, or another switch");
    }
    const u32 ports = graph.most_ports();
    builder.partition_by_size(ports * bytes);
    Interfaces::Setup interfaces;
    interfaces.credits = places;
    interfaces.horizon = builder.longest_latency();
    builder.add_interfaces(interfaces);
    for (const u32 i : builder.own_shards()) {
      builder.add_switches(i, std::make_unique<Model>(builder, i, ports, places), ports);
    }
    builder.wire();
  }

 protected:
  PerSwitch(Builder& builder, u32 shard, u32 ports)
      : graph_(builder.topology().graph()),
        routing_(builder.routing()),
        switches_(builder.switches_of(shard)),
        into_(switches_.size() * ports, kNone),
        out_of_(switches_.size() * ports, kNone),
        seed_(builder.settings().seed),
        longest_(builder.longest_latency()),
        ports_(ports) {
    for (PacketPool* pool : builder.pools()) pools_.push_back(pool);
    const auto working = [&](u32 channel) {
      return channel == kNone || graph_.channel(channel).failed ? kNone : channel;
    };
    for (u32 e = 0; e < entities(); ++e) {
      const u32 s = switches_[e];
      for (u32 p = 0; p < graph_.inputs(s); ++p) into_[e * ports + p] = working(graph_.channel_into(s, p));
      for (u32 p = 0; p < graph_.outputs(s); ++p) out_of_[e * ports + p] = working(graph_.channel_out_of(s, p));
    }
  }

  /// The part of a reset that every model has; `ways`: the stream of random words for choices of the routing.
  void restart(Stream ways, u32 replication) noexcept {
    random_ = core::HopRandom(seed_, ways, replication);
    movements_ = 0;
  }
  [[nodiscard]] const core::Packet& packet(core::PacketId id) const noexcept {
    return (*pools_[id >> PacketPool::kIndexBits])[id];
  }
  /// The routing's candidates for a packet whose head is at an input after `hops` switches, in `candidates_`.
  void ask_routing(u32 input, core::PacketId id, u32 hops) noexcept {
    const u32 at = switches_[input / ports_];
    candidates_.clear();
    routing_.route({at, input % ports_, 0, &packet(id), core::HopWord(random_, packet(id), at, hops)}, candidates_);
  }
  /// The level of the switch of a port, for occupancy().
  [[nodiscard]] u32 level(u32 port) const noexcept { return graph_.level(switches_[port / ports_]); }
  /// For hold(): `waiting` flits are in the FIFO of the input i, and output i has `credits` of `places` behind it.
  void hold_places(Holdings& into, u32 i, u32 places, u32 waiting, u32 credits) const {
    if (into_[i] != kNone) into.places.known(into_[i], 0, waiting);
    if (out_of_[i] == kNone) return;
    into.places.open(out_of_[i], 0, places);
    into.places.known(out_of_[i], 0, credits);
  }

  /// For blocked_on(): the FIFO of an input uses `used` of its places, and `front` waits for an output: for space
  /// behind it, or for its turn, or for the end of the packet from input `held` (kNone: none).
  void show_wait(BlockedView& into, u32 input, u32 used, u32 places, core::PacketId front, u32 output, bool space,
                 u32 held) const {
    const u32 to = out_of_[output];
    const Resource here = Resource::input(into_[input]);
    into.fill(here, used, places);
    if (held != kNone) return into.blocked(here, Resource::input(into_[held]), Why::held, packet(front), to);
    into.blocked(here, space ? Resource::input(to) : Resource::port(to), space ? Why::space : Why::bandwidth,
                 packet(front), to);
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  std::vector<u32> switches_;             ///< [entity]
  std::vector<u32> into_;                 ///< [entity * ports + input]: channel of the graph; kNone: none that works
  std::vector<u32> out_of_;               ///< [entity * ports + output]
  std::vector<const PacketPool*> pools_;  ///< [shard]
  u64 seed_;
  Tick longest_;
  u32 ports_;                    ///< numbers per switch
  u64 movements_ = 0;            ///< flits that passed a switch
  core::HopRandom random_;       ///< words of the routing's choices
  core::Candidates candidates_;  ///< of ask_routing
};

}  // namespace banyan::engine
