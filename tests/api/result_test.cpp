// Is the JSON of a result what scripts rely on, and does it read back?
#include "banyan/api/result.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "banyan/base/error.hpp"

namespace banyan::api::result_test {
namespace {

using nlohmann::json;

Result example() {
  Result result;
  result.version = "0.1.0";
  result.compiler = "GNU";
  result.state_hash = 0x0123456789abcdefULL;
  result.configuration = R"({"name":"x","run":{"seed":7}})";
  result.configuration_hash = 255;
  result.seed = 7;
  result.verdict = Verdict::finished;
  result.explanation = "every session ended";
  result.metrics = {{"mu_syn", 117.4, 1.9, 0.95, 125, "cycles", false},
                    {"accepted_load", 0.5, std::nullopt, 0.95, 1, "flits/cycle/terminal", false},
                    {"dropped", 3.0, std::nullopt, 0.95, 0, "packets", true}};
  result.series = {{"tree_height", "stages", 10.0, 1.0, {0.0, 1.5}}};
  result.cpu_seconds = 1.25;
  result.peak_bytes = 1000;
  return result;
}

TEST(ResultJson, HasTheFixedKeys) {
  const json object = json::parse(to_json(example()));
  EXPECT_EQ(object["banyan"], "0.1.0");
  EXPECT_EQ(object["state_hash"], "0123456789abcdef");
  EXPECT_EQ(object["configuration"]["run"]["seed"], 7);
  EXPECT_EQ(object["verdict"], "finished");
  EXPECT_EQ(object["cpu_seconds"], 1.25);
  EXPECT_EQ(object["peak_bytes"], 1000);
  const json& metric = object["metrics"]["mu_syn"];
  EXPECT_EQ(metric, json::parse(R"({"mean":117.4,"half_width":1.9,"confidence":0.95,"count":125,"unit":"cycles"})"));
}

TEST(ResultJson, ACounterHasNoInterval) {
  const json counter = json::parse(to_json(example()))["metrics"]["dropped"];
  EXPECT_EQ(counter["mean"], 3.0);
  EXPECT_FALSE(counter.contains("half_width"));
  EXPECT_FALSE(counter.contains("confidence"));
}

TEST(ResultJson, TooFewSamplesGiveANullInterval) {
  EXPECT_TRUE(json::parse(to_json(example()))["metrics"]["accepted_load"]["half_width"].is_null());
}

TEST(ResultJson, NotANumberNeverReachesIt) {
  Result result = example();
  result.metrics[0].mean = std::numeric_limits<double>::quiet_NaN();
  result.metrics[0].half_width = std::numeric_limits<double>::infinity();
  const json metric = json::parse(to_json(result))["metrics"]["mu_syn"];
  EXPECT_TRUE(metric["mean"].is_null());
  EXPECT_TRUE(metric["half_width"].is_null());
}

TEST(ResultJson, ReadsBackAsItself) {
  const std::string text = to_json(example());
  const Result back = from_json(text);
  EXPECT_EQ(to_json(back), text);
  EXPECT_EQ(back.metrics[0].name, "mu_syn");
  EXPECT_EQ(back.verdict, Verdict::finished);
  EXPECT_EQ(back.state_hash, example().state_hash);
  EXPECT_EQ(back.configuration, example().configuration);
  EXPECT_EQ(back.series[0].values, example().series[0].values);
}

TEST(ResultJson, AnotherTextIsRefused) {
  for (const char* text : {"", "{}", "[]", "3", R"({"banyan":1})"})
    EXPECT_THROW(static_cast<void>(from_json(text)), ConfigError);
}

TEST(Result, AMissingMetricNamesTheNearest) {
  const Result result = example();
  EXPECT_EQ(result.find("mu_sin"), nullptr);
  try {
    static_cast<void>(result.at("mu_sin"));
    FAIL();
  } catch (const ConfigError& error) { EXPECT_NE(error.remedy().find("mu_syn"), std::string::npos); }
}

TEST(ResultTable, ShowsEveryMetricWithItsIntervalAndVerdict) {
  const std::string table = to_table(example());
  for (const char* part : {"x: finished", "every session ended", "117.4 ± 1.9", "125", "dropped", "cycles"}) {
    EXPECT_NE(table.find(part), std::string::npos) << part << " in\n" << table;
  }
}

TEST(Verdict, HasFourNames) {
  EXPECT_EQ(to_string(Verdict::steady), "steady");
  EXPECT_EQ(to_string(Verdict::saturated), "saturated");
  EXPECT_EQ(to_string(Verdict::deadlocked), "deadlocked");
  EXPECT_EQ(to_string(Verdict::finished), "finished");
}

RC_GTEST_PROP(ResultJson, AnyNumbersReadBack, (double any_mean, double any_width, u64 count, u64 hash)) {
  const double mean = std::abs(any_mean);  // no metric is below 0
  const double half_width = std::abs(any_width);
  Result result = example();
  result.state_hash = hash;
  result.metrics[0].mean = mean;
  result.metrics[0].half_width = half_width;
  result.metrics[0].count = count;
  const Result back = from_json(to_json(result));
  RC_ASSERT(back.metrics[0].mean == mean);
  RC_ASSERT(*back.metrics[0].half_width == half_width);
  RC_ASSERT(back.metrics[0].count == count);
  RC_ASSERT(back.state_hash == hash);
}

}  // namespace
}  // namespace banyan::api::result_test
