// Can every claim of the study of remedies fail?
#include <gtest/gtest.h>

#include "study/counter_figures.hpp"

namespace banyan::study::counter_figures_remedies_test {
namespace {

using test::Change;
using test::CounterFigure;
using test::World;

const std::string kPercentile = "victim_latency_p99";
const std::vector<std::string> kSudden{"case-4", "case-4-speedup-1"};

/// Seeds scatter a little, so that a mean over them has an interval.
void spread(World& world, const std::string& fire, const std::string& remedy, const std::string& metric, double value) {
  for (const Point* point : world.points(fire, {{"series", remedy}})) {
    world.set(*point, metric, value * (1 + 0.0005 * (World::number(*point, "seed") - 3)));
  }
}

/// Ratios of two remedies are taken seed by seed: only this one scatters.
void fixed(World& world, const std::string& fire, const std::string& remedy, const std::string& metric, double value) {
  for (const Point* point : world.points(fire, {{"series", remedy}})) world.set(*point, metric, value);
}

World paper() {
  World world("remedies", test::fake_run);
  for (const std::string& fire : kSudden) {
    for (const std::string remedy : {"recn_enhanced", "dcqcn", "dctcp", "swift"}) {
      fixed(world, fire, remedy, "throughput_before", 40);
      spread(world, fire, remedy, "lowest_throughput", remedy == "recn_enhanced" ? 39 : 20);
    }
  }
  for (const std::string fire : {"case-2", "case-4", "moving"}) {
    fixed(world, fire, "recn_enhanced", "congestion_tree_members_most", 200);
    spread(world, fire, "recn_dcqcn", "congestion_tree_members_most", 100);
    fixed(world, fire, "dcqcn", "throughput_during", 20);
    spread(world, fire, "dcqcn_root", "throughput_during", 30);
  }
  for (const std::string fire : {"case-2", "case-4", "moving", "storm"}) {
    fixed(world, fire, "voqsw", kPercentile, 1000);
    fixed(world, fire, "recn_enhanced", kPercentile, fire == "storm" ? 800 : 200);
    fixed(world, fire, "dcqcn", kPercentile, 900);
    spread(world, fire, "recn_dcqcn", kPercentile, 100);
  }
  spread(world, "storm", "recn_enhanced", kPercentile, 800);
  spread(world, "moving", "recn_enhanced", kPercentile, 200);
  fixed(world, "case-4", "swift", kPercentile, 100);
  spread(world, "case-4", "swift_far", kPercentile, 300);
  fixed(world, "collateral", "swift_far", "throughput_during", 1.0);
  spread(world, "collateral", "swift", "throughput_during", 0.1);
  for (const std::string remedy : {"recn_enhanced", "dcqcn", "infiniband_cc"}) {
    fixed(world, "round-trip", remedy, "throughput_before", 40);
    spread(world, "round-trip", remedy, "lowest_throughput", remedy == "recn_enhanced" ? 38 : 20);
  }
  fixed(world, "cube", "bypass", "mu_bg_tot", 60);
  for (const std::string remedy : {"isolated_background", "isolated_hot_spot", "hot_section"}) {
    spread(world, "cube", remedy, "mu_bg_tot", 30);
    fixed(world, "cube", remedy, "session_cycles", 300);
  }
  fixed(world, "cube", "combining", "mu_bg_tot", 15);
  spread(world, "cube", "combining", "session_cycles", 150);
  for (const std::string fire : {"case-2", "case-4", "moving"}) {
    spread(world, fire, "recn_told_infiniband_cc", kPercentile, 100);
  }
  for (const std::string fire : {"case-2", "case-4", "storm"}) {
    fixed(world, fire, "voqnet", "throughput_during", 40);
    spread(world, fire, "pause", "throughput_during", 20);
  }
  return world;
}

/// The value of these remedies on these fires.
Change value(const std::vector<std::string>& fires, const std::vector<std::string>& remedies, const std::string& metric,
             double value) {
  return [=](World& world) {
    for (const std::string& fire : fires) {
      for (const std::string& remedy : remedies) spread(world, fire, remedy, metric, value);
    }
  };
}

std::vector<CounterFigure> figures() {
  const std::vector<std::string> trees{"case-2", "case-4", "moving"};
  const std::vector<std::string> throttling{"dcqcn", "dctcp", "swift"};
  const std::vector<std::string> schemes{"isolated_background", "isolated_hot_spot", "hot_section"};
  const std::vector<std::string> both{"recn_dcqcn"};
  const std::vector<std::string> held{"case-2", "case-4", "storm"};
  const std::vector<std::string> recn{"recn_enhanced"};
  const std::string lowest = "lowest_throughput";
  const std::string size = "congestion_tree_members_most";
  const std::string during = "throughput_during";
  const double kept = 0.93 * 40;
  const double trip = 0.85 * 40;
  return {
      {"isolation-at-once", value(kSudden, recn, lowest, 20), value({"case-4"}, recn, lowest, 0.99 * kept),
       value(kSudden, recn, lowest, 1.01 * kept)},
      {"round-trip",
       test::together(
           {value({"round-trip"}, recn, lowest, 20), value({"round-trip"}, {"dcqcn", "infiniband_cc"}, lowest, 38)}),
       value({"round-trip"}, recn, lowest, 0.99 * trip), value({"round-trip"}, recn, lowest, 1.01 * trip)},
      {"throttling-late", value(kSudden, throttling, lowest, 40), value({"case-4"}, {"swift"}, lowest, 1.01 * kept),
       value(kSudden, throttling, lowest, 0.99 * kept)},
      {"throttling-frees", value(trees, both, size, 400), value({"moving"}, both, size, 202),
       value(trees, both, size, 198)},
      {"together", value({"case-2", "case-4", "moving", "storm"}, both, kPercentile, 2000),
       value({"case-2"}, both, kPercentile, 202), value({"case-2", "case-4", "moving"}, both, kPercentile, 198)},
      {"root-marks", value(trees, {"dcqcn_root"}, during, 10), value({"case-2"}, {"dcqcn_root"}, during, 20.79),
       value(trees, {"dcqcn_root"}, during, 21.21)},
      {"many-roots", value({"storm"}, recn, kPercentile, 100), value({"storm"}, recn, kPercentile, 495),
       value({"storm"}, recn, kPercentile, 505)},
      {"many-roots", value({"moving"}, recn, kPercentile, 900), value({"moving"}, recn, kPercentile, 505),
       value({"moving"}, recn, kPercentile, 495)},
      {"many-roots",
       test::together({value({"storm"}, recn, kPercentile, 100), value({"moving"}, recn, kPercentile, 900)}),
       value({"storm"}, recn, kPercentile, 495), value({"storm"}, recn, kPercentile, 505)},
      {"tuned-elsewhere",
       test::together(
           {value({"case-4"}, {"swift_far"}, kPercentile, 50), value({"collateral"}, {"swift"}, during, 1.0)}),
       value({"case-4"}, {"swift_far"}, kPercentile, 148.5), value({"case-4"}, {"swift_far"}, kPercentile, 151.5)},
      {"tuned-elsewhere", value({"case-4"}, {"swift_far"}, kPercentile, 50),
       value({"case-4"}, {"swift_far"}, kPercentile, 148.5), value({"case-4"}, {"swift_far"}, kPercentile, 151.5)},
      {"tuned-elsewhere", value({"collateral"}, {"swift"}, during, 1.0),
       value({"collateral"}, {"swift"}, during, 0.674), value({"collateral"}, {"swift"}, during, 0.66)},
      {"told-sources", value(trees, {"recn_told_infiniband_cc"}, kPercentile, 400),
       value({"moving"}, {"recn_told_infiniband_cc"}, kPercentile, 202),
       value(trees, {"recn_told_infiniband_cc"}, kPercentile, 198)},
      {"pauses-spread", value(held, {"pause"}, during, 40), value({"storm"}, {"pause"}, during, 32.3),
       value(held, {"pause"}, during, 31.7)},
      {"combining",
       test::together(
           {value({"cube"}, {"combining"}, "session_cycles", 600), value({"cube"}, schemes, "mu_bg_tot", 10)}),
       value({"cube"}, {"combining"}, "session_cycles", 303), value({"cube"}, {"combining"}, "session_cycles", 297)},
      {"cube-isolation", value({"cube"}, schemes, "mu_bg_tot", 120),
       value({"cube"}, {"hot_section"}, "mu_bg_tot", 60.6), value({"cube"}, schemes, "mu_bg_tot", 59.4)},
  };
}

test::CounterStudy study_of() { return {"remedies", paper, figures(), {}}; }
const bool kRegistered = test::studies_with_counter_figures().insert("remedies").second;

TEST(RemediesCounterFigures, every_claim_has_them) { test::every_claim_has_counter_figures(study_of()); }
TEST(RemediesCounterFigures, every_claim_can_fail) { test::claims_can_fail(study_of()); }
TEST(RemediesCounterFigures, fewer_data_never_give_a_better_verdict) {
  test::fewer_data_are_never_better(study_of(), 4);
}
TEST(RemediesCounterFigures, a_stored_study_is_judged_like_the_run) {
  test::a_stored_study_is_judged_like_the_run(study_of());
}

}  // namespace
}  // namespace banyan::study::counter_figures_remedies_test
