// What switches that move worms in chunks share: links with credits, input FIFOs, sources and sinks, and a calendar.
//
// A packet travels in chunks of k flits (its last one may be shorter), the flits of a chunk one after the other, so
// that one entry and the cycle of its first flit tell when each of them arrives. A chunk starts when the FIFO behind
// the link has room for all of it; the room comes back when it has left that FIFO as a whole. Times are those of flits:
//   g      a flit leaves the FIFO, 3 cycles or more after it arrived (cycles a, a+1, a+2, a+3: read, route, request,
//   grant) g + 1  it is in the output's register g + 2  it is on the link, and arrives `latency` cycles later
// so that a head takes 6 cycles per switch over links of one cycle. A terminal sends and receives a flit per cycle.
//
// What a switch does in a cycle changes others in later cycles only: the order of switches within a cycle is free, and
// so is the cut into shards. A chunk is put into the FIFO of the next switch when it starts, which nobody notices
// before its first flit is there; between shards it goes by mail, which is there before that. Worms that replicate read
// the same header at every switch, wherever it is; who has sent one hears of the copies that have arrived.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/multicast.hpp"
#include "banyan/engine/whole_network.hpp"
#include "banyan/switching/worms/calendar.hpp"
#include "banyan/switching/worms/settings.hpp"

namespace banyan::switching {

inline constexpr Stream kWormWays{"worm_fabric: choices of routings"};

[[nodiscard]] constexpr u64 bit_of(u32 i) noexcept { return u64{1} << i; }
[[nodiscard]] constexpr u32 first_of(u64 mask) noexcept { return static_cast<u32>(std::countr_zero(mask)); }
inline constexpr Tick kSetUp = 3;  ///< cycles from a flit's arrival until it may leave the FIFO

/// Where a worm goes from a switch: to all of `down`, and to one of `any` when that is not empty.
struct Ways {
  u64 down = 0;
  u64 any = 0;

  [[nodiscard]] u32 count() const noexcept { return static_cast<u32>(std::popcount(down)) + (any != 0 ? 1U : 0U); }
};

/// Derived has: void step(u32 s, Tick now) noexcept; void ready(u32 input, Tick now) noexcept, what waits at the head
/// of an input's FIFO may leave; void output_ready(u32 output, Tick now) noexcept; void new_head(u32 input, Tick now),
/// the FIFO has another head whose header has arrived as far as it must have; void pushed(u32 input, Tick now); void
/// reset_switches(); activity_of(written, read, links), what the hardware did beside writing and reading the FIFOs;
/// show_switches(into), what waits for what inside the switches (engine/blocked.hpp); and what it
/// holds.
template <class Derived>
class WormFabric : public engine::WholeNetwork {
 public:
  using PacketId = core::PacketId;

  void reset(u32 replication) final {
    restart(kWormWays, replication);
    for (Input& in : inputs_) in.head = in.count = 0;
    for (Input& in : inputs_) in.next = 0;
    for (Output& out : outputs_) {
      out.credits = settings_.fifo;
      out.link_free = 0;
    }
    for (Source& source : sources_) source = {kNone, 0, settings_.fifo, 0, source.to, source.latency};
    worms_.clear();
    mail_.clear();
    std::fill(awake_now_.begin(), awake_now_.end(), 0);
    std::fill(awake_next_.begin(), awake_next_.end(), 0);
    any_next_ = false;
    only_asked_ = false;
    last_run_ = 0;
    injected_ = read_ = ejected_ = 0;
    derived().reset_switches();
  }

  void archive(Archive& a) final {
    archive_network(a);
    a(inputs_, outputs_, sources_, fifos_, worms_, mail_, awake_now_, awake_next_, any_next_, only_asked_, last_run_,
      injected_, read_, ejected_);
    derived().archive_switches(a);
  }

  Tick run(Tick now) noexcept final {
    if (any_next_ && last_run_ + 1 == now) {
      awake_now_.swap(awake_next_);
      any_next_ = false;
    }
    last_run_ = now;
    terminals_.source.advance(now);
    if (!mail_.empty()) [[unlikely]]
      take_mail(now);
    take_events(now);
    feed(now);
    step_awake(now);
    const Tick next = next_after(now);
    only_asked_ = step_all_ && next == kNever;
    return step_all_ ? now + 1 : next;
  }

  bool only_asked() const noexcept final { return only_asked_; }
  /// A chunk is in its FIFO from its start on, and is expected there until its first flit has arrived: as one that
  /// comes from another shard.
  bool expects(Tick now) const final {
    if (!worms_.empty() || !mail_.empty()) return true;
    for (u32 i = 0; i < inputs_.size(); ++i) {
      const u32 count = inputs_[i].count;
      if (count != 0 && static_cast<i32>(entry(i, count - 1).first - static_cast<u32>(now)) > 0) return true;
    }
    return false;
  }

