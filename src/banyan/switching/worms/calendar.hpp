// What is due when in switches that move worms: a wheel whose slots have a place for everything that can happen in a
// cycle, so that nothing has to be looked for. An input or output is told once, however often it asked for that; an
// input gives room back at most once per cycle; and the tail of at most one packet reaches a terminal.
//
// A slot takes memory whether or not anything is due in it, so the wheel covers no more than kSlots cycles. Where links
// are longer, time is cut into blocks of half a wheel: what is due later than in the next block waits in a list of its
// block, and gets its place in the wheel when that block is the next one. Why its own: decision 0011.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::switching {

class WormCalendar {
 public:
  struct Arrival {
    core::PacketId packet = 0;
    u32 way = 0;  ///< cycles from its head to its tail, and switches passed (lower 8 bits)
  };

  /// `horizon`: how far ahead something may be due, exclusive. `ports`: inputs, and outputs.
  WormCalendar(Tick horizon, u32 ports, u32 terminals)
      : slots_(std::min<std::size_t>(std::bit_ceil(horizon), kSlots)),
        ports_(ports),
        terminals_(terminals),
        busy_(slots_),
        inputs_(slots_, ports),
        outputs_(slots_, ports),
        credits_(slots_, ports),
        sources_(slots_, terminals),
        arrivals_(slots_, terminals),
        credit_flits_(slots_ * ports),
        source_flits_(slots_ * terminals),
        arrival_(slots_ * terminals),
        lists_(horizon > kSlots ? std::bit_ceil((horizon >> kBlockBits) + 2) : 0, kNone) {
    begin_block(0);
  }

  void clear() {
    std::fill(lists_.begin(), lists_.end(), kNone);
    later_.clear();
    free_ = kNone;
    begin_block(0);
    waiting_ = 0;
    std::fill(busy_.begin(), busy_.end(), Busy::no);
    for (Bits* const bits : {&inputs_, &outputs_, &credits_, &sources_, &arrivals_}) bits->clear();
    std::fill(credit_flits_.begin(), credit_flits_.end(), u16{0});
    std::fill(source_flits_.begin(), source_flits_.end(), u16{0});
  }
  void archive(Archive& a) {
    a(busy_, inputs_, outputs_, credits_, sources_, arrivals_, credit_flits_, source_flits_, arrival_);
    a(lists_, later_, free_, block_, waiting_);
    begin_block(block_);
  }
  [[nodiscard]] bool empty() const noexcept {
    return waiting_ == 0 && std::all_of(busy_.begin(), busy_.end(), [](Busy busy) { return busy == Busy::no; });
  }

  void input(Tick due, u32 input) noexcept {
    if (is_later(due)) [[unlikely]]
      return wait({due, Kind::input, input, {}});
    inputs_.set(book(due), input);
  }
  void output(Tick due, u32 output) noexcept {
    if (is_later(due)) [[unlikely]]
      return wait({due, Kind::output, output, {}});
    outputs_.set(book(due), output);
  }
  /// Room for `flits` comes back to an output.
  void credit(Tick due, u32 output, u32 flits) noexcept {
    if (is_later(due)) [[unlikely]]
      return wait({due, Kind::credit, output, {flits, 0}});
    const std::size_t slot = book(due);
    credits_.set(slot, output);
    add(credit_flits_[slot * ports_ + output], flits);
  }
  /// A terminal may go on; room for `flits` comes back to it.
  void source(Tick due, u32 t, u32 flits) noexcept {
    if (is_later(due)) [[unlikely]]
      return wait({due, Kind::source, t, {flits, 0}});
    const std::size_t slot = book(due);
    sources_.set(slot, t);
    add(source_flits_[slot * terminals_ + t], flits);
  }
  void arrival(Tick due, u32 t, const Arrival& what) noexcept {
    if (is_later(due)) [[unlikely]]
      return wait({due, Kind::arrival, t, what});
    const std::size_t slot = book(due);
    arrivals_.set(slot, t);
    arrival_[slot * terminals_ + t] = what;
  }

