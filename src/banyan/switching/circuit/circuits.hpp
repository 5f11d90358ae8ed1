// Circuit switching: a header reserves one virtual channel per hop and comes back when it is blocked; an acknowledgment
// returns over the path; then the message streams over it, and frees every channel as its tail crosses it.
//
// A change on one channel is seen by all circuits through it in the same cycle, so this population reads and writes
// across switches (peer access) and lives in one shard. Within a cycle: tails free what they have crossed, headers that
// turned back free what they have left; then headers act, in an order that begins somewhere else in every cycle; then
// data move (streams.hpp).
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/bits.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/blocked.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/own_metrics.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"
#include "banyan/engine/wake_wheel.hpp"
#include "banyan/switching/circuit/choice.hpp"
#include "banyan/switching/circuit/streams.hpp"

namespace banyan::switching::parts {

inline constexpr Stream kCircuitWays{"circuit: choices of routings"};
inline constexpr Stream kCircuitAlternatives{"circuit: order of alternatives"};
inline constexpr Stream kCircuitBackoffs{"circuit: pauses before another attempt"};
inline constexpr Stream kCircuitTurns{"circuit: whom a cycle begins with"};
inline constexpr u32 kMostServers = 64;                            ///< of a terminal without a limit
inline constexpr u32 kMostHops = CircuitStreams::kMostStages - 2;  ///< and two channels of terminals

/// What a header does when no virtual channel that it may take is free.
enum class WhenBlocked : u8 { back_to_source, backtrack, wait };

struct CircuitSettings {
  u32 vcs = 2;
  Sharing sharing = Sharing::tdm;
  u32 queues = 2;   ///< source queues per terminal
  u32 servers = 1;  ///< circuits at once per queue
  WhenBlocked blocked = WhenBlocked::back_to_source;
  bool in_order = false;          ///< candidates are tried in the routing's order
  std::vector<u32> alternatives;  ///< per hop: candidates that may be tried; the last one holds on
  u32 acquire = 1;
  u32 backtrack = 1;
  u32 acknowledge = 1;
  u32 retry_delay = 0;
  u32 backoff = 0;
  u32 injection_circuits = kNone;
  u32 ejection_circuits = kNone;
  u32 injection_flits = 0;  ///< lanes of a terminal; 0: no limit
  u32 ejection_flits = 0;
  bool pipeline = true;
  bool shared_directions = false;
  u32 header = 0;          ///< flits in front of the data
  double consumption = 0;  ///< flits per cycle that a receiver goes through; 0: not looked at
};

class Circuits final : public engine::Population {
 public:
  Circuits(engine::Builder& builder, CircuitSettings settings)
      : set_(std::move(settings)),
        graph_(builder.topology().graph()),
        routing_(builder.routing()),
        terminals_(builder.terminals(0)),
        pool_(terminals_.pool()),
        probe_(builder.probe(0)),
        seed_(builder.settings().seed),
        permuted_(builder.settings().permuted),
        channels_(static_cast<u32>(graph_.channels().size())),
        most_(terminals_.size() * set_.servers + switch_channels() * set_.vcs +
              graph_.terminals() * most_in_ejection_lanes()),
        words_((most_ + 63) / 64),
        streams_(channels_ + graph_.terminals() * (set_.injection_flits + set_.ejection_flits), lane_vcs(), most_,
                 set_.sharing, channels_),
        circuits_(most_),
        tried_(set_.blocked == WhenBlocked::backtrack ? static_cast<std::size_t>(most_) * kMostHops : 0),
        wheel_(most_),
        awake_(words_),
        acting_(words_),
        free_(words_),
        free_servers_(terminals_.size()),
        has_server_((terminals_.size() + 63) / 64),
        injecting_(graph_.terminals()),
        ejecting_(graph_.terminals()),
        physical_(physical_channels()),
        choice_(graph_, physical_, set_.in_order, set_.alternatives),
        own_(builder.settings().steady) {
    for (u32 t = 0; t < graph_.terminals(); ++t) entry_.push_back(graph_.channel(graph_.injection(t)).to);
    pool_.reserve(most_);
    using Kind = engine::OwnMetrics::Kind;
    setup_ = own_.declare("setup_latency", "cycles", Kind::mean);
    attempts_ = own_.declare("setup_attempts", "attempts", Kind::mean);
    first_ = own_.declare("message_latency_first", "cycles", Kind::mean);
    last_ = own_.declare("message_latency_last", "cycles", Kind::mean);
    service_ = own_.declare("service_time", "cycles", Kind::mean);
    service_squared_ = own_.declare("service_time_squared", "cycles^2", Kind::mean);
    multiplexing_ = own_.declare("multiplexing_degree", "circuits", Kind::level);
    if (set_.consumption > 0.0) completion_ = own_.declare("completion_time", "cycles", Kind::mean);
  }

