// What the kernels of vc_router share: buffers, credits and who holds which virtual channel, for all routers of a shard
// in flat arrays; and what an observer asks about them: digest, conservation, who waits for whom.
#pragma once

#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/routing.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/parts/marking.hpp"
#include "banyan/switching/vc_router/allocator.hpp"
#include "banyan/switching/vc_router/flit_rings.hpp"
#include "banyan/switching/vc_router/layout.hpp"

namespace banyan::switching::parts {

constexpr u32 kMostPorts = 64;
constexpr u32 kMostVcs = 64;

/// State of an input virtual channel besides InputVc::vc < kMostVcs (the output virtual channel that it holds).
enum : u8 {
  kAdaptive = 0xfd,  ///< head is routed and has several candidates: asks again in every attempt
  kRouted = 0xfe,    ///< head is routed: waits for one of [begin, end) of output `port`
  kFresh = 0xff,     ///< nothing, or a head that is not routed yet
};

/// N: what counts the places of a buffer and the virtual channels of a router, with two numbers to spare.
template <class N>
struct alignas(sizeof(N) == 1 ? 8 : sizeof(N)) InputVcOf {
  /// The first four fields, which are written at once.
  struct Way {
    u8 port = 0;
    u8 vc = kFresh;
    u8 begin = 0;
    u8 end = 0;
  };
  [[nodiscard]] Way way() const noexcept { return {port, vc, begin, end}; }
  void take(const Way& way) noexcept { std::memcpy(static_cast<void*>(this), &way, sizeof(Way)); }

  u8 port = 0;  ///< output port
  u8 vc = kFresh;
  u8 begin = 0;
  u8 end = 0;
  RingStateOf<N> ring;
  N first = 0;  ///< for arbiters: the output virtual channel to be accepted first
};
static_assert(sizeof(InputVcOf<u8>) == 8 && sizeof(InputVcOf<u16>) == 10);

template <class N>
struct OutputVcOf {
  /// Values of holder besides input virtual channels.
  static constexpr N kNobody = static_cast<N>(-1);
  static constexpr N kDraining = kNobody - 1;  ///< the tail left; given again when all its places are free

  N credits = 0;
  N holder = kNobody;  ///< input virtual channel whose packet holds it
  N tail = 0;          ///< place of the next flit in the ring at the far end, where the sender puts it there
  N head = 0;          ///< for arbiters: the input virtual channel to be granted first
};
static_assert(sizeof(OutputVcOf<u8>) == 4 && sizeof(OutputVcOf<u16>) == 8);

/// Delays of the stages in cycles (Dally and Towles 2004, section 16.2). A head that reaches the front of its buffer at
/// t asks for a virtual channel at t + routing, for the switch vc_allocation later, is granted it at the earliest in
/// the last cycle of sw_allocation, and is on the channel `traversal` cycles after that one.
struct Pipeline {
  u32 routing = 1;
  u32 vc_allocation = 1;
  u32 sw_allocation = 1;
  u32 traversal = 1;
  u32 credit = 0;           ///< from the arrival of a credit at a router until it counts
  u32 source_credit = 0;    ///< the same at a terminal
  bool overlapping = true;  ///< a stage of several cycles takes new packets in every cycle, not only when it is idle

  /// Cycles from the last one of switch allocation to departure, that cycle included.
  [[nodiscard]] Tick departure() const noexcept { return Tick{1} + traversal; }
  /// From the last thing that came to a router to the next flit that leaves it, at the most: a stage that has just
  /// turned a packet away runs once, once more for others before it (a batch of stages that do not overlap), and then
  /// for the packet.
  [[nodiscard]] Tick longest_silence() const noexcept {
    return Tick{3} * (Tick{routing} + vc_allocation + sw_allocation + traversal + 1) + credit;
  }
  /// Cycles from when a flit leaves its buffer until its credit counts, without the way back over the channel.
  [[nodiscard]] u32 credit_return(bool to_terminal) const noexcept {
    return 1 + (to_terminal ? source_credit : credit);
  }
  [[nodiscard]] bool sequential_crossbar() const noexcept { return !overlapping && traversal > 1; }
};

struct AllocatorChoice {
  AllocatorKind kind = AllocatorKind::islip;
  u32 iterations = 1;
};

struct RouterSetup {
  u32 ports = 1;
  u32 vcs = 1;
  u32 buffer = 1;    ///< most flits in one virtual channel
  u32 reserved = 1;  ///< places of each virtual channel that no other may use; buffer when nothing is shared
  u32 pool = 0;      ///< places of an input port that all its virtual channels share
  Pipeline pipeline;
  bool speculative = false;  ///< heads ask for the switch while they ask for a virtual channel
  AllocatorChoice vc_allocator;
  AllocatorChoice sw_allocator;
  ArbiterKind arbiter = ArbiterKind::round_robin;
  u32 input_speedup = 1;              ///< ways from an input port into the crossbar
  u32 output_speedup = 1;             ///< ways from the crossbar to an output port
  double internal_speedup = 1.0;      ///< steps of the router per cycle
  u32 output_buffer = 0;              ///< flits that may wait before a channel where there is speedup; 0: any number
  bool hold_switch = false;           ///< a packet keeps its way through the crossbar while it can send
  bool wait_for_tail_credit = false;  ///< an output virtual channel is given again when it is empty
  bool store_and_forward = false;     ///< a head is routed when its tail has arrived
  bool cut_through = false;           ///< a virtual channel is given for the room of a whole packet
  bool vc_busy_when_full = false;     ///< a virtual channel without a credit is not given
  std::vector<u8> priorities;         ///< [core::Packet::vc_class]; empty: all are equal
  Marking marking;
  Tick utilization_period = 0;  ///< over which links are measured; 0: nobody asks
  u64 bytes = 0;                ///< of all routers of the network
  bool slow_channels = false;   ///< some channel takes more than a cycle per flit
  Tick horizon = 1;             ///< longest way of a flit or a credit, in ticks

