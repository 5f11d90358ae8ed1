// What a disturbance of the traffic (core::Traffic::disturbance) does to the others, and how its own streams end.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/core/traffic.hpp"
#include "banyan/engine/steady_record.hpp"

namespace banyan::api {

/// The share of the throughput before a disturbance at which it counts as back.
inline constexpr double kRecovered = 0.95;

class Aftermath {
 public:
  /// `traffics` must outlive this.
  explicit Aftermath(std::span<core::Traffic* const> traffics);

  [[nodiscard]] bool disturbed() const { return when_.from != kNever; }
  /// True when `progress`, of all ticks before `now`, shows that the disturbance is over and throughput is back, or
  /// that it has been over for `settle` ticks.
  [[nodiscard]] bool settled(const engine::SteadyProgress& progress, Tick now, Tick settle) const;
  /// Adds, of a run with a time series, the metrics
  /// - throughput_before (mean of the windows that end before the disturbance, from half of that time on),
  ///   throughput_during (of the windows in which it lasts, its first and its last among them), throughput_after (from
  ///   its end to the end of the run), lowest_throughput (lowest window from the one on in which it begins),
  ///   flits/cycle: of the traffics that do not disturb, or of all where all do;
  /// - recovery_time: from the end of the disturbance to the first of three windows in a row with kRecovered of the
  ///   throughput before, less one packet; none where there is no such window;
  /// - incast_completion_first, _median, _last: from the begin of a stream of known length to its last arrival; one
  ///   that is not complete at the end of the run counts as later than all others; and incast_unfinished, how many
  ///   those are;
  /// - fairness: Jain's index over what the streams got through per cycle, until each was complete or the disturbance
  ///   over;
  /// - victim_latency_p99: the greatest 99th percentile of latency over the terminals that send what does not disturb,
  ///   of packets generated during the disturbance, within FireRecord::bits().
  /// The end of a disturbance that does not tell it is the last arrival of its streams.
  void report(Result& result, const engine::SteadyRecord& record, Tick end) const;

 private:
  /// Throughput of the victims by whole window before `end`, flits/cycle.
  [[nodiscard]] std::vector<double> throughput(const engine::Timeline& timeline, Tick end) const;
  /// When the disturbance was over; nothing while it lasts.
  [[nodiscard]] std::optional<Tick> over(const engine::FireProgress& record, Tick now) const;
  [[nodiscard]] std::optional<std::size_t> recovered(const std::vector<double>& values, double length, Tick over,
                                                     u64 packet) const;
  [[nodiscard]] std::optional<double> before(const std::vector<double>& values, double length) const;
  void report_streams(Result& result, const engine::FireRecord& record, Tick end) const;

  std::span<core::Traffic* const> traffics_;
  core::Disturbance when_;
  std::vector<u32> victims_;                    ///< traffics
  std::vector<core::Traffic::Stream> streams_;  ///< of all traffics, as in FireRecord
};

}  // namespace banyan::api
