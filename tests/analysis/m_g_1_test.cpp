// Is the wait at a terminal that of M/G/1 where nothing behind it is a bottleneck?
#include "analysis/beside.hpp"

namespace banyan::test::m_g_1_test {
namespace {

const char* const kExperiment = R"(
topology = { name = "mesh", size = [2] }
switch = { name = "vc_router", vcs = 4, buffer = 512 }
routing = "dimension_order"
analysis = "m_g_1"
traffic = { name = "uniform", process = "poisson", load = 0.5 }
run = { warmup = 5000, measure = 600000 }
)";

TEST(MG1, the_simulation_waits_as_long_as_the_formula_says) {
  const api::Overrides geometric{"size_distribution=geometric", "traffic.size=8"};
  const api::Overrides exponential{"size_distribution=exponential", "traffic.size=3"};
  const api::Overrides list{"size_distribution=list", "sizes=[1, 9]", "size_weights=[3, 1]"};
  const api::Overrides limited{"size_distribution=geometric", "traffic.size=8", "size_limit=10"};
  for (const api::Overrides& lengths : {geometric, exponential, list, limited}) {
    const api::Result result = run_toml(kExperiment, lengths);
    const stats::Metric& wait = result.at("source_queueing");
    ASSERT_TRUE(wait.half_width);
    EXPECT_NEAR(wait.mean, result.at("source_queueing@m_g_1").mean, 2 * *wait.half_width) << lengths.front();
    EXPECT_LT(*wait.half_width, 0.1 * wait.mean) << lengths.front();
  }
}

TEST(MG1, packets_of_one_length_are_m_d_1) {
  const api::Result one = run_toml(kExperiment, {"traffic.size=8", "measure=1000"});
  const api::Result other = run_toml(kExperiment, {"traffic.size=8", "measure=1000", "analysis=m_d_1"});
  EXPECT_EQ(one.at("source_queueing@m_g_1").mean, other.at("source_queueing@m_d_1").mean);
}

TEST(MG1, other_queues_are_refused) {
  EXPECT_NE(refused(kExperiment, {"process=bernoulli"}).find("Poisson"), std::string::npos);
  EXPECT_NE(refused(kExperiment, {"max_packet=4"}).find("whole messages"), std::string::npos);
}

}  // namespace
}  // namespace banyan::test::m_g_1_test
