// Does the queue swing where the theory of DCTCP says, are flows equal, and is the link full?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "admission/admissions.hpp"

namespace banyan::dctcp_test {
namespace {

using namespace banyan;

constexpr double kPacketCycles = 70.0;  ///< of 64 bytes on a link of cioq, with its overhead
constexpr u32 kLatency = 2000;          ///< of a terminal's channel, cycles

/// `flows` terminals of one switch send to terminal 0 as much as they may. Queues are at the output to it.
std::string incast(u32 flows, u32 threshold, double load = 0.9) {
  std::string sources = "1";
  for (u32 t = 2; t <= flows; ++t) sources += ", " + std::to_string(t);
  const std::string hosts = flows < 4 ? "4, ports = 8" : "8, ports = 16";
  const std::string k = std::to_string(threshold);
  return "topology = { name = 'bidirectional_min', hosts = " + hosts +
         ", terminal_latency = " + std::to_string(kLatency) +
         " }\nswitch = { name = 'cioq', queues = '1q', speedup = 2, memory = 131072, mark = { low = " + k +
         ", high = " + k +
         " } }\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
         "traffic = { name = 'flows', sources = [" +
         sources + "], destinations = [0], loads = [" + std::to_string(load) + "], size = 64 }\n";
}

/// The mean queue of section 3.3: it swings between K + N - A and K + N packets, where A = N D, D = (W + 1) alpha / 2,
/// alpha^2 (1 - alpha / 4) = (2 W + 1) / (W + 1)^2 and W = (C RTT + K) / N.
double mean_queue(u32 flows, u32 threshold, double round_trip) {
  const double window = (round_trip / kPacketCycles + threshold) / flows;
  const double right = (2 * window + 1) / ((window + 1) * (window + 1));
  double low = 0.0;
  double high = 2.0;
  for (u32 i = 0; i < 60; ++i) {
    const double alpha = (low + high) / 2;
    (alpha * alpha * (1 - alpha / 4) > right ? high : low) = alpha;
  }
  return threshold + flows - flows * (window + 1) * low / 4;
}

/// The theory has its marks at arrival, and its flows in step, so that the queue rises to N above the threshold. Marks
/// at departure save four packets, and flows out of step half of these N.
TEST(Dctcp, KeepsTheQueueWhereTheTheoryHasIt) {
  for (const u32 flows : {2U, 3U, 7U}) {
    const double empty = test::run(incast(flows, 20, 0.01),
                                   "{ name = 'dctcp', feedback = 'words', feedback_every = 1 }", "duration = 500000")
                             .at("network_latency")
                             .mean;
    for (const u32 threshold : {20U, 40U, 80U}) {
      const api::Result held = test::run(
          incast(flows, threshold), "{ name = 'dctcp', feedback = 'words', feedback_every = 1 }", "duration = 4000000");
      const double queue = (held.at("network_latency").mean - empty) / kPacketCycles;
      const double round_trip = 2 * empty;
      EXPECT_NEAR(queue, mean_queue(flows, threshold, round_trip), 4.0 + flows / 2.0)
          << flows << " flows, K = " << threshold;
      const double full = 64 / kPacketCycles / (flows < 4 ? 4 : 8);
      EXPECT_GT(held.at("accepted_load").mean, 0.97 * full) << flows << " flows, K = " << threshold;
      EXPECT_GT(held.at("accepted_load_fairness").mean, 0.95) << flows << " flows, K = " << threshold;
    }
  }
}

/// How a series swings about its mean: the mean range and the mean length, in entries, of what lies between two
/// crossings upwards. A crossing counts when the series was below the mean by a quarter of its deviation before.
struct Swing {
  double range = 0.0;
  double length = 0.0;
  u32 count = 0;
};
Swing swing_of(const std::vector<double>& series) {
  const double count = static_cast<double>(series.size());
  const double mean = std::accumulate(series.begin(), series.end(), 0.0) / count;
  double square = 0.0;
  for (const double value : series) square += (value - mean) * (value - mean) / count;
  Swing swing;
  bool below = false;
  double least = mean;
  double most = mean;
  std::size_t first = 0;
  std::size_t last = 0;
  for (std::size_t k = 0; k < series.size(); ++k) {
    least = std::min(least, series[k]);
    most = std::max(most, series[k]);
    below = below || series[k] < mean - std::sqrt(square) / 4;
    if (!below || series[k] < mean) continue;
    below = false;
    if (first != 0) {
      swing.range += most - least;
      ++swing.count;
    } else {
      first = k;
    }
    last = k;
    least = most = mean;
  }
  swing.range /= swing.count;
  swing.length = static_cast<double>(last - first) / swing.count;
  return swing;
}

/// Section 3.3: flows in step swing by A = sqrt(2 N (C RTT + K)) / 2 packets (equation 8), once in sqrt(2 (C RTT + K) /
/// N) / 2 round trips (equation 9). What is under way and does not wait is constant while the link is busy, so that the
/// packets in the network swing as the queue.
TEST(Dctcp, SwingsAsFarAndAsOftenAsTheTheoryHasIt) {
  constexpr Tick kWindow = 1400;
  for (const u32 flows : {2U, 3U}) {
    for (const u32 threshold : {40U, 80U}) {
      const double empty = 2 * kLatency + 2 * kPacketCycles + kPacketCycles / 2;
      const double round_trip = 2 * empty / kPacketCycles;
      const double in_flight = round_trip + threshold;
      const double range = std::sqrt(2 * flows * in_flight) / 2;
      const double period = std::sqrt(2 * in_flight / flows) / 2 * (in_flight * kPacketCycles);
      const api::Result held =
          test::run(incast(flows, threshold), "{ name = 'dctcp', feedback = 'words', feedback_every = 1 }",
                    "duration = 8000000, window = " + std::to_string(kWindow));
      std::vector<double> queue;
      for (const stats::Series& series : held.series) {
        if (series.name == "packets_in_network") queue = series.values;
      }
      ASSERT_GT(queue.size(), 1000U);
      queue.erase(queue.begin(), queue.begin() + 1000);
      const Swing swing = swing_of(queue);
      EXPECT_NEAR(swing.range, range, 0.3 * range) << flows << " flows, K = " << threshold << ", " << swing.count;
      // Two flows at K = 80 fall out of step, and the sum of them swings half as often.
      if (flows == 2 && threshold == 80) continue;
      EXPECT_NEAR(swing.length * kWindow, period, 0.3 * period) << flows << " flows, K = " << threshold;
    }
  }
}

/// What a flow may send and does not need is no reason to let its window grow.
TEST(Dctcp, DoesNotGrowUnused) {
  const std::string calm = incast(2, 1000, 0.05);
  const auto run = [&](const std::string& more) {
    return test::run(calm, "{ name = 'dctcp'" + more + " }", "duration = 400000, audit = 'full'");
  };
  EXPECT_EQ(run("").at("accepted_load").mean, run(", initial = 1000").at("accepted_load").mean);
  EXPECT_EQ(run("").at("network_latency").mean, run(", initial = 1000").at("network_latency").mean);
}

/// The first mark halves a window; with a gain of 1 the estimate is that of the last round trip alone. Either way no
/// window falls below its least.
TEST(Dctcp, CutsDownToItsLeastWindow) {
  const api::Result held =
      test::run(incast(7, 1), "{ name = 'dctcp', least = 1, gain = 1 }", "duration = 1000000, audit = 'full'");
  // Seven windows of a packet each: as many per round trip at least.
  const double packets = held.at("accepted_load").mean * 8 * 1000000 / 64;
  EXPECT_GT(packets, 0.9 * 7 * 1000000 / (2 * 4245 + 4 * kPacketCycles));
}

TEST(Dctcp, HoldsOnEverySwitchModelForAnyShardsAndOrder) {
  for (const test::Network& network : test::networks()) {
    for (const char* feedback : {"packets", "words"}) {
      const std::string dctcp = std::string("{ name = 'dctcp', flow = 'destination', feedback = '") + feedback + "' }";
      const auto hash = [&](const std::string& how) {
        return test::run(network.text, dctcp, "warmup = 300, measure = 3000, audit = 'full'" + how).state_hash;
      };
      const u64 plain = hash("");
      for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"})
        EXPECT_EQ(hash(how), plain) << network.model << how;
    }
  }
}

}  // namespace
}  // namespace banyan::dctcp_test
