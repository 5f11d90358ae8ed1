// Input-queued virtual-channel router (Dally, Virtual-Channel Flow Control, 1992; Dally and Towles 2004, chapters 16
// and 17): credit flow control, private buffers per virtual channel, wormhole or virtual cut-through. In the cycle in
// which a flit stands at the front of its buffer, its head is routed and asks for a virtual channel, and it takes part
// in switch allocation (separable, input first, one iteration, round-robin). The stages of the pipeline are a constant:
// a flit that is granted the switch in cycle t leaves in t + pipeline; its place in the buffer is free in t + 1.
//
// All routers of a shard lie in flat arrays. What a step looks at first, which virtual channels wait for a virtual
// channel, which want the switch, which outputs are open, is a few words of bits per router.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "banyan/core/switching.hpp"
#include "banyan/engine/builder.hpp"
#include "banyan/switching/parts/flit_rings.hpp"
#include "banyan/switching/parts/round_robin.hpp"
#include "banyan/switching/parts/vc_layout.hpp"

namespace banyan::switching {
namespace {

using core::Flit;
using engine::Io;
using parts::BufferedFlit;
using parts::clear_bit;
using parts::round_robin;
using parts::set_bit;
using parts::test_bit;

constexpr u32 kMostPorts = 64;
constexpr u32 kMostVcs = 64;

/// State of an input virtual channel besides InputVc::vc < kMostVcs (the output virtual channel that it holds).
enum : u8 {
  kAdaptive = 0xfd,  ///< head is routed and has several candidates: asks again in every attempt
  kRouted = 0xfe,    ///< head is routed: waits for one of [begin, end) of output `port`
  kFresh = 0xff,     ///< nothing, or a head that is not routed yet
};

struct InputVc {
  u8 port = 0;  ///< output port
  u8 vc = kFresh;
  u8 begin = 0;
  u8 end = 0;
  parts::RingState ring;
};
static_assert(sizeof(InputVc) == 8);

struct OutputVc {
  u16 credits = 0;
  u16 holder = 0;  ///< input virtual channel that holds it
};

/// Where the round-robin arbiters of a port look first.
struct Arbiters {
  u16 waiter = 0;  ///< output port: the input virtual channel to be given a virtual channel first
  u8 vc = 0;       ///< output port: the virtual channel to be given first
  u8 output = 0;   ///< output port: the input port to be granted first
  u8 input = 0;    ///< input port: the virtual channel to be nominated first
};

struct Setup {
  u32 ports = 1;
  u32 vcs = 1;
  u32 buffer = 1;
  u32 pipeline = 1;
  bool cut_through = false;
};

/// OneWord: the virtual channels of all ports of a router fit into one word of bits.
template <bool OneWord>
class VcRouter {
 public:
  VcRouter(engine::Builder& builder, u32 shard, const Setup& setup)
      : topology_(builder.topology()),
        routing_(builder.routing()),
        seed_(builder.settings().seed),
        layout_(setup.ports, setup.vcs),
        pipeline_(setup.pipeline),
        cut_through_(setup.cut_through),
        horizon_(builder.longest_latency() + setup.pipeline),
        switches_(builder.switches_of(shard)),
        masks_(switches_.size() * kMasks * layout_.words()),
        arbiters_(switches_.size() * setup.ports),
        inputs_(switches_.size() * layout_.size()),
        outputs_(inputs_.size()),
        flits_(switches_.size(), layout_.size(), setup.buffer) {
    for (u32 i = 0; i < builder.shards(); ++i) pools_.push_back(&builder.terminals(i).pool());
  }

  [[nodiscard]] u32 entities() const noexcept { return static_cast<u32>(switches_.size()); }
  [[nodiscard]] u32 ports() const noexcept { return layout_.ports(); }
  [[nodiscard]] Tick horizon() const noexcept { return horizon_; }
  [[nodiscard]] u64 movements() const noexcept { return movements_; }

