// What all switches that move worms have in common before anything is built: parameters, and what they ask of the
// experiment.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>

#include "banyan/core/multicast.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/engine/whole_network.hpp"

namespace banyan::switching {

struct WormSettings {
  u32 fifo = 64;           ///< flits per input FIFO
  u32 chunk = 8;           ///< flits per chunk
  bool both_ways = false;  ///< replicate on the way up too
  /// Of all shards; nullptr where no traffic has packets for several destinations, or the routing has none.
  std::shared_ptr<const core::MulticastRoutes> routes;
};

/// Worms need one virtual channel.
[[nodiscard]] inline u32 one_vc(const config::Values&) { return 1; }

/// Six cycles per switch, its outgoing link included; a flit per cycle behind the first.
[[nodiscard]] inline core::ZeroLoad worm_zero_load(const config::Values&, u32 flits) {
  return {.fixed = flits + 4.0, .per_hop = 5, .per_cycle = 1, .ends = 1};
}

// The parameters; `more` is said behind what holds for all.
[[nodiscard]] inline config::Parameter fifo_parameter(i64 flits) {
  return config::Parameter::integer("fifo", flits).unit("flits").range(1, 32768).doc("Input FIFO of each port");
}
[[nodiscard]] inline config::Parameter chunk_parameter(const std::string& more = "") {
  return config::Parameter::integer("chunk", 0)
      .unit("flits")
      .range(0, 64)
      .doc("Flits per chunk, k; 0: as many as the largest switch has ports" + more);
}
[[nodiscard]] inline config::Parameter replicate_on_parameter() {
  return config::Parameter::choice("replicate_on", {"way_down", "both_ways"}, "way_down")
      .doc("Worms replicate at and below the common ancestor of their destinations, or on the way up to it too");
}
[[nodiscard]] inline config::Parameter replication_parameter(const std::string& more = "") {
  return config::Parameter::choice("replication", {"asynchronous", "synchronous"}, "asynchronous")
      .doc("Branches of a worm proceed each at its own pace, or in lock-step: a blocked one stops all" + more);
}

/// Flits per chunk: as given, or the ports of the largest switch.
[[nodiscard]] inline u32 chunk_flits(const config::Values& values, const core::Graph& graph) {
  return values.natural("chunk") != 0 ? values.natural("chunk") : graph.most_ports();
}
/// Flits of the header of a traffic's worms.
[[nodiscard]] inline u32 header_flits_of(const core::Traffic& traffic, const core::Graph& graph) {
  const u32 own = traffic.header_flits();
  return own != 0 ? own : core::bit_string_flits(graph.terminals());
}

/// What every switch of this kind asks of the experiment.
inline void check_worms(const config::Values& values, const engine::Builder& builder, const WormSettings& worms) {
  const core::Graph& graph = builder.topology().graph();
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit == 1) continue;
    values.fail("name", "the links of these switches carry a flit per cycle, and a channel is slower than that",
                "use channels of full bandwidth, or another switch");
  }
  if (worms.fifo < worms.chunk) {
    values.fail("fifo", fmt::format("a FIFO of {} flits does not hold a chunk of {}", worms.fifo, worms.chunk),
                fmt::format("use a FIFO of at least {} flits", worms.chunk));
  }
  if (!builder.replicates()) return;
  if (worms.routes == nullptr) {
    values.fail(
        "name", "the routing knows no common ancestor of several terminals from which a worm could replicate",
        fmt::format("use the routing {}, whichever fits the topology",
                    core::routings_with([](const core::Routing& r) { return r.multicast_routes() != nullptr; })));
  }
  if (worms.both_ways && !worms.routes->complete_both_ways()) {
    values.fail("replicate_on", "on some ways up of this network, what was served below cannot be told from the rest",
                "use replicate_on = \"way_down\"");
  }
  for (const core::Traffic* traffic : builder.traffics()) {
    if (!traffic->replicates()) continue;
    const u32 header = header_flits_of(*traffic, graph);
    const u32 needed = (header + worms.chunk - 1) / worms.chunk * worms.chunk;
    if (needed <= worms.fifo) continue;
    values.fail("fifo",
                fmt::format("a header for {} terminals has {} flits in chunks of {}, and the FIFO {}",
                            graph.terminals(), header, worms.chunk, worms.fifo),
                fmt::format("use a FIFO of at least {} flits", needed));
  }
}

/// Most chunks that a FIFO of so many flits can hold when no packet is shorter than `shortest` flits. Only the last
/// chunk of a packet may be shorter than the others: of two last chunks in the FIFO the later one's whole packet lies
/// behind the other, so that there are (fifo - 1) / shortest + 1 of them at most, and the rest are full.
[[nodiscard]] constexpr u32 most_chunks(u32 fifo, u32 chunk, u32 shortest) noexcept {
  const u32 last = (fifo - 1) / shortest + 1;
  return std::min(fifo, last + (fifo - last) / chunk);
}

/// What worms in lock-step ask for: those that take all of their outputs at once must fit the FIFOs behind them.
inline void check_lock_step(const config::Values& values, const engine::Builder& builder, const WormSettings& worms) {
  if (values.text("arbitration") != "all_at_once") return;
  if (values.text("replication") != "synchronous") {
    values.fail("arbitration", "asynchronous branches do not wait for each other",
                "use another arbitration, or replication = \"synchronous\"");
  }
  if (worms.both_ways) {
    values.fail("arbitration", "worms that wait for all of their outputs up and down would wait in a circle",
                "use replicate_on = \"way_down\"");
  }
  if (builder.replicates() && builder.longest_message() > worms.fifo) {
    values.fail(
        "arbitration",
        fmt::format("a worm of {} flits never finds room in FIFOs of {}", builder.longest_message(), worms.fifo),
        fmt::format("use a FIFO of at least {} flits, or shorter packets", builder.longest_message()));
  }
}

/// Reads and checks what these parameters say, and those of lock-step.
[[nodiscard]] inline WormSettings read_worms(const config::Values& values, const engine::Builder& builder) {
  const WormSettings worms{values.natural("fifo"), chunk_flits(values, builder.topology().graph()),
                           values.text("replicate_on") == "both_ways",
                           builder.replicates() ? builder.routing().multicast_routes() : nullptr};
  check_worms(values, builder, worms);
  check_lock_step(values, builder, worms);
  return worms;
}

/// Cuts a network of worms. It stays whole where an admission waits for the last copy of a worm, which may be anywhere.
/// `more_bytes` of a switch: beside its ports.
inline void cut_worms(engine::Builder& builder, const WormSettings& worms, u64 more_bytes = 0) {
  if (builder.replicates() && builder.settings().admission) {
    builder.partition_as_one();
  } else {
    const u64 chunks = most_chunks(worms.fifo, worms.chunk, builder.shortest_packet());
    const u64 ports = builder.topology().graph().most_ports();
    builder.partition_for_threads(ports * (chunks * 16 + 400) + more_bytes);
  }
}
}  // namespace banyan::switching
