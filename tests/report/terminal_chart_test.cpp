// Is the quick look in a terminal readable, no wider than the terminal, and unable to drive it?
#include "banyan/report/terminal_chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

namespace banyan::report::terminal_chart_test {
namespace {

Chart two_lines() {
  Chart chart;
  chart.title = "Delay";
  chart.x_label = "Load γ";
  chart.y_label = "μ_{SYN} (cycles)";
  chart.lines = {{"bypass", {{0.1, 10, 1.0, ""}, {0.5, 40, 2.0, ""}, {0.9, 100, 2.0, ""}}, 0, 0, true},
                 {"isolated", {{0.1, 12, std::nullopt, ""}, {0.5, 20, 2.0, ""}}, 1, 1, true}};
  return chart;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const auto columns = std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
    most = std::max(most, static_cast<std::size_t>(columns));
  }
  return most;
}

TEST(TerminalChart, HasTitleAxesMarksAndLegend) {
  const std::string text = to_terminal(two_lines(), {80, 12, false});
  for (const char* part : {"Delay\n", "μ SYN (cycles)", "Load γ", "● bypass", "■ isolated", "100 ┤", "0.9"}) {
    EXPECT_TRUE(contains(text, part)) << part << "\n" << text;
  }
  EXPECT_EQ(text.back(), '\n');
}

TEST(TerminalChart, StaysWithinTheTerminal) {
  Chart chart = two_lines();
  chart.title = chart.x_label = chart.y_label = chart.lines[0].label = std::string(300, 'x');
  for (const std::size_t columns : {40U, 80U, 133U})
    EXPECT_LE(widest(to_terminal(chart, {columns, 12, false})), columns);
  EXPECT_LE(widest(to_terminal(chart, {10, 2, false})), 40U);
}

TEST(TerminalChart, UsesEscapeSequencesOnlyForColour) {
  EXPECT_FALSE(contains(to_terminal(two_lines(), {80, 12, false}), "\x1b"));
  EXPECT_TRUE(contains(to_terminal(two_lines(), {80, 12, true}), "\x1b[38;5;"));
}

TEST(TerminalChart, LetsNoLabelDriveTheTerminal) {
  Chart chart = two_lines();
  chart.title = chart.lines[0].label = "\x1b]0;evil\x07 \xC2\x9B 2J";
  const std::string text = to_terminal(chart, {80, 12, false});
  EXPECT_FALSE(contains(text, "\x1b"));
  EXPECT_FALSE(contains(text, "\x07"));
  EXPECT_FALSE(contains(text, "\xC2\x9B"));
}

TEST(TerminalChart, CrossesOutWhatIsNoSteadyState) {
  Chart chart = two_lines();
  chart.lines[0].points[2].verdict = "saturated";
  EXPECT_TRUE(contains(to_terminal(chart, {80, 12, false}), "✗ saturated or deadlocked"));
}

TEST(TerminalChart, DrawsWhatCanBeDrawn) {
  EXPECT_TRUE(contains(to_terminal(Chart{}, {80, 12, false}), "┤"));
  Chart chart = two_lines();
  chart.log_x = chart.log_y = true;
  chart.lines[0].points = {{0.0, 5, 1.0, ""}, {1, 0.0, 1.0, ""}, {2, std::nan(""), 1.0, ""}, {4, 8, 10.0, ""}};
  EXPECT_TRUE(contains(to_terminal(chart, {80, 12, false}), "●"));
  EXPECT_TRUE(
      contains(to_terminal(chart, {80, 12, false}), "\n2 points at or below 0 are not on a logarithmic axis\n"));
}

TEST(TerminalChart, BarsTakeNoQuantityBelowZero) {
  Chart chart = two_lines();
  chart.lines[0].points = {{0.1, 10, 30.0, ""}, {0.5, 12, 3.0, ""}};
  EXPECT_FALSE(contains(to_terminal(chart, {80, 12, false}), "-")) << to_terminal(chart, {80, 12, false});
}

TEST(TerminalChart, MarksWhatIsUncertain) {
  Chart chart = two_lines();
  EXPECT_FALSE(contains(to_terminal(chart, {80, 12, false}), "?"));
  chart.lines[0].points[1].certain = false;
  const std::string text = to_terminal(chart, {80, 12, false});
  EXPECT_EQ(std::count(text.begin(), text.end(), '?'), 2) << "the point and the legend\n" << text;
}

TEST(TerminalChart, ALegendIsNeverTallerThanItsPlot) {
  Chart chart = two_lines();
  chart.lines.resize(100, chart.lines.front());
  for (std::size_t i = 0; i < chart.lines.size(); ++i) {
    chart.lines[i].label = "a name of a curve that is long, load = " + std::to_string(i);
  }
  const std::string text = to_terminal(chart, {80, 12, false});
  const auto after = static_cast<std::ptrdiff_t>(text.find("Load γ"));
  EXPECT_LE(std::count(text.begin() + after, text.end(), '\n'), 1 + 13) << text;
  EXPECT_TRUE(contains(text, " more\n")) << text;
}

}  // namespace
}  // namespace banyan::report::terminal_chart_test
