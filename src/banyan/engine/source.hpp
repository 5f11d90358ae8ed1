// Sources of one shard. A source is a cursor over its traffics (nth message, next birth), never a queue in memory: the
// infinite source queue of a terminal is the stretch of messages whose birth has passed.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/rng.hpp"
#include "banyan/engine/answers.hpp"
#include "banyan/engine/birth_wheel.hpp"
#include "banyan/engine/endpoint_plan.hpp"
#include "banyan/engine/flows.hpp"
#include "banyan/engine/packet_pool.hpp"
#include "banyan/engine/probe.hpp"
#include "banyan/engine/recorder.hpp"

namespace banyan::engine {

class Source {
 public:
  /// A message that a model keeps waiting in a queue of its own, and of which it makes packets.
  struct Kept {
    Tick birth = 0;
    u32 nth = 0;  ///< of an answering traffic the tag
    u32 destination = 0;
    u32 flits = 1;  ///< of the whole message
    u32 tag = 0;    ///< core::Message::tag
    u8 traffic = 0;
    u8 flags = 0;
    u16 copies = 0;  ///< core::Message::copies
  };

  /// Writes the traffic's post behind the cursors of one terminal.
  class Post final : public core::Outbox {
   public:
    Post(Source& source, u32 first_queue, u32 traffic)
        : source_(source), first_queue_(first_queue), traffic_(traffic) {}
    void post(const core::Message& message) noexcept override { source_.post(first_queue_, traffic_, message); }
    void post_at(u32 terminal, const core::Message& message) noexcept override {
      source_.post(source_.plan_.local_of[terminal], traffic_, message);
    }

   private:
    Source& source_;
    u32 first_queue_;
    u32 traffic_;
  };

  Source(const EndpointPlan& plan, Recorder& recorder);

  /// Starts a replication at tick 0 (the traffics have begun it already).
  void reset(u32 replication);

  [[nodiscard]] PacketPool& pool() noexcept { return pool_; }
  [[nodiscard]] const PacketPool& pool() const noexcept { return pool_; }

  /// Brings `ready()` up to date; `now` must not decrease.
  void advance(Tick now) noexcept {
    if (plan_.flows != nullptr) [[unlikely]]
      return advance_flows(now);
    advance_cursors(now);
  }
  /// Whether nothing that happens at a terminal is seen by another one in the ticks after: they may be run block by
  /// block, several ticks at once (wave.hpp).
  [[nodiscard]] bool independent() const noexcept;
  void advance(Tick now, u32 first, u32 last) noexcept { births_.advance_words(now, first, last); }
  void end_wave(Tick now, Tick ticks) noexcept { births_.end_wave(now, ticks); }
  /// Bit per local terminal: a message with birth <= now waits. None before the end of SteadyPlan::hold.
  [[nodiscard]] std::span<const u64> ready() const noexcept { return births_.ready(); }
  /// The next tick after `now` at which a terminal that is not ready becomes ready; kNever when none does. The tick
  /// after `now` where something was posted since advance(now) that is born already: whoever has asked for ready() does
  /// not know of it.
  [[nodiscard]] Tick next_birth_after(Tick now) const noexcept;
  /// Terminals that have a waiting message.
  [[nodiscard]] u64 waiting_terminals() const noexcept { return births_.ready_count(); }

  // --- the head of a source queue (those that say so require ready) ----------------------------------------------
  [[nodiscard]] Tick birth(u32 local) const noexcept { return next_[local].birth; }
  /// Length of the packet at the head, flits (requires ready).
  [[nodiscard]] u32 head_flits(u32 local) const noexcept {
    const u32 traffic = next_[local].traffic;
    const Cursor& cursor = cursors_[place(local, traffic)];
    return std::min(cursor.message.flits - cursor.offset, plan_.longest[traffic]);
  }
  /// Where traffics have priorities: makes the most urgent of the messages that wait the head.
  void prioritize(u32 local, Tick now) noexcept {
    if (plan_.prioritized && plan_.flows == nullptr) [[unlikely]]
      choose_urgent(local, now);
  }
  /// Service class (Packet::vc_class) of the message at the head.
  [[nodiscard]] u32 head_class(u32 local) const noexcept {
    const u32 traffic = next_[local].traffic;
    return EndpointPlan::service_class(traffic, cursors_[place(local, traffic)].message.flags);
  }
  /// The traffic of the message at the head (requires ready).
  [[nodiscard]] u32 head_traffic(u32 local) const noexcept { return next_[local].traffic; }
  /// Takes the packet at the head into the pool (requires ready). Its `enter` is `now`.
  [[nodiscard]] core::PacketId take(u32 local, Tick now);
  /// Does what take() does, for models that keep the messages of a terminal until they leave it: what waits belongs to
  /// the source queue until it is told as `sent`.
  [[nodiscard]] core::PacketId take_waiting(u32 local, Tick now);
  /// So many of its flits leave; `first`: of the message, which is one packet to whoever counts packets.
  void sent(u32 local, const core::Packet& packet, u32 flits, Tick now, bool first) noexcept {
    if (first) {
      recorder_.left();
      if (plan_.probe != nullptr) [[unlikely]]
        plan_.probe->taken(packet.source, packet, now);
    }
    if (recorder_.steady() && packet.traffic != plan_.control)
      recorder_.taken(local, packet.traffic, flits, now, first ? 1 : 0);
  }

