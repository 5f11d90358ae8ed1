// Is every figure runnable and every claim answerable in each form of the study?
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "banyan/base/error.hpp"
#include "study/fake_study.hpp"

namespace banyan::study::extra_stage_cube_test {
namespace {

/// Every metric and series that the claims of session runs ask for.
api::Result session_result(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  double mean = static_cast<double>(experiment.configuration_hash % 97) + 3;
  for (const char* name : {"mu_syn", "mu_bg_tot", "mu_bg_hs", "session_cycles", "session_background",
                           "session_hot_background", "tree_height", "tree_boxes", "tree_boxes_outside"}) {
    result.metrics.push_back(test::metric(name, mean, 1));
    mean += 7;
  }
  for (const char* name : {"generated_synchronization", "generated_hot_background"}) {
    result.series.push_back({name, "packets", 0.0, 1.0, {5.0, 1.0, 0.5}});
  }
  return result;
}

StudyResult run(Mode mode) {
  StudyOptions options;
  options.mode = mode;
  options.run = session_result;
  return run_study("extra-stage-cube", options);
}

TEST(ExtraStageCube, EveryClaimIsAnsweredInTheFullForm) {
  EXPECT_EQ(run(Mode::full).claims.size(), find_study("extra-stage-cube").row->claims().size());
}

TEST(ExtraStageCube, TheShorterFormsAnswerWhatTheirFiguresAllow) {
  for (const Mode mode : {Mode::quick, Mode::standard}) {
    const StudyResult result = run(mode);
    std::set<std::string> answered;
    for (const ClaimResult& claim : result.claims) answered.insert(claim.id);
    for (const Claim& claim : find_study("extra-stage-cube").row->claims()) {
      bool covered = true;
      for (const std::string& figure : claim.figures) covered = covered && result.view().has(figure);
      EXPECT_EQ(answered.contains(claim.id), covered) << claim.id;
    }
  }
  EXPECT_LT(run(Mode::quick).runs.size(), run(Mode::full).runs.size() / 2);
}

TEST(ExtraStageCube, ClaimsHaveTheirOwnNamesAndExistingFigures) {
  const StudySpec spec = spec_of(find_study("extra-stage-cube"));
  std::set<std::string> ids;
  for (const Claim& claim : find_study("extra-stage-cube").row->claims()) {
    EXPECT_TRUE(ids.insert(claim.id).second) << claim.id;
    EXPECT_FALSE(claim.section.empty());
    EXPECT_FALSE(claim.figures.empty());
    for (const std::string& figure : claim.figures)
      EXPECT_NE(spec.figure(figure), nullptr) << claim.id << " " << figure;
  }
}

TEST(ExtraStageCube, TheFullFormIsThePapersEffort) {
  StudyOptions options;
  options.mode = Mode::full;
  options.run = session_result;
  options.figures = {"5", "6", "8", "13", "14", "15", "16", "17"};
  const StudyResult full = run_study("extra-stage-cube", options);
  for (const api::Result& one : full.runs) {
    EXPECT_NE(one.configuration.find("\"sessions\":125"), std::string::npos);
    EXPECT_NE(one.configuration.find("\"mean\":3000"), std::string::npos);
    EXPECT_NE(one.configuration.find("\"terminals\":256"), std::string::npos);
  }
  // Figures 15 to 17 share their points, and each shares some with Figures 14, 8 and 5.
  EXPECT_EQ(full.figures.at(5).points.size(), 80U);
  EXPECT_EQ(full.points, 16U + 1 + 24 + 18 + 64 + 3 * 80);
  EXPECT_LE(full.runs.size(), 16U + 1 + 8 + 18 + 56 + 64);
}

TEST(ExtraStageCube, EveryFigureBuildsItsNetwork) {
  const Study& study = find_study("extra-stage-cube");
  const StudySpec spec = spec_of(study);
  std::map<u64, std::string> checked;
  for (const FigureSpec& figure : spec.figures) {
    if (figure.id == "larger-4096") continue;  // the same components as larger-1024, and slow to check
    for (const std::string& name : figure.series) {
      const api::ExperimentSet set = api::read_experiments_text(std::string(file_text(study.files, figure.file)),
                                                                figure.file, spec.find_series(name)->set);
      ASSERT_FALSE(set.points.empty());
      if (!checked.try_emplace(set.points.front().configuration_hash, figure.id).second) continue;
      EXPECT_NO_THROW(static_cast<void>(api::check(set.points.front()))) << figure.id << " " << name;
    }
  }
}

TEST(ExtraStageCube, OneSectionIsIsolatedHotSpotToTheLastBit) {
  StudyOptions options;
  options.mode = Mode::quick;
  options.figures = {"8", "13"};
  options.overrides = {"run.sessions=2", "traffic.synchronization.mean=100"};
  const StudyResult result = run_study("extra-stage-cube", options);
  bool found = false;
  for (const ClaimResult& claim : result.claims) {
    if (claim.id != "one-section") continue;
    found = true;
    EXPECT_EQ(claim.verdict, ClaimVerdict::reproduced) << claim.measured << claim.note;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace banyan::study::extra_stage_cube_test
