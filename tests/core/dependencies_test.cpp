// Does the check find a cycle of dependencies exactly where packets can wait on each other in a circle?
#include "banyan/core/dependencies.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <set>

#include "banyan/core/digraph.hpp"
#include "banyan/core/registry.hpp"
#include "component_rows.hpp"

namespace banyan::core::dependencies_test {
namespace {

using Topologies = std::unique_ptr<Topology>;

Topologies grid(const TopologyRow& row, std::vector<i64> size) {
  config::Values v = config::Values::defaults(row.info);
  v.set("size", std::move(size));
  return row.make(v);
}

std::unique_ptr<Routing> dimension_order(const Topology& topology, bool datelines, u32 vcs) {
  config::Values v = config::Values::defaults(routing::dimension_order::row_dimension_order.info);
  v.set("datelines", datelines);
  return routing::dimension_order::row_dimension_order.make(v, {&topology, {}, vcs});
}

/// A routing function written down in a test.
class Written final : public Routing {
 public:
  using Rule = std::function<void(const RouteRequest&, Candidates&)>;
  explicit Written(Rule rule) : rule_(std::move(rule)) {}
  void route(const RouteRequest& request, Candidates& out) const noexcept override { rule_(request, out); }

 private:
  Rule rule_;
};

/// Ports of a 2-D mesh that lead nearer to the destination, ejection at it: x first.
std::vector<u32> nearer(const Topology& mesh, const RouteRequest& request) {
  const Grid& g = *mesh.grid();
  const u32 k = g.size[0];
  const u32 d = request.packet->destination;
  std::vector<u32> ports;
  if (request.at % k != d % k) ports.push_back(request.at % k < d % k ? g.port_up[0] : g.port_down[0]);
  if (request.at / k != d / k) ports.push_back(request.at / k < d / k ? g.port_up[1] : g.port_down[1]);
  if (ports.empty()) ports.push_back(4);
  return ports;
}

bool closes(const Topology& topology, const DependencyReport& report) {
  const Graph& graph = topology.graph();
  for (std::size_t i = 0; i < report.cycle.size(); ++i) {
    const Channel& held = graph.channel(report.cycle[i].held.channel);
    const Channel& wanted = graph.channel(report.cycle[(i + 1) % report.cycle.size()].held.channel);
    if (held.to.terminal || wanted.from.terminal || held.to.node != wanted.from.node) return false;
  }
  return !report.cycle.empty();
}

TEST(Dependencies, DimensionOrderOnAMeshIsAcyclic) {
  for (const auto& size : {std::vector<i64>{5, 4}, {7}, {3, 2, 4}}) {
    const Topologies mesh = grid(topology::mesh::row_mesh, size);
    for (const u32 vcs : {1U, 3U}) {
      EXPECT_EQ(check_dependencies(*mesh, *dimension_order(*mesh, true, vcs), vcs).verdict, DependencyVerdict::acyclic);
    }
  }
}

TEST(Dependencies, DimensionOrderHasTheDependenciesOfTheTurnsThatItMakes) {
  // Straight on from every channel, and from x into both directions of y, where a channel leads on.
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const DependencyReport report = check_dependencies(*mesh, *dimension_order(*mesh, true, 1), 1);
  u64 turns = 0;
  const Graph& graph = mesh->graph();
  const Grid& g = *mesh->grid();
  for (const Channel& c : graph.channels()) {
    if (c.from.terminal || c.to.terminal) continue;
    const bool along_x = c.from.port == g.port_up[0] || c.from.port == g.port_down[0];
    if (graph.channel_out_of(c.to.node, c.from.port) != kNone) ++turns;
    for (const u32 port : {g.port_up[1], g.port_down[1]}) {
      if (along_x && graph.channel_out_of(c.to.node, port) != kNone) ++turns;
    }
  }
  EXPECT_EQ(report.classes, 48U);
  EXPECT_EQ(report.dependencies, turns);
}

TEST(Dependencies, ATorusWithoutDatelinesHasTheRingAsItsShortestCycle) {
  for (const u32 vcs : {1U, 2U}) {
    const Topologies torus = grid(topology::torus::row_torus, {5, 7});
    const DependencyReport report = check_dependencies(*torus, *dimension_order(*torus, false, vcs), vcs);
    ASSERT_EQ(report.verdict, DependencyVerdict::cyclic);
    EXPECT_EQ(report.cycle.size(), 5U);
    EXPECT_TRUE(report.shortest);
    EXPECT_TRUE(closes(*torus, report));
    const std::string text = explain(report, *torus);
    EXPECT_NE(text.find("(4,0) x+ -> (0,0)"), std::string::npos) << text;
    EXPECT_TRUE(text.starts_with("cycle of 5 channels")) << text;
  }
}

TEST(Dependencies, DatelinesCutTheRings) {
  for (const u32 vcs : {2U, 3U, 8U}) {
    const Topologies torus = grid(topology::torus::row_torus, {5, 4});
    EXPECT_EQ(check_dependencies(*torus, *dimension_order(*torus, true, vcs), vcs).verdict, DependencyVerdict::acyclic);
  }
}

TEST(Dependencies, AMeshWhereAllTurnsAreAllowedHasACycleOfFour) {
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const Written broken([&](const RouteRequest& request, Candidates& out) {
    for (const u32 port : nearer(*mesh, request)) out.add({static_cast<u16>(port), 0, 2});
  });
  const DependencyReport report = check_dependencies(*mesh, broken, 2);
  ASSERT_EQ(report.verdict, DependencyVerdict::cyclic);
  EXPECT_EQ(report.cycle.size(), 4U);
  EXPECT_TRUE(closes(*mesh, report));
}

/// Minimal adaptive on virtual channels 1 and up, dimension order on virtual channel 0.
Written adaptive(const Topology& mesh, bool stay, bool escape_by_y = false) {
  return Written([&mesh, stay, escape_by_y](const RouteRequest& request, Candidates& out) {
    const std::vector<u32> ports = nearer(mesh, request);
    if (ports.front() == 4) return out.add({4, 0, 3});
    if (!stay || request.in_vc != 0 || request.in_port == 4) {
      for (const u32 port : ports) out.add({static_cast<u16>(port), 1, 3, 1});
    }
    const bool alternate = escape_by_y && (request.packet->destination % 2) == 0;
    out.add({static_cast<u16>(alternate ? ports.back() : ports.front()), 0, 1, 0, true});
  });
}

TEST(Dependencies, PacketsThatStayInTheEscapeSubnetworkNeedNothingMore) {
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const DependencyReport report = check_dependencies(*mesh, adaptive(*mesh, true), 3);
  EXPECT_EQ(report.verdict, DependencyVerdict::escape);
}

TEST(Dependencies, PacketsThatLeaveTheEscapeSubnetworkNeedEmptyVirtualChannels) {
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const DependencyReport report = check_dependencies(*mesh, adaptive(*mesh, false), 3);
  EXPECT_EQ(report.verdict, DependencyVerdict::escape_when_empty);
  EXPECT_NE(explain(report, *mesh).find("only when it is empty"), std::string::npos);
}

TEST(Dependencies, AnEscapeSubnetworkWithACycleDoesNotHelp) {
  // XY for odd destinations, YX for even ones, on the same virtual channel.
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const DependencyReport report = check_dependencies(*mesh, adaptive(*mesh, true, true), 3);
  ASSERT_EQ(report.verdict, DependencyVerdict::cyclic);
  for (const DependencyStep& step : report.cycle) EXPECT_EQ(step.held.vc_end, 1U);
}

TEST(Dependencies, AnEscapeRingIsACycleWhateverStandsBesideIt) {
  const Topologies ring = grid(topology::torus::row_torus, {4});
  const Written rule([&](const RouteRequest& request, Candidates& out) {
    const u32 d = request.packet->destination;
    if (request.at == d) return out.add({2, 0, 2});
    out.add({0, 1, 2, 1});
    out.add({0, 0, 1, 0, true});
  });
  EXPECT_EQ(check_dependencies(*ring, rule, 2).verdict, DependencyVerdict::cyclic);
}

TEST(Dependencies, AnEscapeThatIsNotOfferedEverywhereIsNone) {
  const Topologies mesh = grid(topology::mesh::row_mesh, {4, 4});
  const Written rule([&](const RouteRequest& request, Candidates& out) {
    for (const u32 port : nearer(*mesh, request)) out.add({static_cast<u16>(port), 1, 2, 1});
    if (request.at == 5) out.add({static_cast<u16>(nearer(*mesh, request).front()), 0, 1, 0, true});
  });
  EXPECT_EQ(check_dependencies(*mesh, rule, 2).verdict, DependencyVerdict::cyclic);
}

TEST(Dependencies, APacketWithoutAWayIsNamed) {
  const Topologies mesh = grid(topology::torus::row_torus, {3, 3});
  const Written silent([&](const RouteRequest& request, Candidates& out) {
    if (request.at != 4) out.add({static_cast<u16>(nearer(*mesh, request).front()), 0, 1});
  });
  const DependencyReport nowhere = check_dependencies(*mesh, silent, 1);
  EXPECT_EQ(nowhere.verdict, DependencyVerdict::lost);
  EXPECT_NE(nowhere.problem.find("at (1,1)"), std::string::npos) << nowhere.problem;
  const Written wrong([](const RouteRequest&, Candidates& out) { out.add({4, 0, 1}); });
  EXPECT_NE(check_dependencies(*mesh, wrong, 1).problem.find("delivered to terminal"), std::string::npos);
  const Written beyond([](const RouteRequest&, Candidates& out) { out.add({9, 0, 1}); });
  EXPECT_NE(check_dependencies(*mesh, beyond, 1).problem.find("no channel"), std::string::npos);
  const Written many([](const RouteRequest&, Candidates& out) { out.add({4, 0, 2}); });
  EXPECT_NE(check_dependencies(*mesh, many, 1).problem.find("virtual channels 0 to 2"), std::string::npos);
}

TEST(Dependencies, ATooLargeNetworkIsLeftUndecided) {
  const Topologies torus = grid(topology::torus::row_torus, {6, 6});
  const DependencyReport report = check_dependencies(*torus, *dimension_order(*torus, true, 2), 2, 100);
  EXPECT_EQ(report.verdict, DependencyVerdict::undecided);
  EXPECT_NE(explain(report, *torus).find("too large"), std::string::npos);
}

TEST(Dependencies, VirtualChannelsAreToldApartWhereTheRoutingDoes) {
  // A ring whose packets move up one virtual channel per hop: 3 hops at most, 3 virtual channels, no cycle.
  const Topologies ring = grid(topology::torus::row_torus, {4});
  const Written climbing([&](const RouteRequest& request, Candidates& out) {
    if (request.at == request.packet->destination) return out.add({2, 0, 4});
    const u32 vc = request.in_port == 2 ? 0 : request.in_vc + 1;
    out.add({0, static_cast<u8>(vc), static_cast<u8>(vc + 1)});
  });
  const DependencyReport report = check_dependencies(*ring, climbing, 4);
  EXPECT_EQ(report.verdict, DependencyVerdict::acyclic);
  EXPECT_EQ(report.classes, 4U * 3);
  EXPECT_EQ(report.dependencies, 4U * 2);
}

RC_GTEST_PROP(Digraph, TheShortestCycleAgreesWithFloydAndWarshall, ()) {
  const u32 nodes = *rc::gen::inRange<u32>(1, 12);
  const u32 edges = *rc::gen::inRange<u32>(0, 3 * nodes);
  constexpr u32 kFar = 1000;
  std::vector<std::vector<u32>> distance(nodes, std::vector<u32>(nodes, kFar));
  EdgeTable table;
  for (u32 i = 0; i < edges; ++i) {
    const u32 from = *rc::gen::inRange<u32>(0, nodes);
    const u32 to = *rc::gen::inRange<u32>(0, nodes);
    table.add(from, to, 0, 0);
    distance[from][to] = 1;
  }
  const auto direct = distance;
  for (u32 k = 0; k < nodes; ++k) {
    for (u32 i = 0; i < nodes; ++i) {
      for (u32 j = 0; j < nodes; ++j) distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
    }
  }
  const Digraph graph(nodes, table);
  const std::vector<u32> knots = graph.knots();
  u32 shortest = kFar;
  for (u32 i = 0; i < nodes; ++i) {
    shortest = std::min(shortest, distance[i][i]);
    RC_ASSERT((knots[i] != kNone) == (distance[i][i] != kFar));
    for (u32 j = 0; j < nodes && knots[i] != kNone; ++j) {
      RC_ASSERT((knots[i] == knots[j]) == (distance[i][j] != kFar && distance[j][i] != kFar));
    }
  }
  const Digraph::Cycle cycle = graph.shortest_cycle(knots);
  RC_ASSERT(cycle.nodes.size() == (shortest == kFar ? 0 : shortest));
  for (std::size_t i = 0; i < cycle.nodes.size(); ++i) {
    RC_ASSERT(direct[cycle.nodes[i]][cycle.nodes[(i + 1) % cycle.nodes.size()]] == 1);
  }
}

/// Channels lead back and forth, and no packet takes two of them: that is the routing's merit, and not that of
/// channels.
TEST(Dependencies, WhereEverySwitchIsNextToEveryOtherTheChannelsDoFormCycles) {
  const auto ring = grid(topology::torus::row_torus, {3});
  const auto straight = dimension_order(*ring, true, 2);
  const DependencyReport report = check_dependencies(*ring, *straight, 2);
  EXPECT_EQ(report.verdict, DependencyVerdict::acyclic);
  EXPECT_EQ(explain(report, *ring), "deadlock: acyclic (no packet takes two channels between switches)");
}

}  // namespace
}  // namespace banyan::core::dependencies_test
