// Does a hot spot limit the load as Pfister and Norton say, and is a run that exceeds the limit told loudly?
#include "analysis/beside.hpp"
#include "banyan/api/predictions.hpp"

namespace banyan::test::pfister_norton_test {
namespace {

const char* const kExperiment = R"(
topology = { name = "multistage_cube", terminals = 16, radix = 2 }
switch = { name = "output_queued", buffer = 64 }
routing = "destination_tag"
analysis = "pfister_norton"
traffic = { name = "hot_spot", fraction = 0.125, load = 0.3, include_self = true }
run = { warmup = 20000, measure = 60000 }
)";

TEST(PfisterNorton, the_simulation_saturates_where_the_hot_spot_is_full) {
  // 1 / (1 + h (N - 1)) = 1 / 2.875 = 0.348.
  const api::Result below = run_toml(kExperiment);
  EXPECT_NEAR(below.at("accepted_load@pfister_norton").mean, 1 / 2.875, 1e-12);
  EXPECT_EQ(below.verdict, api::Verdict::steady);
  EXPECT_EQ(below.warning, "");
  EXPECT_EQ(run_toml(kExperiment, {"load=0.36"}).verdict, api::Verdict::saturated);
}

/// Replies are accepted too, and requests that combine reach nobody.
TEST(PfisterNorton, refuses_what_lifts_its_bound) {
  const std::string answers =
      "pfister_norton describes messages that nobody answers, and what is accepted counts replies too";
  EXPECT_EQ(refused(kExperiment, {"traffic.hot_spot.reply_size=[1]"}), answers);
  const api::Overrides fetch{"traffic.hot_spot.fetch_add=true"};
  EXPECT_EQ(refused(kExperiment, fetch), "");
  for (const char* combining : {"pairwise", "k_way", "any"}) {
    EXPECT_EQ(refused(kExperiment, {fetch[0], std::string("switch.combining=") + combining}),
              "pfister_norton describes requests that all reach the hot spot, and the switch combines them");
  }
}

TEST(PfisterNorton, circuits_end_over_all_channels_of_the_hot_node_unless_limited) {
  const std::string text =
      "topology = { name = 'torus', size = [8, 8] }\nswitch = 'circuit'\nrouting = 'fully_adaptive'\n"
      "analysis = 'pfister_norton'\nrun = { measure = 2000 }\n"
      "traffic = { name = 'hot_spot', fraction = 0.3, load = 0.05, size = 32 }\n";
  EXPECT_NEAR(run_toml(text).at("accepted_load@pfister_norton").mean, 4 / (63 * 0.3 + 0.7), 1e-12);
  EXPECT_NEAR(run_toml(text, {"switch.ejection_flits=1"}).at("accepted_load@pfister_norton").mean, 1 / (63 * 0.3 + 0.7),
              1e-12);
}

TEST(PfisterNorton, a_run_that_contradicts_a_proven_bound_says_so_loudly) {
  api::Result result;
  result.verdict = api::Verdict::steady;
  result.metrics.push_back({"accepted_load", 0.4, 0.01, 0.95, 100, "flits/cycle/terminal", false});
  api::add_predictions(result, {{"theory", {{"accepted_load", 0.36, "", false, core::Bound::upper}}}});
  EXPECT_NE(result.warning.find("CONTRADICTION: accepted_load = 0.4"), std::string::npos) << result.warning;
  EXPECT_NE(result.explanation.find("above the upper bound 0.36 that theory proves"), std::string::npos);
  api::Result within;
  within.metrics.push_back({"accepted_load", 0.37, 0.01, 0.95, 100, "flits/cycle/terminal", false});
  api::add_predictions(within, {{"theory", {{"accepted_load", 0.36, "", false, core::Bound::upper}}}});
  EXPECT_EQ(within.warning, "");
  EXPECT_EQ(within.metrics.at(1).name, "accepted_load@theory");
}

/// Of 112 cycles chance had offered 4 % less than was meant; what the flows that keep their rates brought more stood
/// above the bound of the meant ones.
TEST(PfisterNorton, what_chance_has_offered_more_is_no_contradiction) {
  const auto warned = [](double offered_within) {
    api::Result result;
    result.verdict = api::Verdict::saturated;
    result.metrics.push_back({"offered_load", 0.62, offered_within, 0.95, 100, "flits/cycle/terminal", false});
    result.metrics.push_back({"accepted_load", 0.4, 0.0, 0.95, 100, "flits/cycle/terminal", false});
    api::add_predictions(result, {{"theory", {{"accepted_load", 0.36, "", false, core::Bound::overload}}}});
    return !result.warning.empty();
  };
  EXPECT_FALSE(warned(0.07));
  EXPECT_TRUE(warned(0.01)) << "four intervals of the offered load above it";
}

TEST(PfisterNorton, only_a_run_that_is_steady_for_sure_contradicts_a_bound_of_steady_states) {
  const auto judged = [](api::Verdict verdict, bool certain, bool interval, core::Bound bound) {
    api::Result result;
    result.verdict = verdict;
    result.certain = certain;
    result.metrics.push_back({"accepted_load", 0.4, 0.01, 0.95, 100, "flits/cycle/terminal", false});
    if (!interval) result.metrics.back().half_width.reset();
    api::add_predictions(result, {{"theory", {{"accepted_load", 0.36, "", false, bound}}}});
    return result;
  };
  using api::Verdict;
  const auto contradicts = [&](Verdict verdict, bool certain, bool interval, core::Bound bound) {
    const api::Result result = judged(verdict, certain, interval, bound);
    EXPECT_EQ(result.warning.empty(), result.explanation.find("CONTRADICTION") == std::string::npos);
    return !result.warning.empty();
  };
  for (const core::Bound bound : {core::Bound::upper, core::Bound::overload}) {
    EXPECT_TRUE(contradicts(Verdict::steady, true, true, bound));
    EXPECT_FALSE(contradicts(Verdict::steady, false, true, bound)) << "it may be saturated";
    EXPECT_FALSE(contradicts(Verdict::finished, true, false, bound)) << "a transient";
    EXPECT_FALSE(contradicts(Verdict::deadlocked, true, true, bound));
  }
  EXPECT_FALSE(contradicts(Verdict::saturated, true, true, core::Bound::upper)) << "demands are not met alike";
  EXPECT_TRUE(contradicts(Verdict::saturated, true, true, core::Bound::overload));
  // Who looks at both numbers is told why one is above the other.
  EXPECT_NE(judged(Verdict::saturated, true, true, core::Bound::upper).explanation.find("some get more than others"),
            std::string::npos);
  EXPECT_NE(judged(Verdict::finished, true, false, core::Bound::upper).explanation.find("not shown to be in one"),
            std::string::npos);
}

}  // namespace
}  // namespace banyan::test::pfister_norton_test
