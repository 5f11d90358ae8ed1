// Arrivals of the second of two ticks that a population makes at once, sorted by blocks of 64 entities: a block takes
// them when it has made the first.
#pragma once

#include <vector>

#include "banyan/engine/inbox.hpp"

namespace banyan::engine {

/// What the model sees of it.
class Later {
 public:
  virtual ~Later() = default;
  /// Hands the block what arrives.
  virtual void deliver(u32 block) noexcept = 0;
};

/// The arrivals of one kind of a tick, as a list per block; in a list they keep their order.
class BlockLists {
 public:
  /// Room for so many arrivals at so many entities.
  void reserve(std::size_t arrivals, std::size_t entities) {
    first_.assign((entities + 63) / 64, kNone);
    next_.reserve(arrivals);
  }
  template <class Arrival>
  void sort(const std::vector<Arrival>& arrivals) {
    if (next_.size() < arrivals.size()) next_.resize(arrivals.size());
    for (std::size_t k = arrivals.size(); k-- > 0;) {
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

 private:
  std::vector<u32> first_;  ///< [block]
  std::vector<u32> next_;   ///< [arrival]
};

}  // namespace banyan::engine
