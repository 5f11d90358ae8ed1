// Is it said before a network is built what it needs, and is what cannot fit refused?
#include "banyan/api/needs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "banyan/core/registry.hpp"
#include "cli/program.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

namespace banyan::cli::needs_test {
namespace {

using nlohmann::json;

class Needs : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }
};

std::string experiment(const std::string& topology, const std::string& model, const std::string& routing,
                       const std::string& traffic) {
  return "topology = " + topology + "\nswitch = " + model + "\nrouting = " + routing + "\ntraffic = " + traffic +
         "\n[run]\nwarmup = 100\nmeasure = 200\ndrain = 100\n";
}

/// The peak of a run against the estimate, for every switch model, in networks of very different degree; none of them
/// saturates.
TEST_F(Needs, MemoryIsWhatARunTakesToWithinTheStatedFactor) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  const std::string light = "{ name = \"uniform\", load = 0.1 }";
  const std::string worms = "{ name = \"uniform\", load = 0.1, size = 8 }";
  const std::string tree = "{ name = \"fat_tree\", arity = 4, levels = 5 }";
  const std::string wide = "{ name = \"fat_tree\", arity = 8, levels = 3 }";
  const std::string cube = "{ name = \"multistage_cube\", terminals = 4096, radix = 4 }";
  const std::string turns = "\"nearest_common_ancestor\"";
  const std::string fixed = "{ name = \"nearest_common_ancestor\", up = \"d_mod_k\" }";
  const std::string files[] = {
      experiment("{ name = \"mesh\", size = [56, 56] }", "\"vc_router\"", "\"dimension_order\"", light),
      experiment("{ name = \"mesh\", size = [48, 48] }", "{ name = \"vc_router\", buffer = 32 }", "\"dimension_order\"",
                 light),
      experiment("{ name = \"hypercube\", degree = 11 }", "\"vc_router\"", "\"ecube\"", light),
      experiment(tree, "\"vc_router\"", turns, light),
      experiment(tree, "\"input_buffer\"", turns, worms),
      experiment(tree, "\"input_buffer\"", turns, light),
      experiment(wide, "\"input_buffer\"", turns, light),
      experiment(tree, "\"central_buffer\"", turns, worms),
      experiment(wide, "\"central_buffer\"", turns, light),
      experiment(tree, "\"cioq\"", fixed, "{ name = \"uniform\", load = 0.1, size = 64 }"),
      experiment(wide, "\"cioq\"", fixed, "{ name = \"uniform\", load = 0.1, size = 64 }"),
      experiment(cube, "\"output_queued\"", "\"destination_tag\"", light),
      experiment(cube, "{ name = \"output_queued\", buffer = 64 }", "\"destination_tag\"", light),
      experiment("{ name = \"hypercube\", degree = 12 }", "\"packet_node\"", "\"qap\"",
                 "{ name = \"uniform\", load = 0.02 }"),
      experiment("{ name = \"hypercube\", degree = 11 }", "\"circuit\"", "\"ecube\"",
                 "{ name = \"uniform\", load = 0.02 }"),
      experiment("{ name = \"mesh\", size = [56, 56] }", "\"packet_node\"", "\"dimension_order\"",
                 "{ name = \"uniform\", load = 0.02 }"),
      experiment("{ name = \"torus\", size = [48, 48] }", "\"circuit\"", "\"dimension_order\"",
                 "{ name = \"uniform\", load = 0.01 }"),
      experiment(tree, "\"ideal\"", turns, worms),
      experiment("{ name = \"hypercube\", degree = 12 }", "\"ideal\"", "\"ecube\"", worms),
  };
  for (const core::SwitchRow* row : core::switching_rows()) {
    const auto there = std::count_if(std::begin(files), std::end(files), [&](const std::string& text) {
      return contains(text, "\"" + row->info.name + "\"");
    });
    EXPECT_GE(there, 2) << "two networks with the switch " << row->info.name << " are to be among `files`";
  }
  for (const std::string& text : files) {
    const auto needs = api::needs_of(api::read_experiments_text(text, "test.toml", {}).points.front());
    ASSERT_TRUE(needs.has_value()) << text;
    write_text("run.toml", text);
    const Said said = banyan({"run", "run.toml", "--json", "--quiet"});
    ASSERT_EQ(said.status, 0) << said.err;
    const double ratio = needs->bytes / json::parse(said.out)["peak_bytes"].get<double>();
    EXPECT_LT(ratio, api::kMemoryFactor) << text;
    EXPECT_GT(ratio, 1.0 / api::kMemoryFactor) << text;
    RecordProperty("ratio", std::to_string(ratio));
    std::printf("[   factor ] %.2f %s", ratio, text.substr(0, text.find("routing")).c_str());
  }
}

