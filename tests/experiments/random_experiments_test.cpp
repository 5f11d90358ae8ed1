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
#include "experiments/repair.hpp"
#include "experiments/shrink.hpp"
#include "support/repository.hpp"

namespace banyan::test::experiments::random_experiments_test {
namespace {

std::filesystem::path own_folder() {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("experiments-{}", getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

void expect_no_findings(u64 seed, u64 count) {
  constexpr std::size_t kMostKinds = 20;  // of which each is shrunk
  const std::filesystem::path folder = own_folder();
  const std::filesystem::path beside = folder / "smallest";  // the child goes on with its next experiment meanwhile
  std::filesystem::create_directories(beside);
  const Generator generator;
  const u64 first = number_from("BANYAN_EXPERIMENTS_FIRST", 0);
  const auto make = [&](u64 i) { return generator.make(seed, i); };
  const auto repairer = [&](u64 i) { return Repairer(Repair(generator, Dice(seed, i, kRepairs))); };
  std::map<std::string, u64> kinds;
  const auto found = [&](const Failure& failure) {
    for (const Finding& f : failure.findings) {
      // A kind may have one cause in each switch model.
      Recipe recipe = failure.recipe;
      const u64 times = ++kinds[fmt::format("{} ({})", f.kind, recipe.part("switch").name)];
      if (times > 1 || kinds.size() > kMostKinds) continue;
      recipe = Shrinker(beside, f.kind).smallest(recipe);
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
    counts += judge_in_children(first + done, first + done + more, make, folder, repairer, found);
    if (count > kStep)
      fmt::print("{} of {}: {} completed, {} failed\n", counts.all(), count, counts.passed, counts.failed);
  }
  for (const auto& [kind, times] : kinds) fmt::print("{:5} x {}\n", times, kind);
  if (std::getenv("BANYAN_EXPERIMENTS_REFUSALS") != nullptr) {
    for (const auto& [cause, times] : counts.refusals) fmt::print("{:5} refused: {}\n", times, cause);
  }
  if (std::getenv("BANYAN_EXPERIMENTS_COVERAGE") != nullptr) {
    for (const Target* missing : counts.coverage.missing()) {
      fmt::print("not in any that ran: {} (tried {} times)\n", missing->key(), counts.coverage.times(*missing).tried);
    }
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

/// What no experiment can have that runs to its end, and why.
const std::map<std::string, std::string>& never_complete() {
  static const std::map<std::string, std::string> reasons{
      {"switch.cioq.markers = false", "a control for the audit of order, which ends the run"},
  };
  return reasons;
}

/// Makes experiments for every component, parameter and choice, and with `ends` for the ends of every range, until one
/// with it has run in every mode. The greatest value is tried a few times only: what a range ends with is often more
/// than any network has (failed links), or more than the judge lets an experiment be (terminals).
void expect_reached(bool ends, u64 rounds) {
  constexpr u64 kSeed = 1;
  constexpr u64 kGreatestRounds = 3;
  constexpr u64 kAtOnce = 20;  // wanted things; each experiment has dozens of others by the way
  const std::filesystem::path folder = own_folder();
  const Generator generator;
  Counts counts;
  const auto missing = [&](bool greatest) {
    std::vector<const Target*> list = counts.coverage.missing();
    std::erase_if(list, [&](const Target* t) {
      return (t->is_least() && !ends) || (t->is_greatest() && !greatest) || never_complete().contains(t->key());
    });
    return list;
  };
  for (u64 round = 0; round < rounds; ++round) {
    const std::vector<const Target*> wanted = missing(ends && round < kGreatestRounds);
    if (wanted.empty()) break;
    for (u64 first = 0; first < wanted.size(); first += kAtOnce) {
      std::vector<u64> numbers;  // in `wanted`, of what no experiment of this round has had by the way
      for (u64 i = first; i < std::min<u64>(first + kAtOnce, wanted.size()); ++i) {
        if (counts.coverage.times(*wanted[i]).completed == 0) numbers.push_back(i);
      }
      const auto number = [&](u64 i) { return round << 32U | numbers[i]; };
      counts += judge_in_children(
          0, numbers.size(),
          [&](u64 i) {
            Dice dice(kSeed, number(i), kTargets);
            return generator.make(wanted[numbers[i]], dice);
          },
          folder, [&](u64 i) { return Repairer(Repair(generator, Dice(kSeed, number(i), kRepairs))); },
          [&](const Failure& failure) {
            for (const Finding& f : failure.findings) {
              ADD_FAILURE() << wanted[numbers[failure.number]]->key() << ": " << f.kind << ": " << f.detail << "\n"
                            << to_toml(failure.recipe);
            }
          });
    }
    fmt::print("round {}: {} wanted, {} experiments completed so far\n", round, wanted.size(), counts.passed);
  }
  if (std::getenv("BANYAN_EXPERIMENTS_REFUSALS") != nullptr) {
    for (const auto& [cause, times] : counts.refusals) fmt::print("{:5} refused: {}\n", times, cause);
  }
  u64 least = 0;
  for (const Target* target : missing(false)) {
    least += target->is_least() ? 1U : 0U;
    if (!target->is_least()) ADD_FAILURE() << target->key() << " is in no experiment that runs";
  }
  // Not every range has an end that runs by itself: weights that are all 0, a tree of one terminal.
  const auto all = std::count_if(targets().begin(), targets().end(), [](const Target& t) { return t.is_least(); });
  EXPECT_LT(least, static_cast<u64>(all) / 20) << "least values are in no experiment that runs";
  for (const auto& [key, reason] : never_complete()) {
    const auto same = [&exception = key](const Target& t) { return t.key() == exception; };
    const bool known = std::any_of(targets().begin(), targets().end(), same);
    EXPECT_TRUE(known) << key << " is no target";
  }
  if (std::getenv("BANYAN_EXPERIMENTS_COVERAGE") != nullptr) {
    for (const Target* target : missing(ends)) fmt::print("not in any that ran: {}\n", target->key());
  }
  std::filesystem::remove_all(folder);
}

/// Is there anything in the registration rows that is always refused, or that the generator cannot reach?
TEST(RandomExperiments, ReachEveryComponentParameterAndChoice) {
  if (!kSanitized) expect_reached(false, 40);
}
TEST(SlowRandomExperiments, ReachBothEndsOfEveryRange) {
  expect_reached(true, number_from("BANYAN_EXPERIMENTS_ROUNDS", 8));
}

/// What was found once: the smallest experiments, of which each failed.
TEST(FoundExperiments, KeepEveryPromise) {
  const std::filesystem::path folder = own_folder();
  Judge judge(folder);
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
