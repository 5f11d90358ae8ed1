// Does `run --profile` say where the time goes, to whoever reads it, and do too many threads get their note?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "cli/program.hpp"

namespace banyan::cli::profile_test {
namespace {

using nlohmann::json;

class Profile : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("mesh.toml",
               "topology = { name = \"mesh\", size = [4, 4] }\n"
               "switch   = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
               "routing  = \"dimension_order\"\n"
               "traffic  = { name = \"uniform\", load = 0.3 }\n"
               "run      = { warmup = 200, measure = 2000 }\n");
  }
};

TEST_F(Profile, IsAKeyOfTheJsonAndChangesNothingElse) {
  const Said plain = banyan({"run", "mesh.toml", "run.shards=2", "--json", "--quiet"});
  const Said with =
      banyan({"run", "mesh.toml", "run.shards=2", "--json", "--quiet", "--profile", "--threads", "2", "--out", "out"});
  ASSERT_EQ(with.status, 0) << with.err;
  json before = json::parse(plain.out);
  json after = json::parse(with.out);
  EXPECT_FALSE(before.contains("profile"));
  const json profile = after.at("profile");
  EXPECT_EQ(profile.at("cut").at("shards"), 2);
  EXPECT_EQ(json::parse(read_text(scratch() / "out/result.json")).at("profile"), profile);
  for (const json& thread : profile.at("threads")) {
    double sum = 0.0;
    for (const char* key : {"work", "mail", "wait", "other"}) sum += thread.at(key).get<double>();
    const double run = profile.at("run_seconds").get<double>();
    EXPECT_NEAR(sum, run, 0.001 + 0.01 * run) << profile.dump(2);
  }
  after.erase("profile");
  for (const char* cost : {"cpu_seconds", "peak_bytes"}) {
    before.erase(cost);
    after.erase(cost);
  }
  EXPECT_EQ(after, before);
  EXPECT_EQ(banyan({"verify", "out/result.json", "--quiet"}).status, 0);
}

TEST_F(Profile, IsATableOfEightyColumnsBehindTheMetrics) {
  const Said plain = banyan({"run", "mesh.toml", "--quiet"});
  const Said with = banyan({"run", "mesh.toml", "--quiet", "--profile"});
  ASSERT_EQ(with.status, 0) << with.err;
  ASSERT_EQ(with.out.substr(0, plain.out.size()), plain.out);
  const std::string table = with.out.substr(plain.out.size());
  for (const char* word : {"profile: ", "thread", "work [s]", "mail [s]", "wait [s]", "cut ", "memory "}) {
    EXPECT_TRUE(contains(table, word)) << word << "\n" << table;
  }
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST_F(Profile, LeavesTheCsvToScripts) {
  const Said plain = banyan({"run", "mesh.toml", "--quiet", "--csv"});
  const Said with = banyan({"run", "mesh.toml", "--quiet", "--csv", "--profile"});
  EXPECT_EQ(with.out, plain.out);
  EXPECT_TRUE(contains(with.err, "profile: ")) << with.err;
}

TEST_F(Profile, IsOfRunsOnly) { EXPECT_EQ(banyan({"sweep", "steady.toml", "--profile"}).status, 2); }

TEST_F(Profile, OrNoneTooManyThreadsAreTold) {
  const Said small = banyan({"run", "mesh.toml", "--threads", "2"});
  EXPECT_EQ(small.status, 0);
  EXPECT_TRUE(contains(small.err, "banyan: 1 of 2 threads steps this network: ")) << small.err;
  const Said whole = banyan({"run", "steady.toml", "--threads", "2"});
  EXPECT_TRUE(contains(whole.err, "banyan: 1 of 2 threads steps this network: ")) << whole.err;
  EXPECT_FALSE(contains(banyan({"run", "mesh.toml", "--threads", "2", "--quiet"}).err, "threads"));
  EXPECT_FALSE(contains(banyan({"run", "mesh.toml"}).err, "threads"));
}

/// Sessions are dealt out to threads: more threads than sessions have nothing to do, which is told.
TEST_F(Profile, SaysWhyFewerThreadsRunSessions) {
  write_text("sessions.toml",
             "topology = { name = 'extra_stage_cube', terminals = 16 }\nswitch = 'output_queued'\n"
             "routing = 'destination_tag'\ntraffic = { name = 'synchronization', mean = 100, deviation = 10 }\n"
             "run = { sessions = 3 }\n");
  const Said said = banyan({"run", "sessions.toml", "--threads", "8", "--profile", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const auto profile = nlohmann::json::parse(said.out).at("profile");
  EXPECT_EQ(profile.at("threads_asked"), 8);
  EXPECT_EQ(profile.at("threads").size(), 3U);
  EXPECT_EQ(profile.at("fewer_threads"), "3 of 8 threads run these sessions: there are no more sessions");
  EXPECT_NE(said.err.find("there are no more sessions"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace banyan::cli::profile_test
