// Buffered wormhole switches with a central buffer, and hardware multicast (Sivaram, Stunkel, Panda, "Implementing
// Multidestination Worms in Switch-Based Parallel Systems", section 4; Stunkel et al., "The SP2 High-Performance
// Switch", 1995).
//
// A packet for one output passes the crossbar flit by flit when no other packet uses that output or waits for it;
// otherwise it is written into the central buffer, chunk by chunk, into the queue of its output. A packet for several
// outputs is written once, enters all their queues, and is admitted only when all of it is guaranteed space. One chunk
// is read and one is written per cycle.
//
// Where contributions to a reduction meet, the sum has a place of its own in the buffer, set apart per collective. A
// chunk of a contribution is added to it when it would be written; a chunk of the sum that all children have brought
// enters the queue of the output to the switch above, as if an input had written it, or where all meet, those of all
// members. docs/switching/central_buffer.md says why that cannot wedge.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/switching/worms/chunk_lists.hpp"
#include "banyan/switching/worms/fabric.hpp"
#include "banyan/switching/worms/reductions.hpp"

namespace banyan::switching::central_buffer {
namespace {

using core::PacketId;

enum class Rules : u8 { guarded, guarantee, none };
enum class Bypass : u8 { single_output, unicast, never };
enum class Arbitration : u8 { in_order, per_output, all_at_once };

struct BufferSettings {
  u32 chunks = 256;
  u32 reserve = 0;  ///< chunks of the largest packet that is replicated
  u32 sums = 0;     ///< chunks that are set apart for reductions
  Rules rules = Rules::guarded;
  Bypass bypass = Bypass::single_output;
  bool needs_room = false;  ///< an output is idle only when there is room behind it
  bool separate = false;
  bool synchronous = false;
  Arbitration arbitration = Arbitration::in_order;
};

/// Whether worms on their way up are admitted to the buffer as a whole: where they replicate there, and where every
/// worm must. Then those on their way down need space that the others cannot take.
bool worms_go_up_through_buffer(const WormSettings& worms, const BufferSettings& buffer) {
  return worms.both_ways || buffer.bypass != Bypass::single_output;
}

class CentralBuffer final : public WormFabric<CentralBuffer> {
 public:
  CentralBuffer(engine::Builder& builder, u32 shard, const WormSettings& worms,
                const std::pair<BufferSettings, Collectives>& settings)
      : WormFabric(builder, shard, worms),
        set_(settings.first),
        sums_(builder, settings.second, switches_, ports_),
        lists_(switches_, ports_, set_.chunks, set_.separate, sums_.count()),
        hot_(switches_),
        in_(inputs_.size() + std::size_t{switches_} * sums_.count()),
        served_out_(outputs_.size()) {
    // Space beside the chunk that is held back per output; of it, what single-output packets and what packets that
    // also go up may take. Who is farther down goes first: down is where packets always find their way out.
    const bool guarded = set_.rules == Rules::guarded;
    shared_ = set_.chunks - set_.sums - (guarded ? ports_ : 0);
    most_up_ = shared_ - (guarded && worms_go_up_through_buffer(worms, set_) ? set_.reserve : 0);
    most_single_ = most_up_ - (guarded ? set_.reserve : 0);
    reserve_packets(builder, u64{switches_} * set_.chunks * worms.chunk);
    // Of a reduction, a packet of every terminal is there until its end.
    if (sums_.any()) pool_.reserve(pool_.created() + sums_.count() * (local_terminals_ + 2));
  }

  void reset_switches() {
    stored_ = 0;
    lists_.clear();
    for (Hot& h : hot_) h = {};
    for (In& in : in_) in = {};
    std::fill(served_out_.begin(), served_out_.end(), 0);
    sums_.reset();
  }

  void archive_switches(Archive& a) { a(lists_, hot_, in_, served_out_, sums_, stored_); }
  engine::OwnMetrics* own_metrics() noexcept override { return sums_.metrics(); }

  // --- reductions, for the fabric ------------------------------------------------------------------------------
  void taken(PacketId id) noexcept { sums_.taken(id); }
  [[nodiscard]] u64 weight(PacketId id) const noexcept { return sums_.weight(id); }
  [[nodiscard]] bool take_result(PacketId id, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    if (!sums_.is_result(record(id))) return false;
    sums_.deliver(id, terminal, now, hops, serialization);
    return true;
  }
  /// Flits that leave a FIFO pass the crossbar or are written into the central buffer, or added to a sum there; each
  /// output reads its own copy.
  [[nodiscard]] engine::Activity activity_of(u64 written, u64 read, u64 links) const noexcept {
    const u64 crossed = read - stored_;
    return {written + stored_, read + (movements_ - crossed), crossed, links, 0, false};
  }

  // --- what the fabric tells ----------------------------------------------------------------------------------
  void new_head(u32 input, Tick now) noexcept {
    In& in = in_[input];
    const Chunk& chunk = head(input);
    Tick due = 0;
    if (in.mode == Mode::none) {
      in.decided = false;
      due = std::max(decoded_at(input, now), inputs_[input].next);
    } else if (in.mode == Mode::bypass) {
      due = std::max(near(chunk.first, now) + kSetUp, inputs_[input].next);
    } else {
      due = std::max(whole_at(chunk, now), inputs_[input].next + chunk.flits - 1);
    }
    in.ready_at = std::max(due, now + 1);
    input_at(in.ready_at, input, now);
  }

  void pushed(u32, Tick) noexcept {}
  [[nodiscard]] u64 served_from(u32 input, const Chunk& chunk) const noexcept {
    return served_behind(input, chunk.packet);
  }

  void ready(u32 input, Tick now) noexcept {
    In& in = in_[input];
    if (now != in.ready_at) return;  // what it was about has left another way
    const u32 s = input / ports_;
    const u64 bit = bit_of(input % ports_);
    Hot& h = hot_[s];
    wake(s);
    if (in.mode == Mode::bypass) {
      h.streaming |= bit;
      return;
    }
    if (in.mode == Mode::none && !in.decided) {
      decide(input, now);
      if (!in.replicates && !in.combines && set_.bypass != Bypass::never) h.undecided |= bit;
      if (in.write_at > now) {
        in.ready_at = in.write_at;
        input_at(in.write_at, input, now);
        return;
      }
    }
    h.writable |= bit;
    h.no_space &= ~bit;
  }

  void output_ready(u32 output, Tick) noexcept { wake(output / ports_); }
  void credited(u32 output) noexcept {
    const u32 s = output / ports_;
    const u64 bit = bit_of(output % ports_);
    if ((hot_[s].credit_wait & bit) == 0) return;
    hot_[s].credit_wait &= ~bit;
    wake(s);
  }

