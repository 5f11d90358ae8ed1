// Does an experiment of jobs run, and say what scripts rely on?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace banyan::cli::jobs_test {
namespace {

using nlohmann::json;

constexpr const char* kSchedule =
    "num_ranks 2\nrank 0 {\na: calc 10\nb: send 5b to 1\nb requires a\n}\nrank 1 {\nrecv 5b from 0\n}\n";
constexpr const char* kExperiment = R"(topology = { name = "fat_tree", arity = 4, levels = 2 }
switch = { name = "ideal", latency = 1000, per_byte = 2 }
cycle_time = "1 ns"
[[job]]
name = "pair"
file = "a.goal"
placement = "linear"
start = 0
repeats = 1
host = { overhead = 100, gap = 7, gap_per_byte = 2, overhead_per_byte = 0, eager = "65535 B", cores = 1, nics = 1, rules = "physical" }
)";

class Jobs : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("a.goal", kSchedule);
    write_text("x.toml", kExperiment);
  }
  static json result_of(const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "x.toml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.status == 0 ? json::parse(said.out) : json();
  }
};

TEST_F(Jobs, AJobSaysWhenItsRanksEnd) {
  for (const std::string rules : {"physical", "loggopsim"}) {
    const json result = result_of({"job.host.rules=" + rules});
    ASSERT_EQ(result["jobs"].size(), 1U);
    const json& job = result["jobs"][0];
    EXPECT_EQ(job["name"], "pair");
    EXPECT_EQ(job["ranks"], json({110, 1218}));  // 10 + 100; 110 + 1000 + 4 x 2 + 100
    EXPECT_EQ(job["completion"], 1218);
    EXPECT_EQ(job["operations"], 3);
    EXPECT_EQ(job["messages"], 1);
    EXPECT_EQ(job["bytes"], 5);
    EXPECT_EQ(job["critical_path"].size(), 3U);
    EXPECT_EQ(result["verdict"], "finished");
  }
}

TEST_F(Jobs, TextAndBinaryHaveOneStateHash) {
  const json text = result_of({});
  ASSERT_EQ(banyan({"convert", "a.goal", "--to", "a.bin"}).status, 0);
  EXPECT_EQ(result_of({"job.file=a.bin"})["state_hash"], text["state_hash"]);
  EXPECT_NE(result_of({"switch.latency=1001"})["state_hash"], text["state_hash"]);
}

TEST_F(Jobs, TimesAreNanosecondsWhateverTheCycle) {
  const json result = result_of({"cycle_time=0.5 ns", "switch.latency=2000", "switch.per_byte=4"});
  EXPECT_EQ(result["jobs"][0]["ranks"], json({110.0, 1218.0}));
}

TEST_F(Jobs, AJobMayStartLaterAndMoreRanksThanTerminalsRun) {
  EXPECT_EQ(result_of({"job.start=50"})["jobs"][0]["completion"], 1268);
  const json crowded = result_of({"topology={ name = \"mesh\", size = [1, 2] }"});
  EXPECT_EQ(crowded["jobs"][0]["completion"], 1218);
}

TEST_F(Jobs, AGeneratorIsAJob) {
  write_text("x.toml",
             "topology = { name = \"mesh\", size = [2, 4] }\nswitch = { name = \"ideal\", latency = 10 }\n[[job]]\n"
             "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"1 KiB\", ranks = 8 }\n");
  EXPECT_EQ(result_of({})["jobs"][0]["messages"], 8 * 14);
}

TEST_F(Jobs, WhatDoesNotMatchIsRefusedBeforeTheRun) {
  write_text("a.goal", "num_ranks 2\nrank 0 {\nsend 5b to 1 tag 3\n}\nrank 1 {\nrecv 5b from 0 tag 4\n}\n");
  const Said said = banyan({"run", "x.toml"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("rank 0 sends to rank 1 with tag 3: 1 without counterpart"), std::string::npos) << said.err;
}

TEST_F(Jobs, ACycleIsPrintedAndAReplayThatCannotGoOnIsExplained) {
  write_text("a.goal", "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n");
  const Said cycle = banyan({"run", "x.toml"});
  EXPECT_EQ(cycle.status, 2);
  EXPECT_NE(cycle.err.find("a cycle of dependencies"), std::string::npos) << cycle.err;
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: recv 9b from 1\nb requires a\n}\n"
             "rank 1 {\na: send 9b to 0\nb: recv 9b from 0\nb requires a\n}\n");
  EXPECT_EQ(banyan({"run", "x.toml"}).status, 0);
  const Said stuck = banyan({"run", "x.toml", "job.host.eager=0"});
  EXPECT_EQ(stuck.status, 2);
  EXPECT_NE(stuck.err.find("cannot go on"), std::string::npos) << stuck.err;
}

TEST_F(Jobs, TheIdealNetworkIsDescribed) {
  const Said said = banyan({"describe", "ideal"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("per_byte"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace banyan::cli::jobs_test
