// Does turnaround routing take the shortest ways of every fat tree, without cycles and by its rule?
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/rows.hpp"

namespace banyan::test::nearest_common_ancestor_test {
namespace {

constexpr const char* kRules[] = {"d_mod_k", "s_mod_k", "straight", "hashed", "random", "two_choices", "adaptive"};

std::vector<std::unique_ptr<core::Topology>> trees() {
  std::vector<std::unique_ptr<core::Topology>> list;
  list.push_back(topology("fat_tree"));
  list.push_back(topology("fat_tree", {{"arity", i64{2}}, {"levels", i64{4}}}));
  list.push_back(topology("xgft", {{"children", std::vector<i64>{4, 3, 2}}, {"parents", std::vector<i64>{1, 3, 2}}}));
  for (const char* wiring : {"perfect_shuffle", "k_ary_n_tree"}) {
    for (const i64 hosts : {4, 16, 32, 64}) {
      list.push_back(topology("bidirectional_min", {{"hosts", hosts}, {"wiring", std::string(wiring)}}));
    }
  }
  return list;
}

TEST(NearestCommonAncestor, EveryPairTakesAShortestWay) {
  for (const auto& tree : trees()) {
    for (const char* up : kRules) {
      expect_minimal(*tree, *routing("nearest_common_ancestor", *tree, 1, {{"up", std::string(up)}}));
    }
  }
}

TEST(NearestCommonAncestor, DependenciesAreAcyclicOnOneVirtualChannel) {
  for (const auto& tree : trees()) {
    for (const char* up : kRules) {
      expect_verdict(*tree, *routing("nearest_common_ancestor", *tree, 1, {{"up", std::string(up)}}), 1,
                     core::DependencyVerdict::acyclic);
    }
  }
}

/// Choices on different levels have nothing to do with each other: no channel is left to nobody, and none has much more
/// than others of its level.
TEST(NearestCommonAncestor, HashesUseEveryChannel) {
  for (const auto& [arity, levels] : {std::pair{2U, 4U}, {3U, 3U}, {4U, 3U}, {8U, 3U}}) {
    const auto tree = topology("fat_tree", {{"arity", i64{arity}}, {"levels", i64{levels}}});
    const auto hashed = routing("nearest_common_ancestor", *tree, 1, {{"up", std::string("hashed")}});
    const core::Graph& graph = tree->graph();
    std::vector<u32> used(graph.channels().size(), 0);
    core::Candidates candidates;
    for (u32 source = 0; source < graph.terminals(); ++source) {
      for (u32 destination = 0; destination < graph.terminals(); ++destination) {
        if (source == destination) continue;
        core::Packet packet;
        packet.source = source;
        packet.destination = destination;
        for (u32 channel = graph.injection(source); !graph.channel(channel).to.terminal;) {
          const core::End at = graph.channel(channel).to;
          candidates.clear();
          hashed->route({at.node, at.port, 0, &packet, 0, nullptr}, candidates);
          ASSERT_EQ(candidates.size(), 1U);
          channel = graph.channel_out_of(at.node, candidates[0].port);
          ++used[channel];
        }
      }
    }
    std::vector<u32> most(levels, 0);
    std::vector<u64> sum(levels, 0);
    std::vector<u32> channels(levels, 0);
    for (u32 c = 0; c < used.size(); ++c) {
      const core::Channel& channel = graph.channel(c);
      if (channel.from.terminal || channel.to.terminal) continue;
      const u32 from = graph.level(channel.from.node);
      if (graph.level(channel.to.node) < from) continue;  // downward
      EXPECT_GT(used[c], 0U) << "arity " << arity << ", level " << from;
      most[from] = std::max(most[from], used[c]);
      sum[from] += used[c];
      ++channels[from];
    }
    for (u32 l = 0; l + 1 < levels; ++l) {
      const double mean = static_cast<double>(sum[l]) / channels[l];
      EXPECT_LT(most[l], mean + 5 * std::sqrt(mean)) << "arity " << arity << ", level " << l;
    }
  }
}

/// Flits in front of every port: as many as its number, or as many less.
class Slope final : public core::Occupancy {
 public:
  explicit Slope(bool rising) : rising_(rising) {}
  [[nodiscard]] u32 used(u32, u32 port) const noexcept override { return rising_ ? port : 100 - port; }

