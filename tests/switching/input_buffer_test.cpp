// Does the input buffer replicate at the heads of its FIFOs as its page says?
#include "switching/worm_rig.hpp"

namespace {

using namespace banyan;
using test::Rig;
using test::tree;

TEST(InputBuffer, AReplicatedWormWaitsForAChunkAndPaysSevenCyclesPerReplication) {
  Rig rig("bidirectional_min", tree(16), "input_buffer", {});
  // Neighbours below one switch: header of 2 flits, whole chunk of 8 flits.
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).first, 6U + 7U + 64U);
  EXPECT_EQ(rig.lone(0, {1, 2}, 64).last, 6U + 7U + 1U + 64U);
}

}  // namespace