  void reset(u32 replication) override {
    streams_.clear();
    std::fill(circuits_.begin(), circuits_.end(), Circuit{});
    wheel_.clear();
    std::fill(awake_.begin(), awake_.end(), 0);
    std::fill(acting_.begin(), acting_.end(), 0);
    std::fill(free_servers_.begin(), free_servers_.end(), set_.servers);
    std::fill(has_server_.begin(), has_server_.end(), ~u64{0});
    std::fill(injecting_.begin(), injecting_.end(), 0);
    std::fill(ejecting_.begin(), ejecting_.end(), 0);
    std::fill(free_.begin(), free_.end(), ~u64{0});
    used_words_ = 0;
    busy_ = squares_ = local_moves_ = 0;
    crossed_ = linked_ = buffered_ = allocated_ = 0;
    long_path_ = false;
    own_.clear();
    ways_ = core::HopRandom(seed_, kCircuitWays, replication);
    alternatives_ = Random(seed_, kCircuitAlternatives, 0, replication);
    backoff_ = Random(seed_, kCircuitBackoffs, 0, replication);
    turns_ = Random(seed_, kCircuitTurns, 0, replication);
  }

  void archive(Archive& a) override {
    a(streams_, circuits_, hops_taken_, tried_, wheel_, awake_, acting_, free_, used_words_, free_servers_,
      has_server_);
    a(injecting_, ejecting_, busy_, squares_, local_moves_, crossed_, linked_, buffered_, allocated_, long_path_, own_);
  }

  Tick run(Tick now) noexcept override {
    wheel_.take(now, awake_);
    for (u32 i = 0; i < used_words_; ++i) {
      const u32 w = permuted_ ? used_words_ - 1 - i : i;
      u64 bits = awake_[w];
      awake_[w] = 0;
      while (bits != 0) {
        const u32 bit = static_cast<u32>(permuted_ ? 63 - std::countl_zero(bits) : std::countr_zero(bits));
        bits &= ~(u64{1} << bit);
        due(w * 64 + bit, now);
      }
    }
    take_messages(now);
    act_all(now);
    if (streams_.sharing()) {
      streams_.share(now, [&](u32 c) { wake(c, now + 1, now); });
    }
    streams_.take_touched([&](u32 c) {
      if (const Tick look = streams_.next_look(c); look != kNever) wake(c, look, now);
    });
    note_use(now);
    const Tick next = streams_.sharing() || may_take() ? now + 1 : wheel_.next_after(now);
    return std::min(next, terminals_.source.next_birth_after(now));
  }

  u64 digest() const override {
    u64 sum = streams_.digest_of_channels() + mix64(movements());
    for (u32 c = 0; c < used(); ++c) {
      const Circuit& k = circuits_[c];
      if (k.state == State::idle) continue;
      const core::Packet& packet = pool_[k.packet];
      Hasher h;
      h.add(static_cast<u64>(packet.source) << 32U | packet.sequence);
      for (const u64 v : {packet.birth, u64{packet.destination}, static_cast<u64>(k.state), k.due, u64{k.hops},
                          u64{k.attempts}, u64{k.draws}, u64{k.asked}}) {
        h.add(v);
      }
      streams_.hash(c, h);
      sum += h.value();
    }
    return sum;
  }

