// Is a run whose packets are longer on their way than it warms up, or than it drains, judged by what was measured?
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "runs.hpp"

namespace banyan::api::long_latency_test {
namespace {

/// Packets take 2,700 cycles, the warm-up 2,000.
const std::string kLong =
    "topology = { name = \"mesh\", size = [4, 4], latency = 1000 }\n"
    "switch   = { name = \"vc_router\", vcs = 4, buffer = 2000 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"uniform\", load = 0.1 }\n";

TEST(LongLatency, TheWarmupFillsTheNetwork) {
  const Result result = run_of(kLong);
  EXPECT_EQ(result.verdict, Verdict::steady);
  EXPECT_NEAR(result.at("accepted_load").mean, 0.1, 0.003) << "with the first 2,000 cycles cut alone it is 0.095";
}

/// A wire remembers nothing, so that time on it does not count against the intervals.
TEST(LongLatency, MeansHaveIntervals) {
  const Result result = run_of(kLong);
  ASSERT_TRUE(result.at("packet_latency").half_width);
  EXPECT_LT(*result.at("packet_latency").half_width, 0.05 * result.at("packet_latency").mean);
  EXPECT_EQ(result.warning, "");
}

TEST(LongLatency, WhatIsStillOnItsWayAfterTheDrainIsNoSaturation) {
  const Result result = run_of(kLong, {"run.drain=0"});
  EXPECT_EQ(result.verdict, Verdict::steady);
  EXPECT_FALSE(result.certain);
  EXPECT_EQ(result.find("packet_latency"), nullptr) << "the slowest packets would be missing";
  EXPECT_NE(result.warning.find("run.drain"), std::string::npos);
}

TEST(LongLatency, ARunShorterThanAPacketsWayIsUncertain) {
  for (const char* measure : {"run.measure=50", "run.measure=2000", "run.measure=5000"}) {
    const Result result = run_of(kLong, {"run.warmup=0", measure});
    EXPECT_EQ(result.verdict, Verdict::steady) << measure;
    EXPECT_FALSE(result.certain) << measure;
    EXPECT_NE(result.warning.find("too short"), std::string::npos) << measure;
  }
}

/// Worms are counted as taken when they enter, and wait inside: no backlog grows at the sources, and packets are in the
/// network for a third of the run. They are not on long wires: the first ones took a twentieth of that.
TEST(LongLatency, ANetworkThatIsFullOfWhatWaitsIsSaturated) {
  const Result result = run_of(
      "topology = { name = 'bidirectional_min', hosts = 256, ports = 8 }\nswitch = 'input_buffer'\n"
      "routing = 'nearest_common_ancestor'\ntraffic = { name = 'multicast', load = 0.95, degree = 16, size = 64 }\n"
      "run = { warmup = 1000, measure = 9000 }\n");
  EXPECT_EQ(result.verdict, Verdict::saturated) << result.explanation;
  EXPECT_LT(result.at("accepted_load").mean, 0.7);
}

/// Packets are on wires for most of their 290 cycles, and buffers hold too few flits for the way of their credits.
TEST(SlowLongLatency, IntervalsHoldTheMean) {
  constexpr int kSeeds = 200;
  std::vector<stats::Metric> latencies;
  double sum = 0.0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const Result result = run_of(kLong, {"latency=100", "buffer=20", "load=0.25", "run.seed=" + std::to_string(seed)});
    latencies.push_back(result.at("packet_latency"));
    sum += latencies.back().mean;
  }
  int covered = 0;
  for (const stats::Metric& latency : latencies) {
    ASSERT_TRUE(latency.half_width);
    covered += std::abs(latency.mean - sum / kSeeds) <= *latency.half_width ? 1 : 0;
  }
  EXPECT_GE(covered, kSeeds * 92 / 100);
  RecordProperty("covered", covered);
}

TEST(LongLatency, AShortRunBeyondSaturationIsStillSaturated) {
  EXPECT_EQ(run_of(kMesh, {"load=1.0", "run.warmup=100", "run.measure=500"}).verdict, Verdict::saturated);
}

}  // namespace
}  // namespace banyan::api::long_latency_test
