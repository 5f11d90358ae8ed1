// Does banyan trees print what a run recorded, and say clearly what is missing?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace banyan::cli::trees_command_test {
namespace {

class TreesCommand : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(fresh_scratch() / "hot.toml") << R"(
topology = { name = "multistage_cube", terminals = 16, radix = 2 }
switch = { name = "output_queued", buffer = 4 }
routing = "destination_tag"
traffic = { name = "hot_spot", load = 0.6, fraction = 0.3, targets = [5] }
[run]
warmup = 50
measure = 350
drain = 0
trees_interval = 10
)";
  }
};

TEST_F(TreesCommand, PrintsTableTimelineEventsAndOneTime) {
  ASSERT_EQ(banyan({"run", "hot.toml", "run.trees=true", "--out", "out"}).status, 0);
  const Said table = banyan({"trees", "out"});
  EXPECT_EQ(table.status, 0);
  EXPECT_NE(table.out.find("to terminal 5"), std::string::npos) << table.out;
  const Said timeline = banyan({"trees", "out", "--timeline"});
  EXPECT_NE(timeline.out.find("█"), std::string::npos) << timeline.out;
  EXPECT_NE(banyan({"trees", "out", "--events"}).out.find("born: root "), std::string::npos);
  const Said moment = banyan({"trees", "out", "--at", "395"});
  EXPECT_NE(moment.out.find("at 390:"), std::string::npos);
  EXPECT_NE(moment.out.find("go through the root"), std::string::npos);
  EXPECT_EQ(banyan({"trees", "out", "--least", "9999"}).out.find("to terminal 5"), std::string::npos);
}

TEST_F(TreesCommand, PrintsJson) {
  ASSERT_EQ(banyan({"run", "hot.toml", "run.trees=true", "run.tables=flows", "--out", "out"}).status, 0);
  const nlohmann::json json = nlohmann::json::parse(banyan({"trees", "out", "--json"}).out);
  EXPECT_EQ(json.at("samples").size(), 40U);
  EXPECT_FALSE(json.at("events").empty());
  EXPECT_FALSE(json.at("waits").empty());
  const nlohmann::json& tree = json.at("samples").back().at("trees").at(0);
  EXPECT_GE(tree.at("members").size(), 3U);
  EXPECT_EQ(json.at("set_aside").at("queue_samples"), 0);
}

TEST_F(TreesCommand, SaysWhatIsMissing) {
  EXPECT_EQ(banyan({"trees", "nowhere"}).status, 2);
  ASSERT_EQ(banyan({"run", "hot.toml", "--out", "out"}).status, 0);
  const Said none = banyan({"trees", "out"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("no run here recorded congestion trees"), std::string::npos) << none.err;
  EXPECT_NE(none.err.find("run.trees=true"), std::string::npos);
  EXPECT_EQ(banyan({"trees", "out", "--point", "7"}).status, 2);
  EXPECT_EQ(banyan({"trees", "out", "--at", "soon"}).status, 2);
  EXPECT_EQ(banyan({"run", "hot.toml", "run.trees=true", "run.trees_interval=-1"}).status, 2);
}

TEST_F(TreesCommand, SaysThatThereWasNoTree) {
  ASSERT_EQ(banyan({"run", "hot.toml", "run.trees=true", "traffic.load=0.01", "--out", "out"}).status, 0);
  for (const char* form : {"", "--timeline", "--events", "--json"}) {
    const Said said = *form == 0 ? banyan({"trees", "out"}) : banyan({"trees", "out", form});
    EXPECT_EQ(said.status, 0) << form;
    EXPECT_NE(said.out, "") << form;
  }
  EXPECT_NE(banyan({"trees", "out"}).out.find("no congestion tree"), std::string::npos);
  EXPECT_EQ(banyan({"report", "out"}).status, 0);
}

TEST_F(TreesCommand, TheReportShowsTheNetwork) {
  ASSERT_EQ(banyan({"run", "hot.toml", "run.trees=true", "--out", "out"}).status, 0);
  ASSERT_EQ(banyan({"report", "out"}).status, 0);
  const std::string page = read_text(scratch() / "out" / "report.html");
  EXPECT_NE(page.find("id=\"explorer\""), std::string::npos);
  EXPECT_NE(page.find("\"record\":\"QkNUM"), std::string::npos);  // "BCT1"
  EXPECT_LT(page.size(), 1'000'000U);
}

}  // namespace
}  // namespace banyan::cli::trees_command_test
