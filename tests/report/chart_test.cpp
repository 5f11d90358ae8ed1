// Are the drawings well-formed, readable and free of foreign markup?
#include "banyan/report/chart.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "banyan/report/markup.hpp"
#include "report/xml_check.hpp"

namespace banyan::report::chart_test {
namespace {

Chart two_lines() {
  Chart chart;
  chart.title = "Delay of a message";
  chart.x_label = "Load γ";
  chart.y_label = "μ_{SYN} (cycles)";
  chart.lines = {{"bypass", {{0.1, 10, 1.0, "tip"}, {0.5, 40, 2.0, ""}}, 0, 0, true},
                 {"isolated", {{0.1, 12, std::nullopt, ""}, {0.5, 20, 2.0, ""}}, 1, 1, true}};
  return chart;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Svg, IsWellFormed) {
  EXPECT_EQ(test::xml_problem(to_svg(two_lines(), true)), "");
  EXPECT_EQ(test::xml_problem(to_svg(two_lines(), false)), "");
  EXPECT_EQ(test::xml_problem(to_svg(Chart{}, true)), "") << "without any data";
}

TEST(Svg, TheJudgeOfWellFormednessIsNoPushover) {
  EXPECT_NE(test::xml_problem("<a><b></a></b>"), "");
  EXPECT_NE(test::xml_problem("<a b=1/>"), "");
  EXPECT_NE(test::xml_problem("<a>x & y</a>"), "");
  EXPECT_NE(test::xml_problem("<a/><a/>"), "");
  EXPECT_EQ(test::xml_problem("<a b=\"1\">x &amp; y<c/></a>"), "");
}

TEST(Svg, DrawsEveryLineWithMarkersErrorBarsAndALegend) {
  const std::string svg = to_svg(two_lines(), true);
  EXPECT_EQ(count(svg, "class=\"marker\""), 4U + 2U) << "points and legend";
  EXPECT_EQ(count(svg, "class=\"error\""), 2U);
  EXPECT_EQ(count(svg, ">bypass</text>"), 1U);
  EXPECT_NE(svg.find("μ<tspan"), std::string::npos) << "a subscript";
  EXPECT_EQ(count(svg, "line s1 dashed"), 2U);
}

TEST(Svg, NamesPlacesWithoutNumbersAndJoinsNone) {
  Chart chart = two_lines();
  for (ChartLine& line : chart.lines) {
    line.points[0].x = 1;
    line.points[1].x = 2.1;
  }
  EXPECT_EQ(count(to_svg(chart, false), "class=\"curve\""), 2U + 2U) << "lines and legend";
  chart.x_names = {"linear", "<random>"};
  const std::string svg = to_svg(chart, false);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(count(svg, "class=\"curve\""), 2U) << "the legend's";
  EXPECT_EQ(count(svg, "class=\"marker\""), 4U + 2U);
  EXPECT_EQ(count(svg, ">linear</text>"), 1U);
  EXPECT_EQ(count(svg, ">&lt;random&gt;</text>"), 1U);
  EXPECT_EQ(count(svg, ">1.5</text>"), 0U);
}

TEST(Svg, RingsWhatIsNoSteadyState) {
  Chart chart = two_lines();
  EXPECT_EQ(count(to_svg(chart, false), "class=\"ring\""), 0U);
  chart.lines[0].points[0].verdict = "steady";
  chart.lines[0].points[1].verdict = "saturated";
  chart.lines[1].points[1].verdict = "deadlocked";
  // Without a value it is marked at the upper edge.
  chart.lines[1].points.push_back({0.9, std::nan(""), {}, "", {}, "saturated"});
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"ring\""), 2U + 1U) << "points and legend";
  EXPECT_EQ(count(svg, "class=\"arrow\""), 1U);
}