  bool hashes_movements() const noexcept final { return true; }
  /// A flit is written when it leaves for a FIFO, so that what is on its way counts alike in one shard and between two.
  bool activity(engine::Activity& into) const final {
    const u64 links = injected_ + movements_;
    into += derived().activity_of(links - ejected_, read_, links);
    return true;
  }
  u64 digest() const final {
    u64 sum = 0;
    for (u32 i = 0; i < inputs_.size(); ++i) {
      for (u32 n = 0; n < inputs_[i].count; ++n) {
        const Chunk& chunk = entry(i, n);
        sum += keyed(everywhere(i), chunk.packet, chunk.part, chunk.first);
      }
    }
    for (u32 o = 0; o < outputs_.size(); ++o) {
      if (outputs_[o].to == kNone) continue;
      Hasher h;
      for (const u64 v : {u64{everywhere(o)}, u64{outputs_[o].credits}, outputs_[o].link_free}) h.add(v);
      sum += h.value();
    }
    for (u32 t = 0; t < sources_.size(); ++t) {
      if (sources_[t].packet != kNone) {
        sum += keyed(terminal(t), sources_[t].packet, sources_[t].part, sources_[t].credits);
      }
    }
    for (const Mail& mail : mail_) {
      if (mail.kind == MailKind::chunk) sum += digest_of(mail.due, mail.flit, record(mail.flit.flit.packet));
    }
    return sum + derived().digest_switches();
  }

  // --- mail ----------------------------------------------------------------------------------------------------
  void take_in(Tick due, const engine::FlitArrival& arrival) final {
    mail_.push_back({due, arrival.port == kToTerminal ? MailKind::arrival : MailKind::chunk, 0, arrival});
  }
  void take_in(Tick due, const engine::ControlArrival& arrival) final {
    mail_.push_back({due, MailKind::credit, arrival.control.argument, {{}, arrival.entity, arrival.port}});
  }
  /// The same as for a chunk in the FIFO, because a chunk counts as there from its start on.
  using WholeNetwork::digest_of;
  [[nodiscard]] u64 digest_of(Tick due, const engine::FlitArrival& arrival, const core::Packet& packet) const final {
    static_cast<void>(due);
    static_cast<void>(packet);
    if (arrival.port == kToTerminal) return 0;
    const Chunk chunk = chunk_of(arrival.flit);
    return keyed(everywhere(arrival.entity), chunk.packet, chunk.part, chunk.first);
  }
  void hold(const engine::FlitArrival& arrival, engine::Holdings& into) const final {
    const PacketId id = arrival.flit.packet;
    if (arrival.port == kToTerminal) return count(into, id, 1);
    const Chunk chunk = chunk_of(arrival.flit);
    if (chunk.last != 0) count(into, id, derived().served_from(arrival.entity, chunk));
    into.places.known(channel_into(arrival.entity), 0, chunk.flits);
  }
  void hold(const engine::ControlArrival& arrival, engine::Holdings& into) const final {
    into.places.known(channel_out_of(arrival.entity), 0, arrival.control.argument);
  }

  /// Counted by tails: a packet is where its tail is, once per terminal that it is still for.
  void hold(engine::Holdings& into) const final {
    for (const Source& source : sources_) {
      if (source.packet != kNone) count(into, source.packet, copies_of(source.packet));
    }
    // For every link: credits + flits in the FIFO behind, those on the way there included + credits on the way back.
    for (u32 o = 0; o < outputs_.size(); ++o) {
      if (outputs_[o].to >= kTerminal) continue;
      into.places.open(channel_out_of(o), 0, settings_.fifo);
      into.places.known(channel_out_of(o), 0, outputs_[o].credits);
    }
    for (u32 t = 0; t < sources_.size(); ++t) {
      into.places.open(graph_.injection(terminal(t)), 0, settings_.fifo);
      into.places.known(graph_.injection(terminal(t)), 0, sources_[t].credits);
    }
    worms_.for_each_credit([&](u32 output, u32 flits) { into.places.known(channel_out_of(output), 0, flits); });
    worms_.for_each_source_credit(
        [&](u32 t, u32 flits) { into.places.known(graph_.injection(terminal(t)), 0, flits); });
    for (u32 i = 0; i < inputs_.size(); ++i) {
      u32 flits = 0;
      for (u32 n = 0; n < inputs_[i].count; ++n) {
        const Chunk& chunk = entry(i, n);
        flits += chunk.flits;
        if (chunk.last != 0) count(into, chunk.packet, derived().served_from(i, chunk));
      }
      if (inputs_[i].from != kNone) into.places.known(channel_into(i), 0, flits);
      if (flits > settings_.fifo) into.violations.push_back("an input FIFO holds more than its flits");
      if (inputs_[i].count > places_) into.violations.push_back("an input FIFO holds shorter packets than were told");
    }
    for (const Mail& mail : mail_) {
      if (mail.kind == MailKind::credit) {
        into.places.known(channel_out_of(mail.flit.entity), 0, mail.credit);
      } else {
        hold(mail.flit, into);
      }
    }
    worms_.for_each_arrival([&](PacketId id) { count(into, id, 1); });
    derived().hold_switches(into);
  }

