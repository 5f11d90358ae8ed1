// What is due when in switches that move worms: a wheel whose slots have a place for everything that can happen in a
// cycle, so that nothing is ever allocated. An input or output is told once, however often it asked for that; an
// input gives room back at most once per cycle; and the tail of at most one packet reaches a terminal.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

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
      : slots_(std::bit_ceil(horizon)),
        ports_(ports),
        terminals_(terminals),
        busy_((slots_ + 63) / 64),
        inputs_(slots_, ports),
        outputs_(slots_, ports),
        credits_(slots_, ports),
        sources_(slots_, terminals),
        arrivals_(slots_, terminals),
        credit_flits_(slots_ * ports),
        source_flits_(slots_ * terminals),
        arrival_(slots_ * terminals) {}

  void clear() {
    std::fill(busy_.begin(), busy_.end(), 0);
    busy_slots_ = 0;
    for (Bits* const bits : {&inputs_, &outputs_, &credits_, &sources_, &arrivals_}) bits->clear();
    std::fill(credit_flits_.begin(), credit_flits_.end(), u16{0});
    std::fill(source_flits_.begin(), source_flits_.end(), u16{0});
  }
  [[nodiscard]] bool empty() const noexcept { return busy_slots_ == 0; }

  void input(Tick due, u32 input) noexcept { inputs_.set(book(due), input); }
  void output(Tick due, u32 output) noexcept { outputs_.set(book(due), output); }
  /// Room for `flits` comes back to an output.
  void credit(Tick due, u32 output, u32 flits) noexcept {
    const std::size_t slot = book(due);
    credits_.set(slot, output);
    add(credit_flits_[slot * ports_ + output], flits);
  }
  /// A terminal may go on; room for `flits` comes back to it.
  void source(Tick due, u32 t, u32 flits) noexcept {
    const std::size_t slot = book(due);
    sources_.set(slot, t);
    add(source_flits_[slot * terminals_ + t], flits);
  }
  void arrival(Tick due, u32 t, const Arrival& what) noexcept {
    const std::size_t slot = book(due);
    arrivals_.set(slot, t);
    arrival_[slot * terminals_ + t] = what;
  }

  /// True when something is due `now`: each of what follows takes its part, and may put in what is due later.
  [[nodiscard]] bool take(Tick now) noexcept {
    const std::size_t slot = now & (slots_ - 1);
    const u64 bit = u64{1} << (slot & 63U);
    if ((busy_[slot >> 6U] & bit) == 0) return false;
    busy_[slot >> 6U] &= ~bit;
    --busy_slots_;
    return true;
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
  }

  /// `f(output, flits)` for all room that is on its way back to outputs.
  template <class F>
  void for_each_credit(F&& f) const {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      credits_.for_each(slot, [&](u32 o) { f(o, u32{credit_flits_[slot * ports_ + o]}); });
    }
  }
  /// ... and to terminals.
  template <class F>
  void for_each_source_credit(F&& f) const {
    for (std::size_t slot = 0; slot < slots_; ++slot) {
      sources_.for_each(slot, [&](u32 t) { f(t, u32{source_flits_[slot * terminals_ + t]}); });
    }
  }

  /// The next tick after `now` in which something is due; kNever: nothing is.
  [[nodiscard]] Tick next_after(Tick now) const noexcept {
    if (busy_slots_ == 0) return kNever;
    const std::size_t mask = slots_ - 1;
    for (Tick step = 1; step <= mask;) {
      const std::size_t slot = (now + step) & mask;
      const u64 bits = busy_[slot >> 6U] >> (slot & 63U);
      if (bits != 0) return now + step + static_cast<Tick>(std::countr_zero(bits));
      step += std::min<Tick>(64 - (slot & 63U), mask + 1 - slot);
    }
    return kNever;
  }

 private:
  /// A bit per slot and entity.
  class Bits {
   public:
    Bits(std::size_t slots, u32 entities) : words_((entities + 63) / 64), bits_(slots * words_) {}

    void clear() { std::fill(bits_.begin(), bits_.end(), 0); }
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
    const u64 bit = u64{1} << (slot & 63U);
    if ((busy_[slot >> 6U] & bit) == 0) {
      busy_[slot >> 6U] |= bit;
      ++busy_slots_;
    }
    return slot;
  }
  static void add(u16& sum, u32 flits) noexcept { sum = static_cast<u16>(sum + flits); }
  [[nodiscard]] static u32 emptied(u16& sum) noexcept { return std::exchange(sum, u16{0}); }

  std::size_t slots_;
  u32 ports_;
  u32 terminals_;
  std::vector<u64> busy_;  ///< bit per slot
  std::size_t busy_slots_ = 0;
  Bits inputs_;
  Bits outputs_;
  Bits credits_;
  Bits sources_;
  Bits arrivals_;
  std::vector<u16> credit_flits_;  ///< [slot * ports + output]
  std::vector<u16> source_flits_;  ///< [slot * terminals + terminal]
  std::vector<Arrival> arrival_;   ///< [slot * terminals + terminal]
};

}  // namespace banyan::switching
