// Does a series of any length keep its sums, within its memory, the same in any order?
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "stats/window_series.hpp"

namespace banyan::stats::time_series_test {
namespace {

using Events = std::vector<std::pair<u32, u16>>;  // (time after the start, value)

constexpr Tick kStart = 100;

TimeSeries series_of(const Events& events, Tick window = 3, u32 capacity = 8) {
  TimeSeries series(kStart, window, capacity);
  for (const auto& [time, value] : events) series.add(kStart + time, value);
  return series;
}

TEST(TimeSeries, PutsValuesIntoTheirWindows) {
  const TimeSeries series = series_of({{0, 5}, {2, 1}, {3, 7}, {8, 2}});
  ASSERT_EQ(series.windows().size(), 3U);
  EXPECT_EQ(series.windows()[0], (SumCount{6, 2}));
  EXPECT_EQ(series.windows()[1], (SumCount{7, 1}));
  EXPECT_EQ(series.windows()[2], (SumCount{2, 1}));
}

TEST(TimeSeries, DoublesItsWindowsWhenTheyAreFull) {
  TimeSeries series(0, 1, 4);
  for (Tick time = 0; time < 5; ++time) series.add(time, 1);
  EXPECT_EQ(series.window_length(), 2U);
  ASSERT_EQ(series.windows().size(), 3U);
  EXPECT_EQ(series.windows()[0].count, 2U);
  EXPECT_EQ(series.windows()[2].count, 1U);
}

TEST(TimeSeries, KeepsAtLeastHalfAndAtMostAllOfItsCapacity) {
  TimeSeries series(0, 1, 64);
  for (Tick time = 0; time < 100'000; ++time) {
    series.add(time, 1);
    ASSERT_LE(series.windows().size(), 64U);
    ASSERT_GE(series.windows().size(), std::min<u64>(time + 1, 32));
  }
  EXPECT_EQ(series.total(), (SumCount{100'000, 100'000}));
}

TEST(TimeSeries, DoesNotDependOnTheOrderOfValues) {
  rc::check([](Events events) {
    const TimeSeries first = series_of(events);
    std::reverse(events.begin(), events.end());
    RC_ASSERT(first == series_of(events));
  });
}

TEST(TimeSeries, KeepsTheTotal) {
  rc::check([](const Events& events) {
    SumCount total;
    for (const auto& event : events) total.add(event.second);
    RC_ASSERT(series_of(events).total() == total);
  });
}

TEST(TimeSeries, MergingEqualsAddingOneByOne) {
  rc::check([](const Events& a, const Events& b, const Events& c) {
    Events all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    TimeSeries left = series_of(a);
    left.merge(series_of(b));
    left.merge(series_of(c));
    TimeSeries right = series_of(c);
    right.merge(series_of(b));
    TimeSeries nested = series_of(a);
    nested.merge(right);
    RC_ASSERT(left == series_of(all));
    RC_ASSERT(nested == series_of(all));
  });
}

TEST(TimeSeries, AddingAfterAMergeGoesOnAsBefore) {
  rc::check([](const Events& a, const Events& b, const Events& c) {
    Events all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    TimeSeries series = series_of(a);
    series.merge(series_of(b));
    for (const auto& [time, value] : c) series.add(kStart + time, value);
    RC_ASSERT(series == series_of(all));
  });
}

TEST(TimeSeries, LeavesOutThePartialWindowOnRequest) {
  const TimeSeries series = series_of({{0, 1}, {3, 1}, {6, 1}});
  EXPECT_EQ(series.complete_windows(kStart + 8).size(), 2U);
  EXPECT_EQ(series.complete_windows(kStart + 9).size(), 3U);
  EXPECT_EQ(series.complete_windows(kStart + 1000).size(), 3U);
  EXPECT_EQ(series.complete_windows(0).size(), 0U);
}

TEST(TimeSeries, ExtendsOverSilence) {
  TimeSeries series = series_of({{0, 1}});
  series.extend_to(kStart + 12);
  ASSERT_EQ(series.windows().size(), 4U);
  EXPECT_EQ(series.windows()[3].count, 0U);
  series.extend_to(kStart);
  EXPECT_EQ(series.windows().size(), 4U);
}

TEST(TimeSeries, RefusesToMergeAnotherLayout) {
  TimeSeries series(0, 3, 8);
  EXPECT_THROW(series.merge(TimeSeries(1, 3, 8)), InvariantError);
  EXPECT_THROW(series.merge(TimeSeries(0, 3, 16)), InvariantError);
  EXPECT_THROW(series.merge(TimeSeries(0, 4, 8)), InvariantError);
  EXPECT_THROW(TimeSeries(0, 0, 8), InvariantError);
  EXPECT_THROW(TimeSeries(0, 1, 7), InvariantError);
}

TEST(TimeSeries, HashFollowsTheWindows) {
  const auto hash_of = [](const TimeSeries& series) {
    Hasher hasher;
    series.hash_into(hasher);
    return hasher.value();
  };
  EXPECT_EQ(hash_of(series_of({{0, 1}, {5, 2}})), hash_of(series_of({{5, 2}, {0, 1}})));
  EXPECT_NE(hash_of(series_of({{0, 1}, {5, 2}})), hash_of(series_of({{0, 2}, {5, 1}})));
}

TEST(TimeSeries, GivesMeansAndRates) {
  const TimeSeries series = series_of({{0, 4}, {1, 2}, {7, 9}});
  EXPECT_EQ(window_means(series.windows()), (std::vector<double>{3.0, 0.0, 9.0}));
  EXPECT_EQ(window_rates(series.windows(), 3.0), (std::vector<double>{2.0, 0.0, 3.0}));
}

}  // namespace
}  // namespace banyan::stats::time_series_test
