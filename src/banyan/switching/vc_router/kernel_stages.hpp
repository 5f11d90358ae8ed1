// The stages of the fast kernel of vc_router, in the order in which a block of routers goes through them in a tick.
#pragma once

#include "banyan/switching/vc_router/kernel.hpp"

namespace banyan::switching::parts {

/// `active`: routers that have something to do besides what their lists say.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::step_active(u32 b, u64 active, Tick now, engine::Io& io) noexcept {
  const Block r = block(b);
  Counts& due = r.coming[0].counts[b];
  active |= take_flits(r, due);
  active |= take_credits(r, due.credits);
  active |= route_heads(r, due.heads, active, now, io);
  const u32 heads = due.heads;
  due = {};
  // What stays waiting is tried again when a virtual channel was freed, and when one was given away: a head with
  // several candidates may have asked for just that one.
  u64 again = allocate_vcs(r, heads, active, io);
  const bool at_once = setup_.pipeline.vc_allocation == 0;
  if (at_once) start(r);
  again |= allocate_switch(r, active, io);
  if (!at_once) start(r);
  stepped_next_[b] = again;
}

/// Flits of other routers of the shard that count from now on. Returns who got one.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::take_flits(const Block& r, Counts& due) noexcept {
  const Item* const items = r.coming[0].items + std::size_t{r.number} * room_;
  const Agenda& routed = r.coming[setup_.pipeline.routing];
  Item* const heads = routed.items + std::size_t{r.number} * room_ + heads_at_;
  u32 fresh = routed.counts[r.number].heads;
  u64 who = 0;
  for (u32 k = 0; k < due.flits; ++k) {
    const u32 e = router_of(items[k]);
    const u32 i = vc_of(items[k]);
    const u32 w = r.word(e, i);
    ask_on();
    who |= u64{1} << e;
    ++r.inputs[r.vc(e, i)].ring.count;
    heads[fresh] = items[k];
    fresh += ((r.filled[w] | r.holding[w]) >> (i & 63U) & 1U) == 0 ? 1U : 0U;
    r.filled[w] |= bit(i);
  }
  routed.counts[r.number].heads = fresh;
  return who;
}

/// Does the same for credits.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::take_credits(const Block& r, u32 count) noexcept {
  const Item* const items = r.coming[0].items + std::size_t{r.number} * room_ + credits_at_;
  u64 who = 0;
  for (u32 k = 0; k < count; ++k) {
    const u32 e = router_of(items[k]);
    const u32 o = vc_of(items[k]);
    ask_on();
    who |= u64{1} << e;
    OutputVc& out = r.outputs[r.vc(e, o)];
    ++out.credits;
    r.credit[r.word(e, o)] |= bit(o);
    const u32 holder = out.holder;
    const u64 held = holder != kNobody ? 1 : 0;
    const u32 i = OneWord ? holder : holder & (0U - static_cast<u32>(held));
    r.starved[r.word(e, i)] &= ~(held << (i & 63U));
  }
  return who;
}

/// Places became free behind output virtual channel o. Returns whether that matters now.
template <bool OneWord, u32 Shift, bool Fetches>
inline bool VcRouterKernel<OneWord, Shift, Fetches>::add_credits(const Block& r, u32 e, u32 o, u32 places) noexcept {
  OutputVc& out = r.outputs[r.vc(e, o)];
  const u32 before = out.credits;
  out.credits = static_cast<Number>(before + places);
  if (before != 0 && !setup_.cut_through) return false;
  r.credit[r.word(e, o)] |= bit(o);
  if (out.holder == kNobody) return needs_credit();
  if (before != 0) return false;
  const u32 w = r.word(e, out.holder);
  r.starved[w] &= ~bit(out.holder);
  return (r.filled[w] & bit(out.holder)) != 0;
}

