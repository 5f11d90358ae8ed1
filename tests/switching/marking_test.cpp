// Are packets marked by the queue that they leave, and with root_only at the root of congestion alone?
#include "banyan/switching/parts/marking.hpp"

#include <gtest/gtest.h>

#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"

namespace banyan::switching::marking_test {
namespace {

using parts::Marking;

TEST(Marking, FollowsItsThresholds) {
  const auto half = [] { return 0x80000000U; };
  const auto never = []() -> u32 { throw std::logic_error("nothing is drawn beyond the thresholds"); };
  const Marking step{8, 8, 1.0, 1.0, false};
  EXPECT_FALSE(step.marks(8, true, never));
  EXPECT_TRUE(step.marks(9, true, never));
  // A share of 0.2 at 20, of 0.1 half way there.
  const Marking early{10, 20, 0.2, 1.0, false};
  EXPECT_FALSE(early.marks(10, true, never));
  EXPECT_TRUE(early.marks(21, true, never));
  EXPECT_FALSE(early.marks(20, true, half));
  EXPECT_TRUE(early.marks(15, true, [] { return static_cast<u32>(0.0999 * 0x1p32); }));
  EXPECT_FALSE(early.marks(15, true, [] { return static_cast<u32>(0.1001 * 0x1p32); }));
  const Marking root{8, 8, 1.0, 1.0, true};
  EXPECT_TRUE(root.marks(9, true, never));
  EXPECT_FALSE(root.marks(9, false, never));
  const Marking rate{8, 8, 1.0, 0.25, false};
  EXPECT_FALSE(rate.marks(8, true, never));
  EXPECT_TRUE(rate.marks(9, true, [] { return static_cast<u32>(0.2499 * 0x1p32); }));
  EXPECT_FALSE(rate.marks(9, true, [] { return static_cast<u32>(0.2501 * 0x1p32); }));
  EXPECT_FALSE(Marking{}.on());
}

const char* const kFire =
    "traffic = [ { name = 'uniform', load = 0.3, size = 64 },\n"
    "{ name = 'hot_spot', load = 0.1, size = 64, targets = [3], fraction = 1.0 } ]\n";

/// A tree of cioq, in packets of 64 bytes; a mesh of vc_router, in packets of 64 flits.
std::string network(bool tree, const std::string& mark) {
  return tree ? "topology = { name = 'bidirectional_min', hosts = 64 }\n"
                "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
                "switch = { name = 'cioq', queues = '1q', speedup = 1, memory = 2048, mark = { " +
                    mark + " } }\n"
              : "topology = { name = 'mesh', size = [6, 6] }\nrouting = 'dimension_order'\n"
                "switch = { name = 'vc_router', vcs = 4, buffer = 128, mark = { " +
                    mark + " } }\n";
}

api::Result run(const std::string& text, const std::string& how = "warmup = 20000, measure = 60000, audit = 'full'") {
  const std::string open = "admission = { name = 'window', size = 1000000, feedback = 'words' }\n";
  return api::run(api::read_experiments_text(text + open + "run = { " + how + " }\n", "marks", {}).points.front(), {});
}

/// Nobody meets anybody: no queue is longer than one packet.
TEST(Marking, NeedsAQueue) {
  for (const bool tree : {true, false}) {
    const std::string calm = "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.3, size = 64 }\n";
    const std::string one = tree ? "low = 1, high = 1" : "low = 64, high = 64";
    EXPECT_EQ(run(network(tree, one) + calm).at("marked").mean, 0.0) << tree;
    EXPECT_EQ(run(network(tree, "low = 0, high = 1") + calm).at("marked").mean, 1.0) << tree;
  }
}

/// Packets that wait behind a tree are marked too, unless roots alone mark: then hardly more are than go to the hot
/// spot.
TEST(Marking, OfRootsSparesVictims) {
  for (const bool tree : {true, false}) {
    const std::string low = tree ? "low = 8, high = 8" : "low = 128, high = 128";
    const api::Result all = run(network(tree, low) + kFire);
    const api::Result roots = run(network(tree, low + ", root_only = true") + kFire);
    const double hot = roots.at("accepted_load.hot_spot").mean / roots.at("accepted_load").mean;
    EXPECT_GT(all.at("marked").mean, 1.2 * roots.at("marked").mean) << tree;
    EXPECT_GT(roots.at("marked").mean, 0.5 * hot) << tree;
    EXPECT_LT(roots.at("marked").mean, 1.5 * hot) << tree;
  }
}

/// With one destination a queue for each, with a memory of its own, is the same network as one queue: roots are too.
TEST(Marking, OfRootsGoesByTheCreditsOfTheQueue) {
  const auto marked = [](const std::string& queues, bool root_only) {
    return run("topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\n"
               "switch = { name = 'cioq', overhead = 0, " +
                   queues + ", mark = { low = 4, high = 4, above = 0.5, root_only = " + (root_only ? "true" : "false") +
                   " } }\n"
                   "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
                   "traffic = { name = 'flows', sources = [4, 8, 12], destinations = [0], loads = [0.9], size = 64 }\n",
               "duration = 200000")
        .at("marked")
        .mean;
  };
  const double one = marked("queues = '1q', memory = 2048", true);
  EXPECT_GT(one, 0.1);
  for (const char* queues : {"queues = 'voqnet', memory = 32768", "queues = 'dbbm', classes = 16, memory = 32768"}) {
    EXPECT_NEAR(marked(queues, true), one, 0.01) << queues;
    EXPECT_GT(marked(queues, false), 1.2 * one) << queues;
  }
}

/// The last link is the root, whatever the buffers hold: where all that is congested is a terminal's link, marks of
/// roots are all marks.
TEST(Marking, TheLinkOfATerminalIsARoot) {
  for (const u32 vcs : {1U, 2U, 8U}) {
    for (const u32 buffer : {3U, 4U, 8U}) {
      for (const u32 latency : {1U, 3U, 6U}) {
        const auto marked = [&](const std::string& root_only) {
          return run("topology = { name = 'mesh', size = [2], concentration = 4, terminal_latency = " +
                         std::to_string(latency) + " }\nswitch = { name = 'vc_router', vcs = " + std::to_string(vcs) +
                         ", buffer = " + std::to_string(buffer) +
                         ", mark = { low = 2, high = 2, root_only = " + root_only +
                         " } }\nrouting = 'dimension_order'\n"
                         "traffic = { name = 'incast', receivers = [0], senders = [1, 3], amount = 2000, load = "
                         "0.9, "
                         "size = 8 }\n",
                     "duration = 3000")
              .at("marked")
              .mean;
        };
        EXPECT_GT(marked("false"), 0.9) << vcs << " " << buffer << " " << latency;
        EXPECT_EQ(marked("true"), marked("false")) << vcs << " " << buffer << " " << latency;
      }
    }
  }
}

/// One source, one virtual channel, packets of one flit: none waits for another's output.
TEST(Marking, WhatLiesBehindAPacketOfOneFlitWantsItsOwnOutput) {
  EXPECT_EQ(run("topology = { name = 'mesh', size = [2], concentration = 3 }\n"
                "switch = { name = 'vc_router', vcs = 1, buffer = 8, mark = { low = 1, high = 1 } }\n"
                "routing = 'dimension_order'\n"
                "traffic = [ { name = 'flows', sources = [0], destinations = [1], loads = [0.45], size = 1 },\n"
                "{ name = 'flows', sources = [0], destinations = [2], loads = [0.45], size = 1 } ]\n",
                "duration = 5000, cycle_time = '1 ns'")
                .at("marked")
                .mean,
            0.0);
}

/// A mark between the thresholds is drawn by what does not depend on shards or the order of steps.
TEST(Marking, IsTheSameForAnyShardsAndOrder) {
  for (const bool tree : {true, false}) {
    const std::string text =
        network(tree, tree ? "low = 2, high = 32, probability = 0.5" : "low = 64, high = 640, probability = 0.5") +
        kFire;
    const std::string plain = "warmup = 2000, measure = 8000";
    const api::Result first = run(text, plain);
    EXPECT_GT(first.at("marked").mean, 0.01);
    EXPECT_LT(first.at("marked").mean, 0.9);
    for (const char* how : {", wake = 'all'", ", step_order = 'permuted'", ", shards = 3"}) {
      const api::Result other = run(text, plain + how);
      EXPECT_EQ(other.state_hash, first.state_hash) << how;
      EXPECT_EQ(other.at("marked").mean, first.at("marked").mean) << how;
    }
  }
}

/// An admission that waits for marks is told where nothing marks; each of the remedies ends the warning.
TEST(Marking, IsMissedByWhatNeedsIt) {
  const auto warning = [](const std::string& text) {
    const std::string how = "run = { warmup = 100, measure = 1000 }\n";
    const api::Experiment e = api::read_experiments_text(text + how, "marks", {}).points.front();
    return api::run(e, {}).warning;
  };
  const std::string fire = "traffic = { name = 'uniform', load = 0.1, size = 4 }\n";
  const std::string mesh = "topology = { name = 'mesh', size = [3, 3] }\nrouting = 'dimension_order'\n";
  const std::string vc = mesh + "switch = { name = 'vc_router' }\n";
  const std::string marking = mesh + "switch = { name = 'vc_router', mark = { low = 8, high = 16 } }\n";
  const std::string circuit = mesh + "switch = 'circuit'\n";
  for (const char* admission : {"dctcp", "dcqcn", "infiniband_cc"}) {
    const std::string with = std::string("admission = '") + admission + "'\n";
    EXPECT_NE(warning(vc + fire + with).find("set switch.mark.low and switch.mark.high"), std::string::npos);
    EXPECT_EQ(warning(marking + fire + with).find("marks nothing"), std::string::npos);
    EXPECT_NE(warning(circuit + fire + with).find("use the switch cioq or vc_router"), std::string::npos);
  }
  EXPECT_EQ(warning(circuit + fire + "admission = 'swift'\n").find("marks nothing"), std::string::npos);
}

TEST(Marking, RefusesThresholdsThatMeanNothing) {
  const auto refusal = [](const std::string& mark) -> std::string {
    try {
      static_cast<void>(run(network(true, mark) + kFire, "warmup = 100, measure = 100"));
    } catch (const ConfigError& error) { return std::string(error.what()) + " " + error.remedy(); }
    return "";
  };
  EXPECT_NE(refusal("low = 30, high = 20").find("use mark.low = 20 or less"), std::string::npos);
  EXPECT_NE(refusal("low = 30").find("give mark.high too"), std::string::npos);
  EXPECT_NE(refusal("low = 32, high = 600").find("no queue here is longer than 32"), std::string::npos);
  EXPECT_NE(
      refusal("low = 10, high = 600").find("or cut both thresholds in proportion: mark.low = 0 and mark.high = 32"),
      std::string::npos)
      << refusal("low = 10, high = 600");
  // Of a virtual channel the packet at the front waits: of packets that are shorter than its buffer no more is counted.
  const auto routers = [&](const char* mark, int size) -> std::string {
    const std::string mesh =
        "topology = { name = 'mesh', size = [3, 3] }\nrouting = 'dimension_order'\nswitch = { name = 'vc_router', vcs "
        "= 2, buffer = 8, mark = { " +
        std::string(mark) + " } }\ntraffic = { name = 'uniform', load = 0.1, size = " + std::to_string(size) + " }\n";
    try {
      static_cast<void>(run(mesh, "warmup = 100, measure = 100"));
    } catch (const ConfigError& error) { return std::string(error.what()) + " " + error.remedy(); }
    return "";
  };
  EXPECT_EQ(routers("low = 10, high = 20", 2), "");
  EXPECT_NE(routers("low = 10, high = 21", 2).find("no queue here is longer than 20"), std::string::npos);
  EXPECT_EQ(routers("low = 10, high = 80", 9), "");
  EXPECT_NE(routers("low = 10, high = 81", 9).find("no queue here is longer than 80"), std::string::npos);
  EXPECT_NE(refusal("lo = 3").find("did you mean \"mark.low\"?"), std::string::npos);
}

}  // namespace
}  // namespace banyan::switching::marking_test
