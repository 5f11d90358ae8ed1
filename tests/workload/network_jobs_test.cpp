// Do jobs on a simulated network take the time that its links and their hosts give, whatever the machine does?
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "banyan/base/types.hpp"
#include "banyan/core/registry.hpp"
#include "cli/program.hpp"

namespace banyan::cli::network_jobs_test {
namespace {

using nlohmann::json;

constexpr const char* kTree =
    "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n"
    "switch = { name = \"vc_router\", vcs = 2, buffer = 16 }\n"
    "routing = \"up_down\"\ncycle_time = \"1 ns\"\nflit = \"32 B\"\n";
constexpr const char* kRing =
    "[[job]]\nname = \"ring\"\n"
    "generator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = \"64 KiB\", ranks = 8 }\n";
constexpr const char* kAllToAll =
    "[[job]]\nname = \"all\"\n"
    "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"16 KiB\", ranks = 8 }\n";
/// A flit of the tree's vc_router between terminals of one switch, and two switches further.
constexpr u64 kNear = 7;
constexpr u64 kFar = 17;

class NetworkJobs : public testing::Test {
 protected:
  void SetUp() override { fresh_scratch(); }
  static json run_of(const std::string& text, const std::vector<std::string>& more = {}) {
    write_text("x.toml", text);
    std::vector<std::string> arguments{"run", "x.toml", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Said said = banyan(arguments);
    EXPECT_EQ(said.status, 0) << said.err;
    return said.status == 0 ? json::parse(said.out) : json();
  }
  static Said refused(const std::string& text, const std::vector<std::string>& more = {}) {
    write_text("x.toml", text);
    std::vector<std::string> arguments{"run", "x.toml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Said said = banyan(arguments);
    EXPECT_EQ(said.status, 2);
    return said;
  }
};

/// What makes a network slower than its channels is told beside jobs too, by check and by run.
TEST_F(NetworkJobs, HearTheWarningsOfTheirNetwork) {
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2, latency = 20 }\n"
      "switch = { name = \"vc_router\", vcs = 2, buffer = 8 }\nrouting = \"up_down\"\n" +
      std::string(kRing);
  const std::string words = "the credit round trip of a channel of latency 20";
  write_text("x.toml", text);
  const Said checked = banyan({"check", "x.toml"});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE((checked.out + checked.err).find(words), std::string::npos) << checked.out;
  EXPECT_NE(run_of(text).value("warning", "").find(words), std::string::npos);
  EXPECT_EQ(run_of(std::string(kTree) + kRing).value("warning", ""), "");
}

TEST_F(NetworkJobs, RefuseEachOptionInItsOwnWords) {
  const std::string text = std::string(kTree) + kRing;
  const auto cause = [&](const std::vector<std::string>& more) { return refused(text, more).err; };
  EXPECT_NE(cause({"topology.subnetworks=2"}).find("topology.subnetworks: jobs run on one network"), std::string::npos);
  EXPECT_NE(cause({"--watch", "0"}).find("critical path"), std::string::npos);
  EXPECT_NE(cause({"--record-trace", "x.trace"}).find("--log FILE writes"), std::string::npos);
  const std::string ideal =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"ideal\", latency = 1, per_byte = "
      "1 }\n" +
      std::string(kRing);
  EXPECT_NE(refused(ideal, {"--profile"}).err.find("--profile: a network without contention"), std::string::npos);
}

/// The ring's messages are 8 KiB, 16 packets of 16 flits; where nobody is in the way a packet takes as long as the
/// closed form says.
TEST_F(NetworkJobs, LogTheirPackets) {
  const std::string text = std::string(kTree) + kRing;
  const json result = run_of(text, {"--log", "one.csv"});
  const std::string lines = read_text(scratch() / "one.csv");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 1 + 8 * 14 * 16);
  u64 last = 0;
  std::istringstream rows(lines);
  std::string row;
  std::getline(rows, row);
  EXPECT_EQ(row, "session,traffic,source,number,destination,flits,birth,entry,arrival,path");
  while (std::getline(rows, row)) {
    std::vector<std::string> cells;
    std::istringstream words(row);
    for (std::string word; std::getline(words, word, ',');) cells.push_back(word);
    ASSERT_EQ(cells.size(), 10U) << row;
    EXPECT_EQ(cells[1], "injected");
    EXPECT_EQ(cells[4], std::to_string((std::stoul(cells[2]) + 1) % 8)) << row;
    EXPECT_EQ(cells[5], "16");
    const bool near = std::stoul(cells[2]) / 4 == std::stoul(cells[4]) / 4;
    const u64 before = 16 * (std::stoul(cells[3]) % 16);  // flits of the message
    EXPECT_EQ(std::stoul(cells[8]) - std::stoul(cells[6]) + 1, before + 15 + (near ? kNear : kFar)) << row;
    EXPECT_GE(std::stoul(cells[8]), last);
    last = std::stoul(cells[8]);
  }
  EXPECT_EQ(last + 1, result["jobs"][0]["completion"]);
  EXPECT_EQ(run_of(text, {"--log", "two.csv", "run.shards=2", "--threads", "2"})["state_hash"], result["state_hash"]);
  EXPECT_EQ(read_text(scratch() / "two.csv"), lines);
  EXPECT_EQ(run_of(text)["state_hash"], result["state_hash"]);
}

/// 100 + 0.5 per further byte; what waits at ranks is not in the times of a message.
TEST_F(NetworkJobs, LogTheirMessagesWithoutContention) {
  for (const char* rules : {"physical", "loggopsim"}) {
    const std::string text =
        std::string(
            "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = { name = \"ideal\", latency = ") +
        "100, per_byte = 0.5 }\n" + kRing + "placement = \"random\"\nhost = { rules = \"" + rules + "\" }\n";
    const json result = run_of(text, {"--log", "one.csv"});
    std::istringstream rows(read_text(scratch() / "one.csv"));
    std::string row;
    std::getline(rows, row);
    EXPECT_EQ(row, "session,traffic,source,number,destination,flits,birth,entry,arrival,path");
    u64 last = 0;
    std::map<u64, u64> of_source;
    u64 lines = 0;
    for (; std::getline(rows, row); ++lines) {
      std::vector<u64> cells;
      std::istringstream words(row.substr(std::string("0,injected,").size()));
      for (std::string word; std::getline(words, word, ',');) cells.push_back(word.empty() ? 0 : std::stoull(word));
      ASSERT_EQ(row.back(), ',');  // no path
      EXPECT_EQ(cells[1], of_source[cells[0]]++) << row;
      EXPECT_EQ(cells[3], 8192U) << row;
      EXPECT_EQ(cells[6] - cells[5], 100 + 8191 / 2) << row;
      EXPECT_GE(cells[6], last);
      last = cells[6];
    }
    EXPECT_EQ(lines, result["jobs"][0]["messages"]) << rules;
    EXPECT_EQ(of_source.size(), 8U);
    EXPECT_LE(last, result["jobs"][0]["completion"]);
    EXPECT_EQ(run_of(text)["state_hash"], result["state_hash"]);
  }
}

/// What the refusal says is tried.
TEST_F(NetworkJobs, OutputQueuedSaysHowAJobRunsOnIt) {
  const std::string text = std::string(kTree) + kRing;
  EXPECT_NE(refused(text, {"switch=output_queued", "packet=16"}).err.find("a job does without the key packet"),
            std::string::npos);
  EXPECT_EQ(run_of(text, {"switch=output_queued", "packet=1"})["jobs"][0]["messages"], 8 * 14);
}

TEST_F(NetworkJobs, SayWhereTheirTimeWent) {
  const json plain = run_of(std::string(kTree) + kAllToAll);
  EXPECT_FALSE(plain.contains("profile"));
  const json result = run_of(std::string(kTree) + kAllToAll, {"--profile", "run.shards=2"});
  EXPECT_EQ(result["state_hash"], plain["state_hash"]);
  const json& profile = result["profile"];
  EXPECT_EQ(profile["cut"]["shards"], 2) << profile;
  EXPECT_EQ(profile["moves"], 64 * (8 * 3 * 1 + 8 * 4 * 3)) << profile;  // flits, pairs and switches on the way
  EXPECT_GT(profile["run_seconds"], 0.0);
  EXPECT_LE(profile["run_seconds"], profile["seconds"]);
}

/// 14 steps of 8 KiB, 256 flits each, one after the other; of 14 links in a row at most 4 lead to the other switch.
TEST_F(NetworkJobs, ARingWithoutContentionTakesItsClosedForm) {
  const json result = run_of(std::string(kTree) + kRing);
  const json& job = result["jobs"][0];
  EXPECT_EQ(job["completion"], 14 * 255 + 10 * kNear + 4 * kFar);
  EXPECT_EQ(job["slowdown_ideal"], 1.0);
  EXPECT_EQ(job["slowdown_alone"], 1.0);
  EXPECT_EQ(job["messages"], 8 * 14);
  EXPECT_EQ(job["operations"], 8 * 28);
  EXPECT_EQ(job["critical_path"].size(), 28U);
}

TEST_F(NetworkJobs, AMessageTakesOverheadLatencyBytesAndOverhead) {
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: calc 10\nb: send 320b to 1\nb requires a\n}\n"
             "rank 1 {\nrecv 320b from 0\n}\n");
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\nhost = { overhead = 100 }\n";
  EXPECT_EQ(run_of(text)["jobs"][0]["ranks"], json({110, 110 + kNear + 9 + 100}));
  // Its request and the receiver's consent cross the network first; the send ends with its last byte.
  EXPECT_EQ(run_of(text, {"job.host.eager=0"})["jobs"][0]["ranks"],
            json({110 + 2 * kNear + 9, 110 + 3 * kNear + 9 + 100}));
  // An interface that takes 0.5 ns per byte lets 320 bytes arrive 159 ns behind the first.
  EXPECT_EQ(run_of(text, {"job.host.gap_per_byte=0.5"})["jobs"][0]["ranks"], json({110, 110 + kNear + 159 + 100}));
  // Ranks of one terminal need no network.
  write_text("same.txt", "3 3\n");
  EXPECT_EQ(run_of(text, {"job.placement=same.txt"})["jobs"][0]["ranks"], json({110, 210}));
  EXPECT_EQ(run_of(text, {"job.placement=same.txt", "job.host.eager=0"})["jobs"][0]["ranks"], json({119, 210}));
}

