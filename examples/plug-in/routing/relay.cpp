// Routing where every switch has a channel to every other one: directly, or by way of a switch that is drawn for every
// packet. The two steps of a packet that is relayed are on the two halves of the virtual channels: none waits for one
// of its own half, and nothing can deadlock.
#include <vector>

#include "banyan/base/rng.hpp"
#include "banyan/core/routing.hpp"

namespace banyan::routing::relay {
namespace {

class Relay final : public core::Routing {
 public:
  Relay(const core::Graph& graph, const std::vector<u32>& port_to, u32 vcs, bool relays)
      : graph_(graph), port_to_(port_to), switches_(graph.switches()), vcs_(vcs), relays_(relays) {}

  void prepare(core::Packet& packet, u32 word) const noexcept override {
    packet.state = relays_ ? below(word, switches_) : home(packet.destination);
  }
  [[nodiscard]] u32 headers(u32, u32) const noexcept override { return relays_ ? switches_ : 1; }

  void route(const core::RouteRequest& request, core::Candidates& out) const noexcept override {
    const core::Packet& packet = *request.packet;
    const auto by_way_of = static_cast<u32>(packet.state);
    const u32 last = home(packet.destination);
    const bool entered = graph_.channel(graph_.channel_into(request.at, request.in_port)).from.terminal;
    if (entered && by_way_of != request.at && by_way_of != last) return step(request.at, by_way_of, 0, vcs_ / 2, out);
    if (request.at != last) return step(request.at, last, relays_ ? vcs_ / 2 : 0, vcs_, out);
    const u16 port = graph_.channel(graph_.ejection(packet.destination)).from.port;
    out.add({.port = port, .vc_end = static_cast<u8>(vcs_)});
  }

  [[nodiscard]] core::RoutingTraits traits() const noexcept override {
    return {.reads_source = false,
            .required_vcs = relays_ ? 2U : 1U,
            .random = relays_,
            .in_order = !relays_,
            .oblivious = true};
  }

 private:
  [[nodiscard]] u32 home(u32 terminal) const noexcept { return graph_.channel(graph_.ejection(terminal)).from.node; }
  void step(u32 from, u32 to, u32 vc_begin, u32 vc_end, core::Candidates& out) const noexcept {
    out.add({.port = static_cast<u16>(port_to_[from * switches_ + to]),
             .vc_begin = static_cast<u8>(vc_begin),
             .vc_end = static_cast<u8>(vc_end)});
  }

  const core::Graph& graph_;
  std::vector<u32> port_to_;  ///< [from * switches + to]
  u32 switches_;
  u32 vcs_;
  bool relays_;
};

std::unique_ptr<core::Routing> make(const config::Values& values, const core::RoutingContext& context) {
  const core::Graph& graph = context.topology->graph();
  const u32 switches = graph.switches();
  std::vector<u32> port_to(std::size_t{switches} * switches, kNone);
  for (const core::Channel& c : graph.channels()) {
    if (!c.failed && !c.from.terminal && !c.to.terminal) port_to[c.from.node * switches + c.to.node] = c.from.port;
  }
  for (u32 from = 0; from < switches; ++from) {
    for (u32 to = 0; to < switches; ++to) {
      if (from == to || port_to[from * switches + to] != kNone) continue;
      values.fail("name",
                  "no channel leads from " + context.topology->label(from) + " to " + context.topology->label(to),
                  "use a topology in which every switch has a channel to every other one, such as complete_graph");
    }
  }
  const bool relays = values.text("way") == "relayed";
  if (relays && context.vcs < 2)
    values.fail("way", "two steps need two virtual channels", "give the switch 2 or more, or use way = \"direct\"");
  return std::make_unique<Relay>(graph, port_to, context.vcs, relays);
}

}  // namespace

extern const core::RoutingRow row_relay;
const core::RoutingRow row_relay{
    {"relay",
     "Directly to the destination's switch, or by way of a random one",
     "L. G. Valiant and G. J. Brebner, Universal Schemes for Parallel Communication, STOC 1981",
     {config::Parameter::choice("way", {"direct", "relayed"}, "direct")
          .doc("relayed: by way of a switch that is drawn for every packet")}},
    &make};

}  // namespace banyan::routing::relay
