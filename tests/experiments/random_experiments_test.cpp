// Is there any experiment that crashes, hangs, breaks an invariant, reports numbers that cannot be, or gives other
// results when it is cut, ordered, woken or threaded otherwise? Everything that a file can say is tried at random.
//
// BANYAN_EXPERIMENTS_SEED and BANYAN_EXPERIMENTS_COUNT choose other experiments, BANYAN_EXPERIMENTS_FIRST the number of
// the first; BANYAN_EXPERIMENTS_REFUSALS and BANYAN_EXPERIMENTS_COVERAGE print why experiments were refused, and which
// values no completed one had. A finding is printed as the smallest experiment that shows it, with the command that
// repeats it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "experiments/children.hpp"
#include "experiments/generator.hpp"
#include "experiments/shrink.hpp"
#include "support/repository.hpp"

namespace banyan::test::experiments::random_experiments_test {
namespace {

u64 number_from(const char* variable, u64 fallback) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? fallback : std::stoull(text);
}

std::filesystem::path own_folder() {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("experiments-{}", getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

void expect_no_findings(u64 seed, u64 count) {
  constexpr std::size_t kMostKinds = 20;  // of which each is shrunk
  constexpr u32 kMostRepairs = 20;
  const std::filesystem::path folder = own_folder();
  const Generator generator;
  const u64 first = number_from("BANYAN_EXPERIMENTS_FIRST", 0);
  const auto make = [&](u64 i) { return generator.make(seed, i); };
  std::map<std::string, u64> kinds;
  const auto found = [&](const Failure& failure) {
    for (const Finding& f : failure.findings) {
      // A kind may have one cause in each switch model.
      Recipe recipe = failure.recipe;
      const u64 times = ++kinds[fmt::format("{} ({})", f.kind, recipe.part("switch").name)];
      if (times > 1 || kinds.size() > kMostKinds) continue;
      recipe = Shrinker(folder, f.kind).smallest(recipe);
      ADD_FAILURE() << f.kind << ": " << f.detail << "\nThe smallest experiment that shows it:\n\n"
                    << to_toml(recipe) << "\nAs it was found: BANYAN_EXPERIMENTS_SEED=" << seed
                    << " BANYAN_EXPERIMENTS_FIRST=" << failure.number
                    << " BANYAN_EXPERIMENTS_COUNT=1 experiments_tests --gtest_filter=RandomExperiments.*";
    }
  };
  constexpr u64 kStep = 1000;  // what a long run tells of on its way
  Counts counts;
  for (u64 done = 0; done < count; done += kStep) {
    const u64 more = std::min(kStep, count - done);
    counts += judge_in_children(first + done, first + done + more, make, folder, kMostRepairs, found);
    if (count > kStep)
      fmt::print("{} of {}: {} completed, {} failed\n", counts.all(), count, counts.passed, counts.failed);
  }
  for (const auto& [kind, times] : kinds) fmt::print("{:5} x {}\n", times, kind);
  if (std::getenv("BANYAN_EXPERIMENTS_REFUSALS") != nullptr) {
    for (const auto& [cause, times] : counts.refusals) fmt::print("{:5} refused: {}\n", times, cause);
  }
  if (std::getenv("BANYAN_EXPERIMENTS_COVERAGE") != nullptr) {
    for (const std::string& missing : counts.coverage.missing(true)) fmt::print("not in any that ran: {}\n", missing);
  }
  fmt::print("seed {}: {} experiments, {} completed in {} modes each, {} refused, {} too large, {} failed\n", seed,
             counts.all(), counts.passed, modes().size(), counts.refused, counts.too_large, counts.failed);
  EXPECT_EQ(counts.failed, 0U);
  EXPECT_GT(counts.passed, count / 5) << "most experiments are refused: nothing is tried";
  std::filesystem::remove_all(folder);
}

TEST(RandomExperiments, KeepEveryPromise) {
  expect_no_findings(number_from("BANYAN_EXPERIMENTS_SEED", 1),
                     number_from("BANYAN_EXPERIMENTS_COUNT", tries<u64>(400, 20)));
}

/// What was found once: the smallest experiments, of which each failed.
TEST(FoundExperiments, KeepEveryPromise) {
  const std::filesystem::path folder = own_folder();
  Judge judge(folder, 0);
  int tried = 0;
  for (const std::string& file : project_files("tests/experiments/found/", {".toml"})) {
    const Judgement judgement = judge.judge(read_file(repository_root() / file));
    for (const Finding& f : judgement.findings) ADD_FAILURE() << file << ": " << f.kind << ": " << f.detail;
    EXPECT_NE(judgement.fate, Fate::too_large) << file;
    ++tried;
  }
  EXPECT_GT(tried, 0);
  std::filesystem::remove_all(folder);
}

/// An hour of one core.
TEST(SlowRandomExperiments, KeepEveryPromise) {
  expect_no_findings(number_from("BANYAN_EXPERIMENTS_SEED", 2), number_from("BANYAN_EXPERIMENTS_COUNT", 60000));
}

}  // namespace
}  // namespace banyan::test::experiments::random_experiments_test
