// Do collectives that switches reduce take the time of their tree, and do they refuse what cannot be reduced?
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "banyan/workload/replay.hpp"
#include "cli/program.hpp"

namespace banyan::cli::in_network_jobs_test {
namespace {

using nlohmann::json;

constexpr const char* kTree =
    "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"central_buffer\"\n"
    "cycle_time = \"1 ns\"\nflit = \"32 B\"\n";
constexpr const char* kIdeal =
    "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
    "switch = { name = \"ideal\", latency = 1000, per_byte = 2 }\n";

std::string job(const std::string& generator, const std::string& more = "") {
  return "[[job]]\nname = \"sum\"\ngenerator = { algorithm = \"in_network\", " + generator + " }\n" + more;
}

class InNetworkJobs : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }
  static json run_of(const std::string& text, const std::vector<std::string>& more = {}) {
    write_text("x.toml", text);
    std::vector<std::string> arguments{"run", "x.toml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.status == 0 ? json::parse(said.out) : json();
  }
  /// By check and by run, in the same words.
  static std::string refusal_of(const std::string& text) {
    write_text("x.toml", text);
    const Said checked = banyan({"check", "x.toml"});
    const Said ran = banyan({"run", "x.toml"});
    EXPECT_EQ(checked.status, 2);
    EXPECT_EQ(ran.status, 2);
    EXPECT_EQ(checked.err, ran.err);
    return ran.err;
  }
};

/// A segment goes up and comes down once: overhead, latency, its further bytes, overhead.
TEST_F(InNetworkJobs, TakeTheirClosedFormWithoutContention) {
  const json barrier = run_of(kIdeal + job("collective = \"barrier\", ranks = 8", "host = { overhead = 100 }\n"));
  EXPECT_EQ(barrier["jobs"][0]["completion"], 100 + 1000 + 100);
  EXPECT_EQ(barrier["jobs"][0]["messages"], 8);
  const json sum = run_of(kIdeal + job("collective = \"all_reduce\", bytes = 1000, segments = 4, ranks = 6",
                                       "host = { overhead = 100 }\n"));
  EXPECT_EQ(sum["jobs"][0]["completion"], 4 * (100 + 1000 + 2 * 249 + 100));
  EXPECT_EQ(sum["jobs"][0]["messages"], 6 * 4);
  EXPECT_EQ(sum["jobs"][0]["bytes"], 6 * 1000);
}

/// Of a reduce only the root uses the sum; in a broadcast the others bring zeros: both take what an all-reduce does.
TEST_F(InNetworkJobs, BroadcastsAndReducesAreSumsToo) {
  for (const char* network : {kIdeal, kTree}) {
    const auto takes = [&](const std::string& collective) {
      return run_of(network + job("collective = \"" + collective + "\", bytes = \"2 KiB\", segments = 2, ranks = 6" +
                                  (collective == "all_reduce" ? "" : ", root = 4")))["jobs"][0];
    };
    const json sum = takes("all_reduce");
    for (const char* collective : {"broadcast", "reduce"}) {
      const json other = takes(collective);
      EXPECT_EQ(other["ranks"], sum["ranks"]) << collective;
      EXPECT_EQ(other["messages"], sum["messages"]) << collective;
    }
  }
}

/// The sum is there when the last contribution is; the critical path leads to the rank that was late.
TEST_F(InNetworkJobs, WaitForTheLastContribution) {
  workload::ScheduleBuilder schedule(3);
  for (u32 r = 0; r < 3; ++r) {
    const u32 late = schedule.calculate(r, r == 1 ? 700 : 10);
    const u32 send = schedule.send(r, 1, r, 0);
    schedule.after_end(r, send, late);
    schedule.receive(r, 1, r, 0);
  }
  const workload::Program program(schedule.build(), "late");
  workload::ReplayOptions options;
  options.reduces = true;
  const workload::JobOutcome out = workload::replay_physical(program, {}, {500, workload::PerByte(0.0)}, options);
  EXPECT_TRUE(out.explanation.empty()) << out.explanation;
  EXPECT_EQ(out.ends, (std::vector<u64>{1200, 1200, 1200}));
  ASSERT_EQ(out.critical_path.size(), 3U);
  EXPECT_EQ(out.critical_path[0].place.rank, 1U);
  EXPECT_EQ(out.critical_path[1].place.rank, 1U);
  EXPECT_EQ(out.times[0].network, 500U);
  EXPECT_EQ(out.times[0].waiting, 1200U - 10 - 500);
}

/// Ten barriers of all terminals take no longer than those of the traffic that does nothing else, up to the cycle that
/// a host needs to answer.
TEST_F(InNetworkJobs, TakeAsLongAsTheTrafficOfReductions) {
  const json jobs = run_of(kTree + job("collective = \"barrier\", ranks = 16", "repeats = 10\n"));
  const json traffic = run_of(
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"central_buffer\"\n"
      "traffic = { name = \"multicast_collective\", operation = \"barrier\", implementation = \"in_network\", "
      "iterations = 10 }\nrun.sessions = 1\n");
  const double own = jobs["jobs"][0]["completion"].get<double>();
  const double other = traffic["metrics"]["completion_time"]["mean"].get<double>();
  EXPECT_GE(own, other);
  EXPECT_LE(own, other + 10);
  EXPECT_EQ(jobs["jobs"][0]["slowdown_ideal"], 1.0);
  EXPECT_EQ(jobs["jobs"][0]["messages"], 160);
}

TEST_F(InNetworkJobs, BeatTheAlgorithmsOfHosts) {
  const auto takes = [](const char* algorithm) {
    return run_of(std::string(kTree) + "[[job]]\ngenerator = { collective = \"all_reduce\", algorithm = \"" +
                  algorithm + "\", bytes = \"16 KiB\", ranks = 16 }\n")["jobs"][0]["completion"]
        .get<double>();
  };
  const double in_network = takes("in_network");
  for (const char* algorithm : {"ring", "recursive_doubling", "halving_doubling"})
    EXPECT_LT(in_network, takes(algorithm));
}

/// Two jobs that reduce, among other messages, members anywhere.
TEST_F(InNetworkJobs, GiveOneHashHoweverTheyAreRun) {
  const std::string text =
      kTree +
      job("collective = \"all_reduce\", bytes = \"2 KiB\", segments = 3, ranks = 7",
          "placement = \"random\"\nrepeats = 2\nhost = { overhead = 20 }\n") +
      "[[job]]\nname = \"barriers\"\nplacement = \"random\"\ngenerator = { collective = "
      "\"barrier\", algorithm = \"in_network\", ranks = 5 }\nrepeats = 4\n"
      "[[job]]\nname = \"all\"\ngenerator = { collective = \"all_to_all\", bytes = \"4 KiB\", ranks "
      "= 16 }\n";
  const json one = run_of(text);
  ASSERT_TRUE(one.is_object());
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {"run.shards=2", "--threads", "2"}, {"run.wake=all"}, {"run.step_order=permuted"}, {"run.audit=full"}}) {
    const json other = run_of(text, more);
    ASSERT_TRUE(other.is_object()) << more.front();
    EXPECT_EQ(other["state_hash"], one["state_hash"]) << more.front();
    EXPECT_EQ(other["jobs"], one["jobs"]) << more.front();
  }
  EXPECT_EQ(one["jobs"][0]["messages"], 7 * 3 * 2);
  EXPECT_GE(one["jobs"][0]["slowdown_alone"].get<double>(), 1.0);
}

