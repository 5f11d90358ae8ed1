// Does the flat map hold what a map of the standard library holds, after any changes?
#include "banyan/base/flat_map.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace banyan::flat_map_test {
namespace {

RC_GTEST_PROP(FlatMap, HoldsWhatAMapHolds, ()) {
  FlatMap<u32> map;
  std::map<u64, u32> expected;
  const auto steps = *rc::gen::container<std::vector<std::pair<u8, u32>>>(rc::gen::arbitrary<std::pair<u8, u32>>());
  for (const auto& [byte, value] : steps) {
    const u64 key = u64{byte} << (value % 2 * 40);  // keys that have much in common
    if (value % 3 == 0) {
      map.erase(key);
      expected.erase(key);
    } else {
      map[key] = value;
      expected[key] = value;
    }
    RC_ASSERT(map.size() == expected.size());
  }
  std::map<u64, u32> found;
  map.for_each([&](u64 key, u32 value) { found[key] = value; });
  RC_ASSERT(found == expected);
  for (const auto& [key, value] : expected) RC_ASSERT(*map.find(key) == value);
  RC_ASSERT(map.find(u64{1} << 60U) == nullptr);
}

/// All keys but 40 meet in one place.
struct Pair {
  u32 a = kNone;
  u32 b = kNone;

  friend bool operator==(const Pair&, const Pair&) = default;
  [[nodiscard]] u64 hash() const noexcept { return a == 40 ? 3 : 2; }
};

TEST(FlatMap, TellsKeysApartThatMeetInOnePlace) {
  FlatMap<u32, Pair> map(8);
  for (u32 i = 38; i < 43; ++i) map[{i, 1}] = i;
  map.erase({38, 1});
  map.erase({38, 2});
  EXPECT_EQ(map.size(), 4U);
  EXPECT_EQ(map.find({38, 1}), nullptr);
  for (u32 i = 39; i < 43; ++i) EXPECT_EQ(*map.find({i, 1}), i);
  map.clear();
  EXPECT_EQ(map.size(), 0U);
  EXPECT_EQ(map.find({40, 1}), nullptr);
}

}  // namespace
}  // namespace banyan::flat_map_test
