// Are the bounds those of the literature, and does no simulation exceed them?
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/beside.hpp"
#include "banyan/api/network.hpp"
#include "banyan/api/predictions.hpp"

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

/// What comes into a part has to cross its border as what leaves it has. By hand: the terminals on one side of the
/// target share a channel.
TEST(ThroughputBounds, cuts_are_crossed_in_both_directions) {
  for (u32 target = 0; target < 6; ++target) {
    const std::string hot =
        "{ name = 'hot_spot', fraction = 1.0, load = 0.05, targets = [" + std::to_string(target) + "] }";
    const api::Result line =
        run_toml(experiment("{ name = 'mesh', size = [6] }", "'dimension_order'", hot), {"run.measure=2000"});
    EXPECT_NEAR(line.at("bisection_throughput@throughput_bounds").mean, 1.0 / std::max(target, 5 - target), 1e-9)
        << target;
  }
  // Columns of a mesh whose links along x are slow, and their mirror images.
  const auto column = [&](const std::string& targets) {
    return run_toml(experiment("{ name = 'mesh', size = [4, 4], cycles_per_flit = [4, 1] }", "'minimal_adaptive'",
                               "{ name = 'hot_spot', fraction = 1.0, load = 0.05, targets = " + targets + " }"),
                    {"run.measure=2000"});
  };
  for (const std::string metric : {"bisection_throughput", "proportional_throughput"}) {
    for (const auto& [targets, bound] : std::vector<std::pair<std::string, double>>{{"[0, 4, 8, 12]", 1.0 / 12},
                                                                                    {"[3, 7, 11, 15]", 1.0 / 12},
                                                                                    {"[1, 5, 9, 13]", 1.0 / 8},
                                                                                    {"[2, 6, 10, 14]", 1.0 / 8}}) {
      EXPECT_NEAR(column(targets).at(metric + "@throughput_bounds").mean, bound, 1e-9) << metric << targets;
    }
  }
  // 24 terminals over two channels down into a subtree of eight.
  const api::Result tree =
      run_toml(experiment("{ name = 'xgft', children = [4, 2, 4], parents = [1, 2, 1] }", "'nearest_common_ancestor'",
                          "{ name = 'hot_spot', fraction = 1.0, load = 0.02, targets = [0, 1, 2, 3, 4, 5, 6, 7] }"),
               {"run.measure=2000"});
  EXPECT_NEAR(tree.at("bisection_throughput@throughput_bounds").mean, 2.0 / 24, 1e-9);
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

TEST(ThroughputBounds, routing_by_queues_is_bound_by_cuts_distances_and_terminals) {
  const api::Result result = run_toml(experiment("{ name = 'torus', size = [4, 4] }", "'ugal'",
                                                 "{ name = 'uniform', load = 0.1, include_self = true }"),
                                      {"switch.vcs=8"});
  EXPECT_EQ(result.find("channel_load_throughput@throughput_bounds"), nullptr);
  EXPECT_NEAR(result.at("bisection_throughput@throughput_bounds").mean, 2.0, 1e-9);
  EXPECT_NEAR(result.at("accepted_load@throughput_bounds").mean, 1.0, 1e-9);
}

TEST(ThroughputBounds, a_choice_by_the_random_word_counts_with_its_probability) {
  // Both ways around at half of the length of a ring of 4: each channel carries 1 of the 3 other terminals' flits at
  // distance 1, half of that at distance 2 twice: (1 + 2 / 2) / 3 per flit sent.
  for (const char* routing : {"{ name = 'dimension_order', ties = 'random' }", "'valiant'"}) {
    const api::Result result =
        run_toml(experiment("{ name = 'torus', size = [4] }", routing, "{ name = 'uniform', load = 0.1 }"));
    const bool valiant = std::string(routing) == "'valiant'";
    // Valiant: a mean distance of 1 to the intermediate switch and of 1 from there, over two directions.
    EXPECT_NEAR(result.at("channel_load_throughput@throughput_bounds").mean, valiant ? 1.0 : 1.5, 1e-9) << routing;
  }
  // Two phases of uniform traffic on a torus of 8 x 8: distance 4 each time, over 4 channels per switch.
  const api::Result torus = run_toml(experiment("{ name = 'torus', size = [8, 8] }", "'valiant'",
                                                "{ name = 'permutation', pattern = 'tornado', load = 0.1 }"),
                                     {"measure=1000"});
  EXPECT_NEAR(torus.at("channel_load_throughput@throughput_bounds").mean, 0.5, 1e-9);
}

/// Transpose on a mesh of 8 x 8: 7 of the demands of a row meet on one channel, and those of the middle avoid it.
TEST(ThroughputBounds, an_overloaded_permutation_passes_the_bound_of_demands_met_alike) {
  const std::string text = experiment("{ name = 'mesh', size = [8, 8] }", "'dimension_order'",
                                      "{ name = 'permutation', pattern = 'transpose', load = 0.6 }");
  const api::Result transient = run_toml(text, {"run.duration=8000"});
  const double alike = transient.at("proportional_throughput@throughput_bounds").mean;
  EXPECT_GT(transient.at("accepted_load").mean, alike);
  EXPECT_EQ(transient.warning.find("CONTRADICTION"), std::string::npos) << transient.warning;
  const api::Result saturated = run_toml(text);
  EXPECT_EQ(saturated.verdict, api::Verdict::saturated);
  EXPECT_GT(saturated.at("accepted_load").mean, alike);
  EXPECT_LT(saturated.at("accepted_load").mean, saturated.at("accepted_load@throughput_bounds").mean);
  EXPECT_LT(saturated.at("accepted_load@throughput_bounds").mean, 0.6);
  EXPECT_EQ(saturated.warning.find("CONTRADICTION"), std::string::npos) << saturated.warning;
}

TEST(ThroughputBounds, an_overload_is_bound_by_what_all_channels_carry_together) {
  // Tornado on a ring of 8: three channels per flit, all of one direction; whoever gets them, 8 / 3 flits arrive.
  const api::Result tornado = run_toml(experiment("{ name = 'torus', size = [8] }", "'dimension_order'",
                                                  "{ name = 'permutation', pattern = 'tornado', load = 0.9 }"));
  EXPECT_NEAR(tornado.at("accepted_load@throughput_bounds").mean, 1.0 / 3, 0.02);
  EXPECT_GE(tornado.at("accepted_load@throughput_bounds").mean, 1.0 / 3 - 1e-9);
  // All to one terminal: it takes a flit per cycle, whoever sends it.
  const api::Result hot = run_toml(experiment("{ name = 'mesh', size = [4, 4] }", "'dimension_order'",
                                              "{ name = 'hot_spot', fraction = 1.0, load = 0.5 }"));
  EXPECT_LT(hot.at("accepted_load@throughput_bounds").mean, 2.0 / 16 + 0.02);
  EXPECT_EQ(hot.warning.find("CONTRADICTION"), std::string::npos) << hot.warning;
}

/// What is proven of an experiment, by kind.
std::map<std::string, core::Prediction> proven(const std::string& text) {
  const api::Experiment e = api::read_experiments_text(text, "test", {}).points.front();
  std::map<std::string, core::Prediction> found;
  for (const api::Predictions& p : api::predict(e, api::build_network(e))) {
    for (const core::Prediction& one : p.list) {
      if (one.bound != core::Bound::none) found.emplace(one.metric, one);
    }
  }
  return found;
}

/// A bound is of the rates that are meant. In a short run chance offers other ones, and flows that keep theirs pass it.
TEST(ThroughputBounds, no_short_run_contradicts_by_chance) {
  u32 compared = 0;
  for (const char* process : {"bernoulli", "poisson", "normal"}) {
    for (const char* fraction : {"0.3", "0.6", "1.0"}) {
      for (const int cycles : {50, 112, 300}) {
        for (int seed = 0; seed < 12; ++seed) {
          const api::Result result = run_toml(
              "topology = 'graph_file'\nswitch = 'central_buffer'\nrouting = 'up_down'\nanalysis = "
              "'throughput_bounds'\n"
              "traffic = { name = 'hot_spot', load = 1.0, fraction = " +
              std::string(fraction) + ", size = 1, process = '" + process + "' }\nrun = { warmup = 0, measure = " +
              std::to_string(cycles) + ", watchdog = 0, drain = 20, seed = " + std::to_string(seed) + " }\n");
          EXPECT_EQ(result.warning.find("CONTRADICTION"), std::string::npos) << process << " " << result.warning;
          compared += result.verdict == api::Verdict::saturated ? 1U : 0U;
        }
      }
    }
  }
  EXPECT_GT(compared, 50U) << "bounds of an overload are compared";
}

TEST(ThroughputBounds, estimated_demands_prove_no_more_than_what_terminals_take) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = 64 }\nswitch = { name = 'cioq', queues = '1q' }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
      "traffic = { name = 'congestion', normal_load = 0.4 }\nanalysis = 'throughput_bounds'\n"
      "run = { duration = '100 us' }\n";
  EXPECT_LT(run_toml(text).at("channel_load_throughput@throughput_bounds").mean, 0.5) << "an estimate";
  const core::Prediction accepted = proven(text).at("accepted_load");
  EXPECT_EQ(accepted.bound, core::Bound::overload);
  EXPECT_NEAR(accepted.value, 1.0, 1e-9);
}

