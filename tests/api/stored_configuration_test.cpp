// A resolved configuration writes its defaults out; does it mean the same when it is read again?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "banyan/api/catalog.hpp"
#include "banyan/api/reader.hpp"

namespace banyan::stored_configuration_test {
namespace {

namespace api = banyan::api;

void expect_same_when_read_again(const std::string& text, const std::string& name) {
  const api::Experiment first = api::read_experiments_text(text, name, {}).points.front();
  const api::Experiment again = api::experiment_from(first.configuration, api::catalog());
  EXPECT_EQ(again.configuration, first.configuration);
  EXPECT_EQ(api::run(again).state_hash, api::run(first).state_hash);
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
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace banyan::stored_configuration_test