/// Routes the heads that are due. Returns whose they are.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::route_heads(const Block& r, u32 count, u64 active, Tick now,
                                                                engine::Io& io) noexcept {
  const Item* const items = r.coming[0].items + std::size_t{r.number} * room_ + heads_at_;
  u64 who = 0;
  if (!known_.empty() && !watched()) {
    for (u32 k = 0; k < count; ++k) {
      const u32 e = router_of(items[k]);
      who |= u64{1} << e;
      recall(r, e, vc_of(items[k]), io);
    }
    return who;
  }
  for (u32 k = 0; k < count; ++k) who |= u64{1} << router_of(items[k]);
  if (watched()) [[unlikely]]
    for_each(active | who, [&](u32 e) { observe(r.first + e, now); });
  const auto head_of = [&](u32 k) -> const BufferedFlit& {
    const u32 e = router_of(items[k]);
    const u32 i = vc_of(items[k]);
    return flits_.front(r.first + e, i, r.inputs[r.vc(e, i)].ring);
  };
  if (heads_know_) {
    core::Visit* const visits = visits_.data();
    for (u32 k = 0; k < count; ++k) {
      ask_on();
      visits[k] = {switches_[r.first + router_of(items[k])], head_of(k).destination()};
    }
    if (count != 0) routing_.steps({visits, count}, steps_.data());
    for (u32 k = 0; k < count; ++k) take_step(r, router_of(items[k]), vc_of(items[k]), steps_[k], io);
    return who;
  }
  // The packets' records lie anywhere: asked for together, they come together.
  Routed* const routed = routed_.data();
  for (u32 k = 0; k < count; ++k) {
    const BufferedFlit& head = head_of(k);
    routed[k] = {&io.packet(head.packet()), head.hops()};
    __builtin_prefetch(routed[k].packet);
  }
  for (u32 k = 0; k < count; ++k) {
    ask_routing(r, router_of(items[k]), vc_of(items[k]), *routed[k].packet, routed[k].hops);
  }
  return who;
}

/// The head of input virtual channel i gets the only step that its routing allows, if there is only one.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::take_step(const Block& r, u32 e, u32 i,
                                                               const core::Candidate& step, engine::Io& io) noexcept {
  InputVc& in = r.inputs[r.vc(e, i)];
  if (step.vc_begin == step.vc_end) [[unlikely]]
    return ask_routing(r, e, i, flits_.front(r.first + e, i, in.ring), io);
  in.port = static_cast<u8>(step.port);
  in.begin = step.vc_begin;
  in.end = step.vc_end;
  in.vc = kRouted;
  add_waiting(r, e, i, in.port);
}

/// Routes the head of input virtual channel i as the last one to the same destination.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::recall(const Block& r, u32 e, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[r.vc(e, i)];
  const BufferedFlit& head = flits_.front(r.first + e, i, in.ring);
  Way& way = known_[std::size_t{r.first + e} * terminals_ + head.destination()];
  if (way.vc != kRouted) [[unlikely]] {
    ask_routing(r, e, i, head, io);
    if (in.vc == kRouted) way = in.way();
    return;
  }
  in.take(way);
  add_waiting(r, e, i, way.port);
}

/// Routes the head of input virtual channel i.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::ask_routing(const Block& r, u32 e, u32 i,
                                                                 const core::Packet& packet, u32 hops) noexcept {
  InputVc& in = r.inputs[r.vc(e, i)];
  route(r.first + e, i, packet, hops, candidates_);
  if (candidates_.size() != 1) {
    in.vc = kAdaptive;
    r.adaptive[r.word(e, i)] |= bit(i);
    *r.choosing |= u64{1} << e;
    return;
  }
  const core::Candidate& only = candidates_[0];
  in.port = static_cast<u8>(only.port);
  in.begin = only.vc_begin;
  in.end = only.vc_end;
  in.vc = kRouted;
  add_waiting(r, e, i, in.port);
}

/// Chooses the best of several candidates. A head without any candidate waits for ever: the watchdog will explain it.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::choose_candidate(const Block& r, u32 e, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[r.vc(e, i)];
  const BufferedFlit& head = flits_.front(r.first + e, i, in.ring);
  route(r.first + e, i, io.packet(head.packet()), head.hops(), candidates_);
  const auto open = [&](const core::Candidate& c) {
    in.begin = c.vc_begin;
    in.end = c.vc_end;
    in.port = static_cast<u8>(c.port);
    return suitable(r, e, i, open_vcs(r, e, c.port), io) != 0;
  };
  const auto room = [&](u32 port, u32 v) {
    const u32 o = r.layout.index(port, v);
    return i32{r.outputs[r.vc(e, o)].credits} - i32{test_bit(r.held + e * r.n(), o)};
  };
  const core::Candidate* const best = choice_.best(candidates_, r.layout.port(i), open, room);
  if (best == nullptr) {
    in.begin = in.end = in.port = 0;
    return;
  }
  in.port = static_cast<u8>(best->port);
  in.begin = best->vc_begin;
  in.end = best->vc_end;
  add_waiting(r, e, i, in.port);
}

