// All components, sorted by name. The build generates the table from the file names of each room.
#pragma once

#include <span>

#include "banyan/core/admission.hpp"
#include "banyan/core/analysis.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/core/topology.hpp"
#include "banyan/core/traffic.hpp"

namespace banyan::core {

[[nodiscard]] std::span<const TopologyRow* const> topology_rows();
[[nodiscard]] std::span<const RoutingRow* const> routing_rows();
[[nodiscard]] std::span<const SwitchRow* const> switching_rows();
[[nodiscard]] std::span<const TrafficRow* const> traffic_rows();
[[nodiscard]] std::span<const AdmissionRow* const> admission_rows();
[[nodiscard]] std::span<const AnalysisRow* const> analysis_rows();

}  // namespace banyan::core
