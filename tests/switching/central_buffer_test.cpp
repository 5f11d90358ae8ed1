// Does the central buffer time, replicate, guarantee space and explain as its page says?
#include <bit>

#include "banyan/base/error.hpp"
#include "switching/worm_rig.hpp"

namespace {

using namespace banyan;
using test::Given;
using test::Rig;
using test::tree;

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
    Rig rig("bidirectional_min", tree(hosts), GetParam(), {});
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
      Rig rig("bidirectional_min", tree(16), GetParam(), {{"replicate_on", std::string(both)}});
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
    Rig rig("bidirectional_min", tree(16), GetParam(), {}, "nearest_common_ancestor", {}, settings);
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

}  // namespace
