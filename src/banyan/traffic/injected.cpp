// Messages that a program injects while it steps the network.
#include "banyan/traffic/parts/injected.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "banyan/traffic/parts/sizes.hpp"

namespace banyan::traffic::injected {
namespace {

constexpr double kMostPriority = 255;
constexpr std::size_t kMostMembers = 65535;  // a packet counts its copies in 16 bits

/// Ascending.
std::vector<u32> read_members(const config::Values& values, u32 terminals) {
  std::vector<u32> members;
  for (const i64 t : values.integers("members")) {
    if (t < 0 || t >= terminals) {
      values.fail("members", "there is no terminal " + std::to_string(t),
                  "terminals are 0 to " + std::to_string(terminals - 1));
    }
    members.push_back(static_cast<u32>(t));
  }
  std::ranges::sort(members);
  if (const auto twice = std::ranges::adjacent_find(members); twice != members.end()) {
    values.fail("members", "terminal " + std::to_string(*twice) + " is named twice", "name every member once");
  }
  if (members.size() == 1 || members.size() > kMostMembers) {
    values.fail("members",
                std::to_string(members.size()) + " of them: a reduction has 2 to " + std::to_string(kMostMembers),
                "name others, or none where messages are not reduced");
  }
  return members;
}

std::unique_ptr<core::Traffic> make(const config::Values& values, const core::TrafficContext& context) {
  core::Service service;
  service.priority = static_cast<u8>(values.integer("priority"));
  const u32 packet = values.natural("max_packet");
  const u32 longest = values.natural("longest");
  if (longest > kLongestPacket && packet == 0) {
    values.fail("longest", "a packet has at most " + std::to_string(kLongestPacket) + " flits",
                "cut the messages into packets with max_packet");
  }
  std::vector<u32> members = read_members(values, context.terminals);
  if (!members.empty() && packet != 0) {
    values.fail("max_packet", "a contribution to a reduction is one packet", "leave it out, or members");
  }
  return std::make_unique<Injected>(longest, packet == 0 ? kNone : packet, service, std::move(members));
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
      Parameter::integers("members", {})
          .doc("Terminals of a reduction in the network: each sends its contributions to itself, one after the other, "
               "and gets the sums of the contributions of all; empty: messages are not reduced"),
      Parameter::integer("priority", 0)
          .range(0, kMostPriority)
          .doc("Of its messages at their source and in the allocators of a vc_router: higher goes first")}},
    &make};

}  // namespace banyan::traffic::injected
