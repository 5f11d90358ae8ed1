// Is a fifth of what bimodal traffic delivers due to multicasts, on a switch that replicates and in software?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"

namespace banyan::bimodal_test {
namespace {

using namespace banyan;

api::Result run(const std::string& how) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
      "routing = 'nearest_common_ancestor'\ntraffic = { name = 'bimodal', load = 0.4, implementation = '" +
      how + "' }\nrun = { warmup = 4000, measure = 60000, audit = 'full' }\n";
  return api::run(api::read_experiments_text(text, "bimodal", {}).points.front(), {});
}

TEST(Bimodal, AFifthOfTheReceivedLoadIsMulticasts) {
  for (const char* how : {"hardware", "software"}) {
    const api::Result result = run(how);
    const double multicasts = static_cast<double>(result.at("multicast_latency_last").count);
    const double unicasts = static_cast<double>(result.at("unicast_latency").count);
    EXPECT_NEAR(4 * multicasts / (4 * multicasts + unicasts), 0.2, 0.02) << how;
    EXPECT_NEAR(result.at("received_load").mean, 0.4, 0.01) << how;
    EXPECT_NEAR(result.at("message_latency_last").mean * (multicasts + unicasts),
                result.at("multicast_latency_last").mean * multicasts + result.at("unicast_latency").mean * unicasts,
                1e-3 * unicasts * result.at("unicast_latency").mean);
  }
}

/// Worms take ways of their own where messages with one destination keep to one: they may pass each other, and the
/// order that the routing promises is that of the messages.
TEST(Bimodal, WormsMayPassMessagesOfTheirPair) {
  for (const char* network :
       {"topology = { name = 'fat_tree', arity = 4, levels = 2 }\nrouting = { name = 'nearest_common_ancestor', up = "
        "'d_mod_k' }\n",
        "topology = { name = 'extra_stage_cube', terminals = 16, radix = 2 }\nrouting = 'destination_tag'\n"}) {
    for (const char* model : {"central_buffer", "input_buffer"}) {
      const std::string text = network + std::string("switch = '") + model +
                               "'\ntraffic = { name = 'bimodal', load = 0.6 }\n"
                               "run = { warmup = 200, measure = 20000, audit = 'full' }\n";
      const api::Result result = api::run(api::read_experiments_text(text, "bimodal", {}).points.front(), {});
      EXPECT_GT(result.at("delivered_packets").mean, 1000.0) << text;
    }
  }
}

}  // namespace
}  // namespace banyan::bimodal_test