/// Marks of what has no value stand above all that has one, however many there are.
TEST(Svg, MarksOfWhatHasNoValueStandAboveAllValues) {
  for (const u32 saturated : {1U, 2U, 12U, 40U}) {
    Chart chart = two_lines();
    const std::size_t settled = chart.lines.size();
    for (u32 i = 0; i < saturated; ++i) {
      ChartLine line = chart.lines[0];
      line.label = "beyond " + std::to_string(i);
      line.points = {{0.9, std::nan(""), {}, "", {}, "saturated"}};
      chart.lines.push_back(line);
    }
    const std::string svg = to_svg(chart, true);
    const auto heights = [&](const std::string& text, const std::regex& mark) {
      std::vector<double> found;
      for (std::sregex_iterator it(text.begin(), text.end(), mark), end; it != end; ++it) {
        found.push_back(std::stod((*it)[1]));
      }
      return found;
    };
    const std::vector<double> arrows = heights(svg, std::regex("class=\"arrow\" d=\"M[0-9.]+ ([0-9.]+)v"));
    std::vector<double> curves = heights(svg, std::regex("class=\"curve\" d=\"M[0-9.]+ ([0-9.]+)L"));
    ASSERT_EQ(arrows.size(), saturated);
    ASSERT_EQ(curves.size(), settled);
    const std::vector<double> more = heights(svg, std::regex("L[0-9.]+ ([0-9.]+)"));
    curves.insert(curves.end(), more.begin(), more.end());
    EXPECT_LT(*std::max_element(arrows.begin(), arrows.end()), *std::min_element(curves.begin(), curves.end()));
    const std::set<double> apart(arrows.begin(), arrows.end());
    ASSERT_EQ(apart.size(), saturated);
    // An arrow and its marker are 13 high.
    double last = -1e9;
    for (const double y : apart) {
      EXPECT_GE(y - last, saturated <= 32 ? 13 : 5);
      last = y;
    }
  }
}

TEST(Svg, MarksOfOneCurveDoNotCoverEachOther) {
  Chart chart = two_lines();
  ChartLine& line = chart.lines[0];
  line.points = {{0.0, 1.0, {}, ""}};
  for (u32 i = 0; i <= 100; ++i) line.points.push_back({0.9 + 0.001 * i, std::nan(""), {}, "", {}, "saturated"});
  const std::string svg = to_svg(chart, false);
  EXPECT_GE(count(svg, "class=\"arrow\""), 2U);
  EXPECT_LE(count(svg, "class=\"arrow\""), 5U) << "a tenth of 408 pixels";
}

TEST(Svg, SaysWhichPointsALogarithmicAxisLeavesOut) {
  Chart chart = two_lines();
  EXPECT_EQ(to_svg(chart, false).find("logarithmic"), std::string::npos);
  chart.log_y = true;
  chart.lines[0].points[0].y = 0.0;
  EXPECT_NE(to_svg(chart, false).find(">1 point at or below 0 is not on a logarithmic axis<"), std::string::npos);
  chart.lines[1].points[0].y = -1.0;
  EXPECT_NE(to_svg(chart, false).find(">2 points at or below 0 are not on a logarithmic axis<"), std::string::npos);
}

TEST(Names, KeepWhatTellsThemApartWhereThereIsLittleRoom) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(fit_names({"queues = recn_enhanced", "queues = voqsw"}, 14), (Names{"recn_enhanced", "voqsw"}));
  EXPECT_EQ(fit_names({"recn_enhanced", "recn_basic"}, 9), (Names{"enhanced", "basic"}));
  EXPECT_EQ(fit_names({"low_load_x", "high_load_x"}, 6), (Names{"low", "high"}));
  EXPECT_EQ(fit_names({"recn_enhanced", "recn_basic", "voqsw"}, 10), (Names{"\xE2\x80\xA6"
                                                                            "enhanced",
                                                                            "recn_basic", "voqsw"}));
  EXPECT_EQ(fit_names({"queues = a", "queues = b"}, 10), (Names{"queues = a", "queues = b"}));
  EXPECT_EQ(fit_names({"a long name, load = 0.1", "a long name, load = 0.2"}, 10), (Names{"load = 0.1", "load = 0.2"}));
  EXPECT_EQ(fit_names({"extraordinarily"}, 8), (Names{"ex\xE2\x80\xA6"
                                                      "arily"}));
  EXPECT_EQ(fit_names({}, 8), Names{});
}

TEST(Svg, DrawsAModelAsADashedLineAlone) {
  Chart chart = two_lines();
  chart.lines.pop_back();
  chart.lines[0].analytical = true;
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(count(svg, "class=\"marker\""), 0U);
  EXPECT_EQ(count(svg, "class=\"error\""), 0U);
  EXPECT_EQ(count(svg, "line s0 dashed"), 2U) << "curve and legend";
}

