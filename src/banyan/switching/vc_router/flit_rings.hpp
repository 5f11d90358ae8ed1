// Private buffers of virtual channels: one ring of packed flits each, for all switches of a shard in one array.
#pragma once

#include <algorithm>
#include <utility>

#include "banyan/base/archive.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::switching::parts {

/// A flit in a buffer: half its size on a wire. Its virtual channel is the buffer's. A head, whose place in the packet
/// is 0, has its destination there.
class BufferedFlit {
 public:
  /// Terminals whose numbers find room in a head: those of larger networks stand in the packet's record only.
  static constexpr u32 kMostTerminals = 1U << 16U;

  static BufferedFlit pack(const core::Flit& flit) noexcept {
    BufferedFlit packed;
    const u16 place = (flit.flags & core::kHead) != 0 ? static_cast<u16>(flit.destination) : flit.sequence;
    packed.word_ = u64{flit.packet} | u64{place} << 32U | u64{flit.flags} << 48U | u64{flit.auxiliary} << 50U;
    return packed;
  }
  /// The destination of a head; only in networks of at most kMostTerminals.
  [[nodiscard]] u32 destination() const noexcept { return static_cast<u16>(word_ >> 32U); }
  [[nodiscard]] core::PacketId packet() const noexcept { return static_cast<core::PacketId>(word_); }
  [[nodiscard]] u8 flags() const noexcept { return static_cast<u8>(word_ >> 48U & 3U); }
  [[nodiscard]] u16 hops() const noexcept { return static_cast<u16>(word_ >> 50U); }
  /// The same flit, having passed one switch more.
  [[nodiscard]] BufferedFlit passed_on() const noexcept {
    BufferedFlit next;
    next.word_ = word_ + (u64{1} << 50U);
    return next;
  }
  /// The flit on virtual channel `vc`, when it has passed one switch more.
  [[nodiscard]] core::Flit unpack(u8 vc) const noexcept {
    core::Flit flit;
    flit.packet = packet();
    flit.auxiliary = static_cast<u16>(hops() + 1U);
    flit.vc = vc;
    flit.flags = flags();
    if ((flit.flags & core::kHead) != 0) {
      flit.destination = destination();
    } else {
      flit.sequence = static_cast<u16>(word_ >> 32U);
    }
    return flit;
  }

 private:
  u64 word_ = 0;  ///< packet, sequence or destination << 32, core::FlitFlag << 48, hops << 50: one access to the memory
};
static_assert(sizeof(BufferedFlit) == 8);

/// Place and number of the flits of one ring; lies with the other state of its virtual channel.
/// N: for up to as many places as it counts.
template <class N>
struct RingStateOf {
  N head = 0;
  N count = 0;
};

/// Places that all exist. The i-th places of all rings of a switch are neighbours, and so are the i-th places of all
/// switches: under light load, when rings hold one flit, few cache lines and few pages are touched.
class AllPlaces {
 public:
  static constexpr bool kLends = false;

  AllPlaces(std::size_t rings, u32 places) : plane_(rings), flits_(rings * places) {}

  /// The array alone, for a loop that writes to other memory too.
  struct Access {
    BufferedFlit* flits;
    std::size_t plane;
    [[nodiscard]] BufferedFlit* cell(std::size_t ring, u32 place) const noexcept {
      return flits + plane * place + ring;
    }
  };
  [[nodiscard]] Access access() noexcept { return {flits_.data(), plane_}; }
  [[nodiscard]] const BufferedFlit* cell(std::size_t ring, u32 place) const noexcept {
    return &flits_[plane_ * place + ring];
  }
  void reset() noexcept {}
  void archive(Archive& a) { a(flits_); }

 private:
  std::size_t plane_;
  PageVector<BufferedFlit> flits_;
};

/// Places for networks that take much memory: a ring has the first and the last ones always, and kGroup of them between
/// from when it needs one of these until it begins anew. At any time few rings hold more than two flits, but in a long
/// run nearly all do at some time (docs/decisions/0016-places-that-are-lent.md).
class LentPlaces {
 public:
  static constexpr bool kLends = true;
  static constexpr u32 kFirst = 2;  ///< places in front of the group
  static constexpr u32 kGroup = 6;  ///< most places of a group
  /// Of a ring, so that a number of 16 bits has a bit beside the place.
  static constexpr u32 kMostPlaces = 0x8000;

  LentPlaces(std::size_t rings, u32 places)
      : plane_(rings),
        width_(std::min(kGroup, places - std::min(places, kFirst))),
        flits_(rings * (places - width_)),
        group_of_(width_ == 0 ? 0 : rings),
        groups_((group_of_.size() + 1) * width_),
        free_(group_of_.size()) {}

