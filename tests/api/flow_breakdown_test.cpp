// Do the parts of a flow's latency add up to it, and does waiting for credit appear where a hot spot blocks?
#include <gtest/gtest.h>

#include <algorithm>
#include <variant>

#include "banyan/api/experiment.hpp"

namespace banyan::api::flow_breakdown_test {
namespace {

constexpr const char* kMesh = R"(
topology = { name = "mesh", size = [4, 4] }
switch = { name = "vc_router", vcs = 2, buffer = 4 }
routing = "dimension_order"
traffic = { name = "hot_spot", load = 0.2, fraction = 0.25, targets = [5], size = 4 }
[run]
warmup = 100
measure = 1500
tables = "flows"
)";

constexpr const char* kCube = R"(
topology = { name = "multistage_cube", terminals = 16, radix = 2 }
switch = { name = "output_queued", buffer = 4 }
routing = "destination_tag"
traffic = { name = "uniform", load = 0.5 }
[run]
warmup = 100
measure = 1500
tables = "flows"
)";

/// Switches of every other kind, with a hot spot.
std::vector<std::string> others() {
  const std::string run = "\n[run]\nwarmup = 100\nmeasure = 8000\ntables = 'flows'\n";
  std::vector<std::string> texts;
  for (const char* model : {"central_buffer", "input_buffer"}) {
    texts.push_back("topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = '" +
                    std::string(model) +
                    "'\nrouting = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
                    "traffic = { name = 'hot_spot', load = 0.3, fraction = 0.1, targets = [5], size = 16 }" +
                    run);
  }
  texts.push_back(
      "topology = { name = 'torus', size = [4, 4] }\nswitch = { name = 'circuit', vcs = 2, sharing = 'tdm' }\n"
      "routing = 'fully_adaptive'\n"
      "traffic = { name = 'hot_spot', load = 0.15, fraction = 0.2, targets = [5], size = 16, process = 'poisson' }" +
      run);
  texts.push_back(
      "topology = { name = 'hypercube', degree = 4 }\nswitch = { name = 'packet_node', payload = 64, header = 8 }\n"
      "routing = 'ecube'\n"
      "traffic = { name = 'hot_spot', load = 0.15, fraction = 0.2, targets = [5], size = 64, process = 'poisson' }" +
      run);
  return texts;
}

Result run_text(const std::string& text, const Overrides& overrides = {}) {
  return run(read_experiments_text(text, "flows", overrides).points.front(), {});
}

/// Columns 7 to 11 of the table of flows: source, wire, serialization, credit, routing and allocation.
double part(const std::vector<Table::Cell>& row, std::size_t column) {
  const double* value = std::get_if<double>(&row[column]);
  return value == nullptr ? 0.0 : *value;
}

void expect_sums(const Result& result) {
  ASSERT_EQ(result.tables.size(), 1U);
  ASSERT_GT(result.tables[0].rows.size(), 100U);
  for (const auto& row : result.tables[0].rows) {
    double sum = 0.0;
    for (std::size_t column = 7; column < 12; ++column) sum += part(row, column);
    EXPECT_NEAR(sum, part(row, 5), 1e-9);
    EXPECT_GE(part(row, 11), 0.0);
  }
}

TEST(FlowBreakdown, AddsUpToTheLatency) {
  for (const char* text : {kMesh, kCube}) {
    expect_sums(run_text(text));
    expect_sums(run_text(text, {"run.trees=true", "run.trees_interval=5"}));
  }
  for (const std::string& text : others()) {
    expect_sums(run_text(text));
    expect_sums(run_text(text, {"run.trees=true", "run.trees_interval=50"}));
  }
}

/// Long cables are told from switches, in every model that has them.
TEST(FlowBreakdown, WiresAreTheLatenciesOfTheChannelsOnTheWay) {
  const std::string cables =
      "topology = { name = 'mesh', size = [3], latency = [50], terminal_latency = 100 }\n"
      "traffic = { name = 'permutation', pattern = 'neighbour', load = 0.01, size = 64 }\n"
      "run = { warmup = 0, measure = 20000, tables = 'flows' }\n";
  for (const char* model :
       {"switch = 'cioq'\nrouting = 'dimension_order'\n", "switch = 'vc_router'\nrouting = 'dimension_order'\n",
        "switch = 'central_buffer'\nrouting = 'up_down'\n", "switch = 'input_buffer'\nrouting = 'up_down'\n"}) {
    const Result result = run_text(model + cables);
    ASSERT_EQ(result.tables.size(), 1U) << model;
    ASSERT_GT(result.tables[0].rows.size(), 1U) << model;
    for (const auto& row : result.tables[0].rows) {
      const u64 from = std::get<u64>(row[0]);  // the terminals of a line
      const u64 to = std::get<u64>(row[1]);
      const auto hops = static_cast<double>(std::max(from, to) - std::min(from, to));
      EXPECT_EQ(part(row, 8), 200.0 + 50.0 * hops) << model;
    }
  }
}

