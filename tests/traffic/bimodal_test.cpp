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

}  // namespace
}  // namespace banyan::bimodal_test