  // Where flows wait, a model that has no room for a packet to the destination at the head lets others go first.
  [[nodiscard]] u32 head_destination(u32 local) const noexcept {
    return cursors_[place(local, next_[local].traffic)].message.destination;
  }
  /// The flow at the head sends nothing until unpark(); others may go (requires ready; with flows only).
  void park(u32 local);
  void unpark(u32 local);

  // Models with several queues per terminal take messages out of the source queue as they are born, keep them, and make
  // their packets later, in the order of their births for each destination; where flows wait they do not.
  /// Takes the whole message at the head (requires ready). Until its last packet is made it counts as waiting.
  [[nodiscard]] Kept keep(u32 local);
  /// Forgets the message at the head (requires ready): it was never generated.
  void skip(u32 local);
  /// The packet of a kept message that begins after `offset` flits. Its `enter` is `now`.
  [[nodiscard]] core::PacketId make_packet(u32 local, const Kept& kept, u32 offset, Tick now);
  /// Length of that packet.
  [[nodiscard]] u32 packet_flits(const Kept& kept, u32 offset) const noexcept {
    return std::min(kept.flits - offset, plan_.longest[kept.traffic]);
  }
  /// Messages that were skipped, by the model or because as much waited as Traffic::waiting_limit allows.
  [[nodiscard]] u64 skipped() const noexcept { return skipped_; }

  // --- counting ------------------------------------------------------------------------------------------------
  /// Birth of the earliest message of a traffic that waits or will be generated, as far as it is known.
  [[nodiscard]] Tick first_birth(u32 traffic) const noexcept;
  /// True when no message with birth <= window.to waits any more at a source of this shard.
  [[nodiscard]] bool past_window() const noexcept;
  /// The session of a finite traffic ended at `at`: flags are cleared for messages generated later.
  void close(u32 traffic, Tick at) noexcept { closed_[traffic] = at; }
  /// False for a terminal that generates nothing, never.
  [[nodiscard]] bool is_source(u32 local) const noexcept {
    return recorder_.accepted_of()[local] != 0 ||
           (next_[local].birth != kNever && next_[local].traffic != plan_.control) ||
           (plan_.flows != nullptr && (plan_.flows->any_waits(local) || next_feed(local) != kNone));
  }
  /// nullptr: no admission holds packets back.
  [[nodiscard]] Flows* flows() const noexcept { return plan_.flows.get(); }
  /// Adds the messages that still wait to the offered flits of a record.
  void add_waiting(SteadyRecord& record) const noexcept;
  /// True when every posted message of an answering traffic has left its source or waits there.
  [[nodiscard]] bool answers_conserved() const noexcept;
  /// Cursors of all terminals, as Population::digest.
  [[nodiscard]] u64 digest() const noexcept;
  void archive(Archive& a) {
    a(pool_, cursors_, next_, births_, answers_, feed_, lane_, control_parked_, look_at_, closed_);
    a(posted_, answered_, kept_in_window_, skipped_, posted_at_once_);
    if (plan_.flows != nullptr) a(*plan_.flows);
  }

 private:
  struct Cursor {
    u64 nth = 0;
    u32 offset = 0;   ///< flits of the message that were taken already
    u32 packets = 0;  ///< taken
    core::Message message;
  };
  /// The message at the head of a source queue.
  struct Next {
    Tick birth = kNever;
    Tick other = kNever;  ///< earliest birth of the terminal's other traffics
    u32 traffic = 0;
  };

