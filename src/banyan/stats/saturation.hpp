// Is the network beyond saturation? A verdict from what waits at the sources and from what gets through.
#pragma once

#include <span>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/interval.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// Limits of the verdict, as fractions of the offered flits per cycle.
struct SaturationRule {
  double confidence = kConfidence;
  /// The backlog grows when its slope is significantly above this. In a stable system the slope is 0 in the long run,
  /// so any positive limit separates; 1 % is the precision at which throughput curves are read, and a network that lags
  /// by less than that is at its knee, not beyond it.
  double growth = 0.01;
  /// Too little is accepted when accepted / offered is significantly below 1 minus this. Twice the growth limit:
  /// accepted flits lag behind offered ones by the time in the network, so that a window can miss a per cent at its
  /// ends without any queue growing.
  double shortfall = 0.02;
};

/// Least-squares slope of the mean backlog per window. `backlog[i]`: sum and count of the samples of flits waiting in
/// all source queues in window i, taken after the warm-up; windows without samples repeat the one before.
/// The textbook error of a slope takes residuals as independent; those of a queue near or beyond saturation are a
/// random walk, for which that error is too small without limit (Durlauf and Phillips 1988, Econometrica 56(6)). So the
/// error is that of the slope of a random walk with drift: sigma^2 = variance of increments over about 20 stretches,
/// per cycle; Var(slope) = 6/5 sigma^2 / T. It is right beyond saturation and too wide, on the safe side, for a stable
/// queue. Unit: flits per cycle; groups: the stretches; count: windows. Fewer than 4 windows: no half width.
[[nodiscard]] Interval backlog_growth(std::span<const SumCount> backlog, double window_cycles,
                                      double confidence = kConfidence);

/// The verdict and all that it stands on.
struct Saturation {
  bool saturated = false;
  bool backlog_grows = false;  ///< slope significantly above growth x offered
  bool falls_short = false;    ///< accepted / offered significantly below 1 - shortfall
  bool certain = false;        ///< saturated, or both are significantly within their limits
  double offered = 0.0;        ///< flits per cycle, whole network
  double accepted = 0.0;       ///< flits per cycle, whole network
  Interval slope;              ///< of the backlog, flits per cycle
  Interval accepted_ratio;     ///< accepted / offered
  std::string statement;       ///< one line for people
};

/// All three series have one entry per window of `window_cycles` cycles, after the warm-up, for the whole network:
/// `backlog` as above, flits offered (generated) and flits accepted (delivered) in the window. Throws InvariantError
/// when the lengths differ. Pass the backlog empty where sources have no queue: then the shortfall decides alone.
[[nodiscard]] Saturation saturation(std::span<const SumCount> backlog, std::span<const u64> offered,
                                    std::span<const u64> accepted, double window_cycles,
                                    const SaturationRule& rule = {});

}  // namespace banyan::stats
