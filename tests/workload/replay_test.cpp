// Do jobs on the ideal network end when LogGOPSim says, and do the physical rules differ from it just as their page
// says?
#include "banyan/workload/replay.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "workload/files.hpp"

namespace banyan::workload::replay_test {
namespace {

using Ends = std::vector<u64>;

struct Parameters {
  u64 latency, o, g, per_byte, per_byte_overhead, eager;
};

JobOutcome outcome_of(const Program& program, HostRules rules, const Parameters& p, u32 repeats = 1) {
  Host host;
  host.overhead = p.o;
  host.gap = p.g;
  host.gap_per_byte = PerByte(static_cast<double>(p.per_byte));
  host.overhead_per_byte = PerByte(static_cast<double>(p.per_byte_overhead));
  host.eager = p.eager;
  ReplayOptions options;
  options.repeats = repeats;
  const IdealWire wire{p.latency, host.gap_per_byte};
  return rules == HostRules::loggopsim ? replay_loggopsim(program, host, wire, options)
                                       : replay_physical(program, host, wire, options);
}

Ends loggopsim(const std::string& text, const Parameters& p) {
  return outcome_of(program_of(text), HostRules::loggopsim, p).ends;
}
Ends physical(const std::string& text, const Parameters& p) {
  return outcome_of(program_of(text), HostRules::physical, p).ends;
}

/// The reduction that LogGOPSim's own description prints the times of.
constexpr const char* kReduce = R"(num_ranks 8
rank 0 {
recv 1024b from 4
recv 1024b from 2
recv 1024b from 1
}
rank 1 {
a: recv 1024b from 5
b: recv 1024b from 3
c: send 1024b to 0
c requires a
c requires b
}
rank 2 {
a: recv 1024b from 6
b: send 1024b to 0
b requires a
}
rank 3 {
a: recv 1024b from 7
b: send 1024b to 1
b requires a
}
rank 4 { send 1024b to 0 }
rank 5 { send 1024b to 1 }
rank 6 { send 1024b to 2 }
rank 7 { send 1024b to 3 }
)";
constexpr Parameters kDefaults{2500, 1500, 1000, 6, 0, 65535};

TEST(Replay, ThePrintedExampleOfLogGOPSim) {
  const Ends expected{34914, 24776, 13138, 13138, 1500, 1500, 1500, 1500};
  EXPECT_EQ(loggopsim(kReduce, kDefaults), expected);
  EXPECT_EQ(physical(kReduce, kDefaults), expected);
}

constexpr const char* kSeveralCores = R"(num_ranks 3
rank 0 {
a: send 100b to 1 tag 1
b: send 2000b to 2 tag 2 cpu 1 nic 1
c: calc 500 cpu 1
c irequires b
d: recv 8b from -1 tag -1
d requires a
}
rank 1 {
a: calc 9000
b: recv 100b from 0 tag 1 cpu 1
b requires a
c: send 8b to 0 tag 7
c requires b
}
rank 2 {
a: calc 7000
b: recv 2000b from 0 tag 2
b requires a
c: calc 10 cpu 1
c requires b
}
)";
constexpr const char* kThreeMessages = R"(num_ranks 2
rank 0 {
a: send 10b to 1
b: send 10b to 1
c: send 10b to 1
d: calc 50
}
rank 1 {
a: recv 10b from 0
b: recv 10b from 0
c: calc 20000
c requires a
d: recv 10b from 0
d requires c
}
)";

// The times are those of LogGOPSim with a stable order of equal events.
TEST(Replay, LogGOPSimToTheTick) {
  const Parameters slow_interface{100, 10, 4000, 1, 7, 999};
  const Parameters rendezvous{0, 1, 0, 0, 0, 0};
  EXPECT_EQ(loggopsim(kSeveralCores, kDefaults), (Ends{16636, 12594, 17504}));
  EXPECT_EQ(loggopsim(kSeveralCores, slow_interface), (Ends{14503, 9762, 14123}));
  EXPECT_EQ(loggopsim(kSeveralCores, rendezvous), (Ends{9003, 9002, 7000}));
  EXPECT_EQ(loggopsim(kThreeMessages, kDefaults), (Ends{4550, 28662}));
  EXPECT_EQ(loggopsim(kThreeMessages, slow_interface), (Ends{8091, 24265}));
  EXPECT_EQ(loggopsim(kThreeMessages, rendezvous), (Ends{20003, 20004}));
}