  void blocked_on(engine::BlockedView& into) const final {
    for (u32 t = 0; t < sources_.size(); ++t) show_source(into, t);
    for (u32 i = 0; i < inputs_.size(); ++i) {
      if (arrived(into, i) != 0) show_fifo(into, i);
    }
    derived().show_switches(into);
  }

 protected:
  /// Flits that follow each other in an input FIFO.
  struct Chunk {
    PacketId packet = 0;
    u32 first = 0;  ///< arrival of the first flit, lower 32 bits
    u16 part = 0;   ///< nth chunk of its packet
    u8 flits = 0;
    u8 hops = 0;   ///< switches passed, 255 for more; packets with one destination count them in their record
    u32 last = 0;  ///< 1: of its packet
  };
  struct Input {
    u16 head = 0;
    u16 count = 0;
    u32 from = kNone;  ///< output that feeds it; kTerminal + terminal
    Tick next = 0;     ///< the next flit may leave from this cycle on: one per cycle
  };
  struct Output {
    u32 to = kNone;  ///< input that it feeds; kTerminal + terminal
    u32 latency = 1;
    u32 credits = 0;     ///< flits that the FIFO behind it has room for
    u32 head_first = 0;  ///< arrival of the head of the packet that passes
    Tick link_free = 0;  ///< its register takes the next flit from this cycle on
  };
  struct Source {
    PacketId packet = kNone;  ///< that is being sent
    u32 part = 0;
    u32 credits = 0;
    Tick link_free = 0;
    u32 to = kNone;
    u32 latency = 1;
  };

  /// Instead of a number of this shard, in Output::to (with kTerminal or without) and Input::from: what is in another
  /// shard, by its place in `far_down_` or `far_up_`.
  static constexpr u32 kElsewhere = u32{1} << 30U;

  WormFabric(engine::Builder& builder, u32 shard, const WormSettings& settings)
      : WholeNetwork(builder, builder.topology().graph().most_ports(), 0, 0, shard),
        routes_(settings.routes),
        settings_(settings),
        places_(most_chunks(settings.fifo, settings.chunk, builder.shortest_packet())),
        worms_(builder.longest_latency() + 4 * settings.chunk + 16, switches_ * ports_, local_terminals_),
        wires_(builder.shard(shard).wires) {
    find_up_ports();
    for (const core::Traffic* t : builder.traffics()) header_flits_.push_back(header_flits_of(*t, graph_));
    inputs_.resize(std::size_t{switches_} * ports_);
    outputs_.resize(inputs_.size());
    sources_.resize(local_terminals_);
    fifos_.resize(inputs_.size() * places_);
    awake_now_.resize((switches_ + 63) / 64);
    awake_next_.resize(awake_now_.size());
    for (const core::Channel& c : graph_.channels()) {
      if (!c.failed) attach(builder, shard, c);
    }
    constexpr std::size_t kMostMails = 1U << 16U;
    // A chunk and a credit per channel and cycle, until the first of them counts.
    const std::size_t cycles = builder.longest_latency() + settings.chunk + 4;
    mail_.reserve(std::min<std::size_t>((far_down_.size() + far_up_.size()) * cycles, kMostMails));
  }

  /// Writes down the end, or the ends, of a channel that are in this shard.
  void attach(const engine::Builder& builder, u32 shard, const core::Channel& c) {
    const auto local = [&](const core::End& end) {
      return end.terminal ? kTerminal + builder.entity_of(end) : builder.entity_of(end) * ports_ + end.port;
    };
    const auto target = [&](const core::End& end) {
      return engine::Target{local(end) & ~kTerminal, c.link.latency_cycles, end.terminal ? kToTerminal : kToSwitch,
                            static_cast<u8>(builder.shard_of(end)), 0};
    };
    const bool leaves = builder.shard_of(c.from) == shard;
    const bool comes = builder.shard_of(c.to) == shard;
    if (leaves) {
      u32 to = local(c.to);
      if (!comes) {
        to = (to & kTerminal) | kElsewhere | static_cast<u32>(far_down_.size());
        far_down_.push_back(target(c.to));
      }
      if (c.from.terminal) {
        sources_[builder.entity_of(c.from)].to = to;
        sources_[builder.entity_of(c.from)].latency = c.link.latency_cycles;
      } else {
        outputs_[local(c.from)].to = to;
        outputs_[local(c.from)].latency = c.link.latency_cycles;
      }
    }
    if (!comes || c.to.terminal) return;
    u32& from = inputs_[local(c.to)].from;
    from = local(c.from);
    if (leaves) return;
    from = kElsewhere | static_cast<u32>(far_up_.size());
    far_up_.push_back(target(c.from));
  }

