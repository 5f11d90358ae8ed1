// The fast kernel of vc_router, for the ordinary settings: iSLIP of one iteration for both allocations, private
// buffers, one cycle of switch allocation, at most one of virtual-channel allocation, no speedup. The general kernel
// (general.hpp) does everything and agrees with this one to the cycle.
//
// How many flits, credits and heads a router has to do with in a tick is as good as random, so that every short loop of
// a router ends in a mispredicted branch. Blocks of 64 routers are therefore stepped together, one stage of the
// pipeline after the other: what arrives lies in a list per tick and block, who wants or owns an output is a bit per
// router, and tails are collected without a branch and finished afterwards. Routers do not see each other within a
// tick, hence the order does not matter.
//
// Between two routers of one shard no flit and no credit goes over the engine's lists of arrivals: the sender puts the
// flit into its place in the far buffer, which the credit has reserved, and adds an item to the list of the tick at
// which it counts.
//
// Here is the state, and what the engine calls; kernel_stages.hpp has the stages, kernel_view.hpp
// what observers ask.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "banyan/switching/parts/round_robin.hpp"
#include "banyan/switching/vc_router/base.hpp"
#include "banyan/switching/vc_router/memory_ahead.hpp"

namespace banyan::switching::parts {

/// Longest way, in ticks, that the fast kernel plans ahead by itself; longer ones go over the engine's channels.
constexpr Tick kMostAhead = 16;

/// OneWord: the virtual channels of all ports of a router fit into one word of bits, and the places of a buffer into a
/// byte. Shift: binary logarithm of the numbers that a port takes in the layout, or kAnyShift. Fetches: all routers of
/// the network together exceed the cache, and memory is asked for ahead. Requires routing_delay + 2 <= kMostAhead.
template <bool OneWord, u32 Shift, bool Fetches>
class VcRouterKernel : public VcRouterBase<std::conditional_t<OneWord, u8, u16>,
                                           std::conditional_t<Fetches && !OneWord, LentPlaces, AllPlaces>> {
  using Number = std::conditional_t<OneWord, u8, u16>;
  using Places = std::conditional_t<Fetches && !OneWord, LentPlaces, AllPlaces>;
  using Base = VcRouterBase<Number, Places>;
  using RingsAccess = typename FlitRingsOf<Places>::Access;
  /// Bit of OutputVc::tail: the ring at the far end has its places lent, as far as the sender puts flits there.
  static constexpr u32 kLent = 0x8000;

 public:
  static constexpr u32 kProvides = Base::kBaseProvides | core::kStepMany | core::kNextSourceAfter | core::kExpects |
                                   core::kReach | core::kBeginBlock | core::kStepBlock | core::kFetch | core::kFetches |
                                   core::kArchive;

  using Base::entities;
  using Base::hold_arrival;
  using typename Base::InputVc;
  using typename Base::OutputVc;
  using typename Base::RingState;

  VcRouterKernel(engine::Builder& builder, u32 shard, const RouterSetup& setup)
      : Base(builder, shard, setup),
        shape_(setup.ports, setup.vcs),
        blocks_((entities() + kBlock - 1) / kBlock),
        port_states_(switches_.size() * setup.ports),
        sets_(kSets * switches_.size() * words()),
        waiting_(switches_.size() * setup.ports * words()),
        owners_(waiting_.size()),
        wanted_(std::size_t{blocks_} * setup.ports),
        owned_(wanted_.size()),
        choosing_(blocks_),
        stepped_next_(blocks_),
        terminals_(builder.topology().graph().terminals()),
        able_(std::size_t{kBlock} * words()),
        given_(std::size_t{kBlock} * layout_.size()),
        crossings_(std::size_t{kBlock} * setup.ports),
        outside_(Fetches ? crossings_.size() : 0),
        sent_(outside_.size()),
        routed_(2 * crossings_.size()),
        visits_(routed_.size()),
        steps_(routed_.size()),
        tails_(crossings_.size() + 1),
        won_(crossings_.size() + 1),
        grants_(std::size_t{kBlock} * setup.ports),
        offers_(layout_.size()),
        choice_(setup.ports) {
    heads_know_ = routing_.by_destination() && terminals_ <= BufferedFlit::kMostTerminals;
    if (heads_know_ && std::size_t{topology_.graph().switches()} * terminals_ <= kMostKnown)
      known_.resize(std::size_t{entities()} * terminals_);
    // Heads are in routing for so many ticks, and begin with it a tick after the tail before them.
    ahead_ = std::bit_ceil(Tick{setup.pipeline.routing} + 2);
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < setup.ports; ++p) {
        PortState& port = port_states_[std::size_t{e} * setup.ports + p];
        port = PortState{};
        port.from_terminal = fed_by_terminal(switches_[e], p);
      }
    }
    connect(builder, shard);
    // A channel brings one flit or one credit per tick. A head is due after its arrival or after the tail before it.
    credits_at_ = kBlock * setup.ports + 1;
    heads_at_ = 2 * credits_at_;
    room_ = 2 * heads_at_;
    counts_.resize(ahead_ * blocks_);
    items_.resize(ahead_ * blocks_ * room_);
    for (Tick t = 0; t < 2 * ahead_; ++t) {
      const std::size_t first = list_of(t, 0);
      agendas_[t] = {&counts_[first], &items_[first * room_]};
    }
    if constexpr (Fetches)
      memory_.reserve(std::size_t{kBlock} * (2 * layout_.size() + (40 + 2 * words()) * setup.ports + 8));
  }

  void reset(u32 replication) {
    reset_base(replication);
    for (auto* bits : {&sets_, &waiting_, &owners_}) std::fill(bits->begin(), bits->end(), 0);
    for (auto* bits : {&wanted_, &owned_, &choosing_, &stepped_next_}) std::fill(bits->begin(), bits->end(), 0);
    std::fill(counts_.begin(), counts_.end(), Counts{});
    for (PortState& port : port_states_) port.vc = port.input = port.output = 0;
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < layout_.ports(); ++p) {
        for (u32 v = 0; v < layout_.vcs(); ++v) {
          const u32 i = layout_.index(p, v);
          if (outputs_[base(e) + i].credits != 0) set_bit(set(kCredit, e), i);
        }
      }
    }
  }

  bool accept(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    InputVc& in = inputs_[base(e) + i];
    flits_.push(e, i, in.ring, BufferedFlit::pack(flit));
    if (in.ring.count != 1) return false;
    set_bit(set(kFilled, e), i);
    if (in.vc < kMostVcs) return !test_bit(set(kStarved, e), i);
    const std::size_t list = list_of(io.now() + setup_.pipeline.routing, e / kBlock);
    items_[list * room_ + heads_at_ + counts_[list].heads++] = item(e % kBlock, i);
    return false;
  }

  bool accept(u32 e, u32 port, const core::Control& control, engine::Io&) noexcept {
    return add_credits(block(e / kBlock), e % kBlock, layout_.index(port, control.vc), control.argument);
  }

  /// Steps the routers whose bits are set, and clears them; and all others that have something to do.
  void step_many(std::span<u64> awake, Tick now, bool permuted, engine::Io& io) noexcept {
    coming_ = &agendas_[now & (ahead_ - 1)];
    for (u32 k = 0; k < blocks_; ++k) {
      const u32 b = permuted ? blocks_ - 1 - k : k;
      if constexpr (Fetches) look_ahead(b, 1);
      step_one_block(b, awake[b], now, io);
    }
  }
  /// Each block may make two ticks before the next one makes the first: what a router sends, a credit or a flit, counts
  /// at the earliest two ticks later. Where the state of all routers exceeds the cache, it comes and goes once in
  /// several ticks then.
  [[nodiscard]] u32 reach() const noexcept { return Fetches ? reach_ : kNone; }
  void begin_block(u32 b, Tick now) noexcept {
    coming_ = &agendas_[now & (ahead_ - 1)];
    if constexpr (Fetches) look_ahead(b, 2);
  }
  void step_block(u32 b, u64& awake, Tick now, engine::Io& io) noexcept {
    coming_ = &agendas_[now & (ahead_ - 1)];
    step_one_block(b, awake, now, io);
  }
  [[nodiscard]] Tick next_source_after(Tick now) const noexcept {
    const auto any = [](const Counts& c) { return (c.flits | c.credits | c.heads) != 0; };
    const auto busy = [](u64 routers) { return routers != 0; };
    if (std::any_of(stepped_next_.begin(), stepped_next_.end(), busy)) return now + 1;
    for (Tick t = now + 1; t < now + ahead_; ++t) {
      const Counts* const first = &counts_[list_of(t, 0)];
      if (std::any_of(first, first + blocks_, any)) return t;
    }
    return kNever;
  }
  /// True when flits or credits are on their way between routers of the shard.
  [[nodiscard]] bool expects() const noexcept {
    return std::any_of(counts_.begin(), counts_.end(), [](const Counts& c) { return (c.flits | c.credits) != 0; });
  }

  /// Whether all routers of the network together exceed the cache.
  [[nodiscard]] static bool fetches() noexcept { return Fetches; }
  [[gnu::always_inline]] void fetch(u32 e, u32 port, const core::Flit& flit, engine::Io& io) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    ask_for(&inputs_[base(e) + i]);
    ask_for(flits_.first(e, i));
    if ((flit.flags & core::kHead) != 0) ask_for(&io.packet(flit.packet));
  }
  [[gnu::always_inline]] void fetch(u32 e, u32 port, const core::Control& control, engine::Io&) noexcept {
    ask_for(&outputs_[base(e) + layout_.index(port, control.vc)]);
  }

  void archive(Archive& a) {
    archive_base(a);
    a(port_states_, sets_, waiting_, owners_, wanted_, owned_, choosing_, stepped_next_, counts_, items_);
  }
  [[nodiscard]] u64 digest() const;
  void hold(engine::Holdings& into) const;

 private:
  using Base::archive_base;
  using Base::base;
  using Base::digest_base;
  using Base::fed_by_terminal;
  using Base::flits_;
  using Base::inputs_;
  using Base::kNobody;
  using Base::layout_;
  using Base::movements_;
  using Base::observe;
  using Base::outputs_;
  using Base::packets_;
  using Base::reset_base;
  using Base::route;
  using Base::routing_;
  using Base::setup_;
  using Base::switches_;
  using Base::topology_;
  using Base::violation;
  using Base::watched;
  void hold_coming(engine::Holdings& into) const;
  static constexpr u32 kBlock = 64;           ///< routers that are stepped together: a bit each
  static constexpr bool kFewVcs = Shift < 6;  ///< a port has less than 64 virtual channels, as far as is known

  /// Sets of virtual channels of a router.
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

  /// A virtual channel of a router of a block.
  using Item = std::conditional_t<OneWord, u16, u32>;
  /// Where routers have many ports, most of a list is never used: it takes no memory on usual pages.
  using ItemVector = std::conditional_t<OneWord, PageVector<Item>, SmallPageVector<Item>>;
  static constexpr u32 kItemBits = OneWord ? 6 : 12;  ///< of the virtual channel's number; above: the router's
  [[nodiscard]] static Item item(u32 e, u32 i) noexcept { return static_cast<Item>(e << kItemBits | i); }
  [[nodiscard]] static u32 router_of(u32 item) noexcept { return item >> kItemBits; }
  [[nodiscard]] static u32 vc_of(u32 item) noexcept { return item & ((1U << kItemBits) - 1); }

  /// Where the round-robin arbiters look first, and where the port leads to inside of the shard.
  struct alignas(OneWord ? 16 : 4) PortState {
    u8 vc = 0;      ///< input port: the virtual channel to be sent first
    u8 input = 0;   ///< output port: the input port to be granted first
    u8 output = 0;  ///< input port: the output port to be accepted first
    bool from_terminal = false;
    u8 flit_ticks = 0;    ///< from sending to arrival at the far router; 0: the flits go over the engine's channel
    u8 credit_ticks = 0;  ///< likewise of the input port's credits, to the router that feeds it
    u16 down_block = 0;   ///< of the router that the output port leads to
    u16 up_block = 0;     ///< of the router that feeds the input port
    Item down_item = 0;   ///< the far input port's first virtual channel
    Item up_item = 0;     ///< the far output port's
  };
  static_assert(sizeof(PortState) == (OneWord ? 16 : 20));

  /// What is due at a block at a tick: the lengths of its lists.
  struct alignas(16) Counts {
    u32 flits = 0;    ///< input virtual channels at which one arrives
    u32 credits = 0;  ///< output virtual channels
    u32 heads = 0;    ///< input virtual channels with a head at the front whose routing ends
  };
  /// The lists of all blocks at a tick. Why no calendar of the engine: decision 0011.
  struct Agenda {
    Counts* counts = nullptr;  ///< [block]
    Item* items = nullptr;     ///< [block * room]: flits, credits, heads
  };

  /// A block of routers, its pointers hoisted: stores of bytes would make the compiler load them again and again.
  /// Routers are counted inside of the block.
  struct Block {
    u32 number;
    u32 first;  ///< router
    VcLayoutOf<Shift> layout;
    u32 words;
    u64* adaptive;  ///< sets: [router * words + word]
    u64* held;
    u64* credit;
    u64* filled;
    u64* holding;
    u64* starved;
    u64* waiting;   ///< [(router * ports + output port) * words + word]: who waits for a virtual channel of it
    u64* owners;    ///< likewise: who holds one
    u64* wanted;    ///< [output port]: bit per router, somebody waits for it
    u64* owned;     ///< [output port]: bit per router, somebody holds a virtual channel of it
    u64* choosing;  ///< bit per router: there are adaptive heads
    InputVc* inputs;
    OutputVc* outputs;
    PortState* ports;
    const Agenda* coming;  ///< [ticks from the one that is stepped]
    u64 needs_credit;      ///< all bits: an output virtual channel is given only when it has a credit

    [[nodiscard]] u32 n() const noexcept { return OneWord ? 1 : words; }
    [[nodiscard]] u32 word(u32 e, u32 i) const noexcept { return OneWord ? e : e * words + (i >> 6U); }
    [[nodiscard]] u32 port(u32 e, u32 p) const noexcept { return e * layout.ports() + p; }
    [[nodiscard]] std::size_t vc(u32 e, u32 i) const noexcept { return layout.index(port(e, 0), i); }
    [[nodiscard]] std::size_t row(u32 e, u32 p) const noexcept { return port(e, p) * n(); }
    /// Input virtual channels of a word of the block that can send if they hold an output virtual channel.
    [[nodiscard]] u64 able(u32 w) const noexcept { return filled[w] & ~starved[w]; }
  };

  /// A flit on its way through the crossbar.
  struct Crossing {
    const BufferedFlit* flit;  ///< in its buffer, where nothing takes its place before its credit has come back
    Item from;                 ///< input virtual channel
    u8 port;                   ///< output port
    u8 vc;                     ///< output virtual channel
  };

  /// An input virtual channel that was given an output virtual channel.
  struct Given {
    Item to;
    u16 output;
  };
  /// What goes over the engine's channels, when the memory has been asked for where they lead.
  struct CreditOut {
    u32 port;  ///< of all routers
    u8 vc;
    bool from_terminal;
  };
  struct FlitOut {
    u32 port;
    core::Flit flit;
  };

  [[nodiscard]] u32 words() const noexcept { return OneWord ? 1 : layout_.words(); }
  [[nodiscard]] static u64 bit(u32 i) noexcept { return u64{1} << (i & 63U); }
  static void set_bit(u64* bits, u32 i) noexcept { bits[OneWord ? 0 : i >> 6U] |= bit(i); }
  [[nodiscard]] static bool test_bit(const u64* bits, u32 i) noexcept {
    return (bits[OneWord ? 0 : i >> 6U] & bit(i)) != 0;
  }
  [[nodiscard]] bool any(const u64* bits) const noexcept {
    if constexpr (OneWord) return *bits != 0;
    return std::any_of(bits, bits + words(), [](u64 word) { return word != 0; });
  }
  /// What an arbiter looks at first when it has served this one.
  [[nodiscard]] static u8 after_turn(u32 served) noexcept {
    return static_cast<u8>(OneWord && kFewVcs && Shift != 0 ? served + 1 : (served + 1) & 63U);
  }
  /// f(place) for the bits of a word, from the lowest.
  template <class F>
  [[gnu::always_inline]] static void for_each(u64 bits, F&& f) {
    for (; bits != 0; bits &= bits - 1) f(static_cast<u32>(std::countr_zero(bits)));
  }
  [[nodiscard]] bool needs_credit() const noexcept { return setup_.cut_through || setup_.vc_busy_when_full; }
  [[nodiscard]] u64* set(u32 kind, u32 e) noexcept { return &sets_[(kind * switches_.size() + e) * words()]; }
  [[nodiscard]] const u64* set(u32 kind, u32 e) const noexcept {
    return &sets_[(kind * switches_.size() + e) * words()];
  }
  [[nodiscard]] std::size_t list_of(Tick at, u32 block) const noexcept {
    return static_cast<std::size_t>(at & (ahead_ - 1)) * blocks_ + block;
  }
  [[nodiscard]] Block block(u32 b) noexcept {
    const u32 e = b * kBlock;
    const std::size_t rows = std::size_t{e} * shape_.ports() * words();
    const std::size_t ports = std::size_t{b} * shape_.ports();
    return {b,
            e,
            shape_,
            words(),
            set(kAdaptiveHeads, e),
            set(kHeld, e),
            set(kCredit, e),
            set(kFilled, e),
            set(kHolding, e),
            set(kStarved, e),
            &waiting_[rows],
            &owners_[rows],
            &wanted_[ports],
            &owned_[ports],
            &choosing_[b],
            &inputs_[base(e)],
            &outputs_[base(e)],
            &port_states_[std::size_t{e} * shape_.ports()],
            coming_,
            needs_credit() ? ~u64{0} : u64{0}};
  }

  /// Puts a flit into the place of the far ring `at` that its credit has reserved.
  [[gnu::always_inline]] void put_far(const RingsAccess& flits, InputVc* inputs, OutputVc& out, std::size_t at,
                                      BufferedFlit flit) noexcept {
    u32 place = out.tail;
    u32 lent = 0;
    // Where memory matters: the ring is empty, and nothing is on the way, so that it starts again at place 0.
    const bool restart = Fetches && out.credits == flits.places;
    if constexpr (Places::kLends) {
      lent = place & kLent;
      place &= ~kLent;
      if (restart && lent != 0) {
        flits_.cells().take_back(at);
        lent = 0;
      }
    }
    if (restart) {
      place = 0;
      inputs[at].ring.head = 0;
    }
    if constexpr (Places::kLends) {
      if (place == Places::kFirst && lent == 0) {
        flits_.cells().lend(at);
        lent = kLent;
      }
    }
    flits.put(at, place, flit);
    out.tail = static_cast<Number>(flits.after(place) | lent);
  }
  /// Number of an item among the virtual channels of all routers.
  [[nodiscard]] static std::size_t far_vc(const VcLayoutOf<Shift>& layout, u32 block, u32 item) noexcept {
    return layout.index((block * kBlock + router_of(item)) * layout.ports(), vc_of(item));
  }
  /// Items of a block, so many ticks from now.
  [[nodiscard]] const Item* items_of(u32 b, Tick tick) const noexcept {
    return coming_[tick].items + std::size_t{b} * room_;
  }

  void connect(engine::Builder& builder, u32 shard);
  /// A tick of a block; coming_ is that tick's.
  void step_one_block(u32 b, u64& awake, Tick now, engine::Io& io) noexcept {
    const u64 active = std::exchange(awake, 0) | std::exchange(stepped_next_[b], 0);
    const Counts& due = coming_[0].counts[b];
    if ((active | due.flits | due.credits | due.heads) == 0) return;
#if defined(__x86_64__)
    if (kBitInstructions) {
      step_with_bit_instructions(b, active, now, io);
      return;
    }
#endif
    step_active(b, active, now, io);
  }
