// Does a graph that computes tell the same of a network as the list of its switches and channels?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "support/rows.hpp"

namespace banyan::test::wiring_test {
namespace {

using Integers = std::vector<i64>;

const std::vector<std::pair<std::string, Settings>>& networks() {
  static const std::vector<std::pair<std::string, Settings>> list{
      {"mesh", {{"size", Integers{4, 3}}}},
      {"mesh", {{"size", Integers{7}}, {"concentration", i64{2}}}},
      {"mesh", {{"size", Integers{5, 1, 2, 3}}, {"concentration", i64{3}}, {"latency", Integers{1, 2, 3, 4}}}},
      {"torus", {{"size", Integers{4, 3}}}},
      {"torus", {{"size", Integers{2, 5, 1}}, {"concentration", i64{2}}, {"cycles_per_flit", Integers{1, 2, 3}}}},
      {"hypercube", {{"degree", i64{1}}, {"concentration", i64{4}}}},
      {"hypercube", {{"degree", i64{5}}, {"terminal_latency", i64{3}}}},
      {"hyperx", {{"size", Integers{3, 4, 5}}, {"concentration", i64{2}}}},
      {"hyperx", {{"size", Integers{1, 6}}}},
      {"dragonfly", {{"global_latency", i64{9}}}},
      {"dragonfly", {{"groups", i64{4}}, {"routers_per_group", i64{5}}, {"global_links", std::string("palm_tree")}}},
      {"dragonfly", {{"groups", i64{4}}, {"routers_per_group", i64{1}}, {"global_ports", i64{7}}}},
      {"dragonfly", {{"groups", i64{2}}, {"routers_per_group", i64{3}}, {"global_ports", i64{1}}}},
      {"fat_tree", {{"arity", i64{2}}, {"levels", i64{1}}}},
      {"fat_tree", {{"arity", i64{3}}, {"levels", i64{4}}, {"latency", Integers{2, 3, 4}}}},
      {"xgft", {{"children", Integers{3, 5, 2}}, {"parents", Integers{1, 4, 3}}}},
      {"xgft", {{"children", Integers{2, 2, 3, 2}}, {"parents", Integers{1, 1, 5, 2}}}},
      {"bidirectional_min", {{"hosts", i64{4}}, {"ports", i64{8}}}},
      {"bidirectional_min", {{"hosts", i64{64}}, {"ports", i64{8}}}},
      {"bidirectional_min", {{"hosts", i64{32}}, {"ports", i64{8}}}},
      {"bidirectional_min", {{"hosts", i64{64}}, {"ports", i64{8}}, {"wiring", std::string("k_ary_n_tree")}}},
      {"bidirectional_min", {{"hosts", i64{32}}, {"ports", i64{8}}, {"wiring", std::string("k_ary_n_tree")}}},
      {"bidirectional_min", {{"hosts", i64{108}}, {"ports", i64{12}}, {"wiring", std::string("k_ary_n_tree")}}},
  };
  return list;
}

void expect_same(const core::Graph& computed, const core::Graph& listed) {
  ASSERT_TRUE(computed.computes());
  ASSERT_FALSE(listed.computes());
  ASSERT_EQ(computed.terminals(), listed.terminals());
  ASSERT_EQ(computed.switches(), listed.switches());
  ASSERT_EQ(computed.channels().size(), listed.channels().size());
  EXPECT_EQ(computed.total_inputs(), listed.total_inputs());
  EXPECT_EQ(computed.total_outputs(), listed.total_outputs());
  EXPECT_EQ(computed.levels(), listed.levels());
  EXPECT_EQ(computed.most_ports(), listed.most_ports());
  EXPECT_FALSE(computed.damaged());
  for (u32 c = 0; c < listed.channels().size(); ++c) {
    const core::Channel one = computed.channel(c);
    const core::Channel other = listed.channels()[c];
    ASSERT_EQ(one.from, other.from) << c;
    ASSERT_EQ(one.to, other.to) << c;
    ASSERT_EQ(one.link.latency_cycles, other.link.latency_cycles) << c;
    ASSERT_EQ(one.link.cycles_per_flit, other.link.cycles_per_flit) << c;
    ASSERT_FALSE(one.failed);
  }
  for (u32 s = 0; s < listed.switches(); ++s) {
    ASSERT_EQ(computed.inputs(s), listed.inputs(s));
    ASSERT_EQ(computed.outputs(s), listed.outputs(s));
    ASSERT_EQ(computed.input_base(s), listed.input_base(s));
    ASSERT_EQ(computed.output_base(s), listed.output_base(s));
    ASSERT_EQ(computed.level(s), listed.level(s));
    for (u32 p = 0; p < listed.inputs(s); ++p) {
      ASSERT_EQ(computed.channel_into(s, p), listed.channel_into(s, p)) << s << ' ' << p;
      ASSERT_EQ(computed.channel_out_of(s, p), listed.channel_out_of(s, p)) << s << ' ' << p;
    }
  }
  for (u32 t = 0; t < listed.terminals(); ++t) {
    ASSERT_EQ(computed.injection(t), listed.injection(t));
    ASSERT_EQ(computed.ejection(t), listed.ejection(t));
  }
  EXPECT_EQ(computed.distances_from(0), listed.distances_from(0));
  EXPECT_EQ(computed.topological_order(), listed.topological_order());
}

TEST(Wiring, AGraphThatComputesTellsTheSameAsTheList) {
  for (const auto& [name, given] : networks()) {
    SCOPED_TRACE(name);
    const auto built = topology(name, given);
    ASSERT_NE(built->graph().wiring(), nullptr);
    expect_same(core::Graph(built->graph().wiring(), 0), built->graph());
  }
}

TEST(Wiring, FailuresMakeAListOfAGraphThatComputes) {
  const auto whole = topology("mesh", {{"size", Integers{4, 3}}});
  core::Graph graph(whole->graph().wiring(), 0);
  graph.fail_channel(5);
  EXPECT_FALSE(graph.computes());
  EXPECT_EQ(graph.wiring(), nullptr);
  EXPECT_TRUE(graph.damaged());
  for (u32 c = 0; c < graph.channels().size(); ++c) {
    EXPECT_EQ(graph.channel(c).failed, c == 5);
    EXPECT_EQ(graph.channel(c).to, whole->graph().channel(c).to);
  }
}

TEST(Wiring, NothingIsAddedToAGraphThatComputes) {
  core::Graph graph(topology("mesh", {{"size", Integers{4, 3}}})->graph().wiring(), 0);
  EXPECT_THROW(graph.add_switch(2, 2), std::logic_error);
  EXPECT_THROW(graph.add_channel(core::End::of_terminal(0), core::End::of_switch(0, 0)), std::logic_error);
}

TEST(Wiring, ALargeNetworkIsNotListed) {
  const auto torus = topology("torus", {{"size", Integers{512, 512}}});
  EXPECT_TRUE(torus->graph().computes());
  const core::Graph& graph = torus->graph();
  for (u32 c = 0; c < graph.channels().size(); c += 97) {
    const core::Channel channel = graph.channel(c);
    EXPECT_EQ(c, channel.from.terminal ? graph.injection(channel.from.node)
                                       : graph.channel_out_of(channel.from.node, channel.from.port));
    EXPECT_EQ(c, channel.to.terminal ? graph.ejection(channel.to.node)
                                     : graph.channel_into(channel.to.node, channel.to.port));
  }
}

}  // namespace
}  // namespace banyan::test::wiring_test