  /// Packets for FIFOs and `more` flits of other buffers full of the shortest kind of traffic, as far as that is known:
  /// where the lengths of one kind vary, or in large networks, more are made while the network fills.
  void reserve_packets(const engine::Builder& builder, u64 more) {
    constexpr u64 kReserveMost = 1U << 16U;
    u32 shortest = kNone;
    for (const core::Traffic* t : builder.traffics()) {
      shortest = std::min({shortest, t->longest_message(), t->longest_packet()});
    }
    u64 flits = more + sources_.size();
    for (const Input& in : inputs_) flits += in.from != kNone ? settings_.fifo : 0;
    pool_.reserve(static_cast<u32>(std::min(flits / std::max(shortest, 1U) + 2 * sources_.size(), kReserveMost)));
  }

  /// Ports that worms go up over.
  void find_up_ports() {
    up_ports_.assign(switches_, 0);
    for (u32 s = 0; routes_ != nullptr && s < switches_; ++s) {
      for (const u16 p : routes_->up_ports(node(s))) up_ports_[s] |= u64{1} << p;
      if (settings_.both_ways) up_ports_[s] = routes_->replicating_up_ports(node(s));
    }
  }

  [[nodiscard]] Derived& derived() noexcept { return static_cast<Derived&>(*this); }
  [[nodiscard]] const Derived& derived() const noexcept { return static_cast<const Derived&>(*this); }

  // --- what a model that reduces does otherwise ------------------------------------------------------------------
  /// A packet left its source.
  void taken(PacketId) noexcept {}
  /// Deliveries that a packet with one destination is for.
  [[nodiscard]] u64 weight(PacketId) const noexcept { return 1; }
  /// True: the packet that arrived was the result of a reduction.
  [[nodiscard]] bool take_result(PacketId, u32, Tick, u32, Tick) noexcept { return false; }

  // --- packets -------------------------------------------------------------------------------------------------
  [[nodiscard]] u32 chunks_of(u32 flits) const noexcept { return (flits + settings_.chunk - 1) / settings_.chunk; }
  [[nodiscard]] u32 flits_of(PacketId id, u32 part) const noexcept {
    return std::min(settings_.chunk, record(id).flits - part * settings_.chunk);
  }
  [[nodiscard]] u32 is_last(PacketId id, u32 part, u32 flits) const noexcept {
    return part * settings_.chunk + flits == record(id).flits ? 1 : 0;
  }
  /// Flits that must have arrived before a packet can be routed.
  [[nodiscard]] u32 header_flits(PacketId id) const noexcept {
    return record(id).copies == 0 ? 1 : header_flits_[record(id).traffic];
  }
  /// Deliveries that a packet is for whose tail is at its source.
  [[nodiscard]] u64 copies_of(PacketId id) const noexcept {
    return record(id).copies == 0 ? derived().weight(id) : record(id).copies;
  }
  /// The terminals that a worm is for.
  [[nodiscard]] core::TerminalBits header(PacketId id) const noexcept {
    return pools_[id >> engine::PacketPool::kIndexBits]->header(id);
  }

  [[nodiscard]] Ways ways(u32 input, PacketId id, u32 hops) noexcept {
    const u32 s = input / ports_;
    const core::Packet& packet = record(id);
    if (packet.copies != 0) {
      const auto branches = routes_->branches(node(s), input % ports_, header(id), settings_.both_ways);
      Ways found{branches.down, 0};
      if (branches.up) found.any = up_ports_[s];
      return found;
    }
    ask_routing(input, id, hops);
    u64 mask = 0;
    u32 best = 0;
    for (const core::Candidate& c : candidates_) best = std::max<u32>(best, c.priority);
    for (const core::Candidate& c : candidates_) {
      if (c.priority == best) mask |= u64{1} << c.port;
    }
    return std::has_single_bit(mask) ? Ways{mask, 0} : Ways{0, mask};
  }

