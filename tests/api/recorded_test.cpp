// Channel and flow tables, and watched events: do they agree with the counters, and change nothing?
#include "banyan/api/recorded.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::recorded_test {
namespace {

using banyan::ConfigError;
using banyan::u64;
namespace api = banyan::api;

const std::string kMesh =
    "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
    "routing = \"dimension_order\"\ntraffic = { name = \"uniform\", load = 0.2, size = 3 }\n"
    "run = { warmup = 0, measure = 2000 }\n";
const std::string kCube =
    "topology = { name = \"extra_stage_cube\", terminals = 64, radix = 4 }\nswitch = \"output_queued\"\n"
    "routing = \"isolated_hot_spot\"\nrun = { sessions = 3 }\n[[traffic]]\nname = \"synchronization\"\nmean = 200\n"
    "[[traffic]]\nname = \"uniform\"\nload = 0.4\ninclude_self = true\n";

api::Result run(const std::string& text, const api::Overrides& overrides, const api::Watches& watches = {},
                banyan::u32 threads = 1) {
  api::RunOptions options;
  options.watches = watches;
  options.threads = threads;
  return api::run(api::read_experiments_text(text, "test.toml", overrides).points.front(), options);
}

const api::Table& table(const api::Result& result, const std::string& name) {
  const auto found = std::find_if(result.tables.begin(), result.tables.end(),
                                  [&](const api::Table& candidate) { return candidate.name == name; });
  if (found == result.tables.end()) throw std::out_of_range(name);
  return *found;
}

u64 natural(const api::Table::Cell& cell) { return std::get<u64>(cell); }
std::string text(const api::Table::Cell& cell) { return std::get<std::string>(cell); }

/// Flits on the channels whose end in `column` is a terminal.
u64 flits_of_terminals(const api::Table& channels, std::size_t column) {
  u64 sum = 0;
  for (const auto& row : channels.rows) {
    if (text(row[column]).starts_with("terminal")) sum += natural(row[5]);
  }
  return sum;
}

TEST(Recorded, ChannelsCarryWhatIsDeliveredAndEveryHop) {
  // Everything that was generated in the run has arrived when it ends, but the tables end with the measured window.
  const api::Result result = run(kMesh, {"run.tables=all", "run.measure=6000"});
  const api::Table& channels = table(result, "channels");
  EXPECT_EQ(channels.rows.size(), 2U * 16U + 2U * 2U * 12U);
  const auto delivered = static_cast<u64>(result.at("delivered_flits").mean);
  const u64 ejected = flits_of_terminals(channels, 3);
  EXPECT_GT(ejected, delivered * 98 / 100);
  EXPECT_LE(ejected, delivered);
  EXPECT_GE(flits_of_terminals(channels, 1), ejected);
  u64 all = 0;
  for (const auto& row : channels.rows) {
    all += natural(row[5]);
    EXPECT_LE(std::get<double>(row[6]), 1.0);
    EXPECT_NEAR(std::get<double>(row[6]), static_cast<double>(natural(row[5])) / 6000.0, 1e-12);
  }
  const auto hops = static_cast<u64>(result.at("flit_hops").mean);
  EXPECT_GT(all - flits_of_terminals(channels, 1), hops * 98 / 100);
  EXPECT_LE(all - flits_of_terminals(channels, 1), hops);
}

TEST(Recorded, FlowsSumToThePacketsThatWereMeasured) {
  const api::Result result = run(kMesh, {"run.tables=flows"});
  u64 packets = 0;
  double latency = 0.0;
  for (const auto& row : table(result, "flows").rows) {
    packets += natural(row[2]);
    EXPECT_EQ(natural(row[3]), 3 * natural(row[2]));
    latency += std::get<double>(row[5]) * static_cast<double>(natural(row[2]));
    EXPECT_LE(std::get<double>(row[5]), static_cast<double>(natural(row[6])));
  }
  EXPECT_GT(packets, 1000U);
  EXPECT_EQ(packets, result.at("packet_latency_max").count);
  // The metric's warm-up is cut by its own rule, so the means need not be equal, only close.
  EXPECT_NEAR(latency / static_cast<double>(packets), result.at("packet_latency").mean, 0.5);
}

TEST(Recorded, ChangesNoResult) {
  for (const std::string& experiment : {kMesh, kCube}) {
    const api::Result plain = run(experiment, {});
    const api::Result watched = run(experiment, {"run.tables=all"}, {"packet=3:0", "port=2:1", "terminal=0"});
    EXPECT_EQ(plain.state_hash, watched.state_hash);
    EXPECT_TRUE(plain.tables.empty());
    EXPECT_EQ(watched.tables.size(), 3U);
  }
}

TEST(Recorded, IsTheSameForAnyShardsThreadsAndOrder) {
  const api::Watches watches{"packet=3:0", "port=5:1"};
  const api::Result one = run(kMesh, {"run.tables=all", "run.shards=1"}, watches);
  const api::Result four = run(kMesh, {"run.tables=all", "run.shards=4", "run.step_order=permuted"}, watches, 2);
  ASSERT_EQ(one.tables.size(), four.tables.size());
  for (std::size_t i = 0; i < one.tables.size(); ++i) EXPECT_EQ(one.tables[i].rows, four.tables[i].rows);
  const api::Result sessions = run(kCube, {"run.tables=all"}, watches);
  const api::Result threads = run(kCube, {"run.tables=all", "run.step_order=permuted"}, watches, 3);
  for (std::size_t i = 0; i < sessions.tables.size(); ++i) {
    EXPECT_EQ(sessions.tables[i].rows, threads.tables[i].rows);
  }
}

TEST(Recorded, NoChannelOfTheCubeCarriesMoreThanOnePacketPerCycle) {
  const api::Result result = run(kCube, {"run.tables=channels"});
  double most = 0.0;
  for (const auto& row : table(result, "channels").rows) most = std::max(most, std::get<double>(row[6]));
  EXPECT_LE(most, 1.0);
  // 63 messages of the synchronization, and background, leave through terminal 0 within a session.
  EXPECT_GT(most, 0.5);
}

/// A length of a cycle says how times are written, and changes nothing of what is looked at; where nothing was looked
/// at, nothing is said of trees.
TEST(Recorded, TreesAreSampledAsOftenWithAndWithoutALengthOfACycle) {
  const std::string experiment =
      "topology = { name = 'mesh', size = [4, 4] }\nswitch = 'vc_router'\ntraffic = { name = 'uniform', load = 0.3 }\n"
      "[run]\nwarmup = 500\nmeasure = 3000\ntrees = true\n";
  const api::Result plain = run(experiment, {});
  const api::Result timed = run(experiment, {"run.cycle_time=1 ns"});
  ASSERT_NE(plain.trees, nullptr);
  ASSERT_NE(timed.trees, nullptr);
  EXPECT_EQ(timed.trees->record().samples.size(), plain.trees->record().samples.size());
  const api::Result rare = run(experiment, {"run.trees_interval=100000"});
  EXPECT_EQ(rare.trees, nullptr);
  EXPECT_EQ(rare.find("congestion_trees_most"), nullptr);
  EXPECT_NE(rare.explanation.find("run.trees_interval is longer than the run"), std::string::npos) << rare.explanation;
}

TEST(Recorded, AWatchedPacketIsFollowedFromItsSourceToItsDestination) {
  const api::Result result = run(kMesh, {}, {"packet=5:2"});
  std::vector<std::string> sent;
  std::vector<std::string> arrived;
  std::string first;
  std::string last;
  for (const auto& row : table(result, "events").rows) {
    EXPECT_EQ(text(row[1]), "5:2");
    if (first.empty()) first = text(row[7]);
    last = text(row[7]);
    if (natural(row[5]) != 0) continue;  // heads only
    if (last == "is sent") sent.push_back(text(row[8]));
    if (last == "arrives") arrived.push_back(text(row[8]));
  }
  EXPECT_EQ(first, "leaves its source queue");
  EXPECT_EQ(last, "is delivered");
  ASSERT_GE(sent.size(), 2U);
  ASSERT_EQ(sent.size(), arrived.size());
  EXPECT_EQ(sent.front(), "terminal 5");
  EXPECT_EQ(arrived.front(), "(1,1)");
  // A head is sent from where it has arrived.
  EXPECT_EQ(std::vector<std::string>(sent.begin() + 1, sent.end()),
            std::vector<std::string>(arrived.begin(), arrived.end() - 1));
  EXPECT_TRUE(arrived.back().starts_with("terminal "));
}

TEST(Recorded, AWatchedPortShowsItsCreditsAndFlits) {
  // By the switch's label and by the port's name.
  const api::Result result = run(kMesh, {}, {"port=(1,1):x+"});
  std::map<std::string, u64> events;
  for (const auto& row : table(result, "events").rows) {
    EXPECT_EQ(text(row[8]), "(1,1)");
    EXPECT_EQ(text(row[9]), "x+");
    ++events[text(row[7])];
  }
  EXPECT_GT(events["is sent"], 100U);
  EXPECT_GT(events["arrives"], 100U);
  // Every flit gives its place back, the last few perhaps not before the end.
  EXPECT_LE(events["gets credit"], events["is sent"]);
  EXPECT_GE(events["gets credit"] + 8, events["is sent"]);
}

TEST(Recorded, ActivityAgreesWithWhatMoved) {
  // The run ends with messages in the network: what was written and not read is there.
  const api::Result result = run(kMesh, {"run.activity=true"});
  const auto count = [&](const char* name) { return static_cast<u64>(result.at(name).mean); };
  const u64 hops = count("flit_hops");
  EXPECT_EQ(count("crossbar_traversals"), hops);
  EXPECT_EQ(count("buffer_reads"), hops);
  EXPECT_GE(count("buffer_writes"), hops);
  EXPECT_LE(count("buffer_writes"), hops + 16 * 5 * 2 * 4);
  // Every flit crosses one link more than switches.
  EXPECT_GE(count("link_traversals"), hops + count("delivered_flits"));
  EXPECT_LE(count("link_traversals"), hops + count("delivered_flits") + 16 * 5 * 2 * 4);
  // Packets of three flits.
  EXPECT_NEAR(static_cast<double>(count("vc_allocations")), static_cast<double>(hops) / 3.0, 16 * 5 * 2);
  EXPECT_EQ(run(kMesh, {}).find("buffer_reads"), nullptr);
  EXPECT_EQ(run(kMesh, {}).state_hash, result.state_hash);
}

TEST(Recorded, ActivityOfTheCubeCountsEveryBuffer) {
  const api::Result result = run(kCube, {"run.activity=true"});
  const auto count = [&](const char* name) { return static_cast<u64>(result.at(name).mean); };
  EXPECT_EQ(count("link_traversals"), count("packet_moves"));
  EXPECT_EQ(count("buffer_writes"), count("packet_moves") - count("delivered_packets"));
  EXPECT_LE(count("buffer_reads"), count("buffer_writes"));
  EXPECT_GE(count("buffer_reads"), count("delivered_packets") * 4);
  EXPECT_EQ(result.find("vc_allocations"), nullptr) << "there are no virtual channels";
}

/// The same packets on the same ways pass the same buffers, crossbars and links, whatever the switch.
TEST(Recorded, ActivityOfWormsIsThatOfRouters) {
  const std::string mesh = "topology = { name = \"mesh\", size = [4, 4] }\nrouting = \"dimension_order\"\nswitch = ";
  const std::string tail =
      "traffic = { name = \"uniform\", load = 0.1, size = 3 }\n[run]\nduration = 4000\nactivity = true\n";
  const api::Result router = run(mesh + "{ name = \"vc_router\", vcs = 1 }\n" + tail, {});
  const api::Result fifos = run(mesh + "{ name = \"input_buffer\" }\n" + tail, {});
  const api::Result central = run(mesh + "{ name = \"central_buffer\" }\n" + tail, {});
  // They differ by what is on its way at the end.
  constexpr double kOnTheWay = 300.0;
  for (const char* name : {"buffer_writes", "buffer_reads", "crossbar_traversals", "link_traversals"}) {
    EXPECT_GT(router.at(name).mean, 10'000.0);
    EXPECT_NEAR(fifos.at(name).mean, router.at(name).mean, kOnTheWay) << name;
  }
  EXPECT_NEAR(central.at("link_traversals").mean, router.at("link_traversals").mean, kOnTheWay);
  // What does not pass the crossbar is written and read once more.
  const double around = central.at("buffer_writes").mean - central.at("crossbar_traversals").mean;
  EXPECT_GT(around, 0.0);
  EXPECT_NEAR(central.at("crossbar_traversals").mean + around / 2, router.at("crossbar_traversals").mean, kOnTheWay);
  EXPECT_NEAR(central.at("buffer_reads").mean, central.at("buffer_writes").mean, kOnTheWay);
  EXPECT_EQ(fifos.find("vc_allocations"), nullptr);
}

/// One message of 8 flits, a chunk, goes up over one switch and down over five: 6 FIFOs, and 19 copies are read.
TEST(Recorded, ActivityOfWormsCountsEveryCopyOfAHeader) {
  const std::string worm =
      "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\nrouting = \"nearest_common_ancestor\"\n"
      "traffic = { name = \"multicast_collective\", operation = \"broadcast\", iterations = 1, size = 8 }\n"
      "run = { sessions = 1, activity = true }\nswitch = { name = \"central_buffer\" }\n";
  const auto count = [&](const char* name, const api::Overrides& overrides) {
    return run(worm, overrides).at(name).mean;
  };
  EXPECT_EQ(count("buffer_writes", {}), 6 * 8 + 19 * 8) << "a copy per output, one by one";
  EXPECT_EQ(count("buffer_reads", {}), 6 * 8 + 19 * 8);
  EXPECT_EQ(count("buffer_writes", {"switch.next_packet_ram=per_output"}), 6 * 8 + 5 * 8);
  EXPECT_EQ(count("buffer_reads", {"switch.next_packet_ram=per_output"}), 6 * 8 + 19 * 8);
  const api::Overrides together{"switch.replication=synchronous", "traffic.size=64"};
  EXPECT_EQ(count("buffer_reads", together), 6 * 64 + 5 * 64) << "all outputs of a switch read at once";
  EXPECT_EQ(count("buffer_writes", together), 6 * 64 + 5 * 64 + 14 * 8);
}

/// A flow that its first link does not carry keeps that link busy all the time, whatever comes with its data.
TEST(Recorded, AChannelThatAlwaysHasAPacketIsBusyAllTheTime) {
  const auto busy = [](const std::string& text, const api::Overrides& overrides) {
    const api::Result result = run(text, overrides);
    double most = 0.0;
    for (const auto& row : table(result, "channels").rows) most = std::max(most, std::get<double>(row[6]));
    return most;
  };
  const std::string bytes =
      "topology = { name = \"bidirectional_min\", hosts = 16, ports = 8 }\nrouting = { name = "
      "\"nearest_common_ancestor\", up = \"destination_digit\" }\nswitch = { name = \"cioq\" }\n"
      "traffic = { name = \"flows\", sources = [0], destinations = [5], size = 26 }\n"
      "run = { duration = 20000, tables = \"channels\" }\n";
  for (const char* packet : {"switch.packet=26", "switch.packet=64", "switch.packet=256"})
    EXPECT_GT(busy(bytes, {packet, std::string("traffic.size=") + (packet + 14)}), 0.97) << packet;
  EXPECT_LT(busy(bytes, {"traffic.loads=[0.1]"}), 0.2);
  const std::string node =
      "topology = { name = \"hypercube\", degree = 3 }\nrouting = \"ecube\"\nswitch = { name = \"packet_node\" }\n"
      "traffic = { name = \"permutation\", pattern = \"bit_complement\", load = 1.0, size = 512 }\n"
      "run = { duration = 20000, tables = \"channels\" }\n";
  for (const char* transport : {"packet", "datagram", "virtual_circuit"}) {
    for (const char* acquire : {"0", "8", "40"}) {
      EXPECT_GT(busy(node, {std::string("switch.transport=") + transport, std::string("switch.acquire=") + acquire}),
                0.9)
          << transport << " " << acquire;
    }
  }
}

/// In bytes: a packet passes two memories of every switch, and its overhead passes the links.
/// Packets that take a channel one after the other, from the first cycle to the last but one: routing takes less than a
/// flit of a slow channel, or no whole number of them, and data have a header.
TEST(Recorded, ChannelsAreBusyForAllTheTimeThatTheirPacketsTake) {
  const std::string traffic =
      "routing = \"dimension_order\"\ntraffic = { name = \"flows\", sources = [0], destinations = [1], loads = [0.1], "
      "size = 10 }\nrun = { duration = 20000, tables = \"channels\", cycle_time = \"1 ns\" }\n";
  const auto busy = [&](const std::string& network) {
    const api::Table channels = table(run(network + traffic, {}), "channels");
    double most = 0.0;
    for (const auto& row : channels.rows) most = std::max(most, std::get<double>(row.at(6)));
    return most;
  };
  // A flit that is routed by itself takes 6 cycles, and 7 on the channel.
  EXPECT_NEAR(busy("topology = { name = \"mesh\", size = [2], cycles_per_flit = [7] }\n"
                   "switch = { name = \"packet_node\", payload = 1, header = 0, acquire = 6 }\n"),
              1.0, 1e-3);
  EXPECT_NEAR(busy("topology = { name = \"mesh\", size = [2], cycles_per_flit = [3] }\n"
                   "switch = { name = \"packet_node\", payload = 10, header = 0, acquire = 20, bandwidth = 2 }\n"),
              0.1 / 10 * (20 + 15), 2e-3);
  EXPECT_NEAR(busy("topology = { name = \"mesh\", size = [2] }\n"
                   "switch = { name = \"circuit\", vcs = 1, header = 5, pipeline = false }\n"),
              0.1 * 15 / 10, 2e-3);
}

TEST(Recorded, ActivityOfAdaptersAndSwitchesCountsBothMemories) {
  const std::string text =
      "topology = { name = \"bidirectional_min\", hosts = 16 }\nrouting = { name = \"nearest_common_ancestor\", up = "
      "\"destination_digit\" }\nswitch = { name = \"cioq\", overhead = 6, packet = 64 }\n"
      "traffic = { name = \"uniform\", load = 0.4, size = 64 }\n[run]\nduration = 40000\nactivity = true\n";
  const api::Result result = run(text, {});
  const auto count = [&](const char* name) { return result.at(name).mean; };
  const double hops = count("flit_hops");  // packets through switches
  constexpr double kOnTheWay = 16 * 4 * 64;
  EXPECT_GT(hops, 1000.0);
  EXPECT_NEAR(count("crossbar_traversals"), 64 * hops, kOnTheWay);
  EXPECT_NEAR(count("buffer_writes"), 2 * 64 * hops, kOnTheWay);
  EXPECT_NEAR(count("buffer_reads"), 2 * 64 * hops, kOnTheWay);
  EXPECT_NEAR(count("link_traversals"), 70 * (hops + count("delivered_packets")), kOnTheWay);
  EXPECT_EQ(result.find("vc_allocations"), nullptr);
  EXPECT_EQ(run(text, {"run.activity=false"}).state_hash, result.state_hash);
  const api::Result cut = run(text, {"run.shards=3"});
  for (const char* name : {"buffer_writes", "buffer_reads", "crossbar_traversals", "link_traversals"})
    EXPECT_EQ(cut.at(name).mean, count(name)) << name;
}

/// Packets of 72 bytes: on their first link they come from a processor, on the others from a buffer.
TEST(Recorded, ActivityOfPacketNodesIsThatOfPacketsThatPass) {
  const std::string text =
      "topology = { name = \"hypercube\", degree = 4 }\nrouting = \"ecube\"\n"
      "switch = { name = \"packet_node\", payload = 64, header = 8 }\n"
      "traffic = { name = \"uniform\", load = 0.3, size = 64 }\n[run]\nduration = 40000\nactivity = true\n";
  const api::Result result = run(text, {});
  const auto count = [&](const char* name) { return result.at(name).mean; };
  const double packets = count("delivered_packets");
  const double hops = count("packet_hops");
  const double on_the_way = 72.0 * 16 * 4 * 4;
  EXPECT_GT(packets, 1000.0);
  EXPECT_NEAR(count("buffer_reads"), 72 * (hops - packets), on_the_way);
  EXPECT_NEAR(count("buffer_writes"), count("buffer_reads"), on_the_way);
  EXPECT_GE(count("buffer_writes"), count("buffer_reads"));
  EXPECT_NEAR(count("link_traversals"), 72 * (hops + packets), on_the_way);
  EXPECT_EQ(count("crossbar_traversals"), count("link_traversals"));
  EXPECT_EQ(result.find("vc_allocations"), nullptr);
  EXPECT_EQ(run(text, {"run.activity=false"}).state_hash, result.state_hash);
}

/// Every flit passes one more link than switches, and a buffer behind every channel but the last; circuits under way at
/// the end are not counted.
TEST(Recorded, ActivityOfCircuitsIsThatOfTheirData) {
  const std::string text =
      "topology = { name = \"mesh\", size = [4, 4] }\nrouting = \"dimension_order\"\n"
      "switch = { name = \"circuit\", vcs = 2 }\n"
      "traffic = { name = \"uniform\", load = 0.2, size = 16 }\n[run]\nduration = 20000\nactivity = true\n";
  const api::Result result = run(text, {});
  const auto count = [&](const char* name) { return result.at(name).mean; };
  const double packets = count("delivered_packets");
  EXPECT_GT(packets, 1000.0);
  EXPECT_NEAR(count("crossbar_traversals"), 16 * packets * count("hops"), 1e-6 * count("crossbar_traversals"));
  EXPECT_NEAR(count("link_traversals"), count("crossbar_traversals") + 16 * packets, 1e-3);
  // Without lanes the path of a message are the channels between switches, one less than the switches.
  EXPECT_EQ(count("buffer_writes"), count("buffer_reads"));
  EXPECT_GE(count("buffer_writes"), count("crossbar_traversals") - 2 * 16 * packets);
  EXPECT_LE(count("buffer_writes"), count("crossbar_traversals") - 16 * packets);
  EXPECT_GE(count("vc_allocations"), packets * (count("hops") - 1) - 1e-3);
  EXPECT_EQ(run(text, {"run.activity=false"}).state_hash, result.state_hash);
  const api::Result wires = run(text, {"switch.pipeline=false", "switch.vcs=1"});
  EXPECT_EQ(wires.find("buffer_writes"), nullptr) << "a wire has no buffers";
  EXPECT_GT(wires.at("link_traversals").mean, 0.0);
}

TEST(Recorded, ActivityIsRefusedBeforeTheRunWhereItIsNotCounted) {
  const std::string nodes =
      "topology = { name = \"hypercube\", degree = 3 }\nswitch = { name = \"ideal\", latency = 5 }\nrouting = "
      "\"dimension_order\"\n"
      "traffic = { name = \"uniform\", load = 0.05 }\nrun = { warmup = 10, measure = 200 }\n";
  EXPECT_NO_THROW(run(nodes, {}));
  try {
    api::check(api::read_experiments_text(nodes, "test.toml", {"run.activity=true"}).points.front());
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("ideal has no switches"), std::string::npos) << error.what();
  }
}

/// The text of the trace that a run writes, and its result.
std::pair<std::string, api::Result> traced(const std::string& text, const api::Overrides& overrides,
                                           banyan::u32 threads = 1) {
  std::string trace;
  api::RunOptions options;
  options.trace = &trace;
  options.threads = threads;
  api::Result result = api::run(api::read_experiments_text(text, "test.toml", overrides).points.front(), options);
  return {std::move(trace), std::move(result)};
}

/// The same network under a trace, for as many cycles.
api::Result replayed(const std::string& network, const std::string& trace, const char* duration) {
  const std::string file = testing::TempDir() + "banyan_recorded.trace";
  std::ofstream(file) << trace;
  return run(network + "traffic = { name = \"trace\", file = \"" + file + "\" }\n",
             {std::string("run.duration=") + duration});
}

TEST(Recorded, ATraceRunsAgainAsTheRunThatWroteIt) {
  const std::string network =
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
      "routing = \"dimension_order\"\n";
  const std::string uniform = "traffic = { name = \"uniform\", load = 0.3, size = 3 }\n";
  const auto [trace, result] = traced(network + uniform, {"run.duration=3000"});
  EXPECT_EQ(result.state_hash, run(network + uniform, {"run.duration=3000"}).state_hash);  // nothing is changed
  EXPECT_EQ(trace, traced(network + uniform, {"run.duration=3000", "run.shards=3"}, 2).first);
  const api::Result again = replayed(network, trace, "3000");
  for (const char* metric : {"packet_latency", "network_latency", "source_queueing", "hops", "packet_latency_max",
                             "delivered_packets", "delivered_flits", "flit_hops", "accepted_load"}) {
    ASSERT_NE(result.find(metric), nullptr) << metric;
    EXPECT_EQ(again.at(metric).mean, result.at(metric).mean) << metric;
  }
}

/// What an admission sends for itself is no workload: its run of the trace sends that again.
TEST(Recorded, ATraceHoldsNoFeedbackOfAdmissions) {
  const std::string network =
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 4, buffer = 8 }\n"
      "routing = \"dimension_order\"\n";
  const std::string uniform = "traffic = { name = \"uniform\", load = 0.3, size = 4 }\n";
  for (const auto& row : core::admission_rows()) {
    const std::string admission = "admission = \"" + std::string(row->info.name) + "\"\n";
    const auto [trace, result] = traced(network + admission + uniform, {"run.duration=3000"});
    std::istringstream lines(trace);
    u64 messages = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() == '#') continue;
      std::istringstream words(line);
      std::string word;
      for (int i = 0; i < 5; ++i) words >> word;
      EXPECT_EQ(word, "4") << row->info.name << ": " << line;
      ++messages;
    }
    EXPECT_GT(messages, 2000U) << row->info.name;
    const api::Result again = replayed(network + admission, trace, "3000");
    EXPECT_NEAR(again.at("delivered_packets").mean, result.at("delivered_packets").mean, 20) << row->info.name;
  }
}

