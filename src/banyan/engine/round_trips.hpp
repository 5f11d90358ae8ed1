// Zero-load round trips between terminals, for what admissions derive from them.
#pragma once

#include <vector>

#include "banyan/core/graph.hpp"
#include "banyan/core/switching.hpp"

namespace banyan::engine {

/// Times of a packet there and of feedback back, each on a way that is shortest for packets. Ways from a switch are
/// looked for once. Not for several threads at a time.
class RoundTrips {
 public:
  RoundTrips(const core::Graph& graph, core::ZeroLoad packet, core::ZeroLoad feedback);

  /// Ticks, at least 2; 2 where there is no way.
  [[nodiscard]] Tick between(u32 source, u32 destination);
  /// The longest between two terminals.
  [[nodiscard]] Tick longest();

 private:
  /// The way from one switch to another.
  struct Way {
    u32 hops = kNone;  ///< channels between switches; kNone: there is no way
    u32 cycles = 0;    ///< their latencies
  };

  [[nodiscard]] const std::vector<Way>& ways_from(u32 switch_);
  /// 0: there is no way.
  [[nodiscard]] Tick one_way(u32 from, u32 to, const core::ZeroLoad& times);
  [[nodiscard]] u32 latency(u32 channel) const { return graph_.channel(channel).link.latency_cycles; }

  const core::Graph& graph_;
  core::ZeroLoad packet_;
  core::ZeroLoad feedback_;
  std::vector<std::vector<Way>> ways_;  ///< [switch][switch]; empty where nobody asked
  Tick longest_ = 0;                    ///< 0: nobody asked
};

}  // namespace banyan::engine
