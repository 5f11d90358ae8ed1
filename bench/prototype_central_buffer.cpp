// Prototype of the central buffer's data layout (Sivaram, Stunkel, Panda, "Implementing Multidestination Worms in
// Switch-Based Parallel Systems", sections 4.1 and 4.2): chunk lists, replicated header chunks and counters, without
// engine, flits or links. What does one flit of one branch cost when only chunks move?
//
// Every cycle at most one chunk is written and one is read, by inputs and outputs that take turns. An input has a chunk
// again 8 cycles after the last, an output's register is empty again 8 cycles after it was filled. Sources are always
// full: the space guarantee decides who enters.
#include <benchmark/benchmark.h>

#include <array>
#include <bit>
#include <utility>
#include <vector>

#include "banyan/base/hash.hpp"
#include "banyan/base/types.hpp"

namespace {

using banyan::i64;
using banyan::mix64;
using banyan::u16;
using banyan::u32;
using banyan::u64;
using banyan::u8;

constexpr u32 kPorts = 8;
constexpr u32 kChunks = 256;
constexpr u32 kFlitsPerChunk = 8;
constexpr u32 kPacketChunks = 8;  ///< 64 flits of 2 bytes
constexpr u16 kNil = 0xffff;

struct Input {
  std::array<u16, kPorts> header{};  ///< copies of the header chunk that the second chunk is linked to
  u16 last_chunk = kNil;
  u8 branches = 0;   ///< outputs of the packet
  u8 headers = 0;    ///< outputs whose header copy is still to be written
  u8 starving = 0;   ///< outputs that have read all that is written
  u8 next_part = 0;  ///< next chunk of the packet; 0: a packet that has not entered
};

struct Output {
  u16 first_packet = kNil;
  u16 last_packet = kNil;
  u16 first_chunk = kNil;
  u8 part = 0;   ///< next chunk of the packet under way; 0: none
  u8 input = 0;  ///< that writes it
};

class Switch {
 public:
  explicit Switch(u64 seed, u32 degree) : seed_(seed), degree_(degree) {
    for (u32 i = 0; i < kChunks; ++i) free_[i] = static_cast<u16>(kChunks - 1 - i);
    for (u32 i = 0; i < kPorts; ++i) new_packet(i);
  }

  void cycle() {
    const u32 slot = now_ % kFlitsPerChunk;
    can_write_ = static_cast<u8>(can_write_ | std::exchange(filled_[slot], u8{0}));
    registers_ = static_cast<u8>(registers_ | std::exchange(emptied_[slot], u8{0}));
    write(slot);
    read(slot);
    ++now_;
  }

  [[nodiscard]] u64 chunks_read() const { return reads_; }
  [[nodiscard]] u64 chunks_written() const { return writes_; }
  [[nodiscard]] bool in_order() const { return in_order_; }

 private:
  [[nodiscard]] static u32 turn(u8 mask, u32 after) {
    return (after + 1 + static_cast<u32>(std::countr_zero(std::rotr(mask, static_cast<int>(after + 1) % 8)))) % kPorts;
  }

  void new_packet(u32 i) {
    Input& in = inputs_[i];
    in = {};
    u64 word = mix64(seed_ + ++packets_);
    while (static_cast<u32>(std::popcount(in.branches)) < degree_) {
      in.branches = static_cast<u8>(in.branches | 1U << (word & 7U));
      word = mix64(word);
    }
    in.headers = in.branches;
  }

  [[nodiscard]] u16 allocate() { return free_[--free_count_]; }

  void write(u32 slot) {
    for (u8 mask = can_write_; mask != 0;) {
      const u32 i = turn(mask, last_writer_);
      Input& in = inputs_[i];
      if (in.next_part == 0 && in.headers == in.branches && !admit(in)) {
        mask = static_cast<u8>(mask & ~(1U << i));  // a header that does not fit stops no body chunk
        continue;
      }
      last_writer_ = i;
      ++writes_;
      if (in.headers != 0) {
        write_header(i);
        if (in.headers != 0) return;  // the next copy takes the next cycle that this input is granted
        in.next_part = 1;
      } else {
        write_body(in);
      }
      can_write_ = static_cast<u8>(can_write_ & ~(1U << i));
      filled_[slot] = static_cast<u8>(filled_[slot] | 1U << i);
      return;
    }
  }

  [[nodiscard]] bool admit(const Input& in) {
    const u32 needed = static_cast<u32>(std::popcount(in.branches)) + kPacketChunks - 1;
    if (free_count_ - reserved_ < needed) return false;
    reserved_ += needed;
    return true;
  }

  void write_header(u32 i) {
    Input& in = inputs_[i];
    const u32 o = static_cast<u32>(std::countr_zero(in.headers));
    in.headers = static_cast<u8>(in.headers & (in.headers - 1U));
    const u16 at = allocate();
    --reserved_;
    next_packet_[at] = kNil;
    next_chunk_[at] = kNil;
    count_[at] = 1;
    owner_[at] = static_cast<u8>(i);
    in.header[o] = at;
    Output& out = outputs_[o];
    (out.first_packet == kNil ? out.first_packet : next_packet_[out.last_packet]) = at;
    out.last_packet = at;
    if (out.part == 0) ready_ = static_cast<u8>(ready_ | 1U << o);
  }