  void hold(engine::Holdings& into) const override {
    u64 reserved = 0;
    u64 held = 0;
    for (u32 c = 0; c < used(); ++c) {
      const Circuit& k = circuits_[c];
      held += streams_.held(c);
      if (k.state == State::idle) continue;
      ++into.packets;
      into.flits += pool_[k.packet].flits;
    }
    for (u32 c = 0; c < streams_.channels(); ++c) {
      for (u64 bits = streams_.reserved(c); bits != 0; bits &= bits - 1) {
        const u32 vc = static_cast<u32>(std::countr_zero(bits));
        ++reserved;
        if (circuits_[streams_.owner(c, vc)].state == State::idle) {
          into.violations.push_back(fmt::format("virtual channel {} of channel {} is reserved for nobody", vc, c));
        }
      }
    }
    if (reserved != held) {
      into.violations.push_back(fmt::format("{} virtual channels are reserved, and circuits hold {}", reserved, held));
    }
    if (streams_.late()) into.violations.emplace_back("the tail of a stream was looked at too late");
    if (long_path_) {
      into.violations.push_back(
          fmt::format("the routing leads over more than {} channels between switches", kMostHops));
    }
  }

  u64 movements() const noexcept override { return streams_.moved() + local_moves_; }
  /// Data of circuits that are over; virtual channels that headers gave back, too.
  bool activity(engine::Activity& into) const override {
    into += {.buffer_writes = buffered_,
             .buffer_reads = buffered_,
             .crossbar_traversals = crossed_,
             .link_traversals = linked_,
             .vc_allocations = allocated_,
             .has_buffers = set_.pipeline};
    return true;
  }
  /// Headers that go on or back, acknowledgments, data and pauses before another attempt come to an end by themselves.
  bool expects(Tick) const override {
    return std::any_of(circuits_.begin(), circuits_.begin() + used(),
                       [](const Circuit& k) { return k.state != State::idle && !k.waits; });
  }
  engine::OwnMetrics* own_metrics() noexcept override { return &own_; }

  /// A virtual channel is a resource; a header keeps all that it has while it waits for any of several.
  void blocked_on(engine::BlockedView& into) const override {
    using engine::Resource;
    for (u32 c = 0; c < channels_; ++c) {
      for (u64 bits = streams_.reserved(c); bits != 0; bits &= bits - 1) {
        const u32 vc = static_cast<u32>(std::countr_zero(bits));
        into.fill(Resource::port(c, vc), 1, 1);
        if (into.wants_contents()) into.packet(Resource::port(c, vc), pool_[circuits_[streams_.owner(c, vc)].packet]);
      }
    }
    for (u32 c = 0; c < used(); ++c) {
      const Circuit& k = circuits_[c];
      if (k.state != State::header) continue;
      const core::Packet& packet = pool_[k.packet];
      core::Candidates candidates;
      routing_.route(request(c, 0), candidates);
      for (const core::Candidate& candidate : candidates) {
        const u32 channel = graph_.channel_out_of(k.at, candidate.port);
        if (channel == kNone || graph_.channel(channel).to.terminal) continue;
        for (u32 vc = candidate.vc_begin; vc < candidate.vc_end; ++vc) {
          if ((streams_.reserved(physical_[channel]) >> vc & 1U) == 0) continue;
          const Resource on = Resource::port(physical_[channel], vc);
          const auto waits = [&](Resource has) { into.blocked(has, on, engine::Why::held, packet, channel); };
          if (k.hops == 0) waits(Resource::source(packet.source, k.queue % terminals_.queues()));
          for (u32 hop = 0; hop < k.hops; ++hop) {
            const u32 stage = stage_of_hop(hop);
            waits(Resource::port(streams_.channel_of(c, stage), streams_.vc_of(c, stage)));
          }
        }
      }
    }
  }

  void occupancy(std::vector<u64>& levels) const override {
    for (u32 c = 0; c < used(); ++c) {
      if (circuits_[c].state != State::idle) ++levels[graph_.level(circuits_[c].at)];
    }
  }

  void full_channels(std::vector<u32>& channels) const override {
    const u64 all = set_.vcs == 64 ? ~u64{0} : (u64{1} << set_.vcs) - 1;
    for (u32 c = 0; c < channels_; ++c) {
      if (streams_.reserved(physical_[c]) == all) channels.push_back(c);
    }
  }

