// The usual way from the windows of one run to a mean with its interval.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "banyan/stats/batch_means.hpp"
#include "banyan/stats/sum_count.hpp"
#include "banyan/stats/warmup.hpp"

namespace banyan::stats {

/// What is left of a run after the cut, and its mean.
struct SteadyState {
  Warmup warmup;
  BatchMeans mean;
};

/// The rest after a truncation point that was found on another series (or later() of several).
[[nodiscard]] inline SteadyState steady_state(std::span<const SumCount> windows, const Warmup& warmup,
                                              const BatchRule& rule = {}) {
  const std::size_t cut = std::min<std::size_t>(warmup.windows, windows.size());
  return {warmup, ratio_batch_means(windows.subspan(cut), rule)};
}

/// MSER-5 truncation, then ratio batch means over the rest: the mean per observation (latency, hops ...) of one run
/// that started empty. Unit: that of the sums.
[[nodiscard]] inline SteadyState steady_state(std::span<const SumCount> windows, const BatchRule& rule = {}) {
  return steady_state(windows, mser(windows), rule);
}

}  // namespace banyan::stats
