// Switches with a large FIFO per input that replicate worms at its head (Sivaram, Stunkel, Panda, "Implementing
// Multidestination Worms in Switch-Based Parallel Systems", section 5).
//
// Only the packet at the head of a FIFO is served. A packet for one output passes flit by flit; of a packet for
// several, whole chunks are read by the outputs in turn, each at its own pace, and a chunk leaves when all have read
// it. With synchronous replication (section 3.1) the branches proceed in lock-step instead.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/switching.hpp"
#include "banyan/switching/worms/data_paths.hpp"
#include "banyan/switching/worms/fabric.hpp"

namespace banyan::switching::input_buffer {
namespace {

using core::PacketId;

enum class Arbitration : u8 { oldest_first, per_output, all_at_once };

struct InputSettings {
  bool synchronous = false;
  Arbitration arbitration = Arbitration::oldest_first;
  u32 path = 0;  ///< cycles from a chunk's read to the output's register, beyond those of a chunk-wide path
};

class InputBuffer final : public WormFabric<InputBuffer> {
 public:
  InputBuffer(engine::Builder& builder, u32 shard, const WormSettings& worms, const InputSettings& settings)
      : WormFabric(builder, shard, worms), set_(settings), hot_(switches_), in_(inputs_.size()), out_(outputs_.size()) {
    reserve_packets(builder, 0);
  }

  void reset_switches() {
    for (Hot& h : hot_) h = {};
    for (In& in : in_) in = {};
    for (Out& out : out_) out = {};
  }

  void archive_switches(Archive& a) { a(hot_, in_, out_); }
  /// In lock-step the outputs of a worm take what is read once; otherwise each reads for itself.
  [[nodiscard]] engine::Activity activity_of(u64 written, u64 read, u64 links) const noexcept {
    const bool together = set_.synchronous;
    return {written, together ? read : movements_, movements_, links, 0, false};
  }

  // --- what the fabric tells ----------------------------------------------------------------------------------
  void new_head(u32 input, Tick now) noexcept {
    In& in = in_[input];
    if (in.mode == Mode::replicate) {
      in.left = 0;
      for (u64 m = in.outputs | in.wanted; m != 0; m &= m - 1) {
        in.left += to_read(input, first_of(m)) <= head(input).part ? 1U : 0U;
      }
      in.left += in.any != 0 ? 1U : 0U;
      return;
    }
    const Tick due = in.mode == Mode::none ? decoded_at(input, now) : near(head(input).first, now) + kSetUp;
    in.ready_at = std::max({due, inputs_[input].next, now + 1});
    input_at(in.ready_at, input, now);
  }
  void pushed(u32 input, Tick now) noexcept {
    In& in = in_[input];
    if (!in.ahead) return;
    in.ahead = false;
    input_at(whole_at(entry(input, inputs_[input].count - 1U), now) + 1, input, now);
  }

  void ready(u32 input, Tick now) noexcept {
    In& in = in_[input];
    const u32 s = input / ports_;
    wake(s);
    const u64 bit = bit_of(input % ports_);
    hot_[s].due |= bit;
    if (in.mode == Mode::replicate || now != in.ready_at) return;
    if (in.mode == Mode::single) {
      hot_[s].streaming |= bit;
      return;
    }
    const Ways found = ways(input, head(input).packet, head(input).hops);
    in.packet = head(input).packet;
    in.wanted = found.down;
    in.any = found.any;
    in.outputs = 0;
    in.asked_at = now;
    in.left = found.count();
    in.next_to_read = 0;
    in.mode = found.count() == 1 ? Mode::waiting : Mode::replicate;
    in.ready_at = 0;
    hot_[s].asking |= bit;
    hot_[s].changed = true;
    if (in.mode == Mode::replicate) hot_[s].replicating |= bit;
  }

  void output_ready(u32 output, Tick) noexcept { wake(output / ports_); }
  void credited(u32 output) noexcept {
    const u32 s = output / ports_;
    const u64 bit = bit_of(output % ports_);
    if ((hot_[s].credit_wait & bit) == 0) return;
    hot_[s].credit_wait &= ~bit;
    if (out_[output].owner != kFree) hot_[s].due |= bit_of(out_[output].owner);
    wake(s);
  }

