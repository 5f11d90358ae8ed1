// How the queues of interchange boxes are numbered. A queue has the number of the input that it feeds, so that the
// heads that one box chooses among lie side by side: it is the output buffer of the box before, or the slot in which a
// terminal shows its first message. The queues that terminals empty follow those of the boxes.
#pragma once

#include <vector>

#include "banyan/core/graph.hpp"

namespace banyan::switching::output_queued {

struct Layout {
  /// `ports`: inputs or outputs that a box has at most, rounded up to a power of two.
  Layout(const core::Graph& graph, u32 ports);

  [[nodiscard]] bool is_slot(u32 q) const noexcept { return terminal_of_slot[q] != terminals; }

  u32 stride;  ///< numbers of queues per box, a power of two
  u32 boxes;
  u32 terminals;
  u32 ejection_base;                  ///< the queue that terminal 0 empties, a multiple of 64
  u32 queues;                         ///< numbers in all: box * stride + input, then ejection_base + terminal
  std::vector<u32> target;            ///< [box * stride + output]: the queue behind it; kNone: no channel that works
  std::vector<u32> slot_of_terminal;  ///< [terminal]: the queue that its injection channel feeds
  std::vector<u32> terminal_of_slot;  ///< [queue]; `terminals` where the queue is no slot
  std::vector<u64> slots;             ///< bit per queue of a box: it is the slot of a terminal
};

}  // namespace banyan::switching::output_queued