TEST(Replay, AMessageOfNoBytesIsLogGOPSims) {
  EXPECT_EQ(loggopsim("num_ranks 2\nrank 0 { send 0b to 1 }\nrank 1 { recv 0b from 0 }", {100, 50, 0, 6, 0, 9}),
            (Ends{50, 194}));
}

// Ends as LogGOPSim printed them. With 1,800 random schedules whose receives are of other sizes than their messages,
// all ends are equal; without this rule 5 % of them were not.
TEST(Replay, AReceiveAboveTheLimitEndsAShortSendAgain) {
  const Parameters p{2500, 1500, 1000, 6, 0, 10};
  const std::string waits =
      "num_ranks 2\nrank 0 {\na: send 5b to 1\nb: recv 1b from 1\nc: calc 50000\nc requires a\nc requires b\n}\n"
      "rank 1 {\nd: calc 4000\ne: recv 20b from 0\nf: calc 20000\ng: send 1b to 0\ne requires d\nf requires e\n"
      "g requires f\n}";
  EXPECT_EQ(loggopsim(waits, p), (Ends{55500, 27024})) << "c does not wait for b";
  const std::string held =
      "num_ranks 2\nrank 0 {\na: send 5b to 1\nb: calc 9000 cpu 1\nc: calc 100 cpu 0\nc requires b\n}\n"
      "rank 1 {\nd: calc 12000\ne: recv 20b from 0\ne requires d\n}";
  EXPECT_EQ(loggopsim(held, p), (Ends{12000, 13524})) << "the sender's core is held until the receive";
}

// Each difference of docs/workload/hosts.md, in its order.
TEST(Replay, AReceiveIsChargedWhereItIsPosted) {
  const std::string text =
      "num_ranks 2\nrank 0 { send 1b to 1 }\nrank 1 {\na: calc 5000 cpu 1\nb: recv 1b from 0 cpu 1\nb requires a\n"
      "c: calc 10 cpu 1\nc requires b\n}";
  const Parameters p{1000, 100, 0, 0, 0, 9};
  EXPECT_EQ(loggopsim(text, p), (Ends{100, 5010}));
  EXPECT_EQ(physical(text, p), (Ends{100, 5110}));
}

TEST(Replay, ARendezvousHasItsHandshakeOverTheNetwork) {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 10b to 1\nb: calc 1\nb requires a\n}\nrank 1 { recv 10b from 0 }";
  const Parameters p{1000, 100, 0, 0, 0, 0};
  EXPECT_EQ(loggopsim(text, p), (Ends{1101, 1200}));
  EXPECT_EQ(physical(text, p), (Ends{2101, 3200}));
}

TEST(Replay, DependenciesAcrossCoresAreTimed) {
  const std::string text = "num_ranks 1\nrank 0 {\na: calc 1000\nb: calc 10 cpu 1\nb requires a\n}";
  EXPECT_EQ(loggopsim(text, kDefaults), Ends{1000});
  EXPECT_EQ(physical(text, kDefaults), Ends{1010});
}

TEST(Replay, ASendThatWaitsForItsInterfaceHoldsTheCore) {
  const std::string text =
      "num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1\ncalc 50\n}\n"
      "rank 1 {\nrecv 1b from 0\nrecv 1b from 0\n}";
  const Parameters p{1000, 100, 1000, 0, 0, 9};
  EXPECT_EQ(loggopsim(text, p), (Ends{1100, 2200}));
  EXPECT_EQ(physical(text, p), (Ends{1150, 2200}));
}

TEST(Replay, TheOverheadPerByteOfAReceiveFollowsItsLastByte) {
  const std::string text = "num_ranks 2\nrank 0 { send 11b to 1 }\nrank 1 { recv 11b from 0 }";
  const Parameters p{1000, 100, 0, 10, 7, 99};
  EXPECT_EQ(loggopsim(text, p), (Ends{170, 1300}));
  EXPECT_EQ(physical(text, p), (Ends{170, 1370}));
}

TEST(Replay, TextAndBinaryEndAlike) {
  const Program text = program_of(kSeveralCores);
  const Program binary = read_workload(file_of(text.bytes(), "b"));
  for (const HostRules rules : {HostRules::physical, HostRules::loggopsim})
    EXPECT_EQ(outcome_of(text, rules, kDefaults).ends, outcome_of(binary, rules, kDefaults).ends);
}

