// One session: from an empty network through its warm-up to the delivery of every counted message. The finite
// traffics define it: it begins with their first generation and ends with their last arrival (paper 1, section 4.1).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "banyan/core/topology.hpp"
#include "banyan/engine/machine.hpp"
#include "banyan/engine/packet_log.hpp"
#include "banyan/engine/run_keeper.hpp"

namespace banyan::engine {

struct SessionSettings {
  Tick limit = 1'000'000;    ///< ticks after which a session counts as saturated
  Tick watchdog = 10'000;    ///< ticks without movement that count as a deadlock; 0: never
  bool occupancy = false;    ///< series: packets per stage
  bool tree = false;         ///< series: saturation tree of each hot spot
  bool full_audit = false;   ///< audit every kAuditPeriod ticks, not only at the end
  u32 series_length = 4096;  ///< ticks of a series after the session's begin
  /// Called when all ticks before a given one are done: before every tick that is run, and at the end. May be empty.
  std::function<void(const Machine&, Tick)> before_step;
  PacketLog* log = nullptr;  ///< hears of every packet; nullptr: nobody does
  /// Called between ticks with what reads or writes the state of the session: with `begin` before the first one, when
  /// it may be read. May be empty.
  std::function<void(const RunKeeper::State& state, bool begin)> keep;
};

/// The saturation tree of a hot spot at one tick: the box next to the hot spot, and the boxes that are reached from it
/// by going upstream through full buffers only (paper 1, sections 3 and 4.3). The root belongs to it even when its own
/// buffer has places: one that is fed through a single full link, as under isolated HS, never fills.
struct Tree {
  u32 height = 0;  ///< arcs of the longest path from the root, H_t
  u32 boxes = 0;   ///< members, the root included; 0: no full buffer at the root, neither its own nor one before it
  u32 upper_boxes = 0;  ///< members that feed the root through its upper input (link digit 0), or the root itself
};

struct SessionOutcome {
  enum class End { finished, saturated, deadlocked };
  End end = End::finished;
  std::string explanation;
  Tick begin = 0;                    ///< first generation of a finite traffic
  Tick close = 0;                    ///< last arrival of the finite traffics
  Tick ticks = 0;                    ///< simulated in all
  std::vector<LatencySums> tallies;  ///< by tally_class
  u64 hash = 0;
  u64 delivered = 0;
  u64 delivered_flits = 0;
  u64 delivered_within = 0;  ///< packets of all traffics that arrived in the ticks [begin, close]
  u64 movements = 0;
  ProbeReport probed;
  std::optional<Activity> activity;
  OwnMetrics own;
  /// Sums over the session's ticks [begin, close] of the tree's measures (first hot spot).
  u64 tree_height_sum = 0;
  u64 tree_boxes_sum = 0;
  u64 tree_other_sum = 0;  ///< boxes outside the upper subnetwork
  u32 tree_height_most = 0;
  std::vector<std::vector<u64>> occupancy;  ///< [level][tick after begin]
  std::vector<u64> tree_height;             ///< [tick after begin]
  std::vector<u64> tree_boxes;
  std::vector<std::vector<u32>> generated;  ///< [class][tick after begin]

  void archive(Archive& a) {
    a(end, explanation, begin, close, ticks, tallies, hash, delivered, delivered_flits, delivered_within, movements);
    a(probed, activity, own);
    a(tree_height_sum, tree_boxes_sum, tree_other_sum, tree_height_most, occupancy, tree_height, tree_boxes, generated);
  }
};

/// Runs replication `replication`. Throws InvariantError.
[[nodiscard]] SessionOutcome run_session(Machine& machine, const core::Topology& topology, u32 replication,
                                         const SessionSettings& settings);

/// The saturation tree that hangs on terminal `hot`; `full` has a bit per channel of the graph.
[[nodiscard]] Tree saturation_tree(const core::Graph& graph, u32 hot, const std::vector<bool>& full);

}  // namespace banyan::engine
