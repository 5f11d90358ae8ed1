// How a network is cut into shards, and how good the cut is.
#pragma once

#include <string>
#include <vector>

#include "banyan/core/topology.hpp"

namespace banyan::engine {

/// A cut, for whoever asks why threads do not help.
struct Cut {
  u32 shards = 1;
  /// What the parts were made by: "the order of switches", the same "on each level", "METIS", "the switch model".
  std::string by = "nothing";
  u64 channels = 0;       ///< of the network, those of terminals included
  u64 crossing = 0;       ///< of these: between two shards
  double heaviest = 1.0;  ///< ports of the largest shard, relative to the mean

  bool operator==(const Cut&) const = default;
};

/// True when the build has a partitioner of graphs.
[[nodiscard]] bool has_partitioner() noexcept;

/// The shard of every switch. Switches are taken in their order, in which planes of a grid and groups of a dragonfly
/// lie together, or level by level, of a tree that is too large to be listed; where the topology has neither, a
/// partitioner of graphs cuts, if the build has one. The copies of a switch (core::Topology::subnetworks) stay
/// together. `shards`: at most as many as places for switches; no more are used, maybe fewer. Shards with neighbouring
/// numbers are close in the network.
[[nodiscard]] std::vector<u32> cut_network(const core::Topology& topology, u32 shards, std::string& by);

/// What a cut cuts; `terminal`: shard of every terminal.
[[nodiscard]] Cut measure_cut(const core::Graph& graph, const std::vector<u32>& shard, const std::vector<u32>& terminal,
                              u32 shards);

}  // namespace banyan::engine
