// Do the interchange boxes move packets as paper 1, section 2, says, cycle by cycle?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"
#include "banyan/switching/output_queued/input_order.hpp"
#include "support/script.hpp"

namespace banyan::switching::output_queued_test {
namespace {

using test::Script;

template <class Row>
const Row& row(std::span<const Row* const> rows, std::string_view name) {
  for (const Row* r : rows) {
    if (r->info.name == name) return *r;
  }
  throw std::logic_error("no such row");
}

/// An Extra Stage Cube of boxes with S places, under a script; input stage bypassed by default.
struct Network {
  Network(u32 terminals, u32 radix, i64 places, const std::vector<Script::Line>& script, bool extra = false,
          const std::string& space = "same_cycle", bool permuted = false, const std::vector<Script::Line>& more = {})
      : traffic(terminals, script), other(terminals, more), list{&traffic} {
    if (!more.empty()) list.push_back(&other);
    const core::TopologyRow& topology_row = row(core::topology_rows(), "extra_stage_cube");
    config::Values values = config::Values::defaults(topology_row.info);
    values.set("terminals", i64{terminals});
    values.set("radix", i64{radix});
    if (!extra) values.set("input_stage", std::string("bypassed"));
    topology = topology_row.make(values);
    const core::RoutingRow& routing_row = row(core::routing_rows(), "destination_tag");
    core::RoutingContext context;
    context.topology = topology.get();
    routing = routing_row.make(config::Values::defaults(routing_row.info), context);
    engine::EngineSettings settings;
    settings.permuted = permuted;
    engine::Builder builder(*topology, *routing, list, {}, settings);
    const core::SwitchRow& switch_row = row(core::switching_rows(), "output_queued");
    config::Values switch_values = config::Values::defaults(switch_row.info);
    switch_values.set("buffer", places);
    switch_values.set("space", space);
    switch_row.install(switch_values, builder);
    machine = std::make_unique<engine::Machine>(builder.take_shards(), list, builder.window());
    machine->reset(0);
    machine->set_window({0, kNever - 1});
  }

  /// Runs until everything is delivered or `limit`.
  void run(Tick limit = 10000) {
    machine->run_until(limit);
    machine->audit();
  }
  engine::LatencySums all() const {
    engine::LatencySums sum;
    for (const engine::LatencySums& t : machine->tallies()) sum += t;
    return sum;
  }