  /// Whether flits may wait between the crossbar and a channel: several come at once.
  [[nodiscard]] bool output_queues() const noexcept {
    return output_speedup > 1 || internal_speedup > 1.0 || pipeline.sequential_crossbar();
  }
};

/// Chooses among candidates, for the heads of a router that have several in one cycle, one head after the other, as
/// the sequential algorithm of Kim, Dally and Abts (Adaptive Routing in High-radix Clos Network, SC 2006): where all
/// go by the same credits alone (their greedy algorithm), all ask for the same port.
class Choice {
 public:
  explicit Choice(u32 ports) : asked_(ports, 0) {}
  /// Nobody has chosen yet.
  void begin() noexcept { std::fill(asked_.begin(), asked_.end(), u16{0}); }
  /// Of the candidates of highest priority with open(candidate) the one with most room: room(port, virtual channel)
  /// over its virtual channels, less one for each head that chose the port before. Of equals the first from number
  /// `turn` on, around. nullptr: none is open.
  template <class Open, class Room>
  [[nodiscard]] const core::Candidate* best(const core::Candidates& candidates, u32 turn, Open&& open,
                                            Room&& room) noexcept {
    const core::Candidate* best = nullptr;
    i32 most = 0;
    const u32 count = static_cast<u32>(candidates.size());
    u32 k = count == 0 ? 0 : turn % count;
    for (u32 left = count; left != 0; --left, k = k + 1 == count ? 0 : k + 1) {
      const core::Candidate& c = candidates[k];
      if (!open(c)) continue;
      i32 sum = -i32{asked_[c.port]};
      for (u32 v = c.vc_begin; v < c.vc_end; ++v) sum += room(c.port, v);
      if (best != nullptr && (c.priority < best->priority || (c.priority == best->priority && sum <= most))) continue;
      best = &c;
      most = sum;
    }
    if (best != nullptr) ++asked_[best->port];
    return best;
  }

 private:
  std::vector<u16> asked_;  ///< [port]
};

template <class N, class Places = AllPlaces>
class VcRouterBase : public core::Occupancy {
 public:
  using RingState = RingStateOf<N>;
  using InputVc = InputVcOf<N>;
  using OutputVc = OutputVcOf<N>;
  static constexpr N kNobody = OutputVc::kNobody;
  static constexpr N kDraining = OutputVc::kDraining;
  /// The optional functions (core::Provided) that both kernels have.
  static constexpr u32 kBaseProvides =
      core::kActivity | core::kHoldArrival | core::kLongestSilence | core::kBlockedOn | core::kFullChannels;
  /// Most places of a buffer.
  static constexpr u32 kMostPlaces = std::numeric_limits<N>::max();

  VcRouterBase(engine::Builder& builder, u32 shard, const RouterSetup& setup);

  [[nodiscard]] u32 entities() const noexcept { return static_cast<u32>(switches_.size()); }
  [[nodiscard]] Tick horizon() const noexcept { return setup_.horizon; }
  [[nodiscard]] u64 movements() const noexcept { return movements_; }
  [[nodiscard]] Tick longest_silence() const noexcept { return setup_.pipeline.longest_silence(); }
  void activity(engine::Activity& into) const;
  void hold(engine::Holdings& into) const;
  void hold_arrival(u32 e, u32 port, const core::Flit& flit, engine::Holdings& into) const;
  void hold_arrival(u32 e, u32 port, const core::Control& control, engine::Holdings& into) const;
  void blocked_on(engine::BlockedView& into) const;
  void occupancy(std::vector<u64>& levels) const;
  void full_channels(std::vector<u32>& channels) const;
  /// Credits in use behind an output at the beginning of the tick: of the router that is routing; of any router for a
  /// routing that sees the network (which lies in one shard then).
  [[nodiscard]] u32 used(u32 switch_, u32 port) const noexcept final;

