// Do the scenarios of the congestion-trees study show what section 3 of their paper describes?
#include <gtest/gtest.h>

#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

TEST(CongestionTrees, ScenariosGoAsDescribed) {
  StudyOptions options;
  options.mode = Mode::quick;
  options.figures = {"1a", "1b", "1c", "2", "3a", "3b", "3c"};
  const StudyResult result = run_study("congestion-trees", options);
  EXPECT_EQ(result.claims.size(), 7U);
  for (const ClaimResult& claim : result.claims) {
    if (claim.expected) { EXPECT_EQ(claim.verdict, ClaimVerdict::reproduced) << claim.id << ": " << claim.measured; }
  }
}

TEST(CongestionTrees, ResultsDoNotDependOnThreads) {
  StudyOptions options;
  options.mode = Mode::quick;
  options.figures = {"1b", "2"};
  const u64 alone = run_study("congestion-trees", options).state_hash();
  options.threads = 3;
  EXPECT_EQ(run_study("congestion-trees", options).state_hash(), alone);
}

TEST(CongestionTrees, EveryClaimStandsOnFiguresOfTheStudy) {
  const Study& study = find_study("congestion-trees");
  const StudySpec spec = spec_of(study);
  for (const Claim& claim : study.row->claims()) {
    for (const std::string& figure : claim.figures)
      EXPECT_NE(spec.figure(figure), nullptr) << claim.id << " " << figure;
  }
}

}  // namespace
}  // namespace banyan::study
