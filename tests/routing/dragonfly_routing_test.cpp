// Do the dragonfly's policies deliver in their number of channels, choose by queues, and have no cycles?
#include <gtest/gtest.h>

#include <algorithm>

#include "support/rows.hpp"

namespace banyan::test::dragonfly_routing_test {
namespace {

constexpr const char* kPolicies[] = {"minimal", "valiant", "ugal_l", "ugal_g", "par"};

std::unique_ptr<core::Routing> policy(const core::Topology& t, const std::string& name, u32 vcs = 4,
                                      i64 threshold = 0) {
  return routing("dragonfly_routing", t, vcs, {{"policy", name}, {"threshold", threshold}});
}

std::vector<std::unique_ptr<core::Topology>> dragonflies() {
  std::vector<std::unique_ptr<core::Topology>> list;
  for (const char* links : {"consecutive", "palm_tree"}) {
    for (const auto& [p, a, h, g] :
         {std::tuple<i64, i64, i64, i64>{1, 4, 2, 0}, {2, 3, 1, 0}, {1, 4, 2, 5}, {1, 4, 2, 3}, {1, 1, 4, 0}}) {
      list.push_back(topology("dragonfly", {{"terminals_per_router", p},
                                            {"routers_per_group", a},
                                            {"global_ports", h},
                                            {"groups", g},
                                            {"global_links", std::string(links)}}));
    }
  }
  return list;
}

TEST(DragonflyRouting, EveryPolicyHasNoCyclesWithItsClasses) {
  for (const auto& t : dragonflies()) {
    for (const char* name : kPolicies) {
      const u32 needed = policy(*t, name)->required_vcs();
      const bool minimal = std::string(name) == "minimal";
      // Groups of one router have global channels alone.
      const bool local = t->dragonfly()->routers > 1;
      EXPECT_EQ(needed, (minimal ? 1U : std::string(name) == "par" && local ? 3U : 2U) + (local ? 1U : 0U));
      if (needed > 1) {
        EXPECT_NE(refusal([&] { policy(*t, name, needed - 1); }), "");
      }
      for (const u32 vcs : {needed, needed + 3}) {
        expect_verdict(*t, *policy(*t, name, vcs), vcs, core::DependencyVerdict::acyclic);
      }
    }
  }
}

TEST(DragonflyRouting, PoliciesDeliverWithinTheirChannels) {
  for (const auto& t : dragonflies()) {
    expect_delivered(*t, *policy(*t, "minimal"), 3);
    for (const char* name : {"valiant", "ugal_l", "ugal_g"}) expect_delivered(*t, *policy(*t, name), 5, 4);
    expect_delivered(*t, *policy(*t, "par"), 6, 4);
  }
}

TEST(DragonflyRouting, TheMinimalWayIsLocalGlobalLocal) {
  // With one channel per pair of groups it is the only way of at most one global channel. Between groups, distance by
  // that way: 1 + (gateway is elsewhere) + (arrival is elsewhere).
  const auto t = topology("dragonfly", {{"terminals_per_router", i64{1}}});
  const core::Graph& graph = t->graph();
  u64 sum = 0;
  for (u32 s = 0; s < 36; ++s) {
    for (u32 d = 0; d < 36; ++d) {
      const u32 h = hops(*t, *policy(*t, "minimal"), s, d, 1);
      EXPECT_EQ(h <= 1 && s / 4 == d / 4, s / 4 == d / 4);
      EXPECT_GE(h, distances_from(graph, s)[d]);
      sum += h;
    }
  }
  // 36 routers: 3 neighbours at 1; each of 8 groups has 4 routers, 1 + 3/4 (gateway) + 3/4 (arrival) on average.
  EXPECT_EQ(sum, 36U * 3 + 36U * 8 * 4 * 5 / 2);
}

TEST(DragonflyRouting, EmptyQueuesMeanTheDirectWay) {
  for (const auto& t : dragonflies()) {
    const auto minimal = policy(*t, "minimal");
    for (const char* name : {"ugal_l", "ugal_g", "par"}) {
      const auto adaptive = policy(*t, name);
      for (u32 s = 0; s < t->graph().terminals(); ++s) {
        for (u32 d = 0; d < t->graph().terminals(); ++d) {
          ASSERT_EQ(hops(*t, *adaptive, s, d, s + d), hops(*t, *minimal, s, d, s + d));
        }
      }
    }
  }
}

TEST(DragonflyRouting, ADetourOverARouterVisitsIt) {
  const auto t = topology("dragonfly", {{"terminals_per_router", i64{1}}});  // 9 groups of 4 routers, a terminal each
  const auto over_group = routing("dragonfly_routing", *t, 4, {{"policy", std::string("valiant")}});
  const auto over_router =
      routing("dragonfly_routing", *t, 4, {{"policy", std::string("valiant")}, {"detour_over", std::string("router")}});
  expect_delivered(*t, *over_router, 6, 36);
  core::Packet packet;
  packet.source = 0;
  packet.destination = 13;
  // From group 0 to group 3 over each router of group 7: two of the detours that may enter and leave it elsewhere do.
  std::vector<u32> lengths;
  for (u32 router = 28; router < 32; ++router) {
    packet.state = router;
    lengths.push_back(follow(*t, *over_router, packet, 1, 10, nullptr));
  }
  packet.state = 7;
  const u32 shortest = follow(*t, *over_group, packet, 1, 10, nullptr);
  EXPECT_EQ(*std::min_element(lengths.begin(), lengths.end()), shortest) << "over the routers on the way";
  EXPECT_EQ(*std::max_element(lengths.begin(), lengths.end()), shortest + 1) << "and beside it";
}

TEST(DragonflyRouting, DetoursOverRoutersHaveACycle) {
  const auto t = topology("dragonfly", {{"terminals_per_router", i64{1}}});
  const auto r =
      routing("dragonfly_routing", *t, 3, {{"policy", std::string("ugal_l")}, {"detour_over", std::string("router")}});
  expect_verdict(*t, *r, 3, core::DependencyVerdict::cyclic);
}

/// Flits in front of one port of the source's router, and of all others.
class TwoQueues : public core::Occupancy {
 public:
  TwoQueues(u32 port, u32 there, u32 elsewhere) : port_(port), there_(there), elsewhere_(elsewhere) {}
  [[nodiscard]] u32 used(u32, u32 port) const noexcept override { return port == port_ ? there_ : elsewhere_; }

