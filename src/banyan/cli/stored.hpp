// Results of earlier commands: a folder with a result store, the store's file, or the JSON of a run or a sweep.
#pragma once

#include <string>

#include "banyan/api/compare.hpp"

namespace banyan::cli {

/// The finished points of the latest command in a folder, or of the JSON. Throws ConfigError when there is none.
[[nodiscard]] api::Runs stored_runs(const std::string& from);

}  // namespace banyan::cli
