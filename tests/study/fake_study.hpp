// A study of two figures that share points, run by a runner that computes its metrics from the configuration.
#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/study/study.hpp"

namespace banyan::test {

inline constexpr std::string_view kFakeStudy = R"(
title = "A study"
reference = "Nobody, 1900"

[axes]
gamma = { key = "traffic.uniform.load", label = "Load", symbol = "γ", unit = "packets" }
S = { key = "switch.buffer", label = "Buffer", symbol = "S" }

[metrics]
delay = { label = "Delay", symbol = "d_{x}", unit = "cycles" }

[series.bypass]
label = "Bypass"
set = ["topology.input_stage=bypassed", "routing=destination_tag"]
[series.isolated]
label = "Isolated"

[mode.quick]
set = ["run.sessions=2"]
keep = { gamma = [0.50] }

[[figure]]
id = "1"
title = "Delay over load"
file = "one.toml"
x = "gamma"
series = ["bypass", "isolated"]
metrics = ["delay"]

[[figure]]
id = "2"
title = "Delay over buffer"
file = "two.toml"
x = "S"
lines = ["gamma"]
series = ["bypass"]
metrics = ["delay"]
quick = { set = ["run.sessions=3"], keep = { gamma = [0.1, 0.5] } }

[[figure]]
id = "time"
title = "Over time"
file = "three.toml"
time_series = ["arrivals"]
modes = ["full"]
)";

inline constexpr const char* kExperiment = R"(
topology = { name = "extra_stage_cube", terminals = 16, radix = 4 }
switch = { name = "output_queued", buffer = 8 }
routing = "isolated_background"
[[traffic]]
name = "synchronization"
mean = 100
[[traffic]]
name = "uniform"
load = 0.5
include_self = true
[run]
sessions = 5
)";

/// Owns the texts that a study::Study points at.
class FakeStudy {
 public:
  explicit FakeStudy(std::vector<study::Claim> (*claims)(), std::string toml = std::string(kFakeStudy),
                     std::string best = "")
      : toml_(std::move(toml)),
        best_(std::move(best)),
        one_("name = \"one\"\n" + std::string(kExperiment) + "[sweep]\n\"traffic.uniform.load\" = [0.1, 0.5]\n"),
        two_("name = \"two\"\n" + std::string(kExperiment) +
             "[sweep]\n\"traffic.uniform.load\" = [0.1, 0.5]\n\"switch.buffer\" = [4, 8]\n"),
        three_("name = \"three\"\n" + std::string(kExperiment)),
        row_{"fake", claims},
        files_{{"best.toml", best_},
               {"one.toml", one_},
               {"study.toml", toml_},
               {"three.toml", three_},
               {"two.toml", two_}} {}
  FakeStudy(const FakeStudy&) = delete;
  FakeStudy& operator=(const FakeStudy&) = delete;

  [[nodiscard]] study::Study study() const { return {&row_, files_}; }

 private:
  std::string toml_, best_, one_, two_, three_;
  study::StudyRow row_;
  std::vector<study::EmbeddedFile> files_;
};

inline std::vector<study::Claim> no_claims() { return {}; }

inline stats::Metric metric(const std::string& name, double mean, double half_width) {
  stats::Metric m;
  m.name = name;
  m.mean = mean;
  m.half_width = half_width;
  m.count = 5;
  m.unit = "cycles";
  return m;
}

/// A result that depends on the configuration alone.
inline api::Result fake_result(const api::Experiment& experiment) {
  api::Result result;
  result.version = "0";
  result.compiler = "none";
  result.state_hash = mix64(experiment.configuration_hash);
  result.configuration = experiment.configuration;
  result.configuration_hash = experiment.configuration_hash;
  result.seed = 1;
  result.verdict = api::Verdict::finished;
  result.metrics.push_back(metric("delay", static_cast<double>(result.state_hash % 1000) / 7, 0.5));
  result.series.push_back({"arrivals", "packets", 0.0, 2.0, {1.0, 0.5, 0.25}});
  return result;
}

inline api::Result fake_run(const api::Experiment& experiment, const api::RunOptions&) {
  return fake_result(experiment);
}

/// Takes longer for some points than for others, so that threads finish out of order.
inline api::Result uneven_run(const api::Experiment& experiment, const api::RunOptions&) {
  std::this_thread::sleep_for(std::chrono::microseconds(experiment.configuration_hash % 5000));
  return fake_result(experiment);
}

}  // namespace banyan::test
