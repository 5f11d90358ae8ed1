// The page's part of the study: errors as tables, waits as scatters.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "report.hpp"

namespace banyan::study::silicon {
namespace {

using Cells = std::vector<api::Table::Cell>;

double in_percent(double share) { return std::round(1000.0 * share) / 10.0; }

void add_errors(Cells& cells, const Errors& errors) {
  cells.emplace_back(errors.barriers);
  if (errors.barriers == 0) {
    cells.insert(cells.end(), 5, std::string());
    return;
  }
  for (const double share : {errors.median, errors.ninetieth, errors.worst, errors.bias})
    cells.emplace_back(in_percent(share));
  errors.ranks ? cells.emplace_back(std::round(100.0 * *errors.ranks) / 100.0) : cells.emplace_back(std::string());
}

FilesFigure errors_figure(const char* id, const char* title, std::string first, std::string caption) {
  FilesFigure figure;
  figure.id = id;
  figure.title = title;
  figure.caption = std::move(caption);
  figure.values = {id,
                   {std::move(first), "Model", "Barriers", "Median error (%)", "90th percentile (%)", "Worst error (%)",
                    "Bias (%)", "Rank correlation"},
                   {}};
  return figure;
}

FilesFigure by_class(const Comparison& comparison) {
  FilesFigure figure =
      errors_figure("errors-by-class", "Errors of waits by class", "Class",
                    "Relative error of the wait at a barrier, from the last read before it to its end. Bias is the "
                    "mean with its sign; rank correlation is that of the ends within a trace, its mean over traces.");
  for (const ClassResult& one : comparison.classes) {
    for (const std::string& model : model_names()) {
      Cells& cells = figure.values.rows.emplace_back(Cells{std::string(to_string(one.trace_class)), model});
      add_errors(cells, one.models.at(model));
    }
  }
  return figure;
}

FilesFigure by_trace(const Comparison& comparison) {
  FilesFigure figure = errors_figure(
      "errors-by-trace", "Errors of waits by trace", "Trace",
      "As by class. Left out are barriers beside which the profiler used the network; empty ones wait for no read; "
      "events that are neither reads nor their barriers are not replayed.");
  figure.values.columns.insert(figure.values.columns.end(), {"Left out", "Empty", "Not replayed"});
  for (const TraceResult& trace : comparison.traces) {
    for (const std::string& model : model_names()) {
      Cells& cells = figure.values.rows.emplace_back(Cells{trace.name, model});
      add_errors(cells, trace.models.at(model));
      for (const u64 count : {trace.left_out, trace.empty, trace.others}) cells.emplace_back(count);
    }
  }
  return figure;
}

/// Where a wait was: "4x4_BLOCK_TO_8x8_BLOCK.json, node (3, 2), NCRISC, barrier 5".
std::string place_of(const Wait& wait) {
  return fmt::format("{}, node ({}, {}), {}, barrier {}", wait.trace, wait.node % kColumns, wait.node / kColumns,
                     wait.processor, wait.barrier);
}

/// All models are in the values; the two that the verdict compares are drawn.
FilesFigure waits_figure(const ClassResult& one) {
  FilesFigure figure;
  const std::string name(to_string(one.trace_class));
  figure.id = "waits-" + name;
  std::replace(figure.id.begin(), figure.id.end(), ' ', '-');
  figure.title = fmt::format("Waits, {}", name);
  figure.caption = fmt::format("{} barriers of {} trace{}; {}.", one.waits.size(), one.traces,
                               one.traces == 1 ? "" : "s", verdict(one));
  figure.x_label = "measured wait";
  figure.y_label = "simulated wait";
  figure.unit = "cycles";
  const std::vector<std::string>& models = model_names();
  for (const std::size_t m : {models.size() - 1, std::size_t{0}}) {
    FilesFigure::Series series{models[m], {}};
    for (const Wait& wait : one.waits) series.dots.push_back({wait.measured, wait.modelled[m], place_of(wait)});
    figure.scatter.push_back(std::move(series));
  }
  figure.values = {figure.id, {"Trace", "Node", "Processor", "Barrier", "Measured (cycles)"}, {}};
  for (const std::string& model : models) figure.values.columns.push_back(fmt::format("{} (cycles)", model));
  for (const Wait& wait : one.waits) {
    Cells& cells = figure.values.rows.emplace_back(
        Cells{wait.trace, fmt::format("({}, {})", wait.node % kColumns, wait.node / kColumns), wait.processor,
              u64{wait.barrier}, wait.measured});
    for (const double modelled : wait.modelled) cells.emplace_back(std::round(10.0 * modelled) / 10.0);
  }
  return figure;
}

}  // namespace

std::vector<FilesFigure> figures_of(const Comparison& comparison) {
  std::vector<FilesFigure> figures{by_class(comparison)};
  for (const ClassResult& one : comparison.classes) {
    if (!one.waits.empty()) figures.push_back(waits_figure(one));
  }
  figures.push_back(by_trace(comparison));
  return figures;
}

}  // namespace banyan::study::silicon
