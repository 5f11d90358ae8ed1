// The network of packet nodes at work: births, routing, requests, transmissions and arrivals.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/whole_network.hpp"
#include "banyan/switching/packet_node/state.hpp"

namespace banyan::switching::packet_node {

constexpr Stream kWays{"packet_node: choices of routings"};
constexpr std::size_t kCacheBytes = 1U << 20U;  ///< links beyond it are asked for early
constexpr u32 kPathMost = 64;                   ///< steps of a message that can be kept for its later packets
constexpr u64 kReserveMost = 1U << 20U;         ///< records reserved at once; larger networks grow while warming up

/// The network: nodes, links and the packets on them.
class PacketNode final : public engine::WholeNetwork {
 public:
  PacketNode(engine::Builder& builder, u32 ports, const Setup& setup)
      : WholeNetwork(builder, ports, longest_delay(builder, setup), events(builder)),
        setup_(setup),
        links_(static_cast<std::size_t>(switches_) * ports),
        node_ports_(setup.ports == 0 ? 0 : std::size_t{2} * switches_),
        home_(graph_.terminals()),
        entry_(graph_.terminals()),
        own_(builder.settings().steady) {
    using Kind = engine::OwnMetrics::Kind;
    if (setup.consume != 0) {
      completion_ = own_.declare("completion_time", "cycles", Kind::mean);
      stalled_ = own_.declare("receiver_stall", "cycles", Kind::mean);
      stalls_ = own_.declare("receiver_stalls", "per message", Kind::mean);
    }
    packet_hops_ = own_.declare("packet_hops", "hops", Kind::total);
    take_overs_ = own_.declare("take_overs", "packets", Kind::total);
    for (u32 t = 0; t < graph_.terminals(); ++t) {
      home_[t] = graph_.channel(graph_.ejection(t)).from.node;
      entry_[t] = graph_.channel(graph_.injection(t)).to;
    }
    for (const core::Traffic* t : builder.traffics()) answers_ |= t->answers();
    for (u32 e = 0; e < switches_; ++e) {
      for (u32 p = 0; p < graph_.outputs(e); ++p) place_link(e, p);
    }
    far_ = links_.size() * sizeof(Link) > kCacheBytes;
    simple_ = !setup.pipelined && !setup.cut_through && uniform_ && builder.longest_latency() == 1;
    parcels_.reserve(std::min(u64{links_.size()} * (setup.buffers + 1), kReserveMost));
    const u64 messages = std::min(u64{links_.size()} * 4, kReserveMost);
    messages_.reserve(messages);
    pool_.reserve(static_cast<u32>(messages));
  }

  void reset(u32 replication) override {
    restart(kWays, replication);
    for (Link& link : links_) {
      const u32 far = link.far;
      const u32 far_port = link.far_port;
      link = {};
      link.far = far;
      link.far_port = far_port;
      link.buffers.free = far == kNone ? 0 : setup_.buffers;
    }
    if (setup_.shared) pool_buffers();
    std::fill(node_ports_.begin(), node_ports_.end(), Resource{setup_.ports, kNone, kNone});
    parcels_.clear();
    messages_.clear();
    next_birth_ = 0;
    own_.clear();
    passed_ = 0;
    stranded_ = disordered_ = false;
  }

  /// Events: 2 x link: the end of its transmission; 2 x parcel + 1: its arrival.
  Tick run(Tick now) noexcept override {
    now_ = now;
    // Flat: with calls to what an event causes a run takes 12 % more instructions.
    calendar_.take(
        now, far_, [&](const u32* events, u32 count, u32 i) __attribute__((flatten)) {
          if (far_ && simple_) fetch(events, count, i);
          const u32 event = events[i];
          if ((event & 1U) == 0) {
            finish(event >> 1U);
          } else {
            arrive(event >> 1U);
          }
        });
    if (now >= next_birth_ || answers_) {
      take_births(now);
      next_birth_ = terminals_.source.next_birth_after(now);
    }
    return std::min(calendar_.next_after(now), next_birth_);
  }

  void archive(Archive& a) override {
    archive_network(a);
    // As many as there are messages, and not as many as there is room for.
    if (!a.reading() && !paths_.empty()) paths_.resize(messages_.size() * kPathMost, kUnknown);
    a(links_, node_ports_, parcels_, messages_, paths_, next_birth_, own_);
    a(passed_, stranded_, disordered_);
  }

