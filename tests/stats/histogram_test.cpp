// Are percentiles within their error bound, for every value and in any order of merging?
#include "banyan/stats/histogram.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace banyan::stats::histogram_test {
namespace {

constexpr u64 kGreatest = std::numeric_limits<u64>::max();

/// Values of every magnitude alike: RapidCheck's own are mostly small.
std::vector<u64> values_of_all_sizes() {
  const auto value = rc::gen::map(rc::gen::pair(rc::gen::arbitrary<u64>(), rc::gen::inRange<u32>(0, 64)),
                                  [](const std::pair<u64, u32>& draw) { return mix64(draw.first) >> draw.second; });
  return *rc::gen::container<std::vector<u64>>(value);
}

Histogram histogram_of(const std::vector<u64>& values, u32 bits = Histogram::kDefaultBits, u64 maximum = kGreatest) {
  Histogram histogram(bits, maximum);
  for (const u64 value : values) histogram.add(value);
  return histogram;
}

u64 hash_of(const Histogram& histogram) {
  Hasher hasher;
  histogram.hash_into(hasher);
  return hasher.value();
}

/// The value at rank ceil(per_mille n / 1000), by sorting.
u64 exact_quantile(std::vector<u64> values, u64 per_mille) {
  std::sort(values.begin(), values.end());
  const u64 rank = std::max<u64>(1, (per_mille * values.size() + 999) / 1000);
  return values[rank - 1];
}

TEST(Histogram, OfNothingHasNoQuantile) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.quantile(0.5).value, 0.0);
}

TEST(Histogram, SmallValuesAreExact) {
  Histogram histogram;
  for (u64 value = 1; value <= 200; ++value) histogram.add(value);
  EXPECT_EQ(histogram.quantile(0.0).value, 1.0);
  EXPECT_EQ(histogram.quantile(0.5).value, 100.0);
  EXPECT_EQ(histogram.quantile(0.95).value, 190.0);
  EXPECT_EQ(histogram.quantile(1.0).value, 200.0);
  EXPECT_EQ(histogram.quantile(0.5).error_bound(), 0.0);
}

TEST(Histogram, RanksOfDecimalProbabilitiesAreNotRoundedUp) {
  Histogram histogram;
  for (u64 value = 1; value <= 100; ++value) histogram.add(value);
  // 0.07 x 100 is 7.000000000000001 in binary floating point; its rank is 7 all the same.
  EXPECT_EQ(histogram.quantile(0.07).value, 7.0);
  EXPECT_EQ(histogram.quantile(0.071).value, 8.0);
}

TEST(Histogram, QuantileErrorStaysWithinItsBound) {
  rc::check([] {
    const std::vector<u64> values = values_of_all_sizes();
    RC_PRE(!values.empty());
    const u32 bits = *rc::gen::inRange<u32>(1, 13);
    const u64 per_mille = *rc::gen::inRange<u64>(0, 1001);
    const Histogram histogram = histogram_of(values, bits);
    const Quantile quantile = histogram.quantile(static_cast<double>(per_mille) / 1000.0);
    const u64 exact = exact_quantile(values, per_mille);
    RC_ASSERT(quantile.low <= exact);
    RC_ASSERT(exact <= quantile.high);
    const double error = std::abs(quantile.value - static_cast<double>(exact));
    const double rounding = 1e-15 * static_cast<double>(exact);  // of the reported double itself
    RC_ASSERT(error <= quantile.error_bound() + rounding);
    RC_ASSERT(error <= histogram.relative_error() * static_cast<double>(exact) + rounding);
  });
}

TEST(Histogram, DefaultErrorIsBelowOnePerCent) { EXPECT_LT(Histogram().relative_error(), 0.01); }

TEST(Histogram, EveryValueFallsIntoItsBucket) {
  rc::check([] {
    const u32 bits = *rc::gen::inRange<u32>(1, 17);
    for (const u64 value : values_of_all_sizes()) {
      Histogram histogram(bits);
      histogram.add(value);
      histogram.for_each_bucket([&](u64 low, u64 high, u64 count) {
        RC_ASSERT(low <= value);
        RC_ASSERT(value <= high);
        RC_ASSERT(count == 1U);
        RC_ASSERT(high - low <= (low >> bits));
      });
    }
  });
}

TEST(Histogram, BucketsTouchWithoutOverlap) {
  Histogram histogram(3);
  for (u64 value = 0; value < 5000; ++value) histogram.add(value);
  u64 next = 0;
  histogram.for_each_bucket([&](u64 low, u64 high, u64 count) {
    EXPECT_EQ(low, next);
    EXPECT_EQ(count, std::min<u64>(high, 4999) - low + 1);
    next = high + 1;
  });
}

TEST(Histogram, ExtremeValuesAreKept) {
  const Histogram histogram = histogram_of({0, kGreatest});
  EXPECT_EQ(histogram.quantile(0.5).value, 0.0);
  EXPECT_EQ(histogram.quantile(1.0).high, kGreatest);
}

TEST(Histogram, TheLeastAndTheGreatestAreExactWithinTheirBuckets) {
  const Histogram histogram = histogram_of({1'000'001, 1'000'002, 1'000'003});
  EXPECT_EQ(histogram.quantile(0.0).value, 1'000'001.0);
  EXPECT_EQ(histogram.quantile(1.0).value, 1'000'003.0);
}

TEST(Histogram, ValuesAboveTheMaximumAreCountedApart) {
  const Histogram histogram = histogram_of({10, 1000, 1001, 5000}, 7, 1000);
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.quantile(0.5).high, 1000U);
  EXPECT_EQ(histogram.quantile(0.75).low, 1001U);
  EXPECT_EQ(histogram.quantile(0.75).high, 5000U);
  EXPECT_TRUE(histogram.moments().sum() == 7011U);
}

TEST(Histogram, MergeIsCommutativeAndAssociativeInBits) {
  rc::check([] {
    const std::vector<u64> a = values_of_all_sizes();
    const std::vector<u64> b = values_of_all_sizes();
    const std::vector<u64> c = values_of_all_sizes();
    Histogram ab = histogram_of(a);
    ab.merge(histogram_of(b));
    Histogram ba = histogram_of(b);
    ba.merge(histogram_of(a));
    RC_ASSERT(ab == ba);
    RC_ASSERT(hash_of(ab) == hash_of(ba));
    Histogram bc = histogram_of(b);
    bc.merge(histogram_of(c));
    Histogram a_bc = histogram_of(a);
    a_bc.merge(bc);
    ab.merge(histogram_of(c));
    RC_ASSERT(ab == a_bc);
  });
}

TEST(Histogram, HashTellsDifferentValuesApart) {
  EXPECT_NE(hash_of(histogram_of({1, 4})), hash_of(histogram_of({2, 3})));
  EXPECT_NE(hash_of(histogram_of({})), hash_of(histogram_of({0})));
}

TEST(Histogram, RefusesToMergeAnotherLayout) {
  Histogram histogram(7);
  EXPECT_THROW(histogram.merge(Histogram(8)), InvariantError);
  EXPECT_THROW(histogram.merge(Histogram(7, 100)), InvariantError);
  EXPECT_THROW(Histogram(0), InvariantError);
}

}  // namespace
}  // namespace banyan::stats::histogram_test
