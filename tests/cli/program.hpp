// Runs the built program as a user would and keeps what it said.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "build_info.hpp"

namespace banyan::cli {

struct Said {
  int status = -1;
  std::string out;
  std::string err;
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// A folder of its own for every test, empty at its start.
inline std::filesystem::path scratch() {
  const auto* test = testing::UnitTest::GetInstance()->current_test_info();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "banyan_cli" /
                                       (std::string(test->test_suite_name()) + "." + test->name());
  return folder;
}

inline std::filesystem::path fresh_scratch() {
  std::filesystem::remove_all(scratch());
  std::filesystem::create_directories(scratch());
  return scratch();
}

inline std::string shell_word(const std::string& word) {
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// Runs `banyan ARGUMENTS` in the test's folder; `redirect` replaces standard output ("/dev/full").
inline Said banyan(const std::vector<std::string>& arguments, const std::string& redirect = "") {
  const std::filesystem::path folder = scratch();
  const std::string out = redirect.empty() ? (folder / ".out").string() : redirect;
  std::string command = "cd " + shell_word(folder.string()) + " && " + shell_word(BANYAN_PROGRAM);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  command += " >" + shell_word(out) + " 2>.err </dev/null";
  const int raw = std::system(command.c_str());
  const std::string said = redirect.empty() ? read_text(out) : "";
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, said, read_text(folder / ".err")};
}

/// Starts an endless command, waits until it computes, and presses Control-C.
inline Said interrupted(const std::vector<std::string>& arguments) {
  const std::string folder = shell_word(scratch().string());
  std::string command = "cd " + folder + " && { " + shell_word(BANYAN_PROGRAM);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  // Without job control (-m) a shell starts background commands with interrupts ignored.
  command += " >.out 2>.err </dev/null & child=$!; sleep 0.7; kill -INT $child; wait $child; }";
  const int raw = std::system(("bash -m -c " + shell_word(command) + " 2>/dev/null").c_str());
  return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, read_text(scratch() / ".out"), read_text(scratch() / ".err")};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline void write_text(const std::string& name, const std::string& text) { std::ofstream(scratch() / name) << text; }

/// A steady run of a fraction of a second.
inline const std::string kSteady =
    "topology = { name = \"extra_stage_cube\", terminals = 16, radix = 4 }\n"
    "switch   = { name = \"output_queued\", buffer = 4 }\n"
    "routing  = \"destination_tag\"\n"
    "traffic  = { name = \"uniform\", load = 0.25 }\n"
    "[run]\n"
    "warmup  = 200\n"
    "measure = 1000\n";

inline const std::string kSwept = kSteady + "[sweep]\n\"traffic.uniform.load\" = [0.1, 0.2, 0.3]\nbuffer = [4, 8]\n";

/// A job of a fraction of a second, and two senders of an incast beside two flows: results without intervals.
inline const std::string kJob =
    "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
    "switch   = { name = \"vc_router\", vcs = 2, buffer = 16 }\n"
    "routing  = \"up_down\"\n"
    "cycle_time = \"1.3 ns\"\n"
    "[[job]]\nname = \"ring\"\n"
    "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"16 KiB\", ranks = 8 }\n";
inline const std::string kIncast =
    "topology = { name = \"bidirectional_min\", hosts = 16 }\n"
    "routing  = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"
    "switch   = \"cioq\"\n"
    "[[traffic]]\nname = \"uniform\"\nload = 0.2\nsize = 256\n"
    "[[traffic]]\nname = \"incast\"\nreceivers = [5]\nsenders = [1, 2]\namount = 6400\nsize = 256\nstart = \"20 us\"\n"
    "[run]\nduration = \"60 us\"\nwindow = \"1 us\"\n";

/// The form of every refusal: status 2, nothing on standard output, one line of cause and one of remedy.
inline void expect_refusal(const Said& said, const std::string& cause, const std::string& remedy) {
  EXPECT_EQ(said.status, 2) << said.err;
  EXPECT_EQ(said.out, "");
  EXPECT_TRUE(said.err.starts_with("banyan: error: ")) << said.err;
  const std::size_t end = said.err.find('\n');
  ASSERT_NE(end, std::string::npos) << said.err;
  EXPECT_TRUE(contains(said.err.substr(0, end), cause)) << said.err;
  EXPECT_TRUE(said.err.substr(end + 1).starts_with("  remedy: ")) << said.err;
  EXPECT_TRUE(contains(said.err.substr(end + 1), remedy)) << said.err;
  EXPECT_EQ(said.err.find('\n', end + 1), said.err.size() - 1) << said.err;
}

}  // namespace banyan::cli
