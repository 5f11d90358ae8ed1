// Sources and sinks of one shard. A source is a cursor over its traffics (nth message, next birth), never a queue in
// memory: the infinite source queue of a terminal is the stretch of messages whose birth has passed.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/answers.hpp"
#include "banyan/engine/messages.hpp"
#include "banyan/engine/multicast_sets.hpp"
#include "banyan/engine/packet_pool.hpp"
#include "banyan/engine/probe.hpp"
#include "banyan/engine/steady_record.hpp"
#include "banyan/engine/tally.hpp"
#include "banyan/engine/wave.hpp"

namespace banyan::engine {

/// The packets that count: generated in [from, to].
struct Window {
  Tick from = kNever;
  Tick to = kNever;
};

class Terminals {
 public:
  struct Setup {
    std::vector<u32> terminals;                ///< global numbers, ascending
    std::span<core::Traffic* const> traffics;  ///< in order of priority within one tick
    const core::Routing* routing = nullptr;
    std::vector<core::HotSpot> hot_spots;
    u32 total_terminals = 0;
    u32 shard = 0;
    SteadyPlan steady;           ///< windows of a steady run
    bool check_order = false;    ///< count packets of a pair that arrive out of order
    u32 generation_series = 0;   ///< length of the series of births after window.from; 0: none
    Probe* probe = nullptr;      ///< told of packets that leave their source and that arrive
    u32 longest_packet = kNone;  ///< that the switch model cuts messages into, whatever the traffic says
    u32 queues = 1;              ///< source queues per terminal; a message joins one of them at random
    u64 seed = 0;
  };

  /// A message that a model keeps waiting in a queue of its own, and of which it makes packets.
  struct Kept {
    Tick birth = 0;
    u32 nth = 0;
    u32 destination = 0;
    u32 flits = 1;  ///< of the whole message
    u32 tag = 0;    ///< core::Message::tag
    u8 traffic = 0;
    u8 flags = 0;
    u16 copies = 0;  ///< core::Message::copies
  };

  explicit Terminals(Setup setup);

  /// Starts a replication at tick 0 (the traffics have begun it already).
  void reset(u32 replication);

  /// Source queues of this shard: a "local terminal" is one of them. The queues of a terminal are neighbours.
  [[nodiscard]] u32 size() const noexcept { return static_cast<u32>(setup_.terminals.size()); }
  [[nodiscard]] u32 queues() const noexcept { return setup_.queues; }
  [[nodiscard]] u32 global(u32 local) const noexcept { return setup_.terminals[local]; }
  [[nodiscard]] PacketPool& pool() noexcept { return pool_; }
  [[nodiscard]] const PacketPool& pool() const noexcept { return pool_; }

