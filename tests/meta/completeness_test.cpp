// Does every component come with a test, a page, a reference and described parameters?
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "banyan/core/registry.hpp"
#include "support/repository.hpp"

namespace banyan::completeness_test {
namespace {

using banyan::config::ComponentInfo;
using banyan::config::Parameter;
using banyan::test::repository_root;

struct Component {
  std::string room;
  const ComponentInfo* info;
};

template <typename Rows>
void append(std::vector<Component>& all, const std::string& room, const Rows& rows) {
  for (const auto* row : rows) all.push_back({room, &row->info});
}

std::vector<Component> components() {
  std::vector<Component> all;
  append(all, "topology", banyan::core::topology_rows());
  append(all, "routing", banyan::core::routing_rows());
  append(all, "switching", banyan::core::switching_rows());
  append(all, "traffic", banyan::core::traffic_rows());
  append(all, "admission", banyan::core::admission_rows());
  append(all, "analysis", banyan::core::analysis_rows());
  return all;
}

bool exists(const std::string& file) { return std::filesystem::is_regular_file(repository_root() / file); }

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == std::string::npos; }

/// Who opens the folder of a study reads there what it asks, what came out and where the rest is.
TEST(Completeness, EveryStudySaysWhatItAsksAndWhatCameOut) {
  for (const auto& entry : std::filesystem::directory_iterator(repository_root() / "studies")) {
    if (!entry.is_directory()) continue;
    const std::string name = entry.path().filename().string();
    const std::string text = test::read_file(entry.path() / "README.md");
    std::string page = name;
    std::replace(page.begin(), page.end(), '-', '_');
    for (const std::string& part :
         {std::string("**Asked.**"), std::string("**Came out.**"), "](../../docs/study/" + page + ".md)"}) {
      EXPECT_NE(text.find(part), std::string::npos) << name << ": " << part;
    }
  }
}

/// What lies beside the folders of the map is what people and programs look for by its name: a file that somebody tried
/// something with is not part of the project.
TEST(Completeness, TopFolderHoldsWhatItsMapNames) {
  if (!std::filesystem::exists(repository_root() / ".git"))
    GTEST_SKIP() << "not a checkout: git knows what belongs to it";
  const std::set<std::string> looked_for{".clang-format", ".clang-tidy",    ".gitignore",      "CHANGELOG.md",
                                         "CITATION.cff",  "CMakeLists.txt", "CONTRIBUTING.md", "CMakePresets.json",
                                         "HACKING.md",    "LICENSE",        "README.md",       "dev",
                                         "pyproject.toml"};
  const std::string map = test::read_file(repository_root() / "HACKING.md");
  const test::Output listed = test::run_shell("git -C '" + repository_root().string() + "' ls-files");
  ASSERT_EQ(listed.status, 0) << listed.text;
  std::set<std::string> seen;
  for (const std::string& file : test::lines_of(listed.text)) {
    const std::string top = file.substr(0, file.find('/'));
    if (!seen.insert(top).second) continue;
    const bool folder = top != file;
    EXPECT_TRUE(folder ? map.find("`" + top) != std::string::npos : looked_for.contains(top)) << top;
  }
  EXPECT_TRUE(seen.contains("src") && seen.contains("README.md")) << listed.text;
}

TEST(Completeness, ComponentsExist) { EXPECT_FALSE(components().empty()); }

TEST(Completeness, EveryComponentIsNamedAsItsFile) {
  for (const Component& c : components()) {
    const auto file = "src/banyan/" + c.room + "/" + c.info->name + ".cpp";
    EXPECT_TRUE(exists(file)) << file;
  }
}

TEST(Completeness, NamesAreUnique) {
  std::set<std::string> names;
  for (const Component& c : components()) EXPECT_TRUE(names.insert(c.room + "/" + c.info->name).second) << c.info->name;
}

TEST(Completeness, EveryComponentHasATest) {
  for (const Component& c : components()) {
    const auto file = "tests/" + c.room + "/" + c.info->name + "_test.cpp";
    EXPECT_TRUE(exists(file)) << file << " is missing";
  }
}

TEST(Completeness, EveryComponentHasAPage) {
  for (const Component& c : components()) {
    const auto file = "docs/" + c.room + "/" + c.info->name + ".md";
    EXPECT_TRUE(exists(file)) << file << " is missing";
  }
}

TEST(Completeness, EverySwitchModelHasABenchmark) {
  std::string workloads;
  for (const auto& file : std::filesystem::directory_iterator(repository_root() / "bench/workloads")) {
    workloads += banyan::test::read_file(file.path());
  }
  for (const auto* row : banyan::core::switching_rows()) {
    EXPECT_NE(workloads.find("name = \"" + std::string(row->info.name) + "\""), std::string::npos)
        << "bench/workloads has nothing for " << row->info.name;
  }
}

/// Who asks what a cycle or a flit of a model is finds it there.
TEST(Completeness, EverySwitchModelStandsInTheTableOfUnits) {
  const std::string guide = test::read_file(repository_root() / "docs/how-to/use-units.md");
  const std::size_t table = guide.find("| model | a cycle is |");
  const std::size_t end = guide.find("\n\n", table);
  ASSERT_NE(end, std::string::npos);
  for (const auto* row : banyan::core::switching_rows()) {
    EXPECT_LT(guide.find("`" + row->info.name + "`", table), end) << row->info.name;
  }
}

/// What it costs, and what goes back.
TEST(Completeness, EveryAdmissionStandsInBothTablesOfItsGuide) {
  const std::string guide = test::read_file(repository_root() / "docs/how-to/hold-packets-back.md");
  const std::size_t costs = guide.find("## What it costs when nothing burns");
  const std::size_t back = guide.find("## What goes back");
  ASSERT_TRUE(costs < back && back != std::string::npos);
  for (const auto* row : banyan::core::admission_rows()) {
    const std::string name = "`" + row->info.name + "`";
    EXPECT_LT(guide.find(name, guide.find("| |", costs)), back) << name << " has no row of costs";
    if (row->info.name == "none") continue;
    EXPECT_NE(guide.find("| " + name + " |", back), std::string::npos) << name << " has no row of what goes back";
  }
}

TEST(Completeness, EveryComponentHasASummaryAndAReference) {
  for (const Component& c : components()) {
    EXPECT_TRUE(is_one_line(c.info->summary)) << c.room << "/" << c.info->name << " has no one-line summary";
    EXPECT_FALSE(c.info->reference.empty()) << c.room << "/" << c.info->name << " has no reference";
  }
}

TEST(Completeness, EveryParameterIsDescribedOnce) {
  for (const Component& c : components()) {
    std::set<std::string> names;
    for (const Parameter& p : c.info->parameters) {
      const std::string where = c.room + "/" + c.info->name + "." + p.name;
      EXPECT_TRUE(names.insert(p.name).second) << where << " is declared twice";
      EXPECT_TRUE(is_one_line(p.summary)) << where << " has no one-line summary";
    }
  }
}

}  // namespace
}  // namespace banyan::completeness_test
