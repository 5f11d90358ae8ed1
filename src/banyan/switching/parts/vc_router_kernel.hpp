// The fast kernel of vc_router, for the ordinary settings: iSLIP of one iteration for both allocations, private
// buffers, one cycle of switch allocation, at most one of virtual-channel allocation, no speedup. The general kernel
// (vc_router_general.hpp) does everything and agrees with this one to the cycle.
//
// What a step looks at first, which heads are due, which outputs are wanted and which virtual channels are free, is a
// few neighbouring words of bits per router.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "banyan/switching/parts/round_robin.hpp"
#include "banyan/switching/parts/vc_router_base.hpp"

namespace banyan::switching::parts {

/// OneWord: the virtual channels of all ports of a router fit into one word of bits.
template <bool OneWord>
class VcRouterKernel : public VcRouterBase {
 public:
  VcRouterKernel(engine::Builder& builder, u32 shard, const RouterSetup& setup)
      : VcRouterBase(builder, shard, setup),
        slots_(std::bit_ceil(setup.pipeline.routing + 2)),
        stride_(kSummaries + (kSets + slots_ + 2 * setup.ports) * words()),
        bits_(switches_.size() * stride_),
        port_arbiters_(switches_.size() * setup.ports),
        vc_arbiters_(inputs_.size()),
        given_(layout_.size()),
        offers_(layout_.size()),
        fetches_(setup.bytes > kCacheBytes) {}

