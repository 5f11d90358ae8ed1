// Are the trees those of docs/explanation/congestion-trees.md? Hand-built states whose trees are known.
#include "banyan/engine/congestion.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <memory>

namespace banyan::engine::congestion_test {
namespace {

using stats::CongestionTree;

/// Switches in a row of stages; what a test needs is added by hand.
class Sketch final : public core::Topology {
 public:
  explicit Sketch(u32 terminals) { graph_ = core::Graph(terminals); }
  core::Graph& edit() { return graph_; }
  [[nodiscard]] std::string label(u32 s) const override { return std::to_string(s); }
};

/// Every packet goes where a table says: [switch][destination] is the output port.
class Paths final : public core::Routing {
 public:
  std::vector<std::vector<u16>> port;
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    out.add({port[request.at][request.packet->destination], 0, 1, 0, false});
  }
};

core::Packet packet(u32 source, u32 destination, u32 sequence = 0) {
  core::Packet p;
  p.source = source;
  p.destination = destination;
  p.sequence = sequence;
  return p;
}

/// Two switches in front of a third. Terminals 0, 1 enter at switch 0, 2, 3 at switch 1; 4 and 5 leave from switch 2,
/// 6 from switch 0 and 7 from switch 1.
struct Funnel {
  Sketch topology{8};
  Paths routing;
  u32 first = 0;   ///< channel from switch 0 to switch 2
  u32 second = 0;  ///< from switch 1
  u32 exit = 0;    ///< to terminal 4
  u32 other = 0;   ///< to terminal 5
  u32 side = 0;    ///< to terminal 6

  Funnel() {
    core::Graph& g = topology.edit();
    g.add_switch(2, 2, 0);
    g.add_switch(2, 2, 0);
    g.add_switch(2, 2, 1);
    using core::End;
    for (u32 t = 0; t < 4; ++t) g.add_channel(End::of_terminal(t), End::of_switch(t / 2, t % 2));
    first = g.add_channel(End::of_switch(0, 0), End::of_switch(2, 0));
    second = g.add_channel(End::of_switch(1, 0), End::of_switch(2, 1));
    exit = g.add_channel(End::of_switch(2, 0), End::of_terminal(4));
    other = g.add_channel(End::of_switch(2, 1), End::of_terminal(5));
    side = g.add_channel(End::of_switch(0, 1), End::of_terminal(6));
    g.add_channel(End::of_switch(1, 1), End::of_terminal(7));
    routing.port = {{0, 0, 0, 0, 0, 0, 1, 0}, {0, 0, 0, 0, 0, 0, 0, 1}, {0, 0, 0, 0, 0, 1, 0, 0}};
  }
  [[nodiscard]] u32 injection(u32 t) const { return topology.graph().injection(t); }
};

constexpr u32 kPlaces = 4;

TEST(CongestionTrees, OutputBuffersThatWaitForAFullOneAreItsBranches) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  const core::Packet b = packet(2, 4);
  BlockedView view;
  view.fill(Resource::output(net.exit), kPlaces, kPlaces);
  view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
  view.fill(Resource::output(net.first), kPlaces, kPlaces);
  view.blocked(Resource::output(net.first), Resource::output(net.exit), Why::space, a, net.first);
  view.fill(Resource::output(net.second), 1, kPlaces);
  view.blocked(Resource::output(net.second), Resource::output(net.exit), Why::space, b, net.second);
  view.fill(Resource::source(0), 1, 1);
  view.blocked(Resource::source(0), Resource::output(net.first), Why::space, a, net.injection(0));
  TreeFinder finder(net.topology, &net.routing, 1.0);
  const std::vector<CongestionTree> trees = finder.find(view);
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].root, net.exit);
  EXPECT_EQ(trees[0].depth, 1U);
  EXPECT_EQ(trees[0].members.size(), 4U);
  EXPECT_EQ(trees[0].switches, 3U);
  EXPECT_EQ(trees[0].leaves, 2U);  // the second branch, and terminal 0
  EXPECT_EQ(trees[0].sources, 1U);
  EXPECT_EQ(trees[0].per_stage, (std::vector<u32>{2, 1}));
}

