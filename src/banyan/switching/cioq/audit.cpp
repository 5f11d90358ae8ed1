// What a CIOQ network shows of its state: digest, conservation, who waits for whom, congestion roots.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>
#include <string>

#include "banyan/switching/cioq/fabric.hpp"

namespace banyan::switching::cioq {

namespace {

/// A sum of hashes of sequences of words. Packets are asked for first and looked at later, and four sequences are
/// hashed side by side: each step of one waits for the step before.
class SumOfHashes {
 public:
  explicit SumOfHashes(const std::vector<engine::PacketPool*>& pools) : pools_(pools) {
    words_.resize(2 * kBatch);
    packets_.reserve(kBatch);
    sequences_.reserve(kBatch);
  }
  /// A sequence begins, of which `hash` holds what comes first.
  void begin(Hasher hash = {}) { begin_ = hash; }
  void add(u64 word) {
    make_room();
    words_[count_++] = word;
  }
  void add_packet(const Item& item) {
    __builtin_prefetch(&record(item.packet));
    packets_.push_back({static_cast<u32>(count_), item.packet});
    make_room();
    words_[count_ + 2] = item.route;
    count_ += 3;
  }
  void add_line(const Line& line) {
    for (const u64 word : {line.path, line.inputs, line.since, u64{line.length}}) add(word);
    u64 state = 0;
    for (const bool b : {line.blocked, line.used, line.stopped, line.signalled, line.notified, line.token}) {
      state = state * 2 + (b ? 1U : 0U);
    }
    add(state);
  }
  /// The sequence is complete.
  void end() {
    const u32 first = sequences_.empty() ? 0 : sequences_.back().end;
    if (count_ == first) {
      sum_ += begin_.value();
      return;
    }
    sequences_.push_back({begin_, static_cast<u32>(count_)});
    if (count_ >= kBatch) flush();
  }
  [[nodiscard]] u64 value() {
    flush();
    return sum_;
  }

 private:
  static constexpr std::size_t kBatch = 4096;
  static constexpr u32 kLanes = 4;
  struct Wanted {
    u32 at;
    u32 packet;
  };
  struct Sequence {
    Hasher hash;
    u32 end;
  };
  struct Lane {
    Hasher hash;
    const u64* at = nullptr;
    const u64* end = nullptr;
  };

  [[nodiscard]] const core::Packet& record(core::PacketId id) const noexcept {
    return (*pools_[id >> engine::PacketPool::kIndexBits])[id];
  }
  void make_room() {
    if (count_ + 3 > words_.size()) [[unlikely]]
      words_.resize(words_.size() * 2);
  }
  void flush() {
    for (const Wanted& wanted : packets_) {
      const core::Packet& packet = record(wanted.packet);
      words_[wanted.at] = (static_cast<u64>(packet.source) << 32U) | packet.destination;
      words_[wanted.at + 1] = (static_cast<u64>(packet.traffic) << 32U) | packet.sequence;
    }
    hash_all();
    count_ = 0;
    packets_.clear();
    sequences_.clear();
  }
  void hash_all() {
    std::array<Lane, kLanes> lanes;
    std::size_t taken = 0;
    const auto take = [&](Lane& lane) {
      if (taken == sequences_.size()) return false;
      lane = {sequences_[taken].hash, words_.data() + (taken == 0 ? 0 : sequences_[taken - 1].end),
              words_.data() + sequences_[taken].end};
      ++taken;
      return true;
    };
    u32 busy = 0;
    while (busy < kLanes && take(lanes[busy])) ++busy;
    while (busy == kLanes) {
      hash_side_by_side(lanes);
      for (u32 k = 0; k < busy;) {
        Lane& lane = lanes[k];
        if (lane.at != lane.end) {
          ++k;
          continue;
        }
        sum_ += lane.hash.value();
        if (!take(lane)) lane = lanes[--busy];
      }
    }
    for (u32 k = 0; k < busy; ++k) {
      while (lanes[k].at != lanes[k].end) lanes[k].hash.add(*lanes[k].at++);
      sum_ += lanes[k].hash.value();
    }
  }
  /// Until the shortest of them ends.
  static void hash_side_by_side(std::array<Lane, kLanes>& lanes) noexcept {
    std::ptrdiff_t words = lanes[0].end - lanes[0].at;
    for (const Lane& lane : lanes) words = std::min(words, lane.end - lane.at);
    auto [a, b, c, d] = lanes;
    for (; words != 0; --words) {
      a.hash.add(*a.at++);
      b.hash.add(*b.at++);
      c.hash.add(*c.at++);
      d.hash.add(*d.at++);
    }
    lanes = {a, b, c, d};
  }

