// Are the equations those of the paper, read for a bidirectional torus, and do they lie beside the simulation?
#include <cmath>
#include <numeric>

#include "analysis/beside.hpp"
#include "banyan/analysis/parts/circuit_torus_model.hpp"
#include "banyan/analysis/parts/torus_shells.hpp"
#include "support/effort.hpp"

namespace banyan::test::circuit_torus_test {
namespace {

using analysis::parts::CircuitTorusInput;
using analysis::parts::CircuitTorusReading;
using analysis::parts::CircuitTorusSolution;
using analysis::parts::solve;
using analysis::parts::torus_shells;

TEST(CircuitTorus, shells_agree_with_counting_for_k_from_2_to_17) {
  for (u32 k = 2; k <= 17; ++k) {
    std::vector<u64> nodes(2 * (k / 2) + 1, 0);
    std::vector<u64> channels(nodes.size(), 0);
    const auto distance = [&](u32 a) { return std::min(a % k, k - a % k); };
    for (u32 x = 0; x < k; ++x) {
      for (u32 y = 0; y < k; ++y) {
        const u32 j = distance(x) + distance(y);
        ++nodes[j];
        if (distance(x + 1) + distance(y) + 1 == j) ++channels[j];
        if (k > 2 && distance(x + k - 1) + distance(y) + 1 == j) ++channels[j];
        if (distance(x) + distance(y + 1) + 1 == j) ++channels[j];
        if (k > 2 && distance(x) + distance(y + k - 1) + 1 == j) ++channels[j];
      }
    }
    const auto shells = torus_shells(k);
    EXPECT_EQ(shells.nodes, nodes) << k;
    EXPECT_EQ(shells.channels, channels) << k;
    EXPECT_EQ(shells.beyond[0], u64{k} * k);
    EXPECT_EQ(shells.beyond[1], u64{k} * k - 1);
  }
  EXPECT_EQ(torus_shells(8).nodes, (std::vector<u64>{1, 4, 8, 12, 14, 12, 8, 4, 1}));
  EXPECT_EQ(torus_shells(8).channels, (std::vector<u64>{0, 4, 12, 20, 28, 28, 20, 12, 4}));
}

TEST(CircuitTorus, equation_14_by_hand) {
  using analysis::parts::setup_time;
  EXPECT_DOUBLE_EQ(setup_time({0, 0, 0}), 3.0);
  // One hop, blocked half of the time at the source, where the way back takes no time: C = 1.
  EXPECT_DOUBLE_EQ(setup_time({0.5}), 1.0);
  // Two hops, the second blocked with p: C_0 = 1 + (1 - p) + p (C_0 + 1), so C_0 = 2 / (1 - p).
  EXPECT_DOUBLE_EQ(setup_time({0, 0.25}), 2 / 0.75);
  EXPECT_TRUE(std::isinf(setup_time({0, 1.0, 0})));
}

TEST(CircuitTorus, equations_24_to_29_by_hand) {
  using analysis::parts::busy_channels;
  // V = 1: q = 1, r / (1 - r); p = 1 - r, r.
  EXPECT_NEAR(busy_channels(0.3, 1)[1], 0.3, 1e-15);
  // V = 2, r = 1/2: q = 1, 1/2, 1/2.
  const std::vector<double> p = busy_channels(0.5, 2);
  EXPECT_NEAR(p[0], 0.5, 1e-15);
  EXPECT_NEAR(p[1], 0.25, 1e-15);
  EXPECT_NEAR(p[2], 0.25, 1e-15);
  for (const u32 vcs : {1U, 2U, 6U, 8U}) {
    const std::vector<double> all = busy_channels(0.8, vcs);
    EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 1.0, 1e-14);
  }
}

TEST(CircuitTorus, equation_18_counts_hops_that_are_left) {
  using analysis::parts::one_dimension_left;
  EXPECT_DOUBLE_EQ(one_dimension_left(1, 4, 2), 1.0);
  EXPECT_DOUBLE_EQ(one_dimension_left(2, 4, 2), 2.0 / 3);
  EXPECT_DOUBLE_EQ(one_dimension_left(3, 4, 2), 0.0);  // one hop done: no dimension can be
  EXPECT_DOUBLE_EQ(one_dimension_left(0, 4, 2), 0.0);
}

CircuitTorusInput input(double load, double alpha = 0.02, u32 vcs = 2, double flits = 32, u32 k = 8) {
  CircuitTorusInput in;
  in.k = k;
  in.vcs = vcs;
  in.flits = flits;
  in.alpha = alpha;
  in.rate = load / flits;
  return in;
}

TEST(CircuitTorus, without_load_it_is_m_plus_3_d) {
  for (const u32 k : {3U, 5U, 8U, 16U}) {
    const CircuitTorusSolution s = solve(input(1e-12, 0.0, 2, 32, k));
    const double d = k % 2 == 0 ? k / 2.0 * k * k / (k * k - 1.0) : (k * k - 1.0) / (2.0 * k) * k * k / (k * k - 1.0);
    EXPECT_NEAR(s.distance, d, 1e-12);
    EXPECT_NEAR(s.latency, 32 + 3 * d, 1e-6);
  }
}

/// Both sides of the equations at the solution.
TEST(CircuitTorus, the_solution_satisfies_the_equations) {
  const CircuitTorusInput in = input(0.3, 0.05, 3);
  const CircuitTorusSolution s = solve(in);
  ASSERT_FALSE(s.saturated);
  const auto shells = torus_shells(8);
  const double lambda = in.rate;
  EXPECT_NEAR(s.regular_rate, 0.95 * lambda * s.distance / 4, 1e-15);
  for (u32 j = 1; j <= 8; ++j) {
    EXPECT_NEAR(s.hot_rate[j] * static_cast<double>(shells.channels[j]),
                0.05 * lambda * static_cast<double>(shells.beyond[j]), 1e-14);
    EXPECT_NEAR(s.hot_latency[j], 32 + j + s.hot_setup[j], 1e-8);
    const double hot = s.hot_rate[j] / s.rate[j];
    EXPECT_NEAR(s.service[j], (1 - hot) * s.regular_network + hot * s.hot_latency[j], 1e-8);
    EXPECT_NEAR(s.all_busy[j], analysis::parts::busy_channels(s.rate[j] * s.service[j], 3)[3], 1e-8);
  }
  EXPECT_NEAR(s.regular_network, 32 + s.distance + s.regular_setup, 1e-8);
  EXPECT_NEAR(s.network, 0.95 * s.regular_network + 0.05 * s.hot_network, 1e-8);
  EXPECT_NEAR(s.latency, (s.network + s.waiting) * s.multiplexing, 1e-8);
  EXPECT_GT(s.waiting, 0.0);
}

TEST(CircuitTorus, the_fixed_point_does_not_depend_on_the_start) {
  for (const double load : {0.05, 0.2, 0.35, 0.385}) {
    const CircuitTorusSolution from_below = solve(input(load));
    for (const double start : {0.1, 0.5, 1.2, 1.5, 3.0, 10.0}) {
      CircuitTorusInput in = input(load);
      in.start = start;
      const CircuitTorusSolution other = solve(in);
      ASSERT_FALSE(other.saturated) << load << " " << start;
      EXPECT_NEAR(other.latency, from_below.latency, 1e-6 * from_below.latency) << load << " " << start;
    }
  }
}

TEST(CircuitTorus, beyond_saturation_it_says_so_and_ends) {
  const double rate = analysis::parts::saturation_rate(input(0));
  EXPECT_NEAR(rate * 32, 0.391, 0.001);
  EXPECT_FALSE(solve(input(0.999 * rate * 32)).saturated);
  for (const double load : {1.001 * rate * 32, 0.5, 0.99}) EXPECT_TRUE(solve(input(load)).saturated) << load;
}

TEST(CircuitTorus, the_printed_readings_saturate_at_half_or_less) {
  if (test::kSanitized) GTEST_SKIP() << "numbers are the other builds' affair";
  const double consistent = analysis::parts::saturation_rate(input(0));
  CircuitTorusInput printed = input(0);
  printed.reading = CircuitTorusReading::printed;
  EXPECT_NEAR(analysis::parts::saturation_rate(printed) / consistent, 0.51, 0.02);
  printed.reading = CircuitTorusReading::printed_cycles;
  EXPECT_NEAR(analysis::parts::saturation_rate(printed) / consistent, 0.34, 0.02);
}

const char* const kExperiment = R"(
topology = { name = "torus", size = [8, 8] }
switch = { name = "circuit", vcs = 2 }
routing = "fully_adaptive"
analysis = "circuit_torus"
traffic = { name = "hot_spot", fraction = 0.02, size = 32, process = "poisson", load = 0.2 }
run = { warmup = 5000, measure = 60000 }
)";

