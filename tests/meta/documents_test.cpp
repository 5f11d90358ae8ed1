// Do the commands in the documents work, and does the program accept their experiments?
//
// In every Markdown file, blocks fenced as ```sh are executed in order by one shell, at the root of a copy of the
// project, with the program on the PATH and at build/release/banyan. A ```toml block whose first line is a comment with
// nothing but a file name ("# first.toml") is written to that file beforehand. Blocks fenced as ```console are not
// executed. Lines that call ./dev are not executed either (they would build and test inside a test), but the command
// must exist.
//
// Every ```toml block is given to "banyan check". A part of an experiment is completed first. A ```text block is the
// file that an experiment of its page reads, if the project has none of that name.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "support/repository.hpp"

namespace banyan::documents_test {
namespace {

namespace fs = std::filesystem;
using banyan::test::identifier;
using banyan::test::lines_of;
using banyan::test::Output;
using banyan::test::project_files;
using banyan::test::quoted;
using banyan::test::read_file;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

struct Block {
  std::string language;
  std::vector<std::string> lines;
};

std::vector<Block> blocks_of(const std::string& text) {
  static const std::regex fence(R"(^\s*```\s*(\w*).*$)");
  std::vector<Block> blocks;
  bool inside = false;
  for (const std::string& line : lines_of(text)) {
    std::smatch match;
    if (std::regex_match(line, match, fence)) {
      inside = !inside;
      if (inside) blocks.push_back({match[1], {}});
    } else if (inside) {
      blocks.back().lines.push_back(line);
    }
  }
  return blocks;
}

/// The file that a TOML block is to be written to, or "".
std::string file_of(const Block& block) {
  static const std::regex name(R"(^# ([\w./-]+\.toml)$)");
  std::smatch match;
  if (block.language != "toml" || block.lines.empty() || !std::regex_match(block.lines[0], match, name)) return "";
  return match[1];
}

struct Document {
  std::string script;
  std::set<std::string> dev_commands;
};

Document read_document(const std::string& text) {
  static const std::regex dev(R"(^\s*\./dev\s+(\w+).*$)");
  Document document;
  for (const Block& block : blocks_of(text)) {
    const std::string file = file_of(block);
    if (!file.empty()) {
      document.script += "mkdir -p \"$(dirname '" + file + "')\"\ncat >'" + file + "' <<'END_OF_FILE'\n";
      for (const std::string& line : block.lines) document.script += line + "\n";
      document.script += "END_OF_FILE\n";
    }
    if (block.language != "sh") continue;
    for (const std::string& line : block.lines) {
      std::smatch match;
      if (std::regex_match(line, match, dev)) {
        document.dev_commands.insert(match[1]);
      } else {
        document.script += line + "\n";
      }
    }
  }
  return document;
}

std::vector<std::string> documents_with_commands() {
  std::vector<std::string> chosen;
  for (const std::string& file : project_files("", {".md"})) {
    for (const Block& block : blocks_of(read_file(repository_root() / file))) {
      if (block.language == "sh") {
        chosen.push_back(file);
        break;
      }
    }
  }
  return chosen;
}

/// A copy of the project's files, with the program where ./dev build leaves it.
void copy_project(const fs::path& copy) {
  for (const std::string& file : project_files()) {
    fs::create_directories((copy / file).parent_path());
    fs::copy_file(repository_root() / file, copy / file);
  }
  fs::create_directories(copy / "build/release");
  fs::create_symlink(BANYAN_PROGRAM, copy / "build/release/banyan");
}

// README installs with "cmake --install" what ./dev build and ./dev demo have built.
TEST(Documents, WhatDevBuildsCanBeInstalled) {
  const TemporaryFolder scratch;
  std::ofstream(scratch.path() / "cmake") << "#!/bin/sh\necho cmake \"$@\"\n";
  std::filesystem::permissions(scratch.path() / "cmake", std::filesystem::perms::owner_all);
  const Output built =
      run_shell("PATH=" + quoted(scratch.path()) + ":$PATH " + quoted(repository_root() / "dev") + " build 2>&1");
  EXPECT_EQ(built.status, 0) << built.text;
  EXPECT_NE(built.text.find("--target banyan banyan_share\n"), std::string::npos) << built.text;
}

TEST(Dev, EveryCommandExplainsItselfInsteadOfStarting) {
  const std::string dev = quoted(repository_root() / "dev");
  for (const char* command :
       {"build", "demo", "test", "bench", "lint", "format", "python", "docs", "coverage", "clean"}) {
    for (const char* asked : {" --help", " -h", " help"}) {
      const Output help = run_shell("timeout 10 " + dev + " " + command + asked);
      EXPECT_EQ(help.status, 0) << help.text;
      EXPECT_EQ(help.text.rfind(std::string("Usage: ./dev ") + command, 0), 0U) << help.text;
      EXPECT_NE(help.text.find(std::string("\n  ") + command + " "), std::string::npos) << help.text;
    }
    const Output slip = run_shell("timeout 10 " + dev + " " + command + " --hlep 2>&1");
    EXPECT_EQ(slip.status, 1) << slip.text;
    EXPECT_NE(slip.text.find("--hlep"), std::string::npos) << slip.text;
  }
}

class DocumentCommands : public ::testing::TestWithParam<std::string> {};

TEST_P(DocumentCommands, Work) {
  const Document document = read_document(read_file(repository_root() / GetParam()));
  const Output help = run_shell(quoted(repository_root() / "dev") + " help");
  ASSERT_EQ(help.status, 0) << help.text;
  for (const std::string& command : document.dev_commands) {
    EXPECT_TRUE(std::regex_search(help.text, std::regex("\n  " + command + "\\b"))) << "./dev " << command;
  }
  const TemporaryFolder folder;
  copy_project(folder.path());
  std::ofstream(folder.path() / ".commands.sh") << document.script;
  const Output output = run_shell("cd " + quoted(folder.path()) +
                                  " && PATH=\"$PWD/build/release:$PATH\" timeout 600 bash -euo pipefail .commands.sh");
  EXPECT_EQ(output.status, 0) << document.script << "\nprinted\n" << output.text;
}

INSTANTIATE_TEST_SUITE_P(Files, DocumentCommands, ::testing::ValuesIn(documents_with_commands()),
                         [](const auto& file) { return identifier(file.param); });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(DocumentCommands);

bool has_key(const Block& block, const std::string& keys) {
  const std::regex key(R"(^\[{0,2}()" + keys + R"()\b.*)");
  return std::any_of(block.lines.begin(), block.lines.end(),
                     [&](const std::string& line) { return std::regex_match(line, key); });
}

/// The experiment of a block; what it leaves out is a hypercube, the given switch and uniform traffic.
std::string complete_experiment(const Block& block, const std::string& switch_model) {
  std::string text;
  if (!has_key(block, "topology")) text += "topology = \"hypercube\"\n";
  if (!has_key(block, "switch")) text += "switch = " + switch_model + "\n";
  for (const std::string& line : block.lines) text += line + "\n";
  if (!has_key(block, "traffic|job")) text += "[[traffic]]\nname = \"uniform\"\nload = 0.05\n";
  return text;
}

/// Writes the page's ```text blocks, in order, to the files that its experiments read and the project does not have.
void write_files_beside(const std::vector<Block>& blocks, const fs::path& folder) {
  static const std::regex read(R"re(\b(?:file|costs) = "([\w./-]+)")re");
  auto text = blocks.begin();
  const auto is_text = [](const Block& block) { return block.language == "text"; };
  for (const Block& block : blocks) {
    if (block.language != "toml") continue;
    for (const std::string& line : block.lines) {
      std::smatch match;
      if (!std::regex_search(line, match, read) || fs::exists(folder / match[1].str())) continue;
      text = std::find_if(text, blocks.end(), is_text);
      ASSERT_NE(text, blocks.end()) << "the page does not show " << match[1];
      std::ofstream file(folder / match[1].str());
      for (const std::string& shown : text->lines) file << shown << "\n";
      ++text;
    }
  }
}

TEST(Documents, ExperimentsAreAccepted) {
  const TemporaryFolder folder;
  copy_project(folder.path());
  int experiments = 0;
  for (const std::string& page : project_files("", {".md"})) {
    SCOPED_TRACE(page);
    const std::vector<Block> blocks = blocks_of(read_file(repository_root() / page));
    write_files_beside(blocks, folder.path());
    for (const Block& block : blocks) {
      if (block.language != "toml" || has_key(block, "unit")) continue;  // a table of costs has a unit
      Output checked;
      for (const char* model : {"{ name = \"vc_router\", vcs = 8 }", "\"central_buffer\"\nrouting = \"up_down\""}) {
        std::ofstream(folder.path() / "block.toml") << complete_experiment(block, model);
        checked = run_shell("cd " + quoted(folder.path()) + " && build/release/banyan check block.toml");
        if (checked.status == 0) break;
      }
      EXPECT_EQ(checked.status, 0) << checked.text << "\n" << read_file(folder.path() / "block.toml");
      ++experiments;
    }
  }
  EXPECT_GT(experiments, 50);
}

TEST(DocumentReader, RunsShellBlocksWritesNamedFilesAndSetsDevAside) {
  const Document document =
      read_document("```sh\n./dev build\necho one\n```\n```console\n$ echo two\n```\n```toml\n# a.toml\nx = 1\n```\n");
  EXPECT_EQ(document.dev_commands, std::set<std::string>{"build"});
  EXPECT_EQ(
      document.script,
      "echo one\nmkdir -p \"$(dirname 'a.toml')\"\ncat >'a.toml' <<'END_OF_FILE'\n# a.toml\nx = 1\nEND_OF_FILE\n");
}

}  // namespace
}  // namespace banyan::documents_test
