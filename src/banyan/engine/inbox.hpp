// Arrivals of one population, sorted into slots by the tick at which they are due.
#pragma once

#include <algorithm>
#include <bit>
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
class Inbox {
 public:
  static constexpr std::size_t kReserveBytes = 1U << 18U;

  explicit Inbox(Tick horizon)
      : mask_(std::bit_ceil(horizon + 2) - 1), lists_(mask_ + 1, kNone), occupied_((mask_ + 64) / 64) {
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

  void add(Tick due, const FlitArrival& arrival) { list(due).flits.push_back(arrival); }
  void add(Tick due, const ControlArrival& arrival) { list(due).controls.push_back(arrival); }

  /// Hands what is due at `now` to `f(Arrivals&)` and empties the slot.
  template <class F>
  void take(Tick now, F&& f) {
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

  /// The next tick after `now` with an arrival, or kNever.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
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

  void clear() {
    for (u32& index : lists_) {
      if (index == kNone) continue;
      pool_[index].clear();
      free_.push_back(index);
      index = kNone;
    }
    std::fill(occupied_.begin(), occupied_.end(), 0);
  }

  /// Calls f(arrivals) for everything on the way.
  template <class F>
  void for_each(F&& f) const {
    for (const u32 index : lists_) {
      if (index != kNone) f(pool_[index]);
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
  }

 private:
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
};

}  // namespace banyan::engine