  void reset(u32) {
    reset_base();
    std::fill(bits_.begin(), bits_.end(), 0);
    std::fill(port_arbiters_.begin(), port_arbiters_.end(), PortArbiters{});
    std::fill(vc_arbiters_.begin(), vc_arbiters_.end(), VcArbiters{});
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < layout_.ports(); ++p) {
        const u32 delay = fed_by_terminal(switches_[e], p) ? 0 : setup_.pipeline.credit;
        port_arbiters_[std::size_t{e} * layout_.ports() + p].credit_delay = delay + 1;
        for (u32 v = 0; v < layout_.vcs(); ++v) {
          const u32 i = layout_.index(p, v);
          if (outputs_[base(e) + i].credits != 0) set_bit(set(e, kCredit), i);
        }
      }
    }
  }

  Tick accept(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    InputVc& in = inputs_[base(e) + i];
    flits_.push(e, i, in.ring, BufferedFlit::pack(flit));
    if (in.ring.count != 1) return kNever;
    const Tick now = io.now();
    if (in.vc >= kMostVcs) {
      const Tick due = now + setup_.pipeline.routing;
      set_bit(slot(e, due), i);
      return due;
    }
    if (!test_bit(set(e, kCredit), layout_.index(in.port, in.vc))) return kNever;
    make_ready(view(e), i, in.port);
    return now;
  }

  Tick accept(u32 e, u32 port, const core::Control& control, engine::Io& io) noexcept {
    const u32 o = layout_.index(port, control.vc);
    OutputVc& out = outputs_[base(e) + o];
    const u32 before = out.credits;
    out.credits = static_cast<u16>(before + control.argument);
    if (before != 0 && !setup_.cut_through) return kNever;
    set_bit(set(e, kCredit), o);
    if (out.holder == kNobody) {
      const View r = view(e);
      return needs_credit() && (*r.wanted != 0 || any(r.adaptive)) ? io.now() : kNever;
    }
    if (before != 0 || inputs_[base(e) + out.holder].ring.count == 0) return kNever;
    make_ready(view(e), out.holder, port);
    return io.now();
  }

  /// Whether all routers of the network together exceed the cache.
  [[nodiscard]] bool fetches() const noexcept { return fetches_; }
  void fetch(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    const InputVc& in = inputs_[base(e) + i];
    __builtin_prefetch(&in, 1);
    __builtin_prefetch(&bits_[std::size_t{e} * stride_], 1);
    __builtin_prefetch(flits_.first(e, i), 1);
    if ((flit.flags & core::kHead) != 0) __builtin_prefetch(&io.packet(flit.packet));
  }
  void fetch(u32 e, u32 port, const core::Control& control, engine::Io&) noexcept {
    __builtin_prefetch(&outputs_[base(e) + layout_.index(port, control.vc)], 1);
    __builtin_prefetch(set(e, kCredit), 1);
  }
  void fetch(u32 e) noexcept {
    const char* const bits = reinterpret_cast<const char*>(&bits_[std::size_t{e} * stride_]);
    for (std::size_t k = 0; k < stride_ * sizeof(u64); k += 64) __builtin_prefetch(bits + k, 1);
    __builtin_prefetch(&port_arbiters_[std::size_t{e} * layout_.ports()], 1);
  }

  Tick step(u32 e, Tick now, engine::Io& io) noexcept {
    observe(e, now);
    const View r = view(e);
    u64* const due = slot(e, now);
    for (u32 w = 0; w < words(); ++w) {
      for (u64 bits = due[w]; bits != 0; bits &= bits - 1) {
        ask_routing(r, w * 64 + static_cast<u32>(std::countr_zero(bits)), io);
      }
      due[w] = 0;
    }
    // What stays waiting is tried again when a virtual channel was freed, and when one was given away: a head with
    // several candidates may have asked for just that one.
    u32 given = 0;
    if (*r.wanted != 0 || any(r.adaptive)) given = allocate_vcs(r, io);
    bool changed = given != 0;
    const bool at_once = setup_.pipeline.vc_allocation == 0;
    if (at_once) start(r, given);
    if (*r.asked != 0) changed |= allocate_switch(r, now, io);
    if (!at_once) start(r, given);
    if (*r.asked != 0 || (changed && (*r.wanted != 0 || any(r.adaptive)))) return now + 1;
    return next_slot(e, now);
  }

  [[nodiscard]] u64 digest() const;
  void hold(engine::Holdings& into) const;

 private:
  /// Sets of virtual channels of a router, after the summaries; then the slots of heads in routing, then per output
  /// port who waits for a virtual channel of it, then who is ready to send through it.
  enum Set : u32 {
    kAdaptiveHeads,  ///< heads with several candidates that hold no output virtual channel
    kHeld,           ///< output virtual channels that are held by a packet, from head to tail
    kCredit,         ///< output virtual channels with at least one credit
    kSets
  };
  static constexpr u32 kSummaries = 2;  ///< outputs that somebody waits for; outputs that somebody is ready for

  /// Where the round-robin arbiters look first.
  struct PortArbiters {
    u8 vc = 0;             ///< input port: the virtual channel to be sent first
    u8 input = 0;          ///< output port: the input port to be granted first
    u8 output = 0;         ///< input port: the output port to be accepted first
    u32 credit_delay = 1;  ///< input port: cycles until a place counts as free at whoever fills it, channel apart
  };
  struct VcArbiters {
    u16 head = 0;    ///< output virtual channel: the input virtual channel to be granted first
    u16 output = 0;  ///< input virtual channel: the output virtual channel to be accepted first
  };

  /// One router, its pointers hoisted: stores of bytes would make the compiler load them again and again.
  struct View {
    u32 entity;
    VcLayout layout;
    u64* wanted;  ///< bit per output port
    u64* asked;   ///< bit per output port
    u64* adaptive;
    u64* held;
    u64* credit;
    u64* waiting;  ///< [output port][word]
    u64* ready;    ///< [output port][word]
    InputVc* inputs;
    OutputVc* outputs;
  };

  [[nodiscard]] u32 words() const noexcept { return OneWord ? 1 : layout_.words(); }
  [[nodiscard]] bool any(const u64* bits) const noexcept {
    if constexpr (OneWord) return *bits != 0;
    return std::any_of(bits, bits + words(), [](u64 word) { return word != 0; });
  }
  [[nodiscard]] bool needs_credit() const noexcept { return setup_.cut_through || setup_.vc_busy_when_full; }
  [[nodiscard]] std::size_t place(u32 e, u32 set) const noexcept {
    return std::size_t{e} * stride_ + kSummaries + std::size_t{set} * words();
  }
  [[nodiscard]] u64* set(u32 e, u32 kind) noexcept { return &bits_[place(e, kind)]; }
  [[nodiscard]] const u64* set(u32 e, u32 kind) const noexcept { return &bits_[place(e, kind)]; }
  /// Heads at the front of their buffer whose routing ends at `due`.
  [[nodiscard]] u64* slot(u32 e, Tick due) noexcept { return set(e, kSets + static_cast<u32>(due & (slots_ - 1))); }
  [[nodiscard]] View view(u32 e) noexcept {
    u64* const bits = &bits_[std::size_t{e} * stride_];
    u64* const sets = bits + kSummaries;
    const u32 n = words();
    u64* const waiting = sets + std::size_t{kSets + slots_} * n;
    return {e,
            layout_,
            bits,
            bits + 1,
            sets + std::size_t{kAdaptiveHeads} * n,
            sets + std::size_t{kHeld} * n,
            sets + std::size_t{kCredit} * n,
            waiting,
            waiting + std::size_t{layout_.ports()} * n,
            &inputs_[base(e)],
            &outputs_[base(e)]};
  }
  [[nodiscard]] Tick next_slot(u32 e, Tick now) noexcept {
    for (Tick t = now + 1; t <= now + setup_.pipeline.routing + 1; ++t) {
      if (any(slot(e, t))) return t;
    }
    return kNever;
  }

  void make_ready(const View& r, u32 i, u32 port) noexcept {
    set_bit(r.ready + std::size_t{port} * words(), i);
    *r.asked |= u64{1} << port;
  }
  void remove(u64* bits, u64* summary, u32 i, u32 port) noexcept {
    u64* const row = bits + std::size_t{port} * words();
    clear_bit(row, i);
    if (!any(row)) *summary &= ~(u64{1} << port);
  }
  void add_waiting(const View& r, u32 i, u32 port) noexcept {
    set_bit(r.waiting + std::size_t{port} * words(), i);
    *r.wanted |= u64{1} << port;
  }
  void ask_routing(const View& r, u32 i, engine::Io& io) noexcept;
  void choose_candidate(const View& r, u32 i, engine::Io& io) noexcept;
  [[nodiscard]] u32 flits_needed(const View& r, u32 i, engine::Io& io) const noexcept {
    return setup_.cut_through ? io.packet(flits_.front(r.entity, i, r.inputs[i].ring).packet).flits : 1;
  }
  /// Virtual channels of `port` that nobody holds.
  [[nodiscard]] u64 open_vcs(const View& r, u32 port) const noexcept {
    const u32 w = r.layout.word_of_port(port);
    const u64 taken = needs_credit() ? r.held[w] | ~r.credit[w] : r.held[w];
    return ~taken >> r.layout.place_of_port(port) & r.layout.field();
  }
  /// Of the virtual channels `open` of `port` those that the head of i may have.
  [[nodiscard]] u64 suitable(const View& r, u32 i, u64 open, engine::Io& io) const noexcept;
  u32 allocate_vcs(const View& r, engine::Io& io) noexcept;
  u32 serve_output(const View& r, u32 port, u32 given, engine::Io& io) noexcept;
  void give(const View& r, u32 i, u32 v) noexcept;
  void start(const View& r, u32 given) noexcept {
    for (u32 k = 0; k < given; ++k) {
      const InputVc& in = r.inputs[given_[k]];
      if (test_bit(r.credit, r.layout.index(in.port, in.vc))) make_ready(r, given_[k], in.port);
    }
  }
  bool allocate_switch(const View& r, Tick now, engine::Io& io) noexcept;
  bool forward(const View& r, PortArbiters* arbiters, u32 p, u32 o, Tick now, engine::Io& io) noexcept;

  static constexpr u64 kCacheBytes = 1U << 20U;  ///< of a common second level

  u32 slots_;  ///< power of two above routing_delay + 1
  std::size_t stride_;
  std::vector<u64> bits_;                    ///< [entity * stride + ...]
  std::vector<PortArbiters> port_arbiters_;  ///< [entity * ports + port]
  std::vector<VcArbiters> vc_arbiters_;      ///< [entity * layout size + index]
  std::vector<u16> given_;       ///< scratch: input virtual channels that were given an output's in this step
  std::vector<u64> offers_;      ///< scratch, [input virtual channel]: output virtual channels that grant it
  core::Candidates candidates_;  ///< scratch
  bool fetches_;
};

