// The clock: runs the shards of a network tick by tick, skipping ticks in which nothing is due.
#pragma once

#include <span>
#include <vector>

#include "banyan/core/traffic.hpp"
#include "banyan/engine/shard.hpp"

namespace banyan::engine {

/// Sums over all shards.
struct Totals {
  u64 taken = 0;
  u64 taken_flits = 0;
  u64 delivered = 0;
  u64 delivered_flits = 0;
  u64 misdelivered = 0;
  u64 counted_taken = 0;
  u64 counted_delivered = 0;
  u64 movements = 0;
};

class Machine {
 public:
  Machine(std::vector<Shard> shards, std::span<core::Traffic* const> traffics);

  /// Starts a replication: empty network, tick 0.
  void reset(u32 replication);

  /// Runs the next tick at which something is due, and returns it; kNever when nothing will ever happen.
  Tick step() noexcept {
    const Tick now = next_;
    if (now == kNever) return kNever;
    Tick next = kNever;
    for (Shard& shard : shards_) {
      const Tick due = shard.run(now);
      next = due < next ? due : next;
    }
    next_ = next;
    return now;
  }
  [[nodiscard]] Tick next() const noexcept { return next_; }

  void set_window(Window window);
  void close(u32 traffic, Tick at);
  void finish_records();

  [[nodiscard]] Totals totals() const;
  [[nodiscard]] std::vector<Tally> tallies() const;
  [[nodiscard]] u64 finite_delivered(u32 traffic) const noexcept;
  [[nodiscard]] Tick finite_latest(u32 traffic) const noexcept;
  [[nodiscard]] bool sources_past_window() const noexcept;
  [[nodiscard]] std::span<core::Traffic* const> traffics() const noexcept { return traffics_; }
  [[nodiscard]] const std::vector<Shard>& shards() const noexcept { return shards_; }

  [[nodiscard]] u64 hash() const;
  /// Checks conservation: taken = delivered + held, no misdelivery, what the populations find. Throws InvariantError.
  void audit() const;
  /// Explains why nothing moves.
  [[nodiscard]] std::string explain_blockage() const;

 private:
  std::vector<Shard> shards_;
  std::span<core::Traffic* const> traffics_;
  Tick next_ = 0;
};

}  // namespace banyan::engine
