// From a figure's points to charts: which points share a chart, which share a line.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "banyan/report/markup.hpp"
#include "banyan/report/study_report.hpp"

namespace banyan::report {
namespace {

using study::FigureResult;
using study::FigureSpec;
using study::Point;
using study::StudyResult;
using study::StudySpec;

std::string value_of(const Point& point, const std::string& axis) {
  for (const auto& [name, value] : point.axes) {
    if (name == axis) return value;
  }
  return "";
}

double number(const std::string& text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// "σ = 10, γ = 0.4" for the given axes of a point.
std::string places(const StudySpec& spec, const Point& point, const std::vector<std::string>& axes) {
  std::string text;
  for (const std::string& axis : axes) {
    text += (text.empty() ? "" : ", ") + spec.axis(axis)->symbol + " = " + value_of(point, axis);
  }
  return text;
}

std::string series_label(const StudySpec& spec, const std::string& name) {
  const study::SeriesSpec* found = spec.find_series(name);
  return found == nullptr ? name : found->label;
}

std::string line_label(const StudySpec& spec, const FigureSpec& figure, const Point& point) {
  const std::string where = places(spec, point, figure.lines);
  if (figure.series.size() < 2 && !where.empty()) return where;
  return series_label(spec, point.series) + (where.empty() ? "" : ", " + where);
}

template <class Value>
u32 index_of(std::vector<Value>& seen, const Value& value) {
  const auto found = std::find(seen.begin(), seen.end(), value);
  if (found != seen.end()) return static_cast<u32>(found - seen.begin());
  seen.push_back(value);
  return static_cast<u32>(seen.size() - 1);
}

std::string tip(const std::string& label, const std::string& x, const stats::Metric& metric) {
  const std::string interval = metric.half_width ? fmt::format(" ± {:.4g}", *metric.half_width) : "";
  if (std::isnan(metric.mean)) return fmt::format("{}, {}: no steady state", label, x);
  return fmt::format("{}, {}: {:.5g}{} {} ({} samples)", label, x, metric.mean, interval, metric.unit, metric.count);
}

/// The lines of one chart. Colours follow the line axes where there are any, and each series but the last has dashes of
/// its own then; otherwise they follow the series.
class Lines {
 public:
  Lines(const StudySpec& spec, const FigureSpec& figure) : spec_(&spec), figure_(&figure) {}

  void add(const Point& point, const stats::Metric& metric, const api::Result& run) {
    ChartLine& line = line_of(point);
    const std::string x = value_of(point, figure_->x);
    const std::string where = spec_->axis(figure_->x)->symbol + " = " + x;
    line.points.push_back({place_of(x), metric.mean, metric.half_width, tip(line.label, where, metric), metric.count,
                           api::to_string(run.verdict), point.run, run.certain});
  }

  /// A model's value at the same place: a curve of its own, in the colour of the measured line.
  void add_prediction(const Point& point, const stats::Metric& metric) {
    const std::string measured = line_label(*spec_, *figure_, point);
    const std::string model = metric.name.substr(metric.name.find(api::kPredictedBy) + 1);
    const std::string where = figure_->series.size() < 2 ? places(*spec_, point, figure_->lines) : measured;
    const std::string label = where.empty() ? model : model + ", " + where;
    const std::string x = value_of(point, figure_->x);
    ChartPoint predicted{number(x), metric.mean, {}, tip(label, spec_->axis(figure_->x)->symbol + " = " + x, metric)};
    predicted.run = point.run;
    model_line(label, measured).points.push_back(std::move(predicted));
  }

  /// What a model says between the simulated points, on the same curve.
  void add_curve(const study::ModelCurve& curve) {
    ChartLine& line = model_line(curve.model, lines_.empty() ? "" : lines_.front().label);
    for (const auto& [x, y] : curve.points) line.points.push_back({x, y, {}, ""});
  }

  /// A whole series over time.
  void add(const Point& point, const stats::Series& series) {
    ChartLine& line = line_of(point);
    line.markers = false;
    add_series(line, series, series.values.size(), figure_->time_scale, point.run);
  }

  static void add_series(ChartLine& line, const stats::Series& series, std::size_t length, double scale,
                         std::size_t run) {
    for (std::size_t i = 0; i < length; ++i) {
      if (!std::isfinite(series.values[i])) continue;  // nothing arrived in this window
      const double time = series.start + series.interval * static_cast<double>(i);
      line.points.push_back({time * scale, series.values[i], {}, "", {}, "", run});
    }
  }

  /// Names of the places of an abscissa without numbers, in the order of the sweep; empty where it has numbers.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

  [[nodiscard]] std::vector<ChartLine> take() {
    if (!names_.empty()) set_side_by_side();
    for (ChartLine& line : lines_) {
      std::stable_sort(line.points.begin(), line.points.end(),
                       [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
    }
    return std::move(lines_);
  }

 private:
  double place_of(const std::string& x) {
    const double value = number(x);
    return std::isnan(value) ? 1.0 + index_of(names_, x) : value;
  }
  /// Lines share the places of names: each has its own part of the middle half of a place.
  void set_side_by_side() {
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const double shift = 0.5 * ((static_cast<double>(i) + 0.5) / static_cast<double>(lines_.size()) - 0.5);
      for (ChartPoint& point : lines_[i].points) point.x += shift;
    }
  }
  ChartLine& line_of(const Point& point) {
    const std::string label = line_label(*spec_, *figure_, point);
    const auto [place, fresh] = index_.try_emplace(label, lines_.size());
    if (fresh) {
      const u32 group = index_of(groups_, places(*spec_, point, figure_->lines));
      const u32 series = index_of(series_, point.series);
      ChartLine line;
      line.label = label;
      line.colour = figure_->lines.empty() ? series : group;
      const auto later = static_cast<u32>(figure_->series.size()) - 1 - series;
      line.family = figure_->lines.empty() || figure_->series.empty() ? 0 : later;
      lines_.push_back(std::move(line));
    }
    return lines_[place->second];
  }

  /// The line of a model, in the colour of the measured line beside it.
  ChartLine& model_line(const std::string& label, const std::string& measured) {
    const auto [place, fresh] = index_.try_emplace(label, lines_.size());
    if (fresh) {
      ChartLine line;
      line.label = label;
      const auto beside = index_.find(measured);
      line.colour = beside == index_.end() ? static_cast<u32>(lines_.size()) : lines_[beside->second].colour;
      line.analytical = true;
      lines_.push_back(std::move(line));
    }
    return lines_[place->second];
  }

  const StudySpec* spec_;
  const FigureSpec* figure_;
  std::vector<ChartLine> lines_;
  std::map<std::string, std::size_t> index_;
  std::vector<std::string> groups_;
  std::vector<std::string> series_;
  std::vector<std::string> names_;
};

std::vector<std::string> panels_of(const StudyResult& result, const FigureResult& figure) {
  std::vector<std::string> panels;
  for (const Point& point : figure.points) index_of(panels, places(result.spec, point, figure.spec.panels));
  return panels;
}

/// The models that the study draws as curves over this figure.
std::vector<study::ModelCurve> curves_of(const StudyResult& result, const FigureResult& figure) {
  for (const study::Study& one : study::studies()) {
    if (one.row->slug == result.spec.name && one.row->curves != nullptr) return one.row->curves(figure.spec.id);
  }
  return {};
}

/// The chart of one metric or time series of the points of one panel; `add` puts a pool of points into its lines.
template <class Add>
NamedChart panel_chart(const StudyResult& result, const FigureResult& figure, const std::string& name,
                       const std::string& panel, Add&& add) {
  Lines lines(result.spec, figure.spec);
  std::string panel_file;
  for (const study::Pool& pool : study::pools_of(figure)) {
    const Point& point = *pool.first;
    if (places(result.spec, point, figure.spec.panels) != panel) continue;
    panel_file.clear();
    for (const std::string& axis : figure.spec.panels) panel_file += "-" + axis + "-" + value_of(point, axis);
    add(lines, pool);
  }
  for (const study::ModelCurve& curve : curves_of(result, figure)) {
    if (curve.metric == name) lines.add_curve(curve);
  }
  NamedChart named;
  named.file = file_name("figure-" + figure.spec.id + "-" + name + panel_file) + ".svg";
  named.chart.subtitle = panel;
  named.chart.log_x = figure.spec.log_x;
  named.chart.log_y = figure.spec.has_log_y(name);
  named.chart.x_names = lines.names();
  named.chart.lines = lines.take();
  return named;
}

std::vector<NamedChart> line_charts(const StudyResult& result, const FigureResult& figure) {
  std::vector<NamedChart> charts;
  const std::vector<std::string> panels = panels_of(result, figure);
  for (const std::string& metric_name : figure.spec.metrics) {
    const study::MetricSpec& metric = *result.spec.metric(metric_name);
    const study::AxisSpec& axis = *result.spec.axis(figure.spec.x);
    for (const std::string& panel : panels) {
      NamedChart named = panel_chart(result, figure, metric_name, panel, [&](Lines& lines, const study::Pool& pool) {
        const Point& point = *pool.first;
        const api::Result& run = result.run_of(point);
        if (const std::optional<stats::Metric> found = study::metric_of(result, pool, metric_name)) {
          lines.add(point, *found, run);
        } else if (is_unsettled(api::to_string(run.verdict))) {
          stats::Metric none;
          none.mean = std::numeric_limits<double>::quiet_NaN();
          lines.add(point, none, run);
        }
        for (const stats::Metric& m : run.metrics) {
          if (m.name.starts_with(metric_name + api::kPredictedBy)) lines.add_prediction(point, m);
        }
      });
      named.chart.title = metric.label;
      named.chart.x_label = with_unit(axis.label, axis.unit);
      named.chart.y_label = with_unit(metric.symbol, metric.unit);
      named.chart.x_symbol = axis.symbol;
      named.chart.y_unit = metric.unit;
      charts.push_back(std::move(named));
    }
  }
  return charts;
}

const stats::Series* series_of(const StudyResult& result, const Point& point, const std::string& name) {
  const std::vector<stats::Series>& all = result.run_of(point).series;
  const auto found = std::find_if(all.begin(), all.end(), [&](const stats::Series& s) { return s.name == name; });
  return found == all.end() ? nullptr : &*found;
}

void name_time_axis(Chart& chart, const FigureSpec& figure) {
  chart.x_label = figure.time_unit.empty() ? "Cycle" : "Time (" + figure.time_unit + ")";
  chart.x_symbol = figure.time_unit.empty() ? "cycle" : "t";
}

/// One chart per time series: its lines are the points.
std::vector<NamedChart> compared_time_charts(const StudyResult& result, const FigureResult& figure) {
  std::vector<NamedChart> charts;
  const std::vector<std::string> panels = panels_of(result, figure);
  for (const std::string& name : figure.spec.time_series) {
    const study::MetricSpec* metric = result.spec.metric(name);
    for (const std::string& panel : panels) {
      std::string unit = metric == nullptr ? "" : metric->unit;
      NamedChart named = panel_chart(result, figure, name, panel, [&](Lines& lines, const study::Pool& pool) {
        const stats::Series* series = series_of(result, *pool.first, name);
        if (series == nullptr) return;
        if (metric == nullptr) unit = series->unit;
        lines.add(*pool.first, *series);
      });
      named.chart.title = metric == nullptr ? name : metric->label;
      named.chart.y_label = with_unit(metric == nullptr ? name : metric->symbol, unit);
      named.chart.y_unit = unit;
      name_time_axis(named.chart, figure.spec);
      charts.push_back(std::move(named));
    }
  }
  return charts;
}

/// Without the part after the last value that can be told from zero, which would squeeze the rest.
std::size_t visible_length(const std::vector<double>& values) {
  double most = 0.0;
  for (const double value : values) most = std::max(most, value);
  std::size_t length = values.size();
  while (length > 1 && !(values[length - 1] > most / 500)) --length;
  return length;
}

/// One chart per point: its lines are the time series.
std::vector<NamedChart> time_charts(const StudyResult& result, const FigureResult& figure) {
  if (figure.spec.series.size() > 1 || !figure.spec.lines.empty()) return compared_time_charts(result, figure);
  std::vector<NamedChart> charts;
  for (const Point& point : figure.points) {
    NamedChart named;
    named.file = file_name(fmt::format("figure-{}{}", figure.spec.id, point.series.empty() ? "" : "-" + point.series));
    for (const auto& [axis, value] : point.axes) named.file += file_name("-" + axis + "-" + value);
    named.file += ".svg";
    named.chart.title = figure.spec.title;
    named.chart.subtitle = series_label(result.spec, point.series);
    name_time_axis(named.chart, figure.spec);
    for (const std::string& name : figure.spec.time_series) {
      const stats::Series* found = series_of(result, point, name);
      if (found == nullptr) continue;
      const study::MetricSpec* metric = result.spec.metric(name);
      ChartLine line;
      line.label = metric == nullptr ? name : metric->label;
      line.colour = static_cast<u32>(named.chart.lines.size());
      line.markers = false;
      Lines::add_series(line, *found, visible_length(found->values), figure.spec.time_scale, point.run);
      named.chart.y_label = with_unit("Per cycle", found->unit);
      named.chart.y_unit = found->unit;
      named.chart.lines.push_back(std::move(line));
    }
    charts.push_back(std::move(named));
  }
  return charts;
}

}  // namespace

std::vector<NamedChart> charts_of(const StudyResult& result, const FigureResult& figure) {
  return figure.spec.time_series.empty() ? line_charts(result, figure) : time_charts(result, figure);
}

}  // namespace banyan::report