std::string on_nodes(const std::string& topology, const std::string& routing, const std::string& more,
                     const std::string& traffic) {
  return "topology = " + topology + "\nswitch = { name = 'packet_node'" + more + " }\nrouting = " + routing +
         "\ntraffic = " + traffic + "\nanalysis = 'throughput_bounds'\nrun = { warmup = 5000, measure = 40000 }\n";
}

/// Links of eight flits per cycle: twice what the bisection of a mesh could carry with one.
TEST(ThroughputBounds, channels_carry_what_the_switch_model_says) {
  const api::Result fast =
      run_toml(on_nodes("{ name = 'mesh', size = [4, 4] }", "'dimension_order'", ", bandwidth = 8",
                        "{ name = 'permutation', pattern = 'bit_complement', load = 0.9, size = 64 }"));
  EXPECT_NEAR(fast.at("channel_load_throughput@throughput_bounds").mean, 8 * 0.5, 1e-9);
  EXPECT_GT(fast.at("accepted_load").mean, 0.8);
  EXPECT_EQ(fast.warning.find("CONTRADICTION"), std::string::npos) << fast.warning;
}

/// A node of a hypercube receives over all of its links at once, and each of them carries one flit per cycle.
TEST(ThroughputBounds, terminals_without_channels_of_their_own_are_bound_by_those_of_their_switch) {
  const api::Result hot = run_toml(on_nodes("{ name = 'hypercube', degree = 4 }", "'fully_adaptive'", "",
                                            "{ name = 'hot_spot', fraction = 1.0, load = 0.1, size = 64 }"));
  EXPECT_GT(hot.at("accepted_load").mean, 1.25 / 16) << "more than one flit per cycle";
  EXPECT_NEAR(hot.at("bisection_throughput@throughput_bounds").mean, 0.1 * (15 + 1.0) / 16 * 4 / (15 * 0.1), 1e-9);
  EXPECT_EQ(hot.warning.find("CONTRADICTION"), std::string::npos) << hot.warning;
}

