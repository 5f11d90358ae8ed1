// Arrivals of one population, sorted into slots by the tick at which they are due. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <bit>
#include <map>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/population.hpp"

namespace banyan::engine {

/// What arrives at one population at one tick. PODs of one channel keep their order.
struct Arrivals {
  std::vector<FlitArrival> flits;
  std::vector<ControlArrival> controls;

  [[nodiscard]] bool empty() const noexcept { return flits.empty() && controls.empty(); }
  void clear() noexcept {
    flits.clear();
    controls.clear();
  }
};

/// A wheel of arrival lists. `horizon`: no arrival is further ahead than that (latency plus serialization). The lists
/// of slots that have been emptied are used again last-in-first-out, so that few of them stay in the cache.
///
/// The wheel has no more than kMostSlots slots, so that long channels cost memory and time for what is on them alone.
/// Where the horizon is longer, time is cut into blocks of half a wheel: what is due later than in the next block waits
/// with its block, and goes into the wheel, in the order in which it was added, when that block is the next one.
class Inbox {
 public:
  static constexpr std::size_t kReserveBytes = 1U << 18U;
  static constexpr Tick kMostSlots = 4096;  ///< a wheel longer than that is searched for longer than a tick takes

  explicit Inbox(Tick horizon)
      : mask_(std::bit_ceil(std::min(horizon + 2, kMostSlots)) - 1),
        lists_(mask_ + 1, kNone),
        occupied_((mask_ + 64) / 64),
        far_from_(horizon + 2 > kMostSlots ? kMostSlots : kNever) {
    pool_.reserve(mask_ + 2);  // a list per slot, and the one that take() holds
    free_.reserve(mask_ + 2);
  }

  /// Makes room for the most arrivals of one tick in every list, or, where the horizon is long and the network large,
  /// in as many lists as kReserveBytes allow.
  void reserve(std::size_t flits, std::size_t controls) {
    const std::size_t bytes = flits * sizeof(FlitArrival) + controls * sizeof(ControlArrival) + sizeof(Arrivals);
    const std::size_t lists = std::clamp<std::size_t>(kReserveBytes / bytes, 4, mask_ + 2);
    while (pool_.size() < lists) {
      pool_.emplace_back();
      pool_.back().flits.reserve(flits);
      pool_.back().controls.reserve(controls);
      free_.push_back(static_cast<u32>(pool_.size() - 1));
    }
  }

  void add(Tick due, const FlitArrival& arrival) {
    if (due >= far_from_) [[unlikely]]
      return static_cast<void>(far(due).flits.emplace_back(due, arrival));
    list(due).flits.push_back(arrival);
  }
  void add(Tick due, const ControlArrival& arrival) {
    if (due >= far_from_) [[unlikely]]
      return static_cast<void>(far(due).controls.emplace_back(due, arrival));
    list(due).controls.push_back(arrival);
  }

  /// Time has come to `now`, and nothing is due before: to be called before at(). take() does it too.
  void come_to(Tick now) {
    if (now + kBlock >= far_from_) [[unlikely]]
      open_blocks(now / kBlock);
  }

  /// Hands what is due at `now` to `f(Arrivals&)` and empties the slot.
  template <class F>
  void take(Tick now, F&& f) {
    come_to(now);
    const u32 slot = static_cast<u32>(now & mask_);
    const u32 index = lists_[slot];
    if (index == kNone) return;
    lists_[slot] = kNone;
    occupied_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    f(pool_[index]);
    pool_[index].clear();
    free_.push_back(index);
  }

  /// What is due at `tick`, so far; nullptr: nothing. It stays where it is until it is taken.
  [[nodiscard]] const Arrivals* at(Tick tick) const noexcept {
    const u32 index = lists_[tick & mask_];
    return index == kNone ? nullptr : &pool_[index];
  }

  /// The next tick after `now` with an arrival, or kNever. All that waits with its block is later than the wheel.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    const Tick near = next_in_wheel(now);
    return near != kNever || blocks_.empty() ? near : blocks_.begin()->second.first;
  }