 private:
  /// header: acts when it is due. back: returns over its path, `whole` or one hop. acknowledged: data start when the
  /// acknowledgment is there. stream: data move. wire: data move without delay per hop, or within one switch where
  /// terminals have no lanes.
  enum class State : u8 { idle, header, back, acknowledged, stream, wire };
  struct Circuit {
    Tick due = kNever;  ///< when it is looked at; later looks may be registered too
    Tick began = 0;     ///< data
    core::PacketId packet = 0;
    u32 queue = 0;
    u32 at = 0;     ///< switch of the header
    u32 draws = 0;  ///< random words that the header has used
    u32 asked = 0;  ///< times that the routing was asked for it
    u32 attempts = 0;
    u16 hops = 0;     ///< channels between switches that are reserved
    u16 in_port = 0;  ///< of the header's switch, over the last of them
    State state = State::idle;
    bool whole = false;  ///< returns to the source, not only one hop
    bool waits = false;  ///< the header keeps its path and waits for a channel
    Words words{};
  };

  [[nodiscard]] u32 switch_channels() const {
    u32 count = 0;
    for (const core::Channel& c : graph_.channels()) count += c.from.terminal || c.to.terminal ? 0U : 1U;
    return count;
  }
  /// Circuits of a terminal whose tail has left every channel between switches and is still in a lane to the terminal.
  [[nodiscard]] u32 most_in_ejection_lanes() const {
    return std::min(set_.ejection_circuits, set_.ejection_flits * CircuitStreams::kMostVcs);
  }
  /// Lanes of terminals take as many circuits as may come.
  [[nodiscard]] u32 lane_vcs() const {
    return set_.injection_flits + set_.ejection_flits != 0 ? CircuitStreams::kMostVcs : set_.vcs;
  }
  [[nodiscard]] std::vector<u32> physical_channels() const {
    std::vector<u32> list(channels_);
    for (u32 c = 0; c < channels_; ++c) list[c] = set_.shared_directions ? std::min(c, opposite(c)) : c;
    return list;
  }
  [[nodiscard]] u32 opposite(u32 channel) const {
    const core::Channel& there = graph_.channel(channel);
    if (there.from.terminal || there.to.terminal) return channel;
    for (u32 p = 0; p < graph_.outputs(there.to.node); ++p) {
      const u32 back = graph_.channel_out_of(there.to.node, p);
      // Channels of a pair are attached to the same ports of both switches.
      if (back != kNone && graph_.channel(back).to == there.from && graph_.channel(back).from == there.to) return back;
    }
    return channel;
  }

  // --- time ---
  [[gnu::always_inline]] void wake(u32 c, Tick at, Tick now) noexcept {
    circuits_[c].due = at;
    wheel_.wake(c, std::min(at, now + engine::WakeWheel::kSlots - 1), now);
  }

  /// Circuit c was registered for `now`.
  void due(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    if (k.state == State::idle || k.due == kNever) return;
    if (k.due > now) {
      wheel_.wake(c, std::min(k.due, now + engine::WakeWheel::kSlots - 1), now);
      return;
    }
    switch (k.state) {
      case State::idle:
        break;
      case State::header:
        mark_acting(c);
        break;
      case State::back:
        step_back(c, now);
        if (k.hops != 0 && k.whole) {
          wake(c, now + set_.backtrack, now);
          break;
        }
        k.state = State::header;
        if (k.hops == 0 && k.whole) return retry(c, now, 0);
        mark_acting(c);
        break;
      case State::acknowledged:
        begin(c, now);
        break;
      case State::stream:
        stream(c, now);
        break;
      case State::wire:
        finish_wire(c, now);
        break;
    }
  }
  void mark_acting(u32 c) noexcept { acting_[c >> 6U] |= u64{1} << (c & 63U); }

