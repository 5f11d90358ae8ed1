// Does UGAL keep to the shortest way while queues are short, and leave it where they are long?
#include <gtest/gtest.h>

#include "routing/spaces.hpp"

namespace banyan::test::ugal_test {
namespace {

std::unique_ptr<core::Routing> ugal(const core::Topology& t, u32 vcs, const std::string& information = "local",
                                    i64 threshold = 0) {
  return routing("ugal", t, vcs, {{"information", information}, {"threshold", threshold}});
}

/// One port of one switch is long.
class OneLong : public core::Occupancy {
 public:
  OneLong(u32 s, u32 port, u32 used) : switch_(s), port_(port), used_(used) {}
  [[nodiscard]] u32 used(u32 s, u32 port) const noexcept override { return s == switch_ && port == port_ ? used_ : 1; }

 private:
  u32 switch_;
  u32 port_;
  u32 used_;
};

TEST(Ugal, BothWaysTogetherHaveNoCycles) {
  for (const auto& t : spaces()) {
    const u32 vcs = 2 * ring_classes(*t);
    for (const char* information : {"local", "global"}) {
      expect_verdict(*t, *ugal(*t, vcs, information), vcs, core::DependencyVerdict::acyclic);
    }
  }
  const auto slim = topology("slim_fly", {{"q", i64{3}}, {"concentration", i64{1}}});
  expect_verdict(*slim, *ugal(*slim, 4), 4, core::DependencyVerdict::acyclic);
}

TEST(Ugal, EmptyQueuesMeanShortestWays) {
  for (const auto& t : spaces()) {
    expect_minimal(*t, *ugal(*t, 8, "local"));
    expect_minimal(*t, *ugal(*t, 8, "global"));
  }
}

TEST(Ugal, ALongQueueOnTheShortestWayMakesADetour) {
  // Full mesh of 8: the direct channel from 0 to 5 has 4 flits, others 1. A detour has 2 channels: 4 * 1 > 1 * 2.
  const auto t = hyperx_of({8});
  const u32 to_five = 4;
  core::Packet packet;
  packet.destination = 5;
  packet.state = 3;
  const OneLong long_queue(0, to_five, 4);
  EXPECT_EQ(follow(*t, *ugal(*t, 2), packet, 1, 10, &long_queue), 2U);
  EXPECT_EQ(follow(*t, *ugal(*t, 2, "global"), packet, 1, 10, &long_queue), 2U);
  const OneLong short_queue(0, to_five, 2);
  EXPECT_EQ(follow(*t, *ugal(*t, 2), packet, 1, 10, &short_queue), 1U);
  EXPECT_EQ(follow(*t, *ugal(*t, 2, "global"), packet, 1, 10, &short_queue), 1U);
  EXPECT_EQ(follow(*t, *ugal(*t, 2, "local", 2), packet, 1, 10, &long_queue), 1U);  // 4 <= 2 + threshold
}

TEST(Ugal, OnlyGlobalInformationSeesQueuesFarAway) {
  // (0,0) to (2,1) of a HyperX: x first. The queue at (2,0) towards (2,1) is long.
  const auto t = hyperx_of({4, 4});
  core::Packet packet;
  packet.destination = 6;
  packet.state = 13;  // (1,3)
  const OneLong far_queue(2, 3, 50);
  EXPECT_EQ(follow(*t, *ugal(*t, 2, "local"), packet, 1, 10, &far_queue), 2U);
  EXPECT_EQ(follow(*t, *ugal(*t, 2, "global"), packet, 1, 10, &far_queue), 4U);
}

/// Within a row of a HyperX network those of the row; between ends that differ in both dimensions, all.
TEST(Ugal, NearDetoursStayBetweenTheEnds) {
  const auto t = hyperx_of({4, 3});
  const auto r = routing("ugal", *t, 2, {{"detours", std::string("near")}});
  const auto middles = [&](u32 source, u32 destination) {
    std::vector<u32> found;
    const u32 headers = r->headers(source, destination);
    for (u32 h = 0; h < headers; ++h) {
      core::Packet packet;
      packet.source = source;
      packet.destination = destination;
      r->prepare(packet, static_cast<u32>(((u64{h} << 32U) + (u64{1} << 31U)) / headers));
      found.push_back(static_cast<u32>(packet.state));
    }
    return found;
  };
  EXPECT_EQ(middles(4, 6), (std::vector<u32>{4, 5, 6, 7}));
  EXPECT_EQ(middles(1, 9), (std::vector<u32>{1, 5, 9}));
  EXPECT_EQ(middles(0, 6).size(), 12U);
  EXPECT_EQ(middles(5, 5), std::vector<u32>{5});
  expect_verdict(*t, *r, 2, core::DependencyVerdict::acyclic);
}

TEST(Ugal, SaysHowFarItLooks) {
  const auto t = hyperx_of({4});
  EXPECT_EQ(ugal(*t, 2, "local")->sight(), core::Sight::own_switch);
  EXPECT_EQ(ugal(*t, 2, "global")->sight(), core::Sight::network);
}

}  // namespace
}  // namespace banyan::test::ugal_test
