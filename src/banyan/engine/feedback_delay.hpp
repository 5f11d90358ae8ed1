// How long what one terminal tells another is on its way: the zero-load latency of one flit over a shortest way.
#pragma once

#include <vector>

#include "banyan/core/graph.hpp"
#include "banyan/core/switching.hpp"

namespace banyan::engine {

class FeedbackDelay {
 public:
  FeedbackDelay(const core::Graph& graph, const core::ZeroLoad& times)
      : graph_(graph), times_(times), from_(graph.terminals()) {}

  /// Ticks, at least 1. No less than the latency of any channel between the two, so that it reaches another shard in a
  /// later window. Shortest ways from a terminal are looked for once.
  [[nodiscard]] Tick between(u32 from, u32 to) {
    if (from_[from].empty()) from_[from] = ways_from(from);
    return from_[from][to];
  }

 private:
  [[nodiscard]] std::vector<u32> ways_from(u32 terminal) const;

  const core::Graph& graph_;
  core::ZeroLoad times_;
  std::vector<std::vector<u32>> from_;  ///< [terminal][terminal], ticks; empty where nobody asked
};

}  // namespace banyan::engine