  /// All that it calls is compiled into it: in calls a run takes 3 % more instructions.
  [[gnu::flatten]] void step(u32 s, Tick now) noexcept {
    Hot& h = hot_[s];
    if (h.changed && h.asking != 0) grant(s, h, now);
    for (u64 m = h.streaming; m != 0; m &= m - 1) stream(s, h, first_of(m), now);
    bool more = false;
    for (u64 m = h.replicating & h.due; m != 0; m &= m - 1) {
      const u32 i = first_of(m);
      if (set_.synchronous ? read_all(s, h, i, now) : read(s, h, i, now)) {
        more = true;
      } else {
        h.due &= ~bit_of(i);
      }
    }
    if (more) wake_next(s);
  }

  [[nodiscard]] u64 served_from(u32 input, const Chunk& chunk) const noexcept {
    const In& in = in_[input];
    if (in.mode != Mode::replicate || chunk.packet != in.packet) return served_behind(input, chunk.packet);
    u64 sum = 0;
    const u32 s = input / ports_;
    for (u64 m = in.outputs | in.wanted; m != 0; m &= m - 1) {
      if (to_read(input, first_of(m)) <= chunk.part) sum += served_by(s, first_of(m), chunk.packet);
    }
    return sum + (in.any != 0 ? served_above(s, chunk.packet) : 0);
  }

  u64 digest_switches() const {
    u64 sum = 0;
    for (u32 i = 0; i < in_.size(); ++i) {
      const In& in = in_[i];
      if (in.mode == Mode::none) continue;
      Hasher h;
      for (const u64 v : {u64{everywhere(i)}, static_cast<u64>(in.mode), in.wanted, in.any, in.outputs, u64{in.left}})
        h.add(v);
      sum += keyed(h.value(), in.packet, in.out, in.asked_at);
    }
    for (u32 o = 0; o < out_.size(); ++o) {
      if (out_[o].owner != kFree) sum += mix64(u64{everywhere(o)} << 32U | u64{out_[o].owner} << 16U | out_[o].part);
    }
    return sum;
  }

  void hold_switches(engine::Holdings& into) const {
    for (u32 input = 0; input < in_.size(); ++input) {
      const In& in = in_[input];
      for (u64 m = in.mode == Mode::none ? 0 : in.outputs; m != 0; m &= m - 1) {
        const Out& out = out_[input / ports_ * ports_ + first_of(m)];
        const bool done = in.mode == Mode::replicate && out.owner != input % ports_;
        if (out.owner != input % ports_ && !done) into.violations.push_back("an output does not know its input");
      }
    }
  }

  void waits(std::vector<engine::Wait>& into) const final;

  /// The packet at the head of a FIFO waits for the inputs that hold outputs which it wants, and its branches wait for
  /// room or for their turn.
  void show_switches(engine::BlockedView& into) const {
    using engine::Resource;
    for (u32 input = 0; input < in_.size(); ++input) {
      const In& in = in_[input];
      const u32 there = arrived(into, input);
      if (in.mode == Mode::none || there == 0) continue;
      const u32 base = input / ports_ * ports_;
      const Resource here = Resource::input(channel_into(input));
      for (u64 m = in.wanted | in.any; m != 0; m &= m - 1) {
        const u32 output = base + first_of(m);
        const u32 channel = channel_out_of(output);
        const u8 owner = out_[output].owner;
        if (owner == kFree) {
          into.blocked(here, Resource::port(channel), engine::Why::bandwidth, record(in.packet), channel);
        } else if (base + owner != input) {
          into.blocked(here, Resource::input(channel_into(base + owner)), engine::Why::held, record(in.packet),
                       channel);
        }
      }
      for (u64 m = in.outputs & ~in.done; m != 0; m &= m - 1) {
        const u32 o = first_of(m);
        const bool reads = in.mode == Mode::single || to_read(input, o) < head(input).part + there;
        if (reads) show_move(into, here, base + o, head(input).flits, in.packet);
      }
    }
  }

