// Which source queues have something to send, and when the others will: a bit per queue and tick near by, and a set of
// what is far ahead, which is looked through now and then. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"
#include "banyan/engine/wave.hpp"

namespace banyan::engine {

class BirthWheel {
 public:
  /// `hold`: before that tick no queue is shown as ready, so that a run begins with a backlog.
  explicit BirthWheel(u32 queues, Tick hold = 0)
      : words_((queues + 63) / 64),
        hold_(hold),
        ready_(words_),
        none_(words_),
        shown_(ready_),
        wheel_(static_cast<std::size_t>(kSlots) * words_),
        far_(words_) {}

  void clear() {
    std::fill(ready_.begin(), ready_.end(), 0);
    std::fill(wheel_.begin(), wheel_.end(), 0);
    std::fill(far_.begin(), far_.end(), 0);
    occupied_.fill(0);
    any_far_ = false;
    now_ = looked_far_ = 0;
    show();
  }

  [[nodiscard]] Tick now() const noexcept { return now_; }
  /// Bit per queue.
  [[nodiscard]] std::span<const u64> ready() const noexcept { return shown_; }
  [[nodiscard]] u64 ready_count() const noexcept {
    u64 count = 0;
    for (const u64 word : ready_) count += static_cast<u64>(std::popcount(word));
    return count;
  }

  /// The queue becomes ready at `at`: at once when that is not after now.
  void schedule(u32 queue, Tick at) noexcept {
    if (at <= now_) {
      set(ready_, queue);
    } else if (at - now_ < kNear) {
      const u32 slot = static_cast<u32>(at % kSlots);
      wheel_[static_cast<std::size_t>(slot) * words_ + (queue >> 6U)] |= u64{1} << (queue & 63U);
      occupied_[slot >> 6U] |= u64{1} << (slot & 63U);
    } else if (at != kNever) {
      set(far_, queue);
      any_far_ = true;
    }
  }
  void show_now(u32 queue) noexcept { set(ready_, queue); }
  void withdraw(u32 queue) noexcept { ready_[queue >> 6U] &= ~(u64{1} << (queue & 63U)); }

  /// Goes to tick `now` as advance() does, for whoever decides itself about the queues that were scheduled meanwhile:
  /// each is handed to `due(queue)`, and neither ready nor scheduled by that.
  template <class Due>
  void take_due(Tick now, Due&& due) noexcept {
    if (now == now_) return;
    const Tick last = now - now_ < kSlots ? now : now_ + kSlots;
    for (Tick t = now_ + 1; t <= last; ++t) {
      const u32 slot = static_cast<u32>(t % kSlots);
      u64& occupied = occupied_[slot >> 6U];
      const u64 bit = u64{1} << (slot & 63U);
      if ((occupied & bit) == 0) continue;
      occupied &= ~bit;
      take_all(&wheel_[static_cast<std::size_t>(slot) * words_], due);
    }
    now_ = now;
    show();
    if (now / kFarPeriod == std::exchange(looked_far_, now / kFarPeriod) || !any_far_) return;
    any_far_ = false;
    take_all(far_.data(), due);
  }

  /// Goes to tick `now`, which must not decrease. `at(queue)`: when a queue wants to be ready now; with `changes` it
  /// may have become another tick since the queue was scheduled.
  template <class At>
  void advance(Tick now, bool changes, At&& at) noexcept {
    if (now == now_) return;
    const Tick last = now - now_ < kSlots ? now : now_ + kSlots;
    for (Tick t = now_ + 1; t <= last; ++t) empty_slot(static_cast<u32>(t % kSlots), now, changes, at);
    now_ = now;
    show();
    if (now / kFarPeriod == std::exchange(looked_far_, now / kFarPeriod) || !any_far_) return;
    any_far_ = false;
    for (u32 w = 0; w < words_; ++w) {
      for (u64 bits = std::exchange(far_[w], 0); bits != 0; bits &= bits - 1) {
        const u32 queue = w * 64 + static_cast<u32>(std::countr_zero(bits));
        schedule(queue, at(queue));
      }
    }
  }