  // --- what the engine asks --------------------------------------------------------------------------------------
  [[nodiscard]] engine::OwnMetrics* own_metrics() noexcept override { return &own_; }

  /// Packets that pass through a node lie in a buffer there; those at their source and destination are the processors'.
  [[nodiscard]] bool activity(engine::Activity& into) const override;
  [[nodiscard]] u64 digest() const override;
  void hold(engine::Holdings& into) const override;
  void blocked_on(engine::BlockedView& into) const override;
  void occupancy(std::vector<u64>& levels) const override {
    for (u32 i = 0; i < links_.size(); ++i) levels[graph_.level(i / ports_)] += capacity(i) - links_[i].buffers.free;
  }
  void full_channels(std::vector<u32>& channels) const override {
    for (u32 i = 0; i < links_.size(); ++i) {
      if (capacity(i) != 0 && links_[i].buffers.free == 0) channels.push_back(channel_out_of(i));
    }
  }

 private:
  // --- building --------------------------------------------------------------------------------------------------
  [[nodiscard]] static Tick longest_delay(const engine::Builder& builder, const Setup& setup) {
    u32 slowest = 1;
    for (const core::Channel& c : builder.topology().graph().channels()) {
      slowest = std::max(slowest, c.link.cycles_per_flit);
    }
    const u64 bytes = std::min(builder.longest_message(), setup.payload) + u64{setup.header};
    return setup.acquire + bytes * slowest / setup.bandwidth + builder.longest_latency();
  }
  [[nodiscard]] static std::size_t events(const engine::Builder& builder) {
    return std::size_t{2} * builder.topology().graph().channels().size();
  }

  void place_link(u32 e, u32 port) {
    const u32 c = graph_.channel_out_of(e, port);
    if (c == kNone || graph_.channel(c).failed || graph_.channel(c).to.terminal) return;
    const core::Channel& channel = graph_.channel(c);
    links_[e * ports_ + port].far = channel.to.node;
    links_[e * ports_ + port].far_port = channel.to.port;
    uniform_ = uniform_ && channel.link.cycles_per_flit == 1;
  }
  /// All buffers of a node at its first link.
  void pool_buffers() {
    for (u32 i = 0; i < links_.size(); ++i) links_[i].buffers.free = capacity(i);
  }
  [[nodiscard]] u32 pool_of(u32 link) const noexcept { return setup_.shared ? link / ports_ * ports_ : link; }
  /// Buffers that are counted at this link.
  [[nodiscard]] u32 capacity(u32 link) const noexcept {
    if (!setup_.shared) return links_[link].far == kNone ? 0 : setup_.buffers;
    if (link % ports_ != 0) return 0;
    u32 sum = 0;
    for (u32 i = link; i < link + ports_; ++i) sum += links_[i].far == kNone ? 0 : setup_.buffers;
    return sum;
  }

  // --- resources -------------------------------------------------------------------------------------------------
  /// Numbers: the buffers of links, then the ports into the nodes' processors, then those out of them.
  [[nodiscard]] u32 ejection_port(u32 node) const noexcept { return static_cast<u32>(links_.size()) + node; }
  [[nodiscard]] u32 injection_port(u32 node) const noexcept {
    return static_cast<u32>(links_.size()) + switches_ + node;
  }
  [[nodiscard]] Resource& resource(u32 number) noexcept {
    return number < links_.size() ? links_[number].buffers : node_ports_[number - links_.size()];
  }

  void wait(u32 link, u32 number) noexcept {
    Resource& r = resource(number);
    links_[link].waits_for = number;
    links_[link].next_waiting = kNone;
    (r.first == kNone ? r.first : links_[r.last].next_waiting) = link;
    r.last = link;
  }
  void stop_waiting(u32 link) noexcept {
    Resource& r = resource(links_[link].waits_for);
    u32 before = kNone;
    for (u32 at = r.first; at != link; at = links_[at].next_waiting) before = at;
    (before == kNone ? r.first : links_[before].next_waiting) = links_[link].next_waiting;
    if (r.last == link) r.last = before;
    links_[link].waits_for = kNone;
  }
  void release(u32 number) noexcept {
    Resource& r = resource(number);
    ++r.free;
    while (r.free != 0 && r.first != kNone) {
      const u32 link = r.first;
      r.first = links_[link].next_waiting;
      if (r.first == kNone) r.last = kNone;
      links_[link].waits_for = kNone;
      start_next(link);
    }
  }

