// Small experiments from registration rows: about 16 terminals, defaults wherever there is no need for something else.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/registry.hpp"
#include "build_info.hpp"

namespace banyan::test {

/// Values by "component.parameter" or, for every component that declares it, by "parameter".
using SmallValues = std::map<std::string, std::string>;

/// What a small instance sets, `more` included.
inline SmallValues small_values(const SmallValues& more) {
  SmallValues values = more;
  values.merge(SmallValues{
      {"terminals", "16"},
      {"radix", "2"},
      {"degree", "4"},
      {"mesh.size", "[4, 4]"},
      {"torus.size", "[4, 4]"},
      {"hyperx.size", "[4, 4]"},
      {"hosts", "16"},
      {"fat_tree.levels", "2"},
      {"children", "[4, 4]"},
      {"parents", "[1, 2]"},
      {"q", "3"},
      {"table.lines",
       "['0 1 1', '0 2 3', '0 3 2', '1 0 1', '1 2 2', '1 3 1', '2 0 3', '2 1 1', '2 3 2', '3 0 2', '3 1 1', "
       "'3 2 1']"},
      {"slim_fly.concentration", "1"},
      {"routers_per_group", "3"},
      {"global_ports", "1"},
      {"load", "0.2"},
      {"synchronization.mean", "300"},
      {"cioq.memory", "1024"},
      {"cioq.packet", "8"},
      {"cioq.overhead", "0"},
      {"congestion.size", "1"},
      {"congestion.destinations", "[3]"},
      {"congestion.start", "500"},
      {"congestion.duration", "1000"},
      {"incast.fan_in", "3"},
      {"incast.size", "2"},
      {"incast.amount", "4000"},
      {"storage.disks", "4"},
      {"storage.length", "4000"},
      {"storage.rate", "2e9"},
      {"storage.burst", "200"},
      {"flows.size", "1"},
      {"flows.sources", "[0, 1, 2, 3]"},
      {"flows.destinations", "[5, 6, 7, 8]"},
      {"group_size", "4"},
      {"row_to_column.row", "2"},
      {"trace.file", fmt::format("'{}/tests/traffic/small.trace'", BANYAN_SOURCE_DIR)},
  });
  return values;
}

inline std::string small_component(const config::ComponentInfo& info, const SmallValues& values) {
  std::string text = fmt::format("{{ name = '{}'", info.name);
  for (const config::Parameter& p : info.parameters) {
    for (const std::string& key : {info.name + "." + p.name, p.name}) {
      const auto found = values.find(key);
      if (found == values.end()) continue;
      text += fmt::format(", {} = {}", p.name, found->second);
      break;
    }
  }
  return text + " }";
}

struct Combination {
  const core::TopologyRow* topology;
  const core::SwitchRow* switching;
  const core::RoutingRow* routing;
  const core::TrafficRow* traffic;

  [[nodiscard]] std::string name() const {
    return fmt::format("{} x {} x {} x {}", topology->info.name, switching->info.name, routing->info.name,
                       traffic->info.name);
  }
  /// The experiment as TOML; `run` fills the table of the same name.
  [[nodiscard]] std::string text(const std::string& run, const SmallValues& more = {}) const {
    const SmallValues values = small_values(more);
    return fmt::format("topology = {}\nswitch = {}\nrouting = {}\ntraffic = [{}]\nrun = {{ {} }}\n",
                       small_component(topology->info, values), small_component(switching->info, values),
                       small_component(routing->info, values), small_component(traffic->info, values), run);
  }
  [[nodiscard]] api::Experiment experiment(const std::string& run, const SmallValues& more = {}) const {
    return api::read_experiments_text(text(run, more), "small", {}).points.front();
  }
};

inline std::vector<Combination> all_combinations() {
  std::vector<Combination> all;
  for (const core::TopologyRow* topology : core::topology_rows()) {
    for (const core::SwitchRow* switching : core::switching_rows()) {
      for (const core::RoutingRow* routing : core::routing_rows()) {
        for (const core::TrafficRow* traffic : core::traffic_rows()) {
          all.push_back({topology, switching, routing, traffic});
        }
      }
    }
  }
  return all;
}

/// Every topology x switch x routing with a few of the traffics, a different few each time, so that every traffic comes
/// about everywhere: what can be run at every build. The whole product grows with every row and is for slow tests.
inline std::vector<Combination> some_combinations() {
  constexpr std::size_t kTraffics = 2;
  const std::size_t traffics = core::traffic_rows().size();
  const std::size_t apart = std::max<std::size_t>(traffics / kTraffics, 1);
  std::vector<Combination> some;
  const std::vector<Combination> all = all_combinations();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t network = i / traffics;
    const std::size_t traffic = i % traffics;
    if ((network + traffic) % apart == 0) some.push_back(all[i]);
  }
  return some;
}

}  // namespace banyan::test
