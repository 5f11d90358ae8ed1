// Operations of which something that they wait for is done and something is not: how much is left, and when the last of
// it was done. Only these take memory; what nothing has touched yet has its number in the program.
#pragma once

#include <algorithm>

#include "banyan/base/flat_map.hpp"
#include "banyan/workload/program.hpp"

namespace banyan::workload {

class PartlyFree {
 public:
  explicit PartlyFree(const Program& program) : program_(&program) {}

  /// One of what an operation waits for is done at `at`; true: it was the last. `at` becomes the latest of all.
  bool release(u32 rank, u32 operation, u64& at) {
    const u64 key = u64{rank} << 32U | operation;
    Entry* const entry = entries_.find(key);
    if (entry == nullptr) {
      const u32 left = program_->waits_for(rank, operation) - 1;
      if (left != 0) entries_[key] = {at, left};
      return left == 0;
    }
    entry->at = std::max(entry->at, at);
    if (--entry->left != 0) return false;
    at = entry->at;
    entries_.erase(key);
    return true;
  }

  /// Likewise of an operation for which something was done before; false, too, where all was.
  bool release_partly(u32 rank, u32 operation) {
    const u64 key = u64{rank} << 32U | operation;
    Entry* const entry = entries_.find(key);
    if (entry == nullptr || --entry->left != 0) return false;
    entries_.erase(key);
    return true;
  }

  void archive(Archive& a) { a(entries_); }

 private:
  struct Entry {
    u64 at = 0;
    u32 left = 0;
  };

  const Program* program_;
  FlatMap<Entry> entries_;
};

}  // namespace banyan::workload