TEST(CongestionTrees, PacketsThatMeetAreNoCongestionUntilABufferIsFull) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  const core::Packet b = packet(2, 4);
  for (const u32 used : {1U, kPlaces}) {
    BlockedView view;
    for (const u32 c : {net.first, net.second}) {
      view.fill(Resource::input(c), c == net.first ? used : 1, kPlaces);
      view.blocked(Resource::input(c), Resource::port(net.exit), Why::bandwidth, c == net.first ? a : b, net.exit);
    }
    TreeFinder finder(net.topology, &net.routing, 1.0);
    EXPECT_EQ(finder.find(view).size(), used == kPlaces ? 1U : 0U);
    TreeFinder lower(net.topology, &net.routing, 0.25);
    EXPECT_EQ(lower.find(view).size(), 1U);
  }
}

TEST(CongestionTrees, OneChannelAloneCannotOverloadAnotherOfItsBandwidth) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  BlockedView view;
  view.fill(Resource::input(net.first), kPlaces, kPlaces);
  view.blocked(Resource::input(net.first), Resource::port(net.exit), Why::bandwidth, a, net.exit);
  TreeFinder finder(net.topology, &net.routing, 1.0);
  EXPECT_TRUE(finder.find(view).empty());
  // Another one that waits for the end of its packet asks for the same port.
  view.fill(Resource::input(net.second), 1, kPlaces);
  view.blocked(Resource::input(net.second), Resource::input(net.first), Why::held, packet(2, 4), net.exit);
  EXPECT_EQ(finder.find(view).size(), 1U);
}

TEST(CongestionTrees, AFullOutputBufferThatOneChannelFeedsIsNoRoot) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  const core::Packet b = packet(2, 4);
  for (const bool both : {false, true}) {
    BlockedView view(true);
    view.fill(Resource::output(net.exit), kPlaces, kPlaces);
    view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
    for (u32 n = 0; n < kPlaces; ++n) view.packet(Resource::output(net.exit), both && n == 2 ? b : a);
    TreeFinder finder(net.topology, &net.routing, 1.0);
    EXPECT_EQ(finder.find(view).size(), both ? 1U : 0U);
  }
}

TEST(CongestionTrees, ABufferThatWaitsForCreditsOfOneThatMovesIsNotCongested) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  BlockedView view;  // the credits are on their way: the buffer is short for its channel, not congested
  view.fill(Resource::input(net.injection(0)), kPlaces, kPlaces);
  view.blocked(Resource::input(net.injection(0)), Resource::input(net.first), Why::space, a, net.first);
  view.fill(Resource::input(net.first), 1, kPlaces);
  view.blocked(Resource::input(net.first), Resource::port(net.exit), Why::bandwidth, a, net.exit);
  TreeFinder finder(net.topology, &net.routing, 1.0);
  EXPECT_TRUE(finder.find(view).empty());
}

/// The way is the routing's, or one that the packets carry, which need not be that of the routing.
TEST(CongestionTrees, VictimsAreWhatCannotGoThroughTheRootAndTheirPortsStandIdle) {
  for (const bool carried : {false, true}) {
    const Funnel net;
    Paths elsewhere;
    elsewhere.port = {{1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}};
    const core::Packet feeding = packet(0, 4);
    const core::Packet victim = packet(1, 5, 7);
    const core::Packet aside = packet(0, 6);
    BlockedView view(true);
    if (carried) view.source_routes(1);
    view.fill(Resource::output(net.exit), kPlaces, kPlaces);
    view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, feeding, net.exit);
    view.fill(Resource::output(net.first), 3, kPlaces);
    view.blocked(Resource::output(net.first), Resource::output(net.exit), Why::space, feeding, net.first);
    view.packet(Resource::output(net.exit), feeding);
    view.packet(Resource::output(net.first), feeding, 0);
    view.packet(Resource::output(net.first), victim, 1);
    view.packet(Resource::output(net.first), victim, 1);
    view.fill(Resource::output(net.side), 1, kPlaces);
    view.blocked(Resource::output(net.side), Resource::port(net.side), Why::bandwidth, aside, net.side);
    view.packet(Resource::output(net.side), aside);
    TreeFinder finder(net.topology, carried ? &elsewhere : &net.routing, 1.0);
    for (int sample = 0; sample < 2; ++sample) {
      const std::vector<CongestionTree> trees = finder.find(view);
      ASSERT_EQ(trees.size(), 1U);
      EXPECT_EQ(trees[0].packets, 2U);
      EXPECT_EQ(trees[0].flows, 1U);
      EXPECT_EQ(trees[0].victims, 2U);
      EXPECT_EQ(trees[0].victim_flows, 1U);
      EXPECT_EQ(trees[0].most_victims, (std::vector<stats::CongestionFlow>{{1, 5, 2}}));
      EXPECT_EQ(trees[0].idle_ports, 1U);  // the one to terminal 5
    }
  }
}