  // --- sources ---
  void take_messages(Tick now) noexcept {
    terminals_.source.advance(now);
    const std::span<const u64> ready = terminals_.source.ready();
    for (std::size_t w = 0; w < ready.size(); ++w) {
      for (u64 bits = ready[w] & has_server_[w]; bits != 0; bits = ready[w] & has_server_[w]) {
        const u32 queue = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        const u32 c = lowest_free();
        used_words_ = std::max(used_words_, (c >> 6U) + 1);
        Circuit& k = circuits_[c];
        k = Circuit{};
        if (!tried_.empty()) tried_[std::size_t{c} * kMostHops] = 0;
        k.packet = terminals_.source.take(queue, now);
        k.queue = queue;
        k.at = entry_[source_of(c)].node;
        k.state = State::header;
        if (--free_servers_[queue] == 0) has_server_[w] &= ~(u64{1} << (queue & 63U));
        mark_acting(c);
      }
    }
    freed_late_ = false;
  }
  /// A message waits for a server that was freed after messages were taken: nothing else may be due.
  [[nodiscard]] bool may_take() const noexcept {
    if (!freed_late_) return false;
    const std::span<const u64> ready = terminals_.source.ready();
    for (std::size_t w = 0; w < ready.size(); ++w) {
      if ((ready[w] & has_server_[w]) != 0) return true;
    }
    return false;
  }
  /// Which number a circuit gets must not depend on the order in which others ended.
  [[nodiscard]] u32 lowest_free() noexcept {
    u32 w = 0;
    while (free_[w] == 0) ++w;
    const u32 bit = static_cast<u32>(std::countr_zero(free_[w]));
    free_[w] &= free_[w] - 1;
    return w * 64 + bit;
  }
  void free_server(u32 queue) noexcept {
    freed_late_ = true;
    ++free_servers_[queue];
    has_server_[queue >> 6U] |= u64{1} << (queue & 63U);
  }

  // --- headers ---
  void act_all(Tick now) noexcept {
    if (used_words_ == 0) return;
    // Whom a cycle begins with must not favour anybody.
    const u32 start = below(turns_.at(now, 0)[0], used_words_ * 64);
    const u32 first = start >> 6U;
    const u64 later = ~u64{0} << (start & 63U);
    act_in(first, later, now);
    for (u32 w = first + 1; w < used_words_; ++w) act_in(w, ~u64{0}, now);
    for (u32 w = 0; w < first; ++w) act_in(w, ~u64{0}, now);
    act_in(first, ~later, now);
  }
  void act_in(u32 word, u64 mask, Tick now) noexcept {
    u64 bits = acting_[word] & mask;
    acting_[word] &= ~mask;
    for (; bits != 0; bits &= bits - 1) act(word * 64 + static_cast<u32>(std::countr_zero(bits)), now);
  }

  /// All that it calls is compiled into it: in calls a run takes 4 % more instructions.
  [[gnu::flatten]] void act(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    k.waits = false;
    for (;;) {
      candidates_.clear();
      routing_.route(request(c, {ways_, pool_[k.packet], k.at, k.asked++}), candidates_);
      if (choice_.way(k.at, candidates_[0].port).terminal) {
        if ((k.hops != 0 || may_leave(c)) && enter_terminal(c, now)) {
          acknowledge(c, now);
          return;
        }
        k.whole = true;  // another path would not help
      } else {
        if (k.hops == kMostHops) long_path_ = true;
        const bool stays = k.hops == kMostHops || (k.hops == 0 && !may_leave(c));
        const CircuitChoice::Taken taken = stays ? CircuitChoice::Taken{} : choose(c);
        if (taken.way != nullptr) return go(c, taken, now);
        k.whole = set_.blocked == WhenBlocked::back_to_source;
      }
      if (set_.blocked == WhenBlocked::wait) {
        k.waits = true;
        wake(c, now + 1, now);
        return;
      }
      if (k.hops == 0) return retry(c, now, 1);
      if (set_.backtrack != 0) {
        k.state = State::back;
        wake(c, now + set_.backtrack, now);
        return;
      }
      do step_back(c, now);
      while (k.hops != 0 && k.whole);
      if (k.whole) return retry(c, now, 1);
    }
  }

  [[nodiscard]] core::RouteRequest request(u32 c, const core::HopWord& word) const noexcept {
    const Circuit& k = circuits_[c];
    const core::Packet& packet = pool_[k.packet];
    if (k.hops == 0) return {k.at, entry_[packet.source].port, 0, &packet, word, nullptr};
    return {k.at, k.in_port, streams_.vc_of(c, stage_of_hop(k.hops - 1u)), &packet, word, nullptr};
  }
  /// Circuits from here on were never in use.
  [[nodiscard]] u32 used() const noexcept { return std::min(used_words_ * 64, most_); }
  /// Position of a hop in the path of the streams: a lane of the source may come first.
  [[nodiscard]] u32 stage_of_hop(u32 hop) const noexcept { return hop + (set_.injection_flits != 0 ? 1U : 0U); }
  /// The channel of the graph at a hop, in the direction in which the header went.
  [[nodiscard]] u32 hop_channel(u32 c, u32 hop) const noexcept { return hops_taken_[std::size_t{c} * kMostHops + hop]; }

