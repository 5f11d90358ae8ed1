// Is what a schedule says about itself true: its contents, what does not match, its critical path and its cycles?
#include "banyan/workload/inspection.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "banyan/base/hash.hpp"
#include "workload/files.hpp"

namespace banyan::workload::inspection_test {
namespace {

/// A schedule of two ranks.
Program two(const std::string& zero, const std::string& one) {
  return program_of("num_ranks 2\nrank 0 {\n" + zero + "\n}\nrank 1 {\n" + one + "\n}\n");
}

std::vector<std::string> texts(const std::vector<Unmatched>& all) {
  std::vector<std::string> list;
  for (const Unmatched& u : all) list.push_back(to_text(u));
  return list;
}
using Texts = std::vector<std::string>;

TEST(Inspection, ContentsAreCounted) {
  const Contents c = contents_of(two("a: send 5b to 1\nb: calc 9\nb requires a\nb irequires a", "recv 6b from 0"));
  EXPECT_EQ(c.operations, (std::array<u64, 3>{1, 1, 1}));
  EXPECT_EQ(c.bytes, 5U);
  EXPECT_EQ(c.received, 6U);
  EXPECT_EQ(c.calculated, 9U);
  EXPECT_EQ(c.dependencies, 2U);
}

TEST(Inspection, WhatDoesNotMatchIsNamedWithRankPeerTagAndCount) {
  EXPECT_EQ(texts(unmatched_of(two("send 5b to 1", "recv 5b from 0"))), Texts{});
  EXPECT_EQ(texts(unmatched_of(two("send 5b to 1 tag 3\nsend 5b to 1 tag 3", "recv 5b from 0 tag 4"))),
            (Texts{"rank 0 sends to rank 1 with tag 3: 2 without counterpart",
                   "rank 1 receives from rank 0 with tag 4: 1 without counterpart"}));
}

TEST(Inspection, WildcardsTakeWhatExactReceivesLeave) {
  const std::string sends = "send 5b to 1 tag 3\nsend 5b to 1 tag 4\nsend 5b to 1 tag 4";
  EXPECT_EQ(texts(unmatched_of(two(sends, "recv 5b from -1 tag -1\nrecv 5b from 0 tag 3\nrecv 5b from 0 tag -1"))),
            Texts{});
  EXPECT_EQ(texts(unmatched_of(two(sends, "recv 5b from 0 tag 3\nrecv 5b from -1 tag 4"))),
            Texts{"rank 0 sends to rank 1 with tag 4: 1 without counterpart"});
  EXPECT_EQ(texts(unmatched_of(two(sends,
                                   "recv 5b from 0 tag -1\nrecv 5b from -1 tag -1\nrecv 5b from -1 tag 9\n"
                                   "recv 5b from -1 tag -1"))),
            Texts{"rank 1 receives from any rank with tag 9: 1 without counterpart"});
}

TEST(Inspection, TheCriticalPathGoesThroughMessages) {
  const Program p = two("a: calc 10\nb: send 1b to 1\nb requires a\nc: calc 3",
                        "d: calc 4\ne: recv 1b from 0\nf: calc 20\nf requires e\nf requires d");
  const Untimed u = run_untimed(p, true);
  EXPECT_EQ(u.length, 30U);
  EXPECT_EQ(u.chain, (std::vector<Place>{{0, 0}, {0, 1}, {1, 1}, {1, 2}}));
  EXPECT_EQ(u.done, 6U);
}

TEST(Inspection, ADependencyOnTheStartDoesNotWaitForTheEnd) {
  const Program p = program_of("num_ranks 1\nrank 0 {\na: calc 10\nb: calc 5\nb irequires a\n}");
  EXPECT_EQ(run_untimed(p, true).length, 10U);
}

/// What waits for the begin of a receive does not wait for its message; the path back may not take its end for it.
TEST(Inspection, TheCriticalPathTellsBeginsFromEnds) {
  const std::string first = "a: recv 8b from 1 tag 0\nb: send 8b to 1 tag 1\nb requires a";
  const Untimed u = run_untimed(
      two(first, "c: recv 8b from 0 tag 1\nk: calc 5\nk irequires c\nd: send 8b to 0 tag 0\nd requires k"), true);
  EXPECT_EQ(u.length, 5U);
  EXPECT_EQ(u.chain, (std::vector<Place>{{1, 0}, {1, 1}, {1, 2}, {0, 0}, {0, 1}, {1, 0}}));
  EXPECT_EQ(run_untimed(two(first, "c: recv 8b from 0 tag 1\nd: send 8b to 0 tag 0\nd irequires c"), true).length, 0U);
}

/// A message above the eager limit ends its send when the receive begins.
TEST(Inspection, TheCriticalPathGoesBackThroughReceivesOfLongMessages) {
  const Program p = two("a: send 8b to 1\nb: calc 3\nb requires a", "c: calc 9\nd: recv 8b from 0\nd requires c");
  const Untimed u = run_untimed(p, true, 4);
  EXPECT_EQ(u.length, 12U);
  EXPECT_EQ(u.chain, (std::vector<Place>{{1, 0}, {1, 1}, {0, 0}, {0, 1}}));
}

/// Messages in one order at every rank, so that all ends, and dependencies on earlier operations.
RC_GTEST_PROP(Inspection, TheCriticalPathEndsWithWhatWaitsForNothing, ()) {
  const u32 ranks = *rc::gen::inRange(1U, 5U);
  const u32 steps = *rc::gen::inRange(1U, 40U);
  const u64 seed = *rc::gen::arbitrary<u64>();
  std::vector<std::string> text(ranks);
  std::vector<u32> count(ranks, 0);
  u64 draws = 0;
  const auto draw = [&](u64 below) { return mix64(seed + ++draws) % below; };
  const auto add = [&](u32 rank, const std::string& operation) {
    const u32 own = count[rank]++;
    text[rank] += "o" + std::to_string(own) + ": " + operation + "\n";
    for (u32 k = 0; own != 0 && k < 2; ++k) {
      if (draw(2) == 0) continue;
      text[rank] += "o" + std::to_string(own) + (draw(2) == 0 ? " requires o" : " irequires o") +
                    std::to_string(draw(own)) + "\n";
    }
  };
  for (u32 s = 0; s < steps; ++s) {
    const u32 from = static_cast<u32>(draw(ranks));
    const u32 to = static_cast<u32>(draw(ranks));
    if (from == to) {
      add(from, "calc " + std::to_string(draw(20)));
      continue;
    }
    const std::string tag = " tag " + std::to_string(s);
    add(from, "send 8b to " + std::to_string(to) + tag);
    add(to, "recv 8b from " + std::to_string(from) + tag);
  }
  std::string whole = "num_ranks " + std::to_string(ranks) + "\n";
  for (u32 r = 0; r < ranks; ++r) whole += "rank " + std::to_string(r) + " {\n" + text[r] + "}\n";
  const Program program = program_of(whole);
  for (const u64 eager : {~u64{0}, u64{0}}) {
    const Untimed u = run_untimed(program, true, eager);
    if (u.done != program.operations()) continue;
    RC_ASSERT(!u.chain.empty());
    RC_ASSERT(u.chain.size() <= 2 * program.operations());
    RC_ASSERT(program.waits_for(u.chain[0].rank, u.chain[0].operation) == 0U);
    u64 longest = 0;  // no chain is longer than what is calculated on it
    for (std::size_t i = 0; i < u.chain.size(); ++i) {
      const Operation o = program.operation(u.chain[i].rank, u.chain[i].operation);
      if (o.kind == OperationKind::calculate) longest += o.amount;
    }
    RC_ASSERT(u.length <= longest);
  }
}

TEST(Inspection, ACycleWithinARankIsFound) {
  const Program p = program_of(
      "num_ranks 1\nrank 0 {\nx: calc 1\na: calc 1\nb: calc 1\nc: calc 1\n"
      "b requires a\nc requires b\na requires c\na requires x\n}");
  const Untimed u = run_untimed(p, false);
  EXPECT_EQ(u.done, 1U);
  EXPECT_EQ(u.cycle.size(), 3U);
  EXPECT_THROW(require_sound(p), ConfigError);
}

TEST(Inspection, ReceivesThatAreShorterThanTheirMessagesAreCounted) {
  const Program p = two("send 9b to 1\nsend 5b to 1 tag 1\nsend 7b to 1 tag 2",
                        "recv 8b from 0\nrecv 5b from 0 tag 1\nrecv 9b from 0 tag 2");
  const Untimed u = run_untimed(p, false);
  EXPECT_EQ(u.shorter, 1U);
  EXPECT_EQ(
      short_receives_text(p, u),
      "1 receive is shorter than the message that it meets, the first: rank 1, operation 0 (recv 8b from 0 tag 0) "
      "of rank 0, operation 0 (send 9b to 1 tag 0); all of it is received");
  EXPECT_EQ(short_receives_text(p, require_sound(two("send 9b to 1", "recv 9b from 0"))), "");
}

TEST(Inspection, SendsAboveTheEagerLimitThatWaitForEachOtherAreACycle) {
  const Program p =
      two("s: send 9b to 1\nr: recv 9b from 1\nr requires s", "s: send 9b to 0\nr: recv 9b from 0\nr requires s");
  EXPECT_NO_THROW(require_sound(p));
  EXPECT_NO_THROW(require_sound(p, 9));
  const Untimed u = run_untimed(p, false, 8);
  EXPECT_EQ(u.done, 0U);
  EXPECT_EQ(u.cycle.size(), 4U);
  try {
    require_sound(p, 8);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(error.cause().find("rank 0, operation 0 (send 9b to 1 tag 0)"), std::string::npos) << error.cause();
    EXPECT_NE(error.remedy().find("a larger host.eager"), std::string::npos) << error.remedy();
  }
  // Who begins does not wait for itself.
  EXPECT_EQ(run_untimed(two("s: send 9b to 1\nr: recv 9b from 1\nr requires s",
                            "s: send 9b to 0\nr: recv 9b from 0\ns requires r"),
                        false, 8)
                .done,
            4U);
}

TEST(Inspection, ACycleThroughMessagesIsFound) {
  const Program p =
      two("r: recv 1b from 1\ns: send 1b to 1\ns requires r", "r: recv 1b from 0\ns: send 1b to 0\ns requires r");
  const Untimed u = run_untimed(p, false);
  EXPECT_EQ(u.cycle.size(), 4U);
  try {
    require_sound(p);
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(error.cause().find("rank 1, operation 0 (recv 1b from 0 tag 0)"), std::string::npos) << error.cause();
  }
}

/// Rank 1 posts its second receive of the tag before its first where messages take no time: with a network the second
/// message comes later, and all end.
TEST(Inspection, WhoMeetsWhomByTimeIsLeftToTheRun) {
  const char* const zero = "a: send 1b to 1\nb: send 1b to 1\nr: recv 1b from 1 tag 9\nb requires r";
  const auto one = [](const std::string& more) {
    return "x: recv 1b from 0\ny: recv 1b from 0\nc: calc 5\nx requires c\ns: send 1b to 0 tag 9\ns requires x" + more;
  };
  const Program p = two(zero, one(""));
  EXPECT_FALSE(meets_in_one_order(p));
  const Untimed u = run_untimed(p, false);
  EXPECT_LT(u.done, p.operations());
  EXPECT_TRUE(u.open);
  EXPECT_TRUE(u.cycle.empty());
  EXPECT_FALSE(u.stuck.empty());
  EXPECT_TRUE(require_sound(p).open);
  // In an order of their own they meet as they are numbered.
  const Program ordered = two(zero, one("\ny requires x"));
  EXPECT_FALSE(meets_in_one_order(ordered));  // the sends have their order by what comes back only
  EXPECT_EQ(run_untimed(ordered, false).done, ordered.operations());
  EXPECT_TRUE(meets_in_one_order(two(std::string(zero) + "\nr requires a", one("\ny requires x"))));
  EXPECT_FALSE(meets_in_one_order(two("recv 1b from -1", "send 1b to 0")));
}

/// Dependencies within ranks are a circle whatever meets.
TEST(Inspection, ACycleWithoutMessagesIsCertain) {
  const Program p = two("a: send 1b to 1\nb: send 1b to 1\nx: calc 1\ny: calc 1\nx requires y\ny requires x",
                        "recv 1b from 0\nrecv 1b from 0");
  EXPECT_FALSE(meets_in_one_order(p));
  EXPECT_EQ(run_untimed(p, false).cycle.size(), 2U);
  EXPECT_THROW(require_sound(p), ConfigError);
}

TEST(Inspection, WhatIsSoundIsNotRefused) {
  EXPECT_NO_THROW(require_sound(
      two("s: send 1b to 1\nr: recv 1b from 1\nr requires s", "s: send 1b to 0\nr: recv 1b from 0\ns irequires r")));
}

TEST(Inspection, WhoTalksToWhom) {
  const Exchange e = exchange_of(two("send 5b to 1\nsend 9b to 1\nsend 9b to 1", "send 7b to 0"), 2);
  EXPECT_EQ(e.pairs, 2U);
  ASSERT_EQ(e.busiest.size(), 2U);
  EXPECT_EQ(e.busiest[0].bytes, 23U);
  EXPECT_EQ(e.busiest[0].messages, 3U);
  ASSERT_EQ(e.largest.size(), 2U);
  EXPECT_EQ(e.largest[0].bytes, 9U);
  EXPECT_EQ(e.largest[0].count, 2U);
  EXPECT_EQ(e.largest[1].bytes, 7U);
}

}  // namespace
}  // namespace banyan::workload::inspection_test
