#include "banyan/engine/terminals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace banyan::engine {
namespace {

constexpr Stream kQueues{"terminals: which source queue a message joins"};
constexpr Stream kWays{"terminals: ways of packets of messages that were kept"};

void set_bit(std::vector<u64>& bits, u32 i) noexcept { bits[i >> 6U] |= u64{1} << (i & 63U); }
void clear_bit(std::vector<u64>& bits, u32 i) noexcept { bits[i >> 6U] &= ~(u64{1} << (i & 63U)); }

}  // namespace

/// Puts what a traffic posts behind the cursor of one terminal.
class Terminals::Post final : public core::Outbox {
 public:
  Post(Terminals& terminals, u32 local, u32 traffic) : terminals_(terminals), local_(local), traffic_(traffic) {}
  void post(const core::Message& message) noexcept override { terminals_.post(local_, traffic_, message); }
  void post_at(u32 terminal, const core::Message& message) noexcept override {
    terminals_.post(terminals_.local_of_[terminal], traffic_, message);
  }

 private:
  Terminals& terminals_;
  u32 local_;
  u32 traffic_;
};

Terminals::Setup Terminals::with_queues(Setup setup) {
  if (setup.queues == 1) return setup;
  std::vector<u32> queues;
  queues.reserve(setup.terminals.size() * setup.queues);
  for (const u32 terminal : setup.terminals) queues.insert(queues.end(), setup.queues, terminal);
  setup.terminals = std::move(queues);
  return setup;
}

Terminals::Terminals(Setup setup)
    : setup_(with_queues(std::move(setup))),
      traffic_count_(static_cast<u32>(setup_.traffics.size())),
      words_((size() + 63) / 64),
      pool_(setup_.shard),
      cursors_(static_cast<std::size_t>(size()) * traffic_count_),
      next_(size()),
      ready_(words_),
      wheel_(static_cast<std::size_t>(kSlots) * words_),
      far_(words_),
      tallies_(static_cast<std::size_t>(traffic_count_) * 2),
      hot_((setup_.total_terminals + 63) / 64),
      finite_(traffic_count_),
      is_finite_(traffic_count_),
      closed_(traffic_count_, kNever),
      steady_(setup_.steady.end != 0),
      record_(setup_.steady, traffic_count_),
      generated_(static_cast<std::size_t>(traffic_count_) * 2, std::vector<u32>(setup_.generation_series)) {
  for (const core::HotSpot& h : setup_.hot_spots) set_bit(hot_, h.terminal);
  bool any_answers = false;
  for (const core::Traffic* t : setup_.traffics) {
    is_finite_[special_.size()] = t->finite() ? 1 : 0;
    longest_packet_.push_back(std::min(t->longest_packet(), setup_.longest_packet));
    const bool cut = t->longest_packet() != kNone || t->longest_message() > setup_.longest_packet;
    special_.push_back(static_cast<u8>((cut ? kCut : 0) | (t->answers() ? kAnswers : 0) |
                                       (t->multicasts() || t->replicates() ? kMulticasts : 0) |
                                       (t->sifts() ? kSifts : 0)));
    if (t->replicates()) sets_ = MulticastSets(setup_.total_terminals);
    any_answers = any_answers || t->answers();
    for (const bool replies : {false, true}) priorities_.push_back(t->service(replies).priority);
  }
  prioritized_ = std::any_of(priorities_.begin(), priorities_.end(), [](u8 priority) { return priority != 0; });
  if (!any_answers) return;
  answers_ = Answers(cursors_.size());
  local_of_.assign(setup_.total_terminals, kNone);
  for (u32 local = size(); local > 0; --local) local_of_[global(local - 1)] = local - 1;  // the first queue
}