TEST(CircuitTorus, lies_beside_the_simulation) {
  if (test::kSanitized) GTEST_SKIP() << "numbers are the other builds' affair";
  for (const char* load : {"load=0.05", "load=0.2", "load=0.3"}) {
    const api::Result result = run_toml(kExperiment, {load});
    for (const char* metric : {"packet_latency", "multiplexing_degree"}) {
      const double measured = result.at(metric).mean;
      EXPECT_NEAR(result.at(std::string(metric) + "@circuit_torus").mean / measured, 1.0, 0.15) << load << metric;
    }
    EXPECT_NEAR(result.at("packet_latency@circuit_torus").mean / result.at("packet_latency").mean, 1.0, 0.05) << load;
  }
}

TEST(CircuitTorus, tells_every_quantity_on_request) {
  const api::Result result = run_toml(kExperiment, {"analysis.intermediates=true", "run.measure=2000"});
  EXPECT_NEAR(result.at("lambda_alpha_8@circuit_torus").mean, 0.02 * 0.2 / 32 / 4, 1e-12);
  EXPECT_NEAR(result.at("d@circuit_torus").mean, 4 * 64 / 63.0, 1e-9);
  EXPECT_EQ(result.find("S_alpha_9@circuit_torus"), nullptr);
  EXPECT_NEAR(result.at("saturation_load@circuit_torus").mean, 0.391, 0.001);
}

