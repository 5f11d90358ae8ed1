// Do worms find their way through irregular and unidirectional networks, and multicasts in software theirs without
// meeting each other?
#include <bit>
#include <deque>
#include <map>

#include "banyan/base/error.hpp"
#include "banyan/switching/worms/fabric.hpp"
#include "support/effort.hpp"
#include "switching/worm_rig.hpp"

namespace banyan::worm_networks_test {
namespace {

using namespace banyan;
using switching::most_chunks;
using test::Given;
using test::WormRig;

/// A random connected graph of switches with two terminals each: a tree, and chords.
Given irregular(u32 switches, u64 salt) {
  std::vector<std::string> lines;
  const auto name = [](u64 s) { return "s" + std::to_string(s); };
  for (u32 s = 0; s < switches; ++s) lines.push_back("switch " + name(s));
  for (u32 t = 0; t < 2 * switches; ++t) lines.push_back("terminal " + std::to_string(t) + " " + name(t / 2));
  for (u32 s = 1; s < switches; ++s) lines.push_back("link " + name(s) + " " + name(mix64(salt + s) % s));
  for (u32 i = 0; i < switches / 2; ++i) {
    const u64 a = mix64(salt * 31 + i) % switches;
    const u64 b = mix64(salt * 37 + i) % switches;
    if (a != b) lines.push_back("link " + name(a) + " " + name(b));
  }
  return {{"lines", lines}};
}

class WormNetworks : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Switches, WormNetworks, testing::Values("central_buffer", "input_buffer"));

TEST_P(WormNetworks, WormsReachAllOfTheirTerminalsOverUpAndDownLinksOfIrregularNetworks) {
  for (u64 salt = 1; salt <= 8; ++salt) {
    for (const char* both : {"way_down", "both_ways"}) {
      WormRig rig("graph_file", irregular(6 + static_cast<u32>(salt % 7), salt), GetParam(),
                  {{"replicate_on", std::string(both)}, {"chunk", i64{8}}}, "up_down");
      test::random_worms(*rig.worms, 15, 400, 64, salt);
      ASSERT_TRUE(rig.run(1'000'000, 1024)) << salt << ": " << rig.machine->explain_blockage();
      EXPECT_EQ(rig.machine->totals().misdelivered, 0U);
    }
  }
}

// A top stage that is not full has several ways down to the same terminals: what was served on the way up over one of
// them must not be served again over another.
TEST_P(WormNetworks, WormsReachAllOfTheirTerminalsWhereTheTopStageHasRedundantWays) {
  for (const i64 hosts : {i64{32}, test::tries(i64{128}, i64{16})}) {
    for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
      for (const char* both : {"way_down", "both_ways"}) {
        WormRig rig("bidirectional_min", {{"hosts", hosts}, {"ports", i64{8}}, {"wiring", std::string(wiring)}},
                    GetParam(), {{"replicate_on", std::string(both)}, {"chunk", i64{8}}}, "nearest_common_ancestor");
        test::random_worms(*rig.worms, 15, 400, 64, static_cast<u64>(hosts));
        ASSERT_TRUE(rig.run(1'000'000, 1024)) << hosts << wiring << both << ": " << rig.machine->explain_blockage();
        EXPECT_EQ(rig.machine->totals().misdelivered, 0U) << hosts << wiring << both;
      }
    }
  }
}

TEST(WormWays, OnIrregularNetworksDownLinksHaveStringsThatShareNoTerminalAndTheRootsCoverAll) {
  for (u64 salt = 1; salt <= 20; ++salt) {
    WormRig rig("graph_file", irregular(10, salt), "central_buffer", {}, "up_down");
    const core::Graph& graph = rig.topology->graph();
    const auto routes = rig.routing->multicast_routes();
    ASSERT_NE(routes, nullptr);
    const u64 all = (u64{1} << graph.terminals()) - 1;
    u64 covered = 0;
    for (u32 s = 0; s < graph.switches(); ++s) {
      u64 seen = 0;
      for (u32 p = 0; p < graph.outputs(s); ++p) {
        const u64 string = *routes->reach(s, p);
        EXPECT_EQ(string & seen, 0U);
        seen |= string;
        const auto up = routes->up_ports(s);
        if (std::find(up.begin(), up.end(), p) != up.end()) { EXPECT_EQ(string, 0U) << "up links have none"; }
        const core::End& to = graph.channel(graph.channel_out_of(s, p)).to;
        if (string != 0 && !to.terminal) { EXPECT_EQ(string, *routes->below(to.node)); }
      }
      EXPECT_EQ(seen, *routes->below(s));
      if (routes->up_ports(s).empty()) covered |= seen;
    }
    EXPECT_EQ(covered, all);
  }
}

