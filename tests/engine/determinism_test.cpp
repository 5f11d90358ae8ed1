// Is the state hash the same for any number of shards and threads, any step order, any wake-up rule?
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/engine/steady.hpp"

namespace banyan::determinism_test {
namespace {

using banyan::u32;
using banyan::u64;
using banyan::api::Experiment;
using banyan::api::Result;
using banyan::api::Verdict;
namespace engine = banyan::engine;

struct Case {
  std::string name;
  std::string text;
  Verdict verdict;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list{
      {"mesh",
       "topology = { name = 'mesh', size = [4, 5] }\nswitch = { name = 'vc_router', vcs = 3, buffer = 4 }\n"
       "routing = 'dimension_order'\ntraffic = [{ name = 'uniform', load = 0.3, size = 3 }]\n"
       "run = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"mesh with slow channels, cut-through, two traffics",
       "topology = { name = 'mesh', size = [6, 3], latency = [3, 7], terminal_latency = 2 }\n"
       "switch = { name = 'vc_router', vcs = 2, buffer = 8, flow = 'cut_through', routing_delay = 2, traversal_delay = "
       "2 }\n"
       "routing = 'dimension_order'\n"
       "traffic = [{ name = 'uniform', load = 0.1, size = 5 }, { name = 'permutation', pattern = 'neighbour', load = "
       "0.1 }]\n"
       "run = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"routers with everything that only the general kernel does",
       "topology = { name = 'mesh', size = [4, 5] }\n"
       "switch = { name = 'vc_router', vcs = 3, buffer = 6, buffer_policy = 'shared', input_speedup = 2, "
       "internal_speedup = 1.5, output_speedup = 2, vc_alloc_delay = 2, sw_alloc_delay = 2, wait_for_tail_credit = "
       "true, "
       "hold_switch_for_packet = true, vc_allocator = 'wavefront', sw_allocator = 'output_first', arbiter = 'matrix' "
       "}\n"
       "routing = 'dimension_order'\ntraffic = [{ name = 'uniform', load = 0.2, size = 3 }]\n"
       "run = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"speculative routers, the oldest packet first",
       "topology = { name = 'torus', size = [4, 4] }\n"
       "switch = { name = 'vc_router', vcs = 4, buffer = 4, speculative = true, vc_allocator = 'input_first', "
       "sw_allocator = 'output_first', sw_alloc_iterations = 2, arbiter = 'age' }\n"
       "routing = 'dimension_order'\ntraffic = [{ name = 'uniform', load = 0.9, size = 3 }]\n"
       "run = { warmup = 300, measure = 1000, drain = 200 }\n",
       Verdict::saturated},
      {"routers whose allocators draw",
       "topology = { name = 'mesh', size = [4, 5] }\n"
       "switch = { name = 'vc_router', vcs = 4, buffer = 4, vc_allocator = 'pim', sw_allocator = 'pim_offset', "
       "sw_alloc_iterations = 3, internal_speedup = 1.5 }\n"
       "routing = 'dimension_order'\ntraffic = [{ name = 'uniform', load = 0.4, size = 3 }]\n"
       "run = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"torus beyond saturation",
       "topology = { name = 'torus', size = [5, 4], concentration = 2 }\n"
       "switch = { name = 'vc_router', vcs = 12, buffer = 3 }\nrouting = 'dimension_order'\n"
       "traffic = [{ name = 'permutation', pattern = 'tornado', load = 0.9, size = 4 }]\n"
       "run = { warmup = 300, measure = 1000, drain = 200 }\n",
       Verdict::saturated},
      {"torus that deadlocks",
       "topology = { name = 'torus', size = [8, 8] }\nswitch = { name = 'vc_router', vcs = 1, buffer = 4 }\n"
       "routing = { name = 'dimension_order', datelines = false }\n"
       "traffic = [{ name = 'uniform', load = 0.9, size = 8 }]\n"
       "run = { warmup = 300, measure = 9000, watchdog = 700 }\n",
       Verdict::deadlocked},
      {"multistage network whose inner shards have no terminals",
       "topology = { name = 'multistage_cube', terminals = 16, radix = 2 }\n"
       "switch = { name = 'vc_router', vcs = 2, buffer = 4 }\nrouting = 'destination_tag'\n"
       "traffic = [{ name = 'uniform', load = 0.3, size = 2 }]\nrun = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"sessions over routers",
       "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2, buffer = 4 }\n"
       "routing = 'dimension_order'\n"
       "traffic = [{ name = 'synchronization', mean = 300, deviation = 20 }, { name = 'uniform', load = 0.2 }]\n"
       "run = { sessions = 4, series = 'all' }\n",
       Verdict::finished},
      {"sessions over output-queued boxes",
       "topology = { name = 'extra_stage_cube', terminals = 16, radix = 2 }\nswitch = 'output_queued'\n"
       "routing = 'hot_section'\n"
       "traffic = [{ name = 'synchronization', mean = 300, deviation = 20 }, { name = 'uniform', load = 0.4 }]\n"
       "run = { sessions = 4, series = 'all' }\n",
       Verdict::finished},
      {"central buffers on a fat tree",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\n"
       "switch = { name = 'central_buffer', fifo = 32, chunks = 64 }\nrouting = 'nearest_common_ancestor'\n"
       "traffic = [{ name = 'uniform', load = 0.5, size = 20 }, { name = 'uniform', load = 0.1, size = 3 }]\n"
       "run = { warmup = 300, measure = 3000, audit = 'full' }\n",
       Verdict::steady},
      {"central buffers beyond saturation, slow channels",
       "topology = { name = 'mesh', size = [4, 5], latency = [3, 7], terminal_latency = 2 }\n"
       "switch = { name = 'central_buffer', fifo = 32, chunks = 64, bypass = 'unicast', idle_output = 'with_room' }\n"
       "routing = 'dimension_order'\n"
       "traffic = [{ name = 'uniform', load = 0.9, size = 12 }]\n"
       "run = { warmup = 300, measure = 1500, drain = 200, audit = 'full' }\n",
       Verdict::saturated},
      {"central buffers whose terminals receive in other shards than they send",
       "topology = { name = 'multistage_cube', terminals = 16, radix = 2 }\n"
       "switch = { name = 'central_buffer', fifo = 64, chunks = 64 }\nrouting = 'destination_tag'\n"
       "traffic = [{ name = 'uniform', load = 0.2, size = 5 }]\n"
       "run = { warmup = 300, measure = 3000, audit = 'full' }\n",
       Verdict::steady},
      {"input buffers, channels longer than the calendar",
       "topology = { name = 'mesh', size = [3, 4], latency = [600, 700] }\n"
       "switch = { name = 'input_buffer', fifo = 64 }\nrouting = 'dimension_order'\n"
       "traffic = [{ name = 'uniform', load = 0.002, size = 5 }]\n"
       "run = { warmup = 5000, measure = 20000, audit = 'full' }\n",
       Verdict::steady},
      {"input buffers, packets held back at their sources",
       "topology = { name = 'mesh', size = [4, 5] }\nswitch = { name = 'input_buffer', fifo = 64 }\n"
       "routing = 'dimension_order'\ntraffic = [{ name = 'uniform', load = 0.3, size = 9 }]\n"
       "admission = { name = 'window', size = 64 }\n"
       "run = { warmup = 300, measure = 3000, audit = 'full' }\n",
       Verdict::steady},
      {"input buffers that deadlock",
       "topology = { name = 'torus', size = [8, 8] }\nswitch = { name = 'input_buffer', fifo = 8 }\n"
       "routing = { name = 'dimension_order', datelines = false }\n"
       "traffic = [{ name = 'uniform', load = 0.9, size = 40 }]\n"
       "run = { warmup = 300, measure = 9000, watchdog = 700 }\n",
       Verdict::deadlocked},
      {"sessions over central buffers",
       "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
       "routing = 'nearest_common_ancestor'\n"
       "traffic = [{ name = 'synchronization', mean = 300, deviation = 20 }, { name = 'uniform', load = 0.2, size = 8 "
       "}]\n"
       "run = { sessions = 3 }\n",
       Verdict::finished},
      {"routers on a network that the topology does not cut",
       "topology = { name = 'bidirectional_min', hosts = 64, ports = 8 }\n"
       "switch = { name = 'vc_router', vcs = 2, buffer = 8 }\nrouting = 'nearest_common_ancestor'\n"
       "traffic = [{ name = 'uniform', load = 0.4, size = 3 }]\nrun = { warmup = 300, measure = 1500 }\n",
       Verdict::steady},
      {"packet nodes",
       "topology = { name = 'hypercube', degree = 4 }\nswitch = 'packet_node'\nrouting = 'dimension_order'\n"
       "traffic = [{ name = 'uniform', load = 0.02 }]\nrun = { warmup = 300, measure = 3000 }\n",
       Verdict::steady},
  };
  return list;
}

Result run(const Case& c, const std::vector<std::string>& overrides, u32 threads = 1) {
  banyan::api::RunOptions options;
  options.threads = threads;
  return banyan::api::run(banyan::api::read_experiments_text(c.text, c.name, overrides).points.front(), options);
}

/// Everything that a run reports, but its costs.
std::string report(const Result& result) {
  std::string text = to_string(result.verdict) + " " + result.explanation;
  for (const auto& m : result.metrics) text += "\n" + m.name + " " + std::to_string(m.mean);
  for (const auto& s : result.series) {
    text += "\n" + s.name;
    for (const double v : s.values) text += " " + std::to_string(v);
  }
  return text;
}

TEST(Determinism, ResultsDoNotDependOnShardsThreadsOrderOrWaking) {
  const std::vector<std::pair<std::vector<std::string>, u32>> variants{
      {{"run.shards=1"}, 1}, {{"run.shards=2"}, 1},
      {{"run.shards=2"}, 2}, {{"run.shards=5"}, 1},
      {{"run.shards=5"}, 3}, {{"run.step_order=permuted"}, 1},
      {{"run.wake=all"}, 1}, {{"run.shards=3", "run.step_order=permuted", "run.wake=all"}, 2},
  };
  for (const Case& c : cases()) {
    const Result expected = run(c, {});
    EXPECT_EQ(expected.verdict, c.verdict) << c.name << ": " << expected.explanation;
    for (const auto& [overrides, threads] : variants) {
      std::string label = c.name + ", " + std::to_string(threads) + " threads";
      for (const std::string& o : overrides) label += ", " + o;
      const Result result = run(c, overrides, threads);
      EXPECT_EQ(result.state_hash, expected.state_hash) << label;
      EXPECT_EQ(report(result), report(expected)) << label;
    }
  }
}

TEST(Determinism, TheSeedMatters) {
  for (const Case& c : cases()) EXPECT_NE(run(c, {"run.seed=2"}).state_hash, run(c, {}).state_hash) << c.name;
}

/// Beneath the run, which uses no more threads than cores.
u64 steady_hash(const Case& c, u32 shards, u32 threads) {
  const Experiment experiment = banyan::api::read_experiments_text(c.text, c.name, {}).points.front();
  const banyan::api::Network network = banyan::api::build_network(experiment);
  engine::EngineSettings settings;
  settings.shards = shards;
  settings.threads = threads;
  settings.steady = {4, 1000, 100};
  const banyan::api::Instance instance = banyan::api::build_instance(experiment, network, settings);
  return engine::run_steady(*instance.machine, settings.steady, {}).hash;
}

TEST(Determinism, SevenThreadsOnSevenShardsAgreeWithOne) {
  for (const Case& c : cases()) {
    if (c.text.find("sessions") != std::string::npos) continue;
    const u64 expected = steady_hash(c, 1, 1);
    EXPECT_EQ(steady_hash(c, 7, 1), expected) << c.name;
    EXPECT_EQ(steady_hash(c, 7, 7), expected) << c.name;
    EXPECT_EQ(steady_hash(c, 3, 7), expected) << c.name << ": more threads than shards";
  }
}

TEST(Determinism, AMachineMayRunAgain) {
  const Case& c = cases()[0];
  const Experiment experiment = banyan::api::read_experiments_text(c.text, c.name, {}).points.front();
  const banyan::api::Network network = banyan::api::build_network(experiment);
  engine::EngineSettings settings;
  settings.shards = 2;
  settings.steady = {4, 1000, 100};
  const banyan::api::Instance instance = banyan::api::build_instance(experiment, network, settings);
  const u64 first = engine::run_steady(*instance.machine, settings.steady, {}).hash;
  EXPECT_EQ(engine::run_steady(*instance.machine, settings.steady, {}).hash, first);
}

}  // namespace
}  // namespace banyan::determinism_test
