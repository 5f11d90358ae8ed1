// Does MSER-5 cut the transient, no more than it must, and say when it cannot?
#include "banyan/stats/warmup.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "stats/processes.hpp"

namespace banyan::stats::warmup_test {
namespace {

constexpr MserRule kPlain{.group = 1, .tolerance = 0.0};
constexpr MserRule kPublished{.group = 5, .tolerance = 0.0};

TEST(Mser, MatchesAHandComputedCase) {
  // n = 10. MSER(0) = 53.6 / 100 = 0.536; MSER(1) = (21 - 169 / 9) / 81 = 0.0274; MSER(2) = 2 / 64 = 0.0313;
  // MSER(3) = (12 / 7) / 49 = 0.035; MSER(4) = 1.5 / 36 = 0.0417. Later ones are in the tail.
  const std::array values{9.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0};
  const Warmup warmup = mser(values, kPlain);
  EXPECT_EQ(warmup.windows, 1U);
  EXPECT_EQ(warmup.of, 10U);
  EXPECT_TRUE(warmup.valid);
}

TEST(Mser, ToleranceTakesTheEarliestPointNearTheMinimum) {
  // As above, one value further: MSER(1) is the minimum, MSER(0) is 20 times as large.
  const std::array values{9.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0};
  EXPECT_EQ(mser(values, MserRule{.group = 1, .tolerance = 0.05}).windows, 1U);
  EXPECT_EQ(mser(values, MserRule{.group = 1, .tolerance = 20.0}).windows, 0U);
}

TEST(Mser, CountsInWindowsNotInGroups) {
  std::vector<double> values(100, 1.0);
  for (std::size_t i = 0; i < 7; ++i) values[i] = 50.0;  // ends within the second group of five
  EXPECT_EQ(mser(values).windows, 10U);
}

TEST(Mser, OfAConstantSeriesCutsNothing) {
  const std::vector<double> values(100, 0.1);
  const Warmup warmup = mser(values);
  EXPECT_EQ(warmup.windows, 0U);
  EXPECT_TRUE(warmup.valid);
}

TEST(Mser, CutsADecayingTransient) {
  for (u64 replication = 0; replication < 20; ++replication) {
    std::vector<double> values = test::autoregressive(0.5, 2000, replication);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= 30.0 * std::exp(-static_cast<double>(i) / 20.0);
    const Warmup warmup = mser(values);
    EXPECT_TRUE(warmup.valid);
    EXPECT_GE(warmup.windows, 40U);
    EXPECT_LE(warmup.windows, 300U);
  }
}

TEST(Mser, ToleranceSparesSeriesWithoutATransient) {
  u64 published = 0;
  u64 tolerant = 0;
  for (u64 replication = 0; replication < 50; ++replication) {
    const std::vector<double> values = test::autoregressive(0.9, 2000, replication);
    published += mser(values, kPublished).windows;
    tolerant += mser(values).windows;
  }
  EXPECT_LT(tolerant, published);
}

TEST(Mser, OfARunThatNeverSettlesIsNotValid) {
  std::vector<double> ramp;
  ramp.reserve(200);
  for (int i = 0; i < 200; ++i) ramp.push_back(i);
  const Warmup warmup = mser(ramp);
  EXPECT_FALSE(warmup.valid);
  EXPECT_NE(warmup.statement(10.0).find("none in the first half of the run"), std::string::npos);
}

TEST(Mser, OfTooFewWindowsIsNotValid) {
  const std::vector<double> values(49, 1.0);
  EXPECT_FALSE(mser(values).valid);
  EXPECT_FALSE(mser(std::span<const double>{}).valid);
}

TEST(Mser, WindowsWithoutObservationsArePassedOver) {
  std::vector<SumCount> windows(100, SumCount{30, 10});
  for (std::size_t i = 0; i < 10; ++i) windows[i] = {900, 10};
  for (std::size_t i = 10; i < 20; ++i) windows[i] = {};  // silent: no reason to cut later or earlier
  EXPECT_EQ(mser(windows).windows, 20U);
}

TEST(Mser, WeighsWindowsByTheirObservations) {
  std::vector<SumCount> windows;
  std::vector<double> means;
  for (const double x : test::autoregressive(0.5, 1000, 4)) {
    windows.push_back({static_cast<u64>(std::llround(1e6 + 1e5 * x)), 1});
    means.push_back(windows.back().mean());
  }
  EXPECT_EQ(mser(windows).windows, mser(means).windows);
}

TEST(Mser, TheLaterOfTwoSeriesDecides) {
  Warmup a;
  a.windows = 10;
  a.valid = true;
  Warmup b;
  b.windows = 30;
  b.valid = true;
  EXPECT_EQ(later(a, b).windows, 30U);
  EXPECT_EQ(later(b, a).windows, 30U);
  EXPECT_TRUE(later(a, b).valid);
  a.valid = false;
  EXPECT_FALSE(later(a, b).valid);
}

TEST(Mser, StatesItsRuleAndItsCut) {
  std::vector<double> values(100, 1.0);
  for (std::size_t i = 0; i < 10; ++i) values[i] = 50.0;
  EXPECT_EQ(mser(values, kPublished).statement(100.0),
            "warm-up by MSER-5 (White, Cobb, Spratt 2000): first 10 of 100 windows (1000 cycles)");
  EXPECT_EQ(mser(values).statement(100.0),
            "warm-up by MSER-5 (White, Cobb, Spratt 2000), earliest point within 5 % of its minimum: first 10 of 100 "
            "windows (1000 cycles)");
}

}  // namespace
}  // namespace banyan::stats::warmup_test
