// Do CSV and tables hold every number, whatever is missing or strange?
#include "banyan/api/export.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "banyan/base/error.hpp"

namespace banyan::api::export_test {
namespace {

struct Example {
  ExperimentSet set;
  std::vector<Result> results;
};

Example example() {
  Example all;
  all.set.file = "x.toml";
  all.set.axis_names = {"routing"};
  for (const char* value : {"tag", "{name = section, sections = 4}"}) {
    Experiment point;
    point.axes = {{"routing", value}};
    all.set.points.push_back(point);
    Result result;
    result.configuration = "{}";
    result.metrics = {{"delay", 1.5, 0.25, 0.95, 10, "cycles", false}, {"packets", 7.0, {}, 0.95, 1, "", true}};
    all.results.push_back(result);
  }
  all.results[1].verdict = Verdict::saturated;
  all.results[1].metrics[0].mean = std::numeric_limits<double>::quiet_NaN();
  all.results[1].metrics[0].half_width.reset();
  return all;
}

TEST(Csv, QuotesWhatHoldsAComma) {
  Example all = example();
  all.results[1].certain = false;
  EXPECT_EQ(to_csv(all.set, all.results),
            "routing,verdict,state_hash,certain,delay,delay_half_width,delay_count,packets\n"
            "tag,steady,0000000000000000,true,1.5,0.25,10,7\n"
            "\"{name = section, sections = 4}\",saturated,0000000000000000,false,,,10,7\n");
}

TEST(Csv, OfARunHasOneRowPerMetric) {
  EXPECT_EQ(to_csv(example().results[0]),
            "metric,mean,half_width,confidence,count,unit\n"
            "delay,1.5,0.25,0.95,10,cycles\n"
            "packets,7,,,1,\n");
}

TEST(Csv, SeriesMayStartAtDifferentTimes) {
  Result result;
  EXPECT_EQ(series_csv(result), "");
  result.series = {{"a", "", 0.0, 1.0, {5.0, 6.0}}, {"b", "", 10.0, 2.0, {7.0}}};
  EXPECT_EQ(series_csv(result), "a_time,a,b_time,b\n0,5,10,7\n1,6,,\n");
}

TEST(Csv, SeriesOfASweepHaveARowPerValue) {
  Example all = example();
  EXPECT_EQ(series_csv(all.set, all.results), "");
  all.results[0].series = {{"throughput", "flits/cycle", 50.0, 100.0, {5.0, 6.0}}};
  EXPECT_EQ(series_csv(all.set, all.results),
            "routing,series,unit,time,value\ntag,throughput,flits/cycle,50,5\ntag,throughput,flits/cycle,150,6\n");
}

TEST(Json, OfASweepHoldsEveryPoint) {
  const Example all = example();
  const auto object = nlohmann::json::parse(to_json(all.set, all.results));
  EXPECT_EQ(object["points"].size(), 2U);
  EXPECT_EQ(object["points"][0]["axes"]["routing"], "tag");
  EXPECT_TRUE(object["points"][1]["metrics"]["delay"]["mean"].is_null());
}

TEST(Table, AlignsAndShowsIntervals) {
  const Example all = example();
  EXPECT_EQ(to_table(all.set, all.results),
            "routing                         verdict    delay\n"
            "                                           cycles\n"
            "tag                             steady     1.50 ± 0.25\n"
            "{name = section, sections = 4}  saturated  -\n");
  Example doubtful = example();
  doubtful.results[0].certain = false;
  EXPECT_NE(to_table(doubtful.set, doubtful.results).find("  steady (uncertain)  1.50"), std::string::npos);
  EXPECT_NE(to_table(all.set, all.results, {"packets"}).find("packets"), std::string::npos);
  EXPECT_THROW(static_cast<void>(to_table(all.set, all.results, {"pakets"})), ConfigError);
}

TEST(Table, HasOneLineForTheSeedsOfAPoint) {
  Example all = example();
  const api::Experiment first = all.set.points[0];
  const api::Result steady = all.results[0];
  all.set.axis_names = {"routing", "run.seed"};
  all.set.points.assign(4, first);
  all.results.assign(4, steady);
  for (std::size_t i = 0; i < 4; ++i) {
    all.set.points[i].axes = {{"routing", i < 2 ? "tag" : "section"}, {"run.seed", i % 2 == 0 ? "1" : "2"}};
    // t(1) s / sqrt(2) of 1 and 3 is 12.706.
    all.results[i].metrics[0].mean = i % 2 == 0 ? 1.0 : 3.0;
  }
  all.results[3].verdict = Verdict::saturated;
  all.results[3].metrics[0].mean = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(to_table(all.set, all.results),
            "routing  seeds  verdict           delay\n"
            "                                  cycles\n"
            "tag      2      steady            2 ± 13\n"
            "section  2      1 of 2 saturated  none in 1 of 2\n"
            "\n"
            "means over seeds, with 95 % intervals; --csv, --json and export have every seed\n");
  // A seed that never recovers is no reason to report the time of those that do.
  all.results[1].verdict = Verdict::finished;
  all.results[1].metrics.clear();
  for (Result& result : all.results)
    for (stats::Metric& metric : result.metrics) metric.confidence = 0.8;
  all.results[1].configuration = R"({"run": {"confidence": 0.8}})";
  const std::string lucky = to_table(all.set, all.results);
  EXPECT_NE(lucky.find("1 of 2 steady     none in 1 of 2\n"), std::string::npos) << lucky;
  EXPECT_NE(lucky.find("with 80 % intervals"), std::string::npos) << lucky;
}

TEST(Table, ShowsWhatIsOfAllTrafficsBeforeWhatIsOfOne) {
  Example all = example();
  for (Result& result : all.results) {
    result.metrics.clear();
    for (const char* name : {"offered_load", "accepted_load", "offered_load.uniform", "accepted_load.uniform",
                             "offered_load.hot_spot", "accepted_load.hot_spot", "packet_latency"}) {
      result.metrics.push_back({name, 1.5, 0.25, 0.95, 10, "", false});
    }
  }
  const std::string text = to_table(all.set, all.results);
  for (const char* name : {"packet_latency", "offered_load.uniform", "accepted_load.uniform"}) {
    EXPECT_NE(text.find(name), std::string::npos) << name;
  }
  EXPECT_EQ(text.find("hot_spot"), std::string::npos);
}

TEST(Table, ShowsPredictionsBesideWhatTheyPredict) {
  Example all = example();
  for (Result& result : all.results) {
    result.metrics.clear();
    for (const char* name : {"offered_load", "accepted_load", "packet_latency", "network_latency", "head_latency"}) {
      result.metrics.push_back({name, 1.5, 0.25, 0.95, 10, "", false});
    }
    result.metrics.push_back(stats::Metric::exact("packet_latency@zero_load_latency", "", 1.25));
  }
  const std::string head = to_table(all.set, all.results);
  EXPECT_NE(head.find("packet_latency  packet_latency@zero_load_latency  network_latency\n"), std::string::npos)
      << head;
}

TEST(Table, OfResultsWithoutIntervalsShowsWhatDiffers) {
  Example all = example();
  for (std::size_t i = 0; i < 2; ++i) {
    all.results[i].metrics = {{"operations", 224.0, {}, 0.95, 1, "", true},
                              {"completion", i == 0 ? 3645900.8000000003 : 12.5, {}, 0.95, 1, "ns", true}};
  }
  EXPECT_EQ(to_table(all.set, all.results),
            "routing                         verdict    completion\n"
            "                                           ns\n"
            "tag                             steady     3645901\n"
            "{name = section, sections = 4}  saturated  12.5\n");
}

TEST(Table, HasUnitsOfAxesTooAndNoRowWithoutAny) {
  Example all = example();
  all.set.axis_names = {"switch.buffer"};
  for (std::size_t i = 0; i < 2; ++i) {
    all.set.points[i].axes = {{"switch.buffer", i == 0 ? "2" : "4"}};
    all.results[i].configuration = R"({"switch": {"name": "vc_router", "buffer": 2}})";
  }
  EXPECT_EQ(to_table(all.set, all.results, {"packets"}),
            "switch.buffer  verdict    packets\n"
            "flits\n"
            "2              steady     7\n"
            "4              saturated  7\n");
  Example pure = example();
  EXPECT_EQ(to_table(pure.set, pure.results, {"packets"}).find("\n \n"), std::string::npos);
  EXPECT_NE(to_table(pure.set, pure.results, {"packets"}).find("packets\ntag"), std::string::npos);
}

TEST(Table, OfJobsKeepsHowMuchTheyWereSlowedDown) {
  Example all = example();
  for (std::size_t i = 0; i < 2; ++i) {
    all.results[i].metrics.clear();
    const double value = static_cast<double>(i) + 1.0;
    for (const char* name : {"completion", "completion.a", "completion.b", "compute.a", "compute.b", "waiting.a",
                             "slowdown.a", "slowdown.b"}) {
      all.results[i].metrics.push_back({name, value, {}, 0.95, 1, "", true});
    }
  }
  const std::string text = to_table(all.set, all.results);
  EXPECT_NE(text.find("slowdown.a"), std::string::npos) << text;
  EXPECT_NE(text.find("slowdown.b"), std::string::npos) << text;
  EXPECT_NE(text.find("completion "), std::string::npos) << text;
}

TEST(Table, OfAllMetricsIsAsManyAsItNeeds) {
  Example all = example();
  for (Result& result : all.results) {
    for (const char* name : {"b", "c", "d", "e", "f"}) result.metrics.push_back({name, 2.0, {}, 0.95, 1, "", true});
  }
  const std::string text = to_whole_table(all.set, all.results);
  for (const char* name : {"delay", "packets", "  b ", "  f\n"}) EXPECT_NE(text.find(name), std::string::npos) << text;
  EXPECT_NE(text.find("\n\nrouting"), std::string::npos) << text;
}

TEST(Table, SaysWhyPointsAreUncertainAndWhatHelps) {
  Example all = example();
  EXPECT_EQ(to_table(all.set, all.results).find("uncertain"), std::string::npos);
  all.results[1].certain = false;
  all.results[1].explanation =
      "warm-up: 500 cycles; uncertain whether it is saturated: few windows; a longer run (run.measure) would tell";
  EXPECT_NE(
      to_table(all.set, all.results)
          .find("\n1 of 2 points uncertain; the first: uncertain whether it is saturated: few windows; a longer run"),
      std::string::npos)
      << to_table(all.set, all.results);
}

TEST(Table, SaysHowManyPointsHaveAWarning) {
  Example all = example();
  EXPECT_EQ(to_table(all.set, all.results).find("warning"), std::string::npos);
  all.results[1].warning = "buffers are too short";
  for (const std::string& text : {to_table(all.set, all.results), to_whole_table(all.set, all.results)}) {
    EXPECT_NE(text.find("\n1 of 2 points with a warning; the first: buffers are too short\n"), std::string::npos)
        << text;
  }
}

}  // namespace
}  // namespace banyan::api::export_test