  void step(u32 s, Tick now) noexcept {
    Hot& h = hot_[s];
    bool more = set_.synchronous ? read_together(s, h, now) : read(s, h, now);
    for (u64 m = h.streaming; m != 0; m &= m - 1) stream(s, first_of(m), now);
    if (h.undecided != 0) pass(s, h, now);
    more |= write(s, h, now);
    if (more) wake_next(s);
  }

  u64 digest_switches() const {
    u64 sum = 0;
    for (u32 s = 0; s < switches_; ++s) {
      const Hot& h = hot_[s];
      Hasher all;
      u64 copies = 0;
      for (u32 w = 0; w < ports_ + sums_.count(); ++w) copies |= in_[writer(s, w)].copies;
      for (const u64 v : {u64{node(s)}, h.bypassed, h.held, u64{h.shared_used}, u64{h.single_used}, copies}) all.add(v);
      sum += all.value();
      for (u32 c = 0; c < set_.chunks; ++c) {
        const ChunkLists::Slot& slot = lists_.slot(s, static_cast<u16>(c));
        if (slot.count != 0) sum += keyed(node(s), slot.packet, slot.part, slot.count);
      }
      for (u32 o = 0; o < ports_; ++o) {
        u32 place = 0;
        const ChunkLists::Output& out = lists_.output(s, o);
        for (u16 at = out.first_p; at != ChunkLists::kNil; at = lists_.np(s, at, o)) {
          sum += keyed(everywhere(s * ports_ + o), lists_.slot(s, at).packet, ++place, out.part);
        }
      }
    }
    for (u32 s = 0; s < switches_; ++s) {
      for (u32 r = 0; r < sums_.count(); ++r) {
        if (sums_.sum(s, r).packet != kNone) sum += keyed(node(s), sums_.sum(s, r).packet, r, sums_.digest_of(s, r));
      }
    }
    for (u32 i = 0; i < inputs_.size(); ++i) {
      if (in_[i].mode != Mode::none)
        sum += keyed(everywhere(i), in_[i].packet, static_cast<u64>(in_[i].mode), in_[i].outputs);
    }
    return sum;
  }

  void hold_switches(engine::Holdings& into) const {
    for (u32 s = 0; s < switches_; ++s) {
      u32 used = 0;
      for (u32 c = 0; c < set_.chunks; ++c) used += lists_.slot(s, static_cast<u16>(c)).count != 0 ? 1U : 0U;
      if (used + lists_.free(s) != set_.chunks)
        into.violations.push_back(fmt::format("switch {} lost chunks", node(s)));
      const u32 held = static_cast<u32>(std::popcount(hot_[s].held));
      const u32 of_sums = chunks_of_sums(s);
      if (used - held - of_sums > hot_[s].shared_used) {
        into.violations.push_back(fmt::format("switch {}: {} chunks are used, {} accounted for", node(s),
                                              used - held - of_sums, hot_[s].shared_used));
      }
      if (of_sums + sums_.partial(s) > set_.sums) {
        into.violations.push_back(fmt::format("switch {}: sums have {} chunks, {} are set apart for them", node(s),
                                              of_sums + sums_.partial(s), set_.sums));
      }
      for (u32 r = 0; r < sums_.count(); ++r) {  // a sum of which something is missing
        if (sums_.sum(s, r).weight != 0 && !sums_.is_whole(s, node(s), r)) {
          count(into, sums_.sum(s, r).packet, sums_.sum(s, r).weight);
        }
      }
      for (u64 i = hot_[s].copying; i != 0; i &= i - 1) {  // of a packet of one chunk: no tail is anywhere else
        const In& in = in_[writer(s, first_of(i))];
        if (in.mode == Mode::write) continue;
        for (u64 m = in.copies; m != 0; m &= m - 1) {
          count(into, in.copy.packet, served_by(s, first_of(m), in.copy.packet));
        }
      }
      for (u32 o = 0; o < ports_; ++o) {
        for_packets(s, o, [&](PacketId id, u32 writer) {
          if (!is_writing(s, writer, id)) count(into, id, served_by(s, o, id));
        });
      }
    }
    sums_.audit(into);
  }

  void waits(std::vector<engine::Wait>& into) const final;

  void show_switches(engine::BlockedView& into) const {
    for (u32 s = 0; s < switches_; ++s) {
      for (u32 i = 0; i < ports_; ++i) {
        if (arrived(into, s * ports_ + i) != 0) show_input(into, s, i);
      }
      show_buffer(into, s);
    }
  }

 private:
  enum class Mode : u8 { none, bypass, write };
  static constexpr u8 kNobody = 0xff;
  enum Account : u8 { kSingle, kReplicated, kUpward, kHeld, kSummed };
  struct In {
    PacketId packet = 0;
    Mode mode = Mode::none;
    bool decided = false;
    bool replicates = false;
    bool combines = false;  ///< it is added to a sum
    u8 account = 0;
    u32 out = 0;  ///< of a packet for one output
    Ways ways;
    u64 outputs = 0;  ///< of the packet that is being written
    Tick ready_at = 0;
    Tick write_at = 0;  ///< its header chunk can be written from then on
    Tick served = 0;
    u64 copies = 0;  ///< outputs that still get a copy of the header chunk
    ChunkLists::Slot copy;
  };
  struct Hot {
    u64 undecided = 0;    ///< inputs with a packet for one output that may pass the crossbar
    u64 streaming = 0;    ///< inputs that pass it, with a chunk that may go
    u64 writable = 0;     ///< inputs with a chunk to write
    u64 no_space = 0;     ///< of these: nothing was read since they found no space
    u64 bypassed = 0;     ///< outputs that an input passes to
    u64 readable = 0;     ///< outputs with a chunk to read
    u64 credit_wait = 0;  ///< outputs that wait for room behind their link
    u64 held = 0;         ///< outputs whose held-back chunk is in use
    u64 copying = 0;      ///< inputs of which outputs still get copies of the header chunk
    u32 shared_used = 0;  ///< chunks used or reserved, but for those held back
    u32 single_used = 0;  ///< of these: by packets for one output
    u32 up_used = 0;      ///< of these: by replicated packets that also go up
    u32 turn = 0;         ///< among outputs that a packet may choose
    u32 copy_turn = 0;    ///< output from which on the next header is written, when each output is taken on its own
    /// Inputs whose header is the oldest that is short of space: of those that only go down, and of the others.
    std::array<u8, 2> short_input{kNobody, kNobody};
  };

