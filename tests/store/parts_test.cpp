// Does a sweep in parts end with the table of an undisturbed one, whoever runs which part, however often and by
// whatever order workers die and parts are joined?
#include "banyan/store/parts.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/store/sweep.hpp"
#include "build_info.hpp"
#include "store/stores.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

extern char** environ;

namespace banyan::store::parts_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::Output;
using test::run_shell;

/// What stores of format 1 lack.
constexpr const char* kToFormatOne = "DROP TABLE digest; DROP TABLE warning; PRAGMA user_version = 1";

class Parts : public StoreTest {
 protected:
  /// A worker's file in `place`, with the runs of its part; `change` may alter a result, and `change_plan` the plan.
  std::string fill(const std::string& place, const SweepPart& part,
                   const std::function<void(api::Result&)>& change = {},
                   const std::function<void(Plan&)>& change_plan = {}) const {
    const std::string out = folder() + "/" + place;
    fs::create_directories(out);
    const api::ExperimentSet set = example_set(kPoints);
    Plan plan = plan_of(set, kSource);
    std::vector<Plan::Point> own;
    for (const std::size_t i : places_of(set, part)) own.push_back(plan.points[i]);
    plan.points = own;
    if (change_plan) change_plan(plan);
    const std::string file = new_part_file(out, part);
    Writer store(out, file);
    store.plan(plan);
    for (const Plan::Point& point : own) {
      api::Result result = example_result(point.run);
      if (change) change(result);
      store.put(result);
    }
    return file;
  }
  MergeReport merged(const std::vector<std::string>& places, const std::string& into) const {
    std::vector<std::string> from;
    for (const std::string& place : places) from.push_back(folder() + "/" + place);
    fs::create_directories(folder() + "/" + into);
    Writer store(folder() + "/" + into);
    return merge(from, store);
  }
  [[nodiscard]] Table table(const std::string& place) const { return Reader(folder() + "/" + place).table(); }

  static constexpr std::size_t kPoints = 10;
};

RC_GTEST_PROP(PartsOfASweep, ShareOutEveryPointOnce, ()) {
  const auto points = *rc::gen::inRange<std::size_t>(0, 60);
  const auto count = *rc::gen::inRange(1U, 20U);
  api::ExperimentSet set = example_set(points);
  // Points that share a run belong together.
  for (api::Experiment& point : set.points) point.configuration_hash %= *rc::gen::inRange<u64>(1, 60);
  std::vector<std::size_t> all;
  std::map<u64, std::set<u32>> parts_of_run;
  for (u32 index = 1; index <= count; ++index) {
    const std::vector<std::size_t> places = places_of(set, {index, count});
    RC_ASSERT(std::is_sorted(places.begin(), places.end()));
    all.insert(all.end(), places.begin(), places.end());
    for (const std::size_t place : places) parts_of_run[set.points[place].configuration_hash].insert(index);
  }
  RC_ASSERT(all.size() == points);
  RC_ASSERT(std::set<std::size_t>(all.begin(), all.end()).size() == points);
  for (const auto& [run, parts] : parts_of_run) RC_ASSERT(parts.size() == 1U);
}

TEST_F(Parts, AreNamedFromOneOrFromZero) {
  EXPECT_EQ(to_text(read_part("2/8")), "2/8");
  EXPECT_EQ(to_text(read_part("0/8")), "8/8");
  for (const char* text : {"", "2", "2/", "/8", "-1/8", "2/8/1", "1.5/2", "2 / 8", "99999999999/8"}) {
    expect(refusal([&] { static_cast<void>(read_part(text)); }), "is no part", "--part i/n");
  }
  expect(refusal([] { static_cast<void>(read_part("9/8")); }), "there is no part 9 of 8", "i from 1 to n");
  expect(refusal([] { static_cast<void>(read_part("0/0")); }), "there are no parts", "i from 1 to n");
}

