#include "banyan/switching/vc_router/base.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace banyan::switching::parts {
namespace {

constexpr Stream kVcRouterWays{"vc_router: choices of routings"};

}  // namespace

template <class N, class Places>
VcRouterBase<N, Places>::VcRouterBase(engine::Builder& builder, u32 shard, const RouterSetup& setup)
    : topology_(builder.topology()),
      routing_(builder.routing()),
      seed_(builder.settings().seed),
      setup_(setup),
      layout_(setup.ports, setup.vcs),
      switches_(builder.switches_of(shard)),
      inputs_(switches_.size() * layout_.size()),
      outputs_(inputs_.size()),
      pool_(setup.pool == 0 ? 0 : switches_.size() * setup.ports),
      flits_(switches_.size(), layout_.size(), setup.buffer),
      routing_sight_(routing_.sight()),
      draws_(routing_.random()) {
  if (routing_sight_ != core::Sight::none) observed_.resize(switches_.size() * layout_.ports());
  for (engine::PacketPool* pool : builder.pools()) pools_.push_back(pool);
}

template <class N, class Places>
void VcRouterBase<N, Places>::reset_base(u32 replication) {
  random_ = core::HopRandom(seed_, kVcRouterWays, replication);
  std::fill(inputs_.begin(), inputs_.end(), InputVc{});
  std::fill(outputs_.begin(), outputs_.end(), OutputVc{});
  std::fill(pool_.begin(), pool_.end(), setup_.pool);
  flits_.reset();
  movements_ = 0;
  packets_ = 0;
  observed_at_ = kNever;
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 p = 0; p < layout_.ports(); ++p) {
      if (!leads_on(switches_[e], p)) continue;  // never a credit: nothing is ever sent there
      for (u32 v = 0; v < layout_.vcs(); ++v) {
        outputs_[base(e) + layout_.index(p, v)].credits = static_cast<N>(flits_.places());
      }
    }
  }
}

template <class N, class Places>
u32 VcRouterBase<N, Places>::credits_in_use(u32 e, u32 port) const noexcept {
  if (!leads_on(switches_[e], port)) return 0;
  u32 credits = 0;
  for (u32 v = 0; v < layout_.vcs(); ++v) credits += outputs_[base(e) + layout_.index(port, v)].credits;
  return setup_.buffer * layout_.vcs() - credits;
}

template <class N, class Places>
void VcRouterBase<N, Places>::take_snapshot(u32 e) const noexcept {
  for (u32 p = 0; p < layout_.ports(); ++p) observed_[std::size_t{e} * layout_.ports() + p] = credits_in_use(e, p);
}

template <class N, class Places>
void VcRouterBase<N, Places>::take_snapshot_of_all(Tick now) noexcept {
  observed_at_ = now;
  for (u32 e = 0; e < entities(); ++e) take_snapshot(e);
}

template <class N, class Places>
u32 VcRouterBase<N, Places>::used(u32 switch_, u32 port) const noexcept {
  const u32 e = routing_sight_ == core::Sight::network ? switch_ : routing_entity_;
  return observed_[std::size_t{e} * layout_.ports() + port];
}

template <class N, class Places>
bool VcRouterBase<N, Places>::leads_on(u32 s, u32 port) const {
  if (port >= topology_.graph().outputs(s)) return false;
  const u32 channel = topology_.graph().channel_out_of(s, port);
  return channel != kNone && !topology_.graph().channel(channel).failed;
}

template <class N, class Places>
bool VcRouterBase<N, Places>::fed_by_terminal(u32 s, u32 port) const {
  if (port >= topology_.graph().inputs(s)) return false;
  const u32 channel = topology_.graph().channel_into(s, port);
  return channel != kNone && topology_.graph().channel(channel).from.terminal;
}

template <class N, class Places>
void VcRouterBase<N, Places>::digest_base(u32 e, Hasher& h) const {
  h.add(switches_[e]);
  for (u32 p = 0; p < layout_.ports(); ++p) {
    for (u32 v = 0; v < layout_.vcs(); ++v) {
      const u32 i = layout_.index(p, v);
      const InputVc& in = inputs_[base(e) + i];
      h.add(in.vc < kMostVcs ? u64{in.port} << 8U | in.vc : u64{kFresh});
      h.add(outputs_[base(e) + i].credits);
      for (u32 k = 0; k < in.ring.count; ++k) {
        const BufferedFlit& flit = flits_.at(e, i, in.ring, k);
        h.add(engine::flit_digest(packet(flit.packet()), flit.unpack(0)));
        h.add(flit.hops());
      }
    }
  }
}

