// An outbox that keeps what a traffic posts.
#pragma once

#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::test {

class Posted final : public core::Outbox {
 public:
  void post(const core::Message& message) noexcept override { messages.push_back(message); }
  std::vector<core::Message> messages;
};

/// The packet that a message which is not cut travels in.
inline core::Packet packet_of(const core::Message& m, u32 source) {
  core::Packet packet;
  packet.birth = m.birth;
  packet.source = source;
  packet.destination = m.destination;
  packet.message = m.tag;
  packet.message_flits = m.flits;
  return packet;
}

}  // namespace banyan::test
