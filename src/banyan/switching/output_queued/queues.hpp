// The queues of all interchange boxes in one table: FIFOs of S packets, and bits that say where something waits and
// where everything that waits may move.
//
// An output is crowded when it has fewer free places than its box has inputs. A box without such outputs is open: what
// waits at its inputs moves whatever the outputs that it asks for, and nothing has to be compared.
#pragma once

#include <algorithm>
#include <bit>
#include <span>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/switching/output_queued/box_order.hpp"
#include "banyan/switching/output_queued/input_order.hpp"
#include "banyan/switching/output_queued/layout.hpp"

namespace banyan::switching::output_queued {

struct Entry {
  core::PacketId packet;
  u32 route;  ///< lowest bits: output port at the box that the queue feeds; above: the following hops (tagged)
};

class Queues {
 public:
  /// `places`: at most most_places().
  Queues(const Layout& layout, u32 places);

  /// Places of each of so many queues: positions in the table of all are counted in 32 bits.
  [[nodiscard]] static u32 most_places(u64 queues) noexcept {
    return static_cast<u32>((u64{1} << 31U) / std::bit_ceil(queues));
  }

  void reset();
  void archive(Archive& a) { a(rings_, crowded_, closed_, entries_, occupied_, arrived_); }

  [[nodiscard]] u32 places() const noexcept { return places_; }
  [[nodiscard]] u32 count(u32 q) const noexcept { return rings_[q].fill / row_; }
  /// i = 0: the oldest.
  [[nodiscard]] const Entry& entry(u32 q, u32 i) const noexcept {
    return entries_[(rings_[q].tail - rings_[q].fill + i * row_) & wrap_];
  }
  [[nodiscard]] const Entry& head(u32 q) const noexcept { return entry(q, 0); }
  [[nodiscard]] bool has_room(u32 q, u32 packets) const noexcept { return rings_[q].fill + packets * row_ <= full_; }
  /// Bit per input of the box whose queue is not empty. `base`: the queue of its first input.
  [[nodiscard]] u64 waiting(u32 base) const noexcept { return occupied_[base >> 6U] >> (base & 63U) & ports_; }
  /// Bit per terminal: the queue that it empties is not empty.
  [[nodiscard]] std::span<const u64> arrived() const noexcept { return arrived_; }
  /// The table exceeds the cache, so that its memory should be asked for early.
  [[nodiscard]] bool far() const noexcept { return far_; }

  /// Puts a packet into the slot of a terminal, which is empty.
  void fill_slot(u32 q, Entry e) noexcept {
    entries_[q] = e;
    rings_[q].tail = (q + row_) & wrap_;
    rings_[q].fill = row_;
    occupied_[q >> 6U] |= u64{1} << (q & 63U);
  }
  // Every packet passes these two, in so many kinds of boxes that the compiler would give up to expand them in place.
  [[gnu::always_inline]] void append(u32 q, Entry e) noexcept {
    Ring& ring = rings_[q];
    entries_[ring.tail] = e;
    ring.tail = (ring.tail + row_) & wrap_;
    ring.fill += row_;
    if (ring.fill == crowded_from_) [[unlikely]]
      crowd(ring.box);
    mark(q, true);
  }
  /// Takes the oldest packet off. An empty ring restarts at its first place: few cache lines are touched.
  [[gnu::always_inline]] void drop_head(u32 q) noexcept {
    Ring& ring = rings_[q];
    if (ring.fill == crowded_from_) [[unlikely]]
      relieve(ring.box);
    ring.fill -= row_;
    if (ring.fill == 0) {
      ring.tail = q;
      mark(q, false);
    }
  }

  /// Moves on what waits at the open boxes of a group (not BoxOrder::mixed), shifting routes by `tag_bits`. After a
  /// word of inputs it calls after(word, bits of the inputs whose head moved, bits of those that wait at other boxes).
  template <u32 Stride, class After>
  void move_open(const BoxOrder::Group& group, u32 tag_bits, const InputOrder<Stride>& order, After&& after) noexcept {
    if (group.last) {
      far_ ? move_words<Stride, true, true>(group.words, tag_bits, order, after)
           : move_words<Stride, true, false>(group.words, tag_bits, order, after);
    } else {
      far_ ? move_words<Stride, false, true>(group.words, tag_bits, order, after)
           : move_words<Stride, false, false>(group.words, tag_bits, order, after);
    }
  }

 private:
  using InputWord = BoxOrder::InputWord;

  /// A FIFO in the table of entries: `tail` is the index where the next packet goes, `fill` the distance back to the
  /// oldest. Both in units of table rows, so that a step is an addition and a mask.
  struct Ring {
    u32 tail;
    u32 fill;
    u32 box;  ///< whose output it is; one behind the last box for a slot of a terminal
    u32 unused;
  };

  /// Entries that are more than this do not stay in a second-level cache; asking early costs 5 % where they do.
  static constexpr std::size_t kFarBytes = 1U << 19U;

  /// One output more, or less, of a box is crowded.
  void crowd(u32 box) noexcept {
    if (crowded_[box]++ == 0) closed_[box * layout_.stride >> 6U] |= ports_ << (box * layout_.stride & 63U);
  }
  void relieve(u32 box) noexcept {
    if (--crowded_[box] == 0) closed_[box * layout_.stride >> 6U] &= ~(ports_ << (box * layout_.stride & 63U));
  }

