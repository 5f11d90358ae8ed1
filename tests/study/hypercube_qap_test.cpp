// Is every figure of the hypercube study runnable and every claim answerable in each form?
#include <gtest/gtest.h>

#include "study/fake_study.hpp"

namespace banyan::study::hypercube_qap_test {
namespace {

/// Every metric that the claims ask for; the load decides, so that saturated points come about too.
api::Result result_of(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  double mean = static_cast<double>(experiment.configuration_hash % 97) + 300;
  result.verdict = experiment.configuration_hash % 5 == 0 ? api::Verdict::saturated : api::Verdict::steady;
  if (result.verdict == api::Verdict::steady) {
    for (const char* name :
         {"message_latency_first", "message_latency_last", "packet_latency", "completion_time", "receiver_stall"}) {
      result.metrics.push_back(test::metric(name, mean, 1));
      mean += 7;
    }
  }
  for (const char* name : {"offered_load", "accepted_load"}) result.metrics.push_back(test::metric(name, 0.3, 0.001));
  result.metrics.push_back(test::metric("delivered_packets", 1000, 0));
  return result;
}

TEST(HypercubeQap, EveryClaimIsAnsweredInEveryForm) {
  for (const Mode mode : {Mode::quick, Mode::standard, Mode::full}) {
    StudyOptions options;
    options.mode = mode;
    options.run = result_of;
    const StudyResult result = run_study("hypercube-qap", options);
    EXPECT_EQ(result.claims.size(), find_study("hypercube-qap").row->claims().size());
    for (const ClaimResult& claim : result.claims) EXPECT_FALSE(claim.measured.empty()) << claim.id;
    for (const char* figure : {"1", "2", "3", "4", "5", "6"}) EXPECT_TRUE(result.view().has(figure)) << figure;
  }
}

}  // namespace
}  // namespace banyan::study::hypercube_qap_test
