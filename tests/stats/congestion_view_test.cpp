// Is a mechanism's view of the trees judged by the trees?
#include "banyan/stats/congestion_view.hpp"

#include <gtest/gtest.h>

namespace banyan::stats::congestion_view_test {
namespace {

CongestionSample sample(u64 at, const std::vector<std::pair<u32, u32>>& trees, const std::vector<u32>& queues) {
  CongestionSample s;
  s.at = at;
  for (const auto& [id, root] : trees) {
    CongestionTree tree;
    tree.id = id;
    tree.root = root;
    s.trees.push_back(tree);
  }
  for (const u32 root : queues) s.queues.push_back({0, root, 1});
  return s;
}

TEST(CongestionView, CountsDetectedMissedFalseRootsAndDelay) {
  CongestionRecord record;
  record.samples = {
      sample(10, {{1, 7}}, {}),
      sample(20, {{1, 7}, {2, 9}}, {}),
      sample(30, {{1, 7}, {2, 9}}, {7, 4}),  // tree 1 is detected 20 cycles late; 4 is no root
      sample(40, {{1, 7}, {3, 5}}, {7, 7}),  // tree 3 lives for one sample only
      sample(50, {}, {7}),                   // serves nothing any more
  };
  const CongestionView view = compare_views(record);
  EXPECT_EQ(view.most_queues, 2U);
  EXPECT_EQ(view.trees, 2U);
  EXPECT_EQ(view.detected, 1U);
  EXPECT_EQ(view.missed, 1U);
  EXPECT_EQ(view.delay, 20U);
  EXPECT_EQ(view.roots, 2U);
  EXPECT_EQ(view.false_roots, 1U);
  EXPECT_EQ(view.queue_samples, 5U);
  EXPECT_EQ(view.useless_samples, 2U);
}

TEST(CongestionView, ATreeWhoseRootMovedIsDetectedByEitherRoot) {
  CongestionRecord record;
  record.samples = {sample(10, {{1, 7}}, {}), sample(20, {{1, 8}}, {8}), sample(30, {{1, 8}}, {7})};
  const CongestionView view = compare_views(record);
  EXPECT_EQ(view.detected, 1U);
  EXPECT_EQ(view.delay, 10U);
  EXPECT_EQ(view.useless_samples, 1U);
  EXPECT_EQ(view.false_roots, 1U);  // 7 was the root two samples before
}

}  // namespace
}  // namespace banyan::stats::congestion_view_test
