// A directed graph of many edges that are found again and again: which nodes lie on cycles, and a shortest cycle.
#pragma once

#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::core {

/// A set of edges (open addressing), each with what was known when it was added first.
class EdgeTable {
 public:
  struct Edge {
    u32 from = kNone;
    u32 to = kNone;
    u32 first = 0;
    u32 second = 0;
  };

  EdgeTable() : places_(1024) {}

  void add(u32 from, u32 to, u32 first, u32 second) {
    Edge& place = places_[find(from, to)];
    if (place.from != kNone) return;
    place = {from, to, first, second};
    if (++size_ * 2 > places_.size()) grow();
  }
  /// The edge, which must exist.
  [[nodiscard]] const Edge& at(u32 from, u32 to) const { return places_[find(from, to)]; }
  [[nodiscard]] u64 size() const { return size_; }

  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Edge& edge : places_) {
      if (edge.from != kNone) visit(edge);
    }
  }

 private:
  [[nodiscard]] std::size_t find(u32 from, u32 to) const {
    std::size_t i = mix64(static_cast<u64>(from) << 32U | to) & (places_.size() - 1);
    while (places_[i].from != kNone && (places_[i].from != from || places_[i].to != to)) {
      i = (i + 1) & (places_.size() - 1);
    }
    return i;
  }
  void grow() {
    std::vector<Edge> old(places_.size() * 2);
    old.swap(places_);
    for (const Edge& edge : old) {
      if (edge.from != kNone) places_[find(edge.from, edge.to)] = edge;
    }
  }

  std::vector<Edge> places_;
  u64 size_ = 0;
};

class Digraph {
 public:
  struct Cycle {
    std::vector<u32> nodes;
    bool shortest = true;
  };

  Digraph(u32 nodes, const EdgeTable& edges);

  /// The strongly connected component of every node that lies on a cycle, kNone for the others (Tarjan 1972).
  [[nodiscard]] std::vector<u32> knots() const;
  /// A shortest cycle, found breadth first from every node of a knot; where that takes too long, a short one.
  [[nodiscard]] Cycle shortest_cycle(const std::vector<u32>& knots) const;

 private:
  [[nodiscard]] std::vector<u32> cycle_through(u32 start, const std::vector<u32>& knots, std::size_t below, u64& work,
                                               std::vector<u32>& parent) const;

  std::vector<u32> begin_;
  std::vector<u32> next_;
};

}  // namespace banyan::core
