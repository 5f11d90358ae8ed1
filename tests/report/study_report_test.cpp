// Does the page hold everything about a study, and nothing that a configuration could smuggle in?
#include "banyan/report/study_report.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "banyan/base/error.hpp"
#include "banyan/report/bundle.hpp"
#include "report/xml_check.hpp"
#include "study/fake_study.hpp"

namespace banyan::report::study_report_test {
namespace {

using study::Claim;
using study::ClaimVerdict;
using study::Mode;
using study::StudyResult;

const std::string kEvil = "<script>alert('x')</script><img src=x onerror=alert(1)>\"&";

std::vector<Claim> claims() {
  const auto outcome = [](const study::View&) { return study::Outcome{ClaimVerdict::partly, kEvil, kEvil}; };
  return {{"evil", kEvil, kEvil, {"1"}, true, outcome, kEvil}};
}

std::string evil_study() {
  std::string text(test::kFakeStudy);
  const auto replace = [&](const std::string& from) {
    std::string quoted = "'''" + kEvil + "'''";
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + quoted.size())) {
      text.replace(at, from.size(), quoted);
    }
  };
  for (const char* from : {"\"A study\"", "\"Nobody, 1900\"", "\"Bypass\"", "\"Load\"", "\"γ\"", "\"packets\"",
                           "\"Delay\"", "\"cycles\"", "\"Delay over load\"", "\"Over time\""}) {
    replace(from);
  }
  return text;
}