  /// What passes the crossbar waits for its output, what found no space in the buffer for the buffer; everything else
  /// at the head of a FIFO is about to go on.
  void show_input(engine::BlockedView& into, u32 s, u32 i) const {
    const In& in = in_[s * ports_ + i];
    const Chunk& chunk = head(s * ports_ + i);
    const engine::Resource here = engine::Resource::input(channel_into(s * ports_ + i));
    if (in.mode == Mode::bypass) {
      show_move(into, here, s * ports_ + in.out, chunk.flits, chunk.packet);
    } else if ((short_of_space(s) >> i & 1U) != 0) {
      const bool known = in.mode == Mode::write && std::has_single_bit(in.outputs);
      into.blocked(here, engine::Resource::memory(node(s)), engine::Why::space, record(chunk.packet),
                   known ? channel_out_of(s * ports_ + first_of(in.outputs)) : kNone);
    }
  }

  /// Inputs with a chunk for the buffer that found no space, or that will find none when it is their turn.
  [[nodiscard]] u64 short_of_space(u32 s) const noexcept {
    const Hot& h = hot_[s];
    u64 inputs = h.no_space & h.writable;
    for (u64 m = has_space(h) ? 0 : h.writable; m != 0; m &= m - 1) {
      const In& in = in_[s * ports_ + first_of(m)];
      if (!in.replicates && !in.combines) inputs |= m & (~m + 1);
    }
    return inputs;
  }

  /// The buffer, and the queues of outputs in it. When it is short of space, it waits for those with an equal share.
  void show_buffer(engine::BlockedView& into, u32 s) const {
    using engine::Resource;
    const u32 used = set_.chunks - lists_.free(s) + sums_.partial(s);
    if (used == 0) return;
    into.fill(Resource::memory(node(s)), used, set_.chunks);
    std::array<u32, 64> chunks{};
    u32 queues = 0;
    u32 all = 0;
    for (u32 o = 0; o < ports_; ++o) {
      chunks[o] = show_queue(into, s, o);
      queues += chunks[o] != 0 ? 1U : 0U;
      all += chunks[o];
    }
    const bool is_short = short_of_space(s) != 0;
    for (u32 o = 0; o < ports_ && is_short; ++o) {
      if (chunks[o] != 0 && chunks[o] * queues >= all) {
        into.blocked(Resource::memory(node(s)), Resource::output(channel_out_of(s * ports_ + o)), engine::Why::space);
      }
    }
  }

  /// Chunks that an output has not read. One that has read all that is there of its packet waits for the input that
  /// has the rest, one behind a packet that passes the crossbar for that packet's input.
  u32 show_queue(engine::BlockedView& into, u32 s, u32 o) const {
    using engine::Resource;
    const ChunkLists::Output& out = lists_.output(s, o);
    if (out.part == 0 && out.queued == 0) return 0;
    const u32 channel = channel_out_of(s * ports_ + o);
    const Resource here = Resource::output(channel);
    u32 chunks = 0;
    const auto add = [&](u16 first) {
      for (u16 at = first; at != ChunkLists::kNil; at = lists_.slot(s, at).nc) ++chunks;
    };
    if (out.part != 0) add(out.first_c);
    for (u16 at = out.first_p; at != ChunkLists::kNil; at = lists_.np(s, at, o)) add(at);
    for_packets(s, o, [&](PacketId id, u32) { show_packet(into, here, id); });
    if (chunks != 0) into.fill(here, chunks, set_.chunks);
    const u16 next = lists_.next(s, o);
    const auto held_by = [&](u32 i, PacketId id) {
      into.blocked(here, Resource::input(channel_into(s * ports_ + i)), engine::Why::held, record(id), channel);
    };
    if (next == ChunkLists::kNil) {
      for_missing(s, out.writer, held_by);
    } else if ((hot_[s].bypassed >> o & 1U) != 0) {
      for (u32 i = 0; i < ports_; ++i) {
        const In& in = in_[s * ports_ + i];
        if (in.mode == Mode::bypass && in.out == o) held_by(i, lists_.slot(s, next).packet);
      }
    } else {
      show_move(into, here, s * ports_ + o, room_for(lists_.slot(s, next)), lists_.slot(s, next).packet);
    }
    return chunks;
  }

  template <class F>
  void for_packets(u32 s, u32 o, F&& f) const {
    const ChunkLists::Output& out = lists_.output(s, o);
    if (out.first_c != ChunkLists::kNil) f(lists_.slot(s, out.first_c).packet, out.writer);
    for (u16 at = out.first_p; at != ChunkLists::kNil; at = lists_.np(s, at, o)) {
      f(lists_.slot(s, at).packet, lists_.slot(s, at).writer);
    }
  }
  [[nodiscard]] bool is_writing(u32 s, u32 w, PacketId id) const noexcept {
    const In& in = in_[writer(s, w)];
    return in.mode == Mode::write && in.packet == id;
  }
  /// The place in `in_` of an input, or of the sum of collective w - ports_.
  [[nodiscard]] std::size_t writer(u32 s, u32 w) const noexcept {
    return w < ports_ ? s * ports_ + w : inputs_.size() + std::size_t{s} * sums_.count() + w - ports_;
  }
  /// Calls f(input, packet) for the inputs that have more of what a writer is writing: itself, or of a sum, those whose
  /// contributions are not whole.
  template <class F>
  void for_missing(u32 s, u32 w, F&& f) const {
    if (in_[writer(s, w)].mode != Mode::write) return;
    if (w < ports_) return f(w, in_[writer(s, w)].packet);
    const u32 r = w - ports_;
    for (u64 m = sums_.place(node(s), r).children & ~sums_.sum(s, r).joined; m != 0; m &= m - 1) {
      f(first_of(m), in_[s * ports_ + first_of(m)].packet);
    }
  }
  /// Chunks in the buffer that all children have brought.
  [[nodiscard]] u32 chunks_of_sums(u32 s) const noexcept {
    u32 chunks = 0;
    for (u32 r = 0; r < sums_.count(); ++r) chunks += sums_.sum(s, r).kept;
    return chunks;
  }

  void decide(u32 input, Tick now) noexcept {
    In& in = in_[input];
    const Chunk& chunk = head(input);
    in.packet = chunk.packet;
    in.decided = true;
    if (sums_.is_contribution(record(chunk.packet))) {
      const ReductionTree::Place& place = sums_.place(node(input / ports_), sums_.collective(record(chunk.packet)));
      in.combines = !std::has_single_bit(place.children);
      in.ways = in.combines ? Ways{} : Ways{place.outputs, 0};
    } else {
      in.combines = false;
      in.ways = ways(input, chunk.packet, chunk.hops);
    }
    in.replicates = in.ways.count() > 1 || (set_.bypass != Bypass::single_output && record(chunk.packet).copies != 0);
    in.write_at = std::max({whole_at(chunk, now), inputs_[input].next + chunk.flits - 1, now});
  }

