// Sinks of one shard: what arrives, in which order, which messages and multicasts it completes, and what it causes.
#pragma once

#include <array>
#include <map>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/messages.hpp"
#include "banyan/engine/source.hpp"

namespace banyan::engine {

class Sink {
 public:
  /// `source`: of the same terminals. It has the records of multidestination packets, and takes what arrivals make a
  /// traffic post.
  Sink(const EndpointPlan& plan, Recorder& recorder, Source& source)
      : plan_(plan), recorder_(recorder), source_(source) {}

  void reset();

  /// Whether it pays to ask ahead for what arrivals need: first fetch_place(), later fetch_end().
  [[nodiscard]] bool fetches() const noexcept { return plan_.flows != nullptr && plan_.flows->large(); }
  void fetch_place(const core::Packet& packet, u32 terminal) const noexcept {
    static_cast<void>(plan_.flows->fetch_place(terminal, packet.source, member_of(packet)));
  }
  void fetch_end(const core::Packet& packet, u32 terminal) const noexcept {
    plan_.flows->fetch_end(terminal, packet.source, member_of(packet));
  }

  /// The tail of `packet` (of whatever shard) arrived at a terminal of this shard. The caller
  /// releases the record. `hops`: switches passed. `serialization`: ticks since the head arrived here; 0 for a packet
  /// that arrives as a whole. `marked`: a switch has marked the packet. `value`: what switches wrote.
  void deliver(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization = 0,
               bool marked = false, u16 value = 0) noexcept {
    if (packet.destination != terminal) [[unlikely]]
      ++misdelivered_;
    if (plan_.check_order) [[unlikely]]
      note_order(packet);
    arrive(packet, terminal, now, hops, serialization, marked, value);
  }

  /// Does what deliver() does, for a message that travels as one packet of the pool whatever it is cut into, and whose
  /// first data were here at `first`. Messages of a pair may pass each other.
  void deliver_message(const core::Packet& packet, u32 terminal, Tick first, Tick now, u32 hops) noexcept;

  /// A fetch-and-add is back at `terminal`, from where it came; `hops`: switches passed there and back.
  void deliver_answer(const core::Packet& packet, u32 terminal, Tick now, u32 hops) noexcept {
    if (packet.source != terminal) [[unlikely]]
      ++misdelivered_;
    arrive(packet, terminal, now, hops, 0, false, 0, true);
  }

  /// A copy of a multidestination packet of whatever shard arrived, of which its owner has to hear: settle_copy(),
  /// there. Its order is not looked at: worms choose ways of their own (core/multicast.hpp), on which they pass packets
  /// of their pair.
  void deliver_copy(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept;
  /// A copy of a multidestination packet of this shard is at a terminal of whatever shard. After the last one the
  /// record is free; true then.
  bool settle_copy(core::PacketId id, u32 terminal) noexcept;
  /// What an admission hears of a multidestination packet, when its last copy has arrived. Where there is one, all
  /// terminals are in this shard.
  void admit_copies(const core::Packet& packet, u32 terminal, Tick now, u32 hops) noexcept {
    if (plan_.flows != nullptr) admit(packet, terminal, now, {false, static_cast<u16>(hops), 0});
  }
  /// A copy of a packet of whatever shard arrived that brings every terminal the answer to one of its own, `own`. Its
  /// owner has to hear of it as of deliver_copy().
  void deliver_result(const core::Packet& own, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    if (own.source != terminal) [[unlikely]]
      ++misdelivered_;
    arrive(own, terminal, now, hops, serialization);
  }

  // Of models in which a packet may stand before the network when it has left its source queue:
  [[nodiscard]] bool has_timeline() const noexcept { return recorder_.has_timeline(); }
  void postponed(const core::Packet& packet, Tick now) noexcept {
    if ((plan_.special[packet.traffic] & kControl) == 0) recorder_.postponed(packet, now);
  }

  [[nodiscard]] u64 misdelivered() const noexcept { return misdelivered_; }
  /// Packets that arrived after a later one of the same source, destination and traffic (with check_order).
  [[nodiscard]] u64 disordered() const noexcept { return disordered_; }
  /// Takes over the multicasts of other shards that arrived in part there and in part here; all arrivals are known.
  void join_multicasts(std::span<const MulticastLedger::Entry> some);
  /// Multicasts of which a part has arrived.
  [[nodiscard]] std::vector<MulticastLedger::Entry> open_multicasts() const;

  [[nodiscard]] u64 digest() const noexcept { return partial_.digest() + ledger_.digest(); }
  void archive(Archive& a) { a(partial_, ledger_, misdelivered_, disordered_, latest_); }

 private:
  [[gnu::always_inline]] void arrive(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization,
                                     bool marked = false, u16 value = 0, bool answer = false) noexcept {
    recorder_.delivered(packet);
    if (plan_.probe != nullptr) [[unlikely]]
      plan_.probe->delivered(packet, now, serialization, marked, answer);
    const u8 special = plan_.special[packet.traffic];
    if ((special & kControl) != 0) [[unlikely]] {
      recorder_.delivered_control(packet);
      if ((packet.flags & core::kMessageLast) != 0) plan_.flows->control_arrived(packet, now);
      return;
    }
    recorder_.arrived(packet, now, hops, serialization);
    if (special == kAdmitted && packet.copies == 0) {
      admit(packet, terminal, now, {marked, static_cast<u16>(hops), value});
    } else if (special != 0) [[unlikely]]
      arrive_special(packet, terminal, now, {marked, static_cast<u16>(hops), value});
  }
  void arrive_special(const core::Packet& packet, u32 terminal, Tick now, const core::Signals& signals) noexcept;
  [[nodiscard]] static core::FlowMember member_of(const core::Packet& packet) noexcept {
    return {packet.source, packet.copies != 0 ? kNone : packet.destination,
            EndpointPlan::service_class(packet.traffic, packet.flags)};
  }
  void admit(const core::Packet& packet, u32 terminal, Tick now, const core::Signals& signals) noexcept {
    plan_.flows->arrived(terminal, member_of(packet), packet, signals, now);
  }
  void note_order(const core::Packet& packet) noexcept;
  void note_multicast(const core::Packet& packet, Tick now) noexcept;

  const EndpointPlan& plan_;
  Recorder& recorder_;
  Source& source_;
  PartialMessages partial_;
  MulticastLedger ledger_;
  u64 misdelivered_ = 0;
  u64 disordered_ = 0;
  std::map<std::array<u32, 3>, u32> latest_;  ///< source, destination, service class: sequence that arrived last
};

}  // namespace banyan::engine
