// Is the saturation of input-queued switches that of the literature, of a Monte Carlo of heads, and of a simulated
// switch?
#include "analysis/beside.hpp"
#include "banyan/base/rng.hpp"

namespace banyan::test::karol_hluchyj_morgan_test {
namespace {

/// A switch whose FIFOs show a new head in every cycle: no cycles for routes and virtual channels.
std::string experiment(u32 ports) {
  const std::string n = std::to_string(ports);
  return "topology = { name = 'multistage_cube', terminals = " + n + ", radix = " + n +
         " }\nswitch = { name = 'vc_router', vcs = 1, buffer = 64, sw_allocator = 'input_first', routing_delay = 0, "
         "vc_alloc_delay = 0 }\n"
         "routing = 'destination_tag'\nanalysis = 'karol_hluchyj_morgan'\n"
         "traffic = { name = 'uniform', load = 0.3, include_self = true }\nrun = { warmup = 200, measure = 1000 }\n";
}

double model(u32 ports) { return run_toml(experiment(ports)).at("saturation_throughput@karol_hluchyj_morgan").mean; }

/// Saturated inputs, each with a head for a random output; an output serves one of its heads per cycle.
double monte_carlo(u32 n, u32 cycles) {
  const Random random(7, Stream{"test"}, 7, n);
  std::vector<u32> head(n);
  for (u32 i = 0; i < n; ++i) head[i] = below(random.at(i, 0)[0], n);
  u64 served = 0;
  for (u32 cycle = 1; cycle <= cycles; ++cycle) {
    std::vector<u32> asking(n, 0);
    std::vector<u32> winner(n, 0);
    for (u32 i = 0; i < n; ++i) {
      const Words words = random.at(i, cycle);
      if (below(words[0], ++asking[head[i]]) == 0) winner[head[i]] = i;
    }
    for (u32 o = 0; o < n; ++o) {
      if (asking[o] == 0) continue;
      ++served;
      head[winner[o]] = below(random.at(n + o, cycle)[0], n);
    }
  }
  return static_cast<double>(served) / cycles / n;
}

TEST(Karol, is_table_1_of_the_paper) {
  EXPECT_NEAR(model(2), 0.7500, 5e-5);
  EXPECT_NEAR(model(4), 0.6553, 1e-4);
  EXPECT_NEAR(model(8), 0.6184, 1e-4);
}

TEST(Karol, agrees_with_a_monte_carlo_of_heads) {
  for (const u32 n : {4U, 16U, 32U}) EXPECT_NEAR(model(n), monte_carlo(n, 100'000 / n), 0.004) << n;
}

TEST(Karol, large_switches_tend_to_two_minus_the_root_of_two) {
  EXPECT_NEAR(model(64), 0.5858, 0.006);
  EXPECT_GT(model(64), 0.5858);
}

TEST(Karol, lies_beside_a_router_with_one_fifo_per_input) {
  const api::Result result = run_toml(experiment(8), {"load=0.9", "run.measure=10000", "run.warmup=3000"});
  EXPECT_EQ(result.verdict, api::Verdict::saturated);
  EXPECT_NEAR(result.at("accepted_load").mean, result.at("accepted_load@karol_hluchyj_morgan").mean, 0.02);
}

TEST(Karol, below_saturation_all_that_is_offered_is_accepted) {
  const api::Result result = run_toml(experiment(8), {"run.measure=10000"});
  EXPECT_NEAR(result.at("accepted_load@karol_hluchyj_morgan").mean, 0.3, 1e-12);
  EXPECT_NEAR(result.at("accepted_load").mean, 0.3, 0.01);
}

TEST(Karol, refuses_virtual_channels_and_several_switches) {
  EXPECT_EQ(refused(experiment(4)), "");
  for (const char* other : {"output_queued", "input_buffer", "central_buffer", "cioq", "packet_node"})
    EXPECT_EQ(refused(experiment(4), {std::string("switch=") + other}),
              "karol_hluchyj_morgan describes one switch with one FIFO per input")
        << other;
  EXPECT_NE(refused(experiment(4), {"switch.vcs=2"}), "");
  EXPECT_NE(refused(experiment(4), {"topology.radix=2"}), "");
}

}  // namespace
}  // namespace banyan::test::karol_hluchyj_morgan_test
