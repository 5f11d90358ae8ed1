// Who wants to be stepped when: bits per entity and near tick, a heap for the far ones. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"
#include "banyan/engine/wave.hpp"

namespace banyan::engine {

class WakeWheel {
 public:
  static constexpr Tick kSlots = 64;  ///< ticks ahead that are kept as bits

  explicit WakeWheel(u32 entities) : words_((entities + 63) / 64), bits_(kSlots * words_) { far_.reserve(entities); }

  /// Registers entity `e` for tick `at` > `now`.
  void wake(u32 e, Tick at, Tick now) {
    if (at - now < kSlots - kMostWaveTicks) {
      const u32 slot = static_cast<u32>(at % kSlots);
      bits_[static_cast<std::size_t>(slot) * words_ + (e >> 6U)] |= u64{1} << (e & 63U);
      occupied_ |= u64{1} << slot;
    } else {
      far_.emplace_back(at, e);
      std::push_heap(far_.begin(), far_.end(), std::greater<>());
    }
  }

  /// Adds the bits of `now` to `awake` (one word per 64 entities) and forgets them.
  void take(Tick now, std::vector<u64>& awake) {
    const u32 slot = static_cast<u32>(now % kSlots);
    if ((occupied_ >> slot & 1U) != 0) {
      occupied_ &= ~(u64{1} << slot);
      u64* const words = &bits_[static_cast<std::size_t>(slot) * words_];
      for (std::size_t w = 0; w < words_; ++w) {
        awake[w] |= words[w];
        words[w] = 0;
      }
    }
    while (!far_.empty() && far_.front().first <= now) {
      const u32 e = far_.front().second;
      awake[e >> 6U] |= u64{1} << (e & 63U);
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      far_.pop_back();
    }
  }

  // The ticks of a wave, block by block.
  void begin_wave(Tick now, Tick ticks) {
    while (!far_.empty() && far_.front().first < now + ticks) {
      const auto [at, e] = far_.front();
      std::pop_heap(far_.begin(), far_.end(), std::greater<>());
      far_.pop_back();
      wake(e, std::max(at, now), now);
    }
  }
  /// take(), for the words [first, last).
  void take(Tick now, std::vector<u64>& awake, std::size_t first, std::size_t last) {
    const u32 slot = static_cast<u32>(now % kSlots);
    if ((occupied_ >> slot & 1U) == 0) return;
    u64* const words = &bits_[static_cast<std::size_t>(slot) * words_];
    for (std::size_t w = first; w < last; ++w) awake[w] |= std::exchange(words[w], 0);
  }
  void end_wave(Tick now, Tick ticks) {
    for (Tick t = now; t < now + ticks; ++t) occupied_ &= ~(u64{1} << t % kSlots);
  }

  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    Tick next = far_.empty() ? kNever : far_.front().first;
    if (occupied_ != 0) {
      const u64 rotated = std::rotr(occupied_, static_cast<int>((now + 1) % kSlots));
      next = std::min(next, now + 1 + static_cast<Tick>(std::countr_zero(rotated)));
    }
    return next;
  }

  void clear() {
    std::fill(bits_.begin(), bits_.end(), 0);
    occupied_ = 0;
    far_.clear();
  }

  void archive(Archive& a) { a(bits_, occupied_, far_); }

 private:
  std::size_t words_;
  std::vector<u64> bits_;  ///< [slot * words + word]
  u64 occupied_ = 0;       ///< bit per slot
  std::vector<std::pair<Tick, u32>> far_;
};

}  // namespace banyan::engine
