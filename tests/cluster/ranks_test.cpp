// Does one network over the processes of mpirun end as on one thread, and does what it cannot do end with one sentence?
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "build_info.hpp"
#include "support/effort.hpp"
#include "support/repository.hpp"

namespace banyan::cluster::ranks_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::Output;
using test::run_shell;

class Ranks : public testing::Test {
 protected:
  void SetUp() override {
    if (test::kSanitized) GTEST_SKIP() << "how programs are started is the other builds' affair";
    const bool built = fs::exists(fs::path(BANYAN_PROGRAM).parent_path() / "banyan_mpi.so");
    if (!built || run_shell("command -v mpirun").status != 0) {
      ASSERT_EQ(std::getenv("CI"), nullptr) << "libopenmpi-dev or openmpi-bin is missing";
      GTEST_SKIP() << "Open MPI is not installed";
    }
    write("mesh.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
traffic  = { name = "uniform", load = 0.3, size = 5 }
run      = { warmup = 200, measure = 500 }
)");
  }
  void write(const std::string& name, const std::string& text) const { std::ofstream(folder_.path() / name) << text; }
  [[nodiscard]] Output here(const std::string& command) const {
    return run_shell("export PATH=" + test::quoted(fs::path(BANYAN_PROGRAM).parent_path()) +
                     ":$PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1; cd " +
                     test::quoted(folder_.path()) + "\n" + command);
  }
  [[nodiscard]] Output on(int ranks, const std::string& command) const {
    return here("mpirun --oversubscribe --bind-to none -n " + std::to_string(ranks) + " " + command);
  }
  /// What a run gives, without what it took; a text where it gives nothing.
  [[nodiscard]] static json result_in(const std::string& text) {
    json result = json::parse(text, nullptr, false);
    if (result.is_discarded()) return text;
    for (const char* key : {"cpu_seconds", "peak_bytes"}) result.erase(key);
    return result;
  }
  /// Each of so many ranks with so many threads gives the whole result of one thread.
  void expect_same(const std::string& run, const std::vector<int>& ranks, int threads = 1) const {
    const json alone = result_in(here("banyan run " + run + " --threads 1 --json --quiet 2>/dev/null").text);
    ASSERT_TRUE(alone.is_object()) << alone;
    for (const int n : ranks) {
      const std::string on_each = " --threads " + std::to_string(threads) + " --json --quiet 2>/dev/null";
      const json shared = result_in(on(n, "banyan run " + run + on_each).text);
      ASSERT_TRUE(shared.is_object()) << shared;
      for (const auto& [key, value] : alone.items())
        EXPECT_TRUE(shared.contains(key) && shared[key] == value) << run << " on " << n << " ranks: " << key;
      EXPECT_EQ(shared.size(), alone.size());
    }
  }
  /// Of two ranks, both: some time after the first checkpoint, which is `state`.
  void kill_after_a_checkpoint(const std::string& run) const {
    static_cast<void>(here("(mpirun --oversubscribe --bind-to none -n 2 sh -c 'echo $$ >> pids; exec " + run +
                           " --checkpoint state --checkpoint-every 0.05s' > /dev/null 2>&1 &) ; "
                           "for i in $(seq 300); do test -e state && break; sleep 0.1; done; sleep 0.5; "
                           "kill -9 $(cat pids); sleep 0.5"));
    ASSERT_TRUE(fs::exists(folder_.path() / "state"));
  }
  /// One process says it, once, and all end with status 2.
  static void expect_refusal(const Output& said, const std::string& cause) {
    EXPECT_EQ(said.status, 2) << said.text;
    const std::size_t at = said.text.find("banyan: error: ");
    ASSERT_NE(at, std::string::npos) << said.text;
    EXPECT_NE(said.text.find(cause, at), std::string::npos) << said.text;
    EXPECT_NE(said.text.find("remedy: ", at), std::string::npos) << said.text;
    EXPECT_EQ(said.text.find("banyan: error: ", at + 1), std::string::npos) << said.text;
  }

  test::TemporaryFolder folder_;
};

TEST_F(Ranks, AMesh) { expect_same("mesh.toml", {2, 3, 4}); }