TEST(ThroughputBounds, unknown_demands_are_bound_by_what_terminals_take) {
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4 }\n"
      "routing = 'dimension_order'\nanalysis = 'throughput_bounds'\n";
  // 240 messages of 8 flits to 16 terminals.
  const api::Result collective =
      run_toml(mesh + "traffic = { name = 'collective', size = 8 }\nrun = { sessions = 2 }\n");
  EXPECT_NEAR(collective.at("completion_time@throughput_bounds").mean, 240.0 * 8 / 16 - 1, 1e-9);
  EXPECT_GE(collective.at("completion_time").mean, 240.0 * 8 / 16);
  const std::string replies = mesh + "traffic = { name = 'uniform', load = 0.2, reply_size = [4] }\n";
  EXPECT_EQ(proven(replies).at("accepted_load").bound, core::Bound::overload);
  EXPECT_NEAR(proven(replies).at("accepted_load").value, 1.0, 1e-9);
}

/// Two ways between two switches, one of them four times as slow; each is drawn for every other message. What waits for
/// the slow way stops the others where messages leave their terminal one by one, and not where they wait for the ways.
TEST(ThroughputBounds, drawn_ways_depend_on_each_other_only_where_messages_leave_in_their_order) {
  const std::string text =
      "topology = { name = 'graph_file', lines = ['switch s0', 'switch a', 'switch b', 'switch s1', 'terminal 0 s0', "
      "'terminal 1 s1', 'terminal 2 s0', 'terminal 3 s1', 'link s0 a', 'link a s1', 'link s0 b cycles_per_flit=4', "
      "'link b s1'] }\n"
      "routing = { name = 'shortest_path', choice = 'random', hop_classes = false }\nanalysis = 'throughput_bounds'\n"
      "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.9, size = 64 }\n"
      "run = { warmup = 5000, measure = 60000 }\n";
  const std::string nodes = "switch = { name = 'packet_node', header = 0, acquire = 0, payload = 64 }\n";
  const api::Result apart = run_toml(nodes + text);
  // Half of 4 terminals' 0.9 goes over each way, 1.8 of it in all from either side: 0.9 of 1 and 0.25 of 0.9 pass.
  EXPECT_NEAR(apart.at("accepted_load@throughput_bounds").mean, (4 * 0.9 - 2 * (0.9 - 0.25)) / 4, 0.2);
  EXPECT_GT(apart.at("accepted_load@throughput_bounds").mean, apart.at("accepted_load").mean - 0.01);
  EXPECT_EQ(apart.warning.find("CONTRADICTION"), std::string::npos) << apart.warning;
  const api::Result in_order = run_toml("switch = { name = 'vc_router', vcs = 1, buffer = 64 }\n" + text);
  EXPECT_NEAR(in_order.at("accepted_load@throughput_bounds").mean, 0.25, 0.001);
  EXPECT_EQ(in_order.warning.find("CONTRADICTION"), std::string::npos) << in_order.warning;
}

