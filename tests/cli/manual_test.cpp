// Is the manual page one that man(1) can set, and does it name everything that the parser takes?
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "build_info.hpp"
#include "cli/program.hpp"

namespace banyan::cli::manual_test {
namespace {

class Manual : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }

  /// The page without the formatter's escapes.
  static std::string read_page() {
    const Said said = banyan({"manual"});
    EXPECT_EQ(said.status, 0) << said.err;
    std::string text;
    for (std::size_t i = 0; i < said.out.size(); ++i) {
      if (said.out[i] != '\\') {
        text += said.out[i];
      } else if (said.out[i + 1] == 'f') {
        i += 2;
      }
    }
    return text;
  }
};

TEST_F(Manual, NamesEveryOptionOfEveryCommand) {
  const std::string page = read_page();
  for (const char* command :
       {"run", "sweep", "export", "report", "compare", "saturation", "verify", "check", "describe", "completion"}) {
    const std::string head = std::string(".SS banyan ") + command + "\n";
    const std::size_t begin = page.find(head);
    ASSERT_NE(begin, std::string::npos) << command;
    const std::string section = page.substr(begin, page.find(".S", begin + 4) - begin);
    std::istringstream help(banyan({command, "--help"}).out);
    for (std::string word; help >> word;) {
      if (!word.starts_with("--") || word == "--help") continue;
      EXPECT_TRUE(contains(section, word)) << command << " " << word;
    }
  }
}

TEST_F(Manual, IsAPageOfTheDocumentationToo) {
  const Said said = banyan({"manual", "--markdown"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "## banyan study run\n")) << said.out;
  EXPECT_TRUE(contains(said.out, "$ banyan compare A B [options]\n")) << said.out;
  EXPECT_TRUE(contains(said.out, "| `--quiet`, `-q` | No progress on standard error |\n")) << said.out;
  EXPECT_TRUE(contains(said.out, "| `--width W` | ")) << said.out;
}

TEST_F(Manual, TellsEveryExitStatus) {
  const std::string page = read_page();
  for (const char* status : {"0", "1", "2", "3", "130", "143"}) {
    EXPECT_TRUE(contains(page, std::string(".TP\n") + status + "\n")) << status;
  }
}

TEST_F(Manual, IsInstalledBesideTheProgramWithItsCompletions) {
  const std::filesystem::path build = std::filesystem::path(BANYAN_PROGRAM).parent_path();
  if (!std::filesystem::exists(build / "generated/share")) GTEST_SKIP() << "a build with sanitizers is not installed";
  const std::string command = "cmake --install " + shell_word(build.string()) + " --prefix " +
                              shell_word((scratch() / "usr").string()) + " >" +
                              shell_word((scratch() / "log").string()) + " 2>&1";
  ASSERT_EQ(std::system(command.c_str()), 0) << read_text(scratch() / "log");
  const std::filesystem::path usr = scratch() / "usr";
  EXPECT_EQ(std::system((shell_word((usr / "bin/banyan").string()) + " --version >/dev/null").c_str()), 0);
  ASSERT_EQ(std::system(("gzip -d " + shell_word((usr / "share/man/man1/banyan.1.gz").string())).c_str()), 0);
  EXPECT_EQ(read_text(usr / "share/man/man1/banyan.1"), banyan({"manual"}).out);
  EXPECT_EQ(read_text(usr / "share/bash-completion/completions/banyan"), banyan({"completion", "bash"}).out);
  EXPECT_EQ(read_text(usr / "share/fish/vendor_completions.d/banyan.fish"), banyan({"completion", "fish"}).out);
}

TEST_F(Manual, IsSetWithoutAWarning) {
  if (std::system("command -v groff >/dev/null") != 0) GTEST_SKIP() << "groff is not installed";
  write_text("banyan.1", banyan({"manual"}).out);
  const std::string folder = shell_word(scratch().string());
  ASSERT_EQ(std::system(("cd " + folder + " && groff -man -Tutf8 -P-cbou -ww banyan.1 >page 2>warnings").c_str()), 0);
  EXPECT_EQ(read_text(scratch() / "warnings"), "");
  EXPECT_TRUE(contains(read_text(scratch() / "page"), "EXIT STATUS"));
}

}  // namespace
}  // namespace banyan::cli::manual_test
