// Parameters whose rows say that they mean nothing beside certain values of others: is it so? Each is run with two of
// its values there, and may change no bit.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::idle_test {
namespace {

using config::Parameter;
using config::Type;
using config::Value;

const std::string kMesh =
    "topology = { name = 'mesh', size = [4, 4] }\nrouting = 'dimension_order'\n"
    "traffic = { name = 'uniform', load = 0.3, size = 3 }\n";
const std::string kAdapters =
    "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\n"
    "routing = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n";
const std::string kHotSpot = "traffic = { name = 'hot_spot', load = 0.5, size = 64, fraction = 0.15 }\n";
const std::string kUniform = "traffic = { name = 'uniform', load = 0.3, size = 2 }\n";

/// A trace of block I/O in the format of the Storage Performance Council.
std::string trace_file() {
  std::string path = testing::TempDir() + "idle.spc";
  std::ofstream(path) << "0,100,4096,r,0.000001\n0,900,512,W,0.000002\n1,7,1024,r,0.000002\n";
  return path;
}

/// Experiments in which parameters mean nothing; which, their rows say.
std::vector<std::string> experiments() {
  std::vector<std::string> all;
  for (const char* const queues : {"1q", "voqsw", "recn_basic", "recn_enhanced"}) {
    all.push_back(kAdapters + kHotSpot +
                  fmt::format("switch = {{ name = 'cioq', queues = '{}', memory = 4096, egress_detection = 16, "
                              "ingress_detection = 12, propagation = 4, xoff = 12, xon = 4, saqs = 4 }}\n",
                              queues));
  }
  const std::string router = "switch = { name = 'vc_router', vcs = 4 }\n";
  all.push_back(kMesh + router);
  all.push_back(kMesh + "switch = { name = 'circuit', blocked = 'wait' }\n");
  all.push_back(kMesh + "switch = { name = 'packet_node', transport = 'datagram', acquire = 2, header = 2 }\n");
  for (const config::ComponentInfo* topology : api::catalog().topology.components)
    all.push_back(fmt::format("topology = '{}'\n", topology->name) + router + kUniform);
  for (const char* const policy : {"minimal", "valiant"}) {
    all.push_back("topology = 'dragonfly'\n" + router + kUniform +
                  fmt::format("routing = {{ name = 'dragonfly_routing', policy = '{}' }}\n", policy));
  }
  all.push_back(
      "topology = { name = 'torus', size = [4, 4] }\nrouting = { name = 'dimension_order', datelines = "
      "false }\ntraffic = { name = 'uniform', load = 0.05 }\n" +
      router);
  all.push_back(
      "topology = { name = 'fat_tree', arity = 2, levels = 3 }\nrouting = { name = 'up_down', order = "
      "'levels' }\n" +
      router + kUniform);
  for (const config::ComponentInfo* admission : api::catalog().admission.components) {
    if (config::find_parameter(*admission, "feedback") == nullptr) continue;
    const char* const more = admission->name == "infiniband_cc" ? ", cct = [0, 4, 8]" : "";
    all.push_back(kMesh + "switch = { name = 'vc_router', vcs = 4, mark.low = 2, mark.high = 4 }\n" +
                  fmt::format("admission = {{ name = '{}', feedback = 'words'{} }}\n", admission->name, more));
  }
  const auto adapters = [&](const std::string& traffic) {
    all.push_back(kAdapters + "switch = 'cioq'\ntraffic = { " + traffic + " }\n");
  };
  adapters("name = 'congestion', destinations = [3], start = 500, duration = 1000, placement = 'spread'");
  adapters("name = 'incast', senders = [4, 9], duration = 500");
  adapters("name = 'storage', disks = 4, length = 10000, burst = 2000");
  adapters("name = 'storage', disks = 4, file = '" + trace_file() + "'");
  all.push_back("topology = { name = 'mesh', size = [4, 4] }\n" + router +
                "traffic = { name = 'permutation', load = 0.2 }\n");
  all.push_back(kMesh + router + "run = { duration = 3000 }\n");
  return all;
}

/// Other values in range: beside the one it has, and the least and the greatest. A value that means nothing is held
/// against nothing.
std::vector<Value> others(const Parameter& parameter, const Value& now) {
  std::vector<Value> all;
  const auto add = [&](double v) {
    const bool low = parameter.low_open ? v > parameter.low : v >= parameter.low;
    const bool high = parameter.high_open ? v < parameter.high : v <= parameter.high;
    if (!low || !high || !std::isfinite(v)) return;
    const Value value = parameter.type == Type::integer ? Value(static_cast<i64>(v)) : Value(v);
    if (value != now) all.push_back(value);
  };
  if (parameter.type == Type::boolean) all.emplace_back(!std::get<bool>(now));
  if (const auto* whole = std::get_if<i64>(&now)) {
    for (const double v : {static_cast<double>(*whole) + 1, parameter.low, parameter.high}) add(v);
  }
  if (const auto* real = std::get_if<double>(&now)) {
    for (const double v : {*real * 0.5, *real + 0.25, parameter.low, parameter.high}) add(v);
  }
  for (const std::string& choice : parameter.choices)
    if (Value(choice) != now) all.emplace_back(choice);
  return all;
}

std::string means_of(const api::Result& result) {
  std::string text;
  for (const stats::Metric& metric : result.metrics) text += fmt::format("{} {}\n", metric.name, metric.mean);
  return text;
}

class Tried {
 public:
  /// Each parameter of a component that means nothing here.
  void look_at(const std::string& text, const std::string& section, const config::Values& values,
               const config::ComponentInfo& info, const api::Result& before) {
    for (const Parameter& parameter : info.parameters) {
      if (parameter.conditions.empty() || config::has_meaning(parameter, values, info)) continue;
      const std::vector<Value> values_here = others(parameter, values.all().find(parameter.name)->second);
      EXPECT_FALSE(values_here.empty()) << info.name << "." << parameter.name;
      names_.insert(info.name + "." + parameter.name);
      for (const Value& value : values_here) {
        const std::string change = section + "." + parameter.name + "=" + config::to_text(value);
        try {
          const api::Result after = api::run(read(text, {change}));
          EXPECT_EQ(after.state_hash, before.state_hash) << change << " in\n" << text;
          EXPECT_EQ(means_of(after), means_of(before)) << change << " in\n" << text;
        } catch (const ConfigError& error) {
          ADD_FAILURE() << change << " is said to mean nothing, and refused: " << error.what() << "\nin\n" << text;
        }
        ++compared_;
      }
    }
  }

