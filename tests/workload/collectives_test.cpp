// Do the messages of every collective leave every rank with the right data, in any order that the schedule allows, and
// are they as many and as fast as the literature says?
#include "banyan/workload/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/workload/replay.hpp"
#include "support/schedule_interpreter.hpp"

namespace banyan::workload::collectives_test {
namespace {

using test::Memory;
using test::PieceOfData;

/// What `member` had at byte `at` of what it had for `to` (all-to-all) or of its vector.
u64 value(u32 member, u64 at, u32 to = 0) {
  u64 x = (u64{member} << 40U) + (u64{to} << 50U) + at + 1;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// Where part `index` of `parts` begins in `bytes`.
u64 begin_of(u64 bytes, u32 parts, u32 index) {
  u64 begin = 0;
  for (u32 k = 0; k < index; ++k) begin += bytes / parts + (k < bytes % parts ? 1 : 0);
  return begin;
}

struct Case {
  CollectiveOperation operation;
  std::vector<u32> members;  ///< their ranks
  u32 ranks = 0;
};

std::string text_of(const Case& c) {
  return std::string(name_of(c.operation.collective)) + " " + std::string(name_of(c.operation.algorithm)) +
         " members " + std::to_string(c.members.size()) + " bytes " + std::to_string(c.operation.bytes) + " segments " +
         std::to_string(c.operation.segments) + " root " + std::to_string(c.operation.root) + " group " +
         std::to_string(c.operation.group);
}

struct Made {
  Schedule schedule;
  std::vector<Transfer> transfers;
  CollectiveEnd end;
};

Made make(const Case& c) {
  Made made;
  ScheduleBuilder builder(c.ranks);
  made.end = append_collective(builder, c.operation, {c.members, 5, {}, &made.transfers});
  made.schedule = builder.build();
  return made;
}

constexpr u64 kNothing = 0xdeadULL;

/// The data of member `i`: `own(piece's block, byte)` gives the value, or nothing is there yet.
class Data {
 public:
  Data(const Case& c, u32 blocks) : case_(c), blocks_(blocks) {}

  template <typename Value>
  std::vector<PieceOfData> of(u32 i, u64 known, const Value& value_at) const {
    std::vector<PieceOfData> pieces;
    const u32 n = static_cast<u32>(case_.members.size());
    for (u32 block = 0; block < blocks_; ++block) {
      // An all-to-all holds blocks of other members at places by distance.
      const bool exchange = case_.operation.collective == Collective::all_to_all;
      const u32 sized_as = exchange ? (i + block) % n : block;
      const u64 begin = begin_of(case_.operation.bytes, blocks_, sized_as);
      const u64 length = begin_of(case_.operation.bytes, blocks_, sized_as + 1) - begin;
      for (u32 s = 0; s < case_.operation.segments; ++s) {
        PieceOfData piece;
        piece.known = known;
        const u64 end = begin_of(length, case_.operation.segments, s + 1);
        for (u64 b = begin_of(length, case_.operation.segments, s); b < end; ++b) {
          piece.bytes.push_back(value_at(block, exchange ? b : begin + b));
        }
        pieces.push_back(std::move(piece));
      }
    }
    return pieces;
  }

 private:
  const Case& case_;
  u32 blocks_;
};

Memory initial(const Case& c, u32 blocks) {
  const u32 n = static_cast<u32>(c.members.size());
  const Data data(c, blocks);
  Memory memory(c.ranks);
  for (u32 i = 0; i < n; ++i) {
    memory[c.members[i]] = data.of(i, u64{1} << i, [&](u32 block, u64 at) {
      switch (c.operation.collective) {
        case Collective::all_gather:
        case Collective::gather:
          return block == i ? value(i, at) : kNothing;
        case Collective::broadcast:
        case Collective::scatter:
          return i == c.operation.root ? value(i, at) : kNothing;
        case Collective::all_to_all:
          return value(i, at, (i + block) % n);
        default:
          return value(i, at);
      }
    });
  }
  return memory;
}

void expect_results(const Case& c, u32 blocks, const Memory& memory) {
  const u32 n = static_cast<u32>(c.members.size());
  const u64 all = (u64{1} << n) - 1;
  const Data data(c, blocks);
  const Collective kind = c.operation.collective;
  const bool own_block = kind == Collective::reduce_scatter || kind == Collective::scatter;
  const bool root_only = kind == Collective::reduce || kind == Collective::gather;
  const bool reduces = kind == Collective::all_reduce || kind == Collective::reduce_scatter ||
                       kind == Collective::reduce || kind == Collective::barrier;
  for (u32 i = 0; i < n; ++i) {
    if (root_only && i != c.operation.root) continue;
    // A member's data in an all-to-all have the length of its own block in the end.
    const auto wanted = data.of(i, all, [&](u32 block, u64 at) {
      if (kind == Collective::all_gather || kind == Collective::gather) return value(block, at);
      if (kind == Collective::broadcast || kind == Collective::scatter) return value(c.operation.root, at);
      u64 sum = 0;
      for (u32 m = 0; m < n; ++m) sum += value(m, at);
      return sum;
    });
    for (u32 p = 0; p < wanted.size(); ++p) {
      const u32 block = p / c.operation.segments;
      if (own_block && block != i) continue;
      const PieceOfData& got = memory[c.members[i]][p];
      if (kind == Collective::all_to_all) {
        const u32 from = (i + n - block) % n;
        const u64 length = begin_of(c.operation.bytes, n, i + 1) - begin_of(c.operation.bytes, n, i);
        const u32 s = p % c.operation.segments;
        const u64 begin = begin_of(length, c.operation.segments, s);
        ASSERT_EQ(got.bytes.size(), begin_of(length, c.operation.segments, s + 1) - begin) << text_of(c);
        for (u64 b = 0; b < got.bytes.size(); ++b) ASSERT_EQ(got.bytes[b], value(from, begin + b, i)) << text_of(c);
        continue;
      }
      // A barrier's messages hold no data that count.
      if (kind != Collective::barrier) {
        ASSERT_EQ(got.bytes, wanted[p].bytes) << text_of(c) << ": member " << i << " piece " << p;
      }
      if (reduces) { ASSERT_EQ(got.known, all) << text_of(c) << ": member " << i; }
    }
  }
}

void expect_right(const Case& c) {
  const Made made = make(c);
  for (const bool rendezvous : {false, true}) {
    for (u32 seed = 0; seed < 2; ++seed) {
      Memory memory = initial(c, made.end.blocks);
      ASSERT_NO_THROW(test::execute(made.schedule, made.transfers, memory, seed, rendezvous)) << text_of(c);
      expect_results(c, made.end.blocks, memory);
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

std::vector<Algorithm> algorithms_of(Collective collective) {
  std::vector<Algorithm> algorithms;
  for (const std::string& name : algorithm_names(collective)) {
    if (name != "automatic") algorithms.push_back(*algorithm_named(name));
  }
  return algorithms;
}

Case all_ranks(Collective collective, Algorithm algorithm, u32 n, u64 bytes, u32 segments = 1) {
  Case c{{collective, algorithm, bytes, segments, 0, 1}, std::vector<u32>(n), n};
  std::iota(c.members.begin(), c.members.end(), 0U);
  return c;
}

class EveryCollective : public ::testing::TestWithParam<Collective> {};

TEST_P(EveryCollective, LeavesTheRightDataForAnyNumberOfRanksAndAnySize) {
  for (const Algorithm algorithm : algorithms_of(GetParam())) {
    for (u32 n = 1; n <= 33; ++n) {
      for (const u64 bytes : {u64{1}, u64{47}, u64{2 * n}}) {
        Case c = all_ranks(GetParam(), algorithm, n, bytes, bytes == 47 ? 3 : 1);
        c.operation.root = bytes == 1 ? 0 : (2 * n) / 3;
        c.operation.group = bytes == 1 ? 4 : bytes == 47 ? 7 : n / 2 + 1;
        expect_right(c);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(EveryCollective, RunsAmongSomeRanksInAnyOrder) {
  for (const Algorithm algorithm : algorithms_of(GetParam())) {
    for (u32 n = 2; n <= 17; n += 3) {
      Case c{{GetParam(), algorithm, 29, 2, n - 1, 3}, {}, 2 * n + 1};
      for (u32 i = 0; i < n; ++i) c.members.push_back(2 * ((i * 5) % n == i && i > 0 ? i : n - 1 - i) + 1);
      std::ranges::sort(c.members);
      c.members.erase(std::unique(c.members.begin(), c.members.end()), c.members.end());
      c.operation.root = static_cast<u32>(c.members.size()) - 1;
      std::reverse(c.members.begin(), c.members.end());
      expect_right(c);
      if (::testing::Test::HasFatalFailure()) return;
      const Made made = make(c);
      for (u32 r = 0; r < c.ranks; ++r) {
        if (std::ranges::find(c.members, r) == c.members.end()) {
          EXPECT_TRUE(made.schedule.ranks[r].operations.empty()) << text_of(c) << ": rank " << r;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryCollective,
                         ::testing::Values(Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                                           Collective::broadcast, Collective::reduce, Collective::gather,
                                           Collective::scatter, Collective::all_to_all, Collective::barrier),
                         [](const auto& test) { return std::string(name_of(test.param)); });

// --- how many messages ----------------------------------------------------------------------------------------------

u32 log_up(u32 n) { return static_cast<u32>(std::bit_width(n - 1)); }

/// Exchanges among the largest power of two, and two messages for each of the others.
u64 folded(u32 n, u32 exchanges) {
  const u32 p = std::bit_floor(n);
  return u64{p} * static_cast<u32>(std::countr_zero(p)) * exchanges + 2 * (n - p);
}

u64 messages_of(Collective collective, Algorithm algorithm, u64 n, u64 group) {
  const u32 ranks = static_cast<u32>(n);
  const u64 pairs = n * (n - 1);
  const u64 groups = (n + group - 1) / group;
  const u64 active = n < group ? n : n % group == 0 ? group : n % group;
  const u64 inactive = n - groups * active;
  switch (algorithm) {
    case Algorithm::ring:
      return collective == Collective::all_reduce                                      ? 2 * pairs
             : collective == Collective::broadcast || collective == Collective::reduce ? n - 1
                                                                                       : pairs;
    case Algorithm::recursive_doubling:
      return folded(ranks, 1);
    case Algorithm::halving_doubling:
      if (collective == Collective::all_reduce) return folded(ranks, 2);
      return folded(ranks, 1) + (collective == Collective::reduce_scatter ? 0 : n - 1);
    case Algorithm::bruck:
    case Algorithm::dissemination:
      return n * log_up(ranks);
    case Algorithm::binomial:
      return collective == Collective::all_reduce || collective == Collective::barrier ? 2 * (n - 1) : n - 1;
    case Algorithm::double_binary_tree:
      return (collective == Collective::all_reduce ? 4 : 2) * (n - 1);
    case Algorithm::pairwise:
      return pairs;
    case Algorithm::linear:
      return collective == Collective::all_to_all ? pairs : n - 1;
    case Algorithm::hierarchical:
      switch (collective) {
        case Collective::all_reduce:
          return 2 * inactive + groups * 2 * active * (active - 1) + active * folded(static_cast<u32>(groups), 1);
        case Collective::barrier:
          return 2 * (n - groups) + groups * log_up(static_cast<u32>(groups));
        case Collective::broadcast:
        case Collective::reduce:
          return n - 1;
        default:
          return 2 * inactive + groups * active * (active - 1) + active * groups * (groups - 1);
      }
    case Algorithm::in_network:
    case Algorithm::automatic:
      break;
  }
  return 0;
}

TEST_P(EveryCollective, SendsAsManyMessagesAsTheAlgorithmSays) {
  for (const Algorithm algorithm : algorithms_of(GetParam())) {
    for (u32 n = 1; n <= 33; ++n) {
      for (const u32 group : {1U, 4U, 5U}) {
        for (const u32 segments : {1U, 3U}) {
          Case c = all_ranks(GetParam(), algorithm, n, 1000, segments);
          c.operation.group = group;
          const Made made = make(c);
          const u64 wanted = n == 1 ? 0 : messages_of(GetParam(), algorithm, n, group) * segments;
          EXPECT_EQ(made.end.messages, wanted) << text_of(c);
          EXPECT_EQ(made.transfers.size(), wanted) << text_of(c);
          u64 sends = 0;
          for (const RankSchedule& rank : made.schedule.ranks) {
            for (const Operation& operation : rank.operations) sends += operation.kind == OperationKind::send ? 1 : 0;
          }
          EXPECT_EQ(sends, wanted) << text_of(c);
        }
      }
    }
  }
}

// --- how long on a network of latency and bandwidth -----------------------------------------------------------------

constexpr u64 kLatency = 1000;
constexpr u64 kPerByte = 3;

u64 time_of(const Case& c) {
  return std::ranges::max(test::ends_on_ideal_network(make(c).schedule, kLatency, kPerByte));
}

u64 time_of(Collective collective, Algorithm algorithm, u32 n, u64 bytes, u32 segments = 1) {
  return time_of(all_ranks(collective, algorithm, n, bytes, segments));
}

TEST(ClosedForm, RingsTakeAStepPerOtherRank) {
  for (const u64 n : std::initializer_list<u64>{2, 3, 8, 13, 32}) {
    const u64 bytes = n * 40;
    const u64 step = kLatency + 40 * kPerByte;
    const u32 ranks = static_cast<u32>(n);
    EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::ring, ranks, bytes), 2 * (n - 1) * step);
    EXPECT_EQ(time_of(Collective::all_gather, Algorithm::ring, ranks, bytes), (n - 1) * step);
    EXPECT_EQ(time_of(Collective::reduce_scatter, Algorithm::ring, ranks, bytes), (n - 1) * step);
    EXPECT_EQ(time_of(Collective::reduce_scatter, Algorithm::pairwise, ranks, bytes), (n - 1) * step);
    EXPECT_EQ(time_of(Collective::all_to_all, Algorithm::pairwise, ranks, bytes), (n - 1) * step);
    EXPECT_EQ(time_of(Collective::all_to_all, Algorithm::linear, ranks, bytes), kLatency + (n - 1) * 40 * kPerByte);
  }
}

TEST(ClosedForm, SegmentsOfARingHideTheLatency) {
  // Each step has 10 segments of 40 * 3 time units: as long as the first one is back before the last one has left.
  const u64 n = 8;
  const u64 segment = 40 * kPerByte;
  ASSERT_LE(kLatency + segment, 10 * segment);
  EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::ring, 8, n * 400, 10), 2 * (n - 1) * 10 * segment + kLatency);
}

TEST(ClosedForm, DoublingTakesALogarithmOfSteps) {
  for (const u32 k : {1U, 2U, 3U, 5U}) {
    const u32 n = 1U << k;
    const u64 block = 40;
    const u64 bytes = n * block;
    EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::recursive_doubling, n, bytes),
              k * (kLatency + bytes * kPerByte));
    EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::halving_doubling, n, bytes),
              2 * (k * kLatency + (n - 1) * block * kPerByte));
    EXPECT_EQ(time_of(Collective::reduce_scatter, Algorithm::halving_doubling, n, bytes),
              k * kLatency + (n - 1) * block * kPerByte);
    EXPECT_EQ(time_of(Collective::all_gather, Algorithm::recursive_doubling, n, bytes),
              k * kLatency + (n - 1) * block * kPerByte);
    EXPECT_EQ(time_of(Collective::all_to_all, Algorithm::bruck, n, bytes), k * (kLatency + bytes / 2 * kPerByte));
    EXPECT_EQ(time_of(Collective::barrier, Algorithm::recursive_doubling, n, 0), k * kLatency);
    // Broadcast by scatter and all-gather, reduce by reduce-scatter and gather.
    EXPECT_EQ(time_of(Collective::broadcast, Algorithm::halving_doubling, n, bytes),
              2 * (k * kLatency + (n - 1) * block * kPerByte));
    EXPECT_EQ(time_of(Collective::reduce, Algorithm::halving_doubling, n, bytes),
              2 * (k * kLatency + (n - 1) * block * kPerByte));
  }
}

TEST(ClosedForm, OtherNumbersOfRanksFoldToAPowerOfTwo) {
  // Of 15 ranks, 7 hand their vector to a neighbour and get the result back: two more steps than 8 ranks take.
  const u64 bytes = 320;
  const u64 whole = kLatency + bytes * kPerByte;
  EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::recursive_doubling, 15, bytes), 5 * whole);
  EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::halving_doubling, 15, bytes),
            2 * whole + 2 * (3 * kLatency + bytes * 7 / 8 * kPerByte));
}

TEST(ClosedForm, BruckAndDisseminationRoundUpTheLogarithm) {
  for (const u32 n : {2U, 3U, 7U, 16U, 29U}) {
    EXPECT_EQ(time_of(Collective::all_gather, Algorithm::bruck, n, n * 40),
              log_up(n) * kLatency + (n - 1) * 40 * kPerByte);
    EXPECT_EQ(time_of(Collective::barrier, Algorithm::dissemination, n, 0), log_up(n) * kLatency);
  }
}

TEST(ClosedForm, TreesAreAsDeepAsTheirLogarithm) {
  const u64 bytes = 500;
  const u64 whole = kLatency + bytes * kPerByte;
  for (const u32 k : {1U, 2U, 3U, 5U}) {
    const u32 n = 1U << k;
    EXPECT_EQ(time_of(Collective::broadcast, Algorithm::binomial, n, bytes), k * whole);
    EXPECT_EQ(time_of(Collective::reduce, Algorithm::binomial, n, bytes), k * whole);
    EXPECT_EQ(time_of(Collective::all_reduce, Algorithm::binomial, n, bytes), 2 * k * whole);
    EXPECT_EQ(time_of(Collective::scatter, Algorithm::binomial, n, n * 40), k * kLatency + (n - 1) * 40 * kPerByte);
    EXPECT_EQ(time_of(Collective::gather, Algorithm::binomial, n, n * 40), k * kLatency + (n - 1) * 40 * kPerByte);
  }
}

TEST(ClosedForm, SegmentsFlowThroughAChain) {
  const u64 segment = 50 * kPerByte;
  for (const u32 n : {2U, 5U, 9U}) {
    for (const u32 segments : {1U, 7U, 20U}) {
      const u64 wanted = (n - 1) * (kLatency + segment) + (segments - 1) * segment;
      EXPECT_EQ(time_of(Collective::broadcast, Algorithm::ring, n, u64{50} * segments, segments), wanted);
      EXPECT_EQ(time_of(Collective::reduce, Algorithm::ring, n, u64{50} * segments, segments), wanted);
    }
  }
}

/// The forms are checked on a network that the test has for itself; `ideal` takes as long, but for the last byte of
/// each message, and for two trees: their ranks receive two streams and send two, and a send whose interface is busy
/// holds its core.
TEST(ClosedForm, HoldsOnTheIdealNetworkOfJobs) {
  const auto on_ideal = [](const Case& c) {
    Host host;
    host.gap_per_byte = PerByte(kPerByte);
    const IdealWire wire{kLatency, host.gap_per_byte};
    return static_cast<double>(replay_physical(Program(make(c).schedule, "test"), host, wire, {}).completion);
  };
  for (const u32 n : {2U, 3U, 8U, 13U, 16U}) {
    for (const std::string& collective : collective_names()) {
      for (const std::string& algorithm : algorithm_names(*collective_named(collective))) {
        if (algorithm == "automatic" || algorithm == "hierarchical") continue;
        const bool trees = algorithm == "double_binary_tree";
        const Case c = all_ranks(*collective_named(collective), *algorithm_named(algorithm), n,
                                 trees ? 240'000 : n * 4000, trees ? 200 : 1);
        const double ratio = on_ideal(c) / static_cast<double>(time_of(c));
        EXPECT_GT(ratio, 0.99) << text_of(c);
        EXPECT_LT(ratio, trees && collective != "broadcast" ? 1.4 : 1.001) << text_of(c);
      }
    }
  }
}

TEST(ClosedForm, TwoTreesUseTheWholeBandwidthOfEveryRank) {
  // Sanders, Speck, Traeff: each rank but the root sends and receives a vector, whatever the number of ranks, and what
  // the depth adds is hidden by segments.
  const u64 bytes = 240'000;
  for (const u32 n : {2U, 3U, 8U, 15U, 16U, 33U}) {
    for (const Collective collective : {Collective::broadcast, Collective::reduce, Collective::all_reduce}) {
      const Case c = all_ranks(collective, Algorithm::double_binary_tree, n, bytes, 200);
      const Made made = make(c);
      std::vector<u64> sent(n, 0);
      std::vector<u64> received(n, 0);
      for (const Transfer& transfer : made.transfers) {
        sent[transfer.from] += made.schedule.ranks[transfer.from].operations[transfer.send].amount;
        received[transfer.to] += made.schedule.ranks[transfer.to].operations[transfer.receive].amount;
      }
      const u64 times = collective == Collective::all_reduce ? 2 : 1;
      EXPECT_LE(std::ranges::max(sent), times * bytes) << text_of(c);
      EXPECT_LE(std::ranges::max(received), times * bytes) << text_of(c);
      const u64 segment = kLatency + bytes / 400 * kPerByte;
      const u64 depth = log_up(n) + 1;
      EXPECT_LE(time_of(c), bytes * times * kPerByte + 4 * times * depth * segment) << text_of(c);
      EXPECT_GE(time_of(c), bytes * kPerByte + kLatency) << text_of(c);
    }
  }
}

TEST(ClosedForm, GroupsTakeTheirPhasesOneAfterTheOther) {
  // 4 groups of 8: a ring in each, recursive doubling across, a ring in each.
  Case c = all_ranks(Collective::all_reduce, Algorithm::hierarchical, 32, 8 * 40);
  c.operation.group = 8;
  const u64 part = kLatency + 40 * kPerByte;
  EXPECT_EQ(time_of(c), 2 * 7 * part + 2 * part);
}

// --- as parts of a schedule -----------------------------------------------------------------------------------------

TEST(InASchedule, ACollectiveBeginsAndEndsWhereItIsTold) {
  for (const Collective collective : {Collective::all_reduce, Collective::all_to_all, Collective::broadcast}) {
    for (const Algorithm algorithm : algorithms_of(collective)) {
      ScheduleBuilder builder(6);
      std::vector<u32> members{0, 1, 2, 3, 4, 5};
      std::vector<u32> begin;
      for (u32 r = 0; r < 6; ++r) begin.push_back(builder.calculate(r, 1'000'000 * (r + 1)));
      const CollectiveEnd end =
          append_collective(builder, {collective, algorithm, 60, 2, 0, 2}, {members, 0, begin, nullptr});
      for (u32 r = 0; r < 6; ++r) {
        const u32 last = builder.calculate(r, 0);
        for (const u32 operation : end.last[r]) builder.after_end(r, last, operation);
      }
      const Schedule schedule = builder.build();
      for (u32 r = 0; r < 6; ++r) {
        const RankSchedule& rank = schedule.ranks[r];
        // Everything between follows the first operation, and the last one follows everything.
        std::vector<bool> after(rank.operations.size(), false);
        after[0] = true;
        std::vector<bool> before(rank.operations.size(), false);
        before.back() = true;
        for (u32 round = 0; round < rank.operations.size(); ++round) {
          for (u32 i = 0; i < rank.operations.size(); ++i) {
            for (const Dependent& dependent : rank.dependents_of(i)) {
              if (after[i]) after[dependent.operation] = true;
              if (before[dependent.operation]) before[i] = true;
            }
          }
        }
        EXPECT_TRUE(std::ranges::all_of(after, [](bool b) { return b; })) << name_of(algorithm) << " rank " << r;
        EXPECT_TRUE(std::ranges::all_of(before, [](bool b) { return b; })) << name_of(algorithm) << " rank " << r;
      }
    }
  }
}

TEST(InASchedule, MessagesOfOnePairHaveTagsOfTheirOwn) {
  for (const Algorithm algorithm : algorithms_of(Collective::all_reduce)) {
    const Made made = make(all_ranks(Collective::all_reduce, algorithm, 13, 100, 3));
    std::vector<std::tuple<u32, u32, u32>> used;
    for (const Transfer& transfer : made.transfers) {
      const u32 tag = made.schedule.ranks[transfer.from].operations[transfer.send].tag;
      EXPECT_GE(tag, 5U);
      EXPECT_LT(tag, 5 + made.end.tags);
      used.emplace_back(transfer.from, transfer.to, tag);
    }
    std::ranges::sort(used);
    EXPECT_EQ(std::adjacent_find(used.begin(), used.end()), used.end()) << name_of(algorithm);
  }
}

// --- the parameters of a generator ----------------------------------------------------------------------------------

config::Values settings(const std::vector<std::pair<std::string, config::Value>>& given) {
  config::Values values("collective", {});
  for (const config::Parameter& parameter : collective_info().parameters) {
    if (parameter.fallback) values.set(parameter.name, *parameter.fallback, {}, false);
  }
  for (const auto& [name, value] : given) values.set(name, value);
  return values;
}

std::string refusal(const std::vector<std::pair<std::string, config::Value>>& given) {
  try {
    make_collective(settings(given));
  } catch (const ConfigError& error) { return error.cause() + "; " + error.remedy(); }
  return "";
}

using std::string;

TEST(Generator, MakesTheScheduleThatItsTableDescribes) {
  const Schedule schedule = make_collective(settings({{"collective", string("all_reduce")},
                                                      {"algorithm", string("ring")},
                                                      {"bytes", i64{1 << 20}},
                                                      {"ranks", i64{8}}}));
  ASSERT_EQ(schedule.ranks.size(), 8U);
  for (const RankSchedule& rank : schedule.ranks) {
    EXPECT_EQ(rank.operations.size(), 28U);
    for (const Operation& operation : rank.operations) EXPECT_EQ(operation.amount, u64{1} << 17U);
  }
}

TEST(Generator, ChoosesByTheSizeUnlessItIsTold) {
  const auto operations = [](i64 bytes) {
    return make_collective(settings({{"collective", string("all_reduce")}, {"bytes", bytes}, {"ranks", i64{8}}}))
        .ranks[0]
        .operations.size();
  };
  EXPECT_EQ(operations(1024), 6U);      // recursive doubling
  EXPECT_EQ(operations(1 << 20), 12U);  // halving and doubling
}

TEST(Generator, RefusesWhatDoesNotFit) {
  EXPECT_EQ(refusal({{"collective", string("barrier")}, {"algorithm", string("ring")}, {"ranks", i64{8}}}),
            "barrier has no algorithm \"ring\"; choose one of automatic, dissemination, recursive_doubling, binomial, "
            "hierarchical, in_network");
  EXPECT_EQ(refusal({{"collective", string("reduce")}, {"ranks", i64{8}}}),
            "reduce of no bytes moves nothing; give the length of the vector, such as bytes = \"1 MiB\"");
  EXPECT_EQ(refusal({{"collective", string("reduce")}, {"bytes", i64{8}}, {"ranks", i64{8}}, {"root", i64{8}}}),
            "rank 8 is none of the 8 ranks; use a rank below 8");
  EXPECT_EQ(refusal({{"collective", string("all_reduce")}, {"bytes", i64{8}}, {"ranks", i64{8}}, {"root", i64{1}}}),
            "all_reduce has no root; leave root out");
  EXPECT_EQ(refusal({{"collective", string("all_reduce")}, {"bytes", i64{8}}, {"ranks", i64{8}}, {"group", i64{1}}}),
            "only the algorithm hierarchical has groups; leave group out");
  EXPECT_NE(refusal({{"collective", string("all_to_all")}, {"bytes", i64{1 << 20}}, {"ranks", i64{1 << 20}}})
                .find("more than 16777216; use fewer ranks"),
            string::npos);
  EXPECT_EQ(refusal({{"collective", string("barrier")}, {"ranks", i64{1}}}), "");
}

}  // namespace
}  // namespace banyan::workload::collectives_test
