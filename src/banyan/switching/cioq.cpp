// Switches with combined input and output queuing (CIOQ), joined to hosts by input adapters; VOQ at switch and at
// network level, and RECN, basic and enhanced. The model itself: cioq/fabric.hpp.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "banyan/core/admission.hpp"
#include "banyan/core/notification.hpp"
#include "banyan/core/registry.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/cioq/fabric.hpp"
#include "banyan/switching/parts/start.hpp"

namespace banyan::switching::cioq {
namespace {

using cioq::Organization;
using cioq::Plan;

/// Bytes of a packet that acknowledges, beyond the overhead that it has like all others: 24 and the default overhead of
/// 6 are the 30 of an acknowledgment of InfiniBand (local route header 8, base transport header 12, acknowledge
/// extended transport header 4, checks 4 and 2).
constexpr u32 kShortestControl = 24;
constexpr u64 kBytesPerPort = 2200;     ///< of a port's two sides, with what is in them
constexpr u32 kMostParts = 64;          ///< parts that a byte on a link is divided into
constexpr u32 kMostMemory = 1U << 30U;  ///< bytes of a port

/// What switches tell the sources needs roots to tell of, and somebody who hears it.
void check_notifications(const config::Values& values, const Plan& plan, const engine::EngineSettings& settings) {
  if (plan.notify_packets == 0) return;
  if (!plan.recn()) {
    values.fail("recn.notify_sources", fmt::format("queues = \"{}\" know of no roots", values.text("queues")),
                "use queues = \"recn_enhanced\", or recn.notify_sources = false");
  }
  const auto admission = settings.admission ? settings.admission() : nullptr;
  if (dynamic_cast<const core::HearsSwitches*>(admission.get()) != nullptr) return;
  values.fail("recn.notify_sources",
              fmt::format("{} hears what switches tell the sources",
                          admission == nullptr ? "no admission" : "the admission is none that"),
              fmt::format("use the admission {}, or recn.notify_sources = false",
                          core::admissions_with([](const core::Admission& a) {
                            return dynamic_cast<const core::HearsSwitches*>(&a) != nullptr;
                          })));
}

/// numerator / denominator of the speedup, in smallest terms.
std::optional<std::pair<u32, u32>> ratio_of(double speedup) {
  for (u32 q = 1; q <= kMostParts; ++q) {
    const double p = std::round(speedup * q);
    if (std::abs(p / q - speedup) < 1e-6 && p <= kMostParts) return std::pair{static_cast<u32>(p), q};
  }
  return std::nullopt;
}

Organization organization_of(const std::string& name) {
  if (name == "1q") return Organization::one;
  if (name == "voqsw") return Organization::voqsw;
  if (name == "voqnet") return Organization::voqnet;
  if (name == "dbbm") return Organization::dbbm;
  return name == "recn_basic" ? Organization::recn_basic : Organization::recn_enhanced;
}

/// Length of a byte on a link.
double byte_ns(const config::Values& values) { return 8.0 / values.real("link"); }

u32 cycles(const config::Values& values, const char* name) {
  return static_cast<u32>(std::ceil(values.real(name) / byte_ns(values) - 1e-9));
}

/// `shortest`: packet, of which the memory holds most.
void check_thresholds(const config::Values& values, const Plan& plan, u32 shortest) {
  const auto order = [&](const char* low, u32 a, const char* high, u32 b) {
    if (a <= b) return;
    values.fail(
        low, fmt::format("{} = {} is above {} = {}", low, a, high, b),
        fmt::format("keep xon <= xoff, propagation <= xoff and propagation <= the detections: use {} <= {}", low, b));
  };
  order("xon", plan.xon, "xoff", plan.xoff);
  order("propagation", plan.propagation, "xoff", plan.xoff);
  if (plan.enhanced()) order("propagation", plan.propagation, "ingress_detection", plan.ingress_detection);
  order("propagation", plan.propagation, "egress_detection", plan.egress_detection);
  const u32 packets = plan.memory / shortest;
  const auto fits = [&](const char* name, u32 value) {
    if (value <= packets) return;
    values.fail(name,
                fmt::format("{} = {} packets, and a memory of {} bytes holds {}", name, value, plan.memory, packets),
                fmt::format("use at most {}, or a larger memory", packets));
  };
  fits("egress_detection", plan.egress_detection);
  if (plan.enhanced()) fits("ingress_detection", plan.ingress_detection);
  fits("xoff", plan.xoff);
  if (plan.saqs > packets) {
    values.fail(
        "saqs",
        fmt::format("{} set-aside queues cannot hold a packet each: the memory has room for {}", plan.saqs, packets),
        fmt::format("use at most {} set-aside queues", packets));
  }
}

Plan read_plan(const config::Values& values, u32 terminals) {
  Plan plan;
  plan.organization = organization_of(values.text("queues"));
  plan.memory = values.natural("memory");
  plan.packet = values.natural("packet");
  plan.overhead = values.natural("overhead");
  if (plan.packet > plan.memory) {
    values.fail("memory", fmt::format("a memory of {} bytes holds no packet of {}", plan.memory, plan.packet),
                fmt::format("use a memory of {} bytes at least", plan.packet));
  }
  const auto ratio = ratio_of(values.real("speedup"));
  if (!ratio) {
    values.fail("speedup", fmt::format("{} is no ratio of numbers up to {}", values.real("speedup"), kMostParts),
                "use a simple ratio such as 1, 1.5 or 2");
  }
  plan.link_parts = ratio->first;
  plan.crossbar_parts = ratio->second;
  plan.control_cycles = cycles(values, "control_delay");
  plan.idle_cycles = cycles(values, "saq_timeout");
  plan.saqs = values.natural("saqs");
  plan.egress_detection = values.natural("egress_detection");
  plan.ingress_detection = values.natural("ingress_detection");
  plan.propagation = values.natural("propagation");
  plan.xoff = values.natural("xoff");
  plan.xon = values.natural("xon");
  plan.markers = values.flag("markers");
  plan.log = values.flag("log");
  if (values.flag("recn.notify_sources")) { plan.notify_packets = values.natural("recn.notify_packets"); }
  if (!plan.per_class()) return plan;
  plan.classes = plan.organization == Organization::voqnet ? terminals : std::min(values.natural("classes"), terminals);
  plan.class_packets = plan.memory / plan.packet / plan.classes;
  if (plan.class_packets == 0) {
    values.fail("memory",
                fmt::format("{} queues of a packet each do not fit a memory of {} bytes", plan.classes, plan.memory),
                fmt::format("use a memory of {} bytes at least", plan.classes * plan.packet));
  }
  return plan;
}

/// Bytes that may still arrive at an input port once it has said stop: what the link carries while the frame is on its
/// way and until the last byte sent before is there; the packet that was begun just before the frame came; and the rest
/// of the packet that crossed the threshold.
u64 headroom_for(const Plan& plan, u32 latency) {
  return u64{plan.control_cycles} + 2 * u64{latency} + 2 * u64{plan.packet};
}

void plan_pauses(const config::Values& values, const core::Graph& graph, Plan& plan) {
  plan.pause = values.text("flow_control") == "pause";
  if (!plan.pause) return;
  u32 latency = 0;
  for (const core::Channel& c : graph.channels()) {
    if (!c.to.terminal && !c.failed) latency = std::max(latency, c.link.latency_cycles);
  }
  const u64 needed = headroom_for(plan, latency);
  const u64 given = values.natural("pause.headroom");
  if (given != 0 && given < needed) {
    values.fail(
        "pause.headroom",
        fmt::format("a headroom of {} bytes cannot hold what arrives within a round trip of the longest link, {} bytes",
                    given, needed),
        fmt::format("use pause.headroom = {} or more, or leave it out to have it computed", needed));
  }
  const u64 headroom = given == 0 ? needed : given;
  const u64 share = plan.memory / plan.classes;
  if (share < headroom + plan.packet) {
    values.fail(given == 0 ? "memory" : "pause.headroom",
                fmt::format("{} bytes of memory per class hold no packet of {} beside a headroom of {}", share,
                            plan.packet, headroom),
                fmt::format("use a memory of {} bytes at least", plan.classes * (headroom + plan.packet)));
  }
  const u64 xoff = values.natural("pause.xoff");
  if (xoff + headroom > share) {
    values.fail(
        "pause.xoff",
        fmt::format("pause.xoff = {} and a headroom of {} bytes are above the {} bytes that a class has of the memory",
                    xoff, headroom, share),
        fmt::format("use pause.xoff = {} or less, or a larger memory", share - headroom));
  }
  plan.pause_headroom = static_cast<u32>(headroom);
  plan.pause_xoff = static_cast<u32>(xoff == 0 ? share - headroom : xoff);
  const u32 xon = values.natural("pause.xon");
  if (xon > plan.pause_xoff) {
    values.fail("pause.xon",
                fmt::format("pause.xon = {} is above the threshold of {} bytes that stops", xon, plan.pause_xoff),
                fmt::format("use pause.xon = {} or less", plan.pause_xoff));
  }
  plan.pause_xon = xon == 0 ? plan.pause_xoff - std::min(plan.pause_xoff, 2 * plan.packet) : xon;
}

/// Hops of the longest path.
u32 longest_path(const engine::Builder& builder, u32 most) {
  const core::Graph& graph = builder.topology().graph();
  if (const core::Tree* tree = builder.topology().tree(); tree != nullptr) {
    return static_cast<u32>(tree->levels.size()) * 2 - 1;
  }
  u32 longest = 0;
  core::Candidates candidates;
  for (u32 source = 0; source < graph.terminals(); ++source) {
    for (u32 destination = 0; destination < graph.terminals(); ++destination) {
      core::Packet packet;
      packet.source = source;
      packet.destination = destination;
      builder.routing().prepare(packet, 0);
      u32 hops = 0;
      for (core::End at = graph.channel(graph.injection(source)).to; !at.terminal && hops <= most; ++hops) {
        candidates.clear();
        builder.routing().route({at.node, at.port, 0, &packet, 0}, candidates);
        if (candidates.size() == 0) return most + 1;
        at = graph.channel(graph.channel_out_of(at.node, candidates[0].port)).to;
      }
      longest = std::max(longest, hops);
    }
  }
  return longest;
}

/// The highest bit of an entry says that it is a marker, so that the shard of a packet has a bit less than elsewhere.
constexpr u32 kMostShards = cioq::kMarker >> engine::PacketPool::kIndexBits;

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  parts::require_few_at_start(values, builder);
  Plan plan = read_plan(values, graph.terminals());
  plan_pauses(values, graph, plan);
  check_notifications(values, plan, builder.settings());
  const u32 ports = graph.most_ports();
  if (plan.recn() && (plan.enhanced() ? ports : 1) + plan.saqs > 64) {
    const u32 own = plan.enhanced() ? ports : 1;
    values.fail("saqs", fmt::format("{} queues at an input port, which has 64 at most", own + plan.saqs),
                own < 64 ? fmt::format("use at most {} set-aside queues", 64 - own)
                         : "use queues = \"recn_basic\", which has one queue beside them, or smaller switches");
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit == 1) continue;
    values.fail("name", "cioq has links of one rate, and a channel is slower",
                "use channels of full bandwidth, or another switch");
  }
  const u32 bits = std::max<u32>(1, static_cast<u32>(std::bit_width(ports - 1U)));
  const u32 most = values.natural("turnpool") / bits;
  const u32 hops = longest_path(builder, most);
  if (hops > most) {
    values.fail("turnpool",
                fmt::format("{} turns of {} bits do not fit a turnpool of {}", hops, bits, values.natural("turnpool")),
                hops * bits <= 64 ? fmt::format("use a turnpool of {} bits", hops * bits)
                                  : "use a smaller network, or switches with fewer ports");
  }
  builder.cut_messages(plan.packet);
  const u32 shortest = std::min(plan.packet, builder.shortest_packet_of_load());
  if (plan.recn()) check_thresholds(values, plan, shortest);
  plan.marking = parts::read_marking(values, plan.memory / shortest, kMostMemory / shortest);
  // What takes no time at all cannot go to another shard.
  if (plan.control_cycles == 0) {
    builder.partition_as_one("switch.control_delay is 0, so that switches hear of each other at once",
                             "give switch.control_delay, or run it without mpirun");
  } else {
    builder.partition_for_threads(u64{ports} * kBytesPerPort, kMostShards);
  }
  std::vector<const Fabric*> fabrics(builder.shards());
  std::vector<Fabric*> own;
  for (const u32 i : builder.own_shards()) {
    auto fabric = std::make_unique<Fabric>(builder, i, plan, bits);
    fabrics[i] = fabric.get();
    own.push_back(fabric.get());
    builder.add(i, std::move(fabric));
  }
  for (Fabric* const fabric : own) fabric->look_at(fabrics);
  // Sources are told of roots after the time of a way at least (engine/feedback_delay.hpp), whatever the way is.
  const Tick told = static_cast<Tick>(builder.settings().zero_load.fixed);
  builder.join_networks(
      std::max<Tick>(1, std::min<Tick>(plan.control_cycles, plan.notify_packets != 0 ? told : kNever)));
}

