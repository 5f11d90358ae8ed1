#include "banyan/report/jobs_figures.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/export.hpp"
#include "banyan/report/axis.hpp"

namespace banyan::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownSteps = 100;  ///< of a path, the last ones; all are in its CSV file

std::string number(const Json& value) { return fmt::format("{}", value.get<double>()); }

/// The passage before which the last packet of a message waited longest; of a message that was followed.
Json::const_iterator longest_wait(const Json& passages) {
  return std::max_element(passages.begin(), passages.end(), [](const Json& a, const Json& b) {
    return a.at("waited").get<double>() < b.at("waited").get<double>();
  });
}

/// Where the last packet of a message waited longest, and for how long: "level 0 switch 2", "up 1", "29".
struct Held {
  std::string place;
  std::string port;
  std::string waited;
};
Held held_at(const Json& message) {
  if (!message.contains("passages")) return {};
  const Json& passages = message.at("passages");
  const auto most = longest_wait(passages);
  if (most == passages.end() || most->at("waited").get<double>() == 0.0) return {};
  const auto port = most->at("port").get<std::string>();
  return {most->at("place").get<std::string>(), port.empty() ? "its link" : port, number(most->at("waited"))};
}

std::vector<std::string> cells_of(const Json& step) {
  std::vector<std::string> cells{number(step.at("rank")), step.at("what").get<std::string>(), number(step.at("begin")),
                                 number(step.at("end"))};
  if (!step.contains("message")) {
    cells.resize(cells.size() + 7);
    return cells;
  }
  const Json& message = step.at("message");
  cells.push_back(number(message.at("to")));
  cells.push_back(number(message.at("sent")));
  cells.push_back(number(message.at("arrived")));
  cells.push_back(message.contains("delayed") ? number(message.at("delayed")) : "");
  const Held held = held_at(message);
  cells.insert(cells.end(), {held.place, held.port, held.waited});
  return cells;
}

Table table_of(const Json& path, const std::string& unit) {
  const auto timed = [&](const char* name) { return fmt::format("{} ({})", name, unit); };
  Table table;
  table.head = {"Rank",           "Operation",      timed("Begin"),  timed("End"), "Message to",         timed("Sent"),
                timed("Arrived"), timed("Held up"), "Longest queue", "for",        timed("Waited there")};
  table.numeric = {true, false, true, true, true, true, true, true, false, false, true};
  for (const Json& step : path) table.rows.push_back({cells_of(step), 0});
  return table;
}

std::string csv_of(const Table& table) {
  api::Table plain{"critical_path", table.head, {}};
  for (const Table::Row& row : table.rows) {
    std::vector<api::Table::Cell>& cells = plain.rows.emplace_back();
    for (const std::string& cell : row.cells) cells.emplace_back(cell);
  }
  return api::to_csv(plain);
}

ChartPoint point_at(const Json& time, const Json& y, std::string tip) {
  ChartPoint point{time.get<double>(), y.get<double>(), std::nullopt, std::move(tip)};
  point.run = 0;
  return point;
}

Chart over_time(const char* title, const std::string& unit) {
  Chart chart;
  chart.title = title;
  chart.x_label = with_unit("time", unit);
  chart.x_symbol = "t";
  return chart;
}

void add_line(Chart& chart, const char* label, std::vector<ChartPoint> points, bool markers) {
  std::stable_sort(points.begin(), points.end(), [](const ChartPoint& a, const ChartPoint& b) { return a.x < b.x; });
  ChartLine line;
  line.label = label;
  line.markers = markers;
  line.points = std::move(points);
  chart.lines.push_back(std::move(line));
}

/// The path as one line: along a rank while that is at work or waits, across where a message went.
Chart ranks_chart(const Json& path, const std::string& unit) {
  Chart chart = over_time("The critical path over ranks", unit);
  chart.y_label = "rank";
  std::vector<ChartPoint> points;
  const auto add = [&](const Json& time, const Json& rank, const Json& step) {
    points.push_back(point_at(time, rank, step.at("what").get<std::string>()));
  };
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Json& step = path[i];
    add(step.at("begin"), step.at("rank"), step);
    add(step.at("end"), step.at("rank"), step);
    if (!step.contains("message")) continue;
    const Json& message = step.at("message");
    // A send may be on the path because it held the interface of its own rank: nothing waited for its message then.
    if (i + 1 < path.size() && path[i + 1].at("rank") != message.at("to")) continue;
    add(message.at("sent"), step.at("rank"), step);
    add(message.at("arrived"), message.at("to"), step);
  }
  add_line(chart, "critical path", std::move(points), false);
  ease_x(chart, unit);
  return chart;
}