TEST_P(WormNetworks, WormsReplicateAtEveryStageOfUnidirectionalNetworks) {
  struct Net {
    const char* topology;
    Given shape;
    u32 stages;
  };
  for (const Net& net : {Net{"multistage_cube", {{"terminals", i64{16}}, {"radix", i64{4}}}, 2},
                         Net{"multistage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}, 4},
                         Net{"extra_stage_cube", {{"terminals", i64{16}}, {"radix", i64{2}}}, 5}}) {
    WormRig rig(net.topology, net.shape, GetParam(), {{"chunk", i64{4}}}, "destination_tag");
    EXPECT_EQ(rig.lone(3, {9}, 24).last, 6 * net.stages + 24) << net.topology;
    // A header of 2 flits is decoded with its second one; where the worm replicates, with the fourth of its chunk.
    EXPECT_EQ(rig.lone(3, {8, 9}, 24).first, 6 * net.stages + 24 + (net.stages - 1) + 3);
    test::random_worms(*rig.worms, 20, 400, 48, 5);
    rig.machine.reset();
    ASSERT_TRUE(rig.run(1'000'000, 1024)) << net.topology << ": " << rig.machine->explain_blockage();
    EXPECT_EQ(rig.machine->totals().misdelivered, 0U);
  }
}

/// A byte once counted them: 300 were 44.
TEST_P(WormNetworks, HopsOfLongWaysAreCounted) {
  WormRig rig("mesh", {{"size", std::vector<i64>{300}}}, GetParam(), {{"chunk", i64{8}}}, "up_down");
  rig.worms->send(0, {299}, 5, 9);
  ASSERT_TRUE(rig.run());
  EXPECT_EQ(rig.tally().hops, 300U);
}

// --- what is refused --------------------------------------------------------------------------------------------
std::string refused(const char* switch_name, const Given& values, u32 flits, i64 hosts = 16) {
  WormRig rig("bidirectional_min", test::tree(hosts), switch_name, values);
  rig.worms->send(0, {1, 2}, 0, flits);
  try {
    rig.build();
  } catch (const ConfigError& error) { return error.cause() + ": " + error.remedy(); }
  return "";
}
TEST(WormWays, WhatDoesNotFitIsRefusedWithTheSizeThatWould) {
  EXPECT_EQ(refused("central_buffer", {{"chunks", i64{20}}}, 64),
            "a replicated packet of 64 flits needs 24 chunks with those that are held back for its outputs, and the "
            "switch has 20: use at least 24 chunks, or shorter packets");
  EXPECT_EQ(refused("input_buffer", {}, 400),
            "a replicated packet of 400 flits does not fit a FIFO of 320: use a FIFO of at least 400 flits, or shorter "
            "packets");
  EXPECT_EQ(refused("central_buffer", {{"fifo", i64{4}}}, 64),
            "a FIFO of 4 flits does not hold a chunk of 8: use a FIFO of at least 8 flits");
  // 65 flits come in 9 chunks.
  EXPECT_EQ(
      refused("central_buffer", {{"fifo", i64{65}}}, 256, 1024),
      "a header for 1024 terminals has 65 flits in chunks of 8, and the FIFO 65: use a FIFO of at least 72 flits");
  EXPECT_EQ(refused("central_buffer", {{"fifo", i64{72}}}, 256, 1024), "");
  const Given all{{"replication", std::string("synchronous")}, {"arbitration", std::string("all_at_once")}};
  EXPECT_EQ(refused("central_buffer", all, 65),
            "a worm of 65 flits never finds room in FIFOs of 64: use a FIFO of at least 65 flits, or shorter packets");
}

// --- places of FIFOs --------------------------------------------------------------------------------------------
/// A FIFO that is always as full as packets of `shortest` flits or a few more allow.
u32 most_seen(u32 fifo, u32 chunk, u32 shortest) {
  std::deque<u32> held;
  u32 flits = 0;
  std::size_t most = 0;
  for (u32 packet = 0; packet < 400; ++packet) {
    const u32 length = shortest + static_cast<u32>(mix64(packet) % 3) * (packet % 2);
    for (u32 sent = 0; sent < length; sent += chunk) {
      const u32 next = std::min(chunk, length - sent);
      for (; flits + next > fifo; held.pop_front()) flits -= held.front();
      held.push_back(next);
      flits += next;
      most = std::max(most, held.size());
    }
  }
  return static_cast<u32>(most);
}

TEST(WormFifos, HaveAPlaceForEveryChunkAndFewMore) {
  for (const u32 fifo : {8U, 9U, 64U, 100U, 320U}) {
    for (const u32 chunk : {1U, 3U, 8U}) {
      for (const u32 shortest : {1U, 2U, 3U, 7U, 8U, 9U, 16U, 17U, 64U, 65U, 400U}) {
        const u32 places = most_chunks(fifo, chunk, shortest);
        EXPECT_GE(places, most_seen(fifo, chunk, shortest)) << fifo << " " << chunk << " " << shortest;
        EXPECT_LE(places, fifo);
      }
    }
  }
  EXPECT_EQ(most_chunks(320, 8, 1), 320U) << "packets of one flit";
  EXPECT_EQ(most_chunks(320, 8, 64), 44U) << "1.65 bytes per flit";
}

// --- U-Min ---------------------------------------------------------------------------------------------------------
std::unique_ptr<core::Traffic> multicasts(const WormRig& rig, i64 degree, const char* how) {
  const auto& row = test::row_named(core::traffic_rows(), "multicast");
  core::TrafficContext context;
  context.topology = rig.topology.get();
  context.terminals = rig.topology->graph().terminals();
  context.seed = 3;
  auto traffic = row.make(
      test::values_of(row.info, {{"load", 1e-7}, {"degree", degree}, {"implementation", std::string(how)}}), context);
  traffic->begin(0);
  return traffic;
}

/// When the last terminal of a part of the chain is reached if nothing is ever in the way; `phases` counts.
Tick reached_last(const core::Tree& tree, const std::vector<u32>& chain, u32 low, u32 high, u32 own, Tick start,
                  u32 phase, u32& phases) {
  Tick last = 0;
  while (low < high) {
    const u32 middle = low + (high - low + 1) / 2;
    const bool lower = own < middle;
    const u32 target = lower ? middle : middle - 1;
    const Tick there = start + 6 * test::switches_between(tree, chain[own], chain[target]) + 64;
    phases = std::max(phases, ++phase);
    last = std::max(
        {last, there,
         reached_last(tree, chain, lower ? middle : low, lower ? high : middle - 1, target, there, phase, phases)});
    (lower ? high : low) = lower ? middle - 1 : middle;
    start += 64;
  }
  return last;
}

/// Terminals below one switch stand together, on every level.
void sort_by_switches(const core::Tree& tree, std::vector<u32>& chain) {
  const auto way = [&](u32 t) {
    std::vector<u32> keys;
    for (std::size_t l = tree.levels.size(); l-- > 0;) {
      keys.push_back(t / tree.levels[l].key_divide % tree.levels[l].key_modulo);
    }
    return keys;
  };
  std::sort(chain.begin(), chain.end(), [&](u32 a, u32 b) { return std::pair(way(a), a) < std::pair(way(b), b); });
}

TEST(WormWays, ALoneMulticastInSoftwareTakesCeilLogPhasesAndItsMessagesDoNotMeet) {
  struct Case {
    const char* switch_name;
    i64 hosts;
    const char* wiring;
  };
  for (const auto& [switch_name, hosts, wiring] : {Case{"central_buffer", 16, "perfect_shuffle"},
                                                   {"central_buffer", 64, "perfect_shuffle"},
                                                   {"central_buffer", 32, "perfect_shuffle"},
                                                   {"central_buffer", 64, "k_ary_n_tree"},
                                                   {"input_buffer", 16, "perfect_shuffle"},
                                                   {"input_buffer", 64, "perfect_shuffle"},
                                                   {"input_buffer", 64, "k_ary_n_tree"}}) {
    for (const i64 degree : {2, 3, 4, 7, 8, 15}) {
      Given shape = test::tree(hosts);
      shape.emplace_back("wiring", std::string(wiring));
      WormRig rig("bidirectional_min", shape, switch_name, {});
      const auto software = multicasts(rig, degree, "software");
      const auto hardware = multicasts(rig, degree, "hardware");  // draws the same sets
      core::Traffic* const pointer = software.get();
      engine::Builder builder(*rig.topology, *rig.routing, std::span<core::Traffic* const>(&pointer, 1), {}, {});
      const auto& row = test::row_named(core::switching_rows(), switch_name);
      row.install(config::Values::defaults(row.info), builder);
      engine::Machine machine(builder.take_shards(), std::span<core::Traffic* const>(&pointer, 1), builder.window(), 1);
      machine.reset(0);
      constexpr Tick kEnd = 6'000'000'000;
      machine.set_window({0, kEnd});
      machine.run_until(kEnd + 100'000);
      Tick expected = 0;
      u64 count = 0;
      for (u32 t = 0; t < static_cast<u32>(hosts); ++t) {
        Tick birth = kNever;
        core::Message message;
        for (u64 nth = 0; hardware->next(t, nth, birth, message); ++nth) {
          birth = message.birth;
          if (birth > kEnd) break;
          u64 bits = u64{1} << t;
          hardware->destinations(t, nth, message, std::span<u64>(&bits, 1));
          std::vector<u32> chain;
          for (u64 m = bits; m != 0; m &= m - 1) chain.push_back(static_cast<u32>(std::countr_zero(m)));
          sort_by_switches(*rig.topology->tree(), chain);
          const u32 own = static_cast<u32>(std::find(chain.begin(), chain.end(), t) - chain.begin());
          u32 phases = 0;
          expected += reached_last(*rig.topology->tree(), chain, 0, static_cast<u32>(degree), own, 0, 0, phases);
          EXPECT_EQ(phases, std::bit_width(static_cast<u32>(degree))) << "ceil(log2(m + 1))";
          ++count;
        }
      }
      EXPECT_GT(count, 5U);
      EXPECT_EQ(machine.tallies()[0].multicasts, count);
      EXPECT_EQ(machine.tallies()[0].multicast_last, expected)
          << switch_name << ", " << hosts << " hosts, " << wiring << ", m = " << degree;
    }
  }
}

}  // namespace
}  // namespace banyan::worm_networks_test