 private:
  static constexpr u8 kFree = 0xff;
  enum class Mode : u8 { none, waiting, single, replicate };
  struct In {
    PacketId packet = 0;
    Mode mode = Mode::none;
    bool ahead = false;   ///< an output waits for a chunk that is not on its way yet
    u8 next_to_read = 0;  ///< outputs take turns from here on
    u32 out = 0;          ///< of a single packet
    u32 left = 0;         ///< outputs that have not read the chunk at the head
    u64 wanted = 0;       ///< outputs that it waits for
    u64 any = 0;          ///< and one of these
    u64 outputs = 0;      ///< that it got; of a replicated packet also those that are done with it
    u64 done = 0;         ///< outputs that have read all of it
    Tick ready_at = 0;
    Tick asked_at = 0;
  };
  struct Out {
    u8 owner = kFree;  ///< input
    u8 turn = 0;       ///< inputs that it is granted to take turns from here on
    u16 part = 0;      ///< next chunk of a replicated packet
    Tick look_at = 0;  ///< it cannot be read before
  };
  struct Hot {
    u64 asking = 0;        ///< inputs that wait for outputs
    u64 streaming = 0;     ///< inputs with a chunk of a single packet that may go
    u64 replicating = 0;   ///< inputs with a replicated packet at the head
    u64 due = 0;           ///< of these: outputs may have something to read that had nothing
    u64 owned = 0;         ///< outputs
    u64 credit_wait = 0;   ///< outputs that wait for room behind their link
    u32 turn = 0;          ///< among outputs that a packet may choose
    bool changed = false;  ///< somebody asks, or an output is free, that was not there when grants were last made
  };

  /// Next chunk that an output reads of the packet at the head of an input.
  [[nodiscard]] u32 to_read(u32 input, u32 o) const noexcept {
    const In& in = in_[input];
    if ((in.done >> o & 1U) != 0) return kNone;
    return (in.outputs >> o & 1U) != 0 ? out_[input / ports_ * ports_ + o].part : 0;
  }

  // --- grants --------------------------------------------------------------------------------------------------
  void grant(u32 s, Hot& h, Tick now) noexcept {
    h.changed = set_.arbitration == Arbitration::all_at_once;  // who waits for room looks again
    if (set_.arbitration == Arbitration::per_output) return grant_by_output(s, h, now);
    u64 claimed = h.owned;
    for (u64 left = h.asking; left != 0;) {
      u32 i = first_of(left);
      for (u64 m = left & (left - 1); m != 0; m &= m - 1) {
        if (in_[s * ports_ + first_of(m)].asked_at < in_[s * ports_ + i].asked_at) i = first_of(m);
      }
      left &= ~bit_of(i);
      In& in = in_[s * ports_ + i];
      const bool together = set_.arbitration == Arbitration::all_at_once && in.mode == Mode::replicate;
      if (together && !whole_way(s, h, in, claimed)) {
        claimed |= in.wanted;  // who came later does not take from it
        continue;
      }
      for (u64 m = in.wanted & ~claimed; m != 0; m &= m - 1) give(s, h, i, first_of(m), now);
      if ((in.any & ~claimed) != 0) {
        give(s, h, i, choose(s, h, together ? with_room(s, h, in.any & ~claimed, in) : in.any & ~claimed, now), now);
        in.any = 0;
      }
      claimed |= in.outputs & ~in.done;
      if (in.wanted == 0 && in.any == 0) h.asking &= ~bit_of(i);
    }
  }

  /// True when a worm can have all of its outputs, and finds room for all of it behind each.
  [[nodiscard]] bool whole_way(u32 s, Hot& h, const In& in, u64 claimed) const noexcept {
    const u64 free = in.wanted & ~claimed;
    return with_room(s, h, free, in) == in.wanted && (in.any == 0 || with_room(s, h, in.any & ~claimed, in) != 0);
  }
  /// Gives the outputs that have room for all of a worm; the others tell when they have more.
  [[nodiscard]] u64 with_room(u32 s, Hot& h, u64 among, const In& in) const noexcept {
    u64 room = 0;
    for (u64 m = among; m != 0; m &= m - 1) {
      (has_room(outputs_[s * ports_ + first_of(m)], record(in.packet).flits) ? room : h.credit_wait) |= m & (~m + 1);
    }
    return room;
  }

