// Buffered wormhole switches with a central buffer: parameters, and what a buffer must have space for. The switches are
// in central_buffer/switches.hpp.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "banyan/core/switching.hpp"
#include "banyan/switching/central_buffer/switches.hpp"

namespace banyan::switching::central_buffer {
namespace {

/// Refuses a buffer in which what the rules hold back or guarantee has no place. `longest`: flits of the longest packet
/// that is replicated; 0: none is.
void check_chunks(const config::Values& values, const BufferSettings& buffer, u32 ports, u32 longest) {
  const bool guarded = buffer.rules == Rules::guarded;
  if (buffer.sums != 0) {
    // Where something is reduced, the result is replicated: longest != 0.
    const u64 needed = buffer.sums + (guarded ? (buffer.admits_upward ? 2 : 1) * u64{buffer.reserve} + ports + 1
                                              : std::max(buffer.reserve, ports));
    if (needed <= buffer.chunks) return;
    values.fail(
        "chunks",
        fmt::format("sums have {} chunks of their own, so that {} are needed with what is held back for others, "
                    "and the switch has {}",
                    buffer.sums, needed, buffer.chunks),
        fmt::format("use at least {} chunks, or shorter messages, such as more segments of a collective", needed));
  }
  if (longest == 0) {
    if (!guarded || buffer.chunks >= ports) return;
    values.fail("chunks",
                fmt::format("a chunk is held back for each of {} outputs, and the switch has {}", ports, buffer.chunks),
                fmt::format("use at least {} chunks", ports));
  }
  if (buffer.rules == Rules::none) {
    if (buffer.separate || buffer.chunks >= ports) return;
    values.fail(
        "chunks",
        fmt::format("a header may need copies for {} outputs, and the switch has {} chunks", ports, buffer.chunks),
        fmt::format("use at least {} chunks, or next_packet_ram = \"per_output\"", ports));
  }
  const u64 packets = guarded && buffer.admits_upward ? 2 : 1;
  const u64 needed = packets * buffer.reserve + (guarded ? ports + 1 : 0);
  if (needed <= buffer.chunks) return;
  values.fail("chunks",
              fmt::format("a replicated packet of {} flits needs {} chunks{}, and the switch has {}", longest, needed,
                          guarded ? " with those that are held back for its outputs" : "", buffer.chunks),
              fmt::format("use at least {} chunks, or shorter packets", needed));
}

/// The traffics that reduce, and the space for their sums: per switch and collective the chunks of a message, and
/// copies of its header.
Collectives find_collectives(const config::Values& values, const engine::Builder& builder, const WormSettings& worms,
                             u32 ports, BufferSettings& buffer) {
  Collectives found;
  const core::Graph& graph = builder.topology().graph();
  std::vector<u64> members((graph.terminals() + 63) / 64);
  for (const core::Traffic* const traffic : builder.traffics()) {
    found.number.push_back(traffic->reduces() ? found.count() : kNone);
    if (!traffic->reduces()) continue;
    std::fill(members.begin(), members.end(), 0);
    traffic->members(members);
    const u32 number = static_cast<u32>(found.number.size()) - 1;
    auto tree = reduction_tree(graph, *worms.routes, members, number);
    if (!tree) {
      values.fail("name", "no switch is reached by all members of a collective over those by which it reaches them",
                  "use a network whose links lead both ways, as a fat tree, or implementation = \"hardware\"");
    }
    found.traffics.push_back(number);
    found.trees.push_back(std::move(*tree));
    buffer.sums += (traffic->longest_message() + worms.chunk - 1) / worms.chunk - 1 + (buffer.separate ? 1 : ports);
  }
  if (ports + found.count() > 64) {
    values.fail("name",
                fmt::format("{} collectives are reduced at once, and a switch has {} ports", found.count(), ports),
                fmt::format("use at most {} of them with these switches", 64 - ports));
  }
  return found;
}

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  const WormSettings worms = read_worms(values, builder);
  BufferSettings buffer;
  buffer.chunks = values.natural("chunks");
  const std::string& space = values.text("space");
  buffer.rules = space == "guarded" ? Rules::guarded : space == "guarantee" ? Rules::guarantee : Rules::none;
  const std::string& bypass = values.text("bypass");
  buffer.bypass = bypass == "single_output" ? Bypass::single_output
                  : bypass == "unicast"     ? Bypass::unicast
                                            : Bypass::never;
  buffer.admits_upward = worms.both_ways || buffer.bypass != Bypass::single_output;
  buffer.needs_room = values.text("idle_output") == "with_room";
  buffer.separate = values.text("next_packet_ram") == "per_output";
  buffer.synchronous = values.text("replication") == "synchronous";
  const std::string& arbitration = values.text("arbitration");
  buffer.arbitration = arbitration == "per_output"    ? Arbitration::per_output
                       : arbitration == "all_at_once" ? Arbitration::all_at_once
                                                      : Arbitration::in_order;
  const u32 ports = graph.most_ports();
  const u32 longest = builder.longest_message();
  buffer.reserve = (longest + worms.chunk - 1) / worms.chunk - 1 + (buffer.separate ? 1 : ports);
  auto collectives = std::make_shared<const Collectives>(find_collectives(values, builder, worms, ports, buffer));
  check_chunks(values, buffer, ports, builder.replicates() ? longest : 0);
  if (!builder.replicates()) buffer.reserve = 0;
  cut_worms(builder, worms, u64{buffer.chunks} * 17);
  add_worms<CentralBuffer>(builder, worms, std::pair{buffer, std::move(collectives)});
}

using config::Parameter;

core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  if (values.text("bypass") == "never") {
    return {.unknown = "describes packets that pass an idle switch by its crossbar",
            .remedy = "use bypass = \"single_output\" or \"unicast\""};
  }
  return worm_zero_load(values, flits);
}

}  // namespace

