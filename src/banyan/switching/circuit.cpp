// Circuit switching: parameters and what they mean. How circuits are set up, move and end: circuit/circuits.hpp; which
// virtual channel a header takes: circuit/choice.hpp; how data move: circuit/streams.hpp.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/circuit/circuits.hpp"

namespace banyan::switching::circuit {
namespace {

using parts::Circuits;
using parts::CircuitSettings;
using parts::Sharing;
using parts::WhenBlocked;

u32 limit_of(const config::Values& values, const char* name) {
  const u32 given = values.natural(name);
  return given == 0 ? kNone : given;
}

CircuitSettings read(const config::Values& values) {
  CircuitSettings set;
  set.vcs = values.natural("vcs");
  set.sharing = values.text("sharing") == "tdm" ? Sharing::tdm : Sharing::demand;
  const std::string& sources = values.text("sources");
  set.queues = sources == "queues" ? set.vcs : 1;
  set.servers = sources == "servers" ? set.vcs : sources == "unlimited" ? parts::kMostServers : 1;
  const std::string& blocked = values.text("blocked");
  set.blocked = blocked == "back_to_source" ? WhenBlocked::back_to_source
                : blocked == "backtrack"    ? WhenBlocked::backtrack
                                            : WhenBlocked::wait;
  set.in_order = values.text("order") == "routing";
  for (const i64 a : values.integers("alternatives")) set.alternatives.push_back(static_cast<u32>(a));
  if (set.alternatives.empty()) {
    values.fail("alternatives", "no number is given", "write alternatives = [0] for all that the routing offers");
  }
  set.acquire = values.natural("acquire");
  set.backtrack = values.natural("backtrack");
  set.acknowledge = values.natural("acknowledge");
  set.retry_delay = values.natural("retry_delay");
  set.backoff = values.natural("backoff");
  set.injection_circuits = limit_of(values, "injection_circuits");
  set.ejection_circuits = limit_of(values, "ejection_circuits");
  set.injection_flits = values.natural("injection_flits");
  set.ejection_flits = values.natural("ejection_flits");
  set.pipeline = values.flag("pipeline");
  set.shared_directions = values.text("directions") == "shared";
  set.header = values.natural("header");
  set.consumption = values.real("consumption");
  if (set.pipeline && set.header != 0) {
    values.fail("header", "the flits of a pipelined circuit have no header in front of them",
                "use pipeline = false with vcs = 1, or make the messages longer");
  }
  if (!set.pipeline && set.vcs != 1) {
    values.fail("pipeline", fmt::format("circuits that share a channel ({} virtual channels) are no wires", set.vcs),
                "use vcs = 1, or pipeline = true");
  }
  if (!set.pipeline && set.injection_flits + set.ejection_flits != 0) {
    values.fail("pipeline", "a circuit that is a wire has no flits to count per cycle",
                "use injection_circuits and ejection_circuits, or pipeline = true");
  }
  return set;
}

/// Channels between switches from one of them to the farthest that has a terminal.
u32 farthest(const core::Graph& graph, u32 from) {
  std::vector<u32> distance(graph.switches(), kNone);
  std::vector<u32> queue{from};
  distance[from] = 0;
  u32 longest = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const u32 s = queue[i];
    for (u32 p = 0; p < graph.outputs(s); ++p) {
      const u32 channel = graph.channel_out_of(s, p);
      if (channel == kNone || graph.channel(channel).failed) continue;
      const core::End& to = graph.channel(channel).to;
      if (to.terminal) {
        longest = std::max(longest, distance[s]);
      } else if (distance[to.node] == kNone) {
        distance[to.node] = distance[s] + 1;
        queue.push_back(to.node);
      }
    }
  }
  return longest;
}

/// Channels between switches on one way of the routing; at most one more than kMostHops.
u32 way_length(const engine::Builder& builder, u32 source, u32 destination, u32 word) {
  const core::Graph& graph = builder.topology().graph();
  core::Packet packet;
  packet.source = source;
  packet.destination = destination;
  builder.routing().prepare(packet, word);
  core::Candidates candidates;
  u32 switches = 0;
  for (core::End at = graph.channel(graph.injection(source)).to; !at.terminal && switches <= parts::kMostHops + 1;
       ++switches) {
    candidates.clear();
    builder.routing().route({at.node, at.port, 0, &packet, 0}, candidates);
    if (candidates.size() == 0) break;
    at = graph.channel(graph.channel_out_of(at.node, candidates[0].port)).to;
  }
  return std::max(switches, 1U) - 1;
}

/// A stage of a path is a bit of a word. Looks at the shortest ways from many switches and, since routings make
/// detours, at ways of many pairs; a longer one that it does not meet ends the run.
void check_lengths(const config::Values& values, const engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  constexpr u32 kMostSwitches = 256;
  constexpr u32 kPairs = 4096;
  u32 longest = 0;
  for (u32 s = 0; s < graph.switches(); s += graph.switches() / kMostSwitches + 1) {
    longest = std::max(longest, farthest(graph, s));
  }
  const Random pairs(0, Stream("switching: lengths of circuits"), 0, 0);
  for (u32 i = 0; i < kPairs && longest <= parts::kMostHops && builder.routing().sight() == core::Sight::none; ++i) {
    const Words words = pairs.at(i, 0);
    const u32 source = below(words[0], graph.terminals());
    longest = std::max(longest, way_length(builder, source, below(words[1], graph.terminals()), words[2]));
  }
  if (longest <= parts::kMostHops) return;
  values.fail(
      "name",
      fmt::format("a circuit has up to {} channels between switches, and there are ways over more", parts::kMostHops),
      "use a network of a smaller diameter, a routing without detours, or another switch");
}

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  CircuitSettings set = read(values);
  for (const core::Channel& c : graph.channels()) {
    if (c.link.latency_cycles != 1 || c.link.cycles_per_flit != 1) {
      values.fail("name", "circuit moves one flit per channel and cycle, and a channel is slower than that",
                  "use channels of latency 1 and full bandwidth, or another switch");
    }
  }
  if (set.blocked == WhenBlocked::backtrack && graph.most_ports() > 64) {
    values.fail("blocked", fmt::format("headers remember 64 ports of a switch, and one has {}", graph.most_ports()),
                "use blocked = \"back_to_source\" or \"wait\", or switches of at most 64 ports");
  }
  check_lengths(values, builder);
  builder.source_queues(set.queues);
  // Messages of a pair wait in the lanes of their destination for turns that do not know which came first.
  if (set.servers > 1 || set.ejection_flits != 0) builder.several_at_once();
  builder.partition_as_one();
  builder.add(0, std::make_unique<Circuits>(builder, std::move(set)));
}