TEST_F(NetworkJobs, AMessageThatNoRunGetsThroughIsRefused) {
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\nsend 1000000000000000000b to 1\n}\nrank 1 {\nrecv "
             "1000000000000000000b from 0\n}\n");
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\n";
  EXPECT_NE(refused(text, {}).err.find("no run gets through more than 2^40"), std::string::npos);
}

/// A file with room for more ranks serves smaller jobs too, and the result says so.
TEST_F(NetworkJobs, TerminalsThatAreNotUsedAreTold) {
  write_text("more.txt", "3 2 1 0\n");
  const std::string text = std::string(kTree) +
                           "[[job]]\nname = \"pair\"\nplacement = \"more.txt\"\ngenerator = { collective = "
                           "\"barrier\", ranks = 2 }\n";
  EXPECT_NE(
      run_of(text)["explanation"].get<std::string>().find("pair: the last 2 of 4 terminals in the file are not used"),
      std::string::npos);
  write_text("more.txt", "3 2\n");
  EXPECT_EQ(run_of(text)["explanation"].get<std::string>().find("are not used"), std::string::npos);
}

/// More than four million flits are not simulated twice unless somebody asks for it; the result says what it lacks.
TEST_F(NetworkJobs, ALargeRunSaysWhatWasNotLookedAt) {
  write_text("a.goal", "num_ranks 2\nrank 0 {\nsend 140000000b to 1\n}\nrank 1 {\nrecv 140000000b from 0\n}\n");
  const std::string text =
      "topology = { name = \"mesh\", size = [2] }\nswitch = \"vc_router\"\nflit = \"32 B\"\n[[job]]\nfile = "
      "\"a.goal\"\nhost = { eager = \"1 TiB\" }\n";
  const json silent = run_of(text);
  EXPECT_NE(silent["explanation"].get<std::string>().find("no queues of critical paths"), std::string::npos);
  EXPECT_FALSE(silent.contains("tables"));
  const json told = run_of(text, {"run.tables=channels"});
  EXPECT_EQ(told["explanation"].get<std::string>().find("no queues of critical paths"), std::string::npos);
  EXPECT_TRUE(told.contains("tables"));
}

