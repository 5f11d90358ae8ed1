// What a model may do while it is stepped: send PODs over its channels.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/flows.hpp"
#include "banyan/engine/inbox.hpp"
#include "banyan/engine/packet_pool.hpp"
#include "banyan/engine/probe.hpp"

namespace banyan::engine {

/// The far end of a channel: where a POD arrives.
struct Target {
  u32 entity = kNone;  ///< index inside the population of its shard; kNone: nothing is attached
  u32 latency = 1;     ///< ticks
  u16 port = 0;
  u8 shard = 0;
  u8 population = 0;
};

/// One POD that crosses to another shard.
template <class Arrival>
struct Mail {
  Tick due = 0;
  u32 population = 0;
  Arrival arrival;

  void archive(Archive& a) { a(due, population, arrival); }
};

/// A multidestination packet has arrived at one of its terminals.
struct ArrivedCopy {
  core::PacketId packet = 0;
  u32 terminal = 0;
};

/// Everything that one shard sends to one other during one window.
struct Parcel {
  std::vector<Mail<FlitArrival>> flits;
  std::vector<Mail<ControlArrival>> controls;
  std::vector<core::PacketId> freed;
  std::vector<ArrivedCopy> copies;
  std::vector<Word> words;
  Tick earliest = kNever;

  void archive(Archive& a) { a(flits, controls, freed, copies, words, earliest); }
  void reserve(std::size_t each) {
    flits.reserve(each);
    controls.reserve(each);
    freed.reserve(each);
  }
  void clear() noexcept {
    flits.clear();
    controls.clear();
    freed.clear();
    copies.clear();
    words.clear();
    earliest = kNever;
  }
};

/// The wires of one shard: inboxes of its own populations, parcels to the others, and all packet pools (foreign ones
/// to read only).
struct Wires {
  u32 shard = 0;
  std::vector<Inbox*> inboxes;             ///< [population]
  std::vector<Tick>* due = nullptr;        ///< [population]
  std::vector<Parcel>* parcels = nullptr;  ///< [shard], those of the current window
  std::vector<u64>* touched = nullptr;     ///< bit per shard: its parcel is not empty
  std::vector<Parcel>* early = nullptr;    ///< [shard]: takes what is delivered in place of `parcels` (border.hpp)
  std::vector<PacketPool*> pools;          ///< [slot of a handle]
  Probe* probe = nullptr;                  ///< absent unless the run is to write down more

  template <class Arrival>
  void deliver(const Target& to, Tick at, const Arrival& arrival) {
    if (to.shard == shard) {
      inboxes[to.population]->add(at, arrival);
      Tick& next = (*due)[to.population];
      next = at < next ? at : next;
    } else {
      post(early != nullptr ? (*early)[to.shard] : parcel(to.shard), to.population, at, arrival);
    }
  }

  /// What one end of a flow tells the other, in another shard.
  void post(u32 to, const Word& word) {
    Parcel& p = parcel(to);
    p.words.push_back(word);
    p.earliest = std::min(p.earliest, word.due);
  }

  [[nodiscard]] const core::Packet& packet(core::PacketId id) const noexcept {
    return (*pools[id >> PacketPool::kIndexBits])[id];
  }
  [[nodiscard]] PacketPool& pool(core::PacketId id) const noexcept { return *pools[id >> PacketPool::kIndexBits]; }
  void release(core::PacketId id) {
    PacketPool& owner = pool(id);
    if (owner.shard() == shard) {
      owner.release(id);
    } else {
      parcel(owner.shard()).freed.push_back(id);
    }
  }
  /// Whether the record of a packet is one of this shard.
  [[nodiscard]] bool owns(core::PacketId id) const noexcept { return pool(id).shard() == shard; }
  /// Tells the owner of a packet of another shard that a copy has arrived.
  void post(const ArrivedCopy& copy) { parcel(pool(copy.packet).shard()).copies.push_back(copy); }

 private:
  [[nodiscard]] Parcel& parcel(u32 to) {
    (*touched)[to >> 6U] |= u64{1} << (to & 63U);
    return (*parcels)[to];
  }
  static void post(Parcel& parcel, u32 population, Tick at, const FlitArrival& a) {
    parcel.flits.push_back({at, population, a});
    parcel.earliest = at < parcel.earliest ? at : parcel.earliest;
  }
  static void post(Parcel& parcel, u32 population, Tick at, const ControlArrival& a) {
    parcel.controls.push_back({at, population, a});
    parcel.earliest = at < parcel.earliest ? at : parcel.earliest;
  }
};

/// Handed to a model's accept and step. `down` are the far ends of its output ports, `up` those of the reverse
/// (control) direction of its input ports; both are indexed by the model's own global port numbers.
class Io {
 public:
  Io(Wires& wires, u32 population, const std::vector<Target>& down, const std::vector<Target>& up)
      : wires_(wires), down_(down.data()), up_(up.data()), probe_(wires.probe), population_(population) {}

  void set_now(Tick now) noexcept { now_ = now; }
  [[nodiscard]] Tick now() const noexcept { return now_; }

  /// A flit leaves through output `out`; it arrives after the channel's latency plus `extra` ticks (serialization).
  void send(u32 out, const core::Flit& flit, Tick extra = 0) {
    if (probe_ != nullptr) [[unlikely]]
      probe_->sent(population_, out, flit, packet(flit.packet), now_);
    const Target& to = down_[out];
    wires_.deliver(to, now_ + to.latency + extra, FlitArrival{flit, to.entity, to.port});
  }
  /// A control word (a credit) goes back to whoever feeds input `in`, `extra` ticks later than the channel's latency.
  void control_up(u32 in, const core::Control& control, Tick extra = 0) {
    const Target& to = up_[in];
    wires_.deliver(to, now_ + to.latency + extra, ControlArrival{control, to.entity, to.port});
  }
  /// Asks the memory for what send(out) or control_up(in) will look up. In line always: g++ 12 drops calls of a
  /// function that only asks for memory.
  [[gnu::always_inline]] void fetch_down(u32 out) const noexcept { __builtin_prefetch(&down_[out]); }
  [[gnu::always_inline]] void fetch_up(u32 in) const noexcept { __builtin_prefetch(&up_[in]); }
  [[nodiscard]] const core::Packet& packet(core::PacketId id) const noexcept { return wires_.packet(id); }
  void release(core::PacketId id) { wires_.release(id); }
  /// What switches wrote into a packet whose head is here; 0 where nothing asks for it.
  [[nodiscard]] u16 value(core::PacketId id) const noexcept {
    const PacketPool& pool = wires_.pool(id);
    return pool.keeps_values() ? pool.value(id) : u16{0};
  }
  void raise_value(core::PacketId id, u16 value) noexcept { wires_.pool(id).raise_value(id, value); }

 private:
  Wires& wires_;
  const Target* down_;
  const Target* up_;
  Probe* probe_;
  u32 population_;
  Tick now_ = 0;
};

}  // namespace banyan::engine
