#include "banyan/engine/terminals.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace banyan::engine {
namespace {

constexpr Tick kFarPeriod = 128;  ///< half the wheel: far births are looked through this often

void set_bit(std::vector<u64>& bits, u32 i) noexcept { bits[i >> 6U] |= u64{1} << (i & 63U); }
void clear_bit(std::vector<u64>& bits, u32 i) noexcept { bits[i >> 6U] &= ~(u64{1} << (i & 63U)); }

}  // namespace

Terminals::Terminals(Setup setup)
    : setup_(std::move(setup)),
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
      record_(setup_.steady),
      generated_(static_cast<std::size_t>(traffic_count_) * 2, std::vector<u32>(setup_.generation_series)) {
  for (const core::HotSpot& h : setup_.hot_spots) set_bit(hot_, h.terminal);
  for (u32 i = 0; i < traffic_count_; ++i) is_finite_[i] = setup_.traffics[i]->finite() ? 1 : 0;
}

void Terminals::reset() {
  pool_.clear();
  std::fill(ready_.begin(), ready_.end(), 0);
  std::fill(wheel_.begin(), wheel_.end(), 0);
  std::fill(far_.begin(), far_.end(), 0);
  occupied_.fill(0);
  any_far_ = false;
  now_ = 0;
  window_ = {};
  std::fill(tallies_.begin(), tallies_.end(), Tally{});
  std::fill(finite_.begin(), finite_.end(), Finite{});
  std::fill(closed_.begin(), closed_.end(), kNever);
  record_.clear();
  for (std::vector<u32>& series : generated_) std::fill(series.begin(), series.end(), 0);
  latest_.clear();
  taken_ = taken_flits_ = delivered_ = delivered_flits_ = misdelivered_ = disordered_ = counted_taken_ =
      counted_delivered_ = 0;
  for (u32 local = 0; local < size(); ++local) {
    for (u32 i = 0; i < traffic_count_; ++i) {
      Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + i];
      cursor = {};
      if (!setup_.traffics[i]->next(global(local), 0, kNever, cursor.message)) cursor.message.birth = kNever;
    }
    choose_next(local);
    schedule(local, 0);
  }
}

void Terminals::step_cursor(Cursor& cursor, u32 traffic, u32 terminal) const noexcept {
  const Tick previous = cursor.message.birth;
  ++cursor.nth;
  if (!setup_.traffics[traffic]->next(terminal, cursor.nth, previous, cursor.message)) cursor.message.birth = kNever;
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

void Terminals::schedule(u32 local, Tick now) noexcept {
  const Tick birth = next_[local].birth;
  if (birth <= now) {
    set_bit(ready_, local);
  } else if (birth - now < kSlots) {
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
      ready_[w] |= words[w];
      words[w] = 0;
    }
  };
  const Tick last = now - now_ < kSlots ? now : now_ + kSlots;
  for (Tick t = now_ + 1; t <= last; ++t) empty_slot(static_cast<u32>(t % kSlots));
  const bool look_far = any_far_ && now / kFarPeriod != now_ / kFarPeriod;
  now_ = now;
  if (!look_far) return;
  any_far_ = false;
  for (u32 w = 0; w < words_; ++w) {
    for (u64 bits = std::exchange(far_[w], 0); bits != 0; bits &= bits - 1) {
      schedule(w * 64 + static_cast<u32>(std::countr_zero(bits)), now);
    }
  }
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
        best = std::min(best, next_[w * 64 + static_cast<u32>(std::countr_zero(bits))].birth);
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

core::PacketId Terminals::take(u32 local, Tick now) {
  Next& head = next_[local];
  Cursor& cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + head.traffic];
  core::Message& message = cursor.message;
  const Tick birth = message.birth;
  const u32 terminal = setup_.terminals[local];
  const core::PacketId id = pool_.allocate();
  core::Packet& packet = pool_[id];
  packet = {};
  packet.birth = birth;
  packet.enter = now;
  packet.source = terminal;
  packet.destination = message.destination;
  packet.sequence = static_cast<u32>(cursor.nth);
  packet.message = static_cast<u32>(cursor.nth);
  packet.flits = message.flits;
  packet.traffic = static_cast<u8>(head.traffic);
  packet.flags = message.flags;
  if (birth >= window_.from) note_counted(packet);
  setup_.routing->prepare(packet, message.word);
  ++taken_;
  taken_flits_ += message.flits;
  if (steady_) note_taken(birth, message.flits, now);

  ++cursor.nth;
  if (!setup_.traffics[head.traffic]->next(terminal, cursor.nth, birth, message)) message.birth = kNever;
  if (message.birth < head.other) {
    head.birth = message.birth;
  } else {
    choose_next(local);  // another traffic is due, or as early and of higher priority
  }
  if (head.birth > now_) {
    clear_bit(ready_, local);
    schedule(local, now_);
  }
  return id;
}

