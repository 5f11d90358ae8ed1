// Does a run stop when it is precise enough, not before, and foresee when?
#include "banyan/stats/precision.hpp"

#include <gtest/gtest.h>

namespace banyan::stats::precision_test {
namespace {

Interval interval_of(double mean, double half_width, u64 groups) {
  Interval interval;
  interval.mean = mean;
  interval.standard_error = half_width / 2.0;
  interval.half_width = half_width;
  interval.groups = groups;
  return interval;
}

constexpr PrecisionGoal kOnePerCent{.relative = 0.01, .minimum_groups = 20};

TEST(Precision, IsReachedAtTheRequestedWidth) {
  EXPECT_TRUE(reached(interval_of(100.0, 1.0, 20), kOnePerCent));
  EXPECT_FALSE(reached(interval_of(100.0, 1.01, 20), kOnePerCent));
  EXPECT_TRUE(reached(interval_of(-100.0, 0.5, 20), kOnePerCent));
}

TEST(Precision, IsNotReachedWithFewGroups) {
  EXPECT_FALSE(reached(interval_of(100.0, 0.0, 19), kOnePerCent));
  EXPECT_FALSE(reached(Interval{}, kOnePerCent));
}

TEST(Precision, IsNotReachedByDependentBatches) {
  BatchMeans mean;
  mean.interval = interval_of(100.0, 0.5, 30);
  EXPECT_FALSE(reached(mean, kOnePerCent));
  mean.independent = true;
  EXPECT_TRUE(reached(mean, kOnePerCent));
}

TEST(Precision, OfAMeanOfZeroIsNeverReachedUnlessExact) {
  EXPECT_FALSE(reached(interval_of(0.0, 0.1, 50), kOnePerCent));
  EXPECT_FALSE(remaining_effort(interval_of(0.0, 0.1, 50), kOnePerCent));
  EXPECT_TRUE(reached(interval_of(0.0, 0.0, 50), kOnePerCent));
}

TEST(Precision, TwiceTheWidthNeedsThreeTimesAsMuchAgain) {
  EXPECT_DOUBLE_EQ(remaining_effort(interval_of(100.0, 2.0, 40), kOnePerCent).value(), 3.0);
  EXPECT_EQ(remaining_effort(interval_of(100.0, 0.5, 40), kOnePerCent), 0.0);
  EXPECT_DOUBLE_EQ(remaining_effort(interval_of(100.0, 0.5, 10), kOnePerCent).value(), 1.0);
}

TEST(Precision, ChecksLieFarApartButNotBeyondTheEstimate) {
  EXPECT_EQ(next_checkpoint(1000, 3.0), 1500U);
  EXPECT_EQ(next_checkpoint(1000, 0.2), 1200U);
  EXPECT_EQ(next_checkpoint(1000, 0.0), 1100U);
  EXPECT_EQ(next_checkpoint(1000, std::nullopt), 1500U);
  EXPECT_EQ(next_checkpoint(0, std::nullopt), 1U);
}

}  // namespace
}  // namespace banyan::stats::precision_test
