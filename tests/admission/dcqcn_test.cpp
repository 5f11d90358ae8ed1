// Does DCQCN find the fixed point of its fluid model, and are its flows equal there?
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "admission/admissions.hpp"

namespace banyan::dcqcn_test {
namespace {

using namespace banyan;

constexpr double kFlitNs = 0.2;          ///< a byte at 40 Gbps
constexpr double kPacketFlits = 1030.0;  ///< 1,024 bytes and the overhead of cioq

/// Terminals 1 .. flows send to terminal 0 as much as they may, over links of 40 Gbps; marks of the paper,
/// with thresholds of 5 and 200 packets.
std::string incast(u32 flows, double load = 0.98) {
  std::string sources = "1";
  for (u32 t = 2; t <= flows; ++t) sources += ", " + std::to_string(t);
  const std::string hosts = flows < 8 ? "8, ports = 16" : "64, ports = 8";
  return "topology = { name = 'bidirectional_min', hosts = " + hosts +
         ", terminal_latency = 500 }\nswitch = { name = 'cioq', queues = '1q', speedup = 2, link = 40, packet = 1024, "
         "memory = 4000000, mark = { low = 5, high = 200, probability = 0.01 } }\n"
         "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [" + std::to_string(load) + "], size = 1024 }\n";
}

/// The share of marks at which the rates of N equal flows stand still: the derivatives of the target rate and of the
/// current rate in the fluid model (SIGCOMM 2015) are 0. Packets and nanoseconds.
double fixed_point(u32 flows) {
  const double rate = 1.0 / (kPacketFlits * kFlitNs) / flows;
  const double additive = 0.001 / (kPacketFlits * kFlitNs);
  constexpr double kNotification = 50'000.0;
  constexpr double kTimer = 55'000.0;
  constexpr double kBytes = 1e7 / 1024;
  constexpr double kRecovery = 5.0;
  const auto climbs = [&](double p) {
    const double spared = 1.0 - p;
    const double estimate = 1.0 - std::pow(spared, kTimer * rate);
    const double notified = 1.0 - std::pow(spared, kNotification * rate);
    const auto stage = [&](double packets) { return 1.0 / (std::pow(spared, -packets) - 1.0); };
    const double gap = rate * estimate / kNotification * notified / (rate * p * (stage(kBytes) + stage(kTimer * rate)));
    const double up = additive * rate * p *
                      (std::pow(spared, kRecovery * kBytes) * stage(kBytes) +
                       std::pow(spared, kRecovery * kTimer * rate) * stage(kTimer * rate));
    return up > gap / kNotification * notified;
  };
  double low = 1e-7;
  double high = 0.5;
  for (u32 i = 0; i < 100; ++i) (climbs(std::sqrt(low * high)) ? low : high) = std::sqrt(low * high);
  return low;
}

/// The queue stands where the marks are those of the fixed point. The model knows neither packets nor the first
/// milliseconds, in which the flows cut each other down and climb again: a third is left for that.
TEST(Dcqcn, FindsItsFixedPoint) {
  for (const u32 flows : {2U, 4U}) {
    const double empty = test::run(incast(flows, 0.01), "'dcqcn'", "duration = 2000000").at("network_latency").mean;
    const api::Result held = test::run(incast(flows), "'dcqcn'", "duration = 400000000");
    const double queue = (held.at("network_latency").mean - empty) / kPacketFlits;
    const double expected = 5 + fixed_point(flows) / 0.01 * 195;
    EXPECT_NEAR(queue, expected, expected / 3) << flows;
    EXPECT_GT(held.at("accepted_load_fairness").mean, 0.98) << flows;
    EXPECT_GT(held.at("accepted_load").mean * 8, 0.92 * 1024 / kPacketFlits) << flows;
  }
}

/// 63 flows to 1 have no fixed point below the upper threshold: the queue swings, and the shares are equal all the
/// same.
TEST(Dcqcn, SharesALinkOfManyEvenly) {
  const api::Result held = test::run(incast(63, 0.9), "'dcqcn'", "duration = 200000000");
  EXPECT_GT(fixed_point(63), 0.01);
  EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95);
  EXPECT_GT(held.at("accepted_load").mean * 64, 0.9 * 1024 / kPacketFlits);
  // A notification per flow and 50 us at the most, of 64 bytes.
  EXPECT_LT(held.at("control_share").mean, 63 * 64 / (50'000 / kFlitNs));
}

/// Without a mark the rate is the link's.
TEST(Dcqcn, LeavesACalmNetworkAlone) {
  const std::string calm = incast(2, 0.4);
  const api::Result held = test::run(calm, "'dcqcn'", "duration = 2000000, audit = 'full'");
  const api::Result open = test::run(calm, "{ name = 'window', size = 1000000000, feedback = 'words' }",
                                     "duration = 2000000, audit = 'full'");
  EXPECT_EQ(held.at("marked").mean, 0.0);
  EXPECT_EQ(held.at("accepted_load").mean, open.at("accepted_load").mean);
}

TEST(Dcqcn, HoldsOnEverySwitchModelForAnyShardsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"packets", "words"}) {
      const std::string dcqcn = std::string(
                                    "{ name = 'dcqcn', notification_time = 50, increase_time = 60, estimate_time "
                                    "= 70, increase_flits = 100, feedback = '") +
                                feedback + "' }";
      const auto hash = [&](const std::string& how) {
        return test::run(network.text, dcqcn, "warmup = 300, measure = 3000, audit = 'full'" + how).state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << network.model << how;
    }
  }
}

}  // namespace
}  // namespace banyan::dcqcn_test
