#include "banyan/switching/parts/cioq_fabric.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace banyan::switching::cioq {
namespace {

constexpr u64 kReserveMost = 1U << 16U;     ///< packets reserved at once; more are made while the network fills
constexpr u64 kMostRoutes = u64{1} << 23U;  ///< routes that are remembered, 72 MB

}  // namespace

Fabric::Fabric(engine::Builder& builder, const Plan& plan, u32 bits)
    : plan_(plan),
      graph_(builder.topology().graph()),
      routing_(builder.routing()),
      terminals_(builder.terminals(0)),
      pool_(terminals_.pool()),
      probe_(builder.probe(0)),
      traffics_(builder.traffics().begin(), builder.traffics().end()),
      bits_(bits),
      turn_mask_((u64{1} << bits) - 1),
      ingresses_(graph_.total_inputs()),
      adapters_(graph_.total_outputs()),
      own_(builder.settings().steady) {
  const u32 terminals = graph_.terminals();
  switches_.resize(graph_.switches());
  ingress_.resize(graph_.total_inputs());
  egress_.resize(adapters_ + terminals);
  for (u32 s = 0; s < graph_.switches(); ++s) {
    ports_ = std::max({ports_, graph_.inputs(s), graph_.outputs(s)});
    switches_[s].in_base = graph_.input_base(s);
    switches_[s].out_base = graph_.output_base(s);
    for (u32 p = 0; p < graph_.inputs(s); ++p) {
      ingress_[graph_.input_base(s) + p].switch_ = s;
      ingress_[graph_.input_base(s) + p].port = static_cast<u8>(p);
    }
    for (u32 p = 0; p < graph_.outputs(s); ++p) {
      egress_[graph_.output_base(s) + p].switch_ = s;
      egress_[graph_.output_base(s) + p].port = static_cast<u8>(p);
    }
  }
  for (u32 c = 0; c < graph_.channels().size(); ++c) {
    const core::Channel& channel = graph_.channel(c);
    if (channel.failed) continue;
    const u32 e = channel.from.terminal ? adapters_ + channel.from.node
                                        : graph_.output_base(channel.from.node) + channel.from.port;
    Egress& out = egress_[e];
    out.channel = c;
    out.adapter = channel.from.terminal;
    if (out.adapter) out.switch_ = channel.from.node;
    out.to_terminal = channel.to.terminal;
    out.down = channel.to.terminal ? channel.to.node : graph_.input_base(channel.to.node) + channel.to.port;
    if (!out.to_terminal) ingress_[out.down].upstream = e;
    const Tick parts = Tick{channel.link.latency_cycles} * plan_.link_parts;
    const auto found = std::find(wire_parts_.begin(), wire_parts_.end(), parts);
    out.wire = static_cast<u16>(found - wire_parts_.begin());
    if (found == wire_parts_.end()) wire_parts_.push_back(parts);
  }
  wires_.resize(wire_parts_.size());
  packet_ = static_cast<i32>(plan_.packet);
  control_parts_ = Tick{plan_.control_cycles} * plan_.link_parts;
  const u32 saqs = plan_.recn() ? plan_.saqs : 0;
  const u32 per_output = plan_.organization == Organization::voqsw || plan_.enhanced() ? ports_ : 1;
  const u32 base = plan_.per_class() ? plan_.classes : 1;
  in_.resize(static_cast<u32>(ingress_.size()), std::max(base, per_output), saqs);
  out_.resize(static_cast<u32>(egress_.size()), base, saqs);
  in_words_ = (in_.stride + 63) / 64;
  out_words_ = (out_.stride + 63) / 64;
  want_.resize(egress_.size());
  ready_in_.resize(ingress_.size() * ports_ * in_words_);
  ready_out_.resize(egress_.size() * out_words_);
  if (plan_.per_class()) {
    class_used_.resize(egress_.size() * plan_.classes);
    class_credit_.resize(class_used_.size());
    class_room_.resize(egress_.size() * out_words_);
    class_open_.resize(class_room_.size());
  }
  const u32 longest = (plan_.packet + plan_.overhead) * std::max(plan_.link_parts, plan_.crossbar_parts);
  wheel_.resize(static_cast<u32>(ingress_.size() + egress_.size()), longest);
  admittance_.resize(terminals);
  adapter_marked_.resize(terminals);
  granted_.resize(ports_);
  const u64 places = (ingress_.size() + egress_.size()) * u64{plan_.memory / plan_.packet};
  pool_.reserve(static_cast<u32>(std::min(places, kReserveMost)));
  items_.resize(pool_.created());
  marked_switches_.reserve(switches_.size());
  marked_links_.reserve(egress_.size());
  marked_adapters_.reserve(terminals);
  for (u32 t = 0; t < terminals; ++t) {
    u32 limit = kNone;
    for (const core::Traffic* traffic : traffics_) limit = std::min(limit, traffic->waiting_limit(t));
    limits_.push_back(limit);
  }
  if (u64{terminals} * terminals <= kMostRoutes) {
    routes_.resize(std::size_t{terminals} * terminals);
    hops_.resize(routes_.size());
  }
  using Kind = engine::OwnMetrics::Kind;
  own_.declare("skipped_messages", "messages", Kind::total);
  if (plan_.recn()) {
    own_.declare("saqs_allocated", "queues", Kind::total);
    own_.declare("saqs_freed", "queues", Kind::total);
    own_.declare("notifications_rejected", "messages", Kind::total);
    own_.declare("detections_ingress", "events", Kind::total);
    own_.declare("detections_egress", "events", Kind::total);
    own_.declare("saqs_most_per_port", "queues", Kind::most);
    own_.declare("saq_most_packets", "packets", Kind::most);
    own_.declare("roots_ingress", "ports", Kind::total);
    own_.declare("roots_egress", "ports", Kind::total);
    own_.declare("saqs_at_end", "queues", Kind::total);
  }
}