/// Many roots at once, in a network whose flows have a table and in one where they are too many for it. The packets of
/// a place are shown together, or one of every place after the other.
TEST(CongestionTrees, EachOfManyTreesHasItsOwnPacketsAndVictims) {
  for (const u32 funnels : {200U, 700U}) {
    for (const bool together : {false, true}) {
      Sketch topology(4 * funnels);
      core::Graph& g = topology.edit();
      Paths routing;
      using core::End;
      std::vector<std::array<u32, 3>> channels;  // two into a switch, and its port
      for (u32 f = 0; f < funnels; ++f) {
        const u32 s = g.add_switch(2, 2, 0);
        const u32 a = g.add_channel(End::of_terminal(4 * f), End::of_switch(s, 0));
        const u32 b = g.add_channel(End::of_terminal(4 * f + 1), End::of_switch(s, 1));
        channels.push_back({a, b, g.add_channel(End::of_switch(s, 0), End::of_terminal(4 * f + 2))});
        g.add_channel(End::of_switch(s, 1), End::of_terminal(4 * f + 3));
        routing.port.emplace_back(4 * funnels);
        routing.port.back()[4 * f + 3] = 1;
      }
      std::vector<core::Packet> packets;
      for (u32 f = 0; f < funnels; ++f) {
        for (const u32 from : {4 * f, 4 * f + 1}) {
          for (const u32 to : {4 * f + 2, 4 * f + 3}) packets.push_back(packet(from, to));
        }
      }
      BlockedView view(true);
      for (u32 f = 0; f < funnels; ++f) {
        const auto [a, b, root] = channels[f];
        for (const u32 c : {a, b}) {
          view.fill(Resource::input(c), kPlaces, kPlaces);
          view.blocked(Resource::input(c), Resource::port(root), Why::bandwidth, packets[4 * f], root);
        }
      }
      const auto show = [&](u32 f, u32 i, u32 nth) {
        for (u32 n = 0; n < (nth == 0 ? 3U : f % 5); ++n)
          view.packet(Resource::input(channels[f][i]), packets[4 * f + 2 * i + nth]);
      };
      for (u32 nth = 0; !together && nth < 2; ++nth) {
        for (u32 f = 0; f < funnels; ++f) {
          for (u32 i = 0; i < 2; ++i) show(f, i, nth);
        }
      }
      for (u32 f = 0; together && f < funnels; ++f) {
        for (u32 i = 0; i < 2; ++i) {
          for (u32 nth = 0; nth < 2; ++nth) show(f, i, nth);
        }
      }
      TreeFinder finder(topology, &routing, 1.0);
      const std::vector<CongestionTree> trees = finder.find(view);
      ASSERT_EQ(trees.size(), funnels);
      for (u32 f = 0; f < funnels; ++f) {
        EXPECT_EQ(trees[f].root, channels[f][2]);
        EXPECT_EQ(trees[f].packets, 6U);
        EXPECT_EQ(trees[f].flows, 2U);
        EXPECT_EQ(trees[f].victims, 2 * (f % 5));
        EXPECT_EQ(trees[f].most_flows,
                  (std::vector<stats::CongestionFlow>{{4 * f, 4 * f + 2, 3}, {4 * f + 1, 4 * f + 2, 3}}));
        EXPECT_EQ(trees[f].idle_ports, f % 5 == 0 ? 0U : 1U);
      }
    }
  }
}

