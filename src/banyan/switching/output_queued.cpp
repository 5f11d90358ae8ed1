// Output-queued interchange boxes (Wang, Siegel, Nichols, Abraham 1992, section 2): a FIFO of S packets per output
// port; in every cycle one packet per non-empty buffer moves on, a buffer takes as many as it has places, and when the
// requests exceed the free places by R, R randomly chosen packets stay where they are.
//
// Here are the parameters, and what is refused. The folder output_queued has the rest: how boxes move
// (synchronous_boxes.hpp), what they hold (boxes.hpp, queues.hpp), and fetch-and-adds (fetch_adds.hpp).
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <string>

#include "banyan/core/registry.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/output_queued/fetch_adds.hpp"
#include "banyan/switching/output_queued/synchronous_boxes.hpp"

namespace banyan::switching::output_queued {
namespace {

/// Two are too few in large networks of boxes of two inputs (Lee, Kruskal, Kuck 1986): the next number.
constexpr u32 kDefaultWays = 3;

template <u32 Stride>
void add(engine::Builder& builder, u32 places, bool same_cycle, bool tagged, const CombiningParameters* combining) {
  if (tagged) {
    builder.add(0, std::make_unique<SynchronousBoxes<Stride, true>>(builder, places, same_cycle, combining));
  } else {
    builder.add(0, std::make_unique<SynchronousBoxes<Stride, false>>(builder, places, same_cycle, combining));
  }
}

CombiningParameters read_combining(const config::Values& values) {
  const std::string& kind = values.text("combining");
  if (kind != "k_way" && values.natural("ways") != kDefaultWays) {
    values.fail("ways", fmt::format("combining = \"{}\" has no bound to be chosen", kind),
                "remove it, or use combining = \"k_way\"");
  }
  if (kind == "none" && values.natural("wait_buffer") != 0) {
    values.fail("wait_buffer", "nothing waits where requests are not combined",
                "remove it, or use combining = \"pairwise\"");
  }
  const u32 ways = kind == "none" ? 1 : kind == "pairwise" ? 2 : kind == "k_way" ? values.natural("ways") : kNone;
  const u32 wait_buffer = values.natural("wait_buffer");
  return {ways, wait_buffer == 0 ? kNone : wait_buffer};
}

/// True where the boxes take the way of a packet from its header.
bool keeps_ways(const core::Topology& topology, const core::Routing& routing) {
  const core::TagFormat tag = routing.tag_format();
  return topology.multistage() != nullptr && tag.bits_per_hop != 0 && tag.bits_per_hop * tag.hops <= 32;
}

/// nullopt: no traffic has fetch-and-adds.
std::optional<CombiningParameters> combining_of(const config::Values& values, engine::Builder& builder,
                                                bool same_cycle) {
  const CombiningParameters parameters = read_combining(values);
  const auto traffics = builder.traffics();
  if (std::none_of(traffics.begin(), traffics.end(), [](const core::Traffic* t) { return t->fetch_adds(); })) {
    if (parameters.ways == 1) return std::nullopt;
    values.fail("combining", "no traffic asks for a memory word, so there is nothing to combine",
                fmt::format("use {} with fetch_add = true, or combining = \"none\"",
                            core::traffics_with([](const core::TrafficRow& row) {
                              return std::any_of(row.info.parameters.begin(), row.info.parameters.end(),
                                                 [](const config::Parameter& p) { return p.name == "fetch_add"; });
                            })));
  }
  const auto come_back = [](const core::Topology& topology, const core::Routing& routing) {
    const u32 widest = std::max(topology.graph().most_ports(), 2U);
    return keeps_ways(topology, routing) &&
           routing.tag_format().hops * static_cast<u32>(std::countr_zero(std::bit_ceil(widest))) <= 64;
  };
  if (!come_back(builder.topology(), builder.routing())) {
    values.fail("name",
                "fetch-and-adds come back on the way that they went, which output_queued keeps in multistage "
                "networks with source routes only",
                fmt::format("use the topology {}, and no routing but its usual one", core::topologies_with(come_back)));
  }
  if (!same_cycle) {
    values.fail("space", "boxes with fetch-and-adds use a place in the cycle in which it becomes free",
                "use space = \"same_cycle\"");
  }
  return parameters;
}

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  const u32 ports = graph.most_ports();
  if (builder.longest_message() > 1) {
    values.fail("name", "output_queued moves packets of one fixed length, and the traffic has packets of several flits",
                "let the traffic send packets of one flit (a job does without the key packet), or use a switch that "
                "moves flits");
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.latency_cycles != 1 || c.link.cycles_per_flit != 1) {
      values.fail("name", "output_queued moves one packet per channel and cycle, and a channel is slower than that",
                  "use channels of latency 1 and full bandwidth, or another switch");
    }
  }
  const std::string& space = values.text("space");
  const bool cyclic = graph.topological_order().empty() && graph.switches() > 0;
  if (cyclic && space == "same_cycle") {
    values.fail("space", "the network has cycles, so no order of its switches lets freed places be used at once",
                "use space = \"next_cycle\"");
  }
  const bool tagged = keeps_ways(builder.topology(), builder.routing());
  const u32 places = values.natural("buffer");
  const u64 queues = u64{graph.switches()} * std::bit_ceil(std::max(ports, 2U)) + 64 + graph.terminals();
  if (const u32 most = Queues::most_places(queues); places > most) {
    values.fail("buffer", fmt::format("{} queues of {} packets are more than a network holds", queues, places),
                fmt::format("use buffer = {} or less, or a smaller network", most));
  }
  const bool same_cycle = space == "same_cycle" || (space == "auto" && !cyclic);
  const std::optional<CombiningParameters> combining = combining_of(values, builder, same_cycle);
  const CombiningParameters* const with = combining ? &*combining : nullptr;
  builder.partition_as_one();
  switch (std::bit_ceil(ports)) {
    case 1:
    case 2:
      add<2>(builder, places, same_cycle, tagged, with);
      break;
    case 4:
      add<4>(builder, places, same_cycle, tagged, with);
      break;
    case 8:
      add<8>(builder, places, same_cycle, tagged, with);
      break;
    case 16:
      add<16>(builder, places, same_cycle, tagged, with);
      break;
    case 32:
      add<32>(builder, places, same_cycle, tagged, with);
      break;
    default:
      add<64>(builder, places, same_cycle, tagged, with);
      break;
  }
}