/// Rank 0 sends 10,000 flits to rank 1; its consent to rank 2 goes behind one packet of them, not behind all.
TEST_F(NetworkJobs, AConsentDoesNotWaitForTheDataOfItsHost) {
  write_text("a.goal",
             "num_ranks 3\nrank 0 {\nsend 320000b to 1\nrecv 320b from 2\n}\nrank 1 {\nrecv 320000b from 0\n}\n"
             "rank 2 {\na: calc 1000\nb: send 320b to 0\nb requires a\n}\n");
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\nhost = { eager = 0 }\n";
  const json ends = run_of(text)["jobs"][0]["ranks"];
  EXPECT_GT(ends[1], 3 * kNear + 9999) << "the consent takes a flit of the link";
  EXPECT_LE(ends[1], 3 * kNear + 9999 + 4);
  EXPECT_GE(ends[2], 1000 + 2 * kNear + 9);
  EXPECT_LE(ends[2], 1000 + 2 * kNear + 9 + 16) << "a packet has 16 flits";
}

TEST_F(NetworkJobs, AFlitOfHalfTheBytesTakesTwiceTheFlits) {
  EXPECT_EQ(run_of(std::string(kTree) + kRing, {"flit=16 B"})["jobs"][0]["completion"],
            14 * 511 + 10 * kNear + 4 * kFar);
}

TEST_F(NetworkJobs, TheHashDoesNotDependOnHowItIsRun) {
  const std::string text = std::string(kTree) + kRing + kAllToAll + "placement = \"random\"\n";
  const json plain = run_of(text, {"job.host.eager=4096", "traffic={ name = \"uniform\", load = 0.1 }"});
  const std::vector<std::vector<std::string>> ways{
      {"run.shards=3"}, {"run.shards=4", "--threads", "2"}, {"run.wake=all"}, {"run.step_order=permuted"}};
  for (std::vector<std::string> way : ways) {
    way.insert(way.end(), {"job.host.eager=4096", "traffic={ name = \"uniform\", load = 0.1 }"});
    const json other = run_of(text, way);
    EXPECT_EQ(other["state_hash"], plain["state_hash"]) << way.front();
    EXPECT_EQ(other["jobs"], plain["jobs"]) << way.front();
  }
  EXPECT_NE(
      run_of(text, {"job.host.eager=4096", "traffic={ name = \"uniform\", load = 0.1 }", "--seed", "5"})["state_hash"],
      plain["state_hash"]);
}

/// Where hosts have an overhead the network goes on for as many cycles without asking them. The hashes are those of a
/// program that asked in every cycle, or of one that had its hashes; one way for each pair, which no rule of choice
/// moves.
TEST_F(NetworkJobs, CyclesThatNoHostCanDisturbAreMadeAtOnce) {
  const std::string text = std::string(kTree) + "traffic = { name = \"uniform\", load = 0.1, size = 8 }\n" + kAllToAll +
                           "placement = \"random\"\n" + kRing + "start = 100\n";
  struct Case {
    const char* overhead;
    const char* hash;
    const char* asking;  ///< with messages above 1,000 bytes that ask their receiver
  };
  for (const Case& c :
       {Case{"0", "e060b5a50b561796", "8a2929f55321beee"}, Case{"1", "f07a1cc2d894e3c3", "6e6205ccdf5457f7"},
        Case{"3", "64fd232f8aa7511e", "0f42f1ea4c384ca4"}, Case{"20", "f0938fbda8e5fdef", "8585bce70c79b528"},
        Case{"500", "c1aee5c49d5c4324", "43143dd7c6301ae6"}}) {
    const std::string overhead = std::string("job.host.overhead=") + c.overhead;
    const std::string fixed = "routing.choice=fixed";
    EXPECT_EQ(run_of(text, {fixed, overhead})["state_hash"], c.hash) << overhead;
    EXPECT_EQ(run_of(text, {fixed, overhead, "job.host.eager=1000"})["state_hash"], c.asking) << overhead;
  }
}

TEST_F(NetworkJobs, TextAndBinaryHaveOneStateHash) {
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: calc 10\nb: send 5000b to 1\nb requires a\n}\n"
             "rank 1 {\nrecv 5000b from 0\n}\n");
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\n";
  const json as_text = run_of(text);
  ASSERT_EQ(banyan({"convert", "a.goal", "--to", "a.bin"}).status, 0);
  EXPECT_EQ(run_of(text, {"job.file=a.bin"})["state_hash"], as_text["state_hash"]);
  EXPECT_NE(run_of(text, {"job.host.overhead=1"})["state_hash"], as_text["state_hash"]);
}

TEST_F(NetworkJobs, JobsHurtEachOtherAndSayBothSlowdowns) {
  const std::string text =
      std::string(kTree) + kRing + "placement = \"spread\"\n" + kAllToAll + "placement = \"spread\"\n";
  const json both = run_of(text, {"job.generator.ranks=16"});
  ASSERT_EQ(both["jobs"].size(), 2U);
  const json alone = run_of(std::string(kTree) + kRing + "placement = \"spread\"\n", {"job.generator.ranks=16"});
  const double slowdown = both["jobs"][0]["completion"].get<double>() / alone["jobs"][0]["completion"].get<double>();
  EXPECT_GT(slowdown, 1.0);
  EXPECT_DOUBLE_EQ(both["jobs"][0]["slowdown_alone"].get<double>(), slowdown);
  EXPECT_GE(both["jobs"][0]["slowdown_ideal"].get<double>(), slowdown);
  EXPECT_NE(both["explanation"].get<std::string>().find("all: 16 ranks on 16 of 16 terminals, one on each, spread"),
            std::string::npos);
}

/// The latencies without load are those of a job's own pairs, however many others there are.
TEST_F(NetworkJobs, AJobAsLastOfManyPairsIsComparedWithItsOwn) {
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 3 }\nswitch = { name = \"vc_router\", vcs = 2, buffer = "
      "16 }\n"
      "routing = \"up_down\"\ncycle_time = \"1 ns\"\nflit = \"32 B\"\n"
      "[[job]]\nname = \"a\"\nstart = \"1000 ns\"\n"
      "generator = { collective = \"all_to_all\", algorithm = \"linear\", bytes = 36, ranks = 36 }\n"
      "[[job]]\nname = \"b\"\nplacement = \"last.txt\"\n"
      "generator = { collective = \"broadcast\", algorithm = \"ring\", bytes = 32, ranks = 4 }\n";
  write_text("last.txt", "60 61 62 63\n");
  const json b = run_of(text)["jobs"][1];
  EXPECT_EQ(b["slowdown_alone"], 1.0);
  EXPECT_EQ(b["slowdown_ideal"], 1.0);
}

