#include "banyan/api/pool_seeds.hpp"

#include <algorithm>
#include <cmath>

namespace banyan::api {

std::optional<stats::Interval> pool_seeds(const std::vector<const Result*>& runs, const std::string& metric) {
  std::vector<double> means;
  double confidence = stats::kConfidence;
  for (const Result* run : runs) {
    const stats::Metric* found = run->find(metric);
    if (found == nullptr || !std::isfinite(found->mean)) continue;
    confidence = found->confidence;
    means.push_back(found->mean);
  }
  const bool unsettled = std::any_of(runs.begin(), runs.end(), [](const Result* run) {
    return run->verdict == Verdict::saturated || run->verdict == Verdict::deadlocked;
  });
  if (means.empty() || (unsettled && means.size() < runs.size())) return std::nullopt;
  return stats::mean_interval(means, confidence);
}

}  // namespace banyan::api
