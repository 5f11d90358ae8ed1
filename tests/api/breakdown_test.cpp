// Does the latency's breakdown sum exactly, and what do single packets spend where?
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"

namespace banyan::breakdown_test {
namespace {

namespace api = banyan::api;

std::string mesh(double load, int flits, int cycles = 4000) {
  return "topology = { name = \"mesh\", size = [4, 4] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
         "traffic = { name = \"uniform\", load = " +
         std::to_string(load) + ", size = " + std::to_string(flits) +
         " }\nrun = { warmup = 500, measure = " + std::to_string(cycles) + " }\n";
}

api::Result run(const std::string& text) {
  return api::run(api::read_experiments_text(text, "test.toml", {}).points.front());
}

const std::vector<banyan::stats::SumCount>& sums(const api::Result& result, const std::string& metric) {
  const auto found = std::find_if(result.groups.begin(), result.groups.end(),
                                  [&](const api::Groups& groups) { return groups.metric == metric; });
  EXPECT_NE(found, result.groups.end()) << metric;
  return found->sums;
}

void expect_exact_sum(const api::Result& result) {
  const auto& latency = sums(result, "packet_latency");
  const auto& queueing = sums(result, "source_queueing");
  const auto& head = sums(result, "head_latency");
  const auto& serialization = sums(result, "serialization_latency");
  const auto& network = sums(result, "network_latency");
  ASSERT_GT(latency.size(), 1U);
  for (std::size_t i = 0; i < latency.size(); ++i) {
    EXPECT_EQ(queueing[i].sum + head[i].sum + serialization[i].sum, latency[i].sum);
    EXPECT_EQ(head[i].sum + serialization[i].sum, network[i].sum);
    EXPECT_EQ(latency[i].count, head[i].count);
  }
}

TEST(Breakdown, SumsToTheLatencyInEveryWindow) {
  for (const double load : {0.05, 0.3}) expect_exact_sum(run(mesh(load, 5)));
}

TEST(Breakdown, SumsToTheLatencyInEverySession) {
  expect_exact_sum(
      run("topology = { name = \"mesh\", size = [4, 4] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
          "run = { sessions = 3 }\n[[traffic]]\nname = \"synchronization\"\nmean = 200\n"
          "[[traffic]]\nname = \"uniform\"\nload = 0.2\nsize = 4\n"));
}

TEST(Breakdown, AnUndisturbedPacketNeedsItsLengthLessOneToFollowItsHead) {
  const api::Result result = run(mesh(0.005, 7, 40'000));
  // Few packets meet others on the way.
  EXPECT_NEAR(result.at("serialization_latency").mean, 6.0, 0.1);
  EXPECT_GE(result.at("serialization_latency").mean, 6.0);
  EXPECT_EQ(run(mesh(0.1, 1)).at("serialization_latency").mean, 0.0);
}

TEST(Breakdown, UniformLoadIsServedEvenlyUntilSaturation) {
  const api::Result light = run(mesh(0.2, 1));
  EXPECT_GT(light.at("accepted_load_fairness").mean, 0.98);
  EXPECT_NEAR(light.at("accepted_load_min").mean, 0.2, 0.04);
  EXPECT_EQ(light.at("accepted_load_min").count, 16U);
}

}  // namespace
}  // namespace banyan::breakdown_test
