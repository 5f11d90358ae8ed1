// Does every traffic stand the ends of the range of its loads and rates, with every process? No birth goes back in
// time, a load of almost nothing sends almost nothing, and the largest ends with the run.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"
#include "engine/small_instances.hpp"

namespace banyan::load_ends_test {
namespace {

constexpr const char* kRun = "duration = 3000, audit = 'full'";

bool is_load(const config::Parameter& p) {
  const bool number = p.type == config::Type::real || p.type == config::Type::reals;
  return number && (p.unit_name == "flits/cycle" || p.unit_name == "accesses/s");
}

/// The ends of its range, and what lies next to them.
std::vector<double> ends_of(const config::Parameter& p) {
  std::vector<double> ends;
  for (const double value : {p.low, 5e-324, 1e-300, 1e-30, 1e-9, 1.0, p.high}) {
    const bool low = p.low_open ? value > p.low : value >= p.low;
    if (low && value <= p.high && std::isfinite(value)) ends.push_back(value);
  }
  return ends;
}

/// The first network on which the traffic runs.
std::optional<test::Combination> network_of(const core::TrafficRow& row) {
  for (const test::Combination& c : test::all_combinations()) {
    const bool mesh = c.topology->info.name == "mesh" && c.routing->info.name == "dimension_order";
    const bool tree = c.topology->info.name == "bidirectional_min" && c.routing->info.name == "nearest_common_ancestor";
    if (c.traffic != &row || !(mesh || tree)) continue;
    try {
      static_cast<void>(api::check(c.experiment(kRun)));
      return c;
    } catch (const ConfigError&) { continue; }
  }
  return std::nullopt;
}

/// Births of the first messages of every terminal never go back.
void expect_births_in_order(const api::Experiment& experiment, const std::string& name) {
  const api::Network network = api::build_network(experiment);
  const api::Instance instance = api::build_instance(experiment, network, api::engine_settings(experiment));
  for (const core::Traffic* traffic : instance.traffic_pointers) {
    if (traffic->answers()) continue;
    const_cast<core::Traffic*>(traffic)->begin(0);
    for (u32 t = 0; t < network.topology->traffic_terminals(); ++t) {
      Tick previous = kNever;
      core::Message message;
      for (u64 nth = 0; nth < 40; ++nth) {
        if (!traffic->next(t, nth, previous, message) || message.birth == kNever) break;
        ASSERT_TRUE(previous == kNever || message.birth >= previous)
            << name << ": message " << nth << " of terminal " << t << " is born at " << message.birth
            << ", the one before at " << previous;
        previous = message.birth;
        if (previous > Tick{1} << 60U) break;  // nobody looks further
      }
    }
  }
}

void expect_stands(const std::string& text, const std::string& name, double load) {
  api::Experiment experiment;
  try {
    experiment = api::read_experiments_text(text, "ends", {}).points.front();
    static_cast<void>(api::check(experiment));
  } catch (const ConfigError&) { return; }
  expect_births_in_order(experiment, name);
  const api::Result result = api::run(experiment);
  const stats::Metric* const offered = result.find("offered_load");
  if (offered == nullptr) return;
  EXPECT_TRUE(std::isfinite(offered->mean)) << name;
  // A regular source begins with a message, however long the gap behind it is.
  if (load <= 1e-9) { EXPECT_LE(offered->mean * 3000.0, 4200.0) << name; }
}

TEST(LoadEnds, EveryTrafficStandsTheEndsOfItsRange) {
  std::set<std::string> tried;
  for (const core::TrafficRow* row : core::traffic_rows()) {
    const auto& parameters = row->info.parameters;
    if (std::none_of(parameters.begin(), parameters.end(), is_load)) continue;
    const std::optional<test::Combination> network = network_of(*row);
    if (!network) continue;
    std::vector<std::string> processes{""};
    for (const config::Parameter& p : parameters) {
      if (p.name == "process") processes = p.choices;
    }
    for (const config::Parameter& p : parameters) {
      if (!is_load(p)) continue;
      for (const double value : ends_of(p)) {
        const std::string number =
            p.type == config::Type::reals ? fmt::format("[{}]", value) : fmt::format("{}", value);
        for (const std::string& process : processes) {
          test::SmallValues more{{row->info.name + "." + p.name, number}};
          if (!process.empty()) more["process"] = "'" + process + "'";
          expect_stands(network->text(kRun, more),
                        fmt::format("{}.{} = {}, process {}", row->info.name, p.name, number, process), value);
        }
      }
    }
    tried.insert(row->info.name);
  }
  for (const char* name : {"uniform", "incast", "flows", "congestion", "storage", "multicast"})
    EXPECT_TRUE(tried.contains(name)) << name;
}

}  // namespace
}  // namespace banyan::load_ends_test
