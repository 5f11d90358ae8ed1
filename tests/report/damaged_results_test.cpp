// Whatever is changed in a file of results: is it read, or refused with one clear error, by everything that reads it?
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "banyan/api/experiment.hpp"
#include "banyan/api/export.hpp"
#include "banyan/api/measure/compare.hpp"
#include "banyan/api/result_file.hpp"
#include "banyan/api/verify.hpp"
#include "banyan/base/error.hpp"
#include "banyan/report/sweep_report.hpp"
#include "banyan/study/study.hpp"

namespace banyan::report::damaged_results_test {
namespace {

using nlohmann::ordered_json;

const std::string kSwept =
    "topology = { name = \"mesh\", size = [3, 3] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
    "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.3 }\n"
    "[run]\nwarmup = 200\nmeasure = 1500\nwindow = 100\ntables = \"all\"\n[sweep]\n\"traffic.load\" = [0.2, 0.3]\n";
const std::string kSessions =
    "topology = { name = \"extra_stage_cube\", terminals = 16, radix = 4 }\n"
    "switch = { name = \"output_queued\", buffer = 8 }\nrouting = \"isolated_hot_spot\"\n"
    "[[traffic]]\nname = \"synchronization\"\nmean = 50\ndeviation = 5\n"
    "[[traffic]]\nname = \"uniform\"\nload = 0.3\ninclude_self = true\n[run]\nsessions = 6\nseries = \"all\"\n";

/// The JSON of a run of each kind and of a sweep.
const std::vector<std::string>& files() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    const api::ExperimentSet set = api::read_experiments_text(kSwept, "test.toml", {});
    std::vector<api::Result> results;
    for (const api::Experiment& point : set.points) results.push_back(api::run(point));
    all.push_back(api::to_json(results.front()));
    all.push_back(api::to_json(set, results));
    all.push_back(api::to_json(set, results, api::Costs::left_out));
    all.push_back(api::to_json(api::run(api::read_experiments_text(kSessions, "test.toml", {}).points.front())));
    return all;
  }();
  return texts;
}

/// What every command that reads results does with a file, but for the runs of verify. The page takes a hundred times
/// as long as the rest: it is made of every hundredth file that is read.
void use(const std::string& text, const api::Runs& other) {
  static u32 read = 0;
  const api::ResultFile file = api::read_result_file(text, "f.json");
  const api::RunsComparison comparison = api::compare(file.runs, other);
  static_cast<void>(api::to_text(comparison, file.runs, other));
  static_cast<void>(api::to_json(comparison));
  static_cast<void>(api::to_text(api::compare(other, file.runs), other, file.runs));
  api::ExperimentSet set;
  set.file = file.experiment;
  set.axis_names = file.runs.axis_names;
  for (const auto& axes : file.runs.axes) set.points.emplace_back().axes = axes;
  if (read++ % 100 == 0) static_cast<void>(sweep_page(set, file.runs.results, set.points.size()));
  static_cast<void>(api::to_csv(set, file.runs.results));
  static_cast<void>(api::to_table(set, file.runs.results));
}

/// Everything is well, or one error with cause and remedy, and not in the words of a library.
bool answered(const std::function<void()>& act) {
  try {
    act();
    return true;
  } catch (const ConfigError& error) {
    const std::string said = error.what();
    return !error.cause().empty() && !error.remedy().empty() && said.find("exception") == std::string::npos &&
           said.find("syntax error") == std::string::npos && said.find("type must be") == std::string::npos;
  }
}

TEST(DamagedResults, UntouchedFilesAreUsed) {
  for (const std::string& text : files()) use(text, api::read_result_file(text, "g.json").runs);
}

ordered_json edge_value(u32 kind) {
  static const std::vector<ordered_json> values{nullptr,
                                                true,
                                                0,
                                                -1,
                                                1e308,
                                                -1e308,
                                                5e-324,
                                                0.5,
                                                1e18,
                                                "",
                                                "x",
                                                "1 2 3",
                                                u64{1} << 63U,
                                                std::numeric_limits<u64>::max(),
                                                4294967296,
                                                ordered_json::array(),
                                                ordered_json::object(),
                                                "\u202e\u001b"};
  return values[kind % values.size()];
}

