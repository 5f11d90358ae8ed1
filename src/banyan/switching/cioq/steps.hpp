// What happens in a part of a cycle, for each Fabric::Mode: arrivals, ends of transfers, arbitration, starts. Included
// where a mode is run: fabric.cpp runs those with credits, pause.cpp those with pauses. (In one file the compiler would
// give up to expand in place what every packet passes.)
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "banyan/switching/cioq/fabric.hpp"
#include "banyan/switching/parts/round_robin.hpp"

namespace banyan::switching::cioq {

using parts::round_robin;

// How far ahead memory is asked for: what is asked for first tells what is asked for next.
inline constexpr u32 kFar = 20;
inline constexpr u32 kNear = 12;
inline constexpr u32 kNext = 6;
inline constexpr Tick kSettled = 64;  ///< cycles after which credits are counted, that few are kept

/// The next part in which something happens; all before `from` are done, but for control messages that take no time.
/// One before `soon` need not be the first.
template <Fabric::Mode M>
inline Tick Fabric::earliest(Tick from, Tick soon) const noexcept {
  Tick next = wheel_.earliest(now_);
  if (next < soon) return next;
  if constexpr (sets_aside(M)) next = std::min({next, tokens_.next(), controls_.next(), timers_.next()});
  for (const auto& wire : wires()) next = std::min(next, wire.next());
  if constexpr (pauses(M)) {
    for (const auto& frames : pause_frames_) next = std::min(next, frames.next());
  }
  if (counts_credits<M>()) next = std::min(next, credits_.next());
  // What Xon opened while links started is looked at in the part after that, whatever happens elsewhere.
  return marked_switches_.empty() && marked_adapters_.empty() ? next : std::min(next, from);
}

template <Fabric::Mode M, bool Large>
Tick Fabric::run_as(Tick now) noexcept {
  const Tick first = now * plan_.link_parts;
  const Tick end = first + plan_.link_parts;
  now_ = first;
  cycle_ = now;
  if (has_mail_) [[unlikely]]
    take_mail();
  terminals_.source.advance(now);
  generate<Large>(now);
  const bool fetches = Large && terminals_.sink.fetches();
  if (fetches) for_each_exit(end, [&](const core::Packet& p, u32 terminal) { terminals_.sink.fetch_end(p, terminal); });
  Tick part = first;
  // Looking for the parts in which something happens would cost more than doing all of them: they are few.
  if (every_part_) {
    do { step<M, Large>(part++); } while (part < end);
  }
  Tick next = earliest<M>(part, every_part_ ? end + plan_.link_parts : 0);
  while (next < end) {
    step<M, Large>(next);
    next = earliest<M>(next + 1, 0);
  }
  // The wheel is looked at from here on: nothing before is in it any more.
  now_ = end - 1;
  for (auto& wire : exits()) {
    if (wire.next() < end) deliver(wire, end);
    next = std::min(next, wire.next());
  }
  if (fetches) {
    for_each_exit(end + plan_.link_parts,
                  [&](const core::Packet& p, u32 terminal) { terminals_.sink.fetch_place(p, terminal); });
  }
  const bool at_once = next < end + plan_.link_parts;
  if (!at_once || now >= settled_ + kSettled) {
    settle(now_);
    settled_ = now;
  }
  if (at_once) return now + 1;
  next = std::min(next, credits_.next());
  const Tick due = next == kNever ? kNever : next / plan_.link_parts;
  return std::min(due, terminals_.source.next_birth_after(now));
}

/// All that it calls is compiled into it: in calls a run takes 1.4 % more instructions.
template <Fabric::Mode M, bool Large>
[[gnu::flatten]] void Fabric::step(Tick part) noexcept {
  now_ = part;
  if (counts_credits<M>() && credits_.next() <= part) take_credits<M>(part);
  if (sets_aside(M) && tokens_.next() <= part) take_tokens(part);
  if (sets_aside(M) && controls_.next() <= part) take_controls(part);
  if constexpr (pauses(M)) {
    for (auto& frames : pause_frames_) {
      if (frames.next() <= part) take_pauses(frames, part);
    }
  }
  for (auto& wire : wires()) {
    if (wire.next() <= part) take_arrivals<M, Large>(wire, part);
  }
  end_transfers<M, Large>(part);
  while (sets_aside(M) && timers_.next() <= part) {
    const Timer timer = timers_.front();
    timers_.pop();
    age(timer);
  }
  // Starting frees nothing that another could use in the same part: the order of these does not matter.
  for (u32 i = 0; i < marked_adapters_.size(); ++i) {
    const u32 adapter = marked_adapters_[i];
    adapter_marked_[adapter] = 0;
    if (!flows_) [[likely]] {
      fill<M, Large>(adapter);
    } else if (const u64 bit = u64{1} << (adapter & 63U); (terminals_.source.ready()[adapter >> 6U] & bit) != 0) {
      fill_from_flows<M>(adapter);
    } else {
      full_adapters_[adapter >> 6U] &= ~bit;  // whether it is will be seen when something is ready
    }
  }
  marked_adapters_.clear();
  start_crossings<M, Large>();
  start_links<M, Large>();
}

template <Fabric::Mode M>
void Fabric::take_credits(Tick part) noexcept {
  Egress* const egress = egress_.data();
  do {
    const Credit credit = credits_.front();
    credits_.pop();
    if (large_) __builtin_prefetch(&egress[credits_[kFar].egress]);
    Egress& out = egress[credit.egress];
    out.credit += credit.bytes;
    if constexpr (divides(M)) {
      ++class_credit_[std::size_t{credit.egress} * plan_.classes + credit.queue_class];
      class_open_[std::size_t{credit.egress} * out_words_ + credit.queue_class / 64] |= u64{1}
                                                                                        << (credit.queue_class & 63U);
    }
    if constexpr (divides(M)) {
      mark_link(credit.egress, out, out.item.packet == kNone);  // it may have waited for this
    } else if (out.starved && out.credit >= packet_) [[unlikely]] {
      out.starved = false;
      --starved_;
      mark_link(credit.egress, out, out.item.packet == kNone);
    }
  } while (credits_.next() <= part);
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::take_arrivals(Fifo<Arrival>& wire, Tick part) noexcept {
  do {
    // One by one: the item of a copy of the whole would be read across two stores, and wait until they are done.
    const Item item = wire.front().item;
    const u32 down = wire.front().down;
    wire.pop();
    if (Large) {
      const Arrival& far = wire[kFar];  // what is behind the last one is old: no harm
      __builtin_prefetch(&ingress_[far.down]);
      __builtin_prefetch(&in_.queue(far.down, base_in(far.item)));
      const Arrival& near = wire[kNear];
      const Ingress& in = ingress_[near.down];
      store_.fetch(in_.queue(near.down, base_in(near.item)).tail);
      __builtin_prefetch(&switches_[in.switch_]);
      __builtin_prefetch(&asking_inputs_[in.out_base]);
      __builtin_prefetch(ready_in<M>(near.down, output_of(near.item.route)));
      if (sets_aside(M) && in.aside != 0) in_.fetch_lines(near.down);
    }
    put_in<M>(down, item);
  } while (wire.next() <= part);
}

/// Looks at `count` things, each four times: what a look asks of memory has come when the next look needs it.
template <class First, class Second, class Third, class Last>
[[gnu::always_inline]] inline void look_ahead(std::size_t count, First&& first, Second&& second, Third&& third,
                                              Last&& last) noexcept {
  for (std::size_t n = 0; n < count + kFar; ++n) {
    if (n < count) first(n);
    if (n >= kNext && n - kNext < count) second(n - kNext);
    if (n >= kNear && n - kNear < count) third(n - kNear);
    if (n >= kFar) last(n - kFar);
  }
}

/// In a large network everything that ends is looked up first, so that its memory is there when it is needed.
template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::end_transfers(Tick part) noexcept {
  if (!Large) {
    wheel_.take<true>(
        part, [this](u32 ingress) { end_crossbar<M>(ingress); }, [this](u32 egress) { end_link<M, Large>(egress); });
    return;
  }
  std::size_t count = 0;
  std::size_t crossings = 0;
  u32* const due = due_.data();
  wheel_.take<false>(
      part,
      [&](u32 ingress) {
        due[count++] = ingress;
        ++crossings;
      },
      [&](u32 egress) { due[count++] = egress; });
  look_ahead(
      crossings, [&](std::size_t n) { __builtin_prefetch(&ingress_[due[n]]); },
      [&](std::size_t n) {
        const Ingress& in = ingress_[due[n]];
        const u32 e = in.out_base + in.to;
        __builtin_prefetch(&switches_[in.switch_]);
        __builtin_prefetch(&egress_[e]);
        __builtin_prefetch(&out_.queue(e, 0));
      },
      [&](std::size_t n) {
        const Ingress& in = ingress_[due[n]];
        const u32 e = in.out_base + in.to;
        store_.fetch(out_.queue(e, 0).tail);
        if (sets_aside(M) && egress_[e].aside) out_.fetch_lines(e);
      },
      [&](std::size_t n) { end_crossbar<M>(due[n]); });
  const u32* const links = due + crossings;
  look_ahead(
      count - crossings, [&](std::size_t n) { __builtin_prefetch(&egress_[links[n]]); },
      [&](std::size_t n) {
        const u32 e = links[n];
        __builtin_prefetch(&switches_[egress_[e].switch_]);
        __builtin_prefetch(&out_.queue(e, 0));
      },
      [&](std::size_t n) { store_.fetch(out_.queue(links[n], 0).next); },  // it sends next
      [&](std::size_t n) { end_link<M, Large>(links[n]); });
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::start_crossings() noexcept {
  const u32 marked = marked_switches_.size();
  if (!Large) {
    for (u32 i = 0; i < marked; ++i) {
      Switch& sw = switches_[marked_switches_[i]];
      sw.marked = false;
      const auto start = [this](u32 ingress, u32 egress, u32 output) __attribute__((always_inline)) {
        start_crossbar<M, Large>({ingress, egress, output, choose_in<M>(ingress, output)});
      };
      crossings_count_ = 0;
      arbitrate<M>(sw, start);
      for (std::size_t n = 0; n < crossings_count_; ++n) {
        const Crossing& c = crossings_[n];
        start(c.ingress, c.egress, c.output);
      }
    }
    marked_switches_.keep_from(marked);
    return;
  }
  crossings_count_ = 0;
  for (u32 i = 0; i < marked; ++i) {
    if (i + kNext < marked) {
      const Switch& next = switches_[marked_switches_[i + kNext]];
      __builtin_prefetch(&next);
      __builtin_prefetch(&asking_inputs_[next.out_base]);
      __builtin_prefetch(&grant_[next.out_base]);
      __builtin_prefetch(&accept_[next.in_base]);
    }
    Switch& sw = switches_[marked_switches_[i]];
    sw.marked = false;
    arbitrate<M>(sw, [this](u32 ingress, u32 egress, u32 output) {
      crossings_[crossings_count_++] = {ingress, egress, output, 0};
    });
  }
  marked_switches_.clear();
  Crossing* const crossings = crossings_.data();
  const std::size_t count = crossings_count_;
  look_ahead(
      count,
      [&](std::size_t n) {
        __builtin_prefetch(ready_in<M>(crossings[n].ingress, crossings[n].output));
        __builtin_prefetch(&egress_[crossings[n].egress]);
      },
      [&](std::size_t n) {
        Crossing& c = crossings[n];
        c.queue = choose_in<M>(c.ingress, c.output);
        __builtin_prefetch(&in_.queue(c.ingress, c.queue));
      },
      [&](std::size_t n) { store_.fetch(in_.queue(crossings[n].ingress, crossings[n].queue).next); },
      [&](std::size_t n) { start_crossbar<M, Large>(crossings[n]); });
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::start_links() noexcept {
  for (u32 i = 0; i < marked_links_.size(); ++i) {  // some are marked on the way
    if (Large) {
      const u32 marked = marked_links_.size();
      if (i + kFar < marked) __builtin_prefetch(&egress_[marked_links_[i + kFar]]);
      if (i + kNear < marked) __builtin_prefetch(&next_out<M>(marked_links_[i + kNear]));
      if (i + kNext < marked) store_.fetch(next_out<M>(marked_links_[i + kNext]).next);
    }
    start_link<M, Large>(marked_links_[i]);
  }
  marked_links_.clear();
}

template <bool Large>
void Fabric::generate(Tick now) noexcept {
  const std::span<const u64> ready = terminals_.source.ready();
  if (flows_) [[unlikely]] {
    for (std::size_t w = 0; w < ready.size(); ++w) {
      for (u64 bits = ready[w] & ~full_adapters_[w]; bits != 0; bits &= bits - 1) {
        const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        mark_adapter(t);
        if (Large) fetch_route(t, terminals_.source.head_destination(t));
      }
    }
    return;
  }
  for (std::size_t w = 0; w < ready.size(); ++w) {
    for (u64 bits = ready[w]; bits != 0; bits &= bits - 1) {
      const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
      while (terminals_.source.birth(t) <= now) {
        const u32 traffic = terminals_.source.head_traffic(t);
        if (limits_[t] != kNone &&
            traffics_[traffic]->waiting_limit(terminals_.global(t)) <= admittance_.waiting_flits(t)) {
          own_.count(0);
          terminals_.source.skip(t);
        } else {
          const engine::Source::Kept kept = terminals_.source.keep(t);
          if (Large && limits_[t] == kNone) {
            admittance_.fetch_queue(t, kept.destination);
            fetch_route(t, kept.destination);
            born_.push_back({t, kept});
          } else {
            admittance_.push(t, kept);
          }
        }
      }
      mark_adapter(t);
    }
  }
  if (!Large) return;
  for (std::size_t i = 0; i < born_.size(); ++i) {
    if (i + kNext < born_.size()) {
      const Born& later = born_[i + kNext];
      admittance_.fetch_last(later.terminal, later.message.destination);
    }
    admittance_.push(born_[i].terminal, born_[i].message);
  }
  born_.clear();
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline bool Fabric::held_back(u32 e, u64 route, u32 queue_class) noexcept {
  if constexpr (divides(M))
    return (class_room_[std::size_t{e} * out_words_ + queue_class / 64] >> (queue_class & 63U) & 1U) == 0;
  if constexpr (sets_aside(M)) {
    const u32 k = out_.valid[e] == 0 ? kNone : out_.match(e, route);
    return k != kNone && out_.line(e, k).signalled;
  }
  return false;
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::put_into_adapter(u32 e, core::PacketId id, u64 route, u32 hops,
                                                            u32 queue_class) noexcept {
  core::Packet& packet = pool_[id];
  packet.hops = static_cast<u16>(hops);
  if (!sent_.empty()) ++sent_[e - adapters_];
  const Item item{route, id, static_cast<u16>(packet.flits), static_cast<u16>(queue_class)};
  egress_[e].free -= item.bytes;
  if (divides(M) && ++class_used_[std::size_t{e} * plan_.classes + queue_class] >= plan_.class_packets) {
    set_class_room(e, queue_class, false);
  }
  put_out<M>(e, item, kNone);
}

/// Packets move from the admittance queues to the injection queues as long as there is room: both lie in the adapter's
/// memory, so that this takes no time.
template <Fabric::Mode M, bool Large>
void Fabric::fill(u32 adapter) noexcept {
  const u32 e = adapters_ + adapter;
  const Egress& out = egress_[e];
  for (u32 destination = admittance_.next(adapter); destination != kNone && out.free >= plan_.packet;) {
    u32 hops = 0;
    const u64 route = route_of(adapter, destination, hops);
    const u32 queue_class = divides(M) ? destination % plan_.classes : 0;
    if (held_back<M>(e, route, queue_class)) {
      admittance_.park(adapter, destination);
      destination = admittance_.next(adapter);
      continue;
    }
    u32 offset = 0;
    const engine::Source::Kept kept = admittance_.front(adapter, destination, cycle_, offset);
    const core::PacketId id = terminals_.source.make_packet(adapter, kept, offset, cycle_);
    admittance_.pop(adapter, destination, pool_[id].flits);
    put_into_adapter<M>(e, id, route, hops, queue_class);
    destination = admittance_.fetch_next(adapter);
    if (Large && destination != kNone) fetch_route(adapter, destination);
  }
}

/// A packet that leaves the adapter has it looked at again (Admittance::leave_to_flows), so that one that is full can
/// be left alone until then, however many flows are ready.
template <Fabric::Mode M>
void Fabric::fill_from_flows(u32 adapter) noexcept {
  const u32 e = adapters_ + adapter;
  const auto ready = [&] { return (terminals_.source.ready()[adapter >> 6U] >> (adapter & 63U) & 1U) != 0; };
  while (egress_[e].free >= plan_.packet && ready()) {
    const u32 destination = terminals_.source.head_destination(adapter);
    u32 hops = 0;
    const u64 route = route_of(adapter, destination, hops);
    const u32 queue_class = divides(M) ? destination % plan_.classes : 0;
    if (held_back<M>(e, route, queue_class)) {
      terminals_.source.park(adapter);
      continue;
    }
    const core::PacketId id = terminals_.source.take(adapter, cycle_);
    if (!meters_.empty()) meters_[e].waiting += pool_[id].flits + plan_.overhead;
    put_into_adapter<M>(e, id, route, hops, queue_class);
  }
  const u64 bit = u64{1} << (adapter & 63U);
  u64& full = full_adapters_[adapter >> 6U];
  full = egress_[e].free < plan_.packet ? full | bit : full & ~bit;
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::end_crossbar(u32 i) noexcept {
  Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  Item item = in.item;
  in.item.packet = kNone;
  sw.idle_in |= u64{1} << in.port;
  sw.idle_out |= u64{1} << in.to;
  ++movements_;
  moved_.across += item.bytes;
  if constexpr (pauses(M)) {
    note_departure(i, item);
  } else if (in.far != 0) [[unlikely]] {
    mail_credit(i, item);
  } else {
    credits_.push({now_ + control_parts_, in.upstream, item.bytes, item.queue_class});
  }
  item.route >>= bits_;
  // What opens an output later in this part marks the switch itself.
  mark_switch(in.switch_, sw, divides(M) || sw.open() != 0);
  put_out<M>(sw.out_base + in.to, item, i);
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::end_link(u32 e) noexcept {
  Egress& out = egress_[e];
  const Item item = out.item;
  out.item.packet = kNone;
  const bool was_full = divides(M) || out.free < plan_.packet;
  out.free += item.bytes;
  moved_.out += out.adapter ? 0 : item.bytes;
  moved_.over_links += u64{item.bytes} + plan_.overhead;
  if constexpr (divides(M)) {
    --class_used_[std::size_t{e} * plan_.classes + item.queue_class];
    set_class_room(e, item.queue_class, true);
  }
  // Without a branch, as whose link it is, is as good as random.
  mark_adapter(out.fed_by, admittance_.has_next(out.fed_by));
  if (was_full && !out.adapter && out.free >= plan_.packet) {
    Switch& sw = switches_[out.switch_];
    sw.room |= u64{1} << out.port;
    mark_switch(out.switch_, sw);
  }
  if (probe_ != nullptr) [[unlikely]] {
    const core::Packet& packet = record(item.packet);
    probe_->chunk_sent(out.channel, packet, packet.flits, true, cycle_,
                       u64{plan_.overhead} * graph_.channel(out.channel).link.cycles_per_flit);
  }
  if (out.far) [[unlikely]] {
    mail_packet(e, item);
  } else {
    wires_[out.wire].push({now_ + wire_parts_[out.wire], item, out.down});
  }
  if (Large) {
    if (out.to_terminal) __builtin_prefetch(&record(item.packet));
  } else {
    // Where the packet goes to: the record of one that leaves, or a queue. (A terminal's number is one of an ingress.)
    const std::array<const void*, 2> next{&in_.queue(out.down, base_in(item)), &record(item.packet)};
    __builtin_prefetch(next[out.to_terminal ? 1 : 0]);
  }
  mark_link(e, out, may_send<M>(out));
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::put_in(u32 i, const Item& item) noexcept {
  if (watches_) [[unlikely]]
    note_put_in(i, item);
  moved_.in += item.bytes;
  if constexpr (pauses(M)) note_arrival(i, item);
  u32 q = base_in(item);
  if constexpr (sets_aside(M)) {
    if (ingress_[i].aside) {
      const u32 k = in_.match(i, item.route);
      if (k != kNone) q = in_.base + k;
    }
  }
  if (push(in_, i, q, item)) {
    if (sets_aside(M) && q >= in_.base) {
      refresh_in(i, q);
    } else {
      offer<M>(i, q, output_of(item.route));
    }
  }
  if constexpr (sets_aside(M)) after_put_in(i, q);
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::put_out(u32 e, const Item& item, u32 i) noexcept {
  u32 q = base_out(item);
  if constexpr (sets_aside(M)) {
    if (egress_[e].aside) {
      const u32 k = out_.match(e, item.route);
      if (k != kNone) q = out_.base + k;
    }
  }
  if (push(out_, e, q, item)) {
    if (sets_aside(M) && q >= out_.base) {
      refresh_out(e, q);
    } else {
      set_ready<M>(e, q, true);
      Egress& out = egress_[e];
      mark_link(e, out, may_send<M>(out) & (out.item.packet == kNone));
    }
  }
  if constexpr (sets_aside(M)) after_put_out(e, q, i);
}

/// An ingress queue has a packet for an output that may leave.
template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::offer(u32 i, u32 q, u32 output) noexcept {
  const Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  in_.queue(i, q).target = output;
  ready_in<M>(i, output)[divides(M) ? q / 64 : 0] |= u64{1} << (q & 63U);
  asking_inputs_[in.out_base + output] |= u64{1} << in.port;
  sw.wanted |= u64{1} << output;
  // What opens the output later in this part marks the switch itself.
  const u64 open = divides(M) ? ~u64{0} : sw.idle_out & sw.room;
  mark_switch(in.switch_, sw, (sw.idle_in >> in.port & open >> output & 1U) != 0);
}

/// It has none any more.
template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::withdraw(u32 i, u32 q, u32 output) noexcept {
  in_.queue(i, q).target = kNowhere;
  u64* const words = ready_in<M>(i, output);
  u64 any = words[divides(M) ? q / 64 : 0] &= ~(u64{1} << (q & 63U));
  for (u32 w = 0; divides(M) && w < in_words_; ++w) any |= words[w];
  if (any != 0) return;
  const Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  const u64 want = asking_inputs_[in.out_base + output] &= ~(u64{1} << in.port);
  if (want == 0) sw.wanted &= ~(u64{1} << output);
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::set_ready(u32 e, u32 q, bool ready) noexcept {
  const bool one = !divides(M) || out_words_ == 1;
  u64& word = one ? egress_[e].ready : ready_out_[std::size_t{e} * out_words_ + q / 64];
  word = (word & ~(u64{1} << (q & 63U))) | u64{ready} << (q & 63U);
}

/// Every idle output grants one input that has a packet for it, every input accepts one output, both in turn, until
/// nothing more fits.
template <Fabric::Mode M, class One>
[[gnu::always_inline]] inline void Fabric::arbitrate(Switch& sw, One&& one) noexcept {
  u64 idle_in = sw.idle_in;
  u64 outputs = sw.open();
  if (outputs == 0 || idle_in == 0) return;
  const u64* const want = &asking_inputs_[sw.out_base];
  u16* const grant = &grant_[sw.out_base];
  u16* const accept = &accept_[sw.in_base];
  if (!divides(M) && (outputs & (outputs - 1)) == 0) {  // mostly
    const u32 o = static_cast<u32>(std::countr_zero(outputs));
    const u64 asking = want[o] & idle_in;
    if (asking == 0) return;
    const u32 p = round_robin(asking, grant[o]);
    sw.idle_in = idle_in & ~(u64{1} << p);
    sw.idle_out &= ~outputs;
    accept[p] = static_cast<u16>((o + 1) & 63U);
    grant[o] = static_cast<u16>((p + 1) & 63U);
    one(sw.in_base + p, sw.out_base + o, o);
    return;
  }
  Crossing* crossing = crossings_.data() + crossings_count_;
  u64* const granted = granted_.data();
  do {
    u64 inputs = 0;
    for (u64 m = outputs; m != 0; m &= m - 1) {
      const u32 o = static_cast<u32>(std::countr_zero(m));
      u64 asking = want[o] & idle_in;
      if constexpr (divides(M)) {
        for (u64 n = asking; n != 0; n &= n - 1) {
          const u32 p = static_cast<u32>(std::countr_zero(n));
          if (!may_cross(sw.in_base + p, o)) asking &= ~(u64{1} << p);
        }
      }
      if (asking == 0) {
        outputs &= ~(u64{1} << o);
        continue;
      }
      const u32 p = round_robin(asking, grant[o]);
      granted[p] |= u64{1} << o;
      inputs |= u64{1} << p;
    }
    for (; inputs != 0; inputs &= inputs - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(inputs));
      const u32 o = round_robin(std::exchange(granted[p], 0), accept[p]);
      outputs &= ~(u64{1} << o);
      idle_in &= ~(u64{1} << p);
      sw.idle_out &= ~(u64{1} << o);
      accept[p] = static_cast<u16>((o + 1) & 63U);
      grant[o] = static_cast<u16>((p + 1) & 63U);
      *crossing++ = {sw.in_base + p, sw.out_base + o, o, 0};
    }
  } while (outputs != 0 && idle_in != 0);
  sw.idle_in = idle_in;
  crossings_count_ = static_cast<std::size_t>(crossing - crossings_.data());
}

/// The queue of an ingress whose turn it is among those with a packet for an output.
template <Fabric::Mode M>
[[gnu::always_inline]] inline u32 Fabric::choose_in(u32 i, u32 output) noexcept {
  const u64* ready = ready_in<M>(i, output);
  Ingress& in = ingress_[i];
  if (!divides(M) || in_words_ == 1) {
    u64 mask = ready[0];
    if (divides(M)) mask &= class_room_[switches_[in.switch_].out_base + output];
    // Mostly only the queue of the output itself, or the only one, has a packet for it: the processor need not wait
    // until the turn is known.
    u32 q = output & queue_of_turn_;
    if (mask != u64{1} << q) [[unlikely]]
      q = round_robin(mask, in.turn);
    in.turn = (q + 1) & 63U;
    return q;
  }
  // Many classes: the turn goes on by words, inside a word from the lowest bit.
  const u64* room = &class_room_[std::size_t{switches_[in.switch_].out_base + output} * out_words_];
  for (u32 step = 0;; ++step) {
    const u32 w = (in.turn + step) % in_words_;
    const u64 mask = ready[w] & room[w];
    if (mask == 0) continue;
    in.turn = static_cast<u8>((w + 1) % in_words_);
    return w * 64 + round_robin(mask, static_cast<u32>(now_ & 63U));
  }
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::start_crossbar(const Crossing& crossing) noexcept {
  const auto [i, e, output, q] = crossing;
  Ingress& in = ingress_[i];
  Egress& out = egress_[e];
  Queue& queue = in_.queue(i, q);
  const Item item = pop<M>(in_, i, q);
  in.item = item;
  if constexpr (sets_aside(M)) in.item.queue_class = q >= in_.base ? in_.line(i, q - in_.base).length : u16{0};
  in.to = output & 0xffU;
  out.free -= item.bytes;
  if (plan_.marking.on()) [[unlikely]] {
    const bool room =
        out.free >= plan_.packet &&
        (!divides(M) || class_used_[std::size_t{e} * plan_.classes + item.queue_class] + 1U < plan_.class_packets);
    mark_packet(item, in.switch_, out.channel, towards(i, output)--, room);
  }
  if (out.free < plan_.packet) switches_[in.switch_].room &= ~(u64{1} << output);
  if (divides(M) && ++class_used_[std::size_t{e} * plan_.classes + item.queue_class] >= plan_.class_packets) {
    set_class_room(e, item.queue_class, false);
  }
  wheel_.add<!Large>(now_ + Tick{item.bytes + plan_.overhead} * plan_.crossbar_parts, kCrossings, i);
  // Behind a packet that left there is no marker any more, and the queue was not stopped.
  if (queue.empty()) {
    withdraw<M>(i, q, queue.target);
  } else if (const u32 target = output_of(queue.head.route); target != queue.target) {
    withdraw<M>(i, q, queue.target);
    offer<M>(i, q, target);
  }
  if constexpr (sets_aside(M)) after_pop_in(i, q);
}

/// The queue of an egress whose turn it is among those that may send; kNone. `open`: classes with credit, or nullptr.
template <Fabric::Mode M>
[[gnu::always_inline]] inline u32 Fabric::choose_out(u32 e, const u64* open) const noexcept {
  const u32 turn = egress_[e].turn;
  if (!divides(M) || out_words_ == 1) {
    const u64 mask = open == nullptr ? egress_[e].ready : egress_[e].ready & open[0];
    if (!divides(M) && mask == 1) [[likely]]
      return 0;
    return mask == 0 ? kNone : round_robin(mask, turn);
  }
  const u64* ready = &ready_out_[std::size_t{e} * out_words_];
  u32 w = turn >> 6U;
  for (u32 step = 0; step <= out_words_; ++step) {
    u64 mask = ready[w] & (open == nullptr ? ~u64{0} : open[w]);
    if (step == 0) mask = mask >> (turn & 63U) << (turn & 63U);
    if (mask != 0) return w * 64 + static_cast<u32>(std::countr_zero(mask));
    w = w + 1 == out_words_ ? 0 : w + 1;
  }
  return kNone;
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::start_link(u32 e) noexcept {
  Egress& out = egress_[e];
  out.marked = false;
  if (out.item.packet != kNone || (M == Mode::classes ? out.credit < packet_ : !has_credit<M>(out))) return;
  const bool classes = divides(M) && !out.to_terminal;
  const std::vector<u64>& open = pauses(M) ? unpaused_ : class_open_;
  const u32 q = choose_out<M>(e, classes ? &open[std::size_t{e} * out_words_] : nullptr);
  if (q == kNone) return;
  out.turn = static_cast<u16>(q + 1 == out_.stride ? 0 : q + 1);
  Queue& queue = out_.queue(e, q);
  const u32 length = queue.packets;
  const Item item = pop<M>(out_, e, q);
  out.item = item;
  if constexpr (sets_aside(M)) out.item.queue_class = q >= out_.base ? out_.line(e, q - out_.base).length : u16{0};
  if constexpr (!pauses(M)) out.credit -= item.bytes * (out.to_terminal ? 0 : 1);
  if (watches_) [[unlikely]] {
    settle(now_);
    const bool credit = out.credit >= packet_ &&
                        (M != Mode::classes || class_credit_[std::size_t{e} * plan_.classes + item.queue_class] > 1);
    note_departure(e, item, length, out.to_terminal || (pauses(M) ? !stands_still(e, item) : credit));
  }
  if (M == Mode::classes && classes && --class_credit_[std::size_t{e} * plan_.classes + item.queue_class] == 0) {
    class_open_[std::size_t{e} * out_words_ + item.queue_class / 64] &= ~(u64{1} << (item.queue_class & 63U));
  }
  wheel_.add<!Large>(now_ + Tick{item.bytes + plan_.overhead} * plan_.link_parts, kLinks, e);
  set_ready<M>(e, q, !queue.empty());
  if constexpr (sets_aside(M)) after_pop_out(e, q);
}

}  // namespace banyan::switching::cioq