void Terminals::reset(u32 replication) {
  queue_choice_ = Random(setup_.seed, kQueues, 0, replication);
  way_choice_ = Random(setup_.seed, kWays, 0, replication);
  pool_.clear();
  std::fill(ready_.begin(), ready_.end(), 0);
  std::fill(wheel_.begin(), wheel_.end(), 0);
  std::fill(far_.begin(), far_.end(), 0);
  occupied_.fill(0);
  any_far_ = false;
  now_ = looked_far_ = 0;
  window_ = {};
  std::fill(tallies_.begin(), tallies_.end(), Tally{});
  std::fill(finite_.begin(), finite_.end(), Finite{});
  std::fill(closed_.begin(), closed_.end(), kNever);
  record_.clear();
  accepted_of_.assign(size(), 0);
  for (std::vector<u32>& series : generated_) std::fill(series.begin(), series.end(), 0);
  latest_.clear();
  answers_.clear();
  partial_.clear();
  ledger_.clear();
  posted_ = answered_ = 0;
  taken_ = taken_flits_ = delivered_ = delivered_flits_ = misdelivered_ = disordered_ = counted_taken_ =
      counted_delivered_ = kept_in_window_ = skipped_ = 0;
  std::fill(cursors_.begin(), cursors_.end(), Cursor{});
  std::fill(next_.begin(), next_.end(), Next{});
  for (u32 local = 0; local < size(); ++local) {
    for (u32 i = 0; i < traffic_count_; ++i) {
      if ((special_[i] & kAnswers) != 0) continue;
      find_next(local, i, cursors_[static_cast<std::size_t>(local) * traffic_count_ + i], kNever);
    }
    choose_next(local);
    schedule(local, 0);
  }
  for (u32 local = 0; local < size(); local += setup_.queues) {
    for (u32 i = 0; i < traffic_count_; ++i) {
      if ((special_[i] & kAnswers) == 0) continue;
      Post outbox(*this, local, i);
      setup_.traffics[i]->start(global(local), outbox);
    }
  }
}

Tick Terminals::first_birth(u32 traffic) const noexcept {
  Tick first = kNever;
  for (u32 local = 0; local < size(); ++local) {
    first = std::min(first, cursors_[static_cast<std::size_t>(local) * traffic_count_ + traffic].message.birth);
  }
  return first;
}

/// A message that is being taken, or is born earlier, stays at the cursor; the others wait in order behind it.
void Terminals::post(u32 first_queue, u32 traffic, const core::Message& message) noexcept {
  const u32 queue = setup_.queues == 1 ? 0 : queue_of(global(first_queue), traffic, message.tag, message);
  const u32 local = first_queue + queue;
  const std::size_t index = static_cast<std::size_t>(local) * traffic_count_ + traffic;
  core::Message& first = cursors_[index].message;
  ++posted_;
  if (first.birth == kNever) {
    first = message;
  } else if (Answers::before(message, first) && cursors_[index].offset == 0) {
    answers_.insert(index, first);
    first = message;
  } else {
    answers_.insert(index, message);
    return;
  }
  choose_next(local);
  schedule(local, now_);
}

void Terminals::find_next(u32 local, u32 traffic, Cursor& cursor, Tick previous) const noexcept {
  const core::Traffic& source = *setup_.traffics[traffic];
  const u32 terminal = setup_.terminals[local];
  for (;; ++cursor.nth) {
    if (!source.next(terminal, cursor.nth, previous, cursor.message)) {
      cursor.message.birth = kNever;
      return;
    }
    const bool here =
        setup_.queues == 1 || queue_of(terminal, traffic, cursor.nth, cursor.message) == local % setup_.queues;
    if (here && !cursor.message.elsewhere) return;
    previous = cursor.message.birth;
  }
}

void Terminals::choose_next(u32 local) noexcept {
  const Cursor* cursors = &cursors_[static_cast<std::size_t>(local) * traffic_count_];
  Next best{cursors[0].message.birth, kNever, 0};
  for (u32 i = 1; i < traffic_count_; ++i) {
    const Tick birth = cursors[i].message.birth;
    if (birth < best.birth) {
      best = {birth, best.birth, i};
    } else {
      best.other = std::min(best.other, birth);
    }
  }
  next_[local] = best;
}

void Terminals::choose_urgent(u32 local, Tick now) noexcept {
  const Cursor* cursors = &cursors_[static_cast<std::size_t>(local) * traffic_count_];
  const auto priority = [&](u32 i) { return priorities_[service_class(i, cursors[i].message.flags)]; };
  u32 best = next_[local].traffic;  // is born already
  for (u32 i = 0; i < traffic_count_; ++i) {
    if (cursors[i].message.birth <= now && priority(i) > priority(best)) best = i;
  }
  if (best == next_[local].traffic) return;
  Next urgent{cursors[best].message.birth, kNever, best};
  for (u32 i = 0; i < traffic_count_; ++i) {
    if (i != best) urgent.other = std::min(urgent.other, cursors[i].message.birth);
  }
  next_[local] = urgent;
}

