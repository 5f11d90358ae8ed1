#include "banyan/switching/vc_router/general.hpp"

#include <algorithm>
#include <bit>

namespace banyan::switching::parts {
namespace {

constexpr Stream kMarks{"vc_router: marks between the thresholds"};
constexpr Stream kVcMatchings{"vc_router: matchings of virtual channels"};
constexpr Stream kSwitchMatchings{"vc_router: matchings of the crossbar"};
constexpr Stream kSpeculations{"vc_router: matchings of speculative requests"};

static_assert(kMostPorts * kMostVcs <= 1U << Allocator::kIndexBits);

}  // namespace

VcRouterGeneral::VcRouterGeneral(engine::Builder& builder, u32 shard, const RouterSetup& setup)
    : VcRouterBase<u16>(builder, shard, setup),
      ways_in_(setup.ports * setup.input_speedup),
      ways_out_(setup.ports * setup.output_speedup),
      states_(inputs_.size()),
      occupied_(switches_.size()),
      channels_(switches_.size() * setup.ports),
      credit_delays_(channels_.size()),
      next_vc_(switches_.size() * ways_in_),
      held_by_(next_vc_.size()),
      way_out_held_(switches_.size() * ways_out_),
      batches_(setup.pipeline.overlapping ? 0 : switches_.size()),
      vcs_({setup.vc_allocator.kind, setup.arbiter, setup.vc_allocator.iterations, layout_.size(), layout_.size(),
            layout_.shift(), layout_.vcs()},
           entities()),
      switch_({setup.sw_allocator.kind, setup.arbiter, setup.sw_allocator.iterations, ways_in_, ways_out_}, entities()),
      bid_of_(std::size_t{ways_in_} * ways_out_, kNone),
      probe_(builder.probe(shard)),
      choice_(setup.ports) {
  if (setup.speculative) {
    speculative_switch_ = std::make_unique<Allocator>(
        Allocator::Setup{setup.sw_allocator.kind, setup.arbiter, setup.sw_allocator.iterations, ways_in_, ways_out_},
        entities());
  }
  const core::Graph& graph = topology_.graph();
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 p = 0; p < layout_.ports(); ++p) {
      const std::size_t k = std::size_t{e} * layout_.ports() + p;
      credit_delays_[k] = setup.pipeline.credit_return(fed_by_terminal(switches_[e], p));
      if (!leads_on(switches_[e], p)) continue;
      const core::Channel& channel = graph.channel(graph.channel_out_of(switches_[e], p));
      channels_[k].cycles_per_flit = channel.link.cycles_per_flit;
      channels_[k].to_terminal = channel.to.terminal;
    }
  }
  const std::size_t most = layout_.size();
  asking_.reserve(most);
  won_vc_.resize(most, kNone);
  lost_.resize(most);
  matched_in_.resize(ways_in_, kNone);
  matched_out_.resize(ways_out_, kNone);
  bids_.reserve(most);
  if (setup.marking.on()) marked_.resize(inputs_.size() * flits_.places());
  if (setup.utilization_period != 0) meters_.resize(channels_.size());
  granted_.reserve(most);
}

void VcRouterGeneral::reset(u32 replication) {
  reset_base(replication);
  marks_ = core::HopRandom(seed_, kMarks, replication);
  std::fill(marked_.begin(), marked_.end(), 0);
  std::fill(meters_.begin(), meters_.end(), Meter{});
  std::fill(states_.begin(), states_.end(), VcState{});
  std::fill(occupied_.begin(), occupied_.end(), 0);
  for (Output& channel : channels_) channel.free_at = 0;
  for (std::size_t k = 0; k < next_vc_.size(); ++k) next_vc_[k] = static_cast<u16>(k % setup_.input_speedup);
  std::fill(held_by_.begin(), held_by_.end(), kNobody);
  std::fill(way_out_held_.begin(), way_out_held_.end(), 0);
  std::fill(batches_.begin(), batches_.end(), Batches{});
  vcs_.reset({seed_, kVcMatchings, 0, replication});
  switch_.reset({seed_, kSwitchMatchings, 0, replication});
  if (speculative_switch_) speculative_switch_->reset({seed_, kSpeculations, 0, replication});
}

