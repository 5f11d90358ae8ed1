// Does the input buffer replicate at the heads of its FIFOs as its page says?
#include <fmt/core.h>

#include <array>
#include <cstdio>

#include "banyan/base/error.hpp"
#include "support/effort.hpp"
#include "switching/worm_rig.hpp"

namespace banyan::input_buffer_test {
namespace {

using namespace banyan;
using test::one_of;
using test::random_packets;
using test::random_worms;
using test::tree;
using test::WormRig;

TEST(InputBuffer, AReplicatedWormWaitsForAChunkAndPaysSevenCyclesPerReplication) {
  WormRig rig("bidirectional_min", tree(16), "input_buffer", {});
  // Neighbours below one switch: header of 2 flits, whole chunk of 8 flits.
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).first, 6U + 7U + 64U);
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).last, 6U + 7U + 1U + 64U);
}

/// A branch leaves when a chunk is whole and the way is known, whichever is the later: no sooner than a packet for one.
TEST(InputBuffer, AReplicatedWormWaitsForItsHeaderWhereThatIsLongerThanAChunk) {
  struct Size {
    u32 hosts;
    u32 header;  ///< flits: 1 + N / 16
  };
  for (const auto& [hosts, header] : {Size{16, 2}, Size{128, 9}}) {
    for (const u32 chunk : {2U, 4U, 8U, 16U, 32U}) {
      WormRig rig("bidirectional_min", tree(hosts), "input_buffer", {{"chunk", i64{chunk}}});
      EXPECT_EQ(rig.lone(0, {1, 2}, 64).first, 6U + std::max(chunk, header) - 1U + 64U)
          << hosts << " hosts, chunks of " << chunk;
    }
  }
}

