// Does the program look at workload files and convert them without running them?
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace banyan::cli::workload_command_test {
namespace {

using nlohmann::json;

class Workload : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }
};

TEST_F(Workload, InfoSaysWhatIsInAFile) {
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: calc 5\nb: send 8b to 1 tag 2\nb requires a\n}\n"
             "rank 1 {\nrecv 8b from 0 tag 2\nrecv 8b from 0 tag 3\n}\n");
  const Said said = banyan({"workload", "info", "a.goal", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json info = json::parse(said.out);
  EXPECT_EQ(info["ranks"], 2);
  EXPECT_EQ(info["operations"], json({{"send", 1}, {"recv", 2}, {"calc", 1}}));
  EXPECT_EQ(info["bytes"], 8);
  EXPECT_EQ(info["unmatched"], json::array({{{"kind", "recv"}, {"rank", 1}, {"peer", 0}, {"tag", 3}, {"count", 1}}}));
  EXPECT_EQ(info["cycle"], json::array());
  const Said table = banyan({"workload", "info", "a.goal"});
  EXPECT_NE(table.out.find("rank 1 receives from rank 0 with tag 3: 1 without counterpart"), std::string::npos);
}

TEST_F(Workload, InfoPrintsACycle) {
  write_text("a.goal", "num_ranks 1\nrank 0 {\na: calc 5\nb: calc 6\nb requires a\na requires b\n}\n");
  const Said said = banyan({"workload", "info", "a.goal", "--json"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["cycle"].size(), 2U);
}

TEST_F(Workload, ConvertGoesBothWays) {
  write_text("a.goal", "num_ranks 1\nrank 0 {\nx: calc 5\ny: calc 6\ny requires x\n}\n");
  ASSERT_EQ(banyan({"convert", "a.goal", "--to", "a.bin"}).status, 0);
  ASSERT_EQ(banyan({"convert", "a.bin", "--to", "b.goal"}).status, 0);
  ASSERT_EQ(banyan({"convert", "b.goal", "--to", "b.bin"}).status, 0);
  EXPECT_EQ(read_text(scratch() / "a.bin"), read_text(scratch() / "b.bin"));
  EXPECT_EQ(read_text(scratch() / "b.goal"), "num_ranks 1\n\nrank 0 {\nl1: calc 5\nl2: calc 6\nl2 requires l1\n}\n");
  EXPECT_EQ(banyan({"convert", "a.goal", "--to", "a.txt"}).status, 2);
}

/// A workload is read more than once; and to open a pipe that nobody writes into would wait for ever.
TEST_F(Workload, APipeIsRefused) {
  const std::string pipe = (scratch() / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Said said = banyan({"workload", "info", "pipe"});
  EXPECT_EQ(said.status, 2);
  EXPECT_TRUE(contains(said.err, "pipe: it is a pipe or a device")) << said.err;
}

TEST_F(Workload, ABadFileIsRefusedWithItsPlace) {
  write_text("a.goal", "num_ranks 1\nrank 0 {\n  calc\n}\n");
  const Said said = banyan({"workload", "info", "a.goal"});
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.err.find("a.goal:3:7"), std::string::npos) << said.err;
}

}  // namespace
}  // namespace banyan::cli::workload_command_test
