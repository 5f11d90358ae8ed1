// Whole machines for tests: components by name, messages by script.
#pragma once

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "banyan/core/registry.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"
#include "support/rows.hpp"
#include "support/script.hpp"

namespace banyan::test {

using Given = std::vector<std::pair<std::string, config::Value>>;

/// A component by name, with the parameters that differ from the defaults.
struct Part {
  std::string name;
  Given given = {};
};

template <class Row>
config::Values values_of(const Row& row, const Part& part) {
  config::Values values = config::Values::defaults(row.info);
  for (const auto& [name, value] : part.given) {
    if (!values.all().contains(name)) throw std::logic_error(part.name + " has no parameter " + name);
    values.set(name, value);
  }
  return values;
}

/// Topology, switch, routing and traffics of one machine, in the order in which they must outlive each other.
class Rig {
 public:
  Rig(const Part& topology, const Part& switching, const Part& routing, engine::EngineSettings settings = {})
      : settings_(settings), switch_row_(&row_named(core::switching_rows(), switching.name)) {
    const core::TopologyRow& topology_row = row_named(core::topology_rows(), topology.name);
    topology_ = topology_row.make(values_of(topology_row, topology));
    switch_values_ = values_of(*switch_row_, switching);
    const core::RoutingRow& routing_row = row_named(core::routing_rows(), routing.name);
    routing_ =
        routing_row.make(values_of(routing_row, routing), {topology_.get(), {}, switch_row_->vcs(switch_values_)});
  }

  /// Builds the machine on a script, counts every packet, and resets it to tick 0.
  engine::Machine& run_script(const std::vector<Script::Line>& lines) {
    return run(std::make_unique<Script>(topology_->graph().terminals(), lines));
  }
  engine::Machine& run(std::unique_ptr<core::Traffic> traffic) {
    traffic_ = std::move(traffic);
    pointers_ = {traffic_.get()};
    engine::Builder builder(*topology_, *routing_, pointers_, {}, settings_);
    switch_row_->install(switch_values_, builder);
    machine_ = std::make_unique<engine::Machine>(builder.take_shards(), pointers_, builder.window(), settings_.threads,
                                                 settings_.ranks);
    machine_->reset(0);
    machine_->set_window({0, kNever - 1});
    return *machine_;
  }

  [[nodiscard]] engine::Machine& machine() { return *machine_; }
  [[nodiscard]] const core::Topology& topology() const { return *topology_; }

  /// Runs until nothing is left to do, or to `limit`; returns the tick of the last delivery's step, kNever when packets
  /// are left.
  void drain(Tick limit = 1'000'000) {
    machine_->run_until(limit);
    machine_->audit();
  }

  /// The latency of one packet alone in an empty network.
  [[nodiscard]] Tick latency_of(const Script::Line& line) {
    run_script({line});
    drain();
    if (machine_->totals().delivered != 1) return kNever;
    return machine_->tallies()[0].latency + machine_->tallies()[1].latency;
  }

  /// The tick of every delivery, in order. Audits after each of them, and now and then on the way: an audit takes many
  /// times as long as a step.
  [[nodiscard]] std::vector<Tick> deliveries(const std::vector<Script::Line>& lines, Tick limit = 100'000) {
    run_script(lines);
    std::vector<Tick> times;
    u64 seen = 0;
    for (u64 steps = 1; machine_->next() < limit; ++steps) {
      const Tick now = machine_->step();
      const u64 delivered = machine_->totals().delivered;
      if (seen < delivered || steps % 16 == 0) machine_->audit();
      for (; seen < delivered; ++seen) times.push_back(now);
    }
    machine_->audit();
    return times;
  }

 private:
  engine::EngineSettings settings_;
  const core::SwitchRow* switch_row_;
  config::Values switch_values_;
  std::unique_ptr<core::Topology> topology_;
  std::unique_ptr<core::Routing> routing_;
  std::unique_ptr<core::Traffic> traffic_;
  std::vector<core::Traffic*> pointers_;
  std::unique_ptr<engine::Machine> machine_;
};

}  // namespace banyan::test