Tick VcRouterGeneral::accept(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
  const u32 i = layout_.index(port, flit.vc);
  InputVc& in = inputs_[base(e) + i];
  VcState& state = states_[base(e) + i];
  const Tick now = io.now();
  const At a{e, first_step(now), now, &inputs_[base(e)], &outputs_[base(e)], &states_[base(e)], &io};
  if (marked_.empty()) {
    flits_.push(e, i, in.ring, BufferedFlit::pack(flit));
  } else {
    core::Flit plain = flit;
    plain.flags &= core::kHead | core::kTail;
    flits_.push(e, i, in.ring, BufferedFlit::pack(plain));
    const u32 place = (u32{in.ring.head} + in.ring.count - 1) % flits_.places();
    mark_of(e, i, place) = flit.flags & core::kMarked;
  }
  if (in.ring.count == 1) {
    ++occupied_[e];
    if (state.stage == Stage::active) {
      state.at = std::max(state.at, a.step);
    } else {
      begin_packet(a, i, a.step, now);
    }
  } else if (setup_.store_and_forward && state.stage == Stage::empty && (flit.flags & core::kTail) != 0) {
    begin_packet(a, i, a.step, now);
  }
  return now;
}

Tick VcRouterGeneral::accept(u32 e, u32 port, const core::Control& control, engine::Io& io) noexcept {
  const u32 o = layout_.index(port, control.vc);
  give_back(e, o, control.argument);
  OutputVc& out = outputs_[base(e) + o];
  if (out.holder == kDraining && out.credits == setup_.buffer) out.holder = kNobody;
  return occupied_[e] != 0 ? io.now() : kNever;
}

Tick VcRouterGeneral::step(u32 e, Tick now, engine::Io& io) noexcept {
  observe(e, now);
  if (occupied_[e] == 0) return kNever;
  const u64 end = first_step(now + 1);
  for (u64 step = first_step(now); step < end; ++step) {
    substep({e, step, now, &inputs_[base(e)], &outputs_[base(e)], &states_[base(e)], &io});
  }
  return occupied_[e] != 0 ? now + 1 : kNever;
}

void VcRouterGeneral::substep(const At& a) noexcept {
  request_vcs(a);
  collect_bids(a);
  take_vcs(a);
  if (setup_.pipeline.vc_allocation == 0) collect_bids(a);
  use_held_connections(a);
  grant_switch(a);
  finish_sending(a);
}

/// A head is at the front: routes it, if the whole packet is here that must be.
void VcRouterGeneral::begin_packet(const At& a, u32 i, u64 step, Tick now) noexcept {
  a.inputs[i].vc = kFresh;
  a.states[i].stage = Stage::empty;
  if (setup_.store_and_forward && a.inputs[i].ring.count < head(a, i).flits) return;
  a.states[i].stage = Stage::asking;
  const u32 delay = setup_.pipeline.routing;
  if (batched(delay)) {
    Batch& batch = batches_[a.e].routing;
    join(batch, step, now, delay);
    a.states[i].at = batch.end + 1;
  } else {
    a.states[i].at = after(step, now, delay);
  }
}

/// Age of the packet at the front, for arbiters that look at it.
u64 VcRouterGeneral::key(const At& a, u32 i) const noexcept {
  return setup_.arbiter == ArbiterKind::age ? head(a, i).birth : 0;
}

/// When a flit that is granted the switch in this step is on its channel, unless others are before it. The crossbar
/// takes it in the next step.
Tick VcRouterGeneral::departure(const At& a) const noexcept {
  const u32 delay = setup_.pipeline.traversal;
  if (delay == 0) return a.now + 1;
  const u64 step = batched(delay) ? begin_of(batches_[a.e].crossbar, a.step + 1) : a.step + 1;
  return cycle_of(step, a.now) + delay;
}

