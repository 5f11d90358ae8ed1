// The JSON that web/src/data.ts describes.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "banyan/api/physical.hpp"
#include "banyan/api/pool_seeds.hpp"
#include "banyan/report/axis.hpp"
#include "banyan/report/explorer.hpp"
#include "banyan/report/markup.hpp"
#include "banyan/report/page.hpp"

namespace banyan::report {
namespace {

using Json = nlohmann::ordered_json;

/// What web/src/data.ts accepts.
constexpr int kFormat = 1;

Json finite(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// One value per point, or nothing when no point has one.
template <class Get>
void add_column(Json& object, const char* name, const ChartLine& line, Get get) {
  Json column = Json::array();
  bool any = false;
  for (const ChartPoint& point : line.points) {
    column.push_back(get(point));
    any = any || !column.back().is_null();
  }
  if (any) object[name] = std::move(column);
}

Json line_json(const ChartLine& line) {
  Json object = {{"label", line.label},
                 {"colour", line.colour % kPaletteSize},
                 {"family", drawn_family(line)},
                 {"markers", line.markers && !line.analytical},
                 {"analytical", line.analytical},
                 {"x", Json::array()},
                 {"y", Json::array()}};
  if (!line.joined) object["joined"] = false;
  // A point without a place on the x axis cannot be drawn, but keeps its place in the arrays.
  for (const ChartPoint& point : line.points) {
    object["x"].push_back(std::isfinite(point.x) ? point.x : 0.0);
    object["y"].push_back(std::isfinite(point.x) ? finite(point.y) : Json(nullptr));
  }
  add_column(object, "error", line, [](const ChartPoint& p) { return p.error ? finite(*p.error) : Json(nullptr); });
  add_column(object, "count", line, [](const ChartPoint& p) { return p.count ? Json(*p.count) : Json(nullptr); });
  add_column(object, "run", line, [](const ChartPoint& p) { return p.run ? Json(*p.run) : Json(nullptr); });
  const auto verdict = [](const ChartPoint& p) { return p.verdict.empty() ? Json(nullptr) : Json(p.verdict); };
  add_column(object, "verdict", line, verdict);
  add_column(object, "uncertain", line, [](const ChartPoint& p) { return p.certain ? Json(nullptr) : Json(true); });
  return object;
}

Json chart_json(const Chart& chart) {
  Json object = {{"title", chart.title},
                 {"subtitle", chart.subtitle},
                 {"x", {{"label", chart.x_label}, {"symbol", chart.x_symbol}, {"unit", ""}, {"log", chart.log_x}}},
                 {"y", {{"label", chart.y_label}, {"symbol", ""}, {"unit", chart.y_unit}, {"log", chart.log_y}}},
                 {"lines", Json::array()}};
  if (!chart.x_names.empty()) object["x"]["names"] = chart.x_names;
  for (const ChartLine& line : chart.lines) object["lines"].push_back(line_json(line));
  return object;
}

/// Numbers of 64 bits as text: JavaScript has 53.
Json run_json(const api::Result& run) {
  Json configuration = Json::parse(run.configuration, nullptr, false);
  if (configuration.is_discarded()) configuration = run.configuration;
  return {{"configuration", std::move(configuration)},
          {"seed", fmt::format("{}", run.seed)},
          {"stateHash", fmt::format("{:016x}", run.state_hash)},
          {"verdict", api::to_string(run.verdict)},
          {"certain", run.certain},
          {"explanation", run.explanation},
          {"warning", run.warning},
          {"version", run.version},
          {"compiler", run.compiler}};
}

/// Values of all series of a comparison together: beyond, and beyond what a screen shows of one curve, every nth
/// stands.
constexpr std::size_t kComparedValues = 300'000;
constexpr std::size_t kCurveValues = 1000;

/// What a run has under each name, or null.
template <class Item>
Json names_json(const std::vector<const api::Result*>& runs, std::vector<Item> api::Result::*items) {
  Json names = Json::array();
  std::set<std::string> seen;
  for (const api::Result* run : runs) {
    for (const Item& item : run->*items) {
      if (seen.insert(item.name).second) names.push_back({{"name", item.name}, {"unit", item.unit}});
    }
  }
  return names;
}

template <class Item, class Write>
Json items_json(const Json& names, const std::vector<Item>& items, Write write) {
  std::map<std::string, const Item*> by_name;
  for (const Item& item : items) by_name.emplace(item.name, &item);
  Json list = Json::array();
  for (const Json& name : names) {
    const auto found = by_name.find(name["name"].get<std::string>());
    list.push_back(found == by_name.end() ? Json(nullptr) : write(*found->second));
  }
  return list;
}

/// The seeds of each point together.
Json pools_json(const Comparison& comparison, const std::vector<const api::Result*>& runs, const Json& metrics) {
  Json pools = Json::array();
  for (const std::vector<std::size_t>& points : comparison.pools) {
    std::vector<const api::Result*> seeds;
    for (const std::size_t point : points) seeds.push_back(runs[point]);
    Json estimates = Json::array();
    for (const Json& metric : metrics) {
      const std::optional<stats::Interval> pooled = api::pool_seeds(seeds, metric["name"].get<std::string>());
      if (!pooled) {
        estimates.push_back(nullptr);
        continue;
      }
      const Json half = pooled->half_width ? finite(*pooled->half_width) : Json(nullptr);
      estimates.push_back({finite(pooled->mean), half, pooled->groups});
    }
    pools.push_back({{"points", points}, {"metrics", std::move(estimates)}});
  }
  return pools;
}

Json comparison_json(const Comparison& comparison, const std::vector<const api::Result*>& all) {
  const api::PhysicalResults shown = api::in_physical_units(all);
  std::vector<const api::Result*> runs;
  for (const api::Result& run : shown.results) runs.push_back(&run);
  double end = 0.0;
  for (const api::Result& run : shown.results) {
    for (const stats::Series& series : run.series)
      end = std::max(end, series.start + series.interval * static_cast<double>(series.values.size()));
  }
  const Prefix time = prefix_of(shown.time_unit, end);
  Json object = {{"time", time.unit},
                 {"axes", Json::array()},
                 {"metrics", names_json(runs, &api::Result::metrics)},
                 {"series", names_json(runs, &api::Result::series)},
                 {"points", Json::array()}};
  for (const Comparison::Axis& axis : comparison.axes) {
    Json numbers = Json::array();
    for (const double number : axis.numbers) numbers.push_back(finite(number));
    object["axes"].push_back({{"key", axis.key},
                              {"name", axis.name},
                              {"unit", axis.unit},
                              {"seed", axis.seed},
                              {"names", axis.names},
                              {"numbers", std::move(numbers)}});
  }
  const std::size_t curves = std::max<std::size_t>(1, object["series"].size() * comparison.points.size());
  const std::size_t most = std::clamp<std::size_t>(kComparedValues / curves, 20, kCurveValues);
  const auto metric_json = [](const stats::Metric& metric) {
    Json pair = Json::array({finite(metric.mean)});
    if (metric.half_width) pair.push_back(finite(*metric.half_width));
    return pair;
  };
  const auto series_json = [most, &time](const stats::Series& series) {
    const std::size_t step = (series.values.size() + most - 1) / most;
    Json values = Json::array();
    for (std::size_t i = 0; i < series.values.size(); i += step) values.push_back(finite(series.values[i]));
    return Json{{"start", series.start * time.factor},
                {"interval", series.interval * time.factor * static_cast<double>(std::max<std::size_t>(1, step))},
                {"values", std::move(values)}};
  };
  for (std::size_t i = 0; i < comparison.points.size(); ++i) {
    object["points"].push_back({{"at", comparison.points[i]},
                                {"metrics", items_json(object["metrics"], runs[i]->metrics, metric_json)},
                                {"series", items_json(object["series"], runs[i]->series, series_json)}});
  }
  if (!comparison.pools.empty()) object["pools"] = pools_json(comparison, runs, object["metrics"]);
  return object;
}

/// Inside of strings only: JSON's own grammar has none of these characters.
std::string without_markup(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string page_data(const Page& page) {
  Json data = {{"format", kFormat}, {"markers", Json::array()}, {"charts", Json::array()}, {"runs", Json::array()}};
  for (u32 place = 0; place < kPaletteSize; ++place) data["markers"].push_back(marker_path(place, 0, 0));
  for (const Figure& figure : page.figures) {
    for (const NamedChart& named : figure.charts) data["charts"].push_back(chart_json(named.chart));
  }
  for (const api::Result* run : page.runs) data["runs"].push_back(run_json(*run));
  if (page.comparison) data["comparison"] = comparison_json(*page.comparison, page.runs);
  if (page.network_pages.empty()) add_explorers(data, page.runs, page.run_titles);
  return without_markup(data.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace banyan::report