/// What nothing else is in the way of takes as long as on the ideal network, in every model: a ring, whose messages
/// have their links for themselves, whether a switch stores packets or not, and whatever a packet has beyond its flits.
TEST_F(NetworkJobs, ARingHasNoContentionInAnyModel) {
  const std::string tree = "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\ncycle_time = \"1 ns\"\n";
  const std::string up = "routing = \"up_down\"\nflit = \"32 B\"\n";
  const std::string drawn = "routing = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n";
  for (const std::string& network :
       {"switch = \"central_buffer\"\n" + up, "switch = \"input_buffer\"\n" + up, "switch = \"packet_node\"\n" + up,
        "switch = \"output_queued\"\n" + up, "switch = \"vc_router\"\n" + up,
        "switch = { name = \"vc_router\", flow = \"store_and_forward\", buffer = 64 }\n" + up,
        "switch = { name = \"cioq\", overhead = 0 }\n" + drawn, "switch = { name = \"cioq\", overhead = 6 }\n" + drawn,
        "switch = { name = \"cioq\", overhead = 30 }\n" + drawn}) {
    EXPECT_EQ(run_of(tree + network + kRing)["jobs"][0]["slowdown_ideal"], 1.0) << network;
  }
}

/// One message, with nothing else in the network: over slow links, with few credits, in packets or not, however long.
TEST_F(NetworkJobs, ALoneMessageIsNotDelayed) {
  const std::string network =
      "topology = { name = \"graph_file\", lines = [\"switch a\", \"switch b\", \"terminal 0 a\", \"terminal 1 b\", "
      "\"link a b latency=2 cycles_per_flit=4\"] }\nrouting = \"shortest_path\"\ncycle_time = \"1 ns\"\nflit = \"32 "
      "B\"\n[[job]]\ngenerator = { collective = \"broadcast\", algorithm = \"binomial\", bytes = \"1 KiB\", ranks = 2 "
      "}\n";
  for (const char* model :
       {"{ name = \"vc_router\", vcs = 2, buffer = 64 }", "{ name = \"vc_router\", vcs = 1, buffer = 2 }",
        "{ name = \"vc_router\", vcs = 2, buffer = 1024, flow = \"store_and_forward\" }",
        "{ name = \"vc_router\", sw_alloc_delay = 2, overlapping_stages = false }", "\"packet_node\""}) {
    for (const char* packet : {"4", "16", "64", "0"}) {
      for (const char* bytes : {"1 KiB", "16 KiB", "32000", "256 KiB"}) {
        const bool whole = std::string(packet) == "0";  // as packet_node wants it, and no buffer here holds
        if (whole && std::string(model).find("store_and") != std::string::npos) continue;
        if (!whole && std::string(model).find("packet_node") != std::string::npos) continue;
        const json job =
            run_of(std::string("switch = ") + model + "\n" + network,
                   {std::string("packet=") + packet, std::string("job.generator.bytes=") + bytes})["jobs"][0];
        EXPECT_NEAR(job["slowdown_ideal"].get<double>(), 1.0, 0.01) << model << ", " << packet << ", " << bytes;
        const json& message = job["critical_path"][0]["message"];
        EXPECT_LE(message["delayed"].get<double>(),
                  1.0 + 0.01 * (message["arrived"].get<double>() - message["sent"].get<double>()))
            << model << ", " << packet << ", " << bytes << ": " << message;
      }
    }
  }
}

/// The network without contention has no admission either, and nothing of one message's measurement is left for the
/// next.
TEST_F(NetworkJobs, WhatAnAdmissionHoldsBackIsInTheWay) {
  const std::string text =
      std::string(kTree) +
      "[[job]]\ngenerator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"2 KiB\", ranks = 8 }\n";
  const json open = run_of(text)["jobs"][0];
  for (const char* rate : {"0.001", "0.02"}) {
    for (const char* flow : {"destination", "terminal"}) {
      const std::string admission =
          fmt::format("admission = {{ name = \"rate\", rate = {}, flow = \"{}\" }}\n", rate, flow);
      const json held = run_of(admission + text)["jobs"][0];
      EXPECT_DOUBLE_EQ(held["slowdown_ideal"].get<double>() / held["completion"].get<double>(),
                       open["slowdown_ideal"].get<double>() / open["completion"].get<double>())
          << admission;
    }
  }
}

/// Messages that one rank sends to others go one after the other over its link, on the ideal network too.
TEST_F(NetworkJobs, TheLinkOfASenderIsNoContention) {
  std::string schedule = "num_ranks 8\nrank 0 {\n";
  for (int i = 0; i < 70; ++i) schedule += fmt::format("send 32b to {} tag {}\n", 1 + i % 7, i);
  schedule += "}\n";
  for (int r = 1; r < 8; ++r) {
    schedule += fmt::format("rank {} {{\n", r);
    for (int i = r - 1; i < 70; i += 7) schedule += fmt::format("recv 32b from 0 tag {}\n", i);
    schedule += "}\n";
  }
  write_text("a.goal", schedule);
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\n";
  const json wide = run_of(text, {"switch.vcs=8"})["jobs"][0];
  EXPECT_EQ(wide["completion"], 69 + kFar);
  EXPECT_EQ(wide["slowdown_ideal"], 1.0);
  const json narrow = run_of(text, {"switch.vcs=1"})["jobs"][0];  // whose channels wait for their one to be free
  EXPECT_DOUBLE_EQ(narrow["slowdown_ideal"].get<double>(), narrow["completion"].get<double>() / (69 + kFar));
}

