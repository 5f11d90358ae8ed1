#include "banyan/api/measure/precision.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "banyan/api/network.hpp"

namespace banyan::api {
namespace {

/// Half width over mean, in per cent; nothing when there is no interval.
std::optional<double> width_of(const stats::Metric& metric) {
  if (!metric.half_width) return std::nullopt;
  if (*metric.half_width == 0.0) return 0.0;
  if (metric.mean == 0.0) return std::nullopt;
  return *metric.half_width / std::abs(metric.mean) * 100.0;
}

u64 times(u64 length, i64 factor) {
  constexpr double kLongest = 1e18;  // beyond the age of any simulation, and still a tick
  return static_cast<u64>(std::min(static_cast<double>(length) * static_cast<double>(factor), kLongest));
}

}  // namespace

std::optional<stats::PrecisionGoal> precision_goal(const config::Values& run) {
  const double relative = run.real("precision");
  if (!(relative > 0.0) || run.integer("duration") > 0) return std::nullopt;
  stats::PrecisionGoal goal;
  goal.relative = relative;
  return goal;
}

u64 precision_limit(const config::Values& run, u64 length) { return times(length, run.integer("precision_limit")); }

u64 extension_limit(const config::Values& run, u64 length) {
  return is_fixed(run) ? length : times(length, std::max<i64>(run.integer("extension"), 1));
}

std::optional<double> precision_missing(const Result& result, const stats::PrecisionGoal& goal,
                                        const std::vector<std::string>& metrics) {
  double missing = 0.0;
  for (const std::string& name : metrics) {
    const stats::Metric* metric = result.find(name);
    if (metric == nullptr) continue;
    const std::optional<double> width = width_of(*metric);
    if (!width) return std::nullopt;
    missing = std::max(missing, std::pow(*width / (goal.relative * 100.0), 2.0) - 1.0);
  }
  return missing;
}

void state_precision(Result& result, const config::Values& run, const std::vector<std::string>& metrics, bool forgets) {
  const auto goal = precision_goal(run);
  if (!goal) return;
  std::vector<std::string> widths;
  for (const std::string& name : metrics) {
    const stats::Metric* metric = result.find(name);
    if (metric == nullptr) continue;
    const std::optional<double> width = width_of(*metric);
    widths.push_back(width ? fmt::format("{} within {:.3g} %", name, *width) : name + " without an interval");
  }
  const double asked = goal->relative * 100.0;
  if (precision_missing(result, *goal, metrics) == 0.0) {
    result.explanation += fmt::format("; precision of {:g} % reached: {}", asked, fmt::join(widths, ", "));
    return;
  }
  if (!forgets) {
    result.warning = fmt::format(
        "the precision of {:g} % cannot be reached by one run: {}, for the sources remember without end; run several "
        "seeds, and take the intervals over them",
        asked, fmt::join(widths, ", "));
    result.explanation += "; " + result.warning;
    return;
  }
  result.warning = fmt::format(
      "the precision of {:g} % was not reached within {} times the length asked for: {}; give more time "
      "(run.precision_limit) or ask for less (run.precision)",
      asked, run.integer("precision_limit"), fmt::join(widths, ", "));
  result.explanation += "; " + result.warning;
}

}  // namespace banyan::api