/// The places of all values, as pointers.
void collect(const ordered_json& value, const ordered_json::json_pointer& at,
             std::vector<ordered_json::json_pointer>& places) {
  if (!value.is_structured()) {
    places.push_back(at);
    return;
  }
  places.push_back(at);
  std::size_t i = 0;
  for (const auto& [key, item] : value.items()) {
    collect(item, value.is_array() ? at / i++ : at / key, places);
    if (i > 3) break;  // of a long list the first few
  }
}

/// Every `step`-th value of every file is made two of the edge values, and once it is missing.
void change_values(std::size_t step) {
  u32 kind = 0;
  for (const std::string& text : files()) {
    const api::Runs other = api::read_result_file(text, "g.json").runs;
    const ordered_json whole = ordered_json::parse(text);
    std::vector<ordered_json::json_pointer> places;
    collect(whole, ordered_json::json_pointer(), places);
    for (std::size_t p = kind % step; p < places.size(); p += step) {
      const auto& place = places[p];
      for (int i = 0; i < 2; ++i) {
        ordered_json changed = whole;
        changed[place] = edge_value(kind++);
        EXPECT_TRUE(answered([&] { use(changed.dump(), other); })) << place.to_string() << changed[place].dump();
      }
      if (place.empty() || !whole[place.parent_pointer()].is_object()) continue;
      ordered_json changed = whole;
      changed[place.parent_pointer()].erase(place.back());
      EXPECT_TRUE(answered([&] { use(changed.dump(), other); })) << "without " << place.to_string();
    }
  }
}

/// Members that a run has or has not, as it went and was asked.
bool optional_member(const std::string& key) {
  for (const char* name : {"warning", "series", "tables", "jobs", "checkpoints", "profile"}) {
    if (key == name) return true;
  }
  return false;
}

/// Metrics of which nothing else in the file tells that they were there: counters, and those without an interval.
bool told_by_nothing(const ordered_json& metric) { return metric.value("half_width", ordered_json()).is_null(); }

/// Every member of every object of a result, removed alone: it is optional, or the error names it with its line.
TEST(DamagedResults, EveryMissingMemberIsNamedWithItsPlace) {
  std::size_t refused = 0;
  for (const std::string& text : files()) {
    const ordered_json whole = ordered_json::parse(text);
    const bool sweep = whole.contains("points");
    const ordered_json::json_pointer top =
        sweep ? ordered_json::json_pointer("/points/0") : ordered_json::json_pointer();
    const auto expect_named = [&](const ordered_json::json_pointer& place) {
      ordered_json changed = whole;
      changed[place.parent_pointer()].erase(place.back());
      try {
        static_cast<void>(api::read_result_file(changed.dump(2), "f.json"));
        ADD_FAILURE() << "read without " << place.to_string();
      } catch (const ConfigError& error) {
        EXPECT_NE(error.cause().find(place.back()), std::string::npos) << place.to_string() << ": " << error.what();
        EXPECT_EQ(error.where().file, "f.json") << error.what();
        EXPECT_GT(error.where().line, 0U) << place.to_string() << ": " << error.what();
        ++refused;
      }
    };
    for (const auto& [key, value] : whole[top].items()) {
      if (!optional_member(key) && key != "points") expect_named(top / key);
    }
    for (const auto& [name, metric] : whole[top / "metrics"].items()) {
      for (const auto& [key, value] : metric.items()) expect_named(top / "metrics" / name / key);
      const bool required = name == "simulated_cycles" || name == "delivered_packets" || name == "delivered_flits";
      const bool at_load = whole[top / "verdict"] == "steady" && required;
      if (at_load || !told_by_nothing(metric)) expect_named(top / "metrics" / name);
    }
    for (const auto& [key, value] : whole[top / "groups"].items()) expect_named(top / "groups" / key);
    for (const auto& [name, lists] : whole[top / "groups" / "metrics"].items()) {
      for (const auto& [key, value] : lists.items()) expect_named(top / "groups" / "metrics" / name / key);
    }
  }
  EXPECT_GT(refused, 300U);
}

