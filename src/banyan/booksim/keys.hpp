// The keys of BookSim2 with their defaults, and what becomes of those that no rule of the conversion reads.
#pragma once

#include <span>
#include <string_view>

namespace banyan::booksim {

/// When a key that nothing was made of means nothing.
enum class Silent {
  never,   ///< unmapped, unless it has its default
  always,  ///< reports, traces, dead keys
};

struct Key {
  std::string_view name;
  std::string_view fallback;
  Silent silent = Silent::never;
  std::string_view reason = {};  ///< why it means nothing, or why it has no counterpart
};

[[nodiscard]] std::span<const Key> keys();
/// nullptr: BookSim2 has no such key.
[[nodiscard]] const Key* find_key(std::string_view name);

}  // namespace banyan::booksim
