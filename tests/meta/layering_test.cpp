// Does every file include only its own room and lower floors?
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

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
      if (path == "banyan_interface.hpp" || path == "banyan_state.hpp") continue;  // the build writes these digests
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

/// A unit: a header and the file that implements it, or a file alone. "banyan/api/run" of both of its paths.
std::string unit_of(const std::string& path) { return path.substr(0, path.rfind('.')); }

/// What each unit of a room includes.
std::map<std::string, std::set<std::string>> units_of(const std::string& room) {
  static const std::regex include(R"re(^\s*#\s*include\s*"(banyan/[^"]*)")re");
  std::map<std::string, std::set<std::string>> units;
  for (const std::string& file : project_files("src/banyan/" + room + "/", {".cpp", ".hpp"})) {
    std::set<std::string>& included = units[unit_of(file.substr(4))];
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      std::smatch match;
      if (std::regex_search(line, match, include)) included.insert(unit_of(match[1]));
    }
  }
  return units;
}

/// A folder in a room holds what its files beside it stand on (decision 0013): what a folder includes of its room, and
/// what these units include in turn, includes nothing of the folder.
TEST(Layering, FoldersStandBelowTheFilesBesideThem) {
  int folders = 0;
  for (const auto& [room, floor] : floors()) {
    const auto units = units_of(room);
    std::set<std::string> in_room;
    const std::string start = "banyan/" + room + "/";
    for (const auto& [unit, included] : units) {
      const std::size_t end = unit.find('/', start.size());
      if (end != std::string::npos) in_room.insert(unit.substr(0, end + 1));
    }
    for (const std::string& folder : in_room) {
      ++folders;
      std::map<std::string, std::string> by;  // unit outside the folder -> who includes it
      std::vector<std::string> next;
      const auto visit = [&](const std::string& from, const std::string& unit) {
        if (units.contains(unit) && !unit.starts_with(folder) && by.emplace(unit, from).second) next.push_back(unit);
      };
      for (const auto& [unit, included] : units) {
        if (!unit.starts_with(folder)) continue;
        for (const std::string& other : included) visit(unit, other);
      }
      while (!next.empty()) {
        const std::string unit = next.back();
        next.pop_back();
        for (const std::string& other : units.at(unit)) {
          EXPECT_FALSE(other.starts_with(folder))
              << unit << " includes " << other << ", and " << by.at(unit) << " includes " << unit;
          visit(unit, other);
        }
      }
    }
  }
  EXPECT_GE(folders, 8);
}

}  // namespace
}  // namespace banyan::layering_test
