// Does a run that stops itself reach what was asked, say so, and not depend on threads?
#include "banyan/api/measure/precision.hpp"

#include <gtest/gtest.h>

#include "api/runs.hpp"
#include "support/effort.hpp"

namespace banyan::api::precision_test {
namespace {

double relative(const Result& result, const std::string& metric) {
  const stats::Metric& m = result.at(metric);
  return m.half_width.value_or(1e9) / m.mean;
}

bool says(const Result& result, const std::string& part) { return result.explanation.find(part) != std::string::npos; }

TEST(Precision, ASteadyRunGoesOnUntilItIsReached) {
  const Result plain = run_of(kMesh);
  const Result precise = run_of(kMesh, {"run.precision=0.3 %"});
  EXPECT_GT(relative(plain, "packet_latency"), 0.004);
  EXPECT_LE(relative(precise, "packet_latency"), 0.003);
  EXPECT_LE(relative(precise, "accepted_load"), 0.003);
  EXPECT_TRUE(says(precise, "precision of 0.3 % reached: packet_latency within ")) << precise.explanation;
  EXPECT_EQ(precise.warning, "");
  EXPECT_GT(precise.at("simulated_cycles").mean, plain.at("simulated_cycles").mean);
}

/// What arrives after the decision changes the intervals: where it makes them wider than asked, the run goes on.
TEST(Precision, WhatIsSaidToBeReachedIsReached) {
  u32 reached = 0;
  const u32 seeds = test::tries(24U, 3U);
  for (u32 seed = 1; seed <= seeds; ++seed) {
    for (const char* load : {"load=0.1", "load=0.4"}) {
      const Result result = run_of(kMesh, {"seed=" + std::to_string(seed), load, "run.precision=0.8 %"});
      const bool within = relative(result, "packet_latency") <= 0.008 && relative(result, "accepted_load") <= 0.008;
      EXPECT_EQ(says(result, "precision of 0.8 % reached"), within) << seed << load << result.explanation;
      EXPECT_EQ(result.warning.empty(), within) << seed << load;
      reached += within ? 1 : 0;
    }
  }
  EXPECT_EQ(reached, 2 * seeds);
}

TEST(Precision, APreciseRunIsTheRunOfThatLength) {
  const Result precise = run_of(kMesh, {"run.precision=0.3 %"});
  const auto cycles = static_cast<u64>(precise.at("simulated_cycles").mean);
  EXPECT_GT(cycles, 5000U);
  bool found = false;
  // The drain is looked at every 64 cycles.
  for (u64 drain = 0; drain <= 256 && !found; drain += 64) {
    const Result direct = run_of(kMesh, {"measure=" + std::to_string(cycles - 500 - drain)});
    found = direct.state_hash == precise.state_hash;
  }
  EXPECT_TRUE(found);
}

TEST(Precision, DoesNotDependOnThreadsOrShards) {
  for (const std::string& text : {kMesh, kSessions}) {
    const char* goal = text == kMesh ? test::tries("run.precision=0.3 %", "run.precision=1.5 %")
                                     : test::tries("run.precision=2 %", "run.precision=6 %");
    const Result one = run_of(text, {goal});
    for (const char* other : {"run.shards=3", "run.step_order=permuted", "run.audit=full"}) {
      const Result same = run_of(text, {goal, other}, 2);
      EXPECT_EQ(same.state_hash, one.state_hash) << other;
      EXPECT_EQ(same.checkpoints, one.checkpoints) << other;
    }
  }
}

TEST(Precision, SessionsAreAddedUntilItIsReached) {
  const Result plain = run_of(kSessions);
  const Result precise = run_of(kSessions, {"run.precision=2 %"});
  for (const char* metric : {"mu_syn", "mu_bg_tot", "mu_bg_hs", "session_cycles", "packet_latency"}) {
    EXPECT_LE(relative(precise, metric), 0.02) << metric;
  }
  EXPECT_GT(precise.at("sessions").mean, plain.at("sessions").mean);
  EXPECT_TRUE(says(precise, "precision of 2 % reached: mu_syn within ")) << precise.explanation;
  const auto sessions = static_cast<u64>(precise.at("sessions").mean);
  EXPECT_EQ(run_of(kSessions, {"run.sessions=" + std::to_string(sessions)}).state_hash, precise.state_hash);
}

TEST(Precision, WhatCannotBeReachedIsSaid) {
  const Result steady = run_of(kMesh, {"run.precision=0.1 %", "run.precision_limit=3"});
  EXPECT_TRUE(
      steady.warning.starts_with("the precision of 0.1 % was not reached within 3 times the length asked for: "
                                 "packet_latency within "))
      << steady.warning;
  EXPECT_TRUE(says(steady, steady.warning));
  EXPECT_NEAR(steady.at("simulated_cycles").mean, 12500, 200);
  const Result sessions = run_of(kSessions, {"run.precision=0.1 %", "run.precision_limit=2"});
  EXPECT_FALSE(sessions.warning.empty());
  EXPECT_EQ(sessions.at("sessions").mean, 48.0);
}

TEST(Precision, ASaturatedRunStopsAtOnce) {
  const Result saturated = run_of(kMesh, {"run.precision=1 %", "load=1.0"});
  EXPECT_EQ(saturated.verdict, Verdict::saturated);
  EXPECT_LE(saturated.at("simulated_cycles").mean, 4500 + 20000 + 64);
  EXPECT_EQ(saturated.warning.find("precision"), std::string::npos) << saturated.warning;
}

TEST(Precision, WithoutAGoalNothingIsSaid) { EXPECT_FALSE(says(run_of(kMesh), "precision")); }

// --- what later comparison stands on -------------------------------------------------------------------------------

TEST(KeptGroups, GiveTheMeansAgain) {
  const Result steady = run_of(kMesh);
  const Result sessions = run_of(kSessions);
  for (const Result* result : {&steady, &sessions}) {
    EXPECT_GE(result->groups.size(), 6U);
    for (const Groups& groups : result->groups) {
      EXPECT_LE(groups.sums.size(), 512U);
      stats::SumCount total;
      for (std::size_t i = result->group_cut; i < groups.sums.size(); ++i) total.merge(groups.sums[i]);
      const double mean = result->at(groups.metric).mean;
      EXPECT_NEAR(total.mean(), mean, 0.005 * mean) << groups.metric;
    }
  }
  EXPECT_EQ(sessions.group_cycles, 0.0);
  EXPECT_EQ(sessions.checkpoints.size(), 24U);
  EXPECT_GT(steady.group_cycles, 0.0);
  EXPECT_EQ(steady.checkpoints.front().at, 1024U);
}

}  // namespace
}  // namespace banyan::api::precision_test
