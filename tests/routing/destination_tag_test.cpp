// Does every packet arrive, over one path or over n disjoint ones, and around the faults?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bitset>
#include <map>
#include <set>

#include "support/effort.hpp"
#include "topology/networks.hpp"

namespace banyan::destination_tag_test {
namespace {

using namespace test;
using Texts = std::vector<std::string>;

const Given kRandom{{"input_stage", std::string("random")}};

RoutingPointer tag_on(const core::Topology& topology, const Given& given = {}, u32 vcs = 1) {
  return routing_on(topology, routing::destination_tag::row_destination_tag, given, {}, vcs);
}

void expect_all_pairs_arrive(const core::Topology& topology, const core::Routing& routing, u32 word) {
  const u32 terminals = topology.graph().terminals();
  const std::size_t stages = topology.multistage()->digit_of_stage.size();
  for (u32 s = 0; s < terminals; s += tries(1U, 7U)) {
    for (u32 d = 0; d < terminals; ++d) {
      const Path path = path_of(topology, routing, s, d, word);
      ASSERT_TRUE(path.arrived) << s << " to " << d;
      ASSERT_FALSE(path.failed) << s << " to " << d;
      ASSERT_EQ(path.switches.size(), stages);
    }
  }
}

TEST(DestinationTag, EveryPairArrivesOnEveryWiringAndSize) {
  for (const auto& [terminals, radix] : all_sizes()) {
    for (const std::string& wiring : all_wirings()) {
      SCOPED_TRACE(wiring + " " + std::to_string(terminals) + " " + std::to_string(radix));
      const TopologyPointer topology = cube(terminals, radix, wiring);
      expect_all_pairs_arrive(*topology, *tag_on(*topology), 0);
    }
  }
}

TEST(DestinationTag, EveryPairArrivesThroughTheExtraStageWhateverItsSetting) {
  for (const auto& [terminals, radix] : all_sizes()) {
    SCOPED_TRACE(std::to_string(terminals) + " " + std::to_string(radix));
    const TopologyPointer both = extra_stage_cube(terminals, radix);
    expect_all_pairs_arrive(*both, *tag_on(*both), 0);
    for (u32 choice = 0; choice < radix; ++choice) {
      expect_all_pairs_arrive(*both, *tag_on(*both, kRandom), word_for(choice, radix));
    }
    for (const char* stage : {"input_stage", "output_stage"}) {
      const TopologyPointer one = extra_stage_cube(terminals, radix, {{stage, std::string("bypassed")}});
      expect_all_pairs_arrive(*one, *tag_on(*one, kRandom), 12345);
    }
  }
}

TEST(DestinationTag, TheInputStageSelectsOneOfNPathsThatShareNothingBetweenTheOuterStages) {
  for (const auto& [terminals, radix] : all_sizes()) {
    const TopologyPointer topology = extra_stage_cube(terminals, radix);
    const RoutingPointer routing = tag_on(*topology, kRandom);
    for (u32 s = 0; s < terminals; s += 3) {
      for (u32 d = 0; d < terminals; d += 5) {
        std::set<u32> boxes;
        std::set<u32> channels;
        std::size_t inner_boxes = 0;
        for (u32 choice = 0; choice < radix; ++choice) {
          const Path path = path_of(*topology, *routing, s, d, word_for(choice, radix));
          boxes.insert(path.switches.begin() + 1, path.switches.end() - 1);
          channels.insert(path.channels.begin() + 1, path.channels.end() - 1);
          inner_boxes += path.switches.size() - 2;
        }
        ASSERT_EQ(boxes.size(), inner_boxes);
        ASSERT_EQ(channels.size(), inner_boxes + radix);
      }
    }
  }
}

TEST(DestinationTag, StraightLeavesTheInputStageAtThePortOfArrivalForEveryWord) {
  const TopologyPointer topology = extra_stage_cube(64, 4);
  const RoutingPointer routing = tag_on(*topology);
  for (u32 s = 0; s < 64; ++s) {
    for (const u32 word : {0U, 0x80000000U, 0xffffffffU}) {
      const Path path = path_of(*topology, *routing, s, 63 - s, word);
      const core::Graph& graph = topology->graph();
      EXPECT_EQ(graph.channel(path.channels[1]).from.port, graph.channel(path.channels[0]).to.port);
    }
  }
}

TEST(DestinationTag, PacketsOfOnePairKeepTheirOrderOnlyOnOnePathAndOneVirtualChannel) {
  const TopologyPointer plain = cube(16, 4);
  const TopologyPointer extra = extra_stage_cube(16, 4);
  EXPECT_TRUE(tag_on(*plain)->in_order());
  EXPECT_TRUE(tag_on(*plain, kRandom)->in_order());
  EXPECT_TRUE(tag_on(*extra)->in_order());
  EXPECT_FALSE(tag_on(*extra, kRandom)->in_order());
  EXPECT_FALSE(tag_on(*plain, {}, 2)->in_order());
  // A blocked path has three detours with radix 4, but one with radix 2.
  const TopologyPointer detours = extra_stage_cube(16, 4, {{"faults", Texts{"link 1 0"}}});
  const TopologyPointer detour = extra_stage_cube(16, 2, {{"faults", Texts{"link 1 0"}}});
  EXPECT_FALSE(tag_on(*detours)->in_order());
  EXPECT_TRUE(tag_on(*detour)->in_order());
}

TEST(DestinationTag, TheTagHoldsOnePortPerStageWithTheFirstLowest) {
  const TopologyPointer topology = cube(81, 3);
  const RoutingPointer routing = tag_on(*topology);
  EXPECT_EQ(routing->tag_format().bits_per_hop, 2U);
  EXPECT_EQ(routing->tag_format().hops, 4U);
  core::Packet packet;
  packet.destination = 2 * 27 + 0 * 9 + 1 * 3 + 2;
  routing->prepare(packet, 0);
  EXPECT_EQ(packet.tag, 0b10'01'00'10U);
}

TEST(DestinationTag, EveryVirtualChannelIsOffered) {
  const TopologyPointer topology = cube(16, 4);
  const RoutingPointer routing = tag_on(*topology, {}, 3);
  core::Packet packet;
  routing->prepare(packet, 0);
  core::Candidates next;
  routing->route({0, 0, 0, &packet, 0}, next);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].vc_begin, 0U);
  EXPECT_EQ(next[0].vc_end, 3U);
}

// Faults of the network with N = 8, n = 2: 16 boxes, 24 inter-stage links and 32 dual links.

Texts all_faults() {
  Texts faults;
  for (u32 stage = 0; stage <= 3; ++stage) {
    for (u32 box = 0; box < 4; ++box) faults.push_back("box " + std::to_string(stage) + " " + std::to_string(box));
    for (u32 link = 0; link < 8 && stage >= 1; ++link) {
      faults.push_back("link " + std::to_string(stage) + " " + std::to_string(link));
    }
  }
  for (const char* part : {"input_link ", "input_bypass ", "output_link ", "output_bypass "}) {
    for (u32 link = 0; link < 8; ++link) faults.push_back(part + std::to_string(link));
  }
  return faults;
}

/// What fails in the drawing of Figure 2, told by link numbers alone, without graph, tags or reachability.
class PaperModel {
 public:
  using Parts = std::bitset<72>;