  /// Time has come to `now`: to be called before anything is put in, where take(now) has not been yet.
  void come_to(Tick now) noexcept {
    if (now >= next_block_) [[unlikely]]
      open_blocks(now >> kBlockBits);
  }
  /// True when something is due `now`: each of what follows takes its part, and may put in what is due later. To be
  /// called in every cycle in which anything is put in, and before that.
  [[nodiscard]] bool take(Tick now) noexcept {
    come_to(now);
    return std::exchange(busy_[now & (slots_ - 1)], Busy::no) == Busy::yes;
  }
  template <class F>
  void take_inputs(Tick now, F&& f) noexcept {
    inputs_.take(now & (slots_ - 1), f);
  }
  template <class F>
  void take_outputs(Tick now, F&& f) noexcept {
    outputs_.take(now & (slots_ - 1), f);
  }
  template <class F>
  void take_credits(Tick now, F&& f) noexcept {
    const std::size_t slot = now & (slots_ - 1);
    credits_.take(slot, [&](u32 o) { f(o, emptied(credit_flits_[slot * ports_ + o])); });
  }
  template <class F>
  void take_sources(Tick now, F&& f) noexcept {
    const std::size_t slot = now & (slots_ - 1);
    sources_.take(slot, [&](u32 t) { f(t, emptied(source_flits_[slot * terminals_ + t])); });
  }
  template <class F>
  void take_arrivals(Tick now, F&& f) noexcept {
    const std::size_t slot = now & (slots_ - 1);
    arrivals_.take(slot, [&](u32 t) { f(t, arrival_[slot * terminals_ + t]); });
  }

