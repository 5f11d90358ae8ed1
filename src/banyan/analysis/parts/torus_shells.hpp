// Nodes and channels of a bidirectional k-ary 2-cube by their distance from one node.
#pragma once

#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::analysis::parts {

struct TorusShells {
  std::vector<u64> nodes;     ///< [j]: nodes at distance j, 0 .. farthest
  std::vector<u64> channels;  ///< [j]: channels that lead from distance j to j - 1; [0] is 0
  std::vector<u64> beyond;    ///< [j]: nodes at distance j or more

  [[nodiscard]] u32 farthest() const noexcept { return static_cast<u32>(nodes.size()) - 1; }
};

/// Nodes of a ring of k: 1 at distance 0, 2 at every other, but 1 at k / 2 when k is even; a node has one channel that
/// leads nearer, and two at k / 2 when k is even. A node of the torus at (a, b) has those of both rings. In a ring of
/// two nodes both channels lead to the same neighbour; they count as one.
[[nodiscard]] inline TorusShells torus_shells(u32 k) {
  const u32 half = k / 2;
  std::vector<u64> ring(half + 1, 2);
  std::vector<u64> nearer(half + 1, 1);
  ring[0] = 1;
  nearer[0] = 0;
  if (k % 2 == 0) {
    ring[half] = 1;
    nearer[half] = k == 2 ? 1 : 2;
  }
  TorusShells shells;
  shells.nodes.assign(2 * half + 1, 0);
  shells.channels.assign(2 * half + 1, 0);
  shells.beyond.assign(2 * half + 1, 0);
  for (u32 a = 0; a <= half; ++a) {
    for (u32 b = 0; b <= half; ++b) {
      shells.nodes[a + b] += ring[a] * ring[b];
      shells.channels[a + b] += ring[a] * ring[b] * (nearer[a] + nearer[b]);
    }
  }
  u64 sum = 0;
  for (u32 j = 2 * half + 1; j > 0; --j) {
    sum += shells.nodes[j - 1];
    shells.beyond[j - 1] = sum;
  }
  return shells;
}

}  // namespace banyan::analysis::parts
