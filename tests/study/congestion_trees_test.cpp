// Do the scenarios of the congestion-trees study show what section 3 of their paper describes?
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"
#include "banyan/study/study.hpp"
#include "build_info.hpp"

namespace banyan::study::congestion_trees_test {
namespace {

using stats::CongestionEvent;
using stats::CongestionEventKind;

/// What happened to the trees of a scenario, but for their growth.
std::vector<CongestionEvent> events_of(const std::string& figure) {
  std::ifstream file(std::string(BANYAN_SOURCE_DIR) + "/studies/congestion-trees/figure-" + figure + ".toml");
  std::stringstream text;
  text << file.rdbuf();
  const api::Result result = api::run(api::read_experiments_text(text.str(), figure, {}).points.front());
  std::vector<CongestionEvent> events;
  const stats::CongestionRecord record = result.trees->record();
  for (const CongestionEvent& event : record.events) {
    if (event.kind != CongestionEventKind::grown) events.push_back(event);
  }
  return events;
}

std::vector<CongestionEventKind> kinds_of(const std::vector<CongestionEvent>& events) {
  std::vector<CongestionEventKind> kinds;
  for (const CongestionEvent& event : events) kinds.push_back(event.kind);
  return kinds;
}

using Kinds = std::vector<CongestionEventKind>;

TEST(CongestionTreeEvents, FiveFlowsThatMeetAtTheRootMakeOneTreeThatOnlyGrows) {
  EXPECT_EQ(kinds_of(events_of("1a")), (Kinds{CongestionEventKind::born}));
  EXPECT_EQ(kinds_of(events_of("2")), (Kinds{CongestionEventKind::born}));
}

TEST(CongestionTreeEvents, LocalSpotsMergeIntoOneTree) {
  const std::vector<CongestionEvent> events = events_of("1b");
  u32 merged = 0;
  for (const CongestionEvent& event : events) {
    EXPECT_TRUE(event.kind == CongestionEventKind::born || event.kind == CongestionEventKind::merged ||
                event.kind == CongestionEventKind::overlap);
    if (event.kind == CongestionEventKind::merged) merged += event.other == events.front().tree ? 1 : 0;
  }
  EXPECT_EQ(merged, 4U) << "of sw1 to sw4, into the tree of the root";
}

TEST(CongestionTreeEvents, TheRootMovesDownstreamInOneEvent) {
  const std::vector<CongestionEvent> events = events_of("1c");
  EXPECT_EQ(kinds_of(events),
            (Kinds{CongestionEventKind::born, CongestionEventKind::born, CongestionEventKind::moved_downstream}));
  EXPECT_GT(events[2].at, 150'000U) << "when the fourth flow has joined";
  EXPECT_EQ(events[2].old_root, events[0].root);
  EXPECT_EQ(events[2].root, events[1].root);
}

TEST(CongestionTreeEvents, TreesOverlapAndGetANewRootUpstreamOfTheOldOne) {
  const std::vector<CongestionEvent> events = events_of("3a");
  const CongestionEvent& first = events.front();
  const CongestionEvent& last = events.back();
  EXPECT_EQ(last.kind, CongestionEventKind::moved_upstream);
  EXPECT_GT(last.at, 200'000U) << "when the second tree has begun";
  EXPECT_EQ(last.old_root, first.root);
}

TEST(CongestionTreeEvents, TreesOverlapAndStaySeparate) {
  const std::vector<CongestionEvent> events = events_of("3b");
  u32 born = 0;
  u32 overlaps = 0;
  for (const CongestionEvent& event : events) {
    born += event.kind == CongestionEventKind::born ? 1 : 0;
    overlaps += event.kind == CongestionEventKind::overlap ? 1 : 0;
  }
  EXPECT_EQ(born, 2U);
  EXPECT_GE(overlaps, 1U);
  EXPECT_EQ(events.size(), born + overlaps) << "nothing merges, splits or dies";
}

TEST(CongestionTreeEvents, TheRootMovesUpstreamInOneEvent) {
  const std::vector<CongestionEvent> events = events_of("3c");
  const CongestionEvent& last = events.back();
  EXPECT_EQ(last.kind, CongestionEventKind::moved_upstream);
  EXPECT_GT(last.at, 200'000U) << "when the branch has ended";
  EXPECT_EQ(last.old_root, events.front().root);
  for (std::size_t n = 0; n + 1 < events.size(); ++n) EXPECT_NE(events[n].kind, CongestionEventKind::moved_upstream);
}

/// The roots that set-aside queues are for, at the end of the record: the dots of the paper's Figure 6.
std::size_t believed_roots(const std::string& queues) {
  const Study& study = find_study("congestion-trees");
  const std::string text(file_text(study.files, "figure-6-seven.toml"));
  const api::Result result =
      api::run(api::read_experiments_text(text, "6-seven", {"switch.queues=" + queues}).points.front());
  std::set<u32> roots;
  const stats::CongestionRecord record = result.trees->record();
  for (const stats::CongestionQueue& queue : record.samples.back().queues) roots.insert(queue.root);
  return roots.size();
}

TEST(CongestionTrees, Figure6IsDrawnWithTheRootsThatTheSwitchesBelieveIn) {
  EXPECT_EQ(believed_roots("recn_basic"), 7U);
  EXPECT_EQ(believed_roots("recn_enhanced"), 1U);
}

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
}  // namespace banyan::study::congestion_trees_test
