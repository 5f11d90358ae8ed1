// Does a sweep that is killed at any moment lose no finished point, and end with the table of an undisturbed one?
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/store/store.hpp"
#include "build_info.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

extern char** environ;

namespace banyan::store::killed_sweep_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::Output;
using test::run_shell;

/// 200 points of a few milliseconds each.
constexpr const char* kSweep =
    "topology = { name = \"extra_stage_cube\", terminals = 16, radix = 4 }\n"
    "switch   = { name = \"output_queued\", buffer = 4 }\n"
    "routing  = \"destination_tag\"\n"
    "traffic  = { name = \"uniform\", load = 0.25 }\n"
    "[run]\n"
    "warmup  = 200\n"
    "measure = 4000\n"
    "[sweep]\n"
    "\"traffic.uniform.load\" = { from = 0.05, to = 0.5, count = 20 }\n"
    "\"switch.buffer\" = { from = 2, to = 11, count = 10 }\n";

class KilledSweep : public testing::Test {
 protected:
  KilledSweep() { std::ofstream(folder_.path() / "sweep.toml") << kSweep; }
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "how programs die is the other builds' affair";
  }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }

  [[nodiscard]] Output banyan(const std::string& arguments) const {
    return run_shell("cd " + test::quoted(folder_.path()) + " && " + test::quoted(BANYAN_PROGRAM) + " " + arguments);
  }
  [[nodiscard]] std::string exported(const std::string& out, const std::string& form) const {
    const Output said = banyan("export " + out + " --" + form);
    EXPECT_EQ(said.status, 0) << said.text;
    return said.text;
  }

  [[nodiscard]] pid_t start(const std::string& out) const {
    std::string words[] = {BANYAN_PROGRAM, "sweep", path("sweep.toml"), "--out", path(out), "--quiet"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t silent;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, BANYAN_PROGRAM, &silent, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&silent);
    return child;
  }

  /// What the store holds; nothing while it is being made.
  [[nodiscard]] std::vector<u64> kept(const std::string& out) const {
    try {
      return Reader(path(out)).runs();
    } catch (const ConfigError&) { return {}; }
  }

  /// A random moment in [0, whole).
  milliseconds moment_within(milliseconds whole) {
    return milliseconds(random_() % static_cast<unsigned long>(whole.count()));
  }

  /// Kills the sweep `after` so long, unless it is done before. Everything that was seen in the store then is there.
  void kill_one(const std::string& out, milliseconds after) const {
    const pid_t child = start(out);
    std::this_thread::sleep_for(after);
    const std::vector<u64> before = kept(out);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::vector<u64> now = kept(out);
    EXPECT_TRUE(std::includes(now.begin(), now.end(), before.begin(), before.end()));
  }

  /// An undisturbed sweep into "whole", and how long it took.
  [[nodiscard]] milliseconds run_whole() const {
    const auto begin = std::chrono::steady_clock::now();
    const Output said = banyan("sweep sweep.toml --out whole --quiet");
    EXPECT_EQ(said.status, 0) << said.text;
    return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - begin);
  }

  void expect_same_as_whole(const std::string& out) const {
    const Output said = banyan("sweep sweep.toml --out " + out + " --quiet");
    ASSERT_EQ(said.status, 0) << said.text;
    for (const char* form : {"csv", "json"}) EXPECT_EQ(exported(out, form), exported("whole", form));
  }

  std::minstd_rand random_{[] {
    const auto seed = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    testing::Test::RecordProperty("seed", std::to_string(seed));
    return seed;
  }()};

 private:
  test::TemporaryFolder folder_;
};

using SlowKilledSweep = KilledSweep;

TEST_F(KilledSweep, LosesNoFinishedPointAndEndsWithTheSameTable) {
  const auto whole = run_whole();
  for (int i = 0; i < 3; ++i) kill_one("killed", moment_within(whole / 3));
  expect_same_as_whole("killed");
}

TEST_F(SlowKilledSweep, LosesNoFinishedPointInTwentyTrials) {
  const auto whole = run_whole();
  for (int trial = 0; trial < 20; ++trial) {
    const std::string out = "killed" + std::to_string(trial);
    kill_one(out, moment_within(whole));
    kill_one(out, moment_within(whole));
    expect_same_as_whole(out);
  }
}

TEST_F(SlowKilledSweep, MayBeKilledTwentyTimes) {
  const auto whole = run_whole();
  for (int i = 0; i < 20; ++i) kill_one("killed", moment_within(whole / 5));
  expect_same_as_whole("killed");
}