/// By how much each message of the path was later than in the idle network; no lines where none is known.
Chart delays_chart(const Json& path, const std::string& unit) {
  Chart chart = over_time("How long its messages were held up", unit);
  chart.y_label = with_unit("held up", unit);
  chart.y_unit = unit;
  std::vector<ChartPoint> points;
  for (const Json& step : path) {
    if (!step.contains("message") || !step.at("message").contains("delayed")) continue;
    const Json& message = step.at("message");
    points.push_back(point_at(message.at("arrived"), message.at("delayed"), step.at("what").get<std::string>()));
  }
  if (!points.empty()) add_line(chart, "messages of the critical path", std::move(points), true);
  ease_x(chart, unit);
  return chart;
}

Figure figure_of(const Json& job, const std::string& unit) {
  const Json& path = job.at("critical_path");
  const auto name = job.at("name").get<std::string>();
  Figure figure;
  figure.id = file_name("critical-path-" + name);
  figure.title = "What the end of " + name + " waited for";
  const u64 length = job.at("critical_path_length").get<u64>();
  figure.caption = fmt::format(
      "the chain of operations and messages that ended last{}; in the table its last {}, of each message where its "
      "last packet waited longest",
      length > path.size() ? fmt::format(", the last {} of {}", path.size(), length) : std::string(),
      std::min(kShownSteps, path.size()));
  figure.charts.push_back({figure.id + "-ranks.svg", ranks_chart(path, unit)});
  Chart delays = delays_chart(path, unit);
  if (!delays.lines.empty()) figure.charts.push_back({figure.id + "-delays.svg", std::move(delays)});
  figure.values = table_of(path, unit);
  figure.csv_file = figure.id + ".csv";
  figure.csv = csv_of(figure.values);
  auto& rows = figure.values.rows;
  if (rows.size() > kShownSteps) rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(kShownSteps));
  return figure;
}

}  // namespace

std::vector<Figure> jobs_figures(const api::Result& result) {
  std::vector<Figure> figures;
  const Json jobs = Json::parse(result.jobs, nullptr, false);
  if (!jobs.is_array()) return figures;
  const stats::Metric* const completion = result.find("completion");
  const std::string unit = completion == nullptr || completion->unit.empty() ? "cycles" : completion->unit;
  try {
    for (const Json& job : jobs) {
      if (!job.at("critical_path").empty()) figures.push_back(figure_of(job, unit));
    }
  } catch (const nlohmann::json::exception&) { figures.clear(); }
  return figures;
}

Json paths_of(const api::Result& result) {
  Json paths = Json::array();
  const Json jobs = Json::parse(result.jobs, nullptr, false);
  if (!jobs.is_array()) return paths;
  try {
    for (const Json& job : jobs) {
      Json messages = Json::array();
      const Json& path = job.at("critical_path");
      for (auto step = path.rbegin(); step != path.rend(); ++step) {
        if (!step->contains("message") || !step->at("message").contains("passages")) continue;
        const Json& message = step->at("message");
        const Json& passages = message.at("passages");
        const auto most = longest_wait(passages);
        if (most == passages.end() || !most->contains("channel")) continue;  // results of before have none
        Json channels = Json::array();
        for (const Json& passage : passages) channels.push_back(passage.at("channel"));
        messages.push_back({{"what", step->at("what")},
                            {"sent", message.at("sent")},
                            {"arrived", message.at("arrived")},
                            {"place", most->at("place")},
                            {"port", most->at("port")},
                            {"channel", most->at("channel")},
                            {"waited", most->at("waited")},
                            {"channels", std::move(channels)}});
      }
      if (!messages.empty())
        paths.push_back({{"job", job.at("name")}, {"unit", job.value("unit", "")}, {"messages", std::move(messages)}});
    }
  } catch (const nlohmann::json::exception&) { return Json::array(); }
  return paths;
}

bool has_paths(const api::Result& result) { return !paths_of(result).empty(); }

}  // namespace banyan::report
