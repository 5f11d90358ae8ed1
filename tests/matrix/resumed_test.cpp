// Does another machine go on from the state of any network as the first one does, in every bit that it keeps? Every
// switch with its routings and traffics, admissions, threads, and random experiments; what cannot be written says so.
#include "support/resumed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "banyan/api/result.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"
#include "experiments/generator.hpp"

namespace banyan::resumed_test {
namespace {

using test::Combination;

constexpr Tick kTo = 2500;
/// The only component that is refused: its messages come from the outside.
constexpr const char* kUnwritten = "injected";

/// Where a machine is left: any tick, a different one each time.
Tick tick_of(std::size_t i) { return 1 + (i * 7919 + 311) % (kTo - 2); }

struct Tried {
  std::map<std::string, unsigned> by_switch;
  unsigned refused = 0;

  void one(const std::string& name, const api::Experiment& experiment, Tick from) {
    try {
      const api::Network network = api::build_network(experiment);
      const std::string difference = test::difference_when_resumed(experiment, network, from, kTo);
      EXPECT_EQ(difference, "") << name << " from tick " << from;
      ++by_switch[experiment.switching.component()];
    } catch (const ConfigError&) { ++refused; } catch (const NotArchived& error) {
      const auto is_unwritten = [](const config::Values& traffic) { return traffic.component() == kUnwritten; };
      EXPECT_TRUE(std::any_of(experiment.traffics.begin(), experiment.traffics.end(), is_unwritten))
          << name << ": the " << error.what()
          << " has no archive(): docs/how-to/add-a-component.md, What tests ask for";
    }
  }
  void expect_all_switches() const {
    for (const core::SwitchRow* row : core::switching_rows())
      EXPECT_TRUE(by_switch.contains(row->info.name)) << row->info.name;
  }
};

constexpr const char* kRun = "warmup = 200, measure = 2200, sessions = 1, audit = 'full'";

TEST(Resumed, EveryCombinationGoesOnInEveryBit) {
  Tried tried;
  std::size_t i = 0;
  const std::vector<Combination> all = test::some_combinations();
  for (const Combination& c : all) {
    ++i;
    try {
      tried.one(c.name(), c.experiment(kRun), tick_of(i));
    } catch (const ConfigError&) { ++tried.refused; }
  }
  tried.expect_all_switches();
}

TEST(Resumed, FarBeyondSaturationAndInSeveralShards) {
  Tried tried;
  std::size_t i = 0;
  for (const Combination& c : test::some_combinations()) {
    if (++i % 3 != 0) continue;
    try {
      tried.one(c.name(), c.experiment(std::string(kRun) + ", shards = 3", {{"load", "0.9"}}), tick_of(i));
    } catch (const ConfigError&) { ++tried.refused; }
  }
  tried.expect_all_switches();
}

TEST(Resumed, EveryAdmission) {
  std::set<std::string> seen;
  for (const core::AdmissionRow* row : core::admission_rows()) {
    for (const char* feedback : {"words", "packets"}) {
      for (const char* shards : {"1", "3"}) {
        std::string text = fmt::format(
            "topology = {{ name = 'mesh', size = [4, 4] }}\nrouting = 'dimension_order'\n"
            "switch = {{ name = 'vc_router', mark.low = 2, mark.high = 6 }}\n"
            "traffic = {{ name = 'hot_spot', load = 0.5, size = 4 }}\nadmission = {{ name = '{}' }}\n"
            "run = {{ {}, shards = {} }}\n",
            row->info.name, kRun, shards);
        try {
          api::Experiment experiment = api::read_experiments_text(text, "admission", {}).points.front();
          if (experiment.admission.all().contains("feedback"))
            experiment.admission.set("feedback", std::string(feedback));
          Tried tried;
          tried.one(row->info.name, experiment, tick_of(seen.size() + 5));
          if (!tried.by_switch.empty()) seen.insert(row->info.name);
        } catch (const ConfigError& error) { ADD_FAILURE() << error.what(); }
      }
    }
  }
  for (const core::AdmissionRow* row : core::admission_rows())
    EXPECT_TRUE(seen.contains(row->info.name)) << row->info.name;
}

TEST(Resumed, ReductionsInTheNetwork) {
  const std::string text = fmt::format(
      "topology = {{ name = 'bidirectional_min', hosts = 16, ports = 8 }}\nrouting = 'nearest_common_ancestor'\n"
      "switch = 'central_buffer'\n[[traffic]]\nname = 'multicast_collective'\noperation = 'all_reduce'\n"
      "implementation = 'in_network'\niterations = 100\n[[traffic]]\nname = 'uniform'\nload = 0.2\n[run]\n{}\n",
      "sessions = 1\naudit = 'full'");
  const api::Experiment experiment = api::read_experiments_text(text, "reductions", {}).points.front();
  Tried tried;
  for (std::size_t i = 0; i < 20; ++i) tried.one("reductions", experiment, tick_of(i));
  EXPECT_EQ(tried.by_switch["central_buffer"], 20U);
}

/// Experiments from all rows, with values from the whole of their ranges.
void expect_random_ones(u64 seed, u64 count) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(testing::TempDir()) / fmt::format("resumed-{}", getpid());
  fs::create_directories(folder);
  const test::experiments::Generator generator;
  Tried tried;
  for (u64 i = 0; i < count; ++i) {
    const test::experiments::Recipe recipe = generator.make(seed, i);
    const std::string text = test::experiments::to_toml(recipe);
    test::experiments::write_files(recipe, folder);
    try {
      const std::string file = (folder / "experiment.toml").string();
      const api::Experiment experiment = api::read_experiments_text(text, file, {}).points.front();
      if (!experiment.jobs.empty()) continue;  // jobs have no checkpoints
      const core::TopologyRow& row = api::topology_row(experiment);
      if (row.size != nullptr && row.size(experiment.topology).channels > 2000) continue;
      const i64 window = experiment.run.integer("window");
      if (window != 0 && experiment.run.integer("duration") / window > 100'000) continue;  // run() refuses it
      tried.one(text, experiment, tick_of(i));
    } catch (const ConfigError&) { ++tried.refused; } catch (const std::bad_alloc&) {
      ADD_FAILURE() << "experiment " << i << " of seed " << seed << " found no memory:\n" << text;
    }
  }
  fs::remove_all(folder);
  unsigned all = 0;
  for (const auto& [name, times] : tried.by_switch) all += times;
  fmt::print("{} random experiments went on, {} were refused\n", all, tried.refused);
  EXPECT_GT(all, count / 20);
}

TEST(Resumed, RandomExperiments) {
  expect_random_ones(test::experiments::number_from("BANYAN_EXPERIMENTS_SEED", 1),
                     test::experiments::number_from("BANYAN_EXPERIMENTS_COUNT", 300));
}
TEST(SlowResumed, RandomExperiments) { expect_random_ones(3, 10'000); }

/// All that is stored of a result, but for what it cost.
std::string text_of(api::Result result) {
  result.cpu_seconds = 0.0;
  result.peak_bytes = 0;
  return api::to_json(result);
}

/// Interrupts a run when it tells of its progress for the nth time, and lets it end in as many more pieces as it takes.
std::string text_in_pieces(const api::Experiment& experiment, u32 threads, int nth, const std::string& file) {
  api::RunOptions options;
  options.threads = threads;
  options.watches = {"packet=0:3"};
  options.checkpoint.file = file;
  for (int pieces = 0; pieces < 100; ++pieces) {
    bool stop = false;
    int told = 0;
    options.interrupted = &stop;
    options.progress = [&](u64, u64) { stop = ++told >= nth; };
    try {
      return text_of(api::run(experiment, options));
    } catch (const Interrupted&) {}
    options.checkpoint.resume = file;
    nth += 1;  // so that it gets on, however few steps one piece has
  }
  return "does not end";
}

TEST(Resumed, RunsInPiecesEndAsUndisturbedOnes) {
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2, buffer = 4 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'uniform', size = 4, load = 0.3 }\n";
  const std::string cube =
      "topology = { name = 'extra_stage_cube', terminals = 64, radix = 4 }\nswitch = { name = 'output_queued', buffer "
      "= 8 "
      "}\nrouting = 'isolated_hot_spot'\n[[traffic]]\nname = 'synchronization'\nmean = 200\ndeviation = 10\n"
      "[[traffic]]\nname = 'uniform'\nload = 0.5\ninclude_self = true\n";
  const std::vector<std::string> texts{
      mesh + "[run]\nwarmup = 500\nmeasure = 4000\ntrees = true\nactivity = true\n",
      mesh + "[run]\nwarmup = 100\nmeasure = 300\nextension = 16\n",  // looks again, longer
      mesh + "[run]\nwarmup = 500\nmeasure = 1000\nprecision = 0.02\n",
      mesh + "[run]\nduration = 5000\nwindow = 500\naudit = 'full'\nshards = 3\n",
      cube + "[run]\nsessions = 6\nseries = 'all'\ntrees = true\n",
  };
  const std::string file =
      (std::filesystem::path(testing::TempDir()) / fmt::format("pieces-{}.state", getpid())).string();
  for (const std::string& text : texts) {
    const api::Experiment experiment = api::read_experiments_text(text, "pieces", {}).points.front();
    for (const u32 threads : {1U, 2U}) {
      api::RunOptions options;
      options.threads = threads;
      options.watches = {"packet=0:3"};
      const std::string whole = text_of(api::run(experiment, options));
      for (const int nth : {1, 3}) EXPECT_EQ(text_in_pieces(experiment, threads, nth, file), whole) << text;
    }
  }
  std::filesystem::remove(file);
}

}  // namespace
}  // namespace banyan::resumed_test
