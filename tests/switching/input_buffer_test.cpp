// Does the input buffer replicate at the heads of its FIFOs as its page says?
#include "switching/worm_rig.hpp"

namespace banyan::input_buffer_test {
namespace {

using namespace banyan;
using test::tree;
using test::WormRig;

TEST(InputBuffer, AReplicatedWormWaitsForAChunkAndPaysSevenCyclesPerReplication) {
  WormRig rig("bidirectional_min", tree(16), "input_buffer", {});
  // Neighbours below one switch: header of 2 flits, whole chunk of 8 flits.
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).first, 6U + 7U + 64U);
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).last, 6U + 7U + 1U + 64U);
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

}  // namespace
}  // namespace banyan::input_buffer_test