  /// Every output on its own: to the next input in turn that asks for it.
  void grant_by_output(u32 s, Hot& h, Tick now) noexcept {
    for (u32 o = 0; o < ports_; ++o) {
      if ((h.owned >> o & 1U) != 0) continue;
      u64 asking = 0;
      for (u64 m = h.asking; m != 0; m &= m - 1) {
        const In& in = in_[s * ports_ + first_of(m)];
        if (((in.wanted | in.any) >> o & 1U) != 0) asking |= m & (~m + 1);
      }
      if (asking == 0) continue;
      u8& turn = out_[s * ports_ + o].turn;
      const u64 later = turn < 64 ? asking >> turn << turn : 0;
      const u32 i = first_of(later != 0 ? later : asking);
      turn = static_cast<u8>(i + 1);
      In& in = in_[s * ports_ + i];
      if ((in.any >> o & 1U) != 0) in.any = 0;
      give(s, h, i, o, now);
      if (in.wanted == 0 && in.any == 0) h.asking &= ~bit_of(i);
    }
  }

  /// One of several outputs: with room behind it, in turn.
  [[nodiscard]] u32 choose(u32 s, Hot& h, u64 among, Tick now) noexcept {
    u64 good = 0;
    for (u64 m = among; m != 0; m &= m - 1) {
      const Output& out = outputs_[s * ports_ + first_of(m)];
      if (out.link_free <= now + 1 && has_room(out, settings_.chunk)) good |= m & (~m + 1);
    }
    if (good == 0) good = among;
    const u64 later = h.turn < 64 ? good >> h.turn << h.turn : 0;
    const u32 o = first_of(later != 0 ? later : good);
    h.turn = o + 1;
    return o;
  }

  void give(u32 s, Hot& h, u32 i, u32 o, Tick now) noexcept {
    In& in = in_[s * ports_ + i];
    h.owned |= bit_of(o);
    out_[s * ports_ + o].owner = static_cast<u8>(i);
    out_[s * ports_ + o].part = 0;
    out_[s * ports_ + o].look_at = 0;
    in.wanted &= ~bit_of(o);
    in.outputs |= bit_of(o);
    h.due |= bit_of(i);
    if (in.mode != Mode::waiting) return;
    in.mode = Mode::single;
    in.out = o;
    const Tick free_at = outputs_[s * ports_ + o].link_free;
    if (free_at <= now + 1) {
      h.streaming |= bit_of(i);
    } else {  // the last flits of the packet before are still leaving
      in.ready_at = free_at - 1;
      input_at(in.ready_at, s * ports_ + i, now);
    }
  }

  void release(Hot& h, u32 s, u32 o) noexcept {
    h.owned &= ~bit_of(o);
    out_[s * ports_ + o].owner = kFree;
    h.changed = true;
    if (h.asking != 0) wake_next(s);
  }

  // --- transfers -----------------------------------------------------------------------------------------------
  void stream(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    In& in = in_[input];
    const Chunk chunk = head(input);
    const u32 output = s * ports_ + in.out;
    if (!has_room(outputs_[output], chunk.flits)) {
      h.credit_wait |= bit_of(in.out);
      return;
    }
    h.streaming &= ~bit_of(i);
    send(output, chunk, now + 1, now);
    inputs_[input].next = now + chunk.flits;
    if (chunk.last != 0) {
      in.mode = Mode::none;
      in.outputs = 0;
      release(h, s, in.out);
    }
    pop(input, now, chunk.flits - 1);
  }

  /// What keeps an output from reading its next chunk: nothing (0), or something that wakes the switch when it is over.
  enum class Bar : u8 { none, soon, later };
  [[nodiscard]] Bar bar(u32 s, Hot& h, u32 i, u32 o, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    const Output& out = outputs_[s * ports_ + o];
    const u32 n = out_[s * ports_ + o].part - head(input).part;
    if (n >= inputs_[input].count) {
      in_[input].ahead = true;
      return Bar::later;
    }
    const Chunk& chunk = entry(input, n);
    // The crossbar takes a flit the cycle after the way is known, or the chunk is whole.
    const Tick known = std::max(whole_at(chunk, now), in_[input].asked_at) + 1;
    const Tick readable = std::max(known, out.link_free - std::min<Tick>(out.link_free, set_.path));
    if (readable > now) {
      out_[s * ports_ + o].look_at = readable;
      if (readable == now + 1) return Bar::soon;
      input_at(readable, input, now);
      return Bar::later;
    }
    if (has_room(out, chunk.flits)) return Bar::none;
    h.credit_wait |= bit_of(o);
    return Bar::later;
  }

