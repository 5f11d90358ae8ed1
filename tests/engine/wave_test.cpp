// Which networks are run in waves of several ticks, and are those the same ticks?
#include "banyan/engine/wave.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "engine/machines.hpp"

namespace banyan::wave_test {
namespace {

using banyan::engine::BlockLists;
using banyan::engine::Wave;
using banyan::test::Part;
using banyan::test::Rig;
using banyan::test::Script;
using Ints = std::vector<i64>;
using Lines = std::vector<Script::Line>;

Part router(i64 vcs, i64 buffer, test::Given given = {}) {
  Part part{"vc_router", std::move(given)};
  part.given.emplace_back("vcs", vcs);
  part.given.emplace_back("buffer", buffer);
  return part;
}

const Part kDimensionOrder{"dimension_order"};

/// What is told of the messages on their way.
class Answering final : public core::Traffic {
 public:
  void begin(u32) override {}
  bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override { return {.answers = true, .longest_message = 1}; }
};

Wave wave_of(const Part& topology, const Part& switching, const Part& routing, core::Traffic& traffic) {
  const core::TopologyRow& topology_row = test::row_named(core::topology_rows(), topology.name);
  const std::unique_ptr<core::Topology> network = topology_row.make(test::values_of(topology_row, topology));
  const core::SwitchRow& switch_row = test::row_named(core::switching_rows(), switching.name);
  const config::Values values = test::values_of(switch_row, switching);
  const core::RoutingRow& routing_row = test::row_named(core::routing_rows(), routing.name);
  const auto ways =
      routing_row.make(test::values_of(routing_row, routing), {network.get(), {}, switch_row.vcs(values)});
  std::vector<core::Traffic*> traffics{&traffic};
  engine::Builder builder(*network, *ways, traffics, {}, {});
  switch_row.install(values, builder);
  return builder.take_shards().front().wave;
}
Wave wave_of(const Part& topology, const Part& switching, const Part& routing = kDimensionOrder) {
  Script nothing(1, {});
  return wave_of(topology, switching, routing, nothing);
}

TEST(Wave, PairsOfTicksFollowEachOtherWhereChannelsAreShort) {
  const Wave rows = wave_of({"mesh", {{"size", Ints{64, 24}}}}, router(8, 8));
  EXPECT_EQ(rows.blocks, 24U);
  EXPECT_EQ(rows.reach, 1U);
  EXPECT_GT(rows.pairs, 1U);
  ASSERT_EQ(rows.terminals.size(), 25U);
  for (u32 b = 0; b <= 24; ++b) EXPECT_EQ(rows.terminals[b], b);

  const Wave shared = wave_of({"mesh", {{"size", Ints{50, 24}}, {"concentration", i64{3}}}}, router(8, 8));
  EXPECT_EQ(shared.blocks, 19U) << "the last one is not full";
  ASSERT_EQ(shared.terminals.size(), 20U);
  for (u32 b = 0; b < 19; ++b) EXPECT_EQ(shared.terminals[b], 3 * b);
  EXPECT_EQ(shared.terminals[19], 57U);
}

TEST(Wave, OnePairOfTicksWhereAChannelLeadsFarAway) {
  const Wave torus = wave_of({"torus", {{"size", Ints{64, 24}}}}, router(8, 8));
  EXPECT_EQ(torus.reach, 23U);
  EXPECT_EQ(torus.pairs, 1U);
  EXPECT_FALSE(torus.terminals.empty());
}

TEST(Wave, TerminalsThatEnterAndLeaveAtDifferentBlocksRunAsAWhole) {
  const Wave fly =
      wave_of({"multistage_cube", {{"terminals", i64{1024}}, {"radix", i64{4}}}}, router(8, 8), {"destination_tag"});
  EXPECT_GT(fly.blocks, 0U);
  EXPECT_EQ(fly.pairs, 1U);
  EXPECT_TRUE(fly.terminals.empty());
}

TEST(Wave, TerminalsThatHearFromEachOtherRunAsAWhole) {
  Answering answering;
  const Wave wave = wave_of({"mesh", {{"size", Ints{64, 24}}}}, router(8, 8), kDimensionOrder, answering);
  EXPECT_EQ(wave.blocks, 24U);
  EXPECT_EQ(wave.pairs, 1U);
  EXPECT_TRUE(wave.terminals.empty());
}

TEST(Wave, WhatFitsTheCacheRunsTickByTick) {
  EXPECT_EQ(wave_of({"mesh", {{"size", Ints{8, 8}}}}, router(8, 8)).blocks, 0U);
}

// --- The same ticks --------------------------------------------------------------------------------------------------

struct Case {
  const char* name;
  Part topology;
  Part routing;
  Part switching;
  u32 terminals;
  Tick gap;  ///< ticks from one 40 messages to the next
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// As many messages from everywhere to everywhere, 40 at a time.
Lines messages(const Case& c, u64 word, u32 count) {
  Lines lines;
  for (u32 k = 0; k < count; ++k) {
    word = mix64(word + 1);
    const auto draw = [&](u32 shift, u32 n) { return static_cast<u32>(word >> shift & 0xffffU) % n; };
    lines.push_back({draw(0, c.terminals), k / 40 * c.gap, draw(16, c.terminals), 1 + draw(32, 7)});
  }
  return lines;
}

/// run_until makes several ticks at once where it may, step() makes one.
class WaveTicks : public ::testing::TestWithParam<Case> {};

TEST_P(WaveTicks, AreTheTicksThatStepMakes) {
  const Case& c = GetParam();
  const Lines lines = messages(c, 11, 12'000);
  for (const bool permuted : {false, true}) {
    const auto made = [&](bool in_other_order) {
      engine::EngineSettings settings;
      settings.permuted = in_other_order;
      auto rig = std::make_unique<Rig>(c.topology, c.switching, c.routing, settings);
      rig->run_script(lines);
      return rig;
    };
    const auto one = made(false);
    const auto many = made(permuted);
    const Tick last = 300 * c.gap + 400;
    for (Tick end = 1; end < last; end += c.gap * (13 + end % 4)) {
      while (one->machine().next() < end) one->machine().step();
      many->machine().run_until(end);
      ASSERT_EQ(one->machine().hash(), many->machine().hash()) << "before tick " << end;
      ASSERT_EQ(one->machine().next(), many->machine().next()) << "before tick " << end;
      many->machine().audit();
    }
    EXPECT_GT(many->machine().totals().delivered, lines.size() / 16) << "the narrow ones are overloaded";
  }
}

std::vector<Case> cases() {
  const auto mesh = [](Ints size, Ints latency, i64 concentration = 1) {
    return Part{"mesh", {{"size", std::move(size)}, {"latency", std::move(latency)}, {"concentration", concentration}}};
  };
  const Part plain = router(8, 16);
  return {
      {"torus", {"torus", {{"size", Ints{20, 20}}}}, kDimensionOrder, plain, 400, 1},
      {"long_torus", {"torus", {{"size", Ints{20, 20}}, {"latency", Ints{13, 1}}}}, kDimensionOrder, plain, 400, 1},
      {"mesh", mesh({20, 20}, {1, 1}), kDimensionOrder, plain, 400, 1},
      {"wide_mesh", mesh({130, 4}, {1, 1}), kDimensionOrder, plain, 520, 1},
      {"narrow_mesh", mesh({3, 130}, {1, 1}), kDimensionOrder, plain, 390, 1},
      {"line", mesh({500}, {2}), kDimensionOrder, plain, 500, 1},
      {"mesh_of_three_terminals", mesh({10, 32}, {1, 1}, 3), kDimensionOrder, plain, 960, 1},
      {"long_channels", mesh({20, 20}, {1, 40}), kDimensionOrder, plain, 400, 1},
      {"long_pauses", mesh({20, 20}, {1, 1}), kDimensionOrder, plain, 400, 97},
      {"adaptive", mesh({20, 20}, {1, 3}), {"minimal_adaptive"}, plain, 400, 1},
      {"no_routing_delay", mesh({20, 20}, {1, 1}), kDimensionOrder,
       router(8, 16, {{"routing_delay", i64{0}}, {"vc_alloc_delay", i64{0}}, {"traversal_delay", i64{0}}}), 400, 1},
      {"many_virtual_channels", mesh({12, 20}, {1, 1}), kDimensionOrder, router(16, 16), 240, 1},
      {"cut_through", mesh({20, 20}, {1, 1}), kDimensionOrder, router(8, 16, {{"flow", std::string("cut_through")}}),
       400, 1},
      {"multistage_cube",
       {"multistage_cube", {{"terminals", i64{1024}}, {"radix", i64{4}}}},
       {"destination_tag"},
       plain,
       1024,
       1},
      {"fat_tree", {"fat_tree", {{"arity", i64{4}}, {"levels", i64{4}}}}, {"nearest_common_ancestor"}, plain, 256, 1},
  };
}

INSTANTIATE_TEST_SUITE_P(All, WaveTicks, ::testing::ValuesIn(cases()), [](const auto& c) { return c.param.name; });

// --- Waves of several shards -----------------------------------------------------------------------------------------

/// Runs a case on so many shards, on threads or not, beside one that makes tick after tick.
void expect_the_same_ticks(const Case& c, u32 shards, u32 threads, Tick window, bool permuted = false) {
  SCOPED_TRACE(std::string(c.name) + ", " + std::to_string(shards) + " shards");
  const Lines lines = messages(c, 5, 3'000);
  const auto made = [&](u32 parts, u32 on) {
    engine::EngineSettings settings;
    settings.shards = parts;
    settings.threads = on;
    settings.permuted = permuted && parts != 0;
    auto rig = std::make_unique<Rig>(c.topology, c.switching, c.routing, settings);
    rig->run_script(lines);
    return rig;
  };
  const auto one = made(0, 1);
  const auto many = made(shards, threads);
  EXPECT_EQ(many->machine().scaling().window, window);
  const Tick last = 75 * c.gap + 400;
  for (Tick end = 1; end < last; end += c.gap * (13 + end % 4)) {
    while (one->machine().next() < end) one->machine().step();
    many->machine().run_until(end);
    ASSERT_EQ(one->machine().hash(), many->machine().hash()) << "before tick " << end;
    many->machine().audit();
  }
  EXPECT_GT(many->machine().totals().delivered, lines.size() / 16);
}

const Case& case_named(const std::string& name) {
  static const std::vector<Case> all = cases();
  return *std::find_if(all.begin(), all.end(), [&](const Case& c) { return name == c.name; });
}

/// What crosses between shards of these takes two ticks: without waves a window is as long.
TEST(WavesTogether, AreTheTicksThatOneShardMakes) {
  for (const char* const name : {"mesh", "wide_mesh", "narrow_mesh", "mesh_of_three_terminals", "long_pauses",
                                 "many_virtual_channels", "cut_through"}) {
    for (const bool permuted : {false, true})
      expect_the_same_ticks(case_named(name), 2, 2, engine::kMostWaveTicks, permuted);
    expect_the_same_ticks(case_named(name), 3, 3, engine::kMostWaveTicks);
  }
  for (const u32 threads : {4U, 6U}) expect_the_same_ticks(case_named("mesh"), threads, threads, 4);
}

TEST(WavesTogether, NotWhereOneWouldWaitForAnotherTooLong) { expect_the_same_ticks(case_named("wide_mesh"), 4, 4, 2); }

/// The first shard and the last one are neighbours too. Of two, each comes to both of its borders when the other does;
/// of three, one would wait at its beginning for the end of another.
TEST(WavesTogether, AroundATorusWithAnEvenNumberOfShards) {
  expect_the_same_ticks(case_named("torus"), 2, 2, engine::kMostWaveTicks);
  expect_the_same_ticks(case_named("torus"), 4, 4, engine::kMostWaveTicks);
  expect_the_same_ticks(case_named("torus"), 3, 3, 2);
}

TEST(WavesTogether, OnlyWithAThreadForEachShard) { expect_the_same_ticks(case_named("mesh"), 4, 2, 2); }

TEST(WavesTogether, NotWhereWindowsAreLongAnyway) {
  expect_the_same_ticks(case_named("line"), 2, 2, engine::kMostWaveTicks);
  expect_the_same_ticks(case_named("long_channels"), 2, 2, 41);
}

/// A shard that cannot go on lets the others come to the barrier, at which all stop.
TEST(WavesTogether, EndWhereOneShardFails) {
  engine::EngineSettings settings;
  settings.shards = settings.threads = 3;
  settings.packet_slots = 1;
  const Case& c = case_named("mesh");
  Rig rig(c.topology, c.switching, c.routing, settings);
  Lines lines;
  for (u32 k = 0; k < 400; ++k) lines.push_back({k, 100 + k % 50, 399 - k, 3});
  engine::Machine& machine = rig.run_script(lines);
  ASSERT_EQ(machine.scaling().window, engine::kMostWaveTicks);
  machine.run_until(110);
  engine::PacketPool& pool = machine.shards()[1].terminals->pool();
  while (pool.live() < pool.most() - 1) static_cast<void>(pool.allocate());
  EXPECT_THROW(machine.run_until(1000), ConfigError);
  EXPECT_THROW(machine.run_until(1000), ConfigError);
  pool.clear();
  machine.reset(0);
  machine.set_window({0, kNever - 1});
  machine.run_until(1000);
  machine.audit();
  EXPECT_EQ(machine.totals().delivered, lines.size()) << "a reset begins again";
}

// --- Births far ahead ------------------------------------------------------------------------------------------------

/// Births are kept in a wheel or, when they are far, in a set that is looked through now and then. Nobody waits:
/// neither the message that is far from the beginning on, nor the one after it, which was near when the one before it
/// left.
TEST(Wave, MessagesLeaveWhenTheyAreBorn) {
  const auto waited = [](const Ints& size, Tick first, Tick between, Tick far, Tick later) {
    Rig rig({"mesh", {{"size", size}}}, router(8, 16), kDimensionOrder);
    const Lines lines{{0, far, 1, 1}, {1, first, 2, 1}, {2, between, 3, 1}, {1, far + later, 2, 1}};
    rig.run_script(lines);
    rig.drain();
    EXPECT_EQ(rig.machine().totals().delivered, lines.size());
    return rig.machine().tallies()[0].queueing;
  };
  for (const Tick first : {Tick{1}, Tick{3}, Tick{5}, Tick{8}}) {
    for (Tick between = 100; between < 130; between += 2) {
      for (Tick far = 244; far < 260; ++far) {
        for (const Tick later : {Tick{1}, Tick{3}}) {
          EXPECT_EQ(waited({2, 2}, first, between, far, later), 0U) << first << " " << between << " " << far;
        }
      }
    }
  }
  for (Tick between = 104; between < 128; between += 4) {
    for (Tick far = 246; far < 256; ++far) {
      EXPECT_EQ(waited({20, 20}, 8, between, far, 2), 0U) << "in waves: " << between << " " << far;
    }
  }
}

// --- Lists by blocks -------------------------------------------------------------------------------------------------

TEST(BlockLists, WhatComesLaterIsAddedToWhatIsThere) {
  std::vector<engine::FlitArrival> arrivals;
  BlockLists lists;
  lists.reserve(4, 3);
  const auto taken = [&](u32 block) {
    std::vector<u32> entities;
    lists.take(block, [&](u32 k) { entities.push_back(arrivals[k].entity); });
    std::sort(entities.begin(), entities.end());
    return entities;
  };
  arrivals.push_back({{}, 130, 0});
  arrivals.push_back({{}, 5, 0});
  lists.sort(arrivals);
  EXPECT_EQ(taken(0), (std::vector<u32>{5}));
  EXPECT_EQ(taken(1), (std::vector<u32>{}));
  arrivals.push_back({{}, 64, 0});
  arrivals.push_back({{}, 191, 0});
  lists.sort(arrivals);
  EXPECT_EQ(taken(0), (std::vector<u32>{})) << "taken already";
  EXPECT_EQ(taken(1), (std::vector<u32>{64}));
  EXPECT_EQ(taken(2), (std::vector<u32>{130, 191}));
  lists.restart();
  arrivals.resize(1);
  lists.sort(arrivals);
  EXPECT_EQ(taken(2), (std::vector<u32>{130}));
}

}  // namespace
}  // namespace banyan::wave_test
