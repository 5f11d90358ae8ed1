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
constexpr std::string_view kRate = "flits/cycle";  ///< and what is behind it: "/terminal"
constexpr std::string_view kPerCycle = "/cycle";
constexpr std::string_view kPerFlit = "/flit";

/// Of units that are made of cycles and flits: "packets/cycle", "pJ/cycle", "pJ/flit", "cycles^2".
std::optional<Worth> worth_of_compound(const std::string& unit, const stats::Metric* cycle, const stats::Metric* flit) {
  if (unit == "cycles^2" && cycle != nullptr) return Worth{cycle->mean * cycle->mean, "ns^2"};
  const auto per = [&](std::string_view end, const stats::Metric* one, const char* other) -> std::optional<Worth> {
    if (one == nullptr || !unit.ends_with(end)) return std::nullopt;
    return Worth{1.0 / one->mean, unit.substr(0, unit.size() - end.size()) + other};
  };
  const std::optional<Worth> per_cycle = per(kPerCycle, cycle, "/ns");
  return per_cycle ? per_cycle : per(kPerFlit, flit, "/B");
}

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
  if (!unit.starts_with(kRate)) return worth_of_compound(unit, cycle, flit);
  if (cycle == nullptr || flit == nullptr) return std::nullopt;
  return Worth{flit->mean / cycle->mean, "GB/s" + unit.substr(kRate.size())};
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

Table in_physical_units(const Table& table, const Result& result) {
  Table shown = table;
  const bool bytes = std::ranges::find(table.columns, "bytes") != table.columns.end();
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    const std::string& name = table.columns[column];
    const std::size_t open = name.rfind(" (");
    const bool counts = name == "flits" && !bytes;
    if (!counts && (open == std::string::npos || name.back() != ')')) continue;
    const std::optional<Worth> one = worth_of(counts ? name : name.substr(open + 2, name.size() - open - 3), result);
    if (!one) continue;
    shown.columns[column] = counts ? "bytes" : fmt::format("{} ({})", name.substr(0, open), one->unit);
    for (std::vector<Table::Cell>& row : shown.rows) {
      Table::Cell& cell = row[column];
      if (const u64* whole = std::get_if<u64>(&cell)) {
        const double amount = static_cast<double>(*whole) * one->factor;
        cell = amount == std::floor(amount) ? Table::Cell(static_cast<u64>(amount)) : Table::Cell(amount);
      } else if (double* real = std::get_if<double>(&cell)) {
        *real *= one->factor;
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
  if (!worth->unit.starts_with("GB/s")) return fmt::format("{:.5g} {}", amount, worth->unit);
  return fmt::format("{:.5g} Gbit/s ({:.5g} GB/s){}", amount * 8.0, amount,
                     metric.unit == "flits/cycle/terminal" ? " per terminal" : "");
}

}  // namespace banyan::api
