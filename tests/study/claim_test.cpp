// Do comparisons respect the intervals, and do claims say where they hold?
#include "banyan/study/claim.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "study/fake_study.hpp"

namespace banyan::study::claim_test {
namespace {

Estimate about(double mean, double half_width) { return {mean, half_width, 5, true}; }

TEST(Compare, LessNeedsMoreThanTheInterval) {
  EXPECT_EQ(less(about(10, 1), about(20, 1)), Decision::holds);
  EXPECT_EQ(less(about(20, 1), about(10, 1)), Decision::fails);
  EXPECT_EQ(less(about(10, 3), about(13, 3)), Decision::undecided);
  EXPECT_EQ(less(about(10, 0), about(10, 0)), Decision::undecided);
  EXPECT_EQ(greater(about(20, 1), about(10, 1)), Decision::holds);
}

TEST(Compare, AMarginAsksForMore) {
  EXPECT_EQ(less(about(10, 1), about(15, 1), 0.5), Decision::fails);
  EXPECT_EQ(less(about(10, 1), about(30, 1), 0.5), Decision::holds);
  EXPECT_EQ(less(about(10, 1), about(20, 1), 0.5), Decision::undecided);
}

TEST(Compare, WhatIsNotKnownDecidesNothing) {
  const Estimate unknown{1.0, 0.0, 0, false};
  EXPECT_EQ(less(unknown, about(10, 1)), Decision::undecided);
  EXPECT_EQ(equal_within(about(1, 0), unknown, 0.1), Decision::undecided);
  EXPECT_EQ(small_beside(unknown, about(1, 0), 0.1), Decision::undecided);
}

TEST(Compare, EqualWithinFailsOnlyBeyondTheInterval) {
  EXPECT_EQ(equal_within(about(100, 1), about(103, 1), 0.05), Decision::holds);
  EXPECT_EQ(equal_within(about(100, 10), about(108, 10), 0.05), Decision::undecided);
  EXPECT_EQ(equal_within(about(100, 1), about(120, 1), 0.05), Decision::fails);
}

TEST(Compare, TrendsLookAtEveryStep) {
  EXPECT_EQ(falls({about(30, 1), about(20, 1), about(10, 1)}), Decision::holds);
  EXPECT_EQ(falls({about(30, 1), about(31, 1), about(10, 1)}), Decision::holds) << "a rise within the interval";
  EXPECT_EQ(falls({about(30, 1), about(40, 1), about(10, 1)}), Decision::fails) << "a significant rise on the way";
  EXPECT_EQ(falls({about(30, 5), about(28, 5)}), Decision::undecided);
  EXPECT_EQ(falls({about(30, 1)}), Decision::undecided);
  EXPECT_EQ(rises({about(10, 1), about(20, 1)}), Decision::holds);
  EXPECT_EQ(rises({about(20, 1), about(10, 1)}), Decision::fails);
}

TEST(Compare, LevelAndSmallChanges) {
  EXPECT_EQ(level({about(100, 1), about(104, 1), about(98, 1)}, 0.1), Decision::holds);
  EXPECT_EQ(level({about(100, 1), about(150, 1)}, 0.1), Decision::fails);
  EXPECT_EQ(small_beside(about(-1, 1), about(100, 3), 0.1), Decision::holds);
  EXPECT_EQ(small_beside(about(50, 1), about(100, 3), 0.1), Decision::fails);
  EXPECT_EQ(small_beside(about(12, 4), about(-100, 3), 0.1), Decision::undecided);
}

TEST(Compare, EstimatesCombineInQuadrature) {
  const Estimate sum = about(3, 3) + about(4, 4);
  EXPECT_DOUBLE_EQ(sum.mean, 7);
  EXPECT_DOUBLE_EQ(sum.half_width, 5);
  const Estimate ratio = about(30, 3) / about(10, 0);
  EXPECT_DOUBLE_EQ(ratio.mean, 3);
  EXPECT_DOUBLE_EQ(ratio.half_width, 0.3);
  EXPECT_FALSE((about(1, 0) / about(0, 0)).known);
}

TEST(Compare, NumbersKeepTheDigitsThatTheirIntervalLeaves) {
  EXPECT_EQ(to_string(about(117.43, 1.92)), "117.4 ± 1.9");
  EXPECT_EQ(to_string(about(41189.2, 776.1)), "41189 ± 776");
  EXPECT_EQ(to_string(Estimate::exactly(0.5)), "0.5000");
  EXPECT_EQ(to_string(Estimate{1, 1, 0, false}), "not measured");
}

TEST(Numbers, AreReproducedWithinTheToleranceAndPartlyWithinThreeTimesOfIt) {
  EXPECT_EQ(compare_number(100, about(104, 1), 0.05, "cycles").verdict, ClaimVerdict::reproduced);
  EXPECT_EQ(compare_number(100, about(88, 1), 0.05, "cycles").verdict, ClaimVerdict::partly);
  EXPECT_EQ(compare_number(100, about(50, 1), 0.05, "cycles").verdict, ClaimVerdict::not_reproduced);
  EXPECT_EQ(compare_number(100, about(104, 1), 0.05, "cycles").measured, "104.0 ± 1.0 cycles (paper: 100, +4.0 %)");
}

TEST(Tallies, ListTheirExceptions) {
  Tally tally;
  for (const char* gamma : {"0.1", "0.2", "0.5", "0.8"}) tally.add({{"σ", "10"}, {"γ", gamma}}, Decision::holds);
  tally.add({{"σ", "100"}, {"γ", "0.1"}}, Decision::fails);
  tally.add({{"σ", "100"}, {"γ", "0.2"}}, Decision::fails);
  tally.add({{"σ", "100"}, {"γ", "0.5"}}, Decision::undecided);
  EXPECT_EQ(tally.summary(), "holds at 4 of 7 points, fails at 2, undecided at 1");
  EXPECT_EQ(tally.exceptions(), "fails at σ = 100, γ = 0.1, 0.2; within the intervals at σ = 100, γ = 0.5");
  EXPECT_EQ(tally.verdict(), ClaimVerdict::partly);
  tally.add({{"", "a word"}, {"γ", "0.5"}}, Decision::fails);
  EXPECT_NE(tally.exceptions().find("; a word, γ = 0.5; "), std::string::npos);
  EXPECT_EQ(tally.outcome().undecided, 1U);
  tally = Tally();
  for (int i = 0; i < 7; ++i) tally.add({{"γ", "1"}}, i < 4 ? Decision::holds : Decision::fails);
  EXPECT_EQ(tally.outcome("detail").measured, "detail; holds at 4 of 7 points, fails at 3");
}

Tally tally_of(int holds, int undecided, int fails) {
  Tally tally;
  for (int i = 0; i < holds; ++i) tally.add({{"x", "1"}}, Decision::holds);
  for (int i = 0; i < undecided; ++i) tally.add({{"x", "1"}}, Decision::undecided);
  for (int i = 0; i < fails; ++i) tally.add({{"x", "1"}}, Decision::fails);
  return tally;
}

TEST(Tallies, VerdictsNeedEvidence) {
  EXPECT_EQ(tally_of(4, 0, 0).verdict(), ClaimVerdict::reproduced);
  EXPECT_EQ(tally_of(2, 2, 0).verdict(), ClaimVerdict::reproduced);
  EXPECT_EQ(tally_of(1, 3, 0).verdict(), ClaimVerdict::partly);
  EXPECT_EQ(tally_of(3, 0, 1).verdict(), ClaimVerdict::partly);
  EXPECT_EQ(tally_of(1, 0, 2).verdict(), ClaimVerdict::not_reproduced);
  EXPECT_EQ(tally_of(0, 4, 0).verdict(), ClaimVerdict::not_reproduced) << "intervals confirm nothing";
  EXPECT_EQ(tally_of(0, 0, 0).verdict(), ClaimVerdict::not_reproduced);
  EXPECT_EQ(worst(ClaimVerdict::reproduced, ClaimVerdict::partly), ClaimVerdict::partly);
}

class Views : public testing::Test {
 protected:
  Views() : fake_(test::no_claims) {
    StudyOptions options;
    options.run = test::uneven_run;
    result_ = run_study(fake_.study(), options);
  }
  test::FakeStudy fake_;
  StudyResult result_;
};

TEST_F(Views, FindPointsByNumbersInAnyForm) {
  const View view = result_.view();
  const Selection where = {{"series", "bypass"}, {"gamma", "0.10"}, {"S", "8.0"}};
  EXPECT_EQ(view.at("2", where, "delay").mean, view.result("2", where).at("delay").mean);
  EXPECT_DOUBLE_EQ(view.at("2", where, "delay").half_width, 0.5);
  EXPECT_TRUE(view.has_point("2", where));
  EXPECT_FALSE(view.has_point("2", {{"gamma", "0.3"}, {"S", "8"}}));
}

TEST_F(Views, GridsAndLinesFollowTheSweep) {
  const View view = result_.view();
  EXPECT_EQ(view.values("2", "S"), (std::vector<std::string>{"4", "8"}));
  EXPECT_EQ(view.grid("1", {"series", "gamma"}).size(), 4U);
  EXPECT_EQ(view.grid("2", {"gamma"}, {{"S", "4"}}).size(), 2U);
  EXPECT_EQ(view.along("2", "S", {{"gamma", "0.5"}}, "delay").size(), 2U);
  EXPECT_EQ(view.symbols({{"series", "bypass"}, {"gamma", "0.5"}, {"measure", "delay"}}),
            (Selection{{"", "Bypass"}, {"γ", "0.5"}, {"", "d_x"}}));
}

TEST_F(Views, AnErrorOfAClaimSaysWhatThereIs) {
  const View view = result_.view();
  EXPECT_THROW(static_cast<void>(view.at("9", {}, "delay")), std::logic_error);
  EXPECT_THROW(static_cast<void>(view.at("1", {}, "delay")), std::logic_error) << "four points";
  EXPECT_THROW(static_cast<void>(view.values("1", "S")), std::logic_error);
  EXPECT_THROW(static_cast<void>(view.at("1", {{"series", "bypass"}, {"gamma", "0.5"}}, "decay")), std::logic_error);
  EXPECT_THROW(static_cast<void>(view.series("1", {{"series", "bypass"}, {"gamma", "0.5"}}, "x")), std::logic_error);
}

}  // namespace
}  // namespace banyan::study::claim_test
