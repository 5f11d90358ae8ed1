// What a steady run records at the terminals of one shard: integer sums per window of time.
#pragma once

#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/engine/timeline.hpp"
#include "banyan/stats/histogram.hpp"

namespace banyan::engine {

/// How a steady run is cut into windows: 2^shift ticks each, from tick 0 to `end`.
struct SteadyPlan {
  u32 shift = 0;
  Tick end = 0;             ///< packets generated before it count; 0: not a steady run
  Tick histogram_from = 0;  ///< births from here on enter the percentiles
  Tick series_window = 0;   ///< length of the windows of the time series; 0: none

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
    u64 serialization = 0;
    u64 hops = 0;
    u64 messages = 0;  ///< of which all packets arrived, where messages are cut
    u64 message_first = 0;
    u64 message_last = 0;
    u64 multicasts = 0;  ///< as in Tally
    u64 multicast_first = 0;
    u64 multicast_last = 0;
    u64 multicast_mean = 0;
    u64 unicasts = 0;
    u64 unicast_latency = 0;

    Births& operator+=(const Births& other) noexcept {
      packets += other.packets;
      latency += other.latency;
      queueing += other.queueing;
      serialization += other.serialization;
      hops += other.hops;
      messages += other.messages;
      message_first += other.message_first;
      message_last += other.message_last;
      multicasts += other.multicasts;
      multicast_first += other.multicast_first;
      multicast_last += other.multicast_last;
      multicast_mean += other.multicast_mean;
      unicasts += other.unicasts;
      unicast_latency += other.unicast_latency;
      return *this;
    }
    void hash(Hasher& h) const noexcept {
      for (const u64 v : {packets, latency, queueing, serialization, hops}) h.add(v);
      if (messages != 0) {
        for (const u64 v : {messages, message_first, message_last}) h.add(v);
      }
      if (multicasts + unicasts == 0) return;
      for (const u64 v : {multicasts, multicast_first, multicast_last, multicast_mean, unicasts, unicast_latency}) {
        h.add(v);
      }
    }
  };
  /// What is also recorded of each traffic where there are several.
  struct Share {
    std::vector<Births> births;
    std::vector<u64> offered;
    std::vector<u64> accepted;
  };

  explicit SteadyRecord(const SteadyPlan& p, u32 traffics = 1)
      : plan(p),
        births(p.windows()),
        offered(p.windows()),
        taken(p.windows()),
        accepted(p.windows()),
        shares(traffics > 1 ? traffics : 0),
        timeline(p.series_window, p.end, traffics) {
    for (Share& share : shares) {
      share = {std::vector<Births>(p.windows()), std::vector<u64>(p.windows()), std::vector<u64>(p.windows())};
    }
  }

  void clear() {
    births.assign(births.size(), {});
    offered.assign(offered.size(), 0);
    taken.assign(taken.size(), 0);
    accepted.assign(accepted.size(), 0);
    for (Share& share : shares) {
      share.births.assign(births.size(), {});
      share.offered.assign(offered.size(), 0);
      share.accepted.assign(accepted.size(), 0);
    }
    timeline.clear();
    latency = stats::Histogram();
  }
  void merge(const SteadyRecord& other) {
    for (std::size_t i = 0; i < births.size(); ++i) {
      births[i] += other.births[i];
      offered[i] += other.offered[i];
      taken[i] += other.taken[i];
      accepted[i] += other.accepted[i];
      for (std::size_t t = 0; t < shares.size(); ++t) {
        shares[t].births[i] += other.shares[t].births[i];
        shares[t].offered[i] += other.shares[t].offered[i];
        shares[t].accepted[i] += other.shares[t].accepted[i];
      }
    }
    timeline.merge(other.timeline);
    latency.merge(other.latency);
  }
  /// Makes room for a longer run. A plan with longer windows (2^k times as long) joins those that are there.
  void extend(const SteadyPlan& longer) {
    for (; plan.shift < longer.shift; ++plan.shift) {
      for (std::vector<Births>* sums : all_births()) join_pairs(*sums, [](Births& a, const Births& b) { a += b; });
      for (std::vector<u64>* flits : all_flits()) join_pairs(*flits, [](u64& a, u64 b) { a += b; });
    }
    plan = longer;
    timeline.extend(plan.end);
    for (std::vector<Births>* sums : all_births()) sums->resize(plan.windows());
    for (std::vector<u64>* flits : all_flits()) flits->resize(plan.windows());
  }
  void hash(Hasher& h) const noexcept {
    for (const Births& b : births) b.hash(h);
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
  std::vector<Share> shares;  ///< by traffic; empty when there is only one
  Timeline timeline;          ///< not part of the hash: a run is the same whether it is watched or not
  stats::Histogram latency;   ///< of packets, ticks

 private:
  std::vector<std::vector<Births>*> all_births() {
    std::vector<std::vector<Births>*> all{&births};
    for (Share& share : shares) all.push_back(&share.births);
    return all;
  }
  std::vector<std::vector<u64>*> all_flits() {
    std::vector<std::vector<u64>*> all{&offered, &taken, &accepted};
    for (Share& share : shares) all.insert(all.end(), {&share.offered, &share.accepted});
    return all;
  }
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
