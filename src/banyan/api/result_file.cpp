#include "banyan/api/result_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api {
namespace {

using config::JsonFile;
using config::JsonShape;
using nlohmann::ordered_json;

const JsonShape& sweep_shape() {
  static const JsonShape shape = JsonShape::object(
      {{"file", JsonShape::text()},
       {"axes", JsonShape::list_of(JsonShape::text())},
       {"points", JsonShape::list_of(JsonShape::object({{"axes", JsonShape::map_of(JsonShape::text())}}))}});
  return shape;
}

/// Refuses what was changed since it was printed.
Result checked_result(const JsonFile& file, const std::vector<std::string>& path, const ordered_json& object) {
  try {
    Result result = result_from(object);
    if (object.at("configuration").contains("run") &&
        identity_hash(result.configuration) == result.configuration_hash) {
      return result;
    }
  } catch (const ConfigError& error) { file.fail(path, error.cause()); }
  file.fail(path, "the result is damaged: its configuration is not the one that was run");
}

ResultFile read_sweep(const JsonFile& file, const std::string& name) {
  file.require(sweep_shape());
  file.require(JsonShape::object({{"points", JsonShape::list_of(result_shape())}}));
  const ordered_json& sweep = file.json();
  ResultFile read{{name, sweep.at("axes").get<std::vector<std::string>>(), {}, {}, {}},
                  sweep.at("file").get<std::string>()};
  std::size_t i = 0;
  for (const ordered_json& point : sweep.at("points")) {
    const std::vector<std::string> path{"points", fmt::format("{}", i++)};
    auto& axes = read.runs.axes.emplace_back();
    std::vector<std::string> names;
    for (const auto& [key, value] : point.at("axes").items()) {
      axes.emplace_back(key, value.get<std::string>());
      names.push_back(key);
    }
    if (names != read.runs.axis_names) {
      file.fail(path, fmt::format("the result is damaged: this point has the axes {}, and the sweep has {}",
                                  fmt::join(names, ", "), fmt::join(read.runs.axis_names, ", ")));
    }
    read.runs.results.push_back(checked_result(file, path, point));
    read.runs.printed.push_back(config::dump(point));
  }
  if (!read.runs.results.empty()) return read;
  throw ConfigError({name, 0, 0, ""}, "there is no finished point", "let the sweep finish one");
}

}  // namespace

ResultFile read_result_file(const std::string& text, const std::string& name) {
  const JsonFile file(text, name, "a result of banyan",
                      "give the JSON as \"banyan run --json\" or \"banyan sweep --json\" printed it");
  if (file.json().is_object() && file.json().contains("points")) return read_sweep(file, name);
  file.require(result_shape());
  return {{name, {}, {{}}, {checked_result(file, {}, file.json())}, {config::dump(file.json())}}, ""};
}

}  // namespace banyan::api