  // --- outputs -------------------------------------------------------------------------------------------------
  /// One chunk per cycle, to the output that was served longest ago. True: look again in the next cycle.
  [[nodiscard]] bool read(u32 s, Hot& h, Tick now) noexcept {
    bool more = false;
    u64 can = 0;
    u32 best = 0;
    for (u64 m = h.readable & ~h.bypassed & ~h.credit_wait; m != 0; m &= m - 1) {
      const u32 o = first_of(m);
      const Output& out = outputs_[s * ports_ + o];
      if (out.link_free > now) {
        more |= out.link_free == now + 1;
        continue;
      }
      if (!has_room(out, lists_.slot(s, lists_.next(s, o)).flits)) {
        h.credit_wait |= bit_of(o);
        continue;
      }
      if (can == 0 || served_out_[s * ports_ + o] < served_out_[s * ports_ + best]) best = o;
      can |= bit_of(o);
    }
    if (can == 0) return more;
    read_chunk(s, h, best, now);
    return more || (can & (can - 1)) != 0;
  }

  /// Lock-step: all outputs of a worm read the same chunk in the same cycle, of whole worms those that wait longest.
  [[nodiscard]] bool read_together(u32 s, Hot& h, Tick now) noexcept {
    bool more = false;
    u64 ready = 0;
    for (u64 m = h.readable & ~h.bypassed; m != 0; m &= m - 1) {
      const u32 o = first_of(m);
      const Output& out = outputs_[s * ports_ + o];
      if ((h.credit_wait >> o & 1U) != 0) continue;
      if (out.link_free > now) {
        more |= out.link_free == now + 1;
      } else if (!has_room(out, room_for(lists_.slot(s, lists_.next(s, o))))) {
        h.credit_wait |= bit_of(o);
      } else {
        ready |= bit_of(o);
      }
    }
    u64 best = 0;
    for (u64 left = ready; left != 0;) {
      const u64 group = reads_with(s, first_of(left), left);
      left &= ~group;
      const bool whole =
          static_cast<u32>(std::popcount(group)) == lists_.slot(s, lists_.next(s, first_of(group))).branches;
      if (!whole) continue;
      if (best == 0 || served_out_[s * ports_ + first_of(group)] < served_out_[s * ports_ + first_of(best)])
        best = group;
      more |= best != group;
    }
    for (u64 m = best; m != 0; m &= m - 1) read_chunk(s, h, first_of(m), now);
    return more || best != 0;
  }
  /// Those outputs among `among` that read next what output `o` reads next.
  [[nodiscard]] u64 reads_with(u32 s, u32 o, u64 among) const noexcept {
    const ChunkLists::Slot& chunk = lists_.slot(s, lists_.next(s, o));
    if (chunk.branches == 1) return bit_of(o);
    u64 group = 0;
    for (u64 m = among; m != 0; m &= m - 1) {
      const ChunkLists::Slot& other = lists_.slot(s, lists_.next(s, first_of(m)));
      if (other.packet == chunk.packet && other.part == chunk.part) group |= bit_of(first_of(m));
    }
    return group;
  }
  /// Whether an output could read its next chunk as soon as its link is free.
  [[nodiscard]] bool may_read(u32 s, u32 o) const noexcept {
    const u16 next = lists_.next(s, o);
    return next != ChunkLists::kNil && (hot_[s].bypassed >> o & 1U) == 0 &&
           has_room(outputs_[s * ports_ + o], room_for(lists_.slot(s, next)));
  }
  /// Flits that there must be room for behind an output before it reads a chunk.
  [[nodiscard]] u32 room_for(const ChunkLists::Slot& chunk) const noexcept {
    const bool all = set_.arbitration == Arbitration::all_at_once && chunk.branches > 1 && chunk.part == 0;
    return all ? record(chunk.packet).flits : chunk.flits;
  }

  void read_chunk(u32 s, Hot& h, u32 o, Tick now) noexcept {
    const u32 output = s * ports_ + o;
    served_out_[output] = now;
    const ChunkLists::Slot chunk = lists_.slot(s, lists_.next(s, o));
    const bool last = u32{chunk.part} * settings_.chunk + chunk.flits == record(chunk.packet).flits;
    if (lists_.read(s, o, last)) give_back(s, h, chunk, o);
    h.no_space = 0;
    send(output, chunk.packet, chunk.part, chunk.flits, chunk.hops, now, now);
    const bool empty = lists_.next(s, o) == ChunkLists::kNil;
    if (empty) h.readable &= ~bit_of(o);
    // A packet that passes the crossbar leaves its FIFO a cycle before the register is free.
    const Tick free_at = outputs_[output].link_free;
    output_at(last && empty ? std::max(free_at - 1, now + 1) : free_at, output, now);
  }

  void give_back(u32 s, Hot& h, const ChunkLists::Slot& chunk, u32 o) noexcept {
    const u8 account = chunk.account;
    if (account == kHeld) {
      h.held &= ~bit_of(o);
      return;
    }
    if (account == kSummed) {
      const u32 r = chunk.writer - ports_;
      const In& in = in_[writer(s, chunk.writer)];
      if (--sums_.sum(s, r).kept == 0 && in.mode == Mode::none && in.copies == 0) sums_.clear(s, r);
      return;
    }
    --h.shared_used;
    h.single_used -= account == kSingle ? 1U : 0U;
    h.up_used -= account == kUpward ? 1U : 0U;
  }

  // --- the crossbar --------------------------------------------------------------------------------------------
  [[nodiscard]] bool queue_empty(u32 s, u32 o) const noexcept {
    const ChunkLists::Output& out = lists_.output(s, o);
    return out.part == 0 && out.queued == 0;
  }

  void pass(u32 s, Hot& h, Tick now) noexcept {
    for (u64 left = h.undecided; left != 0;) {
      u32 i = first_of(left);
      for (u64 m = left & (left - 1); m != 0; m &= m - 1) {
        if (in_[s * ports_ + first_of(m)].served < in_[s * ports_ + i].served) i = first_of(m);
      }
      left &= ~bit_of(i);
      In& in = in_[s * ports_ + i];
      const u64 wanted = in.ways.down | in.ways.any;
      const u64 idle = idle_outputs(s, h, wanted, head(s * ports_ + i).flits, now);
      if (idle == 0) continue;
      const u32 o = choose(h, idle, in.ways.any != 0);
      h.undecided &= ~bit_of(i);
      h.writable &= ~bit_of(i);
      h.bypassed |= bit_of(o);
      in.mode = Mode::bypass;
      in.out = o;
      in.ready_at = 0;
      in.served = now;
      stream(s, i, now);
    }
  }

