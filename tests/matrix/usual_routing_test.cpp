// Does an experiment that names no routing run, free of deadlock, on every topology?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::usual_routing_test {
namespace {

api::Experiment experiment(const std::string& topology, const std::string& network) {
  return api::read_experiments_text(
             fmt::format("topology = '{}'\nswitch = '{}'\ntraffic = {{ name = 'uniform', load = 0.1, size = 1 }}\n",
                         topology, network),
             "usual.toml", {})
      .points.front();
}

TEST(UsualRouting, IsFreeOfDeadlockOnTheVirtualChannelsOfARouter) {
  for (const core::TopologyRow* row : core::topology_rows()) {
    const std::string& topology = row->info.name;
    EXPECT_NE(row->routing.name, nullptr) << "the row of " << topology << " names no usual routing as its last entry";
    if (row->routing.name == nullptr) continue;
    const api::Experiment e = experiment(topology, "vc_router");
    EXPECT_TRUE(e.usual_routing);
    EXPECT_EQ(e.routing.component(), row->routing.name);
    const std::vector<std::string> notes = api::check(e);
    ASSERT_FALSE(notes.empty()) << topology;
    EXPECT_TRUE(notes.front().starts_with(fmt::format("no routing is named: {}", row->routing.name))) << notes.front();
    const auto deadlocks = api::check_deadlock({e});
    ASSERT_FALSE(deadlocks.empty()) << topology;
    for (const api::DeadlockNote& note : deadlocks) {
      EXPECT_TRUE(note.text.starts_with("deadlock: acyclic")) << topology << ": " << note.text;
    }
  }
}

/// What a switch model with one virtual channel cannot carry on a torus, a dragonfly or a slim fly is said in words
/// of channels; nothing else of a usual routing is refused.
TEST(UsualRouting, IsTakenByEverySwitchModelThatHasItsVirtualChannels) {
  unsigned taken = 0;
  for (const core::TopologyRow* row : core::topology_rows()) {
    for (const core::SwitchRow* network : core::switching_rows()) {
      if (row->routing.name == nullptr) break;
      if (network->without_contention) continue;  // for jobs
      try {
        static_cast<void>(api::check(experiment(row->info.name, network->info.name)));
        ++taken;
      } catch (const ConfigError& error) {
        EXPECT_NE(error.cause().find("needs 2 virtual channels"), std::string::npos)
            << row->info.name << " with " << network->info.name << ": " << error.what();
      }
    }
  }
  EXPECT_GT(taken, 60U);
}

}  // namespace
}  // namespace banyan::usual_routing_test