void Terminals::schedule(u32 local, Tick now) noexcept {
  const Tick birth = next_[local].birth;
  if (birth <= now) {
    set_bit(ready_, local);
  } else if (birth - now < kNear) {
    const u32 slot = static_cast<u32>(birth % kSlots);
    wheel_[static_cast<std::size_t>(slot) * words_ + (local >> 6U)] |= u64{1} << (local & 63U);
    occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
  } else if (birth != kNever) {
    set_bit(far_, local);
    any_far_ = true;
  }
}

void Terminals::advance(Tick now) noexcept {
  if (now == now_) return;
  const auto empty_slot = [&](u32 slot) {
    if ((occupied_[slot >> 6U] >> (slot & 63U) & 1U) == 0) return;
    occupied_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    u64* words = &wheel_[static_cast<std::size_t>(slot) * words_];
    for (u32 w = 0; w < words_; ++w) {
      u64 due = std::exchange(words[w], 0);
      // An answer may have come before the message that the slot was meant for; that one has its slot again.
      for (u64 bits = local_of_.empty() ? 0 : due; bits != 0; bits &= bits - 1) {
        if (next_[w * 64 + static_cast<u32>(std::countr_zero(bits))].birth > now) due &= ~(bits & (~bits + 1));
      }
      ready_[w] |= due;
    }
  };
  const Tick last = now - now_ < kSlots ? now : now_ + kSlots;
  for (Tick t = now_ + 1; t <= last; ++t) empty_slot(static_cast<u32>(t % kSlots));
  now_ = now;
  if (now / kFarPeriod == std::exchange(looked_far_, now / kFarPeriod) || !any_far_) return;
  any_far_ = false;
  for (u32 w = 0; w < words_; ++w) {
    for (u64 bits = std::exchange(far_[w], 0); bits != 0; bits &= bits - 1) {
      schedule(w * 64 + static_cast<u32>(std::countr_zero(bits)), now);
    }
  }
}

bool Terminals::independent() const noexcept {
  const auto alone = [](u8 special) { return (special & (kAnswers | kMulticasts)) == 0; };
  return setup_.queues == 1 && setup_.hot_spots.empty() && std::all_of(special_.begin(), special_.end(), alone);
}

Tick Terminals::next_birth_after(Tick now) const noexcept {
  Tick best = kNever;
  // The wheel, from the slot after `now` once around.
  for (u32 step = 1; step < kSlots;) {
    const u32 slot = static_cast<u32>((now + step) % kSlots);
    const u64 bits = occupied_[slot >> 6U] >> (slot & 63U);
    if (bits != 0) {
      const u32 ahead = step + static_cast<u32>(std::countr_zero(bits));
      if (ahead < kSlots) best = now + ahead;
      break;
    }
    step += 64U - (slot & 63U);
  }
  if (any_far_ && (best == kNever || best - now > kFarPeriod)) {
    for (u32 w = 0; w < words_; ++w) {
      for (u64 bits = far_[w]; bits != 0; bits &= bits - 1) {
        // An answer may have come before the message that is far: its terminal is ready already.
        const Tick birth = next_[w * 64 + static_cast<u32>(std::countr_zero(bits))].birth;
        if (birth > now) best = std::min(best, birth);
      }
    }
  }
  return best;
}

u8 Terminals::pending_mask(u32 terminal, Tick at) const noexcept {
  u8 mask = 0;
  for (const core::HotSpot& h : setup_.hot_spots) {
    if (at <= closed_[h.traffic] && setup_.traffics[h.traffic]->pending(terminal, at)) {
      mask = static_cast<u8>(mask | (1U << h.traffic));
    }
  }
  return mask;
}

// A message that is taken costs some hundred instructions; two calls more would be a tenth of them, and so are the
// questions that `Plain` spares: messages of one packet for one destination, that nobody answers.