  /// One chunk per input and cycle: the outputs take turns.
  [[nodiscard]] bool read(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    if (inputs_[input].count == 0) {
      in_[input].ahead = true;
      return false;
    }
    bool more = false;
    u64 can = 0;
    for (u64 m = in_[input].outputs & ~in_[input].done & ~h.credit_wait; m != 0; m &= m - 1) {
      if (out_[s * ports_ + first_of(m)].look_at > now) continue;
      const Bar found = bar(s, h, i, first_of(m), now);
      more |= found == Bar::soon;
      can |= found == Bar::none ? m & (~m + 1) : 0;
    }
    if (can == 0) return more;
    const u32 turn = in_[input].next_to_read;
    const u64 later = turn < 64 ? can >> turn << turn : 0;
    const u32 o = first_of(later != 0 ? later : can);
    in_[input].next_to_read = static_cast<u8>(o + 1);
    read_chunk(s, h, i, o, now);
    return more || (can & (can - 1)) != 0;
  }

  /// Lock-step: all outputs read the same chunk in the same cycle.
  [[nodiscard]] bool read_all(u32 s, Hot& h, u32 i, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    In& in = in_[input];
    if (in.wanted != 0 || in.any != 0 || (in.outputs & h.credit_wait) != 0) return false;
    if (inputs_[input].count == 0) {
      in.ahead = true;
      return false;
    }
    bool more = false;
    bool all = true;
    for (u64 m = in.outputs; m != 0; m &= m - 1) {
      const Bar found = bar(s, h, i, first_of(m), now);
      more |= found == Bar::soon;
      all = all && found == Bar::none;
      if (found == Bar::later) return false;
    }
    if (!all) return more;
    for (u64 m = in.outputs; m != 0 && in.mode == Mode::replicate; m &= m - 1) read_chunk(s, h, i, first_of(m), now);
    return true;
  }

  void read_chunk(u32 s, Hot& h, u32 i, u32 o, Tick now) noexcept {
    const u32 input = s * ports_ + i;
    In& in = in_[input];
    Out& out = out_[s * ports_ + o];
    const u32 n = out.part - head(input).part;
    const Chunk chunk = entry(input, n);
    send(s * ports_ + o, chunk, now + set_.path, now);
    ++out.part;
    if (chunk.last != 0) {
      in.done |= bit_of(o);
      release(h, s, o);
    } else {
      out.look_at = now + chunk.flits;  // its register takes the next chunk then
      input_at(out.look_at, input, now);
    }
    if (n != 0 || --in.left != 0) return;
    inputs_[input].next = now + 1;
    if (chunk.last != 0) {
      in.mode = Mode::none;
      in.outputs = in.done = 0;
      in.ahead = false;
      h.replicating &= ~bit_of(i);
    }
    pop(input, now, 0);
  }

