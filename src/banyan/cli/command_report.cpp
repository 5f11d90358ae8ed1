// banyan report: the page of whatever a folder holds.
#include <fmt/core.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "banyan/api/result_file.hpp"
#include "banyan/base/error.hpp"
#include "banyan/cli/commands.hpp"
#include "banyan/cli/exit_status.hpp"
#include "banyan/cli/output.hpp"
#include "banyan/report/run_figures.hpp"
#include "banyan/report/study_report.hpp"
#include "banyan/report/sweep_report.hpp"
#include "banyan/store/parts.hpp"
#include "banyan/store/store.hpp"
#include "banyan/study/study.hpp"

namespace banyan::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// What `banyan run` and `banyan sweep` write beside their store, for other programs and for results of old.
constexpr const char* kRunFile = "result.json";
constexpr const char* kSweepFile = "results.json";

/// A sweep as far as a report needs it.
struct Swept {
  api::ExperimentSet set;
  std::vector<api::Result> results;  ///< of the points of the set
  std::size_t planned = 0;
  bool search = false;  ///< the points are the probes of "banyan saturation"
  std::string key;      ///< of the search; "": it varies all loads
};

std::string name_of(const api::Result& result) {
  const Json configuration = Json::parse(result.configuration, nullptr, false);
  return configuration.is_object() ? configuration.value("name", "") : "";
}

Swept finished_of(store::Table table) {
  store::require_whole(table);
  Swept swept;
  swept.planned = table.planned;
  swept.search = table.source.command == "saturation";
  constexpr std::string_view kKey = "--key=";
  for (const std::string& option : table.source.options) {
    if (swept.search && option.starts_with(kKey)) swept.key = option.substr(kKey.size());
  }
  swept.set.file = std::move(table.set.file);
  swept.set.axis_names = std::move(table.set.axis_names);
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (!table.results[i]) continue;
    swept.results.push_back(std::move(*table.results[i]));
    swept.set.points.push_back(std::move(table.set.points[i]));
    swept.set.points.back().name = name_of(swept.results.back());
  }
  return swept;
}

Swept read_json(const fs::path& path) {
  api::ResultFile file = api::read_result_file(read_file(path.string()), path.string());
  Swept swept;
  swept.set.file = file.experiment.empty() ? path.string() : file.experiment;
  swept.set.axis_names = std::move(file.runs.axis_names);
  swept.results = std::move(file.runs.results);
  for (std::size_t i = 0; i < swept.results.size(); ++i) {
    api::Experiment point;
    point.axes = std::move(file.runs.axes[i]);
    point.name = name_of(swept.results[i]);
    swept.set.points.push_back(std::move(point));
  }
  swept.planned = swept.results.size();
  return swept;
}

/// The file in `from` that a report can be made of, or `from` itself when it is a file.
fs::path source_in(const fs::path& from) {
  std::error_code error;
  if (from.extension() == ".toml" && fs::exists(from, error)) {
    throw ConfigError({from.string(), 0, 0, ""}, "this is an experiment, not a result",
                      fmt::format("run it with \"banyan run {} --out FOLDER\" and name the folder", from.string()));
  }
  if (fs::is_regular_file(from, error)) return from;
  if (store::has_parts(from.string())) return from / store::kFileName;
  for (const char* name : {study::kDumpFile, store::kFileName, kSweepFile, kRunFile}) {
    if (fs::is_regular_file(from / name, error)) return from / name;
  }
  throw ConfigError({from.string(), 0, 0, ""}, "there are no results",
                    "name a folder that \"banyan run\", \"sweep\" or \"study run\" filled with --out");
}

std::string report_of_study(const fs::path& path, const std::string& out) {
  const std::string text = read_file(path.string());
  if (const std::optional<study::MeasuredFiles> files = study::load_files(text))
    return report::write_page(report::page_of(files->spec, files->result), out);
  return report::write_study_report(study::load(text), out);
}

/// What the JSON of a run says in its tables, which a store does not keep; none where it is of another run.
std::vector<api::Table> tables_beside(const fs::path& folder, const api::Result& result) {
  std::error_code ignored;
  const fs::path path = folder / kRunFile;
  if (!fs::is_regular_file(path, ignored)) return {};
  const Json run = Json::parse(read_file(path.string()), nullptr, false);
  if (!run.is_object() || run.value("state_hash", Json()) != fmt::format("{:016x}", result.state_hash)) return {};
  std::vector<api::Table> tables;
  const Json all = run.value("tables", Json::object());
  for (const auto& [name, object] : all.items()) {
    if (!object.is_object() || !object.value("columns", Json()).is_array()) continue;
    api::Table table{name, {}, {}};
    for (const Json& column : object["columns"])
      table.columns.push_back(column.is_string() ? column.get<std::string>() : "");
    for (const Json& row : object.value("rows", Json::array())) {
      if (!row.is_array() || row.size() != table.columns.size()) return {};
      table.rows.emplace_back();
      for (const Json& cell : row) {
        if (cell.is_number_unsigned()) {
          table.rows.back().emplace_back(cell.get<u64>());
        } else if (cell.is_number()) {
          table.rows.back().emplace_back(cell.get<double>());
        } else {
          table.rows.back().emplace_back(cell.is_string() ? cell.get<std::string>() : std::string());
        }
      }
    }
    tables.push_back(std::move(table));
  }
  return tables;
}

std::string report_of_sweep(const fs::path& path, const std::string& out) {
  // The folder of a store may hold parts of its sweep beside it.
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  const std::string store = path.filename() == store::kFileName && store::has_parts(folder) ? folder : path.string();
  Swept swept = store::is_store(store) ? finished_of(store::Reader(store).table()) : read_json(path);
  if (swept.results.empty()) {
    throw ConfigError({path.string(), 0, 0, ""}, "there is no finished point", "let the sweep finish one");
  }
  if (swept.results.size() < swept.planned) {
    note(fmt::format("{} of {} points are finished", swept.results.size(), swept.planned));
  }
  if (swept.planned == 1) {
    api::Result& run = swept.results.front();
    run.tables = tables_beside(folder, run);
    if (run.trees == nullptr) run.trees = report::links_record(run);
  }
  report::Page page = report::sweep_page(swept.set, swept.results, swept.planned);
  if (swept.search) report::add_bracket(page, swept.set, swept.results, swept.key);
  return report::write_page(page, out);
}

}  // namespace

int report(const ReportArguments& arguments) {
  const fs::path path = source_in(arguments.from);
  std::string out = arguments.out.empty() ? path.parent_path().string() : arguments.out;
  if (out.empty()) out = ".";
  require_writable_folder(out);
  const bool study = path.filename() == study::kDumpFile;
  print(fmt::format("Report: {}\n", study ? report_of_study(path, out) : report_of_sweep(path, out)));
  return kDone;
}

}  // namespace banyan::cli