TEST(Recorded, ATraceHoldsRepliesAndMessagesOfSeveralPackets) {
  const std::string network =
      "topology = { name = \"mesh\", size = [4, 4] }\nswitch = { name = \"vc_router\", vcs = 2, buffer = 4 }\n"
      "routing = \"dimension_order\"\n";
  const std::string requests =
      "traffic = { name = \"uniform\", load = 0.1, size = 6, reply_size = [2], max_packet = 4 }\n";
  const auto [trace, result] = traced(network + requests, {"run.duration=2000"});
  const auto lines = static_cast<u64>(std::count(trace.begin(), trace.end(), '\n')) - 2;
  // Two packets of a request, one of a reply: between the messages of both.
  EXPECT_LT(lines, static_cast<u64>(result.at("delivered_packets").mean));
  EXPECT_GT(lines, static_cast<u64>(result.at("delivered_packets").mean) / 2);
  const api::Result again = replayed(network, trace, "2000");
  // The replayed messages are not cut: of those that are on their way at the end, no packet has arrived before.
  constexpr double kAtTheEnd = 16 * 6;
  EXPECT_NEAR(again.at("delivered_flits").mean, result.at("delivered_flits").mean, kAtTheEnd);
}

TEST(Recorded, TerminalsOfSubnetworksAreThoseOfTheTraffic) {
  const auto [trace, result] = traced(kMesh, {"topology.subnetworks=2", "run.duration=1000"});
  u64 id = 0;
  u64 cycle = 0;
  u64 source = 0;
  u64 destination = 0;
  u64 flits = 0;
  std::istringstream stream(trace.substr(trace.find('\n', trace.find('\n') + 1) + 1));
  u64 lines = 0;
  while (stream >> id >> cycle >> source >> destination >> flits) {
    EXPECT_LT(std::max(source, destination), 16U);
    EXPECT_EQ(flits, 3U);
    EXPECT_EQ(id, lines++);
  }
  EXPECT_GT(lines, 100U);
}

