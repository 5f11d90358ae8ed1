// How large a network becomes, told from its parameters before anything is built.
#pragma once

#include <span>

#include "banyan/config/schema.hpp"

namespace banyan::core {

class Graph;

/// Numbers of parts. Reals, because parameters may ask for more than an integer holds.
struct NetworkSize {
  double terminals = 0.0;
  double switches = 0.0;
  double inputs = 0.0;    ///< input ports of all switches; as many output ports
  double channels = 0.0;  ///< unidirectional, with those of the terminals
  double passed = 1.0;    ///< switches that a packet passes on a shortest way to a random terminal, in the mean; about
};

/// The size of a graph that is there. `passed` is 1 plus the mean distance from the first switch to all others.
[[nodiscard]] NetworkSize size_of(const Graph& graph);

/// Bytes that the graph itself takes, growth of its lists included.
[[nodiscard]] double graph_bytes(const NetworkSize& size);

/// Registration row beside that of a topology: `const core::TopologySize size_NAME`. Tells the size of what the
/// topology would build, without subnetworks; of parameters that do not fit together it may tell anything. A topology
/// without such a row is no larger than what was written down for it.
struct TopologySize {
  const char* name = nullptr;
  NetworkSize (*size)(const config::Values&) = nullptr;
};

/// Registration row beside that of a switch model: `const core::SwitchMemory memory_NAME`. Tells the bytes that the
/// model takes in a network of that size together with its part of the engine, about: what is there from the start, and
/// what packets fill at a moderate load. `shortest`: of the packets, in flits. The figures per part were measured as
/// peaks of runs of a few thousand cycles; tests/cli/needs_test.cpp holds them to within a factor of two.
struct SwitchMemory {
  const char* name = nullptr;
  double (*bytes)(const config::Values&, const NetworkSize&, double shortest) = nullptr;
};

/// The build generates both tables from the files that hold such a row.
[[nodiscard]] std::span<const TopologySize* const> topology_sizes();
[[nodiscard]] std::span<const SwitchMemory* const> switch_memories();

}  // namespace banyan::core
