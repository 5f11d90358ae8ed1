// Do arrays on pages start as zeros, at a cache line's beginning, small and large?
#include "banyan/base/pages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace banyan::pages_test {
namespace {

TEST(Pages, ArraysStartAsZerosOnACacheLine) {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{600000}}) {
    PageVector<std::uint64_t> array(size);
    EXPECT_TRUE(std::all_of(array.begin(), array.end(), [](std::uint64_t word) { return word == 0; })) << size;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(array.data()) % 64, 0U) << size;
    array.assign(size, 7);
    EXPECT_EQ(array.back(), 7U);
  }
}

TEST(Pages, NothingIsAnArrayToo) { EXPECT_TRUE(PageVector<int>().empty()); }

TEST(Pages, AreFetchedWhereverAVectorBegins) {
  for (const std::size_t count : {0UL, 1UL, 1000UL, 300'000UL}) {
    std::vector<std::uint32_t> values{7};
    reserve_pages(values, count);
    EXPECT_GE(values.capacity(), count + 1);
    values.resize(count + 1, 9);
    EXPECT_EQ(values.front(), 7U);
    EXPECT_EQ(values.back(), count == 0 ? 7U : 9U);
  }
}

}  // namespace
}  // namespace banyan::pages_test
