// Does the latency of buffered delta networks lie beside that of simulated boxes with large buffers?
#include "analysis/beside.hpp"
#include "support/effort.hpp"

namespace banyan::test::kruskal_snir_test {
namespace {

const char* const kExperiment = R"(
topology = { name = "multistage_cube", terminals = 64, radix = 2 }
switch = { name = "output_queued", buffer = 4096 }
routing = "destination_tag"
analysis = ["kruskal_snir", { name = "throughput_bounds" }]
traffic = { name = "uniform", load = 0.5, include_self = true }
run = { warmup = 2000, measure = 20000 }
)";

TEST(KruskalSnir, one_stage_is_exact) {
  const api::Result result = run_toml(kExperiment, {"topology.terminals=4", "topology.radix=4", "run.measure=60000"});
  // 1 + (1 - 1/4) 0.5 / (2 * 0.5) = 1.375
  EXPECT_NEAR(result.at("packet_latency@kruskal_snir").mean, 1.375, 1e-12);
  EXPECT_NEAR(result.at("packet_latency").mean, 1.375, 0.01);
}

TEST(KruskalSnir, several_stages_are_near) {
  if (test::kSanitized) GTEST_SKIP() << "numbers are the other builds' affair";
  for (const char* load : {"load=0.2", "load=0.5", "load=0.8"}) {
    const double measured = run_toml(kExperiment, {load}).at("packet_latency").mean;
    const double first = run_toml(kExperiment, {load, "analysis=kruskal_snir"}).at("packet_latency@kruskal_snir").mean;
    const double limit = run_toml(kExperiment, {load, "analysis={ name = 'kruskal_snir', later_stages = 'limit' }"})
                             .at("packet_latency@kruskal_snir")
                             .mean;
    EXPECT_NEAR(first / measured, 1.0, 0.25) << load;
    EXPECT_NEAR(limit / measured, 1.0, 0.06) << load;
    EXPECT_LT(first, measured * 1.01) << load;
  }
}

/// What the models of switches and delta networks take for granted is asked for by all of them.
TEST(KruskalSnir, refuses_other_arrivals_as_its_kin_do) {
  const char* const kFlits = R"(
topology = { name = "multistage_cube", terminals = 8, radix = 8 }
switch = { name = "vc_router", vcs = 1, buffer = 16 }
routing = "destination_tag"
traffic = { name = "uniform", load = 0.3, include_self = true }
run = { warmup = 100, measure = 100 }
)";
  for (const char* analysis : {"kruskal_snir", "patel", "karol_hluchyj_morgan"}) {
    const bool delta = analysis == std::string("kruskal_snir");
    const std::string chosen = std::string("analysis=") + analysis;
    const auto cause = [&](api::Overrides overrides) {
      overrides.push_back(chosen);
      return refused(delta ? kExperiment : kFlits, overrides);
    };
    EXPECT_EQ(cause({}), "") << analysis;
    const std::string arrivals = std::string(analysis) + " describes arrivals with the same probability in every cycle";
    for (const char* process : {"process=on_off", "process=poisson", "process=normal", "traffic.uniform.batch=100"})
      EXPECT_EQ(cause({process}), arrivals) << process;
    EXPECT_EQ(cause({"traffic.uniform.reply_size=[1]"}), arrivals);
    const std::string flits = std::string(analysis) + " describes uniform packets of one flit to all outputs";
    EXPECT_EQ(cause({"traffic.uniform.include_self=false"}), flits);
    if (delta) continue;  // output_queued refuses them itself
    EXPECT_EQ(cause({"traffic.uniform.size_distribution=list", "traffic.uniform.sizes=[8]"}), flits);
    EXPECT_EQ(cause({"traffic.uniform.size=2"}), flits);
  }
}

TEST(KruskalSnir, a_full_load_has_no_steady_state) {
  const api::Result result = run_toml(kExperiment, {"load=1.0", "run.measure=2000"});
  EXPECT_EQ(result.find("packet_latency@kruskal_snir"), nullptr);
}

}  // namespace
}  // namespace banyan::test::kruskal_snir_test