  /// `f(packet)` for all that are about to arrive.
  template <class F>
  void for_each_arrival(F&& f) const {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      arrivals_.for_each(slot, [&](u32 t) { f(arrival_[slot * terminals_ + t].packet); });
    }
    for_each_later(Kind::arrival, [&](const Later& l) { f(l.what.packet); });
  }

  /// `f(output, flits)` for all room that is on its way back to outputs.
  template <class F>
  void for_each_credit(F&& f) const {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      credits_.for_each(slot, [&](u32 o) { f(o, u32{credit_flits_[slot * ports_ + o]}); });
    }
    for_each_later(Kind::credit, [&](const Later& l) { f(l.entity, l.what.packet); });
  }
  /// The same for credits to terminals.
  template <class F>
  void for_each_source_credit(F&& f) const {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      sources_.for_each(slot, [&](u32 t) { f(t, u32{source_flits_[slot * terminals_ + t]}); });
    }
    for_each_later(Kind::source, [&](const Later& l) { f(l.entity, l.what.packet); });
  }

  /// The next tick after `now` in which something is due; kNever: nothing is.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    const std::size_t slot = now & (slots_ - 1);
    const Busy* const busy = busy_.data();
    if (const void* const at = std::memchr(busy + slot + 1, 1, slots_ - slot - 1)) {
      return now + static_cast<Tick>(static_cast<const Busy*>(at) - busy) - slot;
    }
    if (const void* const at = std::memchr(busy, 1, slot)) {
      return now + static_cast<Tick>(static_cast<const Busy*>(at) - busy) + slots_ - slot;
    }
    return waiting_ == 0 ? kNever : first_later();
  }

 private:
  static constexpr std::size_t kSlots = 512;
  static constexpr u32 kBlockBits = 8;
  static_assert(kSlots == std::size_t{2} << kBlockBits, "the wheel holds this block and the next");

  /// No u8: a store of that type may change any member, which would then be read again.
  enum class Busy : u8 { no, yes };
  enum class Kind : u8 { input, output, credit, source, arrival };
  /// Something that is due later than in the next block.
  struct Later {
    Tick due = 0;
    Kind kind = Kind::input;
    u32 entity = 0;
    Arrival what;  ///< in its first word the flits of a credit
    u32 next = kNone;
  };

  /// A bit per slot and entity.
  class Bits {
   public:
    Bits(std::size_t slots, u32 entities) : words_((entities + 63) / 64), bits_(slots * words_) {}

    void clear() { std::fill(bits_.begin(), bits_.end(), 0); }
    void archive(Archive& a) { a(bits_); }
    void set(std::size_t slot, u32 e) noexcept { bits_[slot * words_ + (e >> 6U)] |= u64{1} << (e & 63U); }
    template <class F>
    void for_each(std::size_t slot, F&& f) const {
      for (std::size_t w = 0; w < words_; ++w) {
        for (u64 m = bits_[slot * words_ + w]; m != 0; m &= m - 1) {
          f(static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(m)));
        }
      }
    }
    template <class F>
    void take(std::size_t slot, F&& f) {
      u64* const word = bits_.data() + slot * words_;
      for (std::size_t w = 0; w < words_; ++w) {
        for (u64 m = std::exchange(word[w], 0); m != 0; m &= m - 1) {
          f(static_cast<u32>(w * 64) + static_cast<u32>(std::countr_zero(m)));
        }
      }
    }

   private:
    std::size_t words_;
    std::vector<u64> bits_;  ///< [slot * words + word]
  };

  /// The slot of a tick, in which something will be due.
  [[nodiscard]] std::size_t book(Tick due) noexcept {
    const std::size_t slot = due & (slots_ - 1);
    busy_[slot] = Busy::yes;
    return slot;
  }
  [[nodiscard]] bool is_later(Tick due) const noexcept { return due >= later_from_; }
  /// Time has come to a block.
  void begin_block(Tick block) noexcept {
    block_ = block;
    next_block_ = lists_.empty() ? kNever : (block + 1) << kBlockBits;
    later_from_ = lists_.empty() ? kNever : (block + 2) << kBlockBits;
  }
  [[nodiscard]] std::size_t list_of(Tick block) const noexcept { return block & (lists_.size() - 1); }
  [[gnu::noinline]] void wait(const Later& what) noexcept {
    u32 id = free_;
    if (id == kNone) {
      id = static_cast<u32>(later_.size());
      later_.push_back(what);
    } else {
      free_ = later_[id].next;
      later_[id] = what;
    }
    later_[id].next = std::exchange(lists_[list_of(what.due >> kBlockBits)], id);
    ++waiting_;
  }
  /// Time has come to a block: what is due in it and in the next one goes into the wheel.
  [[gnu::noinline]] void open_blocks(Tick block) noexcept {
    begin_block(block);
    for (const Tick near : {block, block + 1}) {
      u32 id = std::exchange(lists_[list_of(near)], kNone);
      while (id != kNone) {
        const Later what = later_[id];
        later_[id].next = std::exchange(free_, id);
        --waiting_;
        put(what);
        id = what.next;
      }
    }
  }
  void put(const Later& what) noexcept {
    switch (what.kind) {
      case Kind::input:
        return input(what.due, what.entity);
      case Kind::output:
        return output(what.due, what.entity);
      case Kind::credit:
        return credit(what.due, what.entity, what.what.packet);
      case Kind::source:
        return source(what.due, what.entity, what.what.packet);
      case Kind::arrival:
        return arrival(what.due, what.entity, what.what);
    }
  }
  /// When the first of what waits for its block is due.
  [[nodiscard]] Tick first_later() const noexcept {
    Tick first = kNever;
    for (Tick block = block_ + 2; first == kNever && block < block_ + 2 + lists_.size(); ++block) {
      for (u32 id = lists_[list_of(block)]; id != kNone; id = later_[id].next) first = std::min(first, later_[id].due);
    }
    return first;
  }
  template <class F>
  void for_each_later(Kind kind, F&& f) const {
    for (u32 id : lists_) {
      for (; id != kNone; id = later_[id].next) {
        if (later_[id].kind == kind) f(later_[id]);
      }
    }
  }

  static void add(u16& sum, u32 flits) noexcept { sum = static_cast<u16>(sum + flits); }
  [[nodiscard]] static u32 emptied(u16& sum) noexcept { return std::exchange(sum, u16{0}); }

  std::size_t slots_;
  u32 ports_;
  u32 terminals_;
  std::vector<Busy> busy_;  ///< [slot]: something may be due in it
  Bits inputs_;
  Bits outputs_;
  Bits credits_;
  Bits sources_;
  Bits arrivals_;
  std::vector<u16> credit_flits_;  ///< [slot * ports + output]
  std::vector<u16> source_flits_;  ///< [slot * terminals + terminal]
  std::vector<Arrival> arrival_;   ///< [slot * terminals + terminal]
  // What is due later than in the next block.
  std::vector<u32> lists_;  ///< [block]: the first of its list; empty where the wheel covers everything
  std::vector<Later> later_;
  u32 free_ = kNone;          ///< list of entries that are not used
  Tick block_ = 0;            ///< that time has come to
  Tick next_block_ = kNever;  ///< when the next one begins; kNever: the wheel covers everything
  Tick later_from_ = kNever;  ///< what is due then is beyond the wheel
  u64 waiting_ = 0;
};

}  // namespace banyan::switching
