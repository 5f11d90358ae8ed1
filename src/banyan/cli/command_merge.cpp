// banyan merge: the parts of a sweep, wherever they ran, in one result store.
#include <fmt/core.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "banyan/api/export.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/store/parts.hpp"
#include "banyan/store/store.hpp"
#include "banyan/store/sweep.hpp"

namespace banyan::cli {
namespace {

/// What a sweep leaves beside its store when it is done.
void write_tables(const std::string& folder, store::Table table) {
  std::vector<api::Result> results;
  for (std::optional<api::Result>& result : table.results) results.push_back(std::move(result).value());
  const std::filesystem::path out(folder);
  write_file((out / "results.csv").string(), api::to_csv(table.set, results));
  write_file((out / "results.json").string(), api::to_json(table.set, results) + "\n");
}

}  // namespace

int merge(const MergeArguments& arguments) {
  const bool there = std::filesystem::exists(arguments.out);
  require_writable_folder(arguments.out);
  std::optional<store::Writer> store(std::in_place, arguments.out);
  store::MergeReport report;
  try {
    report = store::merge(arguments.from, *store);
  } catch (const ConfigError&) {
    // What is refused leaves no empty store behind, nor a folder that it made, unless workers have begun in it.
    store.reset();
    std::error_code not_empty;
    if (!there) std::filesystem::remove(arguments.out, not_empty);
    throw;
  }
  store::Table table = store->reader().table();
  store::require_whole(table);
  std::string text = fmt::format("{} of {} points are in {}", report.finished, report.points, arguments.out);
  if (report.shared > 0) text += fmt::format("; {} were there twice, with equal results", report.shared);
  if (report.others > 0) text += fmt::format("; {} of them are of another version of Banyan", report.others);
  if (report.finished == report.points) {
    write_tables(arguments.out, std::move(table));
  } else {
    text += fmt::format("; continue with: {}", store::continuation(table.source, arguments.out));
  }
  note(text);
  return kDone;
}

}  // namespace banyan::cli
