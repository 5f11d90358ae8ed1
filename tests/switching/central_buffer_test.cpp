// Does the central buffer time, replicate, guarantee space and explain as its page says?
#include <fmt/core.h>

#include <array>
#include <bit>
#include <initializer_list>

#include "banyan/base/error.hpp"
#include "banyan/engine/congestion.hpp"
#include "support/effort.hpp"
#include "switching/worm_rig.hpp"

namespace banyan::central_buffer_test {
namespace {

using namespace banyan;
using test::Given;
using test::one_of;
using test::random_packets;
using test::random_worms;
using test::switches_between;
using test::tree;
using test::WormRig;

class BothSwitches : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Switches, BothSwitches, testing::Values("central_buffer", "input_buffer"));

TEST_P(BothSwitches, AnUnloadedPacketTakesSixCyclesPerSwitchAndOnePerFlit) {
  for (const i64 hosts : {16, 64}) {
    WormRig rig("bidirectional_min", tree(hosts), GetParam(), {});
    for (const u32 flits : {1U, 7U, 8U, 9U, 64U, 256U}) {
      for (u32 to = 1; to < hosts; to += hosts == 16 ? 1 : 7) {
        ASSERT_EQ(rig.lone(0, {to}, flits).last, 6 * switches_between(*rig.topology->tree(), 0, to) + flits);
      }
    }
  }
}

TEST_P(BothSwitches, EveryWormArrivesEverywhereUnderHeavyLoadAndNothingIsLost) {
  for (const u64 salt : {1ULL, 2ULL, 3ULL}) {
    for (const char* both : {"way_down", "both_ways"}) {
      WormRig rig("bidirectional_min", tree(16), GetParam(), {{"replicate_on", std::string(both)}});
      random_worms(*rig.worms, 40, 2000, 128, salt);
      ASSERT_TRUE(rig.run(200'000)) << rig.machine->explain_blockage();
      EXPECT_EQ(rig.machine->totals().misdelivered, 0U);
    }
  }
}

/// Hosts 1 to 13 send worms to host 0, host 13 also to host 1.
TEST_P(BothSwitches, WormsForOneHostMakeATreeWhoseRootIsThatHostsPort) {
  WormRig rig("bidirectional_min", tree(16), GetParam(), {{"fifo", i64{64}}});
  for (u32 t = 1; t <= 12; ++t) {
    for (Tick n = 0; n < 30; ++n) rig.worms->send(t, {0}, 10 + n, 64);
  }
  for (Tick n = 0; n < 30; ++n) rig.worms->send(13, {static_cast<u32>(n % 2)}, 10 + n, 64);
  rig.build();
  const core::Graph& graph = rig.topology->graph();
  engine::TreeFinder finder(*rig.topology, rig.routing.get(), 1.0);
  u32 found = 0;
  u32 most_sources = 0;
  u32 most_victims = 0;
  for (Tick now = 500; now <= 4000; now += 100) {
    rig.machine->run_until(now);
    engine::BlockedView view(true);
    rig.machine->blocked_on(view);
    for (const engine::Blocked& b : view.all_blocked()) {
      EXPECT_TRUE(b.why != engine::Why::bandwidth || engine::Resource::of(b.on).kind == engine::ResourceKind::port);
    }
    u64 flits = 0;
    for (const engine::Fill& f : view.fills()) {
      EXPECT_LE(f.used, f.capacity);
      flits += f.used;
    }
    EXPECT_GT(flits, 0U);
    for (const stats::CongestionTree& tree : finder.find(view)) {
      if (tree.root != graph.ejection(0)) continue;
      ++found;
      most_sources = std::max(most_sources, tree.sources);
      most_victims = std::max(most_victims, tree.victims);
      EXPECT_LE(tree.victim_flows, 1U) << "only host 13 sends elsewhere";
    }
  }
  EXPECT_GE(found, 15U) << "of 36 looks, most";
  EXPECT_GE(most_sources, 8U);
  EXPECT_GE(most_victims, 1U);
  EXPECT_TRUE(rig.run(100'000));
}

TEST_P(BothSwitches, ResultsDoNotDependOnTheOrderOfStepsOrOnSpuriousOnes) {
  std::vector<u64> hashes;
  for (int mode = 0; mode < 3; ++mode) {
    engine::EngineSettings settings;
    settings.permuted = mode == 1;
    settings.step_all = mode == 2;
    WormRig rig("bidirectional_min", tree(16), GetParam(), {}, "nearest_common_ancestor", {}, settings);
    random_worms(*rig.worms, 30, 3000, 100, 7);
    rig.build();
    u64 all = 0;
    for (Tick now = 50; now <= 6000; now += 50) {
      rig.machine->run_until(now);
      all = mix64(all + rig.machine->hash());
    }
    hashes.push_back(all);
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  EXPECT_EQ(hashes[0], hashes[2]);
}

/// True when worms of a shape all arrive; otherwise the explanation must be a cycle.
bool arrives(const char* switch_name, Given values, u64 salt, u32 longest, i64 hosts = 16, i64 ports = 8,
             u32 each = 20) {
  WormRig rig("bidirectional_min", tree(hosts, ports), switch_name, std::move(values));
  random_worms(*rig.worms, each, 200, longest, salt);
  if (rig.run(2'000'000, 4096)) return true;
  const std::string why = rig.machine->explain_blockage();
  EXPECT_NE(why.find("wait on each other in a cycle"), std::string::npos) << why;
  EXPECT_NE(why.find("worm"), std::string::npos) << why;
  EXPECT_NE(why.rfind("1 packets wait", 0), 0U) << "both branches of a worm lack room: " << why;
  return false;
}

u32 wedged(const char* switch_name, const Given& values, u32 longest, u32 tries) {
  u32 count = 0;
  for (u64 salt = 1; salt <= tries; ++salt) count += arrives(switch_name, values, salt, longest) ? 0U : 1U;
  return count;
}

Given buffer(i64 chunks, const char* space, const char* bypass = "single_output") {
  return {{"chunks", chunks}, {"fifo", i64{16}}, {"space", std::string(space)}, {"bypass", std::string(bypass)}};
}

TEST(CentralBuffer, WithoutTheGuaranteeWormsWaitOnEachOther) {
  EXPECT_GT(wedged("central_buffer", buffer(24, "none"), 128, 4), 0U);
}

TEST(CentralBuffer, TheGuaranteeAloneDoesNotPreventIt) {
  Given values = buffer(24, "guarantee");
  values.emplace_back("idle_output", std::string("with_room"));  // all that is blocked goes into the buffer
  EXPECT_GT(wedged("central_buffer", values, 128, 4), 0U);
}

TEST(CentralBuffer, TheGuaranteeAndTheTwoRulesPreventIt) {
  EXPECT_EQ(wedged("central_buffer", buffer(32, "guarded"), 128, 6), 0U);
}

/// In the same order in all queues of a switch, and yet over several: a worm holds outputs while a branch waits.
TEST(CentralBuffer, LockStepInOrderWedgesOverSeveralSwitchesAndAllAtOnceDoesNot) {
  const auto lock_step = [](const char* arbitration, i64 fifo) {
    return Given{{"chunks", i64{40}},
                 {"fifo", fifo},
                 {"replication", std::string("synchronous")},
                 {"arbitration", std::string(arbitration)}};
  };
  EXPECT_GT(wedged("central_buffer", lock_step("in_order", 16), 128, 12), 0U);
  EXPECT_EQ(wedged("central_buffer", lock_step("all_at_once", 128), 128, 12), 0U);
}

/// Worms that must use the buffer on their way up too leave space for those on their way down.
TEST(CentralBuffer, TheLiteralReadingNeedsSpaceForWormsThatGoUpAndForWormsThatGoDown) {
  EXPECT_GT(wedged("central_buffer", buffer(32, "guarantee", "unicast"), 128, 6), 0U);
  for (const char* bypass : {"unicast", "never"}) {
    EXPECT_EQ(wedged("central_buffer", buffer(55, "guarded", bypass), 128, 20), 0U) << bypass;
  }
}

enum class Outcome : u8 { refused, arrived, wedged };

/// A network, a buffer and traffic drawn from every value of every parameter, edges included. What is not refused runs
/// with all audits, and wedges only where the rules let it. All values are drawn in the order in which they stand here.
Outcome draw_and_run(u64 salt, std::string& shown) {
  u64 word = mix64(salt ^ 0xc0ffee);
  const auto text = [&](std::initializer_list<const char*> values) { return std::string(one_of(word, values)); };
  const i64 ports = one_of<i64>(word, {4, 8, 8});
  const i64 hosts = one_of<i64>(word, {8, 16, 16, 32, 64});
  const u32 longest = one_of<u32>(word, {6, 24, 64, 160});
  const bool worms = one_of(word, {true, true, true, false});
  const std::string bypass = text({"single_output", "unicast", "never"});
  const std::string space = text({"guarded", "guarded", "guarded", "guarantee", "none"});
  const std::string replicate_on = text({"way_down", "way_down", "both_ways"});
  const std::string replication = text({"asynchronous", "asynchronous", "synchronous"});
  const std::string arbitration = text({"in_order", "per_output", "all_at_once"});
  const i64 chunk = one_of<i64>(word, {0, 0, 1, 3, 64});
  const i64 k = chunk == 0 ? ports : chunk;
  const i64 whole = (longest + k - 1) / k - 1 + ports;
  Given values{{"fifo", one_of<i64>(word, {k, k + 1, 2 * k + 3, 64, i64{longest}})},
               {"chunks", one_of<i64>(word, {1, 3, ports - 1, ports, ports + 1, whole + ports, whole + ports + 1,
                                             2 * whole + ports, 2 * whole + ports + 1, 2 * whole + ports + 4, 256})},
               {"chunk", chunk},
               {"bypass", bypass},
               {"space", space},
               {"replicate_on", replicate_on},
               {"replication", replication},
               {"arbitration", arbitration},
               {"idle_output", text({"uncontended", "with_room"})},
               {"next_packet_ram", text({"shared", "per_output"})}};
  shown = fmt::format("salt {}: {} hosts, {} ports, up to {} flits, {}", salt, hosts, ports, longest,
                      worms ? "worms" : "packets");
  for (const auto& [name, value] : values) {
    shown += fmt::format(
        ", {} = {}", name,
        std::holds_alternative<i64>(value) ? std::to_string(std::get<i64>(value)) : std::get<std::string>(value));
  }
  std::vector<u64> hashes;
  for (const int mode : {0, 1, 2}) {
    engine::EngineSettings settings;
    settings.permuted = mode == 1;
    settings.step_all = mode == 2;
    WormRig rig("bidirectional_min", tree(hosts, ports), "central_buffer", values, "nearest_common_ancestor", {},
                settings);
    if (worms) {
      random_worms(*rig.worms, 12, 60, longest, salt);
    } else {
      random_packets(*rig.worms, 30, longest, salt);
    }
    try {
      rig.build();
    } catch (const ConfigError&) { return Outcome::refused; }
    rig.machine->run_until(2000);
    hashes.push_back(rig.machine->hash());
    EXPECT_EQ(hashes.front(), hashes.back()) << shown << ", mode " << mode;
  }
  WormRig rig("bidirectional_min", tree(hosts, ports), "central_buffer", values);
  if (worms) {
    random_worms(*rig.worms, 12, 60, longest, salt);
  } else {
    random_packets(*rig.worms, 30, longest, salt);
  }
  if (rig.run(4'000'000, 1024)) return Outcome::arrived;
  const bool may_wedge = space != "guarded" || (worms && replication == "synchronous" && arbitration != "all_at_once");
  const std::string why = rig.machine->explain_blockage();
  EXPECT_TRUE(may_wedge) << shown << ": " << why;
  EXPECT_NE(why.find("wait on each other in a cycle"), std::string::npos) << shown << ": " << why;
  return Outcome::wedged;
}

void draw_and_run_many(u64 first, u64 runs) {
  std::array<u64, 3> count{};
  std::string shown;
  for (u64 salt = first; count[1] + count[2] < runs; ++salt) {
    ++count[static_cast<u8>(draw_and_run(salt, shown))];
    ASSERT_FALSE(testing::Test::HasFailure()) << shown;
  }
  EXPECT_GT(count[0], runs / 20) << "some are refused";
  EXPECT_GT(count[1], runs / 2) << "most arrive";
}

TEST(CentralBuffer, WhatIsNotRefusedRunsAndWedgesOnlyWhereTheRulesLetIt) { draw_and_run_many(1, test::tries(60, 8)); }
TEST(SlowCentralBuffer, WhatIsNotRefusedRunsInAThousandRuns) { draw_and_run_many(1'000'000, 1000); }

/// Fewer chunks than outputs were once taken for nearly 2^32 chunks.
TEST(CentralBuffer, AChunkPerOutputIsNeededWhereOneIsHeldBack) {
  for (const i64 chunks : {1, 3, 7, 8}) {
    WormRig rig("bidirectional_min", tree(16), "central_buffer", {{"chunks", chunks}, {"fifo", i64{16}}});
    random_packets(*rig.worms, 40, 40, 3);
    if (chunks >= 8) {
      EXPECT_TRUE(rig.run()) << rig.machine->explain_blockage();
      continue;
    }
    try {
      rig.build();
      ADD_FAILURE() << chunks << " chunks are not refused";
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.cause(),
                fmt::format("a chunk is held back for each of 8 outputs, and the switch has {}", chunks));
      EXPECT_EQ(error.remedy(), "use at least 8 chunks");
    }
  }
}

TEST(CentralBuffer, CopiesOfTheHeaderTakeConsecutiveCyclesUnlessEveryOutputHasItsOwnRam) {
  WormRig rig("bidirectional_min", tree(16), "central_buffer", {});
  EXPECT_EQ(rig.lone(0, {1, 2, 3}, 64).first, 6U + 7U + 64U);
  EXPECT_EQ(rig.lone(0, {1, 2, 3}, 64).last, 6U + 7U + 64U + 2U);
  WormRig own("bidirectional_min", tree(16), "central_buffer", {{"next_packet_ram", std::string("per_output")}});
  EXPECT_EQ(own.lone(0, {1, 2, 3}, 64).last, 6U + 7U + 64U + 2U) << "one chunk is read per cycle";
}

TEST(CentralBuffer, AWormGoesUpOverTheCrossbarAndPaysForTheBufferWhereItReplicates) {
  WormRig rig("bidirectional_min", tree(16), "central_buffer", {});
  // Up: a header of 2 flits is decoded with its second one. The root and one leaf replicate.
  const Tick up = 6 + 1;
  EXPECT_EQ(rig.lone(0, {4, 8}, 64).first, up + 13 + 7 + 64);
}

// --- the two examples of Figure 2 --------------------------------------------------------------------------------
/// What keeps the worms from arriving; nothing when all do.
std::string blockage(WormRig& rig) { return rig.run(100'000) ? "" : rig.machine->explain_blockage(); }

/// Two worms of two terminals of one switch, to two others, born together.
std::string figure_2_left(const Given& values, const char* switch_name = "central_buffer") {
  WormRig rig("bidirectional_min", tree(16), switch_name, values);
  rig.worms->send(0, {2}, 0, 8);  // in an input buffer it is terminal 1's turn at output 2 then
  rig.worms->send(0, {2, 3}, 200, 64);
  rig.worms->send(1, {2, 3}, 200, 64);
  return blockage(rig);
}
/// Two worms that replicate at two roots, to the same two leaves, whose other traffic lets a different one in first.
std::string figure_2_right(const Given& values, u32 flits = 64) {
  for (Tick shift = 0; shift < 240; shift += 7) {
    WormRig rig("bidirectional_min", tree(16), "central_buffer", values);
    rig.worms->send(0, {8, 9, 12, 13}, 100, flits);
    rig.worms->send(4, {8, 9, 12, 13}, 100 + shift % 40, flits);
    rig.worms->send(1, {8}, 60, 8 + static_cast<u32>(shift));
    rig.worms->send(5, {13}, 60, 8 + static_cast<u32>(shift / 2));
    rig.worms->send(2, {12}, 90, 40);
    const std::string why = blockage(rig);
    if (!why.empty()) return why;
  }
  return "";
}
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

TEST(CentralBuffer, Figure2LeftWormsThatAreFirstAtOneOutputEachWedgeAtOneSwitch) {
  const auto with = [](const char* replication, const char* arbitration, i64 chunks, const char* space) {
    return Given{{"replication", std::string(replication)},
                 {"arbitration", std::string(arbitration)},
                 {"chunks", chunks},
                 {"space", std::string(space)}};
  };
  const std::string lock_step = figure_2_left(with("synchronous", "per_output", 256, "guarded"));
  EXPECT_TRUE(has(lock_step, "2 packets wait on each other in a cycle")) << lock_step;
  EXPECT_TRUE(has(lock_step, "waits for output down")) << lock_step;
  const std::string small = figure_2_left(with("asynchronous", "per_output", 8, "none"));
  EXPECT_TRUE(has(small, "wait on each other in a cycle")) << small;
  EXPECT_TRUE(has(small, "worm")) << small;
  for (const char* good : {"in_order", "all_at_once"}) {
    EXPECT_EQ(figure_2_left(with("synchronous", good, 256, "guarded")), "") << good;
  }
  EXPECT_EQ(figure_2_left(with("asynchronous", "per_output", 32, "guarded")), "");
  EXPECT_EQ(figure_2_left(with("asynchronous", "in_order", 32, "guarded")), "");
}

TEST(CentralBuffer, Figure2RightWormsOverSeveralSwitchesWedgeWhenTheyDoNotFitTheBuffers) {
  const std::string small =
      figure_2_right({{"chunks", i64{8}}, {"fifo", i64{16}}, {"space", std::string("none")}}, 256);
  EXPECT_TRUE(has(small, "wait on each other in a cycle")) << small;
  EXPECT_TRUE(has(small, "at input")) << small;
  EXPECT_EQ(figure_2_right({{"chunks", i64{64}}, {"fifo", i64{16}}}, 256), "");
}

/// Worms of all kinds at full load over many shapes: 100 million flit-hops in the slow form.
void never_wedges(u64 flit_hops, const char* switch_name, u64 first = 1) {
  u64 done = 0;
  for (u64 salt = first; done < flit_hops; ++salt) {
    const u64 word = mix64(salt);
    const i64 hosts = std::array<i64, 4>{8, 16, 32, 64}[word % 4];
    const i64 ports = hosts == 32 ? 4 : std::array<i64, 2>{4, 8}[(word >> 8U) % 2];
    const u32 longest = std::array<u32, 3>{24, 64, 160}[(word >> 16U) % 3];
    const u32 chunk = static_cast<u32>(ports);
    const std::string both = (word >> 24U) % 3 == 0 ? "both_ways" : "way_down";
    Given values{{"replicate_on", both}};
    if (std::string(switch_name) == "central_buffer") {
      const u32 least = (longest + chunk - 1) / chunk - 1 + chunk;
      values.emplace_back("fifo", i64{16});
      values.emplace_back("chunks",
                          static_cast<i64>((both == "both_ways" ? 2 : 1) * least + chunk + 1 + (word >> 32U) % 8));
    } else {
      values.emplace_back("fifo", i64{(longest + chunk - 1) / chunk * chunk});
      values.emplace_back("arbitration", std::string((word >> 40U) % 2 == 0 ? "oldest_first" : "per_output"));
    }
    WormRig rig("bidirectional_min", tree(hosts, ports), switch_name, values);
    random_worms(*rig.worms, 30, 100, longest, salt);
    ASSERT_TRUE(rig.run(4'000'000, 8192)) << salt << ": " << rig.machine->explain_blockage();
    done += rig.machine->totals().movements;
  }
}

TEST_P(BothSwitches, LockStepNeverWedgesWhenWormsTakeAllOfTheirOutputsAtOnce) {
  for (u64 salt = 1; salt <= 12; ++salt) {
    const i64 hosts = std::array<i64, 3>{8, 16, 64}[salt % 3];
    const u32 longest = salt % 2 == 0 ? 24 : 64;
    Given values{{"replication", std::string("synchronous")},
                 {"arbitration", std::string("all_at_once")},
                 {"fifo", i64{longest}}};
    WormRig rig("bidirectional_min", tree(hosts, salt % 3 == 0 ? 4 : 8), GetParam(), values);
    random_worms(*rig.worms, 20, 100, longest, salt);
    ASSERT_TRUE(rig.run(4'000'000, 8192)) << salt << ": " << rig.machine->explain_blockage();
  }
}

/// On both ways, worms on their way up once took the space that single packets were to keep free (shape 35 below).
TEST(CentralBuffer, SinglePacketsStayOffTheSpaceOfWormsThatOnlyGoDown) { never_wedges(1, "central_buffer", 35); }

TEST_P(BothSwitches, NothingWedgesInThreeMillionFlitHopsOfManyShapes) { never_wedges(3'000'000, GetParam()); }

class SlowBothSwitches : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Switches, SlowBothSwitches, testing::Values("central_buffer", "input_buffer"));
TEST_P(SlowBothSwitches, NothingWedgesInAHundredMillionFlitHopsOfManyShapes) { never_wedges(100'000'000, GetParam()); }

}  // namespace
}  // namespace banyan::central_buffer_test