TEST(Svg, TellsFamiliesOfLinesApart) {
  Chart chart = two_lines();
  chart.lines[0].family = 3;
  chart.lines[1].family = 2;
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(count(svg, "line s0 dashed d3"), 2U) << "curve and legend";
  EXPECT_EQ(count(svg, "line s1 dashed d2"), 2U);
  for (u32 family = 1; family < kFamilies; ++family) {
    EXPECT_EQ(count(svg, ".d" + std::to_string(family) + " .curve{stroke-dasharray"), 1U);
  }
}

TEST(Svg, TellsMoreLinesApartThanThePaletteHasColours) {
  Chart chart = two_lines();
  for (u32 i = 0; i < 2 * kPaletteSize; ++i) {
    chart.lines.resize(std::max<std::size_t>(chart.lines.size(), i + 1), chart.lines.front());
    chart.lines[i].colour = i;
    chart.lines[i].family = 0;
    chart.lines[i].analytical = false;
  }
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(count(svg, "line s0\""), 2U) << "solid first, curve and legend";
  EXPECT_EQ(count(svg, "line s0 dashed d1"), 2U) << "dashes where the first colour comes again";
  EXPECT_EQ(count(svg, "line s7 dashed d1"), 2U);
}

TEST(Svg, EscapesTextOfConfigurations) {
  Chart chart = two_lines();
  const std::string evil = "</text><script>alert(\"1\")</script>&\x01\xFF";
  chart.title = chart.subtitle = chart.x_label = chart.y_label = evil;
  chart.lines[0].label = evil;
  chart.lines[0].points[0].tip = evil;
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(svg.find("<script"), std::string::npos);
  EXPECT_EQ(svg.find('\x01'), std::string::npos);
  EXPECT_EQ(svg.find('\xFF'), std::string::npos);
}

TEST(Svg, LeavesOutWhatCannotBeDrawn) {
  Chart chart = two_lines();
  chart.log_x = chart.log_y = true;
  chart.lines[0].points = {{0.0, 5, 1.0, ""}, {1, 0.0, 1.0, ""}, {2, std::nan(""), 1.0, ""}, {4, 8, 10.0, ""}};
  chart.lines[1].points = {{1, std::numeric_limits<double>::infinity(), 1.0, ""}};
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(svg.find("nan"), std::string::npos);
  EXPECT_EQ(svg.find("inf"), std::string::npos);
  EXPECT_EQ(count(svg, "class=\"marker\""), 1U + 2U);
}

TEST(Svg, CutsABarThatWouldStretchALogarithmicAxis) {
  Chart chart = two_lines();
  chart.log_y = true;
  chart.lines.pop_back();
  chart.lines[0].points = {{1, 100, 99.999, ""}, {2, 900, 10.0, ""}};
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(svg.find(">10</text>"), std::string::npos) << "the axis begins at the least mean";
  EXPECT_NE(svg.find(">100</text>"), std::string::npos);
}

TEST(Svg, CutsABarThatWouldStretchALinearAxis) {
  Chart chart = two_lines();
  chart.lines.pop_back();
  chart.lines[0].points = {{1, 0.6, 14.0, ""}, {2, 0.9, 0.05, ""}};
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_NE(svg.find(">0.8</text>"), std::string::npos) << "the axis is that of the values";
  EXPECT_EQ(svg.find(">15</text>"), std::string::npos);
  EXPECT_EQ(svg.find("\xE2\x88\x92"), std::string::npos) << "nothing below zero";
  EXPECT_EQ(count(svg, "h6"), 2U) << "a cut end has no cap";

  chart.lines[0].points[0].error = 0.8;
  EXPECT_NE(to_svg(chart, true).find(">1.5</text>"), std::string::npos)
      << "a bar within the range of the values is whole";

  chart.lines[0].points = {{1, 0.0, 5.0, ""}};
  EXPECT_NE(to_svg(chart, true).find(">4</text>"), std::string::npos) << "without a range of values bars make the axis";
}

TEST(Svg, BarsTakeNoQuantityBelowZero) {
  Chart chart = two_lines();
  chart.lines.pop_back();
  chart.lines[0].points = {{1, 10, 11.0, ""}, {2, 12, 3.0, ""}};
  EXPECT_EQ(to_svg(chart, true).find("\xE2\x88\x92"), std::string::npos);
  EXPECT_EQ(count(to_svg(chart, true), "h6"), 3U) << "the end that is cut has no cap";
  chart.lines[0].points[0].y = -10;
  EXPECT_NE(to_svg(chart, true)
                .find("\xE2\x88\x92"
                      "20</text>"),
            std::string::npos)
      << "a difference has values there";
}

