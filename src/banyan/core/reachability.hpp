// Which terminals can still be reached from each switch over the channels that have not failed.
#pragma once

#include <stdexcept>
#include <vector>

#include "banyan/core/graph.hpp"

namespace banyan::core {

/// One row of bits per switch: bit t is set when some path of working channels leads from the switch to terminal t.
/// For graphs without cycles (multistage networks); throws std::logic_error on others.
class Reachability {
 public:
  explicit Reachability(const Graph& graph) : words_((graph.terminals() + 63) / 64) {
    const std::vector<u32> order = graph.topological_order();
    if (order.size() != graph.switches()) throw std::logic_error("reachability of a graph with cycles");
    bits_.assign(std::size_t{words_} * graph.switches(), 0);
    for (auto s = order.rbegin(); s != order.rend(); ++s) {
      u64* const row = bits_.data() + std::size_t{words_} * *s;
      for (u32 port = 0; port < graph.outputs(*s); ++port) {
        const u32 c = graph.channel_out_of(*s, port);
        if (c == kNone || graph.channel(c).failed) continue;
        const End& to = graph.channel(c).to;
        if (to.terminal) {
          row[to.node / 64] |= u64{1} << (to.node % 64);
        } else {
          for (u32 w = 0; w < words_; ++w) row[w] |= this->row(to.node)[w];
        }
      }
    }
  }

  [[nodiscard]] u32 words() const noexcept { return words_; }
  [[nodiscard]] const u64* row(u32 node) const noexcept { return bits_.data() + std::size_t{words_} * node; }
  [[nodiscard]] bool reaches(u32 node, u32 terminal) const noexcept {
    return (row(node)[terminal / 64] >> (terminal % 64) & 1U) != 0;
  }

 private:
  u32 words_;
  std::vector<u64> bits_;
};

}  // namespace banyan::core
