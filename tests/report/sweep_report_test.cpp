// Does the page of a sweep or a run hold everything about it, escaped?
#include "banyan/report/sweep_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace banyan::report::sweep_report_test {
namespace {

stats::Metric metric(const std::string& name, double mean, const std::string& unit) {
  stats::Metric m;
  m.name = name;
  m.mean = mean;
  m.half_width = 0.5;
  m.count = 20;
  m.unit = unit;
  return m;
}

struct Sweep {
  api::ExperimentSet set;
  std::vector<api::Result> results;
};

/// Two buffers, three loads; the largest load saturates.
Sweep sweep(const std::string& buffer = "switch.buffer", const std::string& unit = "cycles") {
  Sweep made;
  made.set.file = "a.toml";
  made.set.axis_names = {buffer, "traffic.uniform.load"};
  for (const char* size : {"4", "8"}) {
    for (const char* load : {"0.3", "0.6", "0.9"}) {
      api::Experiment point;
      point.name = "six points";
      point.axes = {{buffer, size}, {"traffic.uniform.load", load}};
      made.set.points.push_back(point);
      api::Result result;
      result.version = "1";
      result.seed = 7;
      result.state_hash = made.results.size() + 1;
      result.verdict = std::string(load) == "0.9" ? api::Verdict::saturated : api::Verdict::steady;
      result.configuration = "{\"switch\": {\"buffer\": " + std::string(size) + "}}";
      result.metrics = {metric("packet_latency", 10.0 + static_cast<double>(made.results.size()), unit)};
      stats::Metric sent = metric("sent", 100, "packets");
      sent.counter = true;
      sent.half_width.reset();
      result.metrics.push_back(sent);
      made.results.push_back(std::move(result));
    }
  }
  return made;
}

TEST(SweepPage, DrawsMetricsOverTheLastNumericAxis) {
  const Sweep made = sweep();
  const Page page = sweep_page(made.set, made.results, 6);
  EXPECT_EQ(page.title, "six points");
  ASSERT_EQ(page.figures.size(), 1U);
  ASSERT_EQ(page.figures[0].charts.size(), 1U) << "counters are no curves";
  const Chart& chart = page.figures[0].charts[0].chart;
  EXPECT_EQ(chart.title, "Packet latency");
  EXPECT_EQ(chart.x_label, "traffic.uniform.load");
  ASSERT_EQ(chart.lines.size(), 2U);
  EXPECT_EQ(chart.lines[1].label, "buffer = 8");
  ASSERT_EQ(chart.lines[1].points.size(), 3U);
  EXPECT_EQ(chart.lines[1].points[2].verdict, "saturated");
  EXPECT_EQ(chart.lines[1].points[2].run, 5U);
  EXPECT_EQ(page.figures[0].values.rows.size(), 6U);
  EXPECT_EQ(page.tiles[1], (std::pair<std::string, std::string>{"2", "saturated"}));
}

TEST(SweepPage, EveryFigureWithChartsHasItsNumbersAsCsv) {
  Sweep made = sweep();
  for (api::Result& result : made.results) result.series = {{"a", "packets", 0, 10, {1, 2}}};
  const Page page = sweep_page(made.set, made.results, 6);
  ASSERT_EQ(page.figures.size(), 2U);
  for (const Figure& figure : page.figures) EXPECT_FALSE(figure.csv.empty()) << figure.id;
  const std::string folder = testing::TempDir() + "banyan-sweep-page";
  static_cast<void>(write_page(page, folder));
  for (const char* file : {"report.html", "sweep.csv", "series.csv"}) {
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::path(folder) / file)) << file;
  }
  std::filesystem::remove_all(folder);
}

TEST(SweepPage, SaysHowMuchOfASweepIsFinished) {
  Sweep made = sweep();
  made.set.points.resize(2);
  made.results.resize(2);
  EXPECT_EQ(sweep_page(made.set, made.results, 6).tiles[0],
            (std::pair<std::string, std::string>{"2 of 6", "points finished"}));
}

TEST(SweepPage, OfARunHasItsMetricsAndItsSeries) {
  Sweep made = sweep();
  made.set.axis_names.clear();
  made.set.points.resize(1);
  made.set.points[0].axes.clear();
  made.results.resize(1);
  made.results[0].series = {{"a", "packets", 0, 10, {1, 2, std::nan("")}}, {"b", "flits", 5, 10, {3}}};
  const Page page = sweep_page(made.set, made.results, 1);
  ASSERT_EQ(page.figures.size(), 2U);
  EXPECT_EQ(page.figures[0].values.rows.size(), 2U);
  ASSERT_EQ(page.figures[1].charts.size(), 2U) << "one per unit";
  EXPECT_EQ(page.figures[1].charts[0].chart.lines[0].points.size(), 2U);
  EXPECT_EQ(page.tiles[0].first, "steady");
}

TEST(SweepPage, WithoutANumericAxisShowsValuesAlone) {
  Sweep made = sweep();
  for (api::Experiment& point : made.set.points) {
    for (auto& [key, value] : point.axes) value = "name-" + value;
  }
  const Page page = sweep_page(made.set, made.results, 6);
  ASSERT_EQ(page.figures.size(), 1U);
  EXPECT_TRUE(page.figures[0].charts.empty());
  EXPECT_EQ(page.figures[0].values.rows.size(), 6U);
}

TEST(SweepPage, EscapesNamesAndValues) {
  const std::string evil = "</script><!--<img src=x onerror=alert(1)>\"'&";
  Sweep made = sweep(evil, evil);
  made.set.file = evil;
  for (api::Experiment& point : made.set.points) point.name = evil;
  for (api::Result& result : made.results) {
    result.metrics[0].name = evil;
    result.version = result.compiler = result.explanation = evil;
    result.configuration = nlohmann::json({{"name", evil}}).dump();
  }
  const Page page = sweep_page(made.set, made.results, 6);
  const std::string html = to_html(page);
  EXPECT_EQ(html.find("<img"), std::string::npos);
  EXPECT_EQ(html.find("<!--"), std::string::npos);
  const std::string data = page_data(page);
  EXPECT_EQ(data.find_first_of("<>&"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(data)["runs"][0]["configuration"]["name"], evil) << "and nothing is lost";
}

}  // namespace
}  // namespace banyan::report::sweep_report_test
