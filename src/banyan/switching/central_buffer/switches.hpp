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
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/switching/central_buffer/settings.hpp"
#include "banyan/switching/central_buffer/space.hpp"
#include "banyan/switching/worms/chunk_lists.hpp"
#include "banyan/switching/worms/fabric.hpp"
#include "banyan/switching/worms/reductions.hpp"

namespace banyan::switching::central_buffer {

/// The switches of a shard.
class CentralBuffer final : public WormFabric<CentralBuffer> {
 public:
  CentralBuffer(engine::Builder& builder, u32 shard, const WormSettings& worms,
                const std::pair<BufferSettings, std::shared_ptr<const Collectives>>& settings)
      : WormFabric(builder, shard, worms),
        set_(settings.first),
        sums_(builder, shard, settings.second, switches_, ports_),
        lists_(switches_, ports_, set_.chunks, set_.separate, sums_.count()),
        space_(set_, switches_, ports_),
        hot_(switches_),
        in_(inputs_.size() + std::size_t{switches_} * sums_.count()),
        served_out_(outputs_.size()) {
    reserve_packets(builder, u64{switches_} * set_.chunks * worms.chunk);
    // A reduction keeps a packet of every terminal until its end.
    if (sums_.any()) pool_.reserve(pool_.created() + sums_.count() * (local_terminals_ + 2));
  }

  void reset_switches() {
    stored_ = copied_ = shared_ = 0;
    lists_.clear();
    space_.clear();
    for (Hot& h : hot_) h = {};
    for (In& in : in_) in = {};
    std::fill(served_out_.begin(), served_out_.end(), 0);
    sums_.reset();
  }

  void archive_switches(Archive& a) { a(lists_, space_, hot_, in_, served_out_, sums_, stored_, copied_, shared_); }
  engine::OwnMetrics* own_metrics() noexcept override { return sums_.metrics(); }