  const std::vector<engine::PacketPool*>& pools_;  ///< [shard]
  std::vector<u64> words_;
  std::size_t count_ = 0;  ///< words that are in use
  std::vector<Wanted> packets_;
  std::vector<Sequence> sequences_;
  Hasher begin_;  ///< of the sequence that is not complete
  u64 sum_ = 0;
};

}  // namespace

void Fabric::hash_quiet(Side& side) const {
  side.quiet.clear();
  for (u32 port = 0; port < side.valid.size(); ++port) {
    Hasher h;
    h.add(first_word(side, port));
    side.quiet.push_back(h);
    for (u32 q = 0; q < side.stride; ++q) {
      h.add(q);
      side.quiet.push_back(h);
    }
  }
}

u64 Fabric::digest() const {
  settle();
  SumOfHashes sum(pools_);
  // What a port begins with when its first queues are empty, is known.
  const auto add_port = [&](const Side& side, u32 port, u64 first, u64 occupied) {
    u32 q = 0;
    if (side.quiet.empty()) {
      sum.begin();
      sum.add(first);
    } else {
      q = std::min(static_cast<u32>(std::countr_zero(occupied)), side.stride);
      sum.begin(side.quiet[std::size_t{port} * (side.stride + 1) + q]);
    }
    for (; q < side.stride; ++q) {
      if ((occupied >> (q & 63U) & 1U) != 0) {
        store_.for_each(side.queue(port, q), [&](const Item& item) {
          if ((item.packet & kMarker) != 0) {
            sum.add(u64{kMarker} | line_of_marker(item.packet));
          } else {
            sum.add_packet(item);
          }
        });
      }
      sum.add(q);
    }
    for (u64 m = side.valid[port]; m != 0; m &= m - 1) {
      const Line& line = side.line(port, static_cast<u32>(std::countr_zero(m)));
      sum.add_line(line);
      if (plan_.notify_packets != 0) sum.add(line.unreported);
    }
  };
  for (u32 i = 0; i < ingress_.size(); ++i) {
    add_port(in_, i, first_word(in_, i), occupied_in(i));
    if (ingress_[i].item.packet != kNone) sum.add_packet(ingress_[i].item);
    sum.end();
  }
  for (u32 e = 0; e < egress_.size(); ++e) {
    const Egress& out = egress_[e];
    add_port(out_, e, first_word(out_, e), occupied_out(e));
    if (out.item.packet != kNone) sum.add_packet(out.item);
    sum.add(static_cast<u64>(out.free) << 32U | static_cast<u32>(out.credit));
    sum.add(out.root_inputs);
    if (out.adapter) sum.add(admittance_.digest(out.switch_));
    if (!meters_.empty()) {
      sum.add(std::bit_cast<u64>(meters_[e].link.utilization()));
      sum.add(u64{meters_[e].waiting} << 32U | meters_[e].sent);
    }
    sum.end();
  }
  for (const auto& wire : wires_) {
    for (u64 n = 0; n < wire.size(); ++n) {
      sum.begin();
      sum.add(wire[n].at);
      sum.add_packet(wire[n].item);
      sum.end();
    }
  }
  u64 told = 0;
  for (const Fifo<Control>* const list : {&tokens_, &controls_}) {
    for (u64 n = 0; n < list->size(); ++n) told += digest_of((*list)[n]);
  }
  return sum.value() + told + pause_digest();
}

void Fabric::add_held(engine::Holdings& into, u32 bytes) {
  ++into.packets;
  into.flits += bytes;
}

void Fabric::check_queue(engine::Holdings& into, const Side& side, u32 port, u32 q, u64& bytes) const {
  const Queue& queue = side.queue(port, q);
  u32 packets = 0;
  store_.for_each(queue, [&](const Item& item) {
    if ((item.packet & kMarker) != 0) return;
    ++packets;
    bytes += item.bytes;
    add_held(into, item.bytes);
  });
  const u32 number = is_in(side) ? everywhere_in(port) : everywhere_out(port);
  if (packets != queue.packets) {
    into.violations.push_back(fmt::format("queue {} of {} {} holds {} packets and counts {}", q,
                                          is_in(side) ? "ingress" : "egress", number, packets, queue.packets));
  }
  if (q >= side.base && (side.valid[port] >> (q - side.base) & 1U) == 0 && !queue.empty()) {
    into.violations.push_back(fmt::format("a set-aside queue of {} {} was freed with packets in it",
                                          is_in(side) ? "ingress" : "egress", number));
  }
}

void Fabric::hold(engine::Holdings& into) const {
  settle();
  // For every link: credit + on the way there + in the memory behind + credits on the way back = that memory. Pauses
  // have an audit of their own.
  const auto known = [&](u32 channel, u64 bytes) {
    if (!plan_.pause && channel != kNone && bytes != 0) into.places.known(channel, 0, bytes);
  };
  std::vector<u64> crossing(egress_.size());
  for (u32 i = 0; i < ingress_.size(); ++i) {
    const Ingress& in = ingress_[i];
    u64 bytes = 0;
    for (u32 q = 0; q < in_.stride; ++q) check_queue(into, in_, i, q, bytes);
    if (in.item.packet != kNone) {
      bytes += in.item.bytes;
      add_held(into, in.item.bytes);
      crossing[switches_[in.switch_].out_base + in.to] += in.item.bytes;
    }
    known(channel_into(i), bytes);
  }
  for (u64 n = 0; n < credits_.size(); ++n) known(egress_[credits_[n].egress].channel, credits_[n].bytes);
  for (const auto& wire : wires_) {
    for (u64 n = 0; n < wire.size(); ++n) add_held(into, wire[n].item.bytes);
  }
  for (const auto& wire : wires()) {
    for (u64 n = 0; n < wire.size(); ++n) known(channel_into(wire[n].down), wire[n].item.bytes);
  }
  for (u32 e = 0; e < egress_.size(); ++e) {
    const Egress& out = egress_[e];
    u64 bytes = crossing[e];
    for (u32 q = 0; q < out_.stride; ++q) check_queue(into, out_, e, q, bytes);
    if (out.item.packet != kNone) {
      bytes += out.item.bytes;
      add_held(into, out.item.bytes);
    }
    if (bytes + out.free != plan_.memory) {
      into.violations.push_back(fmt::format("the memory of egress {} holds {} bytes and says {} are free",
                                            everywhere_out(e), bytes, out.free));
    }
    if (out.down == kNone || out.to_terminal || plan_.pause) continue;
    into.places.open(out.channel, 0, plan_.memory);
    known(out.channel, static_cast<u64>(static_cast<i64>(out.credit)));
    if (out.item.packet != kNone) known(out.channel, out.item.bytes);
  }
  if (plan_.pause) check_pauses(into);
}

bool Fabric::expects(Tick) const {
  settle();
  if (!credits_.empty() || !tokens_.empty() || !controls_.empty() || !timers_.empty()) return true;
  const auto carries = [](const auto& wire) { return !wire.empty(); };
  return std::any_of(wires_.begin(), wires_.end(), carries) ||
         std::any_of(pause_frames_.begin(), pause_frames_.end(), carries) || wheel_.earliest(now_) != kNever;
}

u32 Fabric::root_channel(u32 switch_, u64 path, u32 length) const {
  u32 channel = kNone;
  for (u32 n = 0; n < length; ++n) {
    channel = graph_.channel_out_of(switch_, output_of(path >> (n * bits_)));
    switch_ = graph_.channel(channel).to.node;
  }
  return channel;
}

/// Bytes that the memory behind a link has left, as far as its sender knows; of pauses all of it or nothing.
u64 Fabric::room_behind(u32 e, Tick now) const {
  if (plan_.pause) return is_paused(e, 0, now) ? 0 : plan_.memory;
  return static_cast<u64>(std::max(egress_[e].credit, 0));
}

void Fabric::show_port(engine::BlockedView& into, const Side& side, u32 port, u32 channel, u32 at) const {
  using engine::Resource;
  using engine::Why;
  const auto name = [&](u32 lane) {
    return is_in(side) ? Resource::input(channel, lane) : Resource::output(channel, lane);
  };
  const u32 capacity = plan_.memory / plan_.packet;
  u32 queues = 0;
  u32 packets = 0;
  for (u32 q = 0; q < side.stride; ++q) {
    const Queue& queue = side.queue(port, q);
    if (queue.packets == 0) continue;
    ++queues;
    packets += queue.packets;
    into.fill(name(q), queue.packets, capacity);
    Item head = queue.head;
    if (into.wants_contents() || !queue.has_packet()) {
      head.packet = kNone;
      store_.for_each(queue, [&](const Item& item) {
        if ((item.packet & kMarker) != 0) return;
        if (head.packet == kNone) head = item;
        if (into.wants_contents()) into.packet(name(q), record(item.packet), item.route);
      });
    }
    if (is_in(side)) {
      show_head_in(into, port, q, head, channel);
    } else {
      show_head_out(into, port, q, head, channel);
    }
  }
  u64 room = is_in(side) ? plan_.memory : egress_[port].free;
  if (is_in(side)) {
    const auto [fabric, e] = before(port);
    if (fabric != nullptr) {
      room = fabric->room_behind(e, last_cycle());
    } else if (const auto told = border_.room.find(port); told != border_.room.end()) {
      room = told->second;
    }
  }
  for (u32 q = 0; room < plan_.packet && plan_.class_packets == 0 && q < side.stride; ++q) {
    const u32 used = side.queue(port, q).packets;
    if (used != 0 && used * queues >= packets) into.blocked(name(Resource::kWhole), name(q));
  }
  for (u64 m = side.valid[port]; m != 0; m &= m - 1) {
    const u32 k = static_cast<u32>(std::countr_zero(m));
    const Line& line = side.line(port, k);
    into.set_aside(name(side.base + k), root_channel(at, line.path, line.length),
                   side.queue(port, side.base + k).packets);
  }
}

// A set-aside queue that Xoff has stopped waits for the one downstream between Xon and the next Xoff too: else the
// trees of a sample would come and go with them.
void Fabric::show_head_in(engine::BlockedView& into, u32 i, u32 q, const Item& head, u32 channel) const {
  using engine::Resource;
  using engine::Why;
  const u32 output = output_of(head.route);
  const u32 e = switches_[ingress_[i].switch_].out_base + output;
  const u32 via = egress_[e].channel;
  const Resource here = Resource::input(channel, q);
  const core::Packet& packet = record(head.packet);
  const Line* line = q >= in_.base ? &in_.line(i, q - in_.base) : nullptr;
  if (line != nullptr && line->blocked) {
    into.blocked(here, Resource::input(channel, base_in(head)), Why::held, packet, via);
  } else if (line != nullptr && (line->stopped || (is_slowed(*line, last_cycle()) && line->peer != kNowhere &&
                                                   out_.queue(e, out_.base + line->peer).packets != 0))) {
    into.blocked(here, Resource::output(via, out_.base + line->peer), Why::space, packet, via);
  } else if (plan_.class_packets != 0 &&
             (class_room_[std::size_t{e} * out_words_ + head.queue_class / 64] >> (head.queue_class & 63U) & 1U) == 0) {
    into.blocked(here, Resource::output(via, head.queue_class), Why::space, packet, via);
  } else if (egress_[e].free < plan_.packet) {
    into.blocked(here, Resource::output(via, Resource::kWhole), Why::space, packet, via);
  } else {
    into.blocked(here, Resource::port(via, kCrossbar), Why::bandwidth, packet, via);
  }
}

std::optional<u32> Fabric::full_behind(const Egress& out, u32 e, u32 queue_class, Tick now) const {
  constexpr u32 kWhole = engine::Resource::kWhole;
  if (plan_.pause) {
    if (out.to_terminal || !is_paused(e, queue_of_class_ & queue_class, now)) return std::nullopt;
    return plan_.class_packets != 0 ? queue_class : kWhole;
  }
  if (!out.to_terminal && plan_.class_packets != 0 &&
      class_credit_[std::size_t{e} * plan_.classes + queue_class] == 0) {
    return queue_class;
  }
  if (out.credit < static_cast<i32>(plan_.packet)) return kWhole;
  return std::nullopt;
}

void Fabric::show_head_out(engine::BlockedView& into, u32 e, u32 q, const Item& head, u32 channel) const {
  using engine::Resource;
  using engine::Why;
  const Egress& out = egress_[e];
  const Resource here = Resource::output(channel, q);
  const core::Packet& packet = record(head.packet);
  const Line* line = q >= out_.base ? &out_.line(e, q - out_.base) : nullptr;
  const QueueBehind same = line != nullptr ? queue_behind(e, *line) : QueueBehind{};
  const u32 queue_class = head.queue_class;
  if (line != nullptr && line->blocked) {
    into.blocked(here, Resource::output(channel, base_out(head)), Why::held, packet, channel);
  } else if (line != nullptr && same.number != kNone &&
             (line->stopped || (is_slowed(*line, last_cycle()) && same.packets != 0))) {
    into.blocked(here, Resource::input(channel, in_.base + same.number), Why::space, packet, channel);
  } else if (const std::optional<u32> full = full_behind(out, e, queue_class, last_cycle())) {
    into.blocked(here, Resource::input(channel, *full), Why::space, packet, channel);
  } else {
    into.blocked(here, Resource::port(channel), Why::bandwidth, packet, channel);
  }
}

void Fabric::blocked_on(engine::BlockedView& into) const {
  into.source_routes(bits_);
  for (const Fabric* const fabric : fabrics_) {
    if (fabric != nullptr) fabric->settle();
  }
  for (u32 e = 0; e < egress_.size(); ++e) {
    const Egress& out = egress_[e];
    if (out.down == kNone) continue;
    show_port(into, out_, e, out.channel, out.to_terminal ? kNone : graph_.channel(out.channel).to.node);
    if (out.to_terminal || out.far) continue;
    show_port(into, in_, out.down, out.channel, node(ingress_[out.down].switch_));
  }
  for (u32 i = 0; i < far_up_.size(); ++i) {
    if (ingress_[i].far != 0) show_port(into, in_, i, channel_into(i), node(ingress_[i].switch_));
  }
}

void Fabric::occupancy(std::vector<u64>& levels) const {
  for (u32 i = 0; i < ingress_.size(); ++i) {
    u64& level = levels[graph_.level(node(ingress_[i].switch_))];
    for (u32 q = 0; q < in_.stride; ++q) level += in_.queue(i, q).packets;
    level += ingress_[i].item.packet != kNone ? 1 : 0;  // a packet leaves the memory when its transfer ends
  }
  for (u32 e = 0; e < adapters_; ++e) {
    u64& level = levels[graph_.level(node(egress_[e].switch_))];
    for (u32 q = 0; q < out_.stride; ++q) level += out_.queue(e, q).packets;
    level += egress_[e].item.packet != kNone ? 1 : 0;
  }
}

void Fabric::full_channels(std::vector<u32>& channels) const {
  settle();
  for (u32 e = 0; e < egress_.size(); ++e) {
    const Egress& out = egress_[e];
    if (out.channel == kNone || out.to_terminal) continue;
    bool full = out.credit < static_cast<i32>(plan_.packet);
    if (plan_.pause) {
      full = false;
      for (u32 c = 0; c < plan_.classes; ++c) full = full || is_paused(e, c, last_cycle());
    }
    if (full) channels.push_back(out.channel);
  }
}

Fabric::Roots Fabric::roots() const {
  Roots roots;
  for (u32 e = 0; e < egress_.size(); ++e) {
    if (egress_[e].root_inputs != 0) roots.egress.push_back(e);
  }
  for (u32 i = 0; i < ingress_.size(); ++i) {
    for (u64 m = in_.valid[i]; m != 0; m &= m - 1) {
      if (!in_.line(i, static_cast<u32>(std::countr_zero(m))).token) roots.ingress.push_back(i);
    }
  }
  return roots;
}

engine::OwnMetrics* Fabric::own_metrics() noexcept {
  if (flows_) own_.set(0, terminals_.source.skipped());
  if (plan_.pause) {
    own_.set(own_pauses_, pause_counts_.told);
    own_.set(own_headroom_, pause_counts_.most_headroom);
  }
  if (!plan_.recn()) return &own_;
  const Roots now = roots();
  u64 saqs = 0;
  for (const Side* side : {&in_, &out_}) {
    for (const u64 v : side->valid) saqs += static_cast<u64>(std::popcount(v));
  }
  own_.set(1, counts_.allocated);
  own_.set(2, counts_.freed);
  own_.set(3, counts_.rejected);
  own_.set(4, counts_.detected_ingress);
  own_.set(5, counts_.detected_egress);
  own_.set(6, counts_.most_saqs);
  own_.set(7, counts_.most_packets);
  own_.set(8, now.ingress.size());
  own_.set(9, now.egress.size());
  own_.set(10, saqs);
  own_.set(11, counts_.most_late);
  if (plan_.notify_packets != 0) own_.set(12, counts_.told_sources);
  if (!plan_.log) return &own_;
  shown_ = own_;
  show_log(now);
  return &shown_;
}

/// Per port: when it first detected congestion and first set a queue aside, and whether it is a root now.
void Fabric::show_log(const Roots& now) {
  const auto place = [&](bool ingress, u32 port) {
    if (ingress) return fmt::format("s{}.in{}", node(ingress_[port].switch_), u32{ingress_[port].port});
    if (egress_[port].adapter) return fmt::format("t{}", terminals_.global(egress_[port].switch_));
    return fmt::format("s{}.out{}", node(egress_[port].switch_), egress_[port].port);
  };
  std::map<std::string, u64> first;
  for (const RecnEvent& event : log_) {
    const char* what = event.kind == RecnEvent::Kind::detected    ? "detected."
                       : event.kind == RecnEvent::Kind::allocated ? "aside."
                                                                  : nullptr;
    if (what != nullptr) first.try_emplace(what + place(event.ingress, event.port), event.at / plan_.link_parts);
  }
  for (const auto& [name, at] : first) shown_.show(name, "cycles", at);
  std::map<std::string, u64> roots;
  for (const u32 e : now.egress) ++roots["root." + place(false, e)];
  for (const u32 i : now.ingress) ++roots["root." + place(true, i)];
  for (const auto& [name, count] : roots) shown_.show(name, "lines", count);
}

}  // namespace banyan::switching::cioq
