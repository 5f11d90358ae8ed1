// Operations of which something that they wait for is done and something is not: how much is left, and when the last of
// it was done. Only these take memory; what nothing has touched yet has its number in the program.
#pragma once

#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/workload/program.hpp"

namespace banyan::workload {

class PartlyFree {
 public:
  explicit PartlyFree(const Program& program) : program_(&program), table_(64) {}

  /// One of what an operation waits for is done at `at`; true: it was the last. `at` becomes the latest of all.
  bool release(u32 rank, u32 operation, u64& at) {
    const u64 key = u64{rank} << 32U | operation;
    std::size_t i = place_of(key);
    while (table_[i].left != 0 && table_[i].key != key) i = (i + 1) & (table_.size() - 1);
    Entry& entry = table_[i];
    if (entry.left == 0) {
      const u32 left = program_->waits_for(rank, operation) - 1;
      if (left == 0) return true;
      entry = {key, at, left};
      if (++used_ * 2 > table_.size()) grow();
      return false;
    }
    if (at > entry.at) entry.at = at;
    if (--entry.left != 0) return false;
    at = entry.at;
    remove(i);
    return true;
  }

 private:
  struct Entry {
    u64 key = 0;
    u64 at = 0;
    u32 left = 0;  ///< 0: a free place
  };

  [[nodiscard]] std::size_t place_of(u64 key) const noexcept { return mix64(key) & (table_.size() - 1); }
  /// What follows without a gap moves up, so that no mark of a removed entry is needed.
  void remove(std::size_t gap) {
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = (gap + 1) & mask; table_[i].left != 0; i = (i + 1) & mask) {
      const std::size_t home = place_of(table_[i].key);
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      table_[gap] = table_[i];
      gap = i;
    }
    table_[gap].left = 0;
    --used_;
  }
  void grow() {
    std::vector<Entry> before(table_.size() * 2);
    before.swap(table_);
    for (const Entry& entry : before) {
      if (entry.left == 0) continue;
      std::size_t i = place_of(entry.key);
      while (table_[i].left != 0) i = (i + 1) & (table_.size() - 1);
      table_[i] = entry;
    }
  }

  const Program* program_;
  std::vector<Entry> table_;  ///< of a power of two
  std::size_t used_ = 0;
};

}  // namespace banyan::workload
