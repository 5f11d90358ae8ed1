// Does a cut leave no switch out, keep the copies of a switch together, and tell what it cuts?
#include "banyan/engine/cut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "banyan/api/network.hpp"

namespace banyan::engine::cut_test {
namespace {

api::Network network_of(const std::string& topology, const std::string& routing) {
  return api::build_network(
      api::read_experiments_text("topology = " + topology + "\nswitch = { name = 'vc_router', vcs = 2 }\nrouting = '" +
                                     routing + "'\ntraffic = [{ name = 'uniform', load = 0.1 }]\n",
                                 "cut", {})
          .points.front());
}

TEST(Cut, EveryShardHasSwitches) {
  const struct {
    const char* topology;
    const char* routing;
  } networks[] = {{"{ name = 'mesh', size = [7, 5] }", "dimension_order"},
                  {"{ name = 'bidirectional_min', hosts = 64, ports = 8 }", "nearest_common_ancestor"},
                  {"{ name = 'multistage_cube', terminals = 32, radix = 2 }", "destination_tag"}};
  for (const auto& n : networks) {
    const api::Network network = network_of(n.topology, n.routing);
    for (const u32 shards : {1U, 2U, 3U, 7U, 16U}) {
      std::string by;
      const std::vector<u32> of = cut_network(*network.topology, shards, by);
      ASSERT_EQ(of.size(), network.topology->graph().switches());
      const u32 used = *std::max_element(of.begin(), of.end()) + 1;
      EXPECT_LE(used, shards);
      for (u32 shard = 0; shard < used; ++shard) {
        EXPECT_NE(std::count(of.begin(), of.end(), shard), 0) << n.topology << ' ' << shards << ' ' << shard;
      }
    }
  }
}

TEST(Cut, CopiesOfASwitchStayTogether) {
  const api::Network network =
      network_of("{ name = 'bidirectional_min', hosts = 64, ports = 8, subnetworks = 3 }", "nearest_common_ancestor");
  std::string by;
  const std::vector<u32> of = cut_network(*network.topology, 4, by);
  for (u32 s = 0; s < of.size(); ++s) EXPECT_EQ(of[s], of[s / 3 * 3]) << s;
}

TEST(Cut, PlanesOfAGridAreNotAskedFor) {
  const api::Network network = network_of("{ name = 'mesh', size = [8, 8] }", "dimension_order");
  std::string by;
  const std::vector<u32> of = cut_network(*network.topology, 2, by);
  EXPECT_EQ(by, "the order of switches");
  std::vector<u32> terminal(64);
  for (u32 t = 0; t < 64; ++t) terminal[t] = of[t];
  const Cut cut = measure_cut(network.topology->graph(), of, terminal, 2);
  EXPECT_EQ(cut.crossing, 16U);  // a row of 8 channels, both ways
  EXPECT_EQ(cut.channels, 2U * 64U + 2U * 2U * 7U * 8U);
  EXPECT_DOUBLE_EQ(cut.heaviest, 1.0);
}

TEST(Cut, ALargeTreeIsCutLevelByLevelAndThroughItsHighestLinksOnly) {
  const api::Network network = network_of("{ name = 'fat_tree', arity = 20, levels = 4 }", "nearest_common_ancestor");
  const core::Graph& graph = network.topology->graph();
  ASSERT_TRUE(graph.computes());
  std::string by;
  const std::vector<u32> of = cut_network(*network.topology, 4, by);
  EXPECT_EQ(by, "the order of switches on each level");
  ASSERT_EQ(of.size(), graph.switches());
  std::vector<u32> terminal;
  for (u32 t = 0; t < graph.terminals(); ++t) terminal.push_back(of[graph.channel(graph.injection(t)).to.node]);
  const Cut cut = measure_cut(graph, of, terminal, 4);
  EXPECT_EQ(cut.crossing, u64{2} * 160'000 * 3 / 4);  // a highest switch has a link to each subtree
  EXPECT_DOUBLE_EQ(cut.heaviest, 1.0);
}

TEST(Cut, APartitionerCutsLessOfAFatTreeThanTheOrderOfItsLevels) {
  if (!has_partitioner()) GTEST_SKIP() << "built without a partitioner";
  const api::Network network =
      network_of("{ name = 'bidirectional_min', hosts = 256, ports = 8 }", "nearest_common_ancestor");
  const core::Graph& graph = network.topology->graph();
  std::string by;
  const std::vector<u32> of = cut_network(*network.topology, 4, by);
  EXPECT_EQ(by, "METIS");
  std::vector<u32> plain(graph.switches());
  for (u32 s = 0; s < plain.size(); ++s) plain[s] = s * 4 / graph.switches();
  const auto measured = [&](const std::vector<u32>& shard) {
    std::vector<u32> terminal;
    for (u32 t = 0; t < graph.terminals(); ++t) terminal.push_back(shard[graph.channel(graph.injection(t)).to.node]);
    return measure_cut(graph, shard, terminal, 4);
  };
  EXPECT_LT(measured(of).crossing, measured(plain).crossing);
  EXPECT_LT(measured(of).heaviest, 1.2);
}

}  // namespace
}  // namespace banyan::engine::cut_test
