// Memory that a run sets aside for its own end: what simulates may not throw, and where it found no memory the process
// would end.
#pragma once

#include <atomic>

#include "banyan/base/types.hpp"

namespace banyan {

/// What a user is told where there is none left.
inline constexpr const char* kNoMemory = "not enough memory\n  remedy: make the network smaller, or use fewer threads";

/// While one exists, the process keeps address space back, which costs no memory. When `new` finds nothing, that space
/// is given to it, and runs ask between ticks whether that has happened: they end with std::bad_alloc, unless so much
/// has become free meanwhile that it can be kept back again. One allocation of more than kept_bytes() is not helped.
/// All that exist at a time share one reserve.
class MemoryReserve {
 public:
  /// Throws std::bad_alloc where there is no room for the reserve.
  MemoryReserve();
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;

  /// Throws std::bad_alloc where the reserve has been given away and cannot be had again.
  static void require() {
    if (given_away.load(std::memory_order_relaxed)) [[unlikely]]
      renew();
  }
  /// Gives the reserve to who found no memory, and has others that found none look again; false: there is none.
  static bool give() noexcept;
  /// How much is kept back: 64 MiB, or less where that is more than an eighth of what the process may use.
  [[nodiscard]] static std::size_t kept_bytes() noexcept;

 private:
  static void renew();
  static void take();

  static std::atomic<bool> given_away;  // of the process
};

}  // namespace banyan