void Fabric::reset(u32) {
  in_.clear();
  out_.clear();
  std::fill(want_.begin(), want_.end(), 0);
  std::fill(ready_in_.begin(), ready_in_.end(), 0);
  std::fill(ready_out_.begin(), ready_out_.end(), 0);
  std::fill(class_used_.begin(), class_used_.end(), u16{0});
  std::fill(class_credit_.begin(), class_credit_.end(), static_cast<u16>(plan_.class_packets));
  std::fill(class_room_.begin(), class_room_.end(), ~u64{0});
  std::fill(class_open_.begin(), class_open_.end(), ~u64{0});
  for (Ingress& in : ingress_) {
    in.item = kNone;
    in.accept = in.turn = 0;
  }
  for (Egress& out : egress_) {
    out.free = plan_.memory;
    out.credit = out.to_terminal ? std::numeric_limits<i32>::max() : static_cast<i32>(plan_.memory);
    out.item = kNone;
    out.grant = 0;
    out.turn = 0;
    out.marked = false;
    out.root_inputs = 0;
  }
  const auto ones = [](u32 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; };
  for (u32 s = 0; s < switches_.size(); ++s) {
    Switch& sw = switches_[s];
    sw.idle_in = ones(graph_.inputs(s));
    sw.idle_out = ones(graph_.outputs(s));
    sw.room = sw.idle_out;
    sw.wanted = 0;
    sw.marked = false;
  }
  admittance_.clear();
  wheel_.clear();
  for (auto& wire : wires_) wire.clear();
  credits_.clear();
  controls_.clear();
  timers_.clear();
  marked_switches_.clear();
  marked_links_.clear();
  marked_adapters_.clear();
  std::fill(adapter_marked_.begin(), adapter_marked_.end(), u8{0});
  std::fill(granted_.begin(), granted_.end(), 0);
  now_ = cycle_ = 0;
  movements_ = 0;
  counts_ = {};
  log_.clear();
  own_.clear();
}

Tick Fabric::earliest() const noexcept {
  Tick next = std::min({wheel_.earliest(now_), credits_.next(), controls_.next(), timers_.next()});
  for (const auto& wire : wires_) next = std::min(next, wire.next());
  return next;
}