TEST_F(Parts, OfOneFolderAreReadAsOneStore) {
  fill("out", {1, 3});
  fill("out", {3, 3});
  const Table some = table("out");
  EXPECT_EQ(some.planned, kPoints);
  EXPECT_EQ(some.finished(), 7U);
  EXPECT_EQ(some.path, folder() + "/out/results.sqlite");
  fill("out", {2, 3});
  const Table all = table("out");
  ASSERT_EQ(all.set.points.size(), kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    EXPECT_EQ(all.set.points[i].axes, example_set(kPoints).points[i].axes);
    ASSERT_TRUE(all.results[i].has_value());
    EXPECT_EQ(all.results[i]->state_hash, example_result(i + 1).state_hash);
  }
  EXPECT_FALSE(fs::exists(folder() + "/out/results.sqlite")) << "reading writes nothing";
}

TEST_F(Parts, AreMergedOneAfterTheOther) {
  fill("a", {1, 3});
  fill("b", {2, 3});
  fill("c", {3, 3});
  EXPECT_EQ(merged({"a", "b"}, "out").finished, 7U);
  EXPECT_EQ(merged({"c"}, "out").finished, kPoints) << "what an earlier merge left stays in the table";
  EXPECT_EQ(merged({"a"}, "out").finished, kPoints);
  const Table all = table("out");
  ASSERT_EQ(all.set.points.size(), kPoints);
  for (std::size_t i = 0; i < kPoints; ++i) {
    ASSERT_TRUE(all.results[i].has_value());
    EXPECT_EQ(all.results[i]->state_hash, example_result(i + 1).state_hash);
  }
}

TEST_F(Parts, AreMergedInAnyOrder) {
  fill("a", {1, 2});
  fill("b", {2, 2});
  EXPECT_EQ(merged({"a", "b"}, "ab").finished, kPoints);
  EXPECT_EQ(merged({"b", "a"}, "ba").finished, kPoints);
  EXPECT_EQ(table("ab").set.file, table("ba").set.file);
  for (std::size_t i = 0; i < kPoints; ++i) {
    EXPECT_EQ(api::to_json(table("ab").results[i].value()), api::to_json(table("ba").results[i].value()));
  }
  // Once more, into one of its own sources.
  EXPECT_EQ(merged({"ab", "b"}, "ab").finished, kPoints);
}

TEST_F(Parts, ThatOverlapAreOneWhereTheyAgree) {
  fill("a", {1, 2});
  fill("b", {1, 3});
  const MergeReport report = merged({"a", "b"}, "ab");
  EXPECT_EQ(report.finished, 7U);
  EXPECT_EQ(report.points, kPoints);
  EXPECT_EQ(report.shared, 2U);
}

TEST_F(Parts, ThatOverlapAndDisagreeAreRefusedByName) {
  const std::string a = fill("a", {1, 2});
  const std::string b = fill("b", {1, 3}, [](api::Result& result) {
    if (result.configuration_hash == 7) result.state_hash = 1;
  });
  const ConfigError error = refusal([&] { merged({"a", "b"}, "ab"); });
  EXPECT_EQ(error.where().file, b);
  expect(error, "overlaps with " + a + ", and they differ in the result of point 6: state hash 0000000000000001 here",
         "banyan verify");
  // What was merged before is not exchanged either.
  merged({"a"}, "c");
  expect(refusal([&] { merged({"b"}, "c"); }), "and they differ in the result of point 6", "banyan verify");
}

TEST_F(Parts, OfAnotherVersionGiveWayToThisOne) {
  fill("a", {1, 2}, [](api::Result& result) {
    result.version = "999.0";
    result.state_hash = 1;
  });
  fill("b", {1, 2});
  for (const auto& order : {std::vector<std::string>{"a", "b"}, std::vector<std::string>{"b", "a"}}) {
    merged(order, "ab");
    for (const auto& result : table("ab").results) {
      ASSERT_TRUE(result.has_value());
      EXPECT_EQ(result->version, api::version());
    }
    fs::remove_all(folder() + "/ab");
  }
}

