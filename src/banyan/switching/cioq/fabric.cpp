#include "banyan/switching/cioq/fabric.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "banyan/base/archive.hpp"
#include "banyan/switching/cioq/steps.hpp"

namespace banyan::switching::cioq {

namespace {

constexpr u64 kReserveMost = 1U << 14U;     ///< packets reserved at once; more are made while the network fills
constexpr u64 kMostRoutes = u64{1} << 23U;  ///< routes that are remembered, 64 MB
constexpr u32 kHopsShift = 56;              ///< longer routes are not remembered
constexpr u32 kLarge = 4096;                ///< ports from which on memory is asked for ahead
constexpr u32 kFewParts = 4;                ///< of a cycle
constexpr Stream kTurns{"cioq: the destination that an adapter serves next"};
constexpr Stream kWays{"cioq: the way of a packet, drawn at its source"};
constexpr Stream kMarks{"cioq: marks between the thresholds"};

}  // namespace

Fabric::Fabric(engine::Builder& builder, u32 shard, const Plan& plan, u32 bits)
    : plan_(plan),
      graph_(builder.topology().graph()),
      routing_(builder.routing()),
      terminals_(builder.terminals(shard)),
      pool_(terminals_.pool()),
      probe_(builder.probe(shard)),
      network_(builder.shard(shard).wires),
      nodes_(builder.shards() > 1 ? builder.switches_of(shard) : std::vector<u32>{}),
      fabrics_(builder.shards()),
      traffics_(builder.traffics().begin(), builder.traffics().end()),
      seed_(builder.settings().seed),
      bits_(bits),
      turn_mask_((u64{1} << bits) - 1),
      own_(builder.settings().steady) {
  for (engine::PacketPool* pool : builder.pools()) pools_.push_back(pool);
  fabrics_[shard] = this;
  const u32 terminals = terminals_.size();
  const Numbers numbers = number_ports(builder);
  adapters_ = numbers.adapters[shard];
  switches_.resize(nodes_.empty() ? graph_.switches() : nodes_.size());
  egress_.resize(adapters_ + terminals, Egress{});
  for (Egress& out : egress_) out.fed_by = terminals;
  ports_ = graph_.most_ports();
  for (u32 s = 0; s < switches_.size(); ++s) {
    const u32 in_base = numbers.in_base[node(s)];
    const u32 out_base = numbers.out_base[node(s)];
    switches_[s].in_base = in_base;
    switches_[s].out_base = out_base;
    ingress_.resize(in_base + graph_.inputs(node(s)), Ingress{});
    for (u32 p = 0; p < graph_.inputs(node(s)); ++p) {
      ingress_[in_base + p].switch_ = s;
      ingress_[in_base + p].out_base = out_base;
      ingress_[in_base + p].port = static_cast<u8>(p);
    }
    for (u32 p = 0; p < graph_.outputs(node(s)); ++p) {
      egress_[out_base + p].switch_ = s;
      egress_[out_base + p].port = static_cast<u8>(p);
    }
  }
  attach(builder, shard, numbers);
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
  asking_inputs_.resize(egress_.size());
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
    std::vector<u32> adapters;
    for (u32 t = 0; t < terminals; ++t) adapters.push_back(terminals_.global(t));
    admittance_.resize(std::move(adapters), graph_.terminals());
  }
  adapter_marked_.resize(terminals + 1);
  full_adapters_.resize(terminals / 64 + 1);
  if (plan_.marking.on()) towards_.resize(ingress_.size() * ports_);
  if (pool_.keeps_values()) {
    meters_.resize(egress_.size());
    utilization_period_ = static_cast<double>(builder.settings().utilization_time);
  }
  watches_ = plan_.marking.on() || !meters_.empty();
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
    for (const core::Traffic* traffic : traffics_)
      limit = std::min(limit, traffic->waiting_limit(terminals_.global(t)));
    limits_.push_back(limit);
  }
  if (!routing_.in_order()) {
    sent_.resize(terminals);
  } else if (u64{terminals} * graph_.terminals() <= kMostRoutes) {
    routes_.resize(std::size_t{terminals} * graph_.terminals());
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
    if (plan_.notify_packets != 0) {
      own_.declare("notifications_to_sources", "words", Kind::total);
      flow_keys_ = builder.settings().admission();
      feedback_delay_ = std::make_unique<engine::FeedbackDelay>(graph_, builder.settings().zero_load);
    }
  }
  if (plan_.pause) set_up_pauses();
}

