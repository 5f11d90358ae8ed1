// Does the interval of one long, dependent run cover the mean, and does it say what it stands on?
#include "banyan/stats/batch_means.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "banyan/base/error.hpp"
#include "stats/processes.hpp"
#include "stats/steady_state.hpp"

namespace banyan::stats::batch_means_test {
namespace {

TEST(Lag1, MatchesAHandComputedCase) {
  const std::array values{1.0, 2.0, 3.0, 4.0};  // deviations -1.5, -0.5, 0.5, 1.5: (0.75 - 0.25 + 0.75) / 5
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(values), 0.25);
}

TEST(Lag1, OfAlternatingValuesIsNegativeAndOfConstantsZero) {
  const std::array alternating{1.0, -1.0, 1.0, -1.0};
  EXPECT_DOUBLE_EQ(lag1_autocorrelation(alternating), -0.75);
  const std::array constant{2.0, 2.0, 2.0};
  EXPECT_EQ(lag1_autocorrelation(constant), 0.0);
  EXPECT_EQ(lag1_autocorrelation({}), 0.0);
}

TEST(BatchMeans, DependentWindowsAreMergedUntilAtLeastTwentyBatchesAreLeft) {
  const BatchMeans result = batch_means(test::autoregressive(0.95, 1000, 0));
  EXPECT_EQ(result.batch_windows, 32U);
  EXPECT_EQ(result.interval.groups, 31U);
  EXPECT_EQ(result.interval.count, 1000U);
}

TEST(BatchMeans, ShownIndependenceStopsTheMerging) {
  const BatchMeans result = batch_means(test::autoregressive(0.0, 4096, 0));
  EXPECT_GE(result.interval.groups, 1000U);
  EXPECT_TRUE(result.independent);
  EXPECT_NEAR(result.inflation, 1.0, 0.1);
}

TEST(BatchMeans, ARunThatIsFarTooShortSaysSoAndWidensItsInterval) {
  std::vector<double> ramp;
  ramp.reserve(100);
  for (int i = 0; i < 100; ++i) ramp.push_back(i);
  const BatchMeans result = batch_means(ramp);
  EXPECT_FALSE(result.independent);
  EXPECT_GT(result.lag1, 0.5);
  EXPECT_GT(result.inflation, 3.0);
}

TEST(BatchMeans, FewDegreesOfFreedomWidenTheIntervalUntilThereIsNone) {
  const std::vector<double> values = test::autoregressive(0.5, 2000, 3);
  BatchRule rule;
  const double plain = *batch_means(values, rule).interval.half_width;
  rule.most_degrees = 4.0;
  EXPECT_GT(*batch_means(values, rule).interval.half_width, 1.2 * plain);
  rule.most_degrees = 0.9;
  EXPECT_FALSE(batch_means(values, rule).interval.half_width);
}

TEST(BatchMeans, FewerWindowsThanBatchesAreNotIndependent) {
  const BatchMeans result = batch_means(test::autoregressive(0.0, 12, 0));
  EXPECT_EQ(result.interval.groups, 12U);
  EXPECT_TRUE(result.interval.half_width);
  EXPECT_FALSE(result.independent);
}

TEST(BatchMeans, OfNothingIsEmpty) {
  EXPECT_FALSE(batch_means({}).interval.half_width);
  EXPECT_FALSE(ratio_batch_means({}).interval.half_width);
  const std::array<SumCount, 50> silent{};
  EXPECT_EQ(ratio_batch_means(silent).interval.count, 0U);
}

/// Windows of a lightly loaded network mostly hold nothing. What one packet, or a few equal ones, say of others is not
/// that they are equal.
TEST(BatchMeans, AFewObservationsAreNotCertain) {
  const auto spread = [](std::initializer_list<u64> values) {
    std::vector<SumCount> windows(200);
    std::size_t at = 3;
    for (const u64 value : values) windows[(at += 7)] = {value, 1};
    return ratio_batch_means(windows).interval;
  };
  EXPECT_FALSE(spread({19}).half_width);
  EXPECT_FALSE(spread({19, 19}).half_width);
  EXPECT_FALSE(spread({7, 7, 7, 7, 7}).half_width);
  std::vector<SumCount> everywhere(200);
  for (std::size_t i = 0; i < everywhere.size(); i += 4) everywhere[i] = {7, 1};
  EXPECT_NEAR(ratio_batch_means(everywhere).interval.half_width.value_or(0.0), 7.0 * 3.0 / 50.0, 0.02);
  // Of three observations at least the interval of three samples.
  const std::vector<double> samples{10.0, 12.0, 17.0};
  EXPECT_GE(spread({10, 12, 17}).half_width.value(), 0.8 * mean_interval(samples).half_width.value());
}

TEST(BatchMeans, OfConstantWindowsHaveNoError) {
  const std::vector<double> constant(100, 3.0);
  EXPECT_EQ(batch_means(constant).interval.half_width, 0.0);
  EXPECT_TRUE(batch_means(constant).independent);
}

/// A load of which no packet was generated is not 0: three messages may have been expected.
TEST(BatchMeans, OfWindowsWithoutAnythingAllowForAStep) {
  const std::vector<double> nothing(1000, 0.0);
  constexpr double kStep = 0.25;
  EXPECT_NEAR(batch_means(nothing, {}, kStep).interval.half_width.value_or(0.0), 0.003 * kStep, 0.00001);
  const std::vector<double> constant(1000, 0.5);
  EXPECT_EQ(batch_means(constant, {}, kStep).interval.half_width, 0.0);
}

/// Packets that rarely take another time than the usual one, in windows that mostly hold nothing.
TEST(RatioBatchMeans, HoldTheMeanOfPacketsThatRarelyDiffer) {
  constexpr u32 kReplications = 500;
  for (const double expected : {0.05, 0.3, 1.0, 2.0, 4.0}) {  // packets that differ
    for (const u64 other : {u64{0}, u64{15}, u64{20}}) {
      constexpr double kHold = 0.1;  // of windows
      constexpr u64 kWindows = 600;
      const double share = expected / (kHold * static_cast<double>(kWindows));
      u32 covered = 0;
      for (u32 replication = 0; replication < kReplications; ++replication) {
        const Random random(11, Stream{"test"}, 0, replication);
        std::vector<SumCount> windows(kWindows);
        for (u64 i = 0; i < kWindows; ++i) {
          const auto words = random.at(0, i);
          if (words[0] >= static_cast<u32>(kHold * 4294967295.0)) continue;
          windows[i] = {words[1] < static_cast<u32>(share * 4294967295.0) ? other : 10, 1};
        }
        const double mean = 10.0 + share * (static_cast<double>(other) - 10.0);
        covered += ratio_batch_means(windows).interval.contains(mean) ? 1U : 0U;
      }
      EXPECT_GE(covered, kReplications * 91 / 100) << expected << " packets take " << other;
    }
  }
}

TEST(BatchMeans, StandardErrorIsThatOfTheAutoregressiveProcess) {
  // Variance of the mean of n values: 1 / ((1 - 0.8)^2 n). Each estimate varies by sqrt(2 / 30), their mean by 2 %.
  double sum = 0.0;
  for (u64 replication = 0; replication < 200; ++replication) {
    sum += std::pow(batch_means(test::autoregressive(0.8, 4000, replication)).interval.standard_error, 2);
  }
  // What is left of the dependence is counted where it comes out positive only: about a sixth too much.
  EXPECT_NEAR(sum / 200.0 / (25.0 / 4000.0), 1.1, 0.15);
}

TEST(BatchMeans, CoverTheMeanOfAnAutoregressiveProcess) {
  u32 covered = 0;
  for (u64 replication = 0; replication < 500; ++replication) {
    covered += batch_means(test::autoregressive(0.9, 4000, replication)).interval.contains(0.0) ? 1U : 0U;
  }
  EXPECT_GE(covered, 460U);
  EXPECT_LE(covered, 490U);
}

TEST(RatioBatchMeans, WithEqualCountsEqualThePlainOnes) {
  std::vector<SumCount> windows;
  std::vector<double> means;
  for (const double x : test::autoregressive(0.5, 500, 1)) {
    windows.push_back({static_cast<u64>(std::llround(10000.0 + 1000.0 * x)), 8});
    means.push_back(windows.back().mean());
  }
  const BatchMeans ratio = ratio_batch_means(windows);
  const BatchMeans plain = batch_means(means);
  EXPECT_NEAR(ratio.interval.mean, plain.interval.mean, 1e-9);
  EXPECT_NEAR(ratio.interval.half_width.value(), plain.interval.half_width.value(), 1e-9);
  EXPECT_EQ(ratio.interval.groups, plain.interval.groups);
  EXPECT_EQ(ratio.interval.count, 4000U);
}

TEST(RatioBatchMeans, CoverTheMeanWaitingTimeOfAQueue) {
  const test::Queue queue(test::Service::exponential, 0.5);
  u32 covered = 0;
  for (u64 replication = 0; replication < 400; ++replication) {
    const TimeSeries series = queue.run(10000, replication);
    covered += steady_state(series.windows()).mean.interval.contains(queue.mean()) ? 1U : 0U;
  }
  // So short a run covers about 92 %; less four standard errors of 400 replications. The close limits, on longer runs,
  // stand in the slow tests.
  EXPECT_GE(covered, 346U);
}

TEST(PairedBatchDifference, SeesThroughCommonNoise) {
  std::vector<SumCount> a;
  std::vector<SumCount> b;
  for (const double x : test::autoregressive(0.9, 2000, 2)) {
    const double noise = 10000.0 + 1000.0 * x;
    a.push_back({static_cast<u64>(std::llround(noise)), 10});
    b.push_back({static_cast<u64>(std::llround(noise * 1.01)), 10});
  }
  const BatchMeans difference = paired_batch_difference(a, b);
  EXPECT_NEAR(difference.interval.mean, 0.01 * ratio_batch_means(a).interval.mean, 0.01);
  EXPECT_GT(difference.interval.low(), 0.0);
  EXPECT_LT(*difference.interval.half_width, 0.1 * *ratio_batch_means(a).interval.half_width);
}

/// B's messages all take 5 cycles more than A's, in as many windows as there are.
TEST(PairedBatchDifference, OfEqualDifferencesHasAnIntervalFromManyBatchesOnly) {
  const auto difference = [](u64 windows) {
    std::vector<SumCount> a;
    std::vector<SumCount> b;
    for (u64 i = 0; i < windows; ++i) {
      a.push_back({300 + 70 * i % 13, 3});
      b.push_back({a.back().sum + 15, 3});
    }
    return paired_batch_difference(a, b).interval;
  };
  EXPECT_FALSE(difference(5).half_width);
  EXPECT_FALSE(difference(BatchRule{}.fewest - 1).half_width);
  EXPECT_NEAR(difference(BatchRule{}.fewest).half_width.value_or(0.0), 0.139 * 5.0, 0.5);
}

TEST(PairedBatchRelative, IsTheDifferenceInPartsOfA) {
  std::vector<SumCount> a;
  std::vector<SumCount> b;
  for (const double x : test::autoregressive(0.9, 2000, 2)) {
    const double noise = 10000.0 + 1000.0 * x;
    a.push_back({static_cast<u64>(std::llround(noise)), 10});
    b.push_back({static_cast<u64>(std::llround(noise * 1.01)), 10});
  }
  const Interval relative = paired_batch_relative(a, b).interval;
  EXPECT_NEAR(relative.mean, 0.01, 1e-5);
  EXPECT_LT(*relative.half_width, 1e-4);
  const std::vector<SumCount> nothing(2000, SumCount{0, 10});
  EXPECT_FALSE(paired_batch_relative(nothing, a).interval.half_width);
}

TEST(PairedBatchDifference, OfUnequalRunsIsAnError) {
  const std::array<SumCount, 1> one{};
  EXPECT_THROW((void)paired_batch_difference(one, {}), InvariantError);
}

TEST(Curvature, IsTheHalfWidthOverWhatIsSlowInTheQueue) {
  // A step in the middle: neighbours are alike, and the deviation is that of the slow part.
  std::vector<double> step(1000, -3.0);
  std::fill(step.begin() + 500, step.end(), 3.0);
  EXPECT_NEAR(curvature_of(0.6, step), 0.2, 1e-3);
  // Noise beside it is forgotten from one window to the next, and changes nothing.
  for (std::size_t i = 0; i < step.size(); ++i) step[i] += i % 4 < 2 ? 5.0 : -5.0;
  EXPECT_NEAR(curvature_of(0.6, step), 0.2, 1e-2);
  // Where nothing is remembered, all of the variation counts.
  std::vector<double> noise(1000);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = i % 2 == 0 ? 1.0 : -1.0;
  EXPECT_NEAR(curvature_of(0.06, noise), 0.06, 1e-12);
  EXPECT_EQ(curvature_of(0.0, noise), 0.0);
  EXPECT_EQ(curvature_of(1.0, std::vector<double>(10, 0.0)), 0.0);
}

TEST(Curvature, WidensTheIntervalOfAQueueOrTakesIt) {
  BatchRule rule;
  rule.of_queues = true;
  u32 none = 0;
  for (u64 replication = 0; replication < 100; ++replication) {
    const std::vector<double> values = test::autoregressive(0.98, 400, replication);
    std::vector<SumCount> windows;
    for (const double value : values) windows.push_back({static_cast<u64>(1000.0 + 10.0 * value), 10});
    const BatchMeans plain = ratio_batch_means(windows);
    const BatchMeans queue = ratio_batch_means(windows, rule);
    EXPECT_EQ(plain.curvature, 0.0);
    EXPECT_EQ(queue.interval.mean, plain.interval.mean);
    if (!queue.interval.half_width) {
      EXPECT_GE(queue.curvature, 1.0);
      ++none;
      continue;
    }
    EXPECT_GT(queue.curvature, 0.0);
    EXPECT_GE(*queue.interval.half_width, *plain.interval.half_width);
  }
  EXPECT_GT(none, 0U) << "a run of eight correlation times";
  EXPECT_LT(none, 100U);
}

}  // namespace
}  // namespace banyan::stats::batch_means_test
