// Do runs with routing functions that look at queues, or that leave a choice to the switch, depend on nothing but their
// input: not on the order of steps, shards, wake-ups or the router's kernel?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"

namespace banyan::test::determinism_test {
namespace {

std::string state_of(const std::string& network, const std::string& run, const std::string& kernel) {
  const std::string text = fmt::format(
      "{}\nswitch = {{ name = 'vc_router', vcs = 6, buffer = 4, kernel = '{}' }}\n"
      "traffic = [{{ name = 'uniform', load = 0.4, size = 3 }}]\nrun = {{ warmup = 200, measure = 1500{} }}\n",
      network, kernel, run);
  const api::Result result = api::run(api::read_experiments_text(text, "routing", {}).points.front());
  return fmt::format("{:016x}", result.state_hash);
}

TEST(RoutingDeterminism, ResultsDoNotDependOnHowTheNetworkIsStepped) {
  for (const char* network :
       {"topology = { name = 'hyperx', size = [4, 4], concentration = 2 }\nrouting = 'ugal'",
        "topology = { name = 'hyperx', size = [4, 4], concentration = 2 }\n"
        "routing = { name = 'ugal', information = 'global' }",
        "topology = 'dragonfly'\nrouting = { name = 'dragonfly_routing', policy = 'par' }",
        "topology = 'dragonfly'\nrouting = { name = 'dragonfly_routing', policy = 'ugal_g' }",
        "topology = { name = 'torus', size = [5, 4] }\nrouting = 'minimal_adaptive'",
        "topology = { name = 'mesh', size = [5, 4] }\nrouting = { name = 'turn_model', rule = 'odd_even' }",
        "topology = 'fat_tree'\nrouting = { name = 'nearest_common_ancestor', up = 'random' }",
        "topology = { name = 'mesh', size = [5, 4], random_failed_links = 3, failure_seed = 2 }\nrouting = "
        "'up_down'"}) {
    SCOPED_TRACE(network);
    const std::string state = state_of(network, "", "auto");
    EXPECT_EQ(state_of(network, ", step_order = 'permuted'", "auto"), state);
    EXPECT_EQ(state_of(network, ", wake = 'all'", "auto"), state);
    EXPECT_EQ(state_of(network, ", shards = 3", "auto"), state);
    EXPECT_EQ(state_of(network, ", step_order = 'permuted', wake = 'all'", "general"),
              state_of(network, "", "general"));
  }
}

}  // namespace
}  // namespace banyan::test::determinism_test
