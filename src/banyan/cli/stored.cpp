#include "banyan/cli/stored.hpp"

#include <fmt/format.h>

#include <utility>

#include "banyan/base/error.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

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

}  // namespace

api::Runs stored_runs(const std::string& from) {
  if (store::is_store(from)) return runs_of_store(from);
  const std::string text = read_file(from);
  try {
    return {from, {}, {{}}, {api::from_json(text)}};
  } catch (const ConfigError& error) { throw ConfigError({from, 0, 0, ""}, error.cause(), error.remedy()); }
}

}  // namespace banyan::cli