Tick Fabric::run(Tick now) noexcept {
  const Tick first = now * plan_.link_parts;
  const Tick end = first + plan_.link_parts;
  now_ = first;
  cycle_ = now;
  terminals_.advance(now);
  generate(now);
  if (!marked_adapters_.empty()) step(first);
  Tick next = earliest();
  while (next < end) {
    step(next);
    next = earliest();
  }
  // The wheel is looked at from here on: nothing before is in it any more.
  now_ = end - 1;
  const Tick due = next == kNever ? kNever : next < end + plan_.link_parts ? now + 1 : next / plan_.link_parts;
  return due == now + 1 ? due : std::min(due, terminals_.next_birth_after(now));
}

void Fabric::step(Tick part) noexcept {
  now_ = part;
  while (credits_.next() <= part) {
    const Credit credit = credits_.front();
    credits_.pop();
    Egress& out = egress_[credit.egress];
    out.credit += credit.bytes;
    if (plan_.class_packets != 0) {
      ++class_credit_[std::size_t{credit.egress} * plan_.classes + credit.queue_class];
      class_open_[std::size_t{credit.egress} * out_words_ + credit.queue_class / 64] |= u64{1}
                                                                                        << (credit.queue_class & 63U);
    }
    if (out.item == kNone && (out.credit < packet_ + credit.bytes || plan_.class_packets != 0)) {
      mark_link(credit.egress);  // it may have waited for this
    }
  }
  while (controls_.next() <= part) {
    const Control control = controls_.front();
    controls_.pop();
    switch (control.kind) {
      case Message::notification:
        notified(control.port, control.path, control.length);
        break;
      case Message::token:
        token_back(control.port, control.path, control.length);
        break;
      default:
        set_stopped_by_link(control.port, control.path, control.length, control.kind == Message::xoff);
        break;
    }
  }
  for (auto& wire : wires_) {
    while (wire.next() <= part) {
      const Arrival arrival = wire.front();
      wire.pop();
      arrive(arrival);
    }
  }
  for (u32 node = wheel_.take(part); node != kNone;) {
    const u32 following = wheel_.next(node);
    if (following != kNone) fetch(following);
    if (node < ingresses_) {
      end_crossbar(node);
    } else {
      end_link(node - ingresses_);
    }
    node = following;
  }
  while (timers_.next() <= part) {
    const Timer timer = timers_.front();
    timers_.pop();
    age(timer);
  }
  // Starting frees nothing that another could use in the same part: the order of these does not matter.
  for (std::size_t i = 0; i < marked_adapters_.size(); ++i) {
    adapter_marked_[marked_adapters_[i]] = 0;
    fill(marked_adapters_[i]);
  }
  marked_adapters_.clear();
  for (std::size_t i = 0; i < marked_switches_.size(); ++i) {
    if (i + 1 < marked_switches_.size()) {
      const Switch& next = switches_[marked_switches_[i + 1]];
      __builtin_prefetch(&next);
      __builtin_prefetch(&want_[next.out_base]);
    }
    switches_[marked_switches_[i]].marked = false;
    arbitrate(marked_switches_[i]);
  }
  marked_switches_.clear();
  for (std::size_t i = 0; i < marked_links_.size(); ++i) {
    if (i + 1 < marked_links_.size()) {
      __builtin_prefetch(&egress_[marked_links_[i + 1]]);
      __builtin_prefetch(&ready_out_[std::size_t{marked_links_[i + 1]} * out_words_]);
    }
    egress_[marked_links_[i]].marked = false;
    start_link(marked_links_[i]);
  }
  marked_links_.clear();
}

/// Asks for the memory of a port whose transfer is about to end: large networks do not fit the cache.
void Fabric::fetch(u32 node) const noexcept {
  if (node < ingresses_) {
    __builtin_prefetch(&items_[ingress_[node].item]);
  } else {
    __builtin_prefetch(&items_[egress_[node - ingresses_].item]);
  }
}

