// Does the comparison of two programs' speed fail when it should, and only then?
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/repository.hpp"

namespace banyan::bench_test {
namespace {

namespace fs = std::filesystem;
using banyan::test::Output;
using banyan::test::quoted;
using banyan::test::repository_root;
using banyan::test::run_shell;
using banyan::test::TemporaryFolder;

class Bench : public testing::Test {
 protected:
  Bench() {
    fs::create_directories(path("bin"));
    // Counts what the program says that it costs.
    script("bin/valgrind", "for word; do [ -x \"$word\" ] && exec \"$word\" count; done");
    std::ofstream(path("mesh.toml")) << "# nothing\n";
    std::ofstream(path("changes")) << "+- Something else.\n";
  }

  [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

  void script(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << "#!/bin/sh\n" << text << "\n";
    fs::permissions(path(name), fs::perms::owner_all);
  }

  /// A program that takes so long and so many instructions.
  void program(const std::string& name, const std::string& seconds, int instructions,
               const std::string& state = "0a") const {
    script(name, "if [ \"$1\" = count ]; then echo \"==1== Collected : " + std::to_string(instructions) +
                     "\" >&2; exit; fi\nprintf '{\\n  \"state_hash\": \"" + state +
                     "\",\\n  \"cpu_seconds\": " + seconds + "\\n}\\n'");
  }

  [[nodiscard]] Output compare() const {
    return run_shell("cd " + quoted(folder_.path()) + " && PATH=" + quoted(path("bin")) + ":$PATH " +
                     quoted(repository_root() / "bench/compare") + " ./base ./head changes mesh.toml");
  }

 private:
  TemporaryFolder folder_;
};

bool says(const Output& output, const std::string& part) { return output.text.find(part) != std::string::npos; }

TEST_F(Bench, EqualProgramsPass) {
  program("base", "0.5", 1000000);
  program("head", "0.51", 1040000);
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_TRUE(says(output, "1.0 -> 1.0")) << output.text;
  EXPECT_TRUE(says(output, "1.0400")) << output.text;
  EXPECT_TRUE(says(output, "1.020 (1.020 to 1.020)")) << output.text;
  EXPECT_FALSE(says(output, "not the same work")) << output.text;
}

TEST_F(Bench, MoreInstructionsFail) {
  program("base", "0.5", 1000000);
  program("head", "0.5", 1060000);
  const Output output = compare();
  EXPECT_EQ(output.status, 1) << output.text;
  EXPECT_TRUE(says(output, "mesh is more than 5 % slower, and no line of CHANGELOG.md")) << output.text;
}

TEST_F(Bench, MoreTimeFails) {
  program("base", "5e-1", 1000000);
  program("head", "0.53", 1000000);
  EXPECT_EQ(compare().status, 1);
}

TEST_F(Bench, TimeThatMayBeChanceDoesNotFail) {
  program("base", "0.5", 1000000);
  // Every other run takes a third longer.
  script("head",
         "if [ \"$1\" = count ]; then echo \"==1== Collected : 1000000\" >&2; exit; fi\n"
         "if [ -e odd ]; then rm odd; t=0.6; else touch odd; t=0.45; fi\n"
         "printf '{\\n  \"state_hash\": \"0a\",\\n  \"cpu_seconds\": %s\\n}\\n' $t");
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
}

TEST_F(Bench, AnExplanationInTheChangeLogIsEnough) {
  program("base", "0.5", 1000000);
  program("head", "0.5", 2000000, "0b");
  std::ofstream(path("changes")) << "+- The speed of `torus` falls.\n-- The speed of `mesh` falls.\n";
  EXPECT_EQ(compare().status, 1);
  std::ofstream(path("changes")) << "+- The speed of `mesh` falls by half, because it computes twice as much.\n";
  const Output output = compare();
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_TRUE(says(output, "the change log says why")) << output.text;
  EXPECT_TRUE(says(output, "not the same work")) << output.text;
}

TEST_F(Bench, AProgramThatFailsIsNoResult) {
  program("base", "0.5", 1000000);
  script("head", "exit 2");
  EXPECT_EQ(compare().status, 2);
}

/// A program whose work is 8 s on one thread and 4.4 s each on two, of which it says that two shards take 8.4 s. Half a
/// network has half the flit-hops.
TEST_F(Bench, ScalingSaysWhatIsSkippedAndWhereTheModelIsWrong) {
  const auto measured = [&](const std::string& seconds_of_two, const std::string& seconds_of_half = "4.0") {
    std::ofstream(path("fake"))
        << "#!/usr/bin/env python3\n"
           "import json, sys\n"
           "threads = int(sys.argv[sys.argv.index('--threads') + 1])\n"
           "shards = int(sys.argv[-1].split('=')[1])\n"
           "half = '[64, 32]' in open(sys.argv[2]).read()\n"
           "seconds = 8.0 if shards == 1 else 8.4 if threads == 1 else "
        << seconds_of_two << "\nif half: seconds = " << seconds_of_half
        << "\n"
           "mail = 0.0 if shards == 1 else 0.4\n"
           "part = {'work': 8.0 / threads, 'mail': mail / threads, 'wait': 0.0, 'other': 0.0}\n"
           "hops = {'mean': 500.0 if half else 1000.0}\n"
           "print(json.dumps({'state_hash': '0a', 'metrics': {'flit_hops': hops}, 'profile': {'run_seconds': seconds,"
           " 'windows': 1000, 'imbalance_in_windows': 1.0, 'threads': [part] * threads,"
           " 'cut': {'crossing_channels': 3}}}))\n";
    fs::permissions(path("fake"), fs::perms::owner_all);
    return run_shell(quoted(repository_root() / "bench/scaling") + " --banyan " + quoted(path("fake")) +
                     " --only 'mesh 64x64, a fifth' --repeat 1 --threads 1,2,1024");
  };
  const Output good = measured("4.2");
  EXPECT_TRUE(says(good, "skipped: ")) << good.text;
  EXPECT_TRUE(says(good, "1024 threads")) << good.text;
  if (!says(good, "nothing to compare")) {  // two cores
    EXPECT_EQ(good.status, 0) << good.text;
    EXPECT_TRUE(says(good, "2: 1.90 (model 1.90")) << good.text;
    // What two halves take beside each other counts for as much as it is more than what a flit-hop of the whole takes.
    EXPECT_TRUE(says(measured("5.25", "5.0"), "2: 1.52 (model 1.52"));
    const Output slow = measured("6.0");
    EXPECT_EQ(slow.status, 1) << slow.text;
    EXPECT_TRUE(says(slow, "SLOW")) << slow.text;
  }
}

}  // namespace
}  // namespace banyan::bench_test
