#include "banyan/base/pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "banyan/base/memory_reserve.hpp"

namespace banyan {
namespace {

constexpr std::size_t kHugePage = 2U << 20U;
constexpr std::size_t kCacheLine = 64;

/// What `get` gives; where it is nullptr, once more with the memory that was kept back.
template <class Get>
void* found(const Get& get) {
  for (;;) {
    if (void* const memory = get(); memory != nullptr) return memory;
    if (!MemoryReserve::give()) throw std::bad_alloc();
  }
}

}  // namespace

void* allocate_pages(std::size_t bytes, bool huge) {
  if (bytes < kHugePage) {
    void* const memory = found([&] { return std::aligned_alloc(kCacheLine, (bytes / kCacheLine + 1) * kCacheLine); });
    return std::memset(memory, 0, bytes);
  }
  void* const memory = found([&] {
    void* const place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return place == MAP_FAILED ? nullptr : place;
  });
#ifdef MADV_HUGEPAGE
  // A wish: where it is not granted, the array is only slower.
  if (huge) madvise(memory, bytes, MADV_HUGEPAGE);
#else
  static_cast<void>(huge);
#endif
  return memory;
}

void fetch_pages(void* memory, std::size_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  constexpr std::uintptr_t kPage = 4096;
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(memory) % kPage) % kPage;
  if (bytes < before + kPage) return;
  madvise(static_cast<char*>(memory) + before, (bytes - before) / kPage * kPage, MADV_POPULATE_WRITE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

void free_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < kHugePage) {
    std::free(memory);
  } else {
    munmap(memory, bytes);
  }
}

}  // namespace banyan
