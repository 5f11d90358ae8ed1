// Do ranks, here threads that swap texts, come to the same sums, the same errors, and the state of one process?
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "engine/machines.hpp"
#include "support/rank_hub.hpp"

namespace banyan::engine::ranks_test {
namespace {

using test::on_ranks;

TEST(Ranks, SumsAreThoseOfAllInTheirOrder) {
  on_ranks(3, [](Ranks& ranks) {
    const auto join = [](auto& all, const auto& more) { all.insert(all.end(), more.begin(), more.end()); };
    EXPECT_EQ(ranks.sum(std::vector<u32>(ranks.rank(), ranks.rank()), join), (std::vector<u32>{1, 2, 2}));
    EXPECT_EQ(ranks.sum(u64{ranks.rank()} + 1, [](u64& sum, u64 more) { sum += more; }), 6U);
  });
}

TEST(Ranks, TextsReachTheirRank) {
  on_ranks(3, [](Ranks& ranks) {
    for (u32 round = 0; round < 2; ++round) {
      for (u32 r = 0; r < 3; ++r) ranks.to(r) += std::to_string(ranks.rank()) + ">" + std::to_string(r);
      ranks.exchange();
      for (u32 r = 0; r < 3; ++r) {
        if (r == ranks.rank()) continue;
        EXPECT_EQ(ranks.from(r).substr(Ranks::kHeader), std::to_string(r) + ">" + std::to_string(ranks.rank()));
      }
    }
  });
}

TEST(Ranks, ShardsAreDealtInBlocks) {
  on_ranks(3, [](Ranks& ranks) {
    EXPECT_EQ(ranks.first(0, 8), 0U);
    EXPECT_EQ(ranks.first(1, 8), 2U);
    EXPECT_EQ(ranks.first(2, 8), 5U);
    EXPECT_EQ(ranks.first(3, 8), 8U);
  });
}

TEST(Ranks, AFailureReachesAllAtTheSameMeeting) {
  on_ranks(3, [](Ranks& ranks) {
    ranks.exchange();
    if (ranks.rank() == 1) {
      const RankFailure first = ranks.fail(2, "the disk is full");
      EXPECT_EQ(first.rank, 1U);
      return;
    }
    try {
      static_cast<void>(ranks.sum(u32{1}, [](u32& sum, u32 more) { sum += more; }));
      ADD_FAILURE() << "went on";
    } catch (const RankFailed& failed) {
      EXPECT_EQ(failed.failure().rank, 1U);
      EXPECT_EQ(failed.failure().status, 2);
      EXPECT_EQ(failed.failure().reason, "the disk is full");
    }
  });
}

TEST(Ranks, OfSeveralThatFailTheFirstTells) {
  on_ranks(3, [](Ranks& ranks) {
    if (ranks.rank() == 0) {
      EXPECT_THROW(ranks.exchange(), RankFailed);
      return;
    }
    EXPECT_EQ(ranks.fail(3, "broken").rank, 1U);
  });
}

TEST(Ranks, DifferentMeetingsAreNoticed) {
  on_ranks(2, [](Ranks& ranks) {
    if (ranks.rank() == 0) {
      EXPECT_THROW(ranks.exchange(), InvariantError);
    } else {
      EXPECT_THROW(static_cast<void>(ranks.sum(u32{1}, [](u32&, u32) {})), InvariantError);
    }
  });
}

/// Messages between all terminals, some of them far and long.
std::vector<test::Script::Line> messages(u32 terminals) {
  std::vector<test::Script::Line> lines;
  for (Tick birth = 0; birth < 60; birth += 3) {
    for (u32 t = 0; t < terminals; ++t) {
      const u32 to = (t * 7 + static_cast<u32>(birth) * 5 + 1) % terminals;
      if (to != t) lines.push_back({t, birth, to, 1 + (t + static_cast<u32>(birth)) % 6});
    }
  }
  return lines;
}

struct Instance {
  test::Part topology;
  test::Part switching;
  test::Part routing;
};

std::vector<Instance> instances() {
  return {{{"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router", {{"vcs", i64{2}}}}, {"dimension_order"}},
          {{"torus", {{"size", std::vector<i64>{4, 4}}}},
           {"vc_router", {{"vcs", i64{2}}, {"kernel", std::string("general")}}},
           {"dimension_order"}},
          {{"fat_tree", {{"arity", i64{2}}, {"levels", i64{3}}}}, {"vc_router"}, {"nearest_common_ancestor"}},
          {{"bidirectional_min", {{"hosts", i64{16}}}}, {"central_buffer"}, {"nearest_common_ancestor"}},
          {{"bidirectional_min", {{"hosts", i64{16}}}}, {"input_buffer"}, {"nearest_common_ancestor"}}};
}

TEST(Ranks, MachinesHaveTheStateOfOneProcess) {
  for (const Instance& instance : instances()) {
    test::Rig alone(instance.topology, instance.switching, instance.routing);
    Machine& one = alone.run_script(messages(alone.topology().graph().terminals()));
    std::vector<u64> hashes;
    std::vector<u64> held;
    for (Tick at = 10; at < 400; at += 10) {
      one.run_until(at);
      hashes.push_back(one.hash());
      held.push_back(one.audit());
    }
    for (const u32 size : {2U, 3U}) {
      on_ranks(size, [&](Ranks& ranks) {
        EngineSettings settings;
        settings.threads = ranks.rank() + 1;  // they need not be equal
        settings.cut_for = 2 * size;
        settings.shards = 2 * size;
        settings.ranks = &ranks;
        test::Rig rig(instance.topology, instance.switching, instance.routing, settings);
        Machine& machine = rig.run_script(messages(rig.topology().graph().terminals()));
        EXPECT_LT(machine.shards().size(), 2 * size);
        for (std::size_t i = 0; i < hashes.size(); ++i) {
          machine.run_until(10 * (i + 1));
          EXPECT_EQ(machine.hash(), hashes[i]) << instance.topology.name << " " << instance.switching.name << " " << i;
          EXPECT_EQ(machine.audit(), held[i]);
        }
        EXPECT_EQ(machine.totals().delivered, one.totals().delivered);
        EXPECT_EQ(machine.tallies()[0].latency, alone.machine().tallies()[0].latency);
      });
    }
  }
}

TEST(Ranks, AMachineWithThreadsEndsWhenAnotherRankFails) {
  on_ranks(2, [](Ranks& ranks) {
    EngineSettings settings;
    settings.shards = 4;
    settings.threads = 2;
    settings.ranks = &ranks;
    test::Rig rig({"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router"}, {"dimension_order"}, settings);
    Machine& machine = rig.run_script(messages(16));
    machine.run_until(10);
    if (ranks.rank() == 0) {
      static_cast<void>(ranks.fail(1, "no"));
    } else {
      EXPECT_THROW(machine.run_until(100), RankFailed);
    }
  });
}

TEST(Ranks, MoreThanShardsAreRefusedBeforeAnythingIsBuilt) {
  on_ranks(2, [](Ranks& ranks) {
    EngineSettings settings;
    settings.shards = 1;
    settings.ranks = &ranks;
    test::Rig rig({"mesh", {{"size", std::vector<i64>{4, 4}}}}, {"vc_router"}, {"dimension_order"}, settings);
    EXPECT_THROW(rig.run_script({}), ConfigError);
  });
}

TEST(PlaceLedgers, OfTwoRanksFindTogetherWhatIsLost) {
  PlaceLedger sender;
  PlaceLedger receiver;
  sender.open(3, 1, 8);
  sender.known(3, 1, 5);
  receiver.known(3, 1, 2);
  EXPECT_TRUE(sender.take_unbalanced(0, 3).empty());
  EXPECT_TRUE(sender.take_unbalanced(4, 8).empty());
  std::vector<PlaceLedger::Unbalanced> all = sender.take_unbalanced(3, 4);
  EXPECT_EQ(all.size(), 1U);
  for (const PlaceLedger::Unbalanced& one : receiver.take_unbalanced(0, 8)) all.push_back(one);
  std::vector<i64> errors;
  for (PlaceLedger* ledger : {&sender, &receiver}) {
    ledger->add(all);
    ledger->for_each_error([&](u32 channel, u32 vc, i64 missing) {
      EXPECT_EQ(channel, 3U);
      EXPECT_EQ(vc, 1U);
      errors.push_back(missing);
    });
  }
  EXPECT_EQ(errors, std::vector<i64>{1});
}

}  // namespace
}  // namespace banyan::engine::ranks_test
