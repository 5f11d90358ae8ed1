#include "banyan/api/measure/short_run.hpp"

#include <algorithm>

#include "banyan/api/network.hpp"
#include "banyan/config/resolve.hpp"

namespace banyan::api {

ShortRun ShortRun::of(u32 terminals, Tick planned) {
  constexpr u32 kMostTerminals = 256;
  constexpr u64 kLeastCycles = 2000;
  constexpr u64 kMostCycles = 8000;
  constexpr u64 kTerminalCycles = 100000;
  if (terminals == 0 || terminals > kMostTerminals) return {};
  const Tick cycles = std::clamp(kTerminalCycles / terminals, kLeastCycles, kMostCycles);
  return {std::min(cycles, std::max(planned, kLeastCycles / 2))};
}

double accepted(const Experiment& experiment, const SwitchChanges& changes, ShortRun run) {
  Experiment changed = experiment;
  changed.fork = {};
  for (const auto& [name, value] : changes) {
    config::change(changed.switching, switch_row(experiment).info, name, value);
  }
  const Network network = build_network(changed);
  const Instance instance = build_instance(changed, network, engine_settings(changed));
  engine::Machine& machine = *instance.machine;
  machine.reset(0);
  machine.set_window({0, kNever - 1});
  machine.run_until(run.fill());
  const u64 before = machine.totals().of_load().delivered_flits;
  machine.run_until(run.end());
  const u64 arrived = machine.totals().of_load().delivered_flits - before;
  return static_cast<double>(arrived) / static_cast<double>(run.cycles) /
         static_cast<double>(network.topology->traffic_terminals());
}

}  // namespace banyan::api
