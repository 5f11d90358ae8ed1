// Does an experiment of jobs run, and say what scripts rely on?
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/base/types.hpp"
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

const std::vector<std::string> kFreeHost{"job.host.overhead=0", "job.host.gap=0", "job.host.gap_per_byte=0"};

/// Whatever part of a cycle each takes, and however a cycle is written.
TEST_F(Jobs, CalculationsTakeTogetherWhatTheyTake) {
  for (const auto& [each, cycle] : std::vector<std::pair<u32, std::string>>{
           {3, "3"}, {1, "2"}, {19, "10"}, {11, "11"}, {5, "3"}, {3, "0.3"}, {7, "0.7"}, {12, "12"}}) {
    std::string goal = "num_ranks 1\nrank 0 {\n";
    for (u32 i = 0; i < 100; ++i) goal += "calc " + std::to_string(each) + "\n";
    write_text("a.goal", goal + "}\n");
    for (const std::string rules : {"physical", "loggopsim"}) {
      std::vector<std::string> more = kFreeHost;
      more.push_back("job.host.rules=" + rules);
      more.push_back("cycle_time=" + cycle + " ns");
      EXPECT_NEAR(result_of(more)["jobs"][0]["completion"].get<double>(), 100.0 * each, std::stod(cycle))
          << each << " " << cycle << " " << rules;
    }
  }
}

/// What waits for the beginning of a calculation does not wait for the calculation.
TEST_F(Jobs, APathThroughABeginningHasNothingOfTheRest) {
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\nc: calc 1000 cpu 0\nd: calc 10 cpu 1\ns: send 8b to 1 cpu 1\nd irequires c\n"
             "s requires d\n}\nrank 1 {\nr: recv 8b from 0\nx: calc 2000\nx requires r\n}\n");
  std::vector<std::string> more = kFreeHost;
  more.insert(more.end(), {"job.host.cores=2", "switch.latency=5", "switch.per_byte=0"});
  const json job = result_of(more)["jobs"][0];
  EXPECT_EQ(job["completion"], 2015);
  EXPECT_EQ(job["critical_path_times"]["computing"], 2010);
}

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
  for (const char* command : {"check", "run"}) {
    const Said both = banyan({command, "x.toml", "job.host.eager=0"});
    EXPECT_EQ(both.status, 2) << command;
    EXPECT_NE(both.err.find("a cycle of dependencies"), std::string::npos) << both.err;
  }
  // Who meets whom is known only by the run where a receive takes from anybody.
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: recv 9b from -1\nb requires a\n}\n"
             "rank 1 {\na: send 9b to 0\nb: recv 9b from -1\nb requires a\n}\n");
  const Said stuck = banyan({"run", "x.toml", "job.host.eager=0"});
  EXPECT_EQ(stuck.status, 2);
  EXPECT_NE(stuck.err.find("cannot go on"), std::string::npos) << stuck.err;
}