  /// Outputs that nobody uses or waits for: those with room behind them, or when there is none, all if that is enough.
  [[nodiscard]] u64 idle_outputs(u32 s, Hot& h, u64 wanted, u32 flits, Tick now) noexcept {
    u64 open = 0;
    u64 full = 0;
    for (u64 m = wanted & ~h.bypassed; m != 0; m &= m - 1) {
      const u32 o = first_of(m);
      const Output& out = outputs_[s * ports_ + o];
      if (out.link_free > now + 1 || !queue_empty(s, o)) continue;
      (has_room(out, flits) ? open : full) |= bit_of(o);
    }
    if (open != 0 || !set_.needs_room) return open != 0 ? open : full;
    h.credit_wait |= full;
    return 0;
  }

  /// One of several outputs, in turn.
  [[nodiscard]] static u32 choose(Hot& h, u64 among, bool free_choice) noexcept {
    if (!free_choice) return first_of(among);
    const u64 later = h.turn < 64 ? among >> h.turn << h.turn : 0;
    const u32 o = first_of(later != 0 ? later : among);
    h.turn = o + 1;
    return o;
  }

  /// The next chunk of a packet that passes the crossbar leaves its FIFO.
  void stream(u32 s, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    In& in = in_[input];
    Hot& h = hot_[s];
    const Chunk chunk = head(input);
    const u32 output = s * ports_ + in.out;
    if (!has_room(outputs_[output], chunk.flits)) {
      h.streaming |= bit_of(i);
      h.credit_wait |= bit_of(in.out);
      return;
    }
    h.streaming &= ~bit_of(i);
    send(output, chunk.packet, chunk.part, chunk.flits, chunk.hops, now + 1, now);
    inputs_[input].next = now + chunk.flits;
    if (is_tail(chunk)) {
      h.bypassed &= ~bit_of(in.out);
      in.mode = Mode::none;
      output_at(now + chunk.flits, output, now);
    }
    pop(input, now, chunk.flits - 1);
  }

  // --- the buffer ----------------------------------------------------------------------------------------------
  /// One chunk per cycle, of the input that was served longest ago. True: look again in the next cycle.
  [[nodiscard]] bool write(u32 s, Hot& h, Tick now) noexcept {
    const bool interleaved = set_.arbitration == Arbitration::per_output;
    if (h.copying != 0 && !interleaved) {
      write_copy(s, h, first_of(h.copying));
      return true;
    }
    for (u64 left = (h.writable & ~h.no_space) | h.copying; left != 0;) {
      u32 i = first_of(left);
      for (u64 m = left & (left - 1); m != 0; m &= m - 1) {
        if (in_[writer(s, first_of(m))].served < in_[writer(s, i)].served) i = first_of(m);
      }
      left &= ~bit_of(i);
      if ((h.copying >> i & 1U) != 0) {
        in_[writer(s, i)].served = now;
        write_copy(s, h, i);
        return true;
      }
      if (!take_space(s, h, i)) {
        h.no_space |= bit_of(i);
        continue;
      }
      in_[s * ports_ + i].served = now;
      in_[s * ports_ + i].combines ? add_chunk(s, h, i, now) : write_chunk(s, h, i, now);
      return true;
    }
    return false;
  }

  /// Finds space for the chunk of an input; a header is decided then.
  [[nodiscard]] bool take_space(u32 s, Hot& h, u32 i) noexcept {
    In& in = in_[s * ports_ + i];
    if (in.combines) {  // the sum has its space; copies of its header go before its further chunks
      const u32 r = sums_.collective(record(in.packet));
      return in_[writer(s, ports_ + r)].copies == 0 && (in.mode == Mode::write || sums_.may_begin(s, r, in.packet));
    }
    if (in.mode == Mode::write) {
      if (!in.replicates) return take_single(h, in, in.out, (lists_.input(s, i).starving & bit_of(in.out)) != 0);
      return set_.rules != Rules::none || take_shared(h, in.account, 1);
    }
    if (in.replicates) return admit(s, h, i);
    const u64 wanted = in.ways.down | in.ways.any;
    const u32 o = std::has_single_bit(wanted) ? first_of(wanted) : shortest(s, h, wanted);
    const bool idle = queue_empty(s, o) && (h.bypassed & bit_of(o)) == 0;
    if (stopped(s, h, i, false) ? !take_held(h, in, o, idle) : !take_single(h, in, o, idle)) return false;
    in.out = o;
    in.outputs = bit_of(o);
    if (in.ways.any != 0) h.turn = o + 1;
    return true;
  }

  /// A packet for one output: of the shared space, or the chunk that is held back for what the output starves for.
  [[nodiscard]] bool take_single(Hot& h, In& in, u32 o, bool starving) noexcept {
    if (has_space(h)) {
      ++h.shared_used;
      ++h.single_used;
      in.account = kSingle;
      return true;
    }
    return take_held(h, in, o, starving);
  }
  [[nodiscard]] bool has_space(const Hot& h) const noexcept {
    return h.single_used < most_single_ && h.single_used + h.up_used < most_up_ && h.shared_used < shared_;
  }
  [[nodiscard]] bool take_held(Hot& h, In& in, u32 o, bool starving) noexcept {
    if (set_.rules != Rules::guarded || !starving || (h.held & bit_of(o)) != 0) return false;
    h.held |= bit_of(o);
    in.account = kHeld;
    return true;
  }
  [[nodiscard]] bool take_shared(Hot& h, u8 account, u32 chunks) noexcept {
    if (h.shared_used + chunks > shared_) return false;
    if (account == kUpward && h.single_used + h.up_used + chunks > most_up_) return false;
    h.shared_used += chunks;
    h.up_used += account == kUpward ? chunks : 0;
    return true;
  }

  /// True when a header that came earlier is short of space. One that also goes up does not stop those that only go
  /// down: they would wait for each other.
  [[nodiscard]] bool stopped(u32 s, const Hot& h, u32 i, bool only_down) const noexcept {
    const auto earlier = [&](u32 other) {
      if (other == kNobody || other == i) return false;
      const Tick mine = in_[s * ports_ + i].write_at;
      const Tick first = in_[s * ports_ + other].write_at;
      return first != mine ? first < mine : other < i;
    };
    return earlier(h.short_input[0]) || (!only_down && earlier(h.short_input[1]));
  }