  /// Terminals that a packet whose tail is in an input's FIFO reaches from there.
  [[nodiscard]] u64 served_behind(u32 input, PacketId id) const noexcept {
    if (record(id).copies == 0) return derived().weight(id);
    const u32 s = input / ports_;
    const auto branches = routes_->branches(node(s), input % ports_, header(id), settings_.both_ways);
    u64 sum = 0;
    for (u64 m = branches.down; m != 0; m &= m - 1) { sum += served_by(s, static_cast<u32>(std::countr_zero(m)), id); }
    return sum + (branches.up ? served_above(s, id) : 0);
  }
  /// Destinations that a branch over an output serves.
  [[nodiscard]] u64 served_by(u32 s, u32 port, PacketId id) const noexcept {
    if (record(id).copies == 0) return derived().weight(id);
    const auto up = routes_->up_ports(node(s));
    if (std::find(up.begin(), up.end(), port) != up.end()) return served_above(s, id);
    const core::TerminalBits all = header(id);
    u64 sum = 0;
    for (u32 w = 0; w < routes_->words(); ++w) {
      sum += static_cast<u64>(std::popcount(all[w] & routes_->reach(node(s), port)[w]));
    }
    return sum;
  }
  [[nodiscard]] u64 served_above(u32 s, PacketId id) const noexcept {
    const core::TerminalBits all = header(id);
    u64 sum = 0;
    for (u32 w = 0; w < routes_->words(); ++w) {
      sum += static_cast<u64>(std::popcount(all[w] & ~(settings_.both_ways ? routes_->below(node(s))[w] : 0)));
    }
    return sum;
  }

  // --- FIFOs ---------------------------------------------------------------------------------------------------
  [[nodiscard]] const Chunk& entry(u32 input, u32 n) const noexcept {
    u32 place = inputs_[input].head + n;
    if (place >= places_) place -= places_;
    return fifos_[std::size_t{input} * places_ + place];
  }
  [[nodiscard]] const Chunk& head(u32 input) const noexcept {
    return fifos_[std::size_t{input} * places_ + inputs_[input].head];
  }
  /// The cycle that `low` is the lower part of, near `now`.
  [[nodiscard]] static Tick near(u32 low, Tick now) noexcept {
    return now + static_cast<Tick>(static_cast<i64>(static_cast<i32>(low - static_cast<u32>(now))));
  }
  /// Arrival of the last flit of a chunk, and the cycle from which on it may leave as a whole.
  [[nodiscard]] Tick whole_at(const Chunk& chunk, Tick now) const noexcept {
    return near(chunk.first, now) + chunk.flits - 1 + kSetUp;
  }

  /// Entries that the FIFO must hold before its head can be looked at.
  [[nodiscard]] u32 needed(const Chunk& chunk) const noexcept {
    if (chunk.part != 0) return 1;
    return (header_flits(chunk.packet) - 1) / settings_.chunk + 1;
  }
  /// The cycle from which on a packet at the head of a FIFO can be granted an output: its header has arrived.
  [[nodiscard]] Tick decoded_at(u32 input, Tick now) const noexcept {
    const Chunk& chunk = head(input);
    const u32 last = header_flits(chunk.packet) - 1;
    return near(entry(input, last / settings_.chunk).first, now) + last % settings_.chunk + kSetUp;
  }

  /// The head of an input's FIFO has left; its places come back `after` cycles from now.
  void pop(u32 input, Tick now, Tick after) noexcept {
    Input& in = inputs_[input];
    const u32 flits = head(input).flits;
    read_ += flits;
    in.head = static_cast<u16>(in.head + 1U == places_ ? 0 : in.head + 1U);
    if (--in.count == 0) in.head = 0;
    const u32 from = in.from;
    if (from >= kTerminal) {
      worms_.source(now + after + sources_[from - kTerminal].latency, from - kTerminal, flits);
    } else if (from >= kElsewhere) {
      const engine::Target& to = far_up_[from - kElsewhere];
      wires_.deliver(to, now + after + to.latency, engine::ControlArrival{{0, 0, flits}, to.entity, to.port});
    } else {
      worms_.credit(now + after + outputs_[from].latency, from, flits);
    }
    if (in.count != 0 && in.count >= needed(head(input))) derived().new_head(input, now);
  }

  /// A chunk leaves over an output whose register it enters in cycle `load` (its first flit).
  void send(u32 output, Chunk chunk, Tick load, Tick now) noexcept {
    Output& out = outputs_[output];
    const u32 flits = chunk.flits;
    movements_ += flits;
    if (chunk.part == 0 && record(chunk.packet).copies == 0) ++record(chunk.packet).hops;
    if (probe_ != nullptr) [[unlikely]]
      show_sent(channel_out_of(output), chunk, now);
    const Tick first = load + 1 + out.latency;
    out.link_free = load + flits;
    chunk.first = static_cast<u32>(first);
    chunk.hops = static_cast<u8>(std::min(chunk.hops + 1U, 255U));
    if (out.to >= kTerminal) {
      ejected_ += flits;
      if (chunk.part == 0) out.head_first = chunk.first;
      if (chunk.last != 0) {
        const u32 spread = static_cast<u32>(first + flits - 1) - out.head_first;
        arrive(out.to - kTerminal, first + flits - 1, {chunk.packet, spread << 8U | chunk.hops});
      }
      return;
    }
    out.credits -= flits;
    if (out.to >= kElsewhere) return mail_to(far_down_[out.to - kElsewhere], first, flit_of(chunk));
    push(out.to, chunk, now);
  }
  /// The tail of a packet will be at a terminal of this shard or another.
  void arrive(u32 t, Tick due, const WormCalendar::Arrival& what) noexcept {
    if (t < kElsewhere) return worms_.arrival(due, t, what);
    mail_to(far_down_[t - kElsewhere], due, {.packet = what.packet, .destination = what.way, .flags = core::kTail});
  }
  [[nodiscard]] bool has_room(const Output& out, u32 flits) const noexcept {
    return out.to >= kTerminal || out.credits >= flits;
  }

