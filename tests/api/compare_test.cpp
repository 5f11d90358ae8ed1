// Are two runs compared in pairs that share their random numbers, with intervals that hold, and only where that makes
// sense?
#include "banyan/api/measure/compare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "api/runs.hpp"
#include "banyan/base/error.hpp"

namespace banyan::api::compare_test {
namespace {

using nlohmann::json;

const MetricDifference& row_of(const Comparison& comparison, const std::string& metric) {
  for (const MetricDifference& row : comparison.metrics) {
    if (row.metric == metric) return row;
  }
  throw std::runtime_error("no " + metric);
}

double width_of(const Comparison& comparison, const std::string& metric) {
  return row_of(comparison, metric).difference.absolute.half_width.value();
}

/// As an older Banyan printed it.
Result without_sums(Result result) {
  result.groups.clear();
  return result;
}

Runs runs_of(const std::string& name, std::vector<Result> results) {
  Runs runs{name, {"load"}, {}, std::move(results), {}};
  for (std::size_t i = 0; i < runs.results.size(); ++i) runs.axes.push_back({{"load", std::to_string(i)}});
  return runs;
}

ConfigError refusal(const Runs& a, const Runs& b) {
  try {
    static_cast<void>(compare(a, b));
  } catch (const ConfigError& error) { return error; }
  ADD_FAILURE() << "no error was thrown";
  return {{}, "", ""};
}

TEST(Compare, ARunEqualsItself) {
  const Result run = run_of(kMesh);
  for (const MetricDifference& row : compare(run, run).metrics) {
    EXPECT_EQ(row.difference.absolute.mean, 0.0) << row.metric;
    EXPECT_EQ(row.difference.absolute.half_width, 0.0) << row.metric;
    EXPECT_EQ(sentence(row), "B's " + row.metric + " is the same");
  }
}

TEST(Compare, PairsOfSteadyRunsAreSharperThanIndependentRuns) {
  const Result a = run_of(kMesh);
  const Result b = run_of(kMesh, {"vcs=2"});
  const Comparison paired = compare(a, b);
  const Comparison independent = compare(a, run_of(kMesh, {"vcs=2", "seed=2"}));
  EXPECT_EQ(row_of(paired, "offered_load").difference.absolute.mean, 0.0);
  EXPECT_NE(row_of(independent, "offered_load").difference.absolute.mean, 0.0);
  EXPECT_LT(width_of(paired, "packet_latency"), 0.7 * width_of(independent, "packet_latency"));
  EXPECT_NE(paired.method.find("share their random numbers"), std::string::npos);
  EXPECT_NE(independent.method.find("seeds differ"), std::string::npos);
  const double means = b.at("packet_latency").mean - a.at("packet_latency").mean;
  EXPECT_NEAR(row_of(paired, "packet_latency").difference.absolute.mean, means, 0.02 * std::abs(means) + 0.01);
}

TEST(Compare, TheDifferenceIsThatOfTheReportedMeans) {
  const Result a = run_of(kMesh);
  const Result b = run_of(kMesh, {"load=0.32"});
  for (const char* metric : {"packet_latency", "accepted_load", "hops"}) {
    const MetricDifference row = row_of(compare(a, b), metric);
    EXPECT_NEAR(row.difference.absolute.mean, b.at(metric).mean - a.at(metric).mean, 1e-9) << metric;
    EXPECT_NEAR(row.difference.relative.mean, b.at(metric).mean / a.at(metric).mean - 1.0, 1e-9) << metric;
  }
}

TEST(Compare, ResultsReadFromJsonArePairedAlike) {
  for (const auto& [text, change] : {std::pair{kMesh, "vcs=2"}, {kSessions, "routing=hot_section"}}) {
    const Result a = run_of(text);
    const Result b = run_of(text, {change});
    const Comparison kept = compare(a, b);
    const Comparison read = compare(from_json(to_json(a)), from_json(to_json(b)));
    EXPECT_EQ(read.method, kept.method);
    ASSERT_EQ(read.metrics.size(), kept.metrics.size());
    for (std::size_t i = 0; i < kept.metrics.size(); ++i) {
      EXPECT_EQ(read.metrics[i].metric, kept.metrics[i].metric);
      EXPECT_EQ(read.metrics[i].difference.absolute.mean, kept.metrics[i].difference.absolute.mean);
      EXPECT_EQ(read.metrics[i].difference.absolute.half_width, kept.metrics[i].difference.absolute.half_width);
    }
  }
}

TEST(Compare, SessionsAreSharperInPairs) {
  const Result a = run_of(kSessions);
  const Comparison paired = compare(a, run_of(kSessions, {"routing=hot_section"}));
  const Comparison independent = compare(a, run_of(kSessions, {"routing=hot_section", "seed=2"}));
  EXPECT_LT(width_of(paired, "session_cycles"), width_of(independent, "session_cycles"));
  EXPECT_NE(paired.method.find("sessions"), std::string::npos);
}

/// Eight sessions that differ, of which B's barrier takes the same number of cycles longer in each.
TEST(Compare, FewEqualPairsOfSessionsClaimNothing) {
  Result a = run_of(kSessions, {"run.sessions=8"});
  Result b = a;
  b.state_hash ^= 1U;
  for (stats::Metric& metric : b.metrics) {
    if (metric.name == "session_cycles") metric.mean += 5.0;
  }
  for (Groups& groups : b.groups) {
    if (groups.metric != "session_cycles") continue;
    for (stats::SumCount& sum : groups.sums) sum.sum += 5 * sum.count;
  }
  const MetricDifference row = row_of(compare(a, b), "session_cycles");
  EXPECT_NEAR(row.difference.absolute.mean, 5.0, 1e-9);
  EXPECT_FALSE(row.difference.absolute.half_width);
  EXPECT_FALSE(row.difference.significant());
  EXPECT_NE(sentence(row).find("higher, without an interval"), std::string::npos) << sentence(row);
  const MetricDifference same = row_of(compare(a, b), "packet_latency");
  EXPECT_EQ(sentence(same), "B's packet_latency is the same, without an interval");
  // The same experiment twice is equal however few its sessions are.
  EXPECT_EQ(sentence(row_of(compare(a, a), "session_cycles")), "B's session_cycles is the same");
}

TEST(Compare, ALongerRunIsPairedAsFarAsTheShorterOneGoes) {
  const Comparison comparison = compare(run_of(kMesh), run_of(kMesh, {"measure=60000"}));
  EXPECT_NE(comparison.method.find("share their random numbers"), std::string::npos);
  EXPECT_LT(std::abs(row_of(comparison, "accepted_load").difference.absolute.mean), 1e-3);
}

/// Runs that differ by nothing but their seed: a true difference of 0 lies in the interval of about 95 % of the pairs.
/// Text and JSON tell one difference, whatever the lengths.
TEST(Compare, TheDifferenceOfRunsOfUnequalLengthIsThatOfTheirMeansToo) {
  const Result a = run_of(kMesh, {"load=0.1", "run.measure=3000"});
  for (const char* load : {"load=0.1", "load=0.2", "load=0.3"}) {
    const Result b = run_of(kMesh, {load, "run.measure=7000"});
    for (const MetricDifference& row : compare(a, b).metrics) {
      EXPECT_DOUBLE_EQ(row.difference.absolute.mean, row.b - row.a) << row.metric << ", " << load;
    }
  }
}

TEST(Compare, TheIntervalHoldsForIndependentRuns) {
  int covered = 0;
  constexpr int kPairs = 40;
  std::vector<Result> runs;
  for (int seed = 1; seed <= 2 * kPairs; ++seed) {
    runs.push_back(run_of(kMesh, {"measure=2000", "seed=" + std::to_string(seed)}));
  }
  for (std::size_t i = 0; i < 2 * kPairs; i += 2) {
    covered += row_of(compare(runs[i], runs[i + 1]), "packet_latency").difference.significant() ? 0 : 1;
  }
  EXPECT_GE(covered, 33);  // 33 or fewer of 40 have a probability below 1 % at 95 %
}

/// Over many seeds, the interval of the paired difference holds the true difference as often as it says.
TEST(SlowCompare, PairedIntervalsHoldTheTrueDifference) {
  constexpr int kSeeds = 300;
  std::vector<stats::Interval> differences;
  double sum = 0.0;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const std::string same = "seed=" + std::to_string(seed);
    const Comparison comparison =
        compare(run_of(kMesh, {"load=0.4", same}), run_of(kMesh, {"load=0.4", "vcs=2", same}));
    differences.push_back(row_of(comparison, "packet_latency").difference.absolute);
    sum += differences.back().mean;
  }
  int covered = 0;
  for (const stats::Interval& difference : differences) covered += difference.contains(sum / kSeeds) ? 1 : 0;
  EXPECT_GT(std::abs(sum / kSeeds), 1e-3);
  EXPECT_GE(covered, kSeeds * 92 / 100);
  RecordProperty("covered", covered);
}

TEST(Compare, ResultsWithoutSumsAreComparedByTheirIntervals) {
  const Result a = without_sums(run_of(kMesh));
  const Result b = without_sums(run_of(kMesh, {"vcs=2", "seed=2"}));
  const double width = width_of(compare(a, b), "packet_latency");
  const double expected = std::hypot(*a.at("packet_latency").half_width, *b.at("packet_latency").half_width);
  EXPECT_NEAR(width, expected, 0.1 * expected);
}

TEST(Compare, DifferentNetworksAreRefusedAndNamed) {
  const Runs a = runs_of("first", {run_of(kMesh)});
  const ConfigError error = refusal(a, runs_of("second", {run_of(kMesh, {"topology.size=[4, 5]"})}));
  EXPECT_EQ(error.cause(), "the runs are of different networks: topology.size is [4,4] in A and [4,5] in B");
  EXPECT_NE(refusal(a, runs_of("second", {run_of(kMesh, {"topology=torus"})})).cause().find("topology.name is"),
            std::string::npos);
}

TEST(Compare, RunsWithOtherCyclesAndFlitsAreComparedInNanosecondsAndBytes) {
  const Result a = run_of(kMesh, {"run.cycle_time=1", "run.flit=8"});
  const Result b = run_of(kMesh, {"run.cycle_time=2.5", "run.flit=16"});
  const Comparison comparison = compare(a, b);
  // Of what the two measured in cycles and flits, everything is equal.
  const std::vector<std::pair<std::string, double>> factors{
      {"cycles", 2.5}, {"flits", 2.0}, {"flits/cycle/terminal", 0.8}, {"flits/cycle", 0.8}, {"packets/cycle", 0.4}};
  unsigned compared = 0;
  for (const MetricDifference& row : comparison.metrics) {
    const std::string& unit = a.at(row.metric).unit;
    for (const auto& [counted, factor] : factors) {
      if (unit != counted || row.a == 0.0) continue;
      ++compared;
      EXPECT_NEAR(row.b / row.a, factor, 1e-9) << row.metric;
      EXPECT_NEAR(row.difference.relative.mean, factor - 1.0, 1e-9) << row.metric;
      EXPECT_NEAR(row.difference.absolute.mean, row.b - row.a, 1e-9 * std::abs(row.b)) << row.metric;
      EXPECT_NE(row.unit, unit) << row.metric;
    }
  }
  EXPECT_GT(compared, 8U);
  EXPECT_EQ(row_of(comparison, "packet_latency").unit, "ns");
  EXPECT_NEAR(row_of(comparison, "packet_latency").a, a.at("packet_latency").mean, 1e-9);
  EXPECT_TRUE(row_of(comparison, "packet_latency").difference.significant());
  EXPECT_EQ(row_of(comparison, "accepted_load").unit, "GB/s/terminal");
  EXPECT_EQ(row_of(comparison, "hops").difference.absolute.mean, 0.0);
  EXPECT_EQ(comparison.units,
            "a cycle is 1 ns in A and 2.5 ns in B: compared in ns; a flit is 8 bytes in A and 16 bytes in B: compared "
            "in bytes");
  EXPECT_NE(comparison.method.find("not worth the same"), std::string::npos);
}

TEST(Compare, WhatIsWorthTheSameInBothStaysPaired) {
  const Result a = run_of(kMesh, {"run.flit=8"});
  const Result b = run_of(kMesh, {"vcs=2", "run.flit=16"});
  const Comparison in_bytes = compare(a, b);
  const Comparison in_flits = compare(run_of(kMesh), run_of(kMesh, {"vcs=2"}));
  EXPECT_EQ(width_of(in_bytes, "packet_latency"), width_of(in_flits, "packet_latency"));
  EXPECT_EQ(row_of(in_bytes, "packet_latency").unit, "cycles");
  // A rate is of what is known: in bytes, though nobody knows the cycle.
  const MetricDifference load = row_of(in_bytes, "accepted_load");
  EXPECT_EQ(load.unit, "B/cycle/terminal");
  EXPECT_NEAR(load.b / load.a, 2.0 * b.at("accepted_load").mean / a.at("accepted_load").mean, 1e-9);
  EXPECT_EQ(in_flits.units, "");
}

TEST(Compare, SaysWhenOneRunAloneKnowsWhatACycleIsWorth) {
  const Result timed = run_of(kMesh, {"run.cycle_time=2"});
  const Comparison comparison = compare(run_of(kMesh), timed);
  EXPECT_EQ(comparison.units, "B alone says what a cycle is worth: compared in cycles");
  EXPECT_EQ(row_of(comparison, "packet_latency").unit, "cycles");
  EXPECT_EQ(row_of(comparison, "packet_latency").difference.absolute.mean, 0.0);
  // Flits without a size: rates are in flits per time.
  const Comparison rates = compare(timed, run_of(kMesh, {"run.cycle_time=1"}));
  EXPECT_EQ(row_of(rates, "accepted_load").unit, "flits/ns/terminal");
  EXPECT_NEAR(row_of(rates, "accepted_load").difference.relative.mean, 1.0, 1e-9);
}

TEST(Compare, SweepsMustHaveTheSamePoints) {
  const Result run = run_of(kMesh);
  const Runs two = runs_of("two", {run, run});
  const Runs three = runs_of("three", {run, run, run});
  EXPECT_EQ(refusal(two, three).cause(), "has no finished point load = 2, which three has");
  EXPECT_EQ(refusal(three, two).where().file, "two");
  EXPECT_EQ(compare(two, two).points.size(), 2U);
}

TEST(Compare, ARunIsNoSweep) {
  const Result run = run_of(kMesh);
  Runs one = runs_of("one", {run});
  one.axis_names.clear();
  one.axes = {{}};
  EXPECT_EQ(refusal(one, runs_of("two", {run, run})).cause(), "is a single run, and two is a sweep of 2 points");
  EXPECT_EQ(refusal(runs_of("two", {run, run}), one).where().file, "one");
}

TEST(Compare, TheMeanOverPointsIsAsWideAsPointsThatGoTogether) {
  const Result a = run_of(kMesh);
  const Result b = run_of(kMesh, {"vcs=2", "seed=2"});
  const RunsComparison one = compare(runs_of("a", {a}), runs_of("b", {b}));
  const RunsComparison two = compare(runs_of("a", {a, a}), runs_of("b", {b, b}));
  ASSERT_EQ(one.metrics.size(), two.metrics.size());
  for (std::size_t i = 0; i < one.metrics.size(); ++i) {
    EXPECT_DOUBLE_EQ(one.metrics[i].difference.absolute.mean, two.metrics[i].difference.absolute.mean);
    EXPECT_DOUBLE_EQ(*one.metrics[i].difference.absolute.half_width, *two.metrics[i].difference.absolute.half_width);
  }
}

TEST(Compare, JsonHasWhatScriptsRelyOn) {
  const RunsComparison comparison = compare(runs_of("a", {run_of(kMesh)}), runs_of("b", {run_of(kMesh, {"vcs=2"})}));
  const json all = json::parse(to_json(comparison));
  for (const char* metric : {"packet_latency", "accepted_load", "offered_load", "hops"}) {
    for (const char* key : {"difference", "half_width", "relative"}) {
      EXPECT_TRUE(all["metrics"][metric][key].is_number()) << metric << " " << key;
    }
  }
  EXPECT_EQ(json::parse(to_json(comparison, {"hops"}))["metrics"].size(), 1U);
  EXPECT_THROW(static_cast<void>(to_json(comparison, {"packet_latancy"})), ConfigError);
}

/// What is not certain of one of the runs is not certain of it beside another.
TEST(Compare, AnUncertainVerdictIsSaidToBeOne) {
  const Result saturated = run_of(kMesh, {"load=1.0"});
  for (const bool certain : {true, false}) {
    for (const bool other : {true, false}) {
      Result doubtful = run_of(kMesh);
      doubtful.certain = certain;
      Result first = other ? doubtful : saturated;
      first.certain = true;
      const RunsComparison comparison = compare(runs_of("a", {first}), runs_of("b", {doubtful}));
      const std::string text = to_text(comparison, runs_of("a", {}), runs_of("b", {}));
      const std::string said = std::string("A is ") + (other ? "steady" : "saturated") + ", B is steady" +
                               (certain ? "\n" : " (uncertain)\n");
      EXPECT_EQ(text.find(said) != std::string::npos, !certain || !other) << text;
      EXPECT_EQ(json::parse(to_json(comparison))["points"][0]["certain"], json({true, certain}));
    }
  }
}

TEST(Compare, ASaturatedRunIsNotComparedByItsLatency) {
  const RunsComparison comparison = compare(runs_of("a", {run_of(kMesh)}), runs_of("b", {run_of(kMesh, {"load=1.0"})}));
  const std::string text = to_text(comparison, runs_of("a", {}), runs_of("b", {}));
  EXPECT_NE(text.find("A is steady, B is saturated"), std::string::npos) << text;
  EXPECT_NE(text.find("reported by A alone: packet_latency"), std::string::npos) << text;
}

TEST(Compare, WhatIsNotInOneUnitHasNoMeanOverPointsAndIsNamed) {
  const Result one = run_of(kMesh, {"run.cycle_time=1"});
  const RunsComparison both =
      compare(runs_of("a", {one, one}), runs_of("b", {one, run_of(kMesh, {"run.cycle_time=4"})}));
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(both.metrics, [&](const MetricDifference& row) { return row.metric == name; });
  };
  EXPECT_FALSE(has("packet_latency"));
  EXPECT_NE(std::ranges::find(both.partial, "packet_latency"), both.partial.end());
  EXPECT_TRUE(has("hops"));
}

