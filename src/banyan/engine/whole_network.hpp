// What a switch model that holds all switches of a network at once starts from: the network with its ports numbered in
// one sequence, the endpoints, identities of packets for digests, and audits made from one list of what it holds.
//
// A model is such a population when its switches read or change each other within a tick, and then lives in one shard
// (Builder::partition_as_one); or when it runs by events: a Calendar says when what it has begun ends. Of the second
// kind there is one population per shard, each with the switches and terminals of its shard numbered from 0; what it
// sends to another goes by mail (Population::take_in). A model whose switches meet over channels only and are stepped
// one by one is a PopulationOf (engine/builder.hpp).
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/calendar.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"

namespace banyan::engine {

/// One whole packet in one place of a model.
struct HeldPacket {
  core::PacketId packet = 0;
  u64 place = 0;   ///< any number that names the place in the network
  u64 detail = 0;  ///< what else is to be in the digest: its position, or in how many ticks it will have arrived
  u32 at = kNone;  ///< switch whose occupancy it counts in; kNone: it is on a channel
};

class WholeNetwork : public Population {
 public:
  [[nodiscard]] u64 movements() const noexcept override { return movements_; }
  /// What was put into the calendar happens by itself.
  [[nodiscard]] bool expects(Tick) const override { return calendar_.next_after(now_) != kNever; }
  /// The three that follow come from for_each_held(); a model that holds parts of packets writes its own.
  [[nodiscard]] u64 digest() const override {
    u64 sum = mix64(movements_);
    for_each_held([&](const HeldPacket& held) { sum += keyed(held.place, held.packet, held.detail, 0); });
    return sum;
  }
  void hold(Holdings& into) const override {
    for_each_held([&](const HeldPacket& held) { count(into, held.packet, 1); });
  }
  void occupancy(std::vector<u64>& levels) const override {
    for_each_held([&](const HeldPacket& held) {
      if (held.at != kNone) ++levels[graph_.level(held.at)];
    });
  }

 protected:
  /// The far end of a channel: the number of a port, or kTerminal + terminal.
  static constexpr u32 kTerminal = u32{1} << 31U;

  /// What a channel leads to.
  struct Wire {
    u32 to = kNone;     ///< number of an input, or kTerminal + terminal; kNone: no channel, or one that has failed
    Tick latency = 1;   ///< ticks
    Tick per_flit = 1;  ///< ticks
  };

  /// `ports`: numbers per switch; 0: as many as the largest has. Port p of switch s has the number s * ports + p, among
  /// inputs as among outputs. `longest` and `events` are those of the calendar, for models that use it.
  /// `shard`: whose switches these are.
  WholeNetwork(Builder& builder, u32 ports, Tick longest = 0, std::size_t events = 0, u32 shard = 0)
      : graph_(builder.topology().graph()),
        routing_(builder.routing()),
        terminals_(builder.terminals(shard)),
        pool_(terminals_.pool()),
        probe_(builder.probe(shard)),
        topology_(builder.topology()),
        seed_(builder.settings().seed),
        permuted_(builder.settings().permuted),
        step_all_(builder.settings().step_all),
        nodes_(builder.shards() > 1 ? builder.switches_of(shard) : std::vector<u32>{}),
        switches_(nodes_.empty() ? graph_.switches() : static_cast<u32>(nodes_.size())),
        ports_(ports != 0 ? ports : graph_.most_ports()),
        calendar_(longest, events),
        local_terminals_(nodes_.empty() ? graph_.terminals() : terminals_.size() / terminals_.queues()),
        idle_((local_terminals_ + 63) / 64) {
    for (PacketPool* pool : builder.pools()) pools_.push_back(pool);
  }

  /// Calls the function once for each packet between its source queue and its delivery.
  virtual void for_each_held(const std::function<void(const HeldPacket&)>& each) const { static_cast<void>(each); }

  /// The part of a reset that every model has; `ways`: the stream of random words for choices of the routing.
  void restart(Stream ways, u32 replication) noexcept {
    random_ = core::HopRandom(seed_, ways, replication);
    movements_ = 0;
    calendar_.clear();
    now_ = 0;
    std::fill(idle_.begin(), idle_.end(), 0);
    for (u32 t = 0; t < local_terminals_; ++t) set_idle(t, true);
  }

  /// The part of the state that every model has, beside random words, which restart() gives.
  void archive_network(Archive& a) { a(movements_, calendar_, now_, idle_); }