TEST_F(Parts, OfAnotherSweepAreRefusedByName) {
  const std::string a = fill("a", {1, 2});
  fs::create_directories(folder() + "/b");
  {
    Writer other(folder() + "/b");
    other.plan(example_set(kPoints + 1), kSource);
  }
  expect(refusal([&] { merged({"a", "b"}, "ab"); }), "this is of another sweep than " + a, "of one FILE");
  expect(refusal([&] {
           static_cast<void>(sweep_part(example_set(kPoints + 1), kSource, folder() + "/a", {1, 2}, {}, {}));
         }),
         a + " is of another sweep", "name another folder with --out");
  // Other parts of the same cut: a worker with a key=value too many would spoil the folder for all.
  const std::string first = fill("c", {1, 2});
  fill("c", {2, 2});
  expect(refusal([&] {
           static_cast<void>(sweep_part(example_set(kPoints + 1), kSource, folder() + "/c", {2, 2}, {}, {}));
         }),
         "is of another sweep", "name another folder with --out");
  fs::remove_all(folder() + "/c");
  const std::string alone = fill("c", {1, 2});
  expect(refusal([&] {
           static_cast<void>(sweep_part(example_set(kPoints + 1), kSource, folder() + "/c", {2, 2}, {}, {}));
         }),
         alone + " is of another sweep", "name another folder with --out");
}

TEST_F(Parts, ThatAreDamagedAreRefusedAndRunAgain) {
  fill("out", {2, 2});
  const std::string file = fill("out", {1, 2});
  Database(file, Database::Mode::write).run("UPDATE metric SET mean = 7 WHERE position = 0 AND run LIKE '%3'");
  const ConfigError rows = refusal([&] { static_cast<void>(table("out")); });
  EXPECT_EQ(rows.where().file, file);
  expect(rows, "the result store is damaged: row 0 (delay) of table metric was changed",
         "run its points again: banyan sweep 'some file.toml' switch.buffer=8 'name=it'\\''s' --part=1/2 --out " +
             folder() + "/out");
  // A file that is none any more.
  std::ofstream(file, std::ios::binary) << std::string(5000, 'x');
  const ConfigError whole = refusal([&] { static_cast<void>(table("out")); });
  EXPECT_EQ(whole.where().file, file);
  expect(whole, "the result store is damaged: file is not a database",
         "remove it and run its points again: banyan sweep");
  // Whoever has all points elsewhere does not miss it.
  fill("out", {1, 2});
  EXPECT_EQ(table("out").finished(), kPoints);
}

TEST_F(Parts, WithoutAStoreAreRefused) {
  expect(refusal([&] { merged({"nowhere"}, "out"); }), "there is no result store", "name the folder");
  fs::create_directories(folder() + "/empty/parts");
  expect(refusal([&] { merged({"empty"}, "out"); }), "there is no result store", "name the folder");
  // A worker that was killed at once leaves a file without a table in it.
  std::ofstream(folder() + "/empty/parts/1-of-2.host.7-0.sqlite").close();
  expect(refusal([&] { merged({"empty"}, "out"); }), "holds no finished run", "--part i/n");
  expect(refusal([&] { static_cast<void>(table("empty")); }), "holds no finished run", "banyan sweep");
}

/// A pipe would be read for ever.
TEST_F(Parts, ThatAreNoFilesAreRefused) {
  fs::create_directories(folder() + "/pipe");
  ASSERT_EQ(mkfifo((folder() + "/pipe/results.sqlite").c_str(), 0600), 0);
  expect(refusal([&] { merged({"pipe"}, "out"); }), "this is no file, and so no result store", "name a folder");
}

/// What SQLite leaves behind when a writer dies in the middle of a transaction: changed pages and a journal.
TEST_F(Parts, AreReadWithoutWhatAKilledWorkerLeftHalfDone) {
  const std::string file = fill("out", {1, 2});
  const Database dying(file, Database::Mode::sole_writer);
  dying.run("PRAGMA cache_size = 1; BEGIN; UPDATE metric SET name = hex(zeroblob(2000))");
  ASSERT_TRUE(fs::exists(file + "-journal"));
  const std::string before = test::read_file(file);
  EXPECT_NE(before.find("000000000000"), std::string::npos) << "nothing was half done";
  const Table read = table("out");
  EXPECT_EQ(read.finished(), 5U);
  EXPECT_EQ(read.results.front()->metrics.front().name, "delay");
  EXPECT_EQ(test::read_file(file), before) << "reading changes nothing";
  EXPECT_TRUE(fs::exists(file + "-journal"));
}

/// Files as a Banyan of before digests has left them.
TEST_F(Parts, OfFormatOneAreJoinedMergedAndNotRunAgain) {
  Database(fill("out", {1, 2}), Database::Mode::write).run(kToFormatOne);
  fill("out", {2, 2});
  EXPECT_EQ(table("out").finished(), kPoints);
  EXPECT_EQ(merged({"out"}, "merged").finished, kPoints);
  EXPECT_EQ(table("merged").finished(), kPoints);
  EXPECT_EQ(sweep_part(example_set(kPoints), kSource, folder() + "/out", {1, 2}, {}, {}).results.size(), 5U);
}

