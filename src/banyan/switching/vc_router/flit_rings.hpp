// Private buffers of virtual channels: one ring of packed flits each, for all switches of a shard in one array.
#pragma once

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

/// The rings of `groups` switches with `rings` rings each, `places` flits in every ring. The i-th places of all rings
/// of a switch are neighbours, and so are the i-th places of all switches: under light load, when rings hold one flit,
/// few cache lines and few pages are touched.
class FlitRings {
 public:
  FlitRings(std::size_t groups, u32 rings, u32 places)
      : rings_(rings), places_(places), plane_(groups * rings), flits_(plane_ * places) {}

  /// The arrays alone, for a loop that writes to other memory too. Rings are counted over all groups.
  struct Access {
    BufferedFlit* flits;
    std::size_t plane;
    u32 places;

    [[nodiscard]] u32 after(u32 place) const noexcept { return place + 1U == places ? 0U : place + 1U; }
    void put(std::size_t ring, u32 place, BufferedFlit flit) const noexcept { flits[plane * place + ring] = flit; }
    /// Requires state.count > 0. What was taken stays where it was until something is put there.
    template <class N>
    const BufferedFlit* pop(std::size_t ring, RingStateOf<N>& state) const noexcept {
      const u32 head = state.head;
      state.head = static_cast<N>(after(head));
      --state.count;
      return &flits[plane * head + ring];
    }
  };
  [[nodiscard]] Access access() noexcept { return {flits_.data(), plane_, places_}; }

  [[nodiscard]] u32 places() const noexcept { return places_; }
  /// The i-th flit from the front; flits on the way, whose places are known, lie behind those in the ring.
  template <class N>
  [[nodiscard]] const BufferedFlit& at(std::size_t group, u32 ring, RingStateOf<N> state, u32 i) const noexcept {
    u32 place = state.head + i;
    if (place >= places_) place -= places_;
    return flits_[index(group, ring, place)];
  }
  template <class N>
  [[nodiscard]] const BufferedFlit& front(std::size_t group, u32 ring, RingStateOf<N> state) const noexcept {
    return flits_[index(group, ring, state.head)];
  }
  /// Place 0 of a ring, where its next flit most likely lies, or another one.
  [[nodiscard]] const BufferedFlit* first(std::size_t group, u32 ring, u32 place = 0) const noexcept {
    return &flits_[index(group, ring, place)];
  }
  /// The place after `place`.
  [[nodiscard]] u32 after(u32 place) const noexcept { return place + 1U == places_ ? 0U : place + 1U; }
  /// `ring`: counted over all groups.
  void put(std::size_t ring, u32 place, BufferedFlit flit) noexcept { flits_[plane_ * place + ring] = flit; }
  /// Requires state.count < places(). An empty ring starts again at place 0.
  template <class N>
  void push(std::size_t group, u32 ring, RingStateOf<N>& state, BufferedFlit flit) noexcept {
    if (state.count == 0) state.head = 0;
    u32 place = static_cast<u32>(state.head) + state.count;
    if (place >= places_) place -= places_;
    put(group * rings_ + ring, place, flit);
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

  void archive(Archive& a) { a(flits_); }

 private:
  [[nodiscard]] std::size_t index(std::size_t group, u32 ring, u32 place) const noexcept {
    return plane_ * place + group * rings_ + ring;
  }

  u32 rings_;
  u32 places_;
  std::size_t plane_;
  PageVector<BufferedFlit> flits_;
};

}  // namespace banyan::switching::parts
