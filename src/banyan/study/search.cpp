// The search for the best parameters of each remedy on each fire.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "banyan/base/error.hpp"
#include "banyan/study/study.hpp"

namespace banyan::study {
namespace {

/// "dctcp#2": a series that is one of the candidates of another.
std::string name_of(const SeriesSpec& series, std::size_t candidate) {
  return fmt::format("{}#{}", series.name, candidate);
}

/// The study in which every candidate is a series of its own, after the series itself, on the fires that have a table.
StudySpec of_candidates(const StudySpec& spec) {
  StudySpec search = spec;
  for (const SeriesSpec& series : spec.series) {
    for (std::size_t i = 0; i < series.candidates.size(); ++i) {
      SeriesSpec one = series;
      one.name = name_of(series, i);
      one.parameters = series.candidates[i];
      search.series.push_back(std::move(one));
    }
  }
  search.figures.clear();
  for (FigureSpec figure : spec.figures) {
    std::vector<std::string> names;
    for (const std::string& name : figure.series) {
      const SeriesSpec& series = *spec.find_series(name);
      if (series.candidates.empty()) continue;
      names.push_back(name);
      for (std::size_t i = 0; i < series.candidates.size(); ++i) names.push_back(name_of(series, i));
    }
    if (!figure.gives_table() || names.empty()) continue;
    figure.series = std::move(names);
    search.figures.push_back(std::move(figure));
  }
  return search;
}

/// The product that [search] asks for; 0 where a run lacks a value, as an incast that never ends.
double score(const StudyResult& result, const FigureResult& figure, const std::string& series) {
  double product = 1.0;
  const auto multiply = [&](const std::vector<std::string>& metrics, bool most) {
    for (const std::string& name : metrics) {
      const auto& asked = figure.spec.metrics;
      if (std::find(asked.begin(), asked.end(), name) == asked.end()) continue;
      double sum = 0.0;
      double count = 0.0;
      for (const Point& point : figure.points) {
        if (point.series != series) continue;
        const stats::Metric* metric = result.run_of(point).find(name);
        if (metric == nullptr) {
          product = 0.0;
          return;
        }
        sum += metric->mean;
        count += 1.0;
      }
      if (count == 0.0 || !(sum > 0.0)) {
        product = 0.0;
        return;
      }
      product *= most ? sum / count : count / sum;
    }
  };
  multiply(result.spec.search.most, true);
  multiply(result.spec.search.least, false);
  return product;
}

std::string as_list(const std::vector<std::string>& overrides) {
  std::string text;
  for (const std::string& one : overrides) text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", one);
  return "[" + text + "]";
}

}  // namespace

std::string search_best(const Study& study, const StudyOptions& options) {
  const StudySpec spec = parse_study(file_text(study.files, "study.toml"), std::string(study.row->slug));
  StudySpec search = of_candidates(spec);
  if (search.figures.empty()) {
    throw ConfigError({}, fmt::format("study '{}' searches nothing", spec.name),
                      "give a series of its study.toml a 'search'");
  }
  StudyOptions more = options;
  more.overrides.insert(more.overrides.end(), spec.search.set.begin(), spec.search.set.end());
  const StudyResult result = run_figures(study, std::move(search), more);

  std::string text =
      fmt::format("# The best set of parameters for each fire. Written by: ./dev study {} --tune\n", spec.name);
  for (const SeriesSpec& series : spec.series) {
    std::string lines;
    for (const FigureResult& figure : result.figures) {
      const auto& names = figure.spec.series;
      if (std::find(names.begin(), names.end(), series.name) == names.end()) continue;
      const double own = score(result, figure, series.name);
      double most = own;
      const std::vector<std::string>* best = &series.parameters;
      for (std::size_t i = 0; i < series.candidates.size(); ++i) {
        const double one = score(result, figure, name_of(series, i));
        if (one <= most) continue;
        most = one;
        best = &series.candidates[i];
      }
      lines += fmt::format("{} = {}  # {}\n", figure.spec.fire, as_list(*best),
                           own > 0.0 ? fmt::format("{:.3g} of the score of the set for all fires", most / own)
                                     : "the set for all fires has no score");
    }
    if (!lines.empty()) text += fmt::format("\n[{}]\n{}", series.name, lines);
  }
  return text;
}

}  // namespace banyan::study
