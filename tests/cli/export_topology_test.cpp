// Does banyan export-topology print the network of every topology, in all formats?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "banyan/api/network.hpp"
#include "banyan/api/topology_export.hpp"
#include "banyan/report/drawing.hpp"
#include "cli/program.hpp"
#include "engine/small_instances.hpp"

namespace banyan::cli::export_topology_test {
namespace {

using nlohmann::json;

constexpr const char* kMesh = R"(
topology = { name = "mesh", size = [3, 2], latency = [1, 2], failed_links = ["0 0"] }
switch = { name = "vc_router", vcs = 1 }
routing = "up_down"
traffic = [{ name = "uniform", load = 0.1 }]
)";

TEST(ExportTopology, JsonNamesEverySwitchTerminalAndChannel) {
  fresh_scratch();
  write_text("mesh.toml", kMesh);
  const Said said = banyan({"export-topology", "mesh.toml"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json network = json::parse(said.out);
  EXPECT_EQ(network["topology"]["name"], "mesh");
  ASSERT_EQ(network["switches"].size(), 6U);
  EXPECT_EQ(network["switches"][4]["label"], "(1,1)");
  EXPECT_EQ(network["switches"][4]["coordinates"], (std::vector<int>{1, 1}));
  ASSERT_EQ(network["terminals"].size(), 6U);
  EXPECT_EQ(network["terminals"][4]["enters_at"], 4);
  ASSERT_EQ(network["channels"].size(), 14U + 12U);
  unsigned failed = 0;
  for (const json& channel : network["channels"]) {
    failed += channel["failed"].get<bool>() ? 1U : 0U;
    if (channel["from"].contains("switch") && channel["to"].contains("switch")) {
      EXPECT_EQ(channel["latency"], channel["from"]["label"].get<std::string>()[0] == 'x' ? 1 : 2);
    }
  }
  EXPECT_EQ(failed, 2U);
}

TEST(ExportTopology, DotHasOneEdgePerLink) {
  fresh_scratch();
  write_text("mesh.toml", kMesh);
  const Said said = banyan({"export-topology", "mesh.toml", "--dot"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(said.out.starts_with("digraph \"mesh\" {")) << said.out;
  EXPECT_TRUE(contains(said.out, "s0 -> s1 [dir=both, taillabel=\"x+\", headlabel=\"x-\", style=dashed, color=red];"))
      << said.out;
  EXPECT_EQ(std::count(said.out.begin(), said.out.end(), '>'), 7 + 6);
}

TEST(ExportTopology, SvgHasASwitchATerminalAndALineForEach) {
  fresh_scratch();
  write_text("mesh.toml", kMesh);
  const Said said = banyan({"export-topology", "mesh.toml", "--svg"});
  ASSERT_EQ(said.status, 0) << said.err;
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = said.out.find(word); at != std::string::npos; at = said.out.find(word, at + 1)) ++found;
    return found;
  };
  EXPECT_TRUE(said.out.starts_with("<svg xmlns=")) << said.out;
  EXPECT_EQ(count("<rect "), 1U + 6U) << said.out;  // the ground, and the switches
  EXPECT_EQ(count("<circle "), 6U);
  EXPECT_EQ(count("<title>(1,1)</title>"), 1U);
  EXPECT_EQ(count("stroke-dasharray"), 1U);
  EXPECT_EQ(count("L"), 14U + 12U);
  // A grid of three columns and two rows: switches a unit apart.
  for (const char* x : {"0.927", "1.927", "2.927"})
    EXPECT_EQ(count(std::string("<rect x=\"") + x + "\""), 2U) << said.out;
  EXPECT_EQ(banyan({"export-topology", "mesh.toml", "--svg", "--dot"}).status, 2);
}

TEST(ExportTopology, EveryTopologyIsPrintedInAllFormats) {
  for (const core::TopologyRow* row : core::topology_rows()) {
    for (const test::Combination& c : test::all_combinations()) {
      if (c.topology != row) continue;
      const api::Experiment experiment = c.experiment("");
      const json network = json::parse(api::topology_json(experiment));
      EXPECT_GE(network["switches"].size(), 1U) << row->info.name;
      EXPECT_GE(network["terminals"].size(), 2U) << row->info.name;
      const std::string dot = api::topology_dot(experiment);
      EXPECT_TRUE(dot.ends_with("}\n")) << row->info.name;
      const std::string svg = report::network_svg(row->info.name, *api::build_topology(experiment));
      EXPECT_TRUE(svg.ends_with("</svg>\n")) << row->info.name;
      EXPECT_FALSE(contains(svg, "nan") || contains(svg, "inf\"")) << row->info.name;
      for (std::size_t s = 0; s < network["switches"].size(); ++s) {
        EXPECT_TRUE(contains(dot, "  s" + std::to_string(s) + " [shape=box")) << row->info.name;
      }
      break;
    }
  }
}

}  // namespace
}  // namespace banyan::cli::export_topology_test
