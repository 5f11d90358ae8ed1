// Does the profile of a run add up, and does it leave the run as it is?
#include "banyan/api/profile.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "api/runs.hpp"
#include "banyan/api/threads.hpp"

namespace banyan::api::profile_test {
namespace {

using nlohmann::json;

Result profiled(const std::string& text, const Overrides& overrides = {}, u32 threads = 1) {
  RunOptions options;
  options.threads = threads;
  options.profile = true;
  return run(experiment_of(text, overrides), options);
}

void expect_sums(const Profile& profile) {
  EXPECT_GT(profile.run_seconds, 0.0);
  EXPECT_LE(profile.build_seconds + profile.run_seconds, profile.seconds);
  for (const Profile::Thread& thread : profile.threads) {
    for (const double seconds : {thread.work, thread.mail, thread.wait, thread.other}) EXPECT_GE(seconds, 0.0);
    EXPECT_NEAR(thread.work + thread.mail + thread.wait + thread.other, profile.run_seconds,
                0.001 + 0.01 * profile.run_seconds);
  }
}

bool has_two_cores() { return std::thread::hardware_concurrency() > 1; }

TEST(Profile, IsThereOnRequestOnlyAndChangesNoResult) {
  const Result plain = run_of(kMesh);
  EXPECT_EQ(plain.profile, nullptr);
  EXPECT_FALSE(json::parse(to_json(plain)).contains("profile"));
  Result with = profiled(kMesh, {"run.shards=2"}, 2);
  EXPECT_EQ(with.state_hash, plain.state_hash);
  EXPECT_EQ(to_table(with), to_table(plain));
  EXPECT_EQ(with.checkpoints, plain.checkpoints);
  ASSERT_NE(with.profile, nullptr);
  const json profile = json::parse(to_json(with)).at("profile");
  for (const char* key : {"seconds", "build_seconds", "run_seconds", "threads_asked", "fewer_threads", "threads",
                          "imbalance", "imbalance_in_windows", "cut", "window", "windows", "mails", "moves",
                          "ns_per_move", "peak_bytes", "switches"}) {
    EXPECT_TRUE(profile.contains(key)) << key;
  }
  for (const char* key : {"shards", "by", "channels", "crossing_channels", "heaviest"}) {
    EXPECT_TRUE(profile.at("cut").contains(key)) << key;
  }
  EXPECT_EQ(from_json(to_json(with)).state_hash, plain.state_hash);
}

TEST(Profile, OfOneShardIsAllWork) {
  const Result result = profiled(kMesh);
  const Profile& profile = *result.profile;
  expect_sums(profile);
  ASSERT_EQ(profile.threads.size(), 1U);
  EXPECT_EQ(profile.threads[0].wait, 0.0);
  EXPECT_EQ(profile.threads[0].mail, 0.0);
  EXPECT_GT(profile.threads[0].work, 0.0);
  EXPECT_EQ(profile.shards, 1U);
  EXPECT_EQ(profile.cut_by, "nothing");
  EXPECT_EQ(profile.crossing_channels, 0U);
  EXPECT_EQ(profile.imbalance(), 1.0);
  EXPECT_EQ(profile.switches, 16U);
  EXPECT_EQ(static_cast<double>(profile.moves), result.at("flit_hops").mean);
}

TEST(Profile, OfOneThreadHasMailAndNoWaiting) {
  const Result result = profiled(kMesh, {"run.shards=4"});
  const Profile& profile = *result.profile;
  expect_sums(profile);
  ASSERT_EQ(profile.threads.size(), 1U);
  EXPECT_EQ(profile.threads[0].wait, 0.0);
  EXPECT_GT(profile.threads[0].mail, 0.0);
  EXPECT_EQ(profile.shards, 4U);
  EXPECT_EQ(profile.cut_by, "the order of switches");
  // Rows of a mesh of 4x4: four channels each way between two of them.
  EXPECT_EQ(profile.crossing_channels, 24U);
  EXPECT_EQ(profile.channels, 48U + 32U);
  EXPECT_GT(profile.windows, 0U);
  EXPECT_GT(profile.mails, profile.windows);
}

/// Where messages stay in one row, one of two shards has most of the work in every window.
TEST(Profile, TellsHowUnevenWindowsAre) {
  const std::string text =
      "topology = { name = \"mesh\", size = [8, 8] }\nswitch = \"cioq\"\nrouting = \"dimension_order\"\n"
      "run = { duration = 20000, shards = 2 }\n";
  // Times of a machine on which others run: the least of a few.
  double even = 2.0;
  for (int run = 0; run < 5 && even >= 1.5; ++run) {
    const std::string uniform = "traffic = { name = \"uniform\", load = 0.5, size = 64 }";
    even = std::min(even, profiled(text + uniform).profile->imbalance_in_windows);
  }
  EXPECT_GT(even, 1.0);
  EXPECT_LT(even, 1.5);
  const Profile uneven = *profiled(text +
                                   "traffic = { name = \"flows\", sources = [0, 1, 2, 3], destinations = [7, 6, 5, "
                                   "4], loads = [0.5], size = 64 }")
                              .profile;
  EXPECT_GT(uneven.imbalance_in_windows, 1.55);
  EXPECT_LE(uneven.imbalance_in_windows, 2.0);
}

TEST(Profile, OfTwoThreadsHasTheirWaiting) {
  if (!has_two_cores()) GTEST_SKIP() << "one core steps on one thread";
  const Result result = profiled(kMesh, {"run.shards=2"}, 2);
  const Profile& profile = *result.profile;
  expect_sums(profile);
  ASSERT_EQ(profile.threads.size(), 2U);
  EXPECT_EQ(profile.threads_asked, 2U);
  EXPECT_EQ(profile.fewer_threads, "");
  EXPECT_GT(profile.threads[0].wait + profile.threads[1].wait, 0.0);
  EXPECT_GT(profile.threads[1].work, 0.0);
  EXPECT_GE(profile.imbalance(), 1.0);
}

TEST(Profile, OfSessionsHasAThreadForEach) {
  const Result plain = run_of(kSessions);
  const Result result = profiled(kSessions, {}, 2);
  EXPECT_EQ(result.state_hash, plain.state_hash);
  const Profile& profile = *result.profile;
  expect_sums(profile);
  ASSERT_EQ(profile.threads.size(), 2U);
  EXPECT_GT(profile.threads[0].work + profile.threads[1].work, 0.0);
  EXPECT_EQ(static_cast<double>(profile.moves), result.at("packet_moves").mean);
}

TEST(Profile, IsATableOfEightyColumns) {
  Profile profile;
  profile.threads = {{1234.5678, 123.4567, 1234.5678, 12.3456}, {0.0, 0.0, 0.0, 0.0}};
  profile.run_seconds = profile.seconds = 2604.9379;
  profile.fewer_threads = "1 of 2 threads steps this network: the switch output_queued steps such a network as a whole";
  profile.shards = 255;
  profile.cut_by = "the order of switches";
  profile.channels = 1234567;
  profile.crossing_channels = 123456;
  profile.windows = 1'000'000'000;
  profile.mails = 1;
  profile.peak_bytes = 123'456'789'012;
  std::istringstream lines(to_table(profile));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
}

TEST(Threads, OfASmallNetworkAreOneUnlessItSaysItsShards) {
  const Experiment small = experiment_of(kMesh);
  EXPECT_EQ(threads_for(small, 16, 1), 1U);
  EXPECT_EQ(threads_for(small, 16, 2), 1U);
  EXPECT_EQ(threads_for(small, 16, 0), 1U);
  const u32 cores = std::thread::hardware_concurrency();
  EXPECT_EQ(threads_for(small, 1U << 20U, 1024), cores);
  EXPECT_EQ(threads_for(experiment_of(kMesh, {"run.shards=2"}), 16, 2), std::min(cores, 2U));
  EXPECT_GE(free_cores(), 1U);
  EXPECT_LE(free_cores(), cores);
  EXPECT_EQ(threads_for(small, 1U << 20U, 0), std::min(free_cores(), cores));
}

TEST(Threads, ThatAreFewerThanAskedForHaveAReason) {
  if (!has_two_cores()) GTEST_SKIP() << "one core is reason enough";
  EXPECT_EQ(run_of(kMesh).fewer_threads, "");
  const std::string small = run_of(kMesh, {}, 2).fewer_threads;
  EXPECT_EQ(small.find("1 of 2 threads steps this network: its 16 switches are too few ("), 0U) << small;
  const std::string whole = run_of(kSessions, {"run.duration=500", "run.shards=2"}, 2).fewer_threads;
  EXPECT_EQ(whole, "1 of 2 threads steps this network: the switch output_queued steps such a network as a whole");
  EXPECT_EQ(run_of(kMesh, {"run.shards=1"}, 2).fewer_threads,
            "1 of 2 threads steps this network: the network is cut into no more than 1");
  EXPECT_EQ(run_of(kMesh, {"run.shards=2"}, 2).fewer_threads, "");
}

}  // namespace
}  // namespace banyan::api::profile_test
