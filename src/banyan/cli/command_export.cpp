// banyan export: the table of a result store, the same bytes however its sweep was interrupted.
#include <fmt/core.h>

#include <algorithm>

#include "banyan/api/export.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/store/store.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

/// The finished points alone.
std::vector<api::Result> keep_finished(store::Table& table) {
  std::vector<api::Result> results;
  std::vector<api::Experiment> points;
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (!table.results[i]) continue;
    results.push_back(std::move(*table.results[i]));
    points.push_back(std::move(table.set.points[i]));
  }
  table.set.points = std::move(points);
  return results;
}

}  // namespace

int export_store(const ExportArguments& arguments) {
  store::Table table = store::Reader(arguments.from).table();
  store::require_whole(table);
  const std::size_t points = table.planned;
  const std::vector<api::Result> results = keep_finished(table);
  if (results.empty()) {
    throw ConfigError({arguments.from, 0, 0, ""}, "the result store holds no finished point",
                      fmt::format("continue with: {}", store::continuation(table.source, arguments.from)));
  }
  if (results.size() < points) {
    note(fmt::format("{} of {} points are finished; continue with: {}", results.size(), points,
                     store::continuation(table.source, arguments.from)));
  }
  if (arguments.csv) {
    print(api::to_csv(table.set, results));
  } else if (arguments.json) {
    print(api::to_json(table.set, results, api::Costs::left_out) + "\n");
  } else {
    show_text(arguments.metrics.empty() ? api::to_whole_table(table.set, results)
                                        : api::to_table(table.set, results, arguments.metrics),
              std::max<std::size_t>(1, table.set.axis_names.size()));
  }
  return kDone;
}

}  // namespace banyan::cli
