// All components, sorted by name. The build generates the tables from the file names of each room; plug-ins add theirs.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "banyan/core/admission.hpp"
#include "banyan/core/analysis.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::core {

/// Rows of every room.
struct Components {
  std::span<const TopologyRow* const> topology = {};
  std::span<const RoutingRow* const> routing = {};
  std::span<const SwitchRow* const> switching = {};
  std::span<const TrafficRow* const> traffic = {};
  std::span<const AdmissionRow* const> admission = {};
  std::span<const AnalysisRow* const> analysis = {};
};

/// Those that the program is linked with (generated).
[[nodiscard]] Components built_in_components();

/// Adds those of a plug-in, whose rows must stay where they are; by one thread at a time. Rows that others have been
/// given meanwhile are still there. Returns the name of one that is there already, and then adds none; empty: all are
/// added.
[[nodiscard]] std::string add_components(const Components& more);

[[nodiscard]] std::span<const TopologyRow* const> topology_rows();
[[nodiscard]] std::span<const RoutingRow* const> routing_rows();
[[nodiscard]] std::span<const SwitchRow* const> switching_rows();
[[nodiscard]] std::span<const TrafficRow* const> traffic_rows();
[[nodiscard]] std::span<const AdmissionRow* const> admission_rows();
[[nodiscard]] std::span<const AnalysisRow* const> analysis_rows();

// For remedies, which name what there is: "a, b or c".

/// The switch models that have something.
[[nodiscard]] std::string switches_with(const std::function<bool(const SwitchRow&)>& has);
/// The admissions that have something, but for `none`.
[[nodiscard]] std::string admissions_with(const std::function<bool(const AdmissionRow&)>& has);
/// Likewise of admissions by their defaults.
[[nodiscard]] std::string admissions_with(const std::function<bool(const Admission&)>& has);
/// The traffics that have something.
[[nodiscard]] std::string traffics_with(const std::function<bool(const TrafficRow&)>& has);
/// The traffics that have something by their defaults, on some topology by its defaults.
[[nodiscard]] std::string traffics_with(const std::function<bool(const Traffic&)>& has);
/// The topologies that have something by the defaults of their parameters. Builds each of them.
[[nodiscard]] std::string topologies_with(const std::function<bool(const Topology&)>& has);
/// The routing functions that have something, by their defaults, on a topology by its defaults. Builds every pair that
/// fits together, so no routing may ask this for its own refusal.
[[nodiscard]] std::string routings_with(const std::function<bool(const Routing&)>& has);
/// The topologies that have something by their defaults, with their usual routing.
[[nodiscard]] std::string topologies_with(const std::function<bool(const Topology&, const Routing&)>& has);
/// The routing functions that exist in this context by their defaults, but for `but`, whose remedy this is. Empty where
/// there is none, where one of them asks in its turn, and on networks of more than 4,096 terminals, since nobody waits
/// for an error until all of them are built.
[[nodiscard]] std::string routings_on(const RoutingContext& context, const std::string& but);

}  // namespace banyan::core
