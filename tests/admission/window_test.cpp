// Is a window's throughput its size over the round trip, whatever the switch model, the shards and the order of steps?
#include <gtest/gtest.h>

#include <cmath>

#include "admission/admissions.hpp"

namespace banyan::window_test {
namespace {

using namespace banyan;

std::string window(u64 size, const char* flow = "destination", const char* unit = "flits",
                   const std::string& feedback = "words") {
  return "{ name = 'window', size = " + std::to_string(size) + ", flow = '" + flow + "', unit = '" + unit +
         "', feedback = '" + feedback + "' }";
}

/// Two switches with a terminal each, which send to each other: nobody meets anybody.
std::string pair(u32 latency, u32 flits, double load = 0.9) {
  return "topology = { name = 'mesh', size = [2], latency = " + std::to_string(latency) +
         " }\nswitch = { name = 'vc_router', vcs = 4, buffer = 64 }\nrouting = 'dimension_order'\n"
         "traffic = { name = 'permutation', pattern = 'bit_complement', load = " +
         std::to_string(load) + ", size = " + std::to_string(flits) + " }\n";
}

/// Packets of f flits, a window of k of them: k f flits per round trip, which is the latency of a packet in the network
/// and that of the word that comes back.
TEST(Window, SendsAWindowPerRoundTrip) {
  for (const u32 latency : {1U, 10U, 50U}) {
    for (const u32 flits : {1U, 4U}) {
      const auto zero_load = [&](u32 length) {
        const std::string text = pair(latency, length, 0.001);
        const api::Result free = test::run(text, window(1'000'000'000), "warmup = 2000, measure = 20000");
        return free.at("network_latency").mean;
      };
      const double round_trip = zero_load(flits) + zero_load(1);
      for (const u64 packets : {1U, 2U, 3U}) {
        const double expected = std::min(0.9, static_cast<double>(packets * flits) / round_trip);
        const api::Result held =
            test::run(pair(latency, flits), window(packets * flits), "warmup = 1000, measure = 100000");
        EXPECT_NEAR(held.at("accepted_load").mean, expected, 0.02 * expected)
            << latency << " " << flits << " " << packets;
        const api::Result counted =
            test::run(pair(latency, flits), window(packets, "terminal", "packets"), "warmup = 1000, measure = 100000");
        EXPECT_EQ(held.at("accepted_load").mean, counted.at("accepted_load").mean);
      }
    }
  }
}

/// Messages for a hot spot that wait by the thousand, more than the flows of a terminal hold, leave its other traffic
/// alone.
TEST(Window, OfOneTrafficDoesNotHoldUpAnother) {
  const std::string fire =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 8 }\n"
      "routing = 'dimension_order'\ntraffic = [ { name = 'uniform', load = 0.1, size = 2 },\n"
      "{ name = 'hot_spot', load = 0.4, size = 2, targets = [5], fraction = 1.0 } ]\n";
  const api::Result held = test::run(fire, window(2), "warmup = 60000, measure = 20000, audit = 'full'");
  EXPECT_GT(held.at("wait_behind_flows").mean, 0.0);
  EXPECT_NEAR(held.at("accepted_load.uniform").mean, 0.1, 0.004);
}

/// A packet that is longer than the window goes alone instead of never.
TEST(Window, LetsALongPacketGoAlone) {
  const api::Result held = test::run(pair(1, 20), window(3), "warmup = 1000, measure = 20000, audit = 'full'");
  const api::Result one =
      test::run(pair(1, 20), window(1, "destination", "packets"), "warmup = 1000, measure = 20000, audit = 'full'");
  EXPECT_GT(held.at("accepted_load").mean, 0.1);
  EXPECT_EQ(held.at("accepted_load").mean, one.at("accepted_load").mean);
}

/// Every model runs to its end under a tight window with full audits, and accepts no more than without it.
TEST(Window, HoldsOnEverySwitchModel) {
  for (const test::Network& network : test::networks()) {
    const double open = test::run(network.text, "", "warmup = 1000, measure = 8000").at("accepted_load").mean;
    for (const char* feedback : {"words", "packets"}) {
      const api::Result held = test::run(network.text, window(1, "terminal", "packets", feedback),
                                         "warmup = 1000, measure = 8000, audit = 'full'");
      EXPECT_GT(held.at("accepted_load").mean, 0.0) << network.model << " " << feedback;
      EXPECT_LE(held.at("accepted_load").mean, open * 1.01) << network.model << " " << feedback;
    }
  }
}

/// Acknowledgments in packets take the way of any packet of one flit, and two cycles more: they are made in the cycle
/// after an arrival, and heard in the cycle after their own. One per data packet, they are no part of the load.
TEST(Window, AcknowledgmentsInPacketsTakeBandwidth) {
  for (const u32 flits : {1U, 4U}) {
    const auto zero_load = [&](u32 length) {
      return test::run(pair(50, length, 0.001), window(1'000'000'000), "warmup = 2000, measure = 20000")
          .at("network_latency")
          .mean;
    };
    const double round_trip = zero_load(flits) + zero_load(1) + 2;
    const api::Result held = test::run(pair(50, flits), window(flits, "destination", "flits", "packets"),
                                       "warmup = 1000, measure = 100000, audit = 'full'");
    const double expected = flits / round_trip;
    EXPECT_NEAR(held.at("accepted_load").mean, expected, 0.02 * expected) << flits;
    EXPECT_NEAR(held.at("control_share").mean, 1.0 / (flits + 1), 1e-3) << flits;
  }
}

TEST(Window, IsTheSameForAnyShardsThreadsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const bool packets : {false, true}) {
      const std::string held = packets ? window(3, "terminal", "packets", "packets") : window(64);
      const auto hash = [&](const std::string& how, u32 threads) {
        const api::Experiment e = test::experiment(network.text, held, "warmup = 300, measure = 3000" + how);
        api::RunOptions options;
        options.threads = threads;
        return api::run(e, options).state_hash;
      };
      const u64 plain = hash("", 1);
      const std::string model = network.model;
      EXPECT_EQ(hash(", wake = 'all'", 1), plain) << model;
      EXPECT_EQ(hash(", step_order = 'permuted'", 1), plain) << model;
      if (model.starts_with("vc_router")) {
        EXPECT_EQ(hash(", shards = 3", 1), plain) << model;
        EXPECT_EQ(hash(", shards = 4", 2), plain) << model;
      }
    }
  }
}

}  // namespace
}  // namespace banyan::window_test
