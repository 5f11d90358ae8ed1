#include "banyan/engine/source.hpp"

#include <algorithm>
#include <bit>

namespace banyan::engine {
namespace {

constexpr Stream kQueues{"terminals: which source queue a message joins"};
constexpr Stream kWays{"terminals: ways of packets of messages that were kept"};

}  // namespace

Source::Source(const EndpointPlan& plan, Recorder& recorder)
    : plan_(plan),
      recorder_(recorder),
      pool_(plan.shard, plan.packet_slots),
      cursors_(place(plan.size(), 0)),
      next_(plan.size()),
      births_(plan.size(), plan.steady.hold),
      closed_(plan.traffic_count, kNever),
      draws_ways_(plan.routing->random()) {
  if (plan.any_answers) answers_ = Answers(cursors_.size());
  if (plan.flows == nullptr) return;
  feed_.resize(cursors_.size());
  lane_.assign(plan.size(), kNone);
  control_parked_.assign(plan.size(), false);
  look_at_.assign(plan.size(), kNever);
  limits_.resize(cursors_.size());
}

void Source::reset(u32 replication) {
  queue_choice_ = Random(plan_.seed, kQueues, 0, replication);
  way_choice_ = Random(plan_.seed, kWays, 0, replication);
  pool_.clear();
  births_.clear();
  answers_.clear();
  std::fill(closed_.begin(), closed_.end(), kNever);
  posted_ = answered_ = kept_in_window_ = skipped_ = 0;
  std::fill(cursors_.begin(), cursors_.end(), Cursor{});
  std::fill(feed_.begin(), feed_.end(), Cursor{});
  std::fill(lane_.begin(), lane_.end(), kNone);
  control_parked_.assign(control_parked_.size(), false);
  std::fill(look_at_.begin(), look_at_.end(), kNever);
  starting_ = plan_.flows != nullptr;
  std::fill(next_.begin(), next_.end(), Next{});
  for (u32 local = 0; local < plan_.size(); ++local) {
    for (u32 i = 0; i < plan_.traffic_count; ++i) {
      if ((plan_.special[i] & kAnswers) == 0) find_next(local, i, feeding()[place(local, i)], kNever);
    }
    if (plan_.flows != nullptr) continue;
    choose_next(local);
    births_.schedule(local, next_[local].birth);
  }
  for (u32 local = 0; local < plan_.size(); local += plan_.queues) {
    for (u32 i = 0; i < plan_.traffic_count; ++i) {
      if ((plan_.special[i] & kAnswers) == 0) continue;
      Post outbox(*this, local, i);
      plan_.traffics[i]->start(plan_.terminals[local], outbox);
    }
  }
  starting_ = false;
  if (plan_.flows == nullptr) return;
  plan_.flows->reset();
  for (u32 local = 0; local < plan_.size(); ++local) {
    for (u32 i = 0; i < plan_.traffic_count; ++i)
      limits_[place(local, i)] = plan_.traffics[i]->waiting_limit(plan_.terminals[local]);
  }
  for (u32 local = 0; local < plan_.size(); ++local) refresh(local);
}

void Source::advance_cursors(Tick now) noexcept {
  births_.advance(now, plan_.any_answers, [&](u32 local) { return next_[local].birth; });
  posted_at_once_ = false;
}

Tick Source::next_birth_after(Tick now) const noexcept {
  if (posted_at_once_) [[unlikely]]
    return now + 1;
  if (plan_.flows == nullptr) {
    Tick next = births_.next_after(now, [&](u32 local) { return next_[local].birth; });
    if (!plan_.prioritized) return next;
    // Where a message waits, one of another traffic that is born meanwhile may be more urgent and find a way.
    const std::span<const u64> waiting = ready();
    for (std::size_t w = 0; w < waiting.size(); ++w) {
      for (u64 bits = waiting[w]; bits != 0; bits &= bits - 1) {
        const u32 local = static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(bits));
        for (u32 i = 0; i < plan_.traffic_count; ++i) {
          const Tick birth = cursors_[place(local, i)].message.birth;
          if (birth > now) next = std::min(next, birth);
        }
      }
    }
    return next;
  }
  const Tick next = births_.next_after(now, [&](u32 local) { return look_at_[local]; });
  return std::min(next, plan_.flows->next_after(now));
}

