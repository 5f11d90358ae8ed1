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

/// Where packets of a pair may pass each other no routing promises their order, which a full audit would hold it to.
TEST(RoutingOrder, IsNotPromisedWherePacketsOfAPairMayPass) {
  const std::string loaded =
      "traffic = [{ name = 'hot_spot', load = 1.0, size = 5, fraction = 0.3, targets = [0] }]\n"
      "switch = { name = 'vc_router', vcs = 2, buffer = 16, output_speedup = 2, output_buffer = 4 }\n";
  for (const std::string& network :
       {"topology = 'dragonfly'\nrouting = { name = 'dragonfly_routing', policy = 'minimal' }\n" + loaded,
        "topology = { name = 'torus', size = [2, 2], latency = [130], concentration = 2 }\n"
        "routing = { name = 'shortest_path', choice = 'fixed', hop_classes = true }\n" +
            loaded,
        std::string("topology = { name = 'multistage_cube', terminals = 8, radix = 2, wiring = 'omega' }\n"
                    "routing = 'destination_tag'\nswitch = { name = 'vc_router', vcs = 2, buffer = 64 }\n"
                    "traffic = [{ name = 'uniform', load = 0.9, size = 2, reply_size = [5], vc_range = [0, 0],"
                    " reply_vc_range = [1, 1] }]\n")}) {
    SCOPED_TRACE(network);
    for (int seed = 1; seed < 5; ++seed) {
      const std::string text = fmt::format("{}run = {{ duration = 3000, audit = 'full', seed = {} }}\n", network, seed);
      EXPECT_NO_THROW(static_cast<void>(api::run(api::read_experiments_text(text, "order", {}).points.front())));
    }
  }
}

}  // namespace
}  // namespace banyan::test::determinism_test