/// Routes the head of input virtual channel i.
template <bool OneWord>
inline void VcRouterKernel<OneWord>::ask_routing(const View& r, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[i];
  route(r.entity, i, io.packet(flits_.front(r.entity, i, in.ring).packet), candidates_);
  if (candidates_.size() != 1) {
    in.vc = kAdaptive;
    set_bit(r.adaptive, i);
    return;
  }
  const core::Candidate& only = candidates_[0];
  in.port = static_cast<u8>(only.port);
  in.begin = only.vc_begin;
  in.end = only.vc_end;
  in.vc = kRouted;
  add_waiting(r, i, in.port);
}

/// Of several candidates the best now: of the highest priority with a free virtual channel, the one with most credits,
/// the first among equals. A head without any candidate waits for ever: the watchdog will explain it.
template <bool OneWord>
void VcRouterKernel<OneWord>::choose_candidate(const View& r, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[i];
  route(r.entity, i, io.packet(flits_.front(r.entity, i, in.ring).packet), candidates_);
  const core::Candidate* best = nullptr;
  u32 most = 0;
  for (const core::Candidate& c : candidates_) {
    in.begin = c.vc_begin;
    in.end = c.vc_end;
    in.port = static_cast<u8>(c.port);
    if (suitable(r, i, open_vcs(r, c.port), io) == 0) continue;
    u32 credits = 0;
    for (u32 v = c.vc_begin; v < c.vc_end; ++v) credits += r.outputs[r.layout.index(c.port, v)].credits;
    if (best != nullptr && (c.priority < best->priority || (c.priority == best->priority && credits <= most))) continue;
    best = &c;
    most = credits;
  }
  if (best == nullptr) {
    in.begin = in.end = in.port = 0;
    return;
  }
  in.port = static_cast<u8>(best->port);
  in.begin = best->vc_begin;
  in.end = best->vc_end;
  add_waiting(r, i, in.port);
}