  [[nodiscard]] u32 next_word(u32 c) noexcept {
    Circuit& k = circuits_[c];
    if (k.draws % 4 == 0) {
      const core::Packet& packet = pool_[k.packet];
      k.words = alternatives_.at(static_cast<u64>(packet.source) << 32U | packet.sequence,
                                 static_cast<u64>(packet.traffic) << 32U | k.draws / 4);
    }
    return k.words[k.draws++ % 4];
  }

  [[nodiscard]] CircuitChoice::Taken choose(u32 c) noexcept {
    const Circuit& k = circuits_[c];
    u64* const tried = tried_.empty() ? nullptr : &tried_[std::size_t{c} * kMostHops + k.hops];
    return choice_.choose(candidates_, k.at, k.hops, tried, streams_, [&] { return next_word(c); });
  }

  void go(u32 c, const CircuitChoice::Taken& taken, Tick now) noexcept {
    Circuit& k = circuits_[c];
    if (k.hops == 0) leave_terminal(c, now);
    streams_.reserve(c, taken.way->physical, taken.vc, now);
    hops_taken_[std::size_t{c} * kMostHops + k.hops] = taken.way->channel;
    ++k.hops;
    if (!tried_.empty() && k.hops < kMostHops) tried_[std::size_t{c} * kMostHops + k.hops] = 0;
    k.at = taken.way->to;
    k.in_port = taken.way->to_port;
    wake(c, now + set_.acquire, now);
  }

  /// The header leaves the last channel of its path backwards.
  void step_back(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    streams_.release_last(c, now);
    ++allocated_;
    k.at = graph_.channel(hop_channel(c, k.hops - 1u)).from.node;
    if (--k.hops == 0) return return_to_terminal(c, now);
    k.in_port = graph_.channel(hop_channel(c, k.hops - 1u)).to.port;
  }

  /// The header is at its source and holds nothing: it tries again, `least` cycles later or after the delay.
  void retry(u32 c, Tick now, u32 least) noexcept {
    Circuit& k = circuits_[c];
    ++k.attempts;
    k.whole = false;
    if (!tried_.empty()) tried_[std::size_t{c} * kMostHops] = 0;
    u32 delay = std::max(least, set_.retry_delay);
    if (set_.backoff != 0) {
      const core::Packet& packet = pool_[k.packet];
      const Words words = backoff_.at(static_cast<u64>(packet.source) << 32U | packet.sequence,
                                      static_cast<u64>(packet.traffic) << 32U | k.attempts);
      delay += below(words[0], set_.backoff + 1);
    }
    if (delay == 0) return mark_acting(c);
    wake(c, now + delay, now);
  }

  // --- terminals ---
  [[nodiscard]] u32 source_of(u32 c) const noexcept { return pool_[circuits_[c].packet].source; }
  [[nodiscard]] u32 lane(u32 first, u32 lanes) const noexcept {
    u32 best = first;
    for (u32 l = first + 1; l < first + lanes; ++l) {
      if (std::popcount(streams_.reserved(l)) < std::popcount(streams_.reserved(best))) best = l;
    }
    return best;
  }
  [[nodiscard]] u32 injection_lane(u32 terminal) const noexcept {
    return lane(channels_ + terminal * set_.injection_flits, set_.injection_flits);
  }
  [[nodiscard]] u32 ejection_lane(u32 terminal) const noexcept {
    return lane(channels_ + graph_.terminals() * set_.injection_flits + terminal * set_.ejection_flits,
                set_.ejection_flits);
  }
  void reserve_lane(u32 c, u32 lane, Tick now) noexcept {
    streams_.reserve(c, lane, static_cast<u32>(std::countr_one(streams_.reserved(lane))), now);
  }