/// Of one packet of a message: all but the sequence number and what the routing sets.
template <bool Plain>
[[gnu::always_inline]] inline void Terminals::fill_packet(core::Packet& packet, u32 local, const Kept& kept, u32 offset,
                                                          u32 flits, Tick now) noexcept {
  packet = {};
  packet.birth = kept.birth;
  packet.enter = now;
  packet.source = setup_.terminals[local];
  packet.destination = kept.destination;
  packet.message = !Plain && (special_[kept.traffic] & kAnswers) != 0 ? kept.tag : kept.nth;
  packet.flits = flits;
  packet.message_flits = kept.flits;
  packet.traffic = kept.traffic;
  packet.vc_class = static_cast<u8>(service_class(kept.traffic, kept.flags));
  packet.flags = static_cast<u8>(kept.flags | (Plain || offset == 0 ? core::kMessageFirst : 0) |
                                 (Plain || offset + flits == kept.flits ? core::kMessageLast : 0));
  packet.copies = Plain ? u16{0} : kept.copies;
  if (kept.birth >= window_.from) note_counted(packet);
  const u32 copies = Plain ? 1U : std::max<u32>(kept.copies, 1);
  taken_ += copies;
  taken_flits_ += u64{copies} * flits;
}

/// The message at the head has left. `departed`: its last packet, when an answering traffic is to be told.
template <bool Plain>
[[gnu::always_inline]] inline void Terminals::pass_message(u32 local, const core::Packet* departed, Tick now) noexcept {
  Next& head = next_[local];
  const u32 traffic = head.traffic;
  const std::size_t index = static_cast<std::size_t>(local) * traffic_count_ + traffic;
  Cursor& cursor = cursors_[index];
  core::Message& message = cursor.message;
  ++cursor.nth;
  if constexpr (!Plain) cursor.offset = 0;
  if (!Plain && (special_[traffic] & kAnswers) != 0) [[unlikely]] {
    ++answered_;
    answers_.pop(index, message);
    if (departed != nullptr) {
      Post outbox(*this, local - local % setup_.queues, traffic);
      setup_.traffics[traffic]->departed(*departed, departed->source, now, outbox);
    }
    choose_next(local);
  } else {
    if (!Plain && (setup_.queues != 1 || (special_[traffic] & kSifts) != 0)) [[unlikely]] {
      find_next(local, traffic, cursor, head.birth);
    } else if (!setup_.traffics[traffic]->next(setup_.terminals[local], cursor.nth, head.birth, message)) {
      message.birth = kNever;
    }
    if (message.birth < head.other) {
      head.birth = message.birth;
    } else {
      choose_next(local);  // another traffic is due, or as early and of higher priority
    }
  }
  if (head.birth > now_) {
    clear_bit(ready_, local);
    schedule(local, now_);
  }
}

/// `Waits`: the model keeps the message, and tells what of it is sent.
template <bool Waits, bool Plain>
[[gnu::always_inline]] inline core::PacketId Terminals::take_head(u32 local, Tick now) {
  Next& head = next_[local];
  const u32 traffic = head.traffic;
  Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + traffic];
  const core::Message& message = cursor.message;
  const u32 left = Plain ? message.flits : message.flits - cursor.offset;
  const u32 flits = Plain ? left : std::min(left, longest_packet_[traffic]);
  const core::PacketId id = pool_.allocate();
  core::Packet& packet = pool_[id];
  fill_packet<Plain>(packet, local,
                     {message.birth, static_cast<u32>(cursor.nth), message.destination, message.flits, message.tag,
                      static_cast<u8>(traffic), message.flags, message.copies},
                     cursor.offset, flits, now);
  if (!Plain && message.copies != 0) [[unlikely]] {
    const std::span<u64> bits = sets_.open(id, pool_.created());
    setup_.traffics[traffic]->destinations(packet.source, cursor.nth, message, bits);
  }
  packet.sequence = Plain ? cursor.packets++ : next_sequence(local, cursor);
  setup_.routing->prepare(packet, message.word);
  if (steady_) {
    note_offered(traffic, message.birth, flits * message.offers);
    if constexpr (!Waits) {
      const u32 copies = Plain ? 1U : std::max<u32>(message.copies, 1);
      note_taken(local, traffic, flits * copies, now, copies);
    }
  }
  if (setup_.probe != nullptr) [[unlikely]]
    setup_.probe->taken(packet.source, packet, now);

  if (flits != left) {  // the rest of the message stays at the head
    cursor.offset += flits;
    return id;
  }
  pass_message<Plain>(local, !Plain && (special_[traffic] & kAnswers) != 0 ? &packet : nullptr, now);
  return id;
}