/// Where an admission lets flows pass each other, too, what is told of a message's last packet is that of one of its
/// own.
TEST_F(NetworkJobs, PassagesAreThoseOfThePacketsOfTheirMessage) {
  const std::string text =
      std::string(kTree) +
      "packet = 4\n[[job]]\ngenerator = { collective = \"all_to_all\", algorithm = \"linear\", bytes = \"16 KiB\", "
      "ranks = 8 }\n";
  for (const std::string admission :
       {"\"none\"", "\"swift\"", "\"receiver_credits\"", "{ name = \"window\", size = 4 }",
        "{ name = \"rate\", rate = 0.1 }", "\"hpcc\""}) {
    const json job =
        run_of("admission = " + admission + "\n" + text, {"--log", (scratch() / "log.csv").string()})["jobs"][0];
    std::ifstream log(scratch() / "log.csv");
    std::string line;
    std::getline(log, line);
    std::istringstream head(line);
    std::map<std::string, std::size_t> column;
    for (std::string name; std::getline(head, name, ',');) column.emplace(name, column.size());
    std::multimap<std::pair<u64, u64>, u64> entered;  // by source and destination
    while (std::getline(log, line)) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream cells(line);
      std::vector<std::string> cell;
      for (std::string text_of; std::getline(cells, text_of, ',');) cell.push_back(text_of);
      if (cell[column.at("traffic")] != "injected") continue;  // feedback of the admission
      entered.emplace(std::pair(std::stoull(cell[column.at("source")]), std::stoull(cell[column.at("destination")])),
                      std::stoull(cell[column.at("entry")]));
    }
    u64 followed = 0;
    for (const json& step : job["critical_path"]) {
      if (!step.contains("message") || !step["message"].contains("passages")) continue;
      const json& message = step["message"];
      if (message["passages"].empty()) continue;
      ++followed;
      const auto from = job["terminals"][message["from"].get<std::size_t>()].get<u64>();
      const auto to = job["terminals"][message["to"].get<std::size_t>()].get<u64>();
      const auto left = message["passages"][0]["left"].get<u64>();
      const auto [first, last] = entered.equal_range({from, to});
      EXPECT_TRUE(std::any_of(first, last, [&](const auto& e) { return e.second == left; }))
          << admission << ": " << message;
      EXPECT_EQ(std::max_element(first, last, [](const auto& a, const auto& b) { return a.second < b.second; })->second,
                left)
          << admission << ": its last packet; " << message;
      u64 waited = 0;
      for (const json& passage : message["passages"]) waited += passage["waited"].get<u64>();
      EXPECT_LE(waited, message["arrived"].get<u64>() - message["sent"].get<u64>()) << admission << ": " << message;
    }
    EXPECT_GT(followed, 0U) << admission;
  }
}

TEST_F(NetworkJobs, PlacementMoves) {
  const std::string text = std::string(kTree) + kRing;
  const json linear = run_of(text);
  EXPECT_EQ(run_of(text, {"job.placement=blocked"})["jobs"], linear["jobs"]);
  for (const char* other : {"random", "spread"})
    EXPECT_GT(run_of(text, {std::string("job.placement=") + other})["jobs"][0]["completion"],
              linear["jobs"][0]["completion"]);
  write_text("order.txt", "0 1 2 3\n4 5 6 7\n");
  EXPECT_EQ(run_of(text, {"job.placement=order.txt"})["jobs"], linear["jobs"]);
  write_text("order.txt", "0 4 1 5 2 6 3 16\n");
  EXPECT_NE(refused(text, {"job.placement=order.txt"}).err.find("order.txt:1:15: \"16\" is no terminal"),
            std::string::npos);
  write_text("order.txt", "0 4 1 5\n");
  EXPECT_NE(refused(text, {"job.placement=order.txt"}).err.find("4 terminals"), std::string::npos);
  EXPECT_NE(refused(text, {"job.placement=nowhere"}).err.find("nowhere"), std::string::npos);
}

TEST_F(NetworkJobs, EightRanksRunOnSixteenTerminalsAndSixteenOnEight) {
  const std::string mesh =
      "topology = { name = \"mesh\", size = [2, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 16 }\n"
      "routing = \"dimension_order\"\n";
  const std::string many = run_of(mesh + kRing, {"job.generator.ranks=16"})["explanation"].get<std::string>();
  EXPECT_NE(many.find("16 ranks on 8 of 8 terminals, at most 2 on each"), std::string::npos) << many;
  EXPECT_NE(many.find("a cycle counts as 1 ns"), std::string::npos) << many;
  const std::string few = run_of(std::string(kTree) + kRing)["explanation"].get<std::string>();
  EXPECT_NE(few.find("8 ranks on 8 of 16 terminals, one on each"), std::string::npos) << few;
}

TEST_F(NetworkJobs, OtherSwitchModelsRunJobs) {
  const std::string job = kRing;
  const std::string tree = "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\n";
  const std::vector<std::string> networks{
      "switch = \"packet_node\"\nrouting = \"up_down\"\n",
      "switch = \"input_buffer\"\nrouting = \"up_down\"\n",
      "switch = \"central_buffer\"\nrouting = \"up_down\"\n",
      "switch = \"circuit\"\nrouting = \"up_down\"\n",
      "switch = \"output_queued\"\nrouting = \"up_down\"\npacket = 1\n",
      "switch = \"cioq\"\nrouting = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n"};
  for (const std::string& network : networks) {
    const json result = run_of(tree + network + job);
    if (result.is_null()) continue;
    EXPECT_EQ(result["jobs"][0]["operations"], 8 * 28) << network;
    EXPECT_GE(result["jobs"][0]["completion"].get<double>(), 14 * 255) << network;
    EXPECT_FALSE(result["tables"]["channels"]["rows"].empty()) << network;
    // What crossed the channels into the terminals are the bytes of the messages. Two models count the channels between
    // switches alone.
    if (network.find("packet_node") != std::string::npos || network.find("circuit") != std::string::npos) continue;
    u64 bytes = 0;
    for (const json& row : result["tables"]["channels"]["rows"]) {
      if (row[3].get<std::string>().starts_with("terminal ")) bytes += row[6].get<u64>();
    }
    EXPECT_EQ(bytes, result["jobs"][0]["bytes"].get<u64>()) << network;
  }
}