extern const core::SwitchRow row_central_buffer;
const core::SwitchRow row_central_buffer{
    .info =
        {"central_buffer",
         "Buffered wormhole switches with a shared central buffer that replicate multidestination worms",
         "R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing Multidestination Worms in Switch-Based Parallel "
         "Systems: "
         "Architectural Alternatives and their Impact, ISCA-24, 1997; C. B. Stunkel et al., The SP2 High-Performance "
         "Switch, IBM Systems Journal 34(2), 1995",
         {fifo_parameter(64),
          Parameter::integer("chunks", 256).unit("chunks").range(1, 32768).doc("Chunks of the central buffer"),
          chunk_parameter(", so that one chunk written and one read per cycle serve them all"),
          replicate_on_parameter(),
          replication_parameter(", and worms can wedge over several switches unless arbitration is all_at_once"),
          Parameter::choice("arbitration", {"in_order", "per_output", "all_at_once"}, "in_order")
              .doc(
                  "Worms stand in the same order in the queues of all of their outputs; or each output is taken on its "
                  "own, so that two worms can each be first where the other waits; or, for synchronous replication, in "
                  "order, and a worm starts only when there is room for all of it behind all of its outputs"),
          Parameter::choice("space", {"guarded", "guarantee", "none"}, "guarded")
              .doc(
                  "Who may use the buffer: a replicated packet enters only when all of it is guaranteed space, single "
                  "packets leave that space free, and a chunk per output is held back for what that output starves for "
                  "(guarded); the guarantee alone, which can wedge; or whoever comes, which wedges"),
          Parameter::choice("bypass", {"single_output", "unicast", "never"}, "single_output")
              .doc(
                  "Packets that may pass the crossbar to an idle output: all that need one output at the switch; those "
                  "with one destination; or none"),
          Parameter::choice("idle_output", {"uncontended", "with_room"}, "uncontended")
              .doc("An output is idle when no other packet uses it or waits for it, whether or not there is room "
                   "behind it; "
                   "or only when there is also room for the first chunk, so that packets wait in the buffer rather "
                   "than in "
                   "their FIFO. Of several idle outputs one with room is taken either way"),
          Parameter::choice("next_packet_ram", {"shared", "per_output"}, "shared")
              .doc("One next-packet RAM, so that a replicated packet has a copy of its header chunk per output, "
                   "written in "
                   "consecutive cycles; or one per output, so that a single header chunk is enough")}},
    .install = &install,
    .vcs = &one_vc,
    .no_dependencies = "central_buffer moves worms through one buffer per switch that all of its outputs share",
    .most_ports = 64,
    .hides_stages = true,
    .replicates = true,
    .reduces = true,
    .draws_nothing = true,
    .zero_load = &zero_load,
    .memory = [](const config::Values& values, const core::NetworkSize& size, double shortest) {
      return 4e6 + size.inputs * (1000.0 + 16.0 * values.natural("fifo") / shortest) +
             size.switches * 17.0 * values.natural("chunks");
    }};

}  // namespace banyan::switching::central_buffer
