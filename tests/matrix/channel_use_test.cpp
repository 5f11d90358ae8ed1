// Does the table of channels say what they carried, with every switch model? No channel carries more than it can, and
// all between switches together what was delivered, times the switches on its way that hand it on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "admission/admissions.hpp"
#include "banyan/api/network.hpp"
#include "banyan/base/error.hpp"

namespace banyan::channel_use_test {
namespace {

const api::Table& table(const api::Result& result, const std::string& name) {
  return *std::find_if(result.tables.begin(), result.tables.end(), [&](const api::Table& t) { return t.name == name; });
}
u64 natural(const api::Table::Cell& cell) { return std::get<u64>(cell); }
bool at_terminal(const api::Table::Cell& cell) { return std::get<std::string>(cell).starts_with("terminal"); }

/// `overhead`: flits of a header, which channels carry too, beside every so many flits of a message.
void expect_use(const std::string& name, const std::string& network, double overhead = 1.0, i64 measure = 30'000) {
  const api::Experiment experiment =
      test::experiment(network, "", fmt::format("warmup = 0, measure = {}, tables = 'all'", measure));
  const api::Result result = api::run(experiment);
  ASSERT_NE(result.find("delivered_flits"), nullptr) << name;
  double carried = 0.0;
  for (const auto& row : table(result, "channels").rows) {
    EXPECT_LE(std::get<double>(row[6]), 1.0 + 1e-9) << name << ": channel " << natural(row[0]);
    if (!at_terminal(row[1]) && !at_terminal(row[3])) carried += static_cast<double>(natural(row[5]));
  }
  const api::Network built = api::build_network(experiment);
  const core::Graph& graph = built.topology->graph();
  double hops = 0.0;
  for (const auto& row : table(result, "flows").rows) {
    const u32 from = graph.channel(graph.injection(static_cast<u32>(natural(row[0])))).to.node;
    const u32 to = graph.channel(graph.ejection(static_cast<u32>(natural(row[1])))).from.node;
    hops += static_cast<double>(natural(row[3])) * graph.distances_from(from)[to];
  }
  EXPECT_NEAR(carried / (hops * overhead), 1.0, 0.02) << name;
}

TEST(ChannelUse, IsWhatWasDeliveredTimesItsHops) {
  for (const test::Network& network : test::networks()) {
    const std::string name = network.model;
    if (name.find("multicasts") != std::string::npos) continue;  // a worm crosses a channel once for several
    if (name == "ideal") continue;                               // nothing crosses any
    // Messages of 24 flits with 2 of a header, in one packet.
    expect_use(name, network.text, name == "packet_node" ? 26.0 / 24.0 : 1.0);
  }
}

TEST(ChannelUse, OfMessagesThatAreCutIsThatOfTheirPackets) {
  const auto nodes = [](const char* more) {
    return fmt::format(
        "topology = {{ name = 'hypercube', degree = 4 }}\n"
        "switch = {{ name = 'packet_node', acquire = 2, header = 4, payload = 16, consumption = 0{} }}\n"
        "routing = 'dimension_order'\ntraffic = {{ name = 'uniform', load = 0.3, size = 64 }}\n",
        more);
  };
  for (const char* switching : {"store_and_forward", "cut_through"}) {
    const std::string how = fmt::format(", switching = '{}'", switching);
    expect_use("packets", nodes(how.c_str()), 80.0 / 64.0);
    if (std::string(switching) == "cut_through") continue;  // what has no header cannot
    expect_use("a circuit of packets", nodes((how + ", transport = 'virtual_circuit'").c_str()), 68.0 / 64.0);
    expect_use("datagrams", nodes((how + ", transport = 'datagram'").c_str()), 68.0 / 64.0);
  }
  expect_use("cioq",
             "topology = { name = 'bidirectional_min', hosts = 16, ports = 4 }\nswitch = { name = 'cioq', packet = 64 "
             "}\nrouting = { name = 'nearest_common_ancestor', up = 'd_mod_k' }\n"
             "traffic = { name = 'uniform', load = 0.3, size = 1000 }\n",
             1.0, 300'000);
  expect_use("vc_router",
             "topology = { name = 'mesh', size = [4, 4] }\nswitch = { name = 'vc_router', vcs = 2 }\n"
             "routing = 'dimension_order'\ntraffic = { name = 'uniform', load = 0.2, size = 90, max_packet = 7 }\n");
}

}  // namespace
}  // namespace banyan::channel_use_test
