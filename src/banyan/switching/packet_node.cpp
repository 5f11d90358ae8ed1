// Packet nodes (Buzzard and Mudge, sections 2 and 3): messages cut into packets, a first-in-first-out queue of requests
// per link, packet buffers tied to the outbound link that a packet takes next and reserved before it is sent, and a
// routing-and-acquire time that occupies the link.
//
// A node is a switch with its processors. A message waits at its processor, as one request in the queue of its first
// link, which goes to the end of the queue after each of its packets; a packet that is passing through is a request of
// its own. Who may start depends on buffers of the next node and who waits for a buffer on the nodes before, so this
// population reads and writes across nodes (peer access) and lives in one shard. It runs by events: the end of a
// transmission is the arrival of its packet.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "banyan/core/switching.hpp"
#include "banyan/switching/packet_node/network.hpp"
#include "banyan/switching/parts/start.hpp"

namespace banyan::switching::packet_node {
namespace {

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  parts::require_few_at_start(values, builder);
  const u32 ports = graph.most_ports();
  for (const core::Traffic* t : builder.traffics()) {
    if (t->longest_packet() == kNone) continue;
    values.fail("payload", "packet_node cuts messages into packets itself, and the traffic does too",
                "remove max_packet from the traffic");
  }
  Setup setup;
  setup.buffers = values.natural("buffers_per_link");
  setup.shared = values.text("buffer_sharing") == "node";
  const std::string& transport = values.text("transport");
  setup.payload = transport == "datagram" ? kWholeMessage : values.natural("payload");
  setup.route_once = transport == "virtual_circuit";
  setup.header = values.natural("header");
  setup.bandwidth = values.natural("bandwidth");
  setup.acquire = static_cast<Tick>(values.integer("acquire"));
  setup.pipelined = values.flag("pipelined");
  setup.cut_through = values.text("switching") == "cut_through";
  setup.ports = values.natural("ports");
  const std::string& over = values.text("take_over");
  setup.take_over = over == "never" ? TakeOver::never : over == "always" ? TakeOver::always : TakeOver::blocked;
  const double consumption = values.real("consumption");
  if (consumption > 0.0) {
    setup.consume = static_cast<u64>(std::llround((1U << kConsumeBits) / (consumption * setup.bandwidth)));
  }
  if (setup.payload < setup.header) {
    values.fail("payload",
                fmt::format("a payload of {} flits is shorter than the header of {}", setup.payload, setup.header),
                "make the payload at least as long as the header");
  }
  if (setup.cut_through && (setup.header == 0 || setup.route_once)) {
    values.fail("switching", "cut_through sends a packet on when its header has arrived, and there is none",
                "give every packet a header, or use switching = \"store_and_forward\"");
  }
  builder.partition_as_one();
  builder.add(0, std::make_unique<PacketNode>(builder, ports, setup));
}

u32 vcs(const config::Values&) { return 1; }

/// Messages wait for the link of their first step, one queue for each link between nodes.
u64 unlimited_queues(const config::Values&, const core::Graph& graph) {
  return graph.channels().size() - 2 * u64{graph.terminals()};
}

using config::Parameter;

/// The first packet goes from node to node; the others follow at the pace of one link.
core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  const auto wire = [&](u64 bytes) {
    const u64 bandwidth = values.natural("bandwidth");
    const u64 ticks = (bytes + bandwidth - 1) / bandwidth;  // whole ones
    return static_cast<double>(ticks);
  };
  const std::string& transport = values.text("transport");
  const u64 payload = transport == "datagram" ? flits : std::min<u64>(values.natural("payload"), flits);
  const u64 header = values.natural("header");
  const u64 packets = (flits + payload - 1) / payload;
  const u64 last = flits - (packets - 1) * payload;
  const bool headed = transport != "virtual_circuit";  // the later packets are
  const u64 front = headed ? header : 0;
  const double acquire = static_cast<double>(values.integer("acquire"));
  const double busy = headed && !values.flag("pipelined") ? acquire : 0.0;  // the link, beside the transmission
  const double first = wire(payload + header);
  double more = 0.0;
  if (packets > 1) {
    more = static_cast<double>(packets - 2) * (busy + wire(payload + front)) + busy + wire(last + front);
  }
  if (values.text("switching") == "cut_through") {
    if (packets > 1) more = static_cast<double>(packets - 1) * (busy + first) + wire(last + header) - first;
    return {.fixed = first - wire(header) + more, .per_hop = acquire + wire(header) - 1, .per_cycle = 1, .home = 0};
  }
  return {.fixed = more, .per_hop = acquire + first - 1, .per_cycle = 1, .home = 0};
}

