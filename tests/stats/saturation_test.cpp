// Is a network beyond saturation recognised, and one below it left alone?
#include "banyan/stats/saturation.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <vector>

#include "banyan/base/error.hpp"
#include "stats/processes.hpp"

namespace banyan::stats::saturation_test {
namespace {

/// What a source with Bernoulli arrivals (probability `offered` per cycle) and Bernoulli service sees.
struct Observed {
  std::vector<SumCount> backlog;
  std::vector<u64> offered;
  std::vector<u64> accepted;
};

constexpr u64 kWindow = 50;

Observed simulate(double offered, double capacity, u64 windows, u64 replication) {
  const Random random(9, 1, replication);
  Observed run;
  u64 waiting = 0;
  for (u64 window = 0; window < windows; ++window) {
    SumCount level;
    u64 in = 0;
    u64 out = 0;
    for (u64 cycle = 0; cycle < kWindow; ++cycle) {
      const Words words = random.at(0, window * kWindow + cycle);
      if (unit_real(words[0], 0) < offered) ++in, ++waiting;
      if (waiting > 0 && unit_real(words[1], 0) < capacity) ++out, --waiting;
      level.add(waiting);
    }
    run.backlog.push_back(level);
    run.offered.push_back(in);
    run.accepted.push_back(out);
  }
  return run;
}

Saturation verdict_of(const Observed& run) { return saturation(run.backlog, run.offered, run.accepted, kWindow); }

TEST(BacklogGrowth, OfALineIsItsSlope) {
  std::vector<SumCount> line;
  for (u64 i = 0; i < 100; ++i) line.push_back({20 * i, 1});
  const Interval slope = backlog_growth(line, 10.0);
  EXPECT_DOUBLE_EQ(slope.mean, 2.0);
  EXPECT_NEAR(slope.half_width.value(), 0.0, 1e-9);
}

TEST(BacklogGrowth, MatchesAHandComputedSlope) {
  // Levels 0, 1, 0, 3: offsets -1.5, -0.5, 0.5, 1.5; (-0.5 + 4.5) / 5 = 0.8 per window of 4 cycles.
  const std::array<SumCount, 4> backlog{{{0, 1}, {1, 1}, {0, 1}, {3, 1}}};
  EXPECT_DOUBLE_EQ(backlog_growth(backlog, 4.0).mean, 0.2);
}

TEST(BacklogGrowth, WindowsWithoutSamplesRepeatTheLast) {
  const std::array<SumCount, 4> backlog{{{5, 1}, {0, 0}, {0, 0}, {5, 1}}};
  EXPECT_DOUBLE_EQ(backlog_growth(backlog, 1.0).mean, 0.0);
}

TEST(BacklogGrowth, CoversTheDriftOfARandomWalk) {
  for (const u64 windows : {30U, 400U}) {
    u32 covered = 0;
    for (u64 replication = 0; replication < 400; ++replication) {
      const Random random(9, 2, replication);
      std::vector<SumCount> backlog;
      double level = 1e6;
      for (u64 i = 0; i < windows; ++i) {
        SumCount window;
        for (u64 step = 0; step < 10; ++step) {
          level += 3.0 + 50.0 * test::normal(random, 10 * i + step);
          window.add(static_cast<u64>(std::llround(level)));
        }
        backlog.push_back(window);
      }
      covered += backlog_growth(backlog, 10.0).contains(3.0) ? 1U : 0U;
    }
    EXPECT_GE(covered, 368U) << windows << " windows";  // 92 %
    EXPECT_LE(covered, 392U) << windows << " windows";  // 98 %
  }
}

TEST(Saturation, IsSeenFarBeyondTheCapacity) {
  const Saturation verdict = verdict_of(simulate(0.6, 0.4, 200, 0));
  EXPECT_TRUE(verdict.saturated);
  EXPECT_TRUE(verdict.backlog_grows);
  EXPECT_TRUE(verdict.falls_short);
  EXPECT_TRUE(verdict.certain);
  EXPECT_NEAR(verdict.slope.mean, 0.2, 0.03);
  EXPECT_NEAR(verdict.accepted, 0.4, 0.02);
  EXPECT_EQ(verdict.statement.rfind("saturated: ", 0), 0U) << verdict.statement;
}

TEST(Saturation, IsSeenFivePerCentBeyondTheCapacity) {
  for (u64 replication = 0; replication < 20; ++replication) {
    EXPECT_TRUE(verdict_of(simulate(0.525, 0.5, 4000, replication)).saturated);
  }
}

TEST(Saturation, IsNotSeenBelowTheCapacity) {
  for (const double offered : {0.1, 0.4, 0.45}) {
    for (u64 replication = 0; replication < 20; ++replication) {
      EXPECT_FALSE(verdict_of(simulate(offered, 0.5, 1000, replication)).saturated) << offered;
    }
  }
}

TEST(Saturation, IsRarelySeenAtTheCapacityItself) {
  // Neither steady nor growing linearly: the backlog wanders like the square root of time.
  u32 seen = 0;
  for (u64 replication = 0; replication < 40; ++replication) {
    seen += verdict_of(simulate(0.5, 0.5, 1000, replication)).saturated ? 1U : 0U;
  }
  EXPECT_LE(seen, 4U);
}

TEST(Saturation, OfALongRunBelowTheCapacityIsExcluded) {
  const Saturation verdict = verdict_of(simulate(0.4, 0.5, 8000, 0));
  EXPECT_FALSE(verdict.saturated);
  EXPECT_TRUE(verdict.certain);
  EXPECT_EQ(verdict.statement.rfind("not saturated: ", 0), 0U) << verdict.statement;
}

TEST(Saturation, OfATooShortRunIsNotCertain) {
  const Saturation verdict = verdict_of(simulate(0.45, 0.5, 3, 0));
  EXPECT_FALSE(verdict.saturated);
  EXPECT_FALSE(verdict.certain);
}

TEST(Saturation, WithoutAQueueTheShortfallDecides) {
  const Observed run = simulate(0.6, 0.4, 200, 1);
  const Saturation verdict = saturation({}, run.offered, run.accepted, kWindow);
  EXPECT_TRUE(verdict.saturated);
  EXPECT_FALSE(verdict.backlog_grows);
}

TEST(Saturation, OfSilenceIsNone) {
  const std::vector<SumCount> backlog(50, SumCount{0, 1});
  const std::vector<u64> zeros(50, 0);
  EXPECT_FALSE(saturation(backlog, zeros, zeros, 10.0).saturated);
}

TEST(Saturation, OfSeriesOfUnequalLengthIsAnError) {
  const std::vector<u64> two(2, 1);
  const std::vector<u64> three(3, 1);
  EXPECT_THROW((void)saturation({}, two, three, 1.0), InvariantError);
}

}  // namespace
}  // namespace banyan::stats::saturation_test
