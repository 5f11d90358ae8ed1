// Does the judge of random experiments see what it looks for? Each fault is planted once in what a run gave, or in the
// process that runs it, and must be found as what it is.
#include "experiments/judge.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <limits>
#include <string>
#include <vector>

#include "experiments/children.hpp"
#include "support/repository.hpp"

namespace banyan::test::experiments::judge_test {
namespace {

/// Steady and sure of it, and of a fixed length: the two ways in which loads are compared.
Recipe small_mesh(bool fixed) {
  Recipe recipe;
  recipe.parts = {
      {"topology", "mesh", {{"size", "[2, 2]"}}},
      {"switch", "vc_router", {}},
      {"routing", "dimension_order", {}},
      {"traffic", "uniform", {{"load", "0.2"}}},
      {"run",
       "",
       {{"warmup", "500"}, {"measure", "20000"}, {"sessions", "1"}, {"session_limit", "100"}, {"tables", "\"all\""}}}};
  if (fixed) recipe.parts.back().set("duration", "2000");
  return recipe;
}

std::filesystem::path own_folder() {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("judge-{}", getpid());
  std::filesystem::create_directories(folder);
  return folder;
}

stats::Metric& metric(api::Result& result, const std::string& name) {
  for (stats::Metric& m : result.metrics) {
    if (m.name == name) return m;
  }
  throw std::runtime_error("no metric " + name);
}

bool is_plain(const Mode& mode) { return &mode == &modes().front(); }

/// What is found in the experiment with that fault in the plain run, or in the last of the other modes.
std::vector<std::string> found(bool in_plain, const std::function<void(api::Result&)>& plant, bool fixed = false) {
  Judge judge(own_folder(), [&](const Mode& mode, api::Result& result) {
    if (in_plain ? is_plain(mode) : &mode == &modes().back()) plant(result);
  });
  std::vector<std::string> kinds;
  for (const Finding& f : judge.judge(to_toml(small_mesh(fixed))).findings) kinds.push_back(f.kind);
  return kinds;
}

void expect_found(const std::string& kind, const std::vector<std::string>& kinds) {
  EXPECT_NE(std::find(kinds.begin(), kinds.end(), kind), kinds.end())
      << kind << " is not among: " << fmt::format("{}", fmt::join(kinds, ", "));
}

TEST(Judge, FindsNothingWhereNothingIsWrong) {
  for (const bool fixed : {false, true}) {
    EXPECT_EQ(found(
                  true, [](api::Result&) {}, fixed),
              std::vector<std::string>{});
  }
}

TEST(Judge, SeesNumbersThatCannotBe) {
  const auto set = [](const char* name, double value) { return [=](api::Result& r) { metric(r, name).mean = value; }; };
  expect_found("a metric that is no number", found(true, set("hops", std::numeric_limits<double>::quiet_NaN())));
  expect_found("a metric below 0", found(true, set("source_queueing", -0.5)));
  expect_found("a packet that passes no switch", found(true, set("hops", 0.5)));
  expect_found("a run longer than planned", found(true, set("simulated_cycles", 1e9)));
  expect_found("parts of a latency that do not add up", found(true, set("head_latency", 100.0)));
  expect_found("percentiles out of order", found(true, set("packet_latency_p95", 0.0)));
}

TEST(Judge, SeesMoreAcceptedThanOffered) {
  for (const bool fixed : {false, true}) {
    expect_found("more accepted than offered",
                 found(
                     true, [](api::Result& r) { metric(r, "accepted_load").mean += 0.1; }, fixed));
  }
}

TEST(Judge, SeesMoreAcceptedThanChannelsCarry) {
  expect_found("a channel that carries more than it can", found(true, [](api::Result& r) {
                 for (api::Table& table : r.tables) {
                   if (table.name == "channels") std::get<u64>(table.rows.front()[5]) = 30'000;
                 }
               }));
  // Offered as much: only the bound of the network tells.
  expect_found("a run contradicts a proven bound", found(true, [](api::Result& r) {
                 for (const char* name : {"offered_load", "accepted_load"}) metric(r, name).mean = 5.0;
               }));
}

TEST(Judge, SeesALatencyBelowThatOfAnEmptyNetwork) {
  expect_found("a run contradicts a proven bound",
               found(true, [](api::Result& r) { metric(r, "packet_latency").mean *= 0.5; }));
}

TEST(Judge, SeesWhatDependsOnTheMode) {
  expect_found("modes differ in the hash", found(false, [](api::Result& r) { r.state_hash ^= 1U; }));
  expect_found("modes differ in the verdict",
               found(false, [](api::Result& r) { r.verdict = api::Verdict::deadlocked; }));
  expect_found("modes differ in metric hops", found(false, [](api::Result& r) {
                 double& mean = metric(r, "hops").mean;
                 mean = std::nextafter(mean, 100.0);
               }));
  expect_found("modes differ in which metrics there are", found(false, [](api::Result& r) { r.metrics.pop_back(); }));
  expect_found("modes differ in the explanation", found(false, [](api::Result& r) { r.explanation += "."; }));
  expect_found("modes differ in table channels", found(false, [](api::Result& r) {
                 for (api::Table& table : r.tables) {
                   if (table.name == "channels") ++std::get<u64>(table.rows.front()[5]);
                 }
               }));
  expect_found("modes differ in what is stored", found(false, [](api::Result& r) { r.checkpoints.clear(); }));
}

TEST(Judge, SeesBrokenInvariants) {
  expect_found("broken invariant", found(false, [](api::Result&) { throw InvariantError("flits are not conserved"); }));
  // A fault that is in the product, as a control: packets that overtake each other. The judge leaves it out by its
  // name.
  const std::string control = read_file(repository_root() / "tests/experiments/control/order.toml");
  EXPECT_EQ(Judge(own_folder()).judge(control).fate, Fate::refused);
  const Judgement other =
      Judge(own_folder())
          .judge(std::regex_replace(control, std::regex("\nmarkers = false\n"), "\nmarkers = false  # not left out\n"));
  ASSERT_EQ(other.findings.size(), 1U);
  EXPECT_NE(other.findings.front().detail.find("overtook"), std::string::npos) << other.findings.front().detail;
}

/// What takes minutes by the number of its packets is no hang, and is known before it runs.
TEST(Judge, LeavesOutWhatSendsTooMuch) {
  const std::string text =
      "topology = { name = \"bidirectional_min\", hosts = 8 }\nswitch = \"ideal\"\n"
      "[[traffic]]\nname = \"group_local\"\ngroup_size = 4\nload = 1.0\nbatch = 7\nmax_packet = 5\n"
      "reply_size = [262144]\n";
  Judge judge(own_folder());
  EXPECT_EQ(judge.judge(text).fate, Fate::too_large);
  const std::string one_message = "[[traffic]]\nname = \"incast\"\nfan_in = 1\nsize = 2\nduration = 8\n";
  const std::string answered = std::regex_replace(text, std::regex("batch = 7\n"), "");
  EXPECT_EQ(judge.judge(answered + one_message + "[run]\nsession_limit = 1000\nsessions = 2\n").fate, Fate::too_large);
  EXPECT_EQ(judge.judge(text + "[[traffic]]\nname = \"uniform\"\nload = 0.001\n").fate, Fate::too_large);
}

/// In a child, what never returns or dies is a finding, and the experiments behind it are still tried.
TEST(Judge, SeesEndlessLoopsAndCrashes) {
  if (kSanitized) GTEST_SKIP() << "sanitizers catch signals";
  const auto kinds = [](const std::function<void()>& plant) {
    std::vector<std::string> all;
    // Enough for the others, in five modes, on a machine that does other work too.
    ChildOptions options{.seconds = 6, .disturb = [&](const Mode&, api::Result& r) {
                           if (r.at("simulated_cycles").mean == 2000) plant();
                         }};
    const Counts counts = judge_in_children(
        0, 3, [](u64 i) { return small_mesh(i == 1); }, own_folder(), {},
        [&](const Failure& failure) {
          EXPECT_EQ(failure.number, 1U);
          for (const Finding& f : failure.findings) all.push_back(f.kind);
        },
        options);
    EXPECT_EQ(counts.passed, 2U);
    return all;
  };
  EXPECT_EQ(kinds([] {
              for (volatile bool on = true; on;) {}
            }),
            std::vector<std::string>{kHang});
  EXPECT_EQ(kinds([] { std::raise(SIGSEGV); }), std::vector<std::string>{"crash with signal 11"});
  EXPECT_EQ(kinds([] { _exit(0); }), std::vector<std::string>{"a child that exits"});
}

}  // namespace
}  // namespace banyan::test::experiments::judge_test
