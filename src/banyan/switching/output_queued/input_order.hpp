// In which order a buffer queues what it takes in one cycle. In that of the inputs' numbers, the first input of a box
// would have the shortest delay and the last one the longest: equals are queued at random.
#pragma once

#include <array>
#include <numeric>
#include <utility>

#include "banyan/base/hash.hpp"
#include "banyan/base/rng.hpp"

namespace banyan::switching::output_queued {

/// An order of the inputs of a box, the same for all boxes in a cycle, another one in every cycle: each of the Stride!
/// orders is equally likely, and which of two inputs comes first does not depend on any other cycle.
template <u32 Stride>
class InputOrder {
 public:
  /// Orders for a run of a session. Until at() is called it is that of the numbers.
  void reset(const Random& random) noexcept {
    random_ = random;
    drawn_ = kNever;
    std::iota(input_.begin(), input_.end(), u8{0});
    std::iota(place_.begin(), place_.end(), u8{0});
  }

  /// The order of a cycle. A permutation is drawn for kCycles of them; in each, bits of its places are flipped, which
  /// makes all pairs of inputs change at random.
  void at(Tick now) noexcept {
    if (drawn_ != now / kCycles) draw(now / kCycles);
    const u32 flip = random_.at(kFlips, now)[0] & (Stride - 1);
    for (u32 place = 0; place < Stride; ++place) input_[place] = permutation_[place ^ flip];
    if constexpr (!kByPlace) {
      for (u32 place = 0; place < Stride; ++place) place_[input_[place]] = static_cast<u8>(place);
    }
  }

  /// Bits of inputs, of whole boxes or of one from bit 0 on, as bits of their places in the order of their box.
  [[nodiscard, gnu::always_inline]] u64 arrange(u64 inputs) const noexcept {
    u64 places = 0;
    if constexpr (kByPlace) {
      for (u32 place = 0; place < Stride; ++place) places |= (inputs >> input_[place] & kFirst) << place;
    } else {
      for (; inputs != 0; inputs &= inputs - 1) {
        const u32 bit = static_cast<u32>(std::countr_zero(inputs));
        places |= u64{1} << ((bit & ~(Stride - 1)) | place_[bit & (Stride - 1)]);
      }
    }
    return places;
  }
  /// The bit of the input that is at this bit of arrange().
  [[nodiscard, gnu::always_inline]] u32 input(u32 place) const noexcept {
    return (place & ~(Stride - 1)) | input_[place & (Stride - 1)];
  }

 private:
  static constexpr u64 kFirst = ~u64{0} / (~u64{0} >> (64 - Stride));  ///< bits of the first inputs of all boxes
  static constexpr bool kByPlace = Stride <= 8;                        ///< less work than bit by bit
  static constexpr Tick kCycles = 64;  ///< for which a permutation is drawn: then it costs an instruction per input
  static constexpr u64 kPermutations = 0;
  static constexpr u64 kFlips = 1;

  [[gnu::noinline]] void draw(Tick nth) noexcept {
    drawn_ = nth;
    const Words words = random_.at(kPermutations, nth);
    u64 state = u64{words[0]} << 32U | words[1];
    std::iota(permutation_.begin(), permutation_.end(), u8{0});
    for (u32 left = Stride; left > 1; --left) {
      state = mix64(state + left);
      std::swap(permutation_[left - 1], permutation_[below(static_cast<u32>(state >> 32U), left)]);
    }
  }

  Random random_;
  Tick drawn_ = kNever;
  std::array<u8, Stride> permutation_{};
  std::array<u8, Stride> input_{};  ///< [place]
  std::array<u8, Stride> place_{};  ///< [input]
};

}  // namespace banyan::switching::output_queued
