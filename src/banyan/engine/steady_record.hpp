// What a steady run records at the terminals of one shard: integer sums per window of time.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"
#include "banyan/engine/fire_record.hpp"
#include "banyan/engine/latency_sums.hpp"
#include "banyan/engine/timeline.hpp"
#include "banyan/stats/histogram.hpp"

namespace banyan::engine {

/// How a steady run is cut into windows: 2^shift ticks each, from tick 0 to `end`.
struct SteadyPlan {
  u32 shift = 0;
  Tick end = 0;             ///< packets generated before it count; 0: not a steady run
  Tick histogram_from = 0;  ///< births from here on enter the percentiles
  Tick series_window = 0;   ///< length of the windows of the time series; 0: none
  Tick hold = 0;            ///< until then every message waits at its source: the run begins with a backlog

  [[nodiscard]] std::size_t windows() const noexcept {
    return end == 0 ? 0 : static_cast<std::size_t>((end - 1) >> shift) + 1;
  }
};

/// Sums by window: of all packets, or of those of one traffic.
struct SteadyWindows {
  std::vector<LatencySums> births;  ///< over delivered packets, by window of generation
  std::vector<u64> offered;         ///< flits generated, by window of generation
  std::vector<u64> taken;           ///< flits that left the source queues, by window; of all traffics together only
  std::vector<u64> accepted;        ///< flits delivered, by window of arrival

  void resize(std::size_t windows, bool with_taken) {
    births.resize(windows);
    for (std::vector<u64>* flits : {&offered, &accepted}) flits->resize(windows);
    if (with_taken) taken.resize(windows);
  }
  void clear() {
    births.assign(births.size(), {});
    for (std::vector<u64>* flits : {&offered, &taken, &accepted}) flits->assign(flits->size(), 0);
  }
  void merge(const SteadyWindows& other) {
    add(births, other.births);
    add(offered, other.offered);
    add(taken, other.taken);
    add(accepted, other.accepted);
  }
  /// Windows of twice the length.
  void join_pairs() {
    join(births);
    for (std::vector<u64>* flits : {&offered, &taken, &accepted}) join(*flits);
  }

  void archive(Archive& a) { a(births, offered, taken, accepted); }

 private:
  template <class T>
  static void add(std::vector<T>& to, const std::vector<T>& other) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += other[i];
  }
  template <class T>
  static void join(std::vector<T>& windows) {
    const std::size_t half = (windows.size() + 1) / 2;
    for (std::size_t i = 0; i < half; ++i) {
      windows[i] = windows[2 * i];
      if (2 * i + 1 < windows.size()) windows[i] += windows[2 * i + 1];
    }
    windows.resize(half);
  }
};

/// Packets and their latencies, in ticks, by the terminal at one end of them: where most time is spent, and by how
/// many.
class EndSums {
 public:
  struct Sum {
    u64 packets = 0;
    u64 latency = 0;

    Sum& operator+=(const Sum& other) noexcept {
      packets += other.packets;
      latency += other.latency;
      return *this;
    }
  };

  void add(u32 terminal, Tick latency) noexcept { sums_[terminal % kEnds] += {1, latency}; }
  void merge(const EndSums& other) {
    for (std::size_t i = 0; i < kEnds; ++i) sums_[i] += other.sums_[i];
  }
  [[nodiscard]] const std::vector<Sum>& sums() const noexcept { return sums_; }
  void archive(Archive& a) { a(sums_); }

 private:
  /// So many are told apart; of more terminals each sum has several, whose neighbours are in others.
  static constexpr std::size_t kEnds = 1024;
  std::vector<Sum> sums_ = std::vector<Sum>(kEnds);
};

/// Of a record, what may be looked at after every window of the time series.
struct SteadyProgress {
  void merge(const SteadyProgress& other) {
    timeline.merge(other.timeline);
    fire.merge(other.fire);
  }
  void archive(Archive& a) { a(timeline, fire); }

  Timeline timeline;
  FireProgress fire;
};

struct SteadyRecord : SteadyWindows {
  explicit SteadyRecord(const SteadyPlan& p, u32 traffics = 1)
      : plan(p), shares(traffics > 1 ? traffics : 0), timeline(p.series_window, p.end, traffics) {
    resize(p.windows(), true);
    for (SteadyWindows& share : shares) share.resize(p.windows(), false);
  }

  void clear() {
    SteadyWindows::clear();
    for (SteadyWindows& share : shares) share.clear();
    timeline.clear();
    fire.clear();
    latency = stats::Histogram();
    by_source = by_destination = EndSums();
  }
  void merge(const SteadyRecord& other) {
    SteadyWindows::merge(other);
    for (std::size_t t = 0; t < shares.size(); ++t) shares[t].merge(other.shares[t]);
    timeline.merge(other.timeline);
    fire.merge(other.fire);
    latency.merge(other.latency);
    by_source.merge(other.by_source);
    by_destination.merge(other.by_destination);
  }
  /// Makes room for a longer run. A plan with longer windows (2^k times as long) joins those that are there.
  void extend(const SteadyPlan& longer) {
    for (; plan.shift < longer.shift; ++plan.shift) {
      join_pairs();
      for (SteadyWindows& share : shares) share.join_pairs();
    }
    plan = longer;
    timeline.extend(plan.end);
    resize(plan.windows(), true);
    for (SteadyWindows& share : shares) share.resize(plan.windows(), false);
  }
  void archive(Archive& a) {
    SteadyWindows::archive(a);
    a(plan, shares, timeline, fire, latency, by_source, by_destination);
  }
  void hash(Hasher& h) const noexcept {
    constexpr u32 kHashed = LatencySums::kPackets | LatencySums::kMessages | LatencySums::kMulticasts;
    for (const LatencySums& b : births) b.hash(h, kHashed);
    for (std::size_t i = 0; i < offered.size(); ++i) {
      h.add(offered[i]);
      h.add(taken[i]);
      h.add(accepted[i]);
    }
    latency.hash_into(h);
  }

  SteadyPlan plan;
  std::vector<SteadyWindows> shares;  ///< by traffic; empty when there is only one
  Timeline timeline;                  ///< not part of the hash: a run is the same whether it is watched or not
  FireRecord fire;                    ///< not part of the hash either
  stats::Histogram latency;           ///< of packets, ticks
  EndSums by_source;                  ///< of the same packets; no part of the hash, since `latency` is
  EndSums by_destination;
};

}  // namespace banyan::engine