Tick Source::first_birth(u32 traffic) const noexcept {
  Tick first = kNever;
  for (u32 local = 0; local < plan_.size(); ++local) {
    first = std::min(first, feeding()[place(local, traffic)].message.birth);
    if (plan_.flows == nullptr) continue;
    plan_.flows->for_each_waiting(local, [&](const Flows::Waiting& w) {
      if (w.traffic == traffic) first = std::min(first, w.message.birth);
    });
  }
  return first;
}

/// A message that is being taken, or is born earlier, stays at the cursor; the others wait in order behind it.
void Source::post(u32 first_queue, u32 traffic, const core::Message& message) noexcept {
  const u32 queue = plan_.queues == 1 ? 0 : queue_of(plan_.terminals[first_queue], traffic, message.tag, message);
  const u32 local = first_queue + queue;
  const std::size_t list = place(local, traffic);
  core::Message& first = feeding()[list].message;
  ++posted_;
  posted_at_once_ = posted_at_once_ || message.birth <= births_.now();
  if (first.birth == kNever) {
    first = message;
  } else if (Answers::before(message, first) && feeding()[list].offset == 0) {
    answers_.insert(list, first);
    first = message;
  } else {
    answers_.insert(list, message);
    return;
  }
  if (plan_.flows != nullptr) {
    if (!starting_ && taking_ != local) refresh(local);
    return;
  }
  choose_next(local);
  births_.schedule(local, next_[local].birth);
}

void Source::find_next(u32 local, u32 traffic, Cursor& cursor, Tick previous) const noexcept {
  const core::Traffic& source = *plan_.traffics[traffic];
  const u32 terminal = plan_.terminals[local];
  for (;; ++cursor.nth) {
    if (!source.next(terminal, cursor.nth, previous, cursor.message)) {
      cursor.message.birth = kNever;
      return;
    }
    const bool here =
        plan_.queues == 1 || queue_of(terminal, traffic, cursor.nth, cursor.message) == local % plan_.queues;
    if (here && !cursor.message.elsewhere) return;
    previous = cursor.message.birth;
  }
}

void Source::choose_next(u32 local) noexcept {
  const Cursor* cursors = &cursors_[place(local, 0)];
  Next best{cursors[0].message.birth, kNever, 0};
  for (u32 i = 1; i < plan_.traffic_count; ++i) {
    const Tick birth = cursors[i].message.birth;
    if (birth < best.birth) {
      best = {birth, best.birth, i};
    } else {
      best.other = std::min(best.other, birth);
    }
  }
  next_[local] = best;
}

void Source::choose_urgent(u32 local, Tick now) noexcept {
  const Cursor* cursors = &cursors_[place(local, 0)];
  const auto priority = [&](u32 i) {
    return plan_.priorities[EndpointPlan::service_class(i, cursors[i].message.flags)];
  };
  u32 best = next_[local].traffic;  // is born already
  for (u32 i = 0; i < plan_.traffic_count; ++i) {
    if (cursors[i].message.birth <= now && priority(i) > priority(best)) best = i;
  }
  if (best == next_[local].traffic) return;
  Next urgent{cursors[best].message.birth, kNever, best};
  for (u32 i = 0; i < plan_.traffic_count; ++i) {
    if (i != best) urgent.other = std::min(urgent.other, cursors[i].message.birth);
  }
  next_[local] = urgent;
}

bool Source::independent() const noexcept {
  const auto alone = [](u8 special) { return (special & (kAnswers | kMulticasts)) == 0; };
  return plan_.flows == nullptr && plan_.queues == 1 && plan_.flagged.empty() &&
         std::all_of(plan_.special.begin(), plan_.special.end(), alone);
}

u8 Source::pending_mask(u32 terminal, Tick at) const noexcept {
  u8 mask = 0;
  for (const core::HotSpot& h : plan_.flagged) {
    if (at <= closed_[h.traffic] && plan_.traffics[h.traffic]->pending(terminal, at)) {
      mask = static_cast<u8>(mask | (1U << h.traffic));
    }
  }
  return mask;
}

// A message that is taken costs some hundred instructions; two calls more would be a tenth of them, and so are the
// questions that `Plain` spares: messages of one packet for one destination, that nobody answers.

