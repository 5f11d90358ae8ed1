// Question: do metrics of a switch model's own keep what was added, per window and over shards?
#include "banyan/engine/own_metrics.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace banyan::own_metrics_test {
namespace {

using engine::OwnMetrics;
using Kind = OwnMetrics::Kind;

TEST(OwnMetrics, sums_by_window_and_ignores_what_comes_after_the_plan) {
  OwnMetrics own({4, 64, 0});
  const u32 mean = own.declare("m", "cycles", Kind::mean);
  own.add(mean, 0, 5);
  own.add(mean, 15, 7);
  own.add(mean, 16, 11, 3);
  own.add(mean, 64, 1000);
  const auto& windows = own.entries()[mean].windows;
  ASSERT_EQ(windows.size(), 4U);
  EXPECT_EQ(windows[0], (stats::SumCount{12, 2}));
  EXPECT_EQ(windows[1], (stats::SumCount{11, 3}));
  EXPECT_EQ(windows[3], (stats::SumCount{0, 0}));
}

TEST(OwnMetrics, a_longer_plan_joins_windows) {
  OwnMetrics own({2, 12, 0});
  const u32 level = own.declare("l", "", Kind::level);
  for (Tick t = 0; t < 12; ++t) own.add(level, t, t);
  own.extend({3, 32, 0});
  const auto& windows = own.entries()[level].windows;
  ASSERT_EQ(windows.size(), 4U);
  EXPECT_EQ(windows[0], (stats::SumCount{28, 8}));
  EXPECT_EQ(windows[1], (stats::SumCount{38, 4}));
  own.add(level, 31, 9);
  EXPECT_EQ(own.entries()[level].windows[3], (stats::SumCount{9, 1}));
}

TEST(OwnMetrics, a_session_is_one_window) {
  OwnMetrics own;
  const u32 mean = own.declare("m", "cycles", Kind::mean);
  own.add(mean, 1'000'000, 3);
  own.add(mean, 2, 4);
  ASSERT_EQ(own.entries()[mean].windows.size(), 1U);
  EXPECT_EQ(own.entries()[mean].windows[0], (stats::SumCount{7, 2}));
}

TEST(OwnMetrics, shards_are_merged_by_name) {
  OwnMetrics a({4, 32, 0});
  OwnMetrics b({4, 32, 0});
  for (OwnMetrics* own : {&a, &b}) {
    own->declare("mean", "cycles", Kind::mean);
    own->declare("total", "", Kind::total);
    own->declare("most", "", Kind::most);
  }
  a.add(0, 3, 10);
  b.add(0, 3, 20);
  b.add(0, 20, 1);
  a.count(1, 2);
  b.count(1);
  a.raise(2, 7);
  b.raise(2, 5);
  OwnMetrics sum;
  sum.merge(a);
  sum.merge(b);
  EXPECT_EQ(sum.entries()[0].windows[0], (stats::SumCount{30, 2}));
  EXPECT_EQ(sum.entries()[0].windows[1], (stats::SumCount{1, 1}));
  EXPECT_EQ(sum.entries()[1].value, 3U);
  EXPECT_EQ(sum.entries()[2].value, 7U);
  Hasher before;
  a.hash(before);
  a.count(1);
  Hasher after;
  a.hash(after);
  EXPECT_NE(before.value(), after.value());
  a.clear();
  EXPECT_EQ(a.entries()[1].value, 0U);
  EXPECT_EQ(a.entries()[0].windows[0], (stats::SumCount{0, 0}));
}

TEST(OwnMetrics, names_that_are_found_late_come_last_in_one_order) {
  const auto shard = [](const std::vector<std::string>& names) {
    OwnMetrics own;
    own.declare("total", "", Kind::total);
    for (const std::string& name : names) own.show(name, "", name.size());
    return own;
  };
  OwnMetrics flows;
  flows.declare("of flows", "", Kind::total);
  const auto told = [](const std::vector<OwnMetrics>& all) {
    OwnMetrics sum;
    for (const OwnMetrics& own : all) sum.merge(own);
    std::string text;
    for (const OwnMetrics::Entry& e : sum.entries()) text += e.name + "=" + std::to_string(e.value) + " ";
    return text;
  };
  const std::string whole = told({shard({"a", "bb", "ccc"}), flows});
  EXPECT_EQ(whole, "total=0 of flows=0 a=1 bb=2 ccc=3 ");
  EXPECT_EQ(told({shard({"bb"}), flows, shard({"a", "ccc"}), flows}), whole);
  EXPECT_EQ(told({shard({"ccc"}), flows, shard({"a"}), flows, shard({"bb"}), flows}), whole);
}

}  // namespace
}  // namespace banyan::own_metrics_test
