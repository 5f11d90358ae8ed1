// Are the costs of points told well enough from those that are done, that long ones come first?
#include "banyan/api/sweep.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "banyan/api/cost_prediction.hpp"

namespace banyan::api::sweep_test {
namespace {

/// A mesh at several loads and lengths; the parameters tell that longer runs and higher loads take longer.
ExperimentSet set_of(const std::string& sweep) {
  return read_experiments_text(
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\" }\nrouting = "
      "\"dimension_order\"\n"
      "traffic = { name = \"uniform\", load = 0.1 }\nrun = { warmup = 100, measure = 1000 }\n[sweep]\n" +
          sweep,
      "sweep.toml", {});
}

const std::string kGrid = "\"traffic.uniform.load\" = [0.1, 0.2, 0.3, 0.4]\n\"run.measure\" = [1000, 2000, 4000]\n";

TEST(CostPrediction, KnowsWhatParametersTellBeforeAnythingIsDone) {
  const ExperimentSet set = set_of(kGrid);
  const CostPrediction costs(set.points);
  EXPECT_FALSE(costs.grounded());
  EXPECT_GT(costs.seconds(2), costs.seconds(1)) << "a longer run";
  EXPECT_GT(costs.seconds(9), costs.seconds(0)) << "more load";
}

TEST(CostPrediction, LearnsAFactorForEachValueOfAnAxis) {
  const ExperimentSet set = set_of(kGrid);
  CostPrediction costs(set.points);
  // What no parameter tells: the third load saturates and takes ten times as long.
  const auto truth = [](std::size_t i) { return (i / 3 == 2 ? 10.0 : 1.0) * (1.0 + static_cast<double>(i % 3)); };
  for (const std::size_t i : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 9U, 10U}) costs.add(i, truth(i));
  EXPECT_TRUE(costs.grounded());
  for (const std::size_t i : {7U, 8U}) {
    EXPECT_GT(costs.seconds(i), truth(i) / 2.5);
    EXPECT_LT(costs.seconds(i), truth(i) * 2.5);
    EXPECT_GT(costs.seconds(i), costs.seconds(11)) << "it comes first";
  }
}

TEST(CostPrediction, TakesUnknownValuesFromTheirNeighbours) {
  const ExperimentSet set = set_of(kGrid);
  CostPrediction costs(set.points);
  for (const std::size_t i : {0U, 1U, 2U}) costs.add(i, 1.0);
  for (const std::size_t i : {3U, 4U, 5U}) costs.add(i, 100.0);
  EXPECT_GT(costs.seconds(6), costs.seconds(3)) << "load 0.3 lies beyond 0.2";
  EXPECT_TRUE(std::isfinite(costs.seconds(9)));
}

TEST(CostPrediction, TakesPointsOfEarlierRuns) {
  const ExperimentSet set = set_of(kGrid);
  CostPrediction costs(set.points);
  for (const Experiment& point : set_of("\"traffic.uniform.load\" = [0.1, 0.35]\n\"run.measure\" = [1000]\n").points) {
    costs.add(point, 50.0);
  }
  EXPECT_TRUE(costs.grounded());
  EXPECT_NEAR(costs.seconds(0), 50.0, 25.0);
}

TEST(Sweep, RunsLongPointsFirstAndNamesThem) {
  const ExperimentSet set = set_of("\"run.measure\" = [200, 8000, 400, 4000]\n");
  std::vector<std::size_t> order;
  std::vector<std::string> named;
  SweepOptions options;
  options.finished = [&](std::size_t point, const Result&) { order.push_back(point); };
  options.status = [&](const SweepStatus& status) {
    EXPECT_EQ(status.points, 4U);
    EXPECT_GE(status.finished, order.size());
    EXPECT_EQ(status.grounded, status.finished > 0);
    if (!status.at.empty() && (named.empty() || named.back() != status.at)) named.push_back(status.at);
  };
  const std::vector<Result> results = sweep(set, options);
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 3, 2, 0}));
  ASSERT_FALSE(named.empty());
  EXPECT_EQ(named.front(), "run.measure = 8000");
  // Results are in the order of the sweep all the same.
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(results[i].configuration_hash, set.points[i].configuration_hash);
}

}  // namespace
}  // namespace banyan::api::sweep_test
