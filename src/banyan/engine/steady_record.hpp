// What a steady run records at the terminals of one shard: integer sums per window of time.
#pragma once

#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/stats/histogram.hpp"

namespace banyan::engine {

/// How a steady run is cut into windows: 2^shift ticks each, from tick 0 to `end`.
struct SteadyPlan {
  u32 shift = 0;
  Tick end = 0;             ///< packets generated before it count; 0: not a steady run
  Tick histogram_from = 0;  ///< births from here on enter the percentiles

  [[nodiscard]] std::size_t windows() const noexcept {
    return end == 0 ? 0 : static_cast<std::size_t>((end - 1) >> shift) + 1;
  }
};

struct SteadyRecord {
  /// By window of generation, over delivered packets; times in ticks.
  struct Births {
    u64 packets = 0;
    u64 latency = 0;
    u64 queueing = 0;
    u64 hops = 0;
  };

  explicit SteadyRecord(const SteadyPlan& p)
      : plan(p), births(p.windows()), offered(p.windows()), taken(p.windows()), accepted(p.windows()) {}

  void clear() {
    births.assign(births.size(), {});
    offered.assign(offered.size(), 0);
    taken.assign(taken.size(), 0);
    accepted.assign(accepted.size(), 0);
    latency = stats::Histogram();
  }
  void merge(const SteadyRecord& other) {
    for (std::size_t i = 0; i < births.size(); ++i) {
      births[i].packets += other.births[i].packets;
      births[i].latency += other.births[i].latency;
      births[i].queueing += other.births[i].queueing;
      births[i].hops += other.births[i].hops;
      offered[i] += other.offered[i];
      taken[i] += other.taken[i];
      accepted[i] += other.accepted[i];
    }
    latency.merge(other.latency);
  }
  /// Makes room for a longer run. A plan with longer windows (2^k times as long) joins those that are there.
  void extend(const SteadyPlan& longer) {
    for (; plan.shift < longer.shift; ++plan.shift) {
      join_pairs(births, [](Births& a, const Births& b) {
        a.packets += b.packets;
        a.latency += b.latency;
        a.queueing += b.queueing;
        a.hops += b.hops;
      });
      for (std::vector<u64>* flits : {&offered, &taken, &accepted}) join_pairs(*flits, [](u64& a, u64 b) { a += b; });
    }
    plan = longer;
    births.resize(plan.windows());
    for (std::vector<u64>* flits : {&offered, &taken, &accepted}) flits->resize(plan.windows());
  }
  void hash(Hasher& h) const noexcept {
    for (const Births& b : births) {
      for (const u64 v : {b.packets, b.latency, b.queueing, b.hops}) h.add(v);
    }
    for (std::size_t i = 0; i < offered.size(); ++i) {
      h.add(offered[i]);
      h.add(taken[i]);
      h.add(accepted[i]);
    }
    latency.hash_into(h);
  }

  SteadyPlan plan;
  std::vector<Births> births;
  std::vector<u64> offered;   ///< flits generated, by window of generation
  std::vector<u64> taken;     ///< flits that left the source queues, by window
  std::vector<u64> accepted;  ///< flits delivered, by window of arrival
  stats::Histogram latency;   ///< of packets, ticks

 private:
  template <class T, class Join>
  static void join_pairs(std::vector<T>& windows, Join&& join) {
    const std::size_t half = (windows.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      windows[i] = windows[2 * i];
      if (2 * i + 1 < windows.size()) join(windows[i], windows[2 * i + 1]);
    }
    windows.resize(half);
  }
};

}  // namespace banyan::engine
