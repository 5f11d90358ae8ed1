// Does banyan verify recognize what this program computed, and say where a stored result parts from it?
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "banyan/store/store.hpp"
#include "cli/program.hpp"

namespace banyan::cli::verify_command_test {
namespace {

using nlohmann::json;

class VerifyCommand : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("swept.toml", kSwept);
  }

  /// Stores the first run of a folder as if it had gone another way after a tick.
  static void lead_astray(const std::string& out, u64 after) {
    const std::string folder = (scratch() / out).string();
    api::Result result = store::Reader(folder).table().results.front().value();
    result.state_hash = ~result.state_hash;
    for (api::Checkpoint& checkpoint : result.checkpoints) {
      if (checkpoint.at > after) checkpoint.hash = ~checkpoint.hash;
    }
    store::Writer(folder).put(result);
  }
};

TEST_F(VerifyCommand, RecognizesARunASweepAndAJsonFile) {
  ASSERT_EQ(banyan({"run", "steady.toml", "--quiet", "--out", "one"}).status, 0);
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "many"}).status, 0);
  for (const char* result : {"one", "one/result.json"}) {
    const Said said = banyan({"verify", result});
    EXPECT_EQ(said.status, 0) << said.out << said.err;
    EXPECT_TRUE(contains(said.out, "verified: state ")) << said.out;
  }
  const Said many = banyan({"verify", "many", "--json", "--threads", "2"});
  ASSERT_EQ(many.status, 0) << many.err;
  const json all = json::parse(many.out);
  EXPECT_EQ(all["runs"], 6);
  EXPECT_EQ(all["equal"], 6);
}

TEST_F(VerifyCommand, TakesTheRunsOfOneSeed) {
  ASSERT_EQ(banyan({"run", "steady.toml", "--quiet", "--out", "one", "--seed", "7"}).status, 0);
  EXPECT_EQ(banyan({"verify", "one", "--seed", "7", "--threads", "2"}).status, 0);
  const Said other = banyan({"verify", "one", "--seed", "8"});
  EXPECT_EQ(other.status, 2);
  EXPECT_TRUE(contains(other.err, "no run of seed 8")) << other.err;
  EXPECT_TRUE(contains(other.err, "seeds 7")) << other.err;
}

TEST_F(VerifyCommand, ADifferenceHasItsPlaceAndStatusOne) {
  ASSERT_EQ(banyan({"run", "steady.toml", "measure=8000", "--quiet", "--out", "one"}).status, 0);
  lead_astray("one", 5000);
  const Said said = banyan({"verify", "one"});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.out, "the runs part between ticks 4096 and 5120")) << said.out;
  const json parting = json::parse(banyan({"verify", "one", "--json"}).out)["points"][0]["parting"];
  EXPECT_EQ(parting["after"], 4096);
  EXPECT_EQ(parting["before"], 5120);
}

TEST_F(VerifyCommand, OneDifferingPointOfASweepIsNamed) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "many"}).status, 0);
  lead_astray("many", 0);
  const Said said = banyan({"verify", "many"});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.out, "traffic.uniform.load = 0.1, buffer = 4: different: ")) << said.out;
  EXPECT_TRUE(contains(said.out, "traffic.uniform.load = 0.1, buffer = 8: verified: ")) << said.out;
}

/// Changes the store of a folder behind Banyan's back.
void change(const std::string& out, const std::string& sql) {
  store::Database((scratch() / out / store::kFileName).string(), store::Database::Mode::write).run(sql);
}

TEST_F(VerifyCommand, ADamagedStoreIsNamedExportsNothingAndIsMadeAgain) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "many"}).status, 0);
  const std::string csv = banyan({"export", "many", "--csv"}).out;
  change("many",
         "UPDATE metric SET mean = mean * 1.5 WHERE name = 'packet_latency' AND run = (SELECT run FROM point "
         "WHERE position = 2)");
  const Said said = banyan({"verify", "many"});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.out, "traffic.uniform.load = 0.2, buffer = 4: damaged: row ")) << said.out;
  EXPECT_TRUE(contains(said.out, "(packet_latency) of table metric was changed")) << said.out;
  EXPECT_TRUE(contains(said.out, "banyan sweep swept.toml --out many")) << said.out;
  const json all = json::parse(banyan({"verify", "many", "--json"}).out);
  EXPECT_EQ(all["runs"], 6);
  EXPECT_EQ(all["equal"], 5);
  for (const std::vector<std::string>& reading : std::vector<std::vector<std::string>>{
           {"export", "many", "--csv"}, {"report", "many"}, {"compare", "many", "many"}}) {
    expect_refusal(banyan(reading), "(packet_latency) of table metric was changed",
                   "banyan sweep swept.toml --out many");
  }
  const Said again = banyan({"sweep", "swept.toml", "--quiet", "--out", "many"});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_TRUE(contains(again.err, "point 2 is damaged and is run again: row ")) << again.err;
  EXPECT_EQ(banyan({"export", "many", "--csv"}).out, csv);
  EXPECT_EQ(banyan({"verify", "many"}).status, 0);
}

