// Where worms with several destinations go: up over any port until everything that they are for lies below, and then
// down, replicated wherever their destinations part (Sivaram, Stunkel, Panda, sections 3.2 and 3.3).
#pragma once

#include <span>
#include <vector>

#include "banyan/core/graph.hpp"

namespace banyan::core {

/// Rows of bits, one bit per terminal.
using TerminalBits = const u64*;

/// Flits of 2 bytes of a header with a bit per terminal: one, and one per 16 terminals.
[[nodiscard]] constexpr u32 bit_string_flits(u32 terminals) noexcept { return 1 + (terminals + 15) / 16; }

/// The reachability strings of a network. Headers are not changed on the way: a branch serves the header AND the
/// string of its port, so that every switch computes its branches from the header alone.
class MulticastRoutes {
 public:
  enum class Way : u8 { up, down, unused };

  /// `way`: of every channel of the graph; those to terminals are down. Throws std::logic_error when two ports of a
  /// switch reach overlapping, but different, sets of terminals: headers would have to be rewritten.
  MulticastRoutes(const Graph& graph, const std::vector<Way>& way);

  [[nodiscard]] u32 words() const noexcept { return words_; }
  /// What lies behind an output port that leads down; nothing for other ports, and for a port behind which lies what a
  /// lower port reaches too.
  [[nodiscard]] TerminalBits reach(u32 s, u32 port) const noexcept {
    return reach_.data() + std::size_t{graph_.output_base(s) + port} * words_;
  }
  /// What lies below a switch: all that its ports reach.
  [[nodiscard]] TerminalBits below(u32 s) const noexcept { return below_.data() + std::size_t{s} * words_; }
  [[nodiscard]] std::span<const u16> up_ports(u32 s) const noexcept {
    return std::span<const u16>(up_).subspan(up_begin_[s], up_begin_[s + 1] - up_begin_[s]);
  }
  /// Those of up_ports(), a bit per port, that a worm may take which replicates on the way up too: at every switch
  /// above, what was served below can be told from the rest by ports, and all of the rest can be reached. Switches have
  /// at most 64 ports.
  [[nodiscard]] u64 replicating_up_ports(u32 s) const noexcept { return replicating_up_[s]; }
  /// True when every pair of terminals has a common ancestor.
  [[nodiscard]] bool complete() const;
  /// The same over replicating_up_ports() only.
  [[nodiscard]] bool complete_both_ways() const;

  /// Output ports that a worm takes at a switch: a bit per port that leads down, and whether one more branch goes up,
  /// over any of up_ports().
  struct Branches {
    u64 down = 0;
    bool up = false;
  };
  /// `both_ways`: replicate on the way up too, instead of at and below the common ancestor only.
  [[nodiscard]] Branches branches(u32 s, u32 in_port, TerminalBits header, bool both_ways) const noexcept;

 private:
  [[nodiscard]] u64 ports_of(u32 s, TerminalBits header) const noexcept;
  [[nodiscard]] bool reaches_all(u32 s) const noexcept;
  [[nodiscard]] bool tells_apart(u32 below, u32 above) const noexcept;

  const Graph& graph_;
  u32 words_;
  std::vector<u64> reach_;  ///< [output port]
  std::vector<u64> below_;  ///< [switch]
  std::vector<u16> up_;
  std::vector<u32> up_begin_;
  std::vector<u8> from_above_;       ///< [input port]: a channel down from another switch ends there
  std::vector<u64> served_;          ///< [input port]: ports behind which lies what lies below where it comes from
  std::vector<u64> replicating_up_;  ///< [switch]
};

}  // namespace banyan::core
