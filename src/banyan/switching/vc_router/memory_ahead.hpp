// Memory that will be needed soon, asked for a little at a time.
//
// A core has some twenty requests for memory under way, and drops what a program asks for ahead beyond that: of 256
// lines asked for in one go up to half were still missing afterwards (Zen 3). Hence they are written down first, and
// the work on what is there already asks for one or two between its steps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::switching::parts {

class MemoryAhead {
 public:
  /// Room for so many lines between two calls of restart.
  void reserve(std::size_t lines) { lines_.resize(lines + kLines); }
  /// Asks for what is left, and begins anew.
  [[gnu::always_inline]] void restart() noexcept {
    while (asked_ < wanted_ || at_ < end_ || next_ != ranges_) ask();
    asked_ = wanted_ = next_ = ranges_ = 0;
  }
  [[gnu::always_inline]] void want(const void* memory) noexcept { lines_[wanted_++] = memory; }
  /// All lines of `count` objects from `first`.
  template <class T>
  [[gnu::always_inline]] void want(const T* first, std::size_t count) noexcept {
    const char* const end = end_of(first, count);
    for (const char* line = line_of(first); line < end; line += kLine) want(line);
  }
  /// The same without writing down every line, for long arrays; at most kMostRanges.
  template <class T>
  [[gnu::always_inline]] void want_all(const T* first, std::size_t count) noexcept {
    const char* const begin = line_of(first);
    const auto bytes = static_cast<std::size_t>(end_of(first, count) - begin);
    range_[ranges_++] = {begin, begin + (bytes + kLine - 1) / kLine * kLine};
  }
  /// Asks for the next lines. In line always: g++ 12 takes a function that only asks for memory for one without
  /// effect, and drops its calls.
  [[gnu::always_inline]] void ask() noexcept {
    if (asked_ < wanted_) {
      for (u32 k = 0; k < kLines; ++k) __builtin_prefetch(lines_[asked_ + k], 1);
      asked_ += kLines;
    }
    if (at_ >= end_) [[unlikely]] {
      if (next_ == ranges_) return;
      at_ = range_[next_].begin;
      end_ = range_[next_++].end;
    }
    for (u32 k = 0; k < kInTurn; ++k) __builtin_prefetch(at_ + k * kLine, 1);
    at_ += kInTurn * kLine;
  }

  static constexpr std::size_t kMostRanges = 32;

 private:
  static constexpr std::size_t kLine = 64;
  static constexpr u32 kLines = 4;   ///< that are asked for at once, of those written down; a few too many do no harm
  static constexpr u32 kInTurn = 2;  ///< and of the arrays
  struct Range {
    const char* begin;
    const char* end;
  };

  static const char* line_of(const void* memory) noexcept {
    const char* const begin = static_cast<const char*>(memory);
    return begin - reinterpret_cast<std::uintptr_t>(memory) % kLine;
  }
  template <class T>
  static const char* end_of(const T* first, std::size_t count) noexcept {
    return reinterpret_cast<const char*>(first + count);
  }

  std::vector<const void*> lines_;
  u32 asked_ = 0;
  u32 wanted_ = 0;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
  u32 next_ = 0;
  u32 ranges_ = 0;
  std::array<Range, kMostRanges> range_{};
};

}  // namespace banyan::switching::parts
