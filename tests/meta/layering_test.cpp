// Does every file include only its own room and lower floors?
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <string>

#include "support/repository.hpp"

namespace banyan::layering_test {
namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

// Floors, as in HACKING.md. Rooms on one floor do not see each other.
const std::map<std::string, int>& floors() {
  static const std::map<std::string, int> table{
      {"base", 0},     {"stats", 10},    {"config", 10},  {"core", 20},      {"workload", 25},
      {"engine", 30},  {"topology", 40}, {"routing", 40}, {"switching", 40}, {"admission", 40},
      {"traffic", 40}, {"analysis", 40}, {"mpi", 40},     {"api", 50},       {"booksim", 51},
      {"store", 51},   {"study", 52},    {"report", 60},  {"python", 61},    {"cli", 61}};
  return table;
}

TEST(Layering, FilesIncludeOnlyTheirOwnRoomAndLowerFloors) {
  static const std::regex include(R"re(^\s*#\s*include\s*"([^"]*)")re");
  static const std::regex banyan_path(R"re(banyan/([a-z_]+)/.+)re");
  int includes = 0;
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    const std::string room = file.substr(11, file.find('/', 11) - 11);
    ASSERT_TRUE(floors().contains(room)) << file << ": a room without a floor; add it to HACKING.md and to this test";
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string path = match[1];
      std::smatch parts;
      if (path == "banyan_interface.hpp") continue;  // the build writes it: a digest of the seams
      if (!std::regex_match(path, parts, banyan_path)) {
        ADD_FAILURE() << file << ": write the include as \"banyan/<room>/<file>\": " << line;
        continue;
      }
      ++includes;
      const std::string other = parts[1];
      ASSERT_TRUE(floors().contains(other)) << file << ": includes an unknown room: " << line;
      EXPECT_TRUE(other == room || floors().at(other) < floors().at(room))
          << file << " (" << room << ") must not include " << path;
    }
  }
  EXPECT_GT(includes, 20);
}

}  // namespace
}  // namespace banyan::layering_test