  [[nodiscard]] bool may_leave(u32 c) const noexcept {
    const u32 terminal = source_of(c);
    if (injecting_[terminal] >= set_.injection_circuits) return false;
    return set_.injection_flits == 0 || ~streams_.reserved(injection_lane(terminal)) != 0;
  }
  void leave_terminal(u32 c, Tick now) noexcept {
    const u32 terminal = source_of(c);
    ++injecting_[terminal];
    if (set_.injection_flits != 0) reserve_lane(c, injection_lane(terminal), now);
  }
  void return_to_terminal(u32 c, Tick now) noexcept {
    --injecting_[source_of(c)];
    if (set_.injection_flits != 0) streams_.release_last(c, now);
  }
  /// A circuit within one switch leaves its source in the same step.
  [[nodiscard]] bool enter_terminal(u32 c, Tick now) noexcept {
    const u32 terminal = pool_[circuits_[c].packet].destination;
    if (ejecting_[terminal] >= set_.ejection_circuits) return false;
    if (set_.ejection_flits != 0 && ~streams_.reserved(ejection_lane(terminal)) == 0) return false;
    if (circuits_[c].hops == 0) leave_terminal(c, now);
    if (set_.ejection_flits != 0) reserve_lane(c, ejection_lane(terminal), now);
    ++ejecting_[terminal];
    return true;
  }

  // --- data ---
  void acknowledge(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    k.state = State::acknowledged;
    const Tick back = static_cast<Tick>(set_.acknowledge) * k.hops;
    if (back == 0) return begin(c, now);
    wake(c, now + back, now);
  }

  void begin(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    const core::Packet& packet = pool_[k.packet];
    own_.add(setup_, packet.birth, now - packet.enter);
    own_.add(attempts_, packet.birth, k.attempts + 1);
    k.began = now;
    if (set_.pipeline && streams_.stages(c) != 0) {
      k.state = State::stream;
      k.due = kNever;
      streams_.start(c, packet.flits, now);
      return;
    }
    k.state = State::wire;
    const Tick end = now + packet.flits + (k.hops == 0 ? 0U : set_.header) - (k.hops == 0 ? 1U : 0U);
    if (end == now) return finish_wire(c, now);
    wake(c, end, now);
  }

  void stream(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    const u32 released = streams_.released(c);
    const bool glides = released != 0 && streams_.glide(c, now);
    const u32 crossed = glides ? released + 1 : streams_.settle(c, now);
    if (released == 0 && crossed != 0) leave_source(c, now);
    if (probe_ != nullptr && crossed != released) [[unlikely]]
      show(c, released, now);
    k.due = kNever;
    if (crossed != streams_.stages(c)) {
      if (!glides) return;
      if (streams_.glides_on(c, now)) return wake(c, now + 1, now);
      return streams_.touch(c);
    }
    const Tick head = streams_.head_arrival(c);
    streams_.finish(c);
    finish(c, head, now);
  }

  /// Data that took no time per hop: everything is over at once.
  void finish_wire(u32 c, Tick now) noexcept {
    Circuit& k = circuits_[c];
    const u32 hops = k.hops;
    leave_source(c, now);
    for (u32 hop = 0; hop < hops; ++hop) {
      streams_.release_last(c, now);
      if (probe_ != nullptr) [[unlikely]]
        probe_->crossed(hop_channel(c, hop), pool_[k.packet], now, set_.header);
    }
    const u32 flits = pool_[k.packet].flits;
    local_moves_ += static_cast<u64>(flits) * (hops + 1);
    streams_.finish(c);
    finish(c, k.began + (hops == 0 ? 0U : set_.header + 1U), now);
  }

  /// The tail has left its source.
  void leave_source(u32 c, Tick now) noexcept {
    const core::Packet& packet = pool_[circuits_[c].packet];
    const u64 service = now - packet.enter;
    own_.add(service_, packet.birth, service);
    own_.add(service_squared_, packet.birth, service * service);
    --injecting_[packet.source];
    free_server(circuits_[c].queue);
  }

  void show(u32 c, u32 stage, Tick now) const {
    const u32 first = stage_of_hop(0);
    if (stage < first || stage - first >= circuits_[c].hops) return;
    probe_->crossed(hop_channel(c, stage - first), pool_[circuits_[c].packet], now, set_.header);
  }

