// Are Chakra execution traces read as they are written: nodes, dependencies, collectives, groups, damage?
#include "banyan/workload/chakra.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "banyan/api/catalog.hpp"
#include "banyan/api/experiment.hpp"
#include "banyan/api/reader.hpp"
#include "banyan/workload/compressed.hpp"
#include "support/chakra_writer.hpp"
#include "support/repository.hpp"
#include "support/schedule_interpreter.hpp"
#include "support/workload_files.hpp"

namespace banyan::workload::chakra_test {
namespace {

using namespace test::chakra;
using test::refusal;
using test::TemporaryFolder;
using test::text_of;
using test::write_bytes;

/// A folder with one file per rank.
class Trace {
 public:
  void rank(const std::string& nodes) { write_bytes(file(ranks_++), kMetadata + nodes); }
  [[nodiscard]] std::string file(u32 rank) const {
    return (folder_.path() / ("t." + std::to_string(rank) + ".et")).string();
  }
  [[nodiscard]] std::string path() const { return folder_.path().string(); }
  [[nodiscard]] Schedule read(const ChakraOptions& options = {}, ChakraNotes* notes = nullptr) const {
    return read_chakra(path(), options, notes);
  }
  [[nodiscard]] std::string refusal_of(const ChakraOptions& options = {}) const {
    return refusal([&] { static_cast<void>(read(options)); });
  }