core::PacketId Terminals::take(u32 local, Tick now) {
  if (special_[next_[local].traffic] == 0 && setup_.queues == 1) return take_head<false, true>(local, now);
  return take_head<false, false>(local, now);
}
core::PacketId Terminals::take_waiting(u32 local, Tick now) { return take_head<true, false>(local, now); }

Terminals::Kept Terminals::keep(u32 local) {
  const u32 traffic = next_[local].traffic;
  const Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + traffic];
  const core::Message& message = cursor.message;
  const Kept kept{message.birth, static_cast<u32>(cursor.nth), message.destination, message.flits,
                  message.tag,   static_cast<u8>(traffic),     message.flags,       0};
  if (steady_) note_offered(traffic, message.birth, message.flits);
  if (in_window(message.birth)) ++kept_in_window_;
  pass_message<false>(local, nullptr, now_);
  return kept;
}

void Terminals::skip(u32 local) {
  ++skipped_;
  pass_message<false>(local, nullptr, now_);
}

core::PacketId Terminals::make_packet(u32 local, const Kept& kept, u32 offset, Tick now) {
  Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + kept.traffic];
  const u32 flits = packet_flits(kept, offset);
  const core::PacketId id = pool_.allocate();
  core::Packet& packet = pool_[id];
  fill_packet<false>(packet, local, kept, offset, flits, now);
  packet.sequence = next_sequence(local, cursor);
  // One word for all packets of a message, as for those that take() makes.
  setup_.routing->prepare(packet, way_choice_.at(u64{packet.source} << 32U | kept.nth, kept.traffic)[0]);
  if (steady_) note_taken(local, kept.traffic, flits, now);
  if (setup_.probe != nullptr) [[unlikely]]
    setup_.probe->taken(packet.source, packet, now);
  if (offset + flits != kept.flits) return id;
  if (in_window(kept.birth)) --kept_in_window_;
  if ((special_[kept.traffic] & kAnswers) != 0) [[unlikely]] {
    Post outbox(*this, local - local % setup_.queues, kept.traffic);
    setup_.traffics[kept.traffic]->departed(packet, packet.source, now, outbox);
  }
  return id;
}

void Terminals::deliver_message(const core::Packet& packet, u32 terminal, Tick first, Tick now, u32 hops) noexcept {
  if (packet.destination != terminal) [[unlikely]]
    ++misdelivered_;
  ++delivered_;
  delivered_flits_ += packet.flits;
  note_delivered(packet, terminal, now, hops, now - first);
  if (packet.birth >= window_.from && packet.birth <= window_.to) {
    note_message(packet, first - packet.birth, now - packet.birth);
  }
}

void Terminals::note_counted(core::Packet& packet) noexcept {
  packet.pending = pending_mask(packet.source, packet.birth);
  counted_taken_ += packet.birth <= window_.to ? std::max<u32>(packet.copies, 1) : 0U;
}

/// Requests and replies may have virtual channels of their own, and pass each other.
void Terminals::note_order(const core::Packet& packet) noexcept {
  const auto [place, first] = latest_.try_emplace(
      {packet.source, packet.destination, service_class(packet.traffic, packet.flags)}, packet.sequence);
  if (!first && packet.sequence < place->second) ++disordered_;
  place->second = std::max(place->second, packet.sequence);
}

void Terminals::account(const core::Packet& packet, Tick now, u32 hops, Tick serialization) noexcept {
  if (packet.birth > window_.to) return;
  const bool hot = (hot_[packet.destination >> 6U] >> (packet.destination & 63U) & 1U) != 0;
  Tally& tally = tallies_[tally_class(packet.traffic, hot)];
  const Tick latency = now - packet.birth;
  ++tally.packets;
  tally.flits += packet.flits;
  tally.latency += latency;
  tally.queueing += packet.enter - packet.birth;
  tally.serialization += serialization;
  tally.hops += hops;
  ++counted_delivered_;
  if (is_finite_[packet.traffic] != 0 && (special_[packet.traffic] & kCut) == 0) note_finite(packet, now);
  if (setup_.generation_series != 0) {
    std::vector<u32>& series = generated_[tally_class(packet.traffic, hot)];
    if (packet.birth - window_.from < series.size()) ++series[packet.birth - window_.from];
  }
  if (!steady_) return;
  const std::size_t window = packet.birth >> setup_.steady.shift;
  const auto add = [&](SteadyRecord::Births& sum) {
    ++sum.packets;
    sum.latency += latency;
    sum.queueing += packet.enter - packet.birth;
    sum.serialization += serialization;
    sum.hops += hops;
  };
  add(record_.births[window]);
  if (!record_.shares.empty()) add(record_.shares[packet.traffic].births[window]);
  if (packet.birth >= setup_.steady.histogram_from) record_.latency.add(latency);
}

