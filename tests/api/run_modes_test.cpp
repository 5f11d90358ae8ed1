// Does a run say the same, to the last metric and sample, however its switches are stepped?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/hash.hpp"
#include "support/effort.hpp"

namespace banyan::api::run_modes_test {
namespace {

Result run_in(const std::string& text, const Overrides& mode, u32 threads = 1) {
  RunOptions options;
  options.threads = threads;
  return run(read_experiments_text(text, "test.toml", mode).points.front(), options);
}

/// Everything that a run reports, but its costs and its configuration.
std::string report(Result result) {
  result.cpu_seconds = 0.0;
  result.peak_bytes = 0;
  result.configuration.clear();
  result.configuration_hash = 0;
  std::string text = to_table(result);
  for (const stats::Metric& m : result.metrics) text += fmt::format("\n{} {} {}", m.name, m.mean, m.count);
  for (const stats::Series& s : result.series) text += fmt::format("\n{} {}", s.name, fmt::join(s.values, " "));
  for (const Checkpoint& c : result.checkpoints) text += fmt::format("\nat {}: {:x}", c.at, c.hash);
  if (result.trees != nullptr) {
    text += "\nsamples";
    const stats::CongestionRecord record = result.trees->record();
    for (const stats::CongestionSample& s : record.samples) text += fmt::format(" {}", s.at);
  }
  return text;
}

void expect_equal_in_all_modes(const std::string& text) {
  const Result expected = run_in(text, {});
  const std::vector<std::pair<Overrides, u32>> modes{
      {{"run.wake=all"}, 1},
      {{"run.step_order=permuted"}, 1},
      {{"run.wake=all", "run.step_order=permuted", "run.shards=3"}, 2},
  };
  for (const auto& [mode, threads] : modes) {
    const Result result = run_in(text, mode, threads);
    const std::string label = fmt::format("{}\n{} threads, {}", text, threads, fmt::join(mode, ", "));
    EXPECT_EQ(result.state_hash, expected.state_hash) << label;
    EXPECT_EQ(report(result), report(expected)) << label;
    EXPECT_EQ(result.trees == nullptr, expected.trees == nullptr) << label;
    if (result.trees != nullptr && expected.trees != nullptr) { EXPECT_EQ(*result.trees, *expected.trees) << label; }
  }
}

/// Small networks of every switch model, from idle to deadlocked, with every kind of traffic that they take.
class Draw {
 public:
  explicit Draw(u64 salt) : word_(mix64(salt)) {}

  std::string experiment() {
    pick_network();
    const bool sessions = below(2) == 0;
    const std::string traffic = sessions ? finite_traffic() : endless_traffic();
    return fmt::format("topology = {}\nswitch = {}\nrouting = {}\ntraffic = [{}]\nrun = {{ {} }}\n", topology_, switch_,
                       routing_, traffic, run(sessions));
  }

