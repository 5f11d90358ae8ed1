// Is every figure runnable and every claim answerable in each form of the study? Are the saturation trees of its paper
// among the congestion trees of a run?
#include <gtest/gtest.h>

#include <algorithm>
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
  for (const char* name :
       {"mu_syn", "mu_bg_tot", "mu_bg_hs", "session_cycles", "session_background", "session_bandwidth",
        "session_hot_background", "tree_height", "tree_boxes", "tree_boxes_outside", "sessions"}) {
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

TEST(ExtraStageCube, TheShorterFormsTestWhatTheirFiguresAllow) {
  for (const Mode mode : {Mode::quick, Mode::standard}) {
    const StudyResult result = run(mode);
    const std::vector<Claim> claims = find_study("extra-stage-cube").row->claims();
    ASSERT_EQ(result.claims.size(), claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
      bool covered = mode >= claims[i].from;
      for (const std::string& figure : claims[i].figures) covered = covered && result.view().has(figure);
      EXPECT_EQ(result.claims[i].verdict == ClaimVerdict::not_tested, !covered) << claims[i].id;
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

/// One synchronization over empty networks with buffers of one packet, sampled in every cycle.
api::Result synchronize(const std::string& network, const std::string& routing, u32 deviation, u64 seed) {
  const std::string text = "topology = " + network + "\nrouting = '" + routing +
                           "'\nswitch = { name = 'output_queued', buffer = 1 }\n[[traffic]]\n"
                           "name = 'synchronization'\nmean = 100\ndeviation = " +
                           std::to_string(deviation) + "\n[run]\nseed = " + std::to_string(seed) +
                           "\nsessions = 1\ntrees = true\ntrees_interval = 1\n";
  return api::run(api::read_experiments_text(text, "synchronization", {}).points.front());
}

const stats::CongestionTree* tree_of(const stats::CongestionSample& sample, u32 id) {
  for (const stats::CongestionTree& tree : sample.trees) {
    if (tree.id == id) return &tree;
  }
  return nullptr;
}

/// How many runs are looked at: which messages meet first is drawn.
constexpr u64 kRuns = 20;

TEST(SaturationTreeEvents, Figure9TheTreeOfTheHotMemoryModuleGrowsStageByStageAndIsBalanced) {
  using Kind = stats::CongestionEventKind;
  std::vector<u32> largest(3);
  u32 looked_at = 0;
  u32 cut_off = 0;  ///< runs in which processors are
  for (u64 seed = 1; seed <= kRuns; ++seed) {
    const api::Result result =
        synchronize("{ name = 'multistage_cube', terminals = 64, radix = 4 }", "destination_tag", 5, seed);
    const stats::CongestionRecord record = result.trees->record();
    ASSERT_FALSE(record.events.empty());
    const stats::CongestionEvent& born = record.events.front();
    EXPECT_EQ(born.kind, Kind::born);
    const u32 hot = record.events.back().root;
    // Where the first messages meet elsewhere, a spot shows there and moves to the memory module, or merges with it:
    // another story.
    if (born.root != hot || record.events.back().tree != born.tree) continue;
    ++looked_at;
    std::vector<u64> reached(4, kNever);  // stages from the hot spot on, then sources: when the tree first had them
    std::vector<u32> most(3);
    for (const stats::CongestionSample& sample : record.samples) {
      const stats::CongestionTree* tree = tree_of(sample, born.tree);
      if (tree == nullptr) continue;
      EXPECT_EQ(tree->root, hot) << "the root stays at the memory module";
      EXPECT_EQ(tree->victims, 0U) << "all messages go there";
      for (u32 depth = 0; depth < 3; ++depth) {
        const u32 members = tree->per_stage[2 - depth];
        most[depth] = std::max(most[depth], members);
        if (members != 0) reached[depth] = std::min(reached[depth], sample.at);
      }
      EXPECT_EQ(tree->switches, tree->per_stage[0] + tree->per_stage[1] + tree->per_stage[2]);
      // The tree is as deep as messages lie in stages before the root.
      EXPECT_TRUE(tree->per_stage[0] == 0 || tree->per_stage[1] != 0);
      if (tree->sources >= 16) reached[3] = std::min(reached[3], sample.at);
    }
    for (u32 depth = 0; depth < 3; ++depth) {
      EXPECT_LE(most[depth], 1U << 2 * depth) << "4^i nodes at depth i";
      largest[depth] = std::max(largest[depth], most[depth]);
    }
    EXPECT_EQ(reached[0], born.at);
    EXPECT_LE(reached[0], reached[1]);
    EXPECT_LE(reached[1], reached[2]);
    EXPECT_LE(reached[2], reached[3]);
    cut_off += reached[3] != kNever ? 1U : 0U;
    const stats::CongestionEvent& last = record.events.back();
    EXPECT_EQ(last.kind, Kind::died);
    for (const stats::CongestionEvent& event : record.events) {
      const bool aside = event.tree != born.tree && (event.kind == Kind::born || event.kind == Kind::merged);
      EXPECT_TRUE(aside || event.tree == born.tree) << "what else is born merges into that tree";
      if (event.kind != Kind::merged) continue;
      EXPECT_EQ(event.other, born.tree);
    }
  }
  EXPECT_GE(looked_at, 3U);
  EXPECT_GE(2 * cut_off, looked_at);
  EXPECT_EQ(largest, (std::vector<u32>{1, 4, 16})) << "completely balanced";
}

TEST(SaturationTreeEvents, Figure10TheReservedBoxesOfAStageInTheTreeHalveTowardsTheHotSpot) {
  using Kind = stats::CongestionEventKind;
  std::vector<u32> most(4);
  for (u64 seed = 1; seed <= 10 * kRuns; ++seed) {
    const api::Result result =
        synchronize("{ name = 'extra_stage_cube', terminals = 8, radix = 2, input_stage = 'enabled' }",
                    "isolated_hot_spot", 0, seed);
    const stats::CongestionRecord record = result.trees->record();
    for (const stats::CongestionSample& sample : record.samples) {
      for (const stats::CongestionTree& tree : sample.trees) {
        for (u32 stage = 0; stage < 4; ++stage) most[stage] = std::max(most[stage], tree.per_stage[stage]);
      }
    }
    // Spots of the input stage move downstream and merge until the box of stage 1 is the root.
    u32 root = kNone;
    u32 merges = 0;
    for (const stats::CongestionEvent& event : record.events) {
      EXPECT_NE(event.kind, Kind::moved_upstream);
      merges += event.kind == Kind::merged ? 1U : 0U;
      if (event.kind == Kind::moved_downstream) root = event.root;
    }
    EXPECT_NE(root, kNone) << "no spot moved";
    EXPECT_GE(merges, 1U);
    ASSERT_EQ(record.events.back().kind, Kind::died);
    EXPECT_EQ(record.events.back().root, root);
  }
  // The input stage, stage 2 and stage 1, of which two boxes are reserved, and stage 0, which one channel feeds.
  EXPECT_EQ(most, (std::vector<u32>{4, 2, 1, 0}));
}

}  // namespace
}  // namespace banyan::study::extra_stage_cube_test
