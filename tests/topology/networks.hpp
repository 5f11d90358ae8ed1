// Networks for tests: built through the registration rows, walked through the public seams.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/bits.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/topology.hpp"
#include "component_rows.hpp"

namespace banyan::test {

using Given = std::vector<std::pair<std::string, config::Value>>;
using TopologyPointer = std::unique_ptr<core::Topology>;
using RoutingPointer = std::unique_ptr<core::Routing>;

/// The defaults of a row with some parameters set.
inline config::Values values_of(const config::ComponentInfo& info, const Given& given) {
  config::Values values = config::Values::defaults(info);
  for (const auto& [name, value] : given) values.set(name, value);
  return values;
}

inline Given sizes(u32 terminals, u32 radix, const Given& more = {}) {
  Given given{{"terminals", i64{terminals}}, {"radix", i64{radix}}};
  given.insert(given.end(), more.begin(), more.end());
  return given;
}

inline TopologyPointer cube(u32 terminals, u32 radix, const std::string& wiring = "generalized_cube") {
  const core::TopologyRow& row = topology::multistage_cube::row_multistage_cube;
  return row.make(values_of(row.info, sizes(terminals, radix, {{"wiring", wiring}})));
}

inline TopologyPointer extra_stage_cube(u32 terminals, u32 radix, const Given& more = {}) {
  const core::TopologyRow& row = topology::extra_stage_cube::row_extra_stage_cube;
  return row.make(values_of(row.info, sizes(terminals, radix, more)));
}

inline RoutingPointer routing_on(const core::Topology& topology, const core::RoutingRow& row, const Given& given = {},
                                 const std::vector<core::HotSpot>& hot_spots = {}, u32 vcs = 1) {
  return row.make(values_of(row.info, given), {&topology, hot_spots, vcs});
}

inline const std::vector<std::string>& all_wirings() {
  static const std::vector<std::string> names{"generalized_cube",     "omega", "baseline", "butterfly",
                                              "indirect_binary_cube", "flip"};
  return names;
}

/// (N, n) of the networks that every property is tried on.
inline const std::vector<std::pair<u32, u32>>& all_sizes() {
  static const std::vector<std::pair<u32, u32>> list{{8, 2}, {16, 4}, {64, 4}, {64, 8}, {256, 4}, {81, 3}};
  return list;
}

/// What a packet passes on its way.
struct Path {
  std::vector<u32> switches;
  std::vector<u32> channels;
  bool arrived = false;  ///< at the destination
  bool failed = false;   ///< some channel of the path has failed
};

/// Follows route() from the packet's source to a terminal. The packet must have been prepared.
inline Path walk(const core::Topology& topology, const core::Routing& routing, const core::Packet& packet) {
  const core::Graph& graph = topology.graph();
  Path path;
  core::Candidates next;
  path.channels.push_back(graph.injection(packet.source));
  for (u32 step = 0; step <= graph.levels(); ++step) {
    const core::Channel& channel = graph.channel(path.channels.back());
    path.failed = path.failed || channel.failed;
    if (channel.to.terminal) {
      path.arrived = channel.to.node == packet.destination;
      return path;
    }
    path.switches.push_back(channel.to.node);
    next.clear();
    routing.route({channel.to.node, channel.to.port, 0, &packet, 0}, next);
    if (next.size() != 1) return path;
    path.channels.push_back(graph.channel_out_of(channel.to.node, next[0].port));
  }
  return path;
}

/// The path of a packet that is prepared with `word` first.
inline Path path_of(const core::Topology& topology, const core::Routing& routing, u32 source, u32 destination,
                    u32 word = 0, u8 pending = 0, u8 flags = 0) {
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  packet.pending = pending;
  packet.flags = flags;
  routing.prepare(packet, word);
  return walk(topology, routing, packet);
}

/// The link number of every channel when a box's output m continues the link of its input m (paper 1, section 2), with
/// the terminals' injection links numbered like the terminals.
inline std::vector<u32> link_numbers(const core::Graph& graph) {
  std::vector<u32> number(graph.channels().size(), kNone);
  for (u32 t = 0; t < graph.terminals(); ++t) number[graph.injection(t)] = t;
  for (const u32 s : graph.topological_order()) {
    for (u32 port = 0; port < graph.outputs(s); ++port) {
      number[graph.channel_out_of(s, port)] = number[graph.channel_into(s, port)];
    }
  }
  return number;
}

/// The message of the ConfigError that `action` throws: cause, then remedy; "" when it throws none.
template <typename Action>
std::string config_error(const Action& action) {
  try {
    action();
  } catch (const ConfigError& error) { return error.cause() + " | " + error.remedy(); }
  return "";
}

/// The word that makes below(word, n) equal to `choice`.
inline u32 word_for(u32 choice, u32 n) { return static_cast<u32>(((u64{choice} << 32U) + (u64{1} << 31U)) / n); }

}  // namespace banyan::test