/// Without digests there is nothing to tell but that a value cannot be read; the copy that was read is gone by then.
TEST_F(Parts, OfFormatOneThatCannotBeReadAreRefusedByName) {
  const std::string file = fill("out", {1, 2});
  Database(file, Database::Mode::write)
      .run(std::string(kToFormatOne) + "; UPDATE run SET verdict = '?' WHERE hash LIKE '%3'");
  for (const auto& read : std::vector<std::function<void()>>{[&] { static_cast<void>(table("out")); },
                                                             [&] { merged({"out"}, "merged"); }}) {
    const ConfigError error = refusal(read);
    EXPECT_EQ(error.where().file, file);
    expect(error, "the result store is damaged: row 0000000000000003 of table run", "run its points again");
  }
}

/// Whatever the order: 1.10 is later than 1.9, and what is later stays.
TEST_F(Parts, OfOtherVersionsGiveWayToTheLatest) {
  for (const char* version : {"0.9.0", "0.10.0", "0.2.0"}) {
    fill(version, {1, 2}, [&](api::Result& result) {
      result.version = version;
      result.state_hash = version[2] == '1' ? 10 : 9;
    });
  }
  std::vector<std::string> order{"0.10.0", "0.2.0", "0.9.0"};
  do {
    EXPECT_EQ(merged(order, "at_once").finished, 5U) << "they are there, whoever made them";
    for (const std::string& place : order) EXPECT_EQ(merged({place}, "in_turn").finished, 5U);
    for (const char* place : {"at_once", "in_turn"}) {
      for (const auto& result : table(place).results) {
        ASSERT_TRUE(result.has_value());
        EXPECT_EQ(result->version, "0.10.0") << place;
      }
      fs::remove_all(folder() + "/" + place);
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

/// One run may have been configured in several ways that its result does not depend on, and made by several compilers.
TEST_F(Parts, GiveTheSameBytesInAnyOrder) {
  for (const char* place : {"a", "b", "c"}) {
    fill(
        place, {1, 2}, [&](api::Result& result) { result.compiler = std::string("c++ ") + place; },
        [&](Plan& plan) {
          plan.source.text = place;
          for (Plan::Point& point : plan.points) {
            // In every point another one is the least.
            const char rank = static_cast<char>('0' + (static_cast<u64>(place[0]) + point.position) % 3);
            point.configuration = std::string("{\"audit\":") + rank + "}";
          }
        });
  }
  const auto bytes = [&](const std::string& place) {
    Table whole = table(place);
    std::string text = whole.source.text;
    for (const auto& result : whole.results) text += api::to_json(result.value());
    return text;
  };
  std::set<std::string> all;
  std::vector<std::string> order{"a", "b", "c"};
  do {
    merged(order, "at_once");
    for (const std::string& place : order) merged({place}, "in_turn");
    for (const char* place : {"at_once", "in_turn"}) {
      all.insert(bytes(place));
      fs::remove_all(folder() + "/" + place);
    }
  } while (std::next_permutation(order.begin(), order.end()));
  EXPECT_EQ(all.size(), 1U);
}

TEST_F(Parts, AreNotMergedIntoAFolderOfAnotherSweep) {
  fill("a", {1, 2});
  fs::create_directories(folder() + "/store");
  Writer(folder() + "/store").plan(example_set(kPoints + 1), kSource);
  fill("parts", {2, 2}, {}, [](Plan& plan) { plan.digest = 7; });
  for (const std::string place : {"store", "parts"}) {
    const ConfigError error = refusal([&] { merged({"a"}, place); });
    EXPECT_EQ(error.where().file, folder() + "/" + place);
    expect(error, "this is of another sweep than " + folder() + "/a", "give another --out");
  }
  EXPECT_EQ(table("store").planned, kPoints + 1);
  EXPECT_EQ(table("store").finished(), 0U) << "a refused merge changes nothing";
}

TEST_F(Parts, OfTheFolderThatOthersAreMergedIntoCount) {
  fill("a", {1, 2});
  fill("out", {2, 2});
  const MergeReport report = merged({"a"}, "out");
  EXPECT_EQ(report.finished, kPoints);
  EXPECT_EQ(report.shared, 0U);
  EXPECT_EQ(merged({"a", "out"}, "out").shared, kPoints) << "the store has now what both have";
  EXPECT_EQ(table("out").finished(), kPoints);
}

// --- the program -------------------------------------------------------------------------------------------------

/// 60 points of some ten milliseconds each.
constexpr const char* kSweep =
    "topology = { name = \"extra_stage_cube\", terminals = 16, radix = 4 }\n"
    "switch   = { name = \"output_queued\", buffer = 4 }\n"
    "routing  = \"destination_tag\"\n"
    "traffic  = { name = \"uniform\", load = 0.25 }\n"
    "[run]\n"
    "warmup  = 200\n"
    "measure = 8000\n"
    "[sweep]\n"
    "\"traffic.uniform.load\" = { from = 0.05, to = 0.5, count = 20 }\n"
    "\"switch.buffer\" = [2, 4, 8]\n";

class Workers : public testing::Test {
 protected:
  Workers() { std::ofstream(folder_.path() / "sweep.toml") << kSweep; }
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "how programs die is the other builds' affair";
  }
  /// An undisturbed sweep into "whole".
  void run_whole() const { ASSERT_EQ(banyan("sweep sweep.toml --out whole --quiet").status, 0); }

  [[nodiscard]] std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  [[nodiscard]] Output banyan(const std::string& arguments) const {
    return run_shell("cd " + test::quoted(folder_.path()) + " && " + test::quoted(BANYAN_PROGRAM) + " " + arguments);
  }
  [[nodiscard]] std::string exported(const std::string& out, const std::string& form = "csv") const {
    const Output said = banyan("export " + out + " --" + form);
    EXPECT_EQ(said.status, 0) << said.text;
    return said.text;
  }
  /// `setting`: one more word of the command line, such as "run.measure=1".
  [[nodiscard]] pid_t start(const std::string& out, const std::string& part,
                            const std::string& setting = "run.measure=8000") const {
    std::string words[] = {BANYAN_PROGRAM, "sweep", "sweep.toml", setting,   "--part", part,
                           "--threads",    "1",     "--out",      path(out), "--quiet"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t silent;
    posix_spawn_file_actions_init(&silent);
    posix_spawn_file_actions_addchdir_np(&silent, folder_.path().c_str());
    posix_spawn_file_actions_addopen(&silent, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&silent, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t child = 0;
    EXPECT_EQ(posix_spawn(&child, BANYAN_PROGRAM, &silent, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&silent);
    return child;
  }
  [[nodiscard]] std::size_t finished(const std::string& out) const {
    try {
      return Reader(path(out)).table().finished();
    } catch (const ConfigError&) { return 0; }  // nobody has begun
  }

  std::minstd_rand random_{[] {
    const auto seed = static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count());
    testing::Test::RecordProperty("seed", std::to_string(seed));
    return seed;
  }()};

 private:
  test::TemporaryFolder folder_;
};

TEST_F(Workers, KilledAtRandomTimesEndWithTheSameTable) {
  constexpr u32 kWorkers = 4;
  run_whole();
  std::size_t before = 0;
  for (int round = 0; round < 3; ++round) {
    std::vector<pid_t> workers;
    for (u32 i = 1; i <= kWorkers; ++i) workers.push_back(start("parts", std::to_string(i) + "/4"));
    std::this_thread::sleep_for(milliseconds(30 + random_() % 400));
    for (const pid_t worker : workers) {
      std::this_thread::sleep_for(milliseconds(random_() % 40));
      kill(worker, SIGKILL);
      waitpid(worker, nullptr, 0);
    }
    const std::size_t now = finished("parts");
    EXPECT_GE(now, before) << "a finished point was lost";
    before = now;
  }
  // The rest is cut in another way, and two do the same part at once.
  std::vector<pid_t> workers;
  for (const char* part : {"3/3", "1/3", "2/3", "1/3"}) workers.push_back(start("parts", part));
  for (const pid_t worker : workers) {
    int status = -1;
    waitpid(worker, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (const char* form : {"csv", "json"}) EXPECT_EQ(exported("parts", form), exported("whole", form));
  ASSERT_EQ(banyan("merge parts --out merged").status, 0);
  for (const char* form : {"csv", "json"}) EXPECT_EQ(exported("merged", form), exported("whole", form));
  EXPECT_EQ(test::read_file(path("merged/results.csv")), test::read_file(path("whole/results.csv")));
}

TEST_F(Workers, LeaveNoTemporaryFilesWhenTheyAreKilled) {
  // The 30 points of the worker take ten seconds and more, so that it is at work when the first of them is seen.
  const std::string slow = "run.measure=400000";
  const fs::path temporary = path("temporary");
  fs::create_directories(temporary);
  ASSERT_EQ(banyan("sweep sweep.toml " + slow + " --part 1/60 --out out --quiet").status, 0);
  const std::size_t before = finished("out");
  const char* const was = std::getenv("TMPDIR");
  const std::optional<std::string> kept = was == nullptr ? std::nullopt : std::optional<std::string>(was);
  setenv("TMPDIR", temporary.c_str(), 1);
  const pid_t worker = start("out", "2/2", slow);
  if (kept) setenv("TMPDIR", kept->c_str(), 1);
  if (!kept) unsetenv("TMPDIR");
  for (int i = 0; i < 5000 && finished("out") == before; ++i) std::this_thread::sleep_for(milliseconds(2));
  kill(worker, SIGKILL);
  int status = 0;
  waitpid(worker, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "it was killed while its points ran";
  EXPECT_TRUE(fs::is_empty(temporary));
}

TEST_F(Workers, GoOnWhereOneSweepWasAndOneSweepWhereTheyWere) {
  run_whole();
  ASSERT_EQ(banyan("sweep sweep.toml --part 1/2 --out out --quiet").status, 0);
  const Output rest = banyan("sweep sweep.toml --out out --quiet");
  ASSERT_EQ(rest.status, 0) << rest.text;
  EXPECT_NE(rest.text.find("30 of 60 points are in out already"), std::string::npos) << rest.text;
  EXPECT_EQ(exported("out"), exported("whole"));
  const Output part = banyan("sweep sweep.toml --part 2/7 --out out --quiet");
  EXPECT_NE(part.text.find("9 of 9 points of part 2/7 are in out already"), std::string::npos) << part.text;
  EXPECT_EQ(exported("out"), exported("whole"));
}

TEST_F(Workers, WithMorePartsThanPointsHaveNothingToDo) {
  const Output said = banyan("sweep sweep.toml --part 61/61 --out out --quiet");
  EXPECT_EQ(said.status, 0);
  EXPECT_NE(said.text.find("part 61/61 has no points"), std::string::npos) << said.text;
  ASSERT_EQ(banyan("sweep sweep.toml --part 60/61 --out out --quiet").status, 0);
  const Output some = banyan("export out --csv");
  EXPECT_NE(some.text.find("1 of 60 points are finished; continue with: banyan sweep sweep.toml --out out"),
            std::string::npos)
      << some.text;
}

TEST_F(Workers, OnAFullDiskKeepWhatIsFinishedAndSayHowToGoOn) {
  const std::string disk = path("disk");
  fs::create_directories(disk);
  const Output mounted = run_shell("mount -t tmpfs -o size=300k none " + test::quoted(disk));
  if (mounted.status != 0) GTEST_SKIP() << "a small disk needs the right to mount one: " << mounted.text;
  const Output said = banyan("sweep sweep.toml --threads 1 --part 1/2 --out disk --quiet");
  const std::size_t kept = finished("disk");
  EXPECT_EQ(run_shell("mount -o remount,size=10m " + test::quoted(disk)).status, 0);
  const Output continued = banyan("sweep sweep.toml --part 1/2 --out disk --quiet");
  const std::size_t then = finished("disk");
  EXPECT_EQ(run_shell("umount " + test::quoted(disk)).status, 0);
  EXPECT_EQ(said.status, 2) << said.text;
  EXPECT_NE(said.text.find("no space is left on its disk; " + std::to_string(kept) +
                           " of 30 points of part 1/2 are kept in disk"),
            std::string::npos)
      << said.text;
  EXPECT_NE(said.text.find("make room on the disk, then continue with: banyan sweep sweep.toml --part=1/2 --out disk"),
            std::string::npos)
      << said.text;
  EXPECT_GT(kept, 2U);
  EXPECT_LT(kept, 30U);
  EXPECT_EQ(continued.status, 0) << continued.text;
  EXPECT_EQ(then, 30U);
}

TEST_F(Workers, KeepWhatTheyWroteIntoAFolderWhoseMergeIsRefused) {
  ASSERT_EQ(banyan("sweep sweep.toml --part 1/20 --out out --quiet").status, 0);
  ASSERT_EQ(banyan("sweep sweep.toml run.measure=100 --part 1/60 --out other --quiet").status, 0);
  // Of so many parts that the merge is at work when it is stopped.
  const std::string part = part_files(path("out")).front();
  fs::create_directories(path("many/parts"));
  for (int i = 0; i < 200; ++i) fs::copy_file(part, path("many/parts/1-of-20.host." + std::to_string(i) + "-0.sqlite"));
  const Output said = run_shell("cd " + test::quoted(path("")) + "; " + test::quoted(BANYAN_PROGRAM) +
                                " merge many other --out merged & merge=$!\n"
                                "until [ -e merged/results.sqlite ]; do :; done; kill -STOP $merge\n"
                                "mkdir merged/parts; cp out/parts/*.sqlite merged/parts\n"
                                "kill -CONT $merge; wait $merge");
  EXPECT_EQ(said.status, 2) << said.text;
  EXPECT_NE(said.text.find("of another sweep"), std::string::npos) << said.text;
  EXPECT_EQ(part_files(path("merged")).size(), 1U);
  EXPECT_EQ(std::distance(fs::directory_iterator(path("merged")), fs::directory_iterator()), 1)
      << "nothing of the merge is left";
  EXPECT_EQ(exported("merged", "csv 2>/dev/null"), exported("out", "csv 2>/dev/null"));
  // Where nobody has written anything, nothing is left.
  EXPECT_EQ(banyan("merge out other --out nothing").status, 2);
  EXPECT_FALSE(fs::exists(path("nothing")));
}

TEST_F(Workers, OfAnotherVersionAreCountedWhereTheyAreMerged) {
  ASSERT_EQ(banyan("sweep sweep.toml --part 1/1 --out out --quiet").status, 0);
  const std::string part = part_files(path("out")).front();
  Database(part, Database::Mode::write).run("UPDATE run SET version = '0.9.0'; " + std::string(kToFormatOne));
  const Output said = banyan("merge out --out merged");
  EXPECT_EQ(said.text, "banyan: 60 of 60 points are in merged; 60 of them are of another version of Banyan\n");
  EXPECT_EQ(exported("merged"), test::read_file(path("merged/results.csv")));
}

TEST_F(Workers, AndTheirReadersThatAreKilledLeaveTemporaryFilesUntilTheNextCommand) {
  ASSERT_EQ(banyan("sweep sweep.toml --part 1/20 --out out --quiet").status, 0);
  const std::string part = part_files(path("out")).front();
  for (int i = 0; i < 200; ++i) fs::copy_file(part, path("out/parts/1-of-20.host." + std::to_string(i) + "-0.sqlite"));
  fs::create_directories(path("temporary"));
  // One is stopped while it reads, one is killed; then a third one comes.
  const Output said = run_shell("cd " + test::quoted(path("")) + "; export TMPDIR=$PWD/temporary\n" + "begin() { " +
                                test::quoted(BANYAN_PROGRAM) + " export out --csv >$1 2>/dev/null & " +
                                "child=$!; until [ $(ls temporary | wc -l) -eq $2 ]; do :; done; }\n" +
                                "begin stopped 1; kill -STOP $child; alive=$child; living=$(ls temporary)\n" +
                                "begin killed 2; kill -KILL $child; wait $child 2>/dev/null\n" +
                                test::quoted(BANYAN_PROGRAM) + " export out --csv >third 2>/dev/null\n" +
                                "[ \"$(ls temporary)\" = \"$living\" ] && echo only the living\n" +
                                "kill -CONT $alive; wait $alive; cmp stopped third && ls temporary");
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_EQ(said.text, "only the living\n");
  EXPECT_FALSE(test::read_file(path("third")).empty());
}

}  // namespace
}  // namespace banyan::store::parts_test