/// Gives those of the virtual channels `open` of its port that the head of i may have.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::suitable(const Block& r, u32 e, u32 i, u64 open,
                                                             engine::Io& io) noexcept {
  const InputVc& in = r.inputs[r.vc(e, i)];
  u64 free = 0;
  if constexpr (kFewVcs) {
    free = (open & ((u64{1} << in.end) - 1)) >> in.begin << in.begin;
  } else {
    if (in.begin >= in.end) return 0;
    free = open & (~u64{0} >> (64U - in.end)) & (~u64{0} << in.begin);
  }
  if (!setup_.cut_through || free == 0) return free;
  return with_room(r.number, e, i, free, io);
}

template <bool OneWord, u32 Shift, bool Fetches>
u64 VcRouterKernel<OneWord, Shift, Fetches>::with_room(u32 b, u32 e, u32 i, u64 free, engine::Io& io) noexcept {
  const Block r = block(b);
  const u32 port = r.inputs[r.vc(e, i)].port;
  const u32 need = flits_needed(r, e, i, io);
  for_each(free, [&](u32 v) {
    if (r.outputs[r.vc(e, r.layout.index(port, v))].credits < need) free &= ~(u64{1} << v);
  });
  return free;
}

/// Gives free output virtual channels to waiting heads; they stand in given_. Returns whose they are.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::allocate_vcs(const Block& r, u32 heads, u64 active,
                                                                 engine::Io& io) noexcept {
  Given* const first = given_.data();
  Given* next = first;
  const u64 choosing = *r.choosing & active;
  if (choosing != 0) choose_candidates(r.number, choosing, io);
  u64 served = 0;
  if (OneWord && heads <= kFewHeads) {
    // When few heads were routed just now, most of them ask alone for their output: one loop does for them, where
    // there is one per port below.
    const Item* const items = r.coming[0].items + std::size_t{r.number} * room_ + heads_at_;
    for (u32 k = 0; k < heads; ++k) {
      const u32 e = router_of(items[k]);
      const u32 i = vc_of(items[k]);
      const InputVc& in = r.inputs[r.vc(e, i)];
      if (in.vc != kRouted || r.waiting[r.row(e, in.port)] != bit(i)) [[unlikely]]
        continue;
      ask_on();
      const u64 offers = suitable(r, e, i, open_vcs(r, e, in.port), io);
      if (offers == 0) [[unlikely]]
        continue;
      served |= u64{1} << e;
      *next++ = accept_vc(r, e, in.port, i, offers);
    }
  }
  for (u32 port = 0; port < r.layout.ports(); ++port) {
    for (u64 left = r.wanted[port] & active; left != 0; left &= left - 1) {
      const u32 e = static_cast<u32>(std::countr_zero(left));
      ask_on();
      Given* const before = next;
      next = serve_output(r, e, port, next, io);
      served |= u64{next != before} << e;
    }
  }
  given_count_ = static_cast<u32>(next - first);
  if (choosing != 0) forget_candidates(r.number, choosing);
  return served;
}

/// Heads with several candidates settle for one of them in this tick.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::choose_candidates(u32 b, u64 routers, engine::Io& io) noexcept {
  const Block r = block(b);
  for_each(routers, [&](u32 e) {
    choice_.begin();
    for (u32 w = 0; w < r.n(); ++w) {
      for_each(r.adaptive[e * r.n() + w], [&](u32 place) { choose_candidate(r, e, w * 64 + place, io); });
    }
  });
}

/// Those that got nothing choose anew next time.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::forget_candidates(u32 b, u64 routers) noexcept {
  const Block r = block(b);
  for_each(routers, [&](u32 e) {
    for (u32 w = 0; w < r.n(); ++w) {
      for_each(r.adaptive[e * r.n() + w], [&](u32 place) {
        const u32 i = w * 64 + place;
        remove(r, r.waiting, r.wanted, e, i, r.inputs[r.vc(e, i)].port);
      });
    }
  });
}