/// Terminals 0 and 1 send to 2 at once: one of the two messages waits for its turn on the last channel.
TEST_F(NetworkJobs, TheCriticalPathNamesThePortWhereItsMessageWaited) {
  write_text("a.goal",
             "num_ranks 3\nrank 0 {\nsend 3200b to 2\n}\nrank 1 {\nsend 3200b to 2\n}\n"
             "rank 2 {\nrecv 3200b from 0\nrecv 3200b from 1\n}\n");
  const json result = run_of(std::string(kTree) + "[[job]]\nfile = \"a.goal\"\n");
  const json& path = result["jobs"][0]["critical_path"];
  ASSERT_EQ(path.size(), 2U);
  const json& message = path[0]["message"];
  EXPECT_EQ(message["alone"], kNear + 99);
  const u64 delayed = message["delayed"].get<u64>();
  EXPECT_GE(delayed, 80U);  // most of the other's 100 flits go before its last ones
  EXPECT_LE(delayed, 100U);
  const json& passages = message["passages"];
  ASSERT_EQ(passages.size(), 2U);  // its source and one switch
  EXPECT_EQ(passages[0]["place"].get<std::string>().find("terminal"), 0U);
  EXPECT_EQ(result["jobs"][0]["critical_path_times"]["network"], kNear + 99 + delayed);
  EXPECT_NE(banyan({"run", "x.toml"}).out.find("held up for " + std::to_string(delayed)), std::string::npos);
}

/// A message that is alone waits nowhere, over whatever wires and through whatever switches.
TEST_F(NetworkJobs, ALoneMessageWaitsInNoQueue) {
  for (const std::string network :
       {"switch = { name = \"vc_router\", vcs = 2, buffer = 16, traversal_delay = 8 }\nrouting = \"up_down\"\n",
        "switch = { name = \"vc_router\", vcs = 1, buffer = 512 }\nrouting = \"up_down\"\n",
        "switch = \"central_buffer\"\nrouting = \"up_down\"\n", "switch = \"input_buffer\"\nrouting = \"up_down\"\n",
        "switch = \"cioq\"\nrouting = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n",
        "switch = \"packet_node\"\nrouting = \"up_down\"\n"}) {
    const bool long_wires = network.find("512") != std::string::npos;
    const bool bytes_only = network.find("cioq") != std::string::npos;
    const std::string text = std::string("topology = { name = \"fat_tree\", arity = 2, levels = 3") +
                             (long_wires ? ", latency = [1, 100]" : "") + " }\n" + network + "cycle_time = \"1 ns\"\n" +
                             (bytes_only ? "" : "flit = \"32 B\"\n") +
                             "[[job]]\nfile = \"a.goal\"\nplacement = \"place.txt\"\n";
    write_text("place.txt", "0 7\n");
    for (const u32 bytes : {32U, 2048U}) {
      write_text("a.goal", "num_ranks 2\nrank 0 {\nsend " + std::to_string(bytes) + "b to 1\n}\nrank 1 {\nrecv " +
                               std::to_string(bytes) + "b from 0\n}\n");
      const json message = run_of(text)["jobs"][0]["critical_path"][0]["message"];
      EXPECT_EQ(message["delayed"], 0) << network << bytes;
      ASSERT_GE(message["passages"].size(), 5U) << network << bytes;
      for (const json& passage : message["passages"]) EXPECT_EQ(passage["waited"], 0) << network << bytes << passage;
    }
  }
}

/// A rank's interface lets it contribute to the next sum only after its gap.
TEST_F(NetworkJobs, AGapBetweenSumsIsNotTheNetworks) {
  const json job = run_of(
      "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\nswitch = \"central_buffer\"\n"
      "routing = \"nearest_common_ancestor\"\ncycle_time = \"1 ns\"\nflit = \"32 B\"\n[[job]]\nrepeats = 3\n"
      "generator = { collective = \"all_reduce\", algorithm = \"in_network\", bytes = 2048, ranks = 16 }\n"
      "host = { gap = 500 }\n")["jobs"][0];
  const json& times = job["critical_path_times"];
  const json& last = job["critical_path"][job["critical_path"].size() - 2]["message"];
  EXPECT_EQ(times["network"].get<double>(), last["arrived"].get<double>() - last["sent"].get<double>());
  EXPECT_EQ(times["network"].get<double>() + times["waiting"].get<double>(), job["completion"].get<double>());
  EXPECT_GE(times["waiting"].get<double>(), 2 * 500.0);
}

TEST_F(NetworkJobs, TheTimeOfRanksIsDividedWithoutRest) {
  const json result = run_of(std::string(kTree) + kRing, {"job.host.overhead=50"});
  const json& job = result["jobs"][0];
  for (std::size_t r = 0; r < 8; ++r) {
    u64 sum = 0;
    for (const char* part : {"computing", "overhead", "network", "waiting"})
      sum += job["rank_times"][part][r].get<u64>();
    EXPECT_EQ(sum, job["ranks"][r].get<u64>()) << r;
    EXPECT_EQ(job["rank_times"]["overhead"][r], 28 * 50);
  }
}

TEST_F(NetworkJobs, ASweepOverPlacementsIsStoredAndVerified) {
  write_text("x.toml", std::string(kTree) + kRing + "[sweep]\n\"job.placement\" = [\"linear\", \"spread\"]\n");
  ASSERT_EQ(banyan({"sweep", "x.toml", "--out", "out"}).status, 0);
  EXPECT_EQ(banyan({"verify", "out"}).status, 0);
  EXPECT_NE(banyan({"export", "out", "--csv"}).out.find("slowdown_ideal"), std::string::npos);
}

TEST_F(NetworkJobs, CheckBuildsTheNetwork) {
  write_text("x.toml", std::string(kTree) + kRing);
  const Said good = banyan({"check", "x.toml"});
  EXPECT_EQ(good.status, 0) << good.err;
  EXPECT_NE(good.out.find("ring: 8 ranks on 8 of 16 terminals"), std::string::npos) << good.out;
  const Said bad = banyan({"check", "x.toml", "routing=dimension_order"});
  EXPECT_EQ(bad.status, 2);
}