  /// A packet for several outputs enters when all of it is guaranteed space.
  [[nodiscard]] bool admit(u32 s, Hot& h, u32 i) noexcept {
    In& in = in_[s * ports_ + i];
    const bool up = in.ways.any != 0;
    if (stopped(s, h, i, !up)) return false;
    in.account = up ? kUpward : kReplicated;
    u8& first_short = h.short_input[up ? 1 : 0];
    const u32 headers = set_.separate ? 1 : in.ways.count();
    const u32 rest = set_.rules == Rules::none ? 0 : chunks_of(record(in.packet).flits) - 1;
    if (!take_shared(h, in.account, headers + rest)) {
      first_short = static_cast<u8>(i);
      return false;
    }
    if (first_short == i) {
      first_short = kNobody;
      h.no_space = 0;
    }
    in.outputs = in.ways.down;
    if (in.ways.any != 0) {
      const u32 o = shortest(s, h, in.ways.any);
      in.outputs |= bit_of(o);
      h.turn = o + 1;
    }
    return true;
  }

  /// Of several outputs that with the fewest packets, in turn among equals.
  [[nodiscard]] u32 shortest(u32 s, const Hot& h, u64 among) const noexcept {
    u32 best = 0;
    u32 least = kNone;
    const u64 later = h.turn < 64 ? among >> h.turn << h.turn : 0;
    for (const u64 part : {later, among & ~later}) {
      for (u64 m = part; m != 0; m &= m - 1) {
        const u32 o = first_of(m);
        const ChunkLists::Output& out = lists_.output(s, o);
        const u32 length = out.queued + (out.part != 0 ? 1U : 0U) + static_cast<u32>(h.bypassed >> o & 1U);
        if (length >= least) continue;
        least = length;
        best = o;
      }
    }
    return best;
  }

  void write_chunk(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    const Chunk chunk = head(input);
    h.writable &= ~bit_of(i);
    h.undecided &= ~bit_of(i);
    stored_ += chunk.flits;
    put(s, h, i, chunk, is_tail(chunk));
    inputs_[input].next = now + 1;
    pop(input, now, 0);
  }
  /// Writes a chunk into the queues of its packet's outputs.
  void put(u32 s, Hot& h, u32 w, const Chunk& chunk, bool last) noexcept {
    In& in = in_[writer(s, w)];
    const u8 branches = static_cast<u8>(std::popcount(in.outputs));
    const ChunkLists::Slot what{chunk.packet, ChunkLists::kNil, chunk.part, 1,       chunk.flits,
                                chunk.hops,   in.account,       0,          branches};
    u64 reached = lists_.input(s, w).starving;
    if (chunk.part == 0) {
      const u64 now_written = set_.separate ? in.outputs : next_copy(h, in.outputs);
      lists_.write_header(s, w, now_written, in.outputs, what);
      in.copies = in.outputs & ~now_written;
      in.copy = what;
      if (in.copies != 0) h.copying |= bit_of(w);
      reached = now_written;
      in.packet = chunk.packet;
    } else {
      lists_.write_body(s, w, what);
    }
    h.readable |= readable_of(s, reached);
    in.mode = last ? Mode::none : Mode::write;
    if (last && in.copies == 0) lists_.finish(s, w);
  }
  /// Adds a chunk of a contribution to the sum of its collective. The last child that brings one writes the sum's.
  void add_chunk(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    const Chunk chunk = head(input);
    const bool tail = is_tail(chunk);
    stored_ += chunk.flits;
    h.writable &= ~bit_of(i);
    in_[input].mode = tail ? Mode::none : Mode::write;
    const u32 r = sums_.collective(record(chunk.packet));
    if (sums_.add(s, node(s), r, i, chunk.packet, chunk.hops, tail)) {
      Reductions::Sum& sum = sums_.sum(s, r);
      In& out = in_[writer(s, ports_ + r)];
      out.outputs = sums_.place(node(s), r).outputs;
      out.account = kSummed;
      ++sum.kept;
      put(s, h, ports_ + r, {sum.sent, 0, chunk.part, chunk.flits, sum.hops}, sums_.is_whole(s, node(s), r));
    }
    inputs_[input].next = now + 1;
    pop(input, now, 0);
  }

  /// The outputs of a packet get their copies of the header chunk one by one, ports ascending. When every output is
  /// taken on its own, worms that come together begin at different ones.
  [[nodiscard]] u64 next_copy(Hot& h, u64 left) const noexcept {
    if (set_.arbitration != Arbitration::per_output) return left & (~left + 1);
    const u64 later = h.copy_turn < 64 ? left >> h.copy_turn << h.copy_turn : 0;
    const u32 o = first_of(later != 0 ? later : left);
    h.copy_turn = o + 1;
    return bit_of(o);
  }
  void write_copy(u32 s, Hot& h, u32 i) noexcept {
    In& in = in_[writer(s, i)];
    const u64 bit = next_copy(h, in.copies);
    in.copies &= ~bit;
    lists_.write_header(s, i, bit, lists_.input(s, i).outputs, in.copy);
    h.readable |= readable_of(s, bit);
    if (i >= ports_) ++sums_.sum(s, i - ports_).kept;
    if (in.copies != 0) return;
    if (i >= ports_) h.no_space = 0;  // further chunks of the sum have waited for the copies
    h.copying &= ~bit_of(i);
    if (u32{in.copy.flits} == record(in.copy.packet).flits) lists_.finish(s, i);
  }

  [[nodiscard]] u64 readable_of(u32 s, u64 outputs) const noexcept {
    u64 found = 0;
    for (u64 m = outputs; m != 0; m &= m - 1) {
      if (lists_.next(s, first_of(m)) != ChunkLists::kNil) found |= m & (~m + 1);
    }
    return found;
  }