  // --- sources ---------------------------------------------------------------------------------------------------
  void take_births(Tick now) noexcept {
    terminals_.source.advance(now);
    const std::span<const u64> ready = terminals_.source.ready();
    for (u32 w = 0; w < ready.size(); ++w) {
      while (ready[w] != 0) {
        const u32 local = w * 64 + static_cast<u32>(std::countr_zero(ready[w]));
        take_message(local, terminals_.source.take_waiting(local, now));
      }
    }
  }

  void take_message(u32 local, core::PacketId id) noexcept {
    core::Packet& packet = pool_[id];
    const core::End entry = entry_[packet.source];
    if (home_[packet.destination] == entry.node) {
      movements_ += packet.flits;
      terminals_.source.sent(local, packet, packet.flits, now_, true);
      terminals_.sink.deliver_message(packet, packet.destination, now_, now_, 1);
      pool_.release(id);
      return;
    }
    const u32 m = messages_.take();
    Message& message = messages_[m];
    message = {};
    message.record = id;
    message.flits = message.left = packet.flits;
    message.home = home_[packet.destination];
    if (!paths_.empty()) forget_path(m);
    message.first = route(entry.node, entry.port, m, 0);
    if (message.first == kNone) [[unlikely]] {
      stranded_ = true;
      return;
    }
    message.ahead = link_after(message.first, m, 1);
    ask(message.first, m);
    if (idle(message.first)) start_next(message.first);
  }

  /// The message's request goes to the end of the queue of its link.
  void ask(u32 at, u32 m) noexcept {
    Link& link = links_[at];
    messages_[m].stamp = link.stamp++;
    messages_.append(link.sources, m);
    ++link.requests;
  }

  // --- routing ---------------------------------------------------------------------------------------------------
  /// The link that follows `link` on the way of message m, whose `step`-th link it is (from 1 on).
  [[nodiscard]] u32 link_after(u32 link, u32 m, u32 step) noexcept {
    const u32 node = links_[link].far;
    return node == messages_[m].home ? kHere : route(node, links_[link].far_port, m, step);
  }

  /// The link that a packet of message m takes at a node. Where the routing leaves a choice the message's first packet
  /// chooses, and the others follow.
  [[nodiscard]] u32 route(u32 node, u32 in_port, u32 m, u32 step) noexcept {
    const u32 base = node * ports_;
    ask_routing(base + in_port, messages_[m].record, step);
    if (candidates_.size() == 1) [[likely]] {
      const u32 link = base + candidates_[0].port;
      if (links_[link].far != kNone) return link;
    }
    if (step == 0) return shortest(base);
    if (paths_.size() < messages_.size() * kPathMost) paths_.resize(messages_.capacity() * kPathMost, kUnknown);
    if (step >= kPathMost) [[unlikely]]
      return stray();
    u8& kept = paths_[std::size_t{m} * kPathMost + step];
    if (kept == kUnknown) {
      const u32 link = shortest(base);
      if (link == kNone) return stray();
      kept = static_cast<u8>(link - base);
    }
    return base + kept;
  }
  [[nodiscard]] u32 stray() noexcept {
    stranded_ = true;
    return kHere;
  }

  /// Gives the candidate of highest priority with the shortest queue, a packet on the link included; among equals that
  /// with the lowest port.
  [[nodiscard]] u32 shortest(u32 base) const noexcept {
    u32 best = kNone;
    i64 best_score = std::numeric_limits<i64>::min();
    for (const core::Candidate& c : candidates_) {
      const Link& link = links_[base + c.port];
      if (link.far == kNone) continue;
      const u32 length = link.requests + (link.sending != kNone ? 1U : 0U);
      const i64 score = (static_cast<i64>(c.priority) << 40U) - (static_cast<i64>(length) << 8U) - c.port;
      if (score > best_score) {
        best = base + c.port;
        best_score = score;
      }
    }
    return best;
  }
  void forget_path(u32 m) noexcept {
    const std::size_t begin = std::size_t{m} * kPathMost;
    if (begin < paths_.size()) std::fill_n(paths_.begin() + static_cast<std::ptrdiff_t>(begin), kPathMost, kUnknown);
  }

