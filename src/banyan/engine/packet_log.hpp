// Every packet of a replication, one after the other: when it was born, entered and arrived, and over which channels.
// Between ticks it takes away what the probes of the shards saw, and tells packets in the order of their arrivals, so
// that neither shards nor the times at which it looks can show, and no more is held than what is on its way.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <vector>

#include "banyan/engine/probe.hpp"

namespace banyan::engine {

class Machine;

/// A packet that has arrived, or, at the end, one that has not. Of a packet for several terminals, one per terminal;
/// where it has not arrived at a terminal, `channels` is empty unless its head crossed the last of them: until then
/// nobody can say which of its branches leads there.
struct LoggedPacket {
  PacketName name;
  u32 destination = 0;
  u64 flits = 0;
  Tick birth = 0;
  Tick enter = 0;
  Tick arrival = kNever;  ///< kNever: it is still on its way
  std::span<const u32> channels;
};

class PacketLog {
 public:
  using Listener = std::function<void(const LoggedPacket&)>;

  PacketLog(const core::Graph& graph, Listener listener) : graph_(graph), listener_(std::move(listener)) {}

  /// All ticks before `done` are done: tells what has arrived, now and then, so as not to do little often.
  void look(const Machine& machine, Tick done);
  /// At the end of a replication: tells what has arrived, then what has not, by birth; and starts again.
  void finish(const Machine& machine);

 private:
  static constexpr Tick kPeriod = 1024;

  struct Hop {
    u32 channel;
    Tick at;
  };
  struct Open {
    u32 destination = 0;
    u32 flits = 0;
    std::vector<u32> owed;  ///< terminals that do not have it yet, of a packet for several
    bool single = true;
    bool reduces = false;  ///< a contribution; where another one went on at a switch, it has no hops from there
    Tick birth = 0;
    Tick enter = 0;
    std::vector<Hop> hops;
  };

  void collect(const Machine& machine);
  /// `whole`: the packet was at its terminal.
  void tell(const PacketName& name, const Open& packet, u32 destination, Tick enter, Tick arrival, bool whole);
  void leave(u32 source, u32 terminal);
  void follow(const Open& packet, u32 terminal);

  const core::Graph& graph_;
  Listener listener_;
  Tick next_ = kPeriod;
  std::map<PacketName, Open> open_;  ///< on their way
  std::vector<u32> way_;
};

}  // namespace banyan::engine