/// A file may go from one switch model to another by one word: the routing, the packets and the pieces of long messages
/// follow.
TEST_F(NetworkJobs, RunOnEverySwitchModelWithoutAWordAboutRouting) {
  for (const core::SwitchRow* row : core::switching_rows()) {
    const json run = run_of("topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"" + row->info.name +
                            "\"\n[[job]]\ngenerator = { collective = \"all_reduce\", algorithm = \"ring\", bytes = "
                            "\"512 KiB\", ranks = 4 }\n");
    EXPECT_EQ(run.at("verdict"), "finished") << row->info.name;
    if (row->without_contention) continue;
    EXPECT_GT(run.at("jobs").at(0).at("completion").get<double>(), 0.0) << row->info.name;
  }
  const Said said = banyan({"check", "x.toml", "switch=vc_router"});
  EXPECT_NE(said.out.find("no routing is named: nearest_common_ancestor, the usual one of fat_tree"), std::string::npos)
      << said.out << said.err;
}

/// What the interface of a host takes is not said to be the network's: alone on it nothing is held up.
TEST_F(NetworkJobs, ASlowInterfaceHoldsNothingUp) {
  const std::string pair =
      "[[job]]\nname = \"b\"\nhost.gap_per_byte = 3\n"
      "generator = { collective = \"broadcast\", algorithm = \"binomial\", bytes = \"32 KiB\", ranks = 2 }\n";
  u64 messages = 0;
  const json run = run_of(kTree + pair);
  for (const json& step : run.at("jobs").at(0).at("critical_path")) {
    if (!step.contains("message")) continue;
    ++messages;
    const json& message = step.at("message");
    EXPECT_EQ(message.at("delayed"), 0) << message.dump();
    EXPECT_EQ(message.at("alone"), message.at("arrived").get<u64>() - message.at("sent").get<u64>()) << message.dump();
  }
  EXPECT_EQ(messages, 1U);
}

TEST_F(NetworkJobs, KeysWithAPointNeedNoMore) {
  const std::string text = std::string(kTree) + kRing;
  const auto bytes = [&](const std::vector<std::string>& more) {
    return run_of(text, more).at("jobs").at(0).at("bytes").get<u64>();
  };
  EXPECT_EQ(bytes({"generator.bytes=32 KiB"}), bytes({}) / 2);
  EXPECT_EQ(bytes({"job.generator.bytes=32 KiB"}), bytes({}) / 2);
  EXPECT_NE(refused(text, {"bytes=32 KiB"}).err.find("did you mean \"generator.bytes\"?"), std::string::npos);
  EXPECT_NE(refused(text, {"max_packet=32"}).err.find("traffic uniform"), std::string::npos);
  EXPECT_NE(refused(text, {"nothing_like_it=32"}).err.find("banyan describe"), std::string::npos);
}

TEST_F(NetworkJobs, MessagesThatAreTooLongNameTheFlitThatWouldDo) {
  const std::string text =
      "topology = { name = \"hypercube\", degree = 2 }\nswitch = \"packet_node\"\n[[job]]\n"
      "generator = { collective = \"broadcast\", bytes = \"4 MiB\", ranks = 4 }\n";
  const Said said = refused(text);
  EXPECT_NE(said.err.find("131072 flits, and packet_node takes at most 65535"), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("flit = \"65 B\""), std::string::npos) << said.err;
  EXPECT_EQ(run_of(text, {"flit=65 B"}).at("verdict"), "finished");
}

TEST_F(NetworkJobs, AFlitOfCioqIsAByte) {
  const std::string text =
      "topology = { name = \"fat_tree\", arity = 4, levels = 2 }\nswitch = \"cioq\"\n"
      "routing = { name = \"nearest_common_ancestor\", up = \"d_mod_k\" }\n" +
      std::string(kRing);
  EXPECT_NE(refused(text, {"flit=32 B"}).err.find("a flit of cioq is 1 byte"), std::string::npos);
}

TEST_F(NetworkJobs, WhatCannotRunIsRefusedOrExplained) {
  EXPECT_NE(refused(std::string(kTree) + kRing, {"job.host.rules=loggopsim"}).err.find("rules = \"physical\""),
            std::string::npos);
  write_text("a.goal",
             "num_ranks 2\nrank 0 {\na: send 9b to 1\nb: recv 9b from -1\nb requires a\n}\n"
             "rank 1 {\na: send 9b to 0\nb: recv 9b from -1\nb requires a\n}\n");
  const std::string text = std::string(kTree) + "[[job]]\nfile = \"a.goal\"\n";
  EXPECT_NE(refused(text, {"job.host.eager=0"}).err.find("cannot go on"), std::string::npos);
}

TEST_F(NetworkJobs, SayWhenMessagesAskFirst) {
  const std::string text = std::string(kTree) + kRing;
  write_text("x.toml", text);
  for (const char* command : {"check", "run"}) {
    Said said = banyan({command, "x.toml"});
    EXPECT_EQ((said.out + said.err).find("ask their receiver"), std::string::npos) << said.out;
    said = banyan({command, "x.toml", "job.host.eager=1000"});
    EXPECT_NE(
        (said.out + said.err).find("ring: messages of more than 1000 bytes ask their receiver first (host.eager)"),
        std::string::npos)
        << said.out;
  }
}

/// A ring without datelines, full of worms: they wait for each other in a circle.
TEST_F(NetworkJobs, ADeadlockOfTheNetworkIsExplained) {
  const json result = run_of(
      "topology = { name = \"torus\", size = [8] }\nswitch = { name = \"vc_router\", vcs = 1, buffer = 2 }\n"
      "routing = { name = \"dimension_order\", datelines = false }\npacket = 64\n[[job]]\n"
      "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"64 KiB\", ranks = 8 }\n");
  EXPECT_EQ(result["verdict"], "deadlocked");
  EXPECT_NE(result["explanation"].get<std::string>().find("wait on each other in a cycle"), std::string::npos);
  EXPECT_TRUE(result["jobs"][0]["completion"].is_null());
}

/// The network carries a tenth of the background: what the job waits for stands behind ever more of it.
TEST_F(NetworkJobs, BehindTooMuchBackgroundEndAtTheLimitThatIsGiven) {
  const std::string text =
      "topology = { name = \"hypercube\", degree = 4 }\nswitch = \"packet_node\"\nrouting = \"ecube\"\n"
      "traffic = { name = \"uniform\", load = 1.0 }\n" +
      std::string(kRing) + "[run]\nsession_limit = 3000\n";
  const json result = run_of(text);
  EXPECT_EQ(result["verdict"], "saturated");
  EXPECT_FALSE(result["certain"].get<bool>());
  EXPECT_TRUE(result["jobs"][0]["completion"].is_null());
  EXPECT_FALSE(result["metrics"].contains("completion")) << "there is none";
  EXPECT_NE(result["explanation"].get<std::string>().find("3000 cycles (run.session_limit)"), std::string::npos);
}