/// Fills in one packet of a message: all but the sequence number and what the routing sets.
template <bool Plain>
[[gnu::always_inline]] inline void Source::fill_packet(core::Packet& packet, u32 local, const Kept& kept, u32 offset,
                                                       u32 flits, Tick now) noexcept {
  packet = {};
  packet.birth = kept.birth;
  packet.enter = now;
  packet.source = plan_.terminals[local];
  packet.destination = kept.destination;
  packet.message = !Plain && (plan_.special[kept.traffic] & kAnswers) != 0 ? kept.tag : kept.nth;
  packet.flits = flits;
  packet.message_flits = kept.flits;
  packet.traffic = kept.traffic;
  packet.vc_class = static_cast<u8>(EndpointPlan::service_class(kept.traffic, kept.flags));
  packet.flags = static_cast<u8>(kept.flags | (Plain || offset == 0 ? core::kMessageFirst : 0) |
                                 (Plain || offset + flits == kept.flits ? core::kMessageLast : 0));
  packet.copies = Plain ? u16{0} : kept.copies;
  if (!Plain && (plan_.special[kept.traffic] & kControl) != 0) [[unlikely]] {
    recorder_.made_control(flits);
  } else if (recorder_.made(kept.birth, flits, Plain ? 1U : std::max<u32>(kept.copies, 1))) {
    packet.pending = pending_mask(packet.source, kept.birth);
  }
}

/// The message at the head has left. `departed`: its last packet, when an answering traffic is to be told.
template <bool Plain>
[[gnu::always_inline]] inline void Source::pass_message(u32 local, const core::Packet* departed, Tick now) noexcept {
  Next& head = next_[local];
  const u32 traffic = head.traffic;
  const std::size_t list = place(local, traffic);
  Cursor& cursor = cursors_[list];
  core::Message& message = cursor.message;
  ++cursor.nth;
  if constexpr (!Plain) cursor.offset = 0;
  if (!Plain && (plan_.special[traffic] & kAnswers) != 0) [[unlikely]] {
    ++answered_;
    answers_.pop(list, message);
    if (departed != nullptr) {
      Post outbox(*this, local - local % plan_.queues, traffic);
      plan_.traffics[traffic]->departed(*departed, departed->source, now, outbox);
    }
    choose_next(local);
  } else {
    if (!Plain && (plan_.queues != 1 || (plan_.special[traffic] & kSifts) != 0)) [[unlikely]] {
      find_next(local, traffic, cursor, head.birth);
    } else if (!plan_.traffics[traffic]->next(plan_.terminals[local], cursor.nth, head.birth, message)) {
      message.birth = kNever;
    }
    if (message.birth < head.other) {
      head.birth = message.birth;
    } else {
      choose_next(local);  // another traffic is due, or as early and of higher priority
    }
  }
  if (head.birth > births_.now()) {
    births_.withdraw(local);
    births_.schedule(local, head.birth);
  }
}

/// A packet left its flow.
template <bool Plain>
[[gnu::always_inline]] inline void Source::leave_flow(u32 local, const core::Packet& packet, Tick now) {
  Flows& flows = *plan_.flows;
  const u32 lane = lane_[local];
  const u8 traffic = packet.traffic;
  const bool whole = Plain || (packet.flags & core::kMessageLast) != 0;
  if (plan_.tells_in_packets) flows.note_flits(false, packet.flits, now);
  flows.left(local, lane, !Plain && packet.copies != 0 ? kNone : packet.destination, {packet.flits}, whole, now);
  if (!Plain && whole && (plan_.special[traffic] & kAnswers) != 0) {
    ++answered_;
    taking_ = local;
    Post outbox(*this, local - local % plan_.queues, traffic);
    plan_.traffics[traffic]->departed(packet, packet.source, now, outbox);
    taking_ = kNone;
  }
  // Mostly nothing waits any more, and the wheel knows when the next message is born: so much of refresh() is left.
  const Tick birth = plan_.counted == 1 ? feed_[place(local, 0)].message.birth : 0;
  if (flows.any_waits(local) || birth <= now || look_at_[local] != birth || control_waits(local)) return refresh(local);
  lane_[local] = kNone;
  next_[local] = {};
  births_.withdraw(local);
}

