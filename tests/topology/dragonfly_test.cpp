// Do dragonflies join every pair of groups, by both arrangements, with the distances of theory?
#include <gtest/gtest.h>

#include <set>

#include "support/rows.hpp"

namespace banyan::test::dragonfly_test {
namespace {

std::unique_ptr<core::Topology> dragonfly(i64 p, i64 a, i64 h, i64 g, const std::string& links) {
  return topology("dragonfly", {{"terminals_per_router", p},
                                {"routers_per_group", a},
                                {"global_ports", h},
                                {"groups", g},
                                {"global_links", links}});
}

const std::vector<std::string> kArrangements{"consecutive", "palm_tree"};

/// Channels from every group to every other.
std::vector<u32> between_groups(const core::Topology& t) {
  const core::Dragonfly& shape = *t.dragonfly();
  std::vector<u32> count(std::size_t{shape.groups} * shape.groups, 0);
  for (const core::Channel& c : t.graph().channels()) {
    if (c.from.terminal || c.to.terminal) continue;
    ++count[std::size_t{c.from.node / shape.routers} * shape.groups + c.to.node / shape.routers];
  }
  return count;
}

TEST(Dragonfly, EveryPairOfGroupsIsJoinedEquallyOften) {
  for (const std::string& links : kArrangements) {
    for (const auto& [a, h, g] :
         {std::tuple<i64, i64, i64>{4, 2, 0}, {4, 2, 5}, {4, 2, 4}, {4, 2, 2}, {3, 1, 0}, {1, 4, 0}, {6, 3, 7}}) {
      const auto t = dragonfly(1, a, h, g, links);
      const core::Dragonfly& shape = *t->dragonfly();
      EXPECT_EQ(shape.groups, static_cast<u32>(g == 0 ? a * h + 1 : g));
      const std::vector<u32> count = between_groups(*t);
      const u32 each = static_cast<u32>(a * h) / (shape.groups - 1);
      for (u32 i = 0; i < shape.groups; ++i) {
        for (u32 j = 0; j < shape.groups; ++j) {
          EXPECT_EQ(count[i * shape.groups + j], i == j ? shape.routers * (shape.routers - 1) : each);
        }
      }
      expect_bidirectional(t->graph());
    }
  }
}

TEST(Dragonfly, PeersAreTheGroupsBehindThePorts) {
  for (const std::string& links : kArrangements) {
    const auto t = dragonfly(2, 4, 2, 6, links);
    const core::Dragonfly& shape = *t->dragonfly();
    for (u32 s = 0; s < t->graph().switches(); ++s) {
      for (u32 j = 0; j < shape.global_ports; ++j) {
        const u32 c = t->graph().channel_out_of(s, shape.routers - 1 + j);
        const u32 peer = shape.peer[s * shape.global_ports + j];
        EXPECT_EQ(peer, c == kNone ? kNone : t->graph().channel(c).to.node / shape.routers);
      }
    }
  }
}

TEST(Dragonfly, ArrangementsAreThoseOfTheLiterature) {
  const auto consecutive = dragonfly(1, 2, 2, 0, "consecutive");
  EXPECT_EQ(std::vector<u32>(consecutive->dragonfly()->peer.begin() + 8, consecutive->dragonfly()->peer.begin() + 12),
            (std::vector<u32>{0, 1, 3, 4}));
  const auto palm_tree = dragonfly(1, 2, 2, 0, "palm_tree");
  EXPECT_EQ(std::vector<u32>(palm_tree->dragonfly()->peer.begin() + 8, palm_tree->dragonfly()->peer.begin() + 12),
            (std::vector<u32>{1, 0, 4, 3}));
}

TEST(Dragonfly, DiameterIsThreeAndDistancesAddUp) {
  // a = 4, h = 2, 9 groups, one channel per pair: from a router, 3 neighbours at 1; of the 8 other groups, 2 are behind
  // its own global ports and 6 behind a neighbour's. In each, the router at the far end is at distance 1 or 2, the
  // others one more.
  for (const std::string& links : kArrangements) {
    const auto t = dragonfly(1, 4, 2, 0, links);
    const Distances d = distances(t->graph());
    EXPECT_EQ(d.diameter, 3U);
    EXPECT_LE(d.sum, 36U * (3 * 1 + 2 * (1 + 3 * 2) + 6 * (2 + 3 * 3)));
    EXPECT_TRUE(d.connected);
  }
}

TEST(Dragonfly, LatenciesAreOfLocalGlobalAndTerminalChannels) {
  const auto t = topology("dragonfly", {{"local_latency", i64{2}},
                                        {"global_latency", i64{10}},
                                        {"global_cycles_per_flit", i64{3}},
                                        {"terminal_latency", i64{4}}});
  for (const core::Channel& c : t->graph().channels()) {
    const bool terminal = c.from.terminal || c.to.terminal;
    const bool local = !terminal && c.from.node / 4 == c.to.node / 4;
    EXPECT_EQ(c.link.latency_cycles, terminal ? 4U : local ? 2U : 10U);
    EXPECT_EQ(c.link.cycles_per_flit, terminal || local ? 1U : 3U);
  }
  EXPECT_EQ(t->label(6), "group 1 router 2");
  EXPECT_EQ(t->port_label(6, 3), "global 0");
}

TEST(Dragonfly, RefusesMoreGroupsThanChannels) {
  EXPECT_NE(refusal([] { dragonfly(2, 4, 2, 10, "palm_tree"); }).find("use 2 to 9 groups"), std::string::npos);
  EXPECT_NE(refusal([] { dragonfly(2, 4, 2, 1, "palm_tree"); }).find("use 2 to 9 groups"), std::string::npos);
  EXPECT_NE(refusal([] { dragonfly(1024, 4096, 4096, 0, "palm_tree"); }).find("more than"), std::string::npos);
}

TEST(Dragonfly, RefusesMoreChannelsThanHaveNumbers) {
  EXPECT_NE(refusal([] { dragonfly(1, 16, 4096, 65000, "palm_tree"); }).find("channels, more than"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::dragonfly_test
