// Metrics in seconds and bytes, where cycles and flits are worth some.
#pragma once

#include <string>

#include "banyan/api/result.hpp"

namespace banyan::api {

/// "102 ns", "32 Gbit/s (4 GB/s) per terminal", "96 B"; "" where the metric has no other unit, or where the run does
/// not know what a cycle or a flit is worth.
[[nodiscard]] std::string in_physical_units(const stats::Metric& metric, const Result& result);

}  // namespace banyan::api