void Terminals::note_finite(const core::Packet& packet, Tick now) noexcept {
  ++finite_[packet.traffic].delivered;
  Tick& latest = finite_[packet.traffic].latest;
  latest = std::max(latest, now);
}

void Terminals::note_special(const core::Packet& packet, u32 terminal, Tick now) noexcept {
  if ((special_[packet.traffic] & kCut) != 0) {
    Tick first = now;
    if (packet.flits != packet.message_flits && !partial_.add(packet, now, first)) return;
    if (packet.birth >= window_.from && packet.birth <= window_.to) {
      note_message(packet, first - packet.birth, now - packet.birth);
      if (is_finite_[packet.traffic] != 0) note_finite(packet, now);
    }
  }
  if ((special_[packet.traffic] & kMulticasts) != 0) note_multicast(packet, now);
  if ((special_[packet.traffic] & kAnswers) == 0) return;
  Post outbox(*this, local_of_[terminal], packet.traffic);
  setup_.traffics[packet.traffic]->delivered(packet, terminal, now, outbox);
}

void Terminals::note_message(const core::Packet& packet, Tick first, Tick last) noexcept {
  const bool hot = (hot_[packet.destination >> 6U] >> (packet.destination & 63U) & 1U) != 0;
  const auto add = [&](auto& sum) {
    ++sum.messages;
    sum.message_first += first;
    sum.message_last += last;
  };
  add(tallies_[tally_class(packet.traffic, hot)]);
  if (!steady_) return;
  const std::size_t window = packet.birth >> setup_.steady.shift;
  add(record_.births[window]);
  if (!record_.shares.empty()) add(record_.shares[packet.traffic].births[window]);
}

void Terminals::note_offered(u32 traffic, Tick birth, u32 flits) noexcept {
  const SteadyPlan& plan = setup_.steady;
  if (birth >= plan.end) return;
  record_.offered[birth >> plan.shift] += flits;
  if (!record_.shares.empty()) record_.shares[traffic].offered[birth >> plan.shift] += flits;
  if (record_.timeline.on()) [[unlikely]]
    record_.timeline.offered(traffic, birth, flits);
}

void Terminals::note_taken(u32 local, u32 traffic, u32 flits, Tick now, u32 copies) noexcept {
  const SteadyPlan& plan = setup_.steady;
  if (now >= plan.end) return;
  if (record_.timeline.on()) [[unlikely]]
    record_.timeline.taken(traffic, now, flits, copies);
  record_.taken[now >> plan.shift] += flits;
  if (now >= plan.histogram_from) accepted_of_[local] += flits;
}

bool Terminals::deliver_copy(core::PacketId id, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
  if (!sets_.remove(id, terminal)) ++misdelivered_;
  core::Packet copy = pool_[id];
  copy.destination = terminal;
  count_delivered(copy, terminal, now, hops, serialization);
  return sets_.owed(id) == 0;
}

void Terminals::note_multicast(const core::Packet& packet, Tick now) noexcept {
  const core::MulticastGroup group = setup_.traffics[packet.traffic]->multicast_of(packet);
  if (group.copies != 0) {
    MulticastLedger::Entry whole;
    if (ledger_.add(packet.traffic, group.group, group.copies, packet.birth, now, whole)) note_group(whole);
    return;
  }
  if (packet.birth < window_.from || packet.birth > window_.to) return;
  const auto add = [&](auto& sum) {
    ++sum.unicasts;
    sum.unicast_latency += now - packet.birth;
  };
  add(tallies_[tally_class(packet.traffic, false)]);
  if (!steady_) return;
  add(record_.births[packet.birth >> setup_.steady.shift]);
  if (!record_.shares.empty()) add(record_.shares[packet.traffic].births[packet.birth >> setup_.steady.shift]);
}

