// Results of earlier commands: a folder with a result store, the store's file, or the JSON of a run or a sweep.
#pragma once

#include <string>
#include <vector>

#include "banyan/api/measure/compare.hpp"

namespace banyan::cli {

/// A finished point of a store whose rows are not what was written.
struct DamagedRun {
  std::vector<std::pair<std::string, std::string>> axes;
  std::vector<std::string> rows;  ///< for people
  std::string remedy;
};

/// The finished points of the latest command in a folder, or of the JSON. Throws ConfigError when there is none.
/// Damaged points go to `damaged`; without it they are refused. A note says how many points of a sweep are missing.
[[nodiscard]] api::Runs stored_runs(const std::string& from, std::vector<DamagedRun>* damaged = nullptr);

}  // namespace banyan::cli