/// A header of a circuit that is blocked comes back and draws a way anew, whatever its terminal lets out at once.
TEST(ThroughputBounds, circuits_draw_their_ways_anew) {
  const std::string text =
      "topology = { name = 'graph_file', lines = ['switch s0', 'switch a', 'switch b', 'switch s1', 'terminal 0 s0', "
      "'terminal 1 s1', 'terminal 2 s0', 'terminal 3 s1', 'terminal 4 s0', 'terminal 5 s1', 'terminal 6 s0', "
      "'terminal 7 s1', 'link s0 a', 'link s0 a', 'link a s1', 'link s0 b', 'link b s1'] }\n"
      "switch = { name = 'circuit', injection_flits = 1 }\n"
      "routing = { name = 'shortest_path', choice = 'random', hop_classes = false }\nanalysis = 'throughput_bounds'\n"
      "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.9, size = 64 }\n"
      "run = { warmup = 20000, measure = 200000 }\n";
  const api::Result result = run_toml(text);
  EXPECT_GT(result.at("accepted_load").mean, 0.46) << "more than shares that are fixed would let through";
  EXPECT_GE(result.at("accepted_load@throughput_bounds").mean, result.at("accepted_load").mean);
  EXPECT_EQ(result.warning.find("CONTRADICTION"), std::string::npos) << result.warning;
}

/// Copies of a message that switches make bring all of it but the header to every terminal.
TEST(ThroughputBounds, the_time_of_a_broadcast_is_that_of_its_data) {
  const std::string text =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
      "routing = 'nearest_common_ancestor'\nanalysis = 'throughput_bounds'\nrun = { sessions = 1 }\n"
      "traffic = { name = 'multicast_collective', operation = 'broadcast', iterations = 10, size = 64 }\n";
  const api::Result result = run_toml(text);
  EXPECT_NEAR(result.at("completion_time@throughput_bounds").mean, 150.0 * (64 - 2) / 16 - 1, 1e-9);
  EXPECT_GT(result.at("completion_time").mean, result.at("completion_time@throughput_bounds").mean);
}

}  // namespace
}  // namespace banyan::test::throughput_bounds_test
