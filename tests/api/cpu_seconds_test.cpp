// Is the CPU time that a result tells that of all threads, whatever kind of run it was?
#include <gtest/gtest.h>

#include <ctime>
#include <string>

#include "api/runs.hpp"
#include "support/effort.hpp"

namespace banyan::api::cpu_seconds_test {
namespace {

/// What the process spends while it runs, and what the result says of it.
void expect_all_of_it(const std::string& text, const Overrides& overrides) {
  if (test::kSanitized) GTEST_SKIP() << "sanitizers have threads of their own";
  const Experiment experiment = experiment_of(text, overrides);
  RunOptions options;
  options.threads = 2;
  const std::clock_t from = std::clock();
  const Result result = run(experiment, options);
  const double spent = static_cast<double>(std::clock() - from) / CLOCKS_PER_SEC;
  ASSERT_GT(spent, 0.1) << "too short to tell: " << text;
  // What is not in it: reading the experiment, and threads while they begin and end.
  EXPECT_GT(result.cpu_seconds, 0.85 * spent) << text;
  EXPECT_LT(result.cpu_seconds, 1.05 * spent) << text;
}

const std::string kJobs =
    "topology = { name = \"mesh\", size = [8, 8] }\n"
    "switch = { name = \"vc_router\", vcs = 2, buffer = 8 }\n"
    "routing = \"dimension_order\"\nflit = \"32 B\"\n"
    "[[job]]\nname = \"all\"\n"
    "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"64 KiB\", ranks = 64 }\n"
    "[[job]]\nname = \"ring\"\nplacement = \"random\"\n"
    "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"64 KiB\", ranks = 32 }\n";

TEST(CpuSeconds, OfASteadyRun) {
  expect_all_of_it(kMesh, {"topology.size=[16,16]", "run.measure=2000", "run.shards=4"});
}
TEST(CpuSeconds, OfASaturatedRunThatIsProlonged) {
  expect_all_of_it(kMesh, {"topology.size=[8,8]", "run.shards=4", "traffic.uniform.load=0.45", "run.measure=20000"});
}
TEST(CpuSeconds, OfARunWithAWarmUpThatIsShared) {
  expect_all_of_it(kMesh + "[fork]\nafter = \"warmup\"\nvary = \"traffic.uniform.load\"\nfrom = 0.2\n",
                   {"topology.size=[16,16]", "run.warmup=2000", "run.measure=1000", "run.shards=4"});
}
TEST(CpuSeconds, OfSessions) { expect_all_of_it(kSessions, {"run.sessions=400"}); }
TEST(CpuSeconds, OfJobs) { expect_all_of_it(kJobs, {"run.shards=4"}); }
TEST(CpuSeconds, OfJobsBesideATraffic) {
  expect_all_of_it(kJobs, {"run.shards=4", "traffic=uniform", "traffic.uniform.load=0.1"});
}

}  // namespace
}  // namespace banyan::api::cpu_seconds_test