TEST(Recorded, NoChannelIsBusyForLongerThanThereIs) {
  // Links that carry 16 flits per cycle; slow channels behind output queues, and hardly any time.
  const std::string wide =
      "topology = { name = \"mesh\", size = [2], concentration = 8 }\nrouting = \"dimension_order\"\n"
      "switch = { name = \"packet_node\", bandwidth = 16, acquire = 0, buffers_per_link = 32, header = 0, payload = 16 "
      "}\n"
      "traffic = { name = \"uniform\", load = 0.9, size = 16 }\nrun = { warmup = 500, measure = 2000, tables = \"all\" "
      "}\n";
  const api::Result result = run(wide, {});
  // Of 8 terminals with 0.9 flits per cycle 8 in 15 go to the other switch.
  EXPECT_NEAR(result.at("channel_utilization_mean").mean, 8 * 0.9 * 8 / 15 / 16, 0.02);
  const api::Result slow = run(kMesh, {"topology.cycles_per_flit=10", "switch.output_speedup=2", "run.measure=100",
                                       "run.tables=all", "traffic.load=0.9"});
  for (const auto& row : table(slow, "channels").rows) EXPECT_LE(std::get<double>(row[6]), 1.0);
}

TEST(Recorded, RefusesWhatIsNotThere) {
  for (const char* watch : {"pocket=1:2", "packet=3", "packet=16:0", "packet=x:0", "port=16:0", "port=0:9",
                            "port=(7,7):0", "terminal=16", "terminal="}) {
    EXPECT_THROW(run(kMesh, {}, {watch}), ConfigError) << watch;
  }
  try {
    run(kMesh, {}, {"pocket=1:2"});
    FAIL();
  } catch (const ConfigError& error) { EXPECT_NE(std::string(error.what()).find("\"packet\""), std::string::npos); }
}

}  // namespace
}  // namespace banyan::recorded_test
