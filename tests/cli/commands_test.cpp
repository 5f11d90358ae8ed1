// Do the commands keep their promises to scripts: one JSON object, stable order, whole files, exit statuses?
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "build_info.hpp"
#include "cli/program.hpp"

namespace banyan::cli::commands_test {
namespace {

using nlohmann::json;

class Commands : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("swept.toml", kSwept);
  }

  static std::vector<std::string> files_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch() / folder)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Commands, RunPrintsExactlyOneJsonObject) {
  const Said said = banyan({"run", "steady.toml", "load=0.5", "--json", "--seed", "3", "--threads", "2"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json object = json::parse(said.out);
  for (const char* key : {"banyan", "state_hash", "configuration", "verdict", "metrics", "cpu_seconds", "peak_bytes"}) {
    EXPECT_TRUE(object.contains(key)) << key;
  }
  EXPECT_EQ(object["banyan"], BANYAN_VERSION);
  EXPECT_EQ(object["configuration"]["run"]["seed"], 3);
  EXPECT_EQ(object["configuration"]["traffic"][0]["load"], 0.5);
  EXPECT_EQ(object["configuration"]["switch"]["name"], "output_queued");
  const json& latency = object["metrics"]["packet_latency"];
  for (const char* key : {"mean", "half_width", "confidence", "count", "unit"})
    EXPECT_TRUE(latency.contains(key)) << key;
}

TEST_F(Commands, ARunDependsOnItsSeedAndOnNothingElse) {
  const auto hash = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"run", "steady.toml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json::parse(banyan(arguments).out)["state_hash"].get<std::string>();
  };
  const std::string one = hash({"--seed", "1"});
  EXPECT_EQ(hash({}), one);
  EXPECT_EQ(hash({"--threads", "2"}), one);
  EXPECT_EQ(hash({"run.step_order=permuted"}), one);
  EXPECT_NE(hash({"--seed", "2"}), one);
}

TEST_F(Commands, ARunSaysWhyItIsUncertain) {
  const Said said = banyan({"run", "steady.toml", "measure=100"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "steady: steady (uncertain), seed 1"));
  EXPECT_TRUE(contains(said.out, "uncertain whether it is steady: of the offered load ")) << said.out;
}

TEST_F(Commands, ARunPrintsATableWithIntervals) {
  const Said said = banyan({"run", "steady.toml"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "steady: steady, seed 1"));
  EXPECT_TRUE(contains(said.out, "packet_latency"));
  EXPECT_TRUE(contains(said.out, "± 95 %"));
  EXPECT_EQ(said.err, "");
}

TEST_F(Commands, OutHoldsWholeFilesAndNothingElse) {
  ASSERT_EQ(banyan({"run", "steady.toml", "--out", "deep/folder"}).status, 0);
  EXPECT_EQ(files_in("deep/folder"), (std::vector<std::string>{"result.csv", "result.json", "results.sqlite"}));
  EXPECT_TRUE(json::parse(read_text(scratch() / "deep/folder/result.json")).contains("metrics"));
  ASSERT_EQ(banyan({"sweep", "swept.toml", "--out", "swept"}).status, 0);
  EXPECT_EQ(files_in("swept"), (std::vector<std::string>{"results.csv", "results.json", "results.sqlite"}));
}

TEST_F(Commands, ASweepIsTheSameForAnyNumberOfThreads) {
  const Said one = banyan({"sweep", "swept.toml", "--csv", "--threads", "1"});
  const Said three = banyan({"sweep", "swept.toml", "--csv", "--threads", "3"});
  ASSERT_EQ(one.status, 0) << one.err;
  EXPECT_EQ(one.out, three.out);
  EXPECT_TRUE(one.out.starts_with("traffic.uniform.load,buffer,verdict,state_hash,"));
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 7);
}

