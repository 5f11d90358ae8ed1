// A network as a drawing, in the shape that its topology has: what the page of a run draws too (web/src/layout.ts).
#pragma once

#include <string>

#include "banyan/core/topology.hpp"

namespace banyan::report {

/// How a network is laid out, by what its topology publishes about itself: "stages", "levels", "grid", "cube", "groups"
/// or "ring". `name`: of the topology.
[[nodiscard]] std::string shape_of(const std::string& name, const core::Topology& topology);

/// Switches as boxes, terminals as circles, both with their names as titles; a line per channel, dashed where it
/// failed.
[[nodiscard]] std::string network_svg(const std::string& name, const core::Topology& topology);

}  // namespace banyan::report
