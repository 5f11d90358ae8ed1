// Is what a routing function says of itself true? Every one of them on every topology that it fits, both by their
// defaults: packets that differ in what it says not to read are routed alike, hop by hop, wherever they are.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "banyan/base/error.hpp"
#include "banyan/base/rng.hpp"
#include "support/rows.hpp"

namespace banyan::test::routing_traits_test {
namespace {

constexpr u32 kVcs = 8;
constexpr Stream kDraws{"routing_traits_test"};

/// What a routing function may do with a packet: header, then candidates at a place.
struct Asked {
  core::Packet packet;
  u32 word = 0;
};

bool equal(const core::Candidate& a, const core::Candidate& b) {
  return a.port == b.port && a.vc_begin == b.vc_begin && a.vc_end == b.vc_end && a.priority == b.priority &&
         a.escape == b.escape;
}

std::vector<core::Candidate> candidates(const core::Routing& routing, const core::RouteRequest& request) {
  core::Candidates out;
  routing.route(request, out);
  return {out.begin(), out.end()};
}

/// How often two packets that differ as `change` says were routed differently, on ways of random packets.
template <class Change>
u32 differences(const core::Topology& topology, const core::Routing& routing, const Change& change) {
  const core::Graph& graph = topology.graph();
  const EqualQueues queues(0);
  u32 found = 0;
  for (u32 n = 0; n < 200; ++n) {
    const Words draw = Random(1, kDraws, 0, 0).at(n, 0);
    Asked one;
    one.packet.source = draw[0] % graph.terminals();
    one.packet.destination = draw[1] % graph.terminals();
    if (one.packet.source == one.packet.destination) continue;
    one.word = draw[2];
    one.packet.pending = static_cast<u8>(draw[3]);
    Asked other = one;
    change(other, n);
    routing.prepare(one.packet, one.word);
    routing.prepare(other.packet, other.word);
    found += one.packet.tag != other.packet.tag || one.packet.state != other.packet.state ? 1U : 0U;
    core::Channel at = graph.channel(graph.injection(one.packet.source));
    for (u32 hop = 0; hop < 20 && !at.to.terminal; ++hop) {
      const core::RouteRequest request{at.to.node, at.to.port, 0, &one.packet, one.word, &queues};
      const core::RouteRequest same{at.to.node, at.to.port, 0, &other.packet, other.word, &queues};
      const auto here = candidates(routing, request);
      const auto there = candidates(routing, same);
      found += std::equal(here.begin(), here.end(), there.begin(), there.end(), equal) ? 0U : 1U;
      if (here.empty()) break;
      at = graph.channel(graph.channel_out_of(at.to.node, here[hop % here.size()].port));
    }
  }
  return found;
}

class WhatIsSaid : public testing::TestWithParam<std::string> {};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const core::RoutingRow* row : core::routing_rows()) all.push_back(row->info.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Routings, WhatIsSaid, testing::ValuesIn(names()), [](const auto& one) { return one.param; });

TEST_P(WhatIsSaid, IsTrue) {
  const core::RoutingRow& row = row_named(core::routing_rows(), GetParam());
  u32 fitting = 0;
  for (const core::TopologyRow* network : core::topology_rows()) {
    std::unique_ptr<core::Topology> topology;
    std::unique_ptr<core::Routing> routing;
    try {
      topology = network->make(config::Values::defaults(network->info));
      const std::vector<core::HotSpot> hot_spots{{0, 3}, {5, topology->graph().terminals() - 1}};
      routing = row.make(config::Values::defaults(row.info), {topology.get(), hot_spots, kVcs});
    } catch (const ConfigError&) { continue; }
    ++fitting;
    SCOPED_TRACE(network->info.name);
    const core::RoutingTraits traits = routing->traits();
    const u32 by_pending = differences(*topology, *routing, [](Asked& a, u32) { a.packet.pending ^= 0x21U; });
    EXPECT_EQ(by_pending != 0, traits.reads_pending) << "reads_pending: " << by_pending << " differences";
    const u32 by_word = differences(*topology, *routing, [](Asked& a, u32 n) { a.word = ~a.word * (2 * n + 1); });
    if (!traits.random) { EXPECT_EQ(by_word, 0U) << "random = false"; }
    const u32 by_source = differences(*topology, *routing, [&](Asked& a, u32 n) {
      a.packet.source = (a.packet.source + 1 + n % 7) % topology->graph().terminals();
    });
    if (!traits.reads_source) { EXPECT_EQ(by_source, 0U) << "reads_source = false"; }
    if (traits.by_destination) {
      const u32 by_header =
          differences(*topology, *routing, [](Asked& a, u32 n) { a.packet.birth = a.packet.sequence = n; });
      EXPECT_EQ(by_header + by_source + by_word + by_pending, 0U) << "by_destination";
    }
  }
  if (GetParam() != "table") {  // it must be told its table
    EXPECT_GT(fitting, 0U);
  }
}

}  // namespace
}  // namespace banyan::test::routing_traits_test