template <bool OneWord>
inline u64 VcRouterKernel<OneWord>::suitable(const View& r, u32 i, u64 open, engine::Io& io) const noexcept {
  const InputVc& in = r.inputs[i];
  if (in.begin >= in.end) return 0;
  u64 free = open & (~u64{0} >> (64U - in.end)) & (~u64{0} << in.begin);
  if (!setup_.cut_through || free == 0) return free;
  const u32 need = flits_needed(r, i, io);
  for (u64 left = free; left != 0; left &= left - 1) {
    const u32 v = static_cast<u32>(std::countr_zero(left));
    if (r.outputs[r.layout.index(in.port, v)].credits < need) free &= ~(u64{1} << v);
  }
  return free;
}

/// Gives free output virtual channels to waiting heads. Returns how many; they stand in given_.
template <bool OneWord>
inline u32 VcRouterKernel<OneWord>::allocate_vcs(const View& r, engine::Io& io) noexcept {
  const bool adaptive = any(r.adaptive);
  const auto for_adaptive = [&](auto&& f) {
    for (u32 w = 0; w < words(); ++w) {
      for (u64 bits = r.adaptive[w]; bits != 0; bits &= bits - 1) f(w * 64 + static_cast<u32>(std::countr_zero(bits)));
    }
  };
  if (adaptive) for_adaptive([&](u32 i) { choose_candidate(r, i, io); });
  u32 given = 0;
  for (u64 ports = *r.wanted; ports != 0; ports &= ports - 1) {
    given = serve_output(r, static_cast<u32>(std::countr_zero(ports)), given, io);
  }
  // Those that got nothing choose anew next time.
  if (adaptive) for_adaptive([&](u32 i) { remove(r.waiting, r.wanted, i, r.inputs[i].port); });
  return given;
}

