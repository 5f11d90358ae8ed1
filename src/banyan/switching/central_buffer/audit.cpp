// What switches with a central buffer show of their state: digest, conservation, who waits for whom.
#include <fmt/core.h>

#include <array>
#include <bit>
#include <string>
#include <vector>

#include "banyan/switching/central_buffer/switches.hpp"

namespace banyan::switching::central_buffer {

/// Calls f(packet, writer) for the packets in the queue of an output.
template <class F>
void CentralBuffer::for_packets(u32 s, u32 o, F&& f) const {
  const ChunkLists::Output& out = lists_.output(s, o);
  if (out.first_c != ChunkLists::kNil) f(lists_.slot(s, out.first_c).packet, out.writer);
  for (u16 at = out.first_p; at != ChunkLists::kNil; at = lists_.np(s, at, o)) {
    f(lists_.slot(s, at).packet, lists_.slot(s, at).writer);
  }
}

/// Calls f(input, packet) for the inputs that have more of what a writer is writing: itself, or of a sum, those whose
/// contributions are not whole.
template <class F>
void CentralBuffer::for_missing(u32 s, u32 w, F&& f) const {
  if (in_[writer(s, w)].mode != Mode::write) return;
  if (w < ports_) return f(w, in_[writer(s, w)].packet);
  const u32 r = w - ports_;
  for (u64 m = sums_.place(node(s), r).children & ~sums_.sum(s, r).joined; m != 0; m &= m - 1) {
    f(first_of(m), in_[s * ports_ + first_of(m)].packet);
  }
}

/// Inputs with a chunk for the buffer that found no space, or that will find none when it is their turn.
u64 CentralBuffer::short_of_space(u32 s) const noexcept {
  const Hot& h = hot_[s];
  u64 inputs = h.no_space & h.writable;
  for (u64 m = space_.has_single(s) ? 0 : h.writable; m != 0; m &= m - 1) {
    const In& in = in_[s * ports_ + first_of(m)];
    if (!in.replicates && !in.combines) inputs |= m & (~m + 1);
  }
  return inputs;
}

/// Whether an output could read its next chunk as soon as its link is free.
bool CentralBuffer::may_read(u32 s, u32 o) const noexcept {
  const u16 next = lists_.next(s, o);
  return next != ChunkLists::kNil && (hot_[s].bypassed >> o & 1U) == 0 &&
         has_room(outputs_[s * ports_ + o], room_for(lists_.slot(s, next)));
}

u64 CentralBuffer::digest_switches() const {
  u64 sum = 0;
  for (u32 s = 0; s < switches_; ++s) {
    Hasher all;
    u64 copies = 0;
    for (u32 w = 0; w < ports_ + sums_.count(); ++w) copies |= in_[writer(s, w)].copies;
    const Space::Used& used = space_.used(s);
    for (const u64 v : {u64{node(s)}, hot_[s].bypassed, used.held, u64{used.shared}, u64{used.single}, copies}) {
      all.add(v);
    }
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

void CentralBuffer::hold_switches(engine::Holdings& into) const {
  for (u32 s = 0; s < switches_; ++s) {
    u32 used = 0;
    for (u32 c = 0; c < set_.chunks; ++c) used += lists_.slot(s, static_cast<u16>(c)).count != 0 ? 1U : 0U;
    if (used + lists_.free(s) != set_.chunks) into.violations.push_back(fmt::format("switch {} lost chunks", node(s)));
    const u32 of_sums = sums_.kept(s);
    const u32 charged = used - static_cast<u32>(std::popcount(space_.used(s).held)) - of_sums;
    if (charged > space_.used(s).shared) {
      into.violations.push_back(
          fmt::format("switch {}: {} chunks are used, {} accounted for", node(s), charged, space_.used(s).shared));
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
      for_packets(s, o, [&](PacketId id, u32 w) {
        const In& in = in_[writer(s, w)];
        if (in.mode != Mode::write || in.packet != id) count(into, id, served_by(s, o, id));
      });
    }
  }
  sums_.audit(into);
}

void CentralBuffer::show_switches(engine::BlockedView& into) const {
  for (u32 s = 0; s < switches_; ++s) {
    for (u32 i = 0; i < ports_; ++i) {
      if (arrived(into, s * ports_ + i) != 0) show_input(into, s, i);
    }
    show_buffer(into, s);
  }
}

/// What passes the crossbar waits for its output, what found no space in the buffer for the buffer; everything else
/// at the head of a FIFO is about to go on.
void CentralBuffer::show_input(engine::BlockedView& into, u32 s, u32 i) const {
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

/// The buffer, and the queues of outputs in it. When it is short of space, it waits for those with an equal share.
void CentralBuffer::show_buffer(engine::BlockedView& into, u32 s) const {
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
u32 CentralBuffer::show_queue(engine::BlockedView& into, u32 s, u32 o) const {
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

}  // namespace banyan::switching::central_buffer
