// Do the installed pages lead only to what is installed, and does the copyright file name what is compiled in?
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <set>
#include <string>

#include "support/repository.hpp"

namespace banyan::installed_pages_test {
namespace {

using banyan::test::Output;
using banyan::test::project_files;
using banyan::test::quoted;
using banyan::test::read_file;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

namespace fs = std::filesystem;

/// Relative links of a page, without places in them.
std::set<std::string> links_of(const std::string& text) {
  static const std::regex link(R"(\]\(([^)#\s]+)(#[^)\s]*)?\))");
  std::set<std::string> links;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), link); it != std::sregex_iterator(); ++it) {
    if (std::string path = (*it)[1]; path.find(':') == std::string::npos) links.insert(std::move(path));
  }
  return links;
}

TEST(InstalledPages, LeadToNothingThatIsNotInstalled) {
  const TemporaryFolder folder;
  for (const char* name : {"README.md", "CHANGELOG.md", "CITATION.cff", "docs", "examples"}) {
    fs::copy(repository_root() / name, folder.path() / name, fs::copy_options::recursive);
  }
  const Output said = run_shell("cmake -DFOLDER=" + quoted(folder.path()) + " -P " +
                                quoted(repository_root() / "cmake/InstalledLinks.cmake"));
  ASSERT_EQ(said.status, 0) << said.text;
  std::size_t links = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() != ".md") continue;
    const std::string text = read_file(entry.path());
    const fs::path source = repository_root() / fs::relative(entry.path(), folder.path());
    const std::string before = read_file(source);
    for (const std::string& link : links_of(text)) {
      ++links;
      EXPECT_TRUE(fs::exists(entry.path().parent_path() / link)) << source << ": " << link;
    }
    // Links that still lead somewhere are kept.
    for (const std::string& link : links_of(before)) {
      EXPECT_TRUE(!fs::exists(entry.path().parent_path() / link) || links_of(text).contains(link)) << source << link;
    }
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), std::count(before.begin(), before.end(), '\n')) << source;
  }
  EXPECT_GT(links, 100U);
}

/// Libraries of which headers are compiled into the packages. Those that are linked dynamically have packages.
TEST(CopyrightFile, NamesEveryLibraryThatIsCompiledIn) {
  const std::string copyright = read_file(repository_root() / "cmake/copyright");
  static const std::regex include(R"(#include <([A-Za-z0-9+]+)/)");
  const std::set<std::string> of_system{"sys"};
  std::set<std::string> seen;
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    const std::string text = read_file(repository_root() / file);
    for (auto it = std::sregex_iterator(text.begin(), text.end(), include); it != std::sregex_iterator(); ++it) {
      if (!of_system.contains((*it)[1])) seen.insert((*it)[1]);
    }
  }
  EXPECT_TRUE(seen.contains("fmt") && seen.contains("pybind11"));
  for (const std::string& library : seen) {
    EXPECT_NE(copyright.find("\nFiles: " + library + "/*\n"), std::string::npos) << library;
  }
}

}  // namespace
}  // namespace banyan::installed_pages_test