StudyResult harmless(const test::FakeStudy& fake, Mode mode) {
  study::StudyOptions options;
  options.mode = mode;
  options.run = test::uneven_run;
  return run_study(fake.study(), options);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// The page without the texts that the build embeds.
std::string own_text(std::string page) {
  for (const std::string_view embedded : {bundle().script, bundle().style, bundle().page_style}) {
    const std::size_t at = embedded.empty() ? std::string::npos : page.find(embedded);
    if (at != std::string::npos) page.erase(at, embedded.size());
  }
  return page;
}

std::string body_of(const std::string& page) {
  const std::size_t begin = page.find("<main>");
  return page.substr(begin, page.find("</main>") + 7 - begin);
}

TEST(StudyPage, EscapesEverythingThatComesFromConfigurations) {
  const test::FakeStudy fake(claims, evil_study());
  study::StudyOptions options;
  options.mode = Mode::full;
  options.run = [](const api::Experiment& experiment, const api::RunOptions&) {
    api::Result result = test::fake_result(experiment);
    result.version = result.compiler = kEvil;
    result.metrics.front().unit = kEvil;
    result.series.front().unit = kEvil;
    result.configuration = "{\"name\": \"<script>alert(2)</script>\"}";
    return result;
  };
  const StudyResult result = run_study(fake.study(), options);
  const std::string page = own_text(study_page(result));
  EXPECT_EQ(count(page, "<script"), bundle().script.empty() ? 0U : 2U) << "the data and the page's own";
  EXPECT_EQ(page.find("<img"), std::string::npos);
  EXPECT_EQ(page_data(page_of(result)).find_first_of("<>&"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;alert(2)"), std::string::npos) << "the configuration is shown";
  for (const study::FigureResult& figure : result.figures) {
    for (const NamedChart& named : charts_of(result, figure)) {
      EXPECT_EQ(test::xml_problem(to_svg(named.chart, true)), "");
      EXPECT_EQ(to_svg(named.chart, true).find("<script"), std::string::npos);
    }
  }
}

TEST(StudyPage, NeedsNoNetwork) {
  const test::FakeStudy fake(test::no_claims);
  const std::string page = own_text(study_page(harmless(fake, Mode::full)));
  for (const char* outside : {"src=", "<link", "@import", "url(", "href=\"http"}) {
    EXPECT_EQ(page.find(outside), std::string::npos) << outside;
  }
}

TEST(StudyPage, LetsNothingRunButItsOwnScript) {
  const test::FakeStudy fake(test::no_claims);
  const std::string page = study_page(harmless(fake, Mode::quick));
  const std::size_t policy = page.find("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';");
  ASSERT_NE(policy, std::string::npos);
  EXPECT_LT(policy, page.find("<title>")) << "before anything that comes from a configuration";
  const std::string text = page.substr(policy, page.find("\">", policy) - policy);
  EXPECT_EQ(text.find("unsafe"), std::string::npos);
  EXPECT_EQ(text.find("http:"), std::string::npos);
  EXPECT_EQ(text.find("https:"), std::string::npos);
}

TEST(StudyPage, GivesTheScriptChartsAndRuns) {
  const test::FakeStudy fake(test::no_claims);
  const StudyResult result = harmless(fake, Mode::full);
  const auto data = nlohmann::json::parse(page_data(page_of(result)));
  ASSERT_EQ(data["charts"].size(), 3U);
  ASSERT_EQ(data["runs"].size(), result.runs.size());
  const auto& line = data["charts"][0]["lines"][0];
  EXPECT_EQ(line["label"], "Bypass");
  EXPECT_EQ(line["x"], nlohmann::json::parse("[0.1, 0.5]"));
  EXPECT_EQ(line["error"], nlohmann::json::parse("[0.5, 0.5]"));
  EXPECT_EQ(line["count"], nlohmann::json::parse("[5, 5]"));
  EXPECT_EQ(line["verdict"][0], "finished");
  EXPECT_EQ(data["runs"][line["run"][1].get<std::size_t>()]["configuration"]["traffic"][1]["load"], 0.5);
  EXPECT_FALSE(data["charts"][2]["lines"][0].contains("error")) << "a time series has no intervals";
}

TEST(StudyPage, HoldsClaimsFiguresDataAndProvenance) {
  const test::FakeStudy fake(claims);
  const StudyResult result = harmless(fake, Mode::full);
  const std::string page = study_page(result);
  EXPECT_NE(page.find("<title>A study</title>"), std::string::npos);
  EXPECT_NE(page.find("Nobody, 1900"), std::string::npos);
  EXPECT_NE(page.find("class=\"badge part\">~ partly<"), std::string::npos);
  EXPECT_NE(page.find("Figure 1: Delay over load"), std::string::npos);
  EXPECT_NE(page.find("download=\"figure-2.csv\" href=\"data:text/csv"), std::string::npos);
  EXPECT_NE(page.find("Resolved configuration"), std::string::npos);
  EXPECT_NE(page.find("<dt>Seed</dt><dd>1</dd>"), std::string::npos);
  EXPECT_NE(page.find("<dt>Compiler</dt><dd>none</dd>"), std::string::npos);
  EXPECT_NE(page.find("name=\"viewport\""), std::string::npos);
  EXPECT_NE(page.find("prefers-color-scheme: dark"), std::string::npos);
  for (const NamedChart& named : charts_of(result, result.figures[0])) {
    EXPECT_NE(page.find("download=\"" + named.file + "\" href=\"data:image/svg+xml"), std::string::npos);
  }
}

/// Once per figure, with the series whose runs have it.
TEST(StudyPage, SaysWhatRunsWarnOf) {
  const test::FakeStudy fake(claims);
  StudyResult result = harmless(fake, Mode::full);
  EXPECT_EQ(body_of(study_page(result)).find("Warning"), std::string::npos);
  for (api::Result& run : result.runs) run.warning = "nothing is held back";
  const std::string page = body_of(study_page(result));
  EXPECT_NE(page.find("Warning (Bypass; Isolated): nothing is held back."), std::string::npos);
  EXPECT_NE(page.find("Warning (Bypass): nothing is held back."), std::string::npos) << "of the second figure";
  EXPECT_NE(page.find("Warning: nothing is held back."), std::string::npos) << "of the third, without series";
}

TEST(StudyPage, ItsTagsBalance) {
  const test::FakeStudy fake(claims);
  std::string body = body_of(study_page(harmless(fake, Mode::full)));
  // The only void element of the body.
  for (std::size_t at = body.find("<br>"); at != std::string::npos; at = body.find("<br>")) body.replace(at, 4, "");
  EXPECT_EQ(test::xml_problem(body), "");
}

TEST(StudyPage, ChartsFollowPanelsLinesAndSeries) {
  const test::FakeStudy fake(claims);
  const StudyResult result = harmless(fake, Mode::full);
  const auto first = charts_of(result, result.figures[0]);
  ASSERT_EQ(first.size(), 1U);
  EXPECT_EQ(first[0].file, "figure-1-delay.svg");
  ASSERT_EQ(first[0].chart.lines.size(), 2U);
  EXPECT_EQ(first[0].chart.lines[0].label, "Bypass");
  EXPECT_EQ(first[0].chart.lines[0].points.size(), 2U);
  EXPECT_EQ(first[0].chart.x_label, "Load (packets)");
  const auto second = charts_of(result, result.figures[1]);
  EXPECT_EQ(second[0].chart.lines[1].label, "γ = 0.5");
  const auto time = charts_of(result, result.figures[2]);
  ASSERT_EQ(time.size(), 1U);
  EXPECT_EQ(time[0].chart.lines[0].points[2].x, 4.0);
}

/// Values of an abscissa that are words have places of their own, and repetitions are means.
TEST(StudyPage, ShowsMeansOverAnAxisOfRepetitions) {
  std::string text(test::kFakeStudy);
  const auto replace = [&](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace("S = {", "space = { key = \"switch.space\", label = \"Space\" }\nS = {");
  replace("x = \"gamma\"", "x = \"space\"\nover = \"gamma\"");
  const test::FakeStudy fake(test::no_claims, text);
  study::StudyOptions options;
  options.figures = {"1"};
  options.run = test::uneven_run;
  options.read = [](const std::string& one, const std::string& name, const api::Overrides& overrides) {
    return api::read_experiments_text(one + "\"switch.space\" = [\"same_cycle\", \"next_cycle\"]\n", name, overrides);
  };
  const StudyResult result = run_study(fake.study(), options);
  const study::FigureResult& figure = result.figures.at(0);
  ASSERT_EQ(figure.points.size(), 8U) << "two series, loads and spaces";
  const std::vector<study::Pool> pools = study::pools_of(figure);
  ASSERT_EQ(pools.size(), 4U);
  ASSERT_EQ(pools[0].runs.size(), 2U);

  const auto charts = charts_of(result, figure);
  ASSERT_EQ(charts.size(), 1U);
  const Chart& chart = charts[0].chart;
  EXPECT_EQ(chart.x_names, (std::vector<std::string>{"same_cycle", "next_cycle"}));
  ASSERT_EQ(chart.lines.size(), 2U);
  ASSERT_EQ(chart.lines[0].points.size(), 2U);
  EXPECT_LT(chart.lines[0].points[0].x, chart.lines[1].points[0].x) << "lines beside each other";
  EXPECT_LT(chart.lines[1].points[0].x, 1.5) << "at their place";
  const double a = result.runs.at(pools[0].runs[0]).find("delay")->mean;
  const double b = result.runs.at(pools[0].runs[1]).find("delay")->mean;
  EXPECT_DOUBLE_EQ(chart.lines[0].points[0].y, (a + b) / 2);
  EXPECT_EQ(chart.lines[0].points[0].count, 2U);
  // Student's quantile for two values, times their standard error.
  EXPECT_NEAR(chart.lines[0].points[0].error.value_or(0), 12.706 * std::abs(a - b) / 2, 1e-2 * std::abs(a - b));

  const Page page = page_of(result);
  EXPECT_EQ(page.figures.at(0).values.rows.size(), 4U) << "a row per mean";
  EXPECT_EQ(page.figures.at(0).values.head, (std::vector<std::string>{"Series", "space", "d_{x} (cycles)", "Verdict"}));
  EXPECT_NE(study_page(result).find("\"names\":[\"same_cycle\""), std::string::npos) << "for the script";
}

TEST(StudyPage, EqualRepetitionsHaveNoInterval) {
  StudyResult result;
  for (const double mean : {2.0, 2.0, 3.0}) {
    api::Result run;
    run.metrics = {test::metric("delay", mean, 0.5)};
    result.runs.push_back(run);
  }
  EXPECT_FALSE(study::metric_of(result, {nullptr, {0, 1}}, "delay")->half_width);
  EXPECT_TRUE(study::metric_of(result, {nullptr, {0, 1, 2}}, "delay")->half_width);
  EXPECT_EQ(study::metric_of(result, {nullptr, {0}}, "delay")->half_width, 0.5) << "one run has its own";
  EXPECT_FALSE(study::metric_of(result, {nullptr, {0, 1}}, "latency"));
}

TEST(StudyPage, ComparesSeriesOverTimeInOneChartEach) {
  std::string text(test::kFakeStudy);
  const std::string from = "time_series = [\"arrivals\"]\n";
  text.replace(
      text.find(from), from.size(),
      "series = [\"bypass\", \"isolated\"]\ntime_series = [\"arrivals\"]\ncycle = \"2 us\"\ntime_unit = \"ms\"\n");
  const test::FakeStudy fake(claims, text);
  const StudyResult result = harmless(fake, Mode::full);
  const auto charts = charts_of(result, result.figures[2]);
  ASSERT_EQ(charts.size(), 1U);
  EXPECT_EQ(charts[0].chart.x_label, "Time (ms)");
  EXPECT_EQ(charts[0].chart.y_label, "arrivals (packets)");
  ASSERT_EQ(charts[0].chart.lines.size(), 2U);
  EXPECT_EQ(charts[0].chart.lines[1].label, "Isolated");
  EXPECT_EQ(charts[0].chart.lines[1].points[2].x, 0.008);
}

TEST(StudyPage, IsWrittenWithItsDrawings) {
  const test::FakeStudy fake(claims);
  const StudyResult result = harmless(fake, Mode::standard);
  const auto folder = std::filesystem::path(testing::TempDir()) / "banyan_report_test";
  std::filesystem::remove_all(folder);
  const std::string page = write_study_report(result, folder.string());
  EXPECT_TRUE(std::filesystem::exists(page));
  EXPECT_TRUE(std::filesystem::exists(folder / "figure-1-delay.svg"));
  std::filesystem::remove_all(folder);
  EXPECT_THROW(write_study_report(result, "/proc/nothing/here"), ConfigError);
}

TEST(StudyPage, SaysNothingOfClaimsWhereNoneWasTested) {
  const test::FakeStudy fake(+[] { return std::vector<Claim>{}; });
  StudyResult result = harmless(fake, Mode::quick);
  const auto names = [&] {
    std::vector<std::string> list;
    for (const auto& [value, name] : page_of(result).tiles) list.push_back(name);
    return list;
  };
  ASSERT_GT(result.figures.size(), 1U);
  EXPECT_EQ(names().front(), "figures");
  result.claims.resize(1);
  result.claims.front().verdict = ClaimVerdict::reproduced;
  EXPECT_EQ(names().front(), "claims reproduced");
}

}  // namespace
}  // namespace banyan::report::study_report_test
