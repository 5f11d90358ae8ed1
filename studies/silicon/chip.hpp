// The chip: its nodes, its two networks and the constants that the eleven traces fix. Layout and rates:
// tenstorrent/tt-npe, data/device/layout/arch-wormhole.yaml and device_models/wormhole_b0.hpp; routers, virtual
// channels and latencies: tenstorrent/tt-isa-documentation, WormholeB0/NoC.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "banyan/api/experiment.hpp"
#include "banyan/base/types.hpp"

namespace banyan::study::silicon {

inline constexpr u32 kColumns = 10;
inline constexpr u32 kRows = 12;
inline constexpr u32 kNodes = kColumns * kRows;
inline constexpr u32 kNetworks = 2;
inline constexpr u32 kFlitBytes = 32;
/// Of vc_router with its defaults: route, allocate, allocate, traverse; the rest of a hop's latency is the wire's.
inline constexpr u32 kRouterStages = 4;
inline constexpr u32 kLongestRead = 1U << 20U;    ///< bytes of one event
inline constexpr u32 kLongestPacketBytes = 8192;  ///< a read of more is several packets

[[nodiscard]] constexpr u32 node_at(u32 column, u32 row) { return row * kColumns + column; }
[[nodiscard]] std::string node_name(u32 node);  ///< "(column, row)"

/// The DRAM controller that a node is a port of.
[[nodiscard]] std::optional<u32> dram_controller(u32 node);

/// Links of the way from one node to another on a network: NOC_0 goes along x, then y, upwards; NOC_1 along y, then x,
/// downwards. A link is named by the node that it leaves: 2 * node for x, 2 * node + 1 for y.
[[nodiscard]] std::vector<u32> route(u32 noc, u32 from, u32 to);

/// Numbers of the model, in cycles and bytes per cycle: those of constants.toml.
struct Constants {
  // Fitted on the eleven traces.
  double l1_latency = 0.0;        ///< from a request's arrival at a worker to its data at the port
  double dram_latency = 0.0;      ///< the same at a DRAM port
  double l1_shared_rate = 0.0;    ///< of both networks' ports of a worker together
  double barrier_overhead = 0.0;  ///< from the last data, or the start of the wait, to the end that the trace shows
  // Published.
  double l1_rate = 0.0;    ///< of a worker's port, per network
  double dram_rate = 0.0;  ///< of a DRAM port
  u32 hop_latency = 0;     ///< from router to router
  u32 niu_latency = 0;     ///< between a node and its router
  // Choices.
  u32 buddies = 0;           ///< virtual channels of a class on one side of the dateline
  u32 buffer = 0;            ///< flits of a virtual channel at a router
  std::string allocator;     ///< of the router's crossbar
  bool hold_switch = false;  ///< a packet keeps its way through the crossbar
};

/// Reads constants.toml, then the overrides "key=value". Throws ConfigError.
[[nodiscard]] config::Values read_constants(const std::string& text, const std::vector<std::string>& overrides);
[[nodiscard]] Constants constants_of(const config::Values& values);

/// One network: a switch per node with two terminals, 2 * node asks and takes data, 2 * node + 1 answers.
[[nodiscard]] api::Experiment network(u32 noc, const Constants& constants);

}  // namespace banyan::study::silicon
