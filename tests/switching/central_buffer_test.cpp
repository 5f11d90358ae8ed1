// Does the central buffer time, replicate, guarantee space and explain as its page says?
#include <array>
#include <bit>

#include "banyan/base/error.hpp"
#include "switching/worm_rig.hpp"

namespace {

using namespace banyan;
using test::Given;
using test::tree;
using test::WormRig;

/// Switches between two hosts of the tree of 8-port switches: 1, 3, 5 ...
u32 switches_between(const core::Tree& tree, u32 a, u32 b) {
  u32 level = 0;
  for (; level + 1 < tree.levels.size(); ++level) {
    const core::TreeLevel& l = tree.levels[level];
    if (a / l.key_divide % l.key_modulo == b / l.key_divide % l.key_modulo) break;
  }
  return 2 * level + 1;
}

void random_worms(test::Worms& worms, u32 each, Tick span, u32 longest, u64 salt) {
  const u32 terminals = static_cast<u32>(worms.messages.size());
  const u32 header = 1 + (terminals + 15) / 16;
  for (u32 t = 0; t < terminals; ++t) {
    for (u32 i = 0; i < each; ++i) {
      u64 word = mix64(salt + t * 1000003ULL + i);
      const u32 degree = 1 + static_cast<u32>(word % (terminals - 1));
      const u32 flits = header + static_cast<u32>((word >> 32U) % (longest - header + 1));
      std::vector<u32> to;
      while (to.size() < degree) {
        word = mix64(word);
        const u32 d = static_cast<u32>(word % terminals);
        if (d != t && std::find(to.begin(), to.end(), d) == to.end()) to.push_back(d);
      }
      worms.send(t, to, i * span / each, flits);
    }
  }
}

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
  EXPECT_GT(wedged("central_buffer", buffer(24, "guarantee"), 128, 4), 0U);
}

TEST(CentralBuffer, TheGuaranteeAndTheTwoRulesPreventIt) {
  EXPECT_EQ(wedged("central_buffer", buffer(32, "guarded"), 128, 6), 0U);
}

TEST(CentralBuffer, TheLiteralReadingWedgesAlthoughEveryWormIsGuaranteedSpace) {
  EXPECT_GT(wedged("central_buffer", buffer(32, "guarded", "unicast"), 128, 6), 0U);
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

/// Worms of all kinds at full load over many shapes: 100 million flit-hops in the slow form.
void never_wedges(u64 flit_hops, const char* switch_name) {
  u64 done = 0;
  for (u64 salt = 1; done < flit_hops; ++salt) {
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

TEST_P(BothSwitches, NothingWedgesInThreeMillionFlitHopsOfManyShapes) { never_wedges(3'000'000, GetParam()); }

class SlowBothSwitches : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Switches, SlowBothSwitches, testing::Values("central_buffer", "input_buffer"));
TEST_P(SlowBothSwitches, NothingWedgesInAHundredMillionFlitHopsOfManyShapes) { never_wedges(100'000'000, GetParam()); }

}  // namespace
