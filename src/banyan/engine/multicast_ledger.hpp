// Multicasts of which some messages have arrived and others have not.
#pragma once

#include <algorithm>

#include "banyan/base/archive.hpp"
#include "banyan/base/flat_map.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace banyan::engine {

/// Multicasts under way, whether one packet that switches replicate or many that the terminals forward.
class MulticastLedger {
 public:
  struct Entry {
    u64 group = 0;
    Tick birth = kNever;  ///< of its first message
    Tick first = kNever;  ///< first arrival
    Tick last = 0;        ///< last arrival
    u64 sum = 0;          ///< of the arrivals
    u32 arrived = 0;
    u32 copies = 0;
    u32 traffic = 0;
  };

  /// A message of a group of `copies` arrived; true when it was the last, `out` is the whole group then.
  bool add(u32 traffic, u64 group, u32 copies, Tick birth, Tick now, Entry& out) {
    Hasher h;
    for (const u64 v : {mix64(group) + traffic, birth, now}) h.add(v);
    seen_ += h.value();
    return join({group, birth, now, now, now, 1, copies, traffic}, out);
  }
  /// The same for several arrivals of a group, that another ledger has seen.
  bool join(const Entry& some, Entry& out) {
    const Key key{some.group, some.traffic};
    Entry& entry = entries_[key];
    if (entry.arrived == 0) {
      entry = some;
    } else {
      entry.birth = std::min(entry.birth, some.birth);
      entry.first = std::min(entry.first, some.first);
      entry.last = std::max(entry.last, some.last);
      entry.sum += some.sum;
      entry.arrived += some.arrived;
    }
    if (entry.arrived != entry.copies) return false;
    out = entry;
    entries_.erase(key);
    return true;
  }
  template <class F>
  void for_each(F&& f) const {
    entries_.for_each([&](const Key&, const Entry& entry) { f(entry); });
  }
  void clear() {
    entries_.clear();
    seen_ = 0;
  }
  /// A sum over all that arrived: it does not depend on where.
  [[nodiscard]] u64 digest() const noexcept { return seen_; }

  void archive(Archive& a) { a(entries_, seen_); }

 private:
  struct Key {
    u64 group = ~u64{0};
    u64 traffic = ~u64{0};

    friend bool operator==(const Key&, const Key&) = default;
    [[nodiscard]] u64 hash() const noexcept { return mix64(mix64(group) + traffic); }
  };

  FlatMap<Entry, Key> entries_{1024};
  u64 seen_ = 0;
};

}  // namespace banyan::engine
