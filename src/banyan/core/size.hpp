// How large a network becomes, told from its parameters before anything is built.
#pragma once

#include <limits>

namespace banyan::core {

class Graph;

/// Numbers of parts. Reals, because parameters may ask for more than an integer holds.
struct NetworkSize {
  double terminals = 0.0;
  double switches = 0.0;
  double inputs = 0.0;    ///< input ports of all switches; as many output ports
  double channels = 0.0;  ///< unidirectional, with those of the terminals
  bool listed = true;     ///< the graph is a list of its channels, however many: false where Graph may compute it
  double passed = 1.0;    ///< switches that a packet passes on a shortest way to a random terminal, in the mean; about
  /// Flits that come in over all inputs in a run, where that is known: no more room than they need is touched, and
  /// memory that is not touched is not taken.
  double moved = std::numeric_limits<double>::infinity();
};

/// The size of a graph that is there. `passed` is 1 plus the mean distance from the first switch to all others.
[[nodiscard]] NetworkSize size_of(const Graph& graph);

/// Bytes that the graph itself takes, growth of its lists included.
[[nodiscard]] double graph_bytes(const NetworkSize& size);

}  // namespace banyan::core
