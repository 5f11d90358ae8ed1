// Does only background to the hot section avoid the reserved subnetwork, and are the ends of K the other schemes?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "topology/networks.hpp"

namespace banyan::hot_section_test {
namespace {

using namespace test;

RoutingPointer section_on(const core::Topology& topology, u32 sections, const std::vector<core::HotSpot>& hot_spots) {
  return routing_on(topology, routing::hot_section::row_hot_section, {{"sections", i64{sections}}}, hot_spots);
}

u64 tag_of(const core::Routing& routing, u32 source, u32 destination, u32 word, u8 pending, u8 flags = 0) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  packet.pending = pending;
  packet.flags = flags;
  routing.prepare(packet, word);
  return packet.tag;
}

const std::vector<core::HotSpot> kTwoHotSpots{{0, 17}, {2, 40}};

TEST(HotSection, OneSectionIsIsolatedHotSpotForEveryPair) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer one = section_on(*topology, 1, kTwoHotSpots);
  const RoutingPointer isolated =
      routing_on(*topology, routing::isolated_hot_spot::row_isolated_hot_spot, {}, kTwoHotSpots);
  for (u32 s = 0; s < 64; ++s) {
    for (u32 d = 0; d < 64; ++d) {
      for (u32 pending = 0; pending < 8; ++pending) {
        for (u32 choice = 0; choice < 6; ++choice) {
          const u32 word = word_for(choice, 6);
          for (const u8 flags : {u8{0}, u8{core::kSynchronization}}) {
            ASSERT_EQ(tag_of(*one, s, d, word, static_cast<u8>(pending), flags),
                      tag_of(*isolated, s, d, word, static_cast<u8>(pending), flags));
          }
        }
      }
    }
  }
}

RC_GTEST_PROP(HotSection, OneSectionIsIsolatedHotSpotForEveryWord, ()) {
  const auto [terminals, radix] = *rc::gen::elementOf(all_sizes());
  const std::vector<core::HotSpot> spots{{*rc::gen::inRange<u32>(0, 8), *rc::gen::inRange<u32>(0, terminals)}};
  const TopologyPointer topology = extra_stage_cube(terminals, radix);
  const RoutingPointer one = section_on(*topology, 1, spots);
  const RoutingPointer isolated = routing_on(*topology, routing::isolated_hot_spot::row_isolated_hot_spot, {}, spots);
  const u32 source = *rc::gen::inRange<u32>(0, terminals);
  const u32 destination = *rc::gen::inRange<u32>(0, terminals);
  const u32 word = *rc::gen::arbitrary<u32>();
  const u8 pending = *rc::gen::arbitrary<u8>();
  RC_ASSERT(tag_of(*one, source, destination, word, pending) == tag_of(*isolated, source, destination, word, pending));
}

TEST(HotSection, AsManySectionsAsTerminalsReserveNothingForOtherBackground) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = section_on(*topology, 64, kTwoHotSpots);
  const RoutingPointer straight = routing_on(*topology, routing::destination_tag::row_destination_tag);
  for (u32 s = 0; s < 64; ++s) {
    for (u32 d = 0; d < 64; ++d) {
      for (u32 pending = 0; pending < 8; ++pending) {
        const u64 tag = tag_of(*routing, s, d, 0x12345678U, static_cast<u8>(pending));
        const bool hot = (d == 17 && (pending & 1U) != 0) || (d == 40 && (pending & 4U) != 0);
        const u64 expected = tag_of(*straight, s, d, 0, 0);
        ASSERT_EQ(tag, hot ? expected & ~u64{3} : expected);
      }
    }
  }
}

TEST(HotSection, NoFlagMeansStraightForEveryNumberOfSections) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer straight = routing_on(*topology, routing::destination_tag::row_destination_tag);
  for (u32 sections = 1; sections <= 64; sections *= 2) {
    const RoutingPointer routing = section_on(*topology, sections, kTwoHotSpots);
    for (u32 s = 0; s < 64; ++s) {
      // Bit 1 belongs to a traffic without a hot spot.
      for (u32 d = 0; d < 64; ++d) ASSERT_EQ(tag_of(*routing, s, d, 99, 2), tag_of(*straight, s, d, 0, 0));
    }
  }
}

RC_GTEST_PROP(HotSection, TheInputStageIsSetAsFigure12Says, ()) {
  const u32 sections = u32{1} << *rc::gen::inRange<u32>(0, 7);
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = section_on(*topology, sections, kTwoHotSpots);
  const u32 source = *rc::gen::inRange<u32>(0, 64);
  const u32 destination = *rc::gen::inRange<u32>(0, 64);
  const u8 pending = *rc::gen::arbitrary<u8>();
  const Path path = path_of(*topology, *routing, source, destination, *rc::gen::arbitrary<u32>(), pending);
  RC_ASSERT(path.arrived);
  const u32 port = topology->graph().channel(path.channels[1]).from.port;
  bool hot = false;
  bool section = false;
  for (const core::HotSpot& spot : kTwoHotSpots) {
    if ((pending >> spot.traffic & 1) == 0) continue;
    const u32 first = spot.terminal * sections / 64 * (64 / sections);
    hot |= destination == spot.terminal;
    section |= destination >= first && destination < first + 64 / sections;
  }
  if (hot) {
    RC_ASSERT(port == 0U);
  } else if (section && source % 4 == 0) {
    RC_ASSERT(port != 0U);
  } else {
    RC_ASSERT(port == source % 4);
  }
}

TEST(HotSection, WithTwoSectionsBackgroundUsesTheReservedButIdleBoxOfFigure11) {
  const TopologyPointer topology = extra_stage_cube(8, 2);
  const RoutingPointer routing = section_on(*topology, 2, {{0, 0}});
  // From terminal 2 to terminal 4, which is in the other section: straight, so over the links 2, 6, 4. The box of
  // stage 1 with the links 4 and 6 carries no synchronization.
  const Path path = path_of(*topology, *routing, 2, 4, 0, 1);
  std::vector<u32> ports;
  for (std::size_t i = 1; i < path.channels.size(); ++i) {
    ports.push_back(topology->graph().channel(path.channels[i]).from.port);
  }
  EXPECT_EQ(ports, (std::vector<u32>{0, 1, 0, 0}));
  EXPECT_EQ(topology->label(path.switches[2]), "stage 1 box 2");
  EXPECT_EQ(link_numbers(topology->graph())[topology->graph().channel_into(path.switches[2], 0)], 4U);
  EXPECT_EQ(link_numbers(topology->graph())[topology->graph().channel_into(path.switches[2], 1)], 6U);
}

TEST(HotSection, SectionsThatDoNotDivideTheTerminalsEvenlyAreRefusedWithTheNumbersAround) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const auto error = [&](u32 sections) { return config_error([&] { section_on(*topology, sections, {}); }); };
  const std::string rule = " sections: their number must be a power of two that divides 64 terminals | ";
  EXPECT_EQ(error(6), "6" + rule + "use 4 or 8");
  EXPECT_EQ(error(63), "63" + rule + "use 32 or 64");
  EXPECT_EQ(error(128), "128" + rule + "use 64");
  const TopologyPointer odd = extra_stage_cube(81, 3);
  EXPECT_EQ(config_error([&] { section_on(*odd, 4, {}); }),
            "4 sections: their number must be a power of two that divides 81 terminals | use 1");
}

TEST(HotSection, ItNeedsAnExtraStageCube) {
  const TopologyPointer plain = cube(16, 4);
  EXPECT_NE(config_error([&] { section_on(*plain, 4, {}); }), "");
}

}  // namespace
}  // namespace banyan::hot_section_test