u32 vcs(const config::Values&) { return 1; }

using config::Parameter;

/// One cycle per switch.
core::ZeroLoad zero_load(const config::Values&, u32) { return {.fixed = 1, .per_hop = 1}; }

}  // namespace

extern const core::SwitchRow row_output_queued;
const core::SwitchRow row_output_queued{
    .info =
        {"output_queued",
         "Synchronous interchange boxes with a FIFO per output port; packets of one fixed length",
         "Wang, Siegel, Nichols, Abraham 1992, section 2",
         {Parameter::integer("buffer", 12).unit("packets").range(1, 4096).doc("Places per output buffer, S"),
          Parameter::choice("space", {"auto", "same_cycle", "next_cycle"}, "auto")
              .doc("When a place that becomes free can be used: in the same cycle (networks without cycles, packets "
                   "next to "
                   "the destination move first) or from the next cycle on; auto: the former where it is possible"),
          Parameter::choice("combining", {"none", "pairwise", "k_way", "any"}, "none")
              .doc("Requests for one memory word that meet in a queue and go on as one: none; two; up to `ways`; any "
                   "number"),
          Parameter::integer("ways", kDefaultWays)
              .unit("requests")
              .range(2, 4294967294.0)
              .doc("With combining = \"k_way\": requests that may become one in a queue"),
          Parameter::integer("wait_buffer", 0)
              .unit("requests")
              .range(0, 4294967294.0)
              .doc("Combined requests that may wait beside a queue for the answer; where no more may wait, none is "
                   "combined. 0: no bound")}},
    .install = &install,
    .vcs = &vcs,
    .no_dependencies =
        "output_queued boxes take packets from each other in one step of the whole network, which has no cycles",
    .most_ports = 64,
    .serves_memory = true,
    .zero_load = &zero_load,
    .memory =
        [](const config::Values& values, const core::NetworkSize& size, double) {
          constexpr double kReservedMost = 1U << 20U;  // packets
          const double places = size.inputs * values.natural("buffer");
          return size.inputs * 450.0 + places * 8.0 + std::min(places, kReservedMost) * 50.0;
        },
    .packet_flits = 1};

}  // namespace banyan::switching::output_queued
