// Does what is printed to a terminal fit it? Every command that prints a table, in a pseudo-terminal of 80, 60 and
// 40 columns; into a pipe the same comes whole.
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "program.hpp"

namespace banyan::cli::terminal_width_test {
namespace {

std::size_t characters(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

/// What `banyan ARGUMENTS` prints to a terminal of so many columns, colours included. Standard error goes elsewhere.
std::string with_colours(const std::vector<std::string>& arguments, unsigned columns,
                         const std::string& environment = "unset COLUMNS") {
  std::string command =
      "cd " + shell_word(scratch().string()) + " && " + environment + " && " + shell_word(BANYAN_PROGRAM);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  command += " 2>.err </dev/null";
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    _exit(127);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t n = 0; (n = read(terminal, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(n));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  std::erase(text, '\r');
  return text;
}

std::string on_terminal(const std::vector<std::string>& arguments, unsigned columns,
                        const std::string& environment = "unset COLUMNS") {
  std::string text = with_colours(arguments, columns, environment);
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != std::string::npos;)
    text.erase(at, text.find('m', at) + 1 - at);
  return text;
}

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    most = std::max(most, characters(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return most;
}

/// Its characters, without what folding adds.
std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  return text;
}

const std::string kSweep = kSteady +
                           "[sweep]\n\"switch.buffer\" = [2, 4]\n\"traffic.load\" = [0.1, 0.3]\n\"run.seed\" = [1, "
                           "2]\n";

TEST(TerminalWidth, NoCommandPrintsALongerLine) {
  fresh_scratch();
  write_text("steady.toml", kSteady);
  write_text("sweep.toml", kSweep);
  write_text("trees.toml", kSteady + "[traffic]\nname = \"uniform\"\n");
  ASSERT_EQ(banyan({"sweep", "sweep.toml", "--out", "a", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"sweep", "sweep.toml", "run.measure=3000", "--out", "b", "--quiet"}).status, 0);
  ASSERT_EQ(banyan({"run", "steady.toml", "run.trees=true", "--out", "t", "--quiet"}).status, 0);
  write_text("steps.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 1\n}\nrank 1 {\nl1: recv 8b from 0 tag 1\n}\n");
  const std::vector<std::vector<std::string>> commands{
      {"run", "steady.toml"},
      {"run", "steady.toml", "run.tables=all", "--profile"},
      {"run", "steady.toml", "analysis=throughput_bounds"},
      {"sweep", "sweep.toml", "--quiet"},
      {"export", "a"},
      {"compare", "a", "b"},
      {"verify", "a"},
      {"check", "steady.toml"},
      {"describe"},
      {"describe", "cioq"},
      {"describe", "vc_router"},
      {"describe", "uniform"},
      {"describe", "packet_latency"},
      {"saturation", "steady.toml", "--quiet"},
      {"trees", "t"},
      {"study", "list"},
      {"workload", "info", "steps.goal"},
  };
  for (const std::vector<std::string>& command : commands) {
    std::string name;
    for (const std::string& word : command) name += word + " ";
    const Said whole = banyan(command);
    ASSERT_FALSE(whole.out.empty()) << name << whole.err;
    for (const unsigned columns : {80U, 60U, 40U}) {
      const std::string text = on_terminal(command, columns);
      EXPECT_FALSE(text.empty()) << name;
      EXPECT_LE(widest(text), columns) << name << "\n" << text;
    }
  }
}

TEST(TerminalWidth, ColoursAreForTerminalsThatShowThem) {
  fresh_scratch();
  write_text("steady.toml", kSteady);
  const std::vector<std::string> command{"run", "steady.toml", "--quiet"};
  const std::string text = with_colours(command, 80, "unset COLUMNS && export TERM=xterm && unset NO_COLOR");
  EXPECT_NE(text.find("steady: \x1b[32msteady\x1b[0m,"), std::string::npos) << text;
  EXPECT_NE(text.find("\x1b[1m  metric "), std::string::npos) << text;
  for (const char* plain : {"export NO_COLOR=1", "export TERM=dumb"})
    EXPECT_EQ(with_colours(command, 80, plain).find('\x1b'), std::string::npos) << plain;
  EXPECT_EQ(banyan(command).out.find('\x1b'), std::string::npos) << "into a file or a pipe";
}

/// A table that is too wide comes in parts with the same first column, whatever is said below it.
TEST(TerminalWidth, ATableIsCutIntoPartsAboveWhatIsSaidOfIt) {
  fresh_scratch();
  write_text("sweep.toml", kSweep);
  const std::vector<std::string> command{"sweep", "sweep.toml", "--quiet"};
  EXPECT_NE(banyan(command).out.find("means over seeds"), std::string::npos);
  const std::string text = on_terminal(command, 80);
  std::size_t parts = 0;
  for (std::size_t at = text.find("switch.buffer "); at != std::string::npos; at = text.find("switch.buffer ", at + 1))
    ++parts;
  EXPECT_GE(parts, 2U) << text;
}

TEST(TerminalWidth, NothingIsLostByFoldingAndAPipeGetsItWhole) {
  fresh_scratch();
  const Said whole = banyan({"describe", "vc_router"});
  EXPECT_GT(widest(whole.out), 80U);
  EXPECT_EQ(without_spaces(on_terminal({"describe", "vc_router"}, 80)), without_spaces(whole.out));
}

TEST(TerminalWidth, ColumnsOfTheEnvironmentCount) {
  fresh_scratch();
  EXPECT_LE(widest(on_terminal({"describe", "vc_router"}, 80, "export COLUMNS=50")), 50U);
  EXPECT_GT(widest(on_terminal({"describe", "vc_router"}, 80, "export COLUMNS=100")), 80U);
}

/// What `banyan ARGUMENTS` prints into a pipe where COLUMNS is 80.
std::string into_pipe(const std::string& arguments) {
  const std::string command = "cd " + shell_word(scratch().string()) + " && COLUMNS=80 " + shell_word(BANYAN_PROGRAM) +
                              " " + arguments + " 2>.err </dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) text.append(buffer, n);
  pclose(pipe);
  return text;
}

/// All examples: meta/examples_test.cpp.
TEST(TerminalWidth, WhereColumnsAreGivenAPipeGetsNoLongerLine) {
  fresh_scratch();
  write_text("steady.toml", kSteady);
  write_text("sweep.toml", kSweep);
  for (const std::string command : {"run steady.toml", "sweep sweep.toml --quiet", "describe vc_router"}) {
    const std::string text = into_pipe(command);
    EXPECT_FALSE(text.empty()) << command;
    EXPECT_LE(widest(text), 80U) << command << "\n" << text;
  }
}

}  // namespace
}  // namespace banyan::cli::terminal_width_test
