// The network of an experiment for drawing and for other programs.
#pragma once

#include <string>

#include "banyan/api/experiment.hpp"

namespace banyan::api {

/// Graphviz: switches as boxes, terminals as circles, one edge per link (both directions), failed ones dashed.
[[nodiscard]] std::string topology_dot(const Experiment& experiment);

/// One JSON object: "topology" (parameters), "switches", "terminals", "channels", by the numbers of the graph.
[[nodiscard]] std::string topology_json(const Experiment& experiment);

}  // namespace banyan::api