/// iSLIP (McKeown 1999) of one iteration: every free virtual channel of the output port grants the first head at or
/// after its pointer, every head accepts the first grant at or after its own. What is given is written from `next` on;
/// returns its end.
template <bool OneWord, u32 Shift, bool Fetches>
inline auto VcRouterKernel<OneWord, Shift, Fetches>::serve_output(const Block& r, u32 e, u32 port, Given* next,
                                                                  engine::Io& io) noexcept -> Given* {
  const u64 open = open_vcs(r, e, port);
  const u64* const heads = r.waiting + r.row(e, port);
  if constexpr (OneWord) {
    if (std::has_single_bit(*heads)) {
      const u32 i = static_cast<u32>(std::countr_zero(*heads));
      const u64 offers = suitable(r, e, i, open, io);
      if (offers != 0) *next++ = accept_vc(r, e, port, i, offers);
      return next;
    }
  }
  return open != 0 ? serve_many(r.number, e, port, open, next, io) : next;
}

template <bool OneWord, u32 Shift, bool Fetches>
auto VcRouterKernel<OneWord, Shift, Fetches>::serve_many(u32 b, u32 e, u32 port, u64 open, Given* next,
                                                         engine::Io& io) noexcept -> Given* {
  const Block r = block(b);
  const u64* const heads = r.waiting + r.row(e, port);
  std::array<u16, kMostVcs + 1> winners;
  u32 won = 0;
  const auto granted = [&](u32 v) {
    const u32 from = r.outputs[r.vc(e, r.layout.index(port, v))].head;
    const auto may = [&](u32 head) { return suitable(r, e, head, u64{1} << v, io) != 0; };
    if constexpr (OneWord) {  // nearly always the first in turn may have it
      const u32 i = round_robin(*heads, from);
      if (may(i)) return i;
    }
    return find_cyclically(heads, r.n(), from, may);
  };
  u64* const offers = offers_.data();
  const auto grant = [&](u32 v, u32 i) {
    winners[won] = static_cast<u16>(i);
    won += offers[i] == 0 ? 1U : 0U;
    offers[i] |= u64{1} << v;
  };
  // Mostly every head may have every virtual channel.
  u64 common = OneWord ? open : 0;
  if constexpr (OneWord) for_each(*heads, [&](u32 i) { common &= suitable(r, e, i, open, io); });
  if (OneWord && common == open) {
    const OutputVc* const outputs = &r.outputs[r.vc(e, r.layout.index(port, 0))];
    for_each(open, [&](u32 v) { grant(v, round_robin(*heads, outputs[v].head)); });
  } else {
    for_each(open, [&](u32 v) {
      const u32 i = granted(v);
      if (i != kNone) grant(v, i);
    });
  }
  for (u32 k = 0; k < won; ++k) *next++ = accept_vc(r, e, port, winners[k], std::exchange(offers[winners[k]], 0));
  return next;
}

/// The head of i accepts one of the virtual channels `offers` of its output port.
template <bool OneWord, u32 Shift, bool Fetches>
inline auto VcRouterKernel<OneWord, Shift, Fetches>::accept_vc(const Block& r, u32 e, u32 port, u32 i,
                                                               u64 offers) noexcept -> Given {
  InputVc& in = r.inputs[r.vc(e, i)];
  const u32 from = in.first;
  // Whether the last one was of this port is as good as random: without a branch.
  const u32 same = r.layout.port(from) == port ? ~0U : 0U;
  const u32 v = round_robin(offers, r.layout.vc(from) & same);
  const u32 o = r.layout.index(port, v);
  if (in.vc == kAdaptive) {
    r.adaptive[r.word(e, i)] &= ~bit(i);
    if (!any(r.adaptive + std::size_t{e} * r.n())) *r.choosing &= ~(u64{1} << e);
  }
  in.first = static_cast<Number>(o + 1 == r.layout.size() ? 0 : o + 1);
  in.vc = static_cast<u8>(v);
  OutputVc& out = r.outputs[r.vc(e, o)];
  out.head = static_cast<Number>(i + 1 == r.layout.size() ? 0 : i + 1);
  out.holder = static_cast<Number>(i);
  r.held[r.word(e, o)] |= bit(o);
  remove(r, r.waiting, r.wanted, e, i, port);
  return {item(e, i), static_cast<u16>(o)};
}

/// Those that were given an output virtual channel ask for the switch from now on.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::start(const Block& r) noexcept {
  const Given* const given = given_.data();
  for (u32 k = 0; k < given_count_; ++k) {
    const u32 e = router_of(given[k].to);
    const u32 i = vc_of(given[k].to);
    const u32 o = given[k].output;
    const u32 port = r.layout.port(o);
    set_bit(r.owners + r.row(e, port), i);
    r.owned[port] |= u64{1} << e;
    const u32 w = r.word(e, i);
    r.holding[w] |= bit(i);
    r.starved[w] |= (~r.credit[r.word(e, o)] >> (o & 63U) & 1U) << (i & 63U);
  }
}

