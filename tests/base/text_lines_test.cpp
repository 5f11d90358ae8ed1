// Are words found where they stand, whatever separates lines and words?
#include "banyan/base/text_lines.hpp"

#include <gtest/gtest.h>

namespace banyan::text_lines_test {
namespace {

using Places = std::vector<std::pair<std::string, u32>>;

Places places(std::string_view line) {
  Places all;
  for (const PlacedWord& word : placed_words(line)) all.emplace_back(word.text, word.column);
  return all;
}

TEST(PlacedWords, SayTheirColumns) {
  EXPECT_EQ(places("link a  b"), (Places{{"link", 1}, {"a", 6}, {"b", 9}}));
  EXPECT_EQ(places("\t a\r"), (Places{{"a", 3}}));
  EXPECT_EQ(places("a b#c d"), (Places{{"a", 1}, {"b", 3}}));
  EXPECT_EQ(places("# nothing"), Places{});
  EXPECT_EQ(places(""), Places{});
}

TEST(ForEachLine, CountsFromOne) {
  std::vector<std::pair<u32, std::string>> lines;
  for_each_line("a\n\nb", [&](u32 number, std::string_view line) { lines.emplace_back(number, line); });
  EXPECT_EQ(lines, (std::vector<std::pair<u32, std::string>>{{1, "a"}, {2, ""}, {3, "b"}}));
}

TEST(TextLine, OfAFileKnowsTheColumnOfAWordAndOfAListItsElement) {
  const TextLine in_file({"net", 4, 1, ""}, "  switch a");
  EXPECT_EQ(in_file.where(1).column, 10U);
  EXPECT_EQ(in_file.where(1).line, 4U);
  const TextLine in_list({"x.toml", 2, 7, "topology.lines[3]"}, "  switch a");
  EXPECT_EQ(in_list.where(1).column, 7U);
  EXPECT_EQ(in_list.where(1).key, "topology.lines[3]");
}

}  // namespace
}  // namespace banyan::text_lines_test