/// iSLIP (McKeown 1999) of one iteration: every free virtual channel of the output port grants the first head at or
/// after its pointer, every head accepts the first grant at or after its own.
template <bool OneWord>
inline u32 VcRouterKernel<OneWord>::serve_output(const View& r, u32 port, u32 given, engine::Io& io) noexcept {
  const u64 open = open_vcs(r, port);
  if (open == 0) return given;
  const u64* const heads = r.waiting + std::size_t{port} * words();
  VcArbiters* const arbiters = &vc_arbiters_[base(r.entity)];
  const auto accept = [&](u32 i, u64 offers) {
    const u32 from = arbiters[i].output;
    const u32 v = round_robin(offers, r.layout.port(from) == port ? r.layout.vc(from) : 0);
    const u32 o = r.layout.index(port, v);
    arbiters[i].output = static_cast<u16>(o + 1 == r.layout.size() ? 0 : o + 1);
    arbiters[o].head = static_cast<u16>(i + 1 == r.layout.size() ? 0 : i + 1);
    give(r, i, v);
    given_[given++] = static_cast<u16>(i);
  };
  if constexpr (OneWord) {
    if (std::has_single_bit(*heads)) {
      const u32 i = static_cast<u32>(std::countr_zero(*heads));
      const u64 offers = suitable(r, i, open, io);
      if (offers != 0) accept(i, offers);
      return given;
    }
  }
  std::array<u16, kMostVcs> winners;
  u32 won = 0;
  for (u64 left = open; left != 0; left &= left - 1) {
    const u32 v = static_cast<u32>(std::countr_zero(left));
    const u64 bit = u64{1} << v;
    const u32 i = find_cyclically(heads, words(), arbiters[r.layout.index(port, v)].head,
                                  [&](u32 head) { return suitable(r, head, bit, io) != 0; });
    if (i == kNone) continue;
    if (offers_[i] == 0) winners[won++] = static_cast<u16>(i);
    offers_[i] |= bit;
  }
  for (u32 k = 0; k < won; ++k) {
    accept(winners[k], offers_[winners[k]]);
    offers_[winners[k]] = 0;
  }
  return given;
}

/// The packet of i takes virtual channel v of its output port.
template <bool OneWord>
inline void VcRouterKernel<OneWord>::give(const View& r, u32 i, u32 v) noexcept {
  InputVc& in = r.inputs[i];
  const u32 o = r.layout.index(in.port, v);
  in.vc = static_cast<u8>(v);
  r.outputs[o].holder = static_cast<u16>(i);
  set_bit(r.held, o);
  clear_bit(r.adaptive, i);
  remove(r.waiting, r.wanted, i, in.port);
}

/// iSLIP of one iteration between input and output ports; of the virtual channels of a port that want one output, the
/// first at or after the port's pointer asks. Returns whether an output virtual channel became free.
template <bool OneWord>
inline bool VcRouterKernel<OneWord>::allocate_switch(const View& r, Tick now, engine::Io& io) noexcept {
  PortArbiters* const arbiters = &port_arbiters_[std::size_t{r.entity} * r.layout.ports()];
  std::array<u64, kMostPorts> grants;  // [input port]: output ports; valid where `inputs` has a bit
  u64 inputs = 0;
  for (u64 ports = *r.asked; ports != 0; ports &= ports - 1) {
    const u32 o = static_cast<u32>(std::countr_zero(ports));
    const u32 from = r.layout.index(arbiters[o].input, 0);
    const u64* const row = r.ready + std::size_t{o} * words();
    u32 i = 0;
    if constexpr (OneWord) {
      i = round_robin(*row, from);
    } else {
      i = find_cyclically(row, words(), from, [](u32) { return true; });
    }
    const u32 p = r.layout.port(i);
    grants[p] = ((inputs >> p & 1U) != 0 ? grants[p] : 0) | u64{1} << o;
    inputs |= u64{1} << p;
  }
  bool freed = false;
  for (; inputs != 0; inputs &= inputs - 1) {
    const u32 p = static_cast<u32>(std::countr_zero(inputs));
    freed |= forward(r, arbiters, p, round_robin(grants[p], arbiters[p].output), now, io);
  }
  return freed;
}

