// The windows of a steady run after its warm-up: what its means, its verdict and its stopping stand on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/graph.hpp"
#include "banyan/engine/steady_record.hpp"
#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/saturation.hpp"

namespace banyan::api {

/// The shortest channel of each kind.
struct Wires {
  u32 from_terminal = 0;
  u32 between_switches = 0;
  u32 to_terminal = 0;

  /// What a packet that passes so many switches spends on wires, at least.
  [[nodiscard]] double cycles(double hops) const {
    return hops < 1.0 ? 0.0 : from_terminal + (hops - 1.0) * between_switches + to_terminal;
  }
};
[[nodiscard]] Wires shortest_wires(const core::Graph& graph);

/// A measurement of a steady state, in cycles.
struct Measurement {
  double length = 0.0;
  double of_terminals = 0.0;  ///< length times terminals
  double latency = 0.0;       ///< mean
  double wires = 0.0;         ///< of that on wires, at least
  double evenness = 1.0;      ///< of the terminals (evenness())
};

/// The part of the terminals that the mean latency is worth as much as: 1 where all are alike; where one of many
/// keeps its packets waiting, the mean of all is as uncertain as its own, and there are about as few queues that forget
/// what they did as if it were alone. By the formula of Satterthwaite (1946, Biometrics Bulletin 2(6)) for the degrees
/// of freedom of a sum: of terminal d with n packets that wait Q cycles each, the error of the sum is as n^2 Q^3, and
/// its degrees as 1 / Q. `wires`: of the latency, not waited. `terminals`: also those without packets.
[[nodiscard]] double evenness(const engine::EndSums& ends, double wires, u64 terminals);

/// Degrees of freedom that the mean of what queues do may have. A queue at a load of 0.8 forgets within some tens of
/// mean latencies, and the error that windows of a shorter run show is too small: 95 % intervals of M/M/1 queues cover
/// 92 % after 1,000 latencies, 83 % at a load of 0.9, and 69 % after 40. One degree per 200 latencies of all terminals
/// together widens such intervals until they are none. A wire remembers nothing, so time on wires is no part of these
/// latencies; but credits come back over it, and a run has no more than one degree per latency, wires included.
[[nodiscard]] double queue_degrees(const Measurement& measurement);

/// What a steady state is judged by, beside the record.
struct Sources {
  u64 queues = 1;            ///< without limit that may be at their capacity at once (stats::Growth)
  double remembers = 0.0;    ///< cycles (TrafficTraits)
  double keeps_phase = 0.0;  ///< cycles (TrafficTraits)
  u32 message = 1;           ///< the longest, flits
};

class SteadyWindows {
 public:
  using Births = engine::LatencySums;

  /// `run`: the parameters of run_info(). `record` must outlive this.
  SteadyWindows(const engine::SteadyRecord& record, const config::Values& run, const core::Topology& topology,
                const Sources& sources);

  /// Sums of a field of the packets generated in each window, with their number; from the first window on.
  template <class F>
  [[nodiscard]] std::vector<stats::SumCount> births(F&& field) const {
    return sums(record_.births, field, &Births::packets);
  }
  /// Sums of a field over windows, with what they are to be divided by.
  template <class F>
  [[nodiscard]] static std::vector<stats::SumCount> sums(const std::vector<Births>& windows, F&& field,
                                                         u64 Births::*count) {
    std::vector<stats::SumCount> out;
    out.reserve(windows.size());
    for (const Births& b : windows) out.push_back({field(b), b.*count});
    return out;
  }
  [[nodiscard]] std::vector<stats::SumCount> latencies() const {
    return births([](const Births& b) { return b.latency; });
  }

  /// After the warm-up, without the last window where the end cuts it short: rates would come out too low.
  template <class T>
  [[nodiscard]] std::span<const T> measured(const std::vector<T>& windows) const {
    return std::span<const T>(windows).subspan(cut_, whole_ - cut_);
  }

