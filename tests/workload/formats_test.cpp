// Is the format of a workload file told by its content, whatever its name is?
#include "banyan/workload/formats.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "support/repository.hpp"
#include "support/workload_files.hpp"

namespace banyan::workload::formats_test {
namespace {

using test::TemporaryFolder;
using test::write_bytes;

/// The metadata and one node, a computation of 2 microseconds.
const std::string kChakra =
    "\x07\x0a\x05"
    "0.0.4\x06\x08\x01\x18\x04\x38\x02";

std::string netrace_header() {
  std::string bytes(72, '\0');
  bytes.replace(0, 8, std::string("UTJH\0\0\x80\x3f", 8));
  bytes[38] = 3;
  return bytes;
}

TEST(Formats, AreToldByTheContent) {
  TemporaryFolder folder;
  const auto format = [&](const std::string& name, const std::string& bytes) {
    const std::string path = (folder.path() / name).string();
    write_bytes(path, bytes);
    const Format* found = format_of(path);
    return std::string(found == nullptr ? "none" : found->name);
  };
  EXPECT_EQ(format("a", "Nodes 2\nConnections 0\n"), "connections");
  EXPECT_EQ(format("b", kChakra), "chakra");
  EXPECT_EQ(format("c", netrace_header()), "netrace");
  EXPECT_EQ(format("d", "num_ranks 1\nrank 0 { calc 5 }\n"), "goal_text");
  EXPECT_EQ(format("e", "a line\n"), "none");
  EXPECT_EQ(read_workload((folder.path() / "a").string()).ranks(), 2U);
  EXPECT_EQ(read_workload((folder.path() / "b").string()).operation(0, 0).amount, 2000U);
  EXPECT_EQ(read_workload((folder.path() / "c").string()).ranks(), 3U);
}

TEST(Formats, AFolderIsAChakraTrace) {
  TemporaryFolder folder;
  EXPECT_EQ(format_of(folder.path().string()), nullptr);
  write_bytes(folder.path() / "t.0.et", kChakra);
  write_bytes(folder.path() / "t.1.et", kChakra);
  const Format* const format = format_of(folder.path().string());
  ASSERT_NE(format, nullptr);
  EXPECT_STREQ(format->name, "chakra");
  EXPECT_EQ(read_workload(folder.path().string()).ranks(), 2U);
  EXPECT_EQ(read_workload(folder.path().string(), ChakraOptions{}).ranks(), 2U);
}

TEST(Formats, EachHasAPage) {
  std::set<std::string> names;
  for (const Format* format : formats()) {
    const std::string name = format->name;
    EXPECT_TRUE(names.insert(name).second) << name;
    const std::string page = name.substr(0, 5) == "goal_" ? "goal" : name;
    EXPECT_TRUE(std::filesystem::is_regular_file(test::repository_root() / ("docs/workload/" + page + ".md"))) << page;
  }
}

}  // namespace
}  // namespace banyan::workload::formats_test
