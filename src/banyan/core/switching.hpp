// Seam 3: a switch model owns flat arrays for all switches of its kind and steps them.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "banyan/config/schema.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/size.hpp"

namespace banyan::engine {
class Builder;
}

namespace banyan::core {

/// For how many cycles a packet keeps a virtual channel of an input port to itself, at the least: fixed + per_flit x
/// its flits + per_latency x the latency of the channel that leads there. What a virtual channel carries is bounded by
/// the flits of a packet over this turn.
struct VcTurn {
  double fixed = 0.0;
  double per_flit = 1.0;
  double per_latency = 0.0;
  bool from_terminals = true;  ///< it holds for the channels of terminals too
  /// Turns of packets of one flit that fill a channel whatever happens, in numbers of the length of such a turn: above
  /// 1 where stages of several cycles make virtual channels wait for each other.
  double in_step = 1.0;
  /// Parameters with values that leave nothing of the turn but the packet's own flits.
  std::vector<std::pair<std::string, config::Value>> without = {};
  std::string formula;  ///< the same, by the names of parameters
};

/// The latency of one packet that meets nobody: fixed + per_hop x channels between switches + per_cycle x their
/// latencies
/// + ends x those of the terminals' two channels; all in cycles.
struct ZeroLoad {
  double fixed = 0.0;
  double per_hop = 0.0;
  double per_cycle = 0.0;
  double ends = 0.0;
  std::optional<double> home = std::nullopt;  ///< between terminals of one switch, where that is different
  bool whole = false;                         ///< what is left of the last cycle does not count
  std::string unknown = {};  ///< "does not know ...": why these parameters have no such formula; empty: they have
  std::string remedy = {};   ///< what of the parameters to change then
};

/// Flits per cycle that the channels of a model carry at the most where their links have full bandwidth; infinite: no
/// limit. Of a slower link, so much less (Link::cycles_per_flit).
struct Capacity {
  double channel = 1.0;  ///< between switches
  double injection = 1.0;
  double ejection = 1.0;
};

/// How messages become packets on the links of a model. Its install() says the same with Builder::cut_messages.
struct Framing {
  u32 longest = kNone;  ///< flits of the packets that it makes of a longer message
  u32 overhead = 0;     ///< flits that a packet occupies a link for, beyond its own
};

/// What moving a packet through a switch takes, in seconds of CPU time, about: that of a packet and that of its flits.
/// The default is of models that move packets as wholes, whose events are more the longer the packet is, up to a
/// number. Measured on bench/workloads; by how much of the network the caches hold it is a third of that or three times
/// as much.
struct HopCost {
  double packet = 15e-9;
  double flit = 12e-9;
  double most_of_flits = 600e-9;  ///< of all flits of a packet together
};

/// Registration row, in designated initialisers: `const core::SwitchRow row_NAME` in `namespace
/// banyan::switching::NAME`. `install` adds the model's populations to the machine under construction
/// (engine/builder.hpp); it throws ConfigError with one reason when the model cannot run that topology, routing or
/// traffic. `vcs` tells the number of virtual channels from the parameters.
struct SwitchRow {
  config::ComponentInfo info;
  void (*install)(const config::Values&, engine::Builder&) = nullptr;
  u32 (*vcs)(const config::Values&) = nullptr;
  /// Packets wait in buffers of (channel, virtual channel) for the next such buffer, so that dependencies between these
  /// decide on deadlock (core/dependencies.hpp); otherwise the reason why not.
  const char* no_dependencies = nullptr;
  /// Ports of a switch, of either direction, that the model takes; kNone: any number.
  u32 most_ports = kNone;
  /// Whether a packet may be given a virtual channel whose buffer still holds flits of another one, and is bound to it:
  /// then an escape subnetwork without cycles proves nothing (Duato 1993 gives a queue to one message at a time). So do
  /// plain FIFOs that hold several packets.
  /// `longest_packet`: in flits. nullptr: no.
  bool (*shares_vcs)(const config::Values&, u32 longest_packet) = nullptr;
  /// What the user can do about it, in one clause; nullptr: use a routing whose dependencies have no cycle at all.
  const char* shares_vcs_remedy = nullptr;
  /// How far the model's requests let routing functions look at queues (RouteRequest::occupancy).
  Sight sight = Sight::none;
  /// Nanoseconds per cycle, for models whose links have a rate; nullptr: a cycle has no length.
  double (*cycle_ns)(const config::Values&) = nullptr;
  /// It holds messages that wait at their source in queues of its own and honours Traffic::waiting_limit.
  bool keeps_messages = false;
  /// Messages that wait at their source hold nothing that others may wait for, so that a free choice of the first step
  /// adds no dependency.
  bool free_first_step = false;
  /// Of the ways that a routing draws for the messages of a pair, one that is full holds up none that goes another way:
  /// a source keeps no order over them, or draws anew.
  bool ways_apart = false;
  /// Length of the shortest packet that makes sense on its links, for what ends of a flow tell each other.
  u32 control_flits = 1;
  /// It writes the utilization of its links into packets (core/utilization.hpp) where an admission asks for it.
  bool writes_utilization = false;
  /// The model tells neither occupancy nor full channels by stage: a worm lies in several stages at once.
  bool hides_stages = false;
  /// The model takes packets with several destinations (Packet::copies).
  bool replicates = false;
  /// The model adds up contributions on their way (TrafficTraits::reduces); it replicates too.
  bool reduces = false;
  /// The model has memory words at the terminals, and brings what asked for one back (TrafficTraits::fetch_adds).
  bool serves_memory = false;
  /// The model honours core::Service: priorities, and virtual channels per class of messages.
  bool serves_classes = false;
  /// What of these parameters makes the network slower than its channels, and the remedy; empty: nothing.
  /// `longest_packet`: in flits.
  std::string (*warning)(const config::Values&, const Topology&, u32 longest_packet) = nullptr;
  /// The model itself draws no random word: what it does follows from what arrives and from the routing's choices.
  bool draws_nothing = false;
  /// Whether it draws all the same with these parameters; nullptr: never.
  bool (*draws)(const config::Values&) = nullptr;
  HopCost hop_cost = {};
  /// Why the source of a packet must know its way (Routing::oblivious); nullptr: it need not.
  const char* source_routes = nullptr;
  /// nullptr: virtual channels are at once free for the next packet.
  VcTurn (*vc_turn)(const config::Values&) = nullptr;
  Capacity (*capacity)(const config::Values&) = nullptr;  ///< nullptr: one flit per cycle each
  Framing (*framing)(const config::Values&) = nullptr;    ///< nullptr: packets are those of the traffics, no overhead
  /// The zero-load latency of a packet of so many flits; nullptr: not known.
  ZeroLoad (*zero_load)(const config::Values&, u32 flits) = nullptr;
  /// The bytes that the model takes in a network of that size together with its part of the engine, about: what is
  /// there from the start, and what packets fill at a moderate load. `shortest`: of the packets, in flits. The figures
  /// per part were measured as peaks of runs of a few thousand cycles; tests/cli/needs_test.cpp holds them to within a
  /// factor of two.
  double (*memory)(const config::Values&, const NetworkSize&, double shortest) = nullptr;
  /// Messages never wait: jobs run in a loop of their own (workload/replay.hpp), and ask no routing.
  bool without_contention = false;
  /// Flits of every packet, in models whose packets have one length, and whose install() refuses others; 0: any.
  u32 packet_flits = 0;
  /// Bytes of a flit where the model says so; 0: it does not.
  u32 flit_bytes = 0;
  /// Flits that a terminal's own hardware takes from its flows before a link does; nullptr: none.
  u64 (*source_memory)(const config::Values&) = nullptr;
  /// How many queues without limit may be at their capacity at once, each on its own; nullptr: one per terminal.
  u64 (*unlimited_queues)(const config::Values&, const Graph&) = nullptr;
};

}  // namespace banyan::core
