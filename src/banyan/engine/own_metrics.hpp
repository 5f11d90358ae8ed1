// Metrics that a switch model adds to the result, beside what the terminals see: integers only, by window of time.
//
// A model (or Population) owns one, declares its metrics when it is built, adds to them while it runs, empties it in
// reset(), and shows it through `OwnMetrics* own_metrics()`. Shards are merged by name. Sessions are one window each.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/steady_record.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::engine {

class OwnMetrics {
 public:
  enum class Kind : u8 {
    mean,   ///< of values of packets or messages, by window of generation; not reported of a saturated run
    level,  ///< the same of what stays meaningful beyond saturation, by window of time (occupancies, degrees of use)
    total,  ///< a count since the start of the replication, warm-up included
    most,   ///< the largest value since the start of the replication
  };
  struct Entry {
    std::string name;
    std::string unit;
    Kind kind = Kind::mean;
    bool late = false;                     ///< found while running
    u64 value = 0;                         ///< total and most
    std::vector<stats::SumCount> windows;  ///< mean and level

    void archive(Archive& a) { a(name, unit, kind, late, value, windows); }
  };

  OwnMetrics() : OwnMetrics(SteadyPlan{}) {}
  explicit OwnMetrics(const SteadyPlan& plan) : plan_(plan) {}

  /// Returns the metric's number. While building only.
  u32 declare(std::string name, std::string unit, Kind kind) {
    const bool windowed = kind == Kind::mean || kind == Kind::level;
    entries_.push_back({std::move(name), std::move(unit), kind, false, 0,
                        std::vector<stats::SumCount>(windowed ? std::max<std::size_t>(plan_.windows(), 1) : 0)});
    return static_cast<u32>(entries_.size() - 1);
  }

  /// A count whose name is known only when it is shown: not every shard and session has it.
  void show(std::string name, std::string unit, u64 value) {
    insert({std::move(name), std::move(unit), Kind::total, true, value, {}});
  }

  /// `count` values whose sum is `sum`, in the window of tick `at`; nothing after the end of a steady run's plan.
  void add(u32 metric, Tick at, u64 sum, u64 count = 1) noexcept {
    if (plan_.end != 0 && at >= plan_.end) return;
    stats::SumCount& window = entries_[metric].windows[plan_.end == 0 ? 0 : at >> plan_.shift];
    window.sum += sum;
    window.count += count;
  }
  void count(u32 metric, u64 n = 1) noexcept { entries_[metric].value += n; }
  /// What is counted elsewhere.
  void set(u32 metric, u64 value) noexcept { entries_[metric].value = value; }
  void raise(u32 metric, u64 value) noexcept { entries_[metric].value = std::max(entries_[metric].value, value); }

  void clear() noexcept {
    for (Entry& e : entries_) {
      e.value = 0;
      std::fill(e.windows.begin(), e.windows.end(), stats::SumCount{});
    }
  }
  /// Makes room for a longer run, as SteadyRecord::extend.
  void extend(const SteadyPlan& longer) {
    for (; plan_.shift < longer.shift; ++plan_.shift) {
      for (Entry& e : entries_) join_pairs(e.windows);
    }
    plan_ = longer;
    for (Entry& e : entries_) {
      if (!e.windows.empty()) e.windows.resize(std::max<std::size_t>(plan_.windows(), 1));
    }
  }
  /// Adds another shard's, of the same plan.
  void merge(const OwnMetrics& other) {
    if (entries_.empty()) plan_ = other.plan_;
    for (const Entry& theirs : other.entries_) {
      const auto same = [&](const Entry& e) { return e.name == theirs.name; };
      const auto mine = std::find_if(entries_.begin(), entries_.end(), same);
      if (mine == entries_.end()) {
        insert(theirs);
        continue;
      }
      mine->value = mine->kind == Kind::most ? std::max(mine->value, theirs.value) : mine->value + theirs.value;
      for (std::size_t i = 0; i < mine->windows.size(); ++i) mine->windows[i].merge(theirs.windows[i]);
    }
  }

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }
  void hash(Hasher& h) const noexcept {
    for (const Entry& e : entries_) {
      h.add(e.value);
      for (const stats::SumCount& w : e.windows) w.hash_into(h);
    }
  }

  void archive(Archive& a) { a(plan_, entries_); }

 private:
  /// Those that are found late come last, by their names: in an order that does not depend on the cut into shards.
  void insert(Entry entry) {
    const auto after = [&](const Entry& e) { return e.late && (!entry.late || entry.name < e.name); };
    auto place = entries_.end();
    while (place != entries_.begin() && after(*std::prev(place))) --place;
    entries_.insert(place, std::move(entry));
  }
  static void join_pairs(std::vector<stats::SumCount>& windows) {
    if (windows.empty()) return;
    const std::size_t half = (windows.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      windows[i] = windows[2 * i];
      if (2 * i + 1 < windows.size()) windows[i].merge(windows[2 * i + 1]);
    }
    windows.resize(half);
  }

  SteadyPlan plan_;
  std::vector<Entry> entries_;
};

}  // namespace banyan::engine
