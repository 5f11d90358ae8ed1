// Does the glossary know every name that a result prints, with its unit?
#include "banyan/api/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <string>

#include "api/runs.hpp"
#include "banyan/api/catalog.hpp"
#include "banyan/api/describe.hpp"
#include "banyan/base/error.hpp"
#include "support/repository.hpp"

namespace banyan::api::metrics_test {
namespace {

using test::project_files;
using test::read_file;
using test::repository_root;

TEST(Metrics, RowsAreSortedUniqueAndWhole) {
  const auto rows = metric_rows();
  EXPECT_GT(rows.size(), 80U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) { EXPECT_LT(rows[i - 1].name, rows[i].name); }
    EXPECT_TRUE(rows[i].definition.ends_with(".")) << rows[i].name;
    EXPECT_FALSE(rows[i].formula.empty()) << rows[i].name;
    EXPECT_FALSE(rows[i].counted.empty()) << rows[i].name;
  }
}

/// Pure numbers are ratios, what a table of costs has a unit for, and predictions of ratios; counts are of something.
TEST(Metrics, CountsSayWhatTheyCount) {
  for (const MetricRow& row : metric_rows()) {
    if (!row.unit.empty()) continue;
    const bool ratio = row.formula.find(" / ") != std::string_view::npos;
    const bool costs = row.counted.find("run.energy") != std::string_view::npos;
    EXPECT_TRUE(ratio || costs || row.name == "deterministic") << row.name;
    EXPECT_EQ(row.formula.find("count"), std::string_view::npos) << row.name << ": " << row.formula;
  }
}

TEST(Metrics, NamesWithATrafficOrAModelBehindThemAreFound) {
  const MetricRow* const latency = find_metric("packet_latency");
  ASSERT_NE(latency, nullptr);
  EXPECT_EQ(find_metric("packet_latency.uniform"), latency);
  EXPECT_EQ(find_metric("packet_latency@kruskal_snir"), latency);
  EXPECT_EQ(find_metric("booksim2_packet_latency"), latency);
  EXPECT_EQ(find_metric("packet_latencies"), nullptr);
  EXPECT_EQ(find_metric("nothing.uniform"), nullptr);
}

/// As short as its kind allows, with everything written down that can be.
Experiment shortened(Experiment experiment) {
  if (!experiment.jobs.empty()) {
    experiment.run.set("tables", std::string("channels"));
    return experiment;
  }
  for (const auto& [key, most] : {std::pair{"warmup", i64{500}}, {"measure", i64{2'000}}, {"duration", i64{4'000}}}) {
    experiment.run.set(key, std::min(experiment.run.integer(key), most));
  }
  experiment.run.set("sessions", std::min(experiment.run.integer("sessions"), i64{2}));
  experiment.run.set("precision", 0.0);
  experiment.run.set("extension", i64{1});
  experiment.run.set("tables", std::string("all"));
  experiment.run.set("settle", i64{0});
  if (experiment.run.integer("window") != 0) experiment.run.set("window", i64{200});
  return experiment;
}

TEST(Metrics, TheGlossaryKnowsWhatTheExamplesPrint) {
  std::size_t seen = 0;
  for (const std::string& file : project_files("examples/", {".toml"})) {
    if (file.find('/', 9) != std::string::npos) continue;
    const ExperimentSet set = read_experiments((repository_root() / file).string(), {});
    const Result result = run(shortened(set.points.back()));
    for (const stats::Metric& metric : result.metrics) {
      const MetricRow* row = find_metric(metric.name);
      ASSERT_NE(row, nullptr) << file << ": " << metric.name;
      if (row->name != "NAME@MODEL") { EXPECT_EQ(row->unit, metric.unit) << file << ": " << metric.name; }
      ++seen;
    }
    for (const stats::Series& series : result.series) {
      EXPECT_NE(find_metric(series.name), nullptr) << file << ": " << series.name;
    }
  }
  EXPECT_GT(seen, 200U);
}

TEST(Metrics, TheGlossaryKnowsWhatModelsDeclare) {
  static const std::regex declared(R"re(declare\("([a-z_0-9]+)", "([^"]*)")re");
  std::size_t seen = 0;
  for (const std::string& file : project_files("src/banyan/", {".cpp", ".hpp"})) {
    const std::string text = read_file(repository_root() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), declared); it != std::sregex_iterator(); ++it) {
      const MetricRow* row = find_metric((*it)[1].str());
      ASSERT_NE(row, nullptr) << file << ": " << (*it)[1];
      EXPECT_EQ(row->unit, (*it)[2].str()) << file << ": " << (*it)[1];
      ++seen;
    }
  }
  EXPECT_GT(seen, 20U);
}

TEST(Describe, FindsMetricsAliasesAndValues) {
  const auto told = [](const std::string& name) { return describe(catalog(), name); };
  EXPECT_NE(told("packet_latency").find("last flit arrives - birth"), std::string::npos);
  EXPECT_NE(told("metrics").find("accepted_load"), std::string::npos);
  for (const auto& [said, name] : {std::pair{"xy", "dimension_order"},
                                   {"ugal_l", "ugal"},
                                   {"odd-even", "turn_model"},
                                   {"VOQ", "cioq"},
                                   {"credits", "vc_router"},
                                   {"Mesh", "mesh"},
                                   {"transpose", "permutation"}}) {
    EXPECT_NE(told(said).find(std::string(name) + "\n"), std::string::npos) << said;
  }
  EXPECT_THROW(told("no_such_thing"), ConfigError);
}

TEST(Describe, FindsWhatPeopleSayOfMarksPausesAndPercentiles) {
  const auto told = [](const std::string& name) { return describe(catalog(), name); };
  for (const auto& [said, found] : {std::pair{"ECN", "cioq.mark.low"},
                                    {"RED", "vc_router.mark.probability"},
                                    {"PFC", "cioq.flow_control"},
                                    {"deadlock", "deadlocked\n"},
                                    {"p99", "packet_latency_p99"},
                                    {"last", "incast_completion_last"},
                                    {"head-of-line", "cioq"}}) {
    EXPECT_NE(told(said).find(found), std::string::npos) << said << ": " << told(said);
  }
}

/// A column with a unit, and a share, says something that somebody may ask about.
TEST(Describe, KnowsTheColumnsOfTables) {
  static const std::regex table(R"re(Table table\{"[a-z]+",\s*\{([^}]*)\})re");
  static const std::regex column(R"re("([a-z_]+) \([^"]*\)"|"(utilization|behind)")re");
  std::size_t seen = 0;
  for (const char* file : {"src/banyan/api/recorded.cpp", "src/banyan/api/run_jobs.cpp"}) {
    const std::string text = read_file(repository_root() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), table); it != std::sregex_iterator(); ++it) {
      const std::string columns = (*it)[1].str();
      for (std::sregex_iterator c(columns.begin(), columns.end(), column); c != std::sregex_iterator(); ++c, ++seen) {
        const std::string name = (*c)[1].matched ? (*c)[1].str() : (*c)[2].str();
        EXPECT_NO_THROW(EXPECT_NE(describe(catalog(), name), "") << name) << name;
      }
    }
  }
  EXPECT_GT(seen, 8U);
}

TEST(Describe, EveryAliasNamesSomethingKnown) {
  static const std::regex alias(R"re(\n    \{"([a-z_0-9]+)", "([a-z_0-9]+)"\},)re");
  const std::string text = read_file(repository_root() / "src/banyan/api/describe.cpp");
  std::size_t seen = 0;
  for (std::sregex_iterator it(text.begin(), text.end(), alias); it != std::sregex_iterator(); ++it, ++seen) {
    const std::string told = describe(catalog(), (*it)[1].str());
    const std::string name = (*it)[2].str();
    EXPECT_TRUE(told.find(name + "\n") != std::string::npos || told.find("." + name) != std::string::npos) << (*it)[1];
  }
  EXPECT_GT(seen, 20U);
}

}  // namespace
}  // namespace banyan::api::metrics_test