  // --- calendar ------------------------------------------------------------------------------------------------
  void wake(u32 s) noexcept { awake_now_[s >> 6U] |= u64{1} << (s & 63U); }
  void wake_next(u32 s) noexcept {
    awake_next_[s >> 6U] |= u64{1} << (s & 63U);
    any_next_ = true;
  }
  void input_at(Tick due, u32 input, Tick) noexcept { worms_.input(due, input); }
  void output_at(Tick due, u32 output, Tick) noexcept { worms_.output(due, output); }

  [[nodiscard]] std::string name(PacketId id) const {
    const core::Packet& packet = record(id);
    return packet.copies == 0
               ? fmt::format("packet {}->{}", packet.source, packet.destination)
               : fmt::format("worm {} of terminal {} to {} terminals", packet.sequence, packet.source, packet.copies);
  }

  [[nodiscard]] std::string at(u32 port) const {
    const u32 s = node(port / ports_);
    return fmt::format("{} of {}", topology_.port_label(s, port % ports_), topology_.label(s));
  }
  /// The numbers in the whole network, as everywhere(), of the input that an output feeds, and the output that feeds an
  /// input; kTerminal and more: a terminal.
  [[nodiscard]] u32 far_input(u32 output) const { return number_of(graph_.channel(channel_out_of(output)).to); }
  [[nodiscard]] u32 far_output(u32 input) const { return number_of(graph_.channel(channel_into(input)).from); }
  /// A packet, and what it does, for the explanation of a blockage.
  [[nodiscard]] engine::Wait wait_of(u64 waiter, u64 resource, PacketId id, const std::string& text) const {
    const core::Packet& packet = record(id);
    return {waiter, resource, name(id) + text,
            u64{packet.traffic} << 60U | u64{packet.source} << 32U | packet.sequence};
  }

  // --- what it shows -------------------------------------------------------------------------------------------
  /// Apart, so that the path without a probe keeps its registers.
  [[gnu::noinline, gnu::cold]] void show_sent(u32 channel, const Chunk& chunk, Tick now) const {
    probe_->chunk_sent(channel, record(chunk.packet), chunk.flits, chunk.part == 0, now);
  }
  /// Whose ways are known: a worm for several terminals has no single one.
  void show_packet(engine::BlockedView& into, const engine::Resource& place, PacketId id) const {
    if (into.wants_contents() && record(id).copies == 0) into.packet(place, record(id));
  }
  /// A chunk goes on to an output when there is room behind it.
  void show_move(engine::BlockedView& into, const engine::Resource& place, u32 output, u32 flits, PacketId id) const {
    using engine::Resource;
    using engine::Why;
    const u32 channel = channel_out_of(output);
    const bool room = has_room(outputs_[output], flits);
    into.blocked(place, room ? Resource::port(channel) : Resource::input(channel), room ? Why::bandwidth : Why::space,
                 record(id), channel);
  }

  /// Chunks of a FIFO whose first flit has arrived. A chunk is in the FIFO from its start on, but one that comes from
  /// another shard is in the mail until then: what is on its way must not show.
  [[nodiscard]] u32 arrived(const engine::BlockedView& view, u32 input) const noexcept {
    u32 count = inputs_[input].count;
    if (view.now() == kNever) return count;
    while (count != 0 && static_cast<i32>(entry(input, count - 1).first - static_cast<u32>(view.now())) >= 0) --count;
    return count;
  }

  std::shared_ptr<const core::MulticastRoutes> routes_;  ///< nullptr: no worm has several destinations
  WormSettings settings_;
  u32 places_;                     ///< chunks that an input FIFO can hold
  std::vector<u32> header_flits_;  ///< [traffic]: of worms
  std::vector<u64> up_ports_;      ///< [switch]: bits
  std::vector<Input> inputs_;      ///< [switch * ports + port]
  std::vector<Output> outputs_;    ///< [switch * ports + port]
  std::vector<Source> sources_;    ///< [terminal]

