// Is a buffer below the credit round trip told, and is the number of flits right: does a stream run at full speed with
// so many, and not with one less?
#include <gtest/gtest.h>

#include <string>

#include "api/runs.hpp"
#include "banyan/api/experiment.hpp"

namespace banyan::api::round_trip_test {
namespace {

/// One long packet alone, through one virtual channel of one long channel. The round trip is 2 x 5 cycles of channel,
/// 1 + 1 of traversal, and 1 in the next buffer.
const std::string kLine =
    "topology = { name = \"mesh\", size = [2], latency = [5] }\n"
    "switch   = { name = \"vc_router\", vcs = 1, buffer = 13 }\n"
    "routing  = \"dimension_order\"\n"
    "traffic  = { name = \"permutation\", pattern = \"bit_complement\", process = \"at_once\", batch = 1, size = 1000 "
    "}\n"
    "run      = { duration = 5000 }\n";
/// Two switches of four stages, the three channels, and the other flits.
constexpr double kUnhindered = 2 * 4 + 1 + 5 + 1 + 999;

double latency(const Overrides& overrides) { return run_of(kLine, overrides).find("packet_latency")->mean; }

TEST(RoundTrip, SoManyFlitsAsIsSaidRunAtFullSpeed) {
  EXPECT_EQ(latency({}), kUnhindered);
  EXPECT_EQ(run_of(kLine).warning, "");
  EXPECT_TRUE(check(experiment_of(kLine)).empty());
  EXPECT_GT(latency({"switch.buffer=12"}), kUnhindered + 999 / 13);
  EXPECT_EQ(latency({"switch.buffer=17", "switch.credit_delay=4"}), kUnhindered);
  EXPECT_GT(latency({"switch.buffer=16", "switch.credit_delay=4"}), kUnhindered + 50);
  EXPECT_EQ(latency({"switch.buffer=15", "switch.traversal_delay=3"}), kUnhindered + 2 * 2);
  EXPECT_GT(latency({"switch.buffer=14", "switch.traversal_delay=3"}), kUnhindered + 50);
}

TEST(RoundTrip, ASmallerBufferIsToldWithTheRemedy) {
  const auto notes = check(experiment_of(kLine, {"switch.buffer=12"}));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("13 flits"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("together hold 12"), std::string::npos) << notes[0];
  EXPECT_NE(notes[0].find("switch.buffer = 13"), std::string::npos) << notes[0];
  EXPECT_EQ(run_of(kLine, {"switch.buffer=12"}).warning, notes[0]);
  const auto longer = check(experiment_of(kLine, {"switch.buffer=12", "switch.credit_delay=4"}));
  ASSERT_EQ(longer.size(), 1U);
  EXPECT_NE(longer[0].find("switch.buffer = 17"), std::string::npos) << longer[0];
}

TEST(RoundTrip, SeveralVirtualChannelsTogetherMayCoverIt) {
  const Overrides two{"switch.vcs=2", "switch.buffer=12"};
  const auto notes = check(experiment_of(kLine, two));
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_NE(notes[0].find("a packet of 1000 flits pauses"), std::string::npos) << notes[0];
  Overrides shorter = two;
  shorter.emplace_back("traffic.size=12");
  EXPECT_TRUE(check(experiment_of(kLine, shorter)).empty());
  Overrides shared = two;
  shared.emplace_back("switch.buffer_policy=shared");
  EXPECT_TRUE(check(experiment_of(kLine, shared)).empty());
}

}  // namespace
}  // namespace banyan::api::round_trip_test