TEST(CircuitTorus, a_rate_beyond_its_saturation_is_one_message_not_a_number) {
  const api::Result result = run_toml(kExperiment, {"load=0.42", "run.measure=20000"});
  EXPECT_EQ(result.find("packet_latency@circuit_torus"), nullptr);
  EXPECT_NE(result.explanation.find("circuit_torus: no steady state at this load"), std::string::npos);
}

TEST(CircuitTorus, refuses_what_it_does_not_describe) {
  EXPECT_EQ(refused(kExperiment), "");
  EXPECT_NE(refused(kExperiment, {"topology.size=[8, 4]"}), "");
  EXPECT_NE(refused(kExperiment, {"topology.size=[4, 4, 4]"}), "");
  EXPECT_NE(refused(kExperiment, {"traffic.hot_spot.targets=[0, 1]"}), "");
  EXPECT_NE(refused(kExperiment, {"traffic.hot_spot.size_distribution=geometric"}), "");
  EXPECT_NE(refused(kExperiment, {"switch=vc_router", "routing=dimension_order"}).find("circuits"), std::string::npos);
  EXPECT_EQ(refused(kExperiment, {"switch.sharing=demand", "switch.vcs=4", "topology.size=[3, 3]"}), "");
  EXPECT_EQ(refused(kExperiment, {"switch.acquire=5", "analysis=[]"}), "") << "the remedy that is given helps";
  // Of a sweep too, which looks whether what the command line fixes was an axis.
  const std::string swept = std::string(kExperiment) + "[sweep]\n\"traffic.load\" = [0.1, 0.2]\n";
  EXPECT_EQ(api::read_experiments_text(swept, "swept", {"switch.acquire=5", "analysis=[]"}).points.size(), 2U);
  const std::string models =
      std::string(kExperiment) + "[sweep]\n\"analysis\" = ['circuit_torus', 'zero_load_latency']\n";
  EXPECT_EQ(api::read_experiments_text(models, "swept", {}).points.size(), 2U);
  EXPECT_EQ(api::read_experiments_text(models, "swept", {"analysis=[]"}).points.size(), 1U);
  const std::vector<std::pair<const char*, const char*>> others{
      {"topology.size=[2, 2]", "three switches"},
      {"topology.concentration=2", "one terminal"},
      {"topology.random_failed_links=2", "whole torus"},
      {"routing.directions=up", "both ways round"},
      {"routing=dimension_order", "any channel that leads nearer"},
      {"switch.acquire=5", "acquire = 1"},
      {"switch.acknowledge=5", "acknowledge = 1"},
      {"switch.blocked=wait", "blocked = back_to_source"},
      {"switch.sources=one", "sources = queues"},
      {"switch.alternatives=[2]", "alternatives = [0]"},
      {"switch.ejection_flits=1", "ejection_flits = 0"},
      {"switch.directions=shared", "directions = own"},
      {"switch.retry_delay=9", "retry_delay = 0"},
      {"process=bernoulli", "Poisson"},
      {"reply_size=[32]", "Poisson"},
      {"batch=5", "Poisson"},
      {"include_self=true", "other terminals"},
      {"admission=rate", "holds back"},
  };
  for (const auto& [change, reason] : others)
    EXPECT_NE(refused(kExperiment, {change}).find(reason), std::string::npos)
        << change << ": " << refused(kExperiment, {change});
}

}  // namespace
}  // namespace banyan::test::circuit_torus_test
