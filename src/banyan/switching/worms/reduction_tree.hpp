// The tree in which switches reduce what the members of a collective contribute: the ways of a worm for all members
// from the switch where they meet, taken in the opposite direction.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "banyan/core/graph.hpp"
#include "banyan/core/multicast.hpp"

namespace banyan::switching {

struct ReductionTree {
  struct Place {
    u64 children = 0;  ///< inputs over which contributions come; 0: the switch has no part in it
    u64 outputs = 0;   ///< the one to the switch above, or where all meet, those that lead to members
    bool top = false;  ///< where all meet
  };
  std::vector<Place> places;  ///< [switch]
};

/// The tree of least depth; of several, the one of number `choice`, modulo how many there are. Nothing where no switch
/// is reached by all members over the switches that it reaches them by. Switches have at most 64 ports.
[[nodiscard]] std::optional<ReductionTree> reduction_tree(const core::Graph& graph, const core::MulticastRoutes& routes,
                                                          std::span<const u64> members, u32 choice);

}  // namespace banyan::switching