TEST_F(InNetworkJobs, SayWhatCannotBeReduced) {
  const std::string barrier = "collective = \"barrier\", ranks = 8";
  const auto says = [](const std::string& text, const std::string& cause, const std::string& remedy) {
    const std::string err = refusal_of(text);
    EXPECT_NE(err.find(cause), std::string::npos) << err;
    EXPECT_NE(err.find(remedy), std::string::npos) << err;
  };
  says("topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"vc_router\"\n" + job(barrier),
       "generator.algorithm: the switch vc_router does not add up", "use the switch central_buffer");
  says(kTree + job("collective = \"barrier\", ranks = 32"), "two ranks at terminal 0 contribute",
       "each at a terminal of its own");
  says(kTree + job("collective = \"all_reduce\", bytes = \"8 MiB\", ranks = 8"),
       "generator.segments: a contribution of 262144 flits is longer", "use segments = 5");
  says(kTree + job("collective = \"gather\", bytes = 8, ranks = 8"), "gather has no algorithm \"in_network\"",
       "choose one of automatic, binomial");
  says(kIdeal + job(barrier, "host = { rules = \"loggopsim\" }\n"), "LogGOPSim has no reductions",
       "use rules = \"physical\"");
  says("admission = \"window\"\n" + (kTree + job(barrier)), "contributions end in switches", "admission = \"none\"");
}

TEST_F(InNetworkJobs, OneRankHasNothingToSendAsByOtherAlgorithms) {
  for (const char* algorithm : {"ring", "in_network"}) {
    const json jobs = run_of(
        kTree + std::string("[[job]]\nname = \"sum\"\ngenerator = { collective = \"all_reduce\", algorithm = \"") +
        algorithm + "\", bytes = 8, ranks = 1 }\n");
    EXPECT_EQ(jobs["jobs"][0]["completion"], 0.0) << algorithm;
    EXPECT_EQ(jobs["jobs"][0]["messages"], 0) << algorithm;
  }
}

}  // namespace
}  // namespace banyan::cli::in_network_jobs_test
