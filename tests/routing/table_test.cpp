// Is a routing table followed as written, and every hole and circle in it found when it is read?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/rows.hpp"

namespace banyan::test::table_test {
namespace {

using Lines = std::vector<std::string>;

/// Three switches in a row, a terminal at each: port 0 is the terminal.
std::unique_ptr<core::Topology> row() {
  return topology("graph_file", {{"lines", Lines{"switch a", "switch b", "switch c", "terminal 0 a", "terminal 1 b",
                                                 "terminal 2 c", "link a b", "link b c"}}});
}
const Lines kRow{"0 1 1", "0 2 1", "1 0 1", "1 2 2  # to the right", "2 0 1", "2 1 1"};

std::unique_ptr<core::Routing> table(const core::Topology& t, const Lines& lines, u32 vcs = 2) {
  return routing("table", t, vcs, {{"lines", lines}});
}

TEST(Table, PacketsFollowTheLines) {
  const auto t = row();
  expect_minimal(*t, *table(*t, kRow));
  expect_verdict(*t, *table(*t, kRow), 2, core::DependencyVerdict::acyclic);
  EXPECT_TRUE(table(*t, kRow, 1)->in_order());
  EXPECT_FALSE(table(*t, kRow, 2)->in_order());
}

TEST(Table, VirtualChannelsMayBeGiven) {
  const auto t = row();
  Lines lines = kRow;
  lines[0] = "0 1 1 1 2";
  core::Packet packet;
  packet.destination = 1;
  core::RouteRequest request;
  request.packet = &packet;
  core::Candidates next;
  table(*t, lines)->route(request, next);
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next[0].vc_begin, 1);
  EXPECT_EQ(next[0].vc_end, 2);
}

TEST(Table, ATableMayDeadlockAndTheCheckSaysSo) {
  // A ring of four, everything clockwise.
  Lines graph{"switch 0", "switch 1", "switch 2", "switch 3"};
  for (const char* s : {"0", "1", "2", "3"}) graph.push_back("terminal t" + std::string(s) + " " + s);
  for (const char* link : {"0 1", "1 2", "2 3", "3 0"}) graph.push_back("link " + std::string(link));
  const auto t = topology("graph_file", {{"lines", graph}});
  Lines lines;
  for (u32 s = 0; s < 4; ++s) {
    for (u32 d = 0; d < 4; ++d) {
      if (s != d) lines.push_back(std::to_string(s) + " " + std::to_string(d) + (s == 0 ? " 1" : " 2"));
    }
  }
  expect_delivered(*t, *table(*t, lines), 3);
  const core::DependencyReport report = core::check_dependencies(*t, *table(*t, lines), 2);
  EXPECT_EQ(report.verdict, core::DependencyVerdict::cyclic);
  EXPECT_EQ(report.cycle.size(), 4U);
}

TEST(Table, HolesAndCirclesAreFoundWhenItIsRead) {
  const auto t = row();
  const auto said = [&](const Lines& lines) { return refusal([&] { table(*t, lines); }); };
  const auto with = [](std::size_t i, const std::string& line) {
    Lines lines = kRow;
    lines[i] = line;
    return lines;
  };
  EXPECT_NE(said({}).find("no line for switch"), std::string::npos);
  EXPECT_NE(said(with(1, "# nothing")).find("no line for switch 0 (a) and terminal 2 | add one: 0 2 PORT"),
            std::string::npos);
  EXPECT_NE(said(with(3, "1 2 1")).find("in a circle"), std::string::npos);
  EXPECT_NE(said(with(0, "0 1")).find("2 numbers"), std::string::npos);
  EXPECT_NE(said(with(0, "0 one 1")).find("\"one\" is no number"), std::string::npos);
  EXPECT_NE(said(with(0, "9 1 1")).find("outside the network"), std::string::npos);
  EXPECT_NE(said(with(0, "0 1 7")).find("leads nowhere"), std::string::npos);
  EXPECT_NE(said(with(0, "0 1 0")).find("leads to terminal 0"), std::string::npos);
  EXPECT_NE(said(with(0, "0 1 1 1 3")).find("virtual channels from 1 to before 3 of 2"), std::string::npos);
}

TEST(Table, AFileIsReadWithItsLineNumbers) {
  const auto t = row();
  const auto path = std::filesystem::path(testing::TempDir()) / "table_test.txt";
  std::ofstream(path) << "# a table\n0 1 1\n0 2 x\n";
  try {
    routing("table", *t, 1, {{"file", path.string()}});
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) { EXPECT_EQ(error.where().line, 3U); }
}

}  // namespace
}  // namespace banyan::test::table_test