  /// Notes whether queue q has packets.
  [[gnu::always_inline]] void mark(u32 q, bool any) noexcept {
    const bool ejection = q >= ejection_base_;
    const u32 bit = ejection ? q - ejection_base_ : q;
    u64& word = ejection ? arrived_[bit >> 6U] : occupied_[bit >> 6U];
    word = (word & ~(u64{1} << (bit & 63U))) | static_cast<u64>(any) << (bit & 63U);
  }

  /// Asks for the memory of the heads of the inputs of a word, or of what they will move into.
  void fetch_heads(InputWord w) const noexcept {
    for (u64 bits = occupied_[w.word] & w.inputs; bits != 0; bits &= bits - 1) {
      __builtin_prefetch(&head(w.word * 64 + static_cast<u32>(std::countr_zero(bits))));
    }
  }
  template <u32 Stride>
  void fetch_targets(InputWord w) const noexcept {
    for (u64 bits = occupied_[w.word] & w.inputs; bits != 0; bits &= bits - 1) {
      const u32 q = w.word * 64 + static_cast<u32>(std::countr_zero(bits));
      const u32 to = layout_.target[(q & ~(Stride - 1)) + (head(q).route & (Stride - 1))];
      if (to != kNone) __builtin_prefetch(&entries_[rings_[to].tail], 1);
    }
  }

  /// All outputs of the boxes lead to terminals (`Last`) or none does. The inputs are gone through as bits, whatever
  /// box they belong to, since how many wait at one box is random and its branch could not be predicted. Everything in
  /// locals: stores to the arrays might alias the members.
  template <u32 Stride, bool Last, bool Far, class After>
  void move_words(std::span<const InputWord> words, u32 tag_bits, const InputOrder<Stride>& inputs,
                  After& after) noexcept {
    const InputOrder<Stride> order = inputs;
    Ring* const rings = rings_.data();
    Entry* const entries = entries_.data();
    u64* const occupied = occupied_.data();
    u64* const arrived = arrived_.data();
    const u32* const targets = layout_.target.data();
    const u32 row = row_;
    const u32 wrap = wrap_;
    const u32 crowded_from = crowded_from_;
    const u32 ejection_base = ejection_base_;
    if constexpr (Far) {
      fetch_heads(words[0]);
      fetch_targets<Stride>(words[0]);
      if (words.size() > 1) fetch_heads(words[1]);
    }
    for (std::size_t i = 0; i < words.size(); ++i) {
      if constexpr (Far) {
        if (i + 2 < words.size()) fetch_heads(words[i + 2]);
        if (i + 1 < words.size()) fetch_targets<Stride>(words[i + 1]);
      }
      const u32 word = words[i].word;
      const u64 waiting = occupied[word] & words[i].inputs;
      const u64 moved = waiting & ~closed_[word];
      u64 emptied = 0;
      for (u64 bits = order.arrange(moved); bits != 0; bits &= bits - 1) {
        const u32 input = order.input(static_cast<u32>(std::countr_zero(bits)));
        const u32 q = word * 64 + input;
        Ring& from = rings[q];
        const u32 tail = from.tail;
        const u32 fill = from.fill;
        const Entry e = entries[(tail - fill) & wrap];
        if (fill == crowded_from) [[unlikely]]
          relieve(from.box);
        // Whether the ring is empty now cannot be predicted: masks instead of branches.
        const u64 empty = u64{0} - static_cast<u64>(fill == row);
        from.fill = fill - row;
        from.tail = tail ^ ((tail ^ q) & static_cast<u32>(empty));
        emptied |= (u64{1} << input) & empty;
        const u32 t = targets[(q & ~(Stride - 1)) + (e.route & (Stride - 1))];
        Ring& to = rings[t];
        entries[to.tail] = {e.packet, e.route >> tag_bits};
        to.tail = (to.tail + row) & wrap;
        to.fill += row;
        if (to.fill == crowded_from) [[unlikely]]
          crowd(to.box);
        if constexpr (Last) {
          arrived[(t - ejection_base) >> 6U] |= u64{1} << ((t - ejection_base) & 63U);
        } else {
          occupied[t >> 6U] |= u64{1} << (t & 63U);
        }
      }
      occupied[word] &= ~emptied;
      after(word, moved, waiting & ~moved);
    }
  }

  const Layout& layout_;
  u32 places_;
  u64 ports_;  ///< the bits of the inputs of a box
  u32 ejection_base_;
  u32 row_;                     ///< entries per depth, a power of two
  u32 wrap_;                    ///< entries in all, less one (a power of two)
  u32 full_;                    ///< Ring::fill of a full queue
  u32 crowded_from_;            ///< Ring::fill from which an output counts as crowded; kNone: from 0 on
  std::vector<Ring> rings_;     ///< [queue]
  std::vector<u32> crowded_;    ///< [box]: crowded outputs; 1 when all always are
  std::vector<u64> closed_;     ///< bit per queue of a box: the box has such outputs
  std::vector<Entry> entries_;  ///< [place * row + queue]: depth-major
  bool far_;
  std::vector<u64> occupied_;  ///< bit per queue of a box: it is not empty
  std::vector<u64> arrived_;   ///< bit per terminal
};

}  // namespace banyan::switching::output_queued
