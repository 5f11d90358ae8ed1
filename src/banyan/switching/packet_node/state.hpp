// What packet nodes hold: links with their queues, packets on the way, and messages.
#pragma once

#include "banyan/base/types.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/engine/waiting.hpp"

namespace banyan::switching::packet_node {

constexpr u32 kHere = kNone;  ///< instead of a next link: the packet is for a processor of the node
constexpr u32 kMostPorts = 64;
constexpr u32 kWholeMessage = 1U << 24U;
constexpr u32 kConsumeBits = 16;  ///< times of receivers are counted in 2^-16 ticks

/// When a packet that is passing through goes before a message that waits at the source.
enum class TakeOver : u8 { never, blocked, always };

struct Setup {
  u32 buffers = 1;      ///< per outbound link
  bool shared = false;  ///< buffers of a node are one pool
  u32 payload = 1;      ///< bytes of data in a packet
  u32 header = 0;       ///< bytes in front of them
  u32 bandwidth = 1;    ///< bytes per tick
  Tick acquire = 0;     ///< ticks
  bool pipelined = false;
  bool cut_through = false;
  bool route_once = false;  ///< later packets of a message need neither header nor routing (virtual circuit)
  u32 ports = 0;            ///< packets that pass between a node and its processors at once, each way; 0: no limit
  TakeOver take_over = TakeOver::blocked;
  u64 consume = 0;  ///< ticks per byte at the receiver, in 2^-16; 0: not looked at
};

/// Something of which there are a few, and the links that wait for it in the order of their coming.
struct Resource {
  u32 free = 0;
  u32 first = kNone;
  u32 last = kNone;
};

/// An outbound link with its queue of requests and the buffers of the packets that will take it.
struct alignas(64) Link {
  engine::Queue passing;  ///< packets that are passing through
  engine::Queue sources;  ///< messages of the node's processors
  u32 requests = 0;       ///< in both queues
  u32 stamp = 0;          ///< of the next request
  Resource buffers;       ///< of this link, or of the whole node at the node's first link
  u32 sending = kNone;    ///< packet on the link; kNone: idle
  u32 sender = kNone;     ///< message that it is a part of, on its first step; kNone: it was passing through
  u32 waits_for = kNone;
  u32 next_waiting = kNone;
  u32 far = kNone;  ///< node at the far end; kNone: no link
  u32 far_port = 0;
};
static_assert(sizeof(Link) == 64);

struct alignas(32) Parcel {
  u32 message = kNone;  ///< kNone: not in use
  u32 next = kNone;
  u32 ahead = kHere;  ///< link whose buffer it has reserved, or waits for
  u32 data = 0;       ///< bytes
  u32 begin = 0;      ///< bytes of the message before it
  u32 stamp = 0;
  u16 links = 0;        ///< passed, the present one included
  bool flying = false;  ///< between the start of a transmission and its arrival
};
static_assert(sizeof(Parcel) == 32);

struct alignas(64) Message {
  core::PacketId record = 0;
  u32 next = kNone;
  u32 left = 0;   ///< bytes that have not left the source
  u32 home = 0;   ///< node of its destination
  u32 first = 0;  ///< link of its first step
  u32 ahead = kHere;
  u32 stamp = 0;
  u32 flits = 0;
  u32 arrived = 0;      ///< bytes
  u32 stalls = 0;       ///< times that the receiver had to wait for the next packet
  Tick first_data = 0;  ///< when the first packet arrived
  u64 stalled = 0;      ///< how long in all, 2^-16 ticks
  u64 busy_until = 0;   ///< the receiver with what has arrived, 2^-16 ticks
};

}  // namespace banyan::switching::packet_node
