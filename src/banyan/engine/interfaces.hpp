// Network interfaces for switch models that are reached over channels: they packetize nothing, send one flit per tick
// into the injection channel as credits allow, and hand arriving packets to the terminals.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/switch_model.hpp"
#include "banyan/engine/io.hpp"
#include "banyan/engine/population.hpp"
#include "banyan/engine/terminals.hpp"

namespace banyan::engine {

/// Kinds of control words that interfaces and switches exchange.
enum ControlKind : u16 { kCredit = 0 };  ///< vc: the virtual channel; argument: flits

class Interfaces {
 public:
  static constexpr u32 kProvides = core::kStep | core::kWakeBySource | core::kNextSourceAfter | core::kReach |
                                   core::kBeginWave | core::kEndWave | core::kBlockedOn | core::kActivity |
                                   core::kHoldArrival | core::kArchive;

  struct Setup {
    u32 vcs = 1;                               ///< virtual channels of the injection channel
    u32 credits = 1;                           ///< most flits of one virtual channel at the switch
    u32 pool = 0;                              ///< how many of these are shared by all virtual channels
    Tick credit_delay = 0;                     ///< ticks from a flit's arrival until its credit goes back
    Tick horizon = 1;                          ///< longest latency of a channel to or from a terminal
    std::vector<std::pair<u32, u32>> classes;  ///< [service class]: virtual channels; empty: all for everything
    const core::Graph* graph = nullptr;        ///< that the terminals' channels are of; set by Builder::add_interfaces
    bool whole_packet = false;          ///< virtual cut-through: start a packet only when its whole length has credit
    bool wait_for_tail_credit = false;  ///< start a packet only on a virtual channel that is empty at the switch
  };

  /// `injection`: channel of every terminal. `cycles_per_flit`: of these channels; empty: one flit per tick.
  Interfaces(Terminals& terminals, const Setup& setup, std::vector<u32> injection,
             std::vector<u32> cycles_per_flit = {});

  bool accept(u32 e, u32 port, const core::Flit& flit, Io& io) noexcept;
  bool accept(u32 e, u32 port, const core::Control& control, Io& io) noexcept;
  Tick step(u32 e, Tick now, Io& io) noexcept;
  void wake_by_source(Tick now, std::vector<u64>& awake) noexcept;
  /// A wave (wave.hpp) asks for the words [first, last).
  [[nodiscard]] u32 reach() const noexcept { return terminals_.source.independent() ? 0 : kNone; }
  void begin_wave(Tick now) noexcept { terminals_.source.advance(now); }
  void wake_by_source(Tick now, std::vector<u64>& awake, u32 first, u32 last) noexcept;
  void end_wave(Tick now, Tick ticks) noexcept { terminals_.source.end_wave(now, ticks); }
  [[nodiscard]] Tick next_source_after(Tick now) const noexcept { return terminals_.source.next_birth_after(now); }

  [[nodiscard]] u32 entities() const noexcept { return terminals_.size(); }
  [[nodiscard]] Tick horizon() const noexcept { return setup_.horizon; }
  void reset(u32 replication);
  [[nodiscard]] u64 digest() const;
  void hold(Holdings& into) const;
  void hold_arrival(u32 e, u32 port, const core::Flit& flit, Holdings& into) const;
  void hold_arrival(u32 e, u32 port, const core::Control& control, Holdings& into) const;
  /// None: what counts is a flit through a switch.
  [[nodiscard]] u64 movements() const noexcept { return 0; }
  /// Flits that left the terminals.
  void activity(Activity& into) const {
    into.link_traversals += terminals_.recorder.taken_flits();
    for (const Sender& s : senders_) into.link_traversals -= s.left;
  }
  /// Packets that are cut off from the network: what has left the source queue, and its next one.
  void blocked_on(BlockedView& into) const;
  void occupancy(std::vector<u64>&) const {}
  void archive(Archive& a) { a(senders_, credits_, pool_, free_at_, head_at_, idle_, received_, order_broken_); }

 private:
  struct Sender {
    core::PacketId packet = 0;
    u32 left = 0;  ///< flits still to be sent; 0: no packet
    u16 next = 0;  ///< sequence number of the next flit
    u8 vc = 0;     ///< of the current packet, or the last used
  };

  /// Flits that virtual channel `vc` of terminal e may send now.
  [[nodiscard]] u32 room(u32 e, u32 vc) const noexcept {
    const u32 credits = credits_[static_cast<std::size_t>(e) * setup_.vcs + vc];
    if (setup_.pool == 0) return credits;
    const u32 reserved = setup_.credits - setup_.pool;
    const u32 used = setup_.credits - credits;
    return (used < reserved ? reserved - used : 0) + pool_[e];
  }
  /// Whether a packet may start on it whose first `need` flits must have room.
  [[nodiscard]] bool may_start(u32 e, u32 vc, u32 need) const noexcept {
    if (setup_.wait_for_tail_credit && credits_[static_cast<std::size_t>(e) * setup_.vcs + vc] != setup_.credits) {
      return false;
    }
    return room(e, vc) >= need;
  }
  void take_place(u32 e, u32 vc) noexcept {
    u32& credits = credits_[static_cast<std::size_t>(e) * setup_.vcs + vc];
    --credits;
    if (setup_.pool != 0 && credits < setup_.pool) --pool_[e];
  }
  void give_back(u32 e, u32 vc, u32 places) noexcept {
    u32& credits = credits_[static_cast<std::size_t>(e) * setup_.vcs + vc];
    if (setup_.pool != 0 && credits < setup_.pool) pool_[e] += std::min(places, setup_.pool - credits);
    credits += places;
  }
  static constexpr Tick kMarkedHead = Tick{1} << 63U;  ///< bit of head_at_: a switch has marked the packet

  [[nodiscard]] u32 cycles_per_flit(u32 e) const noexcept { return cycles_.empty() ? 1 : cycles_[e]; }

  [[nodiscard]] bool start(u32 e, Tick now) noexcept;
  /// Virtual channels [first, second) for the packet at the head of e's queue.
  [[nodiscard]] std::pair<u32, u32> head_vcs(u32 e) const noexcept {
    if (setup_.classes.empty()) return {0, setup_.vcs};
    return setup_.classes[terminals_.source.head_class(e)];
  }
  [[nodiscard]] bool ready(u32 e) const noexcept { return (terminals_.source.ready()[e >> 6U] >> (e & 63U) & 1U) != 0; }

  Terminals& terminals_;
  Setup setup_;
  std::vector<u32> injection_;   ///< [terminal]: channel of the graph
  std::vector<Sender> senders_;  ///< [terminal]
  std::vector<u32> credits_;     ///< [terminal * vcs + vc]
  std::vector<u32> pool_;        ///< [terminal]: free places of the shared pool; empty when nothing is shared
  std::vector<u32> cycles_;      ///< [terminal]: cycles per flit; empty: one each
  std::vector<Tick> free_at_;    ///< [terminal]: when the channel takes a flit again; empty with cycles_
  std::vector<Tick>
      head_at_;            ///< [terminal * vcs + vc]: when the head of the packet that is arriving did, and kMarkedHead
  std::vector<u64> idle_;  ///< bit per terminal: no packet under way
  u64 received_ = 0;       ///< flits; those of packets whose tail has not arrived are held here
  bool order_broken_ = false;
};
static_assert(core::SwitchModel<Interfaces>);

}  // namespace banyan::engine
