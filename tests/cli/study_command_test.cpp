// Does a study that was interrupted go on with the runs that it had finished, and leave none of them behind?
#include <gtest/gtest.h>

#include <filesystem>

#include "banyan/store/store.hpp"
#include "banyan/study/study.hpp"
#include "cli/program.hpp"

namespace banyan::cli::study_command_test {
namespace {

namespace fs = std::filesystem;

class StudyCommand : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }

  static Said study(const std::string& out) {
    return banyan({"study", "run", "circuit-torus", "--quick", "--figure", "2a", "--quiet", "--out", out});
  }
};

TEST_F(StudyCommand, FinishedRunsOfAnInterruptedStudyAreNotMadeAgain) {
  const Said whole = study("whole");
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_EQ(whole.err, "");
  EXPECT_FALSE(fs::exists(scratch() / "whole" / "unfinished"));
  // A run that could not have come out like this tells that it was taken as it is.
  api::Result run = study::load(read_text(scratch() / "whole/study.json")).runs.front();
  for (stats::Metric& metric : run.metrics) {
    if (metric.name == "packet_latency") metric.mean = 12345.0;
  }
  fs::create_directories(scratch() / "broken" / "unfinished");
  store::Writer((scratch() / "broken" / "unfinished").string()).put(run);
  EXPECT_EQ(banyan({"study", "run", "circuit-torus", "--figure", "nope", "--out", "broken"}).status, 2);
  const Said broken = study("broken");
  ASSERT_EQ(broken.status, 0) << broken.err;
  EXPECT_TRUE(contains(broken.err, "are not made again")) << broken.err;
  EXPECT_TRUE(contains(read_text(scratch() / "broken/figure-2a.csv"), "12345"));
  EXPECT_FALSE(fs::exists(scratch() / "broken" / "unfinished"));
}

TEST_F(StudyCommand, TwoStudiesDoNotShareAFolder) {
  fs::create_directories(scratch() / "busy" / "unfinished");
  const store::Writer writer((scratch() / "busy" / "unfinished").string());
  expect_refusal(study("busy"), "unfinished", "");
}

TEST_F(StudyCommand, WhatCannotFitIsRefusedBeforeItRuns) {
  const Said large = banyan({"study", "run", "circuit-torus", "--quick", "--figure", "2a", "topology.size=[8192,8192]",
                             "--quiet", "--out", "large"});
  expect_refusal(large, "need about", "make the network smaller");
}

}  // namespace
}  // namespace banyan::cli::study_command_test
