// Memory that will be needed soon, asked for a little at a time.
//
// A core has some twenty requests for memory under way, and drops what a program asks for ahead beyond that: of 256
// lines asked for in one go up to half were still missing afterwards (Zen 3). Hence they are written down first, and
// the work on what is there already asks for one or two between its steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

class MemoryAhead {
 public:
  /// Room for so many lines between two calls of restart.
  void reserve(std::size_t lines) { lines_.resize(lines); }
  /// Asks for what is left, and begins anew.
  [[gnu::always_inline]] void restart() noexcept {
    while (asked_ != wanted_) ask();
    asked_ = wanted_ = 0;
  }
  [[gnu::always_inline]] void want(const void* memory) noexcept { lines_[wanted_++] = memory; }
  /// All lines of `count` objects from `first`.
  template <class T>
  [[gnu::always_inline]] void want(const T* first, std::size_t count) noexcept {
    const char* const begin = reinterpret_cast<const char*>(first);
    const char* const end = begin + count * sizeof(T);
    for (const char* line = begin - reinterpret_cast<std::uintptr_t>(begin) % kLine; line < end; line += kLine)
      want(line);
  }
  /// Asks for the next line. In line always: g++ 12 takes a function that only asks for memory for one without effect,
  /// and drops its calls.
  [[gnu::always_inline]] void ask() noexcept {
    if (asked_ != wanted_) __builtin_prefetch(lines_[asked_++], 1);
  }

 private:
  static constexpr std::size_t kLine = 64;

  std::vector<const void*> lines_;
  u32 asked_ = 0;
  u32 wanted_ = 0;
};

}  // namespace banyan::switching::parts