 private:
  void show_source(engine::BlockedView& into, u32 t) const {
    using engine::Resource;
    using engine::Why;
    const Source& source = sources_[t];
    const bool under_way = source.packet != kNone;
    if (!under_way && (terminals_.source.ready()[t >> 6U] >> (t & 63U) & 1U) == 0) return;
    const Resource here = Resource::source(terminal(t));
    const u32 channel = graph_.injection(terminal(t));
    const u32 flits =
        under_way ? flits_of(source.packet, source.part) : std::min(settings_.chunk, terminals_.source.head_flits(t));
    const bool room = source.credits >= flits;
    const Resource on = room ? Resource::port(channel) : Resource::input(channel);
    const Why why = room ? Why::bandwidth : Why::space;
    into.fill(here, 1, 1);
    if (!under_way) {
      into.blocked(here, on, why);
      return;
    }
    into.blocked(here, on, why, record(source.packet), channel);
    show_packet(into, here, source.packet);
  }

  void show_fifo(engine::BlockedView& into, u32 input) const {
    const engine::Resource here = engine::Resource::input(channel_into(input));
    u32 flits = 0;
    PacketId last = kNone;
    for (u32 n = 0; n < arrived(into, input); ++n) {
      const Chunk& chunk = entry(input, n);
      flits += chunk.flits;
      if (std::exchange(last, chunk.packet) != chunk.packet) show_packet(into, here, chunk.packet);
    }
    into.fill(here, flits, settings_.fifo);
  }

  void push(u32 input, const Chunk& chunk, Tick now) noexcept {
    Input& in = inputs_[input];
    u32 place = in.head + u32{in.count};
    if (place >= places_) place -= places_;
    fifos_[std::size_t{input} * places_ + place] = chunk;
    ++in.count;
    if (in.count == needed(head(input))) derived().new_head(input, now);
    derived().pushed(input, now);
  }

  // --- mail ----------------------------------------------------------------------------------------------------
  static constexpr u16 kToSwitch = 0;
  static constexpr u16 kToTerminal = 1;
  enum class MailKind : u8 { chunk, arrival, credit };
  struct Mail {
    Tick due = 0;
    MailKind kind = MailKind::chunk;
    u32 credit = 0;            ///< flits; then only `flit.entity`, the output, has a meaning
    engine::FlitArrival flit;  ///< entity: input, or terminal
  };

  [[nodiscard]] static core::Flit flit_of(const Chunk& chunk) noexcept {
    return {.packet = chunk.packet,
            .destination = chunk.first,
            .sequence = chunk.part,
            .auxiliary = chunk.flits,
            .flags = static_cast<u8>(chunk.last != 0 ? u32{core::kTail} : 0U),
            .auxiliary2 = chunk.hops};
  }
  [[nodiscard]] static Chunk chunk_of(const core::Flit& flit) noexcept {
    return {flit.packet,
            flit.destination,
            flit.sequence,
            static_cast<u8>(flit.auxiliary),
            static_cast<u8>(flit.auxiliary2),
            (flit.flags & core::kTail) != 0 ? 1U : 0U};
  }
  [[gnu::noinline]] void mail_to(const engine::Target& to, Tick due, const core::Flit& flit) noexcept {
    wires_.deliver(to, due, engine::FlitArrival{flit, to.entity, to.port});
  }
  /// What other shards sent goes where it would be if the network were one: the calendar says when it matters.
  [[gnu::noinline]] void take_mail(Tick now) noexcept {
    worms_.come_to(now);
    for (const Mail& mail : mail_) {
      const engine::FlitArrival& flit = mail.flit;
      if (mail.kind == MailKind::chunk) {
        push(flit.entity, chunk_of(flit.flit), now);
      } else if (mail.kind == MailKind::arrival) {
        worms_.arrival(mail.due, flit.entity, {flit.flit.packet, flit.flit.destination});
      } else {
        worms_.credit(mail.due, flit.entity, mail.credit);
      }
    }
    mail_.clear();
  }

  void take_events(Tick now) noexcept {
    // Nothing is due in the tick that is being taken but these: whatever follows is due later.
    if (!worms_.take(now)) return;
    worms_.take_inputs(now, [&](u32 input) { derived().ready(input, now); });
    worms_.take_outputs(now, [&](u32 output) { derived().output_ready(output, now); });
    worms_.take_credits(now, [&](u32 output, u32 flits) {
      outputs_[output].credits += flits;
      derived().credited(output);
    });
    worms_.take_arrivals(now, [&](u32 t, const WormCalendar::Arrival& arrival) { deliver(t, arrival, now); });
    worms_.take_sources(now, [&](u32 t, u32 flits) {
      sources_[t].credits += flits;
      go_on(t, now);
    });
  }