/// Whether a flit that is granted the switch now finds the channel free, or a place before it.
bool VcRouterGeneral::takes_flit(const At& a, u32 port) const noexcept {
  const Output& channel = channels_[std::size_t{a.e} * layout_.ports() + port];
  const Tick at = departure(a);
  if (channel.free_at <= at) return true;
  if (!setup_.output_queues()) return false;
  const u64 queued = (channel.free_at - at + channel.cycles_per_flit - 1) / channel.cycles_per_flit;
  return setup_.output_buffer == 0 || queued < setup_.output_buffer;
}

/// Whether the head of i may take output virtual channel o.
bool VcRouterGeneral::open_vc(const At& a, u32 i, u32 o) const noexcept {
  if (a.outputs[o].holder != kNobody) return false;
  if (setup_.cut_through) return room(a.e, o) >= head(a, i).flits;
  return !setup_.vc_busy_when_full || room(a.e, o) != 0;
}

/// Routes the head of i, or looks again among its candidates. Returns whether one can be asked for.
bool VcRouterGeneral::choose(const At& a, u32 i) noexcept {
  InputVc& in = a.inputs[i];
  const auto set = [&](const core::Candidate& c) {
    in.port = static_cast<u8>(c.port);
    in.begin = c.vc_begin;
    in.end = c.vc_end;
  };
  if (in.vc == kRouted) return true;
  route(a.e, i, head(a, i), flits_.front(a.e, i, in.ring).hops(), candidates_);
  if (candidates_.size() == 1) {
    in.vc = kRouted;
    set(candidates_[0]);
    return true;
  }
  in.vc = kAdaptive;
  const auto open = [&](const core::Candidate& c) {
    for (u32 v = c.vc_begin; v < c.vc_end; ++v) {
      if (open_vc(a, i, layout_.index(c.port, v))) return true;
    }
    return false;
  };
  const auto room = [&](u32 port, u32 v) {
    const OutputVc& out = a.outputs[layout_.index(port, v)];
    return i32{out.credits} - i32{out.holder != kNobody};
  };
  const core::Candidate* const best = choice_.best(candidates_, layout_.port(i), open, room);
  if (best != nullptr) set(*best);
  return best != nullptr;
}

/// Calls f(l) for every level l that level(k) takes for k < count, the highest first.
template <class Level, class F>
void VcRouterGeneral::by_level(u32 count, Level&& level, F&& f) {
  i32 below = 256;
  for (;;) {
    i32 highest = -1;
    for (u32 k = 0; k < count; ++k) {
      const i32 l = level(k);
      if (l < below) highest = std::max(highest, l);
    }
    if (highest < 0) return;
    f(static_cast<u8>(highest));
    below = highest;
  }
}

/// Packets of a higher priority are matched first, the others to what is left.
void VcRouterGeneral::request_vcs(const At& a) noexcept {
  asking_.clear();
  choice_.begin();
  const u32 delay = setup_.pipeline.vc_allocation;
  const bool idle = !batched(delay) || begin_of(batches_[a.e].vc_allocation, a.step) == a.step;
  for (u32 i = 0; idle && i < layout_.size(); ++i) {
    if (a.states[i].stage != Stage::asking || a.step < a.states[i].at) continue;
    if (!choose(a, i)) a.inputs[i].end = a.inputs[i].begin;  // asks for nothing
    asking_.push_back(i);
    won_vc_[i] = kNone;
  }
  std::fill(lost_.begin(), lost_.end(), 0);
  const u32 count = static_cast<u32>(asking_.size());
  if (count == 0) vcs_.begin(a.e);
  if (count != 0 && batched(delay)) join(batches_[a.e].vc_allocation, a.step, a.now, delay);
  by_level(
      count, [&](u32 k) { return priority(a, asking_[k]); },
      [&](u8 level) {
        vcs_.begin(a.e, switches_[a.e], a.step);
        for (const u32 i : asking_) {
          if (priority(a, i) != level) continue;
          const InputVc& in = a.inputs[i];
          for (u32 v = in.begin; v < in.end; ++v) {
            const u32 o = layout_.index(in.port, v);
            if (lost_[o] == 0 && open_vc(a, i, o)) vcs_.request(i, o, key(a, i));
          }
        }
        vcs_.allocate();
        for (const u32 i : asking_) {
          if (priority(a, i) != level) continue;
          won_vc_[i] = vcs_.of_input(i);
          if (won_vc_[i] != kNone) lost_[won_vc_[i]] = 1;
        }
      });
}

