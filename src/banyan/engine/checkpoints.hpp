// Hashes of the state on the way, at fixed ticks, so that a later run can be told where it parts from this one.
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Keeps half of kMost to kMost hashes, evenly spaced, however long the run gets: when there are too many, every other
/// one goes. Which ticks remain depends on the length of the run alone; of a run that ends before its time fewer do.
class Checkpoints {
 public:
  struct Entry {
    Tick at = 0;  ///< all ticks before it are done
    u64 hash = 0;
  };

  /// `end`: the run will most likely get that far. Hashes that such a run would drop again are not taken, but for a few
  /// at ever longer distances, for one that ends early (by a deadlock).
  explicit Checkpoints(Tick end = 0) {
    while (end >= kMost * period_) period_ *= 2;
  }

  [[nodiscard]] Tick next() const noexcept { return next_; }
  /// The state at next().
  void add(u64 hash) {
    entries_.push_back({next_, hash});
    if (next_ < period_) {
      next_ *= 2;
      return;
    }
    if (entries_.size() == kMost) period_ *= 2;
    std::erase_if(entries_, [this](const Entry& entry) { return entry.at % period_ != 0; });
    next_ = entries_.back().at + period_;
  }
  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  void archive(Archive& a) { a(period_, next_, entries_); }

 private:
  static constexpr std::size_t kMost = 32;

  Tick period_ = 1024;  ///< 1,024 times a power of two
  Tick next_ = 1024;
  std::vector<Entry> entries_;
};

}  // namespace banyan::engine
