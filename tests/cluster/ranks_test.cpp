// Does one network over the processes of mpirun end as on one thread, and does what it cannot do end with one sentence?
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

TEST_F(Ranks, PacketsThatAreHeldBack) {
  for (const char* admission : {"receiver_credits", "hpcc"}) {
    expect_same(std::string("mesh.toml run.audit=full switch.vcs=4 switch.buffer=16 traffic.uniform.size=20 "
                            "traffic.uniform.max_packet=5 admission=") +
                    admission,
                {2});
  }
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
  for (const char* option : {"--log log.txt", "--watch terminal=1", "--record-trace trace.txt", "--checkpoint state",
                             "run.trees=true", "run.tables=all"}) {
    expect_refusal(on(2, std::string("banyan run mesh.toml ") + option + ""), "several ranks");
  }
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
