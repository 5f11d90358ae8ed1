#include "banyan/base/pages.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace banyan {
namespace {

constexpr std::size_t kHugePage = 2U << 20U;
constexpr std::size_t kCacheLine = 64;

}  // namespace

void* allocate_pages(std::size_t bytes) {
  if (bytes < kHugePage) {
    void* const memory = std::aligned_alloc(kCacheLine, (bytes / kCacheLine + 1) * kCacheLine);
    if (memory == nullptr) throw std::bad_alloc();
    return std::memset(memory, 0, bytes);
  }
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
#ifdef MADV_HUGEPAGE
  madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: where it is not granted, the array is only slower
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