/// `Waits`: the model keeps the message, and tells what of it is sent. `Flowing`: it may come from a flow.
template <bool Waits, bool Plain, bool Flowing>
[[gnu::always_inline]] inline core::PacketId Source::take_head(u32 local, Tick now) {
  Next& head = next_[local];
  const u32 traffic = head.traffic;
  Cursor& cursor = cursors_[place(local, traffic)];
  const core::Message& message = cursor.message;
  const u32 left = Plain ? message.flits : message.flits - cursor.offset;
  const u32 flits = Plain ? left : std::min(left, plan_.longest[traffic]);
  const core::PacketId id = pool_.allocate();
  core::Packet& packet = pool_[id];
  fill_packet<Plain>(packet, local,
                     {message.birth, static_cast<u32>(cursor.nth), message.destination, message.flits, message.tag,
                      static_cast<u8>(traffic), message.flags, message.copies},
                     cursor.offset, flits, now);
  if (!Plain && message.copies != 0) [[unlikely]] {
    pool_.open_header(id, [&](std::span<u64> bits) {
      plan_.traffics[traffic]->destinations(packet.source, cursor.nth, message, bits);
    });
  }
  packet.sequence = Plain ? cursor.packets++ : next_sequence(local, cursor);
  plan_.routing->prepare(packet, message.word);
  const bool control = !Plain && (plan_.special[traffic] & kControl) != 0;
  if (recorder_.steady() && !control) {
    recorder_.offered(traffic, message.birth, flits * message.offers);
    if constexpr (!Waits) {
      const u32 copies = Plain ? 1U : std::max<u32>(message.copies, 1);
      recorder_.taken(local, traffic, flits * copies, now, copies);
    }
  }
  if constexpr (Waits) recorder_.waits();
  if (!Waits && plan_.probe != nullptr) [[unlikely]]
    plan_.probe->taken(
        packet.source, packet, now,
        packet.copies == 0 ? std::span<const u64>{} : std::span<const u64>{pool_.header(id), pool_.words_of_header()});

  if (control) [[unlikely]] {
    if (pool_.keeps_values()) pool_.clear_value(id);
    leave_control(local, packet);
    return id;
  }
  const bool answers = !Plain && (plan_.special[traffic] & kAnswers) != 0;
  if (Flowing && plan_.flows != nullptr) [[unlikely]] {
    if (pool_.keeps_values()) pool_.clear_value(id);
    leave_flow<Plain>(local, packet, births_.now());
    return id;
  }
  if (flits != left) {  // the rest of the message stays at the head
    cursor.offset += flits;
    return id;
  }
  pass_message<Plain>(local, answers ? &packet : nullptr, now);
  return id;
}

core::PacketId Source::take(u32 local, Tick now) {
  const u32 special = plan_.special[next_[local].traffic] & ~u32{kWatched};
  if (special == 0 && plan_.queues == 1) return take_head<false, true, false>(local, now);
  if (special == kAdmitted && plan_.queues == 1) return take_head<false, true, true>(local, now);
  return take_head<false, false, true>(local, now);
}
core::PacketId Source::take_waiting(u32 local, Tick now) { return take_head<true, false, true>(local, now); }

Source::Kept Source::keep(u32 local) {
  const u32 traffic = next_[local].traffic;
  const Cursor& cursor = cursors_[place(local, traffic)];
  const core::Message& message = cursor.message;
  const bool answers = (plan_.special[traffic] & kAnswers) != 0;
  const Kept kept{message.birth,       answers ? message.tag : static_cast<u32>(cursor.nth),
                  message.destination, message.flits,
                  message.tag,         static_cast<u8>(traffic),
                  message.flags,       0};
  if (recorder_.steady()) recorder_.offered(traffic, message.birth, message.flits);
  if (recorder_.window().holds(message.birth)) ++kept_in_window_;
  pass_message<false>(local, nullptr, births_.now());
  if (answers) [[unlikely]] {
    core::Packet whole;  // its packets are made later
    whole.birth = kept.birth;
    whole.source = plan_.terminals[local];
    whole.destination = kept.destination;
    whole.message = kept.tag;
    whole.flits = whole.message_flits = kept.flits;
    whole.traffic = kept.traffic;
    whole.flags = kept.flags;
    Post outbox(*this, local - local % plan_.queues, traffic);
    plan_.traffics[traffic]->kept(whole, whole.source, births_.now(), outbox);
  }
  return kept;
}

void Source::skip(u32 local) {
  ++skipped_;
  pass_message<false>(local, nullptr, births_.now());
}

core::PacketId Source::make_packet(u32 local, const Kept& kept, u32 offset, Tick now) {
  Cursor& cursor = cursors_[place(local, kept.traffic)];
  const u32 flits = packet_flits(kept, offset);
  const core::PacketId id = pool_.allocate();
  core::Packet& packet = pool_[id];
  fill_packet<false>(packet, local, kept, offset, flits, now);
  packet.sequence = next_sequence(local, cursor);
  // One word for all packets of a message, as for those that take() makes.
  const u32 word = draws_ways_ ? way_choice_.at(u64{packet.source} << 32U | kept.nth, kept.traffic)[0] : 0;
  plan_.routing->prepare(packet, word);
  if (recorder_.steady()) recorder_.taken(local, kept.traffic, flits, now, 1);
  if (plan_.probe != nullptr) [[unlikely]]
    plan_.probe->taken(packet.source, packet, now);
  if (offset + flits != kept.flits) return id;
  if (recorder_.window().holds(kept.birth)) --kept_in_window_;
  if ((plan_.special[kept.traffic] & kAnswers) != 0) [[unlikely]] {
    Post outbox(*this, local - local % plan_.queues, kept.traffic);
    plan_.traffics[kept.traffic]->departed(packet, packet.source, now, outbox);
  }
  return id;
}

