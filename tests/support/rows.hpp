// Topologies and routing functions by name, distances of their graphs, and walks over them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/core/dependencies.hpp"
#include "banyan/core/registry.hpp"

namespace banyan::test {

using Settings = std::vector<std::pair<std::string, config::Value>>;

template <typename Row>
const Row& row_named(std::span<const Row* const> rows, const std::string& name) {
  for (const Row* row : rows) {
    if (row->info.name == name) return *row;
  }
  throw std::logic_error("no component " + name);
}

inline config::Values settings(const config::ComponentInfo& info, const Settings& given) {
  config::Values values = config::Values::defaults(info);
  for (const auto& [name, value] : given) values.set(name, value);
  return values;
}

inline std::unique_ptr<core::Topology> topology(const std::string& name, const Settings& given = {}) {
  const core::TopologyRow& row = row_named(core::topology_rows(), name);
  return row.make(settings(row.info, given));
}

inline std::unique_ptr<core::Routing> routing(const std::string& name, const core::Topology& topology, u32 vcs,
                                              const Settings& given = {}) {
  const core::RoutingRow& row = row_named(core::routing_rows(), name);
  return row.make(settings(row.info, given), {&topology, {}, vcs});
}

/// Cause and remedy of the ConfigError that `action` throws; "" when it throws none.
template <typename Action>
std::string refusal(const Action& action) {
  try {
    action();
  } catch (const ConfigError& error) { return error.cause() + " | " + error.remedy(); }
  return "";
}

/// Channels between switches from `from` to every switch, over working channels; kNone: none.
inline std::vector<u32> distances_from(const core::Graph& graph, u32 from) {
  std::vector<u32> distance(graph.switches(), kNone);
  std::vector<u32> queue{from};
  distance[from] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (u32 p = 0; p < graph.outputs(queue[i]); ++p) {
      const u32 c = graph.channel_out_of(queue[i], p);
      if (c == kNone || graph.channel(c).failed || graph.channel(c).to.terminal) continue;
      const u32 next = graph.channel(c).to.node;
      if (distance[next] != kNone) continue;
      distance[next] = distance[queue[i]] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

inline u32 switch_of(const core::Graph& graph, u32 terminal) {
  return graph.channel(graph.injection(terminal)).to.node;
}

/// Distances between the switches of all ordered pairs of terminals, a terminal and itself included.
struct Distances {
  u32 diameter = 0;
  u64 sum = 0;
  bool connected = true;
};
inline Distances distances(const core::Graph& graph) {
  Distances result;
  std::vector<u32> terminals_at(graph.switches(), 0);
  for (u32 t = 0; t < graph.terminals(); ++t) ++terminals_at[switch_of(graph, t)];
  for (u32 s = 0; s < graph.switches(); ++s) {
    if (terminals_at[s] == 0) continue;
    const std::vector<u32> distance = distances_from(graph, s);
    for (u32 d = 0; d < graph.switches(); ++d) {
      if (terminals_at[d] == 0) continue;
      if (distance[d] == kNone) {
        result.connected = false;
        continue;
      }
      result.diameter = std::max(result.diameter, distance[d]);
      result.sum += u64{distance[d]} * terminals_at[s] * terminals_at[d];
    }
  }
  return result;
}

/// Every channel has an opposite one on ports of the same numbers.
inline void expect_bidirectional(const core::Graph& graph) {
  for (const core::Channel& c : graph.channels()) {
    const u32 back = c.to.terminal ? graph.injection(c.to.node) : graph.channel_out_of(c.to.node, c.to.port);
    ASSERT_NE(back, kNone);
    EXPECT_EQ(graph.channel(back).to, c.from);
  }
}

inline void expect_verdict(const core::Topology& topology, const core::Routing& routing, u32 vcs,
                           core::DependencyVerdict verdict) {
  const core::DependencyReport report = core::check_dependencies(topology, routing, vcs);
  EXPECT_EQ(report.verdict, verdict) << core::explain(report, topology);
}

/// Queues that are equally full everywhere, or as a test says.
class EqualQueues : public core::Occupancy {
 public:
  explicit EqualQueues(u32 used) : used_(used) {}
  [[nodiscard]] u32 used(u32, u32) const noexcept override { return used_; }

 private:
  u32 used_;
};

/// Channels between switches that a prepared packet takes; kNone when it does not arrive within `most`. Candidates and
/// virtual channels are chosen by `luck`.
inline u32 follow(const core::Topology& topology, const core::Routing& routing, const core::Packet& packet, u64 luck,
                  u32 most = 1000, const core::Occupancy* occupancy = nullptr) {
  static const EqualQueues none(0);
  const core::Graph& graph = topology.graph();
  core::RouteRequest request;
  request.packet = &packet;
  request.occupancy = occupancy != nullptr ? occupancy : &none;
  core::End at = graph.channel(graph.injection(packet.source)).to;
  for (u32 taken = 0; taken <= most; ++taken) {
    luck = mix64(luck + 1);
    request.at = at.node;
    request.in_port = at.port;
    request.random = static_cast<u32>(luck >> 20U);
    core::Candidates next;
    routing.route(request, next);
    if (next.size() == 0) return kNone;
    const core::Candidate& c = next[static_cast<u32>(luck % next.size())];
    const u32 channel = graph.channel_out_of(at.node, c.port);
    if (channel == kNone || graph.channel(channel).failed) return kNone;
    request.in_vc = c.vc_begin + static_cast<u32>(luck >> 8U) % (c.vc_end - c.vc_begin);
    at = graph.channel(channel).to;
    if (at.terminal) return at.node == packet.destination ? taken : kNone;
  }
  return kNone;
}

/// The same for a packet that is prepared by `luck`.
inline u32 hops(const core::Topology& topology, const core::Routing& routing, u32 source, u32 destination, u64 luck,
                u32 most = 1000) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  routing.prepare(packet, static_cast<u32>(mix64(luck)));
  return follow(topology, routing, packet, luck, most);
}

/// Every pair arrives in exactly as many hops as its switches are apart, whatever is chosen on the way.
inline void expect_minimal(const core::Topology& topology, const core::Routing& routing, u32 trials = 2) {
  const core::Graph& graph = topology.graph();
  for (u32 s = 0; s < graph.terminals(); ++s) {
    const std::vector<u32> distance = distances_from(graph, switch_of(graph, s));
    for (u32 d = 0; d < graph.terminals(); ++d) {
      for (u32 trial = 0; trial < trials; ++trial) {
        ASSERT_EQ(hops(topology, routing, s, d, (u64{s} << 32U) + d * u64{977} + trial), distance[switch_of(graph, d)])
            << s << " to " << d;
      }
    }
  }
}

/// Every pair arrives within `most` hops.
inline void expect_delivered(const core::Topology& topology, const core::Routing& routing, u32 most, u32 trials = 2) {
  const u32 terminals = topology.graph().terminals();
  for (u32 s = 0; s < terminals; ++s) {
    for (u32 d = 0; d < terminals; ++d) {
      for (u32 trial = 0; trial < trials; ++trial) {
        ASSERT_NE(hops(topology, routing, s, d, (u64{s} << 32U) + d * u64{977} + trial, most), kNone)
            << s << " to " << d;
      }
    }
  }
}

}  // namespace banyan::test