TEST_F(Ranks, AMeshWithThreads) { expect_same("mesh.toml run.shards=8", {2}, 2); }

TEST_F(Ranks, ASaturatedMeshWithAuditsAndATimeSeries) {
  expect_same("mesh.toml traffic.uniform.load=0.9 run.audit=full run.window=50 run.drain=500", {3});
}

TEST_F(Ranks, ATorusOfTheGeneralKernel) { expect_same("mesh.toml topology.name=torus switch.kernel=general", {2}); }

TEST_F(Ranks, AFatTreeAndADragonfly) {
  write("tree.toml", R"(
topology = { name = "fat_tree", arity = 2, levels = 3 }
switch   = { name = "vc_router", vcs = 2, buffer = 8 }
routing  = "nearest_common_ancestor"
traffic  = { name = "uniform", load = 0.4, size = 4 }
run      = { warmup = 200, measure = 500 }
)");
  write("dragonfly.toml", R"(
topology = { name = "dragonfly", terminals_per_router = 2, routers_per_group = 4, global_ports = 2 }
switch   = { name = "vc_router", vcs = 4, buffer = 16 }
routing  = { name = "dragonfly_routing", policy = "ugal_l" }
traffic  = { name = "adversarial", group_size = 8, load = 0.2 }
run      = { warmup = 200, measure = 500 }
)");
  expect_same("tree.toml", {2});
  expect_same("dragonfly.toml", {3});
}