  // --- reductions, for the fabric ------------------------------------------------------------------------------
  void taken(PacketId id) noexcept { sums_.taken(id); }
  [[nodiscard]] u64 weight(PacketId id) const noexcept { return sums_.weight(id); }
  [[nodiscard]] bool take_result(PacketId id, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
    if (!sums_.is_result(record(id))) return false;
    sums_.deliver(id, terminal, now, hops, serialization);
    return true;
  }
  /// Flits that leave a FIFO pass the crossbar or are written into the central buffer, or added to a sum there, a
  /// header chunk once more for each of its further copies; each output reads for itself, in lock-step all together.
  [[nodiscard]] engine::Activity activity_of(u64 written, u64 read, u64 links) const noexcept {
    const u64 crossed = read - stored_;
    return {written + stored_ + copied_, read + (movements_ - crossed) - shared_, crossed, links, 0, false};
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

  /// All of it in one piece: in calls, as g++ 12 makes it, a run takes 3 % more instructions and 7 % more time.
  [[gnu::flatten]] void step(u32 s, Tick now) noexcept {
    Hot& h = hot_[s];
    bool more = false;
    if ((h.readable & ~h.bypassed & ~h.credit_wait) != 0) {
      more = set_.synchronous ? read_together(s, h, now) : read(s, h, now);
    }
    for (u64 m = h.streaming; m != 0; m &= m - 1) stream(s, first_of(m), now);
    if (h.undecided != 0) pass(s, h, now);
    if ((h.writable | h.copying) != 0) more |= write(s, h, now);
    if (more) wake_next(s);
  }

  // --- what the switches show: audit.cpp -------------------------------------------------------------------------
  [[nodiscard]] u64 digest_switches() const;
  void hold_switches(engine::Holdings& into) const;
  void show_switches(engine::BlockedView& into) const;
  void waits(std::vector<engine::Wait>& into) const override;

 private:
  enum class Mode : u8 { none, bypass, write };
  struct In {
    PacketId packet = 0;
    Mode mode = Mode::none;
    bool decided = false;
    bool replicates = false;
    bool combines = false;  ///< it is added to a sum
    u8 account = 0;         ///< Space::Account
    u32 out = 0;            ///< of a packet for one output
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
    u64 copying = 0;      ///< inputs of which outputs still get copies of the header chunk
    u32 turn = 0;         ///< among outputs that a packet may choose
    u32 copy_turn = 0;    ///< output from which on the next header is written, when each output is taken on its own
  };

  void show_input(engine::BlockedView& into, u32 s, u32 i) const;
  void show_buffer(engine::BlockedView& into, u32 s) const;
  u32 show_queue(engine::BlockedView& into, u32 s, u32 o) const;
  [[nodiscard]] u64 short_of_space(u32 s) const noexcept;
  [[nodiscard]] bool may_read(u32 s, u32 o) const noexcept;
  template <class F>
  void for_packets(u32 s, u32 o, F&& f) const;
  template <class F>
  void for_missing(u32 s, u32 w, F&& f) const;

  /// The place in `in_` of an input, or of the sum of collective w - ports_.
  [[nodiscard]] std::size_t writer(u32 s, u32 w) const noexcept {
    return w < ports_ ? s * ports_ + w : inputs_.size() + std::size_t{s} * sums_.count() + w - ports_;
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
    if (best != 0) {
      const u32 others = static_cast<u32>(std::popcount(best)) - 1;
      shared_ += u64{others} * lists_.slot(s, lists_.next(s, first_of(best))).flits;
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
  /// Flits that there must be room for behind an output before it reads a chunk.
  [[nodiscard]] u32 room_for(const ChunkLists::Slot& chunk) const noexcept {
    const bool all = set_.arbitration == Arbitration::all_at_once && chunk.branches > 1 && chunk.part == 0;
    return all ? record(chunk.packet).flits : chunk.flits;
  }

  void read_chunk(u32 s, Hot& h, u32 o, Tick now) noexcept {
    const u32 output = s * ports_ + o;
    served_out_[output] = now;
    const ChunkLists::Slot chunk = lists_.slot(s, lists_.next(s, o));
    const bool last = chunk.last != 0;
    if (lists_.read(s, o, last)) give_back(s, chunk, o);
    h.no_space = 0;
    send(output, {chunk.packet, 0, chunk.part, chunk.flits, chunk.hops, chunk.last}, now, now);
    const bool empty = lists_.next(s, o) == ChunkLists::kNil;
    if (empty) h.readable &= ~bit_of(o);
    // A packet that passes the crossbar leaves its FIFO a cycle before the register is free.
    const Tick free_at = outputs_[output].link_free;
    output_at(last && empty ? std::max(free_at - 1, now + 1) : free_at, output, now);
  }

  void give_back(u32 s, const ChunkLists::Slot& chunk, u32 o) noexcept {
    if (chunk.account != Space::kSummed) return space_.give_back(s, chunk.account, o);
    const u32 r = chunk.writer - ports_;
    const In& in = in_[writer(s, chunk.writer)];
    if (--sums_.sum(s, r).kept == 0 && in.mode == Mode::none && in.copies == 0) sums_.clear(s, r);
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
    send(output, chunk, now + 1, now);
    inputs_[input].next = now + chunk.flits;
    if (chunk.last != 0) {
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
      if (in.replicates) return space_.take_next(s, in.account);
      return space_.take_single(s, in.out, (lists_.input(s, i).starving & bit_of(in.out)) != 0, in.account);
    }
    if (in.replicates) return admit(s, h, i);
    const u64 wanted = in.ways.down | in.ways.any;
    const u32 o = std::has_single_bit(wanted) ? first_of(wanted) : shortest(s, h, wanted);
    const bool idle = queue_empty(s, o) && (h.bypassed & bit_of(o)) == 0;
    const bool stopped = space_.stopped(s, {in.write_at, i});
    if (stopped ? !space_.take_held(s, o, idle, in.account) : !space_.take_single(s, o, idle, in.account)) return false;
    in.out = o;
    in.outputs = bit_of(o);
    if (in.ways.any != 0) h.turn = o + 1;
    return true;
  }

  /// A packet for several outputs enters when all of it is guaranteed space.
  [[nodiscard]] bool admit(u32 s, Hot& h, u32 i) noexcept {
    In& in = in_[s * ports_ + i];
    const Space::Header header{in.write_at, i, in.ways.any == 0};
    const bool stopped_others = space_.is_short(s, header);
    const u32 copies = set_.separate ? 1 : in.ways.count();
    if (!space_.admit(s, header, copies, chunks_of(record(in.packet).flits) - 1, in.account)) return false;
    if (stopped_others) h.no_space = 0;
    in.outputs = in.ways.down;
    if (in.ways.any != 0) {
      const u32 o = shortest(s, h, in.ways.any);
      in.outputs |= bit_of(o);
      h.turn = o + 1;
    }
    return true;
  }

  /// Gives the output with the fewest packets among several, in turn among equals.
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
    put(s, h, i, chunk);
    inputs_[input].next = now + 1;
    pop(input, now, 0);
  }
  /// Writes a chunk into the queues of its packet's outputs.
  void put(u32 s, Hot& h, u32 w, const Chunk& chunk) noexcept {
    In& in = in_[writer(s, w)];
    const u8 branches = static_cast<u8>(std::popcount(in.outputs));
    const ChunkLists::Slot what{.packet = chunk.packet,
                                .part = chunk.part,
                                .count = 1,
                                .flits = chunk.flits,
                                .hops = chunk.hops,
                                .account = in.account,
                                .branches = branches,
                                .last = static_cast<u8>(chunk.last)};
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
    in.mode = chunk.last != 0 ? Mode::none : Mode::write;
    if (chunk.last != 0 && in.copies == 0) lists_.finish(s, w);
  }
  /// Adds a chunk of a contribution to the sum of its collective. The last child that brings one writes the sum's.
  void add_chunk(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    const Chunk chunk = head(input);
    const bool tail = chunk.last != 0;
    stored_ += chunk.flits;
    h.writable &= ~bit_of(i);
    in_[input].mode = tail ? Mode::none : Mode::write;
    const u32 r = sums_.collective(record(chunk.packet));
    if (sums_.add(s, node(s), r, i, chunk.packet, chunk.hops, tail)) {
      Reductions::Sum& sum = sums_.sum(s, r);
      In& out = in_[writer(s, ports_ + r)];
      out.outputs = sums_.place(node(s), r).outputs;
      out.account = Space::kSummed;
      ++sum.kept;
      put(s, h, ports_ + r, {sum.sent, 0, chunk.part, chunk.flits, sum.hops, sums_.is_whole(s, node(s), r) ? 1U : 0U});
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
    copied_ += in.copy.flits;
    lists_.write_header(s, i, bit, lists_.input(s, i).outputs, in.copy);
    h.readable |= readable_of(s, bit);
    if (i >= ports_) ++sums_.sum(s, i - ports_).kept;
    if (in.copies != 0) return;
    if (i >= ports_) h.no_space = 0;  // further chunks of the sum have waited for the copies
    h.copying &= ~bit_of(i);
    if (in.copy.last != 0) lists_.finish(s, i);
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
  ChunkLists lists_;
  Space space_;
  std::vector<Hot> hot_;  ///< [switch]
  std::vector<In> in_;    ///< [switch * ports + input], and behind them [switch * collectives + collective]: the sums
  std::vector<Tick> served_out_;
  u64 stored_ = 0;  ///< flits that were written into the buffer, each once
  u64 copied_ = 0;  ///< of copies of header chunks beyond the first
  u64 shared_ = 0;  ///< that outputs did not read for themselves, but with another one
};

}  // namespace banyan::switching::central_buffer
