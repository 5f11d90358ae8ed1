// Is a network that somebody steps the one that a run simulates, at a comparable speed?
#include "banyan/api/stepped_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "api/runs.hpp"
#include "banyan/base/cpu_time.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/rng.hpp"

namespace banyan::api::stepped_network_test {
namespace {

std::string text_of(const std::string& traffic, const std::string& run = "") {
  return "topology = { name = \"mesh\", size = [4, 4] }\n"
         "switch   = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
         "routing  = \"dimension_order\"\n"
         "traffic  = " +
         traffic + "\n[run]\nseed = 5\n" + run;
}

SteppedNetwork network(const std::string& traffic = "\"injected\"", const std::string& run = "", u32 threads = 1) {
  return SteppedNetwork(experiment_of(text_of(traffic, run)), threads);
}

/// What a lone message of so many flits takes.
Tick latency_of(SteppedNetwork& net, u32 source, u32 destination, u32 flits) {
  net.inject(source, destination, flits);
  do { net.step(); } while (net.delivered().empty());
  return net.delivered().front().delivered - net.delivered().front().injected;
}

TEST(SteppedNetwork, TheMoreUrgentDoorGoesFirst) {
  SteppedNetwork net =
      network("[{ name = \"injected\", longest = 64, max_packet = 4 }, { name = \"injected\", priority = 1 }]");
  const u64 data = net.inject(0, 1, 64);
  net.step(8);
  const u64 urgent = net.inject(0, 1, 1, 0, 1);
  std::vector<u64> order;
  while (net.in_flight() != 0) {
    net.step();
    for (const Delivery& d : net.delivered()) order.push_back(d.id);
  }
  EXPECT_EQ(order, (std::vector<u64>{urgent, data}));
}

TEST(SteppedNetwork, ALoneMessageTakesItsWay) {
  SteppedNetwork net = network();
  const Tick one = latency_of(net, 0, 1, 1);
  const Tick two = latency_of(net, 0, 2, 1);
  const Tick longer = latency_of(net, 0, 1, 3);
  EXPECT_GT(two, one);
  EXPECT_EQ(longer, one + 2) << "a flit per cycle";
  EXPECT_EQ(latency_of(net, 0, 15, 3), latency_of(net, 15, 0, 3));
  EXPECT_EQ(net.in_flight(), 0U);
}

TEST(SteppedNetwork, EveryMessageArrivesOnceWhereItShould) {
  SteppedNetwork net = network();
  std::vector<std::pair<u32, u32>> sent;
  std::vector<bool> seen;
  u64 flits = 0;
  for (u32 i = 0; i < 400; ++i) {
    const u32 source = i * 7 % 16;
    const u32 destination = (i * 11 + 3) % 16;
    const u32 length = 1 + i % 6;
    EXPECT_EQ(net.inject(source, destination, length), i);
    sent.emplace_back(source, destination);
    flits += length;
    if (i % 3 != 0) continue;
    net.step();
    for (const Delivery& d : net.delivered()) {
      seen.resize(std::max<std::size_t>(seen.size(), d.id + 1));
      EXPECT_FALSE(seen[d.id]);
      seen[d.id] = true;
    }
    net.audit();
  }
  while (net.in_flight() > 0) {
    ASSERT_TRUE(net.step_to_delivery(10'000));
    for (const Delivery& d : net.delivered()) {
      seen.resize(std::max<std::size_t>(seen.size(), d.id + 1));
      EXPECT_FALSE(seen[d.id]);
      seen[d.id] = true;
      EXPECT_EQ(std::pair(d.source, d.destination), sent[d.id]);
      EXPECT_EQ(d.flits, 1 + d.id % 6);
      EXPECT_LT(d.delivered, net.now());
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 400);
  EXPECT_EQ(net.counts().flits_delivered, flits);
  EXPECT_EQ(net.deadlock(), "");
}

TEST(SteppedNetwork, GoingOnBehindAnArrivalTellsTheSame) {
  std::vector<std::vector<std::pair<u64, Tick>>> told;
  for (const Tick ahead : {Tick{0}, Tick{1}, Tick{7}, Tick{100}}) {
    SteppedNetwork net = network();
    for (u32 i = 0; i < 200; ++i) net.inject(i * 7 % 16, (i * 11 + 3) % 16, 1 + i % 6, 1 + i / 4);
    told.emplace_back();
    while (net.in_flight() > 0) {
      ASSERT_TRUE(net.step_to_delivery(10'000, ahead));
      ASSERT_LE(net.now(), net.delivered().front().delivered + 1 + ahead);
      for (const Delivery& d : net.delivered()) told.back().emplace_back(d.id, d.delivered);
    }
    EXPECT_EQ(told.back(), told.front()) << ahead;
  }
}

TEST(SteppedNetwork, MessagesOfOneCycleLeaveInTheirOrder) {
  SteppedNetwork net = network();
  for (u32 i = 0; i < 20; ++i) net.inject(3, 12, 2);
  std::vector<u64> order;
  while (net.in_flight() > 0) {
    net.step();
    for (const Delivery& d : net.delivered()) order.push_back(d.id);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
}

TEST(SteppedNetwork, TheSizeOfStepsTheThreadsAndTheShardsDoNotMatter) {
  const auto play = [](SteppedNetwork net, Tick step) {
    for (u32 i = 0; i < 40; ++i) net.inject(i % 16, (i * 5 + 1) % 16, 1 + i % 4, i * 12);
    std::vector<std::pair<u64, Tick>> arrivals;
    while (net.now() < 1200) {
      net.step(step);
      for (const Delivery& d : net.delivered()) arrivals.emplace_back(d.id, d.delivered);
    }
    EXPECT_EQ(arrivals.size(), 40U);
    return std::pair(arrivals, net.hash());
  };
  const std::string both = "[\"injected\", { name = \"uniform\", load = 0.2 }]";
  const auto base = play(network(both), 1);
  EXPECT_EQ(play(network(both), 1200), base);
  EXPECT_EQ(play(network(both), 7).first, base.first);
  EXPECT_EQ(play(network(both, "shards = 4\n", 2), 1), base);
  EXPECT_EQ(play(network(both, "wake = \"all\"\nstep_order = \"permuted\"\n"), 3).first, base.first);
}

TEST(SteppedNetwork, ItBeginsAgain) {
  SteppedNetwork net = network("[\"injected\", { name = \"uniform\", load = 0.2 }]");
  const auto play = [&net] {
    net.inject(1, 14, 3);
    net.step(200);
    return std::pair(net.delivered().front().delivered, net.hash());
  };
  const auto first = play();
  net.step(77);
  net.reset();
  EXPECT_EQ(net.now(), 0U);
  EXPECT_EQ(play(), first);
  net.reset(1);
  EXPECT_NE(play().second, first.second) << "another replication has other random numbers";
}

TEST(SteppedNetwork, QuietCyclesCostNothing) {
  SteppedNetwork net = network();
  net.inject(0, 5, 1, 1'000'000'000);
  EXPECT_FALSE(net.step_to_delivery(999'999'999));
  ASSERT_TRUE(net.step_to_delivery(1'000));
  EXPECT_GE(net.delivered().front().delivered, 1'000'000'000U);
  EXPECT_FALSE(net.step_to_delivery(1'000'000'000'000)) << "nothing is on its way";
}

TEST(SteppedNetwork, TheClockHasAnEnd) {
  SteppedNetwork net = network();
  EXPECT_THROW(net.inject(0, 5, 1, kLastCycle + 1), ConfigError);
  net.inject(0, 5, 1, u64{1} << 62U);
  net.step(kLastCycle);
  EXPECT_EQ(net.now(), kLastCycle);
  EXPECT_EQ(net.delivered().size(), 1U);
  EXPECT_THROW(net.step(), ConfigError);
  EXPECT_THROW(net.step(kNever), ConfigError);
  EXPECT_EQ(net.now(), kLastCycle);
  EXPECT_FALSE(net.step_to_delivery(kNever));
  EXPECT_EQ(net.now(), kLastCycle);
  net.reset();
  net.inject(0, 5);
  EXPECT_TRUE(net.step_to_delivery(kNever)) << "as far as there are cycles";
}

TEST(SteppedNetwork, WhatCannotBeInjectedIsRefused) {
  SteppedNetwork net = network("{ name = \"injected\", longest = 8 }");
  EXPECT_THROW(net.inject(16, 0), ConfigError);
  EXPECT_THROW(net.inject(0, 16), ConfigError);
  EXPECT_THROW(net.inject(0, 1, 0), ConfigError);
  EXPECT_THROW(net.inject(0, 1, 9), ConfigError);
  net.step(10);
  EXPECT_THROW(net.inject(0, 1, 1, 9), ConfigError);
  EXPECT_NO_THROW(net.inject(0, 1, 1, 10));
  EXPECT_THROW(network("{ name = \"uniform\", load = 0.1 }"), ConfigError);
  EXPECT_THROW(net.inject(0, 1, 1, 0, 1), ConfigError) << "there is one door";
}

/// Of two reductions at once, with members in common, each is whole when its last contribution is there.
TEST(SteppedNetwork, ReductionsComeBackWhenAllHaveContributed) {
  SteppedNetwork net(
      experiment_of("topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = "
                    "\"central_buffer\"\ntraffic = [\"injected\", { name = \"injected\", members = [1, 6, 9] }, "
                    "{ name = \"injected\", members = [9, 2] }]\n"));
  for (u32 round = 0; round < 3; ++round) {
    std::vector<u64> first;
    for (const u32 t : {9U, 1U}) first.push_back(net.inject(t, t, 4, 0, 1));
    std::vector<u64> second;
    for (const u32 t : {2U, 9U}) second.push_back(net.inject(t, t, 2, 0, 2));
    std::vector<u64> arrived;
    const auto step = [&](Tick cycles) {
      for (Tick i = 0; i < cycles; ++i) {
        net.step();
        for (const Delivery& d : net.delivered()) {
          EXPECT_EQ(d.source, d.destination);
          arrived.push_back(d.id);
        }
      }
      std::sort(arrived.begin(), arrived.end());
    };
    step(200);
    EXPECT_EQ(arrived, second);
    EXPECT_THROW(net.inject(9, 9, 4, 0, 1), ConfigError) << "its contribution has not come back";
    EXPECT_THROW(net.inject(6, 1, 4, 0, 1), ConfigError) << "it sends to itself";
    EXPECT_THROW(net.inject(3, 3, 4, 0, 1), ConfigError) << "no member";
    EXPECT_THROW(net.inject(6, 6, 3, 0, 1), ConfigError) << "the others have 4 flits";
    first.push_back(net.inject(6, 6, 4, 0, 1));
    arrived.clear();
    step(200);
    EXPECT_EQ(arrived, first);
    EXPECT_EQ(net.in_flight(), 0U);
    net.audit();
  }
}

TEST(SteppedNetwork, ItWorksWithEverySwitchThatItsMessagesFit) {
  for (const std::string text :
       {"topology = { name = \"hypercube\", degree = 4 }\nswitch = \"packet_node\"\nrouting = \"ecube\"\n"
        "traffic = \"injected\"\n",
        "topology = { name = \"multistage_cube\", terminals = 16, radix = 4 }\nswitch = \"output_queued\"\n"
        "routing = \"destination_tag\"\ntraffic = { name = \"injected\", longest = 1 }\n",
        "topology = { name = \"torus\", size = [4, 4] }\nswitch = { name = \"circuit\", vcs = 2 }\n"
        "routing = \"fully_adaptive\"\ntraffic = \"injected\"\n",
        "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2 }\n"
        "routing = \"dimension_order\"\ntraffic = \"injected\"\nadmission = \"swift\"\n"}) {
    SteppedNetwork net{experiment_of(text)};
    for (u32 i = 0; i < 16; ++i) net.inject(i, 15 - i, 1);
    for (u32 i = 0; net.in_flight() > 0 && i < 1000; ++i) {
      net.step(50);
      net.audit();
    }
    EXPECT_EQ(net.in_flight(), 0U) << text;
  }
}

/// Least CPU time of each, of five tries that take turns.
template <class... Works>
auto least_seconds(Works&&... works) {
  std::array<double, sizeof...(Works)> least;
  least.fill(1e9);
  for (int i = 0; i < 5; ++i) {
    std::size_t nth = 0;
    const auto take = [&](auto&& work) {
      const double from = thread_cpu_seconds();
      work();
      least[nth] = std::min(least[nth], thread_cpu_seconds() - from);
      ++nth;
    };
    (take(works), ...);
  }
  return least;
}

TEST(SteppedNetwork, StepsAtHalfTheSpeedOfARunAtLeast) {
  constexpr u32 kCycles = 3000;
  constexpr u32 kTerminals = 256;
  const std::string mesh =
      "topology = { name = \"mesh\", size = [16, 16] }\nswitch = { name = \"vc_router\", vcs = 4, buffer = 8 }\n"
      "routing = \"dimension_order\"\n[run]\nduration = 3000\n";
  const std::string uniform = "[[traffic]]\nname = \"uniform\"\nload = 0.2\n";
  const std::string injected = "[[traffic]]\nname = \"injected\"\n";
  const Experiment alone = experiment_of(mesh + uniform);
  SteppedNetwork beside{experiment_of(mesh + uniform + injected)};
  SteppedNetwork fed{experiment_of(mesh + injected)};
  const Random random(3, Stream{"test: messages"}, 0, 0);
  const auto [run_seconds, step_seconds, inject_seconds] =
      least_seconds([&] { static_cast<void>(run(alone)); },
                    [&] {
                      beside.reset();
                      for (u32 i = 0; i < kCycles; ++i) beside.step();
                    },
                    [&] {
                      fed.reset();
                      Tick latency = 0;
                      for (u32 i = 0; i < kCycles; ++i) {
                        for (u32 source = 0; source < kTerminals; ++source) {
                          const auto words = random.at(i, source);
                          if (words[0] % 5 == 0) fed.inject(source, words[1] % kTerminals);
                        }
                        fed.step();
                        for (const Delivery& d : fed.delivered()) latency += d.delivered - d.injected;
                      }
                      EXPECT_GT(latency, 0U);
                    });
  EXPECT_LT(step_seconds, 2.0 * run_seconds);
  EXPECT_LT(inject_seconds, 2.0 * run_seconds);
}

}  // namespace
}  // namespace banyan::api::stepped_network_test