TEST_F(Ranks, WormsThroughBuffers) {
  write("worms.toml", R"(
topology = { name = "bidirectional_min", hosts = 64, ports = 8 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
traffic  = { name = "uniform", load = 0.3, size = 20 }
run      = { warmup = 200, measure = 500 }
)");
  expect_same("worms.toml", {2, 3});
  expect_same("worms.toml switch=input_buffer", {2});
}

TEST_F(Ranks, WormsForSeveralDestinations) {
  write("worms.toml", R"(
topology = { name = "bidirectional_min", hosts = 64, ports = 8 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
traffic  = { name = "multicast", degree = 12, load = 0.4, share = 0.7, size = 40 }
run      = { warmup = 200, measure = 500, audit = "full" }
)");
  expect_same("worms.toml", {2, 3});
  expect_same("worms.toml run.shards=6 switch.replicate_on=both_ways", {2}, 2);
  expect_same("worms.toml switch=input_buffer", {3});
}

TEST_F(Ranks, ReductionsInTheNetwork) {
  write("sums.toml", R"(
topology = { name = "bidirectional_min", hosts = 64, ports = 8 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
traffic  = [{ name = "multicast_collective", operation = "all_reduce", implementation = "in_network", iterations = 8, size = 100 },
            { name = "uniform", load = 0.2 }]
run      = { sessions = 1, audit = "full" }
)");
  write("jobs.toml", R"(
topology = { name = "bidirectional_min", hosts = 64 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
job      = [{ name = "sum", generator = { collective = "all_reduce", algorithm = "in_network", ranks = 24, bytes = "4 KiB" }, repeats = 2, placement = "random" },
            { name = "barrier", generator = { collective = "barrier", algorithm = "in_network", ranks = 16 }, placement = "random" }]
)");
  expect_same("sums.toml", {3});
  expect_same("sums.toml run.shards=6", {2}, 2);
  expect_same("jobs.toml", {3});
}

TEST_F(Ranks, PacketsThatAreHeldBack) {
  for (const char* admission : {"receiver_credits", "hpcc"}) {
    expect_same(std::string("mesh.toml run.audit=full switch.vcs=4 switch.buffer=16 traffic.uniform.size=20 "
                            "traffic.uniform.max_packet=5 admission=") +
                    admission,
                {2});
  }
}

/// When a disturbance is over one rank may know before the others.
TEST_F(Ranks, AnIncastWhoseEndIsItsLastArrival) {
  write("incast.toml",
        "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 4, buffer = 8 }\n"
        "routing = \"dimension_order\"\nrun = { duration = 20000, window = 100 }\n"
        "[[traffic]]\nname = \"uniform\"\nload = 0.1\nsize = 4\n"
        "[[traffic]]\nname = \"incast\"\nreceivers = [5]\nsenders = [0, 15]\namount = 20\nsize = 4\nstart = 2000\n");
  expect_same("incast.toml", {2, 3});
  expect_same("incast.toml traffic.incast.receivers=[1,14] run.settle=5000", {2, 3});
}

TEST_F(Ranks, AFileIsWrittenByOne) {
  const Output said = on(2, "banyan run mesh.toml --out out --quiet --csv");
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_EQ(here("banyan export out --csv").status, 0);
  EXPECT_EQ(here("banyan verify out --quiet").status, 0);
}

TEST_F(Ranks, MoreThanPartsAreRefused) {
  expect_refusal(on(5, "banyan run mesh.toml topology.size=[2,2]"),
                 "5 ranks, and this network is cut into no more than 4");
}

TEST_F(Ranks, WhatTheyCannotShareIsRefused) {
  write("worms.toml", R"(
topology = { name = "bidirectional_min", hosts = 16 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
traffic  = "multicast"
admission = "dctcp"
)");
  write("jobs.toml", R"(
topology = { name = "bidirectional_min", hosts = 16 }
routing  = "nearest_common_ancestor"
job      = { name = "sum", generator = { collective = "barrier", algorithm = "dissemination", ranks = 8 } }
)");
  write("recn.toml", R"(
topology = { name = "bidirectional_min", hosts = 16 }
switch   = { name = "cioq", control_delay = 0 }
routing  = { name = "nearest_common_ancestor", up = "destination_digit" }
traffic  = { name = "uniform", load = 0.2, size = 64 }
)");
  expect_refusal(on(2, "banyan run worms.toml"), "an admission waits for all copies");
  expect_refusal(on(2, "banyan run recn.toml"), "switch.control_delay is 0");
  expect_same("recn.toml run.duration=2000 switch.control_delay=20", {2});  // the remedy
  write("global.toml", R"(
topology = { name = "dragonfly", terminals_per_router = 2, routers_per_group = 4, global_ports = 2 }
switch   = { name = "vc_router", vcs = 4, buffer = 16 }
routing  = { name = "dragonfly_routing", policy = "ugal_g" }
traffic  = { name = "uniform", load = 0.2 }
run      = { duration = 500 }
)");
  expect_refusal(on(2, "banyan run global.toml"), "the routing looks at queues everywhere");
  expect_same("global.toml routing.policy=ugal_l", {2});
  expect_refusal(on(2, "banyan run jobs.toml switch=ideal switch.latency=1 switch.per_byte=1"), "one queue");
}

/// Hosts, placements, a background, messages that ask first, computation, several jobs and repeats.
TEST_F(Ranks, Jobs) {
  write("jobs.toml", R"(
topology = { name = "fat_tree", arity = 4, levels = 2 }
switch   = { name = "vc_router", vcs = 2, buffer = 16 }
routing  = "up_down"
cycle_time = "1 ns"
flit     = "32 B"
[[job]]
name = "ring"
generator = { collective = "all_reduce", algorithm = "ring", bytes = "4 KiB", ranks = 8 }
placement = "random"
host.eager = 100
[[job]]
name = "all"
generator = { collective = "all_to_all", algorithm = "pairwise", bytes = "1 KiB", ranks = 6 }
start = "200 ns"
repeats = 2
)");
  expect_same("jobs.toml run.tables=channels", {2, 3, 4});
  expect_same("jobs.toml traffic=uniform traffic.uniform.load=0.2 traffic.uniform.size=3", {2}, 2);
  expect_same(
      "jobs.toml switch=cioq 'routing={name=\"nearest_common_ancestor\",up=\"d_mod_k\"}' 'messages.flit=\"1 B\"'", {2});
  EXPECT_EQ(here("banyan run jobs.toml --quiet --log alone.log").status, 0);
  EXPECT_EQ(on(2, "banyan run jobs.toml --quiet --log shared.log").status, 0);
  const Output same = here("cmp alone.log shared.log && test -s alone.log");
  EXPECT_EQ(same.status, 0) << same.text;
}

/// Why a rank has fewer threads than it was given is told of the rank's part.
TEST_F(Ranks, TooSmallForThreads) {
  const Output said = on(2, "banyan run mesh.toml topology.size=[16,14] --threads 2 2>&1");
  EXPECT_NE(said.text.find("a rank's 112 switches are too few (128 per thread)"), std::string::npos) << said.text;
}

TEST_F(Ranks, JobsGoOnFromACheckpoint) {
  write("jobs.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
flit     = "32 B"
job      = { name = "all", generator = { collective = "all_to_all", bytes = "64 KiB", ranks = 16 }, repeats = 20 }
)");
  const std::string run = "banyan run jobs.toml --quiet --json";
  const json whole = result_in(here(run + " 2>/dev/null").text);
  ASSERT_TRUE(whole.is_object()) << whole;
  kill_after_a_checkpoint(run);
  const json resumed = result_in(on(2, "banyan run --resume state --quiet --json 2>/dev/null").text);
  ASSERT_TRUE(resumed.is_object()) << resumed;
  for (const auto& [key, value] : whole.items()) EXPECT_EQ(resumed[key], value) << key;
}

TEST_F(Ranks, JobsThatCannotEndAreExplained) {
  write("jobs.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
job      = { name = "ring", file = "ring.goal" }
)");
  write("ring.goal", "num_ranks 2\nrank 0 {\nrecv 8b from 1\n}\nrank 1 {\nrecv 8b from 0\n}\n");
  expect_refusal(on(2, "banyan run jobs.toml"), "ring.goal");
}

/// What a run records beside its result, as files: the same bytes on one process and on two.
TEST_F(Ranks, WhatIsRecordedHasTheSameBytes) {
  write("fire.toml", R"(
topology = { name = "bidirectional_min", hosts = 16 }
switch   = { name = "cioq", queues = "recn_enhanced", mark.low = 4, mark.high = 16 }
routing  = { name = "nearest_common_ancestor", up = "destination_digit" }
traffic  = { name = "hot_spot", load = 0.8, size = 64, fraction = 0.4 }
run      = { warmup = 1000, measure = 9000, trees_interval = 500, window = 500 }
)");
  for (const char* file : {"mesh.toml", "fire.toml"}) {
    const std::string run =
        std::string("banyan run ") + file +
        " run.trees=true run.tables=all run.window=500 --watch terminal=1 --watch packet=2:1 --quiet --json";
    const auto files = [&](const char* names) {
      return fmt::format(" --out {0} --log {0}.log --record-trace {0}.trace > {0}.json 2>/dev/null", names);
    };
    ASSERT_EQ(here(run + " --threads 1" + files("alone")).status, 0);
    ASSERT_EQ(on(2, run + files("shared")).status, 0);
    for (const char* name : {"/channels.csv", "/flows.csv", "/events.csv", "/series.csv", ".log", ".trace"}) {
      const Output same = here(fmt::format("cmp alone{0} shared{0} && test -s alone{0}", name));
      EXPECT_EQ(same.status, 0) << file << ": " << same.text;
    }
    const Output trees = here(
        "banyan trees alone --json > alone.trees && banyan trees shared --json > shared.trees && "
        "cmp alone.trees shared.trees && rm -r alone shared");
    EXPECT_EQ(trees.status, 0) << file << ": " << trees.text;
  }
}

TEST_F(Ranks, TrafficsThatAnswerAndSessions) {
  expect_same(
      "mesh.toml traffic.uniform.reply_size=3 traffic.uniform.vc_range=[0,0] traffic.uniform.reply_vc_range=[1,1]",
      {2});
  write("sessions.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
traffic  = { name = "collective", operation = "all_to_all" }
run      = { sessions = 3, trees = true }
)");
  expect_same("sessions.toml", {3});
  expect_same("sessions.toml traffic=multicast traffic.multicast.implementation=software run.trees=false", {2});
}

/// Each rank runs some of them in a network of its own, of models that are stepped as a whole, too.
TEST_F(Ranks, SessionsAreDealt) {
  write("cube.toml", R"(
topology = { name = "extra_stage_cube", terminals = 64, radix = 4 }
switch   = { name = "output_queued", buffer = 8 }
routing  = "isolated_hot_spot"
traffic  = [{ name = "synchronization", mean = 200, deviation = 10 }, { name = "uniform", load = 0.5, include_self = true }]
run      = { sessions = 7, series = "all", tables = "all" }
)");
  expect_same("cube.toml", {2, 3, 4});
  expect_same("cube.toml", {2}, 2);
  expect_same("cube.toml run.sessions=4 run.precision=0.02 run.precision_limit=40", {3});
  for (const char* n : {"1", "3"}) {
    const Output said =
        on(std::stoi(n), fmt::format("banyan run cube.toml --quiet --threads 1 --profile --json --log {0}.log "
                                     "--record-trace {0}.trace --watch terminal=1 --out {0}.out > {0}.json",
                                     n));
    ASSERT_EQ(said.status, 0) << said.text;
  }
  for (const char* name : {".log", ".trace", ".out/events.csv", ".out/channels.csv"}) {
    const Output same = here(fmt::format("cmp 1{0} 3{0} && test -s 1{0}", name));
    EXPECT_EQ(same.status, 0) << same.text;
  }
  const json profile = json::parse(here("cat 3.json").text).at("profile");
  EXPECT_EQ(profile.at("threads").size(), 3U);
  expect_same("cube.toml topology.radix=2 routing=destination_tag traffic.synchronization.fetch_add=true", {2});
  write("worms.toml", R"(
topology = { name = "bidirectional_min", hosts = 16 }
switch   = "central_buffer"
routing  = "nearest_common_ancestor"
traffic  = [{ name = "multicast", load = 0.02 }, { name = "collective", operation = "all_to_all" }]
run      = { sessions = 4, trees = true, trees_interval = 200 }
)");
  expect_same("worms.toml", {2});
  // Sessions that wait for each other's checkpoints would be no gain.
  expect_refusal(on(2, "banyan run cube.toml --checkpoint state"), "steps such a network as a whole");
  expect_refusal(on(2, "banyan run cube.toml run.sessions=1"), "steps such a network as a whole");
}

/// All of them are killed on the way; the first file is there when all have written theirs.
TEST_F(Ranks, GoOnFromACheckpoint) {
  const std::string run = "banyan run mesh.toml run.measure=40000 --quiet --json";
  const json whole = result_in(here(run + " --threads 1 2>/dev/null").text);
  ASSERT_TRUE(whole.is_object()) << whole;
  kill_after_a_checkpoint(run);
  const json resumed = result_in(on(2, "banyan run --resume state --quiet --json 2>/dev/null").text);
  ASSERT_TRUE(resumed.is_object()) << resumed;
  for (const auto& [key, value] : whole.items()) EXPECT_EQ(resumed[key], value) << key;
  expect_refusal(on(3, "banyan run --resume state"), "was written by 2 processes, and this run has 3 processes");
  expect_refusal(here("banyan run --resume state"), "was written by 2 processes, and this run has one process");
  EXPECT_EQ(here("rm state.*.1").status, 0);
  expect_refusal(on(2, "banyan run --resume state"), ".1: is not there, and state names it");
}

TEST_F(Ranks, ACheckpointTakesThePlaceOfTheOneBefore) {
  for (int i = 0; i < 2; ++i) {
    const Output said = on(2, "banyan run mesh.toml --quiet --checkpoint state --checkpoint-every 0.01s");
    ASSERT_EQ(said.status, 0) << said.text;
  }
  EXPECT_EQ(here("ls state* | wc -l").text, "3\n");
  // What killed ranks left goes too; what has another name stays.
  EXPECT_EQ(here("touch state.00000000000000aa.1 state.00000000000000aa.5 .state.00000000000000aa.0.77.tmp "
                 "other.00000000000000aa.1 state.txt")
                .status,
            0);
  ASSERT_EQ(on(2, "banyan run mesh.toml --quiet --checkpoint state").status, 0);
  EXPECT_EQ(here("ls -A | grep -c '^[.]*state[.]................[.]'").text, "2\n");
  EXPECT_EQ(here("ls other.00000000000000aa.1 state.txt state | wc -l").text, "3\n");
  expect_refusal(on(2, "banyan run mesh.toml --checkpoint missing/state"), "missing/state");
}

TEST_F(Ranks, ShareAWarmUp) {
  write("warm.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
traffic  = { name = "uniform", load = 0.3, size = 5 }
run      = { warmup = 200, measure = 500 }
fork     = { after = "warmup", vary = "traffic.uniform.load", from = 0.2 }
)");
  expect_same("warm.toml", {2});
}

TEST_F(Ranks, BadInputIsToldOnce) {
  expect_refusal(on(2, "banyan run missing.toml"), "missing.toml");
  expect_refusal(on(2, "banyan run mesh.toml --jsn"), "--jsn");
}

TEST_F(Ranks, OneThatFailsAloneEndsAll) {
  const Output said = on(2, "sh -c 'test $OMPI_COMM_WORLD_RANK = 0 || cd /; exec banyan run mesh.toml --json'");
  expect_refusal(said, "mesh.toml");
  EXPECT_EQ(said.text.find("state_hash"), std::string::npos) << said.text;
}

/// A file that is old on one machine, in all that an experiment reads: never a result.
TEST_F(Ranks, ThatHaveReadDifferentFilesAreRefused) {
  const auto differ = [&](const std::string& run) {
    return on(2, "sh -c 'cd r$OMPI_COMM_WORLD_RANK && exec banyan run " + run + " --quiet --json'");
  };
  ASSERT_EQ(here("mkdir r0 r1; cp mesh.toml r0; sed 's/= 4 }/= 8 }/' mesh.toml > r1/mesh.toml").status, 0);
  expect_refusal(differ("mesh.toml"),
                 "process 1 has read another experiment: switch.buffer is 8 there and 4 here, in process 0");
  expect_refusal(differ("mesh.toml switch.buffer=4 run.seed=$((1+OMPI_COMM_WORLD_RANK))"),
                 "run.seed is 2 there and 1 here");
  write("jobs.toml", R"(
topology = { name = "mesh", size = [4, 4] }
switch   = { name = "vc_router", vcs = 2, buffer = 4 }
routing  = "dimension_order"
flit     = "32 B"
job      = { name = "one", file = "one.goal", placement = "places" }
)");
  const auto goal = [&](const char* name, const char* bytes) {
    write(name, fmt::format("num_ranks 2\nrank 0 {{\nsend {0}b to 1\n}}\nrank 1 {{\nrecv {0}b from 0\n}}\n", bytes));
  };
  goal("r0/one.goal", "5000");
  goal("r1/one.goal", "9000");
  for (const char* name : {"r0/places", "r1/places"}) write(name, "0 15\n");
  ASSERT_EQ(here("cp jobs.toml r0; cp jobs.toml r1").status, 0);
  expect_refusal(differ("jobs.toml"), "process 1 has read another experiment: inputs");
  goal("r1/one.goal", "5000");
  EXPECT_EQ(differ("jobs.toml").status, 0);
  write("r1/places", "0 9\n");
  expect_refusal(differ("jobs.toml"), "process 1 has read another experiment: inputs");
}

TEST_F(Ranks, OneThatDiesEndsAllWithoutAResult) {
  const Output said = on(2,
                         "sh -c 'test $OMPI_COMM_WORLD_RANK = 0 || (sleep 2; kill -9 $$) & "
                         "exec banyan run mesh.toml run.measure=100000000 --quiet --json --out died'");
  EXPECT_NE(said.status, 0);
  EXPECT_EQ(said.text.find("state_hash"), std::string::npos) << said.text;
  EXPECT_FALSE(fs::exists(folder_.path() / "died" / "result.json"));
}

TEST_F(Ranks, AProgramWithoutMpiSaysSo) {
  fs::copy_file(BANYAN_PROGRAM, folder_.path() / "alone");
  const std::string run = "OMPI_COMM_WORLD_SIZE=2 ./alone run mesh.toml";
  expect_refusal(here("OMPI_COMM_WORLD_RANK=0 " + run), "or its module banyan_mpi.so is not beside it");
  EXPECT_EQ(here("OMPI_COMM_WORLD_RANK=1 " + run).text, "");
}

}  // namespace
}  // namespace banyan::cluster::ranks_test
