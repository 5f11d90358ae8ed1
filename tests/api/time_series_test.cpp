// Are the time series of a run what happened in it, and does a run of fixed length count all of it?
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "banyan/api/verify.hpp"
#include "runs.hpp"

namespace banyan::api::time_series_test {
namespace {

const stats::Series& series_of(const Result& result, const std::string& name) {
  for (const stats::Series& series : result.series) {
    if (series.name == name) return series;
  }
  throw std::runtime_error("no series " + name);
}

double sum_of(const stats::Series& series) { return std::accumulate(series.values.begin(), series.values.end(), 0.0); }

/// A mesh under two traffics, for exactly 4000 cycles.
Result fixed_run(const Overrides& overrides = {}) {
  std::string text = kMesh;
  text.replace(text.find("traffic  = "), text.find("[run]") - text.find("traffic  = "),
               "[[traffic]]\nname = \"uniform\"\nload = 0.2\nsize = 3\n"
               "[[traffic]]\nname = \"hot_spot\"\nload = 0.05\n");
  text.replace(text.find("[run]"), std::string::npos, "[run]\nduration = 4000\nwindow = 100\n");
  return run_of(text, overrides);
}

std::string refusal(const std::string& text, const Overrides& overrides) {
  try {
    static_cast<void>(check(experiment_of(text, overrides)));
  } catch (const ConfigError& error) { return error.what(); }
  return "";
}

TEST(TimeSeries, AWindowLongerThanTheRunIsTold) {
  const Result result = fixed_run({"run.window=4001"});
  EXPECT_TRUE(result.series.empty());
  EXPECT_NE(result.warning.find("run.window is 4001 cycles, and the run has 4000"), std::string::npos)
      << result.warning;
}

TEST(TimeSeries, AddUpToTheWholeRun) {
  const Result result = fixed_run();
  EXPECT_EQ(result.verdict, Verdict::finished);
  EXPECT_EQ(result.at("simulated_cycles").mean, 4000.0);
  const stats::Series& throughput = series_of(result, "throughput");
  ASSERT_EQ(throughput.values.size(), 40U);
  EXPECT_EQ(throughput.start, 50.0);
  EXPECT_EQ(throughput.interval, 100.0);
  EXPECT_NEAR(sum_of(throughput) * 100.0, result.at("delivered_flits").mean, 1e-6);
  EXPECT_NEAR(sum_of(series_of(result, "accepted_load")) / 40.0, result.at("accepted_load").mean, 1e-12);
  EXPECT_NEAR(sum_of(series_of(result, "offered_load")) / 40.0, result.at("offered_load").mean, 1e-12);
}

TEST(TimeSeries, OfSeveralTrafficsAddUpToThatOfAll) {
  const Result result = fixed_run();
  for (const char* name : {"throughput", "offered_load"}) {
    const std::vector<double>& all = series_of(result, name).values;
    const std::vector<double>& one = series_of(result, name + std::string(".uniform")).values;
    const std::vector<double>& other = series_of(result, name + std::string(".hot_spot")).values;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_NEAR(all[i], one[i] + other[i], 1e-12);
  }
}

TEST(TimeSeries, CountPacketsInTheNetworkByTheTimeThatTheySpendThere) {
  // Every packet is in the network for its network latency: those delivered, and the few that are left, no longer than
  // the longest of the others.
  const Result result = fixed_run();
  const double inside = sum_of(series_of(result, "packets_in_network")) * 100.0;
  const double delivered = result.at("network_latency").mean * result.at("delivered_packets").mean;
  const double left = result.at("packets_left").mean * result.at("packet_latency_max").mean;
  EXPECT_GE(inside, delivered - 1e-6);
  EXPECT_LE(inside, delivered + left);
}

/// Also where what left its source queue stands before the network, and is not in it by the latencies.
TEST(TimeSeries, AgreeWithTheLatenciesInEveryModel) {
  const std::string cube =
      "topology = { name = 'multistage_cube', terminals = 16, radix = 4 }\nrouting = 'destination_tag'\n"
      "traffic = { name = 'uniform', process = 'poisson', load = 0.2 }\nrun = { duration = 40000, window = 100 }\n";
  for (const auto& [model, load] :
       {std::pair{"switch = { name = 'output_queued', buffer = 1 }\n", "load=0.8"},
        std::pair{"switch = { name = 'output_queued', buffer = 12 }\n", "load=0.8"},
        std::pair{"switch = { name = 'output_queued', buffer = 2, space = 'next_cycle' }\n", "load=0.8"},
        std::pair{"switch = 'vc_router'\n", "load=0.2"}, std::pair{"switch = 'cioq'\n", "traffic.size=64"}}) {
    const Result result = run_of(model + cube, {load});
    const double inside = sum_of(series_of(result, "packets_in_network")) * 100.0;
    const double delivered = result.at("network_latency").mean * result.at("delivered_packets").mean;
    EXPECT_NEAR(inside, delivered, 0.01 * delivered) << model;
  }
}

/// What ends of flows tell each other is in none of them, whether it waits before the network or not.
TEST(TimeSeries, AgreeWithTheLatenciesBesideFeedback) {
  const std::string cube =
      "topology = { name = 'multistage_cube', terminals = 16, radix = 2 }\nrouting = 'destination_tag'\n"
      "admission = { name = 'window', flow = 'destination', size = 4 }\n"
      "traffic = [{ name = 'uniform', load = 0.3 }, { name = 'hot_spot', load = 0.05, targets = [3], fraction = 0.8 "
      "}]\n"
      "run = { duration = 20000, window = 50 }\n";
  for (const std::string model :
       {"switch = { name = 'output_queued', buffer = 4 }\n",
        "switch = { name = 'output_queued', buffer = 2, space = 'next_cycle' }\n", "switch = 'vc_router'\n"}) {
    const Result result = run_of(model + cube, {});
    const double inside = sum_of(series_of(result, "packets_in_network")) * 50.0;
    const double delivered = result.at("network_latency").mean * result.at("delivered_packets").mean;
    EXPECT_NEAR(inside, delivered, 0.01 * delivered) << model;
  }
}

TEST(TimeSeries, BacklogIsWhatWasOfferedAndNotTaken) {
  const Result result = run_of(kMesh, {"traffic.load=0.9", "run.warmup=0", "run.measure=2000", "run.window=1000"});
  EXPECT_EQ(result.verdict, Verdict::saturated);
  const std::vector<double>& backlog = series_of(result, "source_backlog").values;
  ASSERT_EQ(backlog.size(), 2U);
  EXPECT_GT(backlog[1], 1.5 * backlog[0]);
}

TEST(TimeSeries, WatchingChangesNothingAndDependsOnNothing) {
  const Result plain = fixed_run();
  EXPECT_EQ(fixed_run({"run.window=0"}).state_hash, plain.state_hash);
  for (const char* neutral : {"run.shards=3", "run.wake=all", "run.step_order=permuted"}) {
    const Result other = fixed_run({neutral});
    EXPECT_EQ(other.state_hash, plain.state_hash);
    ASSERT_EQ(other.series.size(), plain.series.size());
    for (std::size_t i = 0; i < plain.series.size(); ++i) EXPECT_EQ(other.series[i].values, plain.series[i].values);
  }
}

TEST(TimeSeries, LeaveOutAWindowThatTheEndCutsShort) {
  EXPECT_EQ(series_of(fixed_run({"run.window=1500"}), "throughput").values.size(), 2U);
}

TEST(TimeSeries, GoOnWhereAPrecisionProlongsTheRun) {
  const Result result =
      run_of(kMesh, {"run.precision=0.01", "run.warmup=500", "run.measure=2000", "run.window=250", "traffic.load=0.4"});
  EXPECT_EQ(result.verdict, Verdict::steady);
  const stats::Series& throughput = series_of(result, "throughput");
  EXPECT_GT(throughput.values.size(), 10U);
  // No load is left out at the end, and none counted twice.
  EXPECT_NEAR(throughput.values.back(), throughput.values[4], 0.25 * throughput.values[4]);
  EXPECT_NEAR(sum_of(throughput) / static_cast<double>(throughput.values.size()), 0.4 * 16, 0.1);
}

TEST(FixedLength, HasMeansWithoutIntervals) {
  const Result result = fixed_run();
  for (const char* name : {"accepted_load", "packet_latency", "packet_latency.hot_spot"}) {
    EXPECT_FALSE(result.at(name).half_width) << name;
    EXPECT_GT(result.at(name).mean, 0.0) << name;
  }
  EXPECT_NEAR(
      result.at("packet_latency").mean,
      result.at("source_queueing").mean + result.at("head_latency").mean + result.at("serialization_latency").mean,
      1e-9);
}

TEST(FixedLength, IsVerifiedAgain) {
  Result stored = fixed_run();
  EXPECT_TRUE(verify(stored).equal);
  stored.state_hash ^= 1U;
  for (Checkpoint& checkpoint : stored.checkpoints) checkpoint.hash ^= 1U;
  EXPECT_FALSE(verify(stored).equal);
}

TEST(FixedLength, ReplacesWarmupMeasurementDrainAndPrecision) {
  const Result plain = fixed_run();
  const Result other = fixed_run({"run.warmup=10", "run.measure=20", "run.drain=0", "run.precision=0.01"});
  EXPECT_EQ(other.state_hash, plain.state_hash);
  EXPECT_EQ(other.explanation, plain.explanation);
  EXPECT_EQ(other.at("accepted_load_min").mean, plain.at("accepted_load_min").mean);
}

TEST(FixedLength, CutsFiniteTrafficsOffToo) {
  const Result result = run_of(kSessions, {"run.duration=1000", "run.window=100"});
  EXPECT_EQ(result.verdict, Verdict::finished);
  EXPECT_EQ(result.at("simulated_cycles").mean, 1000.0);
  const std::vector<double>& synchronization = series_of(result, "offered_load.synchronization").values;
  EXPECT_EQ(synchronization[0], 0.0);
  EXPECT_GT(synchronization[1] + synchronization[2], 0.0) << "around the mean of 200 cycles";
  EXPECT_EQ(synchronization[5], 0.0);
  EXPECT_TRUE(verify(result).equal);
}

/// Packets that are hardly ever together: what lies in each stage in every cycle, by hand.
TEST(TimeSeries, OccupancyHasWhatIsInTransfer) {
  const std::string lone =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = { name = 'cioq', speedup = 1.5 }\n"
      "routing = { name = 'nearest_common_ancestor', up = 'destination_digit' }\n"
      "traffic = { name = 'synchronization', mean = 3000, deviation = 700 }\n"
      "run = { sessions = 1, seed = 5, series = 'all' }\n";
  const Result result = run_of(lone, {});
  // 15 packets of 1 flit and 6 bytes of overhead: 7 cycles over each link and two thirds of that through each switch,
  // which are one of the first stage for three of them, and three for the other twelve. A packet is in two memories
  // while it goes from one to the other: it is counted where it leaves.
  const double passes = 3 * 1 + 12 * 3;
  const double sum = sum_of(series_of(result, "occupancy_level_0")) + sum_of(series_of(result, "occupancy_level_1"));
  EXPECT_NEAR(sum, passes * 7 * (1 + 1 / 1.5), passes);
  const std::string worms =
      "topology = { name = 'bidirectional_min', hosts = 16, ports = 8 }\nswitch = 'central_buffer'\n"
      "routing = 'nearest_common_ancestor'\ntraffic = { name = 'synchronization', mean = 300 }\n"
      "run = { sessions = 1, series = 'all' }\n";
  EXPECT_THROW(static_cast<void>(run_of(worms, {})), ConfigError);
  EXPECT_THROW(static_cast<void>(check(read_experiments_text(worms, "worms.toml", {}).points.front())), ConfigError);
  EXPECT_GT(sum_of(series_of(run_of(worms, {"run.series=generation"}), "generated_synchronization")), 0.0);
}

TEST(TimeSeriesParameters, AreRefusedWhereThereIsNoSuchSeries) {
  EXPECT_NE(refusal(kSessions, {"run.window=50"}).find("run.series"), std::string::npos);
  EXPECT_NE(refusal(kMesh, {"run.series=all"}).find("run.window"), std::string::npos);
  EXPECT_NE(refusal(kMesh, {"run.window=1", "run.measure=1000000"}).find("windows"), std::string::npos);
}

/// Little's law, window by window where a message is several packets: it is in the network once.
TEST(TimeSeries, AMessageOfSeveralPacketsIsInTheNetworkOnce) {
  const std::string cube =
      "topology = { name = 'hypercube', degree = 4 }\nrouting = 'ecube'\n"
      "switch = { name = 'packet_node', payload = 32 }\ntraffic = { name = 'uniform', load = 0.1, size = 100 }\n"
      "run = { duration = 40000, window = 500 }\n";
  for (const char* transport : {"switch.transport=packet", "switch.transport=datagram"}) {
    const Result result = run_of(cube, {transport});
    const double delivered = result.at("delivered_packets").mean;
    const double law = delivered / 40000 * (result.at("packet_latency").mean - result.at("source_queueing").mean);
    const stats::Series& series = series_of(result, "packets_in_network");
    const double sum = sum_of(series);
    EXPECT_NEAR(sum / static_cast<double>(series.values.size()), law, 0.02 * law) << transport;
  }
  // What its source still keeps is not in the network.
  const Result crowded = run_of(cube, {"run.duration=4000", "traffic.size=32", "traffic.load=1"});
  EXPECT_LE(crowded.at("packets_left").mean, 16.0 * 4 * 2);
}

}  // namespace
}  // namespace banyan::api::time_series_test
