#include "banyan/core/digraph.hpp"

#include <algorithm>

namespace banyan::core {
namespace {

/// Edges that the search for a shortest cycle looks at: about a second.
constexpr u64 kMostWork = 100'000'000;

}  // namespace

Digraph::Digraph(u32 nodes, const EdgeTable& edges) : begin_(nodes + 1, 0), next_(edges.size()) {
  edges.for_each([&](const EdgeTable::Edge& e) { ++begin_[e.from + 1]; });
  for (u32 n = 0; n < nodes; ++n) begin_[n + 1] += begin_[n];
  std::vector<u32> place(begin_.begin(), begin_.end() - 1);
  edges.for_each([&](const EdgeTable::Edge& e) { next_[place[e.from]++] = e.to; });
  for (u32 n = 0; n < nodes; ++n) std::sort(next_.begin() + begin_[n], next_.begin() + begin_[n + 1]);
}

std::vector<u32> Digraph::knots() const {
  const u32 nodes = static_cast<u32>(begin_.size()) - 1;
  std::vector<u32> knot(nodes, kNone);
  std::vector<u32> order(nodes, kNone);
  std::vector<u32> low(nodes, 0);
  std::vector<u32> at(begin_.begin(), begin_.end() - 1);
  std::vector<bool> open(nodes, false);
  std::vector<u32> path;   // depth-first path
  std::vector<u32> stack;  // nodes whose component is not known yet
  u32 count = 0;
  for (u32 root = 0; root < nodes; ++root) {
    if (order[root] != kNone) continue;
    path.push_back(root);
    while (!path.empty()) {
      const u32 n = path.back();
      if (order[n] == kNone) {
        order[n] = low[n] = count++;
        stack.push_back(n);
        open[n] = true;
      }
      u32 child = kNone;
      while (at[n] < begin_[n + 1]) {
        const u32 m = next_[at[n]];
        if (order[m] == kNone) {
          child = m;
          break;
        }
        if (open[m]) low[n] = std::min(low[n], low[m]);
        ++at[n];
      }
      if (child != kNone) {
        path.push_back(child);
        continue;
      }
      path.pop_back();
      if (low[n] != order[n]) continue;
      const bool loop = std::binary_search(next_.begin() + begin_[n], next_.begin() + begin_[n + 1], n);
      const bool alone = stack.back() == n && !loop;
      for (u32 m = kNone; m != n;) {
        m = stack.back();
        stack.pop_back();
        open[m] = false;
        knot[m] = alone ? kNone : n;
      }
    }
  }
  return knot;
}

std::vector<u32> Digraph::cycle_through(u32 start, const std::vector<u32>& knots, std::size_t below, u64& work,
                                        std::vector<u32>& parent) const {
  std::vector<u32> queue{start};
  std::vector<u32> depth{1};
  std::vector<u32> cycle;
  for (std::size_t head = 0; head < queue.size() && cycle.empty() && depth[head] < below; ++head) {
    const u32 n = queue[head];
    for (u32 i = begin_[n]; i < begin_[n + 1] && cycle.empty(); ++i) {
      const u32 m = next_[i];
      ++work;
      if (m == start) {
        for (u32 back = n; back != start; back = parent[back]) cycle.push_back(back);
        cycle.push_back(start);
        std::reverse(cycle.begin(), cycle.end());
      } else if (knots[m] == knots[start] && parent[m] == kNone) {
        parent[m] = n;
        queue.push_back(m);
        depth.push_back(depth[head] + 1);
      }
    }
  }
  for (const u32 n : queue) parent[n] = kNone;
  return cycle;
}

Digraph::Cycle Digraph::shortest_cycle(const std::vector<u32>& knots) const {
  Cycle best;
  std::vector<u32> parent(knots.size(), kNone);
  u64 work = 0;
  for (u32 n = 0; n < knots.size(); ++n) {
    if (knots[n] == kNone) continue;
    if (work > kMostWork) {
      best.shortest = false;
      break;
    }
    const std::size_t below = best.nodes.empty() ? knots.size() + 1 : best.nodes.size();
    std::vector<u32> cycle = cycle_through(n, knots, below, work, parent);
    if (!cycle.empty()) best.nodes = std::move(cycle);
  }
  return best;
}

}  // namespace banyan::core