TEST(Compare, WhatIsNotAtEveryPointIsNamed) {
  Runs a = runs_of("a", {run_of(kMesh), run_of(kMesh, {"load=0.4"})});
  Runs b = runs_of("b", {run_of(kMesh, {"vcs=2"}), run_of(kMesh, {"load=1.0"})});
  const RunsComparison comparison = compare(a, b);
  const auto named = [&](const char* name) {
    return std::count(comparison.partial.begin(), comparison.partial.end(), name);
  };
  EXPECT_EQ(named("packet_latency"), 1);
  EXPECT_EQ(named("accepted_load"), 0);
  EXPECT_NE(to_text(comparison, a, b).find("not at every point on both sides, or not in one unit: packet_latency"),
            std::string::npos);
  EXPECT_EQ(json::parse(to_json(comparison))["points"][1]["only_a"][0], "packet_latency");
}

TEST(Compare, RunsWithoutIntervalsAreComparedWithoutThem) {
  const Overrides fixed{"run.duration=3000"};
  const MetricDifference row =
      row_of(compare(run_of(kMesh, fixed), run_of(kMesh, {"run.duration=3000", "vcs=1"})), "packet_latency");
  EXPECT_FALSE(row.difference.absolute.half_width);
  EXPECT_NE(sentence(row).find("without an interval"), std::string::npos);
}