void Terminals::note_counted(core::Packet& packet) noexcept {
  packet.pending = pending_mask(packet.source, packet.birth);
  counted_taken_ += packet.birth <= window_.to ? 1U : 0U;
}

void Terminals::note_order(const core::Packet& packet) noexcept {
  const auto [place, first] = latest_.try_emplace({packet.source, packet.destination, packet.traffic}, packet.sequence);
  if (!first && packet.sequence < place->second) ++disordered_;
  place->second = std::max(place->second, packet.sequence);
}

void Terminals::account(const core::Packet& packet, Tick now, u32 hops) noexcept {
  if (packet.birth > window_.to) return;
  const bool hot = (hot_[packet.destination >> 6U] >> (packet.destination & 63U) & 1U) != 0;
  Tally& tally = tallies_[tally_class(packet.traffic, hot)];
  const Tick latency = now - packet.birth;
  ++tally.packets;
  tally.flits += packet.flits;
  tally.latency += latency;
  tally.queueing += packet.enter - packet.birth;
  tally.hops += hops;
  ++counted_delivered_;
  if (is_finite_[packet.traffic] != 0) {
    ++finite_[packet.traffic].delivered;
    finite_[packet.traffic].latest = now;
  }
  if (setup_.generation_series != 0) {
    std::vector<u32>& series = generated_[tally_class(packet.traffic, hot)];
    if (packet.birth - window_.from < series.size()) ++series[packet.birth - window_.from];
  }
  if (!steady_) return;
  SteadyRecord::Births& sum = record_.births[packet.birth >> setup_.steady.shift];
  ++sum.packets;
  sum.latency += latency;
  sum.queueing += packet.enter - packet.birth;
  sum.hops += hops;
  if (packet.birth >= setup_.steady.histogram_from) record_.latency.add(latency);
}

void Terminals::note_taken(Tick birth, u32 flits, Tick now) noexcept {
  const SteadyPlan& plan = setup_.steady;
  if (birth < plan.end) record_.offered[birth >> plan.shift] += flits;
  if (now < plan.end) record_.taken[now >> plan.shift] += flits;
}

void Terminals::extend(const SteadyPlan& longer) {
  setup_.steady = longer;
  record_.extend(longer);
}

void Terminals::add_waiting(SteadyRecord& record) const noexcept {
  for (u32 local = 0; local < size(); ++local) {
    for (u32 i = 0; i < traffic_count_; ++i) {
      Cursor cursor = cursors_[static_cast<std::size_t>(local) * traffic_count_ + i];
      while (cursor.message.birth < setup_.steady.end) {
        record.offered[cursor.message.birth >> setup_.steady.shift] += cursor.message.flits;
        step_cursor(cursor, i, global(local));
      }
    }
  }
}

void Terminals::set_window(Window window) noexcept { window_ = window; }

bool Terminals::sources_past_window() const noexcept {
  return std::all_of(next_.begin(), next_.end(), [&](const Next& n) { return n.birth > window_.to; });
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
    for (u32 i = 0; i < traffic_count_; ++i) {
      const Cursor& c = cursors_[static_cast<std::size_t>(local) * traffic_count_ + i];
      h.add(c.nth);
      h.add(c.message.birth);
    }
    sum += h.value();
  }
  return sum;
}

}  // namespace banyan::engine
