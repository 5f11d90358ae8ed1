// The fast kernel of vc_router, for the ordinary settings: iSLIP of one iteration for both allocations, private
// buffers, one cycle of switch allocation, at most one of virtual-channel allocation, no speedup. The general kernel
// (vc_router_general.hpp) does everything and agrees with this one to the cycle.
//
// What a step looks at first, which heads are due, which outputs are wanted and which virtual channels are free, is a
// few neighbouring words of bits per router.
//
// Between two routers of one shard no flit and no credit goes over the engine's lists of arrivals: the sender puts the
// flit into its place in the far buffer, which the credit has reserved, and sets a bit for the tick at which it counts.
// A router's state is touched once per tick in that way, in the order of the routers.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "banyan/switching/parts/round_robin.hpp"
#include "banyan/switching/parts/vc_router_base.hpp"

namespace banyan::switching::parts {

/// OneWord: the virtual channels of all ports of a router fit into one word of bits. Shift: binary logarithm of the
/// numbers that a port takes in the layout, or kAnyShift.
template <bool OneWord, u32 Shift = kAnyShift>
class VcRouterKernel : public VcRouterBase {
 public:
  VcRouterKernel(engine::Builder& builder, u32 shard, const RouterSetup& setup)
      : VcRouterBase(builder, shard, setup),
        shape_(setup.ports, setup.vcs),
        slots_(std::bit_ceil(setup.pipeline.routing + 2)),
        port_states_(switches_.size() * setup.ports),
        accept_first_(inputs_.size()),
        given_(layout_.size()),
        offers_(layout_.size()),
        fetches_(setup.bytes > kCacheBytes) {
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < setup.ports; ++p) {
        PortState& port = port_states_[std::size_t{e} * setup.ports + p];
        port = PortState{};
        port.from_terminal = fed_by_terminal(switches_[e], p);
      }
    }
    connect(builder, shard);
    // Lookahead over the ticks of routing too, so that no head in routing needs the engine's wheel.
    own_wakes_ = setup.pipeline.routing + 2 <= kMostAhead;
    if (own_wakes_) ahead_ = std::max(ahead_, std::bit_ceil(Tick{setup.pipeline.routing} + 2));
    events_ = std::size_t{2} * ahead_ * words();
    stride_ = (events_ + kSummaries + (kSets + slots_ + 2 * setup.ports) * words() + 7) / 8 * 8;
    bits_.resize(switches_.size() * stride_);
    for (PortState& port : port_states_) {
      if (port.flit_ticks != 0) {
        port.down_events = static_cast<u32>(port.down * stride_ + fixed());
        port.down_vc = static_cast<u32>(base(port.down) + port.down_first);
      }
      if (port.credit_ticks != 0) port.up_events = static_cast<u32>(port.up * stride_ + fixed());
    }
    row_ = (std::size_t{entities()} + 7) / 8 * 8;
    wakes_.resize(ahead_ * row_);
  }

  void reset(u32) {
    reset_base();
    std::fill(bits_.begin(), bits_.end(), 0);
    std::fill(wakes_.begin(), wakes_.end(), 0);
    wake_slots_ = 0;
    for (PortState& port : port_states_) port.vc = port.input = port.output = 0;
    std::fill(accept_first_.begin(), accept_first_.end(), 0);
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < layout_.ports(); ++p) {
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
    set_bit(set(e, kFilled), i);
    const Tick now = io.now();
    if (in.vc >= kMostVcs) {
      const Tick due = now + setup_.pipeline.routing;
      set_bit(slot(e, due), i);
      if (!own_wakes_ || due == now) return due;
      wake(wakes_.data(), e, coming(due));
      return kNever;
    }
    return test_bit(set(e, kStarved), i) ? kNever : now;
  }

  Tick accept(u32 e, u32 port, const core::Control& control, engine::Io& io) noexcept {
    return credit(view(e), layout_.index(port, control.vc), control.argument) ? io.now() : kNever;
  }

  /// Who is to be stepped because of what comes from other routers of the shard, or by its own wish.
  void wake_by_source(Tick now, std::vector<u64>& awake) noexcept {
    for (Tick t = 0; t < ahead_; ++t) coming_[t] = coming(now + t);
    const u32 k = static_cast<u32>(now & (ahead_ - 1));
    if ((wake_slots_ >> k & 1U) == 0) return;
    wake_slots_ &= ~(u64{1} << k);
    u8* const wakes = &wakes_[k * row_];
    for (std::size_t e = 0; e < row_; e += 8) {
      u64 eight = 0;
      std::memcpy(&eight, wakes + e, 8);
      // The lowest bits of the bytes, least first, become the upper byte of the product.
      awake[e >> 6U] |= (eight * 0x0102040810204080U) >> 56U << (e & 63U);
    }
    std::memset(wakes, 0, row_);
  }
  [[nodiscard]] Tick next_source_after(Tick now) const noexcept {
    if (wake_slots_ == 0) return kNever;
    for (Tick t = now + 1;; ++t) {
      if ((wake_slots_ >> (t & (ahead_ - 1)) & 1U) != 0) return t;
    }
  }
  /// True when flits or credits are on their way between routers of the shard.
  [[nodiscard]] bool expects() const noexcept {
    for (u32 e = 0; e < entities(); ++e) {
      const u64* const words = &bits_[std::size_t{e} * stride_ + fixed()];
      if (std::any_of(words, words + events_, [](u64 word) { return word != 0; })) return true;
    }
    return false;
  }

  /// Whether all routers of the network together exceed the cache.
  [[nodiscard]] bool fetches() const noexcept { return fetches_; }
  [[gnu::always_inline]] void fetch(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    const InputVc& in = inputs_[base(e) + i];
    __builtin_prefetch(&in, 1);
    __builtin_prefetch(&bits_[std::size_t{e} * stride_], 1);
    __builtin_prefetch(flits_.first(e, i), 1);
    if ((flit.flags & core::kHead) != 0) __builtin_prefetch(&io.packet(flit.packet));
  }
  [[gnu::always_inline]] void fetch(u32 e, u32 port, const core::Control& control, engine::Io&) noexcept {
    __builtin_prefetch(&outputs_[base(e) + layout_.index(port, control.vc)], 1);
    __builtin_prefetch(set(e, kCredit), 1);
  }
  Tick step(u32 e, Tick now, engine::Io& io) noexcept {
    if (fetches_) look_ahead(e, now, io);
    const View r = view(e);
    take_events(r, now);
    if (watched()) [[unlikely]]
      observe(e, now);
    u64* const due = r.slots + static_cast<std::size_t>(now & (slots_ - 1)) * words();
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
    if (any_ready(r)) changed |= allocate_switch(r, now, io);
    if (!at_once) start(r, given);
    if (any_ready(r) || (changed && (*r.wanted != 0 || any(r.adaptive)))) wake(wakes_.data(), e, coming_[1]);
    return own_wakes_ ? kNever : next_slot(r, now);
  }

  [[nodiscard]] u64 digest() const;
  void hold(engine::Holdings& into) const;

 private:
  /// Sets of virtual channels of a router, after the summaries; then what arrives by ticks, the slots of heads in
  /// routing, per output port who waits for a virtual channel of it, and who holds one.
  enum Set : u32 {
    kAdaptiveHeads,  ///< heads with several candidates that hold no output virtual channel
    kHeld,           ///< output virtual channels that are held by a packet, from head to tail
    kCredit,         ///< output virtual channels with at least one credit
    kHashed,
    kFilled = kHashed,  ///< input virtual channels with a flit
    kHolding,           ///< input virtual channels that hold an output virtual channel
    kStarved,           ///< those of them that have no credit
    kSets
  };
  static constexpr u32 kSummaries = 2;  ///< outputs that somebody waits for; outputs of which somebody holds something

  /// Where the round-robin arbiters look first, and where the port leads to inside of the shard.
  struct PortState {
    u8 vc = 0;      ///< input port: the virtual channel to be sent first
    u8 input = 0;   ///< output port: the input port to be granted first
    u8 output = 0;  ///< input port: the output port to be accepted first
    bool from_terminal = false;
    u8 flit_ticks = 0;    ///< from sending to arrival at `down`; 0: the flits go over the engine's channel
    u8 credit_ticks = 0;  ///< likewise of the input port's credits, to `up`
    u16 down_first = 0;   ///< number of the far input port's first virtual channel
    u16 up_first = 0;     ///< of the far output port's
    u32 down = kNone;     ///< router that the output port leads to
    u32 up = kNone;       ///< router that feeds the input port
    u32 down_events = 0;  ///< index of its first word
    u32 up_events = 0;
    u32 down_vc = 0;  ///< index of the far input port's first virtual channel among those of all routers
  };
  static_assert(sizeof(PortState) == 32);

  /// Where what is sent now counts, by the ticks that it takes.
  struct Coming {
    std::size_t events = 0;  ///< its words after a router's first
    std::size_t wakes = 0;   ///< its row of wakes_
    u64 slot = 0;            ///< its bit of wake_slots_
  };

  /// One router, its pointers hoisted: stores of bytes would make the compiler load them again and again.
  struct View {
    u32 entity;
    VcLayoutOf<Shift> layout;
    u64* events;  ///< [tick][flits, credits][word]: what arrives
    u64* wanted;  ///< bit per output port
    u64* owned;   ///< bit per output port
    u64* adaptive;
    u64* held;
    u64* credit;
    u64* filled;
    u64* holding;
    u64* starved;
    u64* slots;    ///< [tick][word]: heads at the front of their buffer whose routing ends then
    u64* waiting;  ///< [output port][word]
    u64* owners;   ///< [output port][word]
    InputVc* inputs;
    OutputVc* outputs;
    PortState* ports;
  };

  [[nodiscard]] u32 words() const noexcept { return OneWord ? 1 : layout_.words(); }
  static void set_bit(u64* bits, u32 i) noexcept {
    if constexpr (OneWord) {
      *bits |= u64{1} << (i & 63U);
    } else {
      parts::set_bit(bits, i);
    }
  }
  static void clear_bit(u64* bits, u32 i) noexcept {
    if constexpr (OneWord) {
      *bits &= ~(u64{1} << (i & 63U));
    } else {
      parts::clear_bit(bits, i);
    }
  }
  [[nodiscard]] static bool test_bit(const u64* bits, u32 i) noexcept {
    if constexpr (OneWord) {
      return (*bits >> (i & 63U) & 1U) != 0;
    } else {
      return parts::test_bit(bits, i);
    }
  }
  [[nodiscard]] bool any(const u64* bits) const noexcept {
    if constexpr (OneWord) return *bits != 0;
    return std::any_of(bits, bits + words(), [](u64 word) { return word != 0; });
  }
  [[nodiscard]] bool needs_credit() const noexcept { return setup_.cut_through || setup_.vc_busy_when_full; }
  /// Words before the arrivals.
  [[nodiscard]] std::size_t fixed() const noexcept { return kSummaries + std::size_t{kSets} * words(); }
  [[nodiscard]] u64* set(u32 e, u32 kind) noexcept {
    return &bits_[std::size_t{e} * stride_ + kSummaries + std::size_t{kind} * words()];
  }
  [[nodiscard]] const u64* set(u32 e, u32 kind) const noexcept {
    return const_cast<VcRouterKernel*>(this)->set(e, kind);
  }
  /// Heads at the front of their buffer whose routing ends at `due`.
  [[nodiscard]] u64* slot(u32 e, Tick due) noexcept {
    return &bits_[std::size_t{e} * stride_ + fixed() + events_ +
                  static_cast<std::size_t>(due & (slots_ - 1)) * words()];
  }
  /// Per output port who waits for a virtual channel of it, then who is ready.
  [[nodiscard]] const u64* rows(u32 e) const noexcept {
    return &bits_[std::size_t{e} * stride_ + fixed() + events_ + std::size_t{slots_} * words()];
  }
  [[nodiscard]] View view(u32 e) noexcept {
    u64* const bits = &bits_[std::size_t{e} * stride_];
    u64* const sets = bits + kSummaries;
    const u32 n = words();
    u64* const events = bits + fixed();
    u64* const slots = events + events_;
    u64* const waiting = slots + std::size_t{slots_} * n;
    return {e,
            shape_,
            events,
            bits,
            bits + 1,
            sets + std::size_t{kAdaptiveHeads} * n,
            sets + std::size_t{kHeld} * n,
            sets + std::size_t{kCredit} * n,
            sets + std::size_t{kFilled} * n,
            sets + std::size_t{kHolding} * n,
            sets + std::size_t{kStarved} * n,
            slots,
            waiting,
            waiting + std::size_t{shape_.ports()} * n,
            &inputs_[base(e)],
            &outputs_[base(e)],
            &port_states_[std::size_t{e} * shape_.ports()]};
  }
  [[nodiscard]] Tick next_slot(const View& r, Tick now) noexcept {
    for (Tick t = now + 1; t <= now + setup_.pipeline.routing + 1; ++t) {
      if (any(r.slots + static_cast<std::size_t>(t & (slots_ - 1)) * words())) return t;
    }
    return kNever;
  }
  /// The routing of the heads of some virtual channels of a word ends `delay` ticks from now.
  void begin_routing(const View& r, u32 w, u64 heads, Tick now, u32 delay) noexcept {
    r.slots[static_cast<std::size_t>((now + delay) & (slots_ - 1)) * words() + w] |= heads;
    if (own_wakes_ && delay != 0) wake(wakes_.data(), r.entity, coming_[delay]);
  }

  /// Where a router writes outside of its own state. Hoisted for the same reason.
  struct Outside {
    u64* bits;
    u8* wakes;
    InputVc* inputs;
    FlitRings::Access flits;
    const Coming* coming;
  };

  void connect(engine::Builder& builder, u32 shard);
  /// Words of what arrives at tick `at` where the first words are `events`: flits, then credits.
  [[nodiscard]] u64* arrivals(u64* events, Tick at) noexcept {
    return events + static_cast<std::size_t>(at & (ahead_ - 1)) * 2 * words();
  }
  [[nodiscard]] Coming coming(Tick at) const noexcept {
    const std::size_t slot = at & (ahead_ - 1);
    return {slot * 2 * words(), slot * row_, u64{1} << slot};
  }
  void wake(u8* wakes, u32 e, const Coming& at) noexcept {
    wakes[at.wakes + e] = 1;
    wake_slots_ |= at.slot;
  }
  /// Asks early for the memory of the routers that will be stepped soon: their state, then the flits at the front of
  /// the buffers that they will look at and what they will tell their neighbours, then the packets that they will
  /// route.
  [[gnu::always_inline]] void look_ahead(u32 e, Tick now, engine::Io& io) noexcept {
    if (e + kFar >= entities()) return;
    fetch(e + kFar);
    const u32 middle = e + kMiddle;
    const PortState* const ports = &port_states_[std::size_t{middle} * layout_.ports()];
    for (u32 p = 0; p < layout_.ports(); ++p) {
      ask_for(&bits_[ports[p].down_events], 1);
      ask_for(&bits_[ports[p].up_events], 1);
    }
    for (u32 w = 0; w < words(); ++w) {
      u64 busy = slot(middle, now)[w];
      const u64* const owners = rows(middle) + std::size_t{layout_.ports()} * words();
      for (u32 p = 0; p < layout_.ports(); ++p) busy |= owners[std::size_t{p} * words() + w];
      for (busy &= set(middle, kFilled)[w]; busy != 0; busy &= busy - 1) {
        const u32 i = w * 64 + static_cast<u32>(std::countr_zero(busy));
        ask_for(&flits_.front(middle, i, inputs_[base(middle) + i].ring), 1);
      }
    }
    const u32 near = e + kNear;
    for (u32 w = 0; w < words(); ++w) {
      for (u64 bits = slot(near, now)[w]; bits != 0; bits &= bits - 1) {
        const u32 i = w * 64 + static_cast<u32>(std::countr_zero(bits));
        ask_for(&io.packet(flits_.front(near, i, inputs_[base(near) + i].ring).packet()), 1);
      }
    }
  }
  /// In line always: g++ 12 takes a function that only asks for memory for one without effect, and drops its calls.
  template <class T>
  [[gnu::always_inline]] static void ask_for(const T* first, std::size_t count) noexcept {
    const char* const begin = reinterpret_cast<const char*>(first);
    for (std::size_t k = 0; k < count * sizeof(T); k += 64) __builtin_prefetch(begin + k, 1);
  }
  [[gnu::always_inline]] void fetch(u32 e) noexcept {
    ask_for(&bits_[std::size_t{e} * stride_], stride_);
    ask_for(&port_states_[std::size_t{e} * layout_.ports()], layout_.ports());
    ask_for(&inputs_[base(e)], layout_.size());
    ask_for(&outputs_[base(e)], layout_.size());
    ask_for(flits_.first(e, 0), layout_.size());
    ask_for(&accept_first_[base(e)], layout_.size());
  }
  void take_events(const View& r, Tick now) noexcept;
  bool credit(const View& r, u32 o, u32 places) noexcept;
  /// Calls f(i, flit) for every flit on its way to input virtual channel i of e, in order of arrival per i.
  template <class F>
  void for_each_coming(u32 e, F&& f) const;

  /// Input virtual channels of a word that can send if they hold an output virtual channel.
  [[nodiscard]] static u64 able(const View& r, u32 w) noexcept { return r.filled[w] & ~r.starved[w]; }
  /// Whether any input virtual channel can send.
  [[nodiscard]] bool any_ready(const View& r) const noexcept {
    if constexpr (OneWord) return (able(r, 0) & *r.holding) != 0;
    for (u32 w = 0; w < words(); ++w) {
      if ((able(r, w) & r.holding[w]) != 0) return true;
    }
    return false;
  }
  /// Bit per output port for which some input virtual channel can send.
  [[nodiscard]] u64 asked(const View& r) const noexcept {
    u64 ports = 0;
    if constexpr (OneWord) {
      // Without branches: which outputs are wanted is as good as random.
      const u64 can = able(r, 0);
      for (u64 left = *r.owned; left != 0; left &= left - 1) {
        const u32 p = static_cast<u32>(std::countr_zero(left));
        ports |= u64{(r.owners[p] & can) != 0} << p;
      }
    } else {
      for (u64 left = *r.owned; left != 0; left &= left - 1) {
        const u32 p = static_cast<u32>(std::countr_zero(left));
        u64 found = 0;
        for (u32 w = 0; w < words(); ++w) found |= r.owners[std::size_t{p} * words() + w] & able(r, w);
        ports |= u64{found != 0} << p;
      }
    }
    return ports;
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
    return setup_.cut_through ? io.packet(flits_.front(r.entity, i, r.inputs[i].ring).packet()).flits : 1;
  }
  [[nodiscard]] static u32 word_of_port(const View& r, u32 port) noexcept {
    return OneWord ? 0 : r.layout.word_of_port(port);
  }
  /// Virtual channels of `port` that nobody holds.
  [[nodiscard]] u64 open_vcs(const View& r, u32 port) const noexcept {
    const u32 w = word_of_port(r, port);
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
      set_bit(r.owners + std::size_t{in.port} * words(), given_[k]);
      *r.owned |= u64{1} << in.port;
      set_bit(r.holding, given_[k]);
      if (!test_bit(r.credit, r.layout.index(in.port, in.vc))) set_bit(r.starved, given_[k]);
    }
  }
  bool allocate_switch(const View& r, Tick now, engine::Io& io) noexcept;
  [[gnu::always_inline]] bool forward(const View& r, const Outside& to, u32 i, u32 o, Tick now,
                                      engine::Io& io) noexcept;

  // Over the engine's channels. Out of line, since they would take the registers of the common way.
  [[gnu::noinline]] void send_out(u32 port, core::Flit flit, engine::Io& io) noexcept {
    io.send(port, flit, setup_.pipeline.departure());
  }
  [[gnu::noinline]] void send_credit(u32 port, u32 vc, bool to_terminal, engine::Io& io) noexcept {
    io.control_up(port, {engine::kCredit, static_cast<u16>(vc), 1}, 1 + (to_terminal ? 0 : setup_.pipeline.credit));
  }

  static constexpr u64 kCacheBytes = 1U << 20U;  ///< of a common second level
  static constexpr u32 kFar = 14;                ///< routers ahead
  static constexpr u32 kMiddle = 9;
  static constexpr u32 kNear = 5;
  static constexpr Tick kMostAhead = 16;  ///< longer ways go over the engine's channels

  VcLayoutOf<Shift> shape_;  ///< layout_, with the shift known
  u32 slots_;                ///< power of two above routing_delay + 1
  Tick ahead_ = 2;           ///< power of two above the ticks of every way inside of the shard, and those of routing
  bool own_wakes_ = false;   ///< routers wake for the end of routing by wakes_ too, not by the engine's wheel
  std::size_t events_ = 0;   ///< words of a router for what arrives
  std::size_t stride_ = 0;
  PageVector<u64> bits_;               ///< [entity * stride + ...]
  PageVector<PortState> port_states_;  ///< [entity * ports + port]
  PageVector<u16> accept_first_;       ///< [entity * layout size + index]: output virtual channel to be accepted first
  std::size_t row_ = 0;
  std::vector<u8> wakes_;  ///< [tick * row + entity]: 1 for who is to be stepped
  u64 wake_slots_ = 0;     ///< bit per tick
  std::array<Coming, kMostAhead> coming_{};
  std::vector<u16> given_;                ///< scratch: input virtual channels that were given an output's in this step
  std::array<u64, kMostPorts> grants_{};  ///< scratch, [input port]: output ports that grant it; 0 between steps
  std::vector<u64> offers_;               ///< scratch, [input virtual channel]: output virtual channels that grant it
  core::Candidates candidates_;           ///< scratch
  bool fetches_;
};

