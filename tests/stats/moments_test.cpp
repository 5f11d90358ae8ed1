// Do the integer statistics hold exactly what was added, in any order?
#include "banyan/stats/moments.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

#include "banyan/stats/counter.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats::moments_test {
namespace {

Moments moments_of(const std::vector<u64>& values) {
  Moments moments;
  for (const u64 value : values) moments.add(value);
  return moments;
}

u64 hash_of(const Moments& moments) {
  Hasher hasher;
  moments.hash_into(hasher);
  return hasher.value();
}

TEST(Moments, OfNothingAreZero) {
  const Moments moments;
  EXPECT_EQ(moments.count(), 0U);
  EXPECT_EQ(moments.minimum(), 0U);
  EXPECT_EQ(moments.maximum(), 0U);
  EXPECT_EQ(moments.mean(), 0.0);
  EXPECT_EQ(moments.variance(), 0.0);
}

TEST(Moments, MatchAHandComputedCase) {
  const Moments moments = moments_of({2, 4, 4, 4, 5, 5, 7, 9});
  EXPECT_EQ(moments.mean(), 5.0);
  EXPECT_DOUBLE_EQ(moments.variance(), 32.0 / 7.0);
  EXPECT_EQ(moments.minimum(), 2U);
  EXPECT_EQ(moments.maximum(), 9U);
}

TEST(Moments, VarianceKeepsItsDigitsFarFromZero) {
  const u64 far = u64{1} << 60U;
  EXPECT_DOUBLE_EQ(moments_of({far + 1, far + 2, far + 3, far + 4}).variance(), 5.0 / 3.0);
}

TEST(Moments, AreExactForTheGreatestValues) {
  const u64 greatest = std::numeric_limits<u64>::max();
  const Moments moments = moments_of({greatest});
  EXPECT_TRUE(moments.sum_of_squares() == static_cast<u128>(greatest) * greatest);
  EXPECT_EQ(moments_of({greatest / 2, greatest / 2}).variance(), 0.0);
}

TEST(Moments, VarianceAgreesWithTheTwoPassFormula) {
  rc::check([](const std::vector<u32>& small) {
    RC_PRE(small.size() >= 2U);
    const std::vector<u64> values(small.begin(), small.end());
    const Moments moments = moments_of(values);
    double squares = 0.0;
    for (const u64 value : values) squares += std::pow(static_cast<double>(value) - moments.mean(), 2);
    const double expected = squares / (static_cast<double>(values.size()) - 1.0);
    RC_ASSERT(std::abs(moments.variance() - expected) <= 1e-9 * expected);
  });
}

TEST(Moments, MergeIsCommutativeAndAssociativeInBits) {
  rc::check([](const std::vector<u64>& a, const std::vector<u64>& b, const std::vector<u64>& c) {
    Moments ab = moments_of(a);
    ab.merge(moments_of(b));
    Moments ba = moments_of(b);
    ba.merge(moments_of(a));
    RC_ASSERT(ab == ba);
    RC_ASSERT(hash_of(ab) == hash_of(ba));
    Moments ab_c = ab;
    ab_c.merge(moments_of(c));
    Moments bc = moments_of(b);
    bc.merge(moments_of(c));
    Moments a_bc = moments_of(a);
    a_bc.merge(bc);
    RC_ASSERT(ab_c == a_bc);
    std::vector<u64> all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    RC_ASSERT(ab_c == moments_of(all));
  });
}

TEST(Moments, HashTellsDifferentValuesApart) {
  EXPECT_NE(hash_of(moments_of({1, 2})), hash_of(moments_of({1, 3})));
  EXPECT_NE(hash_of(moments_of({})), hash_of(moments_of({0})));
}

TEST(Counter, PerShardMergesAllShardsOnLinesOfTheirOwn) {
  PerShard<Counter> counters(3);
  counters[0].add();
  counters[1].add(10);
  counters[2].add(100);
  EXPECT_EQ(counters.merged().value, 111U);
  const auto distance = reinterpret_cast<const char*>(&counters[1]) - reinterpret_cast<const char*>(&counters[0]);
  EXPECT_GE(distance, 64);
}

TEST(SumCount, MeanOfNothingIsZero) {
  SumCount both{7, 2};
  EXPECT_EQ(both.mean(), 3.5);
  EXPECT_EQ(SumCount{}.mean(), 0.0);
  both.merge({3, 3});
  EXPECT_EQ(both, (SumCount{10, 5}));
}

}  // namespace
}  // namespace banyan::stats::moments_test