/// Heads take what they were promised, unless it was taken or filled meanwhile.
void VcRouterGeneral::take_vcs(const At& a) noexcept {
  const u32 delay = setup_.pipeline.vc_allocation;
  for (const u32 i : asking_) {
    VcState& state = a.states[i];
    const u32 o = won_vc_[i];
    if (o == kNone) {
      state.at = std::max(after(a.step, a.now, delay), a.step + 1);
      continue;
    }
    state.stage = Stage::granting;
    state.promised = static_cast<u16>(o);
    state.at = last(a.step, a.now, delay);
  }
  for (u32 i = 0; i < layout_.size(); ++i) {
    VcState& state = a.states[i];
    if (state.stage != Stage::granting || state.at != a.step) continue;
    const u32 o = state.promised;
    if (open_vc(a, i, o)) {
      a.outputs[o].holder = static_cast<u16>(i);
      a.inputs[i].vc = static_cast<u8>(layout_.vc(o));
      a.inputs[i].port = static_cast<u8>(layout_.port(o));
      state.stage = Stage::active;
      state.at = delay == 0 ? a.step : a.step + 1;
    } else {
      state.stage = Stage::asking;
      state.at = a.step + 1;
    }
  }
}

/// One virtual channel per way in and way out: the first at or after the way's pointer, or the oldest.
void VcRouterGeneral::bid(const At& a, u32 i, bool speculative) noexcept {
  const u32 in = way_in(i);
  const u32 out = way_out(i, a.inputs[i].port);
  if (held_by_[std::size_t{a.e} * ways_in_ + in] != kNobody) return;
  if (way_out_held_[std::size_t{a.e} * ways_out_ + out] != 0) return;
  u32& place = bid_of_[std::size_t{in} * ways_out_ + out];
  if (place == kNone) {
    place = static_cast<u32>(bids_.size());
    bids_.push_back({in, out, i, speculative});
    return;
  }
  Bid& other = bids_[place];
  const u32 next = next_vc_[std::size_t{a.e} * ways_in_ + in];
  const auto distance = [&](u32 vc) { return (layout_.vc(vc) + layout_.vcs() - next) % layout_.vcs(); };
  const u64 mine = key(a, i);
  const u64 theirs = key(a, other.vc);
  const u8 urgency = priority(a, i);
  const u8 other_urgency = priority(a, other.vc);
  const bool better = speculative != other.speculative ? !speculative
                      : urgency != other_urgency       ? urgency > other_urgency
                      : mine != theirs                 ? mine < theirs
                                                       : distance(i) < distance(other.vc);
  if (better) other = {in, out, i, speculative};
}

/// Bids stand in order of input virtual channels.
void VcRouterGeneral::collect_bids(const At& a) noexcept {
  for (const Bid& b : bids_) bid_of_[std::size_t{b.input} * ways_out_ + b.output] = kNone;
  bids_.clear();
  const u32 delay = setup_.pipeline.sw_allocation;
  if (batched(delay) && begin_of(batches_[a.e].sw_allocation, a.step) != a.step) return;
  for (u32 i = 0; i < layout_.size(); ++i) {
    const VcState& state = a.states[i];
    const InputVc& in = a.inputs[i];
    if (in.ring.count == 0) continue;
    if (state.stage == Stage::active && state.at <= a.step) {
      const u32 o = layout_.index(in.port, in.vc);
      if (held_by_[std::size_t{a.e} * ways_in_ + way_in(i)] == i) continue;
      // What cannot be sent has its turn with the batch all the same.
      if (batched(delay)) join(batches_[a.e].sw_allocation, a.step, a.now, delay);
      if (room(a.e, o) != 0 && takes_flit(a, in.port)) bid(a, i, false);
    } else if (setup_.speculative && state.stage == Stage::asking && state.at <= a.step) {
      // This is the port where it asks for a virtual channel in this step, which an adaptive head has just chosen.
      bool any = false;
      for (u32 v = in.begin; v < in.end && !any; ++v) {
        const u32 o = layout_.index(in.port, v);
        any = open_vc(a, i, o) && room(a.e, o) != 0;
      }
      if (any && takes_flit(a, in.port)) bid(a, i, true);
    }
  }
}

