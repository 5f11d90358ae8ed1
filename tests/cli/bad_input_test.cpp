// Is every kind of bad input answered with exit status 2, one line of cause and one of remedy, and nothing lost?
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.hpp"

namespace banyan::cli::bad_input_test {
namespace {

class BadInput : public testing::Test {
 protected:
  void SetUp() override {
    fresh_scratch();
    write_text("steady.toml", kSteady);
    write_text("swept.toml", kSwept);
  }

  static Said run_with(const std::string& text) {
    write_text("bad.toml", text);
    return banyan({"run", "bad.toml"});
  }
};

TEST_F(BadInput, AMisspeltKeyNamesTheNearest) {
  expect_refusal(run_with("toplogy = 'mesh'\n" + kSteady), "bad.toml:1:1: toplogy", "did you mean \"topology\"?");
  expect_refusal(run_with(kSteady + "mesure = 3\n"), "bad.toml:8:1: run.mesure", "did you mean \"measure\"?");
  expect_refusal(banyan({"run", "steady.toml", "switch.bufer=3"}), "command line: switch.bufer",
                 "did you mean \"buffer\"?");
  expect_refusal(banyan({"run", "steady.toml", "bufer=3"}), "\"bufer\"", "did you mean \"buffer\"?");
}

TEST_F(BadInput, AWrongTypeSaysWhatIsExpected) {
  expect_refusal(run_with(kSteady + "sessions = 'many'\n"), "run.sessions: many is a text", "a whole number");
  expect_refusal(banyan({"run", "steady.toml", "buffer=2.5"}), "2.5 is not a whole number", "whole number");
  expect_refusal(run_with("topology = 3\n"), "topology: 3 does not describe a topology", "topology = \"NAME\"");
}

TEST_F(BadInput, AKeyOfAnotherComponentNamesThoseThatHaveIt) {
  const std::string have = "remove it, or use the switch cioq or vc_router, which have it";
  for (const char* name : {"central_buffer", "circuit", "ideal", "input_buffer", "output_queued", "packet_node"}) {
    const std::string choice = std::string("switch=") + name;
    const std::string lacks = std::string("the switch ") + name + " has no parameter \"mark";
    expect_refusal(banyan({"check", "steady.toml", choice, "switch.mark.high=12"}), lacks + ".high\"", have);
    expect_refusal(banyan({"check", "steady.toml", choice, "switch.mark={low=4,high=12}"}), lacks, have);
  }
  expect_refusal(banyan({"run", "steady.toml", "switch=packet_node", "switch.flow_control=pause"}),
                 "the switch packet_node has no parameter \"flow_control\"", "use the switch cioq, which has it");
  expect_refusal(run_with("admission = { initial = 4 }\n" + kSteady), "the admission none has no parameter",
                 "or use the admission");
  expect_refusal(run_with("admission = 4\n" + kSteady), "4 does not describe an admission", "admission = \"NAME\"");
  expect_refusal(banyan({"check", "steady.toml", "switch=cioq", "switch.mark=5"}),
                 "mark is a table of parameters and has no value of its own", "give one of mark.low, mark.high");
}

TEST_F(BadInput, AValueOutOfRangeNamesTheRange) {
  expect_refusal(banyan({"run", "steady.toml", "load=1.5"}), "1.5 is out of range", "from 0 up to 1");
  expect_refusal(run_with(kSteady + "confidence = 1\n"), "bad.toml:8:14: run.confidence", "from 0.01 up to 0.99999");
}

TEST_F(BadInput, AnUnknownComponentNamesTheNearest) {
  expect_refusal(banyan({"run", "steady.toml", "topology=extra_stage_cub"}), "unknown topology \"extra_stage_cub\"",
                 "did you mean \"extra_stage_cube\"?");
  expect_refusal(banyan({"run", "steady.toml", "traffic=unifrom"}), "unknown traffic", "did you mean \"uniform\"?");
  expect_refusal(banyan({"describe", "output_queud"}), "output_queud", "did you mean \"output_queued\"?");
}

TEST_F(BadInput, AUnitThatDoesNotFitNamesThoseThatDo) {
  expect_refusal(banyan({"run", "steady.toml", "buffer=8 Gbps"}), "unit \"Gbps\" does not fit: buffer is in packets",
                 "use packets");
  expect_refusal(run_with(kSteady + "drain = '8 us'\n"), "unit \"us\" does not fit", "cycles");
}

TEST_F(BadInput, TerminalsThatAreNoPowerOfTheRadixAreRefused) {
  expect_refusal(banyan({"run", "steady.toml", "terminals=63"}), "topology.terminals: 63", "64");
  expect_refusal(banyan({"check", "steady.toml", "terminals=63"}), "63", "64");
}

TEST_F(BadInput, AFileThatDoesNotExistNamesTheNearest) {
  expect_refusal(banyan({"run", "stady.toml"}), "stady.toml: no such file", "did you mean \"steady.toml\"?");
  expect_refusal(banyan({"sweep", "nowhere/x.toml"}), "no such file", "check the path");
  expect_refusal(banyan({"check", "."}), "is a directory", ".toml file inside it");
}

TEST_F(BadInput, ALinkThatLeadsNowhereIsNoRemedyForItself) {
  std::filesystem::create_symlink("loop.toml", scratch() / "loop.toml");
  std::filesystem::create_symlink("absent.txt", scratch() / "broken.toml");
  expect_refusal(banyan({"run", "loop.toml"}), "loop.toml: is a symbolic link that leads back to itself",
                 "name the file itself");
  expect_refusal(banyan({"run", "broken.toml"}), "is a symbolic link to a file that does not exist", "name the file");
  expect_refusal(banyan({"run", "lop.toml"}), "no such file", "check the path");
  expect_refusal(banyan({"compare", "loop.toml", "loop.toml"}), "loop.toml: cannot be read", "");
}

TEST_F(BadInput, AnExperimentIsNoResult) {
  const std::string remedy = "banyan run steady.toml --out FOLDER";
  expect_refusal(banyan({"export", "steady.toml"}), "steady.toml: this file is no result store", remedy);
  expect_refusal(banyan({"trees", "steady.toml"}), "steady.toml: this file is no result store", remedy);
  expect_refusal(banyan({"report", "steady.toml"}), "steady.toml: this is an experiment, not a result", remedy);
  for (const char* command : {"compare", "verify"}) {
    std::vector<std::string> words{command, "steady.toml"};
    if (command == std::string("compare")) words.emplace_back("steady.toml");
    const Said said = banyan(words);
    expect_refusal(said, "steady.toml:1:", "banyan run --json");
    EXPECT_FALSE(contains(said.err, "exception")) << said.err;
  }
}

TEST_F(BadInput, AFolderThatCannotBeWrittenIsFoundBeforeTheRun) {
  // A run of this length would not end within the test's time.
  const std::vector<std::string> endless{"run", "steady.toml", "measure=1e12", "--out", "steady.toml"};
  expect_refusal(banyan(endless), "steady.toml: cannot be written", "name another place");
  expect_refusal(banyan({"run", "steady.toml", "measure=1e12", "--out", "steady.toml/inside"}), "cannot be written",
                 "");
  expect_refusal(banyan({"run", "steady.toml", "measure=1e12", "--out", "/proc/nothing"}), "cannot be written", "");
  expect_refusal(banyan({"sweep", "swept.toml", "measure=1e12", "--out", "steady.toml"}), "cannot be written", "");
  expect_refusal(banyan({"run", "steady.toml", "measure=1e12", "--svg", "."}), "is a directory", "");
  EXPECT_EQ(read_text(scratch() / "steady.toml"), kSteady);
}

/// Folders of results are made; a misspelt folder of a file is not.
TEST_F(BadInput, AFileInAFolderThatIsNotThereIsRefusedBeforeTheRun) {
  for (const char* option : {"--log", "--svg", "--record-trace"}) {
    expect_refusal(banyan({"run", "steady.toml", option, "nowhere/x"}), "there is no folder nowhere",
                   "make the folder first");
    EXPECT_FALSE(std::filesystem::exists(scratch() / "nowhere"));
  }
}

TEST_F(BadInput, AMissingTableOfCostsIsNoExperiment) {
  expect_refusal(banyan({"run", "steady.toml", "run.energy=nowhere.toml"}), "no such file",
                 "a table of costs (run.energy)");
}

TEST_F(BadInput, ASyntaxErrorHasItsPlace) {
  expect_refusal(run_with("topology = = 3\n"), "bad.toml:1:12: not valid TOML", "syntax");
}

TEST_F(BadInput, AMisspeltOptionNamesTheNearest) {
  expect_refusal(banyan({"run", "steady.toml", "--jsn"}), "banyan run has no option \"--jsn\"",
                 "did you mean \"--json\"?");
  expect_refusal(banyan({"run", "steady.toml", "--thread=4"}), "--thread", "did you mean \"--threads\"?");
  expect_refusal(banyan({"--vresion"}), "--vresion", "did you mean \"--version\"?");
  expect_refusal(banyan({"study", "run", "x", "--qick"}), "--qick", "did you mean \"--quick\"?");
}

TEST_F(BadInput, AnEmptyPartIsNoPart) {
  write_text("swept.toml", kSwept);
  expect_refusal(banyan({"sweep", "swept.toml", "--out", "out", "--part", ""}), "--part: \"\" is no part",
                 "write --part i/n");
  EXPECT_FALSE(std::filesystem::exists(scratch() / "out"));
}

/// What an unset variable of a shell leaves.
TEST_F(BadInput, AnEmptyValueOfAnOptionIsRefused) {
  write_text("swept.toml", kSwept);
  for (const char* option : {"--svg", "--time", "--partition"}) {
    expect_refusal(banyan({"sweep", "swept.toml", "--out", "out", "--slurm", option, ""}),
                   std::string(option) + ": the name is empty", "banyan sweep --help");
  }
  for (const char* option : {"--svg", "--record-trace"}) {
    expect_refusal(banyan({"run", "steady.toml", option, ""}), std::string(option) + ": the name is empty",
                   "banyan run --help");
  }
}

TEST_F(BadInput, AnEmptyFolderNameIsNoFolder) {
  expect_refusal(banyan({"run", "steady.toml", "--out", ""}), "--out: the name is empty", "banyan run --help");
}

TEST_F(BadInput, AMisspeltCommandNamesTheNearest) {
  expect_refusal(banyan({"rnu", "steady.toml"}), "no command \"rnu\"", "did you mean \"run\"?");
  expect_refusal(banyan({"study", "lsit"}), "no command \"lsit\"", "did you mean \"list\"?");
  expect_refusal(banyan({"study", "run", "extra-stage-cub"}), "extra-stage-cub", "extra-stage-cube");
  expect_refusal(banyan({}), "needs a command", "run, sweep");
  expect_refusal(banyan({"study"}), "needs a command", "list, run");
}

TEST_F(BadInput, EveryOtherMistakeOfTheCommandLineIsRefusedToo) {
  expect_refusal(banyan({"run"}), "FILE", "banyan run --help");
  expect_refusal(banyan({"run", "steady.toml", "--threads", "0"}), "--threads", "");
  expect_refusal(banyan({"run", "steady.toml", "--threads", "some"}), "--threads", "");
  expect_refusal(banyan({"run", "steady.toml", "--seed", "-1"}), "--seed", "");
  expect_refusal(banyan({"run", "steady.toml", "--seed", "99999999999999999999"}), "seed", "");
  expect_refusal(banyan({"run", "steady.toml", "--out"}), "--out", "");
  expect_refusal(banyan({"run", "steady.toml", "--json", "--csv"}), "--csv", "");
  expect_refusal(banyan({"run", "steady.toml", "buffer"}), "\"buffer\" is not an override", "key=value");
  expect_refusal(banyan({"describe", "uniform", "mesh"}), "mesh", "");
  expect_refusal(banyan({"study", "report", "nothing"}), "no finished study", "--out");
}

TEST_F(BadInput, ASweepIsNotOneRun) {
  expect_refusal(banyan({"run", "swept.toml"}), "6 points", "banyan sweep swept.toml");
}

TEST_F(BadInput, ABadPointOfASweepIsFoundBeforeTheFirstRuns) {
  write_text("bad.toml", kSteady + "[sweep]\nterminals = [16, 64, 63]\n");
  expect_refusal(banyan({"sweep", "bad.toml", "measure=1e12"}), "bad.toml:9:22: topology.terminals: 63", "");
}

TEST_F(BadInput, AMetricThatNoPointReportsNamesTheNearest) {
  expect_refusal(banyan({"sweep", "swept.toml", "--quiet", "--metric", "packet_latncy"}), "packet_latncy",
                 "did you mean \"packet_latency\"?");
}

TEST_F(BadInput, AFullDiskIsNoSuccess) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  // Longer and shorter than the buffer of a stream.
  for (const Said& said : {banyan({"describe"}, "/dev/full"), banyan({"study", "list", "--names"}, "/dev/full"),
                           banyan({"--version"}, "/dev/full"), banyan({"run", "--help"}, "/dev/full")}) {
    EXPECT_EQ(said.status, 2);
    EXPECT_TRUE(contains(said.err, "standard output: cannot be written: No space left on device")) << said.err;
  }
}

TEST_F(BadInput, AValueThatASweepHasTwice) {
  const Said twice = banyan({"sweep", "swept.toml", "sweep.topology.terminals=[16,64,16]"});
  expect_refusal(twice, "the axis has the value 16 twice", "give every value once");
}

TEST_F(BadInput, AMisspeltMetricCostsNoSweep) {
  expect_refusal(banyan({"sweep", "swept.toml", "measure=1e11", "--metric", "packet_latancy"}),
                 "\"packet_latancy\" is no metric", "did you mean \"packet_latency\"?");
}

/// What a command writes takes the place of nothing that it reads, nor of anything else that it writes, however the
/// file is called.
TEST_F(BadInput, OutputsTakeNobodysPlace) {
  std::filesystem::create_directory(scratch() / "sub");
  const std::string trace = "# banyan trace 1\n0 0 0 3 1\n";
  write_text("in.trace", trace);
  write_text("traced.toml",
             "topology = { name = 'mesh', size = [2, 2] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
             "traffic = { name = 'trace', file = 'in.trace' }\n");
  const std::string before = read_text(scratch() / "steady.toml");
  for (const char* option : {"--log", "--record-trace", "--checkpoint", "--svg"}) {
    for (const char* name : {"steady.toml", "./steady.toml", "sub/../steady.toml"}) {
      expect_refusal(banyan({"run", "steady.toml", option, name}), "would take the place of the experiment",
                     std::string("give ") + option + " another file");
    }
    expect_refusal(banyan({"run", "traced.toml", option, "in.trace"}), "would take the place of traffic.0.file",
                   "another file");
  }
  EXPECT_EQ(read_text(scratch() / "steady.toml"), before);
  EXPECT_EQ(read_text(scratch() / "in.trace"), trace);
  expect_refusal(banyan({"run", "steady.toml", "--log", "a", "--record-trace", "sub/../a"}),
                 "a is what --record-trace writes, too", "give --log another file");
  expect_refusal(banyan({"run", "steady.toml", "--out", "sub", "--log", "sub/result.json"}),
                 "is what --log writes, too", "give --out another file");
  write_text("sub/result.json", before);
  expect_refusal(banyan({"run", "sub/result.json", "--out", "sub"}), "would take the place of the experiment",
                 "give --out another file");
  EXPECT_EQ(read_text(scratch() / "sub/result.json"), before);
  expect_refusal(banyan({"sweep", "swept.toml", "--svg", "swept.toml"}), "would take the place of the experiment",
                 "give --svg another file");
  write_text("b.cfg", "topology = mesh;\nk = 4;\nn = 2;\n");
  expect_refusal(banyan({"convert", "b.cfg", "--out", "b.cfg"}), "would take the place of the configuration",
                 "give --out another file");
  const std::string goal = "num_ranks 1\nrank 0 {\nl1: calc 5\n}\n";
  write_text("w.goal", goal);
  expect_refusal(banyan({"convert", "w.goal", "--to", "w.goal"}), "would take the place of the workload",
                 "give --to another file");
  EXPECT_EQ(read_text(scratch() / "w.goal"), goal);
  EXPECT_EQ(banyan({"run", "steady.toml", "--record-trace", "/dev/null", "--quiet"}).status, 0);
}

/// Remedies that led on to the next refusal.
TEST_F(BadInput, ARemedyIsOfWhatIsThere) {
  write_text("traced.toml",
             "topology = { name = 'mesh', size = [2, 2] }\nswitch = 'vc_router'\nrouting = 'dimension_order'\n"
             "traffic = { name = 'trace', file = 'in.trace' }\n");
  const Said wrong = banyan({"check", "traced.toml", "traffic.uniform.load=0.1"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.err.find("traffic.trace.load"), std::string::npos) << wrong.err;
  expect_refusal(run_with("topology = { nam = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\ntraffic = 'uniform'\n"),
                 "the topology has no name", "write name = \"NAME\" among its keys");
  for (const char* routing : {"hot_section", "isolated_hot_spot"}) {
    expect_refusal(banyan({"check", "traced.toml", "traffic=uniform", std::string("routing=") + routing}),
                   "needs a multistage network",
                   "use the topology extra_stage_cube with input_stage and output_stage enabled");
  }
  write_text("two.cm", "Nodes 4\nConnections 1\n0->1 id 1 start 0 size 100\n1->2 id 2 start 0 size 100\n");
  const Said more = banyan({"workload", "info", "two.cm"});
  EXPECT_NE(more.err.find("write Connections 2"), std::string::npos) << more.err;
  write_text("tag.goal", "num_ranks 2\nrank 0 {\nl1: send 8b to 1 tg 3\n}\nrank 1 {\nl1: recv 8b from 0 tag 3\n}\n");
  expect_refusal(banyan({"workload", "info", "tag.goal"}), "there is \"tg\" where tag, cpu or nic is expected",
                 "did you mean \"tag\"?");
  expect_refusal(banyan({"check", "steady.toml", "topology={name=\"bidirectional_min\",hosts=32,ports=64}",
                         "switch=cioq", "routing={name=\"nearest_common_ancestor\",up=\"d_mod_k\"}"}),
                 "which has 64 at most", "");
}

}  // namespace
}  // namespace banyan::cli::bad_input_test