  void clear() {
    for (u32& index : lists_) {
      if (index == kNone) continue;
      pool_[index].clear();
      free_.push_back(index);
      index = kNone;
    }
    std::fill(occupied_.begin(), occupied_.end(), 0);
    blocks_.clear();
    if (far_from_ != kNever) far_from_ = kMostSlots;
  }

  /// Calls f for each flit (FlitArrival) and each control word (ControlArrival) on the way.
  template <class F>
  void for_each(F&& f) const {
    for (const u32 index : lists_) {
      if (index == kNone) continue;
      for (const FlitArrival& a : pool_[index].flits) f(a);
      for (const ControlArrival& a : pool_[index].controls) f(a);
    }
    for (const auto& [number, block] : blocks_) {
      for (const auto& [due, a] : block.flits) f(a);
      for (const auto& [due, a] : block.controls) f(a);
    }
  }
  void archive(Archive& a) {
    if (a.reading()) clear();
    for (std::size_t slot = 0; slot < lists_.size(); ++slot) {
      bool any = lists_[slot] != kNone;
      a(any);
      if (!any) continue;
      Arrivals& arrivals = list(slot);
      a(arrivals.flits, arrivals.controls);
    }
    a(far_from_, blocks_);
  }
  /// Whether nothing is on the way.
  [[nodiscard]] bool empty() const noexcept {
    return blocks_.empty() && std::all_of(occupied_.begin(), occupied_.end(), [](u64 bits) { return bits == 0; });
  }

 private:
  static constexpr Tick kBlock = kMostSlots / 2;

  /// What is due in one block of ticks, in the order in which it was added.
  struct Block {
    Tick first = kNever;
    std::vector<std::pair<Tick, FlitArrival>> flits;
    std::vector<std::pair<Tick, ControlArrival>> controls;

    void archive(Archive& a) { a(first, flits, controls); }
  };

  [[nodiscard]] Tick next_in_wheel(Tick now) const noexcept {
    for (Tick step = 1; step <= mask_;) {
      const Tick slot = (now + step) & mask_;
      const u64 bits = occupied_[slot >> 6U] >> (slot & 63U);
      if (bits != 0) {
        const Tick ahead = step + static_cast<Tick>(std::countr_zero(bits));
        return ahead <= mask_ ? now + ahead : kNever;
      }
      step += std::min<Tick>(64 - (slot & 63U), mask_ + 1 - slot);
    }
    return kNever;
  }

  [[nodiscard, gnu::noinline]] Block& far(Tick due) {
    Block& block = blocks_[due / kBlock];
    block.first = std::min(block.first, due);
    return block;
  }
  /// The wheel covers the block `now` and the next one from here on.
  [[gnu::noinline]] void open_blocks(Tick now) {
    far_from_ = (now + 2) * kBlock;
    while (!blocks_.empty() && blocks_.begin()->first <= now + 1) {
      const Block block = std::move(blocks_.extract(blocks_.begin()).mapped());
      for (const auto& [due, a] : block.flits) list(due).flits.push_back(a);
      for (const auto& [due, a] : block.controls) list(due).controls.push_back(a);
    }
  }

  [[nodiscard]] Arrivals& list(Tick due) {
    const u32 index = lists_[due & mask_];
    return pool_[index != kNone ? index : open(due)];
  }

  [[gnu::noinline]] u32 open(Tick due) {
    const u32 slot = static_cast<u32>(due & mask_);
    if (free_.empty()) {
      pool_.emplace_back();
      free_.push_back(static_cast<u32>(pool_.size() - 1));
    }
    lists_[slot] = free_.back();
    free_.pop_back();
    occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
    return lists_[slot];
  }

  Tick mask_;
  std::vector<u32> lists_;      ///< [slot]: index into pool_, or kNone
  std::vector<u64> occupied_;   ///< bit per slot
  std::vector<Arrivals> pool_;  ///< never moves: take() holds a list while others are made
  std::vector<u32> free_;
  Tick far_from_;                 ///< what is due from here on waits with its block; kNever: the wheel holds everything
  std::map<Tick, Block> blocks_;  ///< [tick / kBlock]
};

}  // namespace banyan::engine