TEST(Compare, ValuesWithoutIntervalsAreDifferencesWithoutThem) {
  const Comparison comparison = compare(run_of(kMesh), run_of(kMesh, {"vcs=2"}));
  const MetricDifference row = row_of(comparison, "packet_latency_p99");
  EXPECT_TRUE(row.counter);
  EXPECT_FALSE(row.difference.absolute.half_width);
  EXPECT_EQ(row.difference.absolute.mean, row.b - row.a);
  EXPECT_NE(comparison.method.find("share their random numbers"), std::string::npos) << comparison.method;
}

TEST(Compare, SaysWhenRunsOfOneSeedCannotBePaired) {
  const Result bare = without_sums(run_of(kMesh));
  EXPECT_NE(compare(bare, bare).method.find("unpaired"), std::string::npos);
  EXPECT_EQ(compare(run_of(kMesh), run_of(kMesh)).method.find("unpaired"), std::string::npos);
}

MetricDifference example(double mean, double width, double a) {
  MetricDifference row{"packet_latency", "cycles", a, a + mean, {}};
  row.difference.absolute.mean = mean;
  row.difference.absolute.half_width = width;
  if (a != 0.0) {
    row.difference.relative.mean = mean / a;
    row.difference.relative.half_width = width / a;
  }
  return row;
}

