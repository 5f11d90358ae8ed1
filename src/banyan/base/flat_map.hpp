// A hash map of numbers, or of small structs, to plain values in one array: no memory per entry, no order. Pointers to
// values hold until the next change.
#pragma once

#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan {

/// What a map asks of its keys. A struct says hash() itself; one that is made without values is in no map.
template <class Key>
struct FlatKey {
  static constexpr Key kFree{};
  static u64 hash(const Key& key) noexcept { return key.hash(); }
};
/// Every number but ~0 may be a key.
template <>
struct FlatKey<u64> {
  static constexpr u64 kFree = ~u64{0};
  static u64 hash(u64 key) noexcept { return mix64(key); }
};

template <class Value, class Key = u64>
class FlatMap {
 public:
  /// `places`: a power of two; half of them are taken before it grows.
  explicit FlatMap(std::size_t places = 64) : table_(places) {}

  [[nodiscard]] std::size_t size() const noexcept { return used_; }

  /// nullptr: there is none.
  [[nodiscard]] Value* find(const Key& key) noexcept {
    Entry& entry = table_[place_of(key)];
    return entry.key == key ? &entry.value : nullptr;
  }
  [[nodiscard]] const Value* find(const Key& key) const noexcept {
    const Entry& entry = table_[place_of(key)];
    return entry.key == key ? &entry.value : nullptr;
  }
  /// The value of a key, a new one where there was none.
  Value& operator[](const Key& key) {
    std::size_t i = place_of(key);
    if (table_[i].key != key) {
      if (++used_ * 2 > table_.size()) {
        grow();
        i = place_of(key);
      }
      table_[i] = {key, Value{}};
    }
    return table_[i].value;
  }
  /// What follows without a gap moves up, so that no mark of a removed entry is needed.
  void erase(const Key& key) noexcept {
    std::size_t gap = place_of(key);
    if (table_[gap].key != key) return;
    const std::size_t mask = table_.size() - 1;
    for (std::size_t i = (gap + 1) & mask; table_[i].key != kFree; i = (i + 1) & mask) {
      const std::size_t home = FlatKey<Key>::hash(table_[i].key) & mask;
      if (((i - home) & mask) < ((i - gap) & mask)) continue;
      table_[gap] = table_[i];
      gap = i;
    }
    table_[gap] = {};
    --used_;
  }
  /// Keeps its places.
  void clear() {
    table_.assign(table_.size(), Entry{});
    used_ = 0;
  }

  /// Calls f(key, value), in no order that means anything.
  template <class F>
  void for_each(F&& f) const {
    for (const Entry& entry : table_) {
      if (entry.key != kFree) f(entry.key, entry.value);
    }
  }

  void archive(Archive& a) { a(table_, used_); }

 private:
  static constexpr Key kFree = FlatKey<Key>::kFree;

  struct Entry {
    Key key = kFree;
    Value value{};
  };

  /// Where a key is, or would be.
  [[nodiscard]] std::size_t place_of(const Key& key) const noexcept {
    std::size_t i = FlatKey<Key>::hash(key) & (table_.size() - 1);
    while (table_[i].key != key && table_[i].key != kFree) i = (i + 1) & (table_.size() - 1);
    return i;
  }
  void grow() {
    std::vector<Entry> before(table_.size() * 2);
    before.swap(table_);
    for (const Entry& entry : before) {
      if (entry.key != kFree) table_[place_of(entry.key)] = entry;
    }
  }

  std::vector<Entry> table_;  ///< of a power of two, at most half full
  std::size_t used_ = 0;
};

}  // namespace banyan