  PaperModel() {
    const Texts names = all_faults();
    for (u32 i = 0; i < names.size(); ++i) number_[names[i]] = i;
  }

  /// True when some setting of the outer stages leaves every pair a path without a failed part.
  [[nodiscard]] bool tolerates(const Parts& failed) const {
    return connects(failed, false, true) || connects(failed, true, true) || connects(failed, true, false);
  }
  [[nodiscard]] u32 number(const std::string& part) const { return number_.at(part); }

 private:
  [[nodiscard]] bool connects(const Parts& failed, bool input, bool output) const {
    for (u32 s = 0; s < 8; ++s) {
      for (u32 d = 0; d < 8; ++d) {
        bool connected = false;
        for (u32 choice = 0; choice < 2; ++choice)
          connected |= (parts_used(s, d, choice, input, output) & failed).none();
        if (!connected) return false;
      }
    }
    return true;
  }

  /// The parts on the way from s to d. `choice`: digit 0 of the links between the outer stages, where it is free.
  [[nodiscard]] Parts parts_used(u32 s, u32 d, u32 choice, bool input, bool output) const {
    Parts used;
    const auto use = [&](const std::string& part, u32 index) { used.set(number(part + " " + std::to_string(index))); };
    const u32 low = !input ? s % 2 : !output ? d % 2 : choice;
    use(input ? "input_link" : "input_bypass", s);
    if (input) use("box 3", s / 2);
    const u32 link3 = s / 2 * 2 + low;        // bits s2 s1 low
    const u32 link2 = link3 % 4 + d / 4 * 4;  // bits d2 s1 low
    const u32 link1 = d / 2 * 2 + low;        // bits d2 d1 low
    use("link 3", link3);
    use("box 2", link3 % 4);
    use("link 2", link2);
    use("box 1", link2 / 4 * 2 + link2 % 2);
    use("link 1", link1);
    if (output) use("box 0", d / 2);
    use(output ? "output_link" : "output_bypass", d);
    return used;
  }