 private:
  u64 below(u64 n) {
    word_ = mix64(word_);
    return word_ % n;
  }
  template <class T>
  T one_of(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  std::string text(std::initializer_list<const char*> values) { return one_of(values); }

  void pick_network() {
    switch (below(8)) {
      case 0:
        topology_ = "{ name = 'mesh', size = [4, 3] }";
        routing_ = "'dimension_order'";
        model_ = text({"vc_router", "input_buffer", "central_buffer"});
        break;
      case 1:  // wedges
        topology_ = "{ name = 'torus', size = [4, 4] }";
        routing_ = "{ name = 'dimension_order', datelines = false }";
        switch_ = fmt::format("{{ name = 'vc_router', vcs = 1, buffer = {} }}", one_of({1, 4}));
        return;
      case 2:
        topology_ = "{ name = 'torus', size = [4, 4] }";
        routing_ = "'dimension_order'";
        model_ = text({"vc_router", "circuit", "packet_node"});
        break;
      case 3:
        topology_ = "{ name = 'fat_tree', arity = 2, levels = 3 }";
        routing_ = "'nearest_common_ancestor'";
        model_ = text({"vc_router", "input_buffer", "central_buffer"});
        break;
      case 4:
        topology_ = "{ name = 'bidirectional_min', hosts = 16, ports = 8 }";
        routing_ = "'nearest_common_ancestor'";
        model_ = text({"input_buffer", "central_buffer"});
        worms_ = below(3) != 0;
        break;
      case 5:
        topology_ = "{ name = 'bidirectional_min', hosts = 16, ports = 4 }";
        routing_ = "{ name = 'nearest_common_ancestor', up = 'destination_digit' }";
        model_ = "cioq";
        break;
      case 6:
        topology_ = "{ name = 'extra_stage_cube', terminals = 16, radix = 2 }";
        routing_ = "'isolated_hot_spot'";
        model_ = "output_queued";
        break;
      default:
        topology_ = "{ name = 'hypercube', degree = 4 }";
        routing_ = "'dimension_order'";
        model_ = text({"packet_node", "circuit", "vc_router"});
    }
    switch_ = switch_of(model_);
  }

  std::string switch_of(const std::string& model) {
    if (model == "vc_router") {
      return fmt::format("{{ name = 'vc_router', vcs = {}, buffer = {} }}", one_of({2, 4}), one_of({1, 4}));
    }
    if (model == "central_buffer") {
      return fmt::format(
          "{{ name = 'central_buffer', fifo = {}, chunks = {}, space = '{}', bypass = '{}', idle_output = '{}' }}",
          one_of({16, 64}), one_of({16, 24, 64, 256}), text({"guarded", "guarantee", "none"}),
          text({"single_output", "unicast", "never"}), text({"uncontended", "with_room"}));
    }
    if (model == "input_buffer") {
      return fmt::format("{{ name = 'input_buffer', fifo = {}, space = '{}', arbitration = '{}' }}",
                         one_of({16, 64, 320}), text({"guaranteed", "any"}), text({"oldest_first", "per_output"}));
    }
    if (model == "cioq") {
      return fmt::format("{{ name = 'cioq', speedup = {}, queues = '{}' }}", text({"1.0", "1.5"}),
                         text({"1q", "voqsw", "voqnet", "recn_basic", "recn_enhanced"}));
    }
    return "'" + model + "'";
  }

  std::string load() { return model_ == "packet_node" ? text({"0.02", "0.1"}) : text({"0.05", "0.3", "0.6", "0.95"}); }
  std::string size() {
    if (model_ == "output_queued" || model_ == "circuit" || model_ == "packet_node") return "";
    return model_ == "cioq" ? ", size = 64" : fmt::format(", size = {}", one_of({1, 3, 16}));
  }
  std::string endless_traffic() {
    if (worms_) {
      return fmt::format("{{ name = 'multicast', load = {}, degree = {}, size = {} }}", load(), one_of({2, 4, 9}),
                         one_of({16, 64}));
    }
    return fmt::format("{{ name = 'uniform', load = {}{} }}", load(), size());
  }
  std::string finite_traffic() {
    if (worms_) return "{ name = 'multicast_collective', size = 16 }";
    if (model_ != "output_queued" && below(2) == 0) return fmt::format("{{ name = 'collective'{} }}", size());
    std::string all = fmt::format("{{ name = 'synchronization', mean = {}, deviation = 10 }}", one_of({100, 400}));
    if (below(3) != 0) all += fmt::format(", {{ name = 'uniform', load = {}, include_self = true }}", load());
    return all;
  }
  std::string run(bool sessions) {
    std::string all = fmt::format("seed = {}, audit = 'full', watchdog = {}", below(1000), one_of({0, 0, 300, 10000}));
    if (sessions) {
      all += fmt::format(", sessions = {}, session_limit = {}, series = '{}'", one_of({1, 3}),
                         one_of({500, 3000, 20000}), text({"none", "all"}));
    } else {
      all += fmt::format(", warmup = {}, measure = {}, drain = {}", one_of({0, 300}), one_of({500, 2000}),
                         one_of({0, 100, 3000}));
    }
    if (below(3) == 0) all += fmt::format(", trees = true, trees_interval = {}", one_of({10, 100}));
    return all;
  }

  u64 word_;
  std::string topology_;
  std::string routing_;
  std::string model_ = "vc_router";
  std::string switch_;
  bool worms_ = false;
};

void draw_and_compare(u64 first, u64 runs) {
  u64 done = 0;
  for (u64 salt = first; done < runs; ++salt) {
    const std::string text = Draw(salt).experiment();
    try {
      expect_equal_in_all_modes(text);
      ++done;
    } catch (const ConfigError&) {}  // what does not fit together is refused
    ASSERT_FALSE(testing::Test::HasFailure()) << "salt " << salt;
    ASSERT_LT(salt - first, 2 * runs + 20) << "too many are refused";
  }
}

TEST(RunModes, RandomRunsAreEqual) { draw_and_compare(1, test::tries(60, 6)); }
TEST(SlowRunModes, ThousandRandomRunsAreEqual) { draw_and_compare(1'000'000, 1000); }

const std::string kRing =
    "topology = { name = 'torus', size = [8, 8] }\nswitch = { name = 'vc_router', vcs = 1, buffer = 1 }\n"
    "routing = { name = 'dimension_order', datelines = false }\n";

/// The watchdog alone may say that a network is deadlocked: without it packets that are left are so many packets.
TEST(RunModes, WithoutTheWatchdogNobodySaysDeadlocked) {
  const std::string sessions = kRing +
                               "traffic = [{ name = 'synchronization', mean = 100 }, "
                               "{ name = 'uniform', load = 0.9, size = 5 }]\n"
                               "run = { sessions = 1, session_limit = 3000, watchdog = 0, trees = true, "
                               "trees_interval = 100, series = 'all' }\n";
  const std::string steady = kRing +
                             "traffic = { name = 'uniform', load = 0.9, size = 5 }\n"
                             "run = { warmup = 100, measure = 900, drain = 500, watchdog = 0 }\n";
  for (const std::string& text : {sessions, steady}) {
    EXPECT_EQ(run_in(text, {}).verdict, Verdict::saturated) << text;
    expect_equal_in_all_modes(text);
    EXPECT_EQ(run_in(text, {"run.watchdog=600"}).verdict, Verdict::deadlocked) << text;
  }
  EXPECT_EQ(run_in(sessions, {}).trees->record().samples.size(), 30U) << "one per 100 ticks, up to the limit";
}

/// The other packets are deadlocked before the session begins: in its first ticks nothing is due, and they are there.
TEST(RunModes, ASessionThatBeginsAmongDeadlockedPacketsRecordsThem) {
  const std::string text =
      "topology = { name = 'torus', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 1, buffer = 1 }\n"
      "routing = { name = 'dimension_order', datelines = false }\n"
      "traffic = [{ name = 'synchronization', mean = 400, deviation = 10 }, { name = 'uniform', load = 0.95, "
      "include_self = true }]\n"
      "run = { seed = 232, watchdog = 10000, sessions = 1, session_limit = 500, series = 'all' }\n";
  expect_equal_in_all_modes(text);
  for (const stats::Series& s : run_in(text, {}).series) {
    if (s.name == "occupancy_level_0") { EXPECT_GT(s.values.front(), 0.0); }
  }
}

}  // namespace
}  // namespace banyan::api::run_modes_test
