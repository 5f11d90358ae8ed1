// Do run --booksim and convert mean the same, and is everything that is not mapped an error?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"
#include "support/repository.hpp"

namespace banyan::cli::convert_command_test {
namespace {

using nlohmann::json;

class Convert : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    for (const char* name : {"mesh", "torus", "requests", "batch"}) {
      write_text(name, test::read_file(test::repository_root() / "tests/booksim" / name));
    }
  }
};

std::string state_of(const std::vector<std::string>& arguments) {
  const Said said = banyan(arguments);
  EXPECT_EQ(said.status, 0) << said.err;
  return json::parse(said.out)["state_hash"].get<std::string>();
}

TEST_F(Convert, TheExperimentRunsToTheSameResult) {
  for (const std::string name : {"mesh", "torus", "requests", "batch"}) {
    const Said said = banyan({"convert", name, "num_vcs=4"});
    ASSERT_EQ(said.status, 0) << said.err;
    write_text(name + ".toml", said.out);
    EXPECT_EQ(state_of({"run", name + ".toml", "--json"}), state_of({"run", "--booksim", name, "num_vcs=4", "--json"}))
        << name;
  }
}

TEST_F(Convert, OutWritesTheFile) {
  ASSERT_EQ(banyan({"convert", "torus", "--out", "here.toml"}).status, 0);
  EXPECT_EQ(state_of({"run", "here.toml", "--json"}), state_of({"run", "--booksim", "torus", "--json"}));
}

TEST_F(Convert, OptionsForTracesAreNotForConfigurations) {
  expect_refusal(banyan({"convert", "torus", "--rate", "3"}), "--rate and --collectives are for Chakra traces",
                 "leave them out");
}

TEST_F(Convert, AFolderThatIsNotThereIsRefused) {
  for (const char* option : {"--out", "--to"}) {
    expect_refusal(banyan({"convert", "torus", option, "nowhere/here.goal"}), "there is no folder nowhere",
                   "make the folder first");
  }
}

TEST_F(Convert, OverridesAreBookSim2s) {
  EXPECT_NE(state_of({"run", "--booksim", "torus", "injection_rate=0.05", "--json"}),
            state_of({"run", "--booksim", "torus", "--json"}));
  EXPECT_EQ(banyan({"run", "--booksim", "torus", "traffic.load=0.05"}).status, 2);
}

TEST_F(Convert, ASeedOfTheCommandLineCounts) {
  EXPECT_NE(state_of({"run", "--booksim", "torus", "--seed", "8", "--json"}),
            state_of({"run", "--booksim", "torus", "--json"}));
}

