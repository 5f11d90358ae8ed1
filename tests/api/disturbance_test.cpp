// Does a run say what a disturbance of its traffic did to the throughput, and take times where a cycle has a length?
#include <gtest/gtest.h>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "support/rows.hpp"

namespace banyan::api::disturbance_test {
namespace {

const char* const kTree =
    "topology = { name = 'bidirectional_min', hosts = 16 }\nswitch = { name = 'cioq', queues = 'voqsw', speedup = 1 }\n"
    "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
    "[[traffic]]\nname = 'congestion'\ndestinations = [5]\nshares = [0.5]\nstart = '20 us'\nduration = '20 us'\n"
    "normal_load = 0.5\n[run]\nduration = '80 us'\nwindow = '2 us'\n";

TEST(Disturbance, ThroughputBeforeDuringAndAfterAreMetrics) {
  const Result result = run(read_experiments_text(kTree, "tree", {}).points.front());
  // Eight normal sources send half of the rate.
  EXPECT_NEAR(result.at("throughput_before").mean, 4.0, 0.2);
  EXPECT_LE(result.at("lowest_throughput").mean, result.at("throughput_during").mean);
  EXPECT_GT(result.at("throughput_after").mean, 0.0);
  EXPECT_DOUBLE_EQ(result.at("cycle_length").mean, 1.0);
  EXPECT_EQ(result.at("simulated_cycles").mean, 80'000);
}

/// Two senders of an incast at the full rate beside four flows at half of it, all to hosts of their own.
const char* const kIncast =
    "topology = { name = 'bidirectional_min', hosts = 16 }\nswitch = { name = 'cioq', queues = 'voqnet', speedup = 2, "
    "overhead = 0 }\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
    "[[traffic]]\nname = 'flows'\nsources = [8, 9, 10, 11]\ndestinations = [12, 13, 14, 15]\nloads = [0.5]\n"
    "[[traffic]]\nname = 'incast'\nreceivers = [5]\nsenders = [1, 2]\namount = 6400\nstart = '20 us'\n"
    "[run]\nduration = '200 us'\nwindow = '2 us'\n";

Result incast(const Overrides& overrides) {
  return run(read_experiments_text(kIncast, "incast", overrides).points.front());
}

TEST(Disturbance, IsOfTheOthersWhereSomeDoNotDisturb) {
  const Result result = incast({});
  // The flows are not hurt: their destinations are others, and each has a queue of its own.
  EXPECT_NEAR(result.at("throughput_before").mean, 2.0, 0.05);
  EXPECT_NEAR(result.at("throughput_during").mean, 2.0, 0.05);
  EXPECT_NEAR(result.at("throughput_after").mean, 2.0, 0.05);
  EXPECT_LT(result.at("recovery_time").mean, 2000.0) << "at once: in the next window";
}

TEST(Disturbance, ThatGoesOnBehindTheWindowsIsSaid) {
  const std::string text =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
      "[[traffic]]\nname = 'uniform'\nload = 0.1\nsize = 8\n"
      "[[traffic]]\nname = 'incast'\nreceivers = [5]\nsenders = [8, 13]\namount = 400\nsize = 8\nstart = 4000\n"
      "[run]\nwarmup = 2000\nmeasure = 10000\nwindow = 200\n";
  const auto explained = [&](const Overrides& overrides) {
    return run(read_experiments_text(text, "late", overrides).points.front()).explanation;
  };
  EXPECT_EQ(explained({}).find("behind the last window"), std::string::npos);
  EXPECT_NE(explained({"traffic.incast.start=11500"}).find("behind the last window of time at 12000"),
            std::string::npos);
}

TEST(Disturbance, CompletionsAreFromTheBeginToTheLastArrival) {
  const Result result = incast({});
  // 12,800 bytes through one link of a byte per cycle, and some hundred cycles of way.
  EXPECT_GE(result.at("incast_completion_last").mean, 12'800.0);
  EXPECT_LT(result.at("incast_completion_last").mean, 12'800.0 + 1000.0);
  // Of two the median lies between them.
  EXPECT_LT(result.at("incast_completion_first").mean, result.at("incast_completion_last").mean);
  EXPECT_EQ(result.at("incast_completion_median").mean,
            (result.at("incast_completion_first").mean + result.at("incast_completion_last").mean) / 2.0);
  EXPECT_EQ(result.at("incast_unfinished").mean, 0.0);
  EXPECT_GT(result.at("fairness").mean, 0.99) << "the two take turns";
  EXPECT_GT(result.at("victim_latency_p99").mean, 64.0);
  EXPECT_LT(result.at("victim_latency_p99").mean, 1000.0);
}

TEST(Disturbance, WhoSendsToTheReceiverIsNoVictim) {
  // A flow to the receiver itself waits behind the incast for its link, and the other three do not.
  const Result to_itself = incast({"traffic.flows.destinations=[5, 13, 14, 15]"});
  const Result beside = incast({});
  EXPECT_LT(to_itself.at("victim_latency_p99").mean, 2 * beside.at("victim_latency_p99").mean);
  EXPECT_GT(to_itself.at("packet_latency_max").mean, 10 * beside.at("victim_latency_p99").mean);
}

const std::string kRouters =
    "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4, buffer = 8 }\n"
    "routing = 'dimension_order'\n[run]\nduration = 12000\nwindow = 100\n"
    "[[traffic]]\nname = 'uniform'\nload = 0.1\nsize = 4\n";

Result beside(const std::string& fires, const Overrides& overrides = {}) {
  return run(read_experiments_text(kRouters + fires, "fires", overrides).points.front());
}

std::string fire(const std::string& more) {
  return "[[traffic]]\nname = 'incast'\nsize = 4\nstart = 2000\n" + more + "\n";
}

/// Where the last arrival ends it, who is a victim is known only then; it does not depend on how long the run goes on.
TEST(Disturbance, VictimsArePacketsThatWereGeneratedWhileItLasted) {
  const std::string one = fire("receivers = [5]\nsenders = [0, 15]\namount = 20");
  const stats::Metric first = beside(one, {"run.duration=3000"}).at("victim_latency_p99");
  EXPECT_GT(first.count, 100U);
  for (const char* duration : {"run.duration=2400", "run.duration=12000", "run.duration=100000"}) {
    for (const char* shards : {"run.shards=1", "run.shards=4"}) {
      const stats::Metric metric = beside(one, {duration, shards}).at("victim_latency_p99");
      EXPECT_EQ(metric.mean, first.mean) << duration << shards;
      EXPECT_EQ(metric.count, first.count) << duration << shards;
    }
  }
}

/// Streams of a time are compared over their own: whether they come one after the other, since their senders do, or
/// beside others that end later.
TEST(Disturbance, FairnessIsThatOfEachStreamInItsTime) {
  const std::string timed = fire("receivers = [5, 10]\nsenders = [0, 1]\nduration = 2000\nload = 0.4");
  const Result in_turn = beside(timed);
  EXPECT_GT(in_turn.at("fairness").mean, 0.999);
  EXPECT_GT(beside(timed, {"traffic.incast.interval=4000"}).at("fairness").mean, 0.999);
  // The second incast lasts until 6000, and so does the disturbance.
  const Result amounts = beside(fire("receivers = [5, 10]\nsenders = [0, 1]\namount = 800\nload = 0.4"));
  EXPECT_NEAR(in_turn.at("throughput_during").mean, amounts.at("throughput_during").mean, 0.02);
  const Result mixed = beside(fire("receivers = [5]\nsenders = [0, 3]\namount = 200\nload = 0.1") +
                              fire("receivers = [10]\nsenders = [0, 3]\nduration = 2000\nload = 0.1"));
  EXPECT_GT(mixed.at("fairness").mean, 0.99);
}

TEST(Disturbance, ARunDoesNotSettleBeforeTheLastHasBegun) {
  const Result result = beside(fire("receivers = [5]\nsenders = [0, 3]\namount = 200\nload = 0.1") +
                                   "[[traffic]]\nname = 'incast'\nsize = 4\nstart = 8000\nreceivers = [10]\n"
                                   "senders = [0, 3]\nduration = 2000\nload = 0.1\n",
                               {"run.settle=1000"});
  EXPECT_GT(result.at("simulated_cycles").mean, 10'000.0);
}

/// A disturbance may begin within a window, of which nothing is before it then.
TEST(Disturbance, WhatWasBeforeDoesNotDependOnWhatBurns) {
  for (const char* start :
       {"traffic.incast.start=20 us", "traffic.incast.start=20100 ns", "traffic.incast.start=21 us"}) {
    // The senders are those of two flows too, whose links they take.
    const auto burn = [&](const char* amount) {
      return incast({start, "traffic.incast.senders=[8, 11]", "traffic.flows.loads=[0.9]", amount});
    };
    const Result much = burn("traffic.incast.amount=6400");
    const Result little = burn("traffic.incast.amount=64");
    EXPECT_EQ(much.at("throughput_before").mean, little.at("throughput_before").mean) << start;
    EXPECT_LT(much.at("throughput_during").mean, 0.9 * much.at("throughput_before").mean) << start;
    EXPECT_LE(much.at("lowest_throughput").mean, much.at("throughput_during").mean) << start;
  }
}

/// Windows of a flow at a constant rate differ by one packet.
TEST(Disturbance, AFlowThatIsNotHurtIsBackAtOnce) {
  for (const char* window : {"run.window=5632 ns", "run.window=3 us", "run.window=4500 ns"}) {
    const Result result = incast({"switch.packet=1024", "switch.memory=262144", "traffic.flows.sources=[8]",
                                  "traffic.flows.destinations=[12]", "traffic.flows.size=1024",
                                  "traffic.flows.loads=[1.0]", "traffic.incast.size=1024", window});
    ASSERT_NE(result.find("recovery_time"), nullptr) << window;
    EXPECT_LE(result.at("recovery_time").mean, 9000.0) << window;
  }
}

TEST(Disturbance, WhatIsNotCompleteIsLaterThanAllThatIs) {
  const Result cut = incast({"run.duration=30 us"});  // 10 us after the begin: 10,000 of 12,800 bytes
  EXPECT_EQ(cut.at("incast_unfinished").mean, 2.0);
  EXPECT_EQ(cut.find("incast_completion_first"), nullptr);
  EXPECT_EQ(cut.find("recovery_time"), nullptr) << "it still burns";
  EXPECT_EQ(cut.find("throughput_after"), nullptr);
}

TEST(Disturbance, ARunEndsWhenTheOthersAreBack) {
  const Result whole = incast({});
  const Result settled = incast({"run.settle=100 us"});
  EXPECT_EQ(whole.at("simulated_cycles").mean, 200'000.0);
  // The incast is over 13 us after its begin; then three windows of 2 us.
  EXPECT_LT(settled.at("simulated_cycles").mean, 46'000.0);
  EXPECT_GT(settled.at("simulated_cycles").mean, 38'000.0);
  for (const char* metric : {"throughput_before", "throughput_during", "recovery_time", "incast_completion_last",
                             "victim_latency_p99", "fairness"}) {
    EXPECT_EQ(whole.at(metric).mean, settled.at(metric).mean) << metric;
  }
  EXPECT_EQ(incast({"run.settle=100 us", "run.shards=1", "run.step_order=permuted", "run.wake=all"}).state_hash,
            settled.state_hash);
}

TEST(Disturbance, ARunThatDoesNotRecoverEndsAfterItsTime) {
  // The victims' flows end while the incast burns: their throughput does not come back.
  const Result result = incast({"traffic.flows.ends=[22000]", "run.settle=50 us"});
  EXPECT_EQ(result.find("recovery_time"), nullptr);
  EXPECT_NEAR(result.at("simulated_cycles").mean, 20'000 + 13'000 + 50'000, 4'000);
}

TEST(Disturbance, PartsOfCongestionAreTheWholeCountedApart) {
  const std::string whole = kTree;
  const std::size_t at = whole.find("[[traffic]]");
  const std::size_t run_at = whole.find("[run]");
  const std::string traffic = whole.substr(at, run_at - at);
  const std::string apart =
      whole.substr(0, at) + traffic + "part = 'normal'\n" + traffic + "part = 'congestion'\n" + whole.substr(run_at);
  const Result one = run(read_experiments_text(whole, "tree", {"traffic.placement_seed=7"}).points.front());
  const Result two =
      run(read_experiments_text(apart, "tree", {"traffic.0.placement_seed=7", "traffic.1.placement_seed=7"})
              .points.front());
  EXPECT_NEAR(one.at("throughput_before").mean, two.at("throughput_before").mean, 0.2);
  EXPECT_LT(two.at("throughput_during").mean, one.at("throughput_during").mean) << "what the victims get alone";
  EXPECT_EQ(one.at("fairness").count, 8U);
  EXPECT_EQ(two.at("fairness").count, 8U);
}

TEST(Disturbance, SettlingNeedsADisturbanceAndASeries) {
  const auto refused = [](const std::string& override) {
    return test::refusal([&] { static_cast<void>(incast({"run.settle=10 us", override})); });
  };
  EXPECT_NE(refused("run.window=0").find("time series"), std::string::npos);
  const std::string calm = test::refusal([] {
    static_cast<void>(
        check(read_experiments_text("topology = 'mesh'\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
                                    "traffic = 'uniform'\nrun = { duration = 1000, window = 10, settle = 5 }\n",
                                    "mesh", {})
                  .points.front()));
  });
  EXPECT_NE(calm.find("disturbs"), std::string::npos) << calm;
}

TEST(Disturbance, ARateMakesTimesOfCycles) {
  const Result result =
      run(read_experiments_text(kTree, "tree", {"switch.link=16 Gbps", "run.duration=40 us"}).points.front());
  EXPECT_DOUBLE_EQ(result.at("cycle_length").mean, 0.5);
  EXPECT_EQ(result.at("simulated_cycles").mean, 80'000);
}

TEST(Disturbance, ATimeThatIsNoWholeNumberOfCyclesIsRefused) {
  EXPECT_THROW(read_experiments_text(kTree, "tree", {"run.duration=1.5 ns"}), ConfigError);
}

TEST(Disturbance, WithoutARateTimesAreRefused) {
  const std::string refused = test::refusal([] {
    static_cast<void>(
        read_experiments_text("topology = 'mesh'\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
                              "traffic = 'uniform'\nrun = { measure = '10 us' }\n",
                              "mesh", {}));
  });
  EXPECT_NE(refused.find("cycles"), std::string::npos) << refused;
}

}  // namespace
}  // namespace banyan::api::disturbance_test
