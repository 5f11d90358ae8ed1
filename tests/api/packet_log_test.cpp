// A line per packet: does the log hold what the run counts, for every switch model, and the same for any shards?
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"

namespace banyan::packet_log_test {
namespace {

struct Line {
  u64 session = 0;
  std::string traffic;
  u64 source = 0;
  u64 number = 0;
  u64 destination = 0;
  u64 flits = 0;
  u64 birth = 0;
  u64 entry = 0;
  bool arrived = false;
  u64 arrival = 0;
  std::vector<std::pair<u32, u32>> path;  ///< switch, output port
};

struct Logged {
  api::Result result;
  std::string text;
  std::vector<Line> lines;
};

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Line read_line(const std::string& text) {
  const std::vector<std::string> cells = split(text, ',');
  EXPECT_EQ(cells.size(), 10U) << text;
  Line line;
  line.session = std::stoull(cells[0]);
  line.traffic = cells[1];
  line.source = std::stoull(cells[2]);
  line.number = std::stoull(cells[3]);
  line.destination = std::stoull(cells[4]);
  line.flits = std::stoull(cells[5]);
  line.birth = std::stoull(cells[6]);
  line.entry = std::stoull(cells[7]);
  line.arrived = !cells[8].empty();
  if (line.arrived) line.arrival = std::stoull(cells[8]);
  if (cells[9].empty()) return line;
  for (const std::string& step : split(cells[9], ' ')) {
    const std::vector<std::string> ends = split(step, ':');
    line.path.emplace_back(std::stoul(ends.at(0)), std::stoul(ends.at(1)));
  }
  return line;
}

std::filesystem::path log_file() {
  std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  std::replace(name.begin(), name.end(), '/', '_');
  return std::filesystem::path(testing::TempDir()) / ("packet_log_" + name + ".csv");
}

api::Experiment experiment_of(const std::string& text, const api::Overrides& overrides) {
  return api::read_experiments_text(text, "test.toml", overrides).points.front();
}

Logged log_of(const std::string& text, const api::Overrides& overrides = {}, u32 threads = 1) {
  const std::filesystem::path file = log_file();
  api::RunOptions options;
  options.packet_log = file.string();
  options.threads = threads;
  Logged logged;
  logged.result = api::run(experiment_of(text, overrides), options);
  std::ifstream stream(file, std::ios::binary);
  logged.text = {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  std::istringstream lines(logged.text);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "session,traffic,source,number,destination,flits,birth,entry,arrival,path");
  while (std::getline(lines, line)) logged.lines.push_back(read_line(line));
  std::filesystem::remove(file);
  return logged;
}

const std::string kMesh = "topology = { name = \"mesh\", size = [4, 4] }\n";
const std::string kTree = "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\n";
const std::string kUniform = "traffic = { name = \"uniform\", load = 0.2, size = 3 }\n";

struct Case {
  const char* name;
  std::string text;
};

std::vector<Case> cases() {
  const std::string run = "run = { duration = 3000 }\n";
  return {
      {"vc_router", kMesh + "switch = { name = \"vc_router\", vcs = 2, buffer = 4 }\nrouting = \"dimension_order\"\n" +
                        kUniform + run},
      {"vc_router_adaptive", kMesh +
                                 "switch = { name = \"vc_router\", vcs = 4, buffer = 4 }\nrouting = "
                                 "\"minimal_adaptive\"\n" +
                                 kUniform + run},
      {"output_queued",
       "topology = { name = \"multistage_cube\", terminals = 64, radix = 4 }\nswitch = "
       "\"output_queued\"\nrouting = \"destination_tag\"\ntraffic = { name = \"uniform\", load = 0.5 "
       "}\n" +
           run},
      {"packet_node",
       "topology = { name = \"hypercube\", degree = 4 }\nswitch = { name = \"packet_node\", payload = "
       "16, header = 4, buffers_per_link = 4, acquire = 2 }\nrouting = \"ecube\"\ntraffic = { name = "
       "\"uniform\", load = 0.1, size = 64 }\n" +
           run},
      {"circuit",
       "topology = { name = \"torus\", size = [4, 4] }\nswitch = { name = \"circuit\", vcs = 2 }\nrouting = "
       "\"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.1, size = 8 }\n" +
           run},
      {"cioq", kTree +
                   "switch = { name = \"cioq\" }\nrouting = { name = \"nearest_common_ancestor\", up = "
                   "\"destination_digit\" }\ntraffic = { name = \"uniform\", load = 0.3, size = 64 }\n" +
                   "run = { duration = 30000 }\n"},
      {"central_buffer", kTree +
                             "switch = { name = \"central_buffer\", fifo = 64, chunks = 256 }\nrouting = "
                             "\"nearest_common_ancestor\"\ntraffic = { name = "
                             "\"uniform\", load = 0.3, size = 16 }\n" +
                             run},
      {"input_buffer_multicast", kTree +
                                     "switch = { name = \"input_buffer\", fifo = 320 }\nrouting = "
                                     "\"nearest_common_ancestor\"\ntraffic = { name = "
                                     "\"bimodal\", load = 0.3, degree = 4, size = 32 }\n" +
                                     run},
      {"admission", kMesh +
                        "switch = { name = \"vc_router\", vcs = 2, buffer = 4 }\nrouting = \"dimension_order\"\n"
                        "admission = { name = \"window\", size = 12 }\n" +
                        kUniform + run},
  };
}

class EveryModel : public testing::TestWithParam<Case> {};

TEST_P(EveryModel, LogsWhatTheRunCounts) {
  const Logged logged = log_of(GetParam().text);
  u64 counted = 0;
  double latency = 0.0;
  double hops = 0.0;
  double queueing = 0.0;
  for (const Line& line : logged.lines) {
    if (!line.arrived) continue;
    if (line.traffic == "feedback") continue;  // is logged, and no part of load
    ++counted;
    latency += static_cast<double>(line.arrival - line.birth);
    queueing += static_cast<double>(line.entry - line.birth);
    hops += static_cast<double>(line.path.size());
  }
  ASSERT_GT(counted, 50U);
  EXPECT_EQ(counted, static_cast<u64>(logged.result.at("delivered_packets").mean));
  const auto all = static_cast<double>(counted);
  EXPECT_NEAR(latency / all, logged.result.at("packet_latency").mean, 1e-9);
  EXPECT_NEAR(queueing / all, logged.result.at("source_queueing").mean, 1e-9);
  EXPECT_NEAR(hops / all, logged.result.at("hops").mean, 1e-9);
}

TEST_P(EveryModel, WhatHasNotArrivedHasItsLinesToo) {
  const Logged logged = log_of(GetParam().text);
  std::set<std::tuple<std::string, u64, u64, u64>> names;
  double load = 0.0;
  for (const Line& line : logged.lines) {
    EXPECT_TRUE(names.emplace(line.traffic, line.source, line.number, line.destination).second);
    load += line.traffic == "feedback" ? 0.0 : 1.0;
  }
  EXPECT_EQ(load, logged.result.at("delivered_packets").mean + logged.result.at("packets_left").mean);
}

TEST_P(EveryModel, PathsLeadFromTheSourceToTheDestination) {
  const Logged logged = log_of(GetParam().text);
  const api::Network network = api::build_network(experiment_of(GetParam().text, {}));
  const core::Graph& graph = network.topology->graph();
  for (const Line& line : logged.lines) {
    core::End at = graph.channel(graph.injection(static_cast<u32>(line.source))).to;
    for (const auto& [node, port] : line.path) {
      ASSERT_FALSE(at.terminal);
      ASSERT_EQ(at.node, node);
      at = graph.channel(graph.channel_out_of(node, port)).to;
    }
    if (!line.arrived) continue;
    ASSERT_TRUE(at.terminal) << line.source << " " << line.number;
    ASSERT_EQ(at.node, line.destination);
  }
}

TEST_P(EveryModel, TheSameBytesForAnyShardsAndThreads) {
  const std::string one = log_of(GetParam().text, {"run.shards=1"}).text;
  EXPECT_EQ(log_of(GetParam().text, {"run.shards=3", "run.step_order=permuted"}).text, one);
  EXPECT_EQ(log_of(GetParam().text, {"run.shards=4"}, 2).text, one);
}

TEST_P(EveryModel, ChangesNoResult) {
  const api::Result plain = api::run(experiment_of(GetParam().text, {}));
  EXPECT_EQ(log_of(GetParam().text).result.state_hash, plain.state_hash);
}

INSTANTIATE_TEST_SUITE_P(PacketLog, EveryModel, testing::ValuesIn(cases()),
                         [](const auto& given) { return std::string(given.param.name); });

/// One contribution goes on to where all meet, and the result comes back to its terminal; the others end where they
/// were added to another.
TEST(PacketLog, OfAReductionOneWayLeadsThereAndBackInEveryCut) {
  const std::string text = kTree +
                           "switch = \"central_buffer\"\nrouting = \"nearest_common_ancestor\"\ntraffic = { name = "
                           "\"multicast_collective\", operation = \"all_reduce\", implementation = \"in_network\", "
                           "iterations = 5, size = 20 }\nrun = { sessions = 1 }\n";
  const Logged one = log_of(text, {"run.shards=1"});
  EXPECT_EQ(log_of(text, {"run.shards=3", "run.step_order=permuted"}).text, one.text);
  EXPECT_EQ(log_of(text, {"run.shards=4"}, 2).text, one.text);
  ASSERT_EQ(one.lines.size(), 5U * 16U);
  const api::Network network = api::build_network(experiment_of(text, {}));
  const core::Graph& graph = network.topology->graph();
  unsigned round = 0;
  for (const Line& line : one.lines) {
    ASSERT_FALSE(line.path.empty());
    u32 at = graph.channel(graph.injection(static_cast<u32>(line.source))).to.node;
    bool home = false;
    for (const auto& [switch_, port] : line.path) {
      EXPECT_EQ(switch_, at) << "a way has no gaps, and goes to one place";
      const core::End& to = graph.channel(graph.channel_out_of(switch_, port)).to;
      home = to.terminal && to.node == line.source;
      at = to.node;
    }
    round += home && line.path.size() == 3 ? 1U : 0U;
    EXPECT_TRUE(line.path.size() == 1 || line.path.size() == 3) << "all branches of the result are no way";
  }
  EXPECT_EQ(round, 5U);
}

/// At whatever moment the run ends: each terminal of each packet that left its queue has one line.
TEST(PacketLog, HasALineForEveryTerminalThatAPacketIsFor) {
  for (const char* const model : {"central_buffer", "input_buffer"}) {
    unsigned partly = 0;
    for (u32 end = 1000; end < 1100; end += 9) {
      const Logged logged = log_of(
          kTree + "switch = \"" + model + "\"\nrouting = \"nearest_common_ancestor\"\ntraffic = { name = " +
          "\"multicast\", load = 0.3, degree = 5, size = 24 }\nrun = { duration = " + std::to_string(end) + " }\n");
      std::map<std::pair<u64, u64>, std::vector<const Line*>> packets;
      for (const Line& line : logged.lines) packets[{line.source, line.number}].push_back(&line);
      ASSERT_GT(packets.size(), 20U);
      for (const auto& [name, lines] : packets) {
        std::set<u64> terminals;
        for (const Line* line : lines) terminals.insert(line->destination);
        EXPECT_EQ(terminals.size(), 5U) << model << " " << end << ": packet " << name.second << " of " << name.first;
        EXPECT_EQ(lines.size(), 5U);
        EXPECT_FALSE(terminals.contains(name.first));
        const auto arrived = std::ranges::count_if(lines, [](const Line* line) { return line->arrived; });
        partly += arrived > 0 && arrived < 5 ? 1U : 0U;
      }
    }
    EXPECT_GT(partly, 0U) << "some end when a packet is at some of its terminals";
  }
}

TEST(PacketLog, NamesEveryPacketOnceAndTellsThemByArrival) {
  const Logged logged = log_of(cases().front().text);
  std::vector<std::pair<u64, u64>> names;
  u64 before = 0;
  bool rest = false;
  for (const Line& line : logged.lines) {
    names.emplace_back(line.source, line.number);
    EXPECT_FALSE(rest && line.arrived) << "what has not arrived comes last";
    rest = !line.arrived;
    if (rest) continue;
    EXPECT_LE(before, line.arrival);
    EXPECT_LE(line.birth, line.entry);
    before = line.arrival;
  }
  EXPECT_TRUE(rest) << "at the end of a run of fixed length some are on their way";
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_EQ(logged.lines.size(),
            static_cast<u64>(logged.result.at("delivered_packets").mean + logged.result.at("packets_left").mean));
}

TEST(PacketLog, OfSteadyRunsThePacketsThatCountAreThoseOfTheMeasurement) {
  const Logged logged =
      log_of(kMesh + "switch = { name = \"vc_router\", vcs = 2, buffer = 4 }\nrouting = \"dimension_order\"\n" +
             kUniform + "run = { warmup = 500, measure = 4000, tables = \"flows\" }\n");
  u64 counted = 0;
  for (const Line& line : logged.lines) counted += line.arrived && line.birth >= 500 && line.birth < 4500 ? 1U : 0U;
  EXPECT_EQ(counted, logged.result.at("packet_latency_max").count);
}

const std::string kSessions =
    "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\nswitch = \"output_queued\"\n"
    "routing = \"isolated_hot_spot\"\nrun = { sessions = 5 }\n[[traffic]]\nname = \"synchronization\"\nmean = 200\n"
    "[[traffic]]\nname = \"uniform\"\nload = 0.4\ninclude_self = true\n";

TEST(PacketLog, HasTheSessionsInTheirOrderWhateverThreadRanThem) {
  const Logged logged = log_of(kSessions);
  EXPECT_EQ(log_of(kSessions, {}, 3).text, logged.text);
  EXPECT_TRUE(std::is_sorted(logged.lines.begin(), logged.lines.end(),
                             [](const Line& a, const Line& b) { return a.session < b.session; }));
  EXPECT_EQ(logged.lines.back().session, 4U);
  // 63 messages per session of the synchronization (one terminal collects them), all of which arrive.
  const auto synchronization = std::count_if(logged.lines.begin(), logged.lines.end(), [](const Line& line) {
    return line.traffic == "synchronization" && line.arrived;
  });
  EXPECT_EQ(synchronization, 5 * 63);
}

TEST(PacketLog, OfCombinedRequestsEveryOneComesBack) {
  const Logged logged = log_of(
      "topology = { name = \"multistage_cube\", terminals = 64, radix = 2 }\nswitch = { name = \"output_queued\", "
      "combining = \"pairwise\" }\nrouting = \"destination_tag\"\ntraffic = { name = \"hot_spot\", load = 0.2, "
      "fraction = 0.3, fetch_add = true }\nrun = { duration = 2000 }\n");
  const auto arrived =
      std::count_if(logged.lines.begin(), logged.lines.end(), [](const Line& line) { return line.arrived; });
  EXPECT_EQ(static_cast<double>(arrived), logged.result.at("delivered_packets").mean);
}

/// A request that meets another one on its way has no way to the memory, in whatever stage they meet.
TEST(PacketLog, OfCombinedRequestsOnlyThoseThatReachTheMemoryHaveAWayThere) {
  const Logged logged = log_of(
      "topology = { name = \"multistage_cube\", terminals = 64, radix = 2 }\nswitch = { name = \"output_queued\", "
      "combining = \"any\" }\nrouting = \"destination_tag\"\ntraffic = { name = \"synchronization\", fetch_add = true, "
      "mean = 20, deviation = 2 }\nrun = { sessions = 1 }\n");
  std::map<std::size_t, u64> of_length;
  for (const Line& line : logged.lines) ++of_length[line.path.size()];
  EXPECT_EQ(static_cast<double>(of_length[6]), logged.result.at("memory_operations").mean);
  EXPECT_GT(of_length[5], 0U) << "some meet in the last box";
  EXPECT_EQ(of_length.size(), 7U) << "in every stage";
}

/// What arrives while a session lasts, from its first message to its last arrival, whatever came before.
TEST(PacketLog, SaysWhatTheBandwidthOfSessionsCounts) {
  for (const char* const load : {"0.1", "0.5", "0.9"}) {
    const Logged logged = log_of(
        "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\n"
        "switch = { name = \"output_queued\", buffer = 8 }\nrouting = \"isolated_hot_spot\"\n"
        "traffic = [{ name = \"synchronization\", mean = 200, deviation = 10 },\n"
        "           { name = \"uniform\", load = 0.5 }]\nrun = { sessions = 5 }\n",
        {std::string("traffic.uniform.load=") + load});
    double arrived = 0.0;
    double cycles = 0.0;
    for (u64 session = 0; session < 5; ++session) {
      u64 begin = kNever;
      u64 close = 0;
      for (const Line& line : logged.lines) {
        if (line.session != session || line.traffic != "synchronization") continue;
        begin = std::min(begin, line.birth);
        close = std::max(close, line.arrival);
      }
      cycles += static_cast<double>(close - begin + 1);
      for (const Line& line : logged.lines) {
        arrived +=
            line.session == session && line.arrived && line.arrival >= begin && line.arrival <= close ? 1.0 : 0.0;
      }
    }
    EXPECT_NEAR(logged.result.at("session_bandwidth").mean, arrived / cycles, 1e-9) << load;
    EXPECT_GT(arrived, 200.0);
  }
}

TEST(PacketLog, LeavesNoHalfAFile) {
  const std::filesystem::path file = log_file();
  api::RunOptions options;
  options.packet_log = file.string();
  const bool stop = true;
  options.interrupted = &stop;
  EXPECT_THROW(static_cast<void>(api::run(experiment_of(cases().front().text, {}), options)), Interrupted);
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".part"));
  options.packet_log = testing::TempDir();
  EXPECT_THROW(static_cast<void>(api::run(experiment_of(cases().front().text, {}), options)), ConfigError);
}

}  // namespace
}  // namespace banyan::packet_log_test