 private:
  TemporaryFolder folder_;
  u32 ranks_ = 0;
};

u64 time_of(const Schedule& schedule) { return std::ranges::max(test::ends_on_ideal_network(schedule, 1000, 3)); }

// --- nodes ----------------------------------------------------------------------------------------------------------

TEST(Chakra, SendsReceivesAndComputationsKeepTheirDependencies) {
  Trace trace;
  trace.rank(compute(0, 7).text() + send(1, 1, 4096, 3).after({0}).text() +
             receive(9, 1, 8, 4).after({0, 1}).after_control(0).text());
  trace.rank(receive(2, 0, 4096, 3).text() + send(3, 0, 8, 4).after_control(2).text() +
             Node(4, 4, "host").micros(2).attribute("is_cpu_op", 1, 27).after({3}).text());
  EXPECT_EQ(text_of(trace.read()),
            "rank 0\n"
            "  0: calc 7000 core 1\n"
            "  1: send 4096 to 1 tag 3 after 0\n"
            "  2: recv 8 from 1 tag 4 after 0 1\n"
            "rank 1\n"
            "  0: recv 4096 from 0 tag 3\n"
            "  1: send 8 to 0 tag 4 after 0\n"
            "  2: calc 2000 core 2 after 1\n");
}

TEST(Chakra, NodesMayWaitForLaterOnesAndHaveAnyNumbers) {
  Trace trace;
  trace.rank(compute(900, 1).after({20}).text() + compute(20, 2).text() + Node(5, 0, "").after({900}).text());
  EXPECT_EQ(text_of(trace.read()),
            "rank 0\n  0: calc 1000 core 1 after 1\n  1: calc 2000 core 1\n  2: calc 0 core 2 after 0\n");
}

TEST(Chakra, OperationsTakeTimeWhereTheTraceGivesNone) {
  Trace trace;
  trace.rank(Node(0, 4, "").attribute("num_ops", 5000).text() + compute(1, 3).attribute("num_ops", 5000).text());
  ChakraOptions options;
  EXPECT_EQ(text_of(trace.read(options)), "rank 0\n  0: calc 0 core 1\n  1: calc 3000 core 1\n");
  options.operations_per_ns = 10;
  EXPECT_EQ(text_of(trace.read(options)), "rank 0\n  0: calc 500 core 1\n  1: calc 3000 core 1\n");
}

TEST(Chakra, GzipAndOneOfTheFilesReadTheSame) {
  Trace plain;
  Trace packed;
  for (u32 rank = 0; rank < 2; ++rank) {
    const std::string nodes = compute(0, 1).text() + collective(1, 0, 1000).after({0}).text();
    plain.rank(nodes);
    packed.rank(nodes);
    std::filesystem::remove(packed.file(rank));
    const gzFile file = gzopen((packed.file(rank) + ".gz").c_str(), "wb");
    const std::string bytes = kMetadata + nodes;
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
  }
  const std::string wanted = text_of(plain.read());
  EXPECT_EQ(text_of(packed.read()), wanted);
  EXPECT_EQ(text_of(read_chakra(plain.file(1))), wanted);
  EXPECT_EQ(text_of(read_chakra(packed.file(0) + ".gz")), wanted);
}

TEST(Chakra, IsToldByItsFirstBytes) {
  const std::string nodes = compute(0, 1).text();
  EXPECT_TRUE(is_chakra(kMetadata + nodes));
  EXPECT_TRUE(is_chakra(
      framed(bytes_field(2, bytes_field(1, "schema") + bytes_field(29, std::string(9000, 'x')))).substr(0, 4096)));
  EXPECT_TRUE(is_chakra(varint(0) + nodes));
  for (const char* other : {"", "num_ranks 2\n", "Nodes 4\n", "\n", "0", "cycle,source\n"})
    EXPECT_FALSE(is_chakra(other)) << other;
}

// --- collectives ----------------------------------------------------------------------------------------------------

TEST(Chakra, CollectivesAreExpandedByTheAlgorithmThatIsAskedFor) {
  Trace trace;
  for (u32 rank = 0; rank < 8; ++rank) {
    trace.rank(compute(0, 5).text() + collective(1, 0, 8000).after({0}).text() + compute(2, 1).after({1}).text());
  }
  ChakraOptions options;
  set_algorithm(options, "all_reduce", "ring", {});
  ChakraNotes notes;
  EXPECT_EQ(time_of(trace.read(options, &notes)), 5000 + 14 * (1000 + 1000 * 3) + 1000U);
  EXPECT_EQ(notes.collectives, 1U);
  EXPECT_EQ(notes.nodes, 24U);
  set_algorithm(options, "all_reduce", "recursive_doubling", {});
  EXPECT_EQ(time_of(trace.read(options)), 5000 + 3 * (1000 + 8000 * 3) + 1000U);
}

TEST(Chakra, SizesAreWhatARankPutsIn) {
  const auto time = [](u64 type, const char* name, const char* algorithm, u64 size) {
    Trace trace;
    for (u32 rank = 0; rank < 4; ++rank) trace.rank(collective(0, type, size).text());
    ChakraOptions options;
    set_algorithm(options, name, algorithm, {});
    return time_of(trace.read(options));
  };
  EXPECT_EQ(time(2, "all_gather", "ring", 400), 3 * (1000 + 400 * 3U));
  EXPECT_EQ(time(7, "reduce_scatter", "ring", 400), 3 * (1000 + 100 * 3U));
  EXPECT_EQ(time(8, "reduce_scatter", "ring", 400), 3 * (1000 + 100 * 3U));
  EXPECT_EQ(time(6, "all_to_all", "pairwise", 400), 3 * (1000 + 100 * 3U));
  EXPECT_EQ(time(5, "broadcast", "binomial", 400), 2 * (1000 + 400 * 3U));
  EXPECT_EQ(time(1, "reduce", "binomial", 400), 2 * (1000 + 400 * 3U));
  EXPECT_EQ(time(3, "gather", "linear", 400), 1000 + 3 * 400 * 3U);
  EXPECT_EQ(time(4, "scatter", "linear", 400), 1000 + 3 * 100 * 3U);
  EXPECT_EQ(time(9, "barrier", "dissemination", 0), 2 * 1000U);
}

TEST(Chakra, GroupsMayBeUnequalAndComeFromNodesOrFromAFile) {
  // Ranks 0 and 3 against 1, 2 and 4; all of them afterwards.
  const auto nodes = [](u32 rank, bool listed) {
    const bool small = rank == 0 || rank == 3;
    std::string text;
    if (listed) {
      text = Node(7, 1, "process_group")
                 .inputs(R"(["[{\"pg_name\": \"a\", \"ranks\": [0, 3]}, {\"pg_name\": \"b\", \"ranks\": [1, 2, 4]}]"])")
                 .text();
    }
    return text + collective(8, 2, small ? 300 : 500).group(small ? "a" : "b").text() +
           collective(9, 9, 0).after({8}).text();
  };
  Trace listed;
  Trace bare;
  for (u32 rank = 0; rank < 5; ++rank) {
    listed.rank(nodes(rank, true));
    bare.rank(nodes(rank, false));
  }
  ChakraOptions options;
  set_algorithm(options, "all_gather", "ring", {});
  EXPECT_EQ(time_of(listed.read(options)), 2 * (1000 + 500 * 3) + 3 * 1000U);
  EXPECT_EQ(bare.refusal_of(options),
            "t.0.et: nothing says which ranks the group a has; give them in a JSON file with groups = FILE (of a "
            "command: --groups FILE), such as "
            "{\"1\": [0, 1]}");
  TemporaryFolder folder;
  options.groups = (folder.path() / "groups.json").string();
  write_bytes(options.groups, R"({"a": [0, 3], "b": [1, 2, 4]})");
  EXPECT_EQ(time_of(bare.read(options)), 2 * (1000 + 500 * 3) + 3 * 1000U);
  write_bytes(options.groups, R"({"a": [0, 5]})");
  EXPECT_EQ(bare.refusal_of(options),
            "groups.json: group a is no list of different ranks below 5; give the ranks of the trace");
}

TEST(Chakra, CollectivesThatLackTypeOrSizeAreNamedAndRefusedOrSkipped) {
  Trace trace;
  for (u32 rank = 0; rank < 2; ++rank) {
    trace.rank(Node(3, 7, "c10d::broadcast_").micros(85).text() +
               Node(4, 7, "nccl").attribute("comm_type", 0).micros(1).after({3}).text() +
               Node(5, 7, "nccl").attribute("comm_type", 12).attribute("comm_size", 8).after({4}).text());
  }
  EXPECT_EQ(
      trace.refusal_of(),
      "t.0.et: byte 9: node 3 (c10d::broadcast_) is a collective that has no comm_type; give it in the trace, or set "
      "incomplete = \"skip\" (of a command: --incomplete skip) to take such nodes for computations");
  ChakraOptions options;
  options.skip_incomplete = true;
  ChakraNotes notes;
  EXPECT_EQ(
      text_of(trace.read(options, &notes)).substr(0, 101),
      "rank 0\n  0: calc 85000 core 1\n  1: calc 1000 core 1 after 0\n  2: calc 0 core 1 after 1\nrank 1\n  0: ca");
  EXPECT_EQ(notes.skipped, (std::vector<std::string>{"c10d::broadcast_", "nccl"}));
  EXPECT_EQ(notes.skipped_nodes, 6U);
}

TEST(Chakra, RanksThatDisagreeAreNamed) {
  Trace sizes;
  sizes.rank(collective(0, 0, 100).text());
  sizes.rank(collective(0, 0, 200).text());
  EXPECT_EQ(
      sizes.refusal_of(),
      "t.1.et: collective 0 is all_reduce of 100 bytes at rank 0 (step), and all_reduce of 200 bytes at rank 1 (step); "
      "give the collectives of a group in the same order at all its ranks");
  Trace counts;
  counts.rank(collective(0, 0, 100).text());
  counts.rank(compute(0, 1).text());
  EXPECT_EQ(counts.refusal_of(),
            "t.1.et: rank 1 has 0 collectives, and rank 0 has 1; give the trace of the same steps for all ranks");
}

TEST(Chakra, AnUnknownAlgorithmIsRefusedWithTheNearest) {
  ChakraOptions options;
  const Where where{"x.toml", 3, 4, "job.0.collectives"};
  EXPECT_EQ(refusal([&] { set_algorithm(options, "all_reduce", "rings", where); }),
            "x.toml:3:4: all_reduce has no algorithm \"rings\"; did you mean ring? choose one of automatic, ring, "
            "recursive_doubling, halving_doubling, binomial, double_binary_tree, hierarchical, in_network");
  EXPECT_EQ(refusal([&] { set_algorithm(options, "all_redce", "ring", where); }).substr(0, 75),
            "x.toml:3:4: there is no collective \"all_redce\"; did you mean all_reduce? ch");
}

// --- what is wrong --------------------------------------------------------------------------------------------------

TEST(Chakra, ABrokenTraceSaysWhere) {
  Trace waits;
  waits.rank(compute(4, 1).after({77}).text());
  EXPECT_EQ(waits.refusal_of(),
            "t.0.et: node 4 waits for node 77, which is not there; give the whole trace of the rank, or set incomplete "
            "= \"skip\" (of a command: --incomplete skip) to leave such dependencies out");
  ChakraOptions options;
  options.skip_incomplete = true;
  ChakraNotes notes;
  EXPECT_EQ(text_of(waits.read(options, &notes)), "rank 0\n  0: calc 1000 core 1\n");
  EXPECT_EQ(notes.dangling, 1U);
  Trace twice;
  twice.rank(compute(4, 1).text() + compute(4, 1).text());
  EXPECT_EQ(twice.refusal_of(), "t.0.et: two nodes have the number 4; number the nodes of a rank differently");
  Trace peer;
  peer.rank(send(0, 5, 8).text());
  EXPECT_EQ(peer.refusal_of(),
            "t.0.et: byte 9: node 0 (send) has the comm_dst 5, and there are 1 ranks; give the files of all ranks");
  Trace none;
  none.rank(Node(0, 5, "send").attribute("comm_dst", 0).text());
  EXPECT_EQ(none.refusal_of(),
            "t.0.et: byte 9: node 0 (send) has no comm_size; give the length of the message in bytes");

  Trace cut;
  const std::string bytes = kMetadata + compute(0, 1).text() + compute(1, 1).text();
  cut.rank("");
  write_bytes(cut.file(0), bytes.substr(0, bytes.size() - 3));
  EXPECT_EQ(cut.refusal_of(),
            "t.0.et: byte 24: 15 bytes are announced, and 12 follow; give the whole file, as the tool wrote it");
  write_bytes(cut.file(0), "");
  EXPECT_EQ(cut.refusal_of(), "t.0.et: byte 0: the file is empty; give the whole file, as the tool wrote it");
}

TEST(Chakra, AMissingRankIsNamed) {
  Trace trace;
  for (u32 rank = 0; rank < 3; ++rank) trace.rank(compute(0, 1).text());
  std::filesystem::remove(trace.file(1));
  EXPECT_EQ(trace.refusal_of(), "t.2.et: the file of rank 1 is missing; give the files of all ranks, numbered from 0");
  std::filesystem::rename(trace.file(2), trace.path() + "/other.0.et");
  EXPECT_EQ(refusal([&] {
              static_cast<void>(read_chakra(trace.path()));
            }).substr(trace.path().size() - trace.path().rfind('/') - 1),
            ": there are several traces here: other and t; give one of the files of the trace that is meant");
  EXPECT_EQ(read_chakra(trace.file(0)).ranks.size(), 1U);
}

TEST(Chakra, DamagedFilesNeverCrash) {
  Trace trace;
  const std::string nodes = compute(0, 5).text() +
                            Node(1, 1, "groups").inputs(R"([{"pg_name": "a", "ranks": [0, 1]}])").text() +
                            collective(2, 0, 64).group("a").after({0}).text() + collective(3, 6, 64).after({2}).text();
  trace.rank(nodes + send(4, 1, 10).text());
  trace.rank(nodes + receive(4, 0, 10).text());
  test::expect_survives_damage(kMetadata + nodes + send(4, 1, 10).text(), trace.file(0),
                               [&] { static_cast<void>(trace.read()); });
  TemporaryFolder folder;
  const std::string path = (folder.path() / "t.0.et").string();
  const gzFile file = gzopen(path.c_str(), "wb");
  const std::string bytes = kMetadata + compute(0, 5).text() + compute(1, 6).after({0}).text();
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  test::expect_survives_damage(
      test::read_file(path), path, [&] { static_cast<void>(read_chakra(path)); }, 100);
}

/// The options of a job reach the reader, and its collectives and what was left out are in the result.
TEST(Chakra, AJobSaysHowItsCollectivesAreDone) {
  Trace trace;
  for (u32 r = 0; r < 4; ++r)
    trace.rank(collective(1, 0, 4096).text() + collective(2, 0, 4096).after({1}).text() +
               Node(3, 7, "half").after({2}).micros(1).text());
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"ideal\", latency = 100 }\n"
      "[[job]]\nfile = \"" +
      trace.path() + "\"\nincomplete = \"skip\"\ncollectives = { all_reduce = \"ring\" }\n";
  const auto run = [&](const std::vector<std::string>& overrides) {
    return api::run(api::read_experiments_text(text, "x", overrides).points.front());
  };
  const api::Result ring = run({});
  const nlohmann::json job = nlohmann::json::parse(ring.jobs)[0];
  EXPECT_EQ(job["messages"], 2 * 4 * 6);
  EXPECT_EQ(job["collectives"],
            nlohmann::json({{{"collective", "all_reduce"}, {"algorithm", "ring"}, {"count", 2}, {"bytes", 8192}}}));
  EXPECT_NE(ring.explanation.find("4 collectives without type or size skipped (half)"), std::string::npos)
      << ring.explanation;
  const api::Result doubling = run({"job.collectives.all_reduce=recursive_doubling"});
  EXPECT_EQ(nlohmann::json::parse(doubling.jobs)[0]["messages"], 2 * 4 * 2);
  EXPECT_NE(refusal([&] { static_cast<void>(run({"job.incomplete=refuse"})); }).find("half"), std::string::npos);
  EXPECT_NE(refusal([&] { static_cast<void>(run({"job.collectives.all_reduce=pairwise"})); }).find("pairwise"),
            std::string::npos);
}

std::string real_attribute(const std::string& name, double value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes_field(1, name) + varint(3U << 3U | 1U) + bytes;
}

TEST(Chakra, NumbersAreOfAnyTypeAndWhatIsNoneIsRefused) {
  const auto sent = [](Trace& trace, const std::string& attribute) -> Trace& {
    trace.rank(Node(0, 5, "s").attribute("comm_dst", 1, 7).attribute_bytes(attribute).text());
    trace.rank(receive(0, 0, 4096).text());
    return trace;
  };
  const auto text = [](const std::string& name, const std::string& value) {
    return bytes_field(1, name) + bytes_field(29, value);
  };
  for (const std::string& good : {real_attribute("comm_size", 4096.0), text("comm_size", "4096"),
                                  bytes_field(1, "comm_size") + number_field(13, 4096)}) {
    Trace trace;
    EXPECT_EQ(sent(trace, good).read().ranks[0].operations[0].amount, 4096U);
  }
  const std::string cause = "has a comm_size that is no whole number from 0 on; write such a number";
  for (const std::string& bad : {real_attribute("comm_size", -4096.0), real_attribute("comm_size", 50.5),
                                 real_attribute("comm_size", std::nan("")), text("comm_size", "4 KiB"),
                                 text("comm_size", ""), bytes_field(1, "comm_size") + number_field(9, ~u64{0}),
                                 bytes_field(1, "comm_size") + bytes_field(10, "\x01")}) {
    Trace trace;
    const std::string said = sent(trace, bad).refusal_of();
    EXPECT_NE(said.find(cause), std::string::npos) << said;
  }
  Trace peer;
  peer.rank(Node(0, 5, "s").attribute("comm_dst", ~u64{0}, 9).attribute("comm_size", 8).text());
  EXPECT_NE(peer.refusal_of().find("has a comm_dst that is no whole number"), std::string::npos) << peer.refusal_of();
  Trace kind;
  kind.rank(Node(0, 7, "c").attribute("comm_type", ~u64{0}, 9).attribute("comm_size", 8).text());
  EXPECT_NE(kind.refusal_of().find("has a comm_type that is no whole number"), std::string::npos);
  // What has no root may have any.
  Trace root;
  root.rank(collective(0, 0, 8).attribute("root", ~u64{0}, 9).text());
  EXPECT_EQ(root.refusal_of(), "");
}

/// A send of a trace waits for nobody, as in ASTRA-sim, unless the host is told otherwise.
TEST(Chakra, LongSendsInARingDoNotWaitForEachOther) {
  Trace trace;
  for (u32 r = 0; r < 4; ++r)
    trace.rank(send(0, (r + 1) % 4, 1 << 20).text() + receive(1, (r + 3) % 4, 1 << 20).after({0}).text());
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"ideal\", latency = 100 }\n"
      "[[job]]\nfile = \"" +
      trace.path() + "\"\n";
  const api::Experiment experiment = api::read_experiments_text(text, "x", {}).points.front();
  EXPECT_EQ(nlohmann::json::parse(api::run(experiment).jobs)[0]["completion"], 100.0);
  EXPECT_NE(
      refusal([&] {
        static_cast<void>(api::run(api::read_experiments_text(text, "x", {"job.host.eager=65535 B"}).points.front()));
      }).find("a cycle of dependencies"),
      std::string::npos);
  // The configuration of the result means the same.
  const api::Experiment again = api::experiment_from(experiment.configuration, api::catalog());
  EXPECT_EQ(nlohmann::json::parse(api::run(again).jobs)[0]["completion"], 100.0);
}

// --- collectives that switches reduce -------------------------------------------------------------------------------

constexpr const char* kWire = "switch = { name = \"ideal\", latency = 100 }\n";
constexpr const char* kSwitches = "switch = \"central_buffer\"\ncycle_time = \"1 ns\"\nflit = \"32 B\"\n";

api::Result reduced_in_network(Trace& trace, const std::string& network, const std::vector<std::string>& more = {}) {
  const std::string text = "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n" + network +
                           "[[job]]\nfile = \"" + trace.path() +
                           "\"\ncollectives = { all_reduce = \"in_network\", barrier = \"in_network\" }\n";
  return api::run(api::read_experiments_text(text, "x", more).points.front());
}
nlohmann::json job_of(const api::Result& result) { return nlohmann::json::parse(result.jobs)[0]; }

/// All-reduce, a message to the next rank, all-reduce: beside each other in one job.
void add_ranks(Trace& trace, u32 ranks, u64 bytes) {
  for (u32 r = 0; r < ranks; ++r) {
    trace.rank(collective(1, 0, bytes).text() + send(2, (r + 1) % ranks, 64).after({1}).text() +
               receive(3, (r + ranks - 1) % ranks, 64).after({1}).text() +
               collective(4, 0, bytes).after({2, 3}).text());
  }
}

TEST(Chakra, SwitchesReduceBesideOtherMessages) {
  Trace trace;
  add_ranks(trace, 6, 4096);
  const nlohmann::json wire = job_of(reduced_in_network(trace, kWire));
  EXPECT_EQ(wire["completion"], 300.0) << "a sum is there one latency after the last contribution";
  EXPECT_EQ(wire["messages"], 3 * 6);
  EXPECT_EQ(
      wire["collectives"],
      nlohmann::json({{{"collective", "all_reduce"}, {"algorithm", "in_network"}, {"count", 2}, {"bytes", 8192}}}));
  const api::Result network = reduced_in_network(trace, kSwitches);
  const nlohmann::json job = job_of(network);
  EXPECT_EQ(job["messages"], 3 * 6);
  EXPECT_GE(job["slowdown_ideal"].get<double>(), 1.0);
  EXPECT_LT(job["slowdown_ideal"].get<double>(), 1.2) << "nothing competes with it";
  EXPECT_EQ(reduced_in_network(trace, kSwitches, {"run.step_order=permuted"}).state_hash, network.state_hash);
  const double slower = job_of(reduced_in_network(trace, kSwitches, {"job.collectives.all_reduce=ring"}))["completion"];
  EXPECT_LT(job["completion"].get<double>(), slower);
}

TEST(Chakra, LongVectorsAreReducedInParts) {
  Trace trace;
  add_ranks(trace, 2, 10'000);
  EXPECT_EQ(job_of(reduced_in_network(trace, kSwitches))["messages"], 2 * (3 + 1 + 3)) << "of 4,096 bytes at most";
  EXPECT_EQ(job_of(reduced_in_network(trace, kWire, {"job.contribution=1000"}))["messages"], 2 * (10 + 1 + 10));
  const std::string longer = refusal([&] {
    static_cast<void>(reduced_in_network(trace, kSwitches, {"job.contribution=10000", "switch.chunks=40"}));
  });
  EXPECT_NE(longer.find("use at least 103 chunks, or shorter messages"), std::string::npos) << longer;
}

TEST(Chakra, SumsOfTwoCollectivesAreNeverMixed) {
  // Nothing orders the two all-reduces of a rank but their place in its trace.
  Trace trace;
  for (u32 r = 0; r < 3; ++r) {
    trace.rank(compute(0, r).text() + collective(1, 0, 64).after({0}).text() + collective(2, 0, 6400).text());
  }
  EXPECT_EQ(job_of(reduced_in_network(trace, kSwitches))["messages"], 3 * (1 + 2));
}

/// Rank 1 wants the second sum before the first, and no network can give it that.
TEST(Chakra, SumsInAnOrderThatCannotBeAreACycle) {
  Trace trace;
  trace.rank(collective(1, 0, 500).text() + collective(2, 0, 600).text());
  trace.rank(collective(1, 0, 500).after({2}).text() + collective(2, 0, 600).text());
  for (const char* network : {kWire, kSwitches}) {
    const std::string text = refusal([&] { static_cast<void>(reduced_in_network(trace, network)); });
    EXPECT_NE(text.find("a cycle of dependencies"), std::string::npos) << network << text;
  }
}

TEST(Chakra, AGroupOfSomeRanksReducesAtTheHosts) {
  Trace trace;
  for (u32 r = 0; r < 4; ++r) {
    const std::string groups = Node(0, 1, "groups").inputs(R"([{"pg_name": "a", "ranks": [0, 1]}])").text();
    trace.rank(groups + (r < 2 ? collective(1, 0, 64).group("a").text() : "") + collective(2, 0, 64).text());
  }
  const nlohmann::json job = job_of(reduced_in_network(trace, kSwitches));
  EXPECT_EQ(job["collectives"][0]["algorithm"], "recursive_doubling, in_network");
  EXPECT_EQ(job["messages"], 2 + 4);
}

TEST(Chakra, WhatCannotBeReducedInTheNetworkIsRefused) {
  Trace trace;
  add_ranks(trace, 4, 64);
  const auto refused = [&](Trace& of, const std::string& network, const std::string& cause, const std::string& remedy) {
    const std::string text = refusal([&] { static_cast<void>(reduced_in_network(of, network)); });
    EXPECT_NE(text.find(cause), std::string::npos) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
  };
  refused(trace, "switch = \"vc_router\"\n", "the switch vc_router does not add up", "use the switch central_buffer");
  Trace crowd;
  add_ranks(crowd, 17, 64);
  refused(crowd, kSwitches, "two ranks at terminal 0 contribute", "each at a terminal of its own");
  Trace itself;
  itself.rank(collective(1, 0, 64).text() + send(2, 0, 8).text() + receive(3, 0, 8).text());
  itself.rank(collective(1, 0, 64).text());
  refused(itself, kSwitches, "send is a message of a rank to itself", "use another algorithm than in_network");
}

}  // namespace
}  // namespace banyan::workload::chakra_test