  void write_body(Input& in) {
    const u16 at = allocate();
    --reserved_;
    next_chunk_[at] = kNil;
    count_[at] = static_cast<u8>(std::popcount(in.branches));
    part_[at] = in.next_part;
    if (in.next_part == 1) {
      for (u32 m = in.branches & ~static_cast<u32>(in.starving); m != 0; m &= m - 1) {
        next_chunk_[in.header[static_cast<u32>(std::countr_zero(m))]] = at;
      }
    } else if (in.last_chunk != kNil) {
      next_chunk_[in.last_chunk] = at;
    }
    for (u32 m = in.starving; m != 0; m &= m - 1) outputs_[static_cast<u32>(std::countr_zero(m))].first_chunk = at;
    ready_ = static_cast<u8>(ready_ | in.starving);
    in.starving = 0;
    in.last_chunk = at;
    if (++in.next_part == kPacketChunks) new_packet(owner_of(in));
  }
  [[nodiscard]] u32 owner_of(const Input& in) const { return static_cast<u32>(&in - inputs_.data()); }

  void read(u32 slot) {
    const u8 mask = static_cast<u8>(ready_ & registers_);
    if (mask == 0) return;
    const u32 o = turn(mask, last_reader_);
    last_reader_ = o;
    ++reads_;
    const u8 bit = static_cast<u8>(1U << o);
    registers_ = static_cast<u8>(registers_ & ~bit);
    emptied_[slot] = static_cast<u8>(emptied_[slot] | bit);
    Output& out = outputs_[o];
    u16 at = out.first_chunk;
    if (out.part == 0) {
      at = out.first_packet;
      out.first_packet = next_packet_[at];
      out.input = owner_[at];
    } else {
      in_order_ &= part_[at] == out.part;
    }
    const u16 next = next_chunk_[at];
    const bool last = ++out.part == kPacketChunks;
    out.first_chunk = next;
    if (last) {
      out.part = 0;
      out.first_chunk = kNil;
      if (out.first_packet == kNil) ready_ = static_cast<u8>(ready_ & ~bit);
    } else if (next == kNil) {
      // Its writer sets first_chunk directly.
      Input& in = inputs_[out.input];
      in.starving = static_cast<u8>(in.starving | bit);
      ready_ = static_cast<u8>(ready_ & ~bit);
    }
    if (--count_[at] == 0) {
      free_[free_count_++] = at;
      if (!last && inputs_[out.input].last_chunk == at) inputs_[out.input].last_chunk = kNil;
    }
  }

  // Hot: one line.
  u32 now_ = 0;
  u32 free_count_ = kChunks;
  u32 reserved_ = 0;
  u32 last_writer_ = 0;
  u32 last_reader_ = 0;
  u8 can_write_ = 0xff;
  u8 registers_ = 0xff;  ///< outputs whose register is empty
  u8 ready_ = 0;         ///< outputs with a chunk to read
  bool in_order_ = true;
  std::array<u8, kFlitsPerChunk> filled_{};
  std::array<u8, kFlitsPerChunk> emptied_{};

  std::array<Input, kPorts> inputs_;
  std::array<Output, kPorts> outputs_;
  std::array<u16, kChunks> next_packet_;
  std::array<u16, kChunks> next_chunk_;
  std::array<u8, kChunks> count_;
  std::array<u8, kChunks> part_;
  std::array<u8, kChunks> owner_;
  std::array<u16, kChunks> free_;
  u64 reads_ = 0;
  u64 writes_ = 0;
  u64 packets_ = 0;
  u64 seed_;
  u32 degree_;
};

/// Arguments: outputs per packet, switches that are stepped in turn (1: in the first-level cache).
void central_buffer_chunks(benchmark::State& state) {
  const u32 degree = static_cast<u32>(state.range(0));
  std::vector<Switch> switches;
  for (i64 i = 0; i < state.range(1); ++i) switches.emplace_back(mix64(static_cast<u64>(i)), degree);
  constexpr u32 kCycles = 64;
  for (auto _ : state) {
    for (u32 c = 0; c < kCycles; ++c) {
      for (Switch& s : switches) s.cycle();
    }
  }
  u64 reads = 0;
  u64 writes = 0;
  for (const Switch& s : switches) {
    reads += s.chunks_read();
    writes += s.chunks_written();
    if (!s.in_order()) state.SkipWithError("a chunk was read out of order");
  }
  const double cycles = static_cast<double>(state.iterations()) * kCycles * static_cast<double>(switches.size());
  state.counters["per_flit"] = benchmark::Counter(static_cast<double>(reads * kFlitsPerChunk),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.counters["reads_per_cycle"] = static_cast<double>(reads) / cycles;
  state.counters["writes_per_cycle"] = static_cast<double>(writes) / cycles;
}
BENCHMARK(central_buffer_chunks)->ArgNames({"degree", "switches"})->ArgsProduct({{1, 4}, {1, 48, 640}});

}  // namespace
