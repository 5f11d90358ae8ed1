// Do the intervals hold of runs that choose their own length? Those in which queues happened to be short look certain
// first. Near saturation, because light loads end at once.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "banyan/api/experiment.hpp"
#include "support/effort.hpp"

namespace banyan::api::default_length_coverage_test {
namespace {

/// At 0.97 of saturation where the load is 0.38.
Result run_mesh(const char* load, u32 seed) {
  return run(read_experiments_text("topology = { name = \"mesh\", size = [8, 8] }\nrouting = \"dimension_order\"\n"
                                   "switch = { name = \"vc_router\", vcs = 4, buffer = 8 }\n"
                                   "traffic = { name = \"uniform\", size = 4 }\n",
                                   "mesh.toml",
                                   {std::string("traffic.load=") + load, "run.seed=" + std::to_string(seed)})
                 .points.front());
}

/// Of 40 intervals that hold in 95 % of cases more than 5 miss in 1.4 % of all tries. 8 missed when the length did not
/// depend on the curvature.
TEST(SlowDefaultLength, IsChosenSoThatTheIntervalsHold) {
  if (test::kSanitized) GTEST_SKIP() << "statistics are the other builds' affair";
  constexpr double kLatency = 67.90;  // mean of 20 million cycles
  u32 certain = 0;
  u32 wrong = 0;
  for (u32 seed = 1; seed <= 40; ++seed) {
    const Result result = run_mesh("0.38", seed);
    ASSERT_EQ(result.verdict, Verdict::steady) << seed;
    if (!result.certain) continue;
    const stats::Metric& latency = result.at("packet_latency");
    ++certain;
    wrong += std::abs(latency.mean - kLatency) > *latency.half_width ? 1U : 0U;
  }
  ::testing::Test::RecordProperty("wrong", static_cast<int>(wrong));
  EXPECT_GE(certain, 36U);
  EXPECT_LE(wrong, 5U);
}

TEST(DefaultLength, GrowsUntilTheMeanStandsOnEnough) {
  const auto extended = [](const char* load) { return run_mesh(load, 1).find("measured_cycles") != nullptr; };
  EXPECT_FALSE(extended("0.2")) << "known within a fiftieth at once";
  EXPECT_TRUE(extended("0.38"));
}

}  // namespace
}  // namespace banyan::api::default_length_coverage_test
