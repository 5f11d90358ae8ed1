// Input-queued virtual-channel router (Dally, Virtual-Channel Flow Control, 1992; Dally and Towles 2004, chapters 16
// and 17): credit flow control, wormhole or virtual cut-through, and the canonical pipeline with a delay per stage.
//
// This file declares the parameters and chooses the kernel; the kernels lie in parts/: vc_router_kernel.hpp for the
// ordinary settings.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/parts/vc_router_kernel.hpp"

namespace banyan::switching {
namespace {

using parts::kMostPorts;
using parts::kMostVcs;
using parts::RouterSetup;

template <class Kernel>
void add_routers(engine::Builder& builder, const RouterSetup& setup) {
  for (u32 i = 0; i < builder.shards(); ++i) {
    builder.add_switches(i, std::make_unique<Kernel>(builder, i, setup), setup.ports);
  }
}

/// Throws ConfigError when the model cannot run the network or its traffic.
RouterSetup read_setup(const config::Values& values, const engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  RouterSetup setup;
  for (u32 s = 0; s < graph.switches(); ++s) {
    setup.ports = std::max({setup.ports, graph.inputs(s), graph.outputs(s)});
  }
  if (setup.ports > kMostPorts) {
    values.fail("name", fmt::format("a switch has {} ports", setup.ports),
                fmt::format("use switches of at most {} ports", kMostPorts));
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit != 1) {
      values.fail("name", "vc_router sends one flit per channel and cycle, and a channel is slower than that",
                  "use channels of full bandwidth, or another switch");
    }
  }
  setup.vcs = values.natural("vcs");
  setup.buffer = values.natural("buffer");
  setup.pipeline = {values.natural("routing_delay"), values.natural("vc_alloc_delay"), 1,
                    values.natural("traversal_delay"), values.natural("credit_delay")};
  setup.vc_busy_when_full = values.flag("vc_busy_when_full");
  setup.cut_through = values.text("flow") == "cut_through";
  if (setup.cut_through && builder.longest_message() > setup.buffer) {
    values.fail("buffer",
                fmt::format("cut_through stores whole packets, and packets of {} flits do not fit into {}",
                            builder.longest_message(), setup.buffer),
                fmt::format("use buffer = {}, shorter packets, or flow = \"wormhole\"", builder.longest_message()));
  }
  setup.horizon =
      builder.longest_latency() + std::max<Tick>(setup.pipeline.departure(), Tick{1} + setup.pipeline.credit);
  return setup;
}

void install(const config::Values& values, engine::Builder& builder) {
  const RouterSetup setup = read_setup(values, builder);
  const parts::VcLayout layout(setup.ports, setup.vcs);
  const u64 bytes = layout.size() * (sizeof(parts::InputVc) + sizeof(parts::OutputVc) +
                                     sizeof(parts::BufferedFlit) * u64{setup.buffer});
  builder.partition_by_size(bytes);
  engine::Interfaces::Setup interfaces;
  interfaces.vcs = setup.vcs;
  interfaces.credits = setup.buffer;
  interfaces.credit_delay = 1 + setup.pipeline.credit;
  interfaces.horizon = setup.horizon;
  interfaces.whole_packet = setup.cut_through;
  builder.add_interfaces(interfaces);
  if (layout.words() == 1) {
    add_routers<parts::VcRouterKernel<true>>(builder, setup);
  } else {
    add_routers<parts::VcRouterKernel<false>>(builder, setup);
  }
  builder.wire();
}

u32 vcs(const config::Values& values) { return values.natural("vcs"); }

using config::Parameter;

constexpr double kMostDelay = 1000;

}  // namespace

extern const core::SwitchRow row_vc_router;
const core::SwitchRow row_vc_router{
    {"vc_router",
     "Input-queued router with virtual channels, credit flow control and a pipeline with a delay per stage",
     "W. J. Dally, Virtual-Channel Flow Control, IEEE Transactions on Parallel and Distributed Systems 3(2), 1992; "
     "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16 and 17",
     {Parameter::integer("vcs", 8).range(1, kMostVcs).doc("Virtual channels per channel."),
      Parameter::integer("buffer", 8)
          .unit("flits")
          .range(1, 65535)
          .doc("Places of the buffer of each virtual channel at an input."),
      Parameter::choice("flow", {"wormhole", "cut_through"}, "wormhole")
          .doc("wormhole: a packet moves on when the next buffer has a place; cut_through: when it has room for the "
               "whole packet."),
      Parameter::integer("routing_delay", 1)
          .unit("cycles")
          .range(0, kMostDelay)
          .doc("Cycles of route computation; 0: routes are known on arrival (lookahead)."),
      Parameter::integer("vc_alloc_delay", 1)
          .unit("cycles")
          .range(0, 1)
          .doc("Cycles of virtual-channel allocation; 0: in the first cycle of switch allocation."),
      Parameter::integer("traversal_delay", 1)
          .unit("cycles")
          .range(0, kMostDelay)
          .doc("Cycles through the crossbar, from the end of switch allocation to the channel."),
      Parameter::integer("credit_delay", 0)
          .unit("cycles")
          .range(0, kMostDelay)
          .doc("Cycles from the arrival of a credit at a router until it counts."),
      Parameter::boolean("vc_busy_when_full", false)
          .doc("Whether a virtual channel without a credit is withheld from heads that ask for one.")}},
    &install,
    &vcs};

}  // namespace banyan::switching
