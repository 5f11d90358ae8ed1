// Text files of lines: words that blanks separate, of which "#" begins a comment.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "banyan/base/error.hpp"

namespace banyan {

struct PlacedWord {
  std::string_view text;
  u32 column = 1;  ///< the first of a line is 1
};

/// The words of a line, without its comment: parts of `line`.
[[nodiscard]] std::vector<PlacedWord> placed_words(std::string_view line);

/// f(number, line) for each line of a text; the first is number 1. Where f returns a bool, false ends it.
template <class F>
void for_each_line(std::string_view text, F&& f) {
  for (u32 number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(line.size() + (end == std::string_view::npos ? 0 : 1));
    if constexpr (std::is_same_v<std::invoke_result_t<F&, u32, std::string_view>, bool>) {
      if (!f(number, line)) return;
    } else {
      f(number, line);
    }
  }
}

/// A line that outlives the text it was in.
struct TextLine {
  TextLine(Where at, std::string_view line);

  /// Where a word is: in a file its column, in a list of the experiment the line's element.
  [[nodiscard]] Where where(std::size_t word) const;

  Where place;
  std::vector<std::string> words;
  std::vector<u32> columns;
};

}  // namespace banyan