TEST_F(Convert, WhatIsNotMappedIsAnErrorUnlessIgnored) {
  const Said refused = banyan({"run", "--booksim", "torus", "priority=queue_length"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("priority = queue_length: not mapped"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--ignore-unmapped"), std::string::npos);
  EXPECT_EQ(banyan({"convert", "torus", "priority=queue_length"}).status, 2);
  EXPECT_EQ(state_of({"run", "--booksim", "--ignore-unmapped", "torus", "priority=queue_length", "--json"}),
            state_of({"run", "--booksim", "torus", "--json"}));
}

/// What cannot be made equal is said on standard error before the run, with key and reason.
TEST_F(Convert, ARunSaysWhatMeansSomethingElse) {
  const std::string short_run = "sample_period = 100; max_samples = 2; injection_rate = 0.02;";
  for (const auto& [settings, words] :
       {std::pair<std::string, std::string>{"topology = mesh; k = 4; routing_function = planar_adapt; num_vcs = 3;",
                                            "routing_function = planar_adapt: differs: "},
        {"topology = tree4; k = 4; n = 3; routing_function = anca;", "routing_function = anca: differs: "},
        {"topology = mesh; k = 4; routing_function = min_adapt;", "routing_function = min_adapt: differs: "},
        {"topology = mesh; k = 4; routing_function = valiant; num_vcs = 3;", "num_vcs = 3: differs: "}}) {
    write_text("announced", settings + short_run);
    const Said said = banyan({"run", "--booksim", "announced"});
    EXPECT_EQ(said.status, 0) << said.err;
    EXPECT_NE(said.err.find(words), std::string::npos) << said.err;
  }
}

TEST_F(Convert, WithoutANetworkNothingIsLeftToIgnore) {
  const Said said = banyan({"run", "--booksim", "--ignore-unmapped", "torus", "topology=hypercube"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("no experiment"), std::string::npos) << said.err;
}

/// Not of the experiment's text, which the user has never seen.
TEST_F(Convert, AValueThatIsRefusedIsNamedAsTheSettingThatItCameFrom) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> refusals{
      {{"num_vcs=0"}, "command line: num_vcs = 0: switch.vcs: "},
      {{"vc_buf_size=100000"}, "command line: vc_buf_size = 100000: switch.buffer: "},
      {{"buf_size=10000000"}, "command line: buf_size = 10000000: switch.buffer: "},
      {{"injection_rate=2"}, "command line: injection_rate = 2: traffic.permutation.load: "},
      {{"packet_size=0"}, "command line: packet_size = 0: traffic.permutation.size: "},
      {{"routing_delay=-1"}, "command line: routing_delay = -1: switch.routing_delay: "},
      {{"warmup_periods=-1"}, "command line: warmup_periods = -1: run.warmup: "},
      {{"traffic=hotspot(77)"}, "command line: traffic = hotspot(77): traffic.hot_spot.targets: "},
      {{"num_vcs=1"}, "torus:4:1: routing_function = dim_order: routing.datelines: "},
      {{"k=0", "traffic=uniform"}, "command line: k is 0"},
  };
  for (const auto& [overrides, expected] : refusals) {
    std::vector<std::string> arguments{"run", "--booksim", "torus"};
    arguments.insert(arguments.end(), overrides.begin(), overrides.end());
    for (const bool converts : {false, true}) {
      if (converts) arguments.erase(std::find(arguments.begin(), arguments.end(), "--booksim"));
      if (converts) arguments.front() = "convert";
      const Said said = banyan(arguments);
      EXPECT_EQ(said.status, 2);
      EXPECT_NE(said.err.find(expected), std::string::npos) << said.err;
      EXPECT_TRUE(said.out.empty());
    }
  }
  write_text("none", "topology = mesh;\nk = 4;\nrouting_function = dor;\nnum_vcs = 99;\n");
  EXPECT_NE(banyan({"run", "--booksim", "none"}).err.find("none:4:1: num_vcs = 99: switch.vcs: "), std::string::npos);
}

/// Every command that reads an experiment says so, and what it says to do works.
TEST_F(Convert, AConfigurationThatIsTakenForAnExperimentIsToldFromABrokenOne) {
  for (const char* command : {"run", "sweep", "saturation", "check", "export-topology"}) {
    expect_refusal(banyan({command, "mesh"}), "mesh: is a configuration of BookSim2, not an experiment",
                   "\"banyan run mesh --booksim\" runs it; \"banyan convert mesh --out mesh.toml\" writes");
  }
  EXPECT_EQ(banyan({"run", "mesh", "--booksim"}).status, 0);
  EXPECT_EQ(banyan({"convert", "mesh", "--out", "mesh.toml"}).status, 0);
  EXPECT_EQ(banyan({"check", "mesh.toml"}).status, 0);
  write_text("broken.toml", "topology = mesh\n");
  expect_refusal(banyan({"run", "broken.toml"}), "not valid TOML", "syntax");
}

TEST_F(Convert, IgnoringNeedsAConfiguration) { EXPECT_EQ(banyan({"run", "--ignore-unmapped", "torus"}).status, 2); }

TEST_F(Convert, SettingsWithSeveralValuesAreSwept) {
  const Said said = banyan(
      {"sweep", "--booksim", "torus", "injection_rate=[0.01, 0.02]", "num_vcs=[4,8]", "--json", "--out", "swept"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json swept = json::parse(said.out);
  EXPECT_EQ(swept["axes"], (std::vector<std::string>{"injection_rate", "num_vcs"}));
  ASSERT_EQ(swept["points"].size(), 4U);
  for (const json& point : swept["points"]) {
    const std::string rate = "injection_rate=" + point["axes"]["injection_rate"].get<std::string>();
    const std::string vcs = "num_vcs=" + point["axes"]["num_vcs"].get<std::string>();
    EXPECT_EQ(point["state_hash"], state_of({"run", "--booksim", "torus", rate, vcs, "--json"})) << rate << vcs;
    EXPECT_TRUE(point["metrics"].contains("booksim2_packet_latency"));
  }
  EXPECT_TRUE(contains(read_text(scratch() / "swept/results.csv"), "booksim2_packet_latency"));
  EXPECT_TRUE(contains(read_text(scratch() / "swept/results.json"), "booksim2_packet_latency"));
  // The same again, from the store, and the command that the store tells.
  const Said again = banyan(
      {"sweep", "--booksim", "torus", "injection_rate=[0.01, 0.02]", "num_vcs=[4,8]", "--json", "--out", "swept"});
  EXPECT_TRUE(contains(again.err, "4 of 4 points are in swept already")) << again.err;
  EXPECT_EQ(banyan({"verify", "swept"}).status, 0);
}

TEST_F(Convert, ASweepOfSettingsIsRefusedInOneSentence) {
  const auto refused = [](const std::string& change) { return banyan({"sweep", "--booksim", "torus", change}); };
  expect_refusal(refused("num_vcs=4"), "no setting has several values", "injection_rate=[0.1, 0.2]");
  expect_refusal(refused("num_vcs=[4,4]"), "a value is there twice", "give every value once");
  expect_refusal(refused("num_vcs=[4,]"), "a value is missing", "injection_rate=[0.1, 0.2]");
  expect_refusal(refused("sweep.num_vcs=4"), "a list of values is missing", "injection_rate=[0.1, 0.2]");
  // What differs from BookSim2 is said before.
  for (const auto& [change, cause] :
       {std::pair{"num_vcs=[4,99]", "num_vcs = 99: switch.vcs: 99 is out of range"},
        {"alloc_iters=[1,2]", "the point alloc_iters = 2 is the same run as one before"}}) {
    const Said said = refused(change);
    EXPECT_EQ(said.status, 2) << change;
    EXPECT_TRUE(contains(said.err, cause)) << said.err;
  }
  // Commas of BookSim2's own lists part no values.
  EXPECT_EQ(banyan({"sweep", "--booksim", "torus", "traffic=[uniform, hotspot({{3,5},{2,1}})]", "--quiet"}).status, 0);
}

}  // namespace
}  // namespace banyan::cli::convert_command_test