/// Moves the front flit of a virtual channel of input port p that is ready for output port o. Returns whether it was a
/// tail.
template <bool OneWord>
inline bool VcRouterKernel<OneWord>::forward(const View& r, PortArbiters* arbiters, u32 p, u32 out_port, Tick now,
                                             engine::Io& io) noexcept {
  const u64 ready = r.ready[std::size_t{out_port} * words() + r.layout.word_of_port(p)];
  const u32 v = round_robin(ready >> r.layout.place_of_port(p) & r.layout.field(), arbiters[p].vc);
  arbiters[p].vc = static_cast<u8>((v + 1) & 63U);
  arbiters[p].output = static_cast<u8>((out_port + 1) & 63U);
  arbiters[out_port].input = static_cast<u8>(p + 1 == r.layout.ports() ? 0 : p + 1);

  const u32 i = r.layout.index(p, v);
  InputVc& in = r.inputs[i];
  const u32 o = r.layout.index(out_port, in.vc);
  const BufferedFlit flit = flits_.pop(r.entity, i, in.ring);
  const u32 first_port = r.entity * r.layout.ports();
  io.send(first_port + out_port, flit.unpack(in.vc), setup_.pipeline.departure());
  io.control_up(first_port + p, {engine::kCredit, static_cast<u16>(v), 1}, arbiters[p].credit_delay);
  ++movements_;

  OutputVc& out = r.outputs[o];
  const bool out_of_credit = --out.credits == 0;
  if (out_of_credit) clear_bit(r.credit, o);
  const bool tail = (flit.flags() & core::kTail) != 0;
  if (tail) {
    ++packets_;
    clear_bit(r.held, o);
    out.holder = kNobody;
    in.vc = kFresh;
    if (in.ring.count != 0) set_bit(slot(r.entity, now + 1 + setup_.pipeline.routing), i);
  }
  if (tail || out_of_credit || in.ring.count == 0) remove(r.ready, r.asked, i, out_port);
  return tail;
}

template <bool OneWord>
u64 VcRouterKernel<OneWord>::digest() const {
  u64 sum = 0;
  for (u32 e = 0; e < entities(); ++e) {
    Hasher h;
    digest_base(e, h);
    for (u32 p = 0; p < layout_.ports(); ++p) {
      const PortArbiters& a = port_arbiters_[std::size_t{e} * layout_.ports() + p];
      for (const u32 pointer : {u32{a.vc}, u32{a.input}, u32{a.output}}) h.add(pointer);
    }
    for (u32 i = 0; i < layout_.size(); ++i) {
      h.add(vc_arbiters_[base(e) + i].head);
      h.add(vc_arbiters_[base(e) + i].output);
    }
    for (u32 k = 0; k < stride_; ++k) h.add(bits_[std::size_t{e} * stride_ + k]);
    sum += h.value();
  }
  return sum;
}

/// Conservation, and the bits against what they stand for.
template <bool OneWord>
void VcRouterKernel<OneWord>::hold(engine::Holdings& into) const {
  VcRouterBase::hold(into);
  const u32 n = words();
  for (u32 e = 0; e < entities(); ++e) {
    const u64* const rows = set(e, kSets + slots_);
    for (u32 i = 0; i < layout_.size(); ++i) {
      if (layout_.vc(i) >= layout_.vcs()) continue;
      const InputVc& in = inputs_[base(e) + i];
      const OutputVc& out = outputs_[base(e) + i];
      const auto check = [&](bool bit, bool truth, const char* what) {
        if (bit != truth) into.violations.push_back(violation(e, i, what));
      };
      check(test_bit(set(e, kCredit), i), out.credits != 0, "credit bit and count disagree");
      check(test_bit(set(e, kHeld), i), out.holder != kNobody, "held bit is wrong");
      check(test_bit(set(e, kAdaptiveHeads), i), in.vc == kAdaptive, "adaptive bit is wrong");
      bool in_routing = false;
      for (u32 s = 0; s < slots_; ++s) in_routing = in_routing || test_bit(set(e, kSets + s), i);
      check(in_routing, in.vc == kFresh && in.ring.count != 0, "routing bit is wrong");
      const bool holds = in.vc < kMostVcs;
      const bool ready = holds && in.ring.count != 0 && outputs_[base(e) + layout_.index(in.port, in.vc)].credits != 0;
      for (u32 p = 0; p < layout_.ports(); ++p) {
        const u64* const row = rows + std::size_t{p} * n;
        check(test_bit(row, i), in.vc == kRouted && in.port == p, "waiting bit is wrong");
        check(test_bit(row + std::size_t{layout_.ports()} * n, i), ready && in.port == p, "ready bit is wrong");
      }
    }
  }
}

}  // namespace banyan::switching::parts
