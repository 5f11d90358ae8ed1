#include "banyan/switching/parts/vc_router_base.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace banyan::switching::parts {

VcRouterBase::VcRouterBase(engine::Builder& builder, u32 shard, const RouterSetup& setup)
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
      routing_sight_(routing_.sight()) {
  if (routing_sight_ != core::Sight::none) observed_.resize(switches_.size() * layout_.ports());
  for (u32 i = 0; i < builder.shards(); ++i) pools_.push_back(&builder.terminals(i).pool());
}

void VcRouterBase::reset_base() {
  std::fill(inputs_.begin(), inputs_.end(), InputVc{});
  std::fill(outputs_.begin(), outputs_.end(), OutputVc{});
  std::fill(pool_.begin(), pool_.end(), setup_.pool);
  movements_ = 0;
  packets_ = 0;
  observed_at_ = kNever;
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 p = 0; p < layout_.ports(); ++p) {
      if (!leads_on(switches_[e], p)) continue;  // never a credit: nothing is ever sent there
      for (u32 v = 0; v < layout_.vcs(); ++v) {
        outputs_[base(e) + layout_.index(p, v)].credits = static_cast<u16>(flits_.places());
      }
    }
  }
}

u32 VcRouterBase::credits_in_use(u32 e, u32 port) const noexcept {
  if (!leads_on(switches_[e], port)) return 0;
  u32 credits = 0;
  for (u32 v = 0; v < layout_.vcs(); ++v) credits += outputs_[base(e) + layout_.index(port, v)].credits;
  return setup_.buffer * layout_.vcs() - credits;
}

void VcRouterBase::take_snapshot(u32 e) noexcept {
  for (u32 p = 0; p < layout_.ports(); ++p) observed_[std::size_t{e} * layout_.ports() + p] = credits_in_use(e, p);
}

void VcRouterBase::take_snapshot_of_all(Tick now) noexcept {
  observed_at_ = now;
  for (u32 e = 0; e < entities(); ++e) take_snapshot(e);
}

u32 VcRouterBase::used(u32 switch_, u32 port) const noexcept {
  const u32 e = routing_sight_ == core::Sight::network ? switch_ : routing_entity_;
  return observed_[std::size_t{e} * layout_.ports() + port];
}

bool VcRouterBase::leads_on(u32 s, u32 port) const {
  if (port >= topology_.graph().outputs(s)) return false;
  const u32 channel = topology_.graph().channel_out_of(s, port);
  return channel != kNone && !topology_.graph().channel(channel).failed;
}

bool VcRouterBase::fed_by_terminal(u32 s, u32 port) const {
  if (port >= topology_.graph().inputs(s)) return false;
  const u32 channel = topology_.graph().channel_into(s, port);
  return channel != kNone && topology_.graph().channel(channel).from.terminal;
}

void VcRouterBase::digest_base(u32 e, Hasher& h) const {
  h.add(switches_[e]);
  for (u32 p = 0; p < layout_.ports(); ++p) {
    for (u32 v = 0; v < layout_.vcs(); ++v) {
      const u32 i = layout_.index(p, v);
      const InputVc& in = inputs_[base(e) + i];
      h.add(in.vc < kMostVcs ? u64{in.port} << 8U | in.vc : u64{kFresh});
      h.add(outputs_[base(e) + i].credits);
      for (u32 k = 0; k < in.ring.count; ++k) {
        const BufferedFlit& flit = flits_.at(e, i, in.ring, k);
        h.add(engine::flit_digest(packet(flit.packet), flit.unpack(0)));
        h.add(flit.hops());
      }
    }
  }
}

std::string VcRouterBase::violation(u32 e, u32 i, std::string_view what) const {
  return fmt::format("switch {} port {} vc {}: {}", switches_[e], layout_.port(i), layout_.vc(i), what);
}

void VcRouterBase::hold(engine::Holdings& into) const {
  const u32 places = flits_.places();
  for (u32 e = 0; e < entities(); ++e) {
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

void VcRouterBase::activity(engine::Activity& into) const {
  engine::Holdings held;
  hold(held);
  into += {movements_ + held.flits, movements_, movements_, movements_, packets_};
}

void VcRouterBase::occupancy(std::vector<u64>& levels) const {
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
void VcRouterBase::full_channels(std::vector<u32>& channels) const {
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

std::string VcRouterBase::place(u32 e, u32 i) const {
  return fmt::format("switch {} input {} vc {}", topology_.label(switches_[e]), layout_.port(i), layout_.vc(i));
}

/// The packet at the front of input virtual channel i waits for a credit, or for the end of a packet, of output o.
void VcRouterBase::wait_for(u32 e, u32 i, u32 o, std::vector<engine::Wait>& into) const {
  const u32 s = switches_[e];
  const InputVc& in = inputs_[base(e) + i];
  const core::Packet& waiter = packet(flits_.front(e, i, in.ring).packet);
  std::string what = fmt::format("output {} vc {}", layout_.port(o), layout_.vc(o));
  u64 wanted = 0;
  const u32 holder = outputs_[base(e) + o].holder;
  if (holder < kDraining && holder != i) {
    wanted = resource(s, layout_.port(holder), layout_.vc(holder));
    what += fmt::format(", held by the packet in input {} vc {}", layout_.port(holder), layout_.vc(holder));
  } else {
    const core::End& to = topology_.graph().channel(topology_.graph().channel_out_of(s, layout_.port(o))).to;
    if (to.terminal) return;
    wanted = resource(to.node, to.port, layout_.vc(o));
    what = fmt::format("a credit of {}, to input {} of switch {}", what, to.port, topology_.label(to.node));
  }
  into.push_back({resource(s, layout_.port(i), layout_.vc(i)), wanted,
                  fmt::format("packet {}->{} in {} waits for {}", waiter.source, waiter.destination, place(e, i), what),
                  static_cast<u64>(waiter.source) << 32U | waiter.sequence});
}

void VcRouterBase::wait_for_vc(u32 e, u32 i, std::vector<engine::Wait>& into) const {
  const core::Packet& waiter = packet(flits_.front(e, i, inputs_[base(e) + i].ring).packet);
  core::Candidates candidates;
  route(e, i, waiter, candidates);
  bool leads = false;
  for (const core::Candidate& c : candidates) {
    if (!leads_on(switches_[e], c.port)) continue;
    for (u32 v = c.vc_begin; v < std::min<u32>(c.vc_end, layout_.vcs()); ++v) {
      leads = true;
      wait_for(e, i, layout_.index(c.port, v), into);
    }
  }
  if (leads) return;
  const u64 self = resource(switches_[e], layout_.port(i), layout_.vc(i));
  into.push_back({self, self,
                  fmt::format("packet {}->{} in {} finds no way on", waiter.source, waiter.destination, place(e, i)),
                  kNever});
}

void VcRouterBase::waits(std::vector<engine::Wait>& into) const {
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 i = 0; i < layout_.size(); ++i) {
      const InputVc& in = inputs_[base(e) + i];
      if (in.ring.count == 0) continue;
      if (in.vc >= kMostVcs) {
        wait_for_vc(e, i, into);
      } else {
        const u32 o = layout_.index(in.port, in.vc);
        if (room(e, o) == 0) wait_for(e, i, o, into);
      }
    }
  }
}

}  // namespace banyan::switching::parts