 private:
  bool rising_;
};

TEST(NearestCommonAncestor, OfTwoChoicesTheEmptierIsTaken) {
  const auto tree = topology("fat_tree", {{"arity", i64{4}}, {"levels", i64{2}}});
  const auto two = routing("nearest_common_ancestor", *tree, 1, {{"up", std::string("two_choices")}});
  core::Packet packet;
  packet.destination = 15;
  const auto taken = [&](const core::Occupancy& occupancy) {
    std::vector<u32> count(8, 0);
    for (u32 i = 0; i < 4096; ++i) {
      core::RouteRequest request;
      request.packet = &packet;
      request.at = tree->graph().channel(tree->graph().injection(0)).to.node;
      request.random = static_cast<u32>(mix64(i) >> 32U);
      request.occupancy = &occupancy;
      core::Candidates next;
      two->route(request, next);
      ++count[next[0].port];
    }
    return count;
  };
  // The lowest of two of four numbers is the lowest of all in 7 of 16 cases, the next in 5, 3, 1.
  const std::vector<u32> low = taken(Slope(true));
  const std::vector<u32> high = taken(Slope(false));
  for (u32 i = 0; i < 4; ++i) {
    EXPECT_NEAR(low[4 + i], 4096.0 * (7 - 2 * i) / 16, 130) << i;
    EXPECT_NEAR(high[4 + i], 4096.0 * (1 + 2 * i) / 16, 130) << i;
  }
}

/// Packets per channel between switches when each source sends one to (source + shift) % N.
u32 most_loaded(const core::Topology& tree, const core::Routing& routing, u32 shift) {
  const core::Graph& graph = tree.graph();
  std::vector<u32> load(graph.channels().size(), 0);
  for (u32 s = 0; s < graph.terminals(); ++s) {
    core::Packet packet;
    packet.source = s;
    packet.destination = (s + shift) % graph.terminals();
    core::RouteRequest request;
    request.packet = &packet;
    for (core::End at = graph.channel(graph.injection(s)).to; !at.terminal;) {
      request.at = at.node;
      request.in_port = at.port;
      core::Candidates next;
      routing.route(request, next);
      const u32 c = graph.channel_out_of(at.node, next[0].port);
      ++load[c];
      at = graph.channel(c).to;
    }
  }
  return *std::max_element(load.begin(), load.end());
}

TEST(NearestCommonAncestor, DModKCarriesEveryShiftWithoutConflict) {
  // Zahavi 2010: a full fat tree with d mod k routing is non-blocking for shift permutations.
  const auto tree = topology("fat_tree");
  const auto d_mod_k = routing("nearest_common_ancestor", *tree, 1, {{"up", std::string("d_mod_k")}});
  for (u32 shift = 0; shift < 64; ++shift) EXPECT_EQ(most_loaded(*tree, *d_mod_k, shift), 1U) << shift;
}

TEST(NearestCommonAncestor, RandomChoosesEveryPortAndAdaptiveOffersAll) {
  const auto tree = topology("fat_tree");
  core::Packet packet;
  packet.destination = 63;
  core::RouteRequest request;
  request.packet = &packet;
  const auto random = routing("nearest_common_ancestor", *tree, 1, {{"up", std::string("random")}});
  std::set<u32> seen;
  for (u32 i = 0; i < 4; ++i) {
    request.random = i << 30U;
    core::Candidates next;
    random->route(request, next);
    ASSERT_EQ(next.size(), 1U);
    seen.insert(next[0].port);
  }
  EXPECT_EQ(seen, (std::set<u32>{4, 5, 6, 7}));
  core::Candidates all;
  routing("nearest_common_ancestor", *tree, 1, {{"up", std::string("adaptive")}})->route(request, all);
  EXPECT_EQ(all.size(), 4U);
}

TEST(NearestCommonAncestor, OrderIsPromisedForOnePathAndOneVirtualChannel) {
  const auto tree = topology("fat_tree");
  for (const char* up : kRules) {
    const bool one_path =
        std::string(up) != "random" && std::string(up) != "two_choices" && std::string(up) != "adaptive";
    EXPECT_EQ(routing("nearest_common_ancestor", *tree, 1, {{"up", std::string(up)}})->in_order(), one_path);
    EXPECT_FALSE(routing("nearest_common_ancestor", *tree, 2, {{"up", std::string(up)}})->in_order());
    EXPECT_EQ(routing("nearest_common_ancestor", *tree, 1, {{"up", std::string(up)}})->oblivious(),
              one_path || std::string(up) == "random");
  }
}

TEST(NearestCommonAncestor, RefusesOtherTopologiesAndDamage) {
  const auto mesh = topology("mesh");
  EXPECT_NE(refusal([&] { routing("nearest_common_ancestor", *mesh, 1); }).find("needs a fat tree"), std::string::npos);
  const auto damaged = topology("fat_tree", {{"failed_links", std::vector<std::string>{"0 5"}}});
  EXPECT_NE(refusal([&] { routing("nearest_common_ancestor", *damaged, 1); }).find("up_down"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::nearest_common_ancestor_test