TEST_F(NetworkJobs, AreRefusedAtThePlaceOfWhatIsWrong) {
  EXPECT_NE(refused(std::string(kTree) + "[[job]]\nfile = \"none.goal\"\n")
                .err.find("x.toml:7:8: job.file: there is no file"),
            std::string::npos);
  EXPECT_NE(refused(std::string(kTree) + "traffic = \"injected\"\n" + kRing).err.find("x.toml:6:11: traffic"),
            std::string::npos);
  EXPECT_NE(refused(std::string(kTree) + kRing, {"topology.subnetworks=2"}).err.find("jobs run on one network"),
            std::string::npos);
}

/// Packets that are bound to a virtual channel behind another one do not escape; the remedy that check prints helps.
TEST_F(NetworkJobs, AnEscapeIsCertifiedOnlyWhereItHelps) {
  const std::string text =
      "topology = { name = \"torus\", size = [8, 4], concentration = 2 }\n"
      "switch = { name = \"vc_router\", vcs = 4, buffer = 16 }\nrouting = \"minimal_adaptive\"\npacket = 16\n[[job]]\n"
      "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"1 MiB\", ranks = 64 }\n";
  EXPECT_EQ(run_of(text)["verdict"], "deadlocked");
  const std::string remedy = "switch.wait_for_tail_credit = true";
  Said said = banyan({"check", "x.toml"});
  EXPECT_NE((said.out + said.err).find("only when it is empty"), std::string::npos) << said.out;
  EXPECT_NE((said.out + said.err).find(remedy), std::string::npos) << said.out;
  EXPECT_EQ(run_of(text, {"switch.wait_for_tail_credit=true"})["verdict"], "finished");
  said = banyan({"check", "x.toml", "switch.wait_for_tail_credit=true"});
  EXPECT_NE((said.out + said.err).find("acyclic on the escape subnetwork ("), std::string::npos) << said.out;
  EXPECT_EQ((said.out + said.err).find(remedy), std::string::npos) << said.out;
}

TEST_F(NetworkJobs, ACycleHasOneLength) {
  const std::string text = std::string(kTree) + kRing;
  EXPECT_NE(refused(text, {"run.cycle_time=5 ns"}).err.find("a cycle takes 1 ns here and 5 ns by run.cycle_time"),
            std::string::npos);
  EXPECT_NE(refused(text, {"run.flit=64 B"}).err.find("a flit has 32 bytes here and 64 by run.flit"),
            std::string::npos);
  EXPECT_EQ(run_of(text, {"run.cycle_time=1 ns"})["verdict"], "finished");
}

/// Every message asks first, and no host has an overhead: the path is the network's.
TEST_F(NetworkJobs, TheTimeOfAMessageAboveEagerIsTheNetworks) {
  const json job = run_of(std::string(kTree) + kRing, {"job.host.eager=0"})["jobs"][0];
  EXPECT_EQ(job["critical_path_times"]["overhead"], 0);
  EXPECT_EQ(job["critical_path_times"]["network"], job["completion"]);
}

/// A network in which nothing is due passes at once: 10^15 ns took hours.
TEST_F(NetworkJobs, AStartFarAwayTakesNoTime) {
  const json near = run_of(std::string(kTree) + kRing, {"job.start=1e6"});
  const json far = run_of(std::string(kTree) + kRing, {"job.start=1e15"});
  EXPECT_EQ(far["jobs"][0]["completion"].get<double>() - 1e15, near["jobs"][0]["completion"].get<double>() - 1e6);
}

/// In a network that is deadlocked as a whole nothing is due any more: time must not run to its end.
TEST_F(NetworkJobs, ANetworkThatStandsStillAltogetherIsDeadlocked) {
  const std::string text =
      "topology = { name = \"torus\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 1, buffer = 5 }\n"
      "routing = \"fully_adaptive\"\ncycle_time = \"1 ns\"\n[[job]]\nname = \"a\"\nplacement = \"random\"\n"
      "generator = { collective = \"all_to_all\", algorithm = \"linear\", bytes = \"256 KiB\", ranks = 16 }\n";
  u32 deadlocks = 0;
  for (const auto& [buffer, seed] : {std::pair{"5", "6"}, {"5", "7"}, {"4", "1"}, {"4", "2"}, {"3", "4"}}) {
    const json result = run_of(text, {"switch.buffer=" + std::string(buffer), "run.seed=" + std::string(seed)});
    if (result["verdict"] != "deadlocked") continue;
    ++deadlocks;
    EXPECT_TRUE(result["jobs"][0]["completion"].is_null());
    EXPECT_TRUE(result["jobs"][0]["slowdown_alone"].is_null());
  }
  EXPECT_GE(deadlocks, 4U);
}

/// A number that was not looked at is none.
TEST_F(NetworkJobs, SlowdownsOfARunThatIsCutShortAreNotKnown) {
  const std::string text =
      std::string(kTree) +
      "[[job]]\nname = \"short\"\n"
      "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"1 KiB\", ranks = 8 }\n"
      "[[job]]\nname = \"long\"\n"
      "generator = { collective = \"all_to_all\", algorithm = \"pairwise\", bytes = \"1 MiB\", ranks = 8 }\n"
      "[run]\nsession_limit = 3000\n";
  const json result = run_of(text);
  EXPECT_FALSE(result["jobs"][0]["completion"].is_null());
  EXPECT_TRUE(result["jobs"][1]["completion"].is_null());
  for (const json& job : result["jobs"]) {
    EXPECT_TRUE(job["slowdown_alone"].is_null()) << job["name"];
    EXPECT_TRUE(job["slowdown_ideal"].is_null()) << job["name"];
  }
  for (const auto& [name, value] : result["metrics"].items()) EXPECT_NE(name.substr(0, 8), "slowdown");
  const Said said = banyan({"run", "x.toml"});
  EXPECT_NE(said.out.find("how much longer than alone is not known"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("long: not done after its last end"), std::string::npos) << said.out;
}

}  // namespace
}  // namespace banyan::cli::network_jobs_test