/// iSLIP of one iteration between input and output ports; of the virtual channels of a port that want one output, the
/// first at or after the port's pointer asks. Returns who had one that could send.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::allocate_switch(const Block& r, u64 active,
                                                                    engine::Io& io) noexcept {
  const u64 ready = grant_inputs(r, active);
  u32 tails = 0;
  if constexpr (OneWord && !Fetches) {
    tails = cross(r, io);
  } else {
    tails = enter_outputs(r, leave_inputs(r, io), io);
  }
  movements_ += winners_;
  finish(r, tails);
  packets_ += tails;
  return ready;
}

/// Every output port of which somebody holds a virtual channel grants an input port, if any can send. Returns who had
/// one that could send; the granted input ports stand in won_.
template <bool OneWord, u32 Shift, bool Fetches>
inline u64 VcRouterKernel<OneWord, Shift, Fetches>::grant_inputs(const Block& r, u64 active) noexcept {
  u64* const can = able_.data();
  u64* const grants = grants_.data();
  Item* const won = won_.data();
  u32 n = 0;
  u64 ready = 0;
  for (u64 left = active; left != 0; left &= left - 1) {
    const u32 e = static_cast<u32>(std::countr_zero(left));
    u64 some = 0;
    for (u32 w = e * r.n(); w < (e + 1) * r.n(); ++w) {
      can[w] = r.able(w);
      some |= can[w] & r.holding[w];
    }
    ready |= u64{some != 0} << e;
  }
  const auto grant = [&](u32 e, u32 o, u32 i) {
    const u32 p = r.layout.port(i);
    u64& of_input = grants[r.port(e, p)];
    won[n] = item(e, r.layout.index(p, 0));
    n += of_input == 0 ? 1U : 0U;
    of_input |= u64{1} << o;
  };
  for (u32 o = 0; o < r.layout.ports(); ++o) {
    for (u64 left = r.owned[o] & ready; left != 0; left &= left - 1) {
      const u32 e = static_cast<u32>(std::countr_zero(left));
      const u64* const row = r.owners + r.row(e, o);
      const u32 from = r.layout.index(r.ports[r.port(e, o)].input, 0);
      if constexpr (OneWord) {
        const u64 asking = *row & can[e];
        if (asking != 0) grant(e, o, round_robin(asking, from));
      } else {
        const u64* const mine = &can[std::size_t{e} * r.words];
        const u32 i = find_cyclically(row, r.words, from, [&](u32 k) { return (mine[k >> 6U] & bit(k)) != 0; });
        if (i != kNone) grant(e, o, i);
      }
    }
  }
  winners_ = n;
  return ready;
}

