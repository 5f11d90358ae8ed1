#include "banyan/api/physical.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
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

}  // namespace

std::string in_physical_units(const stats::Metric& metric, const Result& result) {
  if (!std::isfinite(metric.mean)) return "";
  const stats::Metric* const cycle = result.find("cycle_length");
  const stats::Metric* const flit = result.find("flit_size");
  if (metric.unit == "cycles" && cycle != nullptr) return text_of(metric.mean * cycle->mean, kTimes);
  if (metric.unit == "flits" && flit != nullptr) return text_of(metric.mean * flit->mean, kSizes);
  if (!metric.unit.starts_with("flits/cycle") || cycle == nullptr || flit == nullptr) return "";
  const double bytes = metric.mean * flit->mean / cycle->mean;
  return fmt::format("{:.5g} Gbit/s ({:.5g} GB/s){}", bytes * 8.0, bytes,
                     metric.unit == "flits/cycle/terminal" ? " per terminal" : "");
}

}  // namespace banyan::api
