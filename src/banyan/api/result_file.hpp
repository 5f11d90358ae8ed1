// Results as JSON files: what `banyan run --json`, `sweep --json` and `export --json` print. Only implementation files
// include this: it brings in the JSON library.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/result.hpp"
#include "banyan/config/json_file.hpp"

namespace banyan::api {

/// What the JSON of one result must look like.
[[nodiscard]] const config::JsonShape& result_shape();
/// Reads a value that has that shape. Throws ConfigError, without a place, where its parts contradict each other.
[[nodiscard]] Result result_from(const nlohmann::ordered_json& object);

/// A JSON file of results.
struct ResultFile {
  Runs runs;
  std::string experiment;  ///< the file that was swept; "" of a single run
};

/// Reads the JSON of a run or of a sweep. Throws ConfigError with the place of the first fault, and where a
/// configuration is not the one that was run.
[[nodiscard]] ResultFile read_result_file(const std::string& text, const std::string& file);

}  // namespace banyan::api
