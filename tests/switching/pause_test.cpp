// Do links that pauses stop never lose a byte, do pauses spread as a congestion tree, and is a circle of them
// explained?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/base/rng.hpp"
#include "support/effort.hpp"
#include "support/rows.hpp"

namespace banyan::switching::pause_test {
namespace {

constexpr Stream kCases{"pause test"};

api::Result run(const std::string& text) {
  return api::run(api::read_experiments_text(text, "pause", {}).points.front(), {});
}

/// A fat tree of 16 hosts, half of which send to host 3 beside uniform traffic.
std::string fire(const std::string& switch_, u32 latency, u32 size, const std::string& how, u32 cycles = 60'000) {
  return fmt::format(
      "topology = {{ name = 'xgft', children = [4, 4], parents = [1, 4], latency = [{0}], terminal_latency = {0} }}\n"
      "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
      "switch = {{ name = 'cioq', flow_control = 'pause', {1} }}\n"
      "traffic = [ {{ name = 'uniform', load = 0.3, size = {2} }}, {{ name = 'hot_spot', load = 0.4, size = {2}, "
      "targets = [3], fraction = 1.0 }} ]\n"
      "run = {{ duration = {3}, audit = 'full', {4} }}\n",
      latency, switch_, size, cycles, how);
}

/// The audit ends a run in which a packet found no room. Memories hold the headroom and one packet, no more, and the
/// headroom is needed: something comes close to it.
TEST(Pause, LosesNothingAtAnyLatencyAndPacketSize) {
  double closest = 0.0;
  for (u64 n = 0; n < test::tries<u64>(36, 6); ++n) {
    const Random random(7, kCases, static_cast<u32>(n), 0);
    const Words words = random.at(0, 0);
    const Words more = random.at(1, 0);
    const u32 latency = n % 3 == 0 ? 1 : 1 + below(words[0], 600);
    const u32 packet = n % 4 == 0 ? 1 + below(words[1], 16) : 64 + below(words[1], 1500);
    const u32 control = below(words[2], 100);
    const u32 overhead = below(words[3], 3) * 3;
    const char* const queues[] = {"1q", "voqsw", "dbbm", "recn_enhanced", "recn_basic"};
    const std::string queue = queues[n % 5];
    const u32 classes = queue == "dbbm" ? 2 + below(more[0], 3) : 1;
    const u32 headroom = control + 2 * latency + 2 * packet;
    const bool tight = queue.substr(0, 4) != "recn";
    const u32 memory = tight ? classes * (headroom + packet) : headroom + 64 * packet;
    const std::string text = fire(
        fmt::format(
            "queues = '{}', classes = {}, packet = {}, overhead = {}, control_delay = {}, speedup = {}, memory = {}"
            ", egress_detection = 16, ingress_detection = 8, propagation = 4, xoff = 8, xon = 4",
            queue, classes, packet, overhead, control, n % 2 == 0 ? 1.0 : 1.5, memory),
        latency, packet * (1 + below(more[1], 3)) - below(more[2], packet), fmt::format("seed = {}", n),
        60'000 + 20 * packet);
    SCOPED_TRACE(text);
    const api::Result result = run(text);
    EXPECT_GT(result.at("pauses").mean, tight ? 0 : -1);
    EXPECT_GT(result.at("delivered_packets").mean, 20);
    EXPECT_LE(result.at("pause_headroom_most").mean, headroom);
    closest = std::max(closest, result.at("pause_headroom_most").mean / headroom);
  }
  EXPECT_GT(closest, 0.9);
}

TEST(Pause, DependsNeitherOnTheOrderOfStepsNorOnWhatIsWoken) {
  for (const std::string queues : {"1q", "voqsw", "dbbm", "voqnet", "recn_enhanced"}) {
    const std::string what = fmt::format("queues = '{}', overhead = 0, memory = 4096, egress_detection = 32", queues);
    const api::Result first = run(fire(what, 20, 64, "seed = 1"));
    EXPECT_GT(first.at("pauses").mean, 10) << queues;
    for (const char* how : {"seed = 1, wake = 'all'", "seed = 1, step_order = 'permuted'", "seed = 1, shards = 3"}) {
      EXPECT_EQ(run(fire(what, 20, 64, how)).state_hash, first.state_hash) << queues << how;
    }
    EXPECT_NE(run(fire(what, 20, 64, "seed = 2")).state_hash, first.state_hash) << queues;
  }
}

/// A pause stops a class at once: where it has room for it, the other classes of a port go on, and one class alone
/// holds up everything.
TEST(Pause, StopsAClassAndNotTheOthers) {
  const auto victims = [](const std::string& what) {
    return run(fire(what, 20, 64, "seed = 1")).at("accepted_load.uniform").mean;
  };
  const double alone = victims("queues = '1q', memory = 8192, overhead = 0");
  const double by_destination = victims("queues = 'voqnet', memory = 8192, overhead = 0");
  EXPECT_LT(alone, 0.15);
  EXPECT_GT(by_destination, 0.27);
}

/// Behind a hot spot the links stand still in a tree that ends at its channel, as they do where credits run out.
TEST(Pause, SpreadsAsACongestionTree) {
  const auto trees = [](const std::string& flow_control) {
    return run(
        fmt::format("topology = {{ name = 'bidirectional_min', hosts = 64 }}\n"
                    "routing = {{ name = 'nearest_common_ancestor', up = 'destination_digit' }}\n"
                    "switch = {{ name = 'cioq', flow_control = '{}', queues = '1q', memory = 2048, overhead = 0 }}\n"
                    "traffic = [ {{ name = 'uniform', load = 0.2, size = 64 }}, {{ name = 'hot_spot', load = 0.1, size "
                    "= 64, targets = [3], fraction = 1.0 }} ]\n"
                    "run = {{ duration = 200000, trees = true, trees_interval = 1000 }}\n",
                    flow_control));
  };
  const api::Result pause = trees("pause");
  const api::Result credits = trees("credits");
  EXPECT_GE(pause.at("congestion_trees_most").mean, 1);
  EXPECT_GT(pause.at("congestion_tree_members_most").mean, 0.5 * credits.at("congestion_tree_members_most").mean);
  // Samples do not lose it while a link that was just let go on fills up again.
  EXPECT_GT(pause.at("congestion_tree_life_most").mean, 0.9 * credits.at("congestion_tree_life_most").mean);
}

/// Everybody sends over the same three links of a ring that has no datelines: all wait for a pause to end.
TEST(Pause, ACircleOfPausesIsExplained) {
  const api::Result result =
      run("topology = { name = 'torus', size = [8] }\nrouting = { name = 'dimension_order', datelines = false }\n"
          "switch = { name = 'cioq', flow_control = 'pause', queues = '1q', memory = 512, overhead = 0 }\n"
          "traffic = { name = 'flows', sources = [0, 1, 2, 3, 4, 5, 6, 7], destinations = [3, 4, 5, 6, 7, 0, 1, 2], "
          "loads = [0.9], size = 64 }\nrun = { duration = 400000, watchdog = 20000 }\n");
  EXPECT_EQ(result.verdict, api::Verdict::deadlocked);
  EXPECT_NE(result.explanation.find("wait on each other in a cycle"), std::string::npos) << result.explanation;
  EXPECT_NE(result.explanation.find("for switch (1) input 1"), std::string::npos) << result.explanation;
}

std::string refusal_of(const std::string& what) {
  return test::refusal(
      [&] { api::check(api::read_experiments_text(fire(what, 100, 64, "seed = 1"), "bad", {}).points.front()); });
}

TEST(Pause, RefusesWhatCannotBeInOneSentenceWithOneRemedy) {
  const std::string most = "queues = '1q', memory = 4096, pause.xoff = ";
  // 20 + 2 * 100 + 2 * 64 bytes of headroom.
  EXPECT_NE(refusal_of(most + "3749").find("pause.xoff = 3749 and a headroom of 348 bytes are above the 4096 bytes"),
            std::string::npos)
      << refusal_of(most + "3749");
  EXPECT_NE(refusal_of(most + "3749").find("use pause.xoff = 3748 or less"), std::string::npos);
  EXPECT_EQ(refusal_of(most + "3748"), "");
  const std::string headroom = "queues = '1q', memory = 4096, pause.headroom = ";
  EXPECT_NE(refusal_of(headroom + "347").find("cannot hold what arrives within a round trip"), std::string::npos)
      << refusal_of(headroom + "347");
  EXPECT_NE(refusal_of(headroom + "347").find("use pause.headroom = 348 or more"), std::string::npos);
  EXPECT_EQ(refusal_of(headroom + "348"), "");
  const std::string xon = "queues = '1q', memory = 4096, pause.xoff = 1000, pause.xon = ";
  EXPECT_NE(refusal_of(xon + "1001").find("use pause.xon = 1000 or less"), std::string::npos)
      << refusal_of(xon + "1001");
  EXPECT_EQ(refusal_of(xon + "1000"), "");
  const std::string memory = "queues = 'dbbm', classes = 4, memory = ";
  EXPECT_NE(refusal_of(memory + "1644").find("use a memory of 1648 bytes"), std::string::npos)
      << refusal_of(memory + "1644");
  EXPECT_EQ(refusal_of(memory + "1648"), "");
}

}  // namespace
}  // namespace banyan::switching::pause_test
