// What the engine sees of a switch model or of the network interfaces: one virtual call per population, shard and tick.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/engine/blocked.hpp"
#include "banyan/engine/wait.hpp"

namespace banyan::engine {

class OwnMetrics;

/// What a population says of its blocks.
struct Blocks {
  u32 count = 0;           ///< 0: it is run as a whole
  u32 reach = 0;           ///< between the blocks of the two ends of a channel inside of the population, at most
  bool backwards = false;  ///< they are run in the opposite order, which must not matter
};

/// One arrival at a port of an entity (a switch or an interface) of a population.
struct FlitArrival {
  core::Flit flit;
  u32 entity = 0;
  u32 port = 0;
};
struct ControlArrival {
  core::Control control;
  u32 entity = 0;
  u32 port = 0;
};

/// The places of the buffers behind channels, for the audit of credits. The end that sends states how many a virtual
/// channel has; then every place is a credit there, a flit or a credit on the channel, or a flit in the buffer.
class PlaceLedger {
 public:
  /// `channels`: makes room for so many at once; more may come.
  explicit PlaceLedger(std::size_t channels = 0) : channels_(channels) {}

  void open(u32 channel, u32 vc, u32 places) {
    const std::size_t i = make(channel, vc);
    groups_[vc / kGroup].open[i] = true;
    groups_[vc / kGroup].balance[i] += static_cast<i32>(places);
  }
  void known(u32 channel, u32 vc, u64 places) { add(channel, vc, -static_cast<i32>(places)); }

  /// What does not add up: because it is wrong, or because the other end of the channel is in another ledger.
  struct Unbalanced {
    u32 channel = 0;
    u32 vc = 0;
    i32 balance = 0;
  };
  /// Hands out what does not add up of the channels [first, last), for add() in all ledgers of a network: each then
  /// finds what is wrong with the places that were stated in it.
  [[nodiscard]] std::vector<Unbalanced> take_unbalanced(std::size_t first, std::size_t last) {
    std::vector<Unbalanced> list;
    for (u32 group = 0; group < groups_.size(); ++group) {
      SmallPageVector<i32>& balance = groups_[group].balance;
      for (std::size_t i = first * kGroup; i < std::min(balance.size(), last * kGroup); ++i) {
        if (balance[i] == 0) continue;
        list.push_back({static_cast<u32>(i / kGroup), group * kGroup + static_cast<u32>(i % kGroup),
                        std::exchange(balance[i], 0)});
      }
    }
    return list;
  }
  void add(const std::vector<Unbalanced>& list) {
    for (const Unbalanced& place : list) add(place.channel, place.vc, place.balance);
  }
  /// Calls f(channel, vc, places that are missing; below 0: too many) for every one that does not add up.
  template <class F>
  void for_each_error(F&& f) const {
    std::size_t channels = 0;
    for (const Group& group : groups_) channels = std::max(channels, group.balance.size() / kGroup);
    for (std::size_t i = 0; i < channels * kVcs; ++i) {
      const std::size_t channel = i / kVcs;
      const std::size_t vc = i % kVcs;
      const Group& group = groups_[vc / kGroup];
      if (group.balance.size() <= channel * kGroup) continue;
      const std::size_t at = channel * kGroup + vc % kGroup;
      if (group.open[at] && group.balance[at] != 0)
        f(static_cast<u32>(channel), static_cast<u32>(vc), i64{group.balance[at]});
    }
  }

 private:
  static constexpr u32 kVcs = 64;
  static constexpr u32 kGroup = 4;  ///< virtual channels whose places lie together; what no channel has takes no memory

  /// [channel * kGroup + vc % kGroup].
  struct Group {
    SmallPageVector<i32> balance;  ///< places stated, less those known; channels of other ranks take no memory
    std::vector<bool> open;
  };

  void add(u32 channel, u32 vc, i32 places) { groups_[vc / kGroup].balance[make(channel, vc)] += places; }
  /// Its place in its group, which has room for it from now on.
  [[nodiscard]] std::size_t make(u32 channel, u32 vc) {
    Group& group = groups_[vc / kGroup];
    const std::size_t i = std::size_t{channel} * kGroup + vc % kGroup;
    if (i >= group.balance.size()) {
      group.balance.resize(std::max(channels_, std::size_t{channel} + 1) * kGroup);
      group.open.resize(group.balance.size());
    }
    return i;
  }

