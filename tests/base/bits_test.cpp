// Do digits and logarithms of link numbers come out right for every base?
#include "banyan/base/bits.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace banyan::bits_test {
namespace {

TEST(ExactLog, KnowsPowersFromOtherNumbers) {
  EXPECT_EQ(exact_log(256, 4), 4U);
  EXPECT_EQ(exact_log(1, 4), 0U);
  EXPECT_EQ(exact_log(128, 4), std::nullopt);
  EXPECT_EQ(exact_log(0, 4), std::nullopt);
  EXPECT_EQ(exact_log(8, 1), std::nullopt);
}

RC_GTEST_PROP(Digits, TogetherAreTheNumber, ()) {
  const u32 base = *rc::gen::inRange(2U, 17U);
  const u64 x = *rc::gen::inRange<u64>(0, 65536);
  u64 sum = 0;
  for (u32 i = 0; i < 16; ++i) sum += digit(x, base, i) * power(base, i);
  RC_ASSERT(sum == x);
}

TEST(NthSetBit, CountsFromTheLowest) {
  EXPECT_EQ(nth_set_bit(0b101100, 0), 2U);
  EXPECT_EQ(nth_set_bit(0b101100, 1), 3U);
  EXPECT_EQ(nth_set_bit(0b101100, 2), 5U);
}

}  // namespace
}  // namespace banyan::bits_test
