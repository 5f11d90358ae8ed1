// The lists of a central buffer (Sivaram, Stunkel, Panda, sections 4.1 and 4.2): per output a queue of packets by
// next-packet pointers (NP), per packet a list of chunks by next-chunk pointers (NC). Names are those of the paper.
//
// The rules of the paper, and three additions without which a packet is lost:
// - an output that has read a chunk before its successor was written waits for it: the writer sets firstC directly;
// - lastC is cleared when its chunk is freed, so that nothing is linked to a chunk that is somebody else's by then;
// - the second chunk of a packet is linked to all copies of its header chunk.
#pragma once

#include <bit>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::switching {

class ChunkLists {
 public:
  static constexpr u16 kNil = 0xffff;

  struct Slot {
    core::PacketId packet = 0;
    u16 nc = kNil;  ///< NC: next chunk of the packet
    u16 part = 0;   ///< nth chunk of the packet
    u8 count = 0;   ///< c: outputs that have not read it; 0: free
    u8 flits = 0;
    u8 hops = 0;
    u8 account = 0;   ///< what its space was taken from
    u8 writer = 0;    ///< who wrote it
    u8 branches = 1;  ///< outputs of its packet
    u8 last = 0;      ///< 1: the last chunk of its packet
  };
  struct Input {
    u64 starving = 0;   ///< outputs that have read all that is written of its packet
    u64 outputs = 0;    ///< of its packet
    u16 last_c = kNil;  ///< lastC: the last chunk that it wrote and that is still there
    u16 part = 0;       ///< chunks written
  };
  struct Output {
    u16 first_p = kNil;  ///< firstP
    u16 last_p = kNil;   ///< lastP
    u16 first_c = kNil;  ///< firstC: next chunk of the packet under way
    u16 part = 0;        ///< chunks of it that were read; 0: none is under way
    u16 queued = 0;      ///< packets whose header waits
    u8 writer = 0;       ///< input that writes the packet under way
  };

  /// `separate`: a next-packet RAM per output, so that one header chunk stands in several queues; otherwise it has a
  /// copy per queue. `more`: writers of packets beside the inputs, numbered behind them.
  ChunkLists(u32 switches, u32 ports, u32 chunks, bool separate, u32 more = 0)
      : ports_(ports),
        writers_(ports + more),
        chunks_(chunks),
        separate_(separate),
        slots_(std::size_t{switches} * chunks),
        np_(std::size_t{switches} * chunks * (separate ? ports : 1), kNil),
        free_(std::size_t{switches} * chunks),
        free_count_(switches),
        inputs_(std::size_t{switches} * writers_),
        outputs_(std::size_t{switches} * ports),
        header_(std::size_t{switches} * writers_ * ports, kNil) {
    clear();
  }

  void clear() {
    for (Slot& slot : slots_) slot = {};
    for (u16& np : np_) np = kNil;
    for (Input& in : inputs_) in = {};
    for (Output& out : outputs_) out = {};
    for (std::size_t i = 0; i < free_.size(); ++i) free_[i] = static_cast<u16>(chunks_ - 1 - i % chunks_);
    for (u32& count : free_count_) count = chunks_;
  }

  void archive(Archive& a) { a(slots_, np_, free_, free_count_, inputs_, outputs_, header_); }

  [[nodiscard]] u32 free(u32 s) const noexcept { return free_count_[s]; }
  [[nodiscard]] bool separate() const noexcept { return separate_; }
  [[nodiscard]] Input& input(u32 s, u32 i) noexcept { return inputs_[s * writers_ + i]; }
  [[nodiscard]] const Input& input(u32 s, u32 i) const noexcept { return inputs_[s * writers_ + i]; }
  [[nodiscard]] Output& output(u32 s, u32 o) noexcept { return outputs_[s * ports_ + o]; }
  [[nodiscard]] const Output& output(u32 s, u32 o) const noexcept { return outputs_[s * ports_ + o]; }
  [[nodiscard]] Slot& slot(u32 s, u16 at) noexcept { return slots_[std::size_t{s} * chunks_ + at]; }
  [[nodiscard]] const Slot& slot(u32 s, u16 at) const noexcept { return slots_[std::size_t{s} * chunks_ + at]; }
  /// NP of a header chunk, in the queue of an output.
  [[nodiscard]] u16 np(u32 s, u16 at, u32 o) const noexcept { return np_[np_place(s, at, o)]; }