  std::size_t channels_;
  std::array<Group, kVcs / kGroup> groups_;  ///< [vc / kGroup]
};

/// What a population holds, for the conservation audit.
struct Holdings {
  u64 packets = 0;  ///< packets whose tail (or only flit) is inside
  u64 copies = 0;   ///< of these, those of packets for several destinations, once for each that they are still for
  u64 flits = 0;
  std::vector<std::string> violations;  ///< broken invariants found on the way (negative credit, count out of range)
  PlaceLedger places;                   ///< of models whose channels have credits

  void add(const core::Flit& flit) {
    ++flits;
    packets += (flit.flags & core::kTail) != 0 ? 1U : 0U;
  }
};

/// Identity of a flit, free of handles, for digests.
[[nodiscard]] inline u64 flit_digest(const core::Packet& packet, const core::Flit& flit) noexcept {
  Hasher h;
  h.add((static_cast<u64>(packet.source) << 32U) | packet.sequence);
  h.add((static_cast<u64>(packet.traffic) << 32U) | flit.sequence);
  h.add(packet.birth);
  return h.value();
}

/// What the hardware did, for energy models (energy = sum of count x energy per event): since the start of the
/// replication, warm-up included.
struct Activity {
  u64 buffer_writes = 0;        ///< flits
  u64 buffer_reads = 0;         ///< flits
  u64 crossbar_traversals = 0;  ///< flits; each is one grant of a switch allocator where there is one
  u64 link_traversals = 0;      ///< flits, links of terminals included
  u64 vc_allocations = 0;       ///< packets that held a virtual channel of an output and gave it back
  bool has_vcs = true;          ///< false: the hardware has no virtual channels, and counts none
  bool has_buffers = true;      ///< false: nor buffers

  Activity& operator+=(const Activity& other) noexcept {
    buffer_writes += other.buffer_writes;
    buffer_reads += other.buffer_reads;
    crossbar_traversals += other.crossbar_traversals;
    link_traversals += other.link_traversals;
    vc_allocations += other.vc_allocations;
    has_vcs = has_vcs && other.has_vcs;
    has_buffers = has_buffers && other.has_buffers;
    return *this;
  }
};

class Population {
 public:
  virtual ~Population() = default;

