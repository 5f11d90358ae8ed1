// The resolved experiment as objects: what run and check build.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/machine.hpp"

namespace banyan::api {

/// Everything that runs share and nobody writes: topology and routing.
struct Network {
  std::unique_ptr<core::Topology> topology;  ///< with all subnetworks
  std::unique_ptr<core::Routing> routing;
  const core::Routing* routing_in_one = nullptr;  ///< in topology->one_subnetwork()
  std::vector<core::HotSpot> hot_spots;
  double remembers = 0.0;    ///< cycles: the longest of the traffics (TrafficTraits)
  double keeps_phase = 0.0;  ///< likewise
  u32 longest_message = 1;   ///< flits
};

using Traffics = std::vector<std::unique_ptr<core::Traffic>>;

/// One machine with its own traffic objects (they are keyed per replication).
struct Instance {
  Traffics traffics;
  std::unique_ptr<core::Traffic> control;  ///< packets that ends of flows tell each other something in, or nullptr
  std::vector<core::Traffic*> traffic_pointers;  ///< of the experiment's traffics
  std::vector<core::Traffic*> all_traffics;      ///< those, and control
  std::unique_ptr<engine::Machine> machine;
};

/// The rows of the experiment's switch model and topology.
[[nodiscard]] const core::SwitchRow& switch_row(const Experiment& experiment);
[[nodiscard]] const core::TopologyRow& topology_row(const Experiment& experiment);

/// True when the switches mark packets (switch.mark).
[[nodiscard]] bool marks_packets(const Experiment& experiment);

/// Copies of the network that lie side by side; topologies of plug-ins need not know of any.
[[nodiscard]] u32 subnetworks_of(const Experiment& experiment);

/// Nanoseconds per cycle as the switch model says, or run.cycle_time where it does not; 0: nobody does.
[[nodiscard]] double cycle_ns(const Experiment& experiment);
/// Bytes of a flit, by the switch model or by run.flit; 0: nobody says.
[[nodiscard]] u32 flit_bytes(const Experiment& experiment);

/// Builds the topology alone. Throws ConfigError.
[[nodiscard]] std::unique_ptr<core::Topology> build_topology(const Experiment& experiment);

/// Builds the traffics alone. Throws ConfigError.
[[nodiscard]] Traffics build_traffics(const Experiment& experiment, const core::Topology& topology);

/// Builds topology, traffics (to learn their hot spots) and routing. Throws ConfigError.
[[nodiscard]] Network build_network(const Experiment& experiment);

/// Builds a machine on the network. Throws ConfigError.
[[nodiscard]] Instance build_instance(const Experiment& experiment, const Network& network,
                                      engine::EngineSettings settings);

/// The engine's settings that a run's parameters give.
[[nodiscard]] engine::EngineSettings engine_settings(const Experiment& experiment);

/// What follows the name of a metric of one traffic alone: "." and its name, or its number where names repeat.
[[nodiscard]] std::string traffic_suffix(const Experiment& experiment, std::size_t traffic);

/// The name of a metric of the switch model's own. Where the result has one of that name already (packet_node and
/// circuit know when a message is consumed, a session when it is over), "." and the model's name follow.
[[nodiscard]] std::string own_metric(const Experiment& experiment, const Result& result, const std::string& name);

/// What packets take of every link beyond their own flits.
struct LinkOverhead {
  double flits = 0.0;          ///< of one packet
  const char* parameter = "";  ///< of the switch model, that says it
  bool at_terminals = false;   ///< a terminal has one such link, of one flit per cycle
};
[[nodiscard]] LinkOverhead link_overhead(const Experiment& experiment);

/// What a mean load of so many flits per cycle and terminal is with it, in packets of so many flits.
[[nodiscard]] std::string overhead_text(const LinkOverhead& more, double packet_flits, double load);

/// True when the run has a fixed length (run.duration) instead of a warm-up and a measurement, or of sessions.
[[nodiscard]] bool is_fixed(const config::Values& run);

/// True when a finite traffic makes it a session experiment.
[[nodiscard]] bool has_sessions(const Experiment& experiment, const Traffics& traffics);

}  // namespace banyan::api
