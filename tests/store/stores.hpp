// Folders, results and points for the tests of the store; no simulation is needed for most of them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "banyan/api/version.hpp"
#include "banyan/base/error.hpp"
#include "banyan/store/store.hpp"
#include "support/repository.hpp"

namespace banyan::store {

/// A result in which every field differs from its default.
inline api::Result example_result(u64 hash) {
  api::Result result;
  result.version = api::version();
  result.compiler = "c++";
  result.state_hash = 0xfedcba9876543210ULL + hash;
  result.configuration = "{\"run\":{\"seed\":3}}";
  result.configuration_hash = hash;
  result.seed = 3;
  result.verdict = api::Verdict::saturated;
  result.certain = false;
  result.explanation = "it's 5 % \"over\" ± ü";
  result.warning = "a buffer is short; so is time";
  stats::Metric delay;
  delay.name = "delay";
  delay.mean = 1.0 / 3.0;
  delay.half_width = 1e-300;
  delay.confidence = 0.9;
  delay.count = 12;
  delay.unit = "cycles";
  stats::Metric unknown = delay;
  unknown.name = "unknown";
  unknown.mean = std::numeric_limits<double>::quiet_NaN();
  unknown.half_width.reset();
  stats::Metric packets = unknown;
  packets.name = "packets";
  packets.mean = 1e18;
  packets.counter = true;
  result.metrics = {delay, unknown, packets};
  result.series = {{"occupancy", "packets", 5.0, 2.0, {0.1, -0.0, 1e300}}, {"empty", "", 0.0, 1.0, {}}};
  result.histograms = {{"delay", "cycles", {{0, 0, 7}, {128, 129, u64{1} << 63U}}}};
  result.groups = {{"delay", {{0, 1}, {std::numeric_limits<u64>::max(), 127}, {128, 1U << 14U}}}};
  result.group_cycles = 16.0;
  result.group_cut = 1;
  result.checkpoints = {{1024, 1}, {2048, 0xffffffffffffffffULL}};
  result.cpu_seconds = 0.125;
  result.peak_bytes = u64{1} << 40U;
  return result;
}

/// Points 0 ... count - 1 of one axis, whose configuration hashes are their numbers plus 1.
inline api::ExperimentSet example_set(std::size_t count) {
  api::ExperimentSet set;
  set.file = "some file.toml";
  set.axis_names = {"load"};
  for (std::size_t i = 0; i < count; ++i) {
    api::Experiment point;
    point.axes = {{"load", std::to_string(i)}};
    point.labels = {"load = " + std::to_string(i)};
    point.configuration = "{\"point\":" + std::to_string(i) + "}";
    point.configuration_hash = i + 1;
    set.points.push_back(point);
  }
  return set;
}

inline const Source kSource{"sweep", "some file.toml", "[run]\nseed = 3\n", {"switch.buffer=8", "name=it's"}, {}};

class StoreTest : public testing::Test {
 protected:
  [[nodiscard]] std::string folder() const { return folder_.path().string(); }
  [[nodiscard]] std::string file() const { return (folder_.path() / kFileName).string(); }

  /// The error that opening or reading the store gives.
  template <class F>
  static ConfigError refusal(F&& act) {
    try {
      act();
    } catch (const ConfigError& error) { return error; }
    ADD_FAILURE() << "no error was thrown";
    return {{}, "", ""};
  }
  static void expect(const ConfigError& error, const std::string& cause, const std::string& remedy) {
    EXPECT_NE(error.cause().find(cause), std::string::npos) << error.what();
    EXPECT_NE(error.remedy().find(remedy), std::string::npos) << error.what();
  }

 private:
  test::TemporaryFolder folder_;
};

}  // namespace banyan::store
