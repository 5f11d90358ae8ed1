// Is the rate of a flow what was asked for, exactly in the long run, and shared by what shares the flow?
#include <gtest/gtest.h>

#include <cmath>

#include "admission/admissions.hpp"

namespace banyan::rate_test {
namespace {

using namespace banyan;

std::string rate(double value, const char* flow) {
  return "{ name = 'rate', rate = " + std::to_string(value) + ", flow = '" + flow + "' }";
}

TEST(Rate, IsWhatAFlowSendsWhenItCould) {
  for (const double value : {0.5, 0.3, 0.0625, 0.017}) {
    for (const u32 flits : {1U, 7U}) {
      const std::string network =
          "topology = { name = 'mesh', size = [2] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 16 }\n"
          "routing = 'dimension_order'\ntraffic = { name = 'permutation', pattern = 'bit_complement', load = 0.8, size "
          "= " +
          std::to_string(flits) + " }\n";
      const double accepted =
          test::run(network, rate(value, "terminal"), "warmup = 1000, measure = 200000").at("accepted_load").mean;
      EXPECT_NEAR(accepted, value, 0.001 + 2e-3 * value) << value << " " << flits;
    }
  }
}

/// Of every model: a terminal offers more than the rate of all its messages together, and sends just that.
TEST(Rate, HoldsATerminalOnEverySwitchModel) {
  for (const test::Network& network : test::networks()) {
    // A multidestination packet leaves its source once, and is accepted as often as it has destinations.
    if (std::string(network.model).ends_with("multicasts")) continue;
    const double open = test::run(network.text, "", "warmup = 1000, measure = 30000").at("accepted_load").mean;
    const double half =
        test::run(network.text, rate(0.5 * open, "terminal"), "warmup = 1000, measure = 30000, audit = 'full'")
            .at("accepted_load")
            .mean;
    // Models with several source queues keep one flow for all of them.
    EXPECT_NEAR(half, 0.5 * open, 0.06 * open) << network.model;
  }
}

TEST(Rate, OfAFlowPerDestinationLeavesTheOthersAlone) {
  const std::string network =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.3, size = 2 }\n";
  // Fifteen flows of 0.02 each on average; at most 0.03 each costs little, at most 0.01 each halves the throughput.
  const double loose =
      test::run(network, rate(0.04, "destination"), "warmup = 1000, measure = 60000").at("accepted_load").mean;
  const double tight =
      test::run(network, rate(0.01, "destination"), "warmup = 1000, measure = 60000").at("accepted_load").mean;
  EXPECT_NEAR(loose, 0.3, 0.01);
  EXPECT_NEAR(tight, 0.15, 0.005);
}

TEST(Rate, MayBeATerminalsOwn) {
  // Terminals 0 and 1 send to each other; only terminal 1 has a rate of its own.
  const std::string network =
      "topology = { name = 'mesh', size = [2] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 16 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'permutation', pattern = 'bit_complement', load = 0.8 }\n";
  const std::string steady = "warmup = 1000, measure = 100000";
  const auto accepted = [&](const std::string& own) {
    return test::run(network, "{ name = 'rate', rate = 0.5, flow = 'terminal', own = " + own + " }", steady)
        .at("accepted_load")
        .mean;
  };
  EXPECT_NEAR(accepted("[]"), 0.5, 0.002);
  EXPECT_NEAR(accepted("['1 0.1']"), 0.3, 0.002);
  for (const char* wrong : {"['1']", "['2 0.5']", "['1 0']", "['1 1.5']", "['1 0.5 3']", "['1 0.5', '1 0.5']"}) {
    EXPECT_THROW(static_cast<void>(accepted(wrong)), ConfigError) << wrong;
  }
}

}  // namespace
}  // namespace banyan::rate_test
