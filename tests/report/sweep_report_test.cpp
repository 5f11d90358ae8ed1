// Does the page of a sweep or a run hold everything about it, escaped?
#include "banyan/report/sweep_report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "banyan/api/export.hpp"

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

TEST(SweepPage, SaysEverywhereWhichPointsAreUncertain) {
  Sweep made = sweep();
  made.results[1].certain = false;
  const Page page = sweep_page(made.set, made.results, 6);
  EXPECT_EQ(page.tiles[2], (std::pair<std::string, std::string>{"1", "uncertain"}));
  const std::vector<std::string>& cells = page.figures[0].values.rows[1].cells;
  EXPECT_EQ(std::count(cells.begin(), cells.end(), "steady (uncertain)"), 1);
  const auto data = nlohmann::json::parse(page_data(page));
  EXPECT_EQ(data["charts"][0]["lines"][0]["uncertain"], nlohmann::json::parse("[null, true, null]"));
  EXPECT_FALSE(data["charts"][0]["lines"][1].contains("uncertain"));
  EXPECT_EQ(data["runs"][0]["certain"], true);
  EXPECT_EQ(data["runs"][1]["certain"], false);
  made.results.resize(2);
  made.results.erase(made.results.begin());
  EXPECT_EQ(sweep_page(made.set, made.results, 1).tiles[0].first, "steady (uncertain)");
}

/// The same with a seed axis behind, and series.
Sweep seeded() {
  Sweep made = sweep();
  Sweep twice;
  twice.set.file = made.set.file;
  twice.set.axis_names = made.set.axis_names;
  twice.set.axis_names.emplace_back("run.seed");
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    for (const int seed : {1, 2}) {
      api::Experiment point = made.set.points[i];
      point.axes.emplace_back("run.seed", std::to_string(seed));
      point.labels = {i < 3 ? "small" : "large", "load = " + point.axes[1].second, "seed = " + std::to_string(seed)};
      twice.set.points.push_back(point);
      api::Result result = made.results[i];
      result.metrics[0].mean += 2.0 * seed;
      result.series = {{"throughput", "flits", 0, 10, {1.0 * seed, 3}}, {"backlog", "flits", 0, 10, {5}}};
      twice.results.push_back(std::move(result));
    }
  }
  return twice;
}

TEST(SweepPage, PoolsSeedsWithTheIntervalThatTheirMeansGive) {
  const Sweep made = seeded();
  ASSERT_EQ(abscissa(made.set), 1U) << "a seed is no axis";
  const Chart chart = sweep_chart(made.set, 1, made.results, "packet_latency");
  ASSERT_EQ(chart.lines.size(), 2U);
  EXPECT_EQ(chart.lines[0].label, "small") << "names of the sweep, and no seeds";
  ASSERT_EQ(chart.lines[0].points.size(), 3U);
  EXPECT_DOUBLE_EQ(chart.lines[0].points[0].y, 13.0);
  ASSERT_TRUE(chart.lines[0].points[0].error);
  // 12 and 14: t(1, 0.975) s / sqrt(2) = 12.706.
  EXPECT_NEAR(*chart.lines[0].points[0].error, 12.706, 0.001);
  EXPECT_EQ(chart.lines[0].points[0].count, 2U);
  EXPECT_EQ(chart.lines[0].points[2].verdict, "saturated");
  EXPECT_NE(chart.lines[0].points[2].tip.find("2 of 2 saturated"), std::string::npos) << chart.lines[0].points[2].tip;
}

TEST(SweepPage, DrawsAllPointsOverEachOtherInTime) {
  const Sweep made = seeded();
  const Page page = sweep_page(made.set, made.results, 12);
  const Figure& figure = page.figures.back();
  ASSERT_EQ(figure.charts.size(), 2U) << "one chart per series, not per point";
  EXPECT_EQ(figure.charts[0].chart.title, "Throughput over time");
  ASSERT_EQ(figure.charts[0].chart.lines.size(), 6U) << "seeds are one curve";
  EXPECT_EQ(figure.charts[0].chart.lines[0].label, "small, load = 0.3");
  ASSERT_EQ(figure.charts[0].chart.lines[0].points.size(), 2U);
  EXPECT_DOUBLE_EQ(figure.charts[0].chart.lines[0].points[0].y, 1.5);
}