/// Packets that keep their way through the crossbar send without asking, or give it up.
void VcRouterGeneral::use_held_connections(const At& a) noexcept {
  if (!setup_.hold_switch) return;
  for (u32 way = 0; way < ways_in_; ++way) {
    const u16 i = held_by_[std::size_t{a.e} * ways_in_ + way];
    if (i == kNobody || a.states[i].at > a.step) continue;
    const u32 port = a.inputs[i].port;
    if (room(a.e, layout_.index(port, a.inputs[i].vc)) != 0 && takes_flit(a, port)) {
      forward(a, i);
    } else {
      drop_connection(a, i);
      a.states[i].at = a.step + 1;
    }
  }
}

/// Matches the bids of a kind, those of a higher priority first.
void VcRouterGeneral::match_bids(Allocator& allocator, const At& a, bool speculative) noexcept {
  std::fill(matched_in_.begin(), matched_in_.end(), kNone);
  std::fill(matched_out_.begin(), matched_out_.end(), kNone);
  const u32 count = static_cast<u32>(bids_.size());
  const auto level_of = [&](u32 k) { return bids_[k].speculative == speculative ? i32{priority(a, bids_[k].vc)} : -1; };
  bool any = false;
  by_level(count, level_of, [&](u8 level) {
    any = true;
    allocator.begin(a.e, switches_[a.e], a.step);
    for (u32 k = 0; k < count; ++k) {
      const Bid& b = bids_[k];
      if (level_of(k) != level || matched_in_[b.input] != kNone || matched_out_[b.output] != kNone) continue;
      allocator.request(b.input, b.output, key(a, b.vc));
    }
    allocator.allocate();
    for (u32 k = 0; k < count; ++k) {
      const Bid& b = bids_[k];
      if (level_of(k) != level || allocator.of_input(b.input) != b.output) continue;
      matched_in_[b.input] = b.output;
      matched_out_[b.output] = b.input;
    }
  });
  if (any) return;
  allocator.begin(a.e);
  allocator.allocate();
}

void VcRouterGeneral::grant_switch(const At& a) noexcept {
  match_bids(switch_, a, false);
  // Granting changes priorities of nothing, but the scratch is used again for the speculative bids.
  granted_.clear();
  for (const Bid& b : bids_) {
    if (!b.speculative && matched_in_[b.input] == b.output) granted_.push_back(b);
  }
  if (speculative_switch_) {
    match_bids(*speculative_switch_, a, true);
    const auto taken = [&](const Bid& b) {
      return std::any_of(granted_.begin(), granted_.end(), [&](const Bid& other) {
        return !other.speculative && (other.input == b.input || other.output == b.output);
      });
    };
    for (const Bid& b : bids_) {
      if (b.speculative && matched_in_[b.input] == b.output && !taken(b)) granted_.push_back(b);
    }
  }
  for (const Bid& b : granted_) granted(a, b.vc, b.speculative);
}

void VcRouterGeneral::granted(const At& a, u32 i, bool speculative) noexcept {
  const u32 vc = (layout_.vc(i) + setup_.input_speedup) % layout_.vcs();
  next_vc_[std::size_t{a.e} * ways_in_ + way_in(i)] = static_cast<u16>(vc);
  VcState& state = a.states[i];
  if (speculative) {
    // That is of use only if the head won a virtual channel with a credit in this step too.
    if (state.stage != Stage::active || room(a.e, layout_.index(a.inputs[i].port, a.inputs[i].vc)) == 0) return;
  }
  state.stage = Stage::sending;
  state.at = last(a.step, a.now, setup_.pipeline.sw_allocation);
}

