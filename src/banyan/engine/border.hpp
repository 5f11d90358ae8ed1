// Waves of several shards beside each other (wave.hpp): where each shard has a thread of its own, all make four ticks
// between two barriers, although what they send to each other arrives two ticks later already.
//
// A block makes its second pair of ticks when all blocks within reach have made the first one. That holds beyond the
// border, too: blocks with channels to other shards wait there for the blocks that they hear from. Every second shard
// takes its blocks backwards, so that two neighbours come to their common border at the same time, at the end of their
// blocks or at the beginning of them.
#pragma once

#include <atomic>
#include <utility>
#include <vector>

#include "banyan/core/graph.hpp"
#include "banyan/engine/io.hpp"
#include "banyan/engine/window_barrier.hpp"

namespace banyan::engine {

/// A block with channels to other shards.
struct BorderBlock {
  explicit BorderBlock(u32 shards) : parcels(shards) {}

  std::vector<Parcel> parcels;       ///< [shard]: what its first pair of ticks sends there
  std::vector<BorderBlock*> before;  ///< of other shards: they make the first pair before it makes the second
  Milestone made;                    ///< waves of which it has made the first pair
};

/// The blocks of one shard with channels to others, and the order of all its blocks.
struct BorderPlan {
  struct Block {
    u32 block = 0;
    u32 channels = 0;                       ///< that lead to other shards, or come from there
    std::vector<std::pair<u32, u32>> near;  ///< (shard, place in its plan) of the blocks at their other ends
  };
  std::vector<Block> blocks;  ///< ascending
  bool backwards = false;
};

/// What each shard does at its borders; empty where it would wait there for more than a tenth of the time that all
/// take, or for ever, or where channels inside of a shard lead too far for waves. `shard`: of every switch; the blocks
/// of a shard are 64 of its switches each, ascending.
[[nodiscard]] std::vector<BorderPlan> plan_borders(const core::Graph& graph, const std::vector<u32>& shard, u32 shards,
                                                   bool backwards);

}  // namespace banyan::engine