  /// Flits per cycle and terminal. Where no window holds any, its interval is that of windows of which some may have
  /// held a message.
  /// `rule`: offered() or accepted().
  [[nodiscard]] stats::BatchMeans load(const std::vector<u64>& flits, const stats::BatchRule& rule) const;
  [[nodiscard]] const stats::BatchRule& offered() const noexcept { return rule_; }
  [[nodiscard]] const stats::BatchRule& accepted() const noexcept { return accepted_rule_; }
  /// The verdict: means are of a network whose queues go on filling.
  void set_saturated() noexcept { accepted_rule_.drifts = queue_rule_.drifts = true; }
  /// In a steady state as much is accepted as offered, and what is accepted differs by what the queues hold more or
  /// less at the end: its error is that of the offered load, which depends little on its past, and that difference.
  /// Queues smooth what passes them, so that windows of accepted flits alone show too small an error (72 % of intervals
  /// of 95 % at a load of 0.9).
  [[nodiscard]] static stats::Interval accepted_beside(const stats::Interval& offered, stats::Interval accepted);
  [[nodiscard]] stats::BatchMeans mean(const std::vector<stats::SumCount>& windows) const {
    return stats::ratio_batch_means(measured(windows), queue_rule_);
  }
  /// Latency of packets that had arrived for sure: generated earlier before the end than the longest latency so far.
  [[nodiscard]] stats::BatchMeans settled_latency() const;
  /// Whether the latencies of a run that may go on stand on enough for it to end. Of runs that end as soon as their
  /// intervals are narrow, those end first in which queues happened to be short.
  [[nodiscard]] bool latencies_stand() const;
  /// What stays in the system, whatever the run's own confidence is: a verdict does not depend on it.
  [[nodiscard]] stats::Growth growth() const;
  /// What these windows say of a verdict.
  [[nodiscard]] stats::Evidence evidence() const;
  /// The run ends before the network can have filled, and what is in it may be on its way over long wires.
  [[nodiscard]] bool filling() const { return too_short_for_loads() && !full_; }

  [[nodiscard]] const engine::SteadyRecord& record() const { return record_; }
  /// Flits that arrived in each whole window, per cycle.
  [[nodiscard]] std::vector<stats::SumCount> arrivals() const;
  /// True when the run lasts less than a few times as long as packets are in the network: accepted loads are too low.
  [[nodiscard]] bool too_short_for_loads() const;
  /// What to say when intervals are absent, or wide, because the run is short; "" otherwise.
  [[nodiscard]] std::string shortness() const;
  /// False: the sources remember without end, so that no run is long against it.
  [[nodiscard]] bool forgets() const { return memories() > 0.0 && mixings() > 0.0; }
  [[nodiscard]] const std::string& warmup_text() const { return warmup_text_; }

  /// Into `result.groups`, with `metric` = sum / count; neighbours are joined until they are few enough to keep.
  void keep(Result& result, const std::string& metric, std::vector<stats::SumCount> windows) const;
  void keep_load(Result& result, const std::string& metric, const std::vector<u64>& flits) const;

 private:
  /// How many times as long as a source remembers what it did.
  [[nodiscard]] double memories() const;
  /// The same of what it keeps of its phase.
  [[nodiscard]] double mixings() const;
  [[nodiscard]] double measured_over(double cycles) const;
  [[nodiscard]] Measurement measurement(const core::Graph& graph) const;

  const engine::SteadyRecord& record_;
  u64 terminals_;
  Sources sources_;
  Tick window_;
  stats::BatchRule rule_;
  stats::BatchRule accepted_rule_;
  stats::BatchRule queue_rule_;  ///< of means of what queues do
  u64 cut_ = 0;
  u64 whole_ = 0;
  bool warmup_found_ = false;
  double transit_ = 0.0;          ///< windows that a packet is in the network on average
  bool nothing_arrived_ = false;  ///< of what was generated
  bool full_ = false;  ///< packets are in the network for several times as long as the first ones, which found it empty
  std::string warmup_text_;
};

}  // namespace banyan::api
