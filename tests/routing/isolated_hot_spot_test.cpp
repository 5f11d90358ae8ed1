// Does background to the hot spot follow the synchronization, and all other background stay away?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "topology/networks.hpp"

namespace banyan::isolated_hot_spot_test {
namespace {

using namespace test;

RoutingPointer isolated_on(const core::Topology& topology, const std::vector<core::HotSpot>& hot_spots) {
  return routing_on(topology, routing::isolated_hot_spot::row_isolated_hot_spot, {}, hot_spots);
}

TEST(IsolatedHotSpot, PendingBackgroundToTheHotSpotTakesThePathOfTheSynchronization) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    const u32 coordinator = terminals / 3;
    const RoutingPointer routing = isolated_on(*topology, {{1, coordinator}});
    for (u32 s = 0; s < terminals; ++s) {
      const Path background = path_of(*topology, *routing, s, coordinator, 99 * s, 2);
      const Path synchronization = path_of(*topology, *routing, s, coordinator, 0, 2, core::kSynchronization);
      ASSERT_TRUE(background.arrived);
      EXPECT_EQ(background.channels, synchronization.channels);
    }
  }
}

TEST(IsolatedHotSpot, AHotSpotWhoseFlagIsClearIsAnOrdinaryDestination) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = isolated_on(*topology, {{0, 17}, {1, 40}});
  // Flag 1 is set: terminal 40 is hot; terminal 17 is background that avoids the upper output.
  const auto port = [&](u32 destination) {
    return topology->graph().channel(path_of(*topology, *routing, 0, destination, 0, 2).channels[1]).from.port;
  };
  EXPECT_EQ(port(40), 0U);
  EXPECT_NE(port(17), 0U);
}

RC_GTEST_PROP(IsolatedHotSpot, TheInputStageIsSetAsFigure7Says, ()) {
  const TopologyPointer topology = extra_stage_cube(16, 4);
  const std::vector<core::HotSpot> spots{{0, 7}, {3, 10}};
  const RoutingPointer routing = isolated_on(*topology, spots);
  const u32 source = *rc::gen::inRange<u32>(0, 16);
  const u32 destination = *rc::gen::inRange<u32>(0, 16);
  const u32 word = *rc::gen::arbitrary<u32>();
  const u8 pending = *rc::gen::arbitrary<u8>();
  const bool synchronization = *rc::gen::arbitrary<bool>();
  const Path path = path_of(*topology, *routing, source, destination, word, pending,
                            synchronization ? u8{core::kSynchronization} : u8{0});
  RC_ASSERT(path.arrived);
  const u32 port = topology->graph().channel(path.channels[1]).from.port;
  bool any = false;
  bool hot = false;
  for (const core::HotSpot& spot : spots) {
    const bool flag = (pending >> spot.traffic & 1) != 0;
    any |= flag;
    hot |= flag && destination == spot.terminal;
  }
  if (synchronization || hot) {
    RC_ASSERT(port == 0U);
  } else if (any && source % 4 == 0) {
    RC_ASSERT(port != 0U);
  } else {
    RC_ASSERT(port == source % 4);
  }
}

TEST(IsolatedHotSpot, ItNeedsAnExtraStageCube) {
  const TopologyPointer plain = cube(16, 4);
  EXPECT_NE(config_error([&] { isolated_on(*plain, {}); }), "");
}

}  // namespace
}  // namespace banyan::isolated_hot_spot_test