/// In a network with too many pairs of terminals for a table, flows are numbered as they are seen: those of old samples
/// are forgotten, or a long run would keep all that it ever saw.
TEST(CongestionTrees, FlowsOfOldSamplesAreForgotten) {
  constexpr u32 kTerminals = 5000;
  constexpr u32 kPerSample = 10'000;
  const Sketch topology(kTerminals);
  Ways ways(topology.graph(), nullptr);
  u32 most = 0;
  for (u32 sample = 0; sample < 50; ++sample) {
    ways.begin();
    for (u32 i = 0; i < kPerSample; ++i) {
      const u32 pair = sample * kPerSample + i;
      const u32 flow = ways.flow_of(packet(pair / kTerminals, pair % kTerminals));
      EXPECT_EQ(ways.flow(flow), u64{pair / kTerminals} << 32U | pair % kTerminals);
    }
    most = std::max(most, ways.flows());
  }
  EXPECT_LE(most, (1U << 17U) + kPerSample);
}

TEST(CongestionTrees, OfCircuitsTheRootIsWhatAMovingCircuitHolds) {
  const Funnel net;
  const core::Packet first = packet(0, 4);
  const core::Packet second = packet(2, 4);
  const core::Packet third = packet(3, 7);
  BlockedView view;
  view.fill(Resource::port(net.exit), 1, 1);  // first: moves
  view.fill(Resource::port(net.first), 1, 1);
  view.fill(Resource::port(net.second), 1, 1);  // second: holds this and waits for the exit
  view.blocked(Resource::port(net.second), Resource::port(net.exit), Why::held, second, net.exit);
  view.blocked(Resource::source(3), Resource::port(net.second), Why::held, third, net.second);
  TreeFinder finder(net.topology, &net.routing, 1.0);
  const std::vector<CongestionTree> trees = finder.find(view);
  ASSERT_EQ(trees.size(), 1U);  // nobody waits for what the first circuit holds before
  EXPECT_EQ(trees[0].root, net.exit);
  EXPECT_EQ(trees[0].members.size(), 2U);
  static_cast<void>(first);
}

TEST(CongestionTrees, AMemoryPassesTheWaitOnToTheQueuesThatFillIt) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  BlockedView view;
  view.fill(Resource::memory(2), 8, 8);
  view.fill(Resource::output(net.exit), 7, 8);
  view.blocked(Resource::memory(2), Resource::output(net.exit));
  view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
  view.fill(Resource::output(net.other), 1, 8);
  view.blocked(Resource::output(net.other), Resource::port(net.other), Why::bandwidth, packet(1, 5), net.other);
  view.fill(Resource::input(net.second), 2, 4);
  view.blocked(Resource::input(net.second), Resource::memory(2), Why::space, packet(2, 5), net.exit);
  TreeFinder finder(net.topology, &net.routing, 0.75);
  const std::vector<CongestionTree> trees = finder.find(view);
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].root, net.exit);
  EXPECT_EQ(trees[0].members.size(), 3U);
}

TEST(CongestionTrees, AFrontThatWasBlockedAMomentAgoDoesNotMakeItsPortARoot) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  const auto moment = [&](bool blocked) {
    BlockedView view;
    view.fill(Resource::output(net.exit), kPlaces, kPlaces);
    view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
    view.fill(Resource::output(net.first), kPlaces, kPlaces);
    view.blocked(Resource::output(net.first), blocked ? Resource::output(net.exit) : Resource::port(net.first),
                 blocked ? Why::space : Why::bandwidth, a, net.first);
    return view;
  };
  TreeFinder finder(net.topology, &net.routing, 1.0);
  EXPECT_EQ(finder.find(moment(false)).size(), 2U);
  finder.look(moment(true));
  const std::vector<CongestionTree> trees = finder.find(moment(false));
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].root, net.exit);
  EXPECT_EQ(finder.find(moment(false)).size(), 2U);  // looks before the last moment do not count
}

