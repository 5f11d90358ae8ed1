// Does banyan report make a page of whatever a folder holds, and say clearly when it holds nothing?
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.hpp"

namespace banyan::cli::report_command_test {
namespace {

namespace fs = std::filesystem;

class ReportCommand : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("swept.toml", kSwept);
  }
};

TEST_F(ReportCommand, ReadsTheStoreOfASweep) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--out", "out", "--quiet"}).status, 0);
  const Said said = banyan({"report", "out"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.out, "Report: out/report.html\n");
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "Packet latency"));
  EXPECT_TRUE(contains(page, "load = 0.1"));
  EXPECT_TRUE(fs::exists(scratch() / "out/sweep-packet_latency.svg"));
}

TEST_F(ReportCommand, ReadsTheJsonFilesToo) {
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--out", "out", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"report", "out", "--out", "store"}).status, 0);
  ASSERT_EQ(banyan({"report", "out/results.json", "--out", "json"}).status, 0);
  for (const char* page : {"store/report.html", "json/report.html"}) {
    EXPECT_TRUE(contains(read_text(scratch() / page), "load = 0.1")) << page;
  }
}

TEST_F(ReportCommand, ReadsARun) {
  ASSERT_EQ(banyan({"run", "steady.toml", "--out", "out", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "packet_latency"));
  EXPECT_TRUE(contains(page, "State hash"));
}

TEST_F(ReportCommand, ShowsTheRestWhereTheNetworkIsOfAnotherFile) {
  const std::string graph = "switch a\nswitch b\nterminal 0 a\nterminal 1 b\nlink a b\n";
  write_text("graph.txt", graph);
  write_text("graph.toml",
             "topology = { name = \"graph_file\", file = \"graph.txt\" }\nswitch = \"vc_router\"\nrouting = "
             "\"up_down\"\ntraffic = { name = \"uniform\", load = 0.1 }\nrun = { measure = 1000, tables = "
             "\"channels\" }\n");
  ASSERT_EQ(banyan({"run", "graph.toml", "--out", "out", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  EXPECT_TRUE(contains(read_text(scratch() / "out/report.html"), "class=\"explorer\""));
  write_text("graph.txt", graph + "link a b\n");
  const Said said = banyan({"report", "out"});
  ASSERT_EQ(said.status, 0) << said.err;
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "The network of a run cannot be drawn: "));
  EXPECT_TRUE(contains(page, "packet_latency"));
  EXPECT_FALSE(contains(page, "class=\"explorer\""));
  fs::remove(scratch() / "graph.txt");
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  EXPECT_TRUE(contains(read_text(scratch() / "out/report.html"), "The network of a run cannot be drawn: "));
}

TEST_F(ReportCommand, TheNetworkOfJobsShowsTheirCriticalPaths) {
  write_text("jobs.toml",
             "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"vc_router\"\nrouting = "
             "\"up_down\"\ncycle_time = \"2 ns\"\n[[job]]\nname = \"all\"\nplacement = \"random\"\ngenerator = { "
             "collective = \"all_to_all\", bytes = \"16 KiB\", ranks = 8 }\n");
  const Said said = banyan({"run", "jobs.toml", "--out", "out", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "The network and the critical paths"));
  EXPECT_TRUE(contains(page, "time (ns)"));
  if (!contains(page, "id=\"report-data\"")) return;  // built without Node.js
  const std::string begin = "\"paths\":[{\"job\":\"all\",\"unit\":\"ns\",\"messages\":[{\"what\":";
  EXPECT_TRUE(contains(page, begin));
}

TEST_F(ReportCommand, EscapesANameWithMarkup) {
  write_text("evil.toml", "name = \"<img src=x onerror=alert(1)></script><!--\"\n" + kSwept);
  ASSERT_EQ(banyan({"sweep", "evil.toml", "--out", "out", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out/report.html");
  EXPECT_TRUE(contains(page, "&lt;img src=x"));
  EXPECT_FALSE(contains(page, "<img"));
  EXPECT_FALSE(contains(page, "<!--"));
}

TEST_F(ReportCommand, RefusesWhatHoldsNoResults) {
  fs::create_directories(scratch() / "empty");
  expect_refusal(banyan({"report", "empty"}), "there are no results", "--out");
  expect_refusal(banyan({"report", "nowhere"}), "there are no results", "--out");
  write_text("results.json", "{\"points\": 7}");
  expect_refusal(banyan({"report", "results.json"}), "results.json:1:1: not a result of banyan: the key \"file\"",
                 "banyan sweep --json");
  write_text("results.json", "{\"points\": 7, \"file\": \"a\", \"axes\": []}");
  expect_refusal(banyan({"report", "results.json"}), "results.json:1:12: points: not a result of banyan: 7 is no value",
                 "banyan sweep --json");
  write_text("results.json", "{\"points\": [], \"file\": \"a\", \"axes\": []}");
  expect_refusal(banyan({"report", "results.json"}), "no finished point", "");
  write_text("results.sqlite", "not a database, and long enough to be taken for one at first sight, perhaps");
  EXPECT_EQ(banyan({"report", "results.sqlite"}).status, 2);
}

TEST_F(ReportCommand, RefusesAFolderThatCannotBeWritten) {
  ASSERT_EQ(banyan({"run", "steady.toml", "--out", "out", "--quiet"}).status, 0);
  expect_refusal(banyan({"report", "out", "--out", "/proc/nothing"}), "cannot be written", "");
}

}  // namespace
}  // namespace banyan::cli::report_command_test