  void deliver(u32 t, const WormCalendar::Arrival& arrival, Tick now) noexcept {
    const u32 hops = arrival.way & 255U;
    const core::Packet& packet = record(arrival.packet);
    if (derived().take_result(arrival.packet, terminal(t), now, hops, arrival.way >> 8U)) {
      static_cast<void>(settle(arrival.packet, terminal(t)));
    } else if (packet.copies == 0) {
      terminals_.sink.deliver(packet, terminal(t), now, packet.hops, arrival.way >> 8U);
      wires_.release(arrival.packet);
    } else {
      terminals_.sink.deliver_copy(packet, terminal(t), now, hops, arrival.way >> 8U);
      if (settle(arrival.packet, terminal(t))) terminals_.sink.admit_copies(packet, terminal(t), now, hops);
    }
  }
  /// Tells the owner of a worm that a copy has arrived. True: all have, as far as is known here.
  [[nodiscard]] bool settle(PacketId id, u32 terminal) noexcept {
    if (wires_.owns(id)) return terminals_.sink.settle_copy(id, terminal);
    wires_.post({id, terminal});
    return false;
  }

  /// Idle terminals with a waiting message start it.
  void feed(Tick now) noexcept {
    for_each_ready([&](u32 t) { go_on(t, now); });
  }
  /// Sends a terminal's next chunk when its link is free and the FIFO behind it has room.
  void go_on(u32 t, Tick now) noexcept {
    Source& source = sources_[t];
    const u64 bit = u64{1} << (t & 63U);
    if (source.link_free > now) return;
    if (source.packet == kNone) {
      idle_[t >> 6U] |= bit;
      if ((terminals_.source.ready()[t >> 6U] & bit) == 0) return;
      if (source.credits < std::min(settings_.chunk, terminals_.source.head_flits(t))) {
        idle_[t >> 6U] &= ~bit;  // a credit will come
        return;
      }
      source.packet = terminals_.source.take(t, now);
      derived().taken(source.packet);
      source.part = 0;
      idle_[t >> 6U] &= ~bit;
    }
    const u32 flits = flits_of(source.packet, source.part);
    if (source.credits < flits) return;
    source.credits -= flits;
    source.link_free = now + flits;
    injected_ += flits;
    const Chunk chunk{source.packet,
                      static_cast<u32>(now + source.latency),
                      static_cast<u16>(source.part),
                      static_cast<u8>(flits),
                      0,
                      is_last(source.packet, source.part, flits)};
    ++source.part;
    if (chunk.last != 0) source.packet = kNone;
    if (probe_ != nullptr) [[unlikely]]
      show_sent(graph_.injection(terminal(t)), chunk, now);
    worms_.source(now + flits, t, 0);
    push(source.to, chunk, now);
  }

  void step_awake(Tick now) noexcept {
    if (step_all_) {
      for (u32 s = 0; s < switches_; ++s) wake(s);
    }
    const std::size_t words = awake_now_.size();
    if (permuted_) [[unlikely]] {
      for (std::size_t w = words; w-- > 0;) {
        for (u64 bits = std::exchange(awake_now_[w], 0); bits != 0;) {
          const u32 bit = 63 - static_cast<u32>(std::countl_zero(bits));
          bits &= ~bit_of(bit);
          derived().step(static_cast<u32>(w * 64) + bit, now);
        }
      }
      return;
    }
    for (std::size_t w = 0; w < words; ++w) {
      for (u64 bits = std::exchange(awake_now_[w], 0); bits != 0; bits &= bits - 1) {
        derived().step(static_cast<u32>(w * 64) + first_of(bits), now);
      }
    }
  }

  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    if (any_next_) return now + 1;
    return std::min(terminals_.source.next_birth_after(now), worms_.next_after(now));
  }

  std::vector<Chunk> fifos_;  ///< [input * places + place]
  WormCalendar worms_;
  engine::Wires& wires_;
  std::vector<engine::Target> far_down_;  ///< behind outputs, in other shards
  std::vector<engine::Target> far_up_;    ///< outputs there that feed inputs here
  std::vector<Mail> mail_;                ///< received, and not looked at
  std::vector<u64> awake_now_;
  std::vector<u64> awake_next_;
  bool any_next_ = false;
  bool only_asked_ = false;  ///< stepping all is the only reason for the next run
  Tick last_run_ = 0;
  u64 injected_ = 0;  ///< flits that left terminals
  u64 read_ = 0;      ///< flits that left the FIFOs
  u64 ejected_ = 0;   ///< flits that left to terminals
};

/// Adds one population of a kind per shard.
template <class Network, class Settings>
void add_worms(engine::Builder& builder, const WormSettings& worms, const Settings& settings) {
  for (const u32 i : builder.own_shards()) { builder.add(i, std::make_unique<Network>(builder, i, worms, settings)); }
  builder.join_networks();
}

}  // namespace banyan::switching