void Terminals::note_group(const MulticastLedger::Entry& group) noexcept {
  if (group.birth < window_.from || group.birth > window_.to) return;
  const u64 mean = (group.sum - group.copies * group.birth) * Tally::kMeanUnit / group.copies;
  const auto add = [&](auto& sum) {
    ++sum.multicasts;
    sum.multicast_first += group.first - group.birth;
    sum.multicast_last += group.last - group.birth;
    sum.multicast_mean += mean;
  };
  add(tallies_[tally_class(group.traffic, false)]);
  if (!steady_) return;
  const std::size_t window = group.birth >> setup_.steady.shift;
  add(record_.births[window]);
  if (!record_.shares.empty()) add(record_.shares[group.traffic].births[window]);
}

void Terminals::join_multicasts(Terminals& other) {
  other.ledger_.for_each([&](const MulticastLedger::Entry& some) {
    MulticastLedger::Entry whole;
    if (ledger_.join(some, whole)) note_group(whole);
  });
}

void Terminals::extend(const SteadyPlan& longer) {
  setup_.steady = longer;
  record_.extend(longer);
}

void Terminals::add_waiting(SteadyRecord& record) const noexcept {
  for (u32 local = 0; local < size(); ++local) {
    for (u32 i = 0; i < traffic_count_; ++i) {
      const std::size_t index = static_cast<std::size_t>(local) * traffic_count_ + i;
      Cursor cursor = cursors_[index];
      const auto add = [&](const core::Message& message, u64 flits) {
        if (message.birth >= setup_.steady.end) return false;
        flits *= message.offers;
        const std::size_t window = message.birth >> setup_.steady.shift;
        record.offered[window] += flits;
        if (!record.shares.empty()) record.shares[i].offered[window] += flits;
        if (record.timeline.on()) record.timeline.offered(i, message.birth, flits);
        return true;
      };
      bool more = add(cursor.message, cursor.message.flits - cursor.offset);
      if ((special_[i] & kAnswers) != 0) {
        answers_.for_each(index, [&](const core::Message& message) { static_cast<void>(add(message, message.flits)); });
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

void Terminals::set_window(Window window) noexcept { window_ = window; }

bool Terminals::sources_past_window() const noexcept {
  return kept_in_window_ == 0 &&
         std::all_of(next_.begin(), next_.end(), [&](const Next& n) { return n.birth > window_.to; });
}

u64 Terminals::waiting_terminals() const noexcept {
  u64 count = 0;
  for (const u64 word : ready_) count += static_cast<u64>(std::popcount(word));
  return count;
}

u64 Terminals::digest() const noexcept {
  u64 sum = 0;
  for (u32 local = 0; local < size(); ++local) {
    Hasher h;
    h.add(global(local));
    if (setup_.queues > 1) h.add(local % setup_.queues);
    for (u32 i = 0; i < traffic_count_; ++i) {
      const Cursor& c = cursors_[static_cast<std::size_t>(local) * traffic_count_ + i];
      h.add(c.nth);
      h.add(c.message.birth);
      if (special_[i] == 0) continue;
      h.add(c.offset);
      if ((special_[i] & kAnswers) == 0) continue;
      h.add(setup_.traffics[i]->digest(global(local)));
      const auto add = [&](const core::Message& m) {
        for (const u64 v : {m.birth, u64{m.destination}, u64{m.flits}, u64{m.tag}}) h.add(v);
      };
      if (c.message.birth != kNever) add(c.message);
      answers_.for_each(static_cast<std::size_t>(local) * traffic_count_ + i, add);
    }
    sum += h.value();
  }
  return sum + partial_.digest() + ledger_.digest();
}

bool Terminals::answers_conserved() const noexcept {
  u64 waiting = 0;
  for (u32 i = 0; i < traffic_count_; ++i) {
    if ((special_[i] & kAnswers) == 0) continue;
    for (u32 local = 0; local < size(); ++local) {
      const std::size_t index = static_cast<std::size_t>(local) * traffic_count_ + i;
      waiting += cursors_[index].message.birth != kNever ? 1U : 0U;
      answers_.for_each(index, [&](const core::Message&) { ++waiting; });
    }
  }
  return posted_ == answered_ + waiting;
}

}  // namespace banyan::engine