  [[nodiscard]] std::size_t place(u32 local, u32 traffic) const noexcept {
    return static_cast<std::size_t>(local) * plan_.traffic_count + traffic;
  }
  // Where an admission holds packets back, messages go from the feeding cursors into the flows of their queue, and the
  // cursor is only what the flow that sends next puts there.
  [[nodiscard]] std::vector<Cursor>& feeding() noexcept { return plan_.flows == nullptr ? cursors_ : feed_; }
  [[nodiscard]] const std::vector<Cursor>& feeding() const noexcept {
    return plan_.flows == nullptr ? cursors_ : feed_;
  }
  void advance_cursors(Tick now) noexcept;
  void advance_flows(Tick now);
  void hear(Tick now);
  void fetch_ends();
  /// Whether a packet with feedback waits: it has a queue of its own, and goes before the flows.
  [[nodiscard, gnu::always_inline]] bool control_waits(u32 local) const noexcept {
    return plan_.control != kNone && feed_[place(local, plan_.control)].message.birth <= births_.now() &&
           !control_parked_[local];
  }
  void leave_control(u32 local, const core::Packet& packet);
  /// The traffic whose feeding cursor has the earliest message; kNone: none has any. `with_room`: among the
  /// traffics for which there is room in the flows.
  [[nodiscard]] u32 next_feed(u32 local, bool with_room = false) const noexcept {
    if (plan_.counted == 1) [[likely]] {
      const bool none = feed_[place(local, 0)].message.birth == kNever || (with_room && plan_.flows->full(local, 0));
      return none ? kNone : 0;
    }
    return next_feed_of_all(local, with_room);
  }
  [[nodiscard]] u32 next_feed_of_all(u32 local, bool with_room) const noexcept;
  /// Moves what is born into the flows, as far as there is room, `traffic` first. Returns when to do so again; kNever:
  /// when there is.
  [[nodiscard]] Tick feed(u32 local, u32 traffic);
  /// Feeds, makes what the open flows send next the head, and tells the wheel when to look again.
  void refresh(u32 local);
  template <bool Plain>
  void leave_flow(u32 local, const core::Packet& packet, Tick now);
  /// The packet that leaves a flow next.
  [[nodiscard]] core::Departure departure(const Flows::Waiting& waiting) const noexcept {
    return {std::min(waiting.message.flits - waiting.offset, plan_.longest[waiting.traffic])};
  }
  template <bool Waits, bool Plain, bool Flowing>
  [[nodiscard]] core::PacketId take_head(u32 local, Tick now);
  template <bool Plain>
  void fill_packet(core::Packet& packet, u32 local, const Kept& kept, u32 offset, u32 flits, Tick now) noexcept;
  template <bool Plain>
  void pass_message(u32 local, const core::Packet* departed, Tick now) noexcept;
  void post(u32 first_queue, u32 traffic, const core::Message& message) noexcept;
  void choose_urgent(u32 local, Tick now) noexcept;
  [[nodiscard]] u8 pending_mask(u32 terminal, Tick at) const noexcept;
  /// The cursor's message, `nth` at the earliest, that joins the source queue `local`.
  void find_next(u32 local, u32 traffic, Cursor& cursor, Tick previous) const noexcept;
  [[nodiscard]] u32 next_sequence(u32 local, Cursor& cursor) const noexcept {
    return plan_.queues == 1 ? cursor.packets++ : cursor.packets++ * plan_.queues + local % plan_.queues;
  }
  /// The queue that a message joins, the `number`th of its terminal; those that a terminal posts with the same tag
  /// differ in destination or rank.
  [[nodiscard]] u32 queue_of(u32 terminal, u32 traffic, u64 number, const core::Message& message) const noexcept {
    return below(core::words_of(queue_choice_, terminal, traffic, number, message)[0], plan_.queues);
  }
  void choose_next(u32 local) noexcept;

  const EndpointPlan& plan_;
  Recorder& recorder_;
  PacketPool pool_;
  Random queue_choice_;
  Random way_choice_;
  std::vector<Cursor> cursors_;  ///< [local * traffics + traffic]
  std::vector<Next> next_;       ///< [local]
  BirthWheel births_;
  Answers answers_;                   ///< posted messages behind those at the cursors
  std::vector<Cursor> feed_;          ///< with flows only: [local * traffics + traffic]
  std::vector<u32> lane_;             ///< with flows only: [local], of the head; kNone: none
  std::vector<bool> control_parked_;  ///< with flows only: [local]
  std::vector<Tick> look_at_;         ///< with flows only: [local], when to look at what waits or is born
  std::vector<u32> limits_;           ///< with flows only: [local * traffics + traffic], Traffic::waiting_limit
  std::vector<u32> due_;              ///< of advance_flows
  std::vector<u32> fetched_;          ///< of fetch_ends: what was born in two ticks, by Flows::fetch_place
  u32 taking_ = kNone;                ///< the queue whose head is being taken: it is looked at afterwards
  bool posted_at_once_ = false;       ///< since advance, a message that is born already
  bool starting_ = false;             ///< all queues are looked at afterwards
  std::vector<Tick> closed_;
  const bool draws_ways_;  ///< false: the routing function does not read the word of a packet
  u64 posted_ = 0;
  u64 answered_ = 0;        ///< posted messages that left their source
  u64 kept_in_window_ = 0;  ///< kept messages of the window with packets to be made
  u64 skipped_ = 0;
};

}  // namespace banyan::engine
