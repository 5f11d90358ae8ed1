// Do relative links in the documents lead to a file?
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "support/repository.hpp"

namespace banyan::links_test {
namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

// Written by ./dev docs.
const std::set<std::string>& generated() {
  static const std::set<std::string> files{"docs/reference/commands.md", "docs/reference/components.md",
                                           "docs/reference/metrics.md"};
  return files;
}

TEST(Links, RelativeLinksExist) {
  static const std::regex code(R"(`[^`]*`)");
  static const std::regex link(R"(\]\(\s*<?([^)\s>]+)[^)]*\))");
  static const std::regex elsewhere(R"(^([a-z]+:|#).*)");
  for (const std::string& file : project_files("", {".md"})) {
    bool fenced = false;
    int number = 0;
    for (const std::string& whole : lines_of(read_file(repository_root() / file))) {
      ++number;
      if (whole.find("```") != std::string::npos) fenced = !fenced;
      if (fenced) continue;
      const std::string line = std::regex_replace(whole, code, "");
      for (auto it = std::sregex_iterator(line.begin(), line.end(), link); it != std::sregex_iterator(); ++it) {
        std::string target = (*it)[1];
        if (std::regex_match(target, elsewhere)) continue;
        target = target.substr(0, target.find('#'));
        const auto path = (std::filesystem::path(file).parent_path() / target).lexically_normal();
        // A folder is no page of the site.
        EXPECT_TRUE(target.empty() || std::filesystem::is_regular_file(repository_root() / path) ||
                    generated().contains(path.generic_string()))
            << file << ":" << number << ": " << target;
      }
    }
  }
}

/// Files move, and comments that name them stay. Those of other projects have capitals or stand in studies.
TEST(Links, SourcesThatCommentsNameExist) {
  static const std::regex comment(R"(//(.*)$)");
  static const std::regex name(R"(\b[a-z0-9_/]+\.[ch]pp\b)");
  std::string files;
  for (const std::string& file : project_files("", {".cpp", ".hpp"})) files += "/" + file + "\n";
  int named = 0;
  for (const char* folder : {"src/", "tests/", "bench/", "examples/"}) {
    for (const std::string& file : project_files(folder, {".cpp", ".hpp"})) {
      int number = 0;
      for (const std::string& line : lines_of(read_file(repository_root() / file))) {
        ++number;
        std::smatch found;
        if (!std::regex_search(line, found, comment)) continue;
        const std::string text = found[1];
        for (auto it = std::sregex_iterator(text.begin(), text.end(), name); it != std::sregex_iterator(); ++it) {
          ++named;
          EXPECT_NE(files.find("/" + it->str() + "\n"), std::string::npos)
              << file << ":" << number << ": " << it->str();
        }
      }
    }
  }
  EXPECT_GT(named, 20);
}

}  // namespace
}  // namespace banyan::links_test