TEST(DamagedResults, AnyValueMayBeAnyOther) { change_values(13); }
TEST(SlowDamagedResults, EveryValueMayBeAnyOther) { change_values(1); }

RC_GTEST_PROP(DamagedResults, AnyBytesMayBeChanged, (u32 which, const std::vector<std::pair<u32, u32>>& edits)) {
  static const std::vector<std::string> kPieces{"1e308", "-", "9", "\"",   "{",    "}",
                                                "[",     "]", ",", "null", "\x1b", "\xff"};
  const std::string& whole = files()[which % files().size()];
  std::string text = whole;
  for (const auto& [at, piece] : edits) {
    const std::string& insert = kPieces[piece % kPieces.size()];
    text.replace(at % text.size(), piece / 16 % 4, insert);
  }
  const api::Runs other = api::read_result_file(whole, "g.json").runs;
  RC_ASSERT(answered([&] { use(text, other); }));
}

/// What fits its shape is run again; whatever else it says, it is told from what this program gives.
TEST(DamagedResults, VerifyAnswersWhateverFits) {
  const std::string& text = files().front();
  const ordered_json whole = ordered_json::parse(text);
  std::vector<ordered_json::json_pointer> places;
  collect(whole, ordered_json::json_pointer(), places);
  u32 kind = 0;
  for (std::size_t i = 0; i < places.size(); i += 3) {
    ordered_json changed = whole;
    changed[places[i]] = edge_value(kind++);
    const std::string printed = changed.dump();
    EXPECT_TRUE(answered([&] {
      api::VerifyOptions options;
      const api::ResultFile file = api::read_result_file(printed, "f.json");
      options.printed = file.runs.printed.front();
      static_cast<void>(api::verify(file.runs.results.front(), options));
    })) << places[i].to_string();
  }
}

TEST(DamagedResults, AStudyMayBeDamagedAnywhere) {
  const ordered_json run = ordered_json::parse(files().front());
  const ordered_json whole{
      {"study", "extra-stage-cube"},
      {"mode", "quick"},
      {"figures",
       {{{"id", "nothing"}, {"csv", "a"}, {"points", {{{"series", "s"}, {"axes", {{"load", "0.2"}}}, {"run", 0}}}}}}},
      {"claims",
       {{{"id", "a"},
         {"section", "b"},
         {"claim", "c"},
         {"measured", "d"},
         {"verdict", "reproduced"},
         {"expected", true},
         {"note", ""},
         {"undecided", 0}}}},
      {"runs", ordered_json::array({run})}};
  std::vector<ordered_json::json_pointer> places;
  collect(whole, ordered_json::json_pointer(), places);
  u32 kind = 0;
  for (const auto& place : places) {
    ordered_json changed = whole;
    changed[place] = edge_value(kind++);
    EXPECT_TRUE(answered([&] { static_cast<void>(study::load(changed.dump())); })) << place.to_string();
  }
  EXPECT_TRUE(answered([&] { static_cast<void>(study::load("{")); }));
  EXPECT_TRUE(answered([&] { static_cast<void>(study::load("[1]")); }));
}

TEST(DamagedResults, WindowsOfAbsurdLengthHaveNoPartner) {
  const std::string& text = files().front();
  const api::Runs other = api::read_result_file(text, "g.json").runs;
  for (const double cycles : {1e308, 1e18, 1e9, 0.0, 5e-324, 0.3}) {
    ordered_json changed = ordered_json::parse(text);
    changed["groups"]["cycles"] = cycles;
    EXPECT_TRUE(answered([&] { use(changed.dump(), other); })) << cycles;
  }
}

}  // namespace
}  // namespace banyan::report::damaged_results_test