/// Wheels with a place for every cycle of the latency took 3.2 GB; those with one for every cycle that a full output
/// queue takes to leave over a slow channel took all that there was.
TEST_F(Needs, MemoryDoesNotGrowWithTheLatencyOfChannelsOrTheirSlowness) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers take memory of their own";
  u32 distant = 0;
  u32 slow = 0;
  const auto expect_small = [&](const std::string& name, const std::string& parameters, const std::string& key) {
    /// The peak of a run, in bytes; 0: the model refuses such channels, and says so.
    const auto peak = [&](u64 cycles) -> double {
      const std::string number = std::to_string(cycles);
      const std::string terminals = key == "latency" ? ", terminal_latency = " + number : "";
      write_text("run.toml",
                 "topology = { name = \"mesh\", size = [8, 8], " + key + " = [" + number + "]" + terminals +
                     " }\nswitch = { name = \"" + name + "\"" + parameters +
                     " }\nrouting = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.01, size = 64 }\n"
                     "run = { duration = " +
                     std::to_string(key == "latency" ? cycles + cycles / 4 + 2000 : 20'000) + " }\n");
      const Said said = banyan({"run", "run.toml", "--json", "--quiet"});
      if (said.status == 2) {
        EXPECT_TRUE(contains(said.err, "channel") || contains(said.err, "length")) << name << ": " << said.err;
        return 0.0;
      }
      EXPECT_EQ(said.status, 0) << name << ": " << said.err;
      return json::parse(said.out)["peak_bytes"].get<double>();
    };
    const double near = peak(1);
    const double far = peak(1'048'576);
    if (far == 0.0) return;
    ++(key == "latency" ? distant : slow);
    EXPECT_LT(far, near + 10e6) << name << parameters << ", " << key;
    EXPECT_LT(far, 40e6) << name << parameters << ", " << key;
    std::printf("[     peak ] %s: %.1f MB, %.1f MB with %s 1,048,576\n", name.c_str(), near / 1e6, far / 1e6,
                key.c_str());
  };
  for (const core::SwitchRow* row : core::switching_rows()) {
    for (const char* key : {"latency", "cycles_per_flit"}) expect_small(row->info.name, "", key);
  }
  expect_small("vc_router", ", output_speedup = 2, output_buffer = 65535", "cycles_per_flit");
  EXPECT_GE(distant, 5U);
  EXPECT_GE(slow, 3U);
}

const std::string kHuge = experiment("{ name = \"mesh\", size = [4000, 4000] }", "\"vc_router\"", "\"dimension_order\"",
                                     "{ name = \"uniform\", load = 0.1 }");

TEST_F(Needs, WhatCannotFitIsRefusedAtOnceWithItsFigure) {
  const api::ExperimentSet set = api::read_experiments_text(kHuge, "test.toml", {});
  try {
    api::require_fit(set.points, 1, 16e9);
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_TRUE(contains(error.cause(), "16000000 switches with 80000000 input ports need about 99")) << error.cause();
    EXPECT_TRUE(contains(error.cause(), " GB, and 16 GB are available")) << error.cause();
    EXPECT_TRUE(contains(error.remedy(), "smaller"));
    EXPECT_EQ(error.where().line, 1U);
  }
  EXPECT_NO_THROW(api::require_fit(set.points, 1, 1e12));
  // The program says the same in its own limit, before it builds.
  write_text("huge.toml", kHuge);
  for (const char* command : {"check", "run", "sweep"}) {
    const std::string line = "ulimit -v 4000000; cd " + shell_word(scratch().string()) + "; timeout 60 " +
                             shell_word(BANYAN_PROGRAM) + " " + command + " huge.toml 2>.err";
    if (test::kSanitized) continue;
    const int raw = std::system(line.c_str());
    EXPECT_EQ(WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, 2) << command;
    EXPECT_TRUE(contains(read_text(scratch() / ".err"), "need about 99")) << read_text(scratch() / ".err");
  }
}

/// Not when the first cycle is simulated, half a minute later; nor at once, since bad input gets one error and nothing
/// else.
TEST_F(Needs, IsSaidBeforeTheNetworkIsBuilt) {
  write_text("large.toml",
             "topology = { name = 'mesh', size = [300, 300] }\nswitch = 'vc_router'\ntraffic = 'uniform'\n");
  for (const char* command : {"run", "sweep"}) {
    const std::string line = "cd " + shell_word(scratch().string()) + "; timeout 5 " + shell_word(BANYAN_PROGRAM) +
                             " " + command + " large.toml >/dev/null 2>.err";
    static_cast<void>(std::system(line.c_str()));
    const std::string said = read_text(scratch() / ".err");
    EXPECT_EQ(said.rfind("banyan: needs about ", 0), 0U) << command << ": " << said;
  }
}

/// Between what is available and twice of it.
TEST_F(Needs, WhatMayNotFitIsSaid) {
  const auto points =
      api::read_experiments_text(
          "topology = { name = 'mesh', size = [1500, 1500] }\nswitch = 'vc_router'\ntraffic = 'uniform'\n", "test.toml",
          {})
          .points;
  const std::string plenty = api::needs_text(points, 1, 1e15);
  ASSERT_TRUE(contains(plenty, "needs about ")) << plenty;
  EXPECT_FALSE(contains(plenty, "may not fit")) << plenty;
  EXPECT_TRUE(contains(api::needs_text(points, 1, 1e9), "; it may not fit: 1 GB are available"))
      << api::needs_text(points, 1, 1e9);
}

TEST_F(Needs, MuchIsSaidAndLittleIsNot) {
  const auto text_of = [](const std::string& text, const api::Overrides& overrides, u32 at_once) {
    return api::needs_text(api::read_experiments_text(text, "test.toml", overrides).points, at_once);
  };
  EXPECT_EQ(text_of(kSteady, {}, 1), "");
  EXPECT_EQ(text_of(kSwept, {}, 64), "");
  EXPECT_TRUE(contains(text_of(kHuge, {}, 1), " GB and ")) << text_of(kHuge, {}, 1);
  EXPECT_TRUE(contains(text_of(kSteady, {"measure=1e10"}, 1), "of CPU time"));
  // Points at once need their memory at once.
  const std::string mesh = experiment("{ name = \"mesh\", size = [350, 350] }", "\"vc_router\"", "\"dimension_order\"",
                                      "{ name = \"uniform\", load = 0.01 }") +
                           "[sweep]\n\"traffic.load\" = [0.01, 0.02, 0.03]\n";
  EXPECT_EQ(text_of(mesh, {}, 1), "");
  EXPECT_TRUE(contains(text_of(mesh, {}, 2), "needs about 1.")) << text_of(mesh, {}, 2);
}

/// The first point of a file, as it is where it is neither prolonged nor cut short.
api::Experiment first_point(const std::string& file, api::Overrides overrides) {
  overrides.insert(overrides.end(), {"run.extension=1", "run.settle=0"});
  return api::read_experiments((test::repository_root() / file).string(), overrides).points.front();
}

/// Work, not time: a machine may be as slow as it likes. Gives the announced CPU seconds over those that it took, for
/// runs to be compared with each other; 0: nothing is announced.
double expect_work(const std::string& file, const api::Overrides& overrides = {}) {
  SCOPED_TRACE(file);
  const api::Experiment experiment = first_point(file, overrides);
  if (!experiment.jobs.empty()) return 0.0;
  api::WorkOfRuns work_of;
  const std::optional<api::Work> work = work_of(experiment);
  EXPECT_TRUE(work);
  if (!work) return 0.0;
  const api::Result result = api::run(experiment);
  const auto expect_near = [&](const char* what, double estimate, double counted) {
    const double ratio = estimate / counted;
    EXPECT_LT(ratio, api::kWorkFactor) << what << ": " << estimate << " for " << counted;
    EXPECT_GT(ratio, 1.0 / api::kWorkFactor) << what << ": " << estimate << " for " << counted;
    std::printf("[   factor ] %.2f of %s, %s\n", ratio, what, file.c_str());
  };
  const double packets = result.at("delivered_packets").mean;
  const stats::Metric* const hops = result.find("hops");
  // Where nothing meets, packets cross no channel that is counted: what is announced are their starts and arrivals.
  const bool hop = hops == nullptr || hops->mean > 0.0;
  const double packet_hops = packets * (hops == nullptr ? work->passed : hops->mean);
  if (work->at_least) {
    EXPECT_LT(work->packet_hops(), api::kWorkFactor * packet_hops);
    return 0.0;
  }
  if (hop) expect_near("packet hops", work->packet_hops(), packet_hops);
  const double cycles = result.at("simulated_cycles").mean;
  if (work->cycles > 0.0) expect_near("cycles", work->cycles, cycles);
  // All models state what they cost, so that a time comes out of it.
  const double seconds = api::seconds_of(experiment, *work);
  const std::optional<api::Needs> needs = api::needs_of(experiment);
  const double announced = seconds + (needs ? needs->build_seconds : 0.0);
  std::printf("[   factor ] %.2f of %.3f seconds\n", announced / result.cpu_seconds, result.cpu_seconds);
  EXPECT_GT(seconds, 1e-9 * packets);
  EXPECT_LT(seconds, 1e-5 * (packets * work->passed + cycles));
  return announced / result.cpu_seconds;
}

TEST_F(Needs, WorkIsWhatARunDoesToWithinTheStatedFactor) {
  int files = 0;
  for (const char* folder : {"examples/", "bench/workloads/"}) {
    for (const std::string& file : test::project_files(folder, {".toml"})) {
      if (std::count(file.begin(), file.end(), '/') != std::count(folder, folder + std::strlen(folder), '/')) continue;
      expect_work(file);
      ++files;
    }
  }
  EXPECT_GT(files, 20);
  // Packets of 9,000 flits from few terminals: 2 hours were announced for some seconds.
  expect_work("studies/remedies/collateral.toml", {"run.duration=6 ms"});
}

/// Runs beside each other on one machine, as fast or slow as it is: a model whose packets cost more is announced with
/// more. Circuits were announced with a sixth, links with a rate whose packets are long with ten times their time.
TEST_F(Needs, TimesOfModelsAreInProportion) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers cost some models more than others";
  const double usual = expect_work("bench/workloads/mesh.toml");
  EXPECT_GT(usual, 0.0);
  constexpr double kFactor = 6.0;  // three for what caches hold, either way, and neighbours that come and go
  for (const auto& [file, overrides] : std::initializer_list<std::pair<const char*, api::Overrides>>{
           {"bench/workloads/circuit.toml", {}},
           {"examples/circuit-torus.toml", {}},
           {"bench/workloads/cioq.toml", {}},
           {"bench/workloads/hypercube.toml", {}},
           {"bench/workloads/central-buffer.toml", {}},
           {"studies/remedies/collateral.toml", {"run.duration=6 ms"}}}) {
    const double ratio = expect_work(file, overrides) / usual;
    EXPECT_LT(ratio, kFactor) << file;
    EXPECT_GT(ratio, 1.0 / kFactor) << file;
  }
}