  BufferSettings set_;
  Reductions sums_;
  u32 shared_ = 0;
  u32 most_up_ = 0;
  u32 most_single_ = 0;
  ChunkLists lists_;
  std::vector<Hot> hot_;  ///< [switch]
  std::vector<In> in_;    ///< [switch * ports + input], and behind them [switch * collectives + collective]: the sums
  std::vector<Tick> served_out_;
  u64 stored_ = 0;  ///< flits that were written into the buffer
};

/// Resources: input FIFOs, outputs and buffers, numbered in this order.
void CentralBuffer::waits(std::vector<engine::Wait>& into) const {
  const u64 outputs = u64{graph_.switches()} * ports_;
  const u64 buffers = 2 * outputs;
  const auto add = [&](u64 waiter, u64 resource, PacketId id, const std::string& text) {
    into.push_back(wait_of(waiter, resource, id, text));
  };
  const auto in_of = [&](u32 input) -> u64 { return everywhere(input); };
  const auto out_of = [&](u32 output) -> u64 { return outputs + everywhere(output); };
  for (u32 s = 0; s < switches_; ++s) {
    const Hot& h = hot_[s];
    for (u32 o = 0; o < ports_; ++o) {
      const u32 output = s * ports_ + o;
      const ChunkLists::Output& out = lists_.output(s, o);
      const u16 next = lists_.next(s, o);
      PacketId first = kNone;
      for_packets(s, o, [&](PacketId id, u32) {
        if (first == kNone) first = id;
      });
      if (first != kNone)
        add(buffers + node(s), out_of(output), first, fmt::format(" is kept for output {}", at(output)));
      if (out.part != 0 && next == ChunkLists::kNil) {
        for_missing(s, out.writer, [&](u32 i, PacketId id) {
          add(out_of(output), in_of(s * ports_ + i), id,
              fmt::format(" holds output {} until input {} has more of it", at(output), at(s * ports_ + i)));
        });
      } else if (next != ChunkLists::kNil && (h.bypassed >> o & 1U) == 0 && outputs_[output].to < kTerminal &&
                 !has_room(outputs_[output], room_for(lists_.slot(s, next)))) {
        add(out_of(output), far_input(output), lists_.slot(s, next).packet,
            fmt::format(" at output {} waits for room behind it", at(output)));
      }
      if (!set_.synchronous || next == ChunkLists::kNil || lists_.slot(s, next).branches == 1) continue;
      const PacketId id = lists_.slot(s, next).packet;
      for (u32 other = 0; other < ports_; ++other) {  // in lock-step, with a branch that cannot go on
        if (other == o) continue;
        const u32 behind = s * ports_ + other;
        u32 place = 0;
        for_packets(s, other, [&](PacketId found, u32) {
          const bool first_there = place++ == 0;
          if (found != id || (first_there && may_read(s, other))) return;
          if (first_there && (h.bypassed >> other & 1U) == 0 && outputs_[behind].to < kTerminal) {
            add(out_of(output), far_input(behind), id,
                fmt::format(" holds output {} and waits for room behind output {}", at(output), at(behind)));
          } else {
            add(out_of(output), out_of(behind), id,
                fmt::format(" holds output {} and waits for output {}", at(output), at(behind)));
          }
        });
      }
    }
    const u64 is_short = short_of_space(s);
    for (u32 i = 0; i < ports_; ++i) {
      const u32 input = s * ports_ + i;
      const In& in = in_[input];
      if (inputs_[input].from == kNone) continue;
      if (inputs_[input].count == 0) {
        if (in.mode == Mode::none || far_output(input) >= kTerminal) continue;
        add(in_of(input), outputs + far_output(input), in.packet,
            fmt::format(" has not arrived as a whole at input {}", at(input)));
        if (in.mode == Mode::bypass) {
          add(out_of(s * ports_ + in.out), in_of(input), in.packet,
              fmt::format(" holds output {} until input {} has more of it", at(s * ports_ + in.out), at(input)));
        }
        continue;
      }
      const PacketId id = head(input).packet;
      if (in.mode == Mode::bypass) {
        add(in_of(input), far_input(s * ports_ + in.out), id,
            fmt::format(" passes from input {} and waits for room", at(input)));
        add(out_of(s * ports_ + in.out), in_of(input), id, fmt::format(" holds output {}", at(s * ports_ + in.out)));
        continue;
      }
      if (in.decided && in.combines) {
        const u32 r = sums_.collective(record(id));
        if (in.mode == Mode::write || sums_.may_begin(s, r, id)) continue;
        for (u64 m = in_[writer(s, ports_ + r)].outputs; m != 0; m &= m - 1) {
          const u32 output = s * ports_ + first_of(m);
          add(in_of(input), out_of(output), id,
              fmt::format(" at input {} waits for the sum before it to leave over output {}", at(input), at(output)));
        }
        continue;
      }
      // One that finds space only has not been written yet: its chunk is not whole, or it is not its turn.
      if ((is_short >> i & 1U) == 0) continue;
      add(in_of(input), buffers + node(s), id, fmt::format(" at input {} waits for space in the buffer", at(input)));
      if (in.mode == Mode::none && in.decided && !in.replicates) {
        for (u64 m = in.ways.down | in.ways.any; m != 0; m &= m - 1) {
          const u32 output = s * ports_ + first_of(m);
          add(in_of(input), out_of(output), id, fmt::format(" at input {} waits for output {}", at(input), at(output)));
        }
      }
    }
  }
}

/// Refuses a buffer in which what the rules hold back or guarantee has no place. `longest`: flits of the longest packet
/// that is replicated; 0: none is.
void check_chunks(const config::Values& values, const WormSettings& worms, const BufferSettings& buffer, u32 ports,
                  u32 longest) {
  const bool guarded = buffer.rules == Rules::guarded;
  if (buffer.sums != 0) {
    // Where something is reduced, the result is replicated: longest != 0.
    const u64 needed =
        buffer.sums + (guarded ? (worms_go_up_through_buffer(worms, buffer) ? 2 : 1) * u64{buffer.reserve} + ports + 1
                               : std::max(buffer.reserve, ports));
    if (needed <= buffer.chunks) return;
    values.fail(
        "chunks",
        fmt::format("sums have {} chunks of their own, so that {} are needed with what is held back for others, "
                    "and the switch has {}",
                    buffer.sums, needed, buffer.chunks),
        fmt::format("use at least {} chunks, or shorter messages", needed));
  }
  if (longest == 0) {
    if (!guarded || buffer.chunks >= ports) return;
    values.fail("chunks",
                fmt::format("a chunk is held back for each of {} outputs, and the switch has {}", ports, buffer.chunks),
                fmt::format("use at least {} chunks", ports));
  }
  if (buffer.rules == Rules::none) {
    if (buffer.separate || buffer.chunks >= ports) return;
    values.fail(
        "chunks",
        fmt::format("a header may need copies for {} outputs, and the switch has {} chunks", ports, buffer.chunks),
        fmt::format("use at least {} chunks, or next_packet_ram = \"per_output\"", ports));
  }
  const u64 packets = guarded && worms_go_up_through_buffer(worms, buffer) ? 2 : 1;
  const u64 needed = packets * buffer.reserve + (guarded ? ports + 1 : 0);
  if (needed <= buffer.chunks) return;
  values.fail("chunks",
              fmt::format("a replicated packet of {} flits needs {} chunks{}, and the switch has {}", longest, needed,
                          guarded ? " with those that are held back for its outputs" : "", buffer.chunks),
              fmt::format("use at least {} chunks, or shorter packets", needed));
}

/// The traffics that reduce, and the space for their sums: per switch and collective the chunks of a message, and
/// copies of its header.
Collectives find_collectives(const config::Values& values, const engine::Builder& builder, const WormSettings& worms,
                             u32 ports, BufferSettings& buffer) {
  Collectives found;
  const core::Graph& graph = builder.topology().graph();
  std::vector<u64> members((graph.terminals() + 63) / 64);
  for (const core::Traffic* const traffic : builder.traffics()) {
    found.number.push_back(traffic->reduces() ? found.count() : kNone);
    if (!traffic->reduces()) continue;
    std::fill(members.begin(), members.end(), 0);
    traffic->members(members);
    const u32 number = static_cast<u32>(found.number.size()) - 1;
    auto tree = reduction_tree(graph, *builder.routing().multicast_routes(), members, number);
    if (!tree) {
      values.fail("name", "no switch is reached by all members of a collective over those by which it reaches them",
                  "use a network whose links lead both ways, as a fat tree, or implementation = \"hardware\"");
    }
    found.traffics.push_back(number);
    found.trees.push_back(std::move(*tree));
    buffer.sums += (traffic->longest_message() + worms.chunk - 1) / worms.chunk - 1 + (buffer.separate ? 1 : ports);
  }
  if (ports + found.count() > 64) {
    values.fail("name",
                fmt::format("{} collectives are reduced at once, and a switch has {} ports", found.count(), ports),
                fmt::format("use at most {} of them with these switches", 64 - ports));
  }
  return found;
}

void install(const config::Values& values, engine::Builder& builder) {
  const core::Graph& graph = builder.topology().graph();
  const WormSettings worms = read_worms(values, builder);
  BufferSettings buffer;
  buffer.chunks = values.natural("chunks");
  const std::string& space = values.text("space");
  buffer.rules = space == "guarded" ? Rules::guarded : space == "guarantee" ? Rules::guarantee : Rules::none;
  const std::string& bypass = values.text("bypass");
  buffer.bypass = bypass == "single_output" ? Bypass::single_output
                  : bypass == "unicast"     ? Bypass::unicast
                                            : Bypass::never;
  buffer.needs_room = values.text("idle_output") == "with_room";
  buffer.separate = values.text("next_packet_ram") == "per_output";
  buffer.synchronous = values.text("replication") == "synchronous";
  const std::string& arbitration = values.text("arbitration");
  buffer.arbitration = arbitration == "per_output"    ? Arbitration::per_output
                       : arbitration == "all_at_once" ? Arbitration::all_at_once
                                                      : Arbitration::in_order;
  const u32 ports = graph.most_ports();
  const u32 longest = builder.longest_message();
  buffer.reserve = (longest + worms.chunk - 1) / worms.chunk - 1 + (buffer.separate ? 1 : ports);
  Collectives collectives = find_collectives(values, builder, worms, ports, buffer);
  check_chunks(values, worms, buffer, ports, replicates(builder) ? longest : 0);
  if (!replicates(builder)) buffer.reserve = 0;
  cut_worms(builder, worms, u64{buffer.chunks} * 17);
  add_worms<CentralBuffer>(builder, worms, std::pair{buffer, std::move(collectives)});
}

using config::Parameter;

core::ZeroLoad zero_load(const config::Values& values, u32 flits) {
  if (values.text("bypass") == "never") {
    return {.unknown = "describes packets that pass an idle switch by its crossbar",
            .remedy = "use bypass = \"single_output\" or \"unicast\""};
  }
  return worm_zero_load(values, flits);
}

}  // namespace

extern const core::SwitchRow row_central_buffer;
const core::SwitchRow row_central_buffer{
    .info =
        {"central_buffer",
         "Buffered wormhole switches with a shared central buffer that replicate multidestination worms",
         "R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing Multidestination Worms in Switch-Based Parallel "
         "Systems: "
         "Architectural Alternatives and their Impact, ISCA-24, 1997; C. B. Stunkel et al., The SP2 High-Performance "
         "Switch, IBM Systems Journal 34(2), 1995",
         {fifo_parameter(64),
          Parameter::integer("chunks", 256).unit("chunks").range(1, 32768).doc("Chunks of the central buffer"),
          chunk_parameter(", so that one chunk written and one read per cycle serve them all"),
          replicate_on_parameter(),
          replication_parameter(", and worms can wedge over several switches unless arbitration is all_at_once"),
          Parameter::choice("arbitration", {"in_order", "per_output", "all_at_once"}, "in_order")
              .doc(
                  "Worms stand in the same order in the queues of all of their outputs; or each output is taken on its "
                  "own, so that two worms can each be first where the other waits; or, for synchronous replication, in "
                  "order, and a worm starts only when there is room for all of it behind all of its outputs"),
          Parameter::choice("space", {"guarded", "guarantee", "none"}, "guarded")
              .doc(
                  "Who may use the buffer: a replicated packet enters only when all of it is guaranteed space, single "
                  "packets leave that space free, and a chunk per output is held back for what that output starves for "
                  "(guarded); the guarantee alone, which can wedge; or whoever comes, which wedges"),
          Parameter::choice("bypass", {"single_output", "unicast", "never"}, "single_output")
              .doc(
                  "Packets that may pass the crossbar to an idle output: all that need one output at the switch; those "
                  "with one destination; or none"),
          Parameter::choice("idle_output", {"uncontended", "with_room"}, "uncontended")
              .doc("An output is idle when no other packet uses it or waits for it, whether or not there is room "
                   "behind it; "
                   "or only when there is also room for the first chunk, so that packets wait in the buffer rather "
                   "than in "
                   "their FIFO. Of several idle outputs one with room is taken either way"),
          Parameter::choice("next_packet_ram", {"shared", "per_output"}, "shared")
              .doc("One next-packet RAM, so that a replicated packet has a copy of its header chunk per output, "
                   "written in "
                   "consecutive cycles; or one per output, so that a single header chunk is enough")}},
    .install = &install,
    .vcs = &one_vc,
    .no_dependencies = "central_buffer moves worms through one buffer per switch that all of its outputs share",
    .most_ports = 64,
    .replicates = true,
    .reduces = true,
    .draws_nothing = true,
    .zero_load = &zero_load,
    .memory = [](const config::Values& values, const core::NetworkSize& size, double shortest) {
      return 4e6 + size.inputs * (1000.0 + 16.0 * values.natural("fifo") / shortest) +
             size.switches * 17.0 * values.natural("chunks");
    }};

}  // namespace banyan::switching::central_buffer
