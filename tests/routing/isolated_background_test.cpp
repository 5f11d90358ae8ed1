// Does a pending hot spot keep background out of the reserved subnetwork, and does the subnetwork look like the
// paper's?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "topology/networks.hpp"

namespace banyan::isolated_background_test {
namespace {

using namespace test;

RoutingPointer isolated_on(const core::Topology& topology, const std::vector<core::HotSpot>& hot_spots) {
  return routing_on(topology, routing::isolated_background::row_isolated_background, {}, hot_spots);
}

/// The boxes of stages log_n N - 1 .. 1 on a path: those between the outer stages.
std::vector<u32> inner_boxes(const Path& path) { return {path.switches.begin() + 1, path.switches.end() - 1}; }

/// Digit 0 of the links of every box. Between the outer stages it is the same for all links of a box (section 4.1).
std::vector<u32> low_digits(const core::Topology& topology) {
  const core::Graph& graph = topology.graph();
  const std::vector<u32> number = link_numbers(graph);
  std::vector<u32> low;
  for (u32 s = 0; s < graph.switches(); ++s) {
    low.push_back(number[graph.channel_into(s, 0)] % topology.multistage()->radix);
  }
  return low;
}

TEST(IsolatedBackground, SynchronizationUsesOnlyBoxesOfLinksWithLowDigitZeroBetweenTheOuterStages) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    const std::vector<u32> low = low_digits(*topology);
    for (const u32 coordinator : {0U, terminals / 2 + 1, terminals - 1}) {
      const RoutingPointer routing = isolated_on(*topology, {{0, coordinator}});
      for (u32 s = 0; s < terminals; ++s) {
        for (const u8 pending : {u8{0}, u8{1}}) {
          const Path path = path_of(*topology, *routing, s, coordinator, 77 * s, pending, core::kSynchronization);
          ASSERT_TRUE(path.arrived);
          for (const u32 box : inner_boxes(path)) ASSERT_EQ(low[box], 0U);
        }
      }
    }
  }
}

TEST(IsolatedBackground, PendingBackgroundUsesNoBoxOfLinksWithLowDigitZeroBetweenTheOuterStages) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    const std::vector<u32> low = low_digits(*topology);
    const RoutingPointer routing = isolated_on(*topology, {{2, 5}});
    for (u32 s = 0; s < terminals; ++s) {
      for (u32 d = 0; d < terminals; ++d) {
        const Path path = path_of(*topology, *routing, s, d, 0x9e3779b9U * (s + d), 4);
        ASSERT_TRUE(path.arrived);
        for (const u32 box : inner_boxes(path)) ASSERT_NE(low[box], 0U);
      }
    }
  }
}

TEST(IsolatedBackground, TheBoxesOfSynchronizationShrinkByTheRadixFromStageToStage) {
  // Figure 10: N = 8, n = 2, hot spot 0 uses two boxes of stage 2 and one of stage 1.
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    for (const u32 coordinator : {0U, terminals / 3, terminals - 1}) {
      const RoutingPointer routing = isolated_on(*topology, {{0, coordinator}});
      std::set<u32> boxes;
      for (u32 s = 0; s < terminals; ++s) {
        if (s == coordinator) continue;
        const Path path = path_of(*topology, *routing, s, coordinator, 0, 1, core::kSynchronization);
        boxes.insert(path.switches.begin(), path.switches.end());
      }
      std::vector<u64> per_stage(topology->graph().levels(), 0);
      for (const u32 box : boxes) ++per_stage[topology->multistage()->stage_label[topology->graph().level(box)]];
      for (u32 stage = 1; stage < topology->multistage()->digits; ++stage) {
        EXPECT_EQ(per_stage[stage], power(radix, stage - 1));
      }
      EXPECT_EQ(per_stage[0], 1U);
    }
  }
}

TEST(IsolatedBackground, FromTheUpperInputEveryOtherOutputIsTakenEquallyOften) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = isolated_on(*topology, {{0, 0}});
  std::vector<u32> count(4, 0);
  for (u32 choice = 0; choice < 3000; ++choice) {
    const Path path = path_of(*topology, *routing, 8, 33, word_for(choice, 3000), 1);
    ++count[topology->graph().channel(path.channels[1]).from.port];
  }
  EXPECT_EQ(count, (std::vector<u32>{0, 1000, 1000, 1000}));
}

RC_GTEST_PROP(IsolatedBackground, TheInputStageIsSetAsFigure3Says, ()) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = isolated_on(*topology, {{0, 17}, {3, 40}});
  const u32 source = *rc::gen::inRange<u32>(0, 64);
  const u32 destination = *rc::gen::inRange<u32>(0, 64);
  const u32 word = *rc::gen::arbitrary<u32>();
  const u8 pending = *rc::gen::arbitrary<u8>();
  const bool synchronization = *rc::gen::arbitrary<bool>();
  const Path path = path_of(*topology, *routing, source, destination, word, pending,
                            synchronization ? u8{core::kSynchronization} : u8{0});
  RC_ASSERT(path.arrived);
  const u32 port = topology->graph().channel(path.channels[1]).from.port;
  if (synchronization) {
    RC_ASSERT(port == 0U);
  } else if ((pending & 0b1001) != 0 && source % 4 == 0) {
    RC_ASSERT(port != 0U);
  } else {
    RC_ASSERT(port == source % 4);
  }
}

TEST(IsolatedBackground, ItNeedsAnExtraStageCubeWithBothOuterStagesEnabledAndWithoutFaults) {
  const std::string needs =
      "the routing chooses among the paths of an Extra Stage Cube with both outer stages enabled | use the topology "
      "extra_stage_cube with input_stage and output_stage enabled";
  const TopologyPointer plain = cube(16, 4);
  const TopologyPointer bypassed = extra_stage_cube(16, 4, {{"input_stage", std::string("bypassed")}});
  const TopologyPointer faulty = extra_stage_cube(16, 4, {{"faults", std::vector<std::string>{"box 1 0"}}});
  EXPECT_EQ(config_error([&] { isolated_on(*plain, {}); }), needs);
  EXPECT_EQ(config_error([&] { isolated_on(*bypassed, {}); }), needs);
  EXPECT_EQ(config_error([&] { isolated_on(*faulty, {}); }),
            "the routing needs every path, but the topology has faults | use a topology without faults, or the routing "
            "destination_tag");
}

TEST(IsolatedBackground, PacketsOfOnePairMayOvertakeEachOther) {
  const TopologyPointer topology = extra_stage_cube(16, 4);
  EXPECT_FALSE(isolated_on(*topology, {{0, 0}})->in_order());
}

TEST(IsolatedBackground, TheNinthTrafficCannotHaveAHotSpot) {
  const TopologyPointer topology = extra_stage_cube(16, 4);
  EXPECT_EQ(config_error([&] { isolated_on(*topology, {{7, 0}}); }), "");
  EXPECT_EQ(config_error([&] {
              isolated_on(*topology, {{8, 0}});
            }),
            "traffic 8 has a hot spot, but packets carry flags of eight traffics only | list traffics with hot spots "
            "among the first eight");
}

}  // namespace
}  // namespace banyan::isolated_background_test