/// Two full inputs want the exit; those of `ready` wait for its bandwidth, the others for the end of the other's
/// packet.
BlockedView two_inputs(const Funnel& net, std::vector<u32> ready) {
  BlockedView view;
  for (const u32 c : {net.first, net.second}) {
    const core::Packet p = packet(c == net.first ? 0 : 2, 4);
    view.fill(Resource::input(c), kPlaces, kPlaces);
    if (std::find(ready.begin(), ready.end(), c) != ready.end()) {
      view.blocked(Resource::input(c), Resource::port(net.exit), Why::bandwidth, p, net.exit);
    } else {
      const u32 other = c == net.first ? net.second : net.first;
      view.blocked(Resource::input(c), Resource::input(other), Why::held, p, net.exit);
    }
  }
  return view;
}

TEST(CongestionTrees, InputsThatTakeTurnsAtAPortAreNotBlockedByEachOther) {
  const Funnel net;
  TreeFinder finder(net.topology, &net.routing, 1.0);
  finder.look(two_inputs(net, {net.first}));
  finder.look(two_inputs(net, {net.second}));
  const std::vector<CongestionTree> trees = finder.find(two_inputs(net, {net.first}));
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].root, net.exit);
  EXPECT_EQ(trees[0].members.size(), 2U);
}

TEST(CongestionTrees, WhoWaitsForTheEndOfABlockedPacketIsBlocked) {
  const Funnel net;
  TreeFinder finder(net.topology, &net.routing, 1.0);
  BlockedView look;
  look.blocked(Resource::input(net.first), Resource::output(net.exit), Why::space, packet(0, 4), net.exit);
  look.blocked(Resource::input(net.second), Resource::input(net.first), Why::held, packet(2, 4), net.exit);
  finder.look(look);
  EXPECT_TRUE(finder.find(two_inputs(net, {net.first, net.second})).empty());
}

TEST(CongestionTrees, FullBuffersWhosePacketsMeetInOneLookOnlyDoNotAskForMoreThanThePortCarries) {
  const Funnel net;
  for (const u32 meetings : {1U, 2U}) {
    TreeFinder finder(net.topology, &net.routing, 1.0);
    for (u32 n = 0; n < 2; ++n) {
      finder.look(n + 1 < meetings ? two_inputs(net, {net.first, net.second}) : BlockedView());
    }
    EXPECT_EQ(finder.find(two_inputs(net, {net.first})).size(), meetings == 1 ? 0U : 1U);
  }
}

TEST(CongestionTrees, APortAndTheWayToItThroughTheCrossbarAreOneRoot) {
  const Funnel net;
  BlockedView view;  // an output memory that is full, and inputs that are not blocked by it but wait for their turn
  view.fill(Resource::output(net.exit), kPlaces, kPlaces);
  view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, packet(0, 4), net.exit);
  for (const u32 c : {net.first, net.second}) {
    view.fill(Resource::input(c), kPlaces, kPlaces);
    view.blocked(Resource::input(c), Resource::port(net.exit, 1), Why::bandwidth, packet(0, 4), net.exit);
  }
  TreeFinder finder(net.topology, &net.routing, 1.0);
  const std::vector<CongestionTree> trees = finder.find(view);
  ASSERT_EQ(trees.size(), 1U);
  EXPECT_EQ(trees[0].members.size(), 3U);
}

TEST(CongestionTrees, TwoPortsOfOneSwitchThatAQueueWaitsForGiveTwoTrees) {
  const Funnel net;
  BlockedView view;
  for (const u32 c : {net.exit, net.other}) {
    view.fill(Resource::output(c), kPlaces, kPlaces);
    view.blocked(Resource::output(c), Resource::port(c), Why::bandwidth, packet(0, 4), c);
    view.blocked(Resource::input(net.first), Resource::output(c), Why::space, packet(1, 4), c);
  }
  view.fill(Resource::input(net.first), 2, kPlaces);
  TreeFinder finder(net.topology, &net.routing, 1.0);
  const std::vector<CongestionTree> trees = finder.find(view);
  ASSERT_EQ(trees.size(), 2U);
  for (const CongestionTree& tree : trees) EXPECT_EQ(tree.members.size(), 2U);
}

