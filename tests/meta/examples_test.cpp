// Does every experiment in examples/ pass its check and run in a few seconds?
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>

#include "build_info.hpp"
#include "support/repository.hpp"

namespace banyan::examples_test {
namespace {

using banyan::test::identifier;
using banyan::test::Output;
using banyan::test::project_files;
using banyan::test::quoted;
using banyan::test::read_file;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

std::string program() { return quoted(BANYAN_PROGRAM); }

class Examples : public ::testing::TestWithParam<std::string> {};

TEST_P(Examples, RunInSecondsAndEndWell) {
  const std::string file = quoted(repository_root() / GetParam());
  const Output checked = run_shell(program() + " check " + file);
  ASSERT_EQ(checked.status, 0) << checked.text;

  const bool sweep = read_file(repository_root() / GetParam()).find("\n[sweep]") != std::string::npos;
  const TemporaryFolder folder;
  const auto start = std::chrono::steady_clock::now();
  const Output run = run_shell("cd " + quoted(folder.path()) + " && COLUMNS=80 timeout 300 " + program() +
                               (sweep ? " sweep " : " run ") + file + " --out out >said");
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(run.status, 0) << run.text;
  // The promise is 10 seconds (30 for a sweep of many points); a loaded machine gets four times as long.
  EXPECT_LT(elapsed.count(), sweep ? 120 : 40) << GetParam();
  std::istringstream said(read_file(folder.path() / "said"));
  std::size_t lines = 0;
  for (std::string line; std::getline(said, line); ++lines) {
    const auto more_bytes = std::count_if(line.begin(), line.end(),
                                          [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; });
    EXPECT_LE(line.size() - static_cast<std::size_t>(more_bytes), 80U) << line;
  }
  EXPECT_GT(lines, 3U) << run.text;
}

/// Those in folders of their own need a program of their own (installed_package_test.cpp).
std::vector<std::string> experiments() {
  std::vector<std::string> files = project_files("examples/", {".toml"});
  std::erase_if(files, [](const std::string& file) { return file.find('/', 9) != std::string::npos; });
  return files;
}

TEST(ExamplesPage, ListsEveryExperiment) {
  const std::string page = read_file(repository_root() / "examples/README.md");
  for (const std::string& file : experiments()) {
    EXPECT_NE(page.find("](" + file.substr(9) + ")"), std::string::npos) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(Files, Examples, ::testing::ValuesIn(experiments()),
                         [](const auto& file) { return identifier(file.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(Examples);

}  // namespace
}  // namespace banyan::examples_test