  // --- links -----------------------------------------------------------------------------------------------------
  [[nodiscard]] bool idle(u32 link) const noexcept {
    return links_[link].sending == kNone && links_[link].waits_for == kNone;
  }

  /// What a packet whose next link is `ahead` needs at its arrival; kNone: nothing.
  [[nodiscard]] u32 needed_at(u32 ahead, u32 home) const noexcept {
    if (ahead != kHere) return pool_of(ahead);
    return setup_.ports == 0 ? kNone : ejection_port(home);
  }

  /// The oldest request of an idle link that does not wait starts, or makes it wait.
  void start_next(u32 at) noexcept {
    Link& link = links_[at];
    if (link.requests == 0) return;
    bool takes_over = false;
    if (source_first(link)) {
      const Message& message = messages_[link.sources.first];
      u32 missing = kNone;
      if (setup_.ports != 0 && resource(injection_port(at / ports_)).free == 0) missing = injection_port(at / ports_);
      if (missing == kNone) missing = missing_of(needed_at(message.ahead, message.home));
      if (missing == kNone) return start_message(at);
      if (link.passing.empty() || setup_.take_over == TakeOver::never) return wait(at, missing);
      takes_over = true;
    }
    const Parcel& parcel = parcels_[link.passing.first];
    const u32 missing = missing_of(needed_at(parcel.ahead, messages_[parcel.message].home));
    if (missing != kNone) return wait(at, missing);
    if (takes_over) own_.count(take_overs_);
    link.sender = kNone;
    send(at, parcels_.pop(link.passing));
  }
  /// True when the oldest request is of a message at its source; there is one.
  [[nodiscard]] bool source_first(const Link& link) const noexcept {
    if (link.passing.empty()) return true;
    if (link.sources.empty() || setup_.take_over == TakeOver::always) return false;
    return static_cast<i32>(messages_[link.sources.first].stamp - parcels_[link.passing.first].stamp) < 0;
  }
  [[nodiscard]] u32 missing_of(u32 needed) noexcept {
    return needed == kNone || resource(needed).free != 0 ? kNone : needed;
  }

  /// The next packet of the first message in the queue goes onto the link.
  void start_message(u32 at) noexcept {
    Link& link = links_[at];
    const u32 m = messages_.pop(link.sources);
    Message& message = messages_[m];
    link.sender = m;
    if (setup_.ports != 0) --resource(injection_port(at / ports_)).free;
    core::Packet& packet = pool_[message.record];
    if (message.left == message.flits) packet.enter = now_;
    const u32 p = parcels_.take();
    Parcel& parcel = parcels_[p];
    parcel = {};
    parcel.message = m;
    parcel.ahead = message.ahead;
    parcel.data = std::min(setup_.payload, message.left);
    parcel.begin = message.flits - message.left;
    message.left -= parcel.data;
    terminals_.source.sent(packet.source, packet, parcel.data, now_, parcel.begin == 0);
    send(at, p);
  }

  /// Time that a packet takes a link beyond that of its own bytes, in cycles times the bandwidth: until it is routed,
  /// and what bytes leave free of the last cycle.
  [[nodiscard]] u64 overhead_of(u32 at, u32 bytes, Tick acquire) const noexcept {
    const u32 slowness = graph_.channel(channel_out_of(at)).link.cycles_per_flit;
    const Tick taken = on_wire(bytes * slowness) + (setup_.pipelined ? 0 : acquire);
    return taken * setup_.bandwidth - u64{bytes} * slowness;
  }

  [[nodiscard]] bool is_routed(const Parcel& parcel) const noexcept { return !setup_.route_once || parcel.begin == 0; }
  [[nodiscard]] u32 bytes_of(const Parcel& parcel) const noexcept {
    return parcel.data + (is_routed(parcel) ? setup_.header : 0);
  }

