// Is what a switch model cannot have refused before anything large is built, and in the same words by every model?
#include "banyan/api/network.hpp"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "api/runs.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::api::network_test {
namespace {

/// Cause and remedy, or "" when the network is built.
std::string refusal(const std::string& topology, const std::string& switching) {
  const std::string text = "topology = " + topology + "\nswitch = \"" + switching +
                           "\"\nrouting = \"shortest_path\"\ntraffic = { name = \"uniform\", load = 0.1 }\n";
  try {
    static_cast<void>(build_network(experiment_of(text)));
  } catch (const ConfigError& error) { return error.cause() + ": " + error.remedy(); }
  return "";
}

TEST(Network, SwitchesOfTooManyPortsAreRefusedByEveryModelThatHasAMost) {
  u32 models = 0;
  for (const core::SwitchRow* row : core::switching_rows()) {
    const std::string name = row->info.name;
    if (row->most_ports == kNone) continue;
    ++models;
    ASSERT_EQ(row->most_ports, 64U) << name;
    EXPECT_EQ(
        refusal("{ name = \"mesh\", size = [2], concentration = 70 }", name),
        "switches have 71 ports in the mean, and " + name + " takes at most 64: use switches of at most 64 ports");
    // Those of the upper level have 40, so that only the network shows it.
    EXPECT_EQ(refusal("{ name = \"fat_tree\", arity = 40, levels = 2 }", name),
              "a switch has 80 ports, and " + name + " takes at most 64: use switches of at most 64 ports");
    EXPECT_EQ(refusal("{ name = \"mesh\", size = [2], concentration = 63 }", name).find("64: use switches"),
              std::string::npos)
        << "what the message says, does: " << name;
  }
  EXPECT_GE(models, 6U);
}

/// A HyperX of 40,000 switches of 399 ports takes some six seconds to build.
TEST(Network, TooManyPortsAreRefusedBeforeTheNetworkIsBuilt) {
  const std::clock_t begin = std::clock();
  EXPECT_NE(refusal("{ name = \"hyperx\", size = [200, 200] }", "vc_router"), "");
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1.0);
}

}  // namespace
}  // namespace banyan::api::network_test
