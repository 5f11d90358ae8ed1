// Do the intervals of whole runs cover known means? The channel from a terminal into its switch, one flit per cycle, is
// the server of a queue: Poisson arrivals, and packets of constant length (M/D/1) or of geometric length, which is the
// exponential one of a clock with cycles (M/M/1). Arrivals count from the cycle in which they happen, so the exact mean
// wait is that of the queue whose slots receive Poisson batches:
//   E[W] = E[Y (Y - 1)] / (2 (1 - rho)) + rho / 2,   Y = flits that arrive in a cycle, rho = E[Y]
// (workload at the start of a slot, V' = max(V + Y - 1, 0), and the part of the batch that is ahead of a packet; the
// second term is E[A (A - 1)] / (2 E[A]) packets of the mean length). With long packets it is the Pollaczek-Khinchine
// formula of continuous time.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "banyan/api/experiment.hpp"
#include "support/effort.hpp"

namespace banyan::queue_coverage_test {
namespace {

namespace api = banyan::api;
using banyan::u64;

struct Queue {
  double rho;
  double length;  ///< mean packet, flits
  bool constant;

  [[nodiscard]] double mean_wait() const {
    const double batch = rho / length;
    const double square = constant ? length * length : 2.0 * length * length - length;  // E[S^2]
    const double factorial = batch * square + rho * rho - rho;
    return factorial / (2.0 * (1.0 - rho)) + rho / 2.0;
  }

  /// Pollaczek and Khinchine: Poisson arrivals in continuous time.
  [[nodiscard]] double continuous_wait() const { return rho * length * (constant ? 0.5 : 1.0) / (1.0 - rho); }

  [[nodiscard]] api::Result run(u64 seed, u64 cycles, u64 warmup = 0) const {
    const std::string text =
        "topology = { name = \"mesh\", size = [2] }\nrouting = \"dimension_order\"\n"
        "switch = { name = \"vc_router\", vcs = 4, buffer = 512 }\n"
        "traffic = { name = \"uniform\", process = \"poisson\", load = " +
        std::to_string(rho) + ", size = " + std::to_string(static_cast<u64>(length)) + ", size_distribution = \"" +
        (constant ? "fixed" : "geometric") + "\" }\nrun = { warmup = " + std::to_string(warmup) +
        ", drain = 1000000, measure = " + std::to_string(cycles) + ", seed = " + std::to_string(seed) + " }\n";
    return api::run(api::read_experiments_text(text, "queue.toml", {}).points.front());
  }

  /// How many of `replications` runs have an interval that covers the mean.
  [[nodiscard]] u64 covered(u64 replications, u64 cycles) const {
    u64 count = 0;
    for (u64 seed = 1; seed <= replications; ++seed) {
      const banyan::stats::Metric wait = run(seed, cycles).at("source_queueing");
      count += wait.half_width && std::abs(wait.mean - mean_wait()) <= *wait.half_width ? 1U : 0U;
    }
    return count;
  }
};

constexpr Queue kMd1{0.5, 8.0, true};
constexpr Queue kMm1{0.5, 8.0, false};

TEST(QueueCoverage, LongRunsFindTheExactMeans) {
  if (test::kSanitized) GTEST_SKIP() << "statistics are the other builds' affair";
  for (const Queue& queue : {kMd1, kMm1, Queue{0.7, 4.0, true}, Queue{0.7, 4.0, false}}) {
    const banyan::stats::Metric wait = queue.run(7, 2'000'000).at("source_queueing");
    ASSERT_TRUE(wait.half_width.has_value());
    EXPECT_NEAR(wait.mean, queue.mean_wait(), 2.0 * *wait.half_width);
    EXPECT_LT(*wait.half_width, 0.04 * wait.mean);
  }
}

TEST(QueueCoverage, LongPacketsMakeItThePollaczekKhinchineQueue) {
  const Queue queue{0.5, 200.0, true};
  EXPECT_NEAR(queue.mean_wait(), queue.continuous_wait(), 0.01 * queue.continuous_wait());
  const Queue exponential{0.5, 200.0, false};
  EXPECT_NEAR(exponential.mean_wait(), exponential.continuous_wait(), 0.01 * exponential.continuous_wait());
}

/// Of 500 intervals of 95 %, 475 +- 10 (two standard deviations) cover the mean when they are right.
void expect_coverage(const Queue& queue, u64 cycles) {
  constexpr u64 kReplications = 500;
  const u64 covered = queue.covered(kReplications, cycles);
  EXPECT_GE(covered, kReplications * 92 / 100);
  EXPECT_LE(covered, kReplications * 98 / 100);
  ::testing::Test::RecordProperty("covered", static_cast<int>(covered));
}

TEST(QueueCoverage, ARunThatIsTooShortHasNoIntervalAndSaysSo) {
  const api::Result result = Queue{0.8, 4.0, false}.run(1, 500, 100);
  EXPECT_FALSE(result.at("source_queueing").half_width);
  EXPECT_TRUE(result.at("offered_load").half_width);
  EXPECT_NE(result.warning.find("too short for intervals of latencies"), std::string::npos) << result.warning;
}

/// The length that a run has when nothing is said, at a high load: waits, and what is accepted.
TEST(SlowQueueCoverage, OfRunsOfTheDefaultLengthAtHighLoad) {
  constexpr u64 kReplications = 500;
  for (const Queue& queue : {Queue{0.8, 4.0, true}, Queue{0.8, 4.0, false}, Queue{0.5, 4.0, false}}) {
    u64 waits = 0;
    u64 loads = 0;
    for (u64 seed = 1; seed <= kReplications; ++seed) {
      const api::Result result = queue.run(seed, 20'000, 2'000);
      const banyan::stats::Metric& wait = result.at("source_queueing");
      const banyan::stats::Metric& load = result.at("accepted_load");
      waits += wait.half_width && std::abs(wait.mean - queue.mean_wait()) <= *wait.half_width ? 1U : 0U;
      loads += load.half_width && std::abs(load.mean - queue.rho) <= *load.half_width ? 1U : 0U;
    }
    EXPECT_GE(waits, kReplications * 92 / 100) << queue.rho;
    EXPECT_LE(waits, kReplications * 98 / 100) << queue.rho;
    EXPECT_GE(loads, kReplications * 92 / 100) << queue.rho;
    EXPECT_LE(loads, kReplications * 99 / 100) << queue.rho;
  }
}

TEST(SlowQueueCoverage, OfTheMeanWaitOfConstantPackets) { expect_coverage(kMd1, 100'000); }

TEST(SlowQueueCoverage, OfTheMeanWaitOfGeometricPackets) { expect_coverage(kMm1, 200'000); }

}  // namespace
}  // namespace banyan::queue_coverage_test