/// Grants whose stage ends in this step.
void VcRouterGeneral::finish_sending(const At& a) noexcept {
  for (u32 i = 0; i < layout_.size(); ++i) {
    VcState& state = a.states[i];
    if (state.stage != Stage::sending || state.at != a.step) continue;
    state.stage = Stage::active;
    const u32 port = a.inputs[i].port;
    const bool held = held_by_[std::size_t{a.e} * ways_in_ + way_in(i)] != kNobody ||
                      way_out_held_[std::size_t{a.e} * ways_out_ + way_out(i, port)] != 0;
    if (!held && room(a.e, layout_.index(port, a.inputs[i].vc)) != 0 && takes_flit(a, port)) {
      forward(a, i);
    } else {
      state.at = a.step + 1;
    }
  }
}

void VcRouterGeneral::hold_connection(const At& a, u32 i, u32 port) noexcept {
  held_by_[std::size_t{a.e} * ways_in_ + way_in(i)] = static_cast<u16>(i);
  way_out_held_[std::size_t{a.e} * ways_out_ + way_out(i, port)] = 1;
}

void VcRouterGeneral::drop_connection(const At& a, u32 i) noexcept {
  u16& holder = held_by_[std::size_t{a.e} * ways_in_ + way_in(i)];
  if (holder != i) return;
  holder = kNobody;
  way_out_held_[std::size_t{a.e} * ways_out_ + way_out(i, a.inputs[i].port)] = 0;
}

u32 VcRouterGeneral::waiting_for(const At& a, u32 port, u32 left) const noexcept {
  u32 length = 0;
  for (u32 other = 0; other < layout_.size(); ++other) {
    const InputVc& in = a.inputs[other];
    if (other == left || in.port != port || (in.vc >= kMostVcs && in.vc != kRouted)) continue;
    for (u32 k = 0; k < in.ring.count; ++k) {
      ++length;
      // What lies behind the packet at the front may want another output.
      if ((flits_.at(a.e, other, in.ring, k).flags() & core::kTail) != 0) break;
    }
  }
  return length;
}

void VcRouterGeneral::measure(const At& a, u32 i, u32 port, const core::Flit& flit) noexcept {
  const std::size_t k = std::size_t{a.e} * layout_.ports() + port;
  Meter& meter = meters_[k];
  if ((flit.flags & core::kHead) != 0) {
    const double cycles = channels_[k].cycles_per_flit;
    // With an internal speedup a second head may leave in a cycle: it is told what the first one was.
    if (static_cast<double>(a.now) > meter.link.last()) {
      meter.link.sample(static_cast<double>(a.now), waiting_for(a, port, flit.flags & core::kTail ? i : kNone) * cycles,
                        meter.sent * cycles, static_cast<double>(setup_.utilization_period));
      meter.sent = 0;
    }
    a.io->raise_value(flit.packet, core::encode_utilization(meter.link.utilization()));
  }
  ++meter.sent;
}

bool VcRouterGeneral::marks(const At& a, u32 i, u32 o, const core::Flit& head) const noexcept {
  const u32 length =
      1 + waiting_for(a, a.inputs[i].port, head.flags & core::kTail ? i : kNone);  // it has left its buffer
  // Of a packet that is longer than half the buffer no more: the credits of the one before it may be on their way.
  const u32 rest = std::min(packet(head.packet).flits - 1, setup_.buffer / 2);
  // A terminal takes what comes: what waits for credits of one waits for the round trip of its link.
  const bool free =
      channels_[std::size_t{a.e} * layout_.ports() + a.inputs[i].port].to_terminal || room(a.e, o) >= rest;
  return setup_.marking.marks(length, free,
                              [&] { return marks_.at(packet(head.packet), switches_[a.e], head.auxiliary)[0]; });
}