TEST(Svg, ALegendIsNeverTallerThanItsPlot) {
  constexpr double kPlot = 250;
  for (const u32 lines : {2U, 20U, 40U, 200U}) {
    Chart chart = two_lines();
    chart.lines[0].points[0].verdict = "saturated";
    chart.lines.resize(lines, chart.lines.front());
    for (u32 i = 0; i < lines; ++i) {
      chart.lines[i].label =
          "routing = dimension_order, a long name that all have \xCE\xB3, load = 0." + std::to_string(i);
    }
    const std::string svg = to_svg(chart, false);
    EXPECT_EQ(test::xml_problem(svg), "");
    const std::size_t plot = svg.find("class=\"axis\"><path d=\"M58.00 ");
    ASSERT_NE(plot, std::string::npos);
    const double bottom = std::stod(svg.substr(plot + 29));
    const double height = std::stod(svg.substr(svg.find("viewBox=\"0 0 480.00 ") + 20));
    EXPECT_LE(height - bottom - 60, kPlot) << lines;
    const std::size_t legend = svg.find("class=\"legend\"");
    EXPECT_EQ(svg.find(" more</text>", legend) != std::string::npos, lines > 36) << lines;
    EXPECT_NE(svg.find("= 0.1</text>", legend), std::string::npos) << "what tells curves apart stays";
  }
}

TEST(Svg, ALegendThatIsFoldedStillTellsItsCurvesApart) {
  Chart chart = two_lines();
  chart.lines.resize(40, chart.lines.front());
  for (u32 i = 0; i < 40; ++i) {
    chart.lines[i].label = "dimension_order, buffer = " + std::to_string(i / 4) + ", vcs = " + std::to_string(i % 4);
  }
  const std::string svg = to_svg(chart, false);
  std::set<std::string> names;
  std::size_t entries = 0;
  for (std::size_t at = svg.find("class=\"legend\""); (at = svg.find("</text>", at + 1)) != std::string::npos;
       ++entries) {
    names.insert(svg.substr(svg.rfind('>', at) + 1, at - svg.rfind('>', at) - 1));
  }
  EXPECT_EQ(names.size(), entries);
  EXPECT_GT(entries, 20U) << "and yet folded";
}

TEST(Svg, HasNoPlaceForZeroOnALogarithmicAxis) {
  Chart chart = two_lines();
  chart.log_y = true;
  chart.lines.pop_back();
  chart.lines[0].points = {{1, 0.0, 5.0, ""}, {2, 100, 10.0, ""}, {3, 200, 0.0, ""}};
  const std::string svg = to_svg(chart, true);
  EXPECT_EQ(test::xml_problem(svg), "");
  EXPECT_EQ(count(svg, "class=\"marker\""), 2U + 1U) << "two points, and the legend";
}

TEST(Svg, FollowsLightAndDark) {
  const std::string svg = to_svg(two_lines(), true);
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), std::string::npos);
  EXPECT_EQ(to_svg(two_lines(), false).find("<style"), std::string::npos) << "the page holds the style";
}

TEST(Svg, IsTheSameEveryTime) { EXPECT_EQ(to_svg(two_lines(), true), to_svg(two_lines(), true)); }

TEST(Markup, EscapesAndKeepsUtf8) {
  EXPECT_EQ(escape("a<b>&\"'c"), "a&lt;b&gt;&amp;&quot;&#39;c");
  EXPECT_EQ(escape("σ = 10 – 数"), "σ = 10 – 数");
  EXPECT_EQ(escape("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "overlong";
  EXPECT_EQ(escape("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
  EXPECT_EQ(escape("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "cut off";
  EXPECT_EQ(html_label("μ_{<i>} x"), "μ<sub>&lt;i&gt;</sub> x");
  EXPECT_EQ(plain_label("μ_{BG(Tot)}"), "μ BG(Tot)");
  EXPECT_EQ(percent_encode("a b\"<\n"), "a%20b%22%3C%0A");
}

}  // namespace
}  // namespace banyan::report::chart_test