void Fabric::reset(u32 replication) {
  in_.clear();
  out_.clear();
  std::fill(asking_inputs_.begin(), asking_inputs_.end(), 0);
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
    out.paused = false;
  }
  const auto ones = [](u32 n) { return n >= 64 ? ~u64{0} : (u64{1} << n) - 1; };
  for (u32 s = 0; s < switches_.size(); ++s) {
    Switch& sw = switches_[s];
    sw.idle_in = ones(graph_.inputs(node(s)));
    sw.idle_out = ones(graph_.outputs(node(s)));
    sw.room = sw.idle_out;
    sw.wanted = 0;
    sw.marked = false;
  }
  store_.clear();
  std::fill(towards_.begin(), towards_.end(), 0);
  std::fill(meters_.begin(), meters_.end(), Meter{});
  admittance_.clear(Random(seed_, kTurns, 0, replication));
  marks_ = core::HopRandom(seed_, kMarks, replication);
  ways_ = core::HopRandom(seed_, kWays, replication);
  std::fill(sent_.begin(), sent_.end(), 0);
  wheel_.clear();
  for (auto& wire : wires_) wire.clear();
  credits_.clear();
  tokens_.clear();
  controls_.clear();
  mailed_packets_.clear();
  mailed_exits_.clear();
  mailed_credits_.clear();
  has_mail_ = false;
  timers_.clear();
  marked_switches_.clear();
  marked_links_.clear();
  marked_adapters_.clear();
  std::fill(adapter_marked_.begin(), adapter_marked_.end(), u16{0});
  std::fill(full_adapters_.begin(), full_adapters_.end(), 0);
  std::fill(granted_.begin(), granted_.end(), 0);
  now_ = cycle_ = settled_ = 0;
  // Credits that take no time count at once: the part in which they are due has a second step.
  starved_ = control_parts_ == 0 ? 1 : 0;
  movements_ = 0;
  moved_ = {};
  counts_ = {};
  reset_pauses();
  log_.clear();
  own_.clear();
}

/// What is left out is found again (routes_, full_adapters_), or empty between two ticks (what start and end collect).
void Fabric::archive(Archive& a) {
  take_mail();
  a(switches_, ingress_, egress_, in_, out_, asking_inputs_, grant_, accept_, ready_in_, ready_out_);
  a(class_used_, class_credit_, class_room_, class_open_, store_, admittance_, towards_, meters_, sent_);
  a(wheel_, wires_, credits_, tokens_, controls_, timers_, pause_frames_, pausing_, heard_, unpaused_, pause_counts_);
  a(marked_switches_, marked_links_, marked_adapters_, adapter_marked_);
  a(now_, cycle_, starved_, settled_, movements_, moved_, counts_, log_, own_);
  std::fill(full_adapters_.begin(), full_adapters_.end(), 0);
  // A time that has become shorter meanwhile holds for timers that run, too.
  if (a.reading()) timers_.bring_forward(now_ + plan_.idle_cycles * plan_.link_parts);
}

Tick Fabric::run(Tick now) noexcept {
  switch (mode_) {
    case Mode::recn:
      return large_ ? run_as<Mode::recn, true>(now) : run_as<Mode::recn, false>(now);
    case Mode::shared:
      return large_ ? run_as<Mode::shared, true>(now) : run_as<Mode::shared, false>(now);
    case Mode::classes:
      return large_ ? run_as<Mode::classes, true>(now) : run_as<Mode::classes, false>(now);
    default:
      return run_paused(now);
  }
}

/// Observers see what is due. Nobody waits for these credits: who does has made others count them in time.
void Fabric::settle() const {
  Fabric& self = const_cast<Fabric&>(*this);
  self.take_mail();
  self.settle(now_);
}

bool Fabric::ask_credit(Egress& out) noexcept {
  if (starved_ == 0) settle(now_);
  if (out.credit >= packet_) return true;
  starved_ += out.starved ? 0U : 1U;
  out.starved = true;
  return false;
}

void Fabric::take_tokens(Tick part) noexcept {
  do {
    const Control token = tokens_.front();
    tokens_.pop();
    token_back(token.port, token.path, token.length);
  } while (tokens_.next() <= part);
}

