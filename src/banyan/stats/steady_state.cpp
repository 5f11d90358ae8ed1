#include "banyan/stats/steady_state.hpp"

#include <algorithm>
#include <cstddef>

namespace banyan::stats {

SteadyState steady_state(std::span<const SumCount> windows, const BatchRule& rule) {
  return steady_state(windows, mser(windows), rule);
}

SteadyState steady_state(std::span<const SumCount> windows, const Warmup& warmup, const BatchRule& rule) {
  const std::size_t cut = std::min<std::size_t>(warmup.windows, windows.size());
  return {warmup, ratio_batch_means(windows.subspan(cut), rule)};
}

}  // namespace banyan::stats
