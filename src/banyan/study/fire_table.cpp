// The table of a fire: what every remedy made of it, over the seeds.
#include <fmt/core.h>

#include <algorithm>

#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

FireCell over_seeds_of(const StudyResult& result, const FigureResult& figure, const std::string& remedy,
                       const std::string& column) {
  FireCell cell{figure.spec.fire, remedy, column, Estimate::unknown(), 0, 0};
  std::vector<double> values;
  for (const Point& point : figure.points) {
    if (point.series != remedy) continue;
    ++cell.seeds;
    if (const stats::Metric* metric = result.run_of(point).find(column)) {
      values.push_back(metric->mean);
    } else {
      ++cell.missing;
    }
  }
  if (values.empty()) return cell;
  cell.value = mean_of(values);
  // A mean of those seeds alone that have a value would be one of the lucky ones.
  if (cell.missing > 0 || all_equal(values)) cell.value.known = false;
  return cell;
}

/// Of an input port, without those that it makes as it needs them.
double queues_at_rest(const SeriesSpec& series, const FigureSpec& figure) {
  return series.queues + series.queues_per_output * figure.ports;
}

bool says_queues(const StudySpec& spec, const FigureSpec& figure) {
  return std::any_of(figure.series.begin(), figure.series.end(),
                     [&](const std::string& name) { return queues_at_rest(*spec.find_series(name), figure) > 0.0; });
}

/// What the remedy has, and beside it the most set-aside queues that a port had, where it makes such.
FireCell queues_of(const StudyResult& result, const FigureResult& figure, const SeriesSpec& series) {
  FireCell cell = over_seeds_of(result, figure, series.name, "saqs_most_per_port");
  cell.column = "queues";
  const double queues = queues_at_rest(series, figure.spec);
  if (queues == 0.0) {
    cell.missing = cell.seeds;
  } else if (cell.missing == cell.seeds) {
    cell.value = Estimate::exactly(queues);
    cell.missing = 0;
  } else {
    cell.value.mean += queues;
  }
  return cell;
}

}  // namespace

std::vector<FireCell> fire_cells(const StudyResult& result, const FigureResult& figure) {
  std::vector<FireCell> cells;
  if (!figure.spec.gives_table()) return cells;
  for (const std::string& remedy : figure.spec.series) {
    const auto of_remedy = [&](const Point& point) { return point.series == remedy; };
    if (std::none_of(figure.points.begin(), figure.points.end(), of_remedy)) continue;
    for (const std::string& column : figure.spec.metrics) {
      cells.push_back(over_seeds_of(result, figure, remedy, column));
    }
    const SeriesSpec& series = *result.spec.find_series(remedy);
    FireCell chosen{figure.spec.fire, remedy, "parameters", Estimate::unknown(), cells.back().seeds, 0};
    chosen.value = Estimate::exactly(static_cast<double>(series.parameters_on(figure.spec.fire).size()));
    cells.push_back(std::move(chosen));
    if (says_queues(result.spec, figure.spec)) cells.push_back(queues_of(result, figure, series));
  }
  return cells;
}

std::vector<FireCell> fire_table(const StudyResult& result) {
  std::vector<FireCell> table;
  for (const FigureResult& figure : result.figures) {
    for (FireCell& cell : fire_cells(result, figure)) table.push_back(std::move(cell));
  }
  return table;
}

std::string to_string(const FireCell& cell) {
  if (cell.missing == cell.seeds) return "none";
  if (cell.missing > 0) return fmt::format("none in {} of {}", cell.missing, cell.seeds);
  if (!cell.value.known || cell.value.half_width == 0.0) return fmt::format("{:.4g}", cell.value.mean);
  return to_string(cell.value);
}

}  // namespace banyan::study