/// Replies that are many times as long as their requests: as many as the network without a limit delivers, and no more
/// than terminals with a limit can send.
TEST_F(Needs, RepliesCountByTheirLength) {
  const std::string traffic = "{ name = \"uniform\", load = 0.1, reply_size = [1000], max_packet = 1 }";
  const auto packets = [&](const std::string& model) {
    const std::string text = "topology = { name = \"mesh\", size = [4, 4] }\nswitch = \"" + model +
                             "\"\nrouting = \"dimension_order\"\ntraffic = " + traffic + "\n[run]\nduration = 1000\n";
    const api::Experiment experiment = api::read_experiments_text(text, "test.toml", {}).points.front();
    const double counted = api::run(experiment).at("delivered_packets").mean;
    return std::pair(api::WorkOfRuns()(experiment)->packets, counted);
  };
  const auto [unlimited, delivered] = packets("ideal");
  EXPECT_NEAR(unlimited / delivered, 1.0, 0.2);
  const auto [limited, fewer] = packets("vc_router");
  EXPECT_LT(limited / fewer, api::kWorkFactor);
  EXPECT_GT(limited / fewer, 1.0 / api::kWorkFactor);
}

/// How long sessions last beside other traffic nobody knows, but their own messages have to be sent.
TEST_F(Needs, SessionsBesideOtherTrafficTakeAtLeastWhatTheirMessagesTake) {
  const auto point = [](const std::string& beside, const std::string& reply = "16000") {
    const std::string text = "topology = { name = \"bidirectional_min\", hosts = 8 }\nswitch = \"ideal\"\n" +
                             std::string("[[traffic]]\nname = \"uniform\"\nload = 1.0\nbatch = 7\nmax_packet = 5\n") +
                             "reply_size = [" + reply + "]\n" + beside;
    return api::read_experiments_text(text, "test.toml", {}).points.front();
  };
  const api::Experiment alone = point("");
  const std::string other = "[[traffic]]\nname = \"uniform\"\nload = 0.001\n";
  const api::Experiment disturbed = point(other);
  const std::optional<api::Work> work = api::WorkOfRuns()(disturbed);
  ASSERT_TRUE(work);
  EXPECT_TRUE(work->at_least);
  EXPECT_FALSE(api::WorkOfRuns()(alone)->at_least);
  EXPECT_EQ(work->packets, api::WorkOfRuns()(alone)->packets);
  EXPECT_LT(work->packets, api::kWorkFactor * api::run(disturbed).at("delivered_packets").mean);
  const std::string text = api::needs_text(std::vector<api::Experiment>(1000, point(other, "1600000")), 1);
  EXPECT_TRUE(contains(text, " and at least ")) << text;
}

