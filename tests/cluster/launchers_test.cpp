// Do the examples of docs/how-to/run-on-a-cluster.md work: GNU parallel, Snakemake, mpirun? Blocks fenced as `bash`
// there are run where their first word is installed; each fills the folder out/FIRST_WORD.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

namespace banyan::cluster::launchers_test {
namespace {

namespace fs = std::filesystem;
using test::Output;
using test::run_shell;

struct Page {
  std::map<std::string, std::string> files;   ///< named by a comment in their first line
  std::map<std::string, std::string> blocks;  ///< of `bash`, by their first word
};

Page read_page() {
  static const std::regex fence(R"(^```(\w*)$)");
  static const std::regex name(R"(^# ([\w.]+)$)");
  Page page;
  std::string language;
  std::string text;
  bool inside = false;
  for (const std::string& line :
       test::lines_of(test::read_file(test::repository_root() / "docs/how-to/run-on-a-cluster.md"))) {
    std::smatch match;
    if (!std::regex_match(line, match, fence)) {
      text += line + "\n";
      continue;
    }
    const std::string first = text.substr(0, text.find('\n'));
    std::smatch named;
    if (inside && language == "bash") page.blocks[text.substr(0, text.find(' '))] = text;
    if (inside && language != "sh" && std::regex_match(first, named, name)) page.files[named[1]] = text;
    inside = !inside;
    language = match[1];
    text.clear();
  }
  return page;
}

class Launchers : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "how programs are started is the other builds' affair";
    for (const auto& [name, text] : page_.files) std::ofstream(folder_.path() / name) << text;
  }
  [[nodiscard]] Output here(const std::string& command) const {
    return run_shell("export PATH=" + test::quoted(fs::path(BANYAN_PROGRAM).parent_path()) +
                     ":$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 HOME=" +
                     test::quoted(folder_.path()) + "; cd " + test::quoted(folder_.path()) + "; set -e\n" + command);
  }
  /// Whether the tool is here; `needed` says whether its package is one that the build installs.
  [[nodiscard]] static bool has(const std::string& tool) { return run_shell("command -v " + tool).status == 0; }

  void expect_example_works(const std::string& tool) const {
    ASSERT_TRUE(page_.blocks.contains(tool)) << "the page has no example of " << tool;
    const Output said = here(page_.blocks.at(tool));
    ASSERT_EQ(said.status, 0) << said.text;
    ASSERT_EQ(here("banyan sweep grid.toml --out whole --quiet").status, 0);
    const Output whole = here("banyan export whole --csv");
    EXPECT_EQ(here("banyan export out/" + tool + " --csv").text, whole.text);
    EXPECT_EQ(test::lines_of(whole.text).size(), 7U);
  }

  Page page_ = read_page();

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Launchers, GnuParallel) {
  if (!has("parallel")) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "the packages of the group \"cluster\" are missing";
    GTEST_SKIP() << "GNU parallel is not installed";
  }
  expect_example_works("parallel");
}

TEST_F(Launchers, Mpirun) {
  if (!has("mpirun")) {
    ASSERT_EQ(std::getenv("CI"), nullptr) << "the packages of the group \"cluster\" are missing";
    GTEST_SKIP() << "mpirun is not installed";
  }
  expect_example_works("mpirun");
  // The first process waits for the others and prints the whole table, once.
  const Output said = here("mpirun -n 3 --oversubscribe banyan sweep grid.toml --out again --csv --quiet 2>/dev/null");
  EXPECT_EQ(said.text, here("banyan export whole --csv").text);
  // What its workers have just run was not there before.
  const std::string notes = "mpirun -n 3 --oversubscribe banyan sweep grid.toml --csv 2>&1 >/dev/null --out ";
  EXPECT_EQ(here(notes + "third").text.find("already"), std::string::npos);
  EXPECT_NE(here(notes + "third").text.find("are in third already"), std::string::npos);
}

/// Half a gigabyte of other packages comes with it in Debian, so the build does not install it.
TEST_F(Launchers, Snakemake) {
  if (!has("snakemake")) GTEST_SKIP() << "Snakemake is not installed (group \"workflow\" of tools/debian-packages.txt)";
  expect_example_works("snakemake");
}

TEST_F(Launchers, WithoutAFolderAreRefused) {
  const Output said = here("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 banyan sweep grid.toml");
  EXPECT_EQ(said.status, 2);
  EXPECT_NE(said.text.find("needs a folder in which all parts meet\n  remedy: give --out DIR"), std::string::npos)
      << said.text;
}

TEST_F(Launchers, APartThatIsGivenIsNotThatOfTheEnvironment) {
  const Output said = here("PMI_RANK=1 PMI_SIZE=2 banyan sweep grid.toml --part 1/3 --out out --quiet --csv");
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_EQ(test::lines_of(said.text).size(), 3U) << said.text;
}

}  // namespace
}  // namespace banyan::cluster::launchers_test
