// The general kernel of vc_router: every setting, one loop over the virtual channels of a router per cycle.
//
// With an internal speedup of s a router makes s steps per cycle on average, and the stages of delay 0 and 1, the
// crossbar among them, count in those; longer delays count in cycles. Everything that happens in one step is decided on
// the state before it.
//
// Without Pipeline::overlapping a stage of several cycles works in batches, as in BookSim2: it takes all that wait when
// it is idle, and what comes while it works waits for the next batch.
#pragma once

#include <memory>
#include <vector>

#include "banyan/core/utilization.hpp"
#include "banyan/switching/vc_router/allocator.hpp"
#include "banyan/switching/vc_router/base.hpp"

namespace banyan::switching::parts {

class VcRouterGeneral : public VcRouterBase<u16> {
 public:
  static constexpr u32 kProvides = kBaseProvides | core::kStep | core::kArchive;

  VcRouterGeneral(engine::Builder& builder, u32 shard, const RouterSetup& setup);

  void reset(u32);
  Tick accept(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept;
  Tick accept(u32 e, u32 port, const core::Control& control, engine::Io& io) noexcept;
  Tick step(u32 e, Tick now, engine::Io& io) noexcept;
  [[nodiscard]] u64 digest() const;
  void archive(Archive& a) {
    archive_base(a);
    a(states_, occupied_, channels_, next_vc_, held_by_, way_out_held_, marked_, meters_, batches_, vcs_, switch_);
    if (speculative_switch_) a(*speculative_switch_);
  }

 private:
  enum class Stage : u8 {
    empty,     ///< no head: nothing, or a packet whose tail is not here yet (store and forward)
    asking,    ///< a head that asks for a virtual channel from step `at`
    granting,  ///< a head that was promised output virtual channel `promised`, and takes it in step `at`
    active,    ///< holds an output virtual channel, may ask for the switch from step `at`
    sending,   ///< was granted the switch, sends in step `at`
  };
  struct VcState {
    u64 at = 0;
    u16 promised = 0;
    Stage stage = Stage::empty;
  };
  /// What a stage that works in batches does last, or will do next.
  struct Batch {
    u64 begin = 0;
    u64 end = 0;  ///< its last step
    bool planned = false;
  };
  /// The stages of a router that work in batches where they do not overlap.
  struct Batches {
    Batch routing;
    Batch vc_allocation;
    Batch sw_allocation;
    Batch crossbar;
  };
  /// What is kept of an output port.
  struct Output {
    Tick free_at = 0;  ///< its channel takes a flit again
    u32 cycles_per_flit = 1;
    bool to_terminal = false;
  };
  /// A request for the switch.
  struct Bid {
    u32 input = 0;  ///< way into the crossbar
    u32 output = 0;
    u32 vc = 0;  ///< input virtual channel
    bool speculative = false;
  };
  /// One router in one step.
  struct At {
    u32 e;
    u64 step;
    Tick now;
    InputVc* inputs;
    OutputVc* outputs;
    VcState* states;
    engine::Io* io;
  };

  [[nodiscard]] u64 first_step(Tick t) const noexcept {
    return setup_.internal_speedup == 1.0 ? t : static_cast<u64>(static_cast<double>(t) * setup_.internal_speedup);
  }
  /// The step after a stage of `delay` that begins in `step` of cycle `now`.
  [[nodiscard]] u64 after(u64 step, Tick now, u32 delay) const noexcept {
    return delay <= 1 ? step + delay : first_step(now + delay - 1) + 1;
  }
  /// The step in which that stage ends.
  [[nodiscard]] u64 last(u64 step, Tick now, u32 delay) const noexcept {
    return delay <= 1 ? step : first_step(now + delay - 1);
  }
  /// The cycle of a step that is not before `from`.
  [[nodiscard]] Tick cycle_of(u64 step, Tick from) const noexcept {
    while (first_step(from + 1) <= step) ++from;
    return from;
  }
  /// Whether a stage of `delay` cycles works in batches.
  [[nodiscard]] bool batched(u32 delay) const noexcept { return !setup_.pipeline.overlapping && delay > 1; }
  /// The first step of the batch for what comes in `step`.
  [[nodiscard]] static u64 begin_of(const Batch& batch, u64 step) noexcept {
    if (!batch.planned || step > batch.end) return step;
    return step <= batch.begin ? batch.begin : batch.end + 1;
  }
  /// Puts what comes in `step` into that batch.
  void join(Batch& batch, u64 step, Tick now, u32 delay) const noexcept {
    const u64 begin = begin_of(batch, step);
    batch = {begin, last(begin, cycle_of(begin, now), delay), true};
  }
  [[nodiscard]] Tick departure(const At& a) const noexcept;
  [[nodiscard]] u32 way_in(u32 i) const noexcept {
    return layout_.port(i) * setup_.input_speedup + layout_.vc(i) % setup_.input_speedup;
  }
  [[nodiscard]] u32 way_out(u32 i, u32 port) const noexcept {
    return port * setup_.output_speedup + layout_.port(i) % setup_.output_speedup;
  }
  [[nodiscard]] const core::Packet& head(const At& a, u32 i) const noexcept {
    return a.io->packet(flits_.front(a.e, i, a.inputs[i].ring).packet());
  }
  [[nodiscard]] u64 key(const At& a, u32 i) const noexcept;
  [[nodiscard]] u8 priority(const At& a, u32 i) const noexcept {
    return setup_.priorities.empty() ? u8{0} : setup_.priorities[head(a, i).vc_class];
  }
  template <class Level, class F>
  static void by_level(u32 count, Level&& level, F&& f);
  void match_bids(Allocator& allocator, const At& a, bool speculative) noexcept;
  [[nodiscard]] bool takes_flit(const At& a, u32 port) const noexcept;
  [[nodiscard]] bool open_vc(const At& a, u32 i, u32 o) const noexcept;

  void begin_packet(const At& a, u32 i, u64 step, Tick now) noexcept;
  bool choose(const At& a, u32 i) noexcept;
  void request_vcs(const At& a) noexcept;
  void take_vcs(const At& a) noexcept;
  void bid(const At& a, u32 i, bool speculative) noexcept;
  void collect_bids(const At& a) noexcept;
  void use_held_connections(const At& a) noexcept;
  void grant_switch(const At& a) noexcept;
  void finish_sending(const At& a) noexcept;
  void granted(const At& a, u32 i, bool speculative) noexcept;
  void forward(const At& a, u32 i) noexcept;
  [[nodiscard]] u8& mark_of(u32 e, u32 i, u32 place) noexcept {
    return marked_[(base(e) + i) * flits_.places() + place];
  }
  /// Tells whether too many flits of this router want the output of a head that leaves input virtual channel i for
  /// output virtual channel o.
  [[nodiscard]] bool marks(const At& a, u32 i, u32 o, const core::Flit& head) const noexcept;
  /// Flits in the buffers of this router that want to leave through a port, as far as is known.
  /// Flits that want the port. Input virtual channel `left`, if any, has no more of the packet that it is still set
  /// for.
  [[nodiscard]] u32 waiting_for(const At& a, u32 port, u32 left) const noexcept;
  /// A flit leaves for a port; its head is told how busy the channel is.
  void measure(const At& a, u32 i, u32 port, const core::Flit& flit) noexcept;
  void hold_connection(const At& a, u32 i, u32 port) noexcept;
  void drop_connection(const At& a, u32 i) noexcept;
  void substep(const At& a) noexcept;

  u32 ways_in_;
  u32 ways_out_;
  std::vector<VcState> states_;     ///< [entity * layout size + index]
  std::vector<u16> occupied_;       ///< [entity]: input virtual channels with flits
  std::vector<Output> channels_;    ///< [entity * ports + port]
  std::vector<u32> credit_delays_;  ///< [entity * ports + port]: ticks until a freed place counts, channel apart
  std::vector<u16> next_vc_;        ///< [entity * ways in + way]: virtual channel to ask first
  std::vector<u16> held_by_;        ///< [entity * ways in + way]: input virtual channel that keeps the way, or kNobody
  std::vector<u8> way_out_held_;    ///< [entity * ways out + way]
  std::vector<u8> marked_;          ///< [(virtual channel of all) * places + place]: of a head; empty: none ever is
  core::HopRandom marks_;
  /// A channel as its router measures it, where an admission asks for that.
  struct Meter {
    core::LinkMeter link;
    u32 sent = 0;  ///< flits since the last head, it included
  };
  std::vector<Meter> meters_;     ///< [entity * ports + port]; empty: nobody asks
  std::vector<Batches> batches_;  ///< [entity]; empty where stages overlap
  Allocator vcs_;
  Allocator switch_;
  std::unique_ptr<Allocator> speculative_switch_;
  std::vector<u32> won_vc_;      ///< scratch, [input virtual channel]: output virtual channel that it won, or kNone
  std::vector<u8> lost_;         ///< scratch, [output virtual channel]: another head won it
  std::vector<u32> matched_in_;  ///< scratch, [way in]: way out that a bid won, or kNone
  std::vector<u32> matched_out_;
  std::vector<u32> asking_;      ///< scratch: heads that asked for a virtual channel in this step
  std::vector<Bid> bids_;        ///< scratch
  std::vector<Bid> granted_;     ///< scratch
  std::vector<u32> bid_of_;      ///< scratch, [way in * ways out + way out]: index into bids_, or kNone
  engine::Probe* probe_;         ///< nullptr: nobody watches
  core::Candidates candidates_;  ///< scratch
  Choice choice_;                ///< scratch
};

}  // namespace banyan::switching::parts
