// Are intervals of means, ratios and differences those of the textbook, and do they cover?
#include "banyan/stats/interval.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <cmath>
#include <span>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/stats/student.hpp"
#include "stats/processes.hpp"

namespace banyan::stats::interval_test {
namespace {

TEST(MeanInterval, MatchesAHandComputedCase) {
  const std::array samples{1.0, 2.0, 3.0, 4.0, 5.0};  // mean 3, variance 2.5, standard error sqrt(0.5)
  const Interval interval = mean_interval(samples);
  EXPECT_DOUBLE_EQ(interval.mean, 3.0);
  EXPECT_DOUBLE_EQ(interval.standard_error, std::sqrt(0.5));
  EXPECT_NEAR(interval.half_width.value(), 2.776445 * std::sqrt(0.5), 1e-6);  // t(0.975, 4)
  EXPECT_EQ(interval.groups, 5U);
  EXPECT_EQ(interval.count, 5U);
}

TEST(MeanInterval, OfOneSampleHasNoHalfWidth) {
  const std::array samples{4.0};
  EXPECT_EQ(mean_interval(samples).mean, 4.0);
  EXPECT_FALSE(mean_interval(samples).half_width);
  EXPECT_FALSE(mean_interval({}).half_width);
}

TEST(MeanInterval, IsWiderAtHigherConfidence) {
  const std::array samples{1.0, 2.0, 4.0};
  EXPECT_LT(mean_interval(samples, 0.9).half_width.value(), mean_interval(samples, 0.99).half_width.value());
}

TEST(RatioInterval, MatchesAHandComputedCase) {
  // R = 30 / 6 = 5; residuals 4 - 5, 10 - 10, 16 - 15 = -1, 0, 1; xbar = 2; variance = 2 / (3 x 2 x 4) = 1/12.
  const std::array<SumCount, 3> groups{{{4, 1}, {10, 2}, {16, 3}}};
  const Interval interval = ratio_interval(groups);
  EXPECT_DOUBLE_EQ(interval.mean, 5.0);
  EXPECT_DOUBLE_EQ(interval.standard_error, std::sqrt(1.0 / 12.0));
  EXPECT_NEAR(interval.half_width.value(), 4.302653 * std::sqrt(1.0 / 12.0), 1e-6);  // t(0.975, 2)
  EXPECT_EQ(interval.groups, 3U);
  EXPECT_EQ(interval.count, 6U);
}

TEST(RatioInterval, IsTheMeanOverAllObservationsNotTheMeanOfMeans) {
  const std::array<SumCount, 2> groups{{{100, 1}, {9, 9}}};
  EXPECT_DOUBLE_EQ(ratio_interval(groups).mean, 10.9);
}

TEST(RatioInterval, WithEqualCountsEqualsTheMeanInterval) {
  rc::check([] {
    const auto sums = *rc::gen::container<std::vector<u64>>(rc::gen::inRange<u64>(0, 1'000'000));
    RC_PRE(sums.size() >= 2U);
    std::vector<SumCount> groups;
    std::vector<double> samples;
    for (const u64 sum : sums) {
      groups.push_back({sum, 4});
      samples.push_back(static_cast<double>(sum) / 4.0);
    }
    const Interval ratio = ratio_interval(groups);
    const Interval plain = mean_interval(samples);
    RC_ASSERT(std::abs(ratio.mean - plain.mean) <= 1e-9 * (1.0 + plain.mean));
    RC_ASSERT(ratio.half_width.has_value() == plain.half_width.has_value());
    if (!plain.half_width) return;  // few samples that are all equal
    RC_ASSERT(std::abs(*ratio.half_width - *plain.half_width) <= 1e-9 * (1.0 + *plain.half_width));
  });
}

TEST(RatioInterval, OfNothingIsEmpty) {
  const std::array<SumCount, 2> groups{};
  EXPECT_EQ(ratio_interval(groups).count, 0U);
  EXPECT_FALSE(ratio_interval(groups).half_width);
}

/// Sessions whose length and delay depend on each other: x = 20 .. 80 messages, mean delay 100 + x / 4 + noise.
/// E(y) / E(x) = 100 + E(x^2) / (4 E(x)), with x uniform on 61 values: E(x) = 50, E(x^2) = 2500 + 310.
SumCount session(const Random& random, u64 event) {
  const Words words = random.at(1, event);
  const u64 messages = 20 + below(words[0], 61);
  const double delay = 100.0 + static_cast<double>(messages) / 4.0 + 5.0 * test::normal(random, event);
  return {static_cast<u64>(std::llround(delay * static_cast<double>(messages))), messages};
}

TEST(RatioInterval, CoversTheRatioOfCorrelatedSumsAndCounts) {
  const double truth = 100.0 + 2810.0 / 200.0;
  u32 covered = 0;
  for (u64 replication = 0; replication < 1000; ++replication) {
    const Random random(3, Stream{"test"}, 2, static_cast<u32>(replication));
    std::vector<SumCount> sessions;
    for (u64 i = 0; i < 40; ++i) sessions.push_back(session(random, i));
    covered += ratio_interval(sessions).contains(truth) ? 1U : 0U;
  }
  EXPECT_GE(covered, 930U);
  EXPECT_LE(covered, 980U);
}

/// Sessions of few messages whose delays are skewed as those near saturation are: without skewed_quantile 85 to 90 %
/// of the intervals of 5 to 20 sessions hold.
TEST(RatioInterval, CoversTheMeanOfFewSkewedSessions) {
  for (const u64 sessions : {u64{5}, u64{10}, u64{20}, u64{40}}) {
    u32 covered = 0;
    constexpr u32 kReplications = 1000;
    for (u32 replication = 0; replication < kReplications; ++replication) {
      const Random random(5, Stream{"test"}, static_cast<u32>(sessions), static_cast<u32>(replication));
      std::vector<SumCount> groups;
      for (u64 i = 0; i < sessions; ++i) {
        const Words words = random.at(0, i);
        const double delay = 1000.0 * test::exponential(words[0], words[1]);  // of the session, mean 1000
        groups.push_back({static_cast<u64>(std::llround(delay * 10.0)), 10});
      }
      covered += ratio_interval(groups).contains(1000.0) ? 1U : 0U;
    }
    EXPECT_GE(covered, kReplications * 91 / 100) << sessions;
    EXPECT_LE(covered, kReplications * 98 / 100) << sessions;
  }
}

/// Sessions that take one value with probability `share` and another one otherwise. Where all are equal, an interval
/// of +- 0 claims that the other value does not exist.
TEST(MeanInterval, OfFewEqualSamplesClaimsNothing) {
  for (const double share : {0.5, 0.7, 0.8}) {
    for (const u64 sessions : {u64{2}, u64{3}, u64{5}, u64{8}, u64{19}, u64{20}}) {
      u32 points = 0;
      constexpr u32 kReplications = 2000;
      for (u32 replication = 0; replication < kReplications; ++replication) {
        const Random random(7, Stream{"test"}, static_cast<u32>(sessions), replication);
        std::vector<double> samples;
        std::vector<SumCount> groups;
        for (u64 i = 0; i < sessions; ++i) {
          const bool common = random.at(0, i)[0] < static_cast<u32>(share * 4294967295.0);
          samples.push_back(common ? 182.0 : 208.0);
          groups.push_back({common ? 7U : 9U, 3});
        }
        const bool plain = mean_interval(samples).half_width.value_or(1.0) == 0.0;
        const bool ratio = ratio_interval(groups).half_width.value_or(1.0) < 1e-9;
        EXPECT_EQ(plain, ratio);
        points += plain ? 1U : 0U;
      }
      EXPECT_LE(points, kReplications / 20) << share << " of " << sessions;
    }
  }
}

TEST(MeanInterval, OfManyEqualSamplesIsWhatRarerOnesMayAdd) {
  const std::vector<double> samples(kFewestEqual, 182.0);
  const std::vector<SumCount> groups(kFewestEqual, SumCount{7, 3});
  const double share = 1.0 - std::pow(0.05, 1.0 / static_cast<double>(kFewestEqual));
  EXPECT_NEAR(share, 3.0 / static_cast<double>(kFewestEqual), 0.011);  // the rule of three
  EXPECT_NEAR(mean_interval(samples).half_width.value_or(0.0), 182.0 * share, 1e-9);
  EXPECT_NEAR(ratio_interval(groups).half_width.value_or(0.0), 7.0 / 3.0 * share, 1e-9);
  EXPECT_FALSE(mean_interval(std::span(samples).subspan(1)).half_width);
  EXPECT_FALSE(ratio_interval(std::span(groups).subspan(1)).half_width);
}

/// Of samples of which a few differ, by as much as the usual one at most: where none of these was seen, the interval
/// must hold the mean all the same.
TEST(MeanInterval, HoldsTheMeanOfSamplesThatRarelyDiffer) {
  constexpr u32 kReplications = 1000;
  for (const u64 samples : {u64{20}, u64{50}, u64{200}}) {
    for (const double expected : {0.05, 0.3, 1.0, 2.0, 4.0}) {  // samples that differ
      for (const double other : {0.0, 150.0, 200.0}) {
        const double share = expected / static_cast<double>(samples);
        u32 covered = 0;
        for (u32 replication = 0; replication < kReplications; ++replication) {
          const Random random(9, Stream{"test"}, static_cast<u32>(samples), replication);
          std::vector<double> values;
          for (u64 i = 0; i < samples; ++i) {
            values.push_back(random.at(0, i)[0] < static_cast<u32>(share * 4294967295.0) ? other : 100.0);
          }
          covered += mean_interval(values).contains(100.0 + share * (other - 100.0)) ? 1U : 0U;
        }
        EXPECT_GE(covered, kReplications * 91 / 100) << expected << " of " << samples << " are " << other;
      }
    }
  }
}

TEST(SkewedQuantile, IsStudentsWithoutSkewnessAndLargerWithIt) {
  const std::array even{-1.0, 0.0, 1.0};
  EXPECT_EQ(skewed_quantile(2.0, even), 2.0);
  EXPECT_EQ(skewed_quantile(2.0, {}), 2.0);
  const std::array right{-1.0, -1.0, -1.0, 3.0};
  const std::array left{1.0, 1.0, 1.0, -3.0};
  EXPECT_GT(skewed_quantile(2.0, right), 2.5);
  EXPECT_DOUBLE_EQ(skewed_quantile(2.0, right), skewed_quantile(2.0, left));
}

TEST(Interval, RelativeHalfWidthNeedsAMeanThatIsNotZero) {
  const std::array balanced{-1.0, 1.0};
  EXPECT_FALSE(mean_interval(balanced).relative_half_width());
  const std::array<double, kFewestEqual> zeros{};
  EXPECT_NEAR(mean_interval(zeros).relative_half_width().value_or(0.0), 0.139, 0.001);  // of one unit
  const std::array negative{-9.0, -11.0};
  EXPECT_NEAR(mean_interval(negative).relative_half_width().value(), 1.2706, 1e-4);
}

/// Pairs of which B is longer by one value with probability `share`, and by another otherwise; A varies by itself.
TEST(PairedRatioDifference, OfFewEqualPairsClaimsNothing) {
  for (const double share : {0.5, 0.7, 0.8}) {
    for (const u64 pairs : {u64{2}, u64{3}, u64{5}, u64{8}, u64{19}, u64{20}}) {
      u32 points = 0;
      constexpr u32 kReplications = 2000;
      for (u32 replication = 0; replication < kReplications; ++replication) {
        const Random random(7, Stream{"test"}, static_cast<u32>(pairs), replication);
        std::vector<SumCount> a;
        std::vector<SumCount> b;
        for (u64 i = 0; i < pairs; ++i) {
          const u64 plain = 100 + below(random.at(1, i)[0], 50);
          const u64 longer = plain + (random.at(0, i)[0] < static_cast<u32>(share * 4294967295.0) ? 5 : 30);
          a.push_back({plain, 3});
          b.push_back({longer, 3});
        }
        const Difference difference = paired_ratio_difference(a, b);
        points += difference.absolute.half_width.value_or(1.0) < 1e-9 ? 1U : 0U;
        EXPECT_EQ(difference.absolute.half_width.has_value(), difference.relative.half_width.has_value());
      }
      EXPECT_LE(points, 2 * kReplications / 20) << share << " of " << pairs;
    }
  }
}

TEST(PairedRatioDifference, OfManyEqualPairsIsWhatRarerOnesMayAdd) {
  std::vector<SumCount> a;
  std::vector<SumCount> b;
  for (u64 i = 0; i < kFewestEqual; ++i) {
    a.push_back({100 + 7 * i % 13, 3});
    b.push_back({a.back().sum + 5, 3});
  }
  const Difference difference = paired_ratio_difference(a, b);
  // 5 / 3, and one pair of seven may be another, as two of different pairs are: they vary by 3.7 / 3 each.
  EXPECT_NEAR(difference.absolute.half_width.value_or(0.0), 0.139 * std::sqrt(2.0) * 3.7 / 3.0, 0.02);
  EXPECT_NEAR(difference.relative.half_width.value_or(0.0), 0.139 * std::sqrt(2.0) * 3.7 / 106.0, 0.001);
  EXPECT_TRUE(difference.significant());
  EXPECT_FALSE(paired_ratio_difference(std::span(a).subspan(1), std::span(b).subspan(1)).absolute.half_width);
}

TEST(PairedRatioDifference, SeesThroughCommonNoise) {
  std::vector<SumCount> a;
  std::vector<SumCount> b;
  const Random random(5, Stream{"test"}, 1, 0);
  const auto rounded = [](double x) { return SumCount{static_cast<u64>(std::llround(x * 1000.0)), 1000}; };
  for (u64 i = 0; i < 20; ++i) {
    const double common = 100.0 * test::normal(random, i);
    a.push_back(rounded(1000.0 + common));
    b.push_back(rounded(1010.0 + common + test::normal(random, 1000 + i)));
  }
  EXPECT_TRUE(paired_ratio_difference(a, b).significant());
  EXPECT_FALSE(independent_difference(ratio_interval(a), ratio_interval(b)).significant());
}

TEST(PairedRatioDifference, OfUnequalNumbersIsAnError) {
  const std::array<SumCount, 1> a{};
  EXPECT_THROW((void)paired_ratio_difference(a, {}), InvariantError);
}

/// Both wholes of one observation: the difference is that of the means.
TEST(PairedRatioDifference, OfThreePairsWhoseRatioIsOneNumberHasNoRelativeInterval) {
  const std::array<SumCount, 3> a{{{10, 1}, {20, 1}, {30, 1}}};
  const std::array<SumCount, 3> b{{{11, 1}, {22, 1}, {33, 1}}};  // 1, 2, 3: mean 2, standard error 1 / sqrt(3)
  const Difference difference = paired_ratio_difference(a, b);
  EXPECT_DOUBLE_EQ(difference.absolute.mean, 2.0);
  EXPECT_NEAR(difference.absolute.standard_error, 1.0 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(difference.relative.mean, 0.1, 1e-12);
  EXPECT_FALSE(difference.relative.half_width);  // b is exactly 1.1 a, of three
  EXPECT_FALSE(difference.significant());
}

TEST(PairedRatioDifference, MatchesAHandComputedCase) {
  // A: R = 30 / 6 = 5, residuals / xbar = -1/2, 0, 1/2. B: R = 36 / 6 = 6, residuals 0, -1, 1 over 2 = 0, -1/2, 1/2.
  // Differences 1/2, -1/2, 0: variance of the mean = (1/2) / (3 x 2) = 1/12.
  const std::array<SumCount, 3> a{{{4, 1}, {10, 2}, {16, 3}}};
  const std::array<SumCount, 3> b{{{6, 1}, {11, 2}, {19, 3}}};
  const Difference difference = paired_ratio_difference(a, b);
  EXPECT_DOUBLE_EQ(difference.absolute.mean, 1.0);
  EXPECT_DOUBLE_EQ(difference.absolute.standard_error, std::sqrt(1.0 / 12.0));
  EXPECT_DOUBLE_EQ(difference.relative.mean, 0.2);
}

TEST(PairedRatioDifference, OfARunWithItselfIsZero) {
  std::vector<SumCount> a;
  for (u64 i = 0; i < kFewestEqual; ++i) a.push_back({4 + 6 * i, 1 + i});
  const Difference difference = paired_ratio_difference(a, a);
  EXPECT_EQ(difference.absolute.mean, 0.0);
  EXPECT_GT(difference.absolute.half_width.value_or(0.0), 0.0);
  EXPECT_GT(difference.relative.half_width.value_or(0.0), 0.0);
  EXPECT_FALSE(difference.significant());
}

TEST(PairedRatioDifference, CoversTheRelativeDifference) {
  u32 covered = 0;
  for (u64 replication = 0; replication < 1000; ++replication) {
    const Random random(3, Stream{"test"}, 3, static_cast<u32>(replication));
    std::vector<SumCount> a;
    std::vector<SumCount> b;
    for (u64 i = 0; i < 40; ++i) {
      a.push_back(session(random, i));
      const SumCount other = session(random, 1000 + i);  // half of B is A: positively correlated
      b.push_back({a.back().sum + other.sum, a.back().count + other.count});
    }
    covered += paired_ratio_difference(a, b).relative.contains(0.0) ? 1U : 0U;
  }
  EXPECT_GE(covered, 925U);
  EXPECT_LE(covered, 975U);
}

TEST(IndependentDifference, HasWelchsDegreesOfFreedom) {
  const Interval a = make_interval(10.0, 3.0, 9.0, 0.95);
  const Interval b = make_interval(12.0, 4.0, 4.0, 0.95);
  const Difference difference = independent_difference(a, b);
  EXPECT_DOUBLE_EQ(difference.absolute.mean, 2.0);
  EXPECT_DOUBLE_EQ(difference.absolute.standard_error, 5.0);
  EXPECT_DOUBLE_EQ(difference.absolute.degrees_of_freedom, 625.0 / (81.0 / 9.0 + 256.0 / 4.0));
  EXPECT_DOUBLE_EQ(difference.relative.mean, 0.2);
}

TEST(IndependentDifference, OfTwoExactValuesIsExact) {
  const Difference difference =
      independent_difference(make_interval(1.0, 0.0, 3.0, 0.95), make_interval(2.0, 0.0, 3.0, 0.95));
  EXPECT_EQ(difference.absolute.half_width, 0.0);
  EXPECT_TRUE(difference.significant());
}

TEST(Interval, BecomesARowOfTheResult) {
  const std::array<SumCount, 3> groups{{{4, 1}, {10, 2}, {16, 3}}};
  const Metric metric = to_metric("mu_syn", "cycles", ratio_interval(groups));
  EXPECT_EQ(metric.name, "mu_syn");
  EXPECT_EQ(metric.unit, "cycles");
  EXPECT_EQ(metric.count, 6U);
  EXPECT_TRUE(metric.half_width);
  EXPECT_FALSE(metric.counter);
}

}  // namespace
}  // namespace banyan::stats::interval_test
