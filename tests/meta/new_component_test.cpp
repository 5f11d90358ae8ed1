// Does tools/new_component write files that compile?
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "build_info.hpp"
#include "support/repository.hpp"

namespace banyan::new_component_test {
namespace {

using banyan::test::Output;
using banyan::test::quoted;
using banyan::test::read_file;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

Output new_component(const std::string& room, const std::string& name, const TemporaryFolder& folder) {
  return run_shell(quoted(repository_root() / "tools/new_component") + " " + room + " " + name + " " +
                   quoted(folder.path()));
}

class NewComponent : public ::testing::TestWithParam<std::string> {};

TEST_P(NewComponent, WritesThreeFilesThatCompileWithoutWarnings) {
  const std::string& room = GetParam();
  const TemporaryFolder folder;
  const Output written = new_component(room, "fresh_idea", folder);
  ASSERT_EQ(written.status, 0) << written.text;
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "docs" / room / "fresh_idea.md"));
  EXPECT_NE(read_file(folder.path() / "src/banyan" / room / "fresh_idea.cpp").find("row_fresh_idea"),
            std::string::npos);
  for (const std::string& file : {"src/banyan/" + room + "/fresh_idea.cpp", "tests/" + room + "/fresh_idea_test.cpp"}) {
    const Output compiled = run_shell(std::string(BANYAN_CXX) +
                                      " -std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror "
                                      "-fsyntax-only -I " +
                                      quoted(repository_root() / "src") + " " + quoted(folder.path() / file));
    EXPECT_EQ(compiled.status, 0) << compiled.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Rooms, NewComponent,
                         ::testing::Values("topology", "routing", "switching", "traffic", "admission", "analysis"),
                         [](const auto& row) { return row.param; });

TEST(NewComponentRefuses, ABadNameAnUnknownRoomAndAFileThatExists) {
  const TemporaryFolder folder;
  EXPECT_EQ(new_component("topology", "NotSnake", folder).status, 2);
  EXPECT_EQ(new_component("cellar", "ring", folder).status, 2);
  EXPECT_EQ(new_component("topology", "ring", folder).status, 0);
  EXPECT_EQ(new_component("topology", "ring", folder).status, 2);
}

}  // namespace
}  // namespace banyan::new_component_test