template <class N, class Places>
std::string VcRouterBase<N, Places>::violation(u32 e, u32 i, std::string_view what) const {
  return fmt::format("switch {} port {} vc {}: {}", switches_[e], layout_.port(i), layout_.vc(i), what);
}

template <class N, class Places>
void VcRouterBase<N, Places>::hold(engine::Holdings& into) const {
  const u32 places = flits_.places();
  for (u32 e = 0; e < entities(); ++e) {
    hold_places(e, into);
    for (u32 p = 0; p < layout_.ports(); ++p) {
      for (u32 v = 0; v < layout_.vcs(); ++v) {
        const u32 i = layout_.index(p, v);
        const InputVc& in = inputs_[base(e) + i];
        const OutputVc& out = outputs_[base(e) + i];
        for (u32 k = 0; k < in.ring.count; ++k) into.add(flits_.at(e, i, in.ring, k).unpack(0));
        const auto complain = [&](const std::string& what) { into.violations.push_back(violation(e, i, what)); };
        if (in.ring.count > places) complain(fmt::format("{} flits in {} places", in.ring.count, places));
        if (setup_.pool != 0 && v == 0 && pool_[pool_index(e, i)] > setup_.pool) complain("the shared pool overflows");
        if (out.credits > places) complain(fmt::format("{} credits for {} places", out.credits, places));
        if (out.holder >= kDraining) continue;
        const InputVc& holder = inputs_[base(e) + out.holder];
        if (holder.vc != v || holder.port != p) complain("is held by nobody");
      }
    }
  }
}

template <class N, class Places>
void VcRouterBase<N, Places>::hold_arrival(u32 e, u32 port, const core::Flit& flit, engine::Holdings& into) const {
  into.places.known(topology_.graph().channel_into(switches_[e], port), flit.vc, 1);
}

template <class N, class Places>
void VcRouterBase<N, Places>::hold_arrival(u32 e, u32 port, const core::Control& control,
                                           engine::Holdings& into) const {
  into.places.known(topology_.graph().channel_out_of(switches_[e], port), control.vc, control.argument);
}

/// Places of the buffers behind its outputs, and in its own, but for what is on channels.
template <class N, class Places>
void VcRouterBase<N, Places>::hold_places(u32 e, engine::Holdings& into) const {
  const core::Graph& graph = topology_.graph();
  const u32 s = switches_[e];
  for (u32 p = 0; p < layout_.ports(); ++p) {
    const u32 in = p < graph.inputs(s) ? graph.channel_into(s, p) : kNone;
    for (u32 v = 0; v < layout_.vcs(); ++v) {
      const std::size_t i = base(e) + layout_.index(p, v);
      if (in != kNone) into.places.known(in, v, inputs_[i].ring.count);
      if (!leads_on(s, p)) continue;
      into.places.open(graph.channel_out_of(s, p), v, flits_.places());
      into.places.known(graph.channel_out_of(s, p), v, outputs_[i].credits);
    }
  }
}

template <class N, class Places>
void VcRouterBase<N, Places>::activity(engine::Activity& into) const {
  u64 buffered = 0;
  for (const InputVc& in : inputs_) buffered += in.ring.count;
  into += {movements_ + buffered, movements_, movements_, movements_, packets_};
}

template <class N, class Places>
void VcRouterBase<N, Places>::occupancy(std::vector<u64>& levels) const {
  for (u32 e = 0; e < entities(); ++e) {
    engine::Holdings held;
    for (u32 i = 0; i < layout_.size(); ++i) {
      const RingState ring = inputs_[base(e) + i].ring;
      for (u32 k = 0; k < ring.count; ++k) held.add(flits_.at(e, i, ring, k).unpack(0));
    }
    levels[topology_.graph().level(switches_[e])] += held.packets;
  }
}

/// A channel is full when the buffers of all its virtual channels are.
template <class N, class Places>
void VcRouterBase<N, Places>::full_channels(std::vector<u32>& channels) const {
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 p = 0; p < topology_.graph().inputs(switches_[e]); ++p) {
      bool full = topology_.graph().channel_into(switches_[e], p) != kNone;
      for (u32 v = 0; v < layout_.vcs(); ++v) {
        full = full && inputs_[base(e) + layout_.index(p, v)].ring.count == flits_.places();
      }
      if (full) channels.push_back(topology_.graph().channel_into(switches_[e], p));
    }
  }
}