  // --- ports -----------------------------------------------------------------------------------------------------
  [[nodiscard]] u32 number_of(const core::End& end) const noexcept {
    return end.terminal ? kTerminal + end.node : end.node * ports_ + end.port;
  }
  /// Calls f(number of the sending end, wire) for each channel that works.
  template <class F>
  void for_each_wire(F&& f) const {
    for (const core::Channel& c : graph_.channels()) {
      if (!c.failed) f(number_of(c.from), Wire{number_of(c.to), c.link.latency_cycles, c.link.cycles_per_flit});
    }
  }
  /// The number in the graph of a switch of this shard, and the number that one of its ports has among all.
  [[nodiscard]] u32 node(u32 s) const noexcept { return nodes_.empty() ? s : nodes_[s]; }
  [[nodiscard]] u32 everywhere(u32 port) const noexcept {
    return nodes_.empty() ? port : nodes_[port / ports_] * ports_ + port % ports_;
  }
  /// The number in the graph of a terminal of this shard.
  [[nodiscard]] u32 terminal(u32 t) const noexcept { return nodes_.empty() ? t : terminals_.global(t); }
  /// Channels of the graph; kNone where nothing is attached.
  [[nodiscard]] u32 channel_into(u32 input) const { return graph_.channel_into(node(input / ports_), input % ports_); }
  [[nodiscard]] u32 channel_out_of(u32 output) const {
    return graph_.channel_out_of(node(output / ports_), output % ports_);
  }

  // --- packets ---------------------------------------------------------------------------------------------------
  /// The record of a packet of whatever shard.
  [[nodiscard]] core::Packet& record(core::PacketId id) const noexcept {
    return (*pools_[id >> PacketPool::kIndexBits])[id];
  }
  /// The routing's candidates for a packet whose head is at an input after `hops` switches, in `candidates_`.
  void ask_routing(u32 input, core::PacketId id, u32 hops) noexcept {
    const u32 at = node(input / ports_);
    const core::Packet& packet = record(id);
    candidates_.clear();
    routing_.route({at, input % ports_, 0, &packet, core::HopWord(random_, packet, at, hops)}, candidates_);
  }
  // For networks with one source queue per terminal: terminals are idle until the model says otherwise.
  void set_idle(u32 terminal, bool idle) noexcept {
    const u64 bit = u64{1} << (terminal & 63U);
    idle_[terminal >> 6U] = (idle_[terminal >> 6U] & ~bit) | (idle ? bit : 0);
  }
  /// Calls f(terminal) for each idle terminal where a packet waits (after Source::advance).
  template <class F>
  void for_each_ready(F&& f) {
    for (std::size_t w = 0; w < idle_.size(); ++w) {
      for (u64 bits = terminals_.source.ready()[w] & idle_[w]; bits != 0; bits &= bits - 1) {
        f(static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits)));
      }
    }
  }
  /// The whole packet has arrived at its terminal; its record is free then.
  void deliver(core::PacketId id, u32 terminal, Tick now) noexcept {
    terminals_.sink.deliver(pool_[id], terminal, now, pool_[id].hops);
    pool_.release(id);
  }

  /// For blocked_on(): the FIFO of an input uses `used` of its places, and `front` waits for an output: for space
  /// behind it, or for its turn.
  void show_wait(BlockedView& into, u32 input, u32 used, u32 places, core::PacketId front, u32 output,
                 bool space) const {
    const u32 to = channel_out_of(output);
    const Resource here = Resource::input(channel_into(input));
    into.fill(here, used, places);
    into.blocked(here, space ? Resource::input(to) : Resource::port(to), space ? Why::space : Why::bandwidth,
                 record(front), to);
  }

  // --- audits ----------------------------------------------------------------------------------------------------
  /// A hash of a packet in a place that does not depend on its handle.
  [[nodiscard]] u64 keyed(u64 place, core::PacketId id, u64 part, u64 more) const noexcept {
    const core::Packet& packet = record(id);
    Hasher h;
    for (const u64 v : {place, u64{packet.source} << 32U | packet.sequence, packet.birth, part, more}) h.add(v);
    return h.value();
  }
  /// Adds a packet that is still for so many terminals.
  void count(Holdings& into, core::PacketId id, u64 deliveries) const {
    into.packets += deliveries;
    if (record(id).copies != 0) into.copies += deliveries;
    into.flits += deliveries * record(id).flits;
  }

  const core::Graph& graph_;
  const core::Routing& routing_;
  Terminals& terminals_;
  PacketPool& pool_;                ///< of the packets that this shard's terminals send
  std::vector<PacketPool*> pools_;  ///< [shard]
  Probe* probe_;                    ///< nullptr: nobody watches
  const core::Topology& topology_;
  u64 seed_;
  bool permuted_;                ///< step the switches of a tick in another order
  bool step_all_;                ///< step all switches in all ticks
  std::vector<u32> nodes_;       ///< [switch of this shard]: its number in the graph; empty: there is one shard
  u32 switches_;                 ///< of this shard
  u32 ports_;                    ///< numbers per switch
  u64 movements_ = 0;            ///< flit-hops
  core::HopRandom random_;       ///< words of the routing's choices
  core::Candidates candidates_;  ///< of ask_routing
  Calendar calendar_;            ///< what happens by itself, and when
  Tick now_ = 0;                 ///< set by the model in run()
  u32 local_terminals_;          ///< of this shard
  std::vector<u64> idle_;        ///< bit per terminal: it sends nothing
};

}  // namespace banyan::engine