  // --- sources -------------------------------------------------------------------------------------------------
  /// Brings `ready()` up to date; `now` must not decrease.
  void advance(Tick now) noexcept;
  /// Whether nothing that happens at a terminal is seen by another one in the ticks after: they may be run block by
  /// block, several ticks at once (wave.hpp).
  [[nodiscard]] bool independent() const noexcept;
  // Of such a wave: advance(first tick) for all, then for the words [first, last) tick after tick; end_wave when all
  // have made all ticks.
  void advance(Tick now, u32 first, u32 last) noexcept {
    now_ = now;
    const u32 slot = static_cast<u32>(now % kSlots);
    if ((occupied_[slot >> 6U] >> (slot & 63U) & 1U) == 0) return;
    u64* const words = &wheel_[static_cast<std::size_t>(slot) * words_];
    for (u32 w = first; w < last; ++w) ready_[w] |= std::exchange(words[w], 0);
  }
  void end_wave(Tick now, Tick ticks) noexcept {
    for (Tick t = now; t < now + ticks; ++t) occupied_[t % kSlots >> 6U] &= ~(u64{1} << (t & 63U));
    now_ = now + ticks - 1;
  }
  /// Bit per local terminal: a message with birth <= now waits.
  [[nodiscard]] std::span<const u64> ready() const noexcept { return ready_; }
  /// The next tick after `now` at which a terminal that is not ready becomes ready; kNever when none does.
  [[nodiscard]] Tick next_birth_after(Tick now) const noexcept;
  [[nodiscard]] Tick birth(u32 local) const noexcept { return next_[local].birth; }
  /// Birth of the earliest message of a traffic that waits or will be generated, as far as it is known.
  [[nodiscard]] Tick first_birth(u32 traffic) const noexcept;
  /// Length of the packet at the head of the source queue, flits.
  [[nodiscard]] u32 head_flits(u32 local) const noexcept {
    const u32 traffic = next_[local].traffic;
    const Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + traffic];
    const u32 left = cursor.message.flits - cursor.offset;
    return left < longest_packet_[traffic] ? left : longest_packet_[traffic];
  }
  /// Where traffics have priorities: makes the most urgent of the messages that wait the head of the source queue.
  void prioritize(u32 local, Tick now) noexcept {
    if (prioritized_) [[unlikely]]
      choose_urgent(local, now);
  }
  /// Service class (Packet::vc_class) of the message at the head.
  [[nodiscard]] u32 head_class(u32 local) const noexcept {
    const u32 traffic = next_[local].traffic;
    const core::Message& head = cursors_[static_cast<std::size_t>(local) * traffic_count_ + traffic].message;
    return service_class(traffic, head.flags);
  }
  /// Takes the packet at the head of the source queue into the pool (requires ready). Its `enter` is `now`.
  [[nodiscard]] core::PacketId take(u32 local, Tick now);
  /// As take(), for models that keep the messages of a terminal until they leave it: whatever waits of them belongs to
  /// the source queue until it is told as `sent`.
  [[nodiscard]] core::PacketId take_waiting(u32 local, Tick now);
  void sent(u32 local, u32 traffic, u32 flits, Tick now) noexcept {
    if (steady_) note_taken(local, traffic, flits, now);
  }
  /// Terminals that have a waiting message.
  [[nodiscard]] u64 waiting_terminals() const noexcept;
  // Models with several queues per terminal take messages out of the source queue as they are born, keep them, and make
  // their packets later, in the order of their births for each destination.
  /// The traffic of the message at the head (requires ready).
  [[nodiscard]] u32 head_traffic(u32 local) const noexcept { return next_[local].traffic; }
  /// Takes the whole message at the head (requires ready). Until its last packet is made it counts as waiting.
  [[nodiscard]] Kept keep(u32 local);
  /// Forgets the message at the head (requires ready): it was never generated.
  void skip(u32 local);
  /// The packet of a kept message that begins after `offset` flits. Its `enter` is `now`.
  [[nodiscard]] core::PacketId make_packet(u32 local, const Kept& kept, u32 offset, Tick now);
  /// Length of that packet.
  [[nodiscard]] u32 packet_flits(const Kept& kept, u32 offset) const noexcept {
    const u32 left = kept.flits - offset;
    return left < longest_packet_[kept.traffic] ? left : longest_packet_[kept.traffic];
  }
  /// Messages that were skipped.
  [[nodiscard]] u64 skipped() const noexcept { return skipped_; }

  // --- sinks ---------------------------------------------------------------------------------------------------
  /// The tail of `packet` (of whatever shard) arrived at a terminal of this shard. The caller
  /// releases the record. `hops`: switches passed. `serialization`: ticks since the head arrived here; 0 for a packet
  /// that arrives as a whole.
  void deliver(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization = 0) noexcept {
    if (packet.destination != terminal) [[unlikely]]
      ++misdelivered_;
    if (setup_.check_order) [[unlikely]]
      note_order(packet);
    count_delivered(packet, terminal, now, hops, serialization);
  }

  /// As deliver(), for a message that travels as one packet of the pool whatever it is cut into, and whose first data
  /// were here at `first`. Messages of a pair may pass each other.
  void deliver_message(const core::Packet& packet, u32 terminal, Tick first, Tick now, u32 hops) noexcept;