void Fabric::take_controls(Tick part) noexcept {
  do {
    const Control control = controls_.front();
    controls_.pop();
    if (control.kind == Message::notification) {
      notified(control.port, control.path, control.length);
    } else {
      set_stopped_by_link(control.port, control.path, control.length, control.kind == Message::xoff);
    }
  } while (controls_.next() <= part);
}

/// What arrives at terminals before `end`, of this cycle.
void Fabric::deliver(Fifo<Arrival>& wire, Tick end) noexcept {
  do {
    const Arrival arrival = wire.front();
    wire.pop();
    const core::PacketId id = arrival.item.packet;
    const core::Packet& packet = record(id);
    const u16 value = meters_.empty() ? u16{0} : network_.pool(id).value(id);
    terminals_.sink.deliver(packet, terminals_.global(arrival.down), cycle_, packet.hops, 0,
                            (packet.flags & core::kCongested) != 0, value);
    network_.release(id);
  } while (wire.next() < end);
}

u64 Fabric::find_route(u32 source, u32 destination, u32& hops) const noexcept {
  core::Packet packet;
  packet.source = terminals_.global(source);
  packet.destination = destination;
  // The record of the packet is not made yet: the words are those of its number among the adapter's.
  packet.sequence = sent_.empty() ? 0 : sent_[source];
  routing_.prepare(packet, sent_.empty() ? 0 : ways_.at(packet, kNone, 0)[0]);
  core::Candidates candidates;
  u64 route = 0;
  core::End at = graph_.channel(graph_.injection(packet.source)).to;
  for (hops = 0; !at.terminal && (hops + 1) * bits_ <= 64; ++hops) {
    candidates.clear();
    const core::HopWord word = sent_.empty() ? core::HopWord(0) : core::HopWord(ways_, packet, at.node, hops);
    routing_.route({at.node, at.port, 0, &packet, word}, candidates);
    const u32 port = candidates[0].port;
    route |= u64{port} << (hops * bits_);
    at = graph_.channel(graph_.channel_out_of(at.node, port)).to;
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

void Fabric::note_put_in(u32 i, const Item& item) noexcept {
  const u32 output = output_of(item.route);
  if (!towards_.empty()) ++towards(i, output);
  if (!meters_.empty()) meters_[ingress_[i].out_base + output].waiting += link_cycles(item);
}

/// HPCC's queue is that of the output. Here what waits for the output in ingress queues counts too: they hold the rest
/// where the output's own memory is full.
void Fabric::note_departure(u32 e, const Item& item, u32 length, bool free) noexcept {
  const Egress& out = egress_[e];
  if (plan_.marking.on() && !out.adapter) mark_packet(item, out.switch_, out.channel, length, free);
  if (meters_.empty()) return;
  Meter& meter = meters_[e];
  meter.waiting -= link_cycles(item);
  const double now = static_cast<double>(now_) / plan_.link_parts;
  if (now > meter.link.last()) meter.link.sample(now, meter.waiting, meter.sent, utilization_period_);
  meter.sent = link_cycles(item);
  network_.pool(item.packet).raise_value(item.packet, core::encode_utilization(meter.link.utilization()));
}

void Fabric::mark_packet(const Item& item, u32 switch_, u32 channel, u32 length, bool free) noexcept {
  if (!plan_.marking.may_mark(length, free)) return;  // mostly, and without the packet's record
  core::Packet& packet = record(item.packet);
  // The cycle tells the two queues of a switch apart.
  const auto word = [&] { return marks_.at(packet, node(switch_), static_cast<u32>(cycle_))[0]; };
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
    const u32 k = line_of_marker(store_.take(queue).packet);
    unblock(side, port, k);
  }
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

/// True when an input has a packet for an output whose queue there has room.
bool Fabric::may_cross(u32 i, u32 output) noexcept {
  const u32 e = switches_[ingress_[i].switch_].out_base + output;
  const u64* ready = ready_in<Mode::classes>(i, output);
  for (u32 w = 0; w < in_words_; ++w) {
    if ((ready[w] & class_room_[std::size_t{e} * out_words_ + w]) != 0) return true;
  }
  return false;
}

void Fabric::receive(u32 i, const Item& item) noexcept { put_in<Mode::recn>(i, item); }

}  // namespace banyan::switching::cioq