TEST(Replay, ARankRepeatsItsSchedule) {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: calc 10\nb: send 1b to 1\nb requires a\n}\nrank 1 { recv 1b from 0 }";
  const Parameters p{1000, 100, 0, 0, 0, 9};
  for (const HostRules rules : {HostRules::physical, HostRules::loggopsim}) {
    const JobOutcome three = outcome_of(program_of(text), rules, p, 3);
    EXPECT_EQ(three.ends, (Ends{330, 1430}));
    EXPECT_EQ(three.operations, 9U);
    EXPECT_EQ(three.messages, 3U);
  }
}

TEST(Replay, TheCriticalPathEndsWhereTheRunEnds) {
  for (const HostRules rules : {HostRules::physical, HostRules::loggopsim}) {
    const JobOutcome outcome = outcome_of(program_of(kReduce), rules, kDefaults);
    const std::vector<Place> expected{{7, 0}, {3, 0}, {3, 1}, {1, 1}, {1, 2}, {0, 2}};
    std::vector<Place> places;
    for (const CriticalStep& s : outcome.critical_path) places.push_back(s.place);
    EXPECT_EQ(places, expected);
    ASSERT_FALSE(outcome.critical_path.empty());
    EXPECT_EQ(outcome.critical_path.back().end, outcome.completion);
  }
}

/// A ring in which the sender is two repeats ahead of what the receiver has: its messages wait there.
TEST(Replay, TheCriticalPathLeadsThroughRepeats) {
  const std::string text =
      "num_ranks 2\nrank 0 {\na: calc 100\nb: send 1b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1b from 0\nb: calc 500\nb requires a\n}";
  const JobOutcome outcome = outcome_of(program_of(text), HostRules::physical, {1000, 0, 0, 0, 0, 9}, 3);
  std::vector<std::tuple<u32, u32, u32>> path;
  for (const CriticalStep& s : outcome.critical_path) path.emplace_back(s.place.rank, s.place.operation, s.repeat);
  // The first message is late, and then rank 1 is busy: 100 + 1000 + 3 * 500.
  const std::vector<std::tuple<u32, u32, u32>> expected{{0, 0, 0}, {0, 1, 0}, {1, 0, 0}, {1, 1, 0},
                                                        {1, 0, 1}, {1, 1, 1}, {1, 0, 2}, {1, 1, 2}};
  EXPECT_EQ(path, expected);
  EXPECT_EQ(outcome.completion, 2600U);
  // Where the sender is slower the last message is what the end waits for, and all computations before it.
  const std::string slow =
      "num_ranks 2\nrank 0 {\na: calc 700\nb: send 1b to 1\nb requires a\n}\n"
      "rank 1 {\na: recv 1b from 0\nb: calc 500\nb requires a\n}";
  path.clear();
  for (const CriticalStep& s :
       outcome_of(program_of(slow), HostRules::physical, {1000, 0, 0, 0, 0, 9}, 3).critical_path)
    path.emplace_back(s.place.rank, s.place.operation, s.repeat);
  const std::vector<std::tuple<u32, u32, u32>> slower{{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1},
                                                      {0, 0, 2}, {0, 1, 2}, {1, 0, 2}, {1, 1, 2}};
  EXPECT_EQ(path, slower);
}

TEST(Replay, WhatCannotGoOnIsExplained) {
  // Both send first, and neither send ends before its receive is posted.
  const std::string text =
      "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: recv 9b from 1\nb requires a\n}\n"
      "rank 1 {\na: send 9b to 0\nb: recv 9b from 0\nb requires a\n}";
  for (const HostRules rules : {HostRules::physical, HostRules::loggopsim}) {
    EXPECT_EQ(outcome_of(program_of(text), rules, kDefaults).explanation, "");
    const std::string said = outcome_of(program_of(text), rules, {1000, 100, 0, 0, 0, 0}).explanation;
    EXPECT_NE(said.find("rank 0, operation 0 (send 9b to 1 tag 0) is not received"), std::string::npos) << said;
  }
}

TEST(Replay, ManySendsOfOneCoreTakeTheirTurns) {
  std::string text = "num_ranks 2\nrank 0 {\n";
  std::string receives = "}\nrank 1 {\n";
  constexpr u64 kMany = 20000;  // each tries again for each other: a minute, if they waited one by one
  for (u64 i = 0; i < kMany; ++i) {
    text += "send 1b to 1\n";
    receives += "recv 1b from 0\n";
  }
  EXPECT_EQ(loggopsim(text + receives + "}", {1000, 100, 0, 0, 0, 9}), (Ends{kMany * 100, kMany * 100 + 1100}));
}

