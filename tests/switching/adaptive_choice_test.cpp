// Do routers whose routing leaves them a choice carry what routers carry that choose at random? With many ports, too.
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::switching::adaptive_choice_test {
namespace {

double accepted(const std::string& network, const std::string& routing, const std::string& load) {
  const std::string text = network + "routing = " + routing + "\ntraffic = { name = 'uniform', load = " + load +
                           " }\nrun = { warmup = 200, measure = 200, drain = 0 }\n";
  return api::run(api::read_experiments_text(text, "choice", {}).points.front(), {}).at("accepted_load").mean;
}

/// All heads of a router that look for the port with most credits in one cycle find the same port, in which there is
/// room for as many as it has virtual channels.
TEST(AdaptiveChoice, CarriesAsMuchAsRandomOnes) {
  for (const std::string tree : {"arity = 16, levels = 2", "arity = 8, levels = 3"}) {
    const std::string network =
        "topology = { name = 'fat_tree', " + tree + " }\nswitch = { name = 'vc_router', vcs = 4, buffer = 8 }\n";
    for (const std::string load : {"0.3", "0.6"}) {
      const double random = accepted(network, "{ name = 'nearest_common_ancestor', up = 'random' }", load);
      EXPECT_GT(random, load == "0.3" ? 0.25 : 0.45) << tree;
      EXPECT_GT(accepted(network, "{ name = 'nearest_common_ancestor', up = 'adaptive' }", load), 0.98 * random)
          << tree << " at " << load;
      EXPECT_GT(accepted(network, "'up_down'", load), 0.98 * random) << tree << " at " << load;
    }
  }
}

/// The kernels choose alike: what one finds holds for the other.
TEST(AdaptiveChoice, IsThatOfBothKernels) {
  const auto run = [](const std::string& kernel) {
    const std::string text =
        "topology = { name = 'fat_tree', arity = 16, levels = 2 }\nrouting = 'nearest_common_ancestor'\n"
        "switch = { name = 'vc_router', vcs = 4, buffer = 8, kernel = '" +
        kernel + "' }\ntraffic = { name = 'uniform', load = 0.6, size = 3 }\nrun = { duration = 200 }\n";
    return api::run(api::read_experiments_text(text, "choice", {}).points.front(), {});
  };
  const api::Result fast = run("auto");
  const api::Result general = run("general");
  for (const char* const metric : {"accepted_load", "packet_latency", "packet_latency_max", "delivered_flits"})
    EXPECT_EQ(fast.at(metric).mean, general.at(metric).mean) << metric;
  EXPECT_GT(fast.at("accepted_load").mean, 0.4);
}

/// The same of models that take the first free port.
TEST(AdaptiveChoice, OfOtherModelsToo) {
  for (const std::string model : {"central_buffer", "input_buffer"}) {
    const std::string network = "topology = { name = 'fat_tree', arity = 16, levels = 2 }\nswitch = '" + model + "'\n";
    const auto carried = [&](const std::string& up) {
      const std::string text = network + "routing = { name = 'nearest_common_ancestor', up = '" + up +
                               "' }\ntraffic = { name = 'uniform', load = 0.5, size = 16 }\n" +
                               "run = { warmup = 2000, measure = 2000, drain = 0 }\n";
      return api::run(api::read_experiments_text(text, "choice", {}).points.front(), {}).at("accepted_load").mean;
    };
    EXPECT_GT(carried("adaptive"), 0.98 * carried("random")) << model;
  }
}

}  // namespace
}  // namespace banyan::switching::adaptive_choice_test
