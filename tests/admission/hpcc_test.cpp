// Does HPCC keep the busiest link at its target with hardly a queue, in equal shares, whatever the shards and orders?
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "admission/admissions.hpp"

namespace banyan::hpcc_test {
namespace {

using namespace banyan;

constexpr double kPacketCycles = 70.0;  ///< of 64 bytes on a link of cioq, with its overhead

std::string sources(u32 flows) {
  std::string text = "1";
  for (u32 t = 2; t <= flows; ++t) text += ", " + std::to_string(t);
  return text;
}

/// Terminals 1 .. flows of a tree send to terminal 0 as much as they may.
std::string incast(const std::string& model, u32 flows, u32 size, double load, u32 latency) {
  return "topology = { name = 'bidirectional_min', hosts = 64, ports = 8, terminal_latency = " +
         std::to_string(latency) + " }\nswitch = " + model +
         "\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources(flows) + "], destinations = [0], loads = [" + std::to_string(load) +
         "], size = " + std::to_string(size) + " }\n";
}
const std::string kCioq = "{ name = 'cioq', queues = '1q', speedup = 2 }";

std::string hpcc(const std::string& more = "", const char* feedback = "words") {
  return std::string("{ name = 'hpcc', feedback = '") + feedback + "'" + more + " }";
}

/// N flows over one link: its use and its queue over what it carries in T are the target together, and what the flows
/// add in a round trip; a packet waits for one or two others, where a full link has thousands waiting.
TEST(Hpcc, KeepsTheLinkAtItsTargetWithHardlyAQueue) {
  const std::string run = "duration = 3000000";
  constexpr double kRoundTrip = 3000.0;
  for (const u32 flows : {2U, 8U}) {
    const double empty = test::run(incast(kCioq, flows, 64, 0.01, 500), "", run).at("network_latency").mean;
    for (const double target : {0.95, 0.8}) {
      const api::Result held = test::run(incast(kCioq, flows, 64, 0.9, 500),
                                         hpcc(", round_trip = 3000, target = " + std::to_string(target)), run);
      const double used = held.at("accepted_load").mean * 64 * kPacketCycles / 64;
      const double queue = held.at("network_latency").mean - empty;
      EXPECT_NEAR(used + queue / kRoundTrip, target, 0.05 * target) << flows << " flows";
      EXPECT_GT(used, 0.92 * target) << flows << " flows";
      EXPECT_LT(queue, 3 * kPacketCycles) << flows << " flows";
      EXPECT_GT(held.at("accepted_load_fairness").mean, 0.98) << flows << " flows";
    }
  }
}

/// The longest ways of a tree, where T is seven packets: with what goes without saying, a flow alone has its target,
/// and several have equal shares, though each has a packet or two in flight.
TEST(Hpcc, GivesFarFlowsTheirShares) {
  constexpr double kPacket = 1506.0 / 1500.0;
  const std::string far =
      "topology = { name = 'xgft', children = [8, 8], parents = [1, 4], latency = [100] }\n"
      "switch = { name = 'cioq', queues = 'voqsw', speedup = 2, packet = 1500, memory = 4000000 }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "traffic = { name = 'flows', destinations = [0], loads = [0.98], size = 1500, sources = ";
  for (const char* every : {"", ", feedback_every = 1", ", feedback_every = 4"}) {
    const std::string admission = std::string("{ name = 'hpcc'") + every + " }";
    const api::Result alone = test::run(far + "[8] }\n", admission, "duration = 12000000");
    EXPECT_NEAR(alone.at("accepted_load").mean * 64 * kPacket, 0.95, 0.01) << every;
    if (std::string_view(every).ends_with('4')) continue;  // each has fewer in flight than an acknowledgment waits for
    const api::Result several = test::run(far + "[8, 15, 22, 29] }\n", admission, "duration = 48000000");
    EXPECT_GT(several.at("accepted_load").mean * 64 * kPacket, 0.82) << every;
    EXPECT_GT(several.at("accepted_load_fairness").mean, 0.97) << every;
  }
  const std::string corners =
      "topology = { name = 'mesh', size = [8, 8] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 32 }\n"
      "routing = 'dimension_order'\n"
      "traffic = { name = 'incast', receivers = [0], senders = [63, 63], size = 32, amount = 200000 }\n";
  const double done =
      test::run(corners, "{ name = 'hpcc' }", "duration = 400000, window = 10000").at("incast_completion_last").mean;
  EXPECT_GT(200000 / done, 0.93);
}

/// 63 flows have less than a packet each in a round trip: pacing keeps their shares, and the queue stays short.
TEST(Hpcc, HasWindowsBelowAPacket) {
  const api::Result held = test::run(incast(kCioq, 63, 64, 0.9, 1), hpcc(), "duration = 6000000");
  const double used = held.at("accepted_load").mean * 64 * kPacketCycles / 64;
  EXPECT_GT(used, 0.75);
  EXPECT_LT(used, 1.0);
  EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95);
  EXPECT_LT(held.at("network_latency").mean, 60 * kPacketCycles);
}

/// All terminals of a tree send to one, over channels that take a flit per cycle.
TEST(Hpcc, KeepsItsTargetOnVcRouterToo) {
  const std::string fire =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8, terminal_latency = 50 }\n"
      "switch = { name = 'vc_router', vcs = 4, buffer = 128 }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "traffic = { name = 'hot_spot', load = 0.9, size = 8, targets = [0], fraction = 1.0 }\n";
  const api::Result held = test::run(fire, hpcc(), "duration = 400000");
  const api::Result open = test::run(fire, "", "duration = 400000");
  // The hot spot sends to the others, unhindered.
  EXPECT_NEAR(held.at("accepted_load").mean * 16 - 0.9, 0.95, 0.03);
  EXPECT_GT(held.at("accepted_load_min").mean * 15, 0.85);
  EXPECT_LT(held.at("network_latency").mean, 0.5 * open.at("network_latency").mean);
}

/// A link alone is no reason to hold back: below the target nothing is lost.
TEST(Hpcc, LeavesACalmFlowAlone) {
  const std::string run = "duration = 400000, audit = 'full'";
  const double open = test::run(incast(kCioq, 2, 64, 0.3, 1), "", run).at("accepted_load").mean;
  for (const char* feedback : {"words", "packets"}) {
    EXPECT_GT(test::run(incast(kCioq, 2, 64, 0.3, 1), hpcc("", feedback), run).at("accepted_load").mean, 0.98 * open);
  }
}

/// A flow alone has its target, also where its acknowledgments are long: its window is for the round trip with those.
TEST(Hpcc, AFlowAloneHasItsTargetWhateverAcknowledgmentsTake) {
  for (const u32 flits : {8U, 24U, 64U, 100U}) {
    const api::Result alone =
        test::run(incast(kCioq, 1, 64, 1.0, 1), hpcc(", feedback_flits = " + std::to_string(flits), "packets"),
                  "duration = 200000");
    EXPECT_NEAR(alone.at("accepted_load").mean * 64, 0.95 * 64 / 70, 0.02) << flits;
  }
}

TEST(Hpcc, HoldsOnEverySwitchModelForAnyShardsThreadsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"packets", "words"}) {
      const auto hash = [&](const std::string& how, u32 threads = 1) {
        const api::Experiment e =
            test::experiment(network.text, hpcc("", feedback), "warmup = 300, measure = 3000, audit = 'full'" + how);
        api::RunOptions options;
        options.threads = threads;
        return api::run(e, options).state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << network.model << how;
      EXPECT_EQ(hash(", shards = 4", 2), plain) << network.model;
    }
  }
}

/// Where switches write nothing, the run says so, and the remedy is one.
TEST(Hpcc, SaysWhereNothingIsWritten) {
  const std::string run = "warmup = 100, measure = 500";
  for (const test::Network& network : test::networks()) {
    const std::string model = network.model;
    const std::string warning = test::run(network.text, hpcc(), run).warning;
    const bool writes = model.starts_with("vc_router") || model == "cioq";
    EXPECT_EQ(warning.find("writes nothing; use the switch cioq or vc_router") == std::string::npos, writes)
        << model << ": " << warning;
  }
}

}  // namespace
}  // namespace banyan::hpcc_test