/// Every granted input port sends a flit through the crossbar and over the channel, and a credit to whoever feeds it.
/// Returns how many tails are among them. leave_inputs and enter_outputs do the same one after the other, where memory
/// is asked for between them.
template <bool OneWord, u32 Shift, bool Fetches>
inline u32 VcRouterKernel<OneWord, Shift, Fetches>::cross(const Block& r, engine::Io& io) noexcept {
  const u64* const can = able_.data();
  u64* const grants = grants_.data();
  Item* const gone = tails_.data();
  const RingsAccess flits = flits_.access();
  const std::size_t first_vc = base(r.first);
  const Agenda* const coming = r.coming;
  const u32 room = room_;
  const u32 credits_at = credits_at_;
  const Item* const end = won_.data() + winners_;
  u32 tails = 0;
  for (const Item* it = won_.data(); it != end; ++it) {
    const u32 e = router_of(*it);
    const u32 first = vc_of(*it);
    const u32 ports = r.port(e, 0);
    const u32 p = r.layout.port(first);
    PortState& port = r.ports[ports + p];
    const u32 to_port = round_robin(std::exchange(grants[ports + p], 0), port.output);
    const u32 v = round_robin((r.owners[ports + to_port] & can[e]) >> first & r.layout.field(), port.vc);
    port.vc = after_turn(v);
    port.output = after_turn(to_port);
    const u32 i = first + v;
    const u32 vcs = r.layout.index(ports, 0);
    InputVc& in = r.inputs[vcs + i];
    const u32 out_vc = in.vc;
    const BufferedFlit flit = *flits.pop(first_vc + vcs + i, in.ring);
    // Hardly any branch here: none of this is to be foreseen.
    r.filled[e] &= ~(u64{in.ring.count == 0} << i);
    if (port.credit_ticks != 0) {
      const Agenda& arrival = coming[port.credit_ticks];
      u32& count = arrival.counts[port.up_block].credits;
      arrival.items[std::size_t{port.up_block} * room + credits_at + count++] = static_cast<Item>(port.up_item + v);
    } else {
      send_credit(r.port(r.first + e, p), v, port.from_terminal, io);
    }
    PortState& to = r.ports[ports + to_port];
    to.input = static_cast<u8>(p + 1 == r.layout.ports() ? 0 : p + 1);
    const u32 o = r.layout.index(to_port, out_vc);
    OutputVc& out = r.outputs[vcs + o];
    if (to.flit_ticks != 0) {
      const u32 far = to.down_item + out_vc;
      flits.put(far_vc(r.layout, to.down_block, far), out.tail, flit.passed_on());
      out.tail = static_cast<Number>(flits.after(out.tail));
      const Agenda& arrival = coming[to.flit_ticks];
      u32& count = arrival.counts[to.down_block].flits;
      arrival.items[std::size_t{to.down_block} * room + count++] = static_cast<Item>(far);
    } else {
      send_out(r.port(r.first + e, to_port), flit.unpack(static_cast<u8>(out_vc)), io);
    }
    const u64 tail = (flit.flags() & core::kTail) != 0 ? 1 : 0;
    const u32 credits = out.credits - 1U;
    const u64 exhausted = credits == 0 ? 1 : 0;
    out.credits = static_cast<Number>(credits);
    r.credit[e] &= ~(exhausted << o);
    r.starved[e] |= (exhausted & ~tail) << i;
    gone[tails] = item(e, i);
    tails += static_cast<u32>(tail);
  }
  return tails;
}

/// Every granted input port sends a flit into the crossbar, and a credit to whoever feeds it. Returns how many did.
template <bool OneWord, u32 Shift, bool Fetches>
inline u32 VcRouterKernel<OneWord, Shift, Fetches>::leave_inputs(const Block& r, engine::Io& io) noexcept {
  const u64* const can = able_.data();
  u64* const grants = grants_.data();
  const Item* const won = won_.data();
  Crossing* const crossings = crossings_.data();
  const RingsAccess flits = flits_.access();
  const std::size_t first_vc = base(r.first);
  const Agenda* const coming = r.coming;
  const u32 room = room_;
  const u32 credits_at = credits_at_;
  u32 n = 0;
  u32 outside = 0;
  for (const Item* it = won; it != won + winners_; ++it) {
    const u32 e = router_of(*it);
    const u32 p = r.layout.port(vc_of(*it));
    const u32 place = r.layout.place_of_port(p);
    PortState& port = r.ports[r.port(e, p)];
    ask_on();
    const u32 o = round_robin(std::exchange(grants[r.port(e, p)], 0), port.output);
    const u32 w = OneWord ? 0 : r.layout.word_of_port(p);
    const u64 these = r.owners[r.row(e, o) + w] & can[e * r.n() + w];
    const u32 v = round_robin(these >> place & r.layout.field(), port.vc);
    port.vc = static_cast<u8>((v + 1) & 63U);
    port.output = static_cast<u8>((o + 1) & 63U);
    const u32 i = r.layout.index(p, v);
    InputVc& in = r.inputs[r.vc(e, i)];
    const BufferedFlit* const flit = flits.pop(first_vc + r.vc(e, i), in.ring);
    crossings[n++] = {flit, item(e, i), static_cast<u8>(o), in.vc};
    if constexpr (Fetches) ask_for(flit);
    if constexpr (Fetches) ask_for(&r.outputs[r.vc(e, r.layout.index(o, in.vc))]);
    // No branch here: it could not be predicted.
    r.filled[e * r.n() + w] &= ~(u64{in.ring.count == 0} << (i & 63U));
    if (port.credit_ticks != 0) {
      const Agenda& arrival = coming[port.credit_ticks];
      u32& count = arrival.counts[port.up_block].credits;
      arrival.items[std::size_t{port.up_block} * room + credits_at + count++] = static_cast<Item>(port.up_item + v);
    } else if constexpr (Fetches) {
      const u32 number = r.port(r.first + e, p);
      io.fetch_up(number);
      outside_[outside++] = {number, static_cast<u8>(v), port.from_terminal};
    } else {
      send_credit(r.port(r.first + e, p), v, port.from_terminal, io);
    }
  }
  for (u32 k = 0; k < outside; ++k) send_credit(outside_[k].port, outside_[k].vc, outside_[k].from_terminal, io);
  return n;
}

