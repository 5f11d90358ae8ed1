// Do generalized fat trees have the numbers of their definition?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "topology/trees.hpp"

namespace banyan::test::xgft_test {
namespace {

std::unique_ptr<core::Topology> xgft(std::vector<i64> children, std::vector<i64> parents) {
  return topology("xgft", {{"children", std::move(children)}, {"parents", std::move(parents)}});
}

TEST(Xgft, EqualNumbersMakeAKAryNTree) {
  const auto general = xgft({4, 4, 4}, {1, 4, 4});
  const auto special = topology("fat_tree");
  ASSERT_EQ(general->graph().channels().size(), special->graph().channels().size());
  for (u32 c = 0; c < general->graph().channels().size(); ++c) {
    EXPECT_EQ(general->graph().channel(c).from, special->graph().channel(c).from);
    EXPECT_EQ(general->graph().channel(c).to, special->graph().channel(c).to);
  }
}

RC_GTEST_PROP(Xgft, LevelsHaveTheirSizesAndDigits, ()) {
  const std::size_t height = *rc::gen::inRange<std::size_t>(1, 4);
  std::vector<i64> m;
  std::vector<i64> w{1};
  for (std::size_t i = 0; i < height; ++i) m.push_back(*rc::gen::inRange<i64>(i == 0 ? 2 : 1, 5));
  for (std::size_t i = 1; i < height; ++i) w.push_back(*rc::gen::inRange<i64>(1, 4));
  const auto t = xgft(m, w);
  i64 terminals = 1;
  for (const i64 x : m) terminals *= x;
  RC_ASSERT(t->graph().terminals() == terminals);
  i64 below = 1;
  i64 alike = 1;
  for (std::size_t i = 0; i < height; ++i) {
    below *= m[i];
    alike *= w[i];
    RC_ASSERT(t->tree()->levels[i].count == terminals / below * alike);
  }
  expect_tree(*t);
  expect_bidirectional(t->graph());
  RC_ASSERT(!testing::Test::HasFailure());
}

TEST(Xgft, RefusesNumbersThatDoNotFit) {
  EXPECT_NE(refusal([] { xgft({4, 4}, {1}); }).find("1 numbers of parents for 2 levels"), std::string::npos);
  EXPECT_NE(refusal([] { xgft({4, 4}, {2, 2}); }).find("begin parents with 1"), std::string::npos);
  EXPECT_NE(refusal([] { xgft({1, 1}, {1, 1}); }).find("one terminal"), std::string::npos);
  EXPECT_NE(refusal([] { xgft({60000, 60000}, {1, 1}); }).find("more than"), std::string::npos);
}

TEST(Xgft, RefusesMoreChannelsThanHaveNumbers) {
  EXPECT_NE(refusal([] { xgft({1, 65535}, {1, 65535}); }).find("8589803520 channels"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::xgft_test
