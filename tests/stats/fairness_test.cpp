// Is the index 1 for equal shares and 1/n for one terminal that gets everything?
#include "banyan/stats/fairness.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <vector>

namespace banyan::stats::fairness_test {
namespace {

TEST(Fairness, OfEqualSharesIsOne) {
  const std::array<u64, 4> equal{7, 7, 7, 7};
  EXPECT_DOUBLE_EQ(fairness(equal).jain, 1.0);
  EXPECT_EQ(fairness(equal).worst, 0U);
}

TEST(Fairness, OfOneThatGetsEverythingIsOneOverN) {
  const std::array<u64, 5> one{0, 0, 10, 0, 0};
  EXPECT_DOUBLE_EQ(fairness(one).jain, 0.2);
}

TEST(Fairness, MatchesAHandComputedCase) {
  const std::array<u64, 3> amounts{3, 1, 2};  // 36 / (3 x 14)
  const Fairness result = fairness(amounts);
  EXPECT_DOUBLE_EQ(result.jain, 36.0 / 42.0);
  EXPECT_EQ(result.minimum, 1U);
  EXPECT_EQ(result.worst, 1U);
  EXPECT_EQ(result.maximum, 3U);
  EXPECT_EQ(result.mean, 2.0);
}

TEST(Fairness, OfNothingIsFair) {
  EXPECT_EQ(fairness({}).jain, 1.0);
  const std::array<u64, 2> zeros{0, 0};
  EXPECT_EQ(fairness(zeros).jain, 1.0);
}

TEST(Fairness, LiesBetweenOneOverNAndOneAtAnyScale) {
  rc::check([] {
    const auto amounts =
        *rc::gen::nonEmpty(rc::gen::container<std::vector<u64>>(rc::gen::inRange<u64>(0, u64{1} << 56U)));
    const double jain = fairness(amounts).jain;
    RC_ASSERT(jain <= 1.0 + 1e-12);
    RC_ASSERT(jain >= 1.0 / static_cast<double>(amounts.size()) - 1e-12);
  });
}

}  // namespace
}  // namespace banyan::stats::fairness_test
