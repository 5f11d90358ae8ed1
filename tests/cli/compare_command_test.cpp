// Does banyan compare answer with intervals, in the form that scripts rely on, and refuse what cannot be compared?
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace banyan::cli::compare_command_test {
namespace {

using nlohmann::json;

class CompareCommand : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("swept.toml", kSwept);
  }

  static void run_to(const std::string& out, const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> arguments{"run", "steady.toml", "--quiet", "--out", out};
    arguments.insert(arguments.end(), overrides.begin(), overrides.end());
    const Said said = banyan(arguments);
    ASSERT_EQ(said.status, 0) << said.err;
  }
};

TEST_F(CompareCommand, SaysHowMuchAndHowSurely) {
  run_to("a", {"load=0.5"});
  run_to("b", {"load=0.3"});
  const Said said = banyan({"compare", "a", "b"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "share their random numbers")) << said.out;
  EXPECT_TRUE(contains(said.out, "B's packet_latency is ")) << said.out;
  EXPECT_TRUE(contains(said.out, " % lower")) << said.out;
  const Said same = banyan({"compare", "a", "a", "--metric", "packet_latency"});
  EXPECT_TRUE(contains(same.out, "B's packet_latency is the same")) << same.out;
}

TEST_F(CompareCommand, JsonHasTheFixedForm) {
  run_to("a", {"load=0.5"});
  run_to("b", {"load=0.3"});
  const Said said = banyan({"compare", "a", "b", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json metrics = json::parse(said.out).at("metrics");
  ASSERT_TRUE(metrics.contains("packet_latency"));
  for (const auto& [name, row] : metrics.items()) {
    for (const char* key : {"difference", "half_width", "relative"}) EXPECT_TRUE(row.contains(key)) << name << key;
  }
  const auto mean = [](const std::string& folder) {
    return json::parse(read_text(scratch() / folder / "result.json"))["metrics"]["accepted_load"]["mean"].get<double>();
  };
  const json& row = metrics["accepted_load"];
  const double half_width = row["half_width"];
  EXPECT_GT(half_width, 0.0);
  EXPECT_NEAR(row["difference"].get<double>(), mean("b") - mean("a"), 1e-9);
  EXPECT_NEAR(row["relative"].get<double>(), row["difference"].get<double>() / row["a"].get<double>(), 1e-9);
}

TEST_F(CompareCommand, ReadsFoldersStoresAndTheJsonOfARun) {
  run_to("a");
  run_to("b", {"buffer=8"});
  for (const char* b : {"b", "b/results.sqlite", "b/result.json"}) {
    const Said said = banyan({"compare", "a", b});
    EXPECT_EQ(said.status, 0) << b << said.err;
    EXPECT_TRUE(contains(said.out, "B's packet_latency")) << said.out;
  }
}

TEST_F(CompareCommand, SweepsAreComparedPointByPoint) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "a"}).status, 0);
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "b", "run.seed=2"}).status, 0);
  const Said said = banyan({"compare", "a", "b", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json all = json::parse(said.out);
  EXPECT_EQ(all["points"].size(), 6U);
  EXPECT_TRUE(all["metrics"]["accepted_load"]["half_width"].is_number());
  const Said from_json = banyan({"compare", "a", "b/results.json", "--json"});
  ASSERT_EQ(from_json.status, 0) << from_json.err;
  EXPECT_EQ(json::parse(from_json.out)["metrics"]["hops"]["b"], all["metrics"]["hops"]["b"]);
  run_to("one");
  expect_refusal(banyan({"compare", "a", "one"}), "is a single run, and a is a sweep of 6 points", "the same points");
}

TEST_F(CompareCommand, DifferentNetworksAreRefused) {
  run_to("a");
  run_to("b", {"terminals=64"});
  expect_refusal(banyan({"compare", "a", "b"}),
                 "the runs are of different networks: topology.terminals is 16 in A and 64 in B",
                 "compare runs of one network");
  expect_refusal(banyan({"compare", "a", "b", "--json"}), "different networks", "compare runs of one network");
}

/// One value of each run has no interval: a difference and a quotient, and no word on chance.
TEST_F(CompareCommand, RunsOfJobsAreComparedByTheirCompletion) {
  write_text("job.toml", kJob);
  ASSERT_EQ(banyan({"run", "job.toml", "--quiet", "--out", "a"}).status, 0);
  ASSERT_EQ(banyan({"run", "job.toml", "job.host.overhead=100", "--quiet", "--out", "b"}).status, 0);
  const Said said = banyan({"compare", "a", "b"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_FALSE(contains(said.out, "session")) << said.out;
  EXPECT_TRUE(contains(said.out, "no interval: one value of each run")) << said.out;
  for (const char* metric : {"  completion  ", "slowdown_ideal.ring"})
    EXPECT_TRUE(contains(said.out, metric)) << said.out;
  EXPECT_TRUE(contains(said.out, "the same in both: operations, messages")) << said.out;
  const Said chosen = banyan({"compare", "a", "b", "--metric", "completion", "--json"});
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  const json row = json::parse(chosen.out)["metrics"]["completion"];
  EXPECT_GT(row["difference"].get<double>(), 0.0);
  EXPECT_TRUE(row["half_width"].is_null());
  EXPECT_NEAR(row["relative"].get<double>(), row["b"].get<double>() / row["a"].get<double>() - 1.0, 1e-12);
  expect_refusal(banyan({"compare", "a", "b", "--metric", "complation"}), "complation", "did you mean \"completion\"?");
}

TEST_F(CompareCommand, RunsOfFixedLengthAreComparedByWhatADisturbanceDid) {
  write_text("incast.toml", kIncast);
  ASSERT_EQ(banyan({"run", "incast.toml", "--quiet", "--out", "a"}).status, 0);
  ASSERT_EQ(banyan({"run", "incast.toml", "traffic.incast.amount=12800", "--quiet", "--out", "b"}).status, 0);
  const Said said = banyan({"compare", "a", "b"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_FALSE(contains(said.out, "session")) << said.out;
  EXPECT_FALSE(contains(said.out, "e+")) << said.out;
  for (const char* metric : {"incast_completion_last", "victim_latency_p99", "throughput_during", "packet_latency"})
    EXPECT_TRUE(contains(said.out, metric)) << said.out;
  EXPECT_EQ(banyan({"compare", "a", "b", "--metric", "incast_completion_last"}).status, 0);
  // What one run alone reports is said of that one.
  ASSERT_EQ(banyan({"run", "incast.toml", "traffic.incast.amount=12800", "run.duration=25 us", "--quiet", "--out", "c"})
                .status,
            0);
  expect_refusal(banyan({"compare", "a", "c", "--metric", "incast_completion_last"}),
                 "the runs do not both report such a metric: A alone does", "there are");
}

TEST_F(CompareCommand, AMetricThatDoesNotExistNamesTheNearest) {
  run_to("a");
  expect_refusal(banyan({"compare", "a", "a", "--metric", "packet_latncy"}), "packet_latncy",
                 "did you mean \"packet_latency\"?");
}

TEST_F(CompareCommand, WhatHoldsNoResultIsRefused) {
  run_to("a");
  std::filesystem::create_directories(scratch() / "empty");
  expect_refusal(banyan({"compare", "a", "empty"}), "there is no result store", "--out");
  expect_refusal(banyan({"compare", "a", "nowhere"}), "nowhere", "");
  for (const char* text : {"{\"banyan\": 3}", "{\"points\": 3}", "{\"points\": [], \"axes\": []}", "[]", "no json"}) {
    write_text("other.json", text);
    expect_refusal(banyan({"compare", "a", "other.json"}), "other.json", "");
  }
  expect_refusal(banyan({"compare", "a"}), "B", "banyan compare --help");
}

TEST_F(CompareCommand, RefusesJsonThatWasChanged) {
  run_to("a");
  const std::string whole = read_text(scratch() / "a" / "result.json");
  EXPECT_EQ(banyan({"compare", "a/result.json", "a/result.json"}).status, 0);
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    const std::size_t at = text.find(from);
    if (at == std::string::npos) return from + " is not there";
    write_text("damaged.json", text.replace(at, from.size(), to));
    const Said said = banyan({"compare", "a/result.json", "damaged.json"});
    EXPECT_EQ(said.status, 2) << from;
    return said.err;
  };
  EXPECT_TRUE(
      contains(refused("\"state_hash\": \"", "\"state_hash\": \"x"), "a text of 16 hexadecimal digits is expected"));
  EXPECT_TRUE(contains(refused("\"half_width\": ", "\"half_width\": -"), "a number from 0 on, or null is expected"));
  EXPECT_TRUE(contains(refused("\"mean\": ", "\"mean\": -"), "a number from 0 on, or null is expected"));
  EXPECT_TRUE(contains(refused("\"seed\": ", "\"seed\": 1"), "not the one that was run"));
  EXPECT_TRUE(contains(refused("\"metrics\": {", "\"metrics\": [{"), "not a result"));
  write_text("cut.json", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(banyan({"compare", "a/result.json", "cut.json"}).status, 2);
}

TEST_F(CompareCommand, TwoJsonFilesArePairedAsTheirFoldersAre) {
  run_to("a");
  run_to("b", {"load=0.3"});
  const std::string files = banyan({"compare", "a/result.json", "b/result.json"}).out;
  const std::string folders = banyan({"compare", "a", "b"}).out;
  EXPECT_TRUE(contains(files, "in pairs that share their random numbers")) << files;
  EXPECT_EQ(files.substr(files.find("windows of time")), folders.substr(folders.find("windows of time")));
  const Said script = banyan({"compare", "a/result.json", "b/result.json", "--json"});
  EXPECT_EQ(script.out, banyan({"compare", "a", "b", "--json"}).out);
}

}  // namespace
}  // namespace banyan::cli::compare_command_test
