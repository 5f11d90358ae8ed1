#include "banyan/cli/stored.hpp"

#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "banyan/api/reader.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

using Json = nlohmann::ordered_json;

api::Runs runs_of_store(const std::string& from) {
  store::Table table = store::Reader(from).table();
  api::Runs runs{from, table.set.axis_names, {}, {}};
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (!table.results[i]) continue;
    runs.axes.push_back(table.set.points[i].axes);
    runs.results.push_back(std::move(*table.results[i]));
  }
  if (runs.results.empty()) {
    throw ConfigError({from, 0, 0, ""}, "the result store holds no finished point",
                      fmt::format("continue with: {}", store::continuation(table.source, from)));
  }
  return runs;
}

/// Reads what `banyan run --json` prints, and refuses what was changed since.
api::Result result_of(const std::string& text) {
  api::Result result = api::from_json(text);
  const bool whole = Json::parse(result.configuration).contains("run");
  if (!whole || api::identity_hash(result.configuration) != result.configuration_hash) {
    throw ConfigError({}, "the result is damaged: its configuration is not the one that was run",
                      "give the JSON as \"banyan run --json\" printed it");
  }
  return result;
}

/// What `banyan sweep --json` prints: its points carry their axes beside what a run prints.
api::Runs runs_of_sweep(const std::string& from, const Json& sweep) {
  api::Runs runs{from, sweep.at("axes").get<std::vector<std::string>>(), {}, {}};
  for (const Json& point : sweep.at("points")) {
    auto& axes = runs.axes.emplace_back();
    for (const auto& [key, value] : point.at("axes").items()) axes.emplace_back(key, value);
    runs.results.push_back(result_of(point.dump()));
  }
  if (!runs.results.empty()) return runs;
  throw ConfigError({from, 0, 0, ""}, "there is no finished point", "let the sweep finish one");
}

}  // namespace

api::Runs stored_runs(const std::string& from) {
  if (store::is_store(from)) return runs_of_store(from);
  const std::string text = read_file(from);
  try {
    const Json json = Json::parse(text, nullptr, false);
    if (json.is_object() && json.contains("points")) return runs_of_sweep(from, json);
    return {from, {}, {{}}, {result_of(text)}};
  } catch (const Json::exception& error) {
    throw ConfigError({from, 0, 0, ""}, fmt::format("not a result of banyan: {}", error.what()),
                      "give the JSON that \"banyan run --json\" or \"banyan sweep --json\" prints");
  } catch (const ConfigError& error) { throw ConfigError({from, 0, 0, ""}, error.cause(), error.remedy()); }
}

}  // namespace banyan::cli
