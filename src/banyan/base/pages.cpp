#include "banyan/base/pages.hpp"

#include <sys/mman.h>

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

void free_pages(void* memory, std::size_t bytes) noexcept {
  if (bytes < kHugePage) {
    std::free(memory);
  } else {
    munmap(memory, bytes);
  }
}

}  // namespace banyan
