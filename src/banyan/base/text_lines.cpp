#include "banyan/base/text_lines.hpp"

#include <utility>

namespace banyan {

std::vector<PlacedWord> placed_words(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r\v\f";
  line = line.substr(0, line.find('#'));
  std::vector<PlacedWord> words;
  for (std::size_t at = line.find_first_not_of(kBlank); at != std::string_view::npos;) {
    const std::size_t end = line.find_first_of(kBlank, at);
    words.push_back({line.substr(at, end == std::string_view::npos ? end : end - at), static_cast<u32>(at) + 1});
    at = line.find_first_not_of(kBlank, end == std::string_view::npos ? line.size() : end);
  }
  return words;
}

TextLine::TextLine(Where at, std::string_view line) : place(std::move(at)) {
  for (const PlacedWord& word : placed_words(line)) {
    words.emplace_back(word.text);
    columns.push_back(word.column);
  }
}

Where TextLine::where(std::size_t word) const {
  Where at = place;
  if (at.key.empty() && word < columns.size()) at.column = columns[word];
  return at;
}

}  // namespace banyan
