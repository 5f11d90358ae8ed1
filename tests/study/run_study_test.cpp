// Does a study run each point once, in any order, and write what scripts rely on?
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <thread>

#include "banyan/base/error.hpp"
#include "study/fake_study.hpp"

namespace banyan::run_study_test {
namespace {

using study::Claim;
using study::ClaimVerdict;
using study::Mode;
using study::StudyOptions;
using study::StudyResult;
using test::FakeStudy;

std::vector<Claim> claims() {
  const auto holds = [](const study::View& view) {
    return study::Outcome{ClaimVerdict::reproduced,
                          study::to_string(view.at("1", {{"series", "bypass"}, {"gamma", "0.5"}}, "delay")), ""};
  };
  const auto fails = [](const study::View&) { return study::Outcome{ClaimVerdict::partly, "nothing", "at γ = 0.1"}; };
  return {{"a", "1", "holds", {"1"}, true, holds, ""},
          {"b", "2.1", "fails, \"as known\"", {"1", "2"}, false, fails, "a remark"},
          {"c", "3", "stands on time", {"time"}, true, fails, ""}};
}

StudyOptions options(Mode mode = Mode::standard) {
  StudyOptions o;
  o.mode = mode;
  o.run = test::uneven_run;
  return o;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class Folder {
 public:
  Folder() : path_(std::filesystem::path(testing::TempDir()) / "banyan_study_test") {
    std::filesystem::remove_all(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(RunStudy, RunsAPointThatTwoFiguresShareOnce) {
  const FakeStudy fake(test::no_claims);
  std::atomic<int> runs = 0;
  StudyOptions o = options();
  o.run = [&](const api::Experiment& e, const api::RunOptions&) {
    ++runs;
    return test::fake_result(e);
  };
  const StudyResult result = run_study(fake.study(), o);
  // Figure 1: 2 series x 2 loads; figure 2: 2 loads x 2 buffers, of which buffer 8 is figure 1's bypass.
  EXPECT_EQ(result.points, 8U);
  EXPECT_EQ(runs, 6);
  EXPECT_EQ(result.runs.size(), 6U);
  const auto at = result.view();
  EXPECT_EQ(at.point("1", {{"series", "bypass"}, {"gamma", "0.1"}}).run,
            at.point("2", {{"series", "bypass"}, {"gamma", "0.1"}, {"S", "8"}}).run);
}

TEST(RunStudy, GivesTheSameBytesForAnyNumberOfThreads) {
  const FakeStudy fake(claims);
  const StudyResult one = run_study(fake.study(), options());
  for (const u32 threads : {2U, 7U, 64U}) {
    StudyOptions o = options();
    o.threads = threads;
    const StudyResult many = run_study(fake.study(), o);
    EXPECT_EQ(dump(one), dump(many));
    EXPECT_EQ(to_json(one), to_json(many));
    EXPECT_EQ(to_csv(one, one.figures[1]), to_csv(many, many.figures[1]));
    EXPECT_EQ(one.state_hash(), many.state_hash());
  }
}

TEST(RunStudy, RunsEveryPointWithOneThread) {
  const FakeStudy fake(test::no_claims);
  StudyOptions o = options();
  o.threads = 3;
  o.run = [](const api::Experiment& e, const api::RunOptions& run) {
    EXPECT_EQ(run.threads, 1U);
    return test::fake_result(e);
  };
  EXPECT_EQ(run_study(fake.study(), o).points, 8U);
}

TEST(RunStudy, AModeThinsAxesAndAFiguresOwnWordsReplaceTheStudys) {
  const FakeStudy fake(test::no_claims);
  const StudyResult result = run_study(fake.study(), options(Mode::quick));
  const auto view = result.view();
  EXPECT_EQ(view.values("1", "gamma"), std::vector<std::string>{"0.5"});
  EXPECT_EQ(view.values("2", "gamma"), (std::vector<std::string>{"0.1", "0.5"}));
  EXPECT_NE(result.runs.at(view.point("1", {{"series", "bypass"}}).run).configuration.find("\"sessions\":2"),
            std::string::npos);
  EXPECT_NE(result.runs.at(view.point("2", {{"gamma", "0.1"}, {"S", "4"}}).run).configuration.find("\"sessions\":3"),
            std::string::npos);
}

TEST(RunStudy, AFigureRunsOnlyInItsModesUnlessItIsAskedFor) {
  const FakeStudy fake(test::no_claims);
  EXPECT_FALSE(run_study(fake.study(), options()).view().has("time"));
  EXPECT_TRUE(run_study(fake.study(), options(Mode::full)).view().has("time"));
  StudyOptions o = options();
  o.figures = {"time"};
  const StudyResult asked = run_study(fake.study(), o);
  EXPECT_EQ(asked.figures.size(), 1U);
  EXPECT_TRUE(asked.view().has("time"));
}

TEST(RunStudy, SeedAndOverridesReachEveryPoint) {
  const FakeStudy fake(test::no_claims);
  StudyOptions o = options();
  o.seed = 77;
  o.overrides = {"run.sessions=9"};
  for (const api::Result& run : run_study(fake.study(), o).runs) {
    EXPECT_NE(run.configuration.find("\"seed\":77"), std::string::npos);
    EXPECT_NE(run.configuration.find("\"sessions\":9"), std::string::npos);
  }
}

TEST(RunStudy, ASeedIsTheFirstOfThoseOfAFigureOverSeeds) {
  StudyOptions o = options();
  o.mode = Mode::full;
  o.figures = {"10", "10-seeds"};
  o.seed = 77;
  const study::Study& real = study::find_study("congestion-trees");
  const study::StudyRow row{real.row->slug, test::no_claims};
  const StudyResult result = run_study(study::Study{&row, real.files}, o);
  EXPECT_EQ(result.view().values("10-seeds", "seed"), (std::vector<std::string>{"77", "78", "79", "80", "81"}));
  for (const study::Point& point : result.view().figure("10").points) {
    EXPECT_NE(result.run_of(point).configuration.find("\"seed\":77"), std::string::npos);
  }
}

TEST(RunStudy, LeavesOutClaimsWhoseFiguresWereNotChosen) {
  const FakeStudy fake(claims);
  StudyOptions o = options();
  o.figures = {"1"};
  const StudyResult result = run_study(fake.study(), o);
  ASSERT_EQ(result.claims.size(), 1U);
  EXPECT_EQ(result.claims.front().id, "a");
}

TEST(RunStudy, DoesNotTestClaimsThatItsFormIsTooShortFor) {
  const FakeStudy fake(claims);
  const StudyResult standard = run_study(fake.study(), options());
  ASSERT_EQ(standard.claims.size(), 3U);
  EXPECT_EQ(standard.claims[2].verdict, ClaimVerdict::not_tested) << "its figure is in the full form only";
  EXPECT_NE(standard.claims[2].measured.find("the full form tests it"), std::string::npos);
  const auto long_claim = [] {
    std::vector<Claim> all = claims();
    all[1].from = Mode::standard;
    return all;
  };
  const FakeStudy longer(long_claim);
  EXPECT_EQ(run_study(longer.study(), options(Mode::quick)).claims.at(1).verdict, ClaimVerdict::not_tested);
  EXPECT_EQ(run_study(longer.study(), options()).claims.at(1).verdict, ClaimVerdict::partly);
  EXPECT_NE(to_table(standard).find("1 of 2 claims reproduced, 1 not tested"), std::string::npos);
}

TEST(RunStudy, IsAsExpectedWhenEveryExpectedClaimIsReproduced) {
  const FakeStudy fake(claims);
  EXPECT_TRUE(run_study(fake.study(), options()).as_expected());
  EXPECT_FALSE(run_study(fake.study(), options(Mode::full)).as_expected());
}

TEST(RunStudy, NotesJoinExceptionsAndFixedWords) {
  const FakeStudy fake(claims);
  EXPECT_EQ(run_study(fake.study(), options()).claims.at(1).note, "at γ = 0.1. a remark");
}

TEST(RunStudy, PassesOnTheFirstErrorAndStops) {
  const FakeStudy fake(test::no_claims);
  for (const u32 threads : {1U, 4U}) {
    StudyOptions o = options();
    o.threads = threads;
    o.run = [](const api::Experiment&, const api::RunOptions&) -> api::Result { throw InvariantError("lost a flit"); };
    EXPECT_THROW(static_cast<void>(run_study(fake.study(), o)), InvariantError);
  }
}

TEST(RunStudy, StopsWhenInterrupted) {
  const FakeStudy fake(test::no_claims);
  bool interrupted = false;
  int runs = 0;
  StudyOptions o = options();
  o.interrupted = &interrupted;
  o.run = [&](const api::Experiment& e, const api::RunOptions&) {
    interrupted = ++runs == 2;
    return test::fake_result(e);
  };
  EXPECT_THROW(static_cast<void>(run_study(fake.study(), o)), Interrupted);
  EXPECT_EQ(runs, 2);
}

TEST(RunStudy, ReportsProgressUpToItsTotal) {
  const FakeStudy fake(test::no_claims);
  u64 last = 0;
  u64 total = 0;
  StudyOptions o = options();
  o.threads = 3;
  o.progress = [&](u64 done, u64 all) {
    EXPECT_GE(done, last);
    last = done;
    total = all;
  };
  static_cast<void>(run_study(fake.study(), o));
  EXPECT_GT(total, 0U);
  EXPECT_EQ(last, total);
}

TEST(RunStudy, AnAxisThatIsNotDeclaredMayMoveAlongWithOneThatIs) {
  const FakeStudy fake(test::no_claims);
  StudyOptions o = options();
  o.figures = {"1"};
  const auto with_axis = [](const std::string& more) {
    return [more](const std::string& text, const std::string& name, const api::Overrides& overrides) {
      return api::read_experiments_text(text + "\"switch.space\" = [\"same_cycle\", \"next_cycle\"]\n" + more, name,
                                        overrides);
    };
  };
  o.read = with_axis("zip = [[\"traffic.uniform.load\", \"switch.space\"]]\n");
  const StudyResult result = run_study(fake.study(), o);
  ASSERT_EQ(result.figures.at(0).points.size(), 4U);
  EXPECT_EQ(result.figures[0].points[0].axes.size(), 1U);
  o.read = with_axis("");
  EXPECT_THROW(static_cast<void>(run_study(fake.study(), o)), ConfigError) << "it moves by itself";
}

TEST(RunStudy, RefusesWhatDoesNotFit) {
  const FakeStudy fake(test::no_claims);
  StudyOptions o = options();
  o.figures = {"99"};
  EXPECT_THROW(static_cast<void>(run_study(fake.study(), o)), ConfigError);
  try {
    static_cast<void>(study::find_study("extra-stage-cub"));
    FAIL();
  } catch (const ConfigError& error) { EXPECT_NE(error.remedy().find("extra-stage-cube"), std::string::npos); }
  std::string text(test::kFakeStudy);
  text.replace(text.find("lines = [\"gamma\"]"), 17, "");
  const FakeStudy homeless(test::no_claims, text);
  EXPECT_THROW(static_cast<void>(run_study(homeless.study(), options())), ConfigError)
      << "an axis of the sweep without a place";
}

TEST(RunStudy, RefusesAFolderThatCannotBeWrittenBeforeItRuns) {
  const FakeStudy fake(test::no_claims);
  int runs = 0;
  StudyOptions o = options();
  o.run = [&](const api::Experiment& e, const api::RunOptions&) {
    ++runs;
    return test::fake_result(e);
  };
  o.out_dir = "/proc/nothing/here";
  EXPECT_THROW(static_cast<void>(run_study(fake.study(), o)), ConfigError);
  EXPECT_EQ(runs, 0);
}

TEST(StudyFiles, SpecificationNamesTheMisspelt) {
  const auto message = [](const std::string& from, const std::string& to) {
    std::string text(test::kFakeStudy);
    text.replace(text.find(from), from.size(), to);
    try {
      static_cast<void>(study::parse_study(text, "fake"));
    } catch (const ConfigError& error) { return std::string(error.what()); }
    return std::string();
  };
  EXPECT_NE(message("title = \"A study\"", "titel = \"A study\"").find("did you mean 'title'"), std::string::npos);
  EXPECT_NE(message("x = \"gamma\"", "x = \"gama\"").find("'gama' is not declared"), std::string::npos);
  EXPECT_NE(message("metrics = [\"delay\"]", "metrics = [\"decay\"]").find("fake/study.toml:"), std::string::npos);
  EXPECT_NE(message("id = \"2\"", "id = \"1\"").find("twice"), std::string::npos);
  EXPECT_NE(message("x = \"S\"", "x = \"S\"\nover = \"sed\"").find("'sed' is not declared"), std::string::npos);
  EXPECT_NE(message("time_series = [\"arrivals\"]", "time_series = [\"arrivals\"]\nover = \"S\"").find("means over"),
            std::string::npos);
  EXPECT_NE(message("modes = [\"full\"]", "modes = [\"long\"]").find("'long'"), std::string::npos);
}

TEST(StudyFiles, ALogarithmicAxisIsForAllMetricsOrForThoseNamed) {
  const auto parsed = [](const std::string& words) {
    std::string text(test::kFakeStudy);
    const std::string from = "metrics = [\"delay\"]\n";
    return study::parse_study(text.replace(text.find(from), from.size(), from + words), "fake");
  };
  EXPECT_FALSE(parsed("").figures[0].has_log_y("delay"));
  EXPECT_TRUE(parsed("log_y = true\n").figures[0].has_log_y("delay"));
  const study::FigureSpec named = parsed("log_y = [\"delay\"]\n").figures[0];
  EXPECT_TRUE(named.has_log_y("delay"));
  EXPECT_FALSE(named.has_log_y("load"));
  EXPECT_THROW(static_cast<void>(parsed("log_y = [\"decay\"]\n")), ConfigError);
}

TEST(StudyOutput, CsvHasOneRowPerPointWithAxesMetricsVerdictAndHash) {
  const FakeStudy fake(test::no_claims);
  const StudyResult result = run_study(fake.study(), options());
  std::istringstream csv(to_csv(result, result.figures[1]));
  std::vector<std::string> lines;
  for (std::string line; std::getline(csv, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_EQ(lines[0], "series,gamma,S,delay,delay_half_width,delay_count,verdict,state_hash,certain");
  const api::Result& first = result.run_of(result.figures[1].points[0]);
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(first.state_hash));
  EXPECT_TRUE(lines[1].starts_with("bypass,0.1,4,"));
  EXPECT_TRUE(lines[1].ends_with(",0.5,5,finished," + std::string(hash) + ",true"));
}

TEST(StudyOutput, CsvOfAFigureOverTimeHasOneRowPerCycle) {
  const FakeStudy fake(test::no_claims);
  const StudyResult result = run_study(fake.study(), options(Mode::full));
  EXPECT_EQ(to_csv(result, result.figures[2]), "series,cycle,arrivals\n,0,1\n,2,0.5\n,4,0.25\n");
}

/// The fake study with other words for its figure over time.
std::string over_time(const std::string& words) {
  std::string text(test::kFakeStudy);
  const std::string from = "time_series = [\"arrivals\"]\n";
  return text.replace(text.find(from), from.size(), from + words);
}

/// A name that no run has would be an empty picture. One short run stands for all of a figure.
TEST(RunStudy, EveryFigureOverTimeHasSomethingToDraw) {
  int figures = 0;
  for (const study::Study& real : study::studies()) {
    if (real.row->measure != nullptr) continue;
    const study::StudyRow row{real.row->slug, test::no_claims};
    for (const study::FigureSpec& figure : study::spec_of(real).figures) {
      if (figure.time_series.empty()) continue;
      const auto first_of = [&](const api::Overrides& overrides) {
        StudyOptions o = options();
        std::optional<api::Result> first;
        o.mode = figure.modes.front();
        o.figures = {figure.id};
        o.overrides = overrides;
        o.run = [&](const api::Experiment& experiment, const api::RunOptions& run) {
          if (!first) first = api::run(experiment, run);
          return *first;
        };
        static_cast<void>(run_study(study::Study{&row, real.files}, o));
        for (const std::string& name : figure.time_series) {
          const auto is_it = [&](const stats::Series& series) { return series.name == name; };
          EXPECT_TRUE(std::any_of(first->series.begin(), first->series.end(), is_it)) << name;
        }
      };
      SCOPED_TRACE(std::string(real.row->slug) + " " + figure.id);
      if (file_text(real.files, figure.file).find("\nduration = ") == std::string_view::npos) {
        first_of({"run.sessions=1"});
      } else {
        first_of({"run.duration=2 us", "run.window=1 us"});
      }
      ++figures;
    }
  }
  EXPECT_GT(figures, 10);
}

TEST(StudyOutput, CsvOfAFigureOverTimeMayHaveAUnitOfTime) {
  const FakeStudy fake(test::no_claims, over_time("cycle = \"500 ns\"\ntime_unit = \"us\"\n"));
  const StudyResult result = run_study(fake.study(), options(Mode::full));
  EXPECT_EQ(to_csv(result, result.figures[2]), "series,time_us,arrivals\n,0,1\n,1,0.5\n,2,0.25\n");
}

TEST(StudyFiles, AUnitOfTimeNeedsALengthOfACycleThatFits) {
  for (const char* words : {"cycle = \"1 ns\"\n", "time_unit = \"us\"\n", "cycle = \"1 B\"\ntime_unit = \"us\"\n",
                            "cycle = \"3\"\ntime_unit = \"us\"\n"}) {
    EXPECT_THROW(static_cast<void>(study::parse_study(over_time(words), "fake")), ConfigError) << words;
  }
}

TEST(StudyOutput, JsonIsWhatScriptsRelyOn) {
  const FakeStudy fake(claims);
  const Folder folder;
  StudyOptions o = options();
  o.out_dir = folder.path();
  const StudyResult result = run_study(fake.study(), o);
  const auto json = nlohmann::json::parse(to_json(result));
  EXPECT_EQ(json.at("study"), "fake");
  ASSERT_EQ(json.at("figures").size(), 2U);
  EXPECT_EQ(json.at("figures")[0].at("id"), "1");
  EXPECT_EQ(read(json.at("figures")[0].at("csv").get<std::string>()), to_csv(result, result.figures[0]));
  const auto& claim = json.at("claims")[1];
  EXPECT_EQ(claim.at("id"), "b");
  EXPECT_EQ(claim.at("section"), "2.1");
  EXPECT_EQ(claim.at("claim"), "fails, \"as known\"");
  EXPECT_EQ(claim.at("measured"), "nothing");
  EXPECT_EQ(claim.at("verdict"), "partly");
  EXPECT_EQ(claim.at("expected"), false);
  EXPECT_EQ(json.at("claims")[2].at("verdict"), "not tested");
}

TEST(StudyOutput, TheFiveVerdictsHaveTheirNames) {
  using enum ClaimVerdict;
  std::string names;
  for (const ClaimVerdict verdict : {reproduced, partly, not_reproduced, undecided, not_tested}) {
    names += study::to_string(verdict) + "|";
  }
  EXPECT_EQ(names, "reproduced|partly|not reproduced|undecided|not tested|");
}

TEST(RunStudy, OnlyReproducedAndNotTestedAreAsExpected) {
  const FakeStudy fake(claims);
  StudyResult result = run_study(fake.study(), options());
  using enum ClaimVerdict;
  for (const ClaimVerdict verdict : {reproduced, partly, not_reproduced, undecided, not_tested}) {
    result.claims[0].verdict = verdict;
    EXPECT_EQ(result.as_expected(), verdict == reproduced || verdict == not_tested) << study::to_string(verdict);
  }
}

TEST(StudyOutput, TableNamesEveryClaimAndKeepsItsWidth) {
  const FakeStudy fake(claims);
  const std::string table = to_table(run_study(fake.study(), options()), 60);
  EXPECT_NE(table.find("1 of 2 claims reproduced"), std::string::npos);
  std::istringstream lines(table);
  std::string line;
  while (std::getline(lines, line) && line.find("claims reproduced") == std::string::npos) EXPECT_LE(line.size(), 62U);
}

/// Two fires with two remedies; `none` never recovers with seed 3.
constexpr std::string_view kFires = R"(
title = "Fires"
reference = "Nobody, 1900"
[axes]
seed = { key = "run.seed", label = "Seed", symbol = "seed" }
[metrics]
delay = { label = "Delay", symbol = "d", unit = "cycles" }
constant = { label = "Constant", symbol = "c", unit = "cycles" }
recovery = { label = "Recovery", symbol = "r", unit = "cycles" }
[series.none]
label = "none"
[series.small]
label = "small buffers"
set = ["switch.buffer=4"]
parameters = ["run.sessions=3", "switch.buffer=6"]
[[figure]]
id = "one"
fire = "one"
title = "Fire one"
file = "three.toml"
set = ["sweep.run.seed=[1, 2, 3]", "run.sessions=2"]
x = "seed"
series = ["none", "small"]
metrics = ["delay", "recovery", "constant"]
[[figure]]
id = "one-time"
fire = "one"
title = "Over time"
file = "three.toml"
time_series = ["arrivals"]
[[figure]]
id = "two"
fire = "two"
title = "Fire two"
file = "three.toml"
set = ["sweep.run.seed=[1, 2]"]
modes = ["full"]
x = "seed"
series = ["none"]
metrics = ["delay"]
)";

api::Result burn(const api::Experiment& experiment, const api::RunOptions&) {
  api::Result result = test::fake_result(experiment);
  result.metrics.clear();
  const auto seed = static_cast<double>(experiment.run.integer("seed"));
  const auto buffer = static_cast<double>(experiment.switching.integer("buffer"));
  result.metrics.push_back(
      test::metric("delay", 100 * buffer + seed + 10 * static_cast<double>(experiment.run.integer("sessions")), 0.5));
  result.metrics.push_back(test::metric("constant", 0.3, 0.5));
  if (seed < 3 || buffer < 8) result.metrics.push_back(test::metric("recovery", seed, 0.5));
  return result;
}

TEST(Fires, GiveATableOverTheSeeds) {
  const FakeStudy fake(test::no_claims, std::string(kFires));
  StudyOptions o = options();
  o.run = burn;
  const auto json = nlohmann::json::parse(to_json(run_study(fake.study(), o)));
  const auto cell = [&](const std::string& remedy, const std::string& column) {
    for (const auto& entry : json.at("table")) {
      if (entry.at("fire") == "one" && entry.at("remedy") == remedy && entry.at("column") == column) return entry;
    }
    return nlohmann::json();
  };
  EXPECT_EQ(json.at("table").size(), 8U);
  // The figure's own words are the weakest, a remedy's parameters come after what it is.
  EXPECT_DOUBLE_EQ(cell("none", "delay").at("mean"), 822);
  EXPECT_DOUBLE_EQ(cell("small", "delay").at("mean"), 632);
  EXPECT_NEAR(cell("none", "delay").at("half_width"), 4.303 / std::sqrt(3.0), 0.001);  // Student, two degrees
  EXPECT_EQ(cell("none", "delay").at("seeds"), 3);
  EXPECT_TRUE(cell("none", "constant").at("half_width").is_null()) << "equal values have no interval";
  EXPECT_DOUBLE_EQ(cell("none", "constant").at("mean"), 0.3);
  EXPECT_TRUE(cell("none", "recovery").at("mean").is_null()) << "a mean of the seeds that recover says too little";
  EXPECT_EQ(cell("none", "recovery").at("missing"), 1);
  EXPECT_DOUBLE_EQ(cell("small", "recovery").at("mean"), 2);
  EXPECT_EQ(cell("none", "parameters").at("mean"), 0);
  EXPECT_EQ(cell("small", "parameters").at("mean"), 2);
  EXPECT_NE(to_table(run_study(fake.study(), o)).find("none in 1 of 3"), std::string::npos);
}

/// Text of the study with other words in it.
std::string fires_with(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text(kFires);
  for (const auto& [from, to] : changes) text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(Fires, SayHowManyQueuesAPortNeeds) {
  const FakeStudy fake(test::no_claims, fires_with({{"label = \"none\"", "label = \"none\"\nqueues = 3"},
                                                    {"label = \"small buffers\"", "label = \"small\"\nqueues = 2"}}));
  StudyOptions o = options();
  o.run = [](const api::Experiment& experiment, const api::RunOptions& run) {
    api::Result result = burn(experiment, run);
    if (experiment.switching.integer("buffer") == 6)
      result.metrics.push_back(
          test::metric("saqs_most_per_port", static_cast<double>(experiment.run.integer("seed")), 0));
    return result;
  };
  const StudyResult result = run_study(fake.study(), o);
  std::map<std::string, double> queues;
  for (const auto& cell : fire_table(result)) {
    if (cell.column == "queues") queues[cell.remedy] = cell.value.mean;
  }
  ASSERT_EQ(queues.size(), 2U);
  EXPECT_DOUBLE_EQ(queues["none"], 3);
  EXPECT_DOUBLE_EQ(queues["small"], 2 + 2);  // and the mean of one, two and three set-aside queues
}

TEST(Fires, CountQueuesForEachOutputOfTheFiguresSwitches) {
  const FakeStudy fake(test::no_claims, fires_with({{"label = \"none\"", "label = \"none\"\nqueues_per_output = 2"},
                                                    {"title = \"Fire one\"", "title = \"Fire one\"\nports = 12"}}));
  StudyOptions o = options();
  o.run = burn;
  for (const auto& cell : fire_table(run_study(fake.study(), o))) {
    if (cell.column != "queues" || cell.remedy != "none") continue;
    EXPECT_DOUBLE_EQ(cell.value.mean, 24);
  }
}

/// A mode keeps seeds of the study; who gives others wants those.
TEST(Fires, AreOfTheSeedsThatAreGiven) {
  const FakeStudy fake(test::no_claims,
                       fires_with({{"[series.none]", "[mode.quick]\nkeep = { seed = [1] }\n[series.none]"}}));
  const auto seeds = [&](std::optional<u64> seed, const api::Overrides& overrides) {
    StudyOptions o = options();
    std::set<i64> all;
    o.run = [&](const api::Experiment& experiment, const api::RunOptions& run) {
      all.insert(experiment.run.integer("seed"));
      return burn(experiment, run);
    };
    o.mode = Mode::quick;
    o.figures = {"one"};
    o.seed = seed;
    o.overrides = overrides;
    static_cast<void>(run_study(fake.study(), o));
    return all;
  };
  EXPECT_EQ(seeds(std::nullopt, {}), std::set<i64>{1});
  EXPECT_EQ(seeds(7, {}), std::set<i64>{7});
  EXPECT_EQ(seeds(std::nullopt, {"sweep.run.seed=[8, 9]"}), (std::set<i64>{8, 9}));
  try {
    static_cast<void>(seeds(std::nullopt, {"run.seed=7"}));
    FAIL() << "one value is no axis";
  } catch (const ConfigError& error) {
    EXPECT_NE(error.remedy().find("sweep.run.seed=[VALUE]"), std::string::npos) << error.what();
  }
}

/// What a run warns of, a control that cannot act, stands beside the table.
TEST(Fires, SayWhatTheirRunsWarnOf) {
  const FakeStudy fake(test::no_claims, std::string(kFires));
  StudyOptions o = options();
  o.run = [](const api::Experiment& experiment, const api::RunOptions& run) {
    api::Result result = burn(experiment, run);
    if (experiment.switching.integer("buffer") == 6) result.warning = "nothing is held back";
    return result;
  };
  const StudyResult result = run_study(fake.study(), o);
  const auto json = nlohmann::json::parse(to_json(result));
  ASSERT_FALSE(json.at("warnings").empty());
  EXPECT_EQ(json.at("warnings")[0].at("figure"), "one");
  EXPECT_EQ(json.at("warnings")[0].at("series"), "small");
  EXPECT_EQ(json.at("warnings")[0].at("runs"), 3);
  EXPECT_EQ(json.at("warnings")[0].at("warning"), "nothing is held back");
  EXPECT_NE(to_table(result).find("warning: nothing is held back (one small"), std::string::npos) << to_table(result);
}

/// A search over the buffer of `small`, on a seed that no table has.
std::string fires_that_search(const std::string& least = "least = [\"delay\"]") {
  const std::string parameters = "parameters = [\"run.sessions=3\", \"switch.buffer=6\"]";
  return fires_with(
      {{"[series.none]", "[search]\n" + least + "\nset = [\"sweep.run.seed=[7]\"]\n[series.none]"},
       {parameters, parameters + "\nsearch = [{ \"switch.buffer\" = [5, 7], \"run.sessions\" = [4, 1] }]"}});
}

TEST(Fires, HaveTheirBestSetBesideTheOneForAll) {
  const FakeStudy fake(test::no_claims, std::string(kFires), "[small]\none = [\"switch.buffer=5\"]\n");
  StudyOptions o = options();
  o.run = burn;
  std::map<std::string, double> delay;
  std::map<std::string, double> parameters;
  for (const auto& cell : fire_table(run_study(fake.study(), o))) {
    if (cell.column == "delay") delay[cell.remedy] = cell.value.mean;
    if (cell.column == "parameters") parameters[cell.remedy] = cell.value.mean;
  }
  EXPECT_DOUBLE_EQ(delay.at("small"), 632);
  EXPECT_DOUBLE_EQ(delay.at("small_best"), 522);
  EXPECT_DOUBLE_EQ(parameters.at("small"), 2);
  EXPECT_DOUBLE_EQ(parameters.at("small_best"), 1);
  for (const char* wrong : {"[small]\nten = [\"switch.buffer=5\"]\n", "[smal]\none = [\"switch.buffer=5\"]\n",
                            "[small]\ntwo = [\"switch.buffer=5\"]\n"}) {
    const FakeStudy refused(test::no_claims, std::string(kFires), wrong);
    EXPECT_THROW(static_cast<void>(run_study(refused.study(), o)), ConfigError) << wrong;
  }
}

TEST(Fires, AreSearchedForTheBestSet) {
  StudyOptions o = options();
  std::set<i64> seeds;
  o.run = [&](const api::Experiment& experiment, const api::RunOptions& run) {
    seeds.insert(experiment.run.integer("seed"));
    return burn(experiment, run);
  };
  const FakeStudy fake(test::no_claims, fires_that_search());
  const std::string best = search_best(fake.study(), o);
  EXPECT_NE(best.find("[small]\none = [\"run.sessions=4\", \"switch.buffer=5\"]"), std::string::npos) << best;
  EXPECT_EQ(best.find("none"), std::string::npos) << "a series without a search has no best set";
  EXPECT_EQ(seeds, std::set<i64>{7}) << "the search must not choose by the seeds of the table";
  // The file is read as it was written.
  const FakeStudy tuned(test::no_claims, fires_that_search(), best);
  EXPECT_NE(spec_of(tuned.study()).find_series("small_best"), nullptr);
  // What looks for the largest delay finds the other candidate; where a value is missing, the set stays.
  const std::string worst = search_best(FakeStudy(test::no_claims, fires_that_search("most = [\"delay\"]")).study(), o);
  EXPECT_NE(worst.find("switch.buffer=7"), std::string::npos) << worst;
  const std::string none =
      search_best(FakeStudy(test::no_claims, fires_that_search("most = [\"recovery\"]")).study(), [&] {
        StudyOptions never = o;
        never.run = [](const api::Experiment& experiment, const api::RunOptions& run) {
          api::Result result = burn(experiment, run);
          std::erase_if(result.metrics, [](const stats::Metric& m) { return m.name == "recovery"; });
          return result;
        };
        return never;
      }());
  EXPECT_NE(none.find("switch.buffer=6"), std::string::npos) << none;
  EXPECT_THROW(static_cast<void>(search_best(FakeStudy(test::no_claims, std::string(kFires)).study(), o)), ConfigError);
}

TEST(Fires, NameListsOfTheStudy) {
  const auto runs_with = [&](const std::string& lists, const std::string& named) {
    const FakeStudy fake(test::no_claims, fires_with({{"[series.none]", lists + "[series.none]"},
                                                      {"series = [\"none\", \"small\"]", "series = [" + named + "]"}}));
    return spec_of(fake.study()).figure("one")->series;
  };
  const std::string lists = "[lists]\nall = [\"none\", \"small\"]\n";
  EXPECT_EQ(runs_with(lists, "\"@all\""), (std::vector<std::string>{"none", "small"}));
  EXPECT_EQ(runs_with("", "\"small\", \"none\""), (std::vector<std::string>{"small", "none"}));
  EXPECT_THROW(static_cast<void>(runs_with(lists, "\"@al\"")), ConfigError);
}

TEST(Fires, AnnounceWhatIsToCome) {
  std::size_t runs = 0;
  double seconds = -1;
  StudyOptions o = options();
  o.run = burn;
  o.figures = {"one"};
  o.announce = [&](const std::vector<api::Experiment>& all, double sum) {
    runs = all.size();
    seconds = sum;
  };
  static_cast<void>(run_study(FakeStudy(test::no_claims, std::string(kFires)).study(), o));
  EXPECT_EQ(runs, 6U);
  EXPECT_EQ(seconds, 0) << "no figure says what a run takes";
  const FakeStudy known(test::no_claims, fires_with({{"title = \"Fire one\"", "title = \"Fire one\"\nseconds = 2.5"}}));
  static_cast<void>(run_study(known.study(), o));
  EXPECT_EQ(seconds, 15);
}

/// Six runs of two and a half seconds each: what was made before takes no time, and what takes time is believed.
TEST(Fires, ForeseeWhatIsLeftFromWhatRunsCost) {
  const FakeStudy known(test::no_claims, fires_with({{"title = \"Fire one\"", "title = \"Fire one\"\nseconds = 2.5"}}));
  std::vector<double> left;
  StudyOptions o = options();
  o.run = burn;
  o.has = [](const api::Experiment&) { return true; };
  o.figures = {"one"};
  o.progress = [](u64, u64) {};
  o.left = [&](std::optional<double> seconds) { left.push_back(seconds.value_or(-1.0)); };
  static_cast<void>(run_study(known.study(), o));
  ASSERT_EQ(left.size(), 6U);
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(left[i], 2.5 * static_cast<double>(5 - i), 1e-9);
  // A machine that is a thousand times as fast shows it soon.
  left.clear();
  o.has = nullptr;
  o.run = [](const api::Experiment& e, const api::RunOptions& run) {
    run.progress(1, 2);
    return burn(e, run);
  };
  static_cast<void>(run_study(known.study(), o));
  ASSERT_EQ(left.size(), 12U);
  EXPECT_LT(left.front(), 1.0) << "1.25 of 15 seconds are more than a twentieth";
  EXPECT_NEAR(left.back(), 0.0, 1e-9);
}

/// Four of six runs were made before, and no figure says what a run takes: nothing is known until the first is made,
/// and then what that one took is believed, and not that four took nothing.
TEST(Fires, TellNothingOfTheTimeThatIsLeftFromRunsOfBefore) {
  const FakeStudy fake(test::no_claims, std::string(kFires));
  std::vector<std::optional<double>> left;
  std::size_t asked = 0;
  constexpr std::chrono::milliseconds kRun{40};
  StudyOptions o = options();
  o.figures = {"one"};
  o.has = [&](const api::Experiment&) { return asked++ < 4; };
  o.run = [&](const api::Experiment& e, const api::RunOptions& run) {
    if (asked > 4) std::this_thread::sleep_for(kRun);
    return burn(e, run);
  };
  o.progress = [](u64, u64) {};
  o.left = [&](std::optional<double> seconds) { left.push_back(seconds); };
  static_cast<void>(run_study(fake.study(), o));
  ASSERT_EQ(left.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_FALSE(left[i]) << i;
  ASSERT_TRUE(left[4]);
  EXPECT_GE(*left[4], std::chrono::duration<double>(kRun).count());
  EXPECT_NEAR(left[5].value_or(-1.0), 0.0, 1e-9);
}

TEST(Fires, AreChosenByName) {
  const FakeStudy fake(test::no_claims, std::string(kFires));
  const auto ids = [&](Mode mode, const std::vector<std::string>& fires) {
    StudyOptions o = options(mode);
    o.run = burn;
    o.fires = fires;
    std::vector<std::string> names;
    for (const auto& figure : run_study(fake.study(), o).figures) names.push_back(figure.spec.id);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(ids(Mode::standard, {"one"}), (Names{"one", "one-time"}));
  EXPECT_EQ(ids(Mode::standard, {"one", "one"}), (Names{"one", "one-time"}));
  EXPECT_EQ(ids(Mode::standard, {"two"}), Names{"two"}) << "asked for by name, whatever the form";
  EXPECT_EQ(ids(Mode::standard, {}), (Names{"one", "one-time"}));
  try {
    ids(Mode::standard, {"tow"});
    FAIL() << "no such fire";
  } catch (const ConfigError& error) { EXPECT_NE(std::string(error.what()).find("'two'"), std::string::npos); }
}

TEST(StudyOutput, ADumpLoadsAgain) {
  const study::Study& real = study::find_study("extra-stage-cube");
  StudyOptions o = options(Mode::quick);
  o.figures = {"6", "short-mean"};
  o.run = [](const api::Experiment& e, const api::RunOptions&) {
    api::Result result = test::fake_result(e);
    for (const char* name : {"mu_syn", "mu_bg_tot", "mu_bg_hs"}) result.metrics.push_back(test::metric(name, 10, 1));
    result.metrics.push_back(test::metric("sessions", 20, 0));
    for (const char* name : {"generated_hot_background", "generated_synchronization"}) {
      result.series.push_back({name, "packets", 0.0, 1.0, {3.0, 1.0}});
    }
    return result;
  };
  const StudyResult result = run_study(real, o);
  const StudyResult again = study::load(dump(result));
  EXPECT_TRUE(dump(result) == dump(again));
  EXPECT_EQ(to_json(result), to_json(again));
  EXPECT_EQ(to_csv(result, result.figures[0]), to_csv(again, again.figures[0]));
  EXPECT_EQ(result.state_hash(), again.state_hash());
  EXPECT_THROW(static_cast<void>(study::load("{\"study\": 3}")), ConfigError);
  EXPECT_THROW(static_cast<void>(study::load("no json")), ConfigError);
}

}  // namespace
}  // namespace banyan::run_study_test