void Fabric::generate(Tick now) noexcept {
  const std::span<const u64> ready = terminals_.ready();
  for (std::size_t w = 0; w < ready.size(); ++w) {
    for (u64 bits = ready[w]; bits != 0; bits &= bits - 1) {
      const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
      while (terminals_.birth(t) <= now) {
        const u32 traffic = terminals_.head_traffic(t);
        if (limits_[t] != kNone && traffics_[traffic]->waiting_limit(t) <= admittance_.waiting_flits(t)) {
          own_.count(0);
          terminals_.skip(t);
        } else {
          admittance_.push(t, terminals_.keep(t));
        }
      }
      mark_adapter(t);
    }
  }
}

u64 Fabric::find_route(u32 source, u32 destination, u32& hops) const noexcept {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  routing_.prepare(packet, 0);
  core::Candidates candidates;
  u64 route = 0;
  core::End at = graph_.channel(graph_.injection(source)).to;
  for (hops = 0; !at.terminal && (hops + 1) * bits_ <= 64; ++hops) {
    candidates.clear();
    routing_.route({at.node, at.port, 0, &packet, 0}, candidates);
    const u32 port = candidates[0].port;
    route |= u64{port} << (hops * bits_);
    at = graph_.channel(graph_.channel_out_of(at.node, port)).to;
  }
  return route;
}

u64 Fabric::route_of(u32 source, u32 destination, u32& hops) noexcept {
  if (hops_.empty()) return find_route(source, destination, hops);
  const std::size_t pair = std::size_t{source} * graph_.terminals() + destination;
  if (hops_[pair] == 0) {
    routes_[pair] = find_route(source, destination, hops);
    hops_[pair] = static_cast<u8>(hops);
  }
  hops = hops_[pair];
  return routes_[pair];
}

/// Packets move from the admittance queues to the injection queues as long as there is room: both lie in the adapter's
/// memory, so that this takes no time.
void Fabric::fill(u32 adapter) noexcept {
  const u32 e = adapters_ + adapter;
  Egress& out = egress_[e];
  while (out.free >= plan_.packet) {
    const u32 destination = admittance_.next(adapter);
    if (destination == kNone) return;
    u32 hops = 0;
    const u64 route = route_of(adapter, destination, hops);
    const u32 queue_class = plan_.per_class() ? destination % plan_.classes : 0;
    const u32 k = plan_.recn() ? out_.match(e, route) : kNone;
    const bool full = plan_.class_packets != 0 &&
                      (class_room_[std::size_t{e} * out_words_ + queue_class / 64] >> (queue_class & 63U) & 1U) == 0;
    if (full || (k != kNone && out_.line(e, k).signalled)) {
      admittance_.park(adapter, destination);
      continue;
    }
    u32 offset = 0;
    const engine::Terminals::Kept kept = admittance_.front(adapter, destination, cycle_, offset);
    const core::PacketId id = terminals_.make_packet(adapter, kept, offset, cycle_);
    core::Packet& packet = pool_[id];
    packet.hops = static_cast<u16>(hops);
    admittance_.pop(adapter, destination, packet.flits);
    if (items_.size() < pool_.created()) items_.resize(pool_.created());
    items_[id] = {route, kNone, static_cast<u16>(packet.flits), static_cast<u16>(queue_class)};
    out.free -= packet.flits;
    if (plan_.class_packets != 0 &&
        ++class_used_[std::size_t{e} * plan_.classes + queue_class] >= plan_.class_packets) {
      set_class_room(e, queue_class, false);
    }
    put_out(e, id, kNone);
  }
}

void Fabric::arrive(const Arrival& arrival) noexcept {
  const Egress& out = egress_[arrival.egress];
  if (!out.to_terminal) {
    put_in(out.down, arrival.item);
    return;
  }
  const core::Packet& packet = pool_[arrival.item];
  terminals_.deliver(packet, out.down, cycle_, packet.hops);
  pool_.release(arrival.item);
}

void Fabric::end_crossbar(u32 i) noexcept {
  Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  const u32 id = std::exchange(in.item, kNone);
  Item& it = items_[id];
  const u32 e = sw.out_base + in.to;
  sw.idle_in |= u64{1} << in.port;
  sw.idle_out |= u64{1} << in.to;
  ++movements_;
  credits_.push({now_ + control_parts_, in.upstream, it.bytes, it.queue_class});
  it.route >>= bits_;
  mark_switch(in.switch_);
  put_out(e, id, i);
}

