#include "banyan/api/pool_seeds.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace banyan::api {

double confidence_of(const Result& result) {
  const auto measured =
      std::ranges::find_if(result.metrics, [](const stats::Metric& m) { return m.half_width.has_value(); });
  if (measured != result.metrics.end()) return measured->confidence;
  const nlohmann::json configuration = nlohmann::json::parse(result.configuration, nullptr, false);
  const auto run = configuration.is_object() ? configuration.find("run") : configuration.end();
  if (run == configuration.end() || !run->is_object()) return stats::kConfidence;
  const auto confidence = run->find("confidence");
  return confidence == run->end() || !confidence->is_number() ? stats::kConfidence : confidence->get<double>();
}

std::size_t seeds_without(const std::vector<const Result*>& runs, const std::string& metric) {
  return static_cast<std::size_t>(std::ranges::count_if(runs, [&](const Result* run) {
    const stats::Metric* found = run->find(metric);
    return found == nullptr || !std::isfinite(found->mean);
  }));
}

std::optional<stats::Interval> pool_seeds(const std::vector<const Result*>& runs, const std::string& metric) {
  if (runs.empty() || seeds_without(runs, metric) != 0) return std::nullopt;
  std::vector<double> means;
  for (const Result* run : runs) means.push_back(run->at(metric).mean);
  return stats::mean_interval(means, confidence_of(*runs.front()));
}

}  // namespace banyan::api