#if defined(__x86_64__)
  /// Most of a step is about the places of bits: with the instructions of BMI, which not every processor has.
  [[gnu::target("bmi,bmi2,lzcnt")]] [[gnu::noinline]] void step_with_bit_instructions(u32 b, u64 active, Tick now,
                                                                                      engine::Io& io) noexcept {
    step_active(b, active, now, io);
  }
  inline static const bool kBitInstructions = __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
#endif
  [[gnu::always_inline]] void step_active(u32 b, u64 active, Tick now, engine::Io& io) noexcept;
  [[gnu::always_inline]] u64 take_flits(const Block& r, Counts& due) noexcept;
  [[gnu::always_inline]] u64 take_credits(const Block& r, u32 count) noexcept;
  bool add_credits(const Block& r, u32 e, u32 o, u32 places) noexcept;
  [[gnu::always_inline]] u64 route_heads(const Block& r, u32 count, u64 active, Tick now, engine::Io& io) noexcept;
  [[gnu::always_inline]] void recall(const Block& r, u32 e, u32 i, engine::Io& io) noexcept;
  [[gnu::always_inline]] void take_step(const Block& r, u32 e, u32 i, const core::Candidate& step,
                                        engine::Io& io) noexcept;
  [[gnu::always_inline]] void ask_routing(const Block& r, u32 e, u32 i, const core::Packet& packet, u32 hops) noexcept;
  [[gnu::always_inline]] void ask_routing(const Block& r, u32 e, u32 i, const BufferedFlit& head,
                                          engine::Io& io) noexcept {
    ask_routing(r, e, i, io.packet(head.packet()), head.hops());
  }
  void choose_candidate(const Block& r, u32 e, u32 i, engine::Io& io) noexcept;
  [[gnu::always_inline]] Given accept_vc(const Block& r, u32 e, u32 port, u32 i, u64 offers) noexcept;
  [[nodiscard]] u32 flits_needed(const Block& r, u32 e, u32 i, engine::Io& io) const noexcept {
    return io.packet(flits_.front(r.first + e, i, r.inputs[r.vc(e, i)].ring).packet()).flits;
  }
  /// Virtual channels of `port` that nobody holds.
  [[nodiscard]] u64 open_vcs(const Block& r, u32 e, u32 port) const noexcept {
    const u32 w = OneWord ? e : e * r.words + r.layout.word_of_port(port);
    const u64 taken = r.held[w] | (~r.credit[w] & r.needs_credit);
    return ~taken >> r.layout.place_of_port(port) & r.layout.field();
  }
  [[gnu::always_inline]] [[nodiscard]] u64 suitable(const Block& r, u32 e, u32 i, u64 open, engine::Io& io) noexcept;
  /// Those of the virtual channels `free` of its port that have room for the whole packet of i.
  [[gnu::noinline]] [[nodiscard]] u64 with_room(u32 b, u32 e, u32 i, u64 free, engine::Io& io) noexcept;
  void add_waiting(const Block& r, u32 e, u32 i, u32 port) noexcept {
    set_bit(r.waiting + r.row(e, port), i);
    r.wanted[port] |= u64{1} << e;
  }
  /// Removes an entry from the row of a router and port, and from the port's summary.
  void remove(const Block& r, u64* rows, u64* summary, u32 e, u32 i, u32 port) noexcept {
    u64* const row = rows + r.row(e, port);
    row[OneWord ? 0 : i >> 6U] &= ~bit(i);
    summary[port] &= ~(u64{!any(row)} << e);
  }
  [[gnu::always_inline]] u64 allocate_vcs(const Block& r, u32 heads, u64 active, engine::Io& io) noexcept;
  [[gnu::always_inline]] Given* serve_output(const Block& r, u32 e, u32 port, Given* next, engine::Io& io) noexcept;
  [[gnu::always_inline]] void start(const Block& r) noexcept;
  [[gnu::always_inline]] u64 allocate_switch(const Block& r, u64 active, engine::Io& io) noexcept;
  [[gnu::always_inline]] u64 grant_inputs(const Block& r, u64 active) noexcept;
  [[gnu::always_inline]] u32 cross(const Block& r, engine::Io& io) noexcept;
  [[gnu::always_inline]] u32 leave_inputs(const Block& r, engine::Io& io) noexcept;
  [[gnu::always_inline]] u32 enter_outputs(const Block& r, u32 crossings, engine::Io& io) noexcept;
  [[gnu::always_inline]] void finish(const Block& r, u32 tails) noexcept;
  /// Several heads ask one output port.
  [[gnu::noinline]] Given* serve_many(u32 b, u32 e, u32 port, u64 open, Given* next, engine::Io& io) noexcept;
  [[gnu::noinline]] void choose_candidates(u32 b, u64 routers, engine::Io& io) noexcept;
  [[gnu::noinline]] void forget_candidates(u32 b, u64 routers) noexcept;

  /// Calls f(e, i, flit) for every flit on its way to input virtual channel i of e.
  template <class F>
  void for_each_coming(F&& f) const;
  /// [router * slots * words + slot * words + word]: heads whose routing ends at a tick of that remainder.
  [[nodiscard]] std::vector<u64> heads_by_slot(u32 slots) const;
  [[nodiscard]] u64 wanted_ports(u32 e) const noexcept;
  [[nodiscard]] u64 asked_ports(u32 e) const noexcept;

  // These send over the engine's channels. They are out of line, since they would take the registers of the common way.
  [[gnu::noinline]] void send_out(std::size_t port, core::Flit flit, engine::Io& io) noexcept {
    io.send(static_cast<u32>(port), flit, setup_.pipeline.departure());
  }
  [[gnu::noinline]] void send_credit(std::size_t port, u32 vc, bool to_terminal, engine::Io& io) noexcept {
    io.control_up(static_cast<u32>(port), {engine::kCredit, static_cast<u16>(vc), 1},
                  setup_.pipeline.credit_return(to_terminal));
  }
  /// Writes down the memory that a block will need which is stepped soon. The packets that it routes are no part of
  /// that: to find out which they are took longer than to wait for them, where a block asks for all of its own
  /// together.
  [[gnu::always_inline]] void look_ahead(u32 b, Tick ticks) noexcept {
    memory_.restart();
    // Some shards take their blocks backwards (engine/border.hpp).
    const bool backwards = b != 0 && (b < looked_from_ || b + 1 == blocks_);
    looked_from_ = b;
    const u32 soon = backwards ? b - kBlocksAhead : b + kBlocksAhead;
    if (soon >= blocks_) return;
    u32 events = 0;
    for (Tick t = 0; t < ticks; ++t) events += coming_[t].counts[soon].flits + coming_[t].counts[soon].credits;
    if (events * kPortsPerEvent >= kBlock * layout_.ports()) {
      want_block(soon, ticks);
    } else {
      want_routers(soon, ticks);
    }
  }
  /// All of a block where much is to be done: one line after the other needs no list of them.
  [[gnu::always_inline]] void want_block(u32 b, Tick ticks) noexcept {
    const Block r = block(b);
    const std::size_t n = std::min<std::size_t>(kBlock, entities() - r.first);
    for (Tick t = 0; t < ticks; ++t) {
      const Counts due = coming_[t].counts[b];
      memory_.want_all(items_of(b, t), due.flits);
      memory_.want_all(items_of(b, t) + credits_at_, due.credits);
      memory_.want_all(items_of(b, t) + heads_at_, due.heads);
    }
    // Where the block and its neighbours will write down what comes of this: the lists were used a few ticks ago.
    for (Tick t = ticks; t < std::min(ticks + 3, ahead_); ++t) {
      for (const u32 first : {0U, credits_at_, heads_at_}) memory_.want_all(items_of(b, t) + first, kBlock);
    }
    memory_.want_all(r.inputs, n * layout_.size());
    // The second places too: a sixth of the flits lie in them, and each of those would be waited for.
    for (u32 place = 0; place < std::min(2U, flits_.places()); ++place)
      memory_.want_all(flits_.first(r.first, 0, place), n * layout_.size());
    if constexpr (Places::kLends) memory_.want_all(flits_.cells().group_of(base(r.first)), n * layout_.size());
    for (const u64* bits : {r.adaptive, r.held, r.credit, r.filled, r.holding, r.starved})
      memory_.want_all(bits, n * r.n());
    memory_.want_all(r.outputs, n * layout_.size());
    memory_.want_all(r.waiting, n * layout_.ports() * r.n());
    memory_.want_all(r.owners, n * layout_.ports() * r.n());
    memory_.want_all(r.ports, n * layout_.ports());
  }
  /// Whether heads that arrive so many ticks from now are routed in the ticks that are stepped at once.
  [[nodiscard]] bool soon_routed(Tick tick, Tick ticks) const noexcept {
    return tick + setup_.pipeline.routing < ticks;
  }
  [[gnu::always_inline]] void want_routers(u32 b, Tick ticks) noexcept {
    const Block r = block(b);
    u64 who = stepped_next_[b];
    const auto each = [&](const Item* first, u32 count, auto&& want) {
      for (const Item* it = first; it != first + count; ++it) {
        who |= u64{1} << router_of(*it);
        want(router_of(*it), vc_of(*it));
      }
    };
    const auto want_input = [&](u32 e, u32 i) {
      memory_.want(&r.inputs[r.vc(e, i)]);
      memory_.want(flits_.first(r.first + e, i));
    };
    each(items_of(b, 0) + heads_at_, coming_[0].counts[b].heads, want_input);
    for_each(stepped_next_[b], [&](u32 e) {
      for (u32 w = 0; w < r.n(); ++w) {
        const u32 place = e * r.n() + w;
        for_each(r.able(place) & r.holding[place], [&](u32 i) { want_input(e, w * 64 + i); });
      }
    });
    for (Tick t = 0; t < ticks; ++t) {
      const Item* const items = items_of(b, t);
      const Counts due = coming_[t].counts[b];
      if (t != 0) each(items + heads_at_, due.heads, want_input);
      if (soon_routed(t, ticks)) {
        each(items, due.flits, want_input);
      } else {
        // It is not looked at before a later tick, unless its packet has a way already.
        each(items, due.flits, [&](u32 e, u32 i) { memory_.want(&r.inputs[r.vc(e, i)]); });
      }
      each(items + credits_at_, due.credits, [&](u32 e, u32 o) { memory_.want(&r.outputs[r.vc(e, o)]); });
    }
    for_each(who, [&](u32 e) {
      memory_.want(&r.waiting[r.row(e, 0)], r.layout.ports() * r.n());
      memory_.want(&r.owners[r.row(e, 0)], r.layout.ports() * r.n());
      memory_.want(&r.ports[r.port(e, 0)], r.layout.ports());
    });
  }
  /// Asks for the next memory in the middle of other work.
  [[gnu::always_inline]] void ask_on() noexcept {
    if constexpr (Fetches) memory_.ask();
  }
  /// In line always: g++ 12 takes a function that only asks for memory for one without effect, and drops its calls.
  [[gnu::always_inline]] static void ask_for(const void* memory) noexcept { __builtin_prefetch(memory, 1); }

  /// So many heads of a block and tick are few. On a mesh of one block 3 to 17 heads a tick took 1 to 5 % less time,
  /// 150 took 4 % more.
  static constexpr u32 kFewHeads = kBlock / 2;
  /// Steps of a network that are remembered: as many as leave room for the routers in a common second level of the
  /// cache.
  static constexpr std::size_t kMostKnown = 1U << 16U;
  /// A flit of a hop passes eight places of ask_on, and some 14 lines of memory go with it.
  static constexpr u32 kPortsPerEvent = 4;
  static constexpr u32 kBlocksAhead = 2;

  VcLayoutOf<Shift> shape_;  ///< layout_, with the shift known
  u32 blocks_;
  Tick ahead_ = 2;  ///< power of two above the ticks of every way inside of the shard, and of routing
  PageVector<PortState> port_states_;  ///< [router * ports + port]
  PageVector<u64> sets_;               ///< [(set * routers + router) * words + word]
  PageVector<u64> waiting_;            ///< [(router * ports + port) * words + word]
  PageVector<u64> owners_;             ///< likewise
  std::vector<u64> wanted_;            ///< [block * ports + port]
  std::vector<u64> owned_;             ///< likewise
  std::vector<u64> choosing_;          ///< [block]
  u32 reach_ = 0;  ///< of a channel inside of the shard, in blocks; kNone: blocks make no ticks of their own
  std::vector<u64> stepped_next_;  ///< [block]: bit per router that is to be stepped in the next tick
  u32 credits_at_ = 0;             ///< where the credits of a block's items begin
  u32 heads_at_ = 0;
  u32 room_ = 0;                                  ///< items of a block and tick
  std::vector<Counts> counts_;                    ///< [tick * blocks + block]
  ItemVector items_;                              ///< [(tick * blocks + block) * room]
  std::array<Agenda, 2 * kMostAhead> agendas_{};  ///< of every tick, by its remainder, twice
  const Agenda* coming_ = agendas_.data();        ///< [ticks from now]: in agendas_

  /// A step that the routing has given before, where it gives the same every time: vc is kRouted then.
  using Way = typename InputVc::Way;
  u32 terminals_;
  bool heads_know_ = false;  ///< a step depends on nothing but switch and destination, which a head has with it
  std::vector<Way> known_;   ///< [router * terminals + destination]; empty: every head is routed anew

  MemoryAhead memory_;
  u32 looked_from_ = 0;  ///< the block at which memory was last asked for ahead

  // Scratch of a step.
  std::vector<u64> able_;  ///< [router * words + word]: Block::able at the beginning of switch allocation
  std::vector<Given> given_;
  u32 given_count_ = 0;  ///< how many
  std::vector<Crossing> crossings_;
  std::vector<CreditOut> outside_;
  std::vector<FlitOut> sent_;
  struct Routed {
    const core::Packet* packet;
    u32 hops;
  };
  std::vector<Routed> routed_;       ///< the heads that are due
  std::vector<core::Visit> visits_;  ///< likewise, where the destination says where they go
  std::vector<core::Candidate> steps_;
  std::vector<Item> tails_;  ///< input virtual channels whose tails left
  std::vector<Item> won_;    ///< first virtual channels of the input ports that some output grants
  u32 winners_ = 0;          ///< how many
  std::vector<u64> grants_;  ///< [router * ports + input port]: output ports that grant it; 0 between steps
  std::vector<u64> offers_;  ///< [input virtual channel]: output virtual channels that grant it; 0 between steps
  core::Candidates candidates_;
  Choice choice_;
};