TEST_F(KilledSweep, ContinuesAfterControlCAndSaysHow) {
  static_cast<void>(run_whole());
  const Output said =
      run_shell("cd " + test::quoted(path("")) + " && timeout -s INT 0.3 " + test::quoted(BANYAN_PROGRAM) +
                " sweep sweep.toml run.measure=400000 --threads 2 --out out --quiet >/dev/null");
  if (said.text.empty()) GTEST_SKIP() << "this machine was done before it was interrupted";
  EXPECT_NE(said.text.find("of 200 points are kept in out"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("continue with: banyan sweep sweep.toml run.measure=400000 --out out"), std::string::npos)
      << said.text;
  expect_same_as_whole("out");
}

TEST_F(KilledSweep, SkipsWhatTheStoreHas) {
  static_cast<void>(run_whole());
  const std::string first = exported("whole", "json");
  const Output again = banyan("sweep sweep.toml --out whole --quiet");
  EXPECT_NE(again.text.find("banyan: 200 of 200 points are in whole already"), std::string::npos);
  const Output more = banyan("sweep sweep.toml 'sweep.switch.buffer=[2, 20]' --out whole --quiet");
  EXPECT_NE(more.text.find("banyan: 20 of 40 points are in whole already"), std::string::npos);
  static_cast<void>(banyan("sweep sweep.toml --out whole --quiet"));
  EXPECT_EQ(exported("whole", "json"), first);
}

TEST_F(KilledSweep, AnUnfinishedTableSaysHowToContinue) {
  static_cast<void>(run_whole());
  // As if the sweep had been killed before: nothing of these runs is there.
  const auto forget = [&](const std::string& runs) {
    const Database database(path("whole/results.sqlite"), Database::Mode::write);
    for (const char* table : {"metric", "series", "histogram", "groups", "trees", "digest"}) {
      database.run(std::string("DELETE FROM ") + table + " WHERE run IN (SELECT hash FROM run WHERE " + runs + ")");
    }
    database.run("DELETE FROM run WHERE " + runs);
  };
  forget("hash < '8'");
  const Output said = banyan("export whole --csv");
  EXPECT_EQ(said.status, 0);
  EXPECT_NE(said.text.find("of 200 points are finished; continue with: banyan sweep sweep.toml --out whole"),
            std::string::npos);
  forget("1");
  const Output empty = banyan("export whole --csv");
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.text.find("holds no finished point"), std::string::npos) << empty.text;
}

TEST_F(KilledSweep, ASecondSweepOnTheStoreIsTurnedAway) {
  const Writer first([&] {
    fs::create_directories(path("out"));
    return path("out");
  }());
  const Output second = banyan("sweep sweep.toml --out out --quiet");
  EXPECT_EQ(second.status, 2);
  EXPECT_NE(second.text.find("banyan: error: out: another banyan"), std::string::npos) << second.text;
}

TEST_F(KilledSweep, AFullDiskKeepsWhatIsFinished) {
  const std::string disk = path("disk");
  fs::create_directories(disk);
  const Output mounted = run_shell("mount -t tmpfs -o size=600k none " + test::quoted(disk));
  if (mounted.status != 0) GTEST_SKIP() << "a small disk needs the right to mount one: " << mounted.text;
  const Output said = banyan("sweep sweep.toml --threads 2 --out disk --quiet");
  const std::size_t finished = kept("disk").size();
  std::string csv;
  if (finished > 0) csv = banyan("export disk --csv 2>/dev/null").text;
  EXPECT_EQ(run_shell("mount -o remount,size=10m " + test::quoted(disk)).status, 0);
  const Output continued = banyan("sweep sweep.toml --out disk --quiet");
  const std::string table = exported("disk", "csv");
  EXPECT_EQ(run_shell("umount " + test::quoted(disk)).status, 0);

  EXPECT_EQ(said.status, 2) << said.text;
  EXPECT_NE(said.text.find("no space is left on its disk; " + std::to_string(finished) + " of 200 points are kept"),
            std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find("make room on the disk, then continue with: banyan sweep sweep.toml --out disk"),
            std::string::npos)
      << said.text;
  EXPECT_GT(finished, 5U);
  EXPECT_LT(finished, 200U);
  EXPECT_EQ(continued.status, 0) << continued.text;
  EXPECT_NE(continued.text.find(std::to_string(finished) + " of 200 points"), std::string::npos) << continued.text;
  static_cast<void>(run_whole());
  EXPECT_EQ(table, exported("whole", "csv"));
}

/// What a full disk is where no disk can be mounted: the store may not grow.
TEST_F(KilledSweep, AStoreThatMayNotGrowKeepsWhatIsFinished) {
  const Output said = run_shell("cd " + test::quoted(path("")) + " && ulimit -f 1000 && " +
                                test::quoted(BANYAN_PROGRAM) + " sweep sweep.toml --threads 2 --out out --quiet");
  const std::size_t finished = kept("out").size();
  EXPECT_EQ(said.status, 2) << said.text;
  EXPECT_NE(said.text.find("out/results.sqlite: cannot be read or written: disk I/O error; " +
                           std::to_string(finished) + " of 200 points are kept"),
            std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find("the limit of a file's size (ulimit -f)"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("then continue with: banyan sweep sweep.toml --out out"), std::string::npos) << said.text;
  EXPECT_GT(finished, 5U);
  EXPECT_LT(finished, 200U);
  const Output continued = banyan("sweep sweep.toml --out out --quiet");
  EXPECT_EQ(continued.status, 0) << continued.text;
  static_cast<void>(run_whole());
  EXPECT_EQ(exported("out", "csv"), exported("whole", "csv"));
}

}  // namespace
}  // namespace banyan::store::killed_sweep_test
