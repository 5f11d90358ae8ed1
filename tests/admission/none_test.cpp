// Do flows whose gates are open leave everything as it is without an admission, on every switch model?
#include <gtest/gtest.h>

#include "admission/admissions.hpp"

namespace banyan::none_test {
namespace {

using namespace banyan;

void expect_same(const api::Result& a, const api::Result& b, const std::string& what) {
  EXPECT_EQ(a.verdict, b.verdict) << what;
  for (const stats::Metric& metric : a.metrics) {
    const stats::Metric* other = b.find(metric.name);
    ASSERT_NE(other, nullptr) << what << ": " << metric.name;
    EXPECT_EQ(metric.mean, other->mean) << what << ": " << metric.name;
    EXPECT_EQ(metric.half_width, other->half_width) << what << ": " << metric.name;
    EXPECT_EQ(metric.count, other->count) << what << ": " << metric.name;
  }
}

/// The oldest message goes first among open flows, as it does without flows. (The adapters of cioq draw the destination
/// that is next, where nothing holds packets back.)
TEST(None, IsWhatAnOpenGateIs) {
  for (const test::Network& network : test::networks()) {
    if (network.model == std::string("cioq")) continue;
    const api::Result plain = test::run(network.text, "");
    for (const char* flow : {"destination", "class", "terminal"}) {
      const std::string open =
          std::string("{ name = 'window', size = 1000000000, feedback = 'words', flow = '") + flow + "' }";
      expect_same(plain, test::run(network.text, open), std::string(network.model) + " " + flow);
    }
  }
}

TEST(None, IsTheDefault) {
  const std::string& network = test::networks().front().text;
  const api::Experiment by_default = test::experiment(network, "");
  const api::Experiment named = test::experiment(network, "'none'");
  EXPECT_EQ(by_default.configuration, named.configuration);
  EXPECT_EQ(by_default.configuration.find("admission"), std::string::npos);
  EXPECT_NE(test::experiment(network, "'rate'").configuration_hash, named.configuration_hash);
  EXPECT_EQ(api::run(by_default, {}).state_hash, api::run(named, {}).state_hash);
}

/// Beyond saturation messages wait in flows and behind them; what a traffic answers goes through flows too.
TEST(None, IsWhatAnOpenGateIsBeyondSaturationAndWithAnswers) {
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
      "routing = 'dimension_order'\n";
  for (const std::string& network : {
           mesh + "traffic = { name = 'uniform', load = 0.9, size = 4 }\n",
           mesh + "traffic = [ { name = 'uniform', load = 0.1 }, { name = 'permutation', load = 0.2, size = 5 } ]\n",
           mesh + "traffic = 'collective'\n",
       }) {
    const bool session = network.find("collective") != std::string::npos;
    const std::string how = session ? "audit = 'full'" : "warmup = 500, measure = 6000, audit = 'full'";
    expect_same(test::run(network, "", how),
                test::run(network, "{ name = 'window', size = 1000000000, feedback = 'words' }", how), network);
  }
}

/// In cioq messages wait in flows instead of admittance queues, whose limits hold there too.
TEST(None, IsNearlyWhatAnOpenGateIsInCioq) {
  const std::string tree =
      "topology = { name = 'bidirectional_min', hosts = 64 }\nswitch = 'cioq'\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n";
  const std::string open = "{ name = 'window', size = 1000000000, feedback = 'words' }";
  for (const double load : {0.3, 0.6}) {
    const std::string uniform =
        tree + "traffic = { name = 'uniform', size = 64, load = " + std::to_string(load) + " }\n";
    const api::Result plain = test::run(uniform, "");
    const api::Result held = test::run(uniform, open);
    EXPECT_EQ(plain.at("offered_load").mean, held.at("offered_load").mean);
    for (const char* metric : {"accepted_load", "packet_latency"}) {
      const stats::Metric& a = plain.at(metric);
      const stats::Metric& b = held.at(metric);
      EXPECT_NEAR(a.mean, b.mean, a.half_width.value_or(0.0) + b.half_width.value_or(0.0)) << metric << " at " << load;
    }
  }
  const std::string storage = tree + "traffic = { name = 'storage', disks = 16, rate = 400000.0, length = '200 us' }\n";
  const double skipped = test::run(storage, "").at("skipped_messages").mean;
  EXPECT_NEAR(test::run(storage, open).at("skipped_messages").mean, skipped, 0.05 * skipped + 5);
}

}  // namespace
}  // namespace banyan::none_test