  InputSettings set_;
  std::vector<Hot> hot_;  ///< [switch]
  std::vector<In> in_;    ///< [switch * ports + input]
  std::vector<Out> out_;  ///< [switch * ports + output]
};

/// Resources: input FIFOs, then outputs. A worm at the head of a FIFO holds that FIFO and the outputs that it got.
void InputBuffer::waits(std::vector<engine::Wait>& into) const {
  const u64 outputs = u64{graph_.switches()} * ports_;
  const auto add = [&](u64 waiter, u64 resource, PacketId id, const std::string& text) {
    into.push_back(wait_of(waiter, resource, id, text));
  };
  const auto in_of = [&](u32 input) -> u64 { return everywhere(input); };
  const auto out_of = [&](u32 output) -> u64 { return outputs + everywhere(output); };
  for (u32 input = 0; input < in_.size(); ++input) {
    const In& in = in_[input];
    if (in.mode == Mode::none) continue;
    const u32 s = input / ports_;
    for (u64 m = in.wanted | in.any; m != 0; m &= m - 1) {
      const u32 output = s * ports_ + first_of(m);
      add(in_of(input), out_of(output), in.packet,
          fmt::format(" at input {} waits for output {}", at(input), at(output)));
    }
    for (u64 m = in.outputs & ~in.done; m != 0; m &= m - 1) {
      const u32 output = s * ports_ + first_of(m);
      add(out_of(output), in_of(input), in.packet, fmt::format(" at input {} holds output {}", at(input), at(output)));
      if (outputs_[output].to < kTerminal && !has_room(outputs_[output], settings_.chunk)) {
        add(out_of(output), far_input(output), in.packet,
            fmt::format(" at output {} waits for room behind it", at(output)));
        const bool holds_up = inputs_[input].count != 0 && to_read(input, first_of(m)) <= head(input).part;
        if (set_.synchronous || in.mode == Mode::single || holds_up)
          add(in_of(input), far_input(output), in.packet,
              fmt::format(" at input {} waits for room behind output {}", at(input), at(output)));
      }
    }
    const bool whole = inputs_[input].count != 0 && entry(input, inputs_[input].count - 1U).last != 0;
    if (inputs_[input].count == 0 && !whole && far_output(input) < kTerminal) {
      add(in_of(input), outputs + far_output(input), in.packet,
          fmt::format(" has not arrived as a whole at input {}", at(input)));
    }
  }
}

void install(const config::Values& values, engine::Builder& builder) {
  const WormSettings worms = read_worms(values, builder);
  if (values.text("space") == "guaranteed" && builder.replicates() && builder.longest_message() > worms.fifo) {
    values.fail(
        "fifo",
        fmt::format("a replicated packet of {} flits does not fit a FIFO of {}", builder.longest_message(), worms.fifo),
        fmt::format("use a FIFO of at least {} flits, or shorter packets", builder.longest_message()));
  }
  InputSettings settings;
  settings.synchronous = values.text("replication") == "synchronous";
  const std::string& arbitration = values.text("arbitration");
  settings.arbitration = arbitration == "per_output"    ? Arbitration::per_output
                         : arbitration == "all_at_once" ? Arbitration::all_at_once
                                                        : Arbitration::oldest_first;
  const std::string& path = values.text("data_path");
  settings.path = cycles_to_link(path == "chunk_wide"  ? DataPath::chunk_wide
                                 : path == "split_ram" ? DataPath::split_ram
                                                       : DataPath::register_staircase) -
                  1;
  cut_worms(builder, worms);
  add_worms<InputBuffer>(builder, worms, settings);
}

using config::Parameter;

}  // namespace

extern const core::SwitchRow row_input_buffer;
const core::SwitchRow row_input_buffer{
    .info =
        {"input_buffer",
         "Wormhole switches with a large FIFO per input that replicate multidestination worms at its head",
         "R. Sivaram, C. B. Stunkel, D. K. Panda, Implementing Multidestination Worms in Switch-Based Parallel "
         "Systems: "
         "Architectural Alternatives and their Impact, ISCA-24, 1997, section 5",
         {fifo_parameter(320), chunk_parameter(), replicate_on_parameter(), replication_parameter(),
          Parameter::choice("arbitration", {"oldest_first", "per_output", "all_at_once"}, "oldest_first")
              .doc(
                  "Who gets a free output: the packet that asked first, so that two worms never hold what the other "
                  "waits "
                  "for at one switch; the inputs in turn, each output on its own; or, for synchronous replication, the "
                  "oldest too, but worms only that get all of their outputs with room for all of them behind each"),
          Parameter::choice("space", {"guaranteed", "any"}, "guaranteed")
              .doc("Whether packets must fit the FIFO; replicated packets that do not can wedge"),
          Parameter::choice("data_path", {"chunk_wide", "register_staircase", "split_ram"}, "chunk_wide")
              .doc("From FIFO to outputs, in a switch of k ports: k^2 flit-multiplexers (64 for k = 8), all of a chunk "
                   "in a "
                   "cycle; or k^2 + k (72), flit by flit through a staircase of registers or from k narrow RAMs, a "
                   "cycle "
                   "later")}},
    .install = &install,
    .vcs = &one_vc,
    .no_dependencies = "input_buffer replicates worms from the heads of its FIFOs to several outputs at once",
    .most_ports = 64,
    .hides_stages = true,
    .replicates = true,
    .draws_nothing = true,
    .zero_load = &worm_zero_load,
    .memory = [](const config::Values& values, const core::NetworkSize& size, double shortest) {
      return 4e6 + size.inputs * (1100.0 + 16.0 * values.natural("fifo") / shortest);
    }};

}  // namespace banyan::switching::input_buffer
