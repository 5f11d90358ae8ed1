// Where nothing is random: is one session run instead of many equal ones, does the result say so, and is it true?
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "banyan/api/measure/compare.hpp"
#include "banyan/api/measure/sessions.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"

namespace banyan::api::deterministic_test {
namespace {

const std::string kCollective =
    "topology = { name = \"fat_tree\", arity = 2, levels = 3 }\n"
    "switch   = { name = \"vc_router\", vcs = 2 }\n"
    "routing  = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"
    "traffic  = { name = \"collective\", size = 4 }\n"
    "[run]\n"
    "sessions = 6\n";

Result run_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return run(read_experiments_text(text, "deterministic", overrides).points.front());
}

TEST(Deterministic, OneSessionIsRunAndTheResultSaysSo) {
  const Result result = run_of(kCollective);
  EXPECT_EQ(result.verdict, Verdict::finished);
  EXPECT_EQ(result.at("deterministic").mean, 1.0);
  EXPECT_EQ(result.at("sessions").mean, 1.0);
  EXPECT_EQ(result.explanation.rfind("deterministic: ", 0), 0U) << result.explanation;
  for (const stats::Metric& metric : result.metrics) EXPECT_FALSE(metric.half_width.has_value()) << metric.name;
  EXPECT_NE(to_table(result).find("deterministic"), std::string::npos);
  EXPECT_EQ(to_table(result).find("?"), std::string::npos) << to_table(result);
  EXPECT_EQ(run_of(kCollective, {"run.seed=7"}).at("completion_time").mean, result.at("completion_time").mean);
}

TEST(Deterministic, IsNoOtherExperiment) {
  const Result result = run_of(kCollective, {"routing.up=random"});
  EXPECT_EQ(result.find("deterministic"), nullptr);
  EXPECT_EQ(result.at("sessions").mean, 6.0);
  EXPECT_TRUE(result.at("completion_time").half_width.has_value());
}

/// What a switch model draws may depend on its parameters.
TEST(Deterministic, IsNoModelThatDrawsWithItsParameters) {
  for (const std::vector<std::string>& draws :
       std::vector<std::vector<std::string>>{{"switch.sw_allocator=pim"},
                                             {"switch.vc_allocator=pim_offset"},
                                             {"switch.vc_allocator=pim"},
                                             {"switch.mark.low=1", "switch.mark.high=4"},
                                             {"switch.mark.low=4", "switch.mark.high=4", "switch.mark.above=0.5"}}) {
    const Result result = run_of(kCollective, draws);
    EXPECT_EQ(result.find("deterministic"), nullptr) << draws.front();
    EXPECT_EQ(result.at("sessions").mean, 6.0) << draws.front();
  }
  EXPECT_GT(run_of(kCollective, {"switch.sw_allocator=pim"}).at("completion_time").half_width.value(), 0.0);
  const Result all_marked = run_of(kCollective, {"switch.mark.low=4", "switch.mark.high=4"});
  EXPECT_EQ(all_marked.at("deterministic").mean, 1.0);
}

TEST(Deterministic, NeedsNoPrecision) {
  const Result result = run_of(kCollective, {"run.precision=0.01"});
  EXPECT_EQ(result.at("sessions").mean, 1.0);
  EXPECT_EQ(result.warning, "");
}

TEST(Deterministic, ResultsAreReadBackAndComparedExactly) {
  const Result a = run_of(kCollective);
  const Result back = from_json(to_json(a));
  EXPECT_EQ(back.at("deterministic").mean, 1.0);
  EXPECT_FALSE(back.at("completion_time").half_width.has_value());
  const Comparison same = compare(a, back);
  const Comparison longer = compare(a, run_of(kCollective, {"traffic.size=8"}));
  bool seen = false;
  for (const MetricDifference& row : same.metrics) {
    if (row.metric != "completion_time") continue;
    seen = true;
    EXPECT_EQ(row.difference.absolute.half_width, 0.0);
    EXPECT_FALSE(row.difference.significant());
  }
  EXPECT_TRUE(seen);
  for (const MetricDifference& row : longer.metrics) {
    if (row.metric != "completion_time") continue;
    EXPECT_TRUE(row.difference.significant());
  }
}

/// The hash of a session, or nothing for an experiment that is refused or random.
std::optional<u64> session_of(const test::Combination& c, u64 seed, u32 replication) {
  try {
    const Experiment experiment = c.experiment("session_limit = 3000, seed = " + std::to_string(seed));
    const Network network = build_network(experiment);
    if (!c.switching->draws_nothing || network.routing->random()) return std::nullopt;
    if (c.switching->draws != nullptr && c.switching->draws(experiment.switching)) return std::nullopt;
    const Instance instance = build_instance(experiment, network, engine_settings(experiment));
    for (const auto& traffic : instance.traffics) {
      if (traffic->random()) return std::nullopt;
    }
    const engine::SessionSettings settings = session_settings(experiment.run);
    return engine::run_session(*instance.machine, *network.topology, replication, settings).hash;
  } catch (const ConfigError&) { return std::nullopt; }
}

/// What a component says of itself: whoever denies that it is random has equal sessions, whatever the seed.
TEST(Deterministic, NoComponentSaysSoThatDrawsWords) {
  u32 found = 0;
  for (const test::Combination& c : test::all_combinations()) {
    const std::string& traffic = c.traffic->info.name;
    if (traffic != "collective" && traffic != "multicast_collective" && traffic != "trace") continue;
    const std::optional<u64> first = session_of(c, 1, 0);
    if (!first) continue;
    ++found;
    EXPECT_EQ(session_of(c, 1, 1), first) << c.name();
    EXPECT_EQ(session_of(c, 2, 0), first) << c.name();
  }
  EXPECT_GE(found, 40U);
}

}  // namespace
}  // namespace banyan::api::deterministic_test
