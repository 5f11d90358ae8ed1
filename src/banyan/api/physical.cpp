#include "banyan/api/physical.hpp"

#include <fmt/core.h>

#include <cmath>
#include <utility>

namespace banyan::api {
namespace {

/// "102 ns", "1.5 us".
std::string time_text(double ns) {
  constexpr std::pair<double, const char*> kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1.0, "ns"}};
  for (const auto& [size, unit] : kUnits) {
    if (ns >= size) return fmt::format("{:.5g} {}", ns / size, unit);
  }
  return fmt::format("{:.5g} ns", ns);
}

}  // namespace

std::string in_physical_units(const stats::Metric& metric, const Result& result) {
  if (!std::isfinite(metric.mean)) return "";
  const stats::Metric* const cycle = result.find("cycle_length");
  const stats::Metric* const flit = result.find("flit_size");
  if (metric.unit == "cycles" && cycle != nullptr) return time_text(metric.mean * cycle->mean);
  if (metric.unit == "flits" && flit != nullptr) return fmt::format("{:.5g} B", metric.mean * flit->mean);
  if (!metric.unit.starts_with("flits/cycle") || cycle == nullptr || flit == nullptr) return "";
  const double bytes = metric.mean * flit->mean / cycle->mean;
  return fmt::format("{:.5g} Gbit/s ({:.5g} GB/s){}", bytes * 8.0, bytes,
                     metric.unit == "flits/cycle/terminal" ? " per terminal" : "");
}

}  // namespace banyan::api