  void reset(u32) {
    std::fill(masks_.begin(), masks_.end(), 0);
    std::fill(arbiters_.begin(), arbiters_.end(), Arbiters{});
    std::fill(inputs_.begin(), inputs_.end(), InputVc{});
    std::fill(outputs_.begin(), outputs_.end(), OutputVc{});
    movements_ = 0;
    const core::Graph& graph = topology_.graph();
    for (u32 e = 0; e < entities(); ++e) {
      for (u32 p = 0; p < graph.outputs(switches_[e]); ++p) {
        if (!leads_on(switches_[e], p)) continue;  // never a credit: nothing is ever sent there
        for (u32 v = 0; v < layout_.vcs(); ++v) {
          outputs_[base(e) + layout_.index(p, v)].credits = static_cast<u16>(flits_.places());
          set_bit(mask(e, kCredit), layout_.index(p, v));
        }
      }
    }
  }

  bool accept(u32 e, u32 port, const Flit& flit, Io&) noexcept {
    const u32 i = layout_.index(port, flit.vc);
    InputVc& in = inputs_[base(e) + i];
    flits_.push(e, i, in.ring, BufferedFlit::pack(flit));
    if (in.ring.count != 1) return false;
    if (in.vc >= kMostVcs) {
      set_bit(mask(e, kWaiting), i);
    } else {
      if (!test_bit(mask(e, kCredit), layout_.index(in.port, in.vc))) return false;
      set_bit(mask(e, kReady), i);
    }
    return true;
  }

  bool accept(u32 e, u32 port, const core::Control& control, Io&) noexcept {
    const u32 o = layout_.index(port, control.vc);
    OutputVc& out = outputs_[base(e) + o];
    const u32 before = out.credits;
    out.credits = static_cast<u16>(before + control.argument);
    if (before != 0 && !cut_through_) return false;
    set_bit(mask(e, kCredit), o);
    if (!test_bit(mask(e, kHeld), o)) return any(mask(e, kWaiting));
    if (before != 0 || inputs_[base(e) + out.holder].ring.count == 0) return false;
    set_bit(mask(e, kReady), out.holder);
    return true;
  }

  Tick step(u32 e, Tick now, Io& io) noexcept {
    const View r = view(e);
    // What stays waiting is tried again when a virtual channel was freed, and when one was given away: a head with
    // several candidates may have asked for just that one.
    bool changed = false;
    if (any(r.waiting)) changed = allocate_vcs(r, io);
    if (any(r.ready)) changed |= allocate_switch(r, io);
    return any(r.ready) || (changed && any(r.waiting)) ? now + 1 : kNever;
  }

  [[nodiscard]] u64 digest() const;
  void hold(engine::Holdings& into) const;
  void waits(std::vector<engine::Wait>& into) const;
  void occupancy(std::vector<u64>& levels) const;
  void full_channels(std::vector<u32>& channels) const;

 private:
  enum Mask : u32 {
    kWaiting,  ///< input virtual channels with a head at the front that holds no output virtual channel
    kReady,    ///< input virtual channels that hold an output virtual channel and have a flit and a credit
    kHeld,     ///< output virtual channels that are held by a packet, from head to tail
    kCredit,   ///< output virtual channels with at least one credit
    kMasks
  };

  [[nodiscard]] u32 words() const noexcept { return OneWord ? 1 : layout_.words(); }
  [[nodiscard]] u64* mask(u32 e, Mask kind) noexcept {
    return &masks_[(static_cast<std::size_t>(e) * kMasks + kind) * words()];
  }
  [[nodiscard]] const u64* mask(u32 e, Mask kind) const noexcept {
    return &masks_[(static_cast<std::size_t>(e) * kMasks + kind) * words()];
  }
  [[nodiscard]] bool any(const u64* bits) const noexcept {
    if constexpr (OneWord) return *bits != 0;
    return std::any_of(bits, bits + words(), [](u64 word) { return word != 0; });
  }
  /// Number of a router's first virtual channel, of inputs as of outputs.
  [[nodiscard]] std::size_t base(u32 e) const noexcept { return static_cast<std::size_t>(e) * layout_.size(); }