/// The flits in the crossbar go to their output ports and over the channels. Returns how many tails are among them.
template <bool OneWord, u32 Shift, bool Fetches>
inline u32 VcRouterKernel<OneWord, Shift, Fetches>::enter_outputs(const Block& r, u32 crossings,
                                                                  engine::Io& io) noexcept {
  const Crossing* const first = crossings_.data();
  Item* const gone = tails_.data();
  const RingsAccess flits = flits_.access();
  InputVc* const all_inputs = inputs_.data();
  const Agenda* const coming = r.coming;
  const u32 room = room_;
  u32 tails = 0;
  u32 outside = 0;
  for (const Crossing* c = first; c != first + crossings; ++c) {
    const u32 e = router_of(c->from);
    const u32 i = vc_of(c->from);
    const u32 out_vc = c->vc;
    const u32 p = r.layout.port(i);
    const BufferedFlit flit = *c->flit;
    PortState& to = r.ports[r.port(e, c->port)];
    to.input = static_cast<u8>(p + 1 == r.layout.ports() ? 0 : p + 1);
    const u32 o = r.layout.index(c->port, out_vc);
    OutputVc& out = r.outputs[r.vc(e, o)];
    if (to.flit_ticks != 0) {
      const std::size_t at = far_vc(r.layout, to.down_block, to.down_item + out_vc);
      put_far(flits, all_inputs, out, at, flit.passed_on());
      const Agenda& arrival = coming[to.flit_ticks];
      u32& count = arrival.counts[to.down_block].flits;
      arrival.items[std::size_t{to.down_block} * room + count++] = static_cast<Item>(to.down_item + out_vc);
    } else if constexpr (Fetches) {
      const u32 number = r.port(r.first + e, c->port);
      io.fetch_down(number);
      sent_[outside++] = {number, flit.unpack(c->vc)};
    } else {
      send_out(r.port(r.first + e, c->port), flit.unpack(c->vc), io);
    }
    // None of this is to be foreseen: without branches.
    const u64 tail = (flit.flags() & core::kTail) != 0 ? 1 : 0;
    const u32 credits = out.credits - 1U;
    const u64 exhausted = credits == 0 ? 1 : 0;
    out.credits = static_cast<Number>(credits);
    r.credit[r.word(e, o)] &= ~(exhausted << (o & 63U));
    r.starved[r.word(e, i)] |= (exhausted & ~tail) << (i & 63U);
    gone[tails] = c->from;
    tails += static_cast<u32>(tail);
  }
  for (u32 k = 0; k < outside; ++k) send_out(sent_[k].port, sent_[k].flit, io);
  return tails;
}

/// The packets whose tails left give back what they held; the next ones begin with their routing.
template <bool OneWord, u32 Shift, bool Fetches>
inline void VcRouterKernel<OneWord, Shift, Fetches>::finish(const Block& r, u32 tails) noexcept {
  const Item* const gone = tails_.data();
  const Agenda& routed = r.coming[1 + setup_.pipeline.routing];
  Item* const heads = routed.items + std::size_t{r.number} * room_ + heads_at_;
  u32 next = routed.counts[r.number].heads;
  for (u32 k = 0; k < tails; ++k) {
    const u32 e = router_of(gone[k]);
    const u32 i = vc_of(gone[k]);
    InputVc& in = r.inputs[r.vc(e, i)];
    const u32 o = r.layout.index(in.port, in.vc);
    r.outputs[r.vc(e, o)].holder = kNobody;
    in.vc = kFresh;
    r.held[r.word(e, o)] &= ~bit(o);
    r.holding[r.word(e, i)] &= ~bit(i);
    remove(r, r.owners, r.owned, e, i, in.port);
    heads[next] = gone[k];
    next += in.ring.count != 0 ? 1U : 0U;
  }
  routed.counts[r.number].heads = next;
}

}  // namespace banyan::switching::parts
