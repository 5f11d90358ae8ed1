// What is asked of several runs: differences, the saturation point, a whole study.
#include <fmt/core.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "banyan/api/knee.hpp"
#include "banyan/api/measure/compare.hpp"
#include "banyan/base/error.hpp"
#include "banyan/python/bindings.hpp"
#include "banyan/python/watched.hpp"
#include "banyan/report/study_report.hpp"
#include "banyan/store/store.hpp"
#include "banyan/store/sweep.hpp"
#include "banyan/study/study.hpp"

namespace banyan::python {
namespace {

namespace py = pybind11;

api::Runs runs_of(const Sweep& sweep, const std::string& name) {
  api::Runs runs;
  runs.name = name;
  runs.axis_names = sweep.set->axis_names;
  for (const api::Experiment& point : sweep.set->points) runs.axes.push_back(point.axes);
  runs.results = sweep.results;
  return runs;
}

/// Text for people and JSON.
std::pair<std::string, std::string> compare(const Sweep& a, const Sweep& b, const std::string& name_a,
                                            const std::string& name_b, const std::vector<std::string>& metrics) {
  const api::Runs runs_a = runs_of(a, name_a);
  const api::Runs runs_b = runs_of(b, name_b);
  const api::RunsComparison comparison = api::compare(runs_a, runs_b);
  return {api::to_text(comparison, runs_a, runs_b, metrics), api::to_json(comparison, metrics)};
}

std::pair<std::string, std::string> saturation(const std::string& text, const std::string& name,
                                               const api::Overrides& overrides, const std::string& key, double width,
                                               u32 threads, const py::object& progress) {
  api::Knee knee;
  watched(
      [&](const Attention& attention) {
        const api::ReadExperiments read = [&](const api::Overrides& all) {
          return api::read_experiments_text(text, name, all);
        };
        api::KneeOptions options;
        options.key = key;
        options.width = width;
        options.run = [&](const api::Experiment& experiment) {
          api::RunOptions run;
          run.threads = std::max(1U, threads);
          run.progress = attention.progress;
          run.interrupted = attention.interrupted;
          return api::run(experiment, run);
        };
        knee = api::find_knee(read, overrides, options);
      },
      progress, nullptr);
  return {api::to_text(knee), api::to_json(knee)};
}

/// The finished points of a store, and what is missing ("": nothing).
std::pair<std::shared_ptr<Sweep>, std::string> open_store(const std::string& path) {
  store::Table table = store::Reader(path).table();
  store::require_whole(table);
  auto sweep = std::make_shared<Sweep>();
  sweep->set = std::make_shared<api::ExperimentSet>();
  sweep->set->file = table.set.file;
  sweep->set->axis_names = table.set.axis_names;
  for (std::size_t i = 0; i < table.results.size(); ++i) {
    if (!table.results[i]) continue;
    sweep->results.push_back(std::move(*table.results[i]));
    sweep->set->points.push_back(std::move(table.set.points[i]));
  }
  const std::string on = store::continuation(table.source, path);
  if (sweep->results.empty()) {
    throw ConfigError({path, 0, 0, ""}, "the result store holds no finished point",
                      fmt::format("continue with: {}", on));
  }
  if (sweep->results.size() == table.planned) return {sweep, ""};
  return {sweep,
          fmt::format("{} of {} points are finished; continue with: {}", sweep->results.size(), table.planned, on)};
}

study::Mode mode_of(const std::string& name) {
  if (name == "quick") return study::Mode::quick;
  return name == "full" ? study::Mode::full : study::Mode::standard;
}

/// Table of claims, JSON, and the page.
py::tuple run_study(const std::string& name, const std::string& mode, const std::vector<std::string>& figures,
                    const std::string& out, const api::Overrides& overrides, u32 threads, const py::object& progress) {
  study::StudyResult result;
  std::string page;
  watched(
      [&](const Attention& attention) {
        study::StudyOptions options;
        options.mode = mode_of(mode);
        options.figures = figures;
        options.threads = std::max(1U, threads);
        options.out_dir = out;
        options.overrides = overrides;
        options.progress = attention.progress;
        options.interrupted = attention.interrupted;
        result = study::run_study(name, options);
        if (!out.empty()) report::write_study_report(result, out);
        page = report::study_page(result);
      },
      progress, nullptr);
  py::dict csv;
  for (const study::FigureResult& figure : result.figures) csv[py::str(figure.spec.id)] = study::to_csv(result, figure);
  return py::make_tuple(study::to_table(result), study::to_json(result), page, csv);
}

/// Likewise for a study that measures files in place of figures; there are no tables of figures.
py::tuple measure_files(const std::string& name, const std::string& traces, const api::Overrides& overrides) {
  const study::Study& chosen = study::find_study(name);
  const study::StudySpec spec = study::spec_of(chosen);
  if (spec.files.empty()) {
    throw ConfigError({"", 0, 0, "traces"}, fmt::format("study '{}' reads no traces", name), "leave traces out");
  }
  study::FilesResult result;
  watched([&](const Attention&) { result = chosen.row->measure(chosen, {traces, overrides}); }, py::none(), nullptr);
  return py::make_tuple(result.table, result.json, report::to_html(report::page_of(spec, result)), py::dict());
}

}  // namespace

void add_comparisons(py::module_& module) {
  module.def("compare", &compare);
  module.def("saturation", &saturation);
  module.def("open_store", &open_store);
  module.def("study", &run_study);
  module.def("measure_files", &measure_files);
  module.def("studies", [] {
    std::vector<std::string> names;
    for (const study::Study& study : study::studies()) names.emplace_back(study.row->slug);
    return names;
  });
}

}  // namespace banyan::python