/// Two worms, of two terminals of one switch, to the two others; born together.
bool two_worms(const test::Given& values, std::string& why) {
  WormRig rig("bidirectional_min", tree(16), "input_buffer", values);
  rig.worms->send(0, {2}, 0, 8);  // it is terminal 1's turn at output 2 then, and terminal 0's at output 3
  rig.worms->send(0, {2, 3}, 200, 64);
  rig.worms->send(1, {2, 3}, 200, 64);
  if (rig.run(100'000)) return true;
  why = rig.machine->explain_blockage();
  return false;
}

test::Given lock_step(const char* arbitration) {
  return {{"replication", std::string("synchronous")}, {"arbitration", std::string(arbitration)}};
}

TEST(InputBuffer, Figure2LeftWormsThatHoldOutputsOneByOneWedgeAtOneSwitch) {
  std::string why;
  EXPECT_FALSE(two_worms(lock_step("per_output"), why));
  EXPECT_NE(why.find("2 packets wait on each other in a cycle"), std::string::npos) << why;
  EXPECT_NE(why.find("waits for output down"), std::string::npos) << why;
  EXPECT_FALSE(
      two_worms({{"arbitration", std::string("per_output")}, {"fifo", i64{16}}, {"space", std::string("any")}}, why));
  EXPECT_NE(why.find("wait on each other in a cycle"), std::string::npos) << why;
  for (const char* good : {"oldest_first", "all_at_once"}) EXPECT_TRUE(two_worms(lock_step(good), why)) << why;
  EXPECT_TRUE(two_worms({{"arbitration", std::string("per_output")}}, why)) << why;
}

/// Two worms that replicate at two roots, to the same two leaves, whose other traffic lets a different one in first.
bool two_roots(const test::Given& values, std::string& why) {
  for (Tick shift = 0; shift < 240; shift += 7) {
    WormRig rig("bidirectional_min", tree(16), "input_buffer", values);
    rig.worms->send(0, {8, 9, 12, 13}, 100, 256);
    rig.worms->send(4, {8, 9, 12, 13}, 100 + shift % 40, 256);
    rig.worms->send(1, {8}, 60, 8 + static_cast<u32>(shift));
    rig.worms->send(5, {13}, 60, 8 + static_cast<u32>(shift / 2));
    rig.worms->send(2, {12}, 90, 40);
    if (rig.run(100'000)) continue;
    why = rig.machine->explain_blockage();
    return false;
  }
  return true;
}

TEST(InputBuffer, Figure2RightWormsOverSeveralSwitchesWedgeWhenTheyDoNotFitTheFifos) {
  std::string why;
  EXPECT_FALSE(two_roots({{"fifo", i64{16}}, {"space", std::string("any")}}, why));
  EXPECT_NE(why.find("2 packets wait on each other in a cycle"), std::string::npos) << why;
  EXPECT_TRUE(two_roots({}, why)) << why;
}

TEST(InputBuffer, NarrowDataPathsTakeOneCycleMorePerReplication) {
  WormRig wide("bidirectional_min", tree(16), "input_buffer", {});
  for (const char* path : {"register_staircase", "split_ram"}) {
    WormRig narrow("bidirectional_min", tree(16), "input_buffer", {{"data_path", std::string(path)}});
    EXPECT_EQ(narrow.lone(0, {1, 2}, 64).last, wide.lone(0, {1, 2}, 64).last + 1) << path;
    EXPECT_EQ(narrow.lone(0, {9}, 64).last, wide.lone(0, {9}, 64).last) << "a single packet waits for no chunk";
  }
}

enum class Outcome : u8 { refused, arrived, wedged };

/// A network, FIFOs and traffic drawn from every value of every parameter, edges included. What is not refused gives
/// the same state in every mode, and wedges only where the rules let it. All values are drawn in the order in which
/// they stand here.
Outcome draw_and_run(u64 salt, std::string& shown) {
  u64 word = mix64(salt ^ 0xf1f0);
  const auto text = [&](std::initializer_list<const char*> values) { return std::string(one_of(word, values)); };
  const i64 ports = one_of<i64>(word, {4, 8, 8});
  const i64 hosts = one_of<i64>(word, {8, 16, 16, 32, 64});
  const u32 longest = one_of<u32>(word, {6, 24, 64, 160});
  const bool worms = one_of(word, {true, true, true, false});
  const i64 chunk = one_of<i64>(word, {0, 0, 1, 3, 64});
  const i64 k = chunk == 0 ? ports : chunk;
  const i64 whole = (longest + k - 1) / k * k;
  const std::string arbitration = text({"oldest_first", "per_output", "all_at_once"});
  const std::string replication = text({"asynchronous", "asynchronous", "synchronous"});
  const std::string space = text({"guaranteed", "guaranteed", "any"});
  const test::Given values{{"fifo", one_of<i64>(word, {1, k, whole - 1, whole, whole + 1, 2 * whole + k, 320})},
                           {"chunk", chunk},
                           {"replicate_on", text({"way_down", "way_down", "both_ways"})},
                           {"replication", replication},
                           {"arbitration", arbitration},
                           {"space", space},
                           {"data_path", text({"chunk_wide", "register_staircase", "split_ram"})}};
  shown = fmt::format("salt {}: {} hosts, {} ports, up to {} flits, {}", salt, hosts, ports, longest,
                      worms ? "worms" : "packets");
  for (const auto& [name, value] : values) {
    shown += fmt::format(
        ", {} = {}", name,
        std::holds_alternative<i64>(value) ? std::to_string(std::get<i64>(value)) : std::get<std::string>(value));
  }
  const auto fill = [&](WormRig& rig) {
    if (worms) {
      random_worms(*rig.worms, 12, 60, longest, salt);
    } else {
      random_packets(*rig.worms, 30, longest, salt);
    }
  };
  std::vector<u64> hashes;
  for (const int mode : {0, 1, 2}) {
    engine::EngineSettings settings;
    settings.permuted = mode == 1;
    settings.step_all = mode == 2;
    WormRig rig("bidirectional_min", tree(hosts, ports), "input_buffer", values, "nearest_common_ancestor", {},
                settings);
    fill(rig);
    try {
      rig.build();
    } catch (const ConfigError&) { return Outcome::refused; }
    rig.machine->run_until(2000);
    hashes.push_back(rig.machine->hash());
    EXPECT_EQ(hashes.front(), hashes.back()) << shown << ", mode " << mode;
  }
  WormRig rig("bidirectional_min", tree(hosts, ports), "input_buffer", values);
  fill(rig);
  if (rig.run(4'000'000, 1024)) {
    EXPECT_EQ(rig.machine->totals().misdelivered, 0U) << shown;
    return Outcome::arrived;
  }
  const bool may_wedge = worms && (space == "any" || (replication == "synchronous" && arbitration != "all_at_once"));
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
  std::printf("[  outcomes ] %llu refused, %llu arrived, %llu wedged\n", static_cast<unsigned long long>(count[0]),
              static_cast<unsigned long long>(count[1]), static_cast<unsigned long long>(count[2]));
  EXPECT_GT(count[0], runs / 20) << "some are refused";
  EXPECT_GT(count[1], runs / 2) << "most arrive";
}

TEST(InputBuffer, WhatIsNotRefusedRunsAndWedgesOnlyWhereTheRulesLetIt) { draw_and_run_many(1, test::tries(60, 8)); }
TEST(SlowInputBuffer, WhatIsNotRefusedRunsInAThousandRuns) { draw_and_run_many(1'000'000, 1000); }

}  // namespace
}  // namespace banyan::input_buffer_test