TEST(SweepPage, WordsThatBeginWithADigitHaveNoUnit) {
  Sweep made = sweep();
  made.set.axis_names[1] = "switch.queues";
  for (std::size_t i = 0; i < made.set.points.size(); ++i)
    made.set.points[i].axes[1] = {"switch.queues", i % 3 == 0 ? "1q" : "voqsw"};
  EXPECT_EQ(sweep_chart(made.set, 1, made.results, "packet_latency").x_label, "switch.queues");
}

TEST(SweepPage, ACurveOverTimeEndsWhereTheFirstOfItsSeedsDoes) {
  Sweep made = seeded();
  made.results[1].series[0].values = {2, 3, 90, 91};  // this seed goes on, and is no sample of both
  const Page page = sweep_page(made.set, made.results, 12);
  EXPECT_EQ(page.figures.back().charts[0].chart.lines[0].points.size(), 2U);
}

TEST(SweepPage, CarriesEveryPointForAComparison) {
  const Sweep made = seeded();
  const nlohmann::json data = nlohmann::json::parse(page_data(sweep_page(made.set, made.results, 12)));
  const nlohmann::json& comparison = data["comparison"];
  ASSERT_EQ(comparison["axes"].size(), 3U);
  EXPECT_EQ(comparison["axes"][0]["names"], (std::vector<std::string>{"small", "large"}));
  EXPECT_EQ(comparison["axes"][1]["names"], (std::vector<std::string>{"0.3", "0.6", "0.9"}));
  EXPECT_TRUE(comparison["axes"][2]["seed"]);
  ASSERT_EQ(comparison["points"].size(), 12U);
  EXPECT_EQ(comparison["points"][11]["at"], (std::vector<int>{1, 2, 1}));
  EXPECT_EQ(comparison["points"][11]["metrics"][0][0], 19.0);
  EXPECT_EQ(comparison["points"][11]["series"][0]["values"].size(), 2U);
  const Sweep one = sweep();
  EXPECT_FALSE(
      nlohmann::json::parse(page_data(sweep_page({one.set.file, {}, {one.set.points[0]}}, {one.results[0]}, 1)))
          .contains("comparison"));
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

/// What is written in several units stands where it is, and not where its digits are.
TEST(SweepPage, AxesWithUnitsAreInOneOfThem) {
  Sweep made = sweep();
  const std::vector<std::string> loads{"800 MB/s", "2 GB/s", "8 Gbps"};
  for (std::size_t i = 0; i < made.set.points.size(); ++i) made.set.points[i].axes[1].second = loads[i % 3];
  const Chart chart = sweep_chart(made.set, 1, made.results, "packet_latency");
  EXPECT_EQ(chart.x_label, "traffic.uniform.load (MB/s)");
  std::vector<double> places;
  for (const ChartPoint& point : chart.lines[0].points) places.push_back(point.x);
  std::ranges::sort(places);
  EXPECT_EQ(places, (std::vector<double>{800.0, 1000.0, 2000.0}));
  const nlohmann::json axis =
      nlohmann::json::parse(page_data(sweep_page(made.set, made.results, 6)))["comparison"]["axes"][1];
  EXPECT_EQ(axis["unit"], "MB/s");
  EXPECT_EQ(axis["numbers"], nlohmann::json({800.0, 2000.0, 1000.0}));
  // A number without a unit beside them may be of another kind: all are names then.
  for (std::size_t i = 0; i < made.set.points.size(); i += 3) made.set.points[i].axes[1].second = "0.3";
  EXPECT_FALSE(sweep_chart(made.set, 1, made.results, "packet_latency").x_names.empty());
}

/// Files keep cycles and flits; what is drawn and shown in tables is in units that all points know.
TEST(SweepPage, IsInSecondsAndBytesWhereAllPointsKnowThem) {
  Sweep made = sweep();
  for (std::size_t i = 0; i < made.results.size(); ++i) {
    api::Result& result = made.results[i];
    result.metrics.push_back(metric("accepted_load", 0.25, "flits/cycle/terminal"));
    result.metrics.push_back(stats::Metric::exact("cycle_length", "ns", i < 3 ? 2.0 : 1.0));
    result.metrics.push_back(stats::Metric::exact("flit_size", "B", 32.0));
    result.series = {{"throughput", "flits/cycle", 100, 10, {1, 2}}};
  }
  const Page page = sweep_page(made.set, made.results, 6);
  const Chart& latency = page.figures[0].charts[0].chart;
  EXPECT_EQ(latency.y_label, "packet_latency (ns)");
  EXPECT_DOUBLE_EQ(latency.lines[0].points[0].y, 20.0);
  EXPECT_DOUBLE_EQ(*latency.lines[0].points[0].error, 1.0);
  EXPECT_DOUBLE_EQ(latency.lines[1].points[0].y, 13.0) << "a cycle is a nanosecond there";
  const Chart& load = page.figures[0].charts[1].chart;
  EXPECT_EQ(load.y_label, "accepted_load (GB/s/terminal)");
  EXPECT_DOUBLE_EQ(load.lines[0].points[0].y, 4.0);
  EXPECT_NE(std::ranges::find(page.figures[0].values.head, "packet_latency (ns)"), page.figures[0].values.head.end());
  EXPECT_EQ(page.figures[0].csv, api::to_csv(made.set, made.results));
  const Chart& time = page.figures.back().charts[0].chart;
  EXPECT_EQ(time.x_label, "time (ns)");
  EXPECT_DOUBLE_EQ(time.lines[0].points[1].x, 220.0);
  EXPECT_DOUBLE_EQ(time.lines[0].points[1].y, 32.0);
  const nlohmann::json comparison = nlohmann::json::parse(page_data(page))["comparison"];
  EXPECT_EQ(comparison["time"], "ns");
  EXPECT_EQ(comparison["metrics"][0]["unit"], "ns");
  EXPECT_EQ(comparison["points"][0]["metrics"][0][0], 20.0);
  EXPECT_EQ(comparison["points"][0]["series"][0]["start"], 200.0);

  Sweep longer = made;
  for (api::Result& result : longer.results) result.series = {{"throughput", "flits/cycle", 100, 50'000, {1, 2}}};
  const Page micro = sweep_page(longer.set, longer.results, 6);
  EXPECT_EQ(micro.figures.back().charts[0].chart.x_label, "time (\u00b5s)");
  EXPECT_DOUBLE_EQ(micro.figures.back().charts[0].chart.lines[0].points[1].x, 100.2);
  const nlohmann::json compared = nlohmann::json::parse(page_data(micro))["comparison"];
  EXPECT_EQ(compared["time"], "\u00b5s");
  EXPECT_DOUBLE_EQ(compared["points"][0]["series"][0]["interval"], 100.0);

  made.results[4].metrics.pop_back();  // what a flit is
  const Page partly = sweep_page(made.set, made.results, 6);
  EXPECT_EQ(partly.figures[0].charts[0].chart.y_label, "packet_latency (ns)");
  EXPECT_EQ(partly.figures[0].charts[1].chart.y_label, "accepted_load (flits/cycle/terminal)");
  made.results[5].metrics.erase(made.results[5].metrics.end() - 2);  // and what a cycle is
  const Page bare = sweep_page(made.set, made.results, 6);
  EXPECT_EQ(bare.figures[0].charts[0].chart.y_label, "packet_latency (cycles)");
  EXPECT_EQ(bare.figures.back().charts[0].chart.x_label, "cycles");
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

TEST(SweepPage, WritesCountersInFull) {
  Sweep made = sweep();
  made.set.axis_names.clear();
  made.set.points.resize(1);
  made.results.resize(1);
  std::vector<std::string> shown;
  for (const double value : {1966080.0, 12345.0, 1234.0, -1234567.0, 0.125}) {
    made.results[0].metrics = {metric("message_bytes", value, "B")};
    made.results[0].metrics[0].counter = true;
    shown.push_back(sweep_page(made.set, made.results, 1).figures[0].values.rows[0].cells[1]);
  }
  EXPECT_EQ(shown, (std::vector<std::string>{"1,966,080", "12,345", "1234", "-1,234,567", "0.125"}));
}

TEST(SweepPage, CellsOfTablesFoldBetweenWords) {
  const Sweep made = sweep();
  const std::string html = to_html(sweep_page(made.set, made.results, 6));
  EXPECT_NE(html.find(">packet_<wbr/>latency (cycles)</th>"), std::string::npos);
  EXPECT_NE(html.find(">traffic.<wbr/>uniform.<wbr/>load</th>"), std::string::npos);
  EXPECT_NE(html.find(">0.3</td>"), std::string::npos);
}

TEST(SweepPage, DrawsOverNamesWhereNoAxisHasNumbers) {
  Sweep made = sweep();
  for (api::Experiment& point : made.set.points) {
    for (auto& [key, value] : point.axes) value = "name-" + value;
  }
  const Page page = sweep_page(made.set, made.results, 6);
  ASSERT_EQ(page.figures[0].charts.size(), 1U);
  const Chart& chart = page.figures[0].charts[0].chart;
  EXPECT_EQ(chart.x_names, (std::vector<std::string>{"name-0.3", "name-0.6", "name-0.9"}));
  ASSERT_EQ(chart.lines.size(), 2U);
  // One curve stands beside the other, each nearest to the place of its name.
  for (std::size_t k = 0; k < 3; ++k) {
    const double left = chart.lines[0].points[k].x;
    const double right = chart.lines[1].points[k].x;
    EXPECT_LT(left, right);
    EXPECT_EQ(std::lround(left), static_cast<long>(k + 1));
    EXPECT_EQ(std::lround(right), static_cast<long>(k + 1));
  }
  EXPECT_EQ(page.figures[0].values.rows.size(), 6U);
}

TEST(SweepPage, OfSeedsAloneHasValuesAndNoCurves) {
  const Sweep made = seeded();
  Sweep alone;
  alone.set.axis_names = {"run.seed"};
  for (std::size_t i = 0; i < 2; ++i) {
    alone.set.points.push_back(made.set.points[i]);
    alone.set.points[i].axes = {made.set.points[i].axes.back()};
    alone.set.points[i].labels.clear();
    alone.results.push_back(made.results[i]);
  }
  const Page page = sweep_page(alone.set, alone.results, 2);
  EXPECT_TRUE(page.figures[0].charts.empty());
  EXPECT_EQ(page.figures[0].values.rows.size(), 2U);
}

/// The number that the page draws is the one that its script draws: both are made here.
TEST(SweepPage, HasOneIntervalForTheSeedsOfAPoint) {
  Sweep made = seeded();
  made.results[10].metrics.clear();  // saturated, and without a latency
  const Page page = sweep_page(made.set, made.results, 12);
  const nlohmann::json comparison = nlohmann::json::parse(page_data(page))["comparison"];
  ASSERT_EQ(comparison["pools"].size(), 6U);
  const Chart chart = sweep_chart(made.set, 1, made.results, "packet_latency");
  for (std::size_t pool = 0; pool < 6; ++pool) {
    EXPECT_EQ(comparison["pools"][pool]["points"], (std::vector<std::size_t>{2 * pool, 2 * pool + 1}));
    const nlohmann::json& estimate = comparison["pools"][pool]["metrics"][0];
    const ChartPoint& point = chart.lines[pool / 3].points[pool % 3];
    if (pool == 5) {
      EXPECT_TRUE(estimate.is_null());
      EXPECT_TRUE(std::isnan(point.y));
      continue;
    }
    EXPECT_EQ(estimate[0], point.y);
    EXPECT_EQ(estimate[1], *point.error);
    EXPECT_EQ(estimate[2], 2);
  }
  const std::string table = api::to_table(made.set, made.results, {"packet_latency"});
  EXPECT_NE(table.find("13 ± 13"), std::string::npos) << table;
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
