// Are files named by the rules, and free of what must not be published?
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "support/repository.hpp"

namespace banyan::names_test {
namespace {

using banyan::test::lines_of;
using banyan::test::project_files;
using banyan::test::read_file;
using banyan::test::repository_root;

TEST(Names, SourceFilesAndFoldersAreSnakeCase) {
  static const std::regex snake_case(R"(([a-z0-9_]+/)*[a-z0-9_]+\.(cpp|hpp))");
  for (const std::string folder : {"src/", "tests/", "bench/"}) {
    for (const std::string& file : project_files(folder, {".cpp", ".hpp", ".cc", ".h", ".cxx", ".hh"})) {
      EXPECT_TRUE(std::regex_match(file, snake_case)) << file;
    }
  }
}

TEST(Names, TestFilesEndInTest) {
  for (const std::string& file : project_files("tests/", {".cpp"})) {
    if (file.rfind("tests/support/", 0) == 0 || file.rfind("tests/fuzz/", 0) == 0) continue;
    EXPECT_TRUE(file.ends_with("_test.cpp")) << file << ": only files named <name>_test.cpp are built";
  }
}

TEST(Names, StudyFoldersAndPagesAreLowerCaseWithHyphensOrUnderscores) {
  static const std::regex allowed(R"([a-z0-9_\-]+)");
  for (const std::string& file : project_files()) {
    if (file.rfind("studies/", 0) != 0 && file.rfind("examples/", 0) != 0) continue;
    for (const std::filesystem::path& part : std::filesystem::path(file).parent_path()) {
      EXPECT_TRUE(std::regex_match(part.string(), allowed)) << file;
    }
  }
}

TEST(Names, HeadersAreGuardedOnce) {
  for (const std::string& file : project_files("src/", {".hpp"})) {
    EXPECT_NE(read_file(repository_root() / file).find("#pragma once"), std::string::npos) << file;
  }
}

// Text files that people read or compilers read; data and lock files are left aside.
std::vector<std::string> text_files() {
  std::vector<std::string> chosen = project_files("", {".cpp", ".hpp", ".md", ".txt", ".cmake", ".toml", ".sh", ".py",
                                                       ".js", ".ts", ".html", ".css", ".yml", ".json", ".cff", ""});
  std::erase_if(chosen, [](const std::string& file) { return file.ends_with("package-lock.json"); });
  return chosen;
}

TEST(Content, NoUnfinishedMarkers) {
  // Spelt in two parts, so that this file passes its own test.
  static const std::regex marker(std::string("\\b(TO") + "DO|FIX" + "ME|XX" + "X|HA" + "CK)\\b");
  for (const std::string& file : text_files()) {
    int number = 0;
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      ++number;
      EXPECT_FALSE(std::regex_search(line, marker)) << file << ":" << number << ": " << line;
    }
  }
}

TEST(Content, NoPathsOfOneMachine) {
  static const std::regex machine_path(std::string(R"((^|[\s"'`(=:])/(wo)") + R"(rk|ro)" + R"(ot|ho)" + R"(me|Us)" +
                                       R"(ers)/)");
  for (const std::string& file : text_files()) {
    int number = 0;
    for (const std::string& line : lines_of(read_file(repository_root() / file))) {
      ++number;
      EXPECT_FALSE(std::regex_search(line, machine_path)) << file << ":" << number << ": " << line;
    }
  }
}

TEST(Content, ScriptsAreExecutable) {
  namespace fs = std::filesystem;
  for (const std::string& file : text_files()) {
    const fs::path path = repository_root() / file;
    if (read_file(path).rfind("#!", 0) != 0) continue;
    EXPECT_NE(fs::status(path).permissions() & fs::perms::owner_exec, fs::perms::none) << file;
  }
}

}  // namespace
}  // namespace banyan::names_test
