// Means over an axis of repetitions, such as the seed.
#include <algorithm>

#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

bool differ_in_alone(const std::string& over, const Point& a, const Point& b) {
  if (a.series != b.series || a.axes.size() != b.axes.size()) return false;
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    if (a.axes[i].first != over && a.axes[i] != b.axes[i]) return false;
  }
  return true;
}

}  // namespace

std::vector<Pool> pools_of(const FigureResult& figure) {
  std::vector<Pool> pools;
  for (const Point& point : figure.points) {
    const auto same = std::find_if(pools.begin(), pools.end(), [&](const Pool& pool) {
      return !figure.spec.over.empty() && differ_in_alone(figure.spec.over, *pool.first, point);
    });
    if (same == pools.end()) {
      pools.push_back({&point, {point.run}});
    } else {
      same->runs.push_back(point.run);
    }
  }
  return pools;
}

std::optional<stats::Metric> metric_of(const StudyResult& result, const Pool& pool, const std::string& name) {
  std::vector<double> values;
  std::optional<stats::Metric> metric;
  for (const std::size_t run : pool.runs) {
    const stats::Metric* const found = result.runs.at(run).find(name);
    if (found == nullptr) return std::nullopt;
    if (!metric) metric = *found;
    values.push_back(found->mean);
  }
  if (values.size() < 2) return metric;
  const Estimate mean = mean_of(values);
  metric->mean = mean.mean;
  metric->count = values.size();
  metric->half_width.reset();
  if (!all_equal(values)) metric->half_width = mean.half_width;
  return metric;
}

}  // namespace banyan::study