/// Finds the ways that stay inside of the shard.
template <bool OneWord, u32 Shift, bool Fetches>
void VcRouterKernel<OneWord, Shift, Fetches>::connect(engine::Builder& builder, u32 shard) {
  const core::Graph& graph = topology_.graph();
  // A probe sees what goes over the engine's channels, and the state of all routers at the beginning of a tick holds
  // what has arrived at all of them.
  if (routing_.sight() == core::Sight::network) reach_ = kNone;
  if (builder.settings().probe.any() || reach_ == kNone) return;
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
      const Tick extra = down ? setup_.pipeline.departure() : setup_.pipeline.credit_return(false);
      const Tick ticks = c.link.latency_cycles + extra;
      // When a block makes two ticks at once, others still use the lists of the first tick in the second.
      const Tick most = ticks + (reach() != kNone ? 1 : 0);
      if (!c.failed && entity != kNone)
        reach_ = std::max(reach_, std::max(entity, e) / kBlock - std::min(entity, e) / kBlock);
      if (c.failed || entity == kNone || most >= kMostAhead || entity / kBlock > 0xffff) return;
      ahead_ = std::max(ahead_, std::bit_ceil(most + 1));
      const u32 i = layout_.index(far.port, 0);
      (down ? port.down_block : port.up_block) = static_cast<u16>(entity / kBlock);
      (down ? port.down_item : port.up_item) = item(entity % kBlock, i);
      (down ? port.flit_ticks : port.credit_ticks) = static_cast<u8>(ticks);
    };
    for (u32 p = 0; p < layout_.ports(); ++p) {
      PortState& port = port_states_[std::size_t{e} * layout_.ports() + p];
      if (p < graph.outputs(s) && graph.channel_out_of(s, p) != kNone) join(graph.channel_out_of(s, p), true, port);
      if (p < graph.inputs(s) && graph.channel_into(s, p) != kNone) join(graph.channel_into(s, p), false, port);
    }
  }
}

}  // namespace banyan::switching::parts
