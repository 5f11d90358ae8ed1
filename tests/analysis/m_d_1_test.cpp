// Is the wait at a terminal that of M/D/1 where nothing behind it is a bottleneck?
#include "analysis/beside.hpp"

namespace banyan::test::m_d_1_test {
namespace {

const char* const kExperiment = R"(
topology = { name = "mesh", size = [2] }
switch = { name = "vc_router", vcs = 4, buffer = 512 }
routing = "dimension_order"
analysis = "m_d_1"
traffic = { name = "uniform", process = "poisson", load = 0.5, size = 8 }
run = { warmup = 5000, measure = 300000 }
)";

TEST(MD1, the_simulation_waits_as_long_as_the_formula_says) {
  for (const char* change : {"traffic.size=8", "traffic.size=1", "load=0.7", "load=0.2"}) {
    const api::Result result = run_toml(kExperiment, {change});
    const stats::Metric& wait = result.at("source_queueing");
    ASSERT_TRUE(wait.half_width);
    EXPECT_NEAR(wait.mean, result.at("source_queueing@m_d_1").mean, 2 * *wait.half_width) << change;
    EXPECT_LT(*wait.half_width, 0.1 * wait.mean) << change;
  }
}

TEST(MD1, long_packets_wait_as_in_continuous_time) {
  // rho S / (2 (1 - rho)) = 0.5 * 1000 / (2 * 0.5), and half a packet of the same cycle.
  const api::Result result = run_toml(kExperiment, {"traffic.size=1000", "measure=1000"});
  EXPECT_NEAR(result.at("source_queueing@m_d_1").mean, 500.0, 1.0);
}

TEST(MD1, a_full_server_has_no_mean_wait) {
  const api::Result result = run_toml(kExperiment, {"load=1.0", "measure=5000"});
  EXPECT_EQ(result.find("source_queueing@m_d_1"), nullptr);
  EXPECT_NE(result.explanation.find("m_d_1: no steady state"), std::string::npos) << result.explanation;
}

TEST(MD1, other_queues_are_refused) {
  EXPECT_NE(refused(kExperiment, {"process=bernoulli"}).find("Poisson"), std::string::npos);
  EXPECT_NE(refused(kExperiment, {"size_distribution=geometric"}).find("one length"), std::string::npos);
  EXPECT_NE(refused(kExperiment, {"max_packet=4"}).find("whole messages"), std::string::npos);
  EXPECT_NE(refused(kExperiment, {"replies=true"}), "");
  EXPECT_NE(refused(kExperiment, {"admission=rate"}).find("holds it back"), std::string::npos);
}

/// Adapters take messages before, and channels of some models cost nothing.
TEST(MD1, switches_without_that_server_are_refused) {
  for (const char* other : {"ideal", "cioq", "circuit", "packet_node"}) {
    EXPECT_NE(refused(kExperiment, {std::string("switch=") + other}).find("which is none of"), std::string::npos)
        << other << ": " << refused(kExperiment, {std::string("switch=") + other});
  }
  for (const char* same : {"input_buffer", "central_buffer"})
    EXPECT_EQ(refused(kExperiment, {std::string("switch=") + same}), "") << same;
}

}  // namespace
}  // namespace banyan::test::m_d_1_test
