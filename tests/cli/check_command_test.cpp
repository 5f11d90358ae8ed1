// Does banyan check say whether the network can deadlock, in words and by its exit status?
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace banyan::cli::check_command_test {
namespace {

constexpr const char* kRing = R"(
topology = { name = "torus", size = [5, 5] }
switch = { name = "vc_router", vcs = 2, buffer = 4 }
routing = { name = "dimension_order" }
traffic = [{ name = "uniform", load = 0.9, size = 8 }]
run = { watchdog = 2000 }
)";

TEST(CheckCommand, AnAcyclicNetworkIsReadyToRun) {
  fresh_scratch();
  write_text("ring.toml", kRing);
  const Said said = banyan({"check", "ring.toml"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "deadlock: acyclic (")) << said.out;
  EXPECT_TRUE(contains(said.out, "ready to run")) << said.out;
}

TEST(CheckCommand, ACycleIsNamedAndTheRunDeadlocks) {
  fresh_scratch();
  write_text("ring.toml", kRing);
  const Said said = banyan({"check", "ring.toml", "routing.datelines=false"});
  EXPECT_EQ(said.status, 1) << said.err;
  EXPECT_TRUE(contains(said.out, "cycle of 5 channels")) << said.out;
  EXPECT_TRUE(contains(said.out, "(4,0) x+ -> (0,0), vcs 0 to 1")) << said.out;
  EXPECT_FALSE(contains(said.out, "ready to run")) << said.out;
  const Said run = banyan({"run", "ring.toml", "routing.datelines=false", "switch.vcs=1"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_TRUE(contains(run.out, "deadlocked")) << run.out;
}

TEST(CheckCommand, AChoiceThatHalvesTheThroughputIsToldByCheckAndByWhatSaturates) {
  fresh_scratch();
  const std::string tree =
      "topology = { name = 'fat_tree', arity = 4, levels = 2 }\nswitch = { name = 'vc_router', vcs = 8 }\n"
      "routing = { name = 'valiant', hop_classes = false }\ntraffic = { name = 'uniform', load = 0.9 }\n"
      "run = { warmup = 500, measure = 2000 }\n";
  write_text("tree.toml", tree);
  const std::string told = "routing.hop_classes = false fills a channel";
  EXPECT_TRUE(contains(banyan({"check", "tree.toml"}).out, told));
  EXPECT_FALSE(contains(banyan({"check", "tree.toml", "routing.hop_classes=true"}).out, "fills a channel"));
  const Said run = banyan({"run", "tree.toml"});
  EXPECT_TRUE(contains(run.out, "saturated")) << run.out;
  EXPECT_TRUE(contains(run.err, "warning: " + told)) << run.err;
  EXPECT_FALSE(contains(banyan({"run", "tree.toml", "traffic.load=0.02"}).err, told)) << "it carries that";
  EXPECT_TRUE(contains(banyan({"saturation", "tree.toml"}).err, "warning: " + told));
  write_text("sweep.toml", tree + "[sweep]\n'traffic.load' = [0.02, 0.8, 0.9]\n");
  const std::string err = banyan({"sweep", "sweep.toml"}).err;
  ASSERT_TRUE(contains(err, told)) << err;
  EXPECT_FALSE(contains(err.substr(err.find(told) + 1), told)) << "once";
}

TEST(CheckCommand, ASweepIsCheckedOncePerNetwork) {
  fresh_scratch();
  write_text("ring.toml",
             std::string(kRing) + "[sweep]\n'traffic.load' = [0.1, 0.2]\n'topology.size' = [[5, 5], [3, 4]]\n");
  const Said said = banyan({"check", "ring.toml"});
  EXPECT_EQ(said.status, 0) << said.err << said.out;
  const auto count = [&](const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = said.out.find(part); at != std::string::npos; at = said.out.find(part, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("deadlock:"), 2U) << said.out;
  EXPECT_TRUE(contains(said.out, "a sweep of 4 points")) << said.out;
}

TEST(CheckCommand, AModelWithoutBuffersPerChannelSaysSo) {
  fresh_scratch();
  write_text("boxes.toml", R"(
topology = { name = "extra_stage_cube", terminals = 16, radix = 2 }
switch = "output_queued"
routing = "destination_tag"
traffic = [{ name = "uniform", load = 0.3 }]
)");
  const Said said = banyan({"check", "boxes.toml"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "deadlock: not checked, output_queued")) << said.out;
}

/// What a fork goes on from has to run, too: check does not call ready what run refuses.
TEST(CheckCommand, LooksAtTheWarmUpOfAFork) {
  fresh_scratch();
  const std::string network =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 4 }\n"
      "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.1 }\n";
  write_text("low.toml", network + "fork = { after = 'warmup', vary = 'switch.mark.low', from = 2 }\n");
  const Said run = banyan({"run", "low.toml"});
  const Said check = banyan({"check", "low.toml"});
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(check.status, 2);
  EXPECT_EQ(check.err, run.err);
  write_text("high.toml", network + "fork = { after = 'warmup', vary = 'switch.mark.high', from = 2 }\n");
  expect_refusal(banyan({"run", "high.toml"}), "a network with 0 is another one", "or the key a value that is not 0");
  EXPECT_EQ(banyan({"run", "high.toml", "switch.mark.high=4", "--quiet"}).status, 0);
}

}  // namespace
}  // namespace banyan::cli::check_command_test
