// Does the history of trees say what happened between samples? One scenario per event.
#include "banyan/engine/tree_tracker.hpp"

#include <gtest/gtest.h>

namespace banyan::engine::tree_tracker_test {
namespace {

using stats::CongestionPlace;
using stats::CongestionTree;

/// Place p is the output buffer of channel p.
std::vector<CongestionPlace> outputs(u32 count) {
  std::vector<CongestionPlace> places;
  for (u32 p = 0; p < count; ++p) places.push_back({1, p, 0, 4});
  return places;
}

CongestionTree tree(u32 root, const std::vector<u32>& members, u32 depth = 1) {
  CongestionTree t;
  t.root = root;
  t.depth = depth;
  for (const u32 m : members) t.members.push_back({m, 0, 0});
  return t;
}

class History : public testing::Test {
 protected:
  void sample(std::vector<CongestionTree> trees) {
    now_ += 10;
    tracker_.follow(now_, trees, places_);
    trees_ = std::move(trees);
  }
  [[nodiscard]] std::vector<std::string> words() const {
    std::vector<std::string> list;
    for (const auto& e : tracker_.events()) {
      list.push_back(std::to_string(e.at) + " " + std::to_string(e.tree) + " " +
                     stats::kCongestionEventNames[static_cast<std::size_t>(e.kind)] +
                     (e.other == e.tree ? "" : " " + std::to_string(e.other)));
    }
    return list;
  }

  TreeTracker tracker_;
  std::vector<CongestionPlace> places_ = outputs(32);
  std::vector<CongestionTree> trees_;
  u64 now_ = 0;
};

using Words = std::vector<std::string>;

TEST_F(History, ATreeIsBornGrowsAndDies) {
  sample({tree(0, {0, 1}, 1)});
  sample({tree(0, {0, 1, 2}, 1)});  // not worth a word
  sample({tree(0, {0, 1, 2, 3}, 1)});
  sample({tree(0, {0, 1, 2, 3, 4}, 2)});
  sample({});
  sample({});
  EXPECT_EQ(words(), (Words{"10 1 born", "30 1 grown", "40 1 grown", "50 1 died"}));
}

TEST_F(History, MissingOnceIsNotDead) {
  sample({tree(0, {0, 1})});
  sample({});
  sample({tree(0, {0, 1})});
  EXPECT_EQ(words(), (Words{"10 1 born"}));
  EXPECT_EQ(trees_[0].id, 1U);
}

TEST_F(History, TheRootMovesDownstreamWhenItBecomesABranch) {
  sample({tree(5, {5, 6, 7})});
  sample({tree(2, {2, 5, 6, 7, 8})});  // the buffer of channel 5 waits for channel 2 now
  EXPECT_EQ(words(), (Words{"10 1 born", "20 1 root moved downstream"}));
  EXPECT_EQ(tracker_.events().back().old_root, 5U);
  EXPECT_EQ(tracker_.events().back().root, 2U);
}

TEST_F(History, TheRootMovesUpstreamWhenABranchIsLeft) {
  sample({tree(2, {2, 5, 6, 7, 8})});
  sample({tree(5, {5, 6, 7, 8})});
  EXPECT_EQ(words(), (Words{"10 1 born", "20 1 root moved upstream"}));
}

TEST_F(History, TreesMerge) {
  sample({tree(5, {5, 6, 7}), tree(9, {9, 10})});
  sample({tree(2, {2, 5, 6, 7, 9, 10})});
  EXPECT_EQ(words(), (Words{"10 1 born", "10 2 born", "20 1 root moved downstream", "20 2 merged 1", "20 1 grown"}));
}

TEST_F(History, ATreeSplits) {
  sample({tree(2, {2, 5, 6, 7, 9, 10, 11})});
  sample({tree(2, {2, 5, 6, 7}), tree(9, {9, 10, 11})});
  EXPECT_EQ(words(), (Words{"10 1 born", "20 2 split 1"}));
}

TEST_F(History, TheRootMovesToATreeThatBeganBeforeTheOldOneEnded) {
  sample({tree(5, {5, 6, 7})});
  sample({tree(5, {5, 6, 7}), tree(2, {2})});
  sample({tree(2, {2, 5, 6, 7})});
  EXPECT_EQ(words(), (Words{"10 1 born", "20 2 born", "30 2 root moved downstream 1", "30 2 grown"}));
}

TEST_F(History, TheRootMovesToThePartThatSplitWhenTheRestIsGone) {
  sample({tree(2, {2, 5, 6, 7, 8})});
  sample({tree(2, {2}), tree(5, {5, 6, 7, 8})});
  sample({tree(5, {5, 6, 7, 8})});
  sample({tree(5, {5, 6, 7, 8})});
  EXPECT_EQ(words(), (Words{"10 1 born", "20 2 split 1", "30 2 root moved upstream 1"}));
}

TEST_F(History, TreesOverlapAndStaySeparate) {
  sample({tree(2, {2, 5, 6})});
  sample({tree(2, {2, 5, 6}), tree(9, {9, 6, 12})});  // the queue at channel 6 waits for both
  sample({tree(2, {2, 5, 6}), tree(9, {9, 6, 12})});  // told once
  EXPECT_EQ(words(), (Words{"10 1 born", "20 2 born", "20 1 overlapping but separate 2"}));
}

TEST_F(History, TreesThatShareNoMemoryDoNotOverlap) {
  sample({tree(2, {2, 5, 6}), tree(9, {9, 12})});
  EXPECT_EQ(words(), (Words{"10 1 born", "10 2 born"}));
}

TEST_F(History, QueuesOfOnePortsMemoryOverlap) {
  places_.push_back({1, 6, 3, 4});  // place 32: another queue before channel 6
  sample({tree(2, {2, 5, 6}), tree(9, {9, 32})});
  EXPECT_EQ(words().back(), "10 1 overlapping but separate 2");
}

}  // namespace
}  // namespace banyan::engine::tree_tracker_test
