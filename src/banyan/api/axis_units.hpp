// In which units the values along the axes of a sweep are.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/result.hpp"

namespace banyan::api {

/// The declared unit of the parameter behind each axis, as the configurations of the results have it: "flits". Empty
/// for words and pure numbers, for values that are written with a unit of their own, and where the parameter has
/// another unit at another point.
[[nodiscard]] std::vector<std::string> axis_units(const ExperimentSet& set, const std::vector<Result>& results);

}  // namespace banyan::api