  void send(u32 at, u32 p) noexcept {
    Link& link = links_[at];
    Parcel& parcel = parcels_[p];
    --link.requests;
    link.sending = p;
    parcel.flying = true;
    ++parcel.links;
    const u32 needed = needed_at(parcel.ahead, messages_[parcel.message].home);
    if (needed != kNone) --resource(needed).free;
    const bool routed = is_routed(parcel);
    const u32 bytes = bytes_of(parcel);
    // A pipeline keeps the order: what follows a packet that is being routed is seen no earlier than that.
    const Tick acquire = routed || setup_.pipelined ? setup_.acquire : 0;
    movements_ += bytes;
    if (link.sender == kNone) passed_ += bytes;
    own_.count(packet_hops_);
    if (probe_ != nullptr) [[unlikely]]
      probe_->chunk_sent(channel_out_of(at), pool_[messages_[parcel.message].record], bytes, parcel.begin == 0, now_,
                         overhead_of(at, bytes, acquire));
    if (simple_) [[likely]] {
      calendar_.put(at << 1U, now_ + acquire + on_wire(bytes), now_);
      return;
    }
    const core::Link& wire = graph_.channel(channel_out_of(at)).link;
    const Tick busy = on_wire(bytes * wire.cycles_per_flit);
    calendar_.put(at << 1U, now_ + busy + (setup_.pipelined ? 0 : acquire), now_);
    const bool through = setup_.cut_through && parcel.ahead != kHere;
    const Tick seen = through ? header_seen(bytes, parcel.data, wire.cycles_per_flit, parcel.ahead) : busy;
    calendar_.put(p << 1U | 1U, now_ + acquire + seen + wire.latency_cycles - 1, now_);
  }
  /// Under cut-through a packet goes on when its header is there; where the link ahead is faster, so late that its tail
  /// is not out of that link before it has come in.
  [[nodiscard]] Tick header_seen(u32 bytes, u32 data, u32 cycles_per_flit, u32 ahead) const noexcept {
    const Tick header = on_wire((bytes - data) * cycles_per_flit);
    const Tick busy = on_wire(bytes * cycles_per_flit);
    const Tick after = on_wire(bytes * graph_.channel(channel_out_of(ahead)).link.cycles_per_flit);
    return busy > after ? std::max(header, busy - after) : header;
  }
  [[nodiscard]] Tick on_wire(u32 bytes) const noexcept {
    return setup_.bandwidth == 1 ? bytes : (bytes + setup_.bandwidth - 1) / setup_.bandwidth;
  }

  /// The end of a transmission.
  void finish(u32 at) noexcept {
    Link& link = links_[at];
    const u32 p = link.sending;
    const u32 sender = link.sender;
    link.sending = kNone;
    if (sender == kNone) {
      release(pool_of(at));
    } else {
      if (messages_[sender].left != 0) ask(at, sender);
      if (setup_.ports != 0) release(injection_port(at / ports_));
    }
    if (simple_) arrive(p);
    if (idle(at)) start_next(at);
  }

  /// A packet has arrived at the far end of a link; under cut-through, its header has.
  void arrive(u32 p) noexcept {
    Parcel& parcel = parcels_[p];
    parcel.flying = false;
    if (parcel.ahead == kHere) return deliver(p);
    const u32 at = parcel.ahead;
    Link& link = links_[at];
    parcel.ahead = link_after(at, parcel.message, parcel.links + 1U);
    parcel.stamp = link.stamp++;
    const bool first = link.passing.empty();
    parcels_.append(link.passing, p);
    ++link.requests;
    if (link.sending != kNone) return;
    // An idle link waits on behalf of a message at its source: the packet may take it over.
    if (link.waits_for != kNone && first && setup_.take_over != TakeOver::never) stop_waiting(at);
    if (link.waits_for == kNone) start_next(at);
  }

  void deliver(u32 p) noexcept {
    const Parcel parcel = parcels_[p];
    Message& message = messages_[parcel.message];
    parcels_[p].message = kNone;
    parcels_.give_back(p);
    movements_ += bytes_of(parcel);
    if (parcel.begin != message.arrived) [[unlikely]]
      disordered_ = true;
    if (message.arrived == 0) message.first_data = now_;
    if (setup_.consume != 0) consume(message, parcel.data);
    message.arrived += parcel.data;
    const u32 home = message.home;
    if (message.arrived == message.flits) {
      const core::Packet& packet = pool_[message.record];
      if (setup_.consume != 0) note_consumed(message, packet);
      terminals_.sink.deliver_message(packet, packet.destination, message.first_data, now_, parcel.links + 1U);
      pool_.release(message.record);
      message.flits = 0;
      messages_.give_back(parcel.message);
    }
    if (setup_.ports != 0) release(ejection_port(home));
  }

