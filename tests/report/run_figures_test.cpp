// The page of a run: are its distribution, its links and its terminals those that the run recorded?
#include "banyan/report/run_figures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "banyan/api/experiment.hpp"
#include "banyan/api/physical.hpp"
#include "banyan/report/jobs_figures.hpp"
#include "banyan/report/sweep_report.hpp"
#include "banyan/stats/congestion.hpp"

namespace banyan::report::run_figures_test {
namespace {

api::Result recorded(const std::string& tables) {
  const api::ExperimentSet set = api::read_experiments_text(
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
      "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.3, size = 3 }\n"
      "run = { warmup = 500, measure = 3000, tables = \"" +
          tables + "\" }\n",
      "test.toml", {});
  return api::run(set.points.front());
}

/// With what is given of the run beside its length.
api::Result run_of(const std::string& load, const std::string& run) {
  const api::ExperimentSet set = api::read_experiments_text(
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
      "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", size = 4, load = " +
          load + " }\nrun = { warmup = 500, measure = 3000" + run + " }\n",
      "test.toml", {});
  return api::run(set.points.front());
}

std::string page_of(const api::Result& result) {
  api::ExperimentSet set;
  set.file = "test.toml";
  set.points.emplace_back();
  const std::vector<api::Result> results{result};
  return to_html(sweep_page(set, results, 1));
}

const Figure* find(const std::vector<Figure>& figures, const std::string& id) {
  const auto found = std::find_if(figures.begin(), figures.end(), [&](const Figure& f) { return f.id == id; });
  return found == figures.end() ? nullptr : &*found;
}

/// What is drawn of terminals is what the table has, in the units that the run knows.
TEST(RunFigures, TerminalsAndLinksAreInSecondsAndBytesWhereTheRunKnows) {
  const std::string tables = ", tables = \"all\"";
  const api::Result plain = run_of("0.3", tables);
  const api::Result physical = run_of("0.3", tables + ", cycle_time = \"2 ns\", flit = \"32 B\"");
  ASSERT_EQ(plain.state_hash, physical.state_hash);
  const std::vector<Figure> before = run_figures(plain);
  const std::vector<Figure> after = run_figures(physical);
  const Figure* const cycles = find(before, "terminals");
  const Figure* const seconds = find(after, "terminals");
  ASSERT_TRUE(cycles != nullptr && seconds != nullptr);
  EXPECT_EQ(cycles->charts[0].chart.y_label, "flits/cycle");
  EXPECT_EQ(seconds->charts[0].chart.y_label, "GB/s");
  EXPECT_EQ(cycles->charts[1].chart.y_label, "packet_latency (cycles)");
  EXPECT_EQ(seconds->charts[1].chart.y_label, "packet_latency (ns)");
  const double factors[] = {32.0 / 2.0, 2.0};
  for (std::size_t i = 0; i < 2; ++i) {
    const double flits = cycles->charts[i].chart.lines[0].points[3].y;
    EXPECT_NEAR(seconds->charts[i].chart.lines[0].points[3].y, factors[i] * flits, 1e-9 * factors[i] * flits);
  }
  const Figure* const links = find(after, "links");
  ASSERT_NE(links, nullptr);
  EXPECT_EQ(links->values.head[5], "Carried");
  EXPECT_TRUE(links->values.rows[0].cells[5].ends_with("B")) << links->values.rows[0].cells[5];
  EXPECT_NE(page_of(run_of("0.95", ", cycle_time = \"2 ns\", flit = \"32 B\"")).find("GB/s/terminal offered"),
            std::string::npos);
}

/// No metric and no column of a table is left in cycles or flits that has another unit.
TEST(RunFigures, NoUnitOfTheRunIsLeftWithoutItsWorth) {
  const api::Result result =
      run_of("0.3", ", tables = \"all\", activity = true, cycle_time = \"2 ns\", flit = \"32 B\"");
  const auto of_simulation = [](const std::string& unit) {
    return unit.find("cycle") != std::string::npos || unit.find("flit") != std::string::npos;
  };
  for (const auto& metric : result.metrics) {
    if (of_simulation(metric.unit)) {
      EXPECT_NE(api::in_physical_units(metric, result), "") << metric.name << " " << metric.unit;
    }
  }
  for (const api::Table& table : result.tables) {
    const api::Table shown = api::in_physical_units(table, result);
    for (const std::string& column : shown.columns) EXPECT_FALSE(of_simulation(column)) << table.name << ": " << column;
  }
}

TEST(RunFigures, TheDistributionHasAllPacketsAndItsMean) {
  const api::Result result = recorded("none");
  const std::vector<Figure> figures = run_figures(result);
  ASSERT_EQ(figures.size(), 1U) << "without tables there are no links and no terminals";
  const Figure& figure = figures.front();
  EXPECT_EQ(figure.id, "distribution-packet_latency");
  ASSERT_EQ(figure.charts.size(), 3U);
  // The area below the steps is everything, and its centre the mean (each bucket counts in its middle).
  const ChartLine& steps = figure.charts[0].chart.lines.front();
  double area = 0.0;
  double moment = 0.0;
  for (std::size_t i = 0; i + 1 < steps.points.size(); ++i) {
    const ChartPoint& a = steps.points[i];
    const ChartPoint& b = steps.points[i + 1];
    EXPECT_GE(b.x, a.x);
    if (a.y != b.y) continue;
    area += a.y * (b.x - a.x);
    moment += a.y * (b.x - a.x) * (a.x + b.x - 1.0) / 2.0;
  }
  EXPECT_NEAR(area, 1.0, 1e-9);
  EXPECT_NEAR(moment, result.at("packet_latency").mean, 0.5);
  const ChartLine& below = figure.charts[1].chart.lines.front();
  EXPECT_DOUBLE_EQ(below.points.back().y, 1.0);
  EXPECT_TRUE(std::is_sorted(below.points.begin(), below.points.end(),
                             [](const ChartPoint& a, const ChartPoint& b) { return a.y < b.y; }));
  // The median of the run lies where the curve passes a half.
  const auto half =
      std::find_if(below.points.begin(), below.points.end(), [](const ChartPoint& p) { return p.y >= 0.5; });
  EXPECT_NEAR(half->x, result.at("packet_latency_p50").mean, 1.0);
  EXPECT_TRUE(figure.charts[2].chart.log_y);
}

TEST(RunFigures, LinksAreSortedByUseAndDrawnOnTheNetwork) {
  const api::Result result = recorded("all");
  const std::vector<Figure> figures = run_figures(result);
  const Figure* const links = find(figures, "links");
  ASSERT_NE(links, nullptr);
  const std::vector<ChartPoint>& points = links->charts.front().chart.lines.front().points;
  ASSERT_EQ(points.size(), 48U) << "channels between switches, without those of terminals";
  EXPECT_DOUBLE_EQ(points.front().y, result.at("channel_utilization_max").mean);
  double sum = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    sum += points[i].y;
    if (i > 0) { EXPECT_LE(points[i].y, points[i - 1].y); }
  }
  EXPECT_NEAR(sum / 48.0, result.at("channel_utilization_mean").mean, 1e-12);
  const auto packed = links_record(result);
  ASSERT_NE(packed, nullptr);
  const stats::CongestionRecord record = packed->record();
  ASSERT_EQ(record.samples.size(), 1U);
  ASSERT_EQ(record.samples.front().use.size(), 80U);
  u32 most = 0;
  for (const u8 use : record.samples.front().use) most = std::max<u32>(most, use);
  EXPECT_GE(most, static_cast<u32>(std::lround(255.0 * points.front().y)));
  EXPECT_EQ(links_record(recorded("none")), nullptr);
}

TEST(RunFigures, TerminalsGetWhatTheRunAccepted) {
  const api::Result result = recorded("flows");
  const Figure* terminals = nullptr;
  const std::vector<Figure> figures = run_figures(result);
  terminals = find(figures, "terminals");
  ASSERT_NE(terminals, nullptr);
  ASSERT_EQ(terminals->charts.size(), 2U);
  for (const ChartLine& line : terminals->charts[0].chart.lines) {
    ASSERT_EQ(line.points.size(), 16U);
    double sum = 0.0;
    for (const ChartPoint& point : line.points) sum += point.y;
    EXPECT_NEAR(sum / 16.0, result.at("accepted_load").mean, 0.02);
  }
}

TEST(RunFigures, TheCriticalPathOfAJobNamesMessageQueueAndLink) {
  const api::ExperimentSet set = api::read_experiments_text(
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
      "switch = { name = \"vc_router\", vcs = 2, buffer = 16 }\nrouting = \"up_down\"\ncycle_time = \"2 ns\"\n"
      "traffic = { name = \"uniform\", load = 0.3, size = 8 }\n"
      "[[job]]\nname = \"ring\"\nplacement = \"spread\"\n"
      "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"64 KiB\", ranks = 8 }\n",
      "test.toml", {});
  const std::vector<api::Result> results{api::run(set.points.front())};
  const auto job = nlohmann::json::parse(results.front().jobs).at(0);
  const auto& path = job.at("critical_path");
  const Page page = sweep_page(set, results, 1);
  const Figure* const figure = find(page.figures, "critical-path-ring");
  ASSERT_NE(figure, nullptr);

  // The line of the chart ends where the job does, and goes through every rank of the path.
  ASSERT_EQ(figure->charts.size(), 2U);
  const Chart& ranks = figure->charts[0].chart;
  EXPECT_EQ(ranks.x_label, "time (µs)");
  EXPECT_DOUBLE_EQ(1e3 * ranks.lines.at(0).points.back().x, job.at("completion").get<double>());
  EXPECT_EQ(ranks.lines[0].points.back().y, path.back().at("rank").get<double>());
  double delayed = 0.0;
  for (const auto& step : path) {
    if (step.contains("message")) delayed += step.at("message").at("delayed").get<double>();
  }
  double drawn = 0.0;
  for (const ChartPoint& point : figure->charts[1].chart.lines.at(0).points) drawn += point.y;
  EXPECT_GT(delayed, 0.0);
  EXPECT_EQ(drawn, delayed);

  const Table& table = figure->values;
  ASSERT_EQ(table.rows.size(), path.size());
  EXPECT_EQ(table.head[8], "Longest queue");
  bool held = false;
  for (const Table::Row& row : table.rows) {
    ASSERT_EQ(row.cells.size(), table.head.size());
    held = held || (row.cells[8].starts_with("level ") && row.cells[9].starts_with("up ") && !row.cells[10].empty());
  }
  EXPECT_TRUE(held) << "a message waits for a link up";
  EXPECT_NE(figure->csv.find("Waited there (ns)"), std::string::npos);
}

TEST(RunFigures, AJobThatKeptNoPathHasNoFigure) {
  api::Result result;
  result.jobs = R"([{"name": "long", "critical_path": [], "critical_path_length": 0}])";
  EXPECT_TRUE(jobs_figures(result).empty());
  result.jobs = R"([{"name": "damaged", "critical_path": [{"rank": 1}], "critical_path_length": 1}])";
  EXPECT_TRUE(jobs_figures(result).empty());
  result.jobs = "";
  EXPECT_TRUE(jobs_figures(result).empty());
}

TEST(RunFigures, AreOnThePageOfARunOnly) {
  const api::Result result = recorded("all");
  api::ExperimentSet set;
  set.file = "test.toml";
  set.points.emplace_back();
  const std::vector<api::Result> results{result};
  const Page page = sweep_page(set, results, 1);
  for (const char* id : {"metrics", "distribution-packet_latency", "links", "terminals"}) {
    EXPECT_NE(find(page.figures, id), nullptr) << id;
  }
}

TEST(RunFigures, ASaturatedRunSaysWhyItHasNoDistribution) {
  const api::Result result = run_of("0.9", "");
  ASSERT_EQ(result.verdict, api::Verdict::saturated);
  const std::vector<Figure> figures = run_figures(result);
  const Figure* const figure = find(figures, "distribution-packet_latency");
  ASSERT_NE(figure, nullptr);
  EXPECT_TRUE(figure->charts.empty());
  EXPECT_NE(figure->caption.find(" flits/cycle/terminal offered."), std::string::npos) << figure->caption;
  EXPECT_NE(page_of(result).find("There is none: the network is saturated"), std::string::npos);
}

TEST(RunFigures, TheTableOfARunHasSecondsAndBytesWhereTheyAreKnown) {
  const api::Result result = run_of("0.2", ", cycle_time = \"2 ns\", flit = \"32 B\"");
  const std::string page = page_of(result);
  EXPECT_NE(page.find("In other units"), std::string::npos);
  EXPECT_NE(page.find(" GB/s) per terminal"), std::string::npos);
  EXPECT_EQ(page_of(run_of("0.2", "")).find("In other units"), std::string::npos);
}

TEST(RunFigures, DistributionsAreInSecondsWhereTheyAreKnown) {
  const api::Result bare = run_of("0.2", "");
  const api::Result result = run_of("0.2", ", cycle_time = \"2 ns\", flit = \"32 B\"");
  const std::vector<Figure> in_cycles = run_figures(bare);
  const std::vector<Figure> in_time = run_figures(result);
  const Figure* const cycles = find(in_cycles, "distribution-packet_latency");
  const Figure* const time = find(in_time, "distribution-packet_latency");
  ASSERT_TRUE(cycles != nullptr && time != nullptr);
  EXPECT_EQ(time->csv, cycles->csv) << "files have cycles";
  ASSERT_EQ(time->charts.size(), cycles->charts.size());
  EXPECT_EQ(time->charts[0].chart.x_label, "packet_latency (ns)");
  EXPECT_EQ(time->charts[0].chart.y_label, "share of the packets per ns");
  double area = 0.0;
  const std::vector<ChartPoint>& steps = time->charts[0].chart.lines[0].points;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].x, 2.0 * cycles->charts[0].chart.lines[0].points[i].x);
    if (steps[i].y == steps[i - 1].y) area += steps[i].y * (steps[i].x - steps[i - 1].x);
  }
  EXPECT_NEAR(area, 1.0, 1e-9);
}