/// A node has no channel of its own to its terminal: messages wait for the links of their first step, and all links may
/// bring messages at once.
core::Capacity capacity(const config::Values& values) {
  constexpr double kUnlimited = std::numeric_limits<double>::infinity();
  return {.channel = static_cast<double>(values.integer("bandwidth")), .injection = kUnlimited, .ejection = kUnlimited};
}

}  // namespace

extern const core::SwitchRow row_packet_node;
const core::SwitchRow row_packet_node{
    .info =
        {"packet_node",
         "Nodes that send messages as packets: buffers reserved before transmission, a request queue per link",
         "Buzzard and Mudge, Short Latency Routing for Hypercube Multiprocessors, sections 2 and 3",
         {Parameter::choice("transport", {"packet", "datagram", "virtual_circuit"}, "packet")
              .doc("How a message travels: cut into packets that are routed one by one; as a whole; or cut into "
                   "packets of "
                   "which only the first has a header and is routed, which takes t_l."),
          Parameter::integer("payload", 64)
              .only_with("transport", {"packet", "virtual_circuit"})
              .unit("flits")
              .range(1, kWholeMessage)
              .doc(
                  "Data in a packet, P: messages are cut into packets of so much and a last one with the rest; without "
                  "meaning for datagrams."),
          Parameter::integer("header", 8).unit("flits").range(0, 65535).doc("Header of every packet, H."),
          Parameter::integer("buffers_per_link", 4)
              .unit("packets")
              .range(1, 65535)
              .doc("Packet buffers of every outbound link, reserved before a transmission to them starts."),
          Parameter::choice("buffer_sharing", {"link", "node"}, "link")
              .doc("Whether buffers are tied to an outbound link, or all links of a node share them."),
          Parameter::integer("bandwidth", 1)
              .unit("flits/cycle")
              .range(1, 4096)
              .doc("Flits that a link carries per cycle."),
          Parameter::integer("acquire", 10)
              .unit("cycles")
              .range(0, 1'000'000)
              .doc("Time to route a packet and acquire its link, t_l."),
          Parameter::boolean("pipelined", false)
              .doc("Whether a link is free while the next packet is routed; otherwise t_l occupies the link."),
          Parameter::choice("switching", {"store_and_forward", "cut_through"}, "store_and_forward")
              .doc("Whether a packet goes on when all of it has arrived, or as soon as its header has."),
          Parameter::integer("ports", 0)
              .unit("packets")
              .range(0, kMostPorts)
              .doc("Packets that pass between a node and its processors at once, each way; 0: one per link."),
          Parameter::choice("take_over", {"never", "blocked", "always"}, "blocked")
              .doc("When a packet that is passing through takes an idle link from a message at its source: when that "
                   "waits "
                   "for a buffer, always, or never, which can deadlock."),
          Parameter::real("consumption", 0.25)
              .range(0, 1)
              .doc("Speed at which a receiver goes through the data of a message, as a fraction of the link's "
                   "bandwidth; "
                   "0: not looked at.")}},
    .install = &install,
    .vcs = &vcs,
    .no_dependencies =
        "a packet_node holds buffers of the link that a packet takes next, and none for a message at its source",
    .most_ports = kMostPorts,
    .free_first_step = true,
    .ways_apart = true,
    .draws_nothing = true,
    .capacity = &capacity,
    .zero_load = &zero_load,
    .memory = [](const config::Values&, const core::NetworkSize& size, double) { return size.inputs * 450.0; },
    .unlimited_queues = &unlimited_queues};

}  // namespace banyan::switching::packet_node