  void finish(u32 c, Tick head, Tick now) noexcept {
    Circuit& k = circuits_[c];
    const core::Packet& packet = pool_[k.packet];
    --ejecting_[packet.destination];
    own_.add(first_, packet.birth, head - packet.birth);
    own_.add(last_, packet.birth, now - packet.birth);
    if (set_.consumption > 0.0) {
      // Data come as fast as they can: whoever is not faster than the channel never waits for them.
      const Tick reading = static_cast<Tick>(std::llround(packet.flits / set_.consumption));
      own_.add(completion_, packet.birth, std::max(head + reading, now) - packet.birth);
    }
    count(packet.flits, k.hops);
    terminals_.sink.deliver(packet, packet.destination, now, k.hops + 1U, now - head);
    pool_.release(k.packet);
    k.state = State::idle;
    k.due = kNever;
    free_[c >> 6U] |= u64{1} << (c & 63U);
  }

  /// What the data of a circuit did that is over: each flit passed the links, those of the terminals too, the crossbars
  /// between them, and the buffers behind all channels of the path but the last.
  void count(u32 flits, u32 hops) noexcept {
    const u64 sent = u64{flits} + (hops == 0 ? 0U : set_.header);
    const u32 lanes = (set_.injection_flits != 0 ? 1U : 0U) + (set_.ejection_flits != 0 ? 1U : 0U);
    crossed_ += sent * (hops + 1);
    linked_ += sent * (hops + 2);
    if (set_.pipeline && hops + lanes > 1) buffered_ += sent * (hops + lanes - 1);
    allocated_ += hops;
  }

  void note_use(Tick now) noexcept {
    const u64 busy = streams_.busy() - busy_;
    if (busy == 0) return;
    own_.add(multiplexing_, now, streams_.squares() - squares_, busy);
    busy_ += busy;
    squares_ = streams_.squares();
  }

  CircuitSettings set_;
  const core::Graph& graph_;
  const core::Routing& routing_;
  engine::Terminals& terminals_;
  engine::PacketPool& pool_;
  engine::Probe* probe_;  ///< nullptr: nobody watches
  u64 seed_;
  bool permuted_;
  u32 channels_;  ///< of the graph
  u32 most_;  ///< circuits at once: one per server, and tails that are on their way hold a virtual channel or a lane
  u32 words_;
  CircuitStreams streams_;
  std::vector<Circuit> circuits_;
  std::vector<u32> hops_taken_ = std::vector<u32>(std::size_t{most_} * kMostHops);  ///< [circuit * kMostHops + hop]
  std::vector<u64> tried_;  ///< likewise, bit per port; empty unless headers backtrack hop by hop
  engine::WakeWheel wheel_;
  std::vector<u64> awake_;
  std::vector<u64> acting_;        ///< bit per circuit: its header acts in this cycle
  std::vector<u64> free_;          ///< bit per circuit
  u32 used_words_ = 0;             ///< words of bits in which there ever was a circuit
  std::vector<u32> free_servers_;  ///< [source queue]
  std::vector<u64> has_server_;    ///< bit per source queue
  std::vector<u32> injecting_;     ///< [terminal]: circuits that hold a channel and have their tail at the source
  std::vector<u32> ejecting_;      ///< [terminal]: circuits that have reached it
  std::vector<u32> physical_;      ///< [channel]: whose virtual channels it uses
  std::vector<core::End> entry_;   ///< [terminal]: where its messages enter
  CircuitChoice choice_;
  core::Candidates candidates_;
  u64 busy_ = 0;
  u64 squares_ = 0;
  u64 local_moves_ = 0;
  u64 crossed_ = 0;    ///< flits, by crossbars
  u64 linked_ = 0;     ///< flits, by links
  u64 buffered_ = 0;   ///< flits, by buffers
  u64 allocated_ = 0;  ///< virtual channels that were given back
  bool long_path_ = false;
  bool freed_late_ = false;  ///< a server, in this cycle, since messages were taken
  engine::OwnMetrics own_;
  u32 setup_ = 0;
  u32 attempts_ = 0;
  u32 first_ = 0;
  u32 last_ = 0;
  u32 service_ = 0;
  u32 service_squared_ = 0;
  u32 multiplexing_ = 0;
  u32 completion_ = 0;
  core::HopRandom ways_;
  Random alternatives_;
  Random backoff_;
  Random turns_;
};

}  // namespace banyan::switching::parts
