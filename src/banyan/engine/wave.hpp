// Several ticks at once, one block of 64 entities after the other: for networks whose state exceeds the cache, where it
// then comes and goes once in several ticks.
//
// What a switch sends arrives two ticks later at the earliest, so that a block may make two ticks before the next one
// makes the first. Where channels lead to near blocks only, further pairs of ticks follow like waves, each as many
// blocks behind the one before as a channel reaches: the next pair of a block needs no more than the pairs before of
// the blocks within reach.
#pragma once

#include <vector>

#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Pairs of ticks that are made at once, at most. Three and four took as long on a mesh of 128x128 (0.99 to 1.05):
/// their blocks no longer find room in the second level of the cache.
constexpr u32 kWavePairs = 2;
/// The farthest, in blocks, that a channel may lead for more than one pair. The farthest that was measured: on meshes
/// of 700 and 1000 switches in a row (reach 11 and 16) two pairs take 0.90 of the time of before, where one took 1.1;
/// farther blocks do not stay in a common second level of the cache.
constexpr u32 kMostReach = 16;
/// What is planned by remainders of ticks keeps so many slots free.
constexpr Tick kMostWaveTicks = Tick{2} * kWavePairs;

/// How the two populations of a shard are run; set by Builder::wire.
struct Wave {
  u32 blocks = 0;  ///< of switches; 0: every population is run as a whole, tick by tick
  u32 reach = 0;
  u32 pairs = 1;  ///< of ticks that are made at once, at most
  bool backwards = false;
  std::vector<u32> terminals;  ///< [block of switches, and the end]: the first block of its terminals; empty: they do
                               ///< not belong to blocks, and all of them make their ticks before the switches
};

/// Calls f(block, pair of ticks) in the order of a wave.
template <class F>
void for_each_step(u32 blocks, u32 reach, Tick pairs, bool backwards, F&& f) {
  const Tick steps = blocks + (pairs - 1) * reach;
  for (Tick k = 0; k < steps; ++k) {
    for (Tick pair = 0; pair < pairs && k >= pair * reach; ++pair) {
      const Tick nth = k - pair * reach;
      if (nth < blocks) f(static_cast<u32>(backwards ? blocks - 1 - nth : nth), pair);
    }
  }
}

/// The arrivals of one kind of a tick, as a list per block.
class BlockLists {
 public:
  /// Room for so many arrivals at so many blocks.
  void reserve(std::size_t arrivals, std::size_t blocks) {
    first_.assign(blocks, kNone);
    next_.reserve(arrivals);
  }
  /// Enters those that came since.
  template <class Arrival>
  void sort(const std::vector<Arrival>& arrivals) {
    const std::size_t known = sorted_;
    sorted_ = arrivals.size();
    if (next_.size() < sorted_) next_.resize(sorted_);
    for (std::size_t k = known; k < sorted_; ++k) {
      u32& first = first_[arrivals[k].entity / 64];
      next_[k] = first;
      first = static_cast<u32>(k);
    }
  }
  /// Calls f(number) for the arrivals of a block, and forgets them.
  template <class F>
  void take(u32 block, F&& f) {
    for (u32 k = first_[block]; k != kNone; k = next_[k]) f(k);
    first_[block] = kNone;
  }
  /// All blocks have taken theirs.
  void restart() noexcept { sorted_ = 0; }

 private:
  std::vector<u32> first_;  ///< [block]
  std::vector<u32> next_;   ///< [arrival]
  std::size_t sorted_ = 0;
};

}  // namespace banyan::engine
