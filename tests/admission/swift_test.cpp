// Does Swift keep the round trip at its target, with windows above and below a packet?
#include <gtest/gtest.h>

#include <string>

#include "admission/admissions.hpp"

namespace banyan::swift_test {
namespace {

using namespace banyan;

constexpr double kPacketCycles = 70.0;  ///< of 64 bytes on a link of cioq, with its overhead

/// Terminals 1 .. flows send to terminal 0 as much as they may; a cycle is a nanosecond. Nothing is marked.
std::string incast(u32 flows, double load = 0.9, u32 latency = 500) {
  std::string sources = "1";
  for (u32 t = 2; t <= flows; ++t) sources += ", " + std::to_string(t);
  const std::string hosts = flows < 8 ? "8, ports = 16" : "64, ports = 8";
  return "topology = { name = 'bidirectional_min', hosts = " + hosts +
         ", terminal_latency = " + std::to_string(latency) +
         " }\nswitch = { name = 'cioq', queues = 'voqnet', speedup = 2, memory = 4000000 }\n"
         "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [" + std::to_string(load) + "], size = 64 }\n";
}

std::string swift(double target, const std::string& more = "") {
  const char* const hops = more.find("hop_target") == std::string::npos ? ", hop_target = 0" : "";
  return "{ name = 'swift', feedback = 'words', target = " + std::to_string(target) + hops + more + " }";
}

/// A word comes back in the time of a lone flit, which is that of an empty network but for the packet's length.
TEST(Swift, KeepsTheRoundTripAtItsTarget) {
  for (const u32 flows : {1U, 2U, 7U}) {
    const double empty =
        test::run(incast(flows, 0.01), swift(100'000), "duration = 1000000").at("network_latency").mean;
    for (const double target : {8'000.0, 25'000.0}) {
      const api::Result held = test::run(incast(flows), swift(target), "duration = 40000000");
      const double word = empty - 2.5 * 63;  // two links and a crossbar of twice their rate, 63 bytes shorter
      EXPECT_NEAR(held.at("network_latency").mean + word, flows == 1 ? 0 : target, flows == 1 ? target : 0.08 * target)
          << flows << " flows";
      EXPECT_GT(held.at("accepted_load").mean * 8, (flows == 1 ? 0.89 : 0.97 * 64 / kPacketCycles))
          << flows << " flows";
      EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95) << flows << " flows";
    }
  }
}

/// The round trip that is aimed at is less than 63 packets long, so that 63 flows have less than one each: the queue
/// stays where it is aimed at.
TEST(Swift, HasWindowsBelowAPacket) {
  const double empty = 2 * 70 + 35 + 4 * (70 + 35);  // of five switches
  const double target = 2 * empty + 20 * kPacketCycles;
  const api::Result held = test::run(incast(63, 0.9, 1), swift(target), "duration = 8000000");
  EXPECT_LT(target / kPacketCycles, 63.0);
  EXPECT_LT(held.at("network_latency").mean + empty, 1.4 * target);
  EXPECT_GT(held.at("accepted_load").mean * 64, 0.9 * 64 / kPacketCycles);
  // A window of a packet and more holds a queue of a packet per flow.
  const api::Result whole = test::run(incast(63, 0.9, 1), swift(target, ", least = 1"), "duration = 8000000");
  EXPECT_GT(whole.at("network_latency").mean, held.at("network_latency").mean);
}

/// The more switches on the way, and the smaller the window, the larger the target.
TEST(Swift, ScalesItsTarget) {
  const auto latency = [&](const std::string& more) {
    return test::run(incast(7), swift(8'000, more), "duration = 10000000").at("network_latency").mean;
  };
  const double plain = latency("");
  EXPECT_NEAR(latency(", hop_target = 3000"), plain + 3'000, 900);  // one switch
  EXPECT_GT(latency(", flow_target = 40000"), plain + 1'000);
}

TEST(Swift, HoldsOnEverySwitchModelForAnyShardsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"packets", "words"}) {
      const std::string held =
          std::string("{ name = 'swift', target = 30, hop_target = 5, feedback = '") + feedback + "' }";
      const auto hash = [&](const std::string& how) {
        return test::run(network.text, held, "warmup = 300, measure = 3000, audit = 'full'" + how).state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << network.model << how;
    }
  }
}

}  // namespace
}  // namespace banyan::swift_test
