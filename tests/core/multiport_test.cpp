// Are the worms of a multiport multicast sets that its headers can say, do they cover the destinations, and in how many
// phases?
#include "banyan/core/multiport.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "banyan/base/hash.hpp"
#include "support/rows.hpp"

namespace banyan::test::multiport_test {
namespace {

std::unique_ptr<core::Topology> tree_of(i64 hosts) {
  return topology("bidirectional_min", {{"hosts", hosts}, {"ports", i64{8}}});
}

core::MultiportPlan plan_of(const core::Multiport& multiport, u32 source, const std::vector<u32>& destinations) {
  core::MultiportPlan plan;
  multiport.plan(source, destinations, plan);
  return plan;
}

TEST(Multiport, AHeaderHasAFieldPerStage) {
  EXPECT_EQ(core::Multiport(*tree_of(16)).header_flits(), 1U + 1U);    // 2 stages of 4 ports
  EXPECT_EQ(core::Multiport(*tree_of(64)).header_flits(), 1U + 1U);    // 3
  EXPECT_EQ(core::Multiport(*tree_of(1024)).header_flits(), 1U + 2U);  // 5; a bit string has 65
  EXPECT_EQ(core::Multiport(*topology("multistage_cube", {{"terminals", i64{256}}, {"radix", i64{4}}})).header_flits(),
            1U + 1U);
  EXPECT_THROW(core::Multiport(*topology("mesh")), std::invalid_argument);
}

TEST(Multiport, AllCombinationsOfPortsAreOneWormAndOtherSetsSeveral) {
  const auto tree = tree_of(16);
  const core::Multiport multiport(*tree);
  EXPECT_EQ(plan_of(multiport, 0, {5, 6, 9, 10}).worms.size(), 1U) << "leaves 1 and 2, ports 1 and 2";
  const core::MultiportPlan two = plan_of(multiport, 0, {5, 6, 9});
  EXPECT_EQ(two.worms.size(), 2U);
  EXPECT_EQ(two.phases, 2U);
  EXPECT_EQ(plan_of(multiport, 0, {1, 4, 11, 14}).phases, 3U) << "no two together: the binomial tree";
}

TEST(Multiport, WormsCoverEveryDestinationOnceAndEverySenderHasTheMessage) {
  for (const i64 hosts : {16, 64, 256}) {
    const auto tree = tree_of(hosts);
    const core::Multiport multiport(*tree);
    for (u64 salt = 1; salt <= 60; ++salt) {
      const u32 source = static_cast<u32>(mix64(salt) % static_cast<u64>(hosts));
      std::set<u32> wanted;
      const u64 degree = 1 + mix64(salt + 99) % static_cast<u64>(hosts - 1);
      for (u64 i = 0; wanted.size() < degree; ++i) {
        const u32 t = static_cast<u32>(mix64(salt * 7919 + i) % static_cast<u64>(hosts));
        if (t != source) wanted.insert(t);
      }
      const core::MultiportPlan plan = plan_of(multiport, source, {wanted.begin(), wanted.end()});
      std::set<u32> have{source};
      std::set<std::pair<u32, u32>> sent;  // (phase, sender)
      for (const core::MultiportWorm& worm : plan.worms) {
        EXPECT_TRUE(have.contains(worm.sender));
        EXPECT_TRUE(sent.emplace(worm.phase, worm.sender).second) << "one worm per sender and phase";
        std::vector<u64> ports(8, 0);
        for (u32 i = worm.begin; i < worm.end; ++i) {
          u32 t = plan.order[i];
          for (u32 l = 0; l < multiport.stages(); ++l, t /= 4) ports[l] |= u64{1} << (t % 4);
        }
        u64 combinations = 1;
        for (u32 l = 0; l < multiport.stages(); ++l) combinations *= static_cast<u64>(std::popcount(ports[l]));
        EXPECT_EQ(combinations, worm.end - worm.begin);
        for (u32 i = worm.begin; i < worm.end; ++i) EXPECT_TRUE(have.insert(plan.order[i]).second);
      }
      EXPECT_EQ(have.size(), degree + 1);
      EXPECT_LE(plan.phases, static_cast<u32>(std::bit_width(degree))) << "never more than with one destination each";
      EXPECT_EQ(plan.phases, plan.worms.back().phase + 1);
    }
  }
}

}  // namespace
}  // namespace banyan::test::multiport_test