void Fabric::end_link(u32 e) noexcept {
  Egress& out = egress_[e];
  const u32 id = std::exchange(out.item, kNone);
  const Item& it = items_[id];
  out.free += it.bytes;
  if (plan_.class_packets != 0) {
    --class_used_[std::size_t{e} * plan_.classes + it.queue_class];
    set_class_room(e, it.queue_class, true);
  }
  if (out.adapter) {
    mark_adapter(out.switch_);
  } else if (out.free >= plan_.packet) {
    Switch& sw = switches_[out.switch_];
    if ((sw.room >> out.port & 1U) == 0 || plan_.class_packets != 0) mark_switch(out.switch_);
    sw.room |= u64{1} << out.port;
  }
  if (probe_ != nullptr) [[unlikely]]
    probe_->crossed(out.channel, pool_[id], cycle_);
  wires_[out.wire].push({now_ + wire_parts_[out.wire], id, e});
  mark_link(e);
}

void Fabric::set_class_room(u32 e, u32 q, bool room) noexcept {
  u64& word = class_room_[std::size_t{e} * out_words_ + q / 64];
  const u64 bit = u64{1} << (q & 63U);
  if (room && (word & bit) == 0 && egress_[e].adapter) admittance_.unpark(egress_[e].switch_);
  word = room ? word | bit : word & ~bit;
}

u32 Fabric::base_in(const Item& it) const noexcept {
  switch (plan_.organization) {
    case Organization::voqsw:
    case Organization::recn_enhanced:
      return output_of(it.route);
    case Organization::voqnet:
    case Organization::dbbm:
      return it.queue_class;
    default:
      return 0;
  }
}

void Fabric::push(Side& side, u32 port, u32 q, u32 id) noexcept {
  Queue& queue = side.queue(port, q);
  items_[id].next = kNone;
  if (queue.head == kNone) {
    queue.head = id;
  } else {
    chain(side, queue.tail, id);
  }
  queue.tail = id;
  ++queue.packets;
}

/// Takes the packet at the head, and every marker that is behind it.
u32 Fabric::pop(Side& side, u32 port, u32 q) noexcept {
  Queue& queue = side.queue(port, q);
  const u32 id = queue.head;
  queue.head = items_[id].next;
  --queue.packets;
  while (queue.head != kNone && (queue.head & kMarker) != 0) {
    const u32 k = (queue.head & ~kMarker) - port * side.saqs;
    queue.head = side.lines[queue.head & ~kMarker].marker_next;
    unblock(side, port, k);
  }
  if (queue.head == kNone) queue.tail = kNone;
  return id;
}

void Fabric::put_in(u32 i, u32 id) noexcept {
  const Item& it = items_[id];
  u32 q = base_in(it);
  if (plan_.recn()) {
    const u32 k = in_.valid[i] == 0 ? kNone : in_.match(i, it.route);
    if (k != kNone) q = in_.base + k;
    push(in_, i, q, id);
    after_put_in(i, q);
  } else {
    push(in_, i, q, id);
    if (in_.queue(i, q).head == id) refresh_in(i, q);
  }
}

void Fabric::put_out(u32 e, u32 id, u32 i) noexcept {
  const Item& it = items_[id];
  u32 q = base_out(it);
  if (plan_.recn()) {
    const u32 k = out_.valid[e] == 0 ? kNone : out_.match(e, it.route);
    if (k != kNone) q = out_.base + k;
    push(out_, e, q, id);
    if (out_.queue(e, q).head == id) refresh_out(e, q);
    after_put_out(e, q, i);
  } else {
    push(out_, e, q, id);
    if (out_.queue(e, q).head == id) refresh_out(e, q);
  }
}

