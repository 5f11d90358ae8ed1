// Is a run whose packets are longer on their way than it warms up, or than it drains, judged by what was measured?
#include <gtest/gtest.h>

#include "runs.hpp"

namespace banyan::api {
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

TEST(LongLatency, AShortRunBeyondSaturationIsStillSaturated) {
  EXPECT_EQ(run_of(kMesh, {"load=1.0", "run.warmup=100", "run.measure=500"}).verdict, Verdict::saturated);
}

}  // namespace
}  // namespace banyan::api