  /// The receiver goes through the data at its own speed and waits where they have not arrived yet.
  void consume(Message& message, u32 bytes) noexcept {
    const u64 now = now_ << kConsumeBits;
    if (now > message.busy_until) {
      if (message.arrived != 0) {
        ++message.stalls;
        message.stalled += now - message.busy_until;
      }
      message.busy_until = now;
    }
    message.busy_until += bytes * setup_.consume;
  }
  void note_consumed(const Message& message, const core::Packet& packet) noexcept {
    own_.add(completion_, packet.birth, (message.busy_until >> kConsumeBits) - packet.birth);
    own_.add(stalled_, packet.birth, message.stalled >> kConsumeBits);
    own_.add(stalls_, packet.birth, message.stalls);
  }

  /// Asks early for the memory of the events that follow: links, then what is on them and in their queues, then what
  /// that refers to. Inline, because g++ drops calls of functions that do nothing else.
  [[gnu::always_inline]] void fetch(const u32* events, u32 count, u32 i) const noexcept {
    if (i + 24 < count) __builtin_prefetch(&links_[events[i + 24] >> 1U], 1);
    if (i + 16 < count) {
      const Link& link = links_[events[i + 16] >> 1U];
      if (link.sending != kNone) __builtin_prefetch(&parcels_[link.sending], 1);
      if (!link.passing.empty()) __builtin_prefetch(&parcels_[link.passing.first], 1);
      if (!link.sources.empty()) __builtin_prefetch(&messages_[link.sources.first], 1);
    }
    if (i + 8 < count) {
      const Link& link = links_[events[i + 8] >> 1U];
      for (const u32 p : {link.sending, link.passing.first}) {
        if (p == kNone || parcels_[p].message == kNone) continue;
        __builtin_prefetch(&messages_[parcels_[p].message], 1);
        if (parcels_[p].ahead != kHere) __builtin_prefetch(&links_[parcels_[p].ahead], 1);
      }
    }
    if (i + 4 < count) {
      const u32 p = links_[events[i + 4] >> 1U].sending;
      if (p != kNone && parcels_[p].message != kNone) {
        const Message& message = messages_[parcels_[p].message];
        __builtin_prefetch(&pool_[message.record]);
      }
    }
  }

  // --- audits and explanations: audit.cpp ------------------------------------------------------------------------
  void violate(engine::Holdings& into, u32 link, const std::string& what) const;
  void add_message(Hasher& h, const Message& m) const;
  void add_parcel(Hasher& h, const Parcel& p) const;
  [[nodiscard]] engine::Resource buffers_of(u32 link) const;
  [[nodiscard]] const core::Packet& record_of(u32 message) const { return pool_[messages_[message].record]; }

  static constexpr u8 kUnknown = 255;

  Setup setup_;
  std::vector<Link> links_;           ///< [node * ports + output]
  std::vector<Resource> node_ports_;  ///< [node]: into processors; then out of them; empty: no limit
  std::vector<u32> home_;             ///< [terminal]: node where its packets leave
  std::vector<core::End> entry_;      ///< [terminal]: where they enter
  engine::Queues<Parcel> parcels_;
  engine::Queues<Message> messages_;
  std::vector<u8> paths_;  ///< [message * kPathMost + step]: port, where a routing leaves a choice
  bool uniform_ = true;    ///< every link carries a byte per tick and unit of bandwidth
  bool simple_ = false;    ///< the end of a transmission is its arrival
  bool answers_ = false;
  bool far_ = false;  ///< links exceed the cache
  Tick next_birth_ = 0;
  engine::OwnMetrics own_;
  u32 completion_ = 0;  ///< numbers of metrics
  u32 stalled_ = 0;
  u32 stalls_ = 0;
  u32 packet_hops_ = 0;
  u32 take_overs_ = 0;
  u64 passed_ = 0;  ///< bytes that left a node's buffer onto a link
  bool stranded_ = false;
  bool disordered_ = false;
};

}  // namespace banyan::switching::packet_node
