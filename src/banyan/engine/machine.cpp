#include "banyan/engine/machine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "banyan/base/error.hpp"
#include "banyan/engine/watchdog.hpp"

namespace banyan::engine {

Machine::Machine(std::vector<Shard> shards, std::span<core::Traffic* const> traffics)
    : shards_(std::move(shards)), traffics_(traffics) {}

void Machine::reset(u32 replication) {
  for (core::Traffic* t : traffics_) t->begin(replication);
  for (Shard& shard : shards_) {
    shard.terminals->reset();
    for (auto& population : shard.populations) population->reset(replication);
    std::fill(shard.due.begin(), shard.due.end(), 0);
  }
  next_ = 0;
}

void Machine::set_window(Window window) {
  for (Shard& shard : shards_) shard.terminals->set_window(window);
}

void Machine::close(u32 traffic, Tick at) {
  for (Shard& shard : shards_) shard.terminals->close(traffic, at);
}

void Machine::finish_records() {
  for (Shard& shard : shards_) shard.terminals->finish_record();
}

Totals Machine::totals() const {
  Totals sum;
  for (const Shard& shard : shards_) {
    const Terminals& t = *shard.terminals;
    sum.taken += t.taken();
    sum.taken_flits += t.taken_flits();
    sum.delivered += t.delivered();
    sum.delivered_flits += t.delivered_flits();
    sum.misdelivered += t.misdelivered();
    sum.counted_taken += t.counted_taken();
    sum.counted_delivered += t.counted_delivered();
    for (const auto& population : shard.populations) sum.movements += population->movements();
  }
  return sum;
}

std::vector<Tally> Machine::tallies() const {
  std::vector<Tally> sum(traffics_.size() * 2);
  for (const Shard& shard : shards_) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += shard.terminals->tallies()[i];
  }
  return sum;
}

u64 Machine::finite_delivered(u32 traffic) const noexcept {
  u64 sum = 0;
  for (const Shard& shard : shards_) sum += shard.terminals->finite_delivered(traffic);
  return sum;
}

Tick Machine::finite_latest(u32 traffic) const noexcept {
  Tick latest = 0;
  for (const Shard& shard : shards_) latest = std::max(latest, shard.terminals->finite_latest(traffic));
  return latest;
}

bool Machine::sources_past_window() const noexcept {
  return std::all_of(shards_.begin(), shards_.end(),
                     [](const Shard& shard) { return shard.terminals->sources_past_window(); });
}

u64 Machine::hash() const {
  Hasher h;
  for (const Shard& shard : shards_) {
    shard.terminals->hash(h);
    for (const auto& population : shard.populations) population->hash(h);
  }
  return h.value();
}

void Machine::audit() const {
  Holdings held;
  for (const Shard& shard : shards_) {
    for (const auto& population : shard.populations) population->hold(held);
  }
  const Totals sum = totals();
  if (!held.violations.empty()) throw InvariantError(held.violations.front());
  if (sum.misdelivered != 0) {
    throw InvariantError(fmt::format("{} packets arrived at a terminal that is not their destination", sum.misdelivered));
  }
  if (sum.taken != sum.delivered + held.packets) {
    throw InvariantError(fmt::format("packets are not conserved: {} entered, {} were delivered, {} are in the network",
                                     sum.taken, sum.delivered, held.packets));
  }
  if (sum.taken_flits != sum.delivered_flits + held.flits) {
    throw InvariantError(fmt::format("flits are not conserved: {} entered, {} were delivered, {} are in the network",
                                     sum.taken_flits, sum.delivered_flits, held.flits));
  }
}

std::string Machine::explain_blockage() const {
  std::vector<Wait> waits;
  for (const Shard& shard : shards_) {
    for (const auto& population : shard.populations) population->waits(waits);
  }
  return explain(shortest_wait_cycle(waits), waits.size());
}

}  // namespace banyan::engine
