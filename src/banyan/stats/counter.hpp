// Event counters and their copies per shard: integers, merged in shard order.
#pragma once

#include <cstddef>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::stats {

/// Counts events (flits sent, buffer writes, allocations). Exact.
struct Counter {
  u64 value = 0;

  void add(u64 amount = 1) noexcept { value += amount; }
  void merge(const Counter& other) noexcept { value += other.value; }
  void hash_into(Hasher& hasher) const noexcept { hasher.add(value); }
  friend bool operator==(const Counter&, const Counter&) = default;
};

/// One T per shard, each on cache lines of its own, so that threads never write to a shared line.
/// T has merge(const T&). Shape: `shards` slots, indexed by shard.
template <typename T>
class PerShard {
 public:
  explicit PerShard(std::size_t shards, const T& initial = T{}) : empty_(initial), slots_(shards, Slot{initial}) {}

  [[nodiscard]] T& operator[](std::size_t shard) noexcept { return slots_[shard].value; }
  [[nodiscard]] const T& operator[](std::size_t shard) const noexcept { return slots_[shard].value; }
  [[nodiscard]] std::size_t size() const noexcept { return slots_.size(); }

  /// All shards together, in shard order: the same bits for any number of threads.
  [[nodiscard]] T merged() const {
    T total = empty_;
    for (const Slot& slot : slots_) total.merge(slot.value);
    return total;
  }

 private:
  struct alignas(64) Slot {
    T value;
  };
  T empty_;
  std::vector<Slot> slots_;
};

}  // namespace banyan::stats
