#include "banyan/switching/output_queued/layout.hpp"

namespace banyan::switching::output_queued {

Layout::Layout(const core::Graph& graph, u32 ports)
    : stride(ports),
      boxes(graph.switches()),
      terminals(graph.terminals()),
      ejection_base((boxes * stride + 63) / 64 * 64),
      queues(ejection_base + terminals),
      target(static_cast<std::size_t>(boxes) * stride, kNone),
      slot_of_terminal(terminals),
      terminal_of_slot(queues, terminals),
      slots(ejection_base / 64) {
  for (u32 s = 0; s < boxes; ++s) {
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 c = graph.channel_out_of(s, p);
      if (c == kNone || graph.channel(c).failed) continue;
      const core::End to = graph.channel(c).to;
      target[s * stride + p] = to.terminal ? ejection_base + to.node : to.node * stride + to.port;
    }
  }
  for (u32 t = 0; t < terminals; ++t) {
    const core::End to = graph.channel(graph.injection(t)).to;
    const u32 q = to.node * stride + to.port;
    slot_of_terminal[t] = q;
    terminal_of_slot[q] = t;
    slots[q >> 6U] |= u64{1} << (q & 63U);
  }
}

}  // namespace banyan::switching::output_queued
