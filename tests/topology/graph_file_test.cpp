// Does a graph file become its network, and is every mistake named with its line?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/rows.hpp"

namespace banyan::test::graph_file_test {
namespace {

using Lines = std::vector<std::string>;

std::unique_ptr<core::Topology> graph_of(const Lines& lines) { return topology("graph_file", {{"lines", lines}}); }

std::filesystem::path write(const std::string& text) {
  const auto path = std::filesystem::path(testing::TempDir()) / "graph_file_test.txt";
  std::ofstream(path) << text;
  return path;
}

TEST(GraphFile, LinesBecomeSwitchesTerminalsAndLinks) {
  const auto t = graph_of({"# a comment", "switch left", "switch right   # another", "", "terminal a left latency=3",
                           "terminal b right", "link left right latency=2 cycles_per_flit=4"});
  const core::Graph& graph = t->graph();
  EXPECT_EQ(graph.switches(), 2U);
  EXPECT_EQ(graph.terminals(), 2U);
  EXPECT_EQ(t->label(1), "right");
  EXPECT_EQ(graph.channel(graph.injection(0)).link.latency_cycles, 3U);
  const core::Channel& link = graph.channel(graph.channel_out_of(0, 1));
  EXPECT_EQ(link.to, core::End::of_switch(1, 1));
  EXPECT_EQ(link.link.latency_cycles, 2U);
  EXPECT_EQ(link.link.cycles_per_flit, 4U);
  expect_bidirectional(graph);
}

TEST(GraphFile, OneWayLinksLeadOneWay) {
  const auto t =
      graph_of({"switch a", "switch b", "terminal 0 a", "terminal 1 b", "link a b one_way", "link b a one_way"});
  EXPECT_EQ(t->graph().channel_out_of(0, 2), kNone);
  EXPECT_EQ(t->graph().channel(t->graph().channel_out_of(1, 2)).to, core::End::of_switch(0, 2));
}

TEST(GraphFile, AFileIsReadWithItsLineNumbers) {
  const auto good = write("switch a\nswitch b\nterminal 0 a\nterminal 1 b\nlink a b\n");
  EXPECT_EQ(topology("graph_file", {{"file", good.string()}})->graph().switches(), 2U);
  const auto bad = write("switch a\nswitch b\n\nterminal 0 a\nterminal 1 b\nlink a c\n");
  try {
    topology("graph_file", {{"file", bad.string()}});
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.where().line, 6U);
    EXPECT_EQ(error.where().file, bad.string());
    EXPECT_EQ(error.cause(), "there is no switch c");
  }
  EXPECT_NE(refusal([] {
              topology("graph_file", {{"file", std::string("/nowhere/graph.txt")}});
            }).find("cannot be read"),
            std::string::npos);
}

TEST(GraphFile, EveryMistakeIsNamed) {
  const std::vector<std::pair<Lines, std::string>> mistakes{
      {{"swich a"}, "did you mean \"switch\"?"},
      {{"banana"}, "begin it with switch, terminal or link"},
      {{"switch"}, "lacks its name"},
      {{"switch a b"}, "\"b\" stands behind"},
      {{"terminal a"}, "lacks its switch"},
      {{"switch a", "switch a"}, "the name a is used twice"},
      {{"switch a", "terminal a a"}, "the name a is used twice"},
      {{"switch a"}, "0 terminals"},
      {{"switch core", "terminal 0 core", "terminal 1 cor"}, "did you mean core?"},
      {{"switch a", "terminal 0 a", "terminal 1 a", "link a"}, "lacks an end"},
      {{"switch a", "terminal 0 a", "terminal 1 a", "link a a"}, "joins a to itself"},
      {{"switch a", "switch b", "terminal 0 a", "terminal 1 a", "link a b latency=0"}, "no whole number from 1"},
      {{"switch a", "switch b", "terminal 0 a", "terminal 1 a", "link a b latenzy=2"}, "no option \"latenzy=2\""},
      {{"switch a", "terminal 0 a", "terminal 1 a width=3"}, "it has latency=N"},
      {{"switch a", "switch b", "terminal 0 a", "terminal 1 b"}, "no path leads from terminal 0 to terminal 1"},
      {{"switch a", "switch b", "terminal 0 a", "terminal 1 b", "link a b one_way"},
       "no path leads from terminal 1 to terminal 0"},
  };
  for (const auto& [lines, words] : mistakes) {
    const std::string said = refusal([&, given = lines] { graph_of(given); });
    EXPECT_NE(said.find(words), std::string::npos) << said << "\n  expected: " << words;
  }
}

TEST(GraphFile, NamesThatATerminalWouldObeyAreRefusedWhereverTheyStand) {
  const std::pair<std::string, std::string> names[] = {
      {"a\x1b[31m", "U+001B"}, {"a\xc2\x9b", "U+009B"}, {"a\xff", "no UTF-8"}, {"a\xe2\x80\xae", "U+202E"}};
  for (const auto& [name, words] : names) {
    for (const Lines& lines : {Lines{"switch " + name}, Lines{"switch a", "terminal " + name + " a"},
                               Lines{"switch a", "terminal 0 " + name}, Lines{"switch a", "link a " + name},
                               Lines{name + " a"}, Lines{"switch a", "terminal 0 a " + name}}) {
      const std::string said = refusal([&, given = lines] { graph_of(given); });
      EXPECT_NE(said.find(words), std::string::npos) << said;
    }
  }
  EXPECT_EQ(
      graph_of({"switch α", "switch b", "terminal 0 α", "terminal 1 b", "link α b  # comments: \x1b \xff"})->label(0),
      "α");
}

TEST(GraphFile, TheDefaultIsASmallExample) {
  const Distances d = distances(topology("graph_file")->graph());
  EXPECT_TRUE(d.connected);
  EXPECT_EQ(d.diameter, 2U);
}

}  // namespace
}  // namespace banyan::test::graph_file_test
