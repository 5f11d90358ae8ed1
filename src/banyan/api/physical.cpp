#include "banyan/api/physical.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

namespace banyan::api {
namespace {

using Scale = std::array<std::pair<double, const char*>, 4>;  ///< from the largest unit to that of the amount
constexpr Scale kTimes{{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}}};
constexpr Scale kSizes{{{1e9, "GB"}, {1e6, "MB"}, {1e3, "KB"}, {1.0, "B"}}};

/// "102 ns", "1.5 us".
std::string text_of(double amount, const Scale& scale) {
  const auto fits = std::ranges::find_if(scale, [&](const auto& unit) { return amount >= unit.first; });
  const auto& [size, unit] = fits == scale.end() ? scale.back() : *fits;
  return fmt::format("{:.5g} {}", amount / size, unit);
}

constexpr const char* kCycles = "cycles";
constexpr const char* kRate = "flits/cycle";  ///< and what is behind it: "/terminal"

/// The units of metrics and series of which some result does not know the worth.
std::set<std::string> unknown_units(const std::vector<const Result*>& results) {
  std::set<std::string> unknown;
  const auto look = [&](const std::string& unit, const Result& result) {
    if (!worth_of(unit, result)) unknown.insert(unit);
  };
  for (const Result* result : results) {
    look(kCycles, *result);
    for (const stats::Metric& metric : result->metrics) look(metric.unit, *result);
    for (const stats::Series& series : result->series) look(series.unit, *result);
  }
  return unknown;
}

}  // namespace

std::optional<Worth> worth_of(const std::string& unit, const Result& result) {
  const stats::Metric* const cycle = result.find("cycle_length");
  const stats::Metric* const flit = result.find("flit_size");
  if (unit == kCycles && cycle != nullptr) return Worth{cycle->mean, "ns"};
  if (unit == "flits" && flit != nullptr) return Worth{flit->mean, "B"};
  if (!unit.starts_with(kRate) || cycle == nullptr || flit == nullptr) return std::nullopt;
  return Worth{flit->mean / cycle->mean, "GB/s" + unit.substr(std::string_view(kRate).size())};
}

PhysicalResults in_physical_units(const std::vector<const Result*>& results) {
  const std::set<std::string> unknown = unknown_units(results);
  const auto worth = [&](const std::string& unit, const Result& result) {
    return unknown.contains(unit) ? std::nullopt : worth_of(unit, result);
  };
  PhysicalResults shown;
  for (const Result* result : results) {
    Result& converted = shown.results.emplace_back();
    converted.configuration = result->configuration;
    converted.seed = result->seed;
    converted.state_hash = result->state_hash;
    converted.verdict = result->verdict;
    converted.certain = result->certain;
    converted.metrics = result->metrics;
    converted.series = result->series;
    for (stats::Metric& metric : converted.metrics) {
      const std::optional<Worth> one = worth(metric.unit, *result);
      if (!one) continue;
      metric.mean *= one->factor;
      if (metric.half_width) *metric.half_width *= one->factor;
      metric.unit = one->unit;
    }
    const std::optional<Worth> time = worth(kCycles, *result);
    if (time) shown.time_unit = time->unit;
    for (stats::Series& series : converted.series) {
      if (time) {
        series.start *= time->factor;
        series.interval *= time->factor;
      }
      if (const std::optional<Worth> one = worth(series.unit, *result)) {
        for (double& value : series.values) value *= one->factor;
        series.unit = one->unit;
      }
    }
  }
  return shown;
}

PhysicalResults in_physical_units(const std::vector<Result>& results) {
  std::vector<const Result*> all;
  for (const Result& result : results) all.push_back(&result);
  return in_physical_units(all);
}

std::string in_physical_units(const stats::Metric& metric, const Result& result) {
  if (!std::isfinite(metric.mean)) return "";
  const std::optional<Worth> worth = worth_of(metric.unit, result);
  if (!worth) return "";
  const double amount = metric.mean * worth->factor;
  if (worth->unit == "ns") return text_of(amount, kTimes);
  if (worth->unit == "B") return text_of(amount, kSizes);
  return fmt::format("{:.5g} Gbit/s ({:.5g} GB/s){}", amount * 8.0, amount,
                     metric.unit == "flits/cycle/terminal" ? " per terminal" : "");
}

}  // namespace banyan::api