template <class N, class Places>
engine::Resource VcRouterBase<N, Places>::buffer_of(u32 e, u32 i) const {
  return engine::Resource::input(topology_.graph().channel_into(switches_[e], layout_.port(i)), layout_.vc(i));
}

/// What the packet at the front of input virtual channel i waits for to go on through output virtual channel o.
template <class N, class Places>
void VcRouterBase<N, Places>::wait_for(u32 e, u32 i, u32 o, engine::BlockedView& into) const {
  using engine::Resource;
  using engine::Why;
  const core::Packet& waiter = packet(flits_.front(e, i, inputs_[base(e) + i].ring).packet());
  const u32 channel = topology_.graph().channel_out_of(switches_[e], layout_.port(o));
  const u32 holder = outputs_[base(e) + o].holder;
  if (holder < kDraining && holder != i) {
    into.blocked(buffer_of(e, i), buffer_of(e, holder), Why::held, waiter, channel);
  } else if (is_ready(e, i, o, waiter) || topology_.graph().channel(channel).to.terminal) {
    // A terminal takes whatever the channel carries.
    into.blocked(buffer_of(e, i), Resource::port(channel), Why::bandwidth, waiter, channel);
  } else {
    into.blocked(buffer_of(e, i), Resource::input(channel, layout_.vc(o)), Why::space, waiter, channel);
  }
}

/// Nobody but the packet in input virtual channel i holds output virtual channel o, and there is a place for it.
template <class N, class Places>
bool VcRouterBase<N, Places>::is_ready(u32 e, u32 i, u32 o, const core::Packet& waiter) const {
  const u32 holder = outputs_[base(e) + o].holder;
  if (holder == i) return room(e, o) != 0;
  return holder == kNobody && room(e, o) >= (setup_.cut_through ? waiter.flits : 1U);
}

/// A head that holds no virtual channel yet waits for any of its candidates; for its turn when one of them is ready.
template <class N, class Places>
void VcRouterBase<N, Places>::wait_for_vc(u32 e, u32 i, engine::BlockedView& into) const {
  const BufferedFlit& flit = flits_.front(e, i, inputs_[base(e) + i].ring);
  const core::Packet& waiter = packet(flit.packet());
  core::Candidates candidates;
  route(e, i, waiter, flit.hops(), candidates);
  const auto each = [&](auto&& act) {
    for (const core::Candidate& c : candidates) {
      if (!leads_on(switches_[e], c.port)) continue;
      for (u32 v = c.vc_begin; v < std::min<u32>(c.vc_end, layout_.vcs()); ++v) {
        if (act(layout_.index(c.port, v))) return true;
      }
    }
    return false;
  };
  const auto take_ready = [&](u32 o) {
    if (!is_ready(e, i, o, waiter)) return false;
    wait_for(e, i, o, into);
    return true;
  };
  if (each(take_ready)) return;
  bool leads = false;
  each([&](u32 o) {
    leads = true;
    wait_for(e, i, o, into);
    return false;
  });
  if (!leads) into.blocked(buffer_of(e, i), buffer_of(e, i), engine::Why::held, waiter, kNone);
}

template <class N, class Places>
void VcRouterBase<N, Places>::blocked_on(engine::BlockedView& into) const {
  // Routers last looked at their queues when they were stepped, which depends on shards and on what wakes them.
  for (u32 e = 0; e < entities() && watched(); ++e) take_snapshot(e);
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 i = 0; i < layout_.size(); ++i) {
      const InputVc& in = inputs_[base(e) + i];
      if (in.ring.count == 0) continue;
      into.fill(buffer_of(e, i), in.ring.count, flits_.places());
      if (into.wants_contents()) show_contents(e, i, into);
      if (in.vc >= kMostVcs) {
        wait_for_vc(e, i, into);
      } else {
        wait_for(e, i, layout_.index(in.port, in.vc), into);
      }
    }
  }
}

/// Every packet once: its flits lie side by side.
template <class N, class Places>
void VcRouterBase<N, Places>::show_contents(u32 e, u32 i, engine::BlockedView& into) const {
  const RingState ring = inputs_[base(e) + i].ring;
  const core::Packet* last = nullptr;
  for (u32 k = 0; k < ring.count; ++k) {
    const core::Packet& here = packet(flits_.at(e, i, ring, k).packet());
    if (&here != last) into.packet(buffer_of(e, i), here);
    last = &here;
  }
}

template class VcRouterBase<u8, AllPlaces>;
template class VcRouterBase<u16, AllPlaces>;
template class VcRouterBase<u16, LentPlaces>;

}  // namespace banyan::switching::parts