/// Whatever the page of a run says is missing is there once it is asked for as the page says.
TEST(RunFigures, WhatWasNotRecordedIsThereOnceItIsAskedFor) {
  const std::string mesh = "topology = { name = \"mesh\", size = [4, 4] }\nrouting = \"dimension_order\"\n";
  const std::string cube =
      "topology = { name = \"multistage_cube\", terminals = 16, radix = 4 }\nrouting = \"destination_tag\"\n";
  const std::string uniform = "traffic = { name = \"uniform\", load = 0.2 }\n";
  const std::string steady = uniform + "run = { warmup = 200, measure = 1000 }\n";
  const std::map<std::string, std::string> kinds = {
      {"steady", mesh + "switch = \"vc_router\"\n" + steady},
      {"fixed", mesh + "switch = \"vc_router\"\n" + uniform + "run.duration = 1000\n"},
      {"saturated", mesh + "switch = \"vc_router\"\n" +
                        "traffic = { name = \"uniform\", load = 0.95 }\nrun = { warmup = 200, measure = 1000 }\n"},
      {"cioq", cube + "switch = \"cioq\"\n" + steady},
      {"packet_node", "topology = { name = \"hypercube\", degree = 4 }\nswitch = \"packet_node\"\n" + steady},
      {"circuit", "topology = { name = \"torus\", size = [4, 4] }\nswitch = \"circuit\"\n" + steady},
      {"ideal", mesh + "switch = \"ideal\"\n" + steady},
      {"sessions", cube + "switch = \"output_queued\"\ntraffic = { name = \"synchronization\" }\nrun.sessions = 20\n"},
      {"jobs", mesh + "switch = \"vc_router\"\n[[job]]\nname = \"j\"\ngenerator = { collective = \"all_reduce\", "
                      "bytes = 64, ranks = 4 }\n"}};
  for (const auto& kind : kinds) {
    SCOPED_TRACE(kind.first);
    const std::string text = kind.second;
    std::vector<api::Result> results;  // a page refers to them
    const auto page_with = [&](const api::Overrides& words, const api::RunOptions& options) {
      const api::ExperimentSet set = api::read_experiments_text(text, "test.toml", words);
      results = {api::run(set.points.front(), options)};
      return sweep_page(set, results, 1);
    };
    const Page bare = page_with({}, {});
    EXPECT_GE(bare.unrecorded.size(), 1U);
    const std::string html = to_html(bare);
    const std::string log = testing::TempDir() + "unrecorded.csv";
    for (const Page::Unrecorded& missing : bare.unrecorded) {
      const std::string& words = missing.words;
      SCOPED_TRACE(words);
      EXPECT_NE(html.find("<code>" + words + "</code>"), std::string::npos);
      api::RunOptions options;
      if (words.starts_with("--log ")) {
        options.packet_log = log;
        static_cast<void>(page_with({}, options));
        EXPECT_GT(std::filesystem::file_size(log), 100U);
        std::filesystem::remove(log);
        continue;
      }
      const Page asked = page_with({words}, options);
      EXPECT_TRUE(std::none_of(asked.unrecorded.begin(), asked.unrecorded.end(),
                               [&](const Page::Unrecorded& one) { return one.what == missing.what; }));
    }
  }
}

}  // namespace
}  // namespace banyan::report::run_figures_test