TEST_F(Jobs, TheIdealNetworkIsDescribed) {
  const Said said = banyan({"describe", "ideal"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_NE(said.out.find("per_byte"), std::string::npos) << said.out;
}

/// LogGOPSim's printed example, as people would type it.
TEST_F(Jobs, TheBinomialReduceOfLogGOPSimEndsAsItPrints) {
  write_text("x.toml",
             "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
             "switch = { name = \"ideal\", latency = 2500, per_byte = 6 }\ncycle_time = \"1 ns\"\n[[job]]\n"
             "generator = { collective = \"reduce\", algorithm = \"binomial\", bytes = 1024, ranks = 8 }\n"
             "host = { overhead = 1500, gap = 1000, gap_per_byte = 6, rules = \"loggopsim\" }\n");
  json ends = result_of({})["jobs"][0]["ranks"];
  EXPECT_EQ(ends[0], 34914);
  std::sort(ends.begin(), ends.end());
  EXPECT_EQ(ends, json({1500, 1500, 1500, 1500, 13138, 13138, 24776, 34914}));
}

TEST_F(Jobs, TheTimeOfARankIsDividedWithoutRest) {
  for (const std::string rules : {"physical", "loggopsim"}) {
    const json job = result_of({"job.host.rules=" + rules})["jobs"][0];
    // 10 of calculation and an overhead; the message is on its way from 110 to 1118, and an overhead. LogGOPSim's core
    // takes the 8 of its further bytes while they arrive.
    const bool physical = rules == "physical";
    EXPECT_EQ(job["rank_times"]["computing"], json({10, 0}));
    EXPECT_EQ(job["rank_times"]["overhead"], json({100, physical ? 100 : 108}));
    EXPECT_EQ(job["rank_times"]["network"], json({0, physical ? 1008 : 1000})) << rules;
    EXPECT_EQ(job["rank_times"]["waiting"], json({0, 110})) << rules;
  }
}

TEST_F(Jobs, TheCriticalPathSaysWhenItsMessagesTravelled) {
  const json job = result_of({})["jobs"][0];
  const json& path = job["critical_path"];
  EXPECT_EQ(path[0]["begin"], 0);
  EXPECT_EQ(path[1]["message"]["sent"], 110);
  EXPECT_EQ(path[1]["message"]["arrived"], 1118);
  EXPECT_EQ(path[1]["message"]["to"], 1);
  EXPECT_EQ(path[2]["begin"], 1118);
  EXPECT_EQ(job["critical_path_times"],
            json({{"computing", 10}, {"overhead", 200}, {"network", 1008}, {"waiting", 0}}));
  EXPECT_EQ(job["stragglers"][0]["rank"], 0);
  EXPECT_EQ(job["stragglers"][0]["on_path"], 110);
}

/// What waits for the sender's interface, or was done before the chain came to it, is not the network's. By hand: a
/// message of 8 bytes takes 1000 + 7 x 2.
TEST_F(Jobs, ThePathsTimeIsTheNetworksWhileAMessageOfItIsUnderWay) {
  const auto times = [](u64 computing, u64 overhead, u64 network, u64 waiting) {
    return json({{"computing", computing}, {"overhead", overhead}, {"network", network}, {"waiting", waiting}});
  };
  const std::string two = "num_ranks 2\nrank 0 {\na: send 8b to 1 tag 0\nb: send 8b to 1 tag 1\n";
  const std::string receives = "}\nrank 1 {\nc: recv 8b from 0 tag 0\nd: recv 8b from 0 tag 1\n";
  // The second leaves when the interface is free, at 9014, begun an overhead before; it has arrived at 10128.
  write_text("a.goal", two + "b requires a\n" + receives + "d requires c\n}\n");
  json job = result_of({"job.host.gap=9000"})["jobs"][0];
  EXPECT_EQ(job["completion"], 10228);
  EXPECT_EQ(job["critical_path_times"], times(0, 300, 1014, 8914));
  // Both ask first; the first has gone at 2114, the second waits for the interface until 11114.
  write_text("a.goal", two + receives + "}\n");
  job = result_of({"job.host.gap=9000", "job.host.eager=4"})["jobs"][0];
  EXPECT_EQ(job["completion"], 12228);
  EXPECT_EQ(job["critical_path_times"], times(0, 200, 2014 + 14 + 1000, 9000));
  // The sender has asked long before the receive is there: its overhead is not on the path, the consent is.
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\nsend 8b to 1\n}\nrank 1 {\na: calc 5000\nb: recv 8b from 0\nb requires a\n}\n");
  job = result_of({"job.host.eager=4"})["jobs"][0];
  EXPECT_EQ(job["completion"], 7114);
  EXPECT_EQ(job["critical_path_times"], times(5000, 100, 2014, 0));
  EXPECT_EQ(job["stragglers"].size(), 1U) << job["stragglers"];
}

TEST_F(Jobs, JobsAreSweptStoredVerifiedAndExported) {
  write_text("s.toml", std::string(kExperiment) + "[sweep]\n\"switch.latency\" = [1000, 2000]\n");
  const Said swept = banyan({"sweep", "s.toml", "--out", "out"});
  ASSERT_EQ(swept.status, 0) << swept.err;
  EXPECT_EQ(banyan({"verify", "out"}).status, 0);
  const Said csv = banyan({"export", "out", "--csv"});
  EXPECT_NE(csv.out.find("1218"), std::string::npos) << csv.out;
  EXPECT_NE(csv.out.find("2218"), std::string::npos) << csv.out;
  // Another schedule under the same name is found out.
  write_text("a.goal", "num_ranks 2\nrank 0 {\nsend 5b to 1\n}\nrank 1 {\nrecv 5b from 0\n}\n");
  EXPECT_EQ(banyan({"verify", "out"}).status, 1);
}

TEST_F(Jobs, AResultThatWasPrintedIsVerified) {
  const Said said = banyan({"run", "x.toml", "--json"});
  write_text("r.json", said.out);
  EXPECT_EQ(banyan({"verify", "r.json"}).status, 0);
  json changed = json::parse(said.out);
  changed["jobs"][0]["ranks"][0] = 111;
  write_text("r.json", changed.dump());
  EXPECT_EQ(banyan({"verify", "r.json"}).status, 1);
}

TEST_F(Jobs, AnOverrideIsForAllJobsOrForOne) {
  write_text("x.toml", std::string(kExperiment) + "[[job]]\nname = \"other\"\nfile = \"a.goal\"\n");
  const auto completions = [](const std::string& override) {
    const json result = result_of({override});
    return json({result["jobs"][0]["completion"], result["jobs"][1]["completion"]});
  };
  EXPECT_EQ(completions("job.start=0"), json({1218, 1018}));
  EXPECT_EQ(completions("job.start=7"), json({1225, 1025}));
  EXPECT_EQ(completions("job.1.start=7"), json({1218, 1025}));
  EXPECT_EQ(completions("job.pair.start=7"), json({1225, 1018}));
  // The job that is meant is named, whichever the error.
  for (const char* override : {"job.1.host.rules=xx", "job.other.host.rules=xx", "job.1.placment=linear"})
    EXPECT_NE(banyan({"run", "x.toml", override}).err.find("job.1."), std::string::npos) << override;
  EXPECT_NE(banyan({"run", "x.toml", "job.host.nics=999"}).err.find("job.0.host.nics"), std::string::npos);
  const Said said = banyan({"run", "x.toml", "job.nobody.start=7"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("there is no job \"nobody\""), std::string::npos) << said.err;
}

TEST_F(Jobs, TimesThatRoundingWouldChangeAreRefused) {
  const Said nothing = banyan({"run", "x.toml", "job.host.overhead=0.3"});
  EXPECT_EQ(nothing.status, 2);
  EXPECT_NE(nothing.err.find("0.3 is no whole number"), std::string::npos) << nothing.err;
  EXPECT_NE(nothing.err.find("remedy: give 0 or 1"), std::string::npos) << nothing.err;
  EXPECT_EQ(banyan({"run", "x.toml", "job.host.overhead=1"}).status, 0);
  EXPECT_EQ(banyan({"run", "x.toml", "job.host.overhead=1500.4"}).status, 0) << "by less than a hundredth";
  for (const char* command : {"check", "run"}) {
    EXPECT_EQ(banyan({command, "x.toml", "switch.latency=10.4"}).status, 2) << command;
    EXPECT_EQ(banyan({command, "x.toml", "job.host.gap=0.5"}).status, 2) << command;
    EXPECT_EQ(banyan({command, "x.toml", "job.start=0.5"}).status, 2) << command;
  }
}

/// Overrides and metrics name a job by its name or its number.
TEST_F(Jobs, NamesOfJobsAreTheirs) {
  const auto refused = [](const char* first, const char* second) {
    write_text("two.toml",
               "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"ideal\" }\n[[job]]\n" +
                   std::string(first) + "file = \"a.goal\"\n[[job]]\n" + second + "file = \"a.goal\"\n");
    const Said said = banyan({"run", "two.toml"});
    return said.status == 0 ? std::string() : said.err;
  };
  EXPECT_EQ(refused("name = \"x\"\n", "name = \"y\"\n"), "");
  EXPECT_EQ(refused("name = \"0\"\n", ""), "");
  EXPECT_NE(refused("name = \"x\"\n", "name = \"x\"\n").find("two jobs are called \"x\""), std::string::npos);
  EXPECT_NE(refused("name = \"1\"\n", "").find("\"1\" is the number of another job"), std::string::npos);
}

TEST_F(Jobs, AJobThatIsTooLongForACriticalPathSaysSo) {
  EXPECT_EQ(result_of({"job.repeats=1000"})["explanation"].get<std::string>().find("no critical path"),
            std::string::npos);
  const json longer = result_of({"job.repeats=1400000"});
  EXPECT_NE(longer["explanation"].get<std::string>().find("pair: no critical path, which is kept of up to 4194304"),
            std::string::npos);
  EXPECT_TRUE(longer["jobs"][0]["critical_path"].empty());
}

/// Times have 64 bits; what would go round their end is refused, before the run where one operation is enough.
TEST_F(Jobs, TimesBeyondTheClockAreRefused) {
  const auto refused = [](const std::string& goal, const std::vector<std::string>& overrides) {
    write_text("a.goal", goal);
    std::vector<std::string> arguments{"run", "x.toml"};
    arguments.insert(arguments.end(), overrides.begin(), overrides.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 2) << said.out;
    return said.err;
  };
  const std::string message =
      "num_ranks 2\nrank 0 {\nsend 4000000000000000000b to 1\n}\nrank 1 {\nrecv 4000000000000000000b from 0\n}\n";
  for (const std::string rules : {"physical", "loggopsim"}) {
    EXPECT_NE(refused(message, {"job.host.rules=" + rules}).find("a message of 4000000000000000000 bytes takes longer"),
              std::string::npos);
  }
  EXPECT_NE(refused("num_ranks 1\nrank 0 {\ncalc 3000000000000000000\n}\n", {}).find("a calculation of 3"),
            std::string::npos);
  EXPECT_NE(refused("num_ranks 1\nrank 0 {\ncalc 30000000000000000\n}\n", {"cycle_time=0.01 ns"}).find("a calculation"),
            std::string::npos);
  std::string many = "num_ranks 1\nrank 0 {\n";
  for (u32 i = 0; i < 5; ++i) many += "calc 2000000000000000000\n";
  EXPECT_NE(refused(many + "}\n", {}).find("go beyond 2^63 units"), std::string::npos);
  write_text("a.goal", "num_ranks 1\nrank 0 {\ncalc 2000000000000000000\ncalc 2000000000000000000\n}\n");
  EXPECT_EQ(result_of({})["jobs"][0]["completion"], 4e18);
}

TEST_F(Jobs, CheckSaysWhereTheRanksAreAndWhatIsWrong) {
  const Said good = banyan({"check", "x.toml"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_NE(good.out.find("pair: 2 ranks on 2 of 16 terminals, one on each"), std::string::npos) << good.out;
  write_text("a.goal", "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n");
  const Said cycle = banyan({"check", "x.toml"});
  EXPECT_EQ(cycle.status, 2);
  EXPECT_NE(cycle.err.find("a cycle of dependencies"), std::string::npos) << cycle.err;
}

TEST_F(Jobs, WhatHasNoEffectIsRefused) {
  const auto refused = [](const std::vector<std::string>& overrides) {
    std::vector<std::string> arguments{"run", "x.toml"};
    arguments.insert(arguments.end(), overrides.begin(), overrides.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 2) << overrides.front();
    return said.err;
  };
  EXPECT_NE(refused({"traffic=uniform"}).find("jobs meet nobody"), std::string::npos);
  EXPECT_NE(refused({"flit=16 B"}).find("not cut"), std::string::npos);
  EXPECT_NE(refused({"run.measure=5"}).find("ends with the last job"), std::string::npos);
  EXPECT_NE(refused({"job.incomplete=skip"}).find("for Chakra traces"), std::string::npos);
  EXPECT_NE(refused({"job.generator={ collective = \"barrier\", ranks = 2 }"}).find("a file and a generator"),
            std::string::npos);
  EXPECT_NE(refused({"job.colectives.all_reduce=ring"}).find("colectives"), std::string::npos);
}

TEST_F(Jobs, AGeneratorSaysItsCollective) {
  write_text("x.toml",
             "topology = { name = \"mesh\", size = [2, 4] }\nswitch = { name = \"ideal\", latency = 10 }\n[[job]]\n"
             "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"1 KiB\", ranks = 8 }\n");
  const json result = result_of({});
  EXPECT_EQ(result["jobs"][0]["collectives"],
            json({{{"collective", "all_reduce"}, {"algorithm", "ring"}, {"count", 1}, {"bytes", 1024}}}));
  // What was not said of the generator stays unsaid where the result is run again.
  write_text("r.json", result.dump());
  const Said said = banyan({"verify", "r.json"});
  EXPECT_EQ(said.status, 0) << said.out << said.err;
}

}  // namespace
}  // namespace banyan::cli::jobs_test