void Source::add_waiting(SteadyRecord& record) const noexcept {
  for (u32 local = 0; local < plan_.size(); ++local) {
    for (u32 i = 0; i < plan_.counted; ++i) {
      const std::size_t list = place(local, i);
      Cursor cursor = feeding()[list];
      const auto add = [&](const core::Message& message, u64 flits) {
        return recorder_.note_offered(record, i, message.birth, flits * message.offers);
      };
      if (plan_.flows != nullptr) {
        plan_.flows->for_each_waiting(local, [&](const Flows::Waiting& w) {
          if (w.traffic == i) static_cast<void>(add(w.message, w.message.flits - w.offset));
        });
      }
      bool more = add(cursor.message, cursor.message.flits - cursor.offset);
      if ((plan_.special[i] & kAnswers) != 0) {
        answers_.for_each(list, [&](const core::Message& message) { static_cast<void>(add(message, message.flits)); });
        if (local % plan_.queues != 0) continue;
        core::Message message;
        for (u64 ahead = 0; plan_.traffics[i]->unposted(plan_.terminals[local], ahead, message); ++ahead) {
          if (!add(message, message.flits)) break;
        }
        continue;
      }
      while (more) {
        ++cursor.nth;
        find_next(local, i, cursor, cursor.message.birth);
        more = add(cursor.message, cursor.message.flits);
      }
    }
  }
}

bool Source::past_window() const noexcept {
  if (plan_.flows != nullptr) {
    for (u32 local = 0; local < plan_.size(); ++local) {
      bool past = true;
      plan_.flows->for_each_waiting(
          local, [&](const Flows::Waiting& w) { past = past && w.message.birth > recorder_.window().to; });
      const u32 traffic = next_feed(local);
      if (!past || (traffic != kNone && feed_[place(local, traffic)].message.birth <= recorder_.window().to))
        return false;
    }
    return kept_in_window_ == 0;
  }
  return kept_in_window_ == 0 &&
         std::all_of(next_.begin(), next_.end(), [&](const Next& n) { return n.birth > recorder_.window().to; });
}

u64 Source::digest() const noexcept {
  u64 sum = 0;
  for (u32 local = 0; local < plan_.size(); ++local) {
    Hasher h;
    h.add(plan_.terminals[local]);
    if (plan_.queues > 1) h.add(local % plan_.queues);
    for (u32 i = 0; i < plan_.traffic_count; ++i) {
      const Cursor& c = feeding()[place(local, i)];
      h.add(c.nth);
      h.add(c.message.birth);
      if ((plan_.special[i] & ~kWatched) == 0) continue;
      h.add(c.offset);
      if ((plan_.special[i] & kAnswers) == 0) continue;
      h.add(plan_.traffics[i]->digest(plan_.terminals[local]));
      const auto add = [&](const core::Message& m) {
        for (const u64 v : {m.birth, u64{m.destination}, u64{m.flits}, u64{m.tag}}) h.add(v);
      };
      if (c.message.birth != kNever) add(c.message);
      answers_.for_each(place(local, i), add);
    }
    sum += h.value();
  }
  return plan_.flows == nullptr ? sum : sum + plan_.flows->digest();
}

bool Source::answers_conserved() const noexcept {
  u64 waiting = 0;
  for (u32 i = 0; i < plan_.traffic_count; ++i) {
    if ((plan_.special[i] & kAnswers) == 0) continue;
    for (u32 local = 0; local < plan_.size(); ++local) {
      const std::size_t list = place(local, i);
      waiting += feeding()[list].message.birth != kNever ? 1U : 0U;
      answers_.for_each(list, [&](const core::Message&) { ++waiting; });
      if (plan_.flows == nullptr) continue;
      plan_.flows->for_each_waiting(local, [&](const Flows::Waiting& w) { waiting += w.traffic == i ? 1U : 0U; });
    }
  }
  return posted_ == answered_ + waiting;
}

}  // namespace banyan::engine
