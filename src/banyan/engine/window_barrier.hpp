// Where the threads of a machine meet between windows. A window is some microseconds long and the threads come nearly
// at the same time: who comes first looks again and again for a while, and sleeps only when the others are late, for
// to be woken takes longer than most windows.
#pragma once

#include <atomic>
#include <thread>

#if defined(__x86_64__) || defined(__i386__)
#include <emmintrin.h>
#endif

#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Looks at a number again and again for a while, then sleeps, as long as it is `value`.
class Patience {
 public:
  explicit Patience(u32 threads) : looks_(threads <= std::thread::hardware_concurrency() ? kLooks : 0) {}
  void wait_while(const std::atomic<u32>& number, u32 value) const noexcept {
    for (u32 look = 0; look < looks_; ++look) {
      if (number.load(std::memory_order_acquire) != value) return;
      pause();
    }
    while (number.load(std::memory_order_acquire) == value) number.wait(value, std::memory_order_acquire);
  }

 private:
  static constexpr u32 kLooks = 4000;  ///< 50 to 200 microseconds

  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#endif
  }

  u32 looks_;  ///< none where threads wait for each other's cores
};

/// How far one thread has come, for others that wait for it.
class Milestone {
 public:
  void reset() noexcept { number_.store(0, std::memory_order_relaxed); }
  /// What was written before is seen by who has waited.
  void come_to(u32 number) noexcept {
    number_.store(number, std::memory_order_release);
    number_.notify_all();
  }
  /// Returns when the thread has come to `number`; it has come to the one before.
  void wait_for(u32 number, const Patience& patience) const noexcept { patience.wait_while(number_, number - 1); }

 private:
  alignas(64) std::atomic<u32> number_{0};  // a line of the cache for itself
};

class WindowBarrier {
 public:
  explicit WindowBarrier(u32 threads) : threads_(threads), patience_(threads) {}
  WindowBarrier(const WindowBarrier&) = delete;
  WindowBarrier& operator=(const WindowBarrier&) = delete;

  /// Returns when all threads have called it as often as this one. What they wrote before is seen after it.
  void arrive_and_wait() noexcept {
    const u32 round = round_.load(std::memory_order_relaxed);
    if (arrive(1)) return;
    patience_.wait_while(round_, round);
  }

  /// Comes in place of threads that do not, and goes on. True: nobody has to be waited for.
  bool arrive(u32 threads) noexcept {
    const u32 round = round_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(threads, std::memory_order_acq_rel) + threads != threads_) return false;
    arrived_.store(0, std::memory_order_relaxed);
    round_.store(round + 1, std::memory_order_release);
    round_.notify_all();
    return true;
  }

 private:
  static constexpr std::size_t kLine = 64;

  u32 threads_;
  Patience patience_;
  alignas(kLine) std::atomic<u32> arrived_{0};
  alignas(kLine) std::atomic<u32> round_{0};
};

}  // namespace banyan::engine