  /// Empties everything and re-keys the randomness for a replication; tick 0 follows. Allocates nothing new.
  virtual void reset(u32 replication) = 0;
  /// Takes what is due at `now`, steps whoever is awake, and returns the next tick at which it wants to run without
  /// further input (kNever: idle).
  virtual Tick run(Tick now) noexcept = 0;
  /// Its blocks of 64 entities, where each may make two ticks before the next one makes the first (wave.hpp).
  [[nodiscard]] virtual Blocks blocks() const { return {}; }
  // In place of run(now) to run(now + ticks - 1): begin_wave, run_blocks for every block and pair of ticks, end_wave.
  virtual void begin_wave(Tick now, Tick ticks) noexcept {
    static_cast<void>(now);
    static_cast<void>(ticks);
  }
  /// The ticks `now` and `now` + 1 of the blocks [first, last); `fresh`: the first pair of the wave.
  virtual void run_blocks(u32 first, u32 last, Tick now, bool fresh) noexcept {
    static_cast<void>(first);
    static_cast<void>(last);
    static_cast<void>(now);
    static_cast<void>(fresh);
  }
  /// Ends the wave and returns the next tick at which something is due, as run() does.
  virtual Tick end_wave() noexcept { return kNever; }
  /// The internal state as a sum over entities of keyed hashes: it does not depend on the order of entities, shards or
  /// packet handles.
  [[nodiscard]] virtual u64 digest() const = 0;
  /// True when the number of movements in the whole network is a part of the state, beside the digests.
  [[nodiscard]] virtual bool hashes_movements() const noexcept { return false; }
  virtual void hold(Holdings& into) const = 0;
  /// Does the same as hold() for what is on its way to it from another shard.
  virtual void hold(const FlitArrival& arrival, Holdings& into) const {
    static_cast<void>(arrival);
    static_cast<void>(into);
  }
  virtual void hold(const ControlArrival& arrival, Holdings& into) const {
    static_cast<void>(arrival);
    static_cast<void>(into);
  }
  /// Takes in what another shard sent to it during the last window, and which has to be known before `due`; for
  /// populations without an inbox. It is due to run at `due`, but is asked to take it in between any two runs before.
  virtual void take_in(Tick due, const FlitArrival& arrival) {
    static_cast<void>(due);
    static_cast<void>(arrival);
  }
  virtual void take_in(Tick due, const ControlArrival& arrival) {
    static_cast<void>(due);
    static_cast<void>(arrival);
  }
  /// What a flit that is on its way to it from another shard adds to the digest.
  [[nodiscard]] virtual u64 digest_of(Tick due, const FlitArrival& arrival, const core::Packet& packet) const {
    static_cast<void>(due);
    return flit_digest(packet, arrival.flit);
  }
  /// The same of a control word; 0 where those are no part of the state.
  [[nodiscard]] virtual u64 digest_of(Tick due, const ControlArrival& arrival) const {
    static_cast<void>(due);
    static_cast<void>(arrival);
    return 0;
  }
  /// Flit-hops: grows whenever a flit passes a switch or a circuit moves; the watchdog compares it.
  [[nodiscard]] virtual u64 movements() const noexcept = 0;
  /// True when it will run in the next tick only because all entities are stepped in all ticks.
  [[nodiscard]] virtual bool only_asked() const noexcept { return false; }
  /// True when something will happen that depends on nobody: what is on its way over a channel to the population
  /// arrives, a transfer ends, a timer runs out. The watchdog waits for it. `now`: done.
  [[nodiscard]] virtual bool expects(Tick now) const { return static_cast<void>(now), false; }
  /// Ticks for which packets that get on may not move although expects() is false, at the most: the stages of a
  /// pipeline. The watchdog waits for so much longer.
  [[nodiscard]] virtual Tick longest_silence() const { return 0; }
  /// Whether it may look at the record of a packet whose tail has gone to another shard.
  [[nodiscard]] virtual bool looks_back() const noexcept { return true; }
  /// Adds what the population did; false when it does not count that.
  virtual bool activity(Activity& into) const {
    static_cast<void>(into);
    return false;
  }
  /// All its state between two ticks. Throws NotArchived where a model does not say what that is.
  virtual void archive(Archive& a) {
    static_cast<void>(a);
    throw NotArchived("switch");
  }
  /// The metrics that the population adds to the result; nullptr: none.
  [[nodiscard]] virtual OwnMetrics* own_metrics() noexcept { return nullptr; }
  /// Who waits for what right now, in integers: explains deadlocks and gives congestion trees.
  virtual void blocked_on(BlockedView& into) const { static_cast<void>(into); }
  /// The same with text made at once, for models that do not publish blocked_on.
  virtual void waits(std::vector<Wait>& into) const { static_cast<void>(into); }
  /// Packets per level of the graph (stage occupancy); adds to `levels`.
  virtual void occupancy(std::vector<u64>& levels) const { static_cast<void>(levels); }
  /// Channel numbers (core::Graph) whose buffer is full, for the saturation tree of paper 1.
  virtual void full_channels(std::vector<u32>& channels) const { static_cast<void>(channels); }
  /// For a model that looks at what is behind its channels to tell who waits for what (blocked_on, full_channels),
  /// where that is in another process: before it is asked, everybody tells what others may look at, and hears what all
  /// have told; kBorderRounds times, for what is told may depend on what was heard.
  static constexpr u32 kBorderRounds = 2;
  virtual void tell_border(u32 round, std::vector<u64>& words) const {
    static_cast<void>(round);
    static_cast<void>(words);
  }
  virtual void hear_border(u32 round, std::span<const u64> words) {
    static_cast<void>(round);
    static_cast<void>(words);
  }
};

}  // namespace banyan::engine
