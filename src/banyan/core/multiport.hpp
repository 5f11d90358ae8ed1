// Multiport encoding of worms (Sivaram, Panda, Stunkel, "Efficient Broadcast and Multicast on Multistage
// Interconnection Networks using Multiport Encoding", 1996 and 1998): the header has a field per stage, a bit per port
// that leads to the terminals. All switches of a stage that the worm passes take the ports of the same field, so that
// its destinations are all combinations of the ports that are set. Other sets need several worms, sent in several
// phases.
#pragma once

#include <span>
#include <vector>

#include "banyan/core/topology.hpp"

namespace banyan::core {

/// One worm of a multicast.
struct MultiportWorm {
  u32 sender = 0;  ///< terminal: the source, or one that has received a worm of an earlier phase
  u32 phase = 0;   ///< from 0
  u32 begin = 0;   ///< its destinations: MultiportPlan::order[begin ... end - 1]
  u32 end = 0;
};

/// A multicast as a tree of worms; reserve() it, and planning allocates nothing.
struct MultiportPlan {
  std::vector<MultiportWorm> worms;  ///< in order of phase, and of sender within a phase
  std::vector<u32> order;            ///< the destinations, by worm
  u32 phases = 0;

  void reserve(u32 destinations, u32 stages);

  std::vector<u64> masks;  ///< [destination * stages + stage]: scratch
  std::vector<u32> label;  ///< [destination]: scratch
  std::vector<u32> sorted;
  std::vector<u32> size;
};

class Multiport {
 public:
  /// Throws std::invalid_argument on networks whose ways are no digits of the terminals' numbers.
  explicit Multiport(const Topology& topology);

  [[nodiscard]] u32 stages() const noexcept { return static_cast<u32>(stages_.size()); }
  /// Flits of 2 bytes of a header: one, and those of the fields.
  [[nodiscard]] u32 header_flits() const noexcept { return header_flits_; }

  /// Parts different destinations into sets that a worm can have, and says who sends which when: the largest first,
  /// and in every phase each terminal that has the message sends one, as long as there are any.
  void plan(u32 source, std::span<const u32> destinations, MultiportPlan& out) const;

 private:
  struct Stage {
    u32 divide = 1;
    u32 radix = 1;
  };
  [[nodiscard]] u32 digit(u32 terminal, u32 stage) const noexcept {
    return terminal / stages_[stage].divide % stages_[stage].radix;
  }

  std::vector<Stage> stages_;  ///< the last one first: its ports lead to terminals
  u32 header_flits_ = 1;
};

}  // namespace banyan::core