  struct Access {
    BufferedFlit* flits;
    std::size_t plane;
    BufferedFlit* groups;
    const u32* group_of;
    u32 width;
    [[nodiscard]] BufferedFlit* cell(std::size_t ring, u32 place) const noexcept {
      if (place < kFirst) [[likely]]
        return flits + plane * place + ring;
      if (place < kFirst + width) return groups + std::size_t{group_of[ring]} * width + (place - kFirst);
      return flits + plane * (place - width) + ring;
    }
  };
  [[nodiscard]] Access access() noexcept { return {flits_.data(), plane_, groups_.data(), group_of_.data(), width_}; }
  [[nodiscard]] const BufferedFlit* cell(std::size_t ring, u32 place) const noexcept {
    return const_cast<LentPlaces*>(this)->access().cell(ring, place);
  }
  [[nodiscard]] bool has_group(std::size_t ring) const noexcept { return width_ != 0 && group_of_[ring] != 0; }
  /// Where it stands which group the ring has, and those behind it.
  [[nodiscard]] const u32* group_of(std::size_t ring) const noexcept { return group_of_.data() + ring; }
  /// Gives the ring a group. Requires that it has none, and more than kFirst places.
  void lend(std::size_t ring) noexcept { group_of_[ring] = free_count_ != 0 ? free_[--free_count_] : ++made_; }
  /// Takes its group back: the ring is empty, and nothing is on the way to it.
  void take_back(std::size_t ring) noexcept { free_[free_count_++] = std::exchange(group_of_[ring], 0); }

  void reset() noexcept {
    if (made_ != 0) std::fill(group_of_.begin(), group_of_.end(), 0);
    made_ = free_count_ = 0;
  }
  void archive(Archive& a) {
    a(flits_, group_of_, made_, free_count_);
    if (std::max(made_, free_count_) > group_of_.size()) throw ArchiveMismatch("more places are lent than there are");
    a.row(groups_.data(), (std::size_t{made_} + 1) * width_);
    a.row(free_.data(), free_count_);
  }

 private:
  std::size_t plane_;
  u32 width_;                        ///< places of a group
  PageVector<BufferedFlit> flits_;   ///< [place * rings + ring], without those of groups
  PageVector<u32> group_of_;         ///< [ring]; 0: it has none
  PageVector<BufferedFlit> groups_;  ///< [group * width + place - kFirst]; what was never lent takes no memory
  PageVector<u32> free_;             ///< [0, free_count_): groups that were taken back, the last on top
  u32 made_ = 0;                     ///< groups that were ever lent: 1 to made_
  u32 free_count_ = 0;
};

/// The rings of `groups` switches with `rings` rings each, `places` flits in every ring.
template <class Places>
class FlitRingsOf {
 public:
  static constexpr bool kLends = Places::kLends;

  FlitRingsOf(std::size_t groups, u32 rings, u32 places)
      : rings_(rings), places_(places), cells_(groups * rings, places) {}

  /// The arrays alone, for a loop that writes to other memory too. Rings are counted over all groups.
  struct Access {
    typename Places::Access cells;
    u32 places;

    [[nodiscard]] u32 after(u32 place) const noexcept { return place + 1U == places ? 0U : place + 1U; }
    void put(std::size_t ring, u32 place, BufferedFlit flit) const noexcept { *cells.cell(ring, place) = flit; }
    /// Requires state.count > 0. What was taken stays where it was until something is put there.
    template <class N>
    const BufferedFlit* pop(std::size_t ring, RingStateOf<N>& state) const noexcept {
      const u32 head = state.head;
      state.head = static_cast<N>(after(head));
      --state.count;
      return cells.cell(ring, head);
    }
  };
  [[nodiscard]] Access access() noexcept { return {cells_.access(), places_}; }
  /// For a sender that puts flits into places itself: where the places are lent, it asks for them.
  [[nodiscard]] Places& cells() noexcept { return cells_; }

  [[nodiscard]] u32 places() const noexcept { return places_; }
  /// The i-th flit from the front; flits on the way, whose places are known, lie behind those in the ring.
  template <class N>
  [[nodiscard]] const BufferedFlit& at(std::size_t group, u32 ring, RingStateOf<N> state, u32 i) const noexcept {
    u32 place = state.head + i;
    if (place >= places_) place -= places_;
    return *first(group, ring, place);
  }
  template <class N>
  [[nodiscard]] const BufferedFlit& front(std::size_t group, u32 ring, RingStateOf<N> state) const noexcept {
    return *first(group, ring, state.head);
  }
  /// Place 0 of a ring, where its next flit most likely lies, or another one.
  [[nodiscard]] const BufferedFlit* first(std::size_t group, u32 ring, u32 place = 0) const noexcept {
    return cells_.cell(group * rings_ + ring, place);
  }
  /// The place after `place`.
  [[nodiscard]] u32 after(u32 place) const noexcept { return place + 1U == places_ ? 0U : place + 1U; }
  /// Requires state.count < places(). An empty ring starts again at place 0.
  template <class N>
  void push(std::size_t group, u32 ring, RingStateOf<N>& state, BufferedFlit flit) noexcept {
    if (state.count == 0) state.head = 0;
    u32 place = static_cast<u32>(state.head) + state.count;
    if (place >= places_) place -= places_;
    const std::size_t number = group * rings_ + ring;
    if constexpr (kLends) {
      if (state.count == 0 && cells_.has_group(number)) cells_.take_back(number);
      if (place == Places::kFirst && !cells_.has_group(number)) cells_.lend(number);
    }
    *cells_.access().cell(number, place) = flit;
    ++state.count;
  }
  /// Requires state.count > 0.
  template <class N>
  BufferedFlit pop(std::size_t group, u32 ring, RingStateOf<N>& state) noexcept {
    const BufferedFlit flit = front(group, ring, state);
    state.head = static_cast<N>(after(state.head));
    --state.count;
    return flit;
  }

  void reset() noexcept { cells_.reset(); }
  void archive(Archive& a) { a(cells_); }

 private:
  u32 rings_;
  u32 places_;
  Places cells_;
};

}  // namespace banyan::switching::parts