  test::Script traffic;
  test::Script other;
  std::vector<core::Traffic*> list;
  std::unique_ptr<core::Topology> topology;
  std::unique_ptr<core::Routing> routing;
  std::unique_ptr<engine::Machine> machine;
};

TEST(OutputQueued, AnUnblockedPacketTakesOneCyclePerStageForEveryPair) {
  for (const bool extra : {false, true}) {
    for (u32 source = 0; source < 16; ++source) {
      for (u32 destination = 0; destination < 16; ++destination) {
        Network network(16, 4, 1, {{source, 5, destination}}, extra);
        network.run();
        const u64 stages = extra ? 3 : 2;
        ASSERT_EQ(network.all().packets, 1U);
        ASSERT_EQ(network.all().latency, stages) << source << "->" << destination;
        ASSERT_EQ(network.all().hops, stages);
        ASSERT_EQ(network.all().queueing, 0U);
      }
    }
  }
}

TEST(OutputQueued, PacketsForOneTerminalLeaveOnePerCycle) {
  // All 16 terminals send to terminal 0 at once: with room for all they arrive in cycles 2 .. 17.
  std::vector<Script::Line> script;
  for (u32 s = 0; s < 16; ++s) script.push_back({s, 0, 0});
  Network network(16, 4, 16, script);
  network.run();
  EXPECT_EQ(network.all().packets, 16U);
  u64 latency = 0;
  for (u64 i = 0; i < 16; ++i) latency += 2 + i;
  EXPECT_EQ(network.all().latency, latency);
}

TEST(OutputQueued, ABufferOfSPlacesHoldsSPackets) {
  // Two inputs of one 2 x 2 box send to output 0; S = 1: the second waits at its source for one cycle.
  Network network(2, 2, 1, {{0, 0, 0}, {1, 0, 0}});
  network.run();
  EXPECT_EQ(network.all().latency, 1U + 2U);
  EXPECT_EQ(network.all().queueing, 1U);
  // S = 2: it enters at once and waits inside.
  Network roomy(2, 2, 2, {{0, 0, 0}, {1, 0, 0}});
  roomy.run();
  EXPECT_EQ(roomy.all().latency, 1U + 2U);
  EXPECT_EQ(roomy.all().queueing, 0U);
}

TEST(OutputQueued, APlaceThatBecomesFreeIsUsableAtOnceOrInTheNextCycle) {
  // One source, S = 1, a packet in every cycle: full speed when places are usable in the same cycle, half otherwise.
  std::vector<Script::Line> script;
  for (u32 i = 0; i < 8; ++i) script.push_back({0, i, 0});
  Network same(2, 2, 1, script);
  same.run();
  EXPECT_EQ(same.all().latency, 8U);
  Network next(2, 2, 1, script, false, "next_cycle");
  next.run();
  // Packet i enters in cycle 2 i.
  u64 latency = 0;
  for (u64 i = 0; i < 8; ++i) latency += 2 * i + 1 - i;
  EXPECT_EQ(next.all().latency, latency);
}

TEST(OutputQueued, WhoIsBlockedIsDrawnAtRandom) {
  // Source 0 sends one packet per round, source 1 one that is followed by another at once: what source 1 waits in all
  // tells how often it lost the only place.
  constexpr u32 kRounds = 1000;
  std::vector<Script::Line> script;
  for (u32 i = 0; i < kRounds; ++i) {
    script.push_back({0, i * 8, 0});
    script.push_back({1, i * 8, 0});
    script.push_back({1, i * 8, 1});
  }
  Network network(2, 2, 1, script);
  network.run();
  EXPECT_EQ(network.all().packets, 3U * kRounds);
  // In a round that source 1 wins, source 0 waits 1 cycle and source 1's second packet 1; otherwise source 1's two
  // packets wait 1 and 2. Winning half of the rounds, the mean is 2.5 per round.
  const double lost = static_cast<double>(network.all().queueing) / kRounds - 2.0;
  EXPECT_NEAR(lost, 0.5, 5.0 * 0.5 / std::sqrt(kRounds));
}

/// All inputs of a box send to one output at once, again and again: the packets of each take 1 to as many cycles.
TEST(OutputQueued, WhatComesInOneCycleIsQueuedInAnOrderThatPrefersNoInput) {
  constexpr u32 kRounds = 500;
  for (const char* space : {"same_cycle", "next_cycle"}) {
    for (const u32 inputs : {2U, 4U, 16U}) {
      const double mean = (inputs + 1) / 2.0;
      const double deviation = std::sqrt((inputs * inputs - 1) / 12.0 / kRounds);
      for (const u32 watched : {0U, 1U, inputs - 1}) {
        std::vector<Script::Line> its;
        std::vector<Script::Line> others;
        for (u32 i = 0; i < kRounds; ++i) {
          for (u32 input = 0; input < inputs; ++input) {
            (input == watched ? its : others).push_back({input, i * 2 * inputs, 0});
          }
        }
        Network network(inputs, inputs, inputs, its, false, space, false, others);
        network.run(kRounds * 2 * inputs + 100);
        const engine::LatencySums sums = network.machine->tallies().at(engine::tally_class(0, false));
        ASSERT_EQ(sums.packets, kRounds);
        EXPECT_NEAR(static_cast<double>(sums.latency) / kRounds, mean, 5.0 * deviation)
            << space << ", input " << watched << " of " << inputs;
      }
    }
  }
}

template <class Order>
void expect_every_order(Order order, u32 inputs) {
  constexpr u32 kCycles = 64 * 64 * 4;
  order.reset(Random(3, Stream{"test"}, 0, 0));
  std::vector<u64> places(inputs * inputs);
  std::vector<u64> first(inputs * inputs);
  for (Tick now = 0; now < kCycles; ++now) {
    order.at(now);
    u64 all = inputs == 64 ? ~u64{0} : (u64{1} << inputs) - 1;
    ASSERT_EQ(order.arrange(all), all);
    std::vector<u32> place_of(inputs);
    for (u32 place = 0; place < inputs; ++place) {
      const u32 input = order.input(place);
      ASSERT_EQ(order.arrange(u64{1} << input), u64{1} << place);
      place_of[input] = place;
      ++places[input * inputs + place];
    }
    for (u32 a = 0; a < inputs; ++a) {
      for (u32 b = 0; b < inputs; ++b) first[a * inputs + b] += place_of[a] < place_of[b] ? 1U : 0U;
    }
    // All boxes of a word have that order.
    if (inputs < 64) { ASSERT_EQ(order.arrange(all << inputs), all << inputs); }
  }
  const double half = kCycles / 2.0;
  for (u32 a = 0; a < inputs; ++a) {
    for (u32 b = 0; b < inputs; ++b) {
      if (a == b) continue;
      EXPECT_NEAR(static_cast<double>(first[a * inputs + b]), half, 5.0 * std::sqrt(kCycles) / 2.0);
    }
    // A permutation stays for 64 cycles, in which an input takes places that differ by flipped bits alone.
    for (u32 place = 0; place < inputs; ++place) {
      EXPECT_NEAR(static_cast<double>(places[a * inputs + place]), kCycles / static_cast<double>(inputs),
                  6.0 * std::sqrt(64.0 * kCycles / inputs));
    }
  }
}

TEST(OutputQueued, EveryOrderOfInputsIsEquallyLikely) {
  expect_every_order(output_queued::InputOrder<2>(), 2);
  expect_every_order(output_queued::InputOrder<4>(), 4);
  expect_every_order(output_queued::InputOrder<16>(), 16);
  expect_every_order(output_queued::InputOrder<64>(), 64);
}

TEST(OutputQueued, NoPacketIsLostUnderRandomLoadWithTinyBuffers) {
  // 3 stages of 2 x 2 boxes under random load with tiny buffers, audited all the way.
  rc::check([] {
    const u32 seed = *rc::gen::arbitrary<u32>();
    std::vector<Script::Line> script;
    const Random random(seed, Stream{"test"}, 0, 0);
    for (u32 i = 0; i < 300; ++i) {
      const Words w = random.at(0, i);
      script.push_back({below(w[0], 8), i / 4, below(w[1], 8)});
    }
    Network network(8, 2, 1 + below(seed, 3), script);
    for (Tick t = 1; t < 200; ++t) {
      network.machine->run_until(t);
      network.machine->audit();
    }
    network.run();
    RC_ASSERT(network.all().packets == 300U);
  });
}

TEST(OutputQueued, TheOrderOfBoxesInsideACycleDoesNotMatter) {
  for (const char* space : {"same_cycle", "next_cycle"}) {
    std::vector<Script::Line> script;
    const Random random(4, Stream{"test"}, 0, 0);
    for (u32 i = 0; i < 2000; ++i) {
      const Words w = random.at(0, i);
      script.push_back({below(w[0], 64), i / 32, below(w[1], 4) == 0 ? 0 : below(w[2], 64)});
    }
    Network a(64, 4, 2, script, true, space, false);
    Network b(64, 4, 2, script, true, space, true);
    for (const Tick end : {20U, 60U, 100U, 5000U}) {
      a.machine->run_until(end);
      b.machine->run_until(end);
      ASSERT_EQ(a.machine->hash(), b.machine->hash()) << space << " " << end;
    }
  }
}

/// 557,056 queues with as many places would be 2^32 entries, whose positions became 0 in 32 bits.
TEST(OutputQueued, MorePlacesThanPositionsAreRefused) {
  try {
    const Network network(32768, 2, 4096, {});
    FAIL() << "not refused";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where().key, "output_queued.buffer");
    EXPECT_EQ(error.remedy(), "use buffer = 2048 or less, or a smaller network");
  }
}

TEST(OutputQueued, LongPacketsAreRefused) { EXPECT_THROW(Network(8, 2, 4, {{0, 0, 1, 5}}), ConfigError); }

}  // namespace
}  // namespace banyan::switching::output_queued_test