 protected:
  /// Is called at the beginning of every step.
  void observe(u32 e, Tick now) noexcept {
    if (routing_sight_ == core::Sight::own_switch) take_snapshot(e);
    if (routing_sight_ == core::Sight::network && now != observed_at_) take_snapshot_of_all(now);
  }
  /// Whether the routing looks at queues.
  [[nodiscard]] bool watched() const noexcept { return routing_sight_ != core::Sight::none; }
  void reset_base(u32 replication);
  void digest_base(u32 e, Hasher& h) const;
  void archive_base(Archive& a) { a(inputs_, outputs_, pool_, flits_, movements_, packets_, observed_at_, observed_); }

  /// Number of a router's first virtual channel, of inputs as of outputs.
  [[nodiscard]] std::size_t base(u32 e) const noexcept { return static_cast<std::size_t>(e) * layout_.size(); }
  [[nodiscard]] bool leads_on(u32 s, u32 port) const;
  /// A terminal counts credits source_credit_delay after their arrival, a router credit_delay.
  [[nodiscard]] bool fed_by_terminal(u32 s, u32 port) const;
  /// Flits that output virtual channel o may send now.
  [[nodiscard]] u32 room(u32 e, u32 o) const noexcept {
    const u32 credits = outputs_[base(e) + o].credits;
    if (setup_.pool == 0) return credits;
    const u32 used = setup_.buffer - credits;
    return (used < setup_.reserved ? setup_.reserved - used : 0) + pool_[pool_index(e, o)];
  }
  /// Requires room.
  void take_place(u32 e, u32 o) noexcept {
    OutputVc& out = outputs_[base(e) + o];
    --out.credits;
    if (setup_.buffer - out.credits > setup_.reserved) --pool_[pool_index(e, o)];
  }
  void give_back(u32 e, u32 o, u32 places) noexcept {
    OutputVc& out = outputs_[base(e) + o];
    for (u32 k = 0; k < places; ++k) {
      if (setup_.buffer - out.credits > setup_.reserved) ++pool_[pool_index(e, o)];
      ++out.credits;
    }
  }
  [[nodiscard]] const core::Packet& packet(core::PacketId id) const noexcept {
    return (*pools_[id >> engine::PacketPool::kIndexBits])[id];
  }
  /// The candidates of a head that has passed `hops` switches.
  void route(u32 e, u32 i, const core::Packet& packet, u32 hops, core::Candidates& out) const noexcept {
    const u32 s = switches_[e];
    out.clear();
    routing_entity_ = e;
    core::HopWord random;
    if (draws_) random = {random_, packet, s, hops};
    routing_.route({s, layout_.port(i), layout_.vc(i), &packet, random, this}, out);
  }
  [[nodiscard]] std::string violation(u32 e, u32 i, std::string_view what) const;

  const core::Topology& topology_;
  const core::Routing& routing_;
  u64 seed_;
  core::HopRandom random_;
  RouterSetup setup_;
  VcLayout layout_;
  std::vector<u32> switches_;     ///< [entity]: number in the graph
  PageVector<InputVc> inputs_;    ///< [entity * layout size + index]
  PageVector<OutputVc> outputs_;  ///< likewise
  std::vector<u32> pool_;         ///< [entity * ports + output port]: free places of the shared pool at the far end
  FlitRingsOf<Places> flits_;     ///< one ring per input virtual channel
  u64 movements_ = 0;
  u64 packets_ = 0;  ///< tails that passed a router

 private:
  [[nodiscard]] std::size_t pool_index(u32 e, u32 o) const noexcept {
    return std::size_t{e} * layout_.ports() + layout_.port(o);
  }
  void hold_places(u32 e, engine::Holdings& into) const;
  [[nodiscard]] engine::Resource buffer_of(u32 e, u32 i) const;
  [[nodiscard]] bool is_ready(u32 e, u32 i, u32 o, const core::Packet& waiter) const;
  void wait_for_vc(u32 e, u32 i, engine::BlockedView& into) const;
  void wait_for(u32 e, u32 i, u32 o, engine::BlockedView& into) const;
  void show_contents(u32 e, u32 i, engine::BlockedView& into) const;

  [[nodiscard]] u32 credits_in_use(u32 e, u32 port) const noexcept;
  void take_snapshot(u32 e) const noexcept;
  void take_snapshot_of_all(Tick now) noexcept;

  std::vector<const engine::PacketPool*> pools_;  ///< [shard]
  core::Sight routing_sight_;
  bool draws_;  ///< the routing reads its random word
  Tick observed_at_ = kNever;
  /// [entity * ports + port]: credits in use at the beginning of the tick; of a router that is not stepped, of an
  /// earlier one, until blocked_on() looks again.
  mutable std::vector<u32> observed_;
  mutable u32 routing_entity_ = 0;  ///< whose packet is being routed
};

extern template class VcRouterBase<u8, AllPlaces>;
extern template class VcRouterBase<u16, AllPlaces>;
extern template class VcRouterBase<u16, LentPlaces>;

}  // namespace banyan::switching::parts
