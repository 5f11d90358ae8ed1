// Is the knee bracketed to the width that was asked for, by verdicts that hold?
#include "banyan/api/knee.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "api/runs.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::knee_test {
namespace {

ReadExperiments reader(const std::string& text) {
  return [text](const Overrides& overrides) { return read_experiments_text(text, "test.toml", overrides); };
}

double total_load(const Experiment& experiment) {
  double sum = 0.0;
  for (const config::Values& traffic : experiment.traffics) sum += traffic.real("load");
  return sum;
}

/// A network that saturates above a load, and is uncertain near it while runs are short.
struct FakeNetwork {
  double knee = 0.4;
  i64 certain_from = 0;  ///< cycles
  double near = 0.05;
  bool steady_below_knee = false;  ///< what is uncertain is told by the knee all the same
  int runs = 0;
  i64 longest = 0;  ///< cycles that a run may measure

  Result operator()(const Experiment& experiment) {
    ++runs;
    const double load = total_load(experiment);
    Result result;
    result.verdict = load > knee ? Verdict::saturated : Verdict::steady;
    longest = std::max(longest, experiment.run.integer("measure") * experiment.run.integer("extension"));
    result.certain = std::abs(load - knee) > near || longest >= certain_from;
    if (!result.certain && !steady_below_knee) result.verdict = Verdict::steady;
    return result;
  }
};

Knee knee_of(FakeNetwork& network, double width, const std::string& text = kMesh, const std::string& key = "") {
  KneeOptions options;
  options.key = key;
  options.width = width;
  options.run = [&network](const Experiment& experiment) { return network(experiment); };
  return find_knee(reader(text), {}, options);
}

ConfigError refusal(const std::string& text, const std::string& key = "") {
  try {
    FakeNetwork network;
    static_cast<void>(knee_of(network, 0.1, text, key));
  } catch (const ConfigError& error) { return error; }
  ADD_FAILURE() << "no error was thrown";
  return {{}, "", ""};
}

const std::string kTwoTraffics =
    kMesh.substr(0, kMesh.find("traffic")) +
    "[[traffic]]\nname = \"uniform\"\nload = 0.3\n[[traffic]]\nname = \"permutation\"\nload = 0.1\n" +
    kMesh.substr(kMesh.find("[run]"));

TEST(Knee, IsBracketedToTheWidth) {
  for (const double knee : {0.003, 0.37, 0.5, 0.995}) {
    for (const double width : {0.1, 0.01, 0.001}) {
      FakeNetwork network{knee};
      const Knee found = knee_of(network, width);
      EXPECT_LE(found.low, knee);
      EXPECT_GT(found.high, knee);
      EXPECT_LE(found.high - found.low, width);
      EXPECT_TRUE(found.found);
      EXPECT_LE(network.runs, 2 + static_cast<int>(std::ceil(std::log2(1.0 / width))));
    }
  }
}

TEST(Knee, TheBoundThatAModelProvesStandsBesideTheBracket) {
  FakeNetwork within{0.37};
  const Knee found = knee_of(within, 0.01);
  ASSERT_TRUE(found.bound);
  EXPECT_EQ(found.bound->model, "throughput_bounds");
  EXPECT_GT(found.bound->load, 0.37);
  EXPECT_NE(to_text(found).find("upper bound: "), std::string::npos) << to_text(found);
  EXPECT_EQ(to_text(found).find("CONTRADICTION"), std::string::npos) << to_text(found);
  EXPECT_NE(to_json(found).find("\"model\": \"throughput_bounds\""), std::string::npos);
  // The bound is that of the traffic, not of the load at which it is asked for.
  FakeNetwork early{0.003};
  EXPECT_NEAR(knee_of(early, 0.001).bound->load, found.bound->load, 1e-9);
}

TEST(Knee, ABracketAboveAProvenBoundIsToldLoudly) {
  // All to one terminal: 15 sources share one flit per cycle.
  const std::string hot = kMesh.substr(0, kMesh.find("traffic")) +
                          "traffic = { name = \"hot_spot\", fraction = 1.0, load = 0.1 }\n" +
                          kMesh.substr(kMesh.find("[run]"));
  FakeNetwork beyond{0.5};
  const Knee found = knee_of(beyond, 0.01, hot);
  ASSERT_TRUE(found.bound);
  EXPECT_LT(found.bound->load, 0.3);
  EXPECT_NE(to_text(found).find("CONTRADICTION"), std::string::npos) << to_text(found);
}

/// Of 64 terminals the 8 on the diagonal of a transpose send nothing: what the most loaded channel carries is 1 / 8 in
/// the mean of all terminals, and 1 / 7 per terminal that sends, as the bracket counts.
TEST(Knee, ABoundCountsTerminalsAsTheBracketDoes) {
  const std::string transpose =
      "topology = { name = 'mesh', size = [8, 8] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
      "traffic = { name = 'permutation', pattern = 'transpose' }\nrun = { warmup = 100, measure = 100 }\n";
  FakeNetwork within{0.1428};
  const Knee found = knee_of(within, 0.001, transpose);
  ASSERT_TRUE(found.bound);
  EXPECT_NEAR(found.bound->accepted, 1.0 / 8, 1e-9);
  EXPECT_NEAR(found.bound->load, 1.0 / 7, 1e-9);
  EXPECT_EQ(to_text(found).find("CONTRADICTION"), std::string::npos) << to_text(found);
  FakeNetwork beyond{0.15};
  const Knee wrong = knee_of(beyond, 0.001, transpose);
  EXPECT_NE(to_text(wrong).find("CONTRADICTION"), std::string::npos) << to_text(wrong);
}

TEST(Knee, ANetworkThatNeverSaturatesSaysSoAfterOneRun) {
  FakeNetwork network{2.0};
  const Knee found = knee_of(network, 0.01);
  EXPECT_FALSE(found.found);
  EXPECT_EQ(found.low, 1.0);
  EXPECT_EQ(found.high, 1.0);
  EXPECT_EQ(network.runs, 1);
}

/// The run itself goes on, by the rule of all runs: the search asks once per load, and lets it go on for as long as a
/// run of the default length does, or longer where the file says so.
TEST(Knee, AnUncertainVerdictLetsTheRunGoOn) {
  FakeNetwork network{0.4, 16'000};
  const Knee found = knee_of(network, 0.01);
  EXPECT_TRUE(found.uncertain.empty());
  EXPECT_EQ(found.probes.size(), static_cast<std::size_t>(network.runs));
  const i64 measure = found.probes.front().experiment.run.integer("measure");
  EXPECT_EQ(network.longest, kDefaultExtension * measure);
  for (std::size_t i = 1; i < found.probes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(found.probes[i].load, found.probes[j].load);
  }
  FakeNetwork patient{0.4, 16'000};
  static_cast<void>(knee_of(patient, 0.1, kMesh + "extension = 100\n"));
  EXPECT_EQ(patient.longest, 100 * measure);
}

/// Near the knee one run of the file's length does not tell: a verdict is certain, or its run went on for as long as
/// any.
TEST(Knee, ShortRunsGoOnUntilTheirVerdictsAreCertain) {
  KneeOptions options;
  options.width = 0.1;
  const Knee found = find_knee(reader(kMesh), {"run.measure=500"}, options);
  u64 longest = 0;
  for (const Probe& probe : found.probes) {
    longest = std::max(longest, probe.measured);
    EXPECT_TRUE(probe.certain || probe.measured == 500 * static_cast<u64>(kDefaultExtension)) << to_text(found);
  }
  EXPECT_GT(longest, 500U);
  EXPECT_EQ(nlohmann::json::parse(to_json(found))["probes"].size(), found.probes.size());
}

TEST(Knee, AVerdictThatStaysUncertainIsSaid) {
  FakeNetwork network{0.4, 1'000'000};
  const Knee found = knee_of(network, 0.01);
  EXPECT_FALSE(found.uncertain.empty());
  EXPECT_LE(found.high - found.low, 0.01);
  EXPECT_NE(to_text(found).find("stayed uncertain at "), std::string::npos);
}

/// Where nothing arrives in time no verdict is certain, and neither is that the network does not saturate.
TEST(Knee, WhatIsUncertainAtTheGreatestLoadIsNotSaidToCarryIt) {
  KneeOptions options;
  options.width = 0.5;
  const Knee found =
      find_knee(reader(kMesh), {"topology.latency=30000", "switch.buffer=65535", "run.measure=500"}, options);
  EXPECT_FALSE(found.found);
  const std::string text = to_text(found);
  EXPECT_EQ(text.find("not saturated"), std::string::npos) << text;
  EXPECT_NE(text.find("not shown to saturate at the greatest load, 1"), std::string::npos) << text;
  EXPECT_NE(text.find("stayed uncertain at 1"), std::string::npos) << text;
  FakeNetwork sure{2.0};
  EXPECT_NE(to_text(knee_of(sure, 0.01)).find("not saturated at the greatest load, 1"), std::string::npos);
}

TEST(Knee, SeveralTrafficsKeepTheirProportion) {
  FakeNetwork network{0.44};
  const Knee found = knee_of(network, 0.01, kTwoTraffics);
  EXPECT_LE(found.low, 0.44);
  EXPECT_GT(found.high, 0.44);
  for (const Probe& probe : found.probes) {
    EXPECT_NEAR(probe.experiment.traffics[0].real("load"), 3.0 * probe.experiment.traffics[1].real("load"), 1e-12);
    EXPECT_NEAR(total_load(probe.experiment), probe.load, 1e-12);
  }
}

TEST(Knee, OneParameterMayBeVariedAlone) {
  FakeNetwork network{0.44};
  const Knee found = knee_of(network, 0.01, kTwoTraffics, "traffic.permutation.load");
  EXPECT_LE(found.low + 0.3, 0.44);
  EXPECT_GT(found.high + 0.3, 0.44);
  EXPECT_EQ(found.probes.front().load, 0.7);
  for (const Probe& probe : found.probes) EXPECT_EQ(probe.experiment.traffics[0].real("load"), 0.3);
}

TEST(Knee, ASweptLoadIsNoObstacleButAnotherAxisIs) {
  FakeNetwork network{0.4};
  EXPECT_TRUE(knee_of(network, 0.1, kMesh + "[sweep]\n\"traffic.uniform.load\" = [0.1, 0.2]\n").found);
  const ConfigError error = refusal(kMesh + "[sweep]\n\"switch.buffer\" = [2, 4]\n");
  EXPECT_EQ(error.cause(), "the file sweeps switch.buffer: 2 networks, not one");
  EXPECT_EQ(error.remedy(), "give every swept key one value: switch.buffer=VALUE");
}

TEST(Knee, AnExperimentOfSessionsIsRefused) {
  EXPECT_NE(refusal(kSessions).cause().find("sessions"), std::string::npos);
}

TEST(Knee, AKeyThatDoesNotExistIsRefused) {
  EXPECT_NE(refusal(kMesh, "traffic.uniform.laod").remedy().find("\"load\""), std::string::npos);
}

/// A switch of 16 ports. Of the hot output 16 loads of the hot spot are taken, and one of the uniform traffic.
std::string hot_beside(double uniform, double hot) {
  return fmt::format(
      "topology = {{ name = 'multistage_cube', terminals = 16, radix = 16 }}\n"
      "switch = {{ name = 'output_queued', buffer = 1000 }}\nrouting = 'destination_tag'\n"
      "run = {{ warmup = 100, measure = 100 }}\n"
      "[[traffic]]\nname = 'uniform'\ninclude_self = true\nload = {}\n"
      "[[traffic]]\nname = 'hot_spot'\nfraction = 1\ninclude_self = true\nload = {}\n",
      uniform, hot);
}

TEST(Knee, OnlyTheLoadOfATrafficIsVaried) {
  const std::string text = hot_beside(0.2, 0.05);
  for (const char* const key : {"traffic.hot_spot.fraction", "fraction", "traffic.1.fraction", "traffic.hot_spot.size",
                                "traffic.hot_spot.include_self", "switch.buffer", "run.seed", "routing"}) {
    const ConfigError error = refusal(text, key);
    EXPECT_EQ(error.cause(), std::string(key) + " is no load of a traffic");
    const bool hot = std::string(key).starts_with("traffic.hot_spot") || std::string(key).starts_with("traffic.1");
    EXPECT_EQ(error.remedy(), fmt::format("give the key traffic.{}.load, or vary it with \"banyan sweep\"",
                                          hot ? "hot_spot" : "uniform"));
  }
  for (const char* const key : {"traffic.hot_spot.load", "traffic.1.load", "hot_spot.load"}) {
    FakeNetwork network{0.23};
    EXPECT_EQ(knee_of(network, 0.1, text, key).probes.front().experiment.traffics[0].real("load"), 0.2) << key;
  }
  for (const char* const key : {"load", "traffic.load", "traffic.uniform.load", "traffic.0.load", "uniform.load"}) {
    FakeNetwork network{0.4};
    EXPECT_TRUE(knee_of(network, 0.1, kMesh, key).found) << key;
  }
  const std::string twins = kMesh.substr(0, kMesh.find("traffic")) + "traffic = ['uniform', 'uniform']\n";
  EXPECT_EQ(refusal(twins, "traffic.1.size").remedy(), "give the key traffic.1.load, or vary it with \"banyan sweep\"");
}

TEST(Knee, WhatTheOthersLeaveIsTheBoundOfALoadThatIsVariedAlone) {
  for (const double knee : {0.054, 0.15, 0.2, 0.3}) {  // of the sum: the bound does not ask where the bracket lies
    FakeNetwork network{knee};
    const Knee found = knee_of(network, 0.01, hot_beside(0.3, 0.052), "traffic.uniform.load");
    ASSERT_TRUE(found.bound) << knee;
    EXPECT_NEAR(found.bound->load, 1.0 - 16 * 0.052, 1e-9);
    EXPECT_NEAR(found.bound->accepted, 1.0 - 15 * 0.052, 1e-9);
    EXPECT_NEAR(found.others, 0.052, 1e-12);
    const std::string text = to_text(found);
    EXPECT_NE(text.find("upper bound: 0.168 flits per cycle and terminal of traffic.uniform.load (throughput_bounds; "
                        "0.22 of all traffics together, in the mean of all terminals)"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("flits per cycle and terminal of traffic.uniform.load, beside 0.052 of other traffics"),
              std::string::npos)
        << text;
    EXPECT_EQ(text.find("CONTRADICTION") != std::string::npos, knee > 0.25) << text;
    const auto json = nlohmann::json::parse(to_json(found));
    EXPECT_NEAR(json["bound"]["load"].get<double>(), 0.168, 1e-9);
    EXPECT_EQ(json["key"], "traffic.uniform.load");
    EXPECT_EQ(json["others"], 0.052);
  }
}

/// Another output is the first to be full than the one that the fixed traffic loads.
TEST(Knee, TheFirstPartThatIsFullBoundsALoadThatIsVariedAlone) {
  const std::string text = hot_beside(0.0, 0.052) +
                           "[[traffic]]\nname = 'hot_spot'\nfraction = 0.5\ntargets = [1]\n"
                           "include_self = true\nload = 0.1\n";
  FakeNetwork network{0.1};
  const Knee found = knee_of(network, 0.01, text, "traffic.2.load");
  ASSERT_TRUE(found.bound);
  EXPECT_NEAR(found.bound->load, 1.0 / (8.0 + 0.5), 1e-9);
}

/// Every channel that is used has the messages of the 4 terminals of a switch.
TEST(Knee, NeighboursOfAHyperXShareAChannelPerSwitch) {
  FakeNetwork network{0.2};
  const Knee found = knee_of(network, 0.1,
                             "topology = { name = 'hyperx', size = [4, 4], concentration = 4 }\n"
                             "switch = 'vc_router'\nrouting = 'dimension_order'\n"
                             "traffic = { name = 'permutation', pattern = 'neighbour' }\n");
  ASSERT_TRUE(found.bound);
  EXPECT_NEAR(found.bound->load, 0.25, 1e-9);
}

TEST(Knee, OthersThatAreBeyondTheBoundAloneLeaveNothing) {
  FakeNetwork network{0.15};
  const Knee found = knee_of(network, 0.01, hot_beside(0.2, 0.1), "traffic.uniform.load");
  ASSERT_TRUE(found.bound);
  EXPECT_EQ(found.bound->load, 0.0);
  EXPECT_NE(to_text(found).find("upper bound: 0 flits per cycle and terminal of traffic.uniform.load: the other "
                                "traffics alone reach it (throughput_bounds)"),
            std::string::npos)
      << to_text(found);
}

/// Whether a network carries what is not varied is seen, not taken for granted.
TEST(Knee, OthersThatSaturateAloneAreSaidTo) {
  FakeNetwork full{-1.0};
  const Knee found = knee_of(full, 0.01, hot_beside(0.2, 0.01), "traffic.uniform.load");
  EXPECT_EQ(found.high, 0.0);
  EXPECT_EQ(found.probes.back().load, 0.0);
  EXPECT_NE(to_text(found).find("the other traffics alone, with 0.01, saturate the network: nothing is left for "
                                "traffic.uniform.load\n"),
            std::string::npos)
      << to_text(found);
  FakeNetwork room{0.015};
  EXPECT_GT(knee_of(room, 0.01, hot_beside(0.2, 0.01), "traffic.uniform.load").high, 0.0);
  EXPECT_EQ(to_text(knee_of(room, 0.01, hot_beside(0.2, 0.01), "traffic.uniform.load")).find("nothing is left"),
            std::string::npos);
}

/// What is accepted at the most, however demands are met, bounds a steady state where nobody knows the demands.
TEST(Knee, MulticastsAreBoundedByWhatTerminalsTake) {
  const std::string tree =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'input_buffer'\n"
      "routing = 'nearest_common_ancestor'\nrun = { warmup = 100, measure = 1000 }\n";
  FakeNetwork network{0.5};
  const Knee alone =
      knee_of(network, 0.01, tree + "traffic = { name = 'multicast', load = 0.4, degree = 4, size = 32 }\n");
  ASSERT_TRUE(alone.bound);
  EXPECT_NEAR(alone.bound->load, 1.0, 1e-9);
  FakeNetwork beside{0.5};
  const Knee rest = knee_of(beside, 0.01,
                            tree +
                                "traffic = [{ name = 'multicast', load = 0.3, degree = 4, size = 32 }, "
                                "{ name = 'uniform', load = 0.2, size = 32 }]\n",
                            "traffic.multicast.load");
  ASSERT_TRUE(rest.bound);
  EXPECT_NEAR(rest.bound->load, 0.8, 1e-9);
  EXPECT_EQ(to_text(alone).find("no model proves"), std::string::npos);
}

TEST(Knee, OthersThatTakeAllThatTerminalsSendLeaveNothingToSearch) {
  EXPECT_EQ(refusal(hot_beside(0.2, 1.0), "traffic.uniform.load").cause(),
            "the other traffics have a load of 1, and nothing is left to vary");
}

/// Uncertain verdicts prove nothing, and a bracket of them above the bound is said to be there all the same.
TEST(Knee, ABracketOfUncertainVerdictsAboveTheBoundIsNoContradictionAndIsSaid) {
  for (const bool alone : {true, false}) {
    FakeNetwork network{alone ? 0.5 : 0.87, 1'000'000, 1.0};
    network.steady_below_knee = true;
    const Knee found = alone ? knee_of(network, 0.01, hot_beside(0.0, 0.1))
                             : knee_of(network, 0.01, hot_beside(0.2, 0.01), "traffic.uniform.load");
    ASSERT_TRUE(found.bound);
    EXPECT_NEAR(found.bound->load, alone ? 1.0 / 16 : 0.84, 1e-9);
    const std::string text = to_text(found);
    EXPECT_NE(text.find("the bracket lies above this bound, by verdicts that stayed uncertain\n"), std::string::npos)
        << text;
    EXPECT_EQ(text.find("CONTRADICTION"), std::string::npos) << text;
    EXPECT_EQ(nlohmann::json::parse(to_json(found))["contradiction"], false);
  }
}

TEST(Knee, OfARealMeshLiesWhereItsRunsSaturate) {
  KneeOptions options;
  options.width = 0.05;
  const Knee found = find_knee(reader(kMesh), {}, options);
  EXPECT_LE(found.high - found.low, 0.05);
  EXPECT_EQ(run_of(kMesh, {"load=" + std::to_string(found.high + 0.05)}).verdict, Verdict::saturated);
  EXPECT_EQ(run_of(kMesh, {"load=" + std::to_string(found.low - 0.05)}).verdict, Verdict::steady);
  const auto json = nlohmann::json::parse(to_json(found));
  EXPECT_EQ(json["low"], found.low);
  EXPECT_EQ(json["high"], found.high);
}

/// A mean lies beyond a bound by chance as often as the run's interval is narrow: with a confidence of 1 % it is next
/// to nothing, and three times that proves no contradiction.
TEST(Bounds, AreNotContradictedByChanceWhateverTheConfidence) {
  for (const char* const confidence : {"0.01", "0.5", "0.95", "0.999"}) {
    for (u64 seed = 238; seed <= 242; ++seed) {
      const std::string text =
          "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'central_buffer'\n"
          "routing = 'dimension_order'\ntraffic = 'uniform'\nanalysis = 'zero_load_latency'\n"
          "run = { warmup = 40, measure = 298, drain = 1, watchdog = 0, seed = " +
          std::to_string(seed) + ", confidence = " + std::string(confidence) + " }\n";
      const Result result = run(read_experiments_text(text, "chance", {}).points.front());
      EXPECT_EQ(result.explanation.find("CONTRADICTION"), std::string::npos)
          << confidence << ", seed " << seed << ": " << result.explanation;
    }
  }
}

/// A short run above a proven bound may look steady: its explanation says what the bound means.
TEST(Bounds, AreHeldAgainstWhatIsOfferedWhereTheVerdictIsUncertain) {
  const auto explained = [](const std::string& load) {
    const Result result = run(
        read_experiments_text("topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
                              "switch = { name = 'vc_router', vcs = 4, buffer = 8 }\nanalysis = 'throughput_bounds'\n"
                              "traffic = { name = 'permutation', pattern = 'transpose', size = 1, load = " +
                                  load + " }\nrun = { measure = 1000 }\n",
                              "short", {})
            .points.front());
    EXPECT_EQ(result.verdict, Verdict::steady) << result.explanation;
    EXPECT_FALSE(result.certain) << result.explanation;
    return result.explanation;
  };
  EXPECT_NE(explained("0.36").find("is above 0.260005, the most that is accepted (throughput_bounds)"),
            std::string::npos);
  EXPECT_EQ(explained("0.3").find("the most that is accepted"), std::string::npos);
}

/// A run of jobs ends with them at any load: "finished" is no verdict on it.
TEST(Knee, JobsAreRefused) {
  const std::string job =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
      "[[job]]\ngenerator = { collective = 'all_reduce', bytes = 64, ranks = 2 }\n";
  for (const char* traffic : {"", "[[traffic]]\nname = 'uniform'\nload = 0.1\n"}) {
    const auto read = [&](const Overrides& overrides) { return read_experiments_text(job + traffic, "j", overrides); };
    try {
      static_cast<void>(find_knee(read, {}, {}));
      FAIL() << traffic;
    } catch (const ConfigError& error) {
      EXPECT_NE(error.cause().find("a run of jobs ends with them"), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace banyan::api::knee_test