/// Notes for which output the head of an ingress queue waits, if it may leave.
void Fabric::refresh_in(u32 i, u32 q) noexcept {
  Queue& queue = in_.queue(i, q);
  u8 target = kNowhere;
  if (queue.head != kNone && (queue.head & kMarker) == 0) {
    target = static_cast<u8>(output_of(items_[queue.head].route));
    if (q >= in_.base) {
      const Line& line = in_.line(i, q - in_.base);
      if (line.blocked || line.stopped) target = kNowhere;
    }
  }
  if (target == queue.target) return;
  const Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  if (queue.target != kNowhere) {
    u64* words = ready_in(i, queue.target);
    u64 any = words[q / 64] &= ~(u64{1} << (q & 63U));
    for (u32 w = 0; in_words_ != 1 && w < in_words_; ++w) any |= words[w];
    if (any == 0) {
      u64& want = want_[sw.out_base + queue.target];
      want &= ~(u64{1} << in.port);
      if (want == 0) sw.wanted &= ~(u64{1} << queue.target);
    }
  }
  queue.target = target;
  if (target == kNowhere) return;
  ready_in(i, target)[q / 64] |= u64{1} << (q & 63U);
  want_[sw.out_base + target] |= u64{1} << in.port;
  sw.wanted |= u64{1} << target;
  if ((sw.idle_in >> in.port & 1U) != 0) mark_switch(in.switch_);
}

void Fabric::refresh_out(u32 e, u32 q) noexcept {
  const Queue& queue = out_.queue(e, q);
  bool ready = queue.head != kNone && (queue.head & kMarker) == 0;
  if (ready && q >= out_.base) {
    const Line& line = out_.line(e, q - out_.base);
    ready = !line.blocked && !line.stopped;
  }
  u64& word = ready_out_[std::size_t{e} * out_words_ + q / 64];
  const u64 bit = u64{1} << (q & 63U);
  word = ready ? word | bit : word & ~bit;
  if (ready && egress_[e].item == kNone) mark_link(e);
}

/// True when an input has a packet for an output whose queue there has room.
bool Fabric::may_cross(u32 i, u32 output) const noexcept {
  const u32 e = switches_[ingress_[i].switch_].out_base + output;
  const u64* ready = ready_in(i, output);
  for (u32 w = 0; w < in_words_; ++w) {
    if ((ready[w] & class_room_[std::size_t{e} * out_words_ + w]) != 0) return true;
  }
  return false;
}

/// Every idle output grants one input that has a packet for it, every input accepts one output, both in turn, until
/// nothing more fits.
void Fabric::arbitrate(u32 s) noexcept {
  Switch& sw = switches_[s];
  u64 outputs = sw.idle_out & sw.room & sw.wanted;
  while (outputs != 0 && sw.idle_in != 0) {
    u64 inputs = 0;
    for (u64 m = outputs; m != 0; m &= m - 1) {
      const u32 o = static_cast<u32>(std::countr_zero(m));
      u64 asking = want_[sw.out_base + o] & sw.idle_in;
      if (plan_.class_packets != 0) {
        for (u64 n = asking; n != 0; n &= n - 1) {
          const u32 p = static_cast<u32>(std::countr_zero(n));
          if (!may_cross(sw.in_base + p, o)) asking &= ~(u64{1} << p);
        }
      }
      if (asking == 0) {
        outputs &= ~(u64{1} << o);
        continue;
      }
      const u32 p = next_bit(asking, egress_[sw.out_base + o].grant);
      granted_[p] |= u64{1} << o;
      inputs |= u64{1} << p;
    }
    for (; inputs != 0; inputs &= inputs - 1) {
      const u32 p = static_cast<u32>(std::countr_zero(inputs));
      const u32 o = next_bit(std::exchange(granted_[p], 0), ingress_[sw.in_base + p].accept);
      outputs &= ~(u64{1} << o);
      start_crossbar(sw.in_base + p, sw.out_base + o);
    }
  }
}