/// Packets go out of switch 0 at the port that their tag names.
class Tagged final : public core::Routing {
 public:
  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    out.add({request.at == 0 ? static_cast<u16>(request.packet->tag) : u16{0}, 0, 1, 0, false});
  }
};

TEST(CongestionTrees, APacketIsAVictimByWhatItsOwnHeaderSaysInEverySample) {
  const Funnel net;
  const Tagged routing;
  TreeFinder finder(net.topology, &routing, 1.0);
  for (const u64 tag : {0U, 1U, 0U}) {  // the same pair of terminals over and over
    core::Packet a = packet(0, 4);
    a.tag = tag;
    BlockedView view(true);
    view.fill(Resource::output(net.exit), kPlaces, kPlaces);
    view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
    view.fill(Resource::output(net.first), 1, kPlaces);
    view.blocked(Resource::output(net.first), Resource::output(net.exit), Why::space, a, net.first);
    view.fill(Resource::input(net.injection(0)), 1, kPlaces);
    view.blocked(Resource::input(net.injection(0)), Resource::output(net.first), Why::space, a, net.first);
    view.packet(Resource::input(net.injection(0)), a);
    view.fill(Resource::source(0), 1, 1);
    view.blocked(Resource::source(0), Resource::input(net.injection(0)), Why::space, a, net.injection(0));
    view.packet(Resource::source(0), a);
    const std::vector<CongestionTree> trees = finder.find(view);
    ASSERT_EQ(trees.size(), 1U);
    EXPECT_EQ(trees[0].packets, tag == 0 ? 2U : 0U) << tag;
    EXPECT_EQ(trees[0].victims, tag == 0 ? 0U : 2U) << tag;
  }
}

TEST(CongestionTrees, LanesFarApartAreDifferentPlaces) {
  const Funnel net;
  Places places(net.topology.graph());
  BlockedView view;
  const std::vector<u32> lanes{3, 70, 0, 5000, Resource::kWhole, 71, 4095, 4096};
  for (const u32 lane : lanes) view.fill(Resource::input(net.first, lane), 1, lane + 1);
  places.learn(view);
  ASSERT_EQ(places.size(), lanes.size());
  for (const u32 lane : lanes) {
    const u64 id = Resource::input(net.first, lane).id();
    ASSERT_TRUE(places.has(id)) << lane;
    EXPECT_EQ(places.id(places.of(id)), id);
    EXPECT_EQ(places.capacity(places.of(id)), lane + 1);
  }
  EXPECT_FALSE(places.has(Resource::input(net.first, 4).id()));
  EXPECT_FALSE(places.has(Resource::input(net.first, 6000).id()));
  EXPECT_FALSE(places.has(Resource::input(net.second, 3).id()));
}

TEST(CongestionTrees, AQueueInASharedMemoryThatIsShortOfRoomMakesItsPortTheRoot) {
  const Funnel net;
  const core::Packet a = packet(0, 4);
  for (const bool is_short : {false, true}) {
    BlockedView view(true);
    view.fill(Resource::memory(2), 10, 12);
    view.fill(Resource::output(net.exit), 8, 12);  // far from full by itself
    view.blocked(Resource::output(net.exit), Resource::port(net.exit), Why::bandwidth, a, net.exit);
    for (const u32 c : {net.first, net.second}) {
      view.fill(Resource::input(c), kPlaces, kPlaces);
      if (is_short) view.blocked(Resource::input(c), Resource::memory(2), Why::space, a, net.exit);
    }
    if (is_short) view.blocked(Resource::memory(2), Resource::output(net.exit), Why::space);
    TreeFinder finder(net.topology, &net.routing, 1.0);
    const std::vector<CongestionTree> trees = finder.find(view);
    ASSERT_EQ(trees.size(), is_short ? 1U : 0U);
    if (!is_short) continue;
    EXPECT_EQ(trees[0].root, net.exit);
  }
}

}  // namespace
}  // namespace banyan::engine::congestion_test
