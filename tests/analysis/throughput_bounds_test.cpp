// Are the bounds those of the literature, and does no simulation exceed them?
#include "analysis/beside.hpp"

namespace banyan::test::throughput_bounds_test {
namespace {

std::string experiment(const std::string& topology, const std::string& routing, const std::string& traffic) {
  return "topology = " + topology + "\nswitch = { name = 'vc_router', vcs = 4 }\nrouting = " + routing +
         "\ntraffic = " + traffic + "\nanalysis = 'throughput_bounds'\nrun = { warmup = 2000, measure = 8000 }\n";
}

TEST(ThroughputBounds, torus_and_mesh_have_their_ideal_throughput) {
  // Uniform with oneself on a k-ary 2-cube: 8 / k; on a mesh: 4 / k (Dally and Towles, section 3.3).
  const api::Result torus = run_toml(experiment("{ name = 'torus', size = [4, 4] }", "'dimension_order'",
                                                "{ name = 'uniform', load = 0.3, include_self = true }"));
  EXPECT_NEAR(torus.at("bisection_throughput@throughput_bounds").mean, 2.0, 1e-9);
  EXPECT_NEAR(torus.at("terminal_throughput@throughput_bounds").mean, 1.0, 1e-9);
  const api::Result mesh = run_toml(experiment("{ name = 'mesh', size = [8, 8] }", "'dimension_order'",
                                               "{ name = 'uniform', load = 0.3, include_self = true }"));
  EXPECT_NEAR(mesh.at("channel_load_throughput@throughput_bounds").mean, 0.5, 1e-9);
  EXPECT_NEAR(mesh.at("bisection_throughput@throughput_bounds").mean, 0.5, 1e-9);
  EXPECT_NEAR(mesh.at("accepted_load@throughput_bounds").mean, 0.5, 1e-9);
  EXPECT_EQ(mesh.warning, "");
}

TEST(ThroughputBounds, tornado_loads_one_direction_of_a_ring) {
  // Tornado on a ring of 8 goes 3 hops one way: 1/3; Valiant's detours take 4 hops on average, but both ways.
  const std::string tornado = "{ name = 'permutation', pattern = 'tornado', load = 0.2 }";
  const api::Result direct = run_toml(experiment("{ name = 'torus', size = [8] }", "'dimension_order'", tornado));
  EXPECT_NEAR(direct.at("channel_load_throughput@throughput_bounds").mean, 1.0 / 3, 1e-9);
  const api::Result valiant = run_toml(experiment("{ name = 'torus', size = [8] }", "'valiant'", tornado));
  EXPECT_GT(valiant.at("channel_load_throughput@throughput_bounds").mean, 1.0 / 3 + 0.05);
}

TEST(ThroughputBounds, a_steady_run_stays_below_and_one_beyond_saturates) {
  const std::string text = experiment("{ name = 'torus', size = [8] }", "'dimension_order'",
                                      "{ name = 'permutation', pattern = 'tornado', load = 0.1 }");
  const api::Result below = run_toml(text);
  EXPECT_EQ(below.verdict, api::Verdict::steady);
  EXPECT_LT(below.at("accepted_load").mean, below.at("accepted_load@throughput_bounds").mean);
  const api::Result beyond = run_toml(text, {"load=0.5"});
  EXPECT_EQ(beyond.verdict, api::Verdict::saturated);
  EXPECT_LT(beyond.at("accepted_load").mean, beyond.at("accepted_load@throughput_bounds").mean * 1.001);
}

TEST(ThroughputBounds, adaptive_routing_bounds_nothing_by_its_channels) {
  const api::Result result = run_toml(experiment("{ name = 'torus', size = [8] }", "'minimal_adaptive'",
                                                 "{ name = 'permutation', pattern = 'transpose', load = 0.1 }"),
                                      {"topology.size=[4,4]"});
  EXPECT_GE(result.at("accepted_load@throughput_bounds").mean,
            result.at("terminal_throughput@throughput_bounds").mean * 0.999);
}

TEST(ThroughputBounds, a_tree_is_bound_by_its_thinnest_level) {
  const std::string uniform = "{ name = 'uniform', load = 0.3, include_self = true }";
  // Four terminals below two upward channels: each sends 3/4 of its flits up, of 16 terminals.
  const api::Result thin = run_toml(
      experiment("{ name = 'xgft', children = [4, 4], parents = [1, 2] }", "'nearest_common_ancestor'", uniform));
  EXPECT_NEAR(thin.at("bisection_throughput@throughput_bounds").mean, 2.0 / 3, 1e-9);
  EXPECT_NEAR(thin.at("accepted_load@throughput_bounds").mean, 2.0 / 3, 1e-9);
  const api::Result beyond = run_toml(
      experiment("{ name = 'xgft', children = [4, 4], parents = [1, 2] }", "'nearest_common_ancestor'", uniform),
      {"load=0.9"});
  EXPECT_EQ(beyond.verdict, api::Verdict::saturated);
  EXPECT_LT(beyond.at("accepted_load").mean, 2.0 / 3 * 1.001);
  EXPECT_GT(beyond.at("accepted_load").mean, 0.45);
  // A k-ary n-tree has more in every subtree than its terminals can send.
  const api::Result full =
      run_toml(experiment("{ name = 'fat_tree', arity = 4, levels = 2 }", "'nearest_common_ancestor'", uniform));
  EXPECT_NEAR(full.at("bisection_throughput@throughput_bounds").mean, 4.0 / 3, 1e-9);
  EXPECT_NEAR(full.at("accepted_load@throughput_bounds").mean, 1.0, 1e-9);
}

TEST(ThroughputBounds, a_slim_fly_is_bound_by_its_distances) {
  // q = 5: 50 switches of degree 7 and 4 terminals; from each 7 others at distance 1 and 42 at distance 2.
  const api::Result fly = run_toml(experiment("{ name = 'slim_fly', q = 5 }", "'shortest_path'",
                                              "{ name = 'uniform', load = 0.1, include_self = true }"),
                                   {"measure=1000"});
  const double distance = (7.0 * 1 + 42.0 * 2) / 50;
  const double bound = 50 * 7 / (200 * distance);
  EXPECT_NEAR(fly.at("distance_throughput@throughput_bounds").mean, bound, 1e-9);
  EXPECT_LE(fly.at("channel_load_throughput@throughput_bounds").mean, bound * (1 + 1e-9));
  EXPECT_GT(fly.at("channel_load_throughput@throughput_bounds").mean, 0.5 * bound);
}

TEST(ThroughputBounds, follow_no_paths_that_depend_on_queues) {
  EXPECT_NE(refused(experiment("{ name = 'torus', size = [4, 4] }", "'ugal'", "{ name = 'uniform', load = 0.1 }"),
                    {"switch.vcs=8"})
                .find("by queues"),
            std::string::npos);
}

}  // namespace
}  // namespace banyan::test::throughput_bounds_test
