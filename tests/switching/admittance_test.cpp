// Do the admittance queues of a cioq adapter send in an order that is fair and that locks nobody in?
#include "banyan/switching/cioq/admittance.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/archive.hpp"

namespace banyan::switching::cioq::admittance_test {
namespace {

constexpr u32 kTerminals = 100;
constexpr u32 kPacket = 64;
constexpr Stream kTestTurns{"admittance test: turns"};

Admittance queues(u64 seed, bool in_table = true) {
  Admittance all;
  std::vector<u32> adapters(kTerminals);
  std::iota(adapters.begin(), adapters.end(), 0U);
  all.resize(std::move(adapters), kTerminals, in_table ? kTerminals : 0);
  all.clear(Random(seed, kTestTurns, 0, 0));
  return all;
}

/// `messages` of a packet each wait for every one of some destinations.
void wait_for(Admittance& all, u32 adapter, const std::vector<u32>& destinations, u32 messages) {
  for (u32 n = 0; n < messages; ++n) {
    for (const u32 d : destinations) {
      engine::Source::Kept kept{};
      kept.nth = n;
      kept.destination = d;
      kept.flits = kPacket;
      all.push(adapter, kept);
    }
  }
}

std::vector<u32> send(Admittance& all, u32 adapter, u32 packets) {
  std::vector<u32> order;
  for (u32 n = 0; n < packets; ++n) {
    const u32 destination = all.next(adapter);
    EXPECT_EQ(all.next(adapter), destination) << "the same until it is sent";
    order.push_back(destination);
    all.pop(adapter, destination, kPacket);
  }
  return order;
}

std::vector<u32> every(u32 step) {
  std::vector<u32> found;
  for (u32 d = 0; d < kTerminals; d += step) found.push_back(d);
  return found;
}

TEST(Admittance, BackloggedDestinationsAreEquallyLikelyAndFollowEachOtherInNoOrder) {
  for (const u32 step : {1U, 9U, 33U, 50U}) {
    Admittance all = queues(1);
    const std::vector<u32> destinations = every(step);
    const u32 count = static_cast<u32>(destinations.size());
    constexpr u32 kEach = 400;
    wait_for(all, 3, destinations, 2 * kEach);
    const std::vector<u32> order = send(all, 3, kEach * count);
    std::map<u32, u32> sent;
    std::map<std::pair<u32, u32>, u32> pairs;
    for (std::size_t i = 0; i < order.size(); ++i) {
      ++sent[order[i]];
      if (i != 0) ++pairs[{order[i - 1], order[i]}];
    }
    double chi = 0.0;
    for (const u32 d : destinations) {
      const double off = static_cast<double>(sent[d]) - kEach;
      chi += off * off / kEach;
    }
    const double freedom = count - 1.0;
    EXPECT_LT(chi, freedom + 5.0 * std::sqrt(2.0 * freedom)) << "every " << step;
    EXPECT_EQ(sent.size(), count);
    EXPECT_GT(pairs.size(), std::size_t{count} * count * 9 / 10) << "every " << step << ": whatever follows whatever";
  }
}

TEST(Admittance, ParkedDestinationsAreLeftOutAndTheOthersStayEquallyLikely) {
  Admittance all = queues(1);
  wait_for(all, 0, every(1), 400);
  for (u32 d = 0; d < kTerminals; ++d) {
    if (d % 10 != 9) all.park(0, d);
  }
  std::map<u32, u32> sent;
  for (const u32 d : send(all, 0, 2000)) ++sent[d];
  EXPECT_EQ(sent.size(), 10U);
  for (const auto& [d, packets] : sent) {
    EXPECT_EQ(d % 10, 9U);
    EXPECT_NEAR(packets, 200, 5 * std::sqrt(200.0));
  }
  all.unpark(0);
  std::set<u32> later;
  for (const u32 d : send(all, 0, 2000)) later.insert(d);
  EXPECT_EQ(later.size(), kTerminals);
}

TEST(Admittance, AdaptersAndSeedsHaveOrdersOfTheirOwn) {
  Admittance all = queues(1);
  Admittance other = queues(2);
  for (Admittance* const one : {&all, &other}) {
    wait_for(*one, 3, every(1), 20);
    wait_for(*one, 4, every(1), 20);
  }
  const std::vector<u32> order = send(all, 3, 500);
  EXPECT_NE(send(all, 4, 500), order);
  EXPECT_NE(send(other, 3, 500), order);
}

// What an adapter sends while it has packets for every destination is a sequence of independent, equally likely
// destinations, however long it has been backlogged. So a network of backlogged adapters with uniform traffic is a
// stationary process from its first microseconds on, and one switch has the throughput that Karol, Hluchyj and Morgan
// computed for such sequences. Destinations in turn once locked all adapters into one rotation after 200 us, in which
// single queues carry far more.

constexpr u32 kSeeds = 10;

/// Bytes per ns and terminal of adapters that are all backlogged, in windows of 100 us.
std::vector<double> backlogged(const std::string& topology, const std::string& routing, const std::string& until,
                               u32 seed) {
  const api::Result result =
      api::run(api::read_experiments_text(fmt::format("topology = {}\nrouting = {}\n"
                                                      "switch = {{ name = 'cioq', queues = '1q', speedup = 1, "
                                                      "overhead = 0 }}\n"
                                                      "traffic = {{ name = 'uniform', load = 1.0, size = {}, "
                                                      "include_self = true }}\n"
                                                      "run = {{ duration = '{}', window = '100 us', seed = {} }}\n",
                                                      topology, routing, kPacket, until, seed),
                                          "test.toml", {})
                   .points.front());
  for (const stats::Series& series : result.series) {
    if (series.name == "throughput") return series.values;
  }
  ADD_FAILURE() << "there is no series of the throughput";
  return {};
}

double mean(const std::vector<double>& values, std::size_t from, std::size_t to) {
  double sum = 0.0;
  for (std::size_t i = from; i < to; ++i) sum += values.at(i);
  return sum / static_cast<double>(to - from);
}

/// Throughputs of table I of Karol, Hluchyj and Morgan, Input Versus Output Queueing on a Space-Division Packet Switch,
/// 1987. The standard error of a run's mean is at most 0.23 % (two ports): the tolerance is more than four of them.
TEST(Admittance, OneBackloggedSwitchWithSingleQueuesHasTheThroughputOfKarolHluchyjAndMorgan) {
  for (const auto& [ports, throughput] :
       std::vector<std::pair<u32, double>>{{2, 0.75}, {3, 0.6825}, {4, 0.6553}, {6, 0.6302}, {8, 0.6184}}) {
    for (u32 seed = 1; seed <= kSeeds; ++seed) {
      const std::vector<double> values =
          backlogged(fmt::format("{{ name = 'multistage_cube', terminals = {0}, radix = {0} }}", ports),
                     "'destination_tag'", "2000 us", seed);
      ASSERT_GE(values.size(), 20U);
      EXPECT_NEAR(mean(values, 2, 20) / ports, throughput, 0.01 * throughput) << ports << " ports, seed " << seed;
    }
  }
}

/// The same in a network, where no throughput is known. By 100 us every destination of an adapter has ten packets in
/// the mean, and no lock of destinations in turn has formed yet.
TEST(SlowAdmittance, TheThroughputOfBackloggedSingleQueuesStaysWhatItIs) {
  for (u32 seed = 1; seed <= kSeeds; ++seed) {
    const std::vector<double> values =
        backlogged("{ name = 'bidirectional_min', hosts = 64 }",
                   "{ name = 'nearest_common_ancestor', up = 'destination_digit' }", "2000 us", seed);
    ASSERT_GE(values.size(), 20U);
    EXPECT_NEAR(mean(values, 2, 20), values[1], 0.02 * values[1]) << seed;
    EXPECT_NEAR(mean(values, 11, 20), mean(values, 2, 11), 0.01 * mean(values, 2, 11)) << seed;
  }
}

/// Large networks have lists where small ones have a table. Messages that come, packets that leave, destinations that
/// are parked, in any order; and one goes on from the state of the other kind's twin.
TEST(Admittance, ListsChooseAsATableDoes) {
  Admittance table = queues(7);
  Admittance lists = queues(7, false);
  const Random random(3, kTestTurns, 1, 0);
  u64 sent = 0;
  for (u32 step = 0; step < 60'000; ++step) {
    const Words words = random.at(step, 0);
    const u32 adapter = below(words[0], 3);
    const u32 what = below(words[1], 100);
    if (step == 30'000) {
      ArchiveToText written;
      written(lists);
      const std::string state = written.take();
      lists = queues(7, false);
      ArchiveOfText read(state);
      read(lists);
      EXPECT_TRUE(read.ended());
    }
    if (what < 46) {
      wait_for(table, adapter, {below(words[2], kTerminals)}, 1);
      wait_for(lists, adapter, {below(words[2], kTerminals)}, 1);
    } else if (what < 95) {
      const u32 destination = table.next(adapter);
      ASSERT_EQ(lists.next(adapter), destination) << step;
      ASSERT_EQ(lists.has_next(adapter), destination != kNone);
      if (destination == kNone) continue;
      u32 offset = 0;
      u32 other = 0;
      EXPECT_EQ(table.front(adapter, destination, step, offset).nth,
                lists.front(adapter, destination, step, other).nth);
      EXPECT_EQ(offset, other);
      if (what < 55) {
        table.park(adapter, destination);
        lists.park(adapter, destination);
        continue;
      }
      const u32 flits = what < 65 ? kPacket / 2 : kPacket - offset;
      table.pop(adapter, destination, flits);
      lists.pop(adapter, destination, flits);
      ++sent;
    } else {
      table.unpark(adapter);
      lists.unpark(adapter);
    }
    ASSERT_EQ(table.digest(adapter), lists.digest(adapter)) << step;
    ASSERT_EQ(table.waiting_flits(adapter), lists.waiting_flits(adapter));
  }
  EXPECT_GT(sent, 10'000U);
}

}  // namespace
}  // namespace banyan::switching::cioq::admittance_test