  [[nodiscard]] bool leads_on(u32 s, u32 port) const {
    if (port >= topology_.graph().outputs(s)) return false;
    const u32 channel = topology_.graph().channel_out_of(s, port);
    return channel != kNone && !topology_.graph().channel(channel).failed;
  }
  [[nodiscard]] const core::Packet& packet(core::PacketId id) const noexcept {
    return (*pools_[id >> engine::PacketPool::kIndexBits])[id];
  }

  void route(u32 e, u32 i, const core::Packet& packet, core::Candidates& out) const noexcept {
    const u32 s = switches_[e];
    const u64 address = (static_cast<u64>(packet.source) << 32U | packet.sequence) ^ (static_cast<u64>(s) << 20U);
    out.clear();
    routing_.route({s, layout_.port(i), layout_.vc(i), &packet, static_cast<u32>(mix64(address ^ seed_))}, out);
  }

  /// One router, its pointers hoisted: stores of bytes would make the compiler load them again and again.
  struct View {
    u32 entity;
    parts::VcLayout layout;
    u64* waiting;
    u64* ready;
    u64* held;
    u64* credit;
    Arbiters* arbiters;
    InputVc* inputs;
    OutputVc* outputs;
  };
  [[nodiscard]] View view(u32 e) noexcept {
    return {e,
            layout_,
            mask(e, kWaiting),
            mask(e, kReady),
            mask(e, kHeld),
            mask(e, kCredit),
            &arbiters_[static_cast<std::size_t>(e) * layout_.ports()],
            &inputs_[base(e)],
            &outputs_[base(e)]};
  }

  void ask_routing(const View& r, u32 i, Io& io) noexcept;
  void choose_candidate(const View& r, u32 i, Io& io) noexcept;
  [[nodiscard]] u32 flits_needed(const View& r, u32 i, Io& io) const noexcept {
    return cut_through_ ? io.packet(flits_.front(r.entity, i, r.inputs[i].ring).packet).flits : 1;
  }
  [[nodiscard]] u64 open_vcs(const View& r, u32 port) const noexcept {
    const u32 w = r.layout.word_of_port(port);
    return (r.credit[w] & ~r.held[w]) >> r.layout.place_of_port(port) & r.layout.field();
  }
  [[nodiscard]] u64 available(const View& r, u32 port, u32 begin, u32 end, u32 need) const noexcept;
  bool allocate_vcs(const View& r, Io& io) noexcept;
  bool offer_vc(const View& r, u32 i, Io& io) noexcept;
  bool allocate_switch(const View& r, Io& io) noexcept;
  bool forward(const View& r, u32 i, Io& io) noexcept;

  [[nodiscard]] std::string place(u32 e, u32 i) const;
  void wait_for_vc(u32 e, u32 i, std::vector<engine::Wait>& into) const;
  void wait_for(u32 e, u32 i, u32 o, std::vector<engine::Wait>& into) const;
  /// Resource number of an input virtual channel, unique in the network.
  [[nodiscard]] u64 resource(u32 s, u32 port, u32 vc) const {
    return (static_cast<u64>(topology_.graph().input_base(s)) + port) * kMostVcs + vc;
  }