/// Finds the ways that stay inside of the shard.
template <bool OneWord, u32 Shift>
void VcRouterKernel<OneWord, Shift>::connect(engine::Builder& builder, u32 shard) {
  const core::Graph& graph = topology_.graph();
  // A probe sees what goes over the engine's channels, and the state of all routers at the beginning of a tick holds
  // what has arrived at all of them.
  if (builder.settings().probe.any() || routing_.sight() == core::Sight::network) return;
  for (u32 e = 0; e < entities(); ++e) {
    const u32 s = switches_[e];
    const auto entity_of = [&](const core::End& end) {
      if (end.terminal || builder.shard_of(end.node) != shard) return kNone;
      return static_cast<u32>(std::lower_bound(switches_.begin(), switches_.end(), end.node) - switches_.begin());
    };
    const auto join = [&](u32 channel, bool down, PortState& port) {
      const core::Channel& c = graph.channel(channel);
      const core::End& far = down ? c.to : c.from;
      const u32 entity = entity_of(far);
      const Tick extra = down ? setup_.pipeline.departure() : setup_.pipeline.credit + Tick{1};
      const Tick ticks = c.link.latency_cycles + extra;
      if (c.failed || entity == kNone || ticks >= kMostAhead) return;
      ahead_ = std::max(ahead_, std::bit_ceil(ticks + 1));
      (down ? port.down : port.up) = entity;
      (down ? port.down_first : port.up_first) = static_cast<u16>(layout_.index(far.port, 0));
      (down ? port.flit_ticks : port.credit_ticks) = static_cast<u8>(ticks);
    };
    for (u32 p = 0; p < layout_.ports(); ++p) {
      PortState& port = port_states_[std::size_t{e} * layout_.ports() + p];
      if (p < graph.outputs(s) && graph.channel_out_of(s, p) != kNone) join(graph.channel_out_of(s, p), true, port);
      if (p < graph.inputs(s) && graph.channel_into(s, p) != kNone) join(graph.channel_into(s, p), false, port);
    }
  }
}

