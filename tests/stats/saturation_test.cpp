// Is a network beyond saturation recognised, is one below it left alone, and is a verdict uncertain where it might be
// wrong?
#include "banyan/stats/saturation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "stats/processes.hpp"

namespace banyan::stats::saturation_test {
namespace {

struct Observed {
  std::vector<u64> offered;
  std::vector<u64> accepted;
  u64 queues = 1;
  [[nodiscard]] Growth growth() const { return stats::growth(offered, accepted, queues); }
};

Judgement verdict_of(const Observed& run) {
  Evidence evidence;
  evidence.growth = run.growth();
  return judge(evidence);
}

/// Queues that begin empty and serve a flit per cycle. Packets have 4 flits and come to `critical` of them at a rate of
/// `load` flits per cycle, and at 0.7 to the others.
struct Queues {
  u64 number = 16;
  u64 critical = 16;
  double load = 1.0;
  u64 cycles = 20'000;

  /// What grows for ever, of all that is offered.
  [[nodiscard]] double share() const {
    const double beyond = static_cast<double>(critical) * std::max(0.0, load - 1.0);
    return beyond / (static_cast<double>(critical) * load + static_cast<double>(number - critical) * 0.7);
  }

  [[nodiscard]] Observed run(u64 seed) const {
    constexpr u64 kWarmup = 2000;
    constexpr u64 kFlits = 4;
    u64 window = 16;
    while ((kWarmup + cycles) / window > 2048) window *= 2;
    const Random random(seed, Stream{"test"}, 3, 0);
    std::vector<u64> waiting(number, 0);
    Observed observed;
    observed.queues = number;
    u64 in = 0;
    u64 out = 0;
    for (u64 cycle = 0; cycle < kWarmup + cycles; ++cycle) {
      for (u64 queue = 0; queue < number; ++queue) {
        const double rate = (queue < critical ? load : 0.7) / static_cast<double>(kFlits);
        const Words words = random.at(queue / 4, cycle);
        if (unit_real(words[queue % 4], 0) < rate) in += kFlits, waiting[queue] += kFlits;
        if (waiting[queue] > 0) ++out, --waiting[queue];
      }
      if ((cycle + 1) % window != 0) continue;
      if (cycle >= kWarmup) observed.offered.push_back(in), observed.accepted.push_back(out);
      in = out = 0;
    }
    return observed;
  }
};

struct Count {
  u32 steady = 0;
  u32 saturated = 0;
};

Count certain(const Queues& queues, u64 seeds) {
  Count count;
  for (u64 seed = 1; seed <= seeds; ++seed) {
    const Judgement verdict = verdict_of(queues.run(seed));
    if (verdict.certain) ++(verdict.saturated ? count.saturated : count.steady);
  }
  return count;
}

/// Offered at a constant rate; accepted so that as many flits are inside after each window as `inside` says.
template <class F>
Observed with(u64 windows, u64 rate, F&& inside) {
  Observed run;
  i64 before = 0;
  for (u64 i = 1; i <= windows; ++i) {
    const i64 now = inside(i);
    run.offered.push_back(rate);
    run.accepted.push_back(static_cast<u64>(static_cast<i64>(rate) - (now - before)));
    before = now;
  }
  return run;
}

TEST(Growth, OfALineIsItsSlope) {
  const Growth growth = with(200, 1000, [](u64 i) { return static_cast<i64>(20 * i); }).growth();
  EXPECT_NEAR(growth.share, 0.02, 1e-12);
  EXPECT_NEAR(growth.last_half, 0.02, 1e-12);
  EXPECT_NEAR(growth.wandering.half_width.value(), 0.0, 1e-9);
  EXPECT_NEAR(growth.settled.half_width.value(), 0.0, 1e-9);
}

/// What is said of the intervals: each holds the drift of the process that it is made for.
TEST(Growth, CoversTheDriftOfARandomWalk) {
  u32 covered = 0;
  for (u64 replication = 0; replication < 400; ++replication) {
    const Random random(9, Stream{"test"}, 2, static_cast<u32>(replication));
    double level = 0.0;
    u64 step = 0;
    const Observed run = with(400, 10'000, [&](u64) {
      for (int k = 0; k < 10; ++k) level += 3.0 + 50.0 * test::normal(random, step++);
      return static_cast<i64>(std::llround(level));
    });
    covered += run.growth().wandering.contains(30.0 / 10'000) ? 1U : 0U;
  }
  EXPECT_GE(covered, 368U);  // 92 %
  EXPECT_LE(covered, 392U);  // 98 %
}

TEST(Growth, CoversTheDriftOfAProcessThatForgets) {
  u32 covered = 0;
  u32 long_enough = 0;
  for (u64 replication = 0; replication < 400; ++replication) {
    const Random random(9, Stream{"test"}, 4, static_cast<u32>(replication));
    double level = 0.0;
    const Observed run = with(2000, 10'000, [&](u64 i) {
      level = 0.9 * level + 200.0 * test::normal(random, i);  // an integrated autocorrelation time of 19 windows
      return static_cast<i64>(std::llround(level)) + static_cast<i64>(3 * i);
    });
    const Growth growth = run.growth();
    covered += growth.settled.contains(3.0 / 10'000) ? 1U : 0U;
    long_enough += growth.relaxations >= VerdictRule{}.forgets ? 1U : 0U;
  }
  EXPECT_GE(covered, 356U);  // 89 %: the correlation time of 105 such times comes out a little short
  EXPECT_LE(covered, 394U);
  EXPECT_GE(long_enough, 396U);
}

TEST(Judge, NothingOfferedIsCertainlySteady) {
  const Judgement verdict = verdict_of({std::vector<u64>(50, 0), std::vector<u64>(50, 0), 4});
  EXPECT_FALSE(verdict.saturated);
  EXPECT_TRUE(verdict.certain);
}

TEST(Judge, AFewWindowsSayNothing) {
  const Judgement verdict = verdict_of(with(20, 1000, [](u64 i) { return static_cast<i64>(500 * i); }));
  EXPECT_FALSE(verdict.certain);
}

TEST(Judge, SaturationIsSeenFarBeyondTheCapacity) {
  const Count count = certain({.number = 1, .critical = 1, .load = 1.5}, 10);
  EXPECT_EQ(count.saturated, 10U);
}

TEST(Judge, SaturationIsSeenFivePerCentBeyondTheCapacity) {
  const Count count = certain({.load = 1.05}, 10);
  EXPECT_EQ(count.steady, 0U);
  EXPECT_GE(count.saturated, 9U);
}

TEST(Judge, ASteadyStateIsSeenBelowTheCapacity) {
  for (const double load : {0.3, 0.8, 0.9}) {
    const Count count = certain({.load = load}, 10);
    EXPECT_EQ(count.saturated, 0U) << load;
    EXPECT_GE(count.steady, load < 0.9 ? 9U : 5U) << load;  // nearer, half of the runs are too short
  }
}

/// No verdict that is certain is wrong, whatever part of the network is at its limit.
TEST(Judge, NearTheCapacityNoCertainVerdictIsWrong) {
  for (const Queues& queues : {Queues{16, 16, 0.0, 20'000}, Queues{64, 8, 0.0, 20'000}, Queues{64, 64, 0.0, 4'000}}) {
    for (const double load : {0.98, 0.99, 1.01, 1.02}) {
      Queues loaded = queues;
      loaded.load = load;
      const Count count = certain(loaded, 6);
      const bool saturated = loaded.share() > VerdictRule{}.growth;
      EXPECT_EQ(saturated ? count.steady : count.saturated, 0U)
          << queues.number << " queues, " << queues.critical << " of them with " << load << ", " << queues.cycles;
    }
  }
}

/// Queues just below their capacity begin empty and grow together, for longer than the run.
TEST(Judge, QueuesThatFindTheirMeanTogetherAreNotSaturated) {
  EXPECT_EQ(certain({.number = 64, .critical = 64, .load = 0.995, .cycles = 4'000}, 40).saturated, 0U);
}

/// A random walk has no mean to return to, however long one looks.
TEST(Growth, ARandomWalkSeldomLooksAsIfItForgot) {
  u32 forgets = 0;
  for (u64 replication = 0; replication < 200; ++replication) {
    const Random random(9, Stream{"test"}, 7, static_cast<u32>(replication));
    double level = 0.0;
    const Growth growth = with(400, 10'000, [&](u64 i) {
                            level += 50.0 * test::normal(random, i);
                            return static_cast<i64>(std::llround(level));
                          }).growth();
    forgets += growth.relaxations >= VerdictRule{}.forgets ? 1U : 0U;
  }
  EXPECT_LE(forgets, 4U);  // 2 %; less than 1 % is expected
}

/// A process whose noise is too large for the limit of growth, with an integrated autocorrelation time of 12 windows.
Observed returning(u32 replication) {
  const Random random(9, Stream{"test"}, 8, replication);
  double level = 0.0;
  return with(400, 10'000, [&](u64 i) {
    level = 0.85 * level + 2500.0 * test::normal(random, i);
    return static_cast<i64>(std::llround(level));
  });
}

/// What returns to its mean does not grow, although its noise allows growth above the limit.
TEST(Judge, QueuesThatReturnToAMeanAreSteadyWhateverTheirNoise) {
  u32 wide = 0;
  u32 steady = 0;
  for (u32 replication = 0; replication < 100; ++replication) {
    const Growth growth = returning(replication).growth();
    if (growth.settled.high() < VerdictRule{}.growth) continue;
    ++wide;
    steady += level(growth) ? 1U : 0U;
  }
  EXPECT_GE(wide, 50U) << "the test has little to look at";
  EXPECT_GE(steady, wide / 2);
}

/// The same noise beside a walk is no steady state: the test of Dickey and Fuller is held to its quantile, with fast
/// noise beside the walk and for queues that are reflected at 0.
TEST(Growth, ARandomWalkSeldomPassesForAProcessThatReturns) {
  for (const double noise : {0.0, 3.0, 10.0}) {
    u32 returns = 0;
    for (u32 replication = 0; replication < 200; ++replication) {
      const Random random(9, Stream{"test"}, 9, replication);
      double walk = 0.0;
      u64 step = 0;
      const Growth growth = with(400, 10'000, [&](u64) {
                              walk += 50.0 * test::normal(random, step++);
                              return static_cast<i64>(std::llround(walk + 50.0 * noise * test::normal(random, step++)));
                            }).growth();
      returns += growth.unit_root < VerdictRule{}.unit_root ? 1U : 0U;
    }
    EXPECT_LE(returns, 6U) << noise;  // 3 %; most of them with noise of ten steps
  }
}

TEST(Judge, AWalkWithADriftInNoiseIsNotCertainlySteady) {
  u32 steady = 0;
  for (u32 replication = 0; replication < 200; ++replication) {
    const Random random(9, Stream{"test"}, 10, replication);
    double walk = 0.0;
    u64 step = 0;
    const Observed run = with(400, 10'000, [&](u64) {
      walk += 50.0 + 200.0 * test::normal(random, step++);  // 0.5 % of what is offered
      return static_cast<i64>(std::llround(walk + 600.0 * test::normal(random, step++)));
    });
    steady += level(run.growth()) ? 1U : 0U;
  }
  EXPECT_LE(steady, 2U);
}

/// Looks at the beginning of a run, and again whenever it is twice as long, until the verdict is certain. Windows are
/// joined as those of a run are, so that they stay as many.
template <class Rule>
Judgement looked_at(const Observed& run, std::size_t first, Rule&& rule) {
  u32 look = 0;
  for (std::size_t length = first;; length *= 2, ++look) {
    Observed seen;
    const std::size_t joined = length / first;
    for (std::size_t i = 0; i < length; i += joined) {
      u64 offered = 0;
      u64 accepted = 0;
      for (std::size_t k = i; k < i + joined; ++k) offered += run.offered[k], accepted += run.accepted[k];
      seen.offered.push_back(offered);
      seen.accepted.push_back(accepted);
    }
    Evidence evidence;
    evidence.growth = seen.growth();
    const Judgement verdict = judge(evidence, rule(look));
    if (verdict.certain || 2 * length > run.offered.size()) return verdict;
  }
}

/// Walks whose drift is `times` the limit of growth, looked at up to six times: how many get a certain verdict of each
/// kind.
template <class Rule>
Count certain_walks(double times, u32 walks, Rule&& rule) {
  constexpr std::size_t kFirst = 256;
  Count count;
  for (u32 replication = 0; replication < walks; ++replication) {
    const Random random(9, Stream{"test"}, 12, replication);
    double walk = 0.0;
    const Observed run = with(kFirst * 32, 10'000, [&](u64 i) {
      walk += 10.0 * times + 300.0 * test::normal(random, i);
      return static_cast<i64>(std::llround(walk));
    });
    const Judgement verdict = looked_at(run, kFirst, rule);
    if (verdict.certain) ++(verdict.saturated ? count.saturated : count.steady);
  }
  return count;
}

/// Every look is a chance to err; what all of them may do together is what the confidences say, also where a verdict is
/// hardest: at the limit of growth itself.
TEST(Judge, ManyLooksAreWrongNoMoreOftenThanTheConfidenceSays) {
  const Count at_limit = certain_walks(1.0, 1000, rule_at);
  EXPECT_LE(at_limit.steady, 50U);     // 5 %
  EXPECT_LE(at_limit.saturated, 10U);  // 1 %
  const Count naive = certain_walks(1.0, 1000, [](u32) { return VerdictRule{}; });
  EXPECT_GT(naive.steady, at_limit.steady) << "the test has nothing to look at";
}

TEST(Judge, ManyLooksFindWhatOneCannot) {
  const Count saturated = certain_walks(5.0, 200, rule_at);
  EXPECT_GE(saturated.saturated, 150U);
  EXPECT_LE(saturated.steady, 4U);
  const Count one = certain_walks(5.0, 200, [](u32 look) { return rule_at(look == 0 ? 0 : 40); });
  EXPECT_LT(one.saturated, 100U) << "the first look was enough";
}

TEST(Judge, TheFirstLookHasTheRuleAsItIs) {
  const VerdictRule first = rule_at(0);
  const VerdictRule plain;
  EXPECT_EQ(first.steady_confidence, plain.steady_confidence);
  EXPECT_EQ(first.saturated_confidence, plain.saturated_confidence);
  EXPECT_EQ(first.unit_root, plain.unit_root);
  EXPECT_EQ(first.forgets, plain.forgets);
}

Recovery after(double left, i64 drift) {
  const Random random(9, Stream{"test"}, 11, 0);
  Recovery recovery;
  recovery.held = 5000;
  recovery.backlog = 100'000.0;
  recovery.left = left;
  recovery.growth = with(300, 10'000, [&](u64 i) {
                      return 1'000'000 + drift * static_cast<i64>(i) + std::llround(50.0 * test::normal(random, i));
                    }).growth();
  return recovery;
}

TEST(Judge, OnlyALongerRunIsAskedForThatWouldTell) {
  const Random random(9, Stream{"test"}, 6, 0);
  Evidence good;
  good.growth = with(1000, 10'000, [&](u64 i) { return std::llround(1000.0 + test::normal(random, i)); }).growth();
  EXPECT_FALSE(judge(good).longer);
  const auto longer = [&](auto&& change) {
    Evidence changed = good;
    change(changed);
    const Judgement verdict = judge(changed);
    EXPECT_FALSE(verdict.certain);
    EXPECT_EQ(verdict.longer, verdict.reason.find("a longer run (run.measure) would tell") != std::string::npos);
    return verdict.longer;
  };
  EXPECT_TRUE(longer([](Evidence& e) { e.latency_width = 0.3, e.widest_latency = "packet_latency"; }));
  EXPECT_TRUE(longer([](Evidence& e) { e.filling = true; }));
  EXPECT_TRUE(longer([](Evidence& e) { e.recovery = after(90'000.0, 0); }));
  EXPECT_FALSE(longer([](Evidence& e) { e.recovery = after(150'000.0, 500); })) << "it collapses in every run";
  EXPECT_FALSE(longer([](Evidence& e) { e.all_arrived = false; })) << "the drain was too short";
}

TEST(Judge, ANetworkRecoversWhenItsBacklogGoes) {
  EXPECT_TRUE(recovers(after(40'000.0, 0)));
  EXPECT_TRUE(recovers(after(90'000.0, -200))) << "slowly, but certainly";
  EXPECT_FALSE(recovers(after(90'000.0, 0)));
  EXPECT_FALSE(collapses(after(90'000.0, 0))) << "nobody knows yet";
  EXPECT_FALSE(collapses(after(40'000.0, 500)));
  EXPECT_TRUE(collapses(after(150'000.0, 500)));
  EXPECT_FALSE(recovers(after(150'000.0, 500)));
}

/// A network that is about to collapse shows nothing of it before.
TEST(Judge, ASteadyStateThatDoesNotRecoverFromABurstIsNotCertain) {
  Evidence evidence;
  const Random random(9, Stream{"test"}, 6, 0);
  evidence.growth = with(1000, 10'000, [&](u64 i) { return std::llround(1000.0 + test::normal(random, i)); }).growth();
  EXPECT_TRUE(judge(evidence).certain);
  evidence.recovery = after(40'000.0, 0);
  EXPECT_TRUE(judge(evidence).certain);
  evidence.recovery = after(150'000.0, 500);
  const Judgement verdict = judge(evidence);
  EXPECT_FALSE(verdict.saturated);
  EXPECT_FALSE(verdict.certain);
  EXPECT_NE(verdict.reason.find("might not recover from a burst"), std::string::npos) << verdict.reason;
}

/// After less than that, if it is far enough above what the run has held, it is, and says from what it does not
/// recover.
TEST(Judge, ASteadyStateThatRecoversFromWhatItMayMeetIsCertain) {
  Evidence evidence;
  const Random random(9, Stream{"test"}, 6, 0);
  evidence.growth = with(1000, 10'000, [&](u64 i) { return std::llround(1000.0 + test::normal(random, i)); }).growth();
  evidence.recovery = after(150'000.0, 500);
  evidence.recovery_from_less = after(40'000.0, 0);
  evidence.recovery_from_less->times = 4.2;
  const Judgement tried = judge(evidence);
  EXPECT_TRUE(tried.certain);
  EXPECT_EQ(tried.reason, "");
  EXPECT_NE(tried.warning.find("4.2 times as far above the mean"), std::string::npos) << tried.warning;
  evidence.recovery_from_less = after(150'000.0, 500);
  evidence.recovery_from_less->times = 4.2;
  const Judgement failed = judge(evidence);
  EXPECT_FALSE(failed.certain);
  EXPECT_TRUE(failed.longer) << "a longer run has to recover from less";
  EXPECT_NE(failed.reason.find("4.2 times as far above the mean"), std::string::npos) << failed.reason;
  EXPECT_EQ(failed.warning, "");
  evidence.recovery = after(40'000.0, 0);
  evidence.recovery_from_less.reset();
  EXPECT_EQ(judge(evidence).warning, "");
}

/// Backlogs of queues whose drift falls to nothing at the point of no return c: of n correlation times the greatest
/// is 1. P(a backlog of c) = n^-r, r = c^2 / (2 c - 1), in each of (50 / measured) n correlation times ahead.
TEST(Judge, TheBurstToRecoverFromIsMetInOneRunOfAHundred) {
  for (const double observations : {20.0, 50.0, 300.0, 1000.0}) {
    for (const double measured : {1.0, 4.0, 64.0}) {
      Growth growth;
      growth.relaxations = observations;
      const double c = burst_times(growth, measured);
      const double r = c * c / (2.0 * c - 1.0);
      EXPECT_NEAR(50.0 / measured * observations * std::pow(observations, -r), 0.01, 1e-9)
          << observations << " " << measured;
      EXPECT_GT(c, 1.0);
    }
  }
  Growth growth;
  growth.relaxations = 100.0;
  EXPECT_GT(burst_times(growth, 1.0), burst_times(growth, 8.0)) << "a longer run has met more";
  EXPECT_EQ(burst_times(growth, 1e6), 1.0) << "a run far longer than what is ahead has met it all";
  growth.relaxations = 0.0;
  EXPECT_TRUE(std::isfinite(burst_times(growth, 1.0)));
}

/// A network that fills up grows significantly, and not for ever.
TEST(Judge, ANetworkThatFillsUpIsNotSaturated) {
  const Random random(9, Stream{"test"}, 5, 0);
  const Observed run = with(1000, 10'000, [&](u64 i) {
    const double filled = 400'000.0 * (1.0 - std::exp(-static_cast<double>(i) / 200.0));
    return static_cast<i64>(std::llround(filled + 100.0 * test::normal(random, i)));
  });
  EXPECT_FALSE(verdict_of(run).saturated);
  EXPECT_FALSE(verdict_of(run).certain);
}

/// Each of the rules decides alone.
TEST(Judge, EachDoubtMakesASteadyStateUncertain) {
  const Random random(9, Stream{"test"}, 6, 0);
  Evidence good;
  good.growth = with(1000, 10'000, [&](u64 i) { return std::llround(1000.0 + test::normal(random, i)); }).growth();
  good.widest_latency = "packet_latency";
  good.latency_width = 0.19;
  const Judgement steady = judge(good);
  EXPECT_TRUE(steady.certain) << steady.reason;
  EXPECT_EQ(steady.reason, "");
  const auto doubt = [&](auto&& change, const std::string& reason) {
    Evidence changed = good;
    change(changed);
    const Judgement verdict = judge(changed);
    EXPECT_FALSE(verdict.certain) << reason;
    EXPECT_FALSE(verdict.saturated) << reason;
    EXPECT_NE(verdict.reason.find(reason), std::string::npos) << verdict.reason;
  };
  doubt([](Evidence& e) { e.latency_width = 0.21; }, "packet_latency is known only within 21 %");
  doubt([](Evidence& e) { e.latency_width.reset(); }, "packet_latency has no interval");
  doubt(
      [](Evidence& e) {
        e.warmup_found = false;
        e.growth.relaxations = 25.0;
      },
      "the end of the warm-up was not found");
  doubt([](Evidence& e) { e.filling = true; }, "before the network can have filled");
  doubt([](Evidence& e) { e.all_arrived = false; }, "not everything arrived");
}

TEST(Judge, ANetworkThatMayBeFillingIsNotCertainlySaturated) {
  Evidence evidence;
  evidence.growth = with(1000, 10'000, [](u64 i) { return static_cast<i64>(500 * i); }).growth();
  EXPECT_TRUE(judge(evidence).saturated);
  EXPECT_TRUE(judge(evidence).certain);
  evidence.filling = true;
  EXPECT_FALSE(judge(evidence).saturated);
  EXPECT_FALSE(judge(evidence).certain);
}

/// Bursts that are long against the run imitate growth, and hide it.
TEST(Judge, ARunThatIsShortAgainstTheMemoryOfItsSourcesIsNotCertain) {
  Evidence grows;
  grows.growth = with(1000, 10'000, [](u64 i) { return static_cast<i64>(500 * i); }).growth();
  Evidence steady;
  steady.growth = with(1000, 10'000, [](u64 i) { return static_cast<i64>(i % 7); }).growth();
  for (Evidence evidence : {grows, steady}) {
    evidence.latency_width = 0.01;
    evidence.widest_latency = "packet_latency";
    ASSERT_TRUE(judge(evidence).certain);
    evidence.memories = 50.0;
    EXPECT_TRUE(judge(evidence).certain);
    evidence.memories = 49.0;
    EXPECT_FALSE(judge(evidence).certain);
    EXPECT_TRUE(judge(evidence).longer);
    EXPECT_NE(judge(evidence).reason.find("lasts for 49 autocorrelation times"), std::string::npos)
        << judge(evidence).reason;
  }
  EXPECT_TRUE(judge(grows).saturated);
}

TEST(Growth, OfSeriesOfUnequalLengthIsAnError) {
  const std::vector<u64> two(2, 1);
  const std::vector<u64> three(3, 1);
  EXPECT_THROW(static_cast<void>(growth(two, three, 1)), InvariantError);
}

/// Windows of a network that is empty at nearly all of their ends: single values there tell nothing of the error.
TEST(Judge, ANetworkThatIsNearlyEmptyIsNotSaturated) {
  int wrong = 0;
  constexpr u32 kRuns = 2000;
  for (u32 run = 0; run < kRuns; ++run) {
    const Random random(7, Stream{"nearly empty"}, run, 0);
    constexpr u32 kWindows = 1000;
    const double chance = 0.002 * (1 + run % 20);  // of a window that a message begins in
    std::vector<u64> offered(kWindows);
    std::vector<u64> accepted(kWindows);
    for (u32 i = 0; i + 1 < kWindows; ++i) {
      const Words words = random.at(i, 0);
      if (unit_real(words[0], words[1]) >= chance) continue;
      offered[i] += 64;
      accepted[i + (words[2] % 3 == 0 ? 1 : 0)] += 64;  // one in three is on its way when a window ends
    }
    const Judgement verdict = verdict_of({offered, accepted, 16});
    wrong += verdict.saturated && verdict.certain ? 1 : 0;
  }
  EXPECT_LE(wrong, static_cast<int>(kRuns / 200));
}

}  // namespace
}  // namespace banyan::stats::saturation_test
