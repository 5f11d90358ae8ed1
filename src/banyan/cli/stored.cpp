#include "banyan/cli/stored.hpp"

#include <fmt/core.h>

#include <utility>

#include "banyan/api/result_file.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

api::Runs runs_of_store(const std::string& from, std::vector<DamagedRun>* damaged) {
  store::Table table = store::Reader(from).table();
  if (damaged == nullptr) store::require_whole(table);
  for (const store::DamagedPoint& point : table.damaged) {
    damaged->push_back({table.set.points[point.point].axes, point.rows,
                        fmt::format("make it again with: {}", store::continuation(table.source, from))});
  }
  if (damaged != nullptr && !table.strays.empty()) {
    damaged->push_back({{}, table.strays, fmt::format("removed by: {}", store::continuation(table.source, from))});
  }
  api::Runs runs{from, table.set.axis_names, {}, {}, {}};
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (!table.results[i]) continue;
    runs.axes.push_back(table.set.points[i].axes);
    runs.results.push_back(std::move(*table.results[i]));
  }
  if (runs.results.empty() && table.damaged.empty()) {
    throw ConfigError({from, 0, 0, ""}, "the result store holds no finished point",
                      fmt::format("continue with: {}", store::continuation(table.source, from)));
  }
  if (const std::size_t kept = runs.results.size() + table.damaged.size(); kept < table.planned) {
    note(fmt::format("{} of {} points of {} are finished; continue with: {}", kept, table.planned, from,
                     store::continuation(table.source, from)));
  }
  return runs;
}

}  // namespace

api::Runs stored_runs(const std::string& from, std::vector<DamagedRun>* damaged) {
  if (store::is_store(from)) return runs_of_store(from, damaged);
  return api::read_result_file(read_file(from), from).runs;
}

}  // namespace banyan::cli
