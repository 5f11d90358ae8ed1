// Does an experiment file mean what it says, do overrides and sweeps reach the right parameter, and is every mistake
// answered with its place, its cause and a remedy?
#include "banyan/api/experiment.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "api/example_catalog.hpp"
#include "banyan/config/json.hpp"

namespace banyan::api::experiment_test {
namespace {

using nlohmann::json;

TEST(Experiment, ReadsEveryPart) {
  const Experiment experiment = read_one(kExample);
  EXPECT_EQ(experiment.name, "x");
  EXPECT_EQ(experiment.topology.component(), "cube");
  EXPECT_EQ(experiment.topology.integer("terminals"), 16);
  EXPECT_EQ(experiment.switching.integer("buffer"), 4);
  EXPECT_EQ(experiment.switching.integer("line_size"), 64);
  EXPECT_EQ(experiment.routing.component(), "tag");
  ASSERT_EQ(experiment.traffics.size(), 2U);
  EXPECT_EQ(experiment.traffics[0].real("load"), 0.25);
  EXPECT_EQ(experiment.traffics[1].component(), "burst");
  EXPECT_EQ(experiment.run.integer("seed"), 7);
  EXPECT_EQ(experiment.run.integer("sessions"), 125);
  EXPECT_TRUE(experiment.axes.empty());
}

TEST(Experiment, AllFormsOfASectionAreEqual) {
  const std::string rest = "switch = 'queued'\nrouting = 'tag'\n";
  const std::string one = read_one("topology = 'cube'\n" + rest + "traffic = 'uniform'\n").configuration;
  EXPECT_EQ(read_one("topology = {name = 'cube'}\n" + rest + "traffic = ['uniform']\n").configuration, one);
  EXPECT_EQ(read_one(rest + "[topology]\nname = 'cube'\n[traffic]\nname = 'uniform'\n").configuration, one);
  EXPECT_EQ(read_one(rest + "[topology]\nname = 'cube'\n[[traffic]]\nname = 'uniform'\n").configuration, one);
}

TEST(BadInput, TooManyTrafficsAreRefusedBeforeAnyIsResolved) {
  std::string text = "topology = 'mesh'\nswitch = 'vc_router'\nrouting = 'dimension_order'\n";
  for (int i = 0; i < 20'000; ++i) text += "[[traffic]]\nname = 'no such traffic'\n";
  try {
    static_cast<void>(read_experiments_text(text, "test.toml", {}));
    ADD_FAILURE() << "accepted";
  } catch (const ConfigError& error) {
    EXPECT_EQ(error.cause(), "20000 traffics");
    EXPECT_EQ(error.where().line, 20U) << "where the ninth stands";
    EXPECT_EQ(error.remedy(), "use at most 8 in one experiment");
  }
}

TEST(Experiment, TheFileMayNameTheExperiment) { EXPECT_EQ(read_one("name = 'fig 5'\n" + kExample).name, "fig 5"); }

TEST(BadInput, ANameThatATerminalWouldObeyIsRefused) {
  const ConfigError error = refusal("name = \"\\u001B[31mred\"\n" + kExample);
  EXPECT_TRUE(contains(error.cause(), "control character U+"));
  EXPECT_TRUE(contains(refusal("name = \"\\u009B31mred\"\n" + kExample).cause(), "control character U+009B")) << "C1";
  EXPECT_EQ(read_one("name = \"σ = 10 Â\"\n" + kExample).name, "σ = 10 Â");
  EXPECT_EQ(error.where().line, 1U);
  const std::string mesh =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
      "traffic = 'uniform'\n";
  EXPECT_EQ(read_experiments_text(mesh, "a\x1b[31m.toml", {}).points.front().name, "a?[31m");
}

TEST(Configuration, IsCanonicalJsonWithAllDefaults) {
  const json all = json::parse(read_one(kExample).configuration);
  EXPECT_EQ(all["topology"]["name"], "cube");
  EXPECT_EQ(all["topology"]["terminals"], 16);
  EXPECT_EQ(all["switch"]["line_size"], 64);
  EXPECT_EQ(all["traffic"][0]["load"], 0.25);
  EXPECT_EQ(all["traffic"][1]["sigma"], 10.0);
  EXPECT_EQ(all["run"]["seed"], 7);
  EXPECT_FALSE(all["run"].contains("name"));
  EXPECT_EQ(config::dump(all), read_one(kExample).configuration);
}

TEST(Configuration, DoesNotDependOnHowItWasWritten) {
  const Experiment plain = read_one(kExample);
  EXPECT_EQ(read_one(kExample, {"switch.buffer=4 packets", "traffic.uniform.load=25 %"}).configuration_hash,
            plain.configuration_hash);
}

TEST(Configuration, TheHashLeavesOutWhatResultsDoNotDependOn) {
  const u64 hash = read_one(kExample).configuration_hash;
  for (const char* neutral : {"run.step_order=permuted", "run.wake=all", "run.shards=3", "run.audit=full", "name=y"}) {
    EXPECT_EQ(read_one(kExample, {neutral}).configuration_hash, hash) << neutral;
  }
  for (const char* other : {"run.seed=8", "switch.buffer=5", "routing=section", "traffic.uniform.load=0.26"}) {
    EXPECT_NE(read_one(kExample, {other}).configuration_hash, hash) << other;
  }
}

TEST(Override, ReachesAParameterByEveryPath) {
  for (const char* text : {"switch.buffer=8", "switch.queued.buffer=8", "queued.buffer=8", "buffer=8", "buffer = 8",
                           "switch.buffer=8 packets"}) {
    EXPECT_EQ(read_one(kExample, {text}).switching.integer("buffer"), 8) << text;
  }
  for (const char* text : {"traffic.uniform.load=0.75", "traffic.0.load=0.75", "uniform.load=0.75", "load=0.75",
                           "traffic.load=0.75", "load=75 %"}) {
    EXPECT_EQ(read_one(kExample, {text}).traffics[0].real("load"), 0.75) << text;
  }
  EXPECT_EQ(read_one(kExample, {"run.seed=3"}).run.integer("seed"), 3);
  EXPECT_EQ(read_one(kExample, {"seed=3"}).run.integer("seed"), 3);
  EXPECT_EQ(read_one(kExample, {"name=new"}).name, "new");
}

TEST(Override, OfTwoTheLaterWins) {
  EXPECT_EQ(read_one(kExample, {"buffer=8", "switch.buffer=9"}).switching.integer("buffer"), 9);
}

TEST(Override, MayBringInWhatTheFileLacks) {
  EXPECT_EQ(read_one("topology='cube'\nswitch='queued'\ntraffic='uniform'\n", {"routing=tag"}).routing.component(),
            "tag");
}

TEST(Override, AnotherComponentDropsTheParametersOfTheOldOne) {
  const Experiment experiment = read_one(kExample, {"topology=ring", "topology.nodes=5"});
  EXPECT_EQ(experiment.topology.component(), "ring");
  EXPECT_EQ(experiment.topology.integer("nodes"), 5);
  EXPECT_EQ(read_one(kExample, {"topology.nodes=5", "topology=ring"}).topology.integer("nodes"), 5);
  EXPECT_EQ(read_one(kExample, {"topology.name=ring"}).topology.component(), "ring");
}

TEST(Override, TheSameComponentKeepsItsParameters) {
  EXPECT_EQ(read_one(kExample, {"topology=cube"}).topology.integer("terminals"), 16);
}

TEST(Override, ATableReplacesAComponent) {
  EXPECT_EQ(read_one(kExample, {"routing={name='section', sections=4}"}).routing.integer("sections"), 4);
}

TEST(Override, OneOfSeveralTrafficsChanges) {
  const Experiment experiment = read_one(kExample, {"traffic.1=uniform", "traffic.1.load=0.5"});
  EXPECT_EQ(experiment.traffics[1].real("load"), 0.5);
  EXPECT_EQ(experiment.traffics[0].real("load"), 0.25);
  EXPECT_EQ(read_one(kExample, {"traffic.burst=uniform"}).traffics[1].component(), "uniform");
}

TEST(Override, AmbiguousNamesListTheCandidates) {
  const ConfigError error = refusal(kExample, {"size=2"});
  EXPECT_EQ(error.where().file, "command line");
  EXPECT_TRUE(contains(error.cause(), "ambiguous"));
  EXPECT_TRUE(contains(error.remedy(), "traffic.uniform.size, traffic.burst.size"));
  EXPECT_TRUE(contains(refusal(kExample, {"traffic.size=2"}).remedy(), "traffic.burst.size"));
  EXPECT_TRUE(contains(refusal(kExample, {"traffic=uniform"}).remedy(), "traffic.uniform"));
  const std::string twins = kExample + "[[traffic]]\nname = 'uniform'\n";
  static_cast<void>(twins);
  EXPECT_TRUE(contains(refusal(kExample, {"traffic.1=uniform", "traffic.uniform.load=0"}).remedy(), "traffic.0.load"));
}

TEST(Override, UnknownNamesNameTheNearest) {
  EXPECT_TRUE(contains(refusal(kExample, {"bufer=2"}).remedy(), "did you mean \"buffer\"?"));
  EXPECT_TRUE(contains(refusal(kExample, {"swich.buffer=2"}).remedy(), "did you mean \"switch.buffer\"?"));
  EXPECT_TRUE(contains(refusal(kExample, {"unifrom.load=0"}).remedy(), "did you mean \"uniform.load\"?"));
  EXPECT_TRUE(contains(refusal(kExample, {"nothing_like_it.load=0"}).remedy(), "there are"));
  EXPECT_TRUE(contains(refusal(kExample, {"switch.a.b.c=0"}).remedy(), "there are"));
  EXPECT_TRUE(contains(refusal(kExample, {"switch.bufer=2"}).remedy(), "did you mean \"buffer\"?"));
  EXPECT_TRUE(contains(refusal(kExample, {"traffic.unifrom.load=0"}).remedy(), "traffic.uniform.load"));
  EXPECT_TRUE(contains(refusal(kExample, {"traffic.2.load=0"}).remedy(), "traffic.uniform.load"));
  EXPECT_TRUE(contains(refusal(kExample, {"routing=tga"}).remedy(), "did you mean \"tag\"?"));
}

TEST(Override, ErrorsStandAtTheCommandLine) {
  const ConfigError error = refusal(kExample, {"switch.buffer=0"});
  EXPECT_EQ(error.where().file, "command line");
  EXPECT_EQ(error.where().key, "switch.buffer");
  EXPECT_TRUE(contains(error.cause(), "out of range"));
}

TEST(Override, NonsenseIsRefused) {
  for (const char* text : {"", "=", "=3", "buffer", "buffer=", "a.b.c.d=1", "run=3", "run=x", "switch=3", "traffic=[]",
                           ".=1", "switch.=1", "sweep.buffer=3", "sweep.=[1]", "routing={}", "routing={name=3}"}) {
    const ConfigError error = refusal(kExample, {text});
    EXPECT_FALSE(error.remedy().empty()) << text;
    EXPECT_EQ(error.where().file, "command line") << text;
  }
}

TEST(BadInput, AMisspeltKeyNamesTheNearest) {
  const ConfigError error = refusal("toplogy = 'cube'\n" + kExample);
  EXPECT_EQ(error.where().line, 1U);
  EXPECT_TRUE(contains(error.remedy(), "did you mean \"topology\"?"));
}

/// Who forgets the table of a parameter is told which it is, and what is told can be read.
TEST(BadInput, AParameterAtTheTopIsToldItsTable) {
  const std::string parts = "topology = 'cube'\nrouting = 'tag'\ntraffic = 'uniform'\n";
  const std::string plain = parts + "switch = 'queued'\n";
  const ConfigError of_run = refusal("seed = 3\n" + plain);
  EXPECT_EQ(of_run.cause(), "an experiment has no \"seed\"");
  EXPECT_EQ(of_run.remedy(), "it is a parameter of the run: write run = { seed = ... }");
  EXPECT_EQ(read_one("run = { seed = 3 }\n" + plain).run.integer("seed"), 3);
  EXPECT_EQ(refusal("buffer = 3\n" + plain).remedy(),
            "it is a parameter: write switch = { name = \"NAME\", buffer = ... }");
  EXPECT_EQ(read_one("switch = { name = \"queued\", buffer = 3 }\n" + parts).switching.integer("buffer"), 3);
}

TEST(BadInput, AnUnknownComponentNamesTheNearest) {
  const ConfigError error = refusal("switch='queued'\nrouting='tag'\ntraffic='uniform'\n[topology]\nname='cub'\n");
  EXPECT_EQ(error.where().line, 5U);
  EXPECT_EQ(error.where().key, "topology");
  EXPECT_TRUE(contains(error.cause(), "unknown topology \"cub\""));
  EXPECT_TRUE(contains(error.remedy(), "did you mean \"cube\"?"));
}

TEST(BadInput, AMissingSectionListsWhatThereIs) {
  const ConfigError error = refusal("topology='cube'\nrouting='tag'\ntraffic='uniform'\n");
  EXPECT_TRUE(contains(error.cause(), "names no switch"));
  EXPECT_TRUE(contains(error.remedy(), "queued"));
  EXPECT_TRUE(contains(refusal("topology={radix=2}\nswitch='queued'\nrouting='tag'\ntraffic='uniform'\n").cause(),
                       "the topology has no name"));
  EXPECT_TRUE(contains(refusal("").cause(), "names no"));
}

TEST(BadInput, APlaceInASecondTrafficIsNamedByTheTraffic) {
  EXPECT_EQ(refusal(kExample, {"traffic.burst.sigma=-1"}).where().key, "traffic.burst.sigma");
}

TEST(BadInput, SectionsOfTheWrongKindAreRefused) {
  for (const char* text : {"topology = 3", "traffic = 3", "traffic = []", "traffic = [3]", "run = 'fast'", "name = 3",
                           "sweep = 3", "topology = {name = 3}", "run = {name = 'x'}", "run = {sede = 3}"}) {
    const ConfigError error = refusal(std::string(text) + "\nswitch='queued'\nrouting='tag'\n" +
                                      (contains(text, "topology") ? "" : "topology='cube'\n") +
                                      (contains(text, "traffic") ? "" : "traffic='uniform'\n"));
    EXPECT_EQ(error.where().line, 1U) << text;
    EXPECT_FALSE(error.remedy().empty()) << text;
  }
}

TEST(Sweep, ExpandsInTheOrderOfTheFileWithTheLastAxisFastest) {
  const ExperimentSet set = read_set(kExample + "[sweep]\n'switch.buffer' = [4, 8]\n'load' = [0.1, 0.2, 0.3]\n");
  EXPECT_EQ(set.axis_names, (std::vector<std::string>{"switch.buffer", "load"}));
  ASSERT_EQ(set.points.size(), 6U);
  EXPECT_EQ(set.points[1].switching.integer("buffer"), 4);
  EXPECT_EQ(set.points[1].traffics[0].real("load"), 0.2);
  EXPECT_EQ(set.points[4].axes[0], (std::pair<std::string, std::string>("switch.buffer", "8")));
  EXPECT_EQ(set.points[4].axes[1], (std::pair<std::string, std::string>("load", "0.2")));
}

TEST(Sweep, TheHashTellsPointsApart) {
  const ExperimentSet set = read_set(kExample + "[sweep]\n'load' = {from = 0.1, to = 0.8, step = 0.1}\n");
  std::set<u64> hashes;
  for (const Experiment& point : set.points) hashes.insert(point.configuration_hash);
  EXPECT_EQ(hashes.size(), 8U);
}

TEST(Sweep, APointEqualsTheSameOverride) {
  const ExperimentSet set = read_set(kExample + "[sweep]\n'load' = [0.1, 0.3]\n");
  EXPECT_EQ(set.points[1].configuration, read_one(kExample, {"load=0.3"}).configuration);
}

TEST(Sweep, ComponentsCanBeSwept) {
  const ExperimentSet set =
      read_set(kExample + "[sweep]\nrouting = ['tag', 'section', {name = 'section', sections = 4}]\n");
  ASSERT_EQ(set.points.size(), 3U);
  EXPECT_EQ(set.points[0].routing.component(), "tag");
  EXPECT_EQ(set.points[2].routing.integer("sections"), 4);
}

TEST(Sweep, LinkedKeysMoveTogether) {
  const ExperimentSet set = read_set(
      kExample + "[sweep]\nzip = [['terminals', 'radix']]\nterminals = [16, 81]\nradix = [2, 3]\nload = [0.1, 0.2]\n");
  ASSERT_EQ(set.points.size(), 4U);
  EXPECT_EQ(set.points[3].topology.integer("terminals"), 81);
  EXPECT_EQ(set.points[3].topology.integer("radix"), 3);
  EXPECT_EQ(set.axis_names, (std::vector<std::string>{"terminals", "radix", "load"}));
}

TEST(Sweep, AnOverrideFixesItsAxis) {
  const std::string text = kExample + "[sweep]\n'switch.buffer' = [4, 8]\n'traffic.uniform.load' = [0.1, 0.2]\n";
  const ExperimentSet set = read_set(text, {"load=0.7"});
  EXPECT_EQ(set.axis_names, std::vector<std::string>{"switch.buffer"});
  ASSERT_EQ(set.points.size(), 2U);
  EXPECT_EQ(set.points[1].traffics[0].real("load"), 0.7);
  EXPECT_EQ(read_set(text, {"load=0.7", "buffer=1"}).points.size(), 1U);
}

TEST(Sweep, AnOverrideMayGiveAnAxisOtherValuesOrAddOne) {
  const std::string text = kExample + "[sweep]\n'load' = [0.1, 0.2]\n";
  EXPECT_EQ(read_set(text, {"sweep.load=[0.5]"}).points[0].traffics[0].real("load"), 0.5);
  EXPECT_EQ(read_set(text, {"sweep.buffer={from=1,to=5,step=2}"}).points.size(), 6U);
  EXPECT_EQ(read_set(text, {"sweep.buffer={from=1,to=5,step=2}"}).axis_names.back(), "buffer");
}

TEST(Sweep, ABadValueStandsAtItsPlaceInTheAxis) {
  const ConfigError error = refusal(
      "[sweep]\n'switch.buffer' = [4,\n 0]\n[traffic]\nname='uniform'\n[topology]\n"
      "name='cube'\n[switch]\nname='queued'\n[routing]\nname='tag'\n");
  EXPECT_EQ(error.where().line, 3U);
  EXPECT_EQ(error.where().column, 2U);
  EXPECT_EQ(error.where().key, "switch.buffer");
}

TEST(Sweep, OneParameterIsSweptOnce) {
  EXPECT_TRUE(contains(refusal(kExample + "[sweep]\nload = [0.1]\n'traffic.uniform.load' = [0.1]\n").cause(), "twice"));
}

TEST(Sweep, AMisspeltAxisNamesTheNearest) {
  const ConfigError error = refusal(kExample + "[sweep]\n'traffic.unifrom.load' = [0.1]\n");
  EXPECT_EQ(error.where().line, 12U);
  EXPECT_TRUE(contains(error.remedy(), "traffic.uniform.load"));
}

TEST(Sweep, AnAstronomicNumberOfPointsIsRefused) {
  EXPECT_TRUE(contains(
      refusal(kExample + "[sweep]\nbuffer = {from=1,to=60000,step=1}\nseed = {from=1,to=60000,step=1}\n").cause(),
      "more than 100000 points"));
}

TEST(Override, AFileThatDoesNotExistIsOneError) {
  EXPECT_THROW(static_cast<void>(read_experiments("/nonexistent/x.toml", {})), ConfigError);
}

RC_GTEST_PROP(Override, AnyTextIsAppliedOrRefused, (const std::string& text)) {
  try {
    static_cast<void>(read_set(kExample, {text}));
  } catch (const ConfigError& error) { RC_ASSERT(!error.cause().empty()); }
}

RC_GTEST_PROP(Configuration, AnyLoadSurvivesTheRoundTrip, ()) {
  const double load = static_cast<double>(*rc::gen::inRange<i64>(0, i64{1} << 53)) * 0x1.0p-53;
  const Experiment experiment = read_one(kExample, {"load=" + config::to_text(config::Node::of(load, {}))});
  RC_ASSERT(experiment.traffics[0].real("load") == load);
  RC_ASSERT(json::parse(experiment.configuration)["traffic"][0]["load"].get<double>() == load);
}

}  // namespace
}  // namespace banyan::api::experiment_test