/// Flits and credits of other routers of the shard that count from now on.
template <bool OneWord, u32 Shift>
inline void VcRouterKernel<OneWord, Shift>::take_events(const View& r, Tick now) noexcept {
  u64* const flits = arrivals(r.events, now);
  u64* const credits = flits + words();
  for (u32 w = 0; w < words(); ++w) {
    const u64 fresh = flits[w] & ~(r.filled[w] | r.holding[w]);
    for (u64 bits = flits[w]; bits != 0; bits &= bits - 1) {
      ++r.inputs[w * 64 + static_cast<u32>(std::countr_zero(bits))].ring.count;
    }
    if (fresh != 0) begin_routing(r, w, fresh, now, setup_.pipeline.routing);
    r.filled[w] |= flits[w];
    flits[w] = 0;
    for (u64 bits = credits[w]; bits != 0; bits &= bits - 1) {
      credit(r, w * 64 + static_cast<u32>(std::countr_zero(bits)), 1);
    }
    credits[w] = 0;
  }
}

/// Places became free behind output virtual channel o. Returns whether that matters now.
template <bool OneWord, u32 Shift>
inline bool VcRouterKernel<OneWord, Shift>::credit(const View& r, u32 o, u32 places) noexcept {
  OutputVc& out = r.outputs[o];
  const u32 before = out.credits;
  out.credits = static_cast<u16>(before + places);
  if (before != 0 && !setup_.cut_through) return false;
  set_bit(r.credit, o);
  if (out.holder == kNobody) return needs_credit() && (*r.wanted != 0 || any(r.adaptive));
  if (before != 0) return false;
  clear_bit(r.starved, out.holder);
  return test_bit(r.filled, out.holder);
}

