// Is the saturation tree what hangs on the hot spot through full buffers, and nothing else?
#include <gtest/gtest.h>

#include <vector>

#include "banyan/engine/session.hpp"

namespace banyan::saturation_tree_test {
namespace {

using banyan::u32;
using banyan::core::End;
using banyan::core::Graph;
using banyan::engine::saturation_tree;
using banyan::engine::Tree;

/// Two stages of 2 x 2 boxes: boxes 0 and 1 feed boxes 2 and 3, which feed terminals 0 to 3.
struct TwoStages {
  TwoStages() : graph(4) {
    for (u32 s = 0; s < 4; ++s) graph.add_switch(2, 2, s / 2);
    for (u32 t = 0; t < 4; ++t) graph.add_channel(End::of_terminal(t), End::of_switch(t / 2, t % 2));
    for (u32 s = 0; s < 2; ++s) {
      for (u32 p = 0; p < 2; ++p) middle[s][p] = graph.add_channel(End::of_switch(s, p), End::of_switch(2 + p, s));
    }
    for (u32 t = 0; t < 4; ++t) graph.add_channel(End::of_switch(2 + t / 2, t % 2), End::of_terminal(t));
  }

  [[nodiscard]] Tree tree(const std::vector<u32>& full_channels, u32 hot = 0) const {
    std::vector<bool> full(graph.channels().size(), false);
    for (const u32 c : full_channels) full[c] = true;
    return saturation_tree(graph, hot, full);
  }

  Graph graph;
  u32 middle[2][2] = {};  ///< [box of the first stage][output]
};

TEST(SaturationTree, WithoutAFullBufferAtTheRootThereIsNone) {
  const TwoStages net;
  EXPECT_EQ(net.tree({}).boxes, 0U);
  EXPECT_EQ(net.tree({net.middle[0][1], net.middle[1][1], net.graph.ejection(2)}).boxes, 0U);
}

TEST(SaturationTree, ARootWithPlacesBelongsWhenAFeederIsFull) {
  const TwoStages net;
  const Tree tree = net.tree({net.middle[1][0]});
  EXPECT_EQ(tree.boxes, 2U);
  EXPECT_EQ(tree.height, 1U);
}

TEST(SaturationTree, TheRootAloneHasHeightZero) {
  const TwoStages net;
  const Tree tree = net.tree({net.graph.ejection(0)});
  EXPECT_EQ(tree.boxes, 1U);
  EXPECT_EQ(tree.height, 0U);
  EXPECT_EQ(tree.upper_boxes, 1U);
}

TEST(SaturationTree, FullFeedersBelong) {
  const TwoStages net;
  const Tree tree = net.tree({net.graph.ejection(0), net.middle[0][0], net.middle[1][0]});
  EXPECT_EQ(tree.boxes, 3U);
  EXPECT_EQ(tree.height, 1U);
  EXPECT_EQ(tree.upper_boxes, 2U) << "the root, and the feeder of its upper input";
}

TEST(SaturationTree, FullBuffersElsewhereDoNotBelong) {
  const TwoStages net;
  const Tree tree = net.tree({net.graph.ejection(0), net.graph.ejection(2), net.middle[1][1], net.middle[1][0]});
  EXPECT_EQ(tree.boxes, 2U);
  EXPECT_EQ(tree.upper_boxes, 1U);
}

TEST(SaturationTree, FullSourcesAreNoBoxes) {
  const TwoStages net;
  const Tree tree = net.tree({net.graph.ejection(0), net.middle[0][0], net.graph.injection(0), net.graph.injection(1)});
  EXPECT_EQ(tree.boxes, 2U);
}

TEST(SaturationTree, ABoxOnACycleCountsOnce) {
  Graph graph(2);
  for (u32 s = 0; s < 2; ++s) graph.add_switch(2, 2);
  for (u32 t = 0; t < 2; ++t) {
    graph.add_channel(End::of_terminal(t), End::of_switch(t, 0));
    graph.add_channel(End::of_switch(t, 0), End::of_terminal(t));
    graph.add_channel(End::of_switch(t, 1), End::of_switch(1 - t, 1));
  }
  const Tree tree = saturation_tree(graph, 0, std::vector<bool>(graph.channels().size(), true));
  EXPECT_EQ(tree.boxes, 2U);
  EXPECT_EQ(tree.height, 1U);
}

}  // namespace
}  // namespace banyan::saturation_tree_test
