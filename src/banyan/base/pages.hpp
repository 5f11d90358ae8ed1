// Memory for large arrays that are walked from end to end in every cycle: on huge pages where the system has them,
// since the usual ones are more than the processor's table of pages holds.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <vector>

namespace banyan {

/// Zeroed memory; throws std::bad_alloc. `huge`: on huge pages where the system has them.
[[nodiscard]] void* allocate_pages(std::size_t bytes, bool huge = true);
void free_pages(void* memory, std::size_t bytes) noexcept;

/// Asks for the pages of memory that will be written from end to end, all at once: each alone would be a fault. A wish.
void fetch_pages(void* memory, std::size_t bytes) noexcept;

/// Room for `count` more values, on pages that are there.
template <class T>
void reserve_pages(std::vector<T>& values, std::size_t count) {
  values.reserve(values.size() + count);
  fetch_pages(values.data() + values.size(), count * sizeof(T));
}

/// Arrays start as zeros, and what is never written takes no memory.
template <class T, bool Huge = true>
class PageAllocator {
 public:
  using value_type = T;
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the name that allocator_traits knows
    using other = PageAllocator<U, Huge>;
  };
  static_assert(std::is_trivially_copyable_v<T>);

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U, Huge>&) noexcept {}  // NOLINT(google-explicit-constructor): a rebound allocator

  [[nodiscard]] T* allocate(std::size_t n) { return static_cast<T*>(allocate_pages(n * sizeof(T), Huge)); }
  void deallocate(T* p, std::size_t n) noexcept { free_pages(p, n * sizeof(T)); }
  /// Elements that are made without a value stay as the pages were: zeros.
  template <class U>
  void construct(U*) noexcept {}
  template <class U, class... Values>
  void construct(U* p, Values&&... values) {
    ::new (static_cast<void*>(p)) U(std::forward<Values>(values)...);
  }
  template <class U>
  bool operator==(const PageAllocator<U, Huge>&) const noexcept {
    return true;
  }
};

/// A vector on pages of its own. Elements that are not given a value are all zeros, whatever their type says of its
/// members.
template <class T>
using PageVector = std::vector<T, PageAllocator<T>>;

/// The same for an array of which parts that lie everywhere in it are never written: usual pages, which exist where
/// something was written.
template <class T>
using SmallPageVector = std::vector<T, PageAllocator<T, false>>;

}  // namespace banyan