template <bool OneWord, u32 Shift>
template <class F>
void VcRouterKernel<OneWord, Shift>::for_each_coming(u32 e, F&& f) const {
  for (u32 i = 0; i < layout_.size(); ++i) {
    const RingState ring = inputs_[base(e) + i].ring;
    u32 coming = 0;
    for (Tick k = 0; k < ahead_; ++k) {
      if (!test_bit(&bits_[std::size_t{e} * stride_ + fixed() + k * 2 * words()], i)) continue;
      f(i, flits_.at(e, i, ring, ring.count + coming++));
    }
  }
}

/// Routes the head of input virtual channel i.
template <bool OneWord, u32 Shift>
inline void VcRouterKernel<OneWord, Shift>::ask_routing(const View& r, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[i];
  route(r.entity, i, io.packet(flits_.front(r.entity, i, in.ring).packet()), candidates_);
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
template <bool OneWord, u32 Shift>
void VcRouterKernel<OneWord, Shift>::choose_candidate(const View& r, u32 i, engine::Io& io) noexcept {
  InputVc& in = r.inputs[i];
  route(r.entity, i, io.packet(flits_.front(r.entity, i, in.ring).packet()), candidates_);
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

template <bool OneWord, u32 Shift>
inline u64 VcRouterKernel<OneWord, Shift>::suitable(const View& r, u32 i, u64 open, engine::Io& io) const noexcept {
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
template <bool OneWord, u32 Shift>
inline u32 VcRouterKernel<OneWord, Shift>::allocate_vcs(const View& r, engine::Io& io) noexcept {
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
template <bool OneWord, u32 Shift>
inline u32 VcRouterKernel<OneWord, Shift>::serve_output(const View& r, u32 port, u32 given, engine::Io& io) noexcept {
  const u64 open = open_vcs(r, port);
  if (open == 0) return given;
  const u64* const heads = r.waiting + std::size_t{port} * words();
  u16* const first = &accept_first_[base(r.entity)];
  const auto accept = [&](u32 i, u64 offers) {
    const u32 from = first[i];
    const u32 v = round_robin(offers, r.layout.port(from) == port ? r.layout.vc(from) : 0);
    const u32 o = r.layout.index(port, v);
    first[i] = static_cast<u16>(o + 1 == r.layout.size() ? 0 : o + 1);
    r.outputs[o].head = static_cast<u16>(i + 1 == r.layout.size() ? 0 : i + 1);
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
    const u32 i = find_cyclically(heads, words(), r.outputs[r.layout.index(port, v)].head,
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
template <bool OneWord, u32 Shift>
inline void VcRouterKernel<OneWord, Shift>::give(const View& r, u32 i, u32 v) noexcept {
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
template <bool OneWord, u32 Shift>
inline bool VcRouterKernel<OneWord, Shift>::allocate_switch(const View& r, Tick now, engine::Io& io) noexcept {
  PortState* const arbiters = r.ports;
  const Outside all{bits_.data(), wakes_.data(), inputs_.data(), flits_.access(), coming_.data()};
  u64 inputs = 0;
  const u64 can = able(r, 0);
  if constexpr (OneWord) {
    const u64 ready = can & *r.holding;
    if (std::has_single_bit(ready)) {  // the common case under light load
      const u32 i = static_cast<u32>(std::countr_zero(ready));
      ++movements_;
      return forward(r, all, i, r.inputs[i].port, now, io);
    }
  }
  for (u64 ports = asked(r); ports != 0; ports &= ports - 1) {
    const u32 o = static_cast<u32>(std::countr_zero(ports));
    const u32 from = r.layout.index(arbiters[o].input, 0);
    const u64* const row = r.owners + std::size_t{o} * words();
    u32 i = 0;
    if constexpr (OneWord) {
      i = round_robin(*row & can, from);
    } else {
      i = find_cyclically(row, words(), from, [&](u32 k) { return (able(r, k >> 6U) >> (k & 63U) & 1U) != 0; });
    }
    const u32 p = r.layout.port(i);
    grants_[p] |= u64{1} << o;
    inputs |= u64{1} << p;
  }
  movements_ += static_cast<u32>(std::popcount(inputs));
  bool freed = false;
  for (; inputs != 0; inputs &= inputs - 1) {
    const u32 p = static_cast<u32>(std::countr_zero(inputs));
    const u32 o = round_robin(std::exchange(grants_[p], 0), arbiters[p].output);
    const u32 w = word_of_port(r, p);
    const u64 ready = r.owners[std::size_t{o} * words() + w] & (OneWord ? can : able(r, w));
    const u32 v = round_robin(ready >> r.layout.place_of_port(p) & r.layout.field(), arbiters[p].vc);
    freed |= forward(r, all, r.layout.index(p, v), o, now, io);
  }
  return freed;
}

/// Moves the front flit of a virtual channel of input port p that is ready for output port o. Returns whether it was a
/// tail.
template <bool OneWord, u32 Shift>
inline bool VcRouterKernel<OneWord, Shift>::forward(const View& r, const Outside& all, u32 i, u32 out_port, Tick now,
                                                    engine::Io& io) noexcept {
  const u32 p = r.layout.port(i);
  const u32 v = r.layout.vc(i);
  const u32 word = word_of_port(r, p);
  PortState& from = r.ports[p];
  PortState& to = r.ports[out_port];
  from.vc = static_cast<u8>((v + 1) & 63U);
  from.output = static_cast<u8>((out_port + 1) & 63U);
  to.input = static_cast<u8>(p + 1 == r.layout.ports() ? 0 : p + 1);

  InputVc& in = r.inputs[i];
  const u32 out_vc = in.vc;
  const u32 o = r.layout.index(out_port, out_vc);
  OutputVc& out = r.outputs[o];
  const BufferedFlit flit = all.flits.pop(base(r.entity) + i, in.ring);
  if (to.flit_ticks != 0) {
    const std::size_t at = to.down_vc + std::size_t{out_vc};
    // Where memory matters: the ring is empty, and nothing is on the way, so that it starts again at place 0.
    if (fetches_ && out.credits == all.flits.places) {
      out.tail = 0;
      all.inputs[at].ring.head = 0;
    }
    all.flits.put(at, out.tail, flit.passed_on());
    out.tail = static_cast<u16>(all.flits.after(out.tail));
    const Coming& arrival = all.coming[to.flit_ticks];
    set_bit(all.bits + to.down_events + arrival.events, to.down_first + out_vc);
    wake(all.wakes, to.down, arrival);
  } else {
    send_out(r.entity * r.layout.ports() + out_port, flit.unpack(static_cast<u8>(out_vc)), io);
  }
  if (from.credit_ticks != 0) {
    const Coming& arrival = all.coming[from.credit_ticks];
    set_bit(all.bits + from.up_events + arrival.events + words(), from.up_first + v);
    wake(all.wakes, from.up, arrival);
  } else {
    send_credit(r.entity * r.layout.ports() + p, v, from.from_terminal, io);
  }

  const u64 here = u64{1} << (i & 63U);
  out.credits = static_cast<u16>(out.credits - 1U);
  const bool tail = (flit.flags() & core::kTail) != 0;
  if (out.credits == 0) {
    clear_bit(r.credit, o);
    if (!tail) r.starved[word] |= here;
  }
  // Not to be foreseen: without a branch.
  r.filled[word] &= ~(u64{in.ring.count == 0} << (i & 63U));
  if (tail) {
    ++packets_;
    clear_bit(r.held, o);
    out.holder = kNobody;
    in.vc = kFresh;
    r.holding[word] &= ~here;
    remove(r.owners, r.owned, i, out_port);
    if (in.ring.count != 0) begin_routing(r, word, here, now, 1 + setup_.pipeline.routing);
  }
  return tail;
}

template <bool OneWord, u32 Shift>
u64 VcRouterKernel<OneWord, Shift>::digest() const {
  u64 sum = 0;
  for (u32 e = 0; e < entities(); ++e) {
    Hasher h;
    digest_base(e, h);
    for (u32 p = 0; p < layout_.ports(); ++p) {
      const PortState& a = port_states_[std::size_t{e} * layout_.ports() + p];
      for (const u32 pointer : {u32{a.vc}, u32{a.input}, u32{a.output}}) h.add(pointer);
    }
    for (u32 i = 0; i < layout_.size(); ++i) {
      h.add(outputs_[base(e) + i].head);
      h.add(accept_first_[base(e) + i]);
    }
    // Flits on their way are counted one by one below, credits by what they come to.
    const u64* const bits = &bits_[std::size_t{e} * stride_];
    const View r = const_cast<VcRouterKernel*>(this)->view(e);
    h.add(*r.wanted);
    h.add(asked(r));
    for (std::size_t k = 0; k < std::size_t{kHashed} * words(); ++k) h.add(bits[kSummaries + k]);
    for (std::size_t k = 0; k < (slots_ + layout_.ports()) * words(); ++k) h.add(bits[fixed() + events_ + k]);
    for (std::size_t k = 0; k < std::size_t{layout_.ports()} * words(); ++k) {
      h.add(r.owners[k] & able(r, static_cast<u32>(k % words())));
    }
    sum += h.value();
    for_each_coming(
        e, [&](u32, const BufferedFlit& flit) { sum += engine::flit_digest(packet(flit.packet()), flit.unpack(0)); });
  }
  return sum;
}

/// Conservation, and the bits against what they stand for.
template <bool OneWord, u32 Shift>
void VcRouterKernel<OneWord, Shift>::hold(engine::Holdings& into) const {
  VcRouterBase::hold(into);
  const u32 n = words();
  for (u32 e = 0; e < entities(); ++e) {
    for_each_coming(e, [&](u32, const BufferedFlit& flit) { into.add(flit.unpack(0)); });
    const u64* const slots = rows(e) - std::size_t{slots_} * n;
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
      for (u32 s = 0; s < slots_; ++s) in_routing = in_routing || test_bit(slots + std::size_t{s} * n, i);
      check(in_routing, in.vc == kFresh && in.ring.count != 0, "routing bit is wrong");
      const bool holds = in.vc < kMostVcs;
      for (u32 p = 0; p < layout_.ports(); ++p) {
        const u64* const row = rows(e) + std::size_t{p} * n;
        check(test_bit(row, i), in.vc == kRouted && in.port == p, "waiting bit is wrong");
        check(test_bit(row + std::size_t{layout_.ports()} * n, i), holds && in.port == p, "owner's bit is wrong");
      }
      check(test_bit(set(e, kFilled), i), in.ring.count != 0, "filled bit is wrong");
      check(test_bit(set(e, kHolding), i), holds, "holding bit is wrong");
      const bool starved = holds && outputs_[base(e) + layout_.index(in.port, in.vc)].credits == 0;
      check(test_bit(set(e, kStarved), i), starved, "starved bit is wrong");
    }
  }
}

}  // namespace banyan::switching::parts
