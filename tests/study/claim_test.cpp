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
  EXPECT_EQ(less(about(10, 3), about(13, 3)), Decision::likely);
  EXPECT_EQ(less(about(13, 3), about(10, 3)), Decision::undecided);
  EXPECT_EQ(less(about(10, 0), about(10, 0)), Decision::undecided);
  EXPECT_EQ(greater(about(20, 1), about(10, 1)), Decision::holds);
}

TEST(Compare, AMarginAsksForMore) {
  EXPECT_EQ(less(about(10, 1), about(15, 1), 0.5), Decision::fails);
  EXPECT_EQ(less(about(10, 1), about(30, 1), 0.5), Decision::holds);
  EXPECT_EQ(less(about(10, 1), about(20, 1), 0.5), Decision::undecided);
  EXPECT_EQ(less(about(10, 1), about(21, 1), 0.5), Decision::likely);
}

TEST(Compare, WhatIsNotKnownDecidesNothing) {
  const Estimate unknown{1.0, 0.0, 0, false};
  EXPECT_EQ(less(unknown, about(10, 1)), Decision::undecided);
  EXPECT_EQ(equal_within(about(1, 0), unknown, 0.1), Decision::undecided);
}

TEST(Compare, EqualWithinFailsOnlyBeyondTheInterval) {
  EXPECT_EQ(equal_within(about(100, 1), about(103, 1), 0.05), Decision::holds);
  EXPECT_EQ(equal_within(about(100, 10), about(108, 10), 0.05), Decision::undecided);
  EXPECT_EQ(equal_within(about(100, 10), about(103, 10), 0.05), Decision::likely) << "could not tell it from 110";
  EXPECT_EQ(equal_within(about(100, 1), about(120, 1), 0.05), Decision::fails);
}

TEST(Compare, TrendsLookAtEveryStep) {
  EXPECT_EQ(falls({about(30, 1), about(20, 1), about(10, 1)}), Decision::holds);
  EXPECT_EQ(falls({about(30, 1), about(31, 1), about(10, 1)}), Decision::holds) << "a bump of a twentieth";
  EXPECT_EQ(falls({about(30, 1), about(40, 1), about(10, 1)}), Decision::fails) << "a significant rise on the way";
  EXPECT_EQ(falls({about(30, 5), about(28, 5)}), Decision::likely);
  EXPECT_EQ(falls({about(30, 1), about(20, 1), about(21, 1), about(22, 1), about(23.5, 1), about(10, 1)}),
            Decision::fails)
      << "a rise in small steps";
  EXPECT_EQ(falls({about(30, 1), about(34, 5), about(10, 1)}), Decision::undecided) << "a rise that may be noise";
  EXPECT_EQ(falls({about(30, 1)}), Decision::undecided);
  EXPECT_EQ(rises({about(10, 1), about(20, 1)}), Decision::holds);
  EXPECT_EQ(rises({about(20, 1), about(10, 1)}), Decision::fails);
}

