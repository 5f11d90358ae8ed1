// Messages that a program injects while it steps the network.
#include "banyan/traffic/parts/injected.hpp"

#include <memory>

#include "banyan/traffic/parts/sizes.hpp"

namespace banyan::traffic::injected {
namespace {

constexpr double kMostPriority = 255;

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext&) {
  core::Service service;
  service.priority = static_cast<u8>(values.integer("priority"));
  const u32 packet = values.natural("max_packet");
  const u32 longest = values.natural("longest");
  if (longest > kLongestPacket && packet == 0) {
    values.fail("longest", "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                "cut the messages into packets with max_packet");
  }
  return std::make_unique<Injected>(longest, packet == 0 ? kNone : packet, service);
}

using config::Parameter;

}  // namespace

extern const core::TrafficRow row_injected;
const core::TrafficRow row_injected{
    {"injected",
     "Messages that a program injects while it steps the network; a run by itself has none of them",
     "Interface of this program: docs/traffic/injected.md",
     {Parameter::integer("longest", 64).unit("flits").range(1, kLongestMessage).doc("No message is longer"),
      Parameter::integer("max_packet", 0)
          .unit("flits")
          .range(0, kLongestPacket)
          .doc("Longest packet that messages are cut into; 0: messages are not cut"),
      Parameter::integer("priority", 0)
          .range(0, kMostPriority)
          .doc("Of its messages at their source and in the allocators of a vc_router: higher goes first")}},
    &make};

}  // namespace banyan::traffic::injected
