// A resolved configuration writes its defaults out; does it mean the same when it is read again?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/catalog.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"

namespace banyan::stored_configuration_test {
namespace {

namespace api = banyan::api;

void expect_same_when_read_again(const std::string& text, const std::string& name) {
  const api::Experiment first = api::read_experiments_text(text, name, {}).points.front();
  const api::Experiment again = api::experiment_from(first.configuration, api::catalog());
  EXPECT_EQ(again.configuration, first.configuration);
  EXPECT_EQ(api::run(again).state_hash, api::run(first).state_hash);
}

std::string refusal(const std::string& text) {
  try {
    static_cast<void>(api::run(api::read_experiments_text(text, "x.toml", {}).points.front()));
  } catch (const ConfigError& error) { return error.what(); }
  return "it was taken";
}

const std::string kTail = "traffic = { name = \"uniform\", load = 0.1 }\nrun = { warmup = 100, measure = 500 }\n";

TEST(StoredConfiguration, BoxesOnANetworkWithCycles) {
  expect_same_when_read_again(
      "topology = { name = \"torus\", size = [4, 4] }\nswitch = \"output_queued\"\n"
      "routing = { name = \"dimension_order\", datelines = false }\n" +
          kTail,
      "boxes.toml");
}

TEST(StoredConfiguration, AGraphFromAFile) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "banyan_stored_graph";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "net.graph") << "switch a\nswitch b\nterminal 0 a\nterminal 1 b\nlink a b\n";
  expect_same_when_read_again("topology = { name = \"graph_file\", file = \"" + (folder / "net.graph").string() +
                                  "\" }\nswitch = \"vc_router\"\nrouting = \"up_down\"\n" + kTail,
                              "graph.toml");
  const std::string graph = "topology = { name = \"graph_file\", file = \"" + (folder / "net.graph").string() + "\"";
  const std::string rest = " }\nswitch = \"vc_router\"\nrouting = \"up_down\"\n" + kTail;
  const auto lines_of = [](const std::string& text) {
    const api::Experiment made = api::read_experiments_text(text, "graph.toml", {}).points.front();
    static_cast<void>(api::run(made));  // not refused
    return nlohmann::json::parse(made.configuration)["topology"]["lines"].size();
  };
  EXPECT_EQ(lines_of(graph + rest), 0U) << "nobody gave lines";
  // As it was recorded once.
  EXPECT_EQ(lines_of(graph +
                     ", lines = [\"switch a\", \"switch b\", \"switch c\", \"switch d\", \"terminal 0 a\", "
                     "\"terminal 1 b\", \"terminal 2 c\", \"terminal 3 d\", \"link a b\", \"link b c\", \"link c d\", "
                     "\"link d a\", \"link a c\"]" +
                     rest),
            13U);
  std::filesystem::remove_all(folder);
}

TEST(StoredConfiguration, AGraphThatNobodyGave) {
  expect_same_when_read_again("topology = \"graph_file\"\nswitch = \"vc_router\"\nrouting = \"up_down\"\n" + kTail,
                              "graph.toml");
}

/// An empty list stands for the example where a run keeps it, and for a slip where somebody writes it.
TEST(StoredConfiguration, OfTheGraphThatIsTheExample) {
  expect_same_when_read_again("topology = \"graph_file\"\nswitch = \"vc_router\"\n" + kTail, "example.toml");
  const std::string text =
      refusal("topology = { name = \"graph_file\", lines = [] }\nswitch = \"vc_router\"\n" + kTail);
  EXPECT_NE(text.find("x.toml:1:43: topology.lines: the graph has no lines"), std::string::npos) << text;
  EXPECT_NE(text.find("leave out lines"), std::string::npos) << text;
}

}  // namespace
}  // namespace banyan::stored_configuration_test
