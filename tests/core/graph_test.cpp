// Questions that a graph answers by itself.
#include "banyan/core/graph.hpp"

#include <gtest/gtest.h>

namespace banyan::core::graph_test {
namespace {

End at(u32 node, u16 port) {
  End end;
  end.node = node;
  end.port = port;
  return end;
}

/// Switches in a one-way chain 0 -> 1 -> 2 -> 3, and a short cut 0 -> 2.
Graph chain_with_short_cut(bool short_cut_works) {
  Graph graph;
  for (u32 s = 0; s < 4; ++s) graph.add_switch(2, 2);
  graph.add_channel(at(0, 0), at(1, 0));
  graph.add_channel(at(1, 0), at(2, 0));
  graph.add_channel(at(2, 0), at(3, 0));
  const u32 short_cut = graph.add_channel(at(0, 1), at(2, 1));
  if (!short_cut_works) graph.fail_channel(short_cut);
  return graph;
}

TEST(Graph, DistancesCountChannelsOnAShortestWay) {
  EXPECT_EQ(chain_with_short_cut(true).distances_from(0), (std::vector<u32>{0, 1, 1, 2}));
}

TEST(Graph, DistancesDoNotUseFailedChannels) {
  EXPECT_EQ(chain_with_short_cut(false).distances_from(0), (std::vector<u32>{0, 1, 2, 3}));
}

TEST(Graph, DistancesFollowTheDirectionOfChannels) {
  EXPECT_EQ(chain_with_short_cut(true).distances_from(2), (std::vector<u32>{kNone, kNone, 0, 1}));
}

}  // namespace
}  // namespace banyan::core::graph_test
