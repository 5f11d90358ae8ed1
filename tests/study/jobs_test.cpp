// Is the study of jobs what it says: the same three jobs everywhere, pairs of two, and every claim answered?
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "study/fake_study.hpp"

namespace banyan::study::jobs_test {
namespace {

api::Result pretend(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  for (const std::string job : {"ring", "tree", "exchange"}) {
    for (const std::string kind : {"alone", "ideal"}) {
      stats::Metric slowdown = test::metric("slowdown_" + kind + "." + job, 1.5, 0);
      slowdown.half_width.reset();
      slowdown.counter = true;
      result.metrics.push_back(slowdown);
    }
  }
  return result;
}

StudyResult run(Mode mode) {
  StudyOptions options;
  options.mode = mode;
  options.run = pretend;
  return run_study("jobs", options);
}

TEST(JobsStudy, EveryClaimIsAnswered) {
  const StudyResult all = run(Mode::standard);
  EXPECT_EQ(all.runs.size(), 3 * (4 * 4 + 3 * 4) * 10U) << "networks, placements by variants and by pairs, seeds";
  for (const ClaimResult& claim : all.claims) EXPECT_NE(claim.verdict, ClaimVerdict::not_tested) << claim.id;
  const StudyResult quick = run(Mode::quick);
  EXPECT_LT(quick.runs.size() * 4, all.runs.size());
  // Three seeds do not decide them.
  const std::set<std::string> from_standard{"bully", "detours-mix", "exchange-hurts-most", "spread-costs-ring"};
  for (const ClaimResult& claim : quick.claims) {
    EXPECT_EQ(claim.verdict == ClaimVerdict::not_tested, from_standard.contains(claim.id)) << claim.id;
  }
}

/// The job that a pair lacks has its terminals and begins when the others are long done.
TEST(JobsStudy, ThePairsLeaveTheThirdAlone) {
  const Study& study = find_study("jobs");
  const StudySpec spec = spec_of(study);
  const SeriesSpec* const pair = spec.find_series("ring_tree");
  ASSERT_NE(pair, nullptr);
  api::Overrides overrides{"job.ring.repeats=1", "job.tree.repeats=1", "job.exchange.repeats=1"};
  overrides.insert(overrides.end(), pair->set.begin(), pair->set.end());
  const auto read = [&](const api::Overrides& o) {
    return api::read_experiments_text(std::string(file_text(study.files, "torus.toml")), "torus", o).points;
  };
  const auto random = [](const api::Experiment& e) { return e.jobs.front().text("placement") == "random"; };
  const std::vector<api::Experiment> two = read(overrides);
  const std::vector<api::Experiment> three = read({});
  const auto one = std::find_if(two.begin(), two.end(), random);
  const auto other = std::find_if(three.begin(), three.end(), random);
  ASSERT_TRUE(one != two.end() && other != three.end());
  EXPECT_EQ(one->run.integer("seed"), other->run.integer("seed"));
  EXPECT_EQ(one->jobs[1].real("start"), other->jobs[1].real("start"));
  const api::Result result = api::run(*one, {});
  // Not 1 to the digit: the arbiters' turns are not where they were at the start.
  EXPECT_NEAR(result.find("slowdown_alone.exchange")->mean, 1.0, 0.1);
  EXPECT_GT(result.find("slowdown_alone.ring")->mean, 1.0);
  EXPECT_GT(result.find("completion.exchange")->mean, 1e9);
}

}  // namespace
}  // namespace banyan::study::jobs_test
