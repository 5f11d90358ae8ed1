// Metrics in seconds and bytes, where cycles and flits are worth some.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "banyan/api/result.hpp"

namespace banyan::api {

/// "102 ns", "32 Gbit/s (4 GB/s) per terminal", "96 B"; "" where the metric has no other unit, or where the run does
/// not know what a cycle or a flit is worth.
[[nodiscard]] std::string in_physical_units(const stats::Metric& metric, const Result& result);

/// What one of a unit is worth in another.
struct Worth {
  double factor = 1.0;
  std::string unit;
};
/// ns for cycles, B for flits, GB/s for flits per cycle, and so on for units that are made of them; nothing where the
/// run does not know.
[[nodiscard]] std::optional<Worth> worth_of(const std::string& unit, const Result& result);

/// The table with columns "NAME (UNIT)" in ns, B or GB/s, and bytes for flits, where the run knows.
[[nodiscard]] Table in_physical_units(const Table& table, const Result& result);

/// Results for figures and tables: configuration, seed, hash, verdict, metrics and series. Metrics and series of a unit
/// are in ns, B or GB/s where every result that has some of that unit knows what it is worth.
struct PhysicalResults {
  std::vector<Result> results;
  std::string time_unit = "cycles";  ///< of the start and interval of series
};
[[nodiscard]] PhysicalResults in_physical_units(const std::vector<const Result*>& results);
[[nodiscard]] PhysicalResults in_physical_units(const std::vector<Result>& results);

}  // namespace banyan::api