u32 vcs(const config::Values& values) { return values.natural("vcs"); }

u64 unlimited_queues(const config::Values& values, const core::Graph& graph) {
  return u64{read(values).queues} * graph.terminals();
}

using config::Parameter;

/// A message that meets nobody: its circuit is made switch by switch and acknowledged, then the data flow.
core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  const auto number = [&](const char* parameter) { return static_cast<double>(values.integer(parameter)); };
  const double hop = number("acquire") + number("acknowledge");
  const double home = flits - 1.0;
  if (!values.flag("pipeline")) return {.fixed = flits + number("header"), .per_hop = hop, .home = home};
  const double lanes = (number("injection_flits") != 0 ? 1.0 : 0.0) + (number("ejection_flits") != 0 ? 1.0 : 0.0);
  return {.fixed = home + lanes, .per_hop = hop + 1, .home = home + lanes};
}

/// Circuits pass between terminal and switch over as many lanes as they are given, and without limit unless they are
/// given a number.
core::Capacity capacity(const config::Values& values) {
  const auto lanes = [&](const char* name) {
    const i64 flits = values.integer(name);
    return flits == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(flits);
  };
  return {.injection = lanes("injection_flits"), .ejection = lanes("ejection_flits")};
}

}  // namespace

extern const core::SwitchRow row_circuit;
const core::SwitchRow row_circuit{
    .info =
        {"circuit",
         "Circuit switching: headers reserve virtual channels hop by hop, then the message streams over the path",
         "Safaei, Khonsari, Fathy, Ould-Khaoua, Analysis of Circuit Switching for the Torus Interconnect Networks with "
         "Hot-Spot Traffic, 2006; Min, Ould-Khaoua, Sarbazi-Azad, IPCCC 2001",
         {Parameter::integer("vcs", 2).range(1, 64).doc("Virtual channels per channel, V: circuits that can share it"),
          Parameter::choice("sharing", {"tdm", "demand"}, "tdm")
              .doc("Bandwidth of a channel: turns go round over the reserved virtual channels and idle turns are lost, "
                   "or "
                   "round over those that have a flit to send"),
          Parameter::choice("sources", {"queues", "servers", "one", "unlimited"}, "queues")
              .doc("At each terminal: V source queues, of which a message joins one at random and which serve one "
                   "message "
                   "each until its tail leaves; one queue with V servers; one circuit at a time; or no limit (64 at "
                   "once)"),
          Parameter::choice("blocked", {"back_to_source", "backtrack", "wait"}, "back_to_source")
              .doc("A header that finds nothing free: goes back to its source and tries again; goes back one hop and "
                   "tries "
                   "another way; or waits there and keeps what it has"),
          Parameter::choice("order", {"random", "routing"}, "random")
              .doc("Among several free virtual channels: any with equal probability, or the first in the routing's "
                   "order"),
          Parameter::integers("alternatives", {0})
              .range(0, 64)
              .doc("How many of the routing's ports a header may try at its first, second ... hop; the last number "
                   "holds "
                   "for all further hops; 0: all"),
          Parameter::integer("acquire", 1)
              .unit("cycles")
              .range(1, 1 << 20)
              .doc("Time in which a header reserves a virtual channel and moves to the next switch"),
          Parameter::integer("backtrack", 1)
              .only_with("blocked", {"back_to_source", "backtrack"})
              .unit("cycles")
              .range(0, 1 << 20)
              .doc("Time in which a header goes back one hop; 0: what it gives up is free at once"),
          Parameter::integer("acknowledge", 1)
              .unit("cycles")
              .range(0, 1 << 20)
              .doc("Time of the acknowledgment per hop"),
          Parameter::integer("retry_delay", 0)
              .only_with("blocked", {"back_to_source", "backtrack"})
              .unit("cycles")
              .range(0, 1 << 20)
              .doc("Pause at the source before the next attempt; at least one cycle when the first hop was blocked"),
          Parameter::integer("backoff", 0)
              .only_with("blocked", {"back_to_source", "backtrack"})
              .unit("cycles")
              .range(0, 1 << 20)
              .doc("Random addition to the pause, uniform from 0 to this"),
          Parameter::integer("injection_circuits", 0)
              .unit("circuits")
              .range(0, 1 << 20)
              .doc("Most circuits that leave a terminal at once; 0: no limit but the sources'"),
          Parameter::integer("ejection_circuits", 0)
              .unit("circuits")
              .range(0, 1 << 20)
              .doc("Most circuits that end at a terminal at once; 0: no limit"),
          Parameter::integer("injection_flits", 0)
              .unit("flits/cycle")
              .range(0, 64)
              .doc("Lanes of one flit per cycle from a terminal to its switch, of which a circuit shares one, "
                   "one cycle long; 0: no limit and no time"),
          Parameter::integer("ejection_flits", 0)
              .unit("flits/cycle")
              .range(0, 64)
              .doc("Lanes of one flit per cycle from a switch to its terminal, likewise; messages of a pair may then "
                   "arrive in another order than they were sent"),
          Parameter::boolean("pipeline", true)
              .doc("Data take one cycle per channel; false (with vcs = 1): an established circuit is a wire"),
          Parameter::integer("header", 0)
              .unit("flits")
              .range(0, 65535)
              .doc("Flits that go over a circuit before the data, H; with pipeline = false"),
          Parameter::real("consumption", 0.0)
              .unit("flits/cycle")
              .range(0, 1)
              .doc("Speed at which a receiver goes through the data of a message; 0: not looked at"),
          Parameter::choice("directions", {"own", "shared"}, "own")
              .doc("Both directions of a link have virtual channels of their own (two pairs of lines), or a circuit "
                   "takes "
                   "both (one pair)")}},
    .install = &install,
    .vcs = &vcs,
    .no_dependencies = "a header of circuit that is blocked gives back what it holds, unless blocked = \"wait\"",
    .free_first_step = true,
    .ways_apart = true,
    // Reservations of a header, turns and looks at a stream: a run at half of saturation, divided by its hops.
    .hop_cost = {.packet = 335e-9, .flit = 8e-9, .most_of_flits = std::numeric_limits<double>::infinity()},
    .capacity = &capacity,
    .zero_load = &zero_load,
    .memory = [](const config::Values& values, const core::NetworkSize& size,
                 double) { return size.inputs * (900.0 + 400.0 * values.natural("vcs")) + size.terminals * 2000.0; },
    .unlimited_queues = &unlimited_queues};

}  // namespace banyan::switching::circuit