TEST_F(Commands, APointOfASweepEqualsItsOwnRun) {
  const json all = json::parse(banyan({"sweep", "swept.toml", "--json"}).out);
  ASSERT_EQ(all["points"].size(), 6U);
  EXPECT_EQ(all["axes"], json::parse(R"(["traffic.uniform.load","buffer"])"));
  EXPECT_EQ(all["points"][2]["axes"]["traffic.uniform.load"], "0.2");
  const json alone = json::parse(banyan({"run", "swept.toml", "load=0.2", "buffer=4", "--json"}).out);
  EXPECT_EQ(all["points"][2]["state_hash"], alone["state_hash"]);
  EXPECT_EQ(all["points"][2]["configuration"], alone["configuration"]);
}

TEST_F(Commands, ASweepIsDrawnAsOneChart) {
  const Said said = banyan({"sweep", "swept.toml", "--svg", "chart.svg", "--metric", "packet_latency"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(read_text(scratch() / "chart.svg"), "<svg"));
  EXPECT_TRUE(contains(said.out, "packet_latency"));
  EXPECT_FALSE(contains(said.out, "accepted_load"));
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(Commands, EveryChosenMetricIsDrawn) {
  const Said said =
      banyan({"sweep", "swept.toml", "--svg", "chart.svg", "--metric", "packet_latency", "--metric", "accepted_load"});
  ASSERT_EQ(said.status, 0) << said.err;
  const std::string svg = read_text(scratch() / "chart.svg");
  EXPECT_EQ(count_of(svg, "class=\"title\""), 2U);
  EXPECT_TRUE(contains(svg, "Packet latency") && contains(svg, "Accepted load")) << svg.substr(0, 400);
}

TEST_F(Commands, SeedsAloneAreNotPlottedBeforeAnythingRuns) {
  write_text("seeds.toml", kSteady + "[sweep]\n\"run.seed\" = [1, 2]\n");
  const Said said = banyan({"sweep", "seeds.toml", "--svg", "x.svg", "--out", "out"});
  expect_refusal(said, "no axis to plot over", "banyan report DIR");
  EXPECT_FALSE(std::filesystem::exists(scratch() / "out"));
  // What the remedy names shows the points.
  ASSERT_EQ(banyan({"sweep", "seeds.toml", "--quiet", "--out", "out"}).status, 0);
  EXPECT_EQ(banyan({"report", "out"}).status, 0);
}

/// Names of the sweep stand in the table, under the plot and beside progress, and never raw TOML.
TEST_F(Commands, AnAxisOfNamesIsDrawnAndCalledByThem) {
  write_text("words.toml", kSteady +
                               "[sweep]\nrouting = [\"destination_tag\", { name = \"isolated_hot_spot\" }]\n"
                               "names = { routing = [\"tags\", \"isolated\"] }\n");
  const Said said = banyan({"sweep", "words.toml", "--plot"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(count_of(said.out + said.err, "tags"), 2U) << said.out;
  EXPECT_EQ(count_of(said.out + said.err, "isolated"), 2U) << said.out;
  EXPECT_FALSE(contains(said.out + said.err, "{")) << said.out;
}

/// Points are as uncertain as they are short: the table says why and what to do, the drawing marks them.
TEST_F(Commands, UncertainPointsOfASweepAreExplainedAndMarked) {
  const Said said = banyan({"sweep", "swept.toml", "run.measure=60", "run.extension=1", "--svg", "x.svg"});
  ASSERT_EQ(said.status, 0) << said.err;
  ASSERT_TRUE(contains(said.out, "(uncertain)")) << said.out;
  EXPECT_TRUE(contains(said.out, "uncertain whether it is")) << said.out;
  EXPECT_TRUE(contains(read_text(scratch() / "x.svg"), "class=\"doubt\""));
}

/// A metric that only the whole run can report is no mistake: 500 cycles end before the disturbance begins.
TEST_F(Commands, AMetricOfTheWholeRunIsNotDoubted) {
  write_text("incast.toml", kIncast + "[sweep]\n\"traffic.uniform.load\" = [0.1, 0.2]\n");
  const Said said = banyan({"sweep", "incast.toml", "--metric", "throughput_during", "--quiet"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_TRUE(contains(said.out, "throughput_during")) << said.out;
  expect_refusal(banyan({"sweep", "incast.toml", "--metric", "throughput_durin", "--quiet"}), "is no metric",
                 "throughput_during");
}

TEST_F(Commands, ExportShowsWhatTheCsvHas) {
  write_text("job.toml", kJob);
  write_text("incast.toml", kIncast);
  ASSERT_EQ(banyan({"run", "job.toml", "--quiet", "--out", "job"}).status, 0);
  ASSERT_EQ(banyan({"run", "incast.toml", "--quiet", "--out", "incast"}).status, 0);
  ASSERT_EQ(banyan({"sweep", "job.toml", "sweep.job.host.overhead=[0, 100]", "--quiet", "--out", "jobs"}).status, 0);
  const auto expect_all = [](const char* folder, const std::vector<std::string>& names) {
    const Said text = banyan({"export", folder});
    const Said csv = banyan({"export", folder, "--csv"});
    ASSERT_EQ(text.status, 0) << text.err;
    for (const std::string& name : names) {
      EXPECT_TRUE(contains(csv.out, name)) << name;
      EXPECT_TRUE(contains(text.out, name)) << name << "\n" << text.out;
    }
  };
  expect_all("job", {"completion", "slowdown_alone.ring", "slowdown_ideal.ring", "messages"});
  expect_all("jobs", {"completion", "slowdown_alone.ring", "slowdown_ideal.ring", "messages"});
  expect_all("incast", {"incast_completion_last", "victim_latency_p99", "throughput_during", "accepted_load"});
  const Said swept = banyan({"sweep", "job.toml", "sweep.job.host.overhead=[0, 100]", "--quiet"});
  EXPECT_TRUE(contains(swept.out, "completion")) << swept.out;
}

TEST_F(Commands, TimesOfJobsAreWrittenAsTablesWriteThem) {
  write_text("job.toml", kJob);
  const Said said = banyan({"run", "job.toml"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_FALSE(contains(said.out, "00000")) << said.out;
  EXPECT_FALSE(contains(said.out, "99999")) << said.out;
  // Operations are numbered as in JSON.
  const json path = json::parse(banyan({"run", "job.toml", "--json"}).out)["jobs"][0]["critical_path"];
  for (const json& step : path) {
    const std::string name = "operation " + std::to_string(step["operation"].get<int>()) + " (";
    EXPECT_TRUE(contains(step["what"].get<std::string>(), name)) << step.dump();
  }
}

TEST_F(Commands, BehindASymbolicLinkTheNamedFileIsWrittenAndDevicesStayWhatTheyAre) {
  namespace fs = std::filesystem;
  const auto draw_to = [&](const char* path) {
    return banyan({"sweep", "swept.toml", "--svg", path, "--metric", "packet_latency"});
  };
  fs::create_symlink("target.svg", scratch() / "link.svg");
  const Said linked = draw_to("link.svg");
  ASSERT_EQ(linked.status, 0) << linked.err;
  EXPECT_TRUE(fs::is_symlink(scratch() / "link.svg"));
  EXPECT_TRUE(contains(read_text(scratch() / "target.svg"), "<svg"));

  fs::create_symlink("/dev/null", scratch() / "null.svg");
  const Said nothing = draw_to("null.svg");
  ASSERT_EQ(nothing.status, 0) << nothing.err;
  EXPECT_TRUE(fs::is_symlink(scratch() / "null.svg"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));

  fs::create_symlink("/dev/full", scratch() / "full.svg");
  const Said full = draw_to("full.svg");
  EXPECT_EQ(full.status, 2) << full.err;
  EXPECT_TRUE(contains(full.err, "No space left")) << full.err;
}

TEST_F(Commands, APlotIsAQuickLookInTheTerminal) {
  const Said said = banyan({"sweep", "swept.toml", "--plot"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "● load = 0.1"));
  EXPECT_TRUE(contains(said.out, "packet_latency (cycles)"));
  EXPECT_FALSE(contains(said.out, "\x1b")) << "colour is for terminals";
  const Said scripted = banyan({"sweep", "swept.toml", "--plot", "--json", "--quiet"});
  EXPECT_TRUE(json::parse(scripted.out).contains("points")) << "standard output stays one object";
  EXPECT_TRUE(contains(scripted.err, "● load = 0.1"));
  const Said run = banyan({"run", "steady.toml", "--plot"});
  EXPECT_EQ(run.status, 0) << "a run without time series is done all the same";
  EXPECT_TRUE(contains(run.err, "no time series to plot"));
}

TEST_F(Commands, CheckAcceptsWhatRuns) {
  const Said said = banyan({"check", "swept.toml"});
  EXPECT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(contains(said.out, "a sweep of 6 points"));
}

TEST_F(Commands, DescribeTellsEveryComponent) {
  for (const char* name : {"extra_stage_cube", "output_queued", "destination_tag", "uniform", "run"}) {
    EXPECT_TRUE(contains(banyan({"describe"}).out, name));
    EXPECT_TRUE(contains(banyan({"describe", name}).out, name));
    EXPECT_EQ(json::parse(banyan({"describe", name, "--json"}).out)[0]["name"], name);
    EXPECT_TRUE(contains(banyan({"describe", name, "--markdown"}).out, "| parameter |"));
  }
  EXPECT_EQ(json::parse(banyan({"describe", "--schema"}).out)["title"], "Banyan experiment");
  EXPECT_EQ(banyan({"describe", "mesh", "--schema"}).status, 2) << "the schema is of all components";
}

TEST_F(Commands, HelpAndVersionAreDone) {
  EXPECT_EQ(banyan({"--version"}).out, "banyan " BANYAN_VERSION "\n");
  for (const auto& arguments : std::vector<std::vector<std::string>>{
           {"--help"}, {"run", "--help"}, {"sweep", "-h"}, {"study", "run", "--help"}}) {
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 0);
    EXPECT_TRUE(contains(said.out, "Usage"));
  }
}

TEST_F(Commands, HelpFitsATerminalOf80Columns) {
  const std::vector<std::vector<std::string>> commands = {{},
                                                          {"run"},
                                                          {"sweep"},
                                                          {"merge"},
                                                          {"convert"},
                                                          {"workload"},
                                                          {"workload", "info"},
                                                          {"export"},
                                                          {"trees"},
                                                          {"report"},
                                                          {"compare"},
                                                          {"saturation"},
                                                          {"verify"},
                                                          {"check"},
                                                          {"study"},
                                                          {"study", "run"},
                                                          {"study", "search"},
                                                          {"study", "report"},
                                                          {"export-topology"},
                                                          {"describe"},
                                                          {"completion"},
                                                          {"manual"}};
  for (std::vector<std::string> command : commands) {
    command.emplace_back("--help");
    const Said said = banyan(command);
    EXPECT_EQ(said.status, 0) << said.err;
    std::istringstream lines(said.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST_F(Commands, StudiesAreListed) {
  EXPECT_TRUE(contains(banyan({"study", "list", "--names"}).out, "extra-stage-cube\n"));
  EXPECT_TRUE(contains(banyan({"study", "list"}).out, "extra-stage-cube\n  "));
  std::vector<std::string> names;
  for (const json& study : json::parse(banyan({"study", "list", "--json"}).out)) names.push_back(study["study"]);
  EXPECT_EQ(names, (std::vector<std::string>{"circuit-torus", "congestion-trees", "extra-stage-cube", "hypercube-qap",
                                             "jobs", "multidestination-worms", "remedies", "silicon"}));
}

TEST_F(Commands, AStudyOfFilesSaysWhatItNeeds) {
  const Said bare = banyan({"study", "run", "silicon"});
  EXPECT_EQ(bare.status, 2);
  EXPECT_TRUE(contains(bare.err, "needs traces of the networks of a Wormhole chip")) << bare.err;
  EXPECT_TRUE(contains(bare.err, "--traces DIR")) << bare.err;
  EXPECT_EQ(banyan({"study", "run", "remedies", "--quick", "--traces", "."}).status, 2);
  EXPECT_EQ(banyan({"study", "run", "silicon", "--traces", "no such folder"}).status, 2);

  std::filesystem::create_directory(scratch() / "traces");
  write_text("traces/1x1_BLOCK_TO_1x1.json", R"([
    {"proc": "NCRISC", "zone": "NCRISC-KERNEL", "zone_phase": "begin", "sx": 1, "sy": 1, "timestamp": 100},
    {"proc": "NCRISC", "noc": "NOC_0", "sx": 1, "sy": 1, "dx": 2, "dy": 1, "num_bytes": 4096, "type": "READ",
     "timestamp": 300},
    {"proc": "NCRISC", "noc": "NOC_0", "sx": 1, "sy": 1, "dx": -1, "dy": -1, "num_bytes": 0,
     "type": "READ_BARRIER_START", "timestamp": 400},
    {"proc": "NCRISC", "noc": "NOC_0", "sx": 1, "sy": 1, "dx": -1, "dy": -1, "num_bytes": 0,
     "type": "READ_BARRIER_END", "timestamp": 900}])");
  const Said said =
      banyan({"study", "run", "silicon", "--traces", "traces", "--json", "--out", "page", "barrier_overhead=10"});
  ASSERT_EQ(said.status, 0) << said.err;
  EXPECT_TRUE(std::filesystem::is_regular_file(scratch() / "page" / "report.html"));
  // Its page and its table can be had again, without the traces.
  const std::string page = read_text(scratch() / "page/report.html");
  const std::string table =
      banyan({"study", "run", "silicon", "--traces", "traces", "--out", "page", "barrier_overhead=10"}).out;
  std::filesystem::remove_all(scratch() / "page" / "report.html");
  EXPECT_EQ(banyan({"study", "report", "page"}).out, table);
  EXPECT_EQ(read_text(scratch() / "page/report.html"), page);
  EXPECT_EQ(banyan({"report", "page", "--out", "again"}).status, 0);
  EXPECT_EQ(read_text(scratch() / "again/report.html"), page);
  EXPECT_TRUE(contains(banyan({"study", "report", "page", "--judge"}).err, "study 'silicon' has no claims"));
  write_text("page/study.json", R"({"study": "silicon", "measured": "", "table": "", "tiles": [["1"]]})");
  const Said damaged = banyan({"study", "report", "page"});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_TRUE(contains(damaged.err, "study.json:1:")) << damaged.err;
  const json study = json::parse(said.out);
  ASSERT_EQ(study["traces"].size(), 1U);
  EXPECT_EQ(study["traces"][0]["barriers"], 1);
  EXPECT_EQ(study["traces"][0]["class"], "block to block");
  EXPECT_EQ(study["traces"][0]["median_error"], study["traces"][0]["worst_error"]);
  EXPECT_EQ(study["constants"]["barrier_overhead"], "10");
  EXPECT_TRUE(contains(banyan({"study", "run", "silicon", "--traces", "traces"}).out, "max-min"));
  // What is no trace is told, and costs the others nothing.
  write_text("traces/broken.json", "[{\"proc\": 3}]");
  const Said partly =
      banyan({"study", "run", "silicon", "--traces", "traces", "--json", "--out", "page", "barrier_overhead=10"});
  EXPECT_EQ(partly.status, 2);
  EXPECT_TRUE(contains(partly.err, "broken.json: event 1: ")) << partly.err;
  json rest = json::parse(partly.out);
  EXPECT_EQ(rest["refused"][0]["trace"], "broken.json");
  rest["refused"].clear();
  EXPECT_EQ(rest, study);
  std::filesystem::remove(scratch() / "traces/broken.json");
  const Said unknown = banyan({"study", "run", "silicon", "--traces", "traces", "l1_latncy=3"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "l1_latency")) << unknown.err;
}

TEST_F(Commands, AStudyRunsOneFire) {
  const Said said = banyan({"study", "run", "remedies", "--quick", "--fire", "cube", "--json", "--quiet", "--out",
                            "fire", "run.sessions=2"});
  ASSERT_EQ(said.status, 0) << said.err;
  const json study = json::parse(said.out);
  for (const json& cell : study["table"]) EXPECT_EQ(cell["fire"], "cube");
  EXPECT_GT(study["table"].size(), 10U);
  const Said unknown = banyan({"study", "run", "remedies", "--fire", "strom", "--out", "misspelt"});
  EXPECT_FALSE(std::filesystem::exists("misspelt")) << "a name that is not there leaves a folder behind";
  EXPECT_EQ(unknown.status, 2);
  EXPECT_TRUE(contains(unknown.err, "did you mean 'storm'?")) << unknown.err;
  const Said none = banyan({"study", "run", "extra-stage-cube", "--fire", "storm", "--out", "fire"});
  EXPECT_EQ(none.status, 2);
  EXPECT_TRUE(contains(none.err, "has no fires")) << none.err;
}

TEST_F(Commands, AStudyWritesItsReportAndCanWriteItAgain) {
  const Said said = banyan({"study", "run", "extra-stage-cube", "--quick", "--figure", "5", "--json", "--quiet",
                            "--out", "study", "run.sessions=2"});
  ASSERT_TRUE(said.status == 0 || said.status == 1) << said.err;
  EXPECT_EQ(said.err, "");
  const json object = json::parse(said.out);
  EXPECT_EQ(object["study"], "extra-stage-cube");
  ASSERT_EQ(object["figures"].size(), 1U);
  EXPECT_EQ(object["figures"][0]["id"], "5");
  bool expected_holds = true;
  for (const json& claim : object["claims"]) {
    const bool holds = claim["verdict"] == "reproduced" || claim["verdict"] == "not tested";
    if (claim["expected"].get<bool>() && !holds) expected_holds = false;
  }
  EXPECT_EQ(said.status, expected_holds ? 0 : 1);
  EXPECT_TRUE(contains(read_text(scratch() / "study/report.html"), "<html"));
  EXPECT_EQ(banyan({"study", "report", "study", "--out", "again"}).status, 0);
  EXPECT_TRUE(contains(read_text(scratch() / "again/report.html"), "<html"));
  const Said stored = banyan({"study", "report", "study", "--out", "again"});
  const Said judged = banyan({"study", "report", "study", "--out", "again", "--judge"});
  EXPECT_EQ(judged.out, stored.out);
  EXPECT_EQ(judged.status, said.status);
}

TEST_F(Commands, AnInterruptedRunSaysSoAndWritesNothing) {
  const Said run = interrupted({"run", "steady.toml", "measure=1e12", "--out", "out", "--quiet"});
  EXPECT_EQ(run.status, 130);
  EXPECT_TRUE(contains(run.err, "banyan: error: interrupted\n  remedy: run it again")) << run.err;
  EXPECT_EQ(files_in("out"), std::vector<std::string>{});
  const Said sweep = interrupted({"sweep", "swept.toml", "measure=1e12", "--quiet", "--threads", "2"});
  EXPECT_EQ(sweep.status, 130);
  EXPECT_TRUE(contains(sweep.err, "interrupted")) << sweep.err;
}

/// A warning belongs to the result, and not to the process that computed it.
TEST(Sweep, WarningsOfPointsThatAreInTheStoreAreShownAgain) {
  fresh_scratch();
  write_text("short.toml",
             "topology = { name = \"mesh\", size = [2, 2] }\nswitch = \"vc_router\"\nrouting = \"dimension_order\"\n"
             "traffic = { name = \"uniform\" }\nrun = { warmup = 50, measure = 200, extension = 1 }\n"
             "[sweep]\n\"traffic.load\" = [0.1, 0.2]\n");
  const Said first = banyan({"sweep", "short.toml", "--out", "kept"});
  ASSERT_TRUE(contains(first.out, "2 of 2 points with a warning; the first: ")) << first.out << first.err;
  const Said again = banyan({"sweep", "short.toml", "--out", "kept"});
  EXPECT_TRUE(contains(again.err, "2 of 2 points are in kept already")) << again.err;
  EXPECT_EQ(again.out, first.out);
  EXPECT_TRUE(contains(banyan({"export", "kept"}).out, "points with a warning")) << "export";
  EXPECT_TRUE(contains(banyan({"export", "kept", "--json"}).out, "\"warning\": \"")) << "export --json";
}

}  // namespace
}  // namespace banyan::cli::commands_test
