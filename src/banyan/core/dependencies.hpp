// Can packets wait on each other in a circle? The channel dependency graph of a topology, a routing function and its
// classes of virtual channels (Dally and Seitz 1987), with Duato's condition for routing functions that declare an
// escape subnetwork (Duato 1993, 1995). See docs/explanation/deadlock.md.
#pragma once

#include <string>
#include <vector>

#include "banyan/core/routing.hpp"

namespace banyan::core {

enum class DependencyVerdict : u8 {
  acyclic,            ///< no cycle of dependencies at all
  escape,             ///< cycles exist, but the escape subnetwork has none and waits for nothing outside
  escape_when_empty,  ///< Duato's condition: as before if a virtual channel is given to the next packet only when empty
  cyclic,             ///< packets may wait on each other
  lost,               ///< some packet finds no way on, or arrives at the wrong terminal
  undecided,          ///< too large: the routing function was not followed to the end, no cycle so far
};

/// Virtual channels of one channel between switches that the routing function treats alike.
struct ChannelClass {
  u32 channel = 0;
  u32 vc_begin = 0;
  u32 vc_end = 1;
  bool operator==(const ChannelClass&) const = default;
};

/// A packet that may hold `held` while it waits for the next step's.
struct DependencyStep {
  ChannelClass held;
  u32 source = 0;
  u32 destination = 0;
};

struct DependencyReport {
  DependencyVerdict verdict = DependencyVerdict::acyclic;
  u64 classes = 0;       ///< channel classes that are part of some dependency
  u64 dependencies = 0;  ///< ordered pairs of them
  u64 steps = 0;         ///< calls of the routing function
  u64 walked = 0;        ///< headers followed, out of `headers`
  u64 headers = 0;
  std::vector<DependencyStep> cycle;  ///< of `cyclic`
  bool represented = false;           ///< only pairs that stand for all were followed (Routing::represents)
  bool shortest = true;               ///< no shorter cycle exists; false when the search gave up on that
  std::string problem;                ///< of `lost`
};

/// Steps that a check takes at most before it calls a network too large: a few seconds.
inline constexpr u64 kMostDependencySteps = 100'000'000;

/// Follows every header from every source (all_candidates(), headers(), reads_source()). Networks whose graph has no
/// cycle are acyclic without a walk.
[[nodiscard]] DependencyReport check_dependencies(const Topology& topology, const Routing& routing, u32 vcs,
                                                  u64 most_steps = kMostDependencySteps);

/// The report in words: one line, and one more per step of a cycle.
[[nodiscard]] std::string explain(const DependencyReport& report, const Topology& topology);

}  // namespace banyan::core