TEST_F(Needs, ARunThatMayGoOnSaysSo) {
  const std::string mesh = experiment("{ name = \"mesh\", size = [8, 8] }", "\"vc_router\"", "\"dimension_order\"",
                                      "{ name = \"uniform\", load = 0.3 }");
  const auto text_of = [&](const api::Overrides& overrides) {
    return api::needs_text(api::read_experiments_text(mesh, "test.toml", overrides).points, 1);
  };
  EXPECT_EQ(text_of({"measure=1e6"}), "");
  const std::string said = text_of({"measure=1e6", "run.extension=1000"});
  EXPECT_TRUE(contains(said, "where verdicts stay uncertain (run.extension)")) << said;
  EXPECT_FALSE(contains(text_of({"measure=1e9"}), "uncertain"));
}

/// Memory that no flit touches is not taken; what the system would not even promise is refused in words.
TEST_F(Needs, OfLargeBuffersWhatTheFlitsUseOfThemCounts) {
  const std::string torus = experiment("{ name = \"torus\", size = [64, 64] }", "{ name = \"vc_router\", vcs = 16 }",
                                       "\"dimension_order\"", "{ name = \"uniform\", load = 0.1, size = 4 }");
  const auto points = [&](const api::Overrides& overrides) {
    return api::read_experiments_text(torus, "test.toml", overrides).points;
  };
  const auto bytes = [](const api::Experiment& of) { return api::needs_of(of)->bytes; };
  EXPECT_GT(bytes(points({"switch.buffer=4096", "run.duration=20"}).front()), 8e9);
  EXPECT_NO_THROW(api::require_fit(points({"switch.buffer=4096", "run.duration=20"}), 1, 2e9));
  const api::Overrides runs{"switch.buffer=512", "run.duration=100"};
  const double peak = static_cast<double>(api::run(points(runs).front()).peak_bytes);
  EXPECT_LT(peak, 1.5e9) << "of " << bytes(points(runs).front());
  EXPECT_NO_THROW(api::require_fit(points(runs), 1, 0.75e9));
  EXPECT_THROW(api::require_fit(points({"switch.buffer=4096", "run.duration=100000"}), 1, 2e9), ConfigError)
      << "flits come by until all of it is used";
  EXPECT_THROW(api::require_fit(points({"switch.vcs=64", "switch.buffer=65535", "run.duration=20"}), 1, 2e9),
               ConfigError);
}