u32 vcs(const config::Values&) { return 1; }

/// Admittance queues are per pair of terminals, but what they wait for are the links out of the N sources and into the
/// N destinations, and both carry the same flits: of 2 N sums over their queues, 2 N - 1 can wander on their own
/// (Maguluri and Srikant 2016, Stochastic Systems 6(1): state-space collapse of input-queued switches).
u64 unlimited_queues(const config::Values&, const core::Graph& graph) { return 2 * u64{graph.terminals()} - 1; }

using config::Parameter;

/// Packets are stored and forwarded over links and crossbars.
core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  if (flits > values.natural("packet")) {
    return {.unknown = fmt::format("describes messages of one packet, and cioq cuts those of {} B", flits),
            .remedy = "use messages not longer than packet"};
  }
  const double link = flits + static_cast<double>(values.integer("overhead"));
  const double crossbar = link / values.real("speedup");
  return {.fixed = 2 * link + crossbar, .per_hop = link + crossbar, .per_cycle = 1, .ends = 1, .whole = true};
}

core::Framing framing(const config::Values& values) {
  return {.longest = values.natural("packet"), .overhead = values.natural("overhead")};
}

}  // namespace

extern const core::SwitchRow row_cioq;
const core::SwitchRow row_cioq{
    .info =
        {"cioq",
         "Combined input and output queuing with a multiplexed crossbar and input adapters: single queues, VOQ, DBBM, "
         "RECN",
         "P. J. Garcia, J. Flich, J. Duato, I. Johnson, F. J. Quiles, F. Naven, Dynamic Evolution of Congestion Trees: "
         "Analysis and Impact on Switch Architecture, DIAB-05-07-1, 2005; J. Duato et al., A New Scalable and "
         "Cost-Effective Congestion Management Strategy for Lossless Multistage Interconnection Networks, HPCA 2005",
         parts::with_marking(
             {
                 Parameter::choice("queues", {"1q", "voqsw", "voqnet", "dbbm", "recn_basic", "recn_enhanced"},
                                   "recn_enhanced")
                     .doc("How the memory of a port is divided: one queue; a queue per output of the switch; per "
                          "destination; "
                          "per destination modulo classes; RECN with egress detection; RECN with detection queues and "
                          "all "
                          "notifications accepted"),
                 Parameter::real("link", 8.0)
                     .unit("Gbps")
                     .above(0)
                     .doc("Rate of the links. A cycle is the time of a byte on a link, a flit is a byte"),
                 Parameter::real("speedup", 1.5)
                     .range(1, 64)
                     .doc("Rate of the crossbar, in rates of the links; any ratio of small numbers"),
                 Parameter::integer("memory", 32'768)
                     .unit("B")
                     .range(1, kMostMemory)
                     .doc("Memory of every input and every output port, shared by its queues"),
                 Parameter::integer("packet", 64).unit("B").range(1, 65535).doc("Longest packet that an adapter makes"),
                 Parameter::integer("overhead", 6)
                     .unit("B")
                     .range(0, 65535)
                     .doc("Bytes that a packet occupies links and crossbars for, beyond its own; a fit: it turns 48 "
                          "bytes/ns of "
                          "offered load into the 44 of the paper"),
                 Parameter::real("control_delay", 20.0)
                     .unit("ns")
                     .range(0, 1e9)
                     .doc("Time of a credit or another control message on a link; it takes no bandwidth"),
                 Parameter::integer("classes", 8)
                     .only_with("queues", {"dbbm"})
                     .range(1, 65535)
                     .doc("Queues of dbbm, to which destinations are mapped modulo"),
                 Parameter::integer("saqs", 8)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .range(1, 63)
                     .in_flight(config::InFlight::growing)
                     .doc("Set-aside queues per port"),
                 Parameter::integer("egress_detection", 128)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .unit("packets")
                     .range(1, 1e9)
                     .in_flight()
                     .doc("Length of an egress's normal queue from which on it is congested"),
                 Parameter::integer("ingress_detection", 32)
                     .only_with("queues", {"recn_enhanced"})
                     .unit("packets")
                     .range(1, 1e9)
                     .in_flight()
                     .doc("Length of a detection queue from which on its output is congested"),
                 Parameter::integer("propagation", 16)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .unit("packets")
                     .range(1, 1e9)
                     .in_flight()
                     .doc("Length of a set-aside queue from which on it notifies upstream"),
                 Parameter::integer("xoff", 48)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .unit("packets")
                     .range(1, 1e9)
                     .in_flight()
                     .doc("Length of a set-aside queue from which on it stops the one upstream"),
                 Parameter::integer("xon", 16)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .unit("packets")
                     .range(0, 1e9)
                     .in_flight()
                     .doc("Length of a set-aside queue down to which it starts the one upstream again"),
                 Parameter::real("saq_timeout", 20'000.0)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .unit("ns")
                     .range(0, 1e9)
                     .in_flight(config::InFlight::above_0)
                     .doc("A set-aside queue that was never used may be freed after this time; 0: it stays"),
                 Parameter::boolean("markers", true)
                     .only_with("queues", {"recn_basic", "recn_enhanced"})
                     .doc("Keep new set-aside queues blocked until older packets have left; false: packets arrive out "
                          "of "
                          "order"),
                 Parameter::boolean("recn.notify_sources", false)
                     .doc("RECN tells the sources of packets that wait at a root of it, so that an admission "
                          "that hears of it throttles them behind the isolation"),
                 Parameter::integer("recn.notify_packets", 1)
                     .only_with("recn.notify_sources")
                     .unit("packets")
                     .range(1, 1'000'000)
                     .in_flight()
                     .doc("Of so many packets that come to a set-aside queue at a root, while it is longer than "
                          "propagation, the source of one is told"),
                 Parameter::boolean("log", false)
                     .doc("Report per port when it first detected congestion and first set a queue aside, and the "
                          "roots at "
                          "the "
                          "end"),
                 Parameter::choice("flow_control", {"credits", "pause"}, "credits")
                     .doc("What keeps a link from sending more than the memory behind it takes: credits; or pauses per "
                          "class of packets (priority flow control, IEEE 802.1Qbb), which the receiver sends at a "
                          "threshold"),
                 Parameter::integer("pause.xoff", 0)
                     .only_with("flow_control", {"pause"})
                     .unit("B")
                     .range(0, 1 << 30)
                     .doc("Bytes of a class at an input port from which on it pauses the sender; 0: as many as the "
                          "headroom leaves"),
                 Parameter::integer("pause.xon", 0)
                     .only_with("flow_control", {"pause"})
                     .unit("B")
                     .range(0, 1 << 30)
                     .doc("Bytes down to which it lets the sender go on; 0: two longest packets below pause.xoff"),
                 Parameter::integer("pause.headroom", 0)
                     .only_with("flow_control", {"pause"})
                     .unit("B")
                     .range(0, 1 << 30)
                     .doc("Bytes kept for what arrives after a pause was sent; 0: what the longest link needs, its "
                          "round trip and two longest packets"),
                 Parameter::integer("turnpool", 64)
                     .unit("bits")
                     .range(1, 64)
                     .doc("Bits of a packet's source route; 31 in Advanced Switching"),
             },
             "packets")},
    .install = &install,
    .vcs = &vcs,
    .no_dependencies =
        "cioq blocks by memories of ports and set-aside queues, which the channels' dependencies do not show",
    .most_ports = 64,
    .cycle_ns = &byte_ns,
    .keeps_messages = true,
    .control_flits = kShortestControl,
    .writes_utilization = true,
    .source_routes = "it writes the whole route into the packet",
    .framing = &framing,
    .zero_load = &zero_load,
    .memory =
        [](const config::Values&, const core::NetworkSize& size, double) {
          // Small networks keep admittance queues and routes per pair of terminals.
          const double pairs = size.terminals <= Admittance::kMostInTable ? size.terminals * size.terminals : 0.0;
          return 2e6 + size.inputs * static_cast<double>(kBytesPerPort) + pairs * 14.0;
        },
    .flit_bytes = 1,
    .source_memory = [](const config::Values& values) { return u64{values.natural("memory")}; },
    .unlimited_queues = &unlimited_queues};

}  // namespace banyan::switching::cioq