TEST(Compare, LevelIsOfTheLargestAndTheSmallest) {
  EXPECT_EQ(level({about(100, 1), about(104, 1), about(98, 1)}, 0.1), Decision::holds);
  EXPECT_EQ(level({about(100, 1), about(150, 1)}, 0.1), Decision::fails);
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

TEST(Compare, AMeanOfSeedsNeedsTwo) {
  EXPECT_FALSE(mean_of(std::vector<double>{3}).known);
  const Estimate two = mean_of(std::vector<double>{3, 5});
  EXPECT_DOUBLE_EQ(two.mean, 4);
  EXPECT_NEAR(two.half_width, 12.706, 0.001) << "Student's factor for one degree of freedom, error 1";
  EXPECT_FALSE(mean_of(std::vector<Estimate>{about(1, 1), Estimate::unknown()}).known);
}

TEST(Compare, OneOnAverageSeesSingleOnesToo) {
  EXPECT_EQ(one_on_average({about(1.05, 0.06), about(0.95, 0.06)}, 0.05, 0.1), Decision::holds);
  EXPECT_EQ(one_on_average({about(1.2, 0.01), about(0.8, 0.01)}, 0.05, 0.1), Decision::fails);
  EXPECT_EQ(one_on_average({about(1.06, 0.01), about(1.06, 0.01)}, 0.05, 0.1), Decision::fails);
}

TEST(Compare, AlikeNeedsTwoDecisions) {
  EXPECT_EQ(alike(Decision::holds, Decision::holds), Decision::holds);
  EXPECT_EQ(alike(Decision::fails, Decision::fails), Decision::holds);
  EXPECT_EQ(alike(Decision::holds, Decision::fails), Decision::fails);
  EXPECT_EQ(alike(Decision::holds, Decision::likely), Decision::likely);
  EXPECT_EQ(alike(Decision::holds, Decision::undecided), Decision::undecided);
}

TEST(Compare, BracketsAreComparedByTheirEnds) {
  const std::vector<double> loads{0.1, 0.2, 0.3, 0.4};
  using enum Decision;
  const Bracket sharp = bracket(loads, {holds, holds, fails, fails}, 1.0);
  EXPECT_DOUBLE_EQ(sharp.last, 0.2);
  EXPECT_DOUBLE_EQ(sharp.next, 0.3);
  const Bracket wide = bracket(loads, {holds, likely, undecided, fails}, 1.0);
  EXPECT_DOUBLE_EQ(wide.last, 0.1);
  EXPECT_DOUBLE_EQ(wide.next, 0.4);
  EXPECT_DOUBLE_EQ(bracket(loads, {holds, holds, holds, holds}, 1.0).next, 1.0);
  EXPECT_EQ(later(Bracket{0.3, 0.4}, sharp), holds);
  EXPECT_EQ(later(sharp, Bracket{0.3, 0.4}), fails);
  EXPECT_EQ(later(sharp, wide), undecided);
  EXPECT_DOUBLE_EQ(sharp.before, 0.2);
  EXPECT_DOUBLE_EQ(wide.before, 0.3);
  EXPECT_DOUBLE_EQ(bracket(loads, {fails, fails, fails, fails}, 1.0).before, 0.0);
  EXPECT_DOUBLE_EQ(bracket(loads, {holds, holds, holds, holds}, 1.0).before, 0.4);
  const Bracket step_below = bracket(loads, {holds, fails, fails, fails}, 1.0);
  EXPECT_EQ(not_earlier(sharp, sharp), holds);
  EXPECT_EQ(not_earlier(sharp, step_below), holds);
  EXPECT_EQ(not_earlier(step_below, sharp), fails);
  EXPECT_EQ(not_earlier(sharp, wide), undecided);
  EXPECT_EQ(not_earlier(wide, wide), undecided);
  EXPECT_EQ(inside(sharp, 0.2, 0.3), holds);
  EXPECT_EQ(inside(sharp, 0.3, 0.5), fails);
  EXPECT_EQ(inside(wide, 0.2, 0.3), undecided);
  EXPECT_DOUBLE_EQ(ratio(Bracket{0.8, 0.9}, Bracket{0.4, 0.5}).last, 1.6);
  EXPECT_DOUBLE_EQ(ratio(Bracket{0.8, 0.9}, Bracket{0.4, 0.5}).next, 2.25);
}

TEST(Numbers, AreReproducedWithinTheToleranceAndPartlyWithinThreeTimesOfIt) {
  EXPECT_EQ(compare_number(100, about(104, 1), 0.05, "cycles").verdict, ClaimVerdict::reproduced);
  EXPECT_EQ(compare_number(100, about(88, 1), 0.05, "cycles").verdict, ClaimVerdict::partly);
  EXPECT_EQ(compare_number(100, about(50, 1), 0.05, "cycles").verdict, ClaimVerdict::not_reproduced);
  EXPECT_EQ(compare_number(100, about(104, 6), 0.05, "cycles").verdict, ClaimVerdict::undecided);
  EXPECT_EQ(compare_number(100, about(106, 6), 0.05, "cycles").verdict, ClaimVerdict::undecided);
  EXPECT_EQ(compare_number(100, Estimate::unknown(), 0.05, "cycles").verdict, ClaimVerdict::undecided);
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

Tally tally_of(int holds, int undecided, int fails, int likely = 0) {
  Tally tally;
  for (int i = 0; i < holds; ++i) tally.add({{"x", "1"}}, Decision::holds);
  for (int i = 0; i < likely; ++i) tally.add({{"x", "1"}}, Decision::likely);
  for (int i = 0; i < undecided; ++i) tally.add({{"x", "1"}}, Decision::undecided);
  for (int i = 0; i < fails; ++i) tally.add({{"x", "1"}}, Decision::fails);
  return tally;
}

TEST(Tallies, VerdictsNeedEvidence) {
  EXPECT_EQ(tally_of(4, 0, 0).verdict(), ClaimVerdict::reproduced);
  EXPECT_EQ(tally_of(2, 0, 0, 2).verdict(), ClaimVerdict::reproduced);
  EXPECT_EQ(tally_of(2, 2, 0).verdict(), ClaimVerdict::partly) << "two of the means say the opposite";
  EXPECT_EQ(tally_of(1, 0, 0, 3).verdict(), ClaimVerdict::undecided) << "at more than half of the points";
  EXPECT_EQ(tally_of(3, 0, 1).verdict(), ClaimVerdict::partly);
  EXPECT_EQ(tally_of(1, 0, 2).verdict(), ClaimVerdict::not_reproduced);
  EXPECT_EQ(tally_of(0, 4, 0).verdict(), ClaimVerdict::undecided) << "intervals confirm nothing, and refute nothing";
  EXPECT_EQ(tally_of(0, 0, 0).verdict(), ClaimVerdict::undecided);
  EXPECT_EQ(tally_of(3, 3, 1).verdict(), ClaimVerdict::undecided) << "a single point does not refute seven";
}

/// Wider intervals turn what holds into what is likely, and what fails into what is open; a missing value opens a
/// point.
TEST(Tallies, FewerDataNeverGiveABetterVerdict) {
  const auto rank = [](ClaimVerdict v) {
    return v == ClaimVerdict::reproduced ? 2 : v == ClaimVerdict::partly ? 1 : 0;
  };
  for (int holds = 0; holds <= 5; ++holds) {
    for (int open = 0; open <= 5; ++open) {
      for (int fails = 0; fails <= 5; ++fails) {
        for (int likely = 0; likely <= 5; ++likely) {
          const int all = rank(tally_of(holds, open, fails, likely).verdict());
          if (holds > 0) {
            EXPECT_LE(rank(tally_of(holds - 1, open, fails, likely + 1).verdict()), all);
            EXPECT_LE(rank(tally_of(holds - 1, open + 1, fails, likely).verdict()), all);
          }
          if (fails > 0) { EXPECT_LE(rank(tally_of(holds, open + 1, fails - 1, likely).verdict()), all); }
          if (likely > 0) { EXPECT_LE(rank(tally_of(holds, open + 1, fails, likely - 1).verdict()), all); }
        }
      }
    }
  }
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

TEST_F(Views, TheRatioOfTwoMetricsOfARunKnowsThatTheyScatterTogether) {
  const Selection where = {{"series", "bypass"}, {"gamma", "0.1"}};
  api::Result& run = result_.runs.at(result_.view().point("1", where).run);
  run.metrics = {test::metric("a", 20, 5), test::metric("b", 10, 2.5)};
  const Estimate independent = result_.view().ratio("1", where, "a", "b");
  EXPECT_DOUBLE_EQ(independent.mean, 2);
  EXPECT_NEAR(independent.half_width, 2 * std::sqrt(2) / 4, 1e-12);
  api::Groups a{"a", {}};
  api::Groups b{"b", {}};
  for (u64 i = 0; i < 40; ++i) {
    const u64 scatter = 10 + i % 7;
    a.sums.push_back({2 * scatter * 100 + i % 3, 100});
    b.sums.push_back({scatter * 100, 100});
  }
  run.groups = {a, b};
  const Estimate paired = result_.view().ratio("1", where, "a", "b");
  EXPECT_NEAR(paired.mean, 2, 0.01);
  EXPECT_LT(paired.half_width, 0.01);
  EXPECT_GT(paired.half_width, 0.0);
}

TEST_F(Views, TheRatioOfTwoRunsKnowsThatTheyHaveTheSameMessages) {
  const Selection one{{"series", "bypass"}, {"gamma", "0.1"}};
  const Selection other{{"series", "isolated"}, {"gamma", "0.1"}};
  const auto record = [&](const Selection& where, u64 factor, u64 cut) {
    api::Result& run = result_.runs.at(result_.view().point("1", where).run);
    run.metrics = {test::metric("a", 20.0 * static_cast<double>(factor), 5)};
    run.group_cut = cut;
    api::Groups groups{"a", {}};
    for (u64 i = 0; i < cut; ++i) groups.sums.push_back({1000000, 1});  // a warm-up that counts for nothing
    for (u64 i = 0; i < 40; ++i) groups.sums.push_back({factor * (10 + i * i % 7) * 100 + i % 3, 100});
    run.groups = {groups};
  };
  record(one, 3, 2);
  record(other, 1, 5);
  const Estimate paired = result_.view().ratio("1", one, other, "a");
  EXPECT_NEAR(paired.mean, 3, 0.01);
  EXPECT_LT(paired.half_width, 0.01);
  EXPECT_GT(paired.half_width, 0.0);
  result_.runs.at(result_.view().point("1", other).run).groups.clear();
  EXPECT_GT(result_.view().ratio("1", one, other, "a").half_width, 0.5) << "of independent runs";
}

TEST_F(Views, JoinedGroupsGiveTheSameRatioToTheLastBit) {
  const Selection where{{"series", "bypass"}, {"gamma", "0.1"}};
  api::Result& run = result_.runs.at(result_.view().point("1", where).run);
  run.metrics = {test::metric("a", 20, 5), test::metric("b", 10, 2.5), test::metric("few", 10, 2.5)};
  run.group_cycles = 10;
  run.group_cut = 3;
  run.groups = {{"a", {}}, {"b", {}}, {"few", {}}};
  for (u64 i = 0; i < 70; ++i) {
    run.groups[0].sums.push_back({1000 + 37 * (i * i % 11), 10 + i % 3});
    run.groups[1].sums.push_back({500 + 23 * (i * i % 13), 10 + i % 3});
  }
  run.groups[2].sums.assign(22, {10, 1});
  const Estimate before = result_.view().ratio("1", where, "a", "b");
  join_groups(run);
  ASSERT_EQ(run.groups.size(), 2U) << "groups too few for batches are left out";
  EXPECT_EQ(run.groups[0].sums.size(), 20U);
  EXPECT_EQ(run.group_cut, 0U);
  EXPECT_DOUBLE_EQ(run.group_cycles, 10 * 67 / 20.0);
  const Estimate after = result_.view().ratio("1", where, "a", "b");
  EXPECT_EQ(before.mean, after.mean);
  EXPECT_EQ(before.half_width, after.half_width);
  join_groups(run);
  EXPECT_EQ(after.half_width, result_.view().ratio("1", where, "a", "b").half_width);
}

/// Without an interval a mean says nothing of its error, except where all sessions are equal by construction.
TEST_F(Views, AMeanWithoutAnIntervalIsKnownWhereNothingIsRandom) {
  const Selection where = {{"series", "bypass"}, {"gamma", "0.1"}};
  api::Result& run = result_.runs.at(result_.view().point("1", where).run);
  stats::Metric alone = test::metric("delay", 20, 0);
  alone.half_width.reset();
  run.metrics = {alone};
  EXPECT_FALSE(result_.view().at("1", where, "delay").known);
  stats::Metric mark = test::metric(api::kDeterministic, 1, 0);
  mark.counter = true;
  run.metrics.push_back(mark);
  const Estimate exact = result_.view().at("1", where, "delay");
  EXPECT_TRUE(exact.known);
  EXPECT_EQ(exact.mean, 20);
  EXPECT_EQ(exact.half_width, 0);
  EXPECT_EQ(less(exact, Estimate{21, 0.5, 5, true}), Decision::holds);
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