/// Every value of a printed result, one after the other, is made another one; so is what the program stored without
/// noticing, here by the store's own writer.
TEST_F(VerifyCommand, EveryChangedValueOfAResultIsNamed) {
  ASSERT_EQ(banyan({"run", "steady.toml", "window=100", "tables=channels", "--quiet", "--out", "one"}).status, 0);
  const json whole = json::parse(read_text(scratch() / "one/result.json"));
  EXPECT_EQ(banyan({"verify", "one/result.json"}).status, 0);
  for (const char* path : {"/metrics/packet_latency/mean", "/metrics/packet_latency/half_width", "/metrics/hops/count",
                           "/metrics/packet_latency/unit", "/series/accepted_load/values/3", "/groups/cut", "/seed",
                           "/tables/channels/rows/2/5", "/explanation", "/certain"}) {
    json changed = whole;
    json& value = changed.at(json::json_pointer(path));
    if (value.is_boolean()) {
      value = !value.get<bool>();
    } else if (value.is_string()) {
      value = value.get<std::string>() + "x";
    } else {
      value = value.is_number_float() ? json(value.get<double>() * 1.01) : json(value.get<u64>() + 1);
    }
    write_text("changed.json", changed.dump());
    const Said said = banyan({"verify", "changed.json"});
    EXPECT_EQ(said.status, 1) << path << said.out << said.err;
    EXPECT_TRUE(contains(said.out, "but what was stored beside it is not what this run gives")) << path << said.out;
  }
  // What a terminal would obey is written out.
  json odd = whole;
  odd["metrics"]["hops"]["unit"] = "\u202eevil\u009b";
  write_text("changed.json", odd.dump());
  const Said shown = banyan({"verify", "changed.json"});
  EXPECT_TRUE(contains(shown.out, "\\u{202e}evil\\x9b")) << shown.out;
  EXPECT_FALSE(contains(shown.out, "\u202e")) << shown.out;

  json unseen = whole;
  unseen["checkpoints"].clear();
  write_text("changed.json", unseen.dump());
  EXPECT_TRUE(contains(banyan({"verify", "changed.json"}).out, "the states on the way")) << "missing checkpoints";
  json fewer = whole;
  fewer["metrics"].erase("flit_hops");
  write_text("changed.json", fewer.dump());
  EXPECT_TRUE(contains(banyan({"verify", "changed.json"}).out, "metrics.flit_hops is {")) << "a missing metric";
  // Of one with an interval, the rest of the file tells that it is missing.
  fewer["metrics"].erase("hops");
  write_text("changed.json", fewer.dump());
  expect_refusal(banyan({"verify", "changed.json"}), "the metric hops is missing", "");

  api::Result result = store::Reader((scratch() / "one").string()).table().results.front().value();
  result.histograms.front().buckets.front().count += 1;
  { store::Writer((scratch() / "one").string()).put(result); }
  const Said said = banyan({"verify", "one"});
  EXPECT_EQ(said.status, 1) << said.out;
  EXPECT_TRUE(contains(said.out, "histograms." + result.histograms.front().name)) << said.out;
}

/// Nothing is wrong with what is there; that there should be more is said.
TEST_F(VerifyCommand, APointThatIsMissingIsCounted) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--quiet", "--out", "half", "--part", "1/2"}).status, 0);
  const Said said = banyan({"verify", "half", "--quiet"});
  EXPECT_EQ(said.status, 0) << said.out << said.err;
  EXPECT_TRUE(contains(said.err, " points of half are finished; continue with: banyan sweep swept.toml")) << said.err;
}

TEST_F(VerifyCommand, AnAxisThatIsNotTheConfigurationsIsNamed) {
  write_text("linked.toml", kSteady +
                                "[sweep]\n\"traffic.load\" = [0.1, 0.2]\n\"run.seed\" = [3, 4]\n"
                                "zip = [[\"traffic.load\", \"run.seed\"]]\n");
  ASSERT_EQ(banyan({"sweep", "linked.toml", "--quiet", "--out", "many"}).status, 0);
  EXPECT_EQ(banyan({"verify", "many/results.json"}).status, 0) << banyan({"verify", "many/results.json"}).out;
  auto changed = nlohmann::ordered_json::parse(read_text(scratch() / "many/results.json"));
  changed["points"][1]["axes"]["traffic.load"] = "0.3";
  write_text("changed.json", changed.dump());
  const Said said = banyan({"verify", "changed.json"});
  EXPECT_EQ(said.status, 1);
  EXPECT_TRUE(contains(said.out, "the configuration is not that of traffic.load = 0.3, run.seed = 4")) << said.out;
}

TEST_F(VerifyCommand, WhatHoldsNoResultIsRefused) {
  std::filesystem::create_directories(scratch() / "empty");
  expect_refusal(banyan({"verify", "empty"}), "there is no result store", "--out");
  expect_refusal(banyan({"verify", "nowhere"}), "nowhere", "");
}

}  // namespace
}  // namespace banyan::cli::verify_command_test