 private:
  u32 port_;
  u32 there_;
  u32 elsewhere_;
};

TEST(DragonflyRouting, AWeightOfTheDetourReplacesItsChannels) {
  const auto t = topology("dragonfly", {{"terminals_per_router", i64{1}}});
  const auto weighted = routing("dragonfly_routing", *t, 4,
                                {{"policy", std::string("ugal_l")}, {"threshold", i64{3}}, {"detour_weight", i64{2}}});
  core::Packet packet;
  packet.source = 0;
  packet.destination = 13;
  packet.state = 7;
  const u32 direct = follow(*t, *policy(*t, "minimal"), packet, 1, 10, nullptr);
  const TwoQueues equal(0, 23, 10);  // the direct way begins at port 0, towards router 1
  const TwoQueues worse(0, 24, 10);
  EXPECT_EQ(follow(*t, *weighted, packet, 1, 10, &equal), direct) << "23 <= 2 x 10 + 3";
  EXPECT_GT(follow(*t, *weighted, packet, 1, 10, &worse), direct);
}

/// Global channels out of one group are full, others hold little.
class FullGateway : public core::Occupancy {
 public:
  FullGateway(u32 s, u32 port) : switch_(s), port_(port) {}
  [[nodiscard]] u32 used(u32 s, u32 port) const noexcept override { return s == switch_ && port == port_ ? 100 : 1; }

 private:
  u32 switch_;
  u32 port_;
};

TEST(DragonflyRouting, WhoSeesTheFullGlobalChannelGoesAround) {
  // From router 0 of group 0 to group 3 over the gateway, router 1 (consecutive: channel 2 is port 0 of router 1).
  const auto t = topology("dragonfly", {{"terminals_per_router", i64{1}}});
  const u32 local = 3;
  const FullGateway full(1, local + 0);
  ASSERT_EQ(t->dragonfly()->peer[2], 3U);
  core::Packet packet;
  packet.source = 0;
  packet.destination = 13;
  packet.state = 7;  // intermediate group
  const auto channels = [&](const char* name) { return follow(*t, *policy(*t, name), packet, 1, 10, &full); };
  const u32 direct = channels("minimal");
  EXPECT_LE(direct, 3U);
  EXPECT_EQ(channels("ugal_l"), direct) << "the source's own queues are short";
  EXPECT_GT(channels("ugal_g"), direct);
  EXPECT_GT(channels("par"), direct) << "the second router sees it";
}

TEST(DragonflyRouting, RefusesOtherNetworks) {
  const auto mesh = topology("mesh");
  const auto damaged = topology("dragonfly", {{"random_failed_links", i64{1}}});
  const auto whole = topology("dragonfly");
  EXPECT_NE(refusal([&] { policy(*mesh, "minimal"); }).find("needs a dragonfly"), std::string::npos);
  EXPECT_NE(refusal([&] { policy(*damaged, "minimal"); }).find("does not go around"), std::string::npos);
  EXPECT_NE(refusal([&] { policy(*whole, "par", 3); }).find("vcs = 4"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::dragonfly_routing_test