  // For a wave (wave.hpp): advance(first tick) for all, then for the words [first, last) tick after tick; end_wave when
  // all have made all ticks.
  void advance_words(Tick now, u32 first, u32 last) noexcept {
    now_ = now;
    show();
    const u32 slot = static_cast<u32>(now % kSlots);
    if ((occupied_[slot >> 6U] >> (slot & 63U) & 1U) == 0) return;
    u64* const words = &wheel_[static_cast<std::size_t>(slot) * words_];
    for (u32 w = first; w < last; ++w) ready_[w] |= std::exchange(words[w], 0);
  }
  void end_wave(Tick now, Tick ticks) noexcept {
    for (Tick t = now; t < now + ticks; ++t) occupied_[t % kSlots >> 6U] &= ~(u64{1} << (t & 63U));
    now_ = now + ticks - 1;
  }

  /// Queues that were scheduled for a tick near by, where nothing came before that.
  template <class F>
  void for_each_at(Tick at, F&& f) const {
    const u32 slot = static_cast<u32>(at % kSlots);
    if ((occupied_[slot >> 6U] >> (slot & 63U) & 1U) == 0) return;
    for (u32 w = 0; w < words_; ++w) {
      for (u64 bits = wheel_[static_cast<std::size_t>(slot) * words_ + w]; bits != 0; bits &= bits - 1) {
        f(w * 64 + static_cast<u32>(std::countr_zero(bits)));
      }
    }
  }

  /// The next tick after `now` at which a queue that is not ready becomes ready; kNever when none does.
  template <class At>
  [[nodiscard]] Tick next_after(Tick now, At&& at) const noexcept {
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
          // Something may have come before what is far: its queue is ready already.
          const Tick next = at(w * 64 + static_cast<u32>(std::countr_zero(bits)));
          if (next > now) best = std::min(best, next);
        }
      }
    }
    return now < hold_ ? std::min(best, hold_) : best;
  }

  void archive(Archive& a) {
    a(ready_, wheel_, far_, occupied_, now_, any_far_, looked_far_);
    if (a.reading()) show();
  }

 private:
  static constexpr u32 kSlots = 256;                      ///< ticks ahead that the wheel covers (power of two)
  static constexpr Tick kNear = kSlots - kMostWaveTicks;  ///< what is nearer is put into the wheel
  /// What is far is looked through when such a period begins, and by whoever asks for the next tick when none comes in
  /// as many ticks. What is far is kNear ticks behind the beginning of the period at least; the last ticks that are
  /// made in it end less than kMostWaveTicks behind it, and the next one that is found comes a period later at most.
  static constexpr Tick kFarPeriod = kSlots / 2 - kMostWaveTicks;
  static_assert(2 * kFarPeriod + kMostWaveTicks - 2 <= kNear);

  void show() noexcept {
    if (hold_ != 0) [[unlikely]]
      shown_ = now_ < hold_ ? none_ : ready_;
  }
  static void set(std::vector<u64>& bits, u32 i) noexcept { bits[i >> 6U] |= u64{1} << (i & 63U); }

  template <class Due>
  void take_all(u64* words, Due& due) noexcept {
    for (u32 w = 0; w < words_; ++w) {
      for (u64 bits = std::exchange(words[w], 0); bits != 0; bits &= bits - 1) {
        due(w * 64 + static_cast<u32>(std::countr_zero(bits)));
      }
    }
  }
  template <class At>
  void empty_slot(u32 slot, Tick now, bool changes, At& at) noexcept {
    if ((occupied_[slot >> 6U] >> (slot & 63U) & 1U) == 0) return;
    occupied_[slot >> 6U] &= ~(u64{1} << (slot & 63U));
    u64* words = &wheel_[static_cast<std::size_t>(slot) * words_];
    for (u32 w = 0; w < words_; ++w) {
      u64 due = std::exchange(words[w], 0);
      // Something may have come before what the slot was meant for; that one has its slot again.
      for (u64 bits = changes ? due : 0; bits != 0; bits &= bits - 1) {
        if (at(w * 64 + static_cast<u32>(std::countr_zero(bits))) > now) due &= ~(bits & (~bits + 1));
      }
      ready_[w] |= due;
    }
  }

  u32 words_;
  Tick hold_;
  std::vector<u64> ready_;
  std::vector<u64> none_;       ///< as many words, all 0
  std::span<const u64> shown_;  ///< what is shown of ready_
  std::vector<u64> wheel_;      ///< [slot * words + word]
  std::vector<u64> far_;        ///< what is beyond the wheel
  std::array<u64, kSlots / 64> occupied_{};
  Tick now_ = 0;
  bool any_far_ = false;
  Tick looked_far_ = 0;  ///< period in which far_ was looked through last
};

}  // namespace banyan::engine