  /// A copy of a multidestination packet of this shard arrived; true: it was the last, release the record. Its order is
  /// not looked at: worms choose ways of their own (core/multicast.hpp), on which they pass packets of their pair.
  bool deliver_copy(core::PacketId id, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept;
  /// Terminals that a multidestination packet of this shard has not reached yet.
  [[nodiscard]] core::TerminalBits destinations(core::PacketId id) const noexcept { return sets_.bits(id); }
  [[nodiscard]] u32 owed(core::PacketId id) const noexcept { return sets_.owed(id); }

  // --- counting ------------------------------------------------------------------------------------------------
  void set_window(Window window) noexcept;
  [[nodiscard]] const Window& window() const noexcept { return window_; }
  /// True when no message with birth <= window.to waits any more at a source of this shard.
  [[nodiscard]] bool sources_past_window() const noexcept;
  [[nodiscard]] const std::vector<Tally>& tallies() const noexcept { return tallies_; }
  /// Deliveries owed: a multidestination packet counts once per destination.
  [[nodiscard]] u64 taken() const noexcept { return taken_; }
  [[nodiscard]] u64 taken_flits() const noexcept { return taken_flits_; }
  [[nodiscard]] u64 delivered() const noexcept { return delivered_; }
  [[nodiscard]] u64 delivered_flits() const noexcept { return delivered_flits_; }
  [[nodiscard]] u64 misdelivered() const noexcept { return misdelivered_; }
  /// Packets that arrived after a later one of the same source, destination and traffic (with Setup::check_order).
  [[nodiscard]] u64 disordered() const noexcept { return disordered_; }
  /// Messages of the finite traffics (bit per traffic) delivered here, and the tick of the latest.
  [[nodiscard]] u64 finite_delivered(u32 traffic) const noexcept { return finite_[traffic].delivered; }
  [[nodiscard]] Tick finite_latest(u32 traffic) const noexcept { return finite_[traffic].latest; }
  /// Counted packets taken here / delivered here.
  [[nodiscard]] u64 counted_taken() const noexcept { return counted_taken_; }
  [[nodiscard]] u64 counted_delivered() const noexcept { return counted_delivered_; }
  /// The session of a finite traffic ended at `at`: flags are cleared for messages generated later.
  void close(u32 traffic, Tick at) noexcept { closed_[traffic] = at; }

  /// What a steady run recorded here; call finish_record() first.
  [[nodiscard]] const SteadyRecord& record() const noexcept { return record_; }
  /// False for a terminal that generates nothing, never.
  [[nodiscard]] bool is_source(u32 local) const noexcept {
    return accepted_of_[local] != 0 || next_[local].birth != kNever;
  }
  /// Flits that the network took from a terminal in the measured part of a steady run, by local terminal.
  [[nodiscard]] const std::vector<u64>& accepted_of() const noexcept { return accepted_of_; }
  /// Adds the messages that still wait at their sources to the offered flits.
  void finish_record() noexcept { add_waiting(record_); }
  /// Takes over the multicasts of another shard that arrived in part there and in part here; all arrivals are known.
  void join_multicasts(Terminals& other);
  void add_waiting(SteadyRecord& record) const noexcept;
  /// Records a longer run; all ticks before the present end are done, none after it.
  void extend(const SteadyPlan& longer);
  /// Counted packets of a class (tally_class) generated at window.from + [index] * ticks per cycle.
  [[nodiscard]] const std::vector<u32>& generated(u32 tally) const noexcept { return generated_[tally]; }

  /// True when every posted message of an answering traffic has left its source or waits there.
  [[nodiscard]] bool answers_conserved() const noexcept;

  /// Cursors of all terminals, as Population::digest.
  [[nodiscard]] u64 digest() const noexcept;

 private:
  static constexpr u32 kSlots = 256;  ///< ticks ahead that the wheel of births covers (power of two)
  static constexpr Tick kNear = kSlots - kMostWaveTicks;  ///< births before that many ticks are put into the wheel
  /// Far births are looked through when such a period begins, and by whoever asks for the next birth when none comes in
  /// as many ticks. What is far is kNear ticks behind the beginning of the period at least; the last ticks that are
  /// made in it end less than kMostWaveTicks behind it, and the next birth that is found comes a period later at most.
  static constexpr Tick kFarPeriod = kSlots / 2 - kMostWaveTicks;
  static_assert(2 * kFarPeriod + kMostWaveTicks - 2 <= kNear);

  struct Cursor {
    u64 nth = 0;
    u32 offset = 0;   ///< flits of the message that were taken already
    u32 packets = 0;  ///< taken
    core::Message message;
  };
  /// What has to be done at departures and arrivals of a traffic.
  enum Special : u8 { kCut = 1, kAnswers = 2, kMulticasts = 4, kSifts = 8 };
  class Post;
  /// The message at the head of a source queue.
  struct Next {
    Tick birth = kNever;
    Tick other = kNever;  ///< earliest birth of the terminal's other traffics
    u32 traffic = 0;
  };
  struct Finite {
    u64 delivered = 0;
    Tick latest = 0;
  };

  void note_delivered(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    if (setup_.probe != nullptr) [[unlikely]]
      setup_.probe->delivered(packet, now, serialization);
    if (packet.birth >= window_.from) account(packet, now, hops, serialization);
    if (steady_ && now < setup_.steady.end) note_accepted(packet, now);
    if (special_[packet.traffic] != 0) [[unlikely]]
      note_special(packet, terminal, now);
  }
  void account(const core::Packet& packet, Tick now, u32 hops, Tick serialization) noexcept;
  void note_counted(core::Packet& packet) noexcept;
  void count_delivered(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    ++delivered_;
    delivered_flits_ += packet.flits;
    note_delivered(packet, terminal, now, hops, serialization);
  }
  void note_order(const core::Packet& packet) noexcept;
  template <bool Waits, bool Plain>
  [[nodiscard]] core::PacketId take_head(u32 local, Tick now);
  void note_offered(u32 traffic, Tick birth, u32 flits) noexcept;
  void note_taken(u32 local, u32 traffic, u32 flits, Tick now, u32 copies = 1) noexcept;
  template <bool Plain>
  void fill_packet(core::Packet& packet, u32 local, const Kept& kept, u32 offset, u32 flits, Tick now) noexcept;
  template <bool Plain>
  void pass_message(u32 local, const core::Packet* departed, Tick now) noexcept;
  [[nodiscard]] bool in_window(Tick birth) const noexcept { return birth >= window_.from && birth <= window_.to; }
  void note_multicast(const core::Packet& packet, Tick now) noexcept;
  void note_group(const MulticastLedger::Entry& group) noexcept;
  void note_accepted(const core::Packet& packet, Tick now) noexcept {
    const std::size_t window = now >> setup_.steady.shift;
    if (record_.timeline.on()) [[unlikely]]
      record_.timeline.delivered(packet, now);
    record_.accepted[window] += packet.flits;
    if (!record_.shares.empty()) record_.shares[packet.traffic].accepted[window] += packet.flits;
  }
  void note_special(const core::Packet& packet, u32 terminal, Tick now) noexcept;
  void note_message(const core::Packet& packet, Tick first, Tick last) noexcept;
  void note_finite(const core::Packet& packet, Tick now) noexcept;
  void post(u32 first_queue, u32 traffic, const core::Message& message) noexcept;
  /// Every terminal once per queue.
  [[nodiscard]] static Setup with_queues(Setup setup);
  [[nodiscard]] static u32 service_class(u32 traffic, u8 flags) noexcept {
    return traffic * 2 + ((flags & core::kReply) != 0 ? 1U : 0U);
  }
  void choose_urgent(u32 local, Tick now) noexcept;
  [[nodiscard]] u8 pending_mask(u32 terminal, Tick at) const noexcept;
  /// The cursor's message, `nth` at the earliest, that joins the source queue `local`.
  void find_next(u32 local, u32 traffic, Cursor& cursor, Tick previous) const noexcept;
  [[nodiscard]] u32 next_sequence(u32 local, Cursor& cursor) const noexcept {
    return setup_.queues == 1 ? cursor.packets++ : cursor.packets++ * setup_.queues + local % setup_.queues;
  }
  /// The queue that a message joins, the `number`th of its terminal; those that a terminal posts with the same tag
  /// differ in destination or rank.
  [[nodiscard]] u32 queue_of(u32 terminal, u32 traffic, u64 number, const core::Message& message) const noexcept {
    return below(core::words_of(queue_choice_, terminal, traffic, number, message)[0], setup_.queues);
  }
  void choose_next(u32 local) noexcept;
  void schedule(u32 local, Tick now) noexcept;

  Setup setup_;
  u32 traffic_count_ = 0;
  u32 words_ = 0;
  PacketPool pool_;
  Random queue_choice_;
  Random way_choice_;
  std::vector<Cursor> cursors_;      ///< [local * traffics + traffic]
  std::vector<u32> longest_packet_;  ///< [traffic]
  std::vector<u8> special_;          ///< [traffic], Special
  std::vector<u8> priorities_;       ///< [service class]
  bool prioritized_ = false;         ///< they differ
  Answers answers_;                  ///< posted messages behind those at the cursors
  std::vector<u32> local_of_;        ///< [global terminal], where a traffic answers
  PartialMessages partial_;
  MulticastSets sets_;
  MulticastLedger ledger_;
  u64 posted_ = 0;
  u64 answered_ = 0;        ///< posted messages that left their source
  std::vector<Next> next_;  ///< [local]
  std::vector<u64> ready_;
  std::vector<u64> wheel_;  ///< [slot * words + word]
  std::vector<u64> far_;    ///< births beyond the wheel
  std::array<u64, kSlots / 64> occupied_{};
  Tick now_ = 0;
  bool any_far_ = false;
  Tick looked_far_ = 0;  ///< period in which far_ was looked through last

  Window window_;
  std::vector<Tally> tallies_;
  std::vector<u64> hot_;  ///< bit per global terminal: is a hot spot
  std::vector<Finite> finite_;
  std::vector<u8> is_finite_;
  std::vector<Tick> closed_;
  bool steady_ = false;
  SteadyRecord record_;
  std::vector<u64> accepted_of_;             ///< [local]
  std::vector<std::vector<u32>> generated_;  ///< [class][tick after window.from]
  u64 taken_ = 0;
  u64 taken_flits_ = 0;
  u64 delivered_ = 0;
  u64 delivered_flits_ = 0;
  u64 misdelivered_ = 0;
  u64 disordered_ = 0;
  std::map<std::array<u32, 3>, u32> latest_;  ///< source, destination, service class: sequence that arrived last
  u64 counted_taken_ = 0;
  u64 counted_delivered_ = 0;
  u64 kept_in_window_ = 0;  ///< kept messages of the window with packets to be made
  u64 skipped_ = 0;
};

}  // namespace banyan::engine