TEST(TreeSampling, TheDefaultIntervalDoublesWhereSamplesReadMuchAndKeepsTwelve) {
  const auto trees = [](std::vector<std::string> more) {
    more.insert(more.end(), {"run.trees=true", "run.tables=none", "run.drain=0", "run.warmup=0", "run.measure=48000"});
    return run_text(kMesh, more).trees->record();
  };
  EXPECT_EQ(trees({"load=0.1", "fraction=0"}).interval, 1000U) << "next to nothing to read";
  // A hot spot fills all buffers; some two packets arrive per cycle.
  const std::vector<std::string> hot{"load=0.5", "fraction=0.5", "traffic.size=1", "vcs=8", "buffer=8"};
  const auto doubled = trees(hot);
  EXPECT_GT(doubled.interval, 1000U);
  EXPECT_LE(doubled.interval, 4000U);
  EXPECT_GE(doubled.samples.size(), 12U);
  std::vector<std::string> often = hot;
  often.emplace_back("run.trees_interval=1000");
  const auto fixed = trees(often);
  EXPECT_EQ(fixed.interval, 1000U);
  // What arrived before a sample that went is in the next one that stayed.
  const auto arrived = [](const stats::CongestionRecord& record, u64 until) {
    u64 packets = 0;
    for (const stats::CongestionSample& sample : record.samples) {
      if (sample.at <= until) packets += sample.delivered_packets;
    }
    return packets;
  };
  const u64 last = doubled.samples.back().at;
  EXPECT_EQ(last % doubled.interval, 0U);
  EXPECT_EQ(arrived(doubled, last), arrived(fixed, last));
}

TEST(FlowBreakdown, AnEmptyNetworkHasNoWaiting) {
  const Result result = run_text(kMesh, {"load=0.002", "run.measure=20000", "run.trees=true", "run.trees_interval=1"});
  ASSERT_EQ(result.tables.size(), 1U);
  u64 clean = 0;
  for (const auto& row : result.tables[0].rows) {
    // Two switches and three channels of one cycle between neighbours, four flits.
    const u64 source = std::get<u64>(row[0]);
    const u64 destination = std::get<u64>(row[1]);
    if (source + 1 != destination || source % 4 == 3 || part(row, 5) != 14.0) continue;
    EXPECT_EQ(part(row, 8), 3.0);
    EXPECT_EQ(part(row, 9), 3.0);
    EXPECT_EQ(part(row, 10), 0.0);
    ++clean;
  }
  EXPECT_GE(clean, 3U);
}

TEST(FlowBreakdown, AHotSpotMakesItsFlowsWaitForCreditAndNamesWhatIsAhead) {
  const Result result = run_text(kMesh, {"load=0.35", "run.trees=true", "run.trees_interval=5", "run.drain=0"});
  double waiting = 0.0;
  bool named = false;
  for (const auto& row : result.tables.at(0).rows) {
    if (std::get<u64>(row[1]) == 5) waiting += part(row, 10);
    named = named || std::get<std::string>(row[12]).find("root (1,1)") != std::string::npos;
  }
  EXPECT_GT(waiting, 10.0);
  EXPECT_TRUE(named);
}

/// What is ahead is a flow that there is, also where a memory is short and no packet in particular waits.
TEST(FlowBreakdown, WhatIsAheadIsAFlow) {
  const std::string memories =
      "topology = { name = 'bidirectional_min', hosts = 16 }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "traffic = { name = 'flows', sources = [3, 1, 2, 4, 5], destinations = [8, 8, 12, 8, 9], loads = [0.9], size = "
      "64 }\n[run]\nduration = 100000\ntables = 'flows'\ntrees = true\ntrees_interval = 2000\n";
  u32 told = 0;
  for (const char* model : {"{ name = 'cioq', queues = 'voqsw', memory = 4096 }", "{ name = 'cioq' }",
                            "'central_buffer'", "'input_buffer'", "{ name = 'vc_router' }"}) {
    const bool in_ns = std::string(model).find("cioq") != std::string::npos;
    const Result result = run_text(std::string("switch = ") + model + "\n" + memories,
                                   in_ns ? Overrides{} : Overrides{"run.cycle_time=1 ns"});
    const auto& rows = result.tables.at(0).rows;
    for (const auto& row : rows) {
      const std::string& behind = std::get<std::string>(row[12]);
      if (behind.empty()) continue;
      ++told;
      const bool is_flow = std::any_of(rows.begin(), rows.end(), [&](const auto& other) {
        const std::string flow =
            std::to_string(std::get<u64>(other[0])) + " to " + std::to_string(std::get<u64>(other[1]));
        return behind == flow || behind.starts_with(flow + ", root ");
      });
      EXPECT_TRUE(is_flow) << model << ": " << behind;
    }
  }
  EXPECT_GT(told, 5U);
}

}  // namespace
}  // namespace banyan::api::flow_breakdown_test
