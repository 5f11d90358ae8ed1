// What travels: packets (records in a pool) and the PODs that cross channels.
#pragma once

#include "banyan/base/types.hpp"

namespace banyan::core {

/// Handle of a packet record: a slot of some shard in the upper 8 bits, a place in the lower 24
/// (engine/packet_pool.hpp). Never hashed, never compared.
using PacketId = u32;

/// A flit's place in its packet is a 16-bit number.
inline constexpr u32 kLongestPacket = 65535;

/// Bits of Packet::flags and Message::flags.
enum PacketFlag : u8 {
  kSynchronization = 1,  ///< belongs to a global synchronization (paper 1, section 3)
  kMeasured = 2,         ///< counts in the statistics of a steady run
  kMessageFirst = 4,     ///< the first packet of its message
  kMessageLast = 8,      ///< the last packet of its message
  kReply = 16,           ///< answers another message of its traffic
  kCongested = 32,       ///< a switch has marked it; of models that keep the mark here, and not in the head flit
};

/// One packet's record. Written by the shard of its source; foreign shards only read it. One cache line.
struct alignas(64) Packet {
  Tick birth = 0;       ///< generation
  Tick enter = 0;       ///< left its source queue
  u64 tag = 0;          ///< source route of a tagged routing: TagFormat::bits_per_hop bits per hop, first hop lowest
  u64 state = 0;        ///< routing's own state (intermediate node, phase ...)
  u32 source = 0;       ///< terminal
  u32 destination = 0;  ///< terminal
  u32 sequence = 0;     ///< nth message of its traffic at its source
  u32 message = 0;  ///< message that the packet is a part of: its number, or the tag that an answering traffic gave it
  u32 flits = 1;    ///< length
  u16 hops = 0;     ///< switches passed (written on delivery, or by models that keep it)
  u8 traffic = 0;   ///< index of the traffic that generated it
  u8 flags = 0;     ///< PacketFlag
  u8 pending = 0;   ///< bit i: traffic i's hot-spot flag was set at the source when the packet was generated
  u8 vc_class = 0;  ///< service class: 2 * traffic, + 1 for replies
  u16 copies =
      0;  ///< terminals that a multidestination packet is for (engine/destination_sets.hpp); 0: one, `destination`
  u32 message_flits = 1;  ///< length of the whole message
};
static_assert(sizeof(Packet) == 64);

/// One flit on a wire.
struct Flit {
  PacketId packet = 0;
  u32 destination = 0;
  u16 sequence = 0;  ///< position inside its packet
  u16 auxiliary =
      0;  ///< of models between interfaces (engine/interfaces.hpp): switches passed, which the terminal records
  u8 vc = 0;
  u8 flags = 0;        ///< FlitFlag
  u16 auxiliary2 = 0;  ///< the model's own, as `auxiliary` is of whole networks
};
static_assert(sizeof(Flit) == 16);

/// kMarked: a switch on the way was congested; in the head flit.
enum FlitFlag : u8 { kHead = 1, kTail = 2, kMarked = 4 };

/// What a receiver learns of a packet's way.
struct Signals {
  bool marked = false;  ///< by a switch
  u16 hops = 0;         ///< switches passed
  u16 value = 0;        ///< what switches wrote on the way (core/utilization.hpp); 0 where none is asked to
};

/// One control word on a wire: credits, Xon/Xoff, notifications, acknowledgments.
struct Control {
  u16 kind = 0;
  u16 vc = 0;
  u32 argument = 0;
};
static_assert(sizeof(Control) == 8);

}  // namespace banyan::core