  /// Writes a header chunk that stands in the queues of `outputs` (one of them, unless there are separate next-packet
  /// RAMs). `all`: the outputs of the packet, over all copies.
  u16 write_header(u32 s, u32 i, u64 outputs, u64 all, const Slot& what) {
    const u16 at = allocate(s, i, what);
    slot(s, at).count = static_cast<u8>(std::popcount(outputs));
    Input& in = input(s, i);
    in.outputs = all;
    in.part = 1;
    for (u64 m = outputs; m != 0; m &= m - 1) {
      const u32 o = static_cast<u32>(std::countr_zero(m));
      Output& out = output(s, o);
      (out.first_p == kNil ? out.first_p : np_[np_place(s, out.last_p, o)]) = at;
      out.last_p = at;
      np_[np_place(s, at, o)] = kNil;
      ++out.queued;
      header_[(s * writers_ + i) * ports_ + o] = at;
    }
    in.last_c = at;
    return at;
  }

  /// Writes a further chunk of an input's packet; the outputs that starved for it get it as their firstC.
  u16 write_body(u32 s, u32 i, const Slot& what) {
    const u16 at = allocate(s, i, what);
    Input& in = input(s, i);
    slot(s, at).count = static_cast<u8>(std::popcount(in.outputs));
    if (in.part == 1) {
      for (u64 m = in.outputs & ~in.starving; m != 0; m &= m - 1) {
        slot(s, header_[(s * writers_ + i) * ports_ + static_cast<u32>(std::countr_zero(m))]).nc = at;
      }
    } else if (in.last_c != kNil) {
      slot(s, in.last_c).nc = at;
    }
    for (u64 m = in.starving; m != 0; m &= m - 1) output(s, static_cast<u32>(std::countr_zero(m))).first_c = at;
    in.starving = 0;
    in.last_c = at;
    ++in.part;
    return at;
  }
  /// The input has written the last chunk of its packet.
  void finish(u32 s, u32 i) noexcept {
    input(s, i).last_c = kNil;
    input(s, i).part = 0;
  }

  /// The chunk that an output reads next; kNil: none is there.
  [[nodiscard]] u16 next(u32 s, u32 o) const noexcept {
    const Output& out = output(s, o);
    return out.part == 0 ? out.first_p : out.first_c;
  }
  /// Reads it. `last`: it is the last of its packet. True when the chunk is free now.
  bool read(u32 s, u32 o, bool last) noexcept {
    Output& out = output(s, o);
    const u16 at = next(s, o);
    Slot& chunk = slot(s, at);
    if (out.part == 0) {
      out.first_p = np(s, at, o);
      if (out.first_p == kNil) out.last_p = kNil;
      --out.queued;
      out.writer = chunk.writer;
    }
    out.first_c = last ? kNil : chunk.nc;
    out.part = last ? u16{0} : static_cast<u16>(out.part + 1);
    Input& in = input(s, chunk.writer);
    if (!last && out.first_c == kNil) in.starving |= u64{1} << o;
    if (--chunk.count != 0) return false;
    if (in.last_c == at) in.last_c = kNil;
    free_[std::size_t{s} * chunks_ + free_count_[s]++] = at;
    return true;
  }

 private:
  [[nodiscard]] std::size_t np_place(u32 s, u16 at, u32 o) const noexcept {
    const std::size_t chunk = std::size_t{s} * chunks_ + at;
    return separate_ ? chunk * ports_ + o : chunk;
  }
  u16 allocate(u32 s, u32 i, const Slot& what) noexcept {
    const u16 at = free_[std::size_t{s} * chunks_ + --free_count_[s]];
    Slot& chunk = slot(s, at);
    chunk = what;
    chunk.nc = kNil;
    chunk.writer = static_cast<u8>(i);
    return at;
  }

  u32 ports_;
  u32 writers_;
  u32 chunks_;
  bool separate_;
  std::vector<Slot> slots_;  ///< [switch * chunks + chunk]
  std::vector<u16> np_;      ///< NP [switch * chunks + chunk], times ports when separate
  std::vector<u16> free_;    ///< [switch * chunks + n]: free chunks
  std::vector<u32> free_count_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<u16> header_;  ///< [(switch * writers + writer) * ports + output]: header chunk of the writer's packet
};

}  // namespace banyan::switching