/// Moves the front flit of input virtual channel i.
void VcRouterGeneral::forward(const At& a, u32 i) noexcept {
  InputVc& in = a.inputs[i];
  VcState& state = a.states[i];
  const u32 port = in.port;
  const u32 o = layout_.index(port, in.vc);
  const std::size_t first_port = std::size_t{a.e} * layout_.ports();
  const u32 place = in.ring.head;
  const BufferedFlit flit = flits_.pop(a.e, i, in.ring);
  Output& channel = channels_[first_port + port];
  channel.free_at = std::max(departure(a), channel.free_at) + channel.cycles_per_flit;
  if (batched(setup_.pipeline.traversal)) {
    join(batches_[a.e].crossbar, a.step + 1, a.now, setup_.pipeline.traversal);
  }
  core::Flit out = flit.unpack(in.vc);
  take_place(a.e, o);
  if (!marked_.empty() && (out.flags & core::kHead) != 0) {
    out.flags |= mark_of(a.e, i, place);
    if (marks(a, i, o, out)) {
      if (probe_ != nullptr && (out.flags & core::kMarked) == 0) [[unlikely]]
        probe_->marked(packet(out.packet), topology_.graph().channel_out_of(switches_[a.e], port), in.vc, a.now);
      out.flags |= core::kMarked;
    }
  }
  if (!meters_.empty()) measure(a, i, port, out);
  a.io->send(static_cast<u32>(first_port + port), out, channel.free_at - 1 - a.now);
  const u32 from = layout_.port(i);
  a.io->control_up(static_cast<u32>(first_port + from), {engine::kCredit, static_cast<u16>(layout_.vc(i)), 1},
                   credit_delays_[first_port + from]);
  ++movements_;
  if (in.ring.count == 0) --occupied_[a.e];
  state.at = a.step + 1;
  if ((flit.flags() & core::kTail) != 0) {
    ++packets_;
    drop_connection(a, i);
    a.outputs[o].holder = setup_.wait_for_tail_credit ? kDraining : kNobody;
    in.vc = kFresh;
    state.stage = Stage::empty;
    if (in.ring.count == 0) return;
    const u64 next = a.step + 1;
    begin_packet(a, i, next, next < first_step(a.now + 1) ? a.now : a.now + 1);
  } else if (in.ring.count == 0) {
    drop_connection(a, i);
  } else if (setup_.hold_switch) {
    hold_connection(a, i, port);
  }
}

u64 VcRouterGeneral::digest() const {
  u64 sum = 0;
  for (u32 e = 0; e < entities(); ++e) {
    Hasher h;
    digest_base(e, h);
    for (u32 i = 0; i < layout_.size(); ++i) {
      const VcState& state = states_[base(e) + i];
      h.add(static_cast<u64>(state.stage));
      if (state.stage != Stage::empty) h.add(state.at);
      h.add(outputs_[base(e) + i].holder == kDraining ? 1U : 0U);
    }
    for (u32 way = 0; way < ways_in_; ++way) {
      h.add(u64{next_vc_[std::size_t{e} * ways_in_ + way]} << 16U | held_by_[std::size_t{e} * ways_in_ + way]);
    }
    for (u32 p = 0; p < layout_.ports(); ++p) h.add(channels_[std::size_t{e} * layout_.ports() + p].free_at);
    for (u32 p = 0; p < layout_.ports() && !meters_.empty(); ++p) {
      const Meter& meter = meters_[std::size_t{e} * layout_.ports() + p];
      h.add(std::bit_cast<u64>(meter.link.utilization()));
      h.add(meter.sent);
    }
    if (!batches_.empty()) {
      const Batches& b = batches_[e];
      for (const Batch* batch : {&b.routing, &b.vc_allocation, &b.sw_allocation, &b.crossbar}) {
        h.add(batch->begin);
        h.add(batch->end);
      }
    }
    vcs_.digest(e, h);
    switch_.digest(e, h);
    if (speculative_switch_) speculative_switch_->digest(e, h);
    sum += h.value();
  }
  return sum;
}

}  // namespace banyan::switching::parts
