// Finds where the warm-up ends.
#pragma once

#include <span>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// How MSER looks for the truncation point.
struct MserRule {
  u64 group = 5;  ///< windows per group
  /// The earliest point whose statistic is within this fraction of the minimum is taken; 0: the minimum itself, as
  /// published. The minimum alone also cuts off a chance peak that stands near the start, and only peaks: on the
  /// waiting times of an M/M/1 queue (load 0.8, 50,000 customers) that biases the mean by -1.3 % and covers 91.4 % with
  /// a 95 % interval. With 5 % it is -0.8 % and 92.6 %, and real transients (200 customers waiting at the start: 91.3
  /// and 93.0 %) are cut as well as before: what a statistic within 5 % of the minimum leaves in is far below the half
  /// width.
  double tolerance = 0.05;
};

/// A truncation point and whether the run was long enough to trust it.
struct Warmup {
  u64 windows = 0;  ///< dropped from the front of the series
  u64 of = 0;       ///< windows in the series
  MserRule rule;
  bool valid = false;  ///< the minimum lies in the first half, and there were groups enough to look for it
  /// One line for people, e.g. "warm-up by MSER-5 (White, Cobb, Spratt 2000), earliest point within 5 % of its minimum:
  /// first 35 of 4000 windows (3500 cycles)".
  /// What was found; says so when it is not valid.
  [[nodiscard]] std::string statement(double window_cycles) const;
};

/// MSER-5: with Z_1 .. Z_n the means of groups of `rule.group` windows, the statistic of a cut after d groups is
///   MSER(d) = sum_{i > d} (Z_i - mean_{i > d} Z)^2 / (n - d)^2
/// (White 1997, Simulation 69(6); White, Cobb, Spratt 2000, Winter Simulation Conference). A minimum at d > n / 2 is
/// not valid: the run is too short. The last 5 groups are never candidates, because few and by chance equal values
/// there make the statistic collapse (Hoad, Robinson, Davies 2010, J. Oper. Res. Soc. 61). Windows that do not fill a
/// group are kept. Shape: one mean per window of equal length. Fewer than 10 groups: nothing cut, not valid.
[[nodiscard]] Warmup mser(std::span<const double> windows, const MserRule& rule = {});

/// The same on the means of the windows' observations; groups without any are passed over.
[[nodiscard]] Warmup mser(std::span<const SumCount> windows, const MserRule& rule = {});

/// The later truncation point of two series of one run (latency and throughput, say); valid when both are.
[[nodiscard]] Warmup later(const Warmup& a, const Warmup& b);

}  // namespace banyan::stats
