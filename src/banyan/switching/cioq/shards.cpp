// What the shards of a CIOQ network send to each other: packets and credits, what RECN tells over links, pauses. All of
// it takes the latency of a link or Plan::control_cycles, and no window is longer.
#include <algorithm>
#include <utility>

#include "banyan/switching/cioq/fabric.hpp"

namespace banyan::switching::cioq {

namespace {

constexpr u8 kToTerminal = 1;  ///< in Flit::flags
constexpr u32 kKindBits = 8;   ///< of Control::kind; above them the part of the cycle

}  // namespace

Fabric::Numbers Fabric::number_ports(const engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  Numbers numbers;
  numbers.adapters.resize(builder.shards());
  std::vector<u32> inputs(builder.shards());
  for (u32 s = 0; s < graph.switches(); ++s) {
    const u32 shard = builder.shard_of(s);
    numbers.in_base.push_back(inputs[shard]);
    numbers.out_base.push_back(numbers.adapters[shard]);
    inputs[shard] += graph.inputs(s);
    numbers.adapters[shard] += graph.outputs(s);
  }
  return numbers;
}

/// Writes down the ends of channels that are in this shard.
void Fabric::attach(const engine::Builder& builder, u32 shard, const Numbers& numbers) {
  const auto egress = [&](const core::End& end) {
    return end.terminal ? numbers.adapters[builder.shard_of(end)] + builder.entity_of(end)
                        : numbers.out_base[end.node] + end.port;
  };
  const auto far_end = [&](const core::End& end) {
    return end.terminal ? builder.entity_of(end) : numbers.in_base[end.node] + end.port;
  };
  const auto shard_of = [&](const core::End& end) { return static_cast<u8>(builder.shard_of(end)); };
  if (builder.shards() > 1) {
    for (auto* mailed : {&mailed_packets_, &mailed_exits_}) mailed->reserve(2 * ingress_.size() + 2 * egress_.size());
    mailed_credits_.reserve(2 * egress_.size());
    far_down_.resize(egress_.size());
    far_up_.resize(ingress_.size());
  }
  for (u32 c = 0; c < graph_.channels().size(); ++c) {
    const core::Channel& channel = graph_.channel(c);
    const bool leaves = builder.shard_of(channel.from) == shard;
    const bool comes = builder.shard_of(channel.to) == shard;
    if (channel.failed || (!leaves && !comes)) continue;
    const u32 e = egress(channel.from);
    const u32 down = far_end(channel.to);
    const u32 latency = channel.link.latency_cycles;
    if (comes && !channel.to.terminal) {
      ingress_[down].upstream = leaves ? e : kElsewhere;
      ingress_[down].far = leaves ? 0 : 1;
      if (!leaves) far_up_[down] = {e, latency, 0, shard_of(channel.from), 0};
    }
    if (!leaves) continue;
    Egress& out = egress_[e];
    out.channel = c;
    out.adapter = channel.from.terminal;
    if (out.adapter) out.switch_ = out.fed_by = builder.entity_of(channel.from);
    out.to_terminal = channel.to.terminal;
    out.far = !comes;
    out.down = comes ? down : 0;
    if (!comes) far_down_[e] = {down, latency, 0, shard_of(channel.to), 0};
    const Tick parts = Tick{latency} * plan_.link_parts;
    const auto found = std::find(wire_parts_.begin(), wire_parts_.end(), parts);
    out.wire = static_cast<u16>(found - wire_parts_.begin());
    if (found == wire_parts_.end()) wire_parts_.push_back(parts);
  }
  if (builder.shards() > 1) wire_parts_.push_back(0);  // of what comes from others
  latencies_ = wire_parts_.size();
  for (Egress& out : egress_) {
    if (out.to_terminal) out.wire = static_cast<u16>(out.wire + latencies_);
  }
  wires_.resize(2 * latencies_);
  wire_parts_.insert(wire_parts_.end(), wire_parts_.begin(), wire_parts_.begin() + static_cast<i64>(latencies_));
}

// ---- What is sent ----

void Fabric::mail_packet(u32 e, const Item& item) noexcept {
  const engine::Target& to = far_down_[e];
  const Tick at = now_ + Tick{to.latency} * plan_.link_parts;
  // The whole packet is one flit, which takes the record along to another process.
  const core::Flit flit{.packet = item.packet,
                        .destination = static_cast<u32>(item.route),
                        .sequence = 0,
                        .auxiliary = item.queue_class,
                        .vc = static_cast<u8>(at % plan_.link_parts),
                        .flags = egress_[e].to_terminal ? kToTerminal : u8{0},
                        .auxiliary2 = item.bytes};
  network_.deliver(to, at / plan_.link_parts,
                   engine::FlitArrival{flit, to.entity, static_cast<u32>(item.route >> 32U)});
}

void Fabric::mail(const engine::Target& to, Tick at, Message kind, u32 length, u64 path) noexcept {
  const u32 part = static_cast<u32>(at % plan_.link_parts);
  network_.deliver(to, at / plan_.link_parts,
                   engine::ControlArrival{{static_cast<u16>(static_cast<u32>(kind) | part << kKindBits),
                                           static_cast<u16>(length), static_cast<u32>(path)},
                                          to.entity,
                                          static_cast<u32>(path >> 32U)});
}

void Fabric::mail_credit(u32 i, const Item& item) noexcept {
  mail(far_up_[i], now_ + control_parts_, Message::credit, item.queue_class, item.bytes);
}

void Fabric::tell_upstream(u32 i, const Line& line, Message kind) noexcept {
  const Ingress& in = ingress_[i];
  const Tick at = now_ + control_parts_;
  if (in.far != 0) return mail(far_up_[i], at, kind, line.length, line.path);
  controls_.push({at, line.path, in.upstream, line.length, kind});
}

void Fabric::give_token_back(u32 e, u64 path, u32 length) noexcept {
  const Egress& out = egress_[e];
  const Tick at = now_ + control_parts_;
  if (out.far) return mail(far_down_[e], at, Message::token, length, path);
  tokens_.push({at, path, out.down, static_cast<u8>(length), Message::token});
}

// ---- What comes ----

Fabric::Arrival Fabric::arrival_of(Tick due, const engine::FlitArrival& arrival) const noexcept {
  const core::Flit& flit = arrival.flit;
  const u64 route = u64{arrival.port} << 32U | flit.destination;
  return {due * plan_.link_parts + flit.vc, {route, flit.packet, flit.auxiliary2, flit.auxiliary}, arrival.entity};
}

Fabric::Control Fabric::control_of(Tick due, const engine::ControlArrival& arrival) const noexcept {
  const core::Control& control = arrival.control;
  return {due * plan_.link_parts + (control.kind >> kKindBits), u64{arrival.port} << 32U | control.argument,
          arrival.entity, static_cast<u8>(control.vc), static_cast<Message>(control.kind & ((1U << kKindBits) - 1))};
}

void Fabric::take_in(Tick due, const engine::FlitArrival& arrival) {
  auto& list = (arrival.flit.flags & kToTerminal) != 0 ? mailed_exits_ : mailed_packets_;
  list.push_back(arrival_of(due, arrival));
  has_mail_ = true;
}

/// What is rare goes to its place at once.
void Fabric::take_in(Tick due, const engine::ControlArrival& arrival) {
  const Control control = control_of(due, arrival);
  const u16 queue_class = arrival.control.vc;
  switch (control.kind) {
    case Message::credit:
      mailed_credits_.push_back({control.at, control.port, static_cast<u16>(control.path), queue_class});
      has_mail_ = true;
      break;
    case Message::stop:
    case Message::go:
      pause_frames_[latencies_ - 1].insert({control.at, control.port, queue_class, control.kind == Message::stop});
      break;
    case Message::token:
      tokens_.insert(control);
      break;
    default:
      controls_.insert(control);
      break;
  }
}

void Fabric::take_mail() {
  has_mail_ = false;
  wires_[latencies_ - 1].merge(mailed_packets_);
  wires_[2 * latencies_ - 1].merge(mailed_exits_);
  credits_.merge(mailed_credits_);
}

// ---- What is looked at ----

void Fabric::hold(const engine::FlitArrival& arrival, engine::Holdings& into) const {
  add_held(into, arrival.flit.auxiliary2);
  if ((arrival.flit.flags & kToTerminal) != 0 || plan_.pause) return;
  into.places.known(channel_into(arrival.entity), 0, arrival.flit.auxiliary2);
}

void Fabric::hold(const engine::ControlArrival& arrival, engine::Holdings& into) const {
  const Control control = control_of(0, arrival);
  if (control.kind == Message::credit) into.places.known(egress_[control.port].channel, 0, control.path);
}

u64 Fabric::digest_of(Tick due, const engine::FlitArrival& arrival, const core::Packet& packet) const {
  const Arrival it = arrival_of(due, arrival);
  Hasher h;
  for (const u64 word : {it.at, u64{packet.source} << 32U | packet.destination,
                         u64{packet.traffic} << 32U | packet.sequence, it.item.route}) {
    h.add(word);
  }
  return h.value();
}

u64 Fabric::digest_of(Tick due, const engine::ControlArrival& arrival) const {
  const Control control = control_of(due, arrival);
  switch (control.kind) {
    case Message::credit:
      return 0;  // it counts when it is there
    case Message::stop:
    case Message::go:
      return digest_of(PauseFrame{control.at, control.port, arrival.control.vc, control.kind == Message::stop});
    default:
      return digest_of(control);
  }
}

u64 Fabric::digest_of(const Control& control) const {
  const u32 port = control.kind == Message::token ? everywhere_in(control.port) : everywhere_out(control.port);
  Hasher h;
  for (const u64 word : {control.at, control.path, u64{port} << 8U | static_cast<u64>(control.kind)}) h.add(word);
  return h.value();
}

// ---- What is looked at across the border of a process ----

namespace {

/// What a record of a border is about; behind it stand a shard and a port there, and the number of its words.
enum class About : u8 { time, lines, class_bytes, room };
constexpr std::size_t kRecordHeader = 3;

}  // namespace

void Fabric::tell_border(u32 round, std::vector<u64>& words) const {
  settle();
  const auto tell = [&](About about, const engine::Target& to, const std::vector<u64>& values) {
    words.insert(words.end(), {static_cast<u64>(about) << 32U | to.shard, to.entity, values.size()});
    words.insert(words.end(), values.begin(), values.end());
  };
  if (round == 0) tell(About::time, {}, {now_});
  for (u32 i = 0; round == 0 && i < far_up_.size(); ++i) {
    if (ingress_[i].far == 0 || fabrics_[far_up_[i].shard] != nullptr) continue;
    std::vector<u64> values;
    for (u64 m = in_.valid[i]; m != 0; m &= m - 1) {
      const u32 k = static_cast<u32>(std::countr_zero(m));
      values.insert(values.end(), {in_.line(i, k).path, in_.line(i, k).length, k, in_.queue(i, in_.base + k).packets});
    }
    tell(About::lines, far_up_[i], values);
    if (!plan_.pause) continue;
    values.clear();
    for (u32 c = 0; c < plan_.classes; ++c) values.push_back(pausing_[std::size_t{i} * plan_.classes + c].bytes);
    tell(About::class_bytes, far_up_[i], values);
  }
  for (u32 e = 0; round == 1 && e < far_down_.size(); ++e) {
    if (!egress_[e].far || fabrics_[far_down_[e].shard] != nullptr) continue;
    tell(About::room, far_down_[e], {room_behind(e, last_cycle())});
  }
}

void Fabric::hear_border(u32 round, std::span<const u64> words) {
  if (round == 0) border_ = {};
  for (std::size_t at = 0; at < words.size();) {
    const auto about = static_cast<About>(words[at] >> 32U);
    const u32 port = static_cast<u32>(words[at + 1]);
    const std::span<const u64> values = words.subspan(at + kRecordHeader, words[at + 2]);
    const bool mine = static_cast<u32>(words[at]) == network_.shard;
    at += kRecordHeader + values.size();
    if (about == About::time) border_.last = std::max(border_.last, values.front());
    if (!mine) continue;
    if (about == About::room) border_.room[port] = values.front();
    if (about == About::class_bytes) border_.class_bytes[port].assign(values.begin(), values.end());
    if (about != About::lines) continue;
    std::vector<FarLine>& lines = border_.lines[port];
    for (std::size_t v = 0; v < values.size(); v += 4)
      lines.push_back({values[v], values[v + 1], values[v + 2], values[v + 3]});
  }
}

Fabric::QueueBehind Fabric::queue_behind(u32 e, const Line& line) const {
  if (egress_[e].to_terminal) return {};
  const Port next = behind(e);
  if (next.fabric != nullptr) {
    const u32 k = next.fabric->in_.find(next.port, line.path, line.length);
    return k == kNone ? QueueBehind{} : QueueBehind{k, next.fabric->in_.queue(next.port, in_.base + k).packets};
  }
  const auto told = border_.lines.find(e);
  if (told == border_.lines.end()) return {};
  for (const FarLine& far : told->second) {
    if (far.path == line.path && far.length == line.length) return {static_cast<u32>(far.number), far.packets};
  }
  return {};
}

Tick Fabric::last_cycle() const noexcept {
  Tick last = std::max(now_, border_.last);
  for (const Fabric* const fabric : fabrics_) {
    if (fabric != nullptr) last = std::max(last, fabric->now_);
  }
  return last / plan_.link_parts;
}

}  // namespace banyan::switching::cioq
