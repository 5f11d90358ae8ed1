// Where the warm-up ends.
#pragma once

#include <span>
#include <string>

#include "banyan/base/types.hpp"
#include "banyan/stats/sum_count.hpp"

namespace banyan::stats {

/// A truncation point and whether the run was long enough to trust it.
struct Warmup {
  u64 windows = 0;     ///< dropped from the front of the series
  u64 of = 0;          ///< windows in the series
  u64 group = 5;       ///< windows per group of MSER-5
  bool valid = false;  ///< the minimum lies in the first half, and there were groups enough to look for it
  /// One line for people, e.g. "warm-up by MSER-5 (White, Cobb, Spratt 2000): first 35 of 4000 windows (3500 cycles)
  /// cut".
  [[nodiscard]] std::string statement(u64 window_cycles) const;
};

/// MSER-5: with Z_1 .. Z_n the means of groups of `group` windows, cuts the d groups that minimise
///   MSER(d) = sum_{i > d} (Z_i - mean_{i > d} Z)^2 / (n - d)^2
/// (White 1997, Simulation 69(6); White, Cobb, Spratt 2000, WSC; the smallest d on ties). d > n / 2 is not valid: the
/// run is too short. The last 5 groups are never candidates, because few and by chance equal values there make the
/// statistic collapse (Hoad, Robinson, Davies 2010, J. Oper. Res. Soc. 61). Windows that do not fill a group are kept.
[[nodiscard]] Warmup mser(std::span<const double> windows, u64 group = 5);

/// The same on the means of the windows' observations; groups without any are passed over.
[[nodiscard]] Warmup mser(std::span<const SumCount> windows, u64 group = 5);

/// The later truncation point of two series of one run (latency and throughput, say); valid when both are.
[[nodiscard]] Warmup later(const Warmup& a, const Warmup& b);

}  // namespace banyan::stats
