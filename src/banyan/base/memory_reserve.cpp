#include "banyan/base/memory_reserve.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <mutex>
#include <new>

namespace banyan {
namespace {

constexpr std::size_t kUsual = std::size_t{64} << 20U;
constexpr std::size_t kLeast = std::size_t{1} << 20U;
constexpr std::size_t kPartOfLimit = 8;

/// What the process keeps back.
struct Kept {
  std::mutex mutex;  ///< of all but what is given away
  u64 holders = 0;
  std::size_t bytes = 0;
  std::new_handler before = nullptr;
  std::atomic<void*> place{nullptr};
  std::atomic<u32> late{0};  ///< threads that may still look again for what another one was given
};
Kept the_reserve;  // of the process
constexpr u32 kMostThreads = 1024;

void* keep_back(std::size_t bytes) {
  void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) throw std::bad_alloc();
  return place;
}

/// What `new` calls where it finds nothing, until it finds something.
void on_no_memory() {
  if (MemoryReserve::give()) return;
  const std::new_handler other = the_reserve.before;
  if (other == nullptr) throw std::bad_alloc();
  other();
}

}  // namespace

std::atomic<bool> MemoryReserve::given_away{false};  // of the process

std::size_t MemoryReserve::kept_bytes() noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kUsual;
  return std::clamp<std::size_t>(static_cast<std::size_t>(limit.rlim_cur) / kPartOfLimit, kLeast, kUsual);
}

void MemoryReserve::take() {
  Kept& mine = the_reserve;
  if (mine.place.load() != nullptr) return;
  const std::size_t bytes = kept_bytes();
  void* const place = keep_back(bytes);
  mine.bytes = bytes;
  given_away.store(false);
  mine.place.store(place);
}

void MemoryReserve::renew() {
  const std::lock_guard lock(the_reserve.mutex);
  take();
}

MemoryReserve::MemoryReserve() {
  const std::lock_guard lock(the_reserve.mutex);
  take();
  if (the_reserve.holders++ == 0) the_reserve.before = std::set_new_handler(&on_no_memory);
}

MemoryReserve::~MemoryReserve() {
  const std::lock_guard lock(the_reserve.mutex);
  if (--the_reserve.holders != 0) return;
  std::set_new_handler(the_reserve.before);
  give();
  the_reserve.late.store(0);
  given_away.store(false);
}

bool MemoryReserve::give() noexcept {
  void* const place = the_reserve.place.exchange(nullptr);
  if (place != nullptr) {
    the_reserve.late.store(kMostThreads);
    munmap(place, the_reserve.bytes);
    given_away.store(true);
    return true;
  }
  // Several threads may find nothing at a time: there is something for this one too.
  u32 left = the_reserve.late.load();
  while (left != 0 && !the_reserve.late.compare_exchange_weak(left, left - 1)) {}
  return left != 0;
}

}  // namespace banyan
