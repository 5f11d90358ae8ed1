// Do axes begin and end where drawings, the terminal and pages agree that they do, with round marks?
#include "banyan/report/axis.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "support/repository.hpp"

namespace banyan::report::axis_test {
namespace {

using nlohmann::json;
using Marks = std::vector<double>;

/// web/tests/axis.test.ts reads the same.
json cases(const char* of) {
  return json::parse(test::read_file(test::repository_root() / "tests/report/axis_cases.json")).at(of);
}

Chart chart_of(const std::vector<double>& x, const std::vector<double>& y, const json& error) {
  Chart chart;
  chart.lines.push_back({"values", {}, 0, 0, true});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto bar = error[i].is_null() ? std::nullopt : std::optional<double>(error[i].get<double>());
    chart.lines[0].points.push_back({x[i], y[i], bar, ""});
  }
  return chart;
}

TEST(Axis, HasRoundSteps) {
  for (const json& c : cases("steps")) EXPECT_DOUBLE_EQ(nice_step(c["span"], c["parts"]), c["step"]) << c;
}

TEST(Axis, HasRoundMarksWhereItIsLogarithmic) {
  for (const json& c : cases("logarithmic_marks")) {
    const Marks marks = log_ticks(c["low"], c["high"], c["most"], c["binary"]);
    const Marks expected = c["marks"];
    ASSERT_EQ(marks.size(), expected.size()) << c;
    for (std::size_t i = 0; i < marks.size(); ++i) EXPECT_DOUBLE_EQ(marks[i], expected[i]) << c;
  }
  EXPECT_EQ(log_ticks(5, 5, 8, false), Marks{5});
  EXPECT_EQ(log_ticks(0, 10, 8, false), Marks{0}) << "zero has no place";
  EXPECT_EQ(log_ticks(-1, 10, 8, false), Marks{-1});
}

TEST(Axis, OfValuesShowsThemAndTheirBarsFromZero) {
  for (const json& c : cases("linear_values")) {
    const Axis y = plane_of(chart_of(c["x"], c["y"], c["error"]), true, 5).y;
    EXPECT_NEAR(y.low(), c["range"][0], 1e-9) << c;
    EXPECT_NEAR(y.high(), c["range"][1], 1e-9) << c;
    const Marks marks = y.marks(8);
    ASSERT_GE(marks.size(), 2U) << c;
    EXPECT_NEAR(marks.front(), y.low(), 1e-9) << c;
    EXPECT_NEAR(marks.back(), y.high(), 1e-9) << c;
  }
}

TEST(Axis, GivesASinglePlaceRoomOnBothSides) {
  for (const json& c : cases("horizontal")) {
    Axis x(c["log"]);
    for (const double value : c["x"]) x.add(value);
    x.close();
    EXPECT_DOUBLE_EQ(x.low(), c["range"][0]) << c;
    EXPECT_DOUBLE_EQ(x.high(), c["range"][1]) << c;
    EXPECT_DOUBLE_EQ(x.share(x.value(0.25)), 0.25) << c;
  }
}

TEST(Axis, OfNamesHasHalfAPlaceAtEitherEnd) {
  Chart chart = chart_of({1, 2, 3}, {1, 2, 3}, {nullptr, nullptr, nullptr});
  chart.x_names = {"a", "b", "c"};
  const Axis x = plane_of(chart, true, 5).x;
  EXPECT_DOUBLE_EQ(x.share(1), 1.0 / 6);
  EXPECT_DOUBLE_EQ(x.share(3), 5.0 / 6);
}

TEST(Axis, HasRoundMarksThatCoverARange) {
  EXPECT_EQ(nice_ticks(0, 10, 5), (Marks{0, 2, 4, 6, 8, 10}));
  const Marks loads = nice_ticks(0.1, 0.8, 8);
  ASSERT_EQ(loads.size(), 8U);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_DOUBLE_EQ(loads[i], 0.1 * static_cast<double>(i + 1));
  EXPECT_EQ(nice_ticks(3, 3, 5), Marks{3});
  EXPECT_EQ(nice_ticks(1, 3, 8, true), (Marks{1, 2, 3})) << "whole";
  EXPECT_EQ(nice_ticks(1, 3, 8), (Marks{1, 1.5, 2, 2.5, 3}));
  EXPECT_FALSE(std::signbit(nice_ticks(-1e-9, 150, 5).front()));
}

TEST(Axis, OfLongTimesHasAUnitThatIsEasyToRead) {
  EXPECT_EQ(prefix_of("ns", 8'000).unit, "ns");
  EXPECT_EQ(prefix_of("ns", 50'000).unit, "\u00b5s");
  EXPECT_DOUBLE_EQ(prefix_of("ns", 50'000).factor, 1e-3);
  EXPECT_EQ(prefix_of("us", 2e7).unit, "s");
  EXPECT_EQ(prefix_of("cycles", 900'000).unit, "cycles");
  EXPECT_EQ(prefix_of("cycles", 5e6).unit, "thousands of cycles");
  EXPECT_EQ(prefix_of("flits", 1e9).unit, "flits");

  Chart chart = chart_of({0, 20'000, 40'000}, {1, 2, 3}, {nullptr, nullptr, nullptr});
  chart.x_label = "time (ns)";
  chart.log_x = true;
  ease_x(chart, "ns");
  EXPECT_EQ(chart.x_label, "time (ns)") << "a logarithmic axis has room for all";
  chart.log_x = false;
  ease_x(chart, "ns");
  EXPECT_EQ(chart.x_label, "time (\u00b5s)");
  EXPECT_DOUBLE_EQ(chart.lines[0].points[2].x, 40.0);
}

}  // namespace
}  // namespace banyan::report::axis_test