/// Sends and receives that fit each other in a random order, computations, and dependencies on what stands before.
std::string random_schedule(std::mt19937& random, u32 ranks) {
  const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
  std::vector<std::vector<std::string>> lines(ranks);
  for (u32 k = 0; k < 6 * ranks; ++k) {
    const u32 from = below(ranks);
    const u32 to = (from + 1 + below(ranks - 1)) % ranks;
    const std::string tail = " tag " + std::to_string(below(2)) + " cpu " + std::to_string(below(2));
    const std::string bytes = std::to_string(1 + below(200)) + "b ";
    lines[from].push_back("send " + bytes + "to " + std::to_string(to) + tail);
    lines[to].push_back("recv " + bytes + "from " + std::to_string(from) + tail);
    if (below(3) == 0) lines[below(ranks)].push_back("calc " + std::to_string(below(2000)));
  }
  std::string text = "num_ranks " + std::to_string(ranks) + "\n";
  for (u32 r = 0; r < ranks; ++r) {
    text += "rank " + std::to_string(r) + " {\n";
    for (u32 i = 0; i < lines[r].size(); ++i) text += "l" + std::to_string(i) + ": " + lines[r][i] + "\n";
    for (u32 i = 1; i < lines[r].size(); ++i) {
      if (below(2) == 0) continue;
      text +=
          "l" + std::to_string(i) + (below(4) == 0 ? " irequires l" : " requires l") + std::to_string(below(i)) + "\n";
    }
    text += "}\n";
  }
  return text;
}

/// What a rank did fills its life, and the critical path leads from the start to the end of the job.
TEST(Replay, TimesAddUp) {
  std::mt19937 random(7);
  for (const HostRules rules : {HostRules::physical, HostRules::loggopsim}) {
    int finished = 0;
    for (int n = 0; n < 300; ++n) {
      const std::string text = random_schedule(random, 2 + random() % 4);
      const auto one_of = [&](std::initializer_list<u64> values) {
        return *(values.begin() + random() % values.size());
      };
      const Parameters p{one_of({0, 50, 2500}), one_of({0, 10, 1500}), one_of({0, 7, 1000}),
                         one_of({0, 1, 6}),     one_of({0, 1, 9}),     one_of({8, 100, 65535})};
      const Program program = program_of(text);
      const u32 repeats = 1 + static_cast<u32>(random() % 3);
      const JobOutcome outcome = outcome_of(program, rules, p, repeats);
      if (!outcome.explanation.empty()) continue;
      ++finished;
      const std::string what = text + fmt::format("L={} o={} g={} G={} O={} S={} repeats={}", p.latency, p.o, p.g,
                                                  p.per_byte, p.per_byte_overhead, p.eager, repeats);
      for (u32 r = 0; r < program.ranks(); ++r) {
        const RankTimes& t = outcome.times[r];
        ASSERT_EQ(t.computing + t.overhead + t.network + t.waiting, outcome.ends[r]) << "rank " << r << "\n" << what;
      }
      ASSERT_FALSE(outcome.critical_path.empty());
      ASSERT_EQ(outcome.critical_path.back().end, outcome.completion) << what;
      std::string path;
      for (const CriticalStep& step : outcome.critical_path)
        path += fmt::format("rank {} l{} repeat {}: {} to {}\n", step.place.rank, step.place.operation, step.repeat,
                            step.begin, step.end);
      // The beginning of a send that asks first may be on it, and its end again.
      std::set<std::tuple<u32, u32, u32, u64>> executed;
      for (const CriticalStep& step : outcome.critical_path)
        ASSERT_TRUE(executed.emplace(step.place.rank, step.place.operation, step.repeat, step.end).second)
            << path << what;
      ASSERT_EQ(outcome.critical_path.front().repeat, 0U) << path << what;
      ASSERT_EQ(outcome.critical_path.front().begin, 0U) << "not from the start\n" << path << what;
      // LogGOPSim begins what waits for the end of an operation on another core before that end.
      if (rules == HostRules::loggopsim) continue;
      for (std::size_t i = 1; i < outcome.critical_path.size(); ++i)
        ASSERT_LE(outcome.critical_path[i - 1].begin, outcome.critical_path[i].end) << path << what;
    }
    EXPECT_GT(finished, 100);
  }
}

}  // namespace
}  // namespace banyan::workload::replay_test