  [[nodiscard]] int compared() const { return compared_; }
  [[nodiscard]] bool has(const std::string& name) const { return names_.contains(name); }

  static api::Experiment read(const std::string& text, const api::Overrides& overrides = {}) {
    const bool own = text.find("run = ") != std::string::npos;
    const std::string run = own ? "" : "run = { warmup = 200, measure = 2000, watchdog = 0 }\n";
    return api::read_experiments_text(text + run, "idle.toml", overrides).points.front();
  }

 private:
  std::set<std::string> names_;
  int compared_ = 0;
};

TEST(IdleParameters, ChangeNoBit) {
  const api::Catalog& catalog = api::catalog();
  Tried tried;
  for (const std::string& text : experiments()) {
    const api::Experiment experiment = Tried::read(text);
    const api::Result before = api::run(experiment);
    const auto look = [&](const api::Kind& kind, const config::Values& values) {
      if (const config::ComponentInfo* info = kind.find(values.component()); info != nullptr)
        tried.look_at(text, kind.section, values, *info, before);
    };
    look(catalog.topology, experiment.topology);
    look(catalog.switching, experiment.switching);
    look(catalog.routing, experiment.routing);
    look(catalog.traffic, experiment.traffics.front());
    look(catalog.admission, experiment.admission);
    look(catalog.run, experiment.run);
  }
  EXPECT_GE(tried.compared(), 200);
  for (const api::Kind* kind : catalog.kinds()) {
    for (const config::ComponentInfo* info : kind->components) {
      for (const Parameter& parameter : info->parameters) {
        const std::string name = info->name + "." + parameter.name;
        if (parameter.conditions.empty()) continue;
        EXPECT_TRUE(tried.has(name)) << name << " is said to mean nothing sometimes: give an experiment for it here";
        for (const config::Condition& condition : parameter.conditions) {
          const Parameter* other = config::find_parameter(*info, condition.name);
          ASSERT_NE(other, nullptr) << name << " asks for " << condition.name;
          for (const std::string& value : condition.values) {
            const auto& choices = other->choices;
            EXPECT_TRUE(choices.empty() || std::ranges::find(choices, value) != choices.end())
                << name << " asks for " << condition.name << " = " << value;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace banyan::idle_test