/// The queue of an ingress whose turn it is among those with a packet for an output.
u32 Fabric::choose_in(u32 i, u32 output) noexcept {
  const u64* ready = ready_in(i, output);
  Ingress& in = ingress_[i];
  if (in_words_ == 1) {
    u64 mask = ready[0];
    if (plan_.class_packets != 0) mask &= class_room_[switches_[in.switch_].out_base + output];
    const u32 q = next_bit(mask, in.turn);
    in.turn = static_cast<u8>(q + 1);
    return q;
  }
  // Many classes: the turn goes on by words, inside a word from the lowest bit.
  const u64* room = &class_room_[std::size_t{switches_[in.switch_].out_base + output} * out_words_];
  for (u32 step = 0;; ++step) {
    const u32 w = (in.turn + step) % in_words_;
    const u64 mask = ready[w] & (plan_.class_packets != 0 ? room[w] : ~u64{0});
    if (mask == 0) continue;
    in.turn = static_cast<u8>((w + 1) % in_words_);
    return w * 64 + next_bit(mask, static_cast<u32>(now_ & 63U));
  }
}

void Fabric::start_crossbar(u32 i, u32 e) noexcept {
  Ingress& in = ingress_[i];
  Egress& out = egress_[e];
  Switch& sw = switches_[in.switch_];
  const u32 q = choose_in(i, out.port);
  const u32 id = pop(in_, i, q);
  const Item& it = items_[id];
  in.item = id;
  in.to = out.port;
  in.accept = static_cast<u8>(out.port + 1);
  out.grant = static_cast<u8>(in.port + 1);
  sw.idle_in &= ~(u64{1} << in.port);
  sw.idle_out &= ~(u64{1} << out.port);
  out.free -= it.bytes;
  if (out.free < plan_.packet) sw.room &= ~(u64{1} << out.port);
  if (plan_.class_packets != 0 &&
      ++class_used_[std::size_t{e} * plan_.classes + it.queue_class] >= plan_.class_packets) {
    set_class_room(e, it.queue_class, false);
  }
  wheel_.add(now_ + Tick{it.bytes + plan_.overhead} * plan_.crossbar_parts, i);
  refresh_in(i, q);
  if (plan_.recn()) after_pop_in(i, q);
}

/// The queue of an egress whose turn it is among those that may send; kNone. `open`: classes with credit, or nullptr.
u32 Fabric::choose_out(u32 e, const u64* open) const noexcept {
  const u64* ready = &ready_out_[std::size_t{e} * out_words_];
  const u32 turn = egress_[e].turn;
  if (out_words_ == 1) {
    const u64 mask = open == nullptr ? ready[0] : ready[0] & open[0];
    return mask == 0 ? kNone : next_bit(mask, turn);
  }
  u32 w = turn >> 6U;
  for (u32 step = 0; step <= out_words_; ++step) {
    u64 mask = ready[w] & (open == nullptr ? ~u64{0} : open[w]);
    if (step == 0) mask = mask >> (turn & 63U) << (turn & 63U);
    if (mask != 0) return w * 64 + static_cast<u32>(std::countr_zero(mask));
    w = w + 1 == out_words_ ? 0 : w + 1;
  }
  return kNone;
}

void Fabric::start_link(u32 e) noexcept {
  Egress& out = egress_[e];
  if (out.item != kNone || out.credit < packet_) return;
  const bool classes = plan_.class_packets != 0 && !out.to_terminal;
  const u32 q = choose_out(e, classes ? &class_open_[std::size_t{e} * out_words_] : nullptr);
  if (q == kNone) return;
  out.turn = static_cast<u16>(q + 1 == out_.stride ? 0 : q + 1);
  const u32 id = pop(out_, e, q);
  const Item& it = items_[id];
  out.item = id;
  if (!out.to_terminal) out.credit -= it.bytes;
  if (classes && --class_credit_[std::size_t{e} * plan_.classes + it.queue_class] == 0) {
    class_open_[std::size_t{e} * out_words_ + it.queue_class / 64] &= ~(u64{1} << (it.queue_class & 63U));
  }
  wheel_.add(now_ + Tick{it.bytes + plan_.overhead} * plan_.link_parts, ingresses_ + e);
  refresh_out(e, q);
  if (plan_.recn()) after_pop_out(e, q);
}

}  // namespace banyan::switching::cioq
