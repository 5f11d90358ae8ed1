// Does the program look at workload files and convert them without running them?
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "support/chakra_writer.hpp"

namespace banyan::cli::workload_command_test {
namespace {

using nlohmann::json;

class Workload : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }
};

TEST_F(Workload, RatesAreNumbers) {
  using namespace test::chakra;
  write_text("t.0.et", kMetadata + Node(1, 4, "k").attribute("num_ops", 500).text());
  for (const char* rate : {"nan", "inf", "-1"})
    expect_refusal(banyan({"workload", "info", "t.0.et", "--rate", rate}), "is no rate",
                   "operations per ns, from 0 on");
}

TEST_F(Workload, GroupsThatMeanNothingAreRefused) {
  using namespace test::chakra;
  for (u32 r = 0; r < 2; ++r)
    write_text("t." + std::to_string(r) + ".et", kMetadata + collective(1, 0, 4096).group("a").text());
  const auto with = [](const std::string& groups) {
    write_text("g.json", groups);
    return banyan({"workload", "info", "t.0.et", "--groups", "g.json"});
  };
  EXPECT_EQ(with(R"({"a": [0, 1]})").status, 0);
  expect_refusal(with(R"({"a": []})"), "group a has no ranks", "give its ranks");
  expect_refusal(with(R"({"a": [0], "a": [0, 1]})"), "group a is there twice", "leave one of them out");
}

TEST_F(Workload, SumsThatAreMoreThanCanBeSaidAreRefused) {
  write_text("b.goal",
             "num_ranks 2\nrank 0 {\nsend 9223372036854775808b to 1\nsend 9223372036854775809b to 1\n}\nrank 1 {\n}\n");
  expect_refusal(banyan({"workload", "info", "b.goal"}), "the bytes of all messages of the schedule are more than 2^64",
                 "write shorter ones");
  write_text("c.goal", "num_ranks 1\nrank 0 {\ncalc 18446744073709551615\ncalc 5\n}\n");
  expect_refusal(banyan({"workload", "info", "c.goal"}), "the nanoseconds of all computations", "write shorter ones");
}

TEST_F(Workload, RoomForMoreThanIsSentIsNoMessage) {
  write_text("m.goal", "num_ranks 2\nrank 0 {\nsend 10b to 1\n}\nrank 1 {\nrecv 20b from 0\n}\n");
  EXPECT_TRUE(contains(banyan({"workload", "info", "m.goal"}).out, "10 sent, at most 10 in one message"));
}

TEST_F(Workload, CommentsInFrontMayBeLong) {
  write_text("l.goal", "//" + std::string(9000, 'x') + "\nnum_ranks 1\nrank 0 {\n}\n");
  EXPECT_EQ(banyan({"workload", "info", "l.goal"}).status, 0);
  std::string lines;
  for (int i = 0; i < 900; ++i) lines += "# a line of comment\n";
  write_text("l.cm", lines + "Nodes 2\n0->1 start 0 size 9\n");
  EXPECT_EQ(banyan({"workload", "info", "l.cm"}).status, 0);
}

TEST_F(Workload, AttributesAreThereOnce) {
  write_text("a.goal", "num_ranks 2\nrank 0 {\nsend 8b to 1 tag 3 tag 4\n}\nrank 1 {\n}\n");
  expect_refusal(banyan({"workload", "info", "a.goal"}), "a.goal:3:20: tag is there twice", "leave one of them out");
  write_text("n.goal", "num_ranks 99999999999999999999\n");
  expect_refusal(banyan({"workload", "info", "n.goal"}), "n.goal:1:11: the number of ranks is too large",
                 "give at most 67108864");
}

/// What an experiment says in the keys of a job, commands say in options.
TEST_F(Workload, ATraceIsReadAsItsOptionsSay) {
  using namespace test::chakra;
  for (u32 r = 0; r < 3; ++r) {
    write_text("t." + std::to_string(r) + ".et", kMetadata + collective(1, 0, 4096).group("a").text() +
                                                     Node(2, 7, "half").text() +
                                                     Node(3, 4, "k").attribute("num_ops", 500).text());
  }
  write_text("g.json", R"({"a": [0, 1, 2]})");
  const Said bare = banyan({"workload", "info", "t.0.et"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_TRUE(contains(bare.err, "--incomplete skip")) << bare.err;
  const Said grouped = banyan({"workload", "info", "t.0.et", "--incomplete", "skip"});
  EXPECT_EQ(grouped.status, 2);
  EXPECT_TRUE(contains(grouped.err, "--groups FILE")) << grouped.err;
  std::vector<std::string> told{"--incomplete", "skip", "--groups",      "g.json",
                                "--rate",       "2",    "--collectives", "all_reduce=ring"};
  std::vector<std::string> info{"workload", "info", "t.0.et", "--json"};
  info.insert(info.end(), told.begin(), told.end());
  const Said said = banyan(info);
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["operations"]["send"], 3 * 4);
  EXPECT_EQ(json::parse(said.out)["calculated"], 3 * 250);
  std::vector<std::string> convert{"convert", "t.0.et", "--to", "t.goal"};
  convert.insert(convert.end(), told.begin(), told.end());
  EXPECT_EQ(banyan(convert).status, 0);
  EXPECT_EQ(json::parse(banyan({"workload", "info", "t.goal", "--json"}).out)["hash"], json::parse(said.out)["hash"]);
  EXPECT_EQ(banyan({"workload", "info", "t.goal", "--rate", "2"}).status, 2);
  EXPECT_EQ(banyan({"workload", "info", "t.0.et", "--collectives", "all_reduce=rng"}).status, 2);
  EXPECT_EQ(banyan({"workload", "info", "t.0.et", "--collectives", "all_reduce=in_network"}).status, 2);
}

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
