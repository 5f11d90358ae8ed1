// Is what an archive reads what it wrote, to the byte, and is what does not fit refused?
#include "banyan/base/archive.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "banyan/base/pages.hpp"

namespace banyan::archive_test {
namespace {

struct Inner {
  u32 a = 0;
  u64 b = 0;
  bool operator==(const Inner&) const = default;
};

struct Everything {
  u32 number = 0;
  std::vector<Inner> plain;
  std::vector<std::vector<u32>> nested;
  std::vector<bool> bits;
  std::string text;
  std::optional<u64> maybe;
  std::pair<u32, std::string> both;
  std::map<std::tuple<u32, u8>, u64> map;
  std::set<std::pair<u32, u32>> set;
  std::unordered_map<u64, std::string> table;
  PageVector<u64> pages;
  std::array<std::vector<u8>, 2> array;

  void archive(Archive& a) { a(number, plain, nested, bits, text, maybe, both, map, set, table, pages, array); }
  bool operator==(const Everything&) const = default;
};

Everything filled() {
  Everything all;
  all.number = 7;
  all.plain = {{1, 2}, {3, 4}};
  all.nested = {{}, {1}, {2, 3}};
  all.bits = {true, false, true};
  all.text = "a text";
  all.maybe = 9;
  all.both = {5, "five"};
  all.map = {{{1, 2}, 3}, {{4, 5}, 6}};
  all.set = {{1, 2}, {1, 3}, {0, 9}};
  for (u64 i = 0; i < 100; ++i) all.table[i * 7919] = std::to_string(i);
  all.pages.resize(100'000);
  all.pages[0] = 1;
  all.pages[50'000] = 2;
  all.pages[99'999] = 3;
  all.array = {{{1}, {2, 3}}};
  return all;
}

std::string written(Everything& all) {
  ArchiveToText text;
  text(all);
  return text.take();
}

TEST(Archive, ReadsWhatWasWritten) {
  Everything all = filled();
  const std::string text = written(all);
  Everything other;
  other.pages.assign(100'000, 5);  // what was zero has to be zero again
  ArchiveOfText reader(text);
  reader(other);
  EXPECT_TRUE(reader.ended());
  EXPECT_TRUE(all == other);
  EXPECT_EQ(written(other), text) << "equal contents give equal bytes";
}

TEST(Archive, PagesOfZerosTakeNoRoom) {
  Everything all = filled();
  EXPECT_LT(written(all).size(), all.pages.size() * sizeof(u64) / 20);
}

TEST(Archive, RefusesWhatEndsTooEarly) {
  Everything all = filled();
  std::string text = written(all);
  text.pop_back();
  ArchiveOfText reader(text);
  EXPECT_THROW(reader(all), ArchiveMismatch);
}

TEST(Archive, RefusesAnotherNumberThanTheBuildingFixed) {
  ArchiveToText text;
  text.same(4);
  const std::string bytes = text.take();
  ArchiveOfText(bytes).same(4);
  EXPECT_THROW(ArchiveOfText(bytes).same(5), ArchiveMismatch);
}

}  // namespace
}  // namespace banyan::archive_test