TEST(Sentence, WritesNumbersAsTablesDo) {
  MetricDifference bare{"source_queueing.incast", "cycles", 0.0, 3130.4221, {}};
  bare.difference.absolute.mean = 3130.4221;
  EXPECT_EQ(sentence(bare), "B's source_queueing.incast is 3130.42 cycles higher, without an interval");
  EXPECT_EQ(sentence(example(100, 3000, 0)), "B's packet_latency is equal within 3100 cycles");
  bare.a = 1.0;
  bare.difference.relative.mean = 31.3;
  EXPECT_EQ(sentence(bare), "B's source_queueing.incast is 3130 % higher, without an interval");
}

TEST(Sentence, SaysWhatIsKnown) {
  EXPECT_EQ(sentence(example(-4.1, 0.6, 100)), "B's packet_latency is 4.10 % +- 0.60 % lower");
  EXPECT_EQ(sentence(example(12, 1.2, 100)), "B's packet_latency is 12.0 % +- 1.2 % higher");
  EXPECT_EQ(sentence(example(0.1, 0.2, 100)), "B's packet_latency is equal within 0.3 %");
  EXPECT_EQ(sentence(example(3, 1, 0)), "B's packet_latency is 3.0 cycles +- 1.0 cycles higher");
}

}  // namespace
}  // namespace banyan::api::compare_test