TEST_F(Needs, SubnetworksCount) {
  const auto bytes = [](i64 copies) {
    const std::string text =
        experiment("{ name = \"mesh\", size = [64, 64], subnetworks = " + std::to_string(copies) + " }",
                   "\"vc_router\"", "\"dimension_order\"", "\"uniform\"");
    return api::needs_of(api::read_experiments_text(text, "test.toml", {}).points.front())->bytes;
  };
  EXPECT_GT(bytes(4), 3.0 * bytes(1));
}

/// A long latency is no memory: two messages that are under way take that of two.
TEST_F(Needs, OfAnIdealNetworkAreThoseOfItsMessages) {
  write_text("two.trace", "# banyan trace 1\n0 0 0 3 1\n1 0 3 0 1\n");
  const std::string trace = "{ name = \"trace\", file = \"two.trace\" }";
  write_text("far.toml",
             "topology = { name = \"mesh\", size = [128, 128] }\nswitch = { name = \"ideal\", latency = "
             "1000000 }\ntraffic = " +
                 trace + "\n");
  const Said said = banyan({"run", "far.toml", "--quiet"});
  EXPECT_EQ(said.status, 0) << said.err;
}

/// What a long run waits for is named.
TEST_F(Needs, OfALongRunNameWhatItWaitsFor) {
  write_text("long.toml", experiment("{ name = \"mesh\", size = [8, 8] }", "\"vc_router\"", "\"dimension_order\"",
                                     "{ name = \"uniform\", load = 0.3 }"));
  const Said precise = banyan({"check", "long.toml", "run.measure=1e8", "run.precision=0.01"});
  EXPECT_NE(precise.err.find("run.precision_limit"), std::string::npos) << precise.err;
  EXPECT_EQ(precise.err.find("run.extension"), std::string::npos) << precise.err;
  const Said certain = banyan({"check", "long.toml", "run.measure=1e8", "run.extension=16"});
  EXPECT_NE(certain.err.find("run.extension"), std::string::npos) << certain.err;
}

}  // namespace
}  // namespace banyan::cli::needs_test
