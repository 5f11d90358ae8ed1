// RECN, basic and enhanced (Garcia, Flich, Duato, Johnson, Quiles, Naven 2005, sections 4.1 and 4.2).
//
// A path is the sequence of turns from a port to a congested egress, packed like a route. An ingress line (o, P)
// belongs to the egress line P of output o of the same switch, or to the normal queue there when P is empty (the root).
// What one line tells another inside a switch takes no time; over a link it takes Plan::control_cycles.
#include <algorithm>
#include <bit>
#include <utility>

#include "banyan/core/notification.hpp"
#include "banyan/engine/endpoint_plan.hpp"
#include "banyan/switching/cioq/fabric.hpp"

namespace banyan::switching::cioq {

using Kind = RecnEvent::Kind;

void Fabric::note(Kind kind, bool ingress, u32 port, u64 path, u32 length) noexcept {
  if (plan_.log) log_.push_back({now_, kind, ingress, port, path, static_cast<u8>(length)});
}

// ---- Allocation, order, release ----

/// Basic RECN discards notifications that are more specific than a line that is there.
bool Fabric::refuses(const Side& side, u32 port, u64 path, u32 length) const noexcept {
  return !plan_.enhanced() && side.match(port, path, length) != kNone;
}

/// A new line, or kNone. Packets that went to `base_queue` or to a less specific line stay there; the new queue is
/// blocked until they have left.
u32 Fabric::allocate(Side& side, u32 port, u64 path, u32 length, u32 base_queue) noexcept {
  const u64 taken = side.valid[port];
  const u32 k = static_cast<u32>(std::countr_one(taken));
  if (k >= side.saqs) return kNone;
  side.valid[port] |= u64{1} << k;
  note_lines(side, port);
  Line& line = side.line(port, k);
  const u32 generation = line.generation + 1;
  line = {};
  line.generation = generation;
  line.path = path;
  line.mask = path_mask(length);
  line.length = static_cast<u8>(length);
  line.since = now_ / plan_.link_parts;
  ++counts_.allocated;
  counts_.most_saqs = std::max<u64>(counts_.most_saqs, static_cast<u64>(std::popcount(side.valid[port])));
  if (base_queue != kNone && plan_.markers) place_marker(side, port, k, base_queue);
  if (plan_.idle_cycles != 0) {
    timers_.push({now_ + plan_.idle_cycles * plan_.link_parts, port, generation, static_cast<u8>(k), is_in(side)});
  }
  note(Kind::allocated, is_in(side), port, path, length);
  return k;
}

/// Behind the last packet that may belong to the new line: in the longest strictly shorter line, else in the normal or
/// detection queue. A queue that is empty but blocked itself counts: what it waits for must leave first.
void Fabric::place_marker(Side& side, u32 port, u32 k, u32 base_queue) noexcept {
  Line& line = side.line(port, k);
  const u32 shorter = side.match(port, line.path, line.length);
  u32 q = base_queue;
  bool needed = false;
  if (shorter != kNone) {
    q = side.base + shorter;
    needed = side.line(port, shorter).blocked;
  }
  Queue& queue = side.queue(port, q);
  if (queue.empty() && !needed) return;
  line.blocked = true;
  store_.push(queue, {0, marker_of(port, k), 0, 0});
}

void Fabric::unblock(Side& side, u32 port, u32 k) noexcept {
  Line& line = side.line(port, k);
  line.blocked = false;
  note(Kind::unblocked, is_in(side), port, line.path, line.length);
  // Markers that waited at the head of a blocked queue are out now.
  Queue& queue = side.queue(port, side.base + k);
  while (queue.has_marker()) { unblock(side, port, line_of_marker(store_.take(queue).packet)); }
  if (is_in(side)) {
    refresh_in(port, side.base + k);
    free_in(port, k);
  } else {
    refresh_out(port, side.base + k);
    free_out(port, k);
  }
}

/// Empty of packets and markers, unblocked, used.
bool Fabric::idle(const Side& side, u32 port, u32 k) const noexcept {
  const Line& line = side.line(port, k);
  return (side.valid[port] >> k & 1U) != 0 && side.queue(port, side.base + k).empty() && !line.blocked && line.used;
}

void Fabric::free_in(u32 i, u32 k) noexcept {
  Line& line = in_.line(i, k);
  if (!idle(in_, i, k) || line.notified) return;
  in_.valid[i] &= ~(u64{1} << k);
  note_lines(in_, i);
  ++counts_.freed;
  note(Kind::freed, true, i, line.path, line.length);
  if (!line.token) return;
  line.token = false;
  const Ingress& in = ingress_[i];
  const u32 e = switches_[in.switch_].out_base + output_of(line.path);
  if (line.peer == kNowhere) {
    egress_[e].root_inputs &= ~(u64{1} << in.port);
    return;
  }
  out_.line(e, line.peer).inputs &= ~(u64{1} << in.port);
  free_out(e, line.peer);
}

void Fabric::free_out(u32 e, u32 k) noexcept {
  const Line& line = out_.line(e, k);
  if (!idle(out_, e, k) || line.inputs != 0) return;
  out_.valid[e] &= ~(u64{1} << k);
  note_lines(out_, e);
  ++counts_.freed;
  note(Kind::freed, false, e, line.path, line.length);
  give_token_back(e, line.path, line.length);
  if (egress_[e].adapter) {
    unpark(egress_[e].switch_);
    mark_adapter(egress_[e].switch_);
  }
}

/// One that was never used counts as used after a while.
void Fabric::age(const Timer& timer) noexcept {
  Side& side = timer.ingress ? in_ : out_;
  Line& line = side.line(timer.port, timer.line);
  if ((side.valid[timer.port] >> timer.line & 1U) == 0 || line.generation != timer.generation || line.used) return;
  line.used = true;
  if (timer.ingress) {
    free_in(timer.port, timer.line);
  } else {
    free_out(timer.port, timer.line);
  }
}

// ---- Ingress ----

/// Xoff bounds what the queue of the same path upstream still sends; `turns` it has.
void Fabric::count_late(Line& line, const Queue& queue, u32 turns) noexcept {
  if (!line.signalled || store_.last(queue).queue_class != turns) return;
  counts_.most_late = std::max<u64>(counts_.most_late, ++line.late);
}

void Fabric::after_put_aside_in(u32 i, u32 q) noexcept {
  const u32 packets = in_.queue(i, q).packets;
  const u32 k = q - in_.base;
  Line& line = in_.line(i, k);
  line.used = true;
  count_late(line, in_.queue(i, q), line.length);
  counts_.most_packets = std::max<u64>(counts_.most_packets, packets);
  if (plan_.notify_packets != 0 && packets >= plan_.propagation) notify_source(line, store_.last(in_.queue(i, q)));
  notify_upstream(i, k);
}

/// Tells sources of their packets that wait at a root itself, when so many do that the tree grows upstream.
void Fabric::notify_source(Line& line, const Item& item) noexcept {
  if (line.length != 1 || line.peer != kNowhere || ++line.unreported < plan_.notify_packets) return;
  line.unreported = 0;
  const core::Packet& packet = record(item.packet);
  if (packet.traffic >= traffics_.size()) return;  // feedback itself
  const u32 service_class = engine::EndpointPlan::service_class(packet.traffic, packet.flags);
  terminals_.source.flows()->deliver({.due = cycle_ + feedback_delay_->between(packet.destination, packet.source),
                                      .terminal = packet.source,
                                      .key = flow_keys_->flow_key({packet.source, packet.destination, service_class}),
                                      .feedback = {.sent = cycle_, .packets = 1, .kind = core::kSwitchNotification}});
  ++counts_.told_sources;
}

/// Tells the egress upstream, once the queue is long, that packets of that path are to be kept apart; and to stop them.
void Fabric::notify_upstream(u32 i, u32 k) noexcept {
  Line& line = in_.line(i, k);
  const u32 packets = in_.queue(i, in_.base + k).packets;
  if (!line.notified && packets >= plan_.propagation) {
    line.notified = true;
    line.signalled = false;
    tell_upstream(i, line, Message::notification);
  }
  if (line.notified && !line.signalled && packets >= plan_.xoff) {
    line.signalled = true;
    line.late = 0;
    tell_upstream(i, line, Message::xoff);
  }
}

void Fabric::after_pop_aside_in(u32 i, u32 q) noexcept {
  const u32 k = q - in_.base;
  Line& line = in_.line(i, k);
  if (line.signalled && in_.queue(i, q).packets <= plan_.xon) {
    line.signalled = false;
    tell_upstream(i, line, Message::xon);
  }
  free_in(i, k);
}

/// A detection queue is long: the output that it leads to is congested. Its packets and markers become those of a new
/// set-aside queue.
void Fabric::detect(u32 i, u32 output) noexcept {
  if (in_.find(i, output, 1) != kNone) return;
  const u32 k = allocate(in_, i, output, 1, kNone);
  if (k == kNone) return;
  ++counts_.detected_ingress;
  note(Kind::detected, true, i, output, 1);
  Queue& queue = in_.queue(i, output);
  Queue& aside = in_.queue(i, in_.base + k);
  std::swap(queue, aside);
  std::swap(queue.target, aside.target);
  in_.line(i, k).used = true;
  counts_.most_packets = std::max<u64>(counts_.most_packets, aside.packets);
  refresh_in(i, output);
  refresh_in(i, in_.base + k);
  notify_upstream(i, k);
}

/// An egress tells an input of its switch that a path is congested. False: rejected.
bool Fabric::notify_ingress(u32 i, u32 output, u64 path, u32 length, u8 peer) noexcept {
  const u64 whole = path << bits_ | output;
  u32 k = in_.find(i, whole, length + 1);
  if (k == kNone) {
    if (refuses(in_, i, whole, length + 1)) return false;
    k = allocate(in_, i, whole, length + 1, plan_.enhanced() ? output : 0);
    if (k == kNone) return false;
  }
  Line& line = in_.line(i, k);
  line.token = true;
  line.peer = peer;
  if (peer != kNowhere) {
    const u32 e = switches_[ingress_[i].switch_].out_base + output;
    line.stopped = out_.line(e, peer).signalled;
    if (line.stopped) line.slowed = now_ / plan_.link_parts;
    refresh_in(i, in_.base + k);
  }
  return true;
}

/// The egress upstream freed its line, or rejected the notification.
void Fabric::token_back(u32 i, u64 path, u32 length) noexcept {
  const u32 k = in_.find(i, path, length);
  if (k == kNone) return;
  in_.line(i, k).notified = false;
  in_.line(i, k).signalled = false;
  free_in(i, k);
}

// ---- Egress ----

/// The normal queue is long.
void Fabric::detect_out(u32 e, u32 i) noexcept {
  Egress& out = egress_[e];
  const u64 bit = u64{1} << ingress_[i].port;
  if ((out.root_inputs & bit) != 0) return;
  const bool fresh = out.root_inputs == 0;
  if (!notify_ingress(i, out.port, 0, 0, kNowhere)) {
    ++counts_.rejected;
    return;
  }
  out.root_inputs |= bit;
  if (!fresh) return;
  ++counts_.detected_egress;
  note(Kind::detected, false, e, 0, 0);
}

void Fabric::after_put_aside_out(u32 e, u32 q, u32 i) noexcept {
  const u32 packets = out_.queue(e, q).packets;
  const Egress& out = egress_[e];
  const u32 k = q - out_.base;
  Line& line = out_.line(e, k);
  line.used = true;
  count_late(line, out_.queue(e, q), line.length + 1U);
  counts_.most_packets = std::max<u64>(counts_.most_packets, packets);
  if (i != kNone && packets >= plan_.propagation && (line.inputs >> ingress_[i].port & 1U) == 0) {
    if (notify_ingress(i, out.port, line.path, line.length, static_cast<u8>(k))) {
      line.inputs |= u64{1} << ingress_[i].port;
    } else {
      ++counts_.rejected;
      note(Kind::rejected, true, i, line.path, line.length);
    }
  }
  if (!line.signalled && packets >= plan_.xoff) signal_inputs(e, k, true);
}

void Fabric::after_pop_aside_out(u32 e, u32 q) noexcept {
  const u32 k = q - out_.base;
  if (out_.line(e, k).signalled && out_.queue(e, q).packets <= plan_.xon) signal_inputs(e, k, false);
  free_out(e, k);
}

/// Stops or restarts the ingress lines of the same path, or the admittance queues of an adapter.
void Fabric::signal_inputs(u32 e, u32 k, bool stopped) noexcept {
  Line& line = out_.line(e, k);
  line.signalled = stopped;
  line.late = 0;
  const Egress& out = egress_[e];
  if (stopped) note(Kind::stopped, false, e, line.path, line.length);
  if (out.adapter) {
    if (stopped) return;
    unpark(out.switch_);
    mark_adapter(out.switch_);
    return;
  }
  const u32 in_base = switches_[out.switch_].in_base;
  for (u64 m = line.inputs; m != 0; m &= m - 1) {
    const u32 i = in_base + static_cast<u32>(std::countr_zero(m));
    const u32 j = in_.find(i, line.path << bits_ | out.port, line.length + 1U);
    if (j == kNone) continue;
    in_.line(i, j).stopped = stopped;
    in_.line(i, j).slowed = now_ / plan_.link_parts;
    refresh_in(i, in_.base + j);
  }
}

/// The ingress at the other end of the link tells of congestion.
void Fabric::notified(u32 e, u64 path, u32 length) noexcept {
  if (out_.find(e, path, length) != kNone) return;
  const u32 k = refuses(out_, e, path, length) ? kNone : allocate(out_, e, path, length, 0);
  if (k == kNone) {
    ++counts_.rejected;
    note(Kind::rejected, false, e, path, length);
    give_token_back(e, path, length);
    return;
  }
  if (egress_[e].adapter) {
    unpark(egress_[e].switch_);
    mark_adapter(egress_[e].switch_);
  }
}

void Fabric::set_stopped_by_link(u32 e, u64 path, u32 length, bool stopped) noexcept {
  const u32 k = out_.find(e, path, length);
  if (k == kNone) return;
  out_.line(e, k).stopped = stopped;
  out_.line(e, k).slowed = now_ / plan_.link_parts;
  refresh_out(e, out_.base + k);
}

}  // namespace banyan::switching::cioq
