#include "banyan/core/size.hpp"

#include <algorithm>

#include "banyan/core/graph.hpp"

namespace banyan::core {

NetworkSize size_of(const Graph& graph) {
  NetworkSize size;
  size.terminals = graph.terminals();
  size.switches = graph.switches();
  size.inputs = graph.total_inputs();
  size.channels = static_cast<double>(graph.channels().size());
  size.listed = !graph.computes();
  double sum = 0.0;
  double reached = 0.0;
  if (graph.switches() > 0) {
    for (const u32 distance : graph.distances_from(0)) {
      if (distance == kNone) continue;
      sum += distance;
      ++reached;
    }
  }
  size.passed = 1.0 + (reached > 0.0 ? sum / reached : 0.0);
  return size;
}

double graph_bytes(const NetworkSize& size) {
  // A list that grows holds up to twice what is in it, and while it moves half of that again.
  constexpr double kGrowth = 2.0;
  // A topology may keep a number for each (the groups behind the global ports of a dragonfly).
  if (!size.listed && size.channels > Graph::kMostListed) return size.channels * sizeof(u32);
  return kGrowth *
             (size.channels * sizeof(Channel) + size.inputs * 2.0 * sizeof(u32) + size.switches * 3.0 * sizeof(u32)) +
         size.terminals * 2.0 * sizeof(u32);
}

}  // namespace banyan::core
