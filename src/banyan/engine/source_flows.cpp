// The part of the source that an experiment with an admission needs: messages wait in flows, and what the gates let
// through is put at the cursors, from which the switch models take as ever.
#include <utility>

#include "banyan/engine/source.hpp"

namespace banyan::engine {

void Source::advance_flows(Tick now) {
  Flows& flows = *plan_.flows;
  due_.clear();
  births_.take_due(now, [&](u32 local) {
    due_.push_back(local);
    look_at_[local] = kNever;
  });
  if (flows.is_due(now)) [[unlikely]]
    hear(now);
  for (const u32 local : due_) refresh(local);
  if (flows.large()) fetch_ends();
  posted_at_once_ = false;
}

/// What ends of flows hear, and what becomes of it, up to `now`.
[[gnu::noinline]] void Source::hear(Tick now) {
  const auto changed = [&](u32 local, Tick at) {
    if (at <= now) {
      due_.push_back(local);
    } else {
      look_at_[local] = std::min(look_at_[local], at);
      births_.schedule(local, at);
    }
  };
  plan_.flows->advance(now, changed, [&](u32 terminal, const core::Message& message) {
    post(plan_.local_of[terminal], plan_.control, message);
  });
}

/// What is born in the next ticks finds its flow near by: its place is asked for two ticks before, its end in the next.
void Source::fetch_ends() {
  const Flows& flows = *plan_.flows;
  for (const u32 hash : fetched_) flows.fetch_end(hash, true);
  fetched_.clear();
  const Tick at = births_.now() + 2;
  births_.for_each_at(at, [&](u32 local) {
    const u32 terminal = plan_.terminals[local];
    for (u32 i = 0; i < plan_.counted; ++i) {
      const core::Message& message = feed_[place(local, i)].message;
      if (message.birth > at) continue;
      const u32 destination = message.copies != 0 ? kNone : message.destination;
      const core::FlowMember member{terminal, destination, EndpointPlan::service_class(i, message.flags)};
      fetched_.push_back(flows.fetch_place(terminal, kNone, member));
    }
  });
}

u32 Source::next_feed_of_all(u32 local, bool with_room) const noexcept {
  u32 best = kNone;
  for (u32 i = 0; i < plan_.counted; ++i) {
    const Tick birth = feed_[place(local, i)].message.birth;
    if (birth == kNever || (with_room && plan_.flows->full(local, i))) continue;
    if (best == kNone || birth < feed_[place(local, best)].message.birth) best = i;
  }
  return best;
}

[[gnu::always_inline]] inline Tick Source::feed(u32 local, u32 traffic) {
  const Tick now = births_.now();
  for (;; traffic = next_feed(local, true)) {
    if (traffic == kNone) return kNever;
    Cursor& cursor = feed_[place(local, traffic)];
    const core::Message& message = cursor.message;
    if (message.birth > now) return message.birth;
    const bool answers = (plan_.special[traffic] & kAnswers) != 0;
    if (!answers) plan_.flows->note_late(now - message.birth);
    if (!answers && plan_.flows->waiting_flits(local) >= limits_[place(local, traffic)]) [[unlikely]] {
      ++skipped_;
      ++cursor.nth;
      find_next(local, traffic, cursor, Tick{message.birth});
      continue;
    }
    const u32 service_class = EndpointPlan::service_class(traffic, message.flags);
    plan_.flows->join(local, {plan_.terminals[local], message.copies != 0 ? kNone : message.destination, service_class},
                      message, cursor.nth, traffic, plan_.priorities[service_class], now);
    ++cursor.nth;
    if (answers) {
      answers_.pop(place(local, traffic), cursor.message);
    } else if (plan_.queues != 1 || (plan_.special[traffic] & kSifts) != 0) {
      find_next(local, traffic, cursor, Tick{message.birth});
    } else if (!plan_.traffics[traffic]->next(plan_.terminals[local], cursor.nth, message.birth, cursor.message)) {
      cursor.message.birth = kNever;
    }
  }
}

void Source::refresh(u32 local) {
  const Tick now = births_.now();
  // Messages are fed when they are born, whatever waits before them: a look at another time changes nothing.
  const u32 first = next_feed(local, true);
  const Tick birth = first == kNone ? kNever : feed_[place(local, first)].message.birth;
  const Tick fed = birth > now ? birth : feed(local, first);
  const auto look_again = [&](Tick flows) {
    const Tick again = std::min(flows, fed);
    if (std::exchange(look_at_[local], again) != again && again != kNever) births_.schedule(local, again);
  };
  if (control_waits(local)) {
    const Cursor& waiting = feed_[place(local, plan_.control)];
    Cursor& cursor = cursors_[place(local, plan_.control)];
    cursor.nth = waiting.nth;
    cursor.offset = waiting.offset;
    cursor.message = waiting.message;
    lane_[local] = kNone;
    look_again(kNever);  // at the flows, when that has left
    next_[local] = {waiting.message.birth, kNever, plan_.control};
    births_.show_now(local);
    return;
  }
  if (!plan_.flows->any_waits(local)) {
    lane_[local] = kNone;
    look_again(kNever);
    next_[local] = {};
    births_.withdraw(local);
    return;
  }
  const Flows::Head head = plan_.flows->choose(local, now, [&](const Flows::Waiting& w) { return departure(w); });
  lane_[local] = head.lane;
  look_again(head.again);
  if (head.lane == kNone) {
    next_[local] = {};
    births_.withdraw(local);
    return;
  }
  const Flows::Waiting& waiting = plan_.flows->front(head.lane);
  Cursor& cursor = cursors_[place(local, waiting.traffic)];
  cursor.nth = waiting.nth;
  cursor.offset = waiting.offset;
  cursor.message = waiting.message;
  next_[local] = {waiting.message.birth, kNever, waiting.traffic};
  births_.show_now(local);
}

void Source::leave_control(u32 local, const core::Packet& packet) {
  Cursor& cursor = feed_[place(local, plan_.control)];
  plan_.flows->note_flits(true, packet.flits, births_.now());
  cursor.offset += packet.flits;
  if ((packet.flags & core::kMessageLast) != 0) {
    ++answered_;
    ++cursor.nth;
    cursor.offset = 0;
    answers_.pop(place(local, plan_.control), cursor.message);
    plan_.flows->control_left(packet);
  }
  refresh(local);
}

void Source::park(u32 local) {
  if (next_[local].traffic == plan_.control) {
    control_parked_[local] = true;
  } else {
    plan_.flows->park(local, lane_[local]);
  }
  refresh(local);
}

void Source::unpark(u32 local) {
  if (!plan_.flows->unpark(local) && !control_parked_[local]) return;
  control_parked_[local] = false;
  refresh(local);
}

}  // namespace banyan::engine
