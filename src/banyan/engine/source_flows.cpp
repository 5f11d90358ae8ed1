// The part of the source that an experiment with an admission needs: messages wait in flows, and what the gates let
// through is put at the cursors, from which the switch models take as ever.
#include "banyan/engine/source.hpp"

namespace banyan::engine {

void Source::advance_flows(Tick now) {
  due_.clear();
  births_.advance(now, true, [&](u32 local) {
    due_.push_back(local);
    return kNever;  // refresh() schedules it again
  });
  plan_.flows->advance(now, [&](u32 local, Tick at) {
    if (at <= now) {
      due_.push_back(local);
    } else {
      again_[local] = std::min(again_[local], at);
      births_.schedule(local, at);
    }
  });
  for (const u32 local : due_) refresh(local);
}

u32 Source::next_feed(u32 local) const noexcept {
  u32 best = kNone;
  for (u32 i = 0; i < plan_.traffic_count; ++i) {
    const Tick birth = feed_[place(local, i)].message.birth;
    if (birth != kNever && (best == kNone || birth < feed_[place(local, best)].message.birth)) best = i;
  }
  return best;
}

void Source::feed(u32 local) {
  const Tick now = births_.now();
  while (!plan_.flows->full(local)) {
    const u32 traffic = next_feed(local);
    if (traffic == kNone) return;
    Cursor& cursor = feed_[place(local, traffic)];
    const core::Message message = cursor.message;
    if (message.birth > now) return;
    const bool answers = (plan_.special[traffic] & kAnswers) != 0;
    if (!answers) late_ticks_ += now - message.birth;
    plan_.flows->join(local,
                      {plan_.terminals[local], message.copies != 0 ? kNone : message.destination,
                       EndpointPlan::service_class(traffic, message.flags)},
                      {message, cursor.nth, 0, traffic}, now);
    ++cursor.nth;
    if (answers) {
      answers_.pop(place(local, traffic), cursor.message);
    } else {
      find_next(local, traffic, cursor, message.birth);
    }
  }
}

void Source::refresh(u32 local) {
  const Tick now = births_.now();
  feed(local);
  const Flows::Head head = plan_.flows->choose(
      local, now, [&](const Flows::Waiting& w) { return departure(w); },
      [&](const Flows::Waiting& w) {
        return plan_.priorities[EndpointPlan::service_class(w.traffic, w.message.flags)];
      });
  lane_[local] = head.lane;
  again_[local] = head.again;
  if (const u32 traffic = next_feed(local); traffic != kNone && !plan_.flows->full(local)) {
    again_[local] = std::min(again_[local], feed_[place(local, traffic)].message.birth);
  }
  if (again_[local] != kNever) births_.schedule(local, again_[local]);
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
  births_.schedule(local, now);
}

void Source::leave_flow(u32 local, const core::Packet* departed) {
  const u32 lane = lane_[local];
  const Flows::Waiting waiting = plan_.flows->front(lane);
  const core::Departure what = departure(waiting);
  const bool whole = waiting.offset + what.flits == waiting.message.flits;
  plan_.flows->left(local, lane, waiting.message.copies != 0 ? kNone : waiting.message.destination, what, whole,
                    births_.now());
  if (whole && (plan_.special[waiting.traffic] & kAnswers) != 0) {
    ++answered_;
    if (departed != nullptr) {
      taking_ = local;
      Post outbox(*this, local - local % plan_.queues, waiting.traffic);
      plan_.traffics[waiting.traffic]->departed(*departed, departed->source, births_.now(), outbox);
      taking_ = kNone;
    }
  }
  refresh(local);
}

}  // namespace banyan::engine