  std::map<std::string, u32> number_;
};

TopologyPointer eight_with(const Texts& faults) { return extra_stage_cube(8, 2, {{"faults", faults}}); }

TEST(DestinationTag, EverySingleFaultOfBoxOrLinkIsRoutedAround) {
  ASSERT_EQ(all_faults().size(), 72U);
  for (const std::string& fault : all_faults()) {
    for (const char* setting : {"enabled", "bypassed"}) {
      SCOPED_TRACE(fault + ", input stage " + setting);
      const TopologyPointer topology =
          extra_stage_cube(8, 2, {{"faults", Texts{fault}}, {"input_stage", std::string(setting)}});
      for (const Given& given : {Given{}, kRandom}) {
        const RoutingPointer routing = tag_on(*topology, given);
        expect_all_pairs_arrive(*topology, *routing, 0);
        expect_all_pairs_arrive(*topology, *routing, 0xffffffffU);
      }
    }
  }
}

// Three settings of the outer stages, A (input bypassed), B (both enabled) and C (output bypassed), tolerate pairs of
// faults as follows. A has no redundancy, so both faults must be among the 4 + 8 + 8 parts that it does not use (boxes
// of stage 3, input links, output bypasses): C(20,2) = 190, and likewise 190 for C. B does not use 16 parts (both
// bypasses) and has two halves of 16 parts between the outer stages, of which one suffices: C(16,2) = 120 pairs are
// unused, 16 * 32 = 512 are one unused part and one of a half, 2 * C(16,2) = 240 lie in one half, and 104 of the
// 16 * 16 pairs across the halves cut different sets of pairs. C(8,2) = 28 pairs count for A and B, 28 for B and C.
// 190 + 190 + 120 + 512 + 240 + 104 - 28 - 28 = 1300 of C(72,2) = 2556.
TEST(DestinationTag, Exactly1300Of2556DoubleFaultsAreTolerated) {
  if (test::kSanitized) GTEST_SKIP() << "counting is the other builds' affair";
  const Texts faults = all_faults();
  const PaperModel model;
  u32 tolerated = 0;
  u32 pairs = 0;
  for (u32 a = 0; a < faults.size(); ++a) {
    for (u32 b = a + 1; b < faults.size(); ++b, ++pairs) {
      SCOPED_TRACE(faults[a] + ", " + faults[b]);
      PaperModel::Parts failed;
      failed.set(model.number(faults[a])).set(model.number(faults[b]));
      const TopologyPointer topology = eight_with({faults[a], faults[b]});
      RoutingPointer routing;
      const std::string error = config_error([&] { routing = tag_on(*topology); });
      ASSERT_EQ(error.empty(), model.tolerates(failed));
      if (!error.empty()) continue;
      ++tolerated;
      expect_all_pairs_arrive(*topology, *routing, 0);
    }
  }
  EXPECT_EQ(pairs, 2556U);
  EXPECT_EQ(tolerated, 1300U);
}

TEST(DestinationTag, UnderFaultsTheSettingIsKeptWhereItsPathWorks) {
  const TopologyPointer topology = extra_stage_cube(64, 4, {{"faults", Texts{"box 2 0", "link 2 33"}}});
  const RoutingPointer faulty = tag_on(*topology);
  const TopologyPointer whole = extra_stage_cube(64, 4);
  const RoutingPointer intact = tag_on(*whole);
  const RoutingPointer choosing = tag_on(*whole, kRandom);
  u32 detours = 0;
  for (u32 s = 0; s < 64; ++s) {
    for (u32 d = 0; d < 64; ++d) {
      const Path wish = path_of(*topology, *intact, s, d);
      std::size_t working = 0;
      for (u32 choice = 0; choice < 4; ++choice) {
        working += path_of(*topology, *choosing, s, d, word_for(choice, 4)).failed ? 0U : 1U;
      }
      std::set<u32> used;
      for (u32 choice = 0; choice < 12; ++choice) {
        const Path path = path_of(*topology, *faulty, s, d, word_for(choice, 12));
        ASSERT_TRUE(path.arrived && !path.failed);
        used.insert(path.channels[1]);
      }
      detours += wish.failed ? 1 : 0;
      ASSERT_EQ(used.size(), wish.failed ? working : 1U);
    }
  }
  EXPECT_GT(detours, 0U);
}

RC_GTEST_PROP(DestinationTag, AnyFaultsAreEitherRoutedAroundOrRefused, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 5);
  const Texts faults = *rc::gen::container<Texts>(count, rc::gen::elementOf(all_faults()));
  const TopologyPointer topology = eight_with(faults);
  RoutingPointer routing;
  const std::string error = config_error([&] { routing = tag_on(*topology, kRandom); });
  PaperModel::Parts failed;
  const PaperModel model;
  for (const std::string& fault : faults) failed.set(model.number(fault));
  RC_ASSERT(error.empty() == model.tolerates(failed));
  if (!error.empty()) return;
  const u32 word = *rc::gen::arbitrary<u32>();
  for (u32 s = 0; s < 8; ++s) {
    for (u32 d = 0; d < 8; ++d) {
      const Path path = path_of(*topology, *routing, s, d, word);
      RC_ASSERT(path.arrived && !path.failed);
    }
  }
}

TEST(DestinationTag, TheFirstDisconnectedPairIsNamed) {
  const TopologyPointer cut = eight_with({"output_link 5", "output_bypass 5"});
  EXPECT_EQ(config_error([&] { tag_on(*cut); }),
            "the faults leave no path from terminal 0 to terminal 5 | remove a fault");
  const TopologyPointer fixed = extra_stage_cube(
      8, 2, {{"faults", Texts{"box 2 3"}}, {"input_stage", std::string("bypassed")}, {"reconfigure", false}});
  EXPECT_EQ(config_error([&] { tag_on(*fixed); }),
            "the faults leave no path from terminal 3 to terminal 0 | remove a fault, or let the topology reconfigure "
            "= true enable both outer stages");
}

}  // namespace
}  // namespace banyan::destination_tag_test
