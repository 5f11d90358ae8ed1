#include "banyan/switching/cioq/fabric.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "banyan/switching/parts/round_robin.hpp"

namespace banyan::switching::cioq {

using parts::round_robin;

namespace {

constexpr u64 kReserveMost = 1U << 14U;     ///< packets reserved at once; more are made while the network fills
constexpr u64 kMostRoutes = u64{1} << 23U;  ///< routes that are remembered, 64 MB
constexpr u32 kHopsShift = 56;              ///< longer routes are not remembered
constexpr u32 kLarge = 4096;                ///< ports from which on memory is asked for ahead
// How far ahead: what is asked for first tells what is asked for next.
constexpr u32 kFar = 20;
constexpr u32 kNear = 12;
constexpr u32 kNext = 6;
constexpr u32 kFewParts = 4;  ///< of a cycle
constexpr Stream kTurns{"cioq: the destination that an adapter serves next"};
constexpr Stream kWays{"cioq: the way of a packet, drawn at its source"};
constexpr Stream kMarks{"cioq: marks between the thresholds"};
constexpr Tick kSettled = 64;  ///< cycles after which credits are counted, that few are kept

}  // namespace

Fabric::Fabric(engine::Builder& builder, const Plan& plan, u32 bits)
    : plan_(plan),
      graph_(builder.topology().graph()),
      routing_(builder.routing()),
      terminals_(builder.terminals(0)),
      pool_(terminals_.pool()),
      probe_(builder.probe(0)),
      traffics_(builder.traffics().begin(), builder.traffics().end()),
      seed_(builder.settings().seed),
      bits_(bits),
      turn_mask_((u64{1} << bits) - 1),
      ingresses_(graph_.total_inputs()),
      adapters_(graph_.total_outputs()),
      own_(builder.settings().steady) {
  const u32 terminals = graph_.terminals();
  switches_.resize(graph_.switches());
  places_.resize(adapters_ + terminals);
  ingress_.resize(graph_.total_inputs());
  egress_.resize(adapters_ + terminals);
  for (Egress& out : egress_) out.fed_by = terminals;
  for (u32 s = 0; s < graph_.switches(); ++s) {
    ports_ = std::max({ports_, graph_.inputs(s), graph_.outputs(s)});
    switches_[s].in_base = graph_.input_base(s);
    switches_[s].out_base = graph_.output_base(s);
    for (u32 p = 0; p < graph_.inputs(s); ++p) {
      ingress_[graph_.input_base(s) + p].switch_ = s;
      ingress_[graph_.input_base(s) + p].out_base = graph_.output_base(s);
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
    if (out.adapter) out.switch_ = out.fed_by = channel.from.node;
    out.to_terminal = channel.to.terminal;
    out.down = channel.to.terminal ? channel.to.node : graph_.input_base(channel.to.node) + channel.to.port;
    if (!out.to_terminal) {
      ingress_[out.down].upstream = e;
      places_[e] = {channel.to.node, graph_.output_base(channel.to.node), channel.to.port};
    }
    const Tick parts = Tick{channel.link.latency_cycles} * plan_.link_parts;
    const auto found = std::find(wire_parts_.begin(), wire_parts_.end(), parts);
    out.wire = static_cast<u16>(found - wire_parts_.begin());
    if (found == wire_parts_.end()) wire_parts_.push_back(parts);
  }
  latencies_ = wire_parts_.size();
  for (Egress& out : egress_) {
    if (out.to_terminal) out.wire = static_cast<u16>(out.wire + latencies_);
  }
  wires_.resize(2 * latencies_);
  wire_parts_.insert(wire_parts_.end(), wire_parts_.begin(), wire_parts_.begin() + static_cast<i64>(latencies_));
  packet_ = static_cast<i32>(plan_.packet);
  control_parts_ = Tick{plan_.control_cycles} * plan_.link_parts;
  every_part_ = plan_.link_parts <= kFewParts && control_parts_ != 0;
  const u32 saqs = plan_.recn() ? plan_.saqs : 0;
  const u32 per_output = plan_.organization == Organization::voqsw || plan_.enhanced() ? ports_ : 1;
  const u32 base = plan_.per_class() ? plan_.classes : 1;
  in_.resize(static_cast<u32>(ingress_.size()), std::max(base, per_output), saqs);
  out_.resize(static_cast<u32>(egress_.size()), base, saqs);
  in_words_ = (in_.stride + 63) / 64;
  out_words_ = (out_.stride + 63) / 64;
  want_.resize(egress_.size());
  grant_.resize(egress_.size());
  accept_.resize(ingress_.size());
  ready_in_.resize(ingress_.size() * ports_ * in_words_);
  if (out_words_ != 1) ready_out_.resize(egress_.size() * out_words_);
  if (plan_.per_class()) {
    class_used_.resize(egress_.size() * plan_.classes);
    class_credit_.resize(class_used_.size());
    class_room_.resize(egress_.size() * out_words_);
    class_open_.resize(class_room_.size());
  }
  large_ = ingress_.size() + egress_.size() >= kLarge;
  if (!large_ && !plan_.per_class()) {
    hash_quiet(in_);
    hash_quiet(out_);
  }
  const u32 longest = (plan_.packet + plan_.overhead) * std::max(plan_.link_parts, plan_.crossbar_parts);
  wheel_.resize(static_cast<u32>(ingress_.size() + egress_.size()), longest, !large_);
  flows_ = terminals_.source.flows() != nullptr;
  if (flows_) {
    admittance_.leave_to_flows(terminals);
  } else {
    admittance_.resize(terminals);
  }
  adapter_marked_.resize(terminals + 1);
  if (plan_.marking.on()) towards_.resize(ingress_.size() * ports_);
  granted_.resize(ports_);
  born_.reserve(std::size_t{terminals} * 4);
  due_.resize(ingress_.size() + egress_.size() + kFar);
  crossings_.resize(ingress_.size() + kFar);
  mode_ = plan_.recn() ? Mode::recn : plan_.class_packets != 0 ? Mode::classes : Mode::shared;
  if (plan_.organization == Organization::voqsw || plan_.enhanced()) queue_of_turn_ = static_cast<u32>(turn_mask_);
  if (plan_.per_class()) queue_of_class_ = ~0U;
  if (plan_.enhanced()) detection_ = plan_.ingress_detection;
  const u64 places = (ingress_.size() + egress_.size()) * u64{plan_.memory / plan_.packet};
  pool_.reserve(static_cast<u32>(std::min(places, kReserveMost)));
  store_.reserve(std::min(places, kReserveMost) + 4 * u64{in_.queues.size() + out_.queues.size()});
  marked_switches_.resize(static_cast<u32>(switches_.size()));
  marked_links_.resize(static_cast<u32>(egress_.size()));
  marked_adapters_.resize(terminals);
  for (u32 t = 0; t < terminals; ++t) {
    u32 limit = kNone;
    for (const core::Traffic* traffic : traffics_) limit = std::min(limit, traffic->waiting_limit(t));
    limits_.push_back(limit);
  }
  if (!routing_.in_order()) {
    sent_.resize(terminals);
  } else if (u64{terminals} * terminals <= kMostRoutes) {
    routes_.resize(std::size_t{terminals} * terminals);
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
    own_.declare("saq_most_after_xoff", "packets", Kind::most);
  }
}

void Fabric::reset(u32 replication) {
  in_.clear();
  out_.clear();
  std::fill(want_.begin(), want_.end(), 0);
  std::fill(grant_.begin(), grant_.end(), u16{0});
  std::fill(accept_.begin(), accept_.end(), u16{0});
  std::fill(ready_in_.begin(), ready_in_.end(), 0);
  std::fill(ready_out_.begin(), ready_out_.end(), 0);
  std::fill(class_used_.begin(), class_used_.end(), u16{0});
  std::fill(class_credit_.begin(), class_credit_.end(), static_cast<u16>(plan_.class_packets));
  std::fill(class_room_.begin(), class_room_.end(), ~u64{0});
  std::fill(class_open_.begin(), class_open_.end(), ~u64{0});
  for (Ingress& in : ingress_) {
    in.item = {};
    in.turn = 0;
    in.aside = 0;
  }
  for (Egress& out : egress_) {
    out.free = plan_.memory;
    out.credit = out.to_terminal ? std::numeric_limits<i32>::max() : static_cast<i32>(plan_.memory);
    out.item = {};
    out.ready = 0;
    out.turn = 0;
    out.marked = false;
    out.root_inputs = 0;
    out.aside = false;
    out.starved = false;
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
  store_.clear();
  std::fill(towards_.begin(), towards_.end(), 0);
  admittance_.clear(Random(seed_, kTurns, 0, replication));
  marks_ = core::HopRandom(seed_, kMarks, replication);
  ways_ = core::HopRandom(seed_, kWays, replication);
  std::fill(sent_.begin(), sent_.end(), 0);
  wheel_.clear();
  for (auto& wire : wires_) wire.clear();
  credits_.clear();
  controls_.clear();
  timers_.clear();
  marked_switches_.clear();
  marked_links_.clear();
  marked_adapters_.clear();
  std::fill(adapter_marked_.begin(), adapter_marked_.end(), u16{0});
  std::fill(granted_.begin(), granted_.end(), 0);
  now_ = cycle_ = settled_ = 0;
  // Credits that take no time count at once: the part in which they are due has a second step.
  starved_ = control_parts_ == 0 ? 1 : 0;
  movements_ = 0;
  counts_ = {};
  log_.clear();
  own_.clear();
}

/// The next part in which something happens; all before `from` are done.
template <Fabric::Mode M>
inline Tick Fabric::earliest(Tick from) noexcept {
  Tick next = wheel_.earliest(now_);
  if constexpr (M == Mode::recn) next = std::min({next, controls_.next(), timers_.next()});
  for (const auto& wire : wires()) next = std::min(next, wire.next());
  if (counts_credits<M>()) next = std::min(next, credits_.next());
  if (marked_switches_.empty() && marked_adapters_.empty()) return next;
  // Xon that came while links started: what it opened is looked at in the next part in which anything happens, be it
  // at a terminal.
  if (!counts_credits<M>()) {
    settle(from - 1);
    next = std::min(next, credits_.next());
  }
  for (auto& wire : exits()) {
    if (wire.next() < from) deliver(wire, from);
    next = std::min(next, wire.next());
  }
  return next;
}

Tick Fabric::run(Tick now) noexcept {
  switch (mode_) {
    case Mode::recn:
      return large_ ? run_as<Mode::recn, true>(now) : run_as<Mode::recn, false>(now);
    case Mode::shared:
      return large_ ? run_as<Mode::shared, true>(now) : run_as<Mode::shared, false>(now);
    default:
      return large_ ? run_as<Mode::classes, true>(now) : run_as<Mode::classes, false>(now);
  }
}

template <Fabric::Mode M, bool Large>
Tick Fabric::run_as(Tick now) noexcept {
  const Tick first = now * plan_.link_parts;
  const Tick end = first + plan_.link_parts;
  now_ = first;
  cycle_ = now;
  terminals_.source.advance(now);
  generate<Large>(now);
  Tick part = first;
  // To look for the parts in which something happens costs more than to do all of the few. Only what is marked already
  // waits for one in which something does, or a message is born.
  if (!marked_adapters_.empty() || (every_part_ && marked_switches_.empty())) {
    do {
      step<M, Large>(part++);
    } while (every_part_ && part < end && marked_switches_.empty() && marked_adapters_.empty());
  }
  Tick next = earliest<M>(part);
  while (next < end) {
    step<M, Large>(next);
    next = earliest<M>(next + 1);
  }
  // The wheel is looked at from here on: nothing before is in it any more.
  now_ = end - 1;
  for (auto& wire : exits()) {
    if (wire.next() < end) deliver(wire, end);
    next = std::min(next, wire.next());
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

template <Fabric::Mode M, bool Large>
void Fabric::step(Tick part) noexcept {
  now_ = part;
  if (counts_credits<M>() && credits_.next() <= part) take_credits<M>(part);
  if (M == Mode::recn && controls_.next() <= part) take_controls(part);
  for (auto& wire : wires()) {
    if (wire.next() <= part) take_arrivals<M, Large>(wire, part);
  }
  end_transfers<M, Large>(part);
  while (M == Mode::recn && timers_.next() <= part) {
    const Timer timer = timers_.front();
    timers_.pop();
    age(timer);
  }
  // Starting frees nothing that another could use in the same part: the order of these does not matter.
  for (u32 i = 0; i < marked_adapters_.size(); ++i) {
    adapter_marked_[marked_adapters_[i]] = 0;
    fill<M, Large>(marked_adapters_[i]);
  }
  marked_adapters_.clear();
  start_crossings<M, Large>();
  start_links<M, Large>();
}

/// Observers see what is due. Nobody waits for these credits: who does has made others count them in time.
void Fabric::settle() const noexcept { const_cast<Fabric*>(this)->settle(now_); }

bool Fabric::ask_credit(Egress& out) noexcept {
  if (starved_ == 0) settle(now_);
  if (out.credit >= packet_) return true;
  starved_ += out.starved ? 0U : 1U;
  out.starved = true;
  return false;
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
    if constexpr (M == Mode::classes) {
      ++class_credit_[std::size_t{credit.egress} * plan_.classes + credit.queue_class];
      class_open_[std::size_t{credit.egress} * out_words_ + credit.queue_class / 64] |= u64{1}
                                                                                        << (credit.queue_class & 63U);
    }
    if constexpr (M == Mode::classes) {
      mark_link(credit.egress, out, out.item.packet == kNone);  // it may have waited for this
    } else if (out.starved && out.credit >= packet_) [[unlikely]] {
      out.starved = false;
      --starved_;
      mark_link(credit.egress, out, out.item.packet == kNone);
    }
  } while (credits_.next() <= part);
}

void Fabric::take_controls(Tick part) noexcept {
  do {
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
  } while (controls_.next() <= part);
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
      __builtin_prefetch(&want_[in.out_base]);
      __builtin_prefetch(ready_in<M>(near.down, output_of(near.item.route)));
      if (M == Mode::recn && in.aside != 0) in_.fetch_lines(near.down);
    }
    put_in<M>(down, item);
  } while (wire.next() <= part);
}

/// What arrives at terminals before `end`, of this cycle.
void Fabric::deliver(Fifo<Arrival>& wire, Tick end) noexcept {
  do {
    const Arrival arrival = wire.front();
    wire.pop();
    const core::Packet& packet = pool_[arrival.item.packet];
    terminals_.sink.deliver(packet, arrival.down, cycle_, packet.hops, 0, (packet.flags & core::kCongested) != 0);
    pool_.release(arrival.item.packet);
  } while (wire.next() < end);
}

/// In a large network everything that ends is looked up first, so that its memory is there when it is needed.
template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::end_transfers(Tick part) noexcept {
  if (!Large) {
    wheel_.take(
        part, [this](u32 ingress) { end_crossbar<M>(ingress); }, [this](u32 egress) { end_link<M, Large>(egress); });
    return;
  }
  std::size_t count = 0;
  std::size_t crossings = 0;
  u32* const due = due_.data();
  wheel_.take(
      part,
      [&](u32 ingress) {
        due[count++] = ingress;
        ++crossings;
      },
      [&](u32 egress) { due[count++] = egress; });
  for (std::size_t n = 0; n < crossings + kFar; ++n) {
    if (n < crossings) __builtin_prefetch(&ingress_[due[n]]);
    if (n >= kNext && n - kNext < crossings) {
      const Ingress& in = ingress_[due[n - kNext]];
      const u32 e = in.out_base + in.to;
      __builtin_prefetch(&switches_[in.switch_]);
      __builtin_prefetch(&egress_[e]);
      __builtin_prefetch(&out_.queue(e, 0));
    }
    if (n >= kNear && n - kNear < crossings) {
      const Ingress& in = ingress_[due[n - kNear]];
      const u32 e = in.out_base + in.to;
      store_.fetch(out_.queue(e, 0).tail);
      if (M == Mode::recn && egress_[e].aside) out_.fetch_lines(e);
    }
    if (n >= kFar) end_crossbar<M>(due[n - kFar]);
  }
  const u32* const links = due + crossings;
  count -= crossings;
  for (std::size_t n = 0; n < count + kFar; ++n) {
    if (n < count) __builtin_prefetch(&egress_[links[n]]);
    if (n >= kNext && n - kNext < count) {
      const u32 e = links[n - kNext];
      __builtin_prefetch(&switches_[egress_[e].switch_]);
      __builtin_prefetch(&out_.queue(e, 0));
    }
    if (n >= kNear && n - kNear < count) store_.fetch(out_.queue(links[n - kNear], 0).next);  // it sends next
    if (n >= kFar) end_link<M, Large>(links[n - kFar]);
  }
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::start_crossings() noexcept {
  const u32 marked = marked_switches_.size();
  if (!Large) {
    for (u32 i = 0; i < marked; ++i) {
      Switch& sw = switches_[marked_switches_[i]];
      sw.marked = false;
      const auto start = [this](u32 ingress, u32 egress, u32 output) {
        start_crossbar<M>({ingress, egress, output, choose_in<M>(ingress, output)});
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
      __builtin_prefetch(&want_[next.out_base]);
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
  for (std::size_t n = 0; n < count + kFar; ++n) {
    if (n < count) {
      __builtin_prefetch(ready_in<M>(crossings[n].ingress, crossings[n].output));
      __builtin_prefetch(&egress_[crossings[n].egress]);
    }
    if (n >= kNext && n - kNext < count) {
      Crossing& c = crossings[n - kNext];
      c.queue = choose_in<M>(c.ingress, c.output);
      __builtin_prefetch(&in_.queue(c.ingress, c.queue));
    }
    if (n >= kNear && n - kNear < count) {
      const Crossing& c = crossings[n - kNear];
      store_.fetch(in_.queue(c.ingress, c.queue).next);
    }
    if (n >= kFar) start_crossbar<M>(crossings[n - kFar]);
  }
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
    start_link<M>(marked_links_[i]);
  }
  marked_links_.clear();
}

template <bool Large>
void Fabric::generate(Tick now) noexcept {
  const std::span<const u64> ready = terminals_.source.ready();
  if (flows_) [[unlikely]] {
    for (std::size_t w = 0; w < ready.size(); ++w) {
      for (u64 bits = ready[w]; bits != 0; bits &= bits - 1)
        mark_adapter(static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits)));
    }
    return;
  }
  for (std::size_t w = 0; w < ready.size(); ++w) {
    for (u64 bits = ready[w]; bits != 0; bits &= bits - 1) {
      const u32 t = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
      while (terminals_.source.birth(t) <= now) {
        const u32 traffic = terminals_.source.head_traffic(t);
        if (limits_[t] != kNone && traffics_[traffic]->waiting_limit(t) <= admittance_.waiting_flits(t)) {
          own_.count(0);
          terminals_.source.skip(t);
        } else {
          const engine::Source::Kept kept = terminals_.source.keep(t);
          if (Large && limits_[t] == kNone) {
            admittance_.fetch_queue(t, kept.destination);
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
  for (const Born& born : born_) admittance_.push(born.terminal, born.message);
  born_.clear();
}

u64 Fabric::find_route(u32 source, u32 destination, u32& hops) const noexcept {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  // The record of the packet is not made yet: the words are those of its number among the adapter's.
  packet.sequence = sent_.empty() ? 0 : sent_[source];
  routing_.prepare(packet, sent_.empty() ? 0 : ways_.at(packet, kNone, 0)[0]);
  core::Candidates candidates;
  u64 route = 0;
  Place at = places_[adapters_ + source];
  for (hops = 0; at.node != kNone && (hops + 1) * bits_ <= 64; ++hops) {
    candidates.clear();
    const core::HopWord word = sent_.empty() ? core::HopWord(0) : core::HopWord(ways_, packet, at.node, hops);
    routing_.route({at.node, at.port, 0, &packet, word}, candidates);
    const u32 port = candidates[0].port;
    route |= u64{port} << (hops * bits_);
    at = places_[at.out_base + port];
  }
  return route;
}

u64 Fabric::route_of(u32 source, u32 destination, u32& hops) noexcept {
  if (routes_.empty()) return find_route(source, destination, hops);
  u64& known = routes_[std::size_t{source} * graph_.terminals() + destination];
  if (known == 0) {
    const u64 route = find_route(source, destination, hops);
    if (route >> kHopsShift != 0) return route;
    known = route | u64{hops} << kHopsShift;
  }
  hops = static_cast<u32>(known >> kHopsShift);
  return known & ((u64{1} << kHopsShift) - 1);
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline bool Fabric::held_back(u32 e, u64 route, u32 queue_class) noexcept {
  if constexpr (M == Mode::classes)
    return (class_room_[std::size_t{e} * out_words_ + queue_class / 64] >> (queue_class & 63U) & 1U) == 0;
  if constexpr (M == Mode::recn) {
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
  if (M == Mode::classes && ++class_used_[std::size_t{e} * plan_.classes + queue_class] >= plan_.class_packets) {
    set_class_room(e, queue_class, false);
  }
  put_out<M>(e, item, kNone);
}

/// Packets move from the admittance queues to the injection queues as long as there is room: both lie in the adapter's
/// memory, so that this takes no time.
template <Fabric::Mode M, bool Large>
void Fabric::fill(u32 adapter) noexcept {
  if (flows_) [[unlikely]] {
    fill_from_flows<M>(adapter);
    return;
  }
  const u32 e = adapters_ + adapter;
  const Egress& out = egress_[e];
  for (u32 destination = admittance_.next(adapter); destination != kNone && out.free >= plan_.packet;) {
    u32 hops = 0;
    const u64 route = route_of(adapter, destination, hops);
    const u32 queue_class = M == Mode::classes ? destination % plan_.classes : 0;
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
    if (Large && destination != kNone && !routes_.empty()) {
      __builtin_prefetch(&routes_[std::size_t{adapter} * graph_.terminals() + destination]);
    }
  }
}

template <Fabric::Mode M>
void Fabric::fill_from_flows(u32 adapter) noexcept {
  const u32 e = adapters_ + adapter;
  const auto ready = [&] { return (terminals_.source.ready()[adapter >> 6U] >> (adapter & 63U) & 1U) != 0; };
  while (egress_[e].free >= plan_.packet && ready()) {
    const u32 destination = terminals_.source.head_destination(adapter);
    u32 hops = 0;
    const u64 route = route_of(adapter, destination, hops);
    const u32 queue_class = M == Mode::classes ? destination % plan_.classes : 0;
    if (held_back<M>(e, route, queue_class)) {
      terminals_.source.park(adapter);
      continue;
    }
    put_into_adapter<M>(e, terminals_.source.take(adapter, cycle_), route, hops, queue_class);
  }
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
  credits_.push({now_ + control_parts_, in.upstream, item.bytes, item.queue_class});
  item.route >>= bits_;
  // What opens an output later in this part marks the switch itself.
  mark_switch(in.switch_, sw, M == Mode::classes || sw.open() != 0);
  put_out<M>(sw.out_base + in.to, item, i);
}

template <Fabric::Mode M, bool Large>
[[gnu::always_inline]] inline void Fabric::end_link(u32 e) noexcept {
  Egress& out = egress_[e];
  const Item item = out.item;
  out.item.packet = kNone;
  const bool was_full = M == Mode::classes || out.free < plan_.packet;
  out.free += item.bytes;
  if constexpr (M == Mode::classes) {
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
  if (probe_ != nullptr) [[unlikely]]
    probe_->crossed(out.channel, pool_[item.packet], cycle_);
  wires_[out.wire].push({now_ + wire_parts_[out.wire], item, e, out.down});
  if (Large) {
    if (out.to_terminal) __builtin_prefetch(&pool_[item.packet]);
  } else {
    // Where the packet goes to: the record of one that leaves, or a queue. (A terminal's number is one of an ingress.)
    const std::array<const void*, 2> next{&in_.queue(out.down, base_in(item)), &pool_[item.packet]};
    __builtin_prefetch(next[out.to_terminal ? 1 : 0]);
  }
  mark_link(e, out, may_send<M>(out));
}

void Fabric::mark_packet(const Item& item, u32 switch_, u32 channel, u32 length, bool free) noexcept {
  core::Packet& packet = pool_[item.packet];
  // The cycle tells the two queues of a switch apart.
  const auto word = [&] { return marks_.at(packet, switch_, static_cast<u32>(cycle_))[0]; };
  if ((packet.flags & core::kCongested) != 0 || !plan_.marking.marks(length, free, word)) return;
  if (probe_ != nullptr) [[unlikely]]
    probe_->marked(packet, channel, 0, cycle_);
  packet.flags |= core::kCongested;
}

void Fabric::set_class_room(u32 e, u32 q, bool room) noexcept {
  u64& word = class_room_[std::size_t{e} * out_words_ + q / 64];
  const u64 bit = u64{1} << (q & 63U);
  if (room && (word & bit) == 0 && egress_[e].adapter) unpark(egress_[e].switch_);
  word = room ? word | bit : word & ~bit;
}

void Fabric::pop_markers(Side& side, u32 port, u32 q) noexcept {
  Queue& queue = side.queue(port, q);
  while (queue.has_marker()) {
    const u32 k = (store_.take(queue).packet & ~kMarker) - port * side.saqs;
    unblock(side, port, k);
  }
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::put_in(u32 i, const Item& item) noexcept {
  if (plan_.marking.on()) [[unlikely]]
    ++towards(i, output_of(item.route));
  u32 q = base_in(item);
  if constexpr (M == Mode::recn) {
    if (ingress_[i].aside) {
      const u32 k = in_.match(i, item.route);
      if (k != kNone) q = in_.base + k;
    }
  }
  if (push(in_, i, q, item)) {
    if (M == Mode::recn && q >= in_.base) {
      refresh_in(i, q);
    } else {
      offer<M>(i, q, output_of(item.route));
    }
  }
  if constexpr (M == Mode::recn) after_put_in(i, q);
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::put_out(u32 e, const Item& item, u32 i) noexcept {
  u32 q = base_out(item);
  if constexpr (M == Mode::recn) {
    if (egress_[e].aside) {
      const u32 k = out_.match(e, item.route);
      if (k != kNone) q = out_.base + k;
    }
  }
  if (push(out_, e, q, item)) {
    if (M == Mode::recn && q >= out_.base) {
      refresh_out(e, q);
    } else {
      set_ready<M>(e, q, true);
      Egress& out = egress_[e];
      mark_link(e, out, may_send<M>(out) & (out.item.packet == kNone));
    }
  }
  if constexpr (M == Mode::recn) after_put_out(e, q, i);
}

/// An ingress queue has a packet for an output that may leave.
template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::offer(u32 i, u32 q, u32 output) noexcept {
  const Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  in_.queue(i, q).target = output;
  ready_in<M>(i, output)[M == Mode::classes ? q / 64 : 0] |= u64{1} << (q & 63U);
  want_[in.out_base + output] |= u64{1} << in.port;
  sw.wanted |= u64{1} << output;
  // What opens the output later in this part marks the switch itself.
  const u64 open = M == Mode::classes ? ~u64{0} : sw.idle_out & sw.room;
  mark_switch(in.switch_, sw, (sw.idle_in >> in.port & open >> output & 1U) != 0);
}

/// It has none any more.
template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::withdraw(u32 i, u32 q, u32 output) noexcept {
  in_.queue(i, q).target = kNowhere;
  u64* const words = ready_in<M>(i, output);
  u64 any = words[M == Mode::classes ? q / 64 : 0] &= ~(u64{1} << (q & 63U));
  for (u32 w = 0; M == Mode::classes && w < in_words_; ++w) any |= words[w];
  if (any != 0) return;
  const Ingress& in = ingress_[i];
  Switch& sw = switches_[in.switch_];
  const u64 want = want_[in.out_base + output] &= ~(u64{1} << in.port);
  if (want == 0) sw.wanted &= ~(u64{1} << output);
}

/// Notes for which output the head of an ingress queue waits, if it may leave.
void Fabric::refresh_in(u32 i, u32 q) noexcept {
  const Queue& queue = in_.queue(i, q);
  u32 target = kNowhere;
  if (queue.has_packet()) {
    target = output_of(queue.head.route);
    if (q >= in_.base) {
      const Line& line = in_.line(i, q - in_.base);
      if (line.blocked || line.stopped) target = kNowhere;
    }
  }
  if (target == queue.target) return;
  if (queue.target != kNowhere) withdraw<Mode::recn>(i, q, queue.target);
  if (target != kNowhere) offer<Mode::recn>(i, q, target);
}

void Fabric::refresh_out(u32 e, u32 q) noexcept {
  const Queue& queue = out_.queue(e, q);
  bool ready = queue.has_packet();
  if (ready && q >= out_.base) {
    const Line& line = out_.line(e, q - out_.base);
    ready = !line.blocked && !line.stopped;
  }
  set_ready<Mode::recn>(e, q, ready);
  if (ready && egress_[e].item.packet == kNone) mark_link(e, egress_[e]);
}

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::set_ready(u32 e, u32 q, bool ready) noexcept {
  const bool one = M != Mode::classes || out_words_ == 1;
  u64& word = one ? egress_[e].ready : ready_out_[std::size_t{e} * out_words_ + q / 64];
  word = (word & ~(u64{1} << (q & 63U))) | u64{ready} << (q & 63U);
}

/// True when an input has a packet for an output whose queue there has room.
bool Fabric::may_cross(u32 i, u32 output) noexcept {
  const u32 e = switches_[ingress_[i].switch_].out_base + output;
  const u64* ready = ready_in<Mode::classes>(i, output);
  for (u32 w = 0; w < in_words_; ++w) {
    if ((ready[w] & class_room_[std::size_t{e} * out_words_ + w]) != 0) return true;
  }
  return false;
}

/// Every idle output grants one input that has a packet for it, every input accepts one output, both in turn, until
/// nothing more fits.
template <Fabric::Mode M, class One>
[[gnu::always_inline]] inline void Fabric::arbitrate(Switch& sw, One&& one) noexcept {
  u64 idle_in = sw.idle_in;
  u64 outputs = sw.open();
  if (outputs == 0 || idle_in == 0) return;
  const u64* const want = &want_[sw.out_base];
  u16* const grant = &grant_[sw.out_base];
  u16* const accept = &accept_[sw.in_base];
  if (M != Mode::classes && (outputs & (outputs - 1)) == 0) {  // mostly
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
      if constexpr (M == Mode::classes) {
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
  if (M != Mode::classes || in_words_ == 1) {
    u64 mask = ready[0];
    if (M == Mode::classes) mask &= class_room_[switches_[in.switch_].out_base + output];
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

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::start_crossbar(const Crossing& crossing) noexcept {
  const auto [i, e, output, q] = crossing;
  Ingress& in = ingress_[i];
  Egress& out = egress_[e];
  Queue& queue = in_.queue(i, q);
  const Item item = pop<M>(in_, i, q);
  in.item = item;
  if constexpr (M == Mode::recn) in.item.queue_class = q >= in_.base ? in_.line(i, q - in_.base).length : u16{0};
  in.to = output & 0xffU;
  out.free -= item.bytes;
  if (plan_.marking.on()) [[unlikely]]
    mark_packet(item, in.switch_, out.channel, towards(i, output)--, out.free >= plan_.packet);
  if (out.free < plan_.packet) switches_[in.switch_].room &= ~(u64{1} << output);
  if (M == Mode::classes && ++class_used_[std::size_t{e} * plan_.classes + item.queue_class] >= plan_.class_packets) {
    set_class_room(e, item.queue_class, false);
  }
  wheel_.add(now_ + Tick{item.bytes + plan_.overhead} * plan_.crossbar_parts, kCrossings, i);
  // Behind a packet that left there is no marker any more, and the queue was not stopped.
  if (queue.empty()) {
    withdraw<M>(i, q, queue.target);
  } else if (const u32 target = output_of(queue.head.route); target != queue.target) {
    withdraw<M>(i, q, queue.target);
    offer<M>(i, q, target);
  }
  if constexpr (M == Mode::recn) after_pop_in(i, q);
}

/// The queue of an egress whose turn it is among those that may send; kNone. `open`: classes with credit, or nullptr.
template <Fabric::Mode M>
[[gnu::always_inline]] inline u32 Fabric::choose_out(u32 e, const u64* open) const noexcept {
  const u32 turn = egress_[e].turn;
  if (M != Mode::classes || out_words_ == 1) {
    const u64 mask = open == nullptr ? egress_[e].ready : egress_[e].ready & open[0];
    if (M != Mode::classes && mask == 1) [[likely]]
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

template <Fabric::Mode M>
[[gnu::always_inline]] inline void Fabric::start_link(u32 e) noexcept {
  Egress& out = egress_[e];
  out.marked = false;
  if (out.item.packet != kNone || (M == Mode::classes ? out.credit < packet_ : !has_credit<M>(out))) return;
  const bool classes = M == Mode::classes && !out.to_terminal;
  const u32 q = choose_out<M>(e, classes ? &class_open_[std::size_t{e} * out_words_] : nullptr);
  if (q == kNone) return;
  out.turn = static_cast<u16>(q + 1 == out_.stride ? 0 : q + 1);
  Queue& queue = out_.queue(e, q);
  const u32 length = queue.packets;
  const Item item = pop<M>(out_, e, q);
  out.item = item;
  if constexpr (M == Mode::recn) out.item.queue_class = q >= out_.base ? out_.line(e, q - out_.base).length : u16{0};
  out.credit -= item.bytes * (out.to_terminal ? 0 : 1);
  if (plan_.marking.on() && !out.adapter) [[unlikely]]
    mark_packet(item, out.switch_, out.channel, length,
                out.to_terminal || out.credit >= static_cast<i32>(plan_.packet));
  if (classes && --class_credit_[std::size_t{e} * plan_.classes + item.queue_class] == 0) {
    class_open_[std::size_t{e} * out_words_ + item.queue_class / 64] &= ~(u64{1} << (item.queue_class & 63U));
  }
  wheel_.add(now_ + Tick{item.bytes + plan_.overhead} * plan_.link_parts, kLinks, e);
  set_ready<M>(e, q, !queue.empty());
  if constexpr (M == Mode::recn) after_pop_out(e, q);
}

void Fabric::receive(u32 i, const Item& item) noexcept { put_in<Mode::recn>(i, item); }

}  // namespace banyan::switching::cioq