  const core::Topology& topology_;
  const core::Routing& routing_;
  u64 seed_;
  parts::VcLayout layout_;
  u32 pipeline_;
  bool cut_through_;
  Tick horizon_;
  std::vector<u32> switches_;       ///< [entity]: number in the graph
  std::vector<u64> masks_;          ///< [entity * kMasks + kind][word]
  std::vector<Arbiters> arbiters_;  ///< [entity * ports + port]
  std::vector<InputVc> inputs_;     ///< [entity * layout size + index]
  std::vector<OutputVc> outputs_;   ///< likewise
  parts::FlitRings flits_;          ///< one ring per input virtual channel
  u64 movements_ = 0;
  core::Candidates candidates_;                   ///< scratch
  std::vector<const engine::PacketPool*> pools_;  ///< [shard]
};

/// Virtual channels of `port` in [begin, end) that nobody holds and that have `need` credits.
template <bool OneWord>
inline u64 VcRouter<OneWord>::available(const View& r, u32 port, u32 begin, u32 end, u32 need) const noexcept {
  if (begin >= end) return 0;
  u64 free = open_vcs(r, port) & (~u64{0} >> (64U - end)) & (~u64{0} << begin);
  if (need == 1) return free;
  for (u64 left = free; left != 0; left &= left - 1) {
    const u32 v = static_cast<u32>(std::countr_zero(left));
    if (r.outputs[r.layout.index(port, v)].credits < need) free &= ~(u64{1} << v);
  }
  return free;
}

/// Routes the head of input virtual channel i.
template <bool OneWord>
inline void VcRouter<OneWord>::ask_routing(const View& r, u32 i, Io& io) noexcept {
  InputVc& in = r.inputs[i];
  route(r.entity, i, io.packet(flits_.front(r.entity, i, in.ring).packet), candidates_);
  if (candidates_.size() != 1) return choose_candidate(r, i, io);
  const core::Candidate& only = candidates_[0];
  in.port = static_cast<u8>(only.port);
  in.begin = only.vc_begin;
  in.end = only.vc_end;
  in.vc = kRouted;
}

/// Of several candidates the best now: of the highest priority with a free virtual channel, the one with most credits,
/// the first among equals; the first of all when none is free. A head without any waits for ever: the watchdog will
/// explain it.
template <bool OneWord>
void VcRouter<OneWord>::choose_candidate(const View& r, u32 i, Io& io) noexcept {
  InputVc& in = r.inputs[i];
  in.begin = in.end = in.port = 0;
  in.vc = kAdaptive;
  const u32 need = flits_needed(r, i, io);
  const core::Candidate* best = nullptr;
  u32 most = 0;
  for (const core::Candidate& c : candidates_) {
    if (available(r, c.port, c.vc_begin, c.vc_end, need) == 0) continue;
    u32 credits = 0;
    for (u32 v = c.vc_begin; v < c.vc_end; ++v) credits += r.outputs[r.layout.index(c.port, v)].credits;
    if (best != nullptr && (c.priority < best->priority || (c.priority == best->priority && credits <= most))) continue;
    best = &c;
    most = credits;
  }
  if (best == nullptr) return;
  in.port = static_cast<u8>(best->port);
  in.begin = best->vc_begin;
  in.end = best->vc_end;
}

/// Every output port gives its free virtual channels to the heads that wait for it, in round-robin order. Returns
/// whether one was given.
template <bool OneWord>
bool VcRouter<OneWord>::allocate_vcs(const View& r, Io& io) noexcept {
  if constexpr (OneWord) {
    if (std::has_single_bit(*r.waiting)) {
      const u32 i = static_cast<u32>(std::countr_zero(*r.waiting));
      if (r.inputs[i].vc != kRouted) ask_routing(r, i, io);
      return offer_vc(r, i, io);
    }
  }
  const u32 words = this->words();
  u64 ports = 0;
  u64 contested = 0;  // ports that several heads want
  for (u32 w = 0; w < words; ++w) {
    for (u64 bits = r.waiting[w]; bits != 0; bits &= bits - 1) {
      const u32 i = w * 64 + static_cast<u32>(std::countr_zero(bits));
      if (r.inputs[i].vc != kRouted) ask_routing(r, i, io);
      const u64 port = u64{1} << r.inputs[i].port;
      contested |= ports & port;
      ports |= port;
    }
  }
  bool given = false;
  for (u32 w = 0; w < words; ++w) {
    for (u64 bits = r.waiting[w]; bits != 0; bits &= bits - 1) {
      const u32 i = w * 64 + static_cast<u32>(std::countr_zero(bits));
      if ((contested >> r.inputs[i].port & 1U) == 0) given |= offer_vc(r, i, io);
    }
  }
  for (; contested != 0; contested &= contested - 1) {
    const u32 o = static_cast<u32>(std::countr_zero(contested));
    if (open_vcs(r, o) == 0) continue;
    parts::for_each_cyclically(r.waiting, words, r.arbiters[o].waiter, [&](u32 i) {
      if (r.inputs[i].port == o) given |= offer_vc(r, i, io);
    });
  }
  return given;
}

/// Gives the waiting head of input virtual channel i a virtual channel of its output port, if there is one.
template <bool OneWord>
inline bool VcRouter<OneWord>::offer_vc(const View& r, u32 i, Io& io) noexcept {
  InputVc& in = r.inputs[i];
  const u64 free = available(r, in.port, in.begin, in.end, flits_needed(r, i, io));
  if (free == 0) return false;
  Arbiters& arbiters = r.arbiters[in.port];
  const u32 v = round_robin(free, arbiters.vc);
  const u32 o = r.layout.index(in.port, v);
  arbiters.vc = static_cast<u8>((v + 1) & 63U);
  arbiters.waiter = static_cast<u16>(i + 1 == r.layout.size() ? 0 : i + 1);
  in.vc = static_cast<u8>(v);
  r.outputs[o].holder = static_cast<u16>(i);
  set_bit(r.held, o);
  clear_bit(r.waiting, i);
  set_bit(r.ready, i);
  return true;
}

/// Separable allocation, input first: every input port nominates one virtual channel, every output port grants one
/// input port. Returns whether an output virtual channel became free.
template <bool OneWord>
bool VcRouter<OneWord>::allocate_switch(const View& r, Io& io) noexcept {
  if constexpr (OneWord) {
    if (std::has_single_bit(*r.ready)) return forward(r, static_cast<u32>(std::countr_zero(*r.ready)), io);
  }
  std::array<u64, kMostPorts> asking;     // [output port]: input ports; valid where `outputs` has a bit
  std::array<u16, kMostPorts> nominated;  // [input port]: input virtual channel
  u64 outputs = 0;
  const u32 words = this->words();
  for (u32 w = 0; w < words; ++w) {
    for (u64 bits = r.ready[w]; bits != 0;) {
      const u32 p = r.layout.port(w * 64 + static_cast<u32>(std::countr_zero(bits)));
      const u32 shift = r.layout.place_of_port(p);
      const u32 i = r.layout.index(p, round_robin(bits >> shift & r.layout.field(), r.arbiters[p].input));
      bits &= ~(r.layout.field() << shift);
      const u32 o = r.inputs[i].port;
      nominated[p] = static_cast<u16>(i);
      asking[o] = ((outputs >> o & 1U) != 0 ? asking[o] : 0) | u64{1} << p;
      outputs |= u64{1} << o;
    }
  }
  bool freed = false;
  for (; outputs != 0; outputs &= outputs - 1) {
    const u32 o = static_cast<u32>(std::countr_zero(outputs));
    freed |= forward(r, nominated[round_robin(asking[o], r.arbiters[o].output)], io);
  }
  return freed;
}

/// Moves the front flit of input virtual channel i. Returns whether it was a tail.
template <bool OneWord>
inline bool VcRouter<OneWord>::forward(const View& r, u32 i, Io& io) noexcept {
  InputVc& in = r.inputs[i];
  const u32 p = r.layout.port(i);
  const u32 v = r.layout.vc(i);
  const u32 out_port = in.port;
  const u32 o = r.layout.index(out_port, in.vc);
  r.arbiters[p].input = static_cast<u8>((v + 1) & 63U);
  r.arbiters[out_port].output = static_cast<u8>((p + 1) & 63U);

  const BufferedFlit flit = flits_.pop(r.entity, i, in.ring);
  const u32 first_port = r.entity * r.layout.ports();
  io.send(first_port + out_port, flit.unpack(in.vc), pipeline_);
  io.control_up(first_port + p, {engine::kCredit, static_cast<u16>(v), 1}, 1);
  ++movements_;

  const bool out_of_credit = --r.outputs[o].credits == 0;
  if (out_of_credit) clear_bit(r.credit, o);
  const bool tail = (flit.flags() & core::kTail) != 0;
  if (tail) {
    clear_bit(r.held, o);
    in.vc = kFresh;
    if (in.ring.count != 0) set_bit(r.waiting, i);
  }
  if (tail || out_of_credit || in.ring.count == 0) clear_bit(r.ready, i);
  return tail;
}

template <bool OneWord>
u64 VcRouter<OneWord>::digest() const {
  u64 sum = 0;
  for (u32 e = 0; e < entities(); ++e) {
    Hasher h;
    h.add(switches_[e]);
    for (u32 p = 0; p < layout_.ports(); ++p) {
      const Arbiters& a = arbiters_[static_cast<std::size_t>(e) * layout_.ports() + p];
      for (const u32 pointer : {u32{a.input}, u32{a.output}, u32{a.vc}, u32{a.waiter}}) h.add(pointer);
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
    sum += h.value();
  }
  return sum;
}

template <bool OneWord>
void VcRouter<OneWord>::hold(engine::Holdings& into) const {
  const u32 places = flits_.places();
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 p = 0; p < layout_.ports(); ++p) {
      for (u32 v = 0; v < layout_.vcs(); ++v) {
        const u32 i = layout_.index(p, v);
        const InputVc& in = inputs_[base(e) + i];
        const OutputVc& out = outputs_[base(e) + i];
        for (u32 k = 0; k < in.ring.count; ++k) into.add(flits_.at(e, i, in.ring, k).unpack(0));
        const auto complain = [&](const std::string& what) {
          into.violations.push_back(fmt::format("switch {} port {} vc {}: {}", switches_[e], p, v, what));
        };
        if (in.ring.count > places) complain(fmt::format("{} flits in {} places", in.ring.count, places));
        if (out.credits > places) complain(fmt::format("{} credits for {} places", out.credits, places));
        if (test_bit(mask(e, kCredit), i) != (out.credits != 0)) complain("credit bit and count disagree");
        const bool holds = in.vc < kMostVcs;
        if (test_bit(mask(e, kWaiting), i) != (!holds && in.ring.count != 0)) complain("waiting bit is wrong");
        const bool ready =
            holds && in.ring.count != 0 && outputs_[base(e) + layout_.index(in.port, in.vc)].credits != 0;
        if (test_bit(mask(e, kReady), i) != ready) complain("ready bit is wrong");
        if (!test_bit(mask(e, kHeld), i)) continue;
        const InputVc& holder = inputs_[base(e) + out.holder];
        if (holder.port != p || holder.vc != v) complain("is held by nobody");
      }
    }
  }
}

template <bool OneWord>
void VcRouter<OneWord>::occupancy(std::vector<u64>& levels) const {
  for (u32 e = 0; e < entities(); ++e) {
    engine::Holdings held;
    for (u32 i = 0; i < layout_.size(); ++i) {
      const parts::RingState ring = inputs_[base(e) + i].ring;
      for (u32 k = 0; k < ring.count; ++k) held.add(flits_.at(e, i, ring, k).unpack(0));
    }
    levels[topology_.graph().level(switches_[e])] += held.packets;
  }
}

/// A channel is full when the buffers of all its virtual channels are.
template <bool OneWord>
void VcRouter<OneWord>::full_channels(std::vector<u32>& channels) const {
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

template <bool OneWord>
std::string VcRouter<OneWord>::place(u32 e, u32 i) const {
  return fmt::format("switch {} input {} vc {}", topology_.label(switches_[e]), layout_.port(i), layout_.vc(i));
}

/// The packet at the front of input virtual channel i waits for a credit, or for the end of a packet, of output o.
template <bool OneWord>
void VcRouter<OneWord>::wait_for(u32 e, u32 i, u32 o, std::vector<engine::Wait>& into) const {
  const u32 s = switches_[e];
  const InputVc& in = inputs_[base(e) + i];
  const core::Packet& waiter = packet(flits_.front(e, i, in.ring).packet);
  std::string what = fmt::format("output {} vc {}", layout_.port(o), layout_.vc(o));
  u64 wanted = 0;
  if (test_bit(mask(e, kHeld), o) && outputs_[base(e) + o].holder != i) {
    const u32 holder = outputs_[base(e) + o].holder;
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

template <bool OneWord>
void VcRouter<OneWord>::wait_for_vc(u32 e, u32 i, std::vector<engine::Wait>& into) const {
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

template <bool OneWord>
void VcRouter<OneWord>::waits(std::vector<engine::Wait>& into) const {
  for (u32 e = 0; e < entities(); ++e) {
    for (u32 i = 0; i < layout_.size(); ++i) {
      const InputVc& in = inputs_[base(e) + i];
      if (in.ring.count == 0) continue;
      if (in.vc >= kMostVcs) {
        wait_for_vc(e, i, into);
      } else if (!test_bit(mask(e, kReady), i)) {
        wait_for(e, i, layout_.index(in.port, in.vc), into);
      }
    }
  }
}

template <bool OneWord>
void add_routers(engine::Builder& builder, const Setup& setup) {
  for (u32 i = 0; i < builder.shards(); ++i) {
    builder.add_switches(i, std::make_unique<VcRouter<OneWord>>(builder, i, setup), setup.ports);
  }
}

/// Throws ConfigError when the model cannot run the network or its traffic.
Setup read_setup(const config::Values& values, const engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  Setup setup;
  for (u32 s = 0; s < graph.switches(); ++s) {
    setup.ports = std::max({setup.ports, graph.inputs(s), graph.outputs(s)});
  }
  if (setup.ports > kMostPorts) {
    values.fail("name", fmt::format("a switch has {} ports", setup.ports),
                fmt::format("use switches of at most {} ports", kMostPorts));
  }
  for (const core::Channel& c : graph.channels()) {
    if (c.link.cycles_per_flit != 1) {
      values.fail("name", "vc_router sends one flit per channel and cycle, and a channel is slower than that",
                  "use channels of full bandwidth, or another switch");
    }
  }
  setup.vcs = values.natural("vcs");
  setup.buffer = values.natural("buffer");
  setup.pipeline = values.natural("pipeline");
  setup.cut_through = values.text("flow") == "cut_through";
  if (setup.cut_through && builder.longest_message() > setup.buffer) {
    values.fail("buffer",
                fmt::format("cut_through stores whole packets, and packets of {} flits do not fit into {}",
                            builder.longest_message(), setup.buffer),
                fmt::format("use buffer = {}, shorter packets, or flow = \"wormhole\"", builder.longest_message()));
  }
  return setup;
}

void install(const config::Values& values, engine::Builder& builder) {
  const Setup setup = read_setup(values, builder);
  const parts::VcLayout layout(setup.ports, setup.vcs);
  const u64 bytes = layout.size() * (sizeof(InputVc) + sizeof(OutputVc) + sizeof(BufferedFlit) * u64{setup.buffer});
  builder.partition_by_size(bytes);
  engine::Interfaces::Setup interfaces;
  interfaces.vcs = setup.vcs;
  interfaces.credits = setup.buffer;
  interfaces.horizon = builder.longest_latency() + setup.pipeline;
  interfaces.whole_packet = setup.cut_through;
  builder.add_interfaces(interfaces);
  if (layout.words() == 1) {
    add_routers<true>(builder, setup);
  } else {
    add_routers<false>(builder, setup);
  }
  builder.wire();
}

u32 vcs(const config::Values& values) { return values.natural("vcs"); }

using config::Parameter;

}  // namespace

extern const core::SwitchRow row_vc_router;
const core::SwitchRow row_vc_router{
    {"vc_router",
     "Input-queued router with virtual channels, credit flow control and a separable switch allocator",
     "W. J. Dally, Virtual-Channel Flow Control, IEEE Transactions on Parallel and Distributed Systems 3(2), 1992; "
     "Dally and Towles, Principles and Practices of Interconnection Networks, 2004, chapters 16 and 17",
     {Parameter::integer("vcs", 8).range(1, kMostVcs).doc("Virtual channels per channel."),
      Parameter::integer("buffer", 8)
          .unit("flits")
          .range(1, 65535)
          .doc("Places of the buffer of each virtual channel at an input."),
      Parameter::choice("flow", {"wormhole", "cut_through"}, "wormhole")
          .doc("wormhole: a packet moves on when the next buffer has a place; cut_through: when it has room for the "
               "whole packet."),
      Parameter::integer("pipeline", 1)
          .unit("cycles")
          .range(1, 1000)
          .doc("Cycles from a flit's arrival to its departure when nothing blocks it.")}},
    &install,
    &vcs};

}  // namespace banyan::switching
