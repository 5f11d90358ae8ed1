// Is every figure runnable and every claim answerable in each form of the study of multidestination worms?
#include <gtest/gtest.h>

#include "study/fake_study.hpp"

namespace banyan::study::multidestination_worms_test {
namespace {

api::Result steady_result(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  result.verdict = api::Verdict::steady;
  double mean = static_cast<double>(experiment.configuration_hash % 97) + 300;
  for (const char* name : {"multicast_latency_last", "multicast_latency_mean", "message_latency_last",
                           "unicast_latency", "received_load", "offered_load", "completion_time"}) {
    result.metrics.push_back(test::metric(name, mean, 1));
    mean -= 7;
  }
  return result;
}

StudyResult run(Mode mode) {
  StudyOptions options;
  options.mode = mode;
  options.run = steady_result;
  return run_study("multidestination-worms", options);
}

TEST(MultidestinationWorms, EveryFormAnswersTheClaimsThatItsFiguresAllow) {
  for (const Mode mode : {Mode::quick, Mode::standard, Mode::full}) {
    const StudyResult result = run(mode);
    const std::vector<Claim> claims = find_study("multidestination-worms").row->claims();
    ASSERT_EQ(result.claims.size(), claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
      const Claim& claim = claims[i];
      bool covered = mode >= claim.from;
      for (const std::string& figure : claim.figures) covered = covered && result.view().has(figure);
      EXPECT_EQ(result.claims[i].verdict != ClaimVerdict::not_tested, covered) << claim.id;
    }
  }
  EXPECT_LT(run(Mode::quick).runs.size(), run(Mode::full).runs.size() / 2);
}

}  // namespace
}  // namespace banyan::study::multidestination_worms_test
