#include "banyan/engine/sink.hpp"

#include <algorithm>

namespace banyan::engine {

void Sink::reset() {
  partial_.clear();
  ledger_.clear();
  latest_.clear();
  misdelivered_ = disordered_ = 0;
}

void Sink::deliver_message(const core::Packet& packet, u32 terminal, Tick first, Tick now, u32 hops) noexcept {
  if (packet.destination != terminal) [[unlikely]]
    ++misdelivered_;
  arrive(packet, terminal, now, hops, now - first);
  if ((plan_.special[packet.traffic] & kControl) != 0) return;
  if (recorder_.window().holds(packet.birth)) recorder_.message(packet, first - packet.birth, now - packet.birth);
}

void Sink::deliver_copy(const core::Packet& packet, u32 terminal, Tick now, u32 hops, Tick serialization) noexcept {
  core::Packet copy = packet;
  copy.destination = terminal;
  arrive(copy, terminal, now, hops, serialization);
}

bool Sink::settle_copy(core::PacketId id, u32 terminal) noexcept {
  PacketPool& pool = source_.pool();
  if (!pool.strike(id, terminal)) ++misdelivered_;
  if (pool.owed(id) != 0) return false;
  pool.release(id);
  return true;
}

/// Requests and replies may have virtual channels of their own, and pass each other.
void Sink::note_order(const core::Packet& packet) noexcept {
  const auto [place, first] = latest_.try_emplace(
      {packet.source, packet.destination, EndpointPlan::service_class(packet.traffic, packet.flags)}, packet.sequence);
  if (!first && packet.sequence < place->second) ++disordered_;
  place->second = std::max(place->second, packet.sequence);
}

void Sink::arrive_special(const core::Packet& packet, u32 terminal, Tick now, const core::Signals& signals) noexcept {
  const u8 special = plan_.special[packet.traffic];
  if ((special & kWatched) != 0) recorder_.watched(packet, now);
  if ((special & kAdmitted) != 0 && packet.copies == 0) admit(packet, terminal, now, signals);
  if ((special & kCut) != 0) {
    Tick first = now;
    if (packet.flits != packet.message_flits && !partial_.add(packet, now, first)) return;
    if (recorder_.window().holds(packet.birth)) {
      recorder_.message(packet, first - packet.birth, now - packet.birth);
      if (plan_.is_finite[packet.traffic] != 0) recorder_.finite(packet.traffic, now);
    }
  }
  if ((special & kMulticasts) != 0) note_multicast(packet, now);
  if ((special & kAnswers) == 0) return;
  Source::Post outbox(source_, plan_.local_of[terminal], packet.traffic);
  plan_.traffics[packet.traffic]->delivered(packet, terminal, now, outbox);
}

void Sink::note_multicast(const core::Packet& packet, Tick now) noexcept {
  const core::MulticastGroup group = plan_.traffics[packet.traffic]->multicast_of(packet);
  if (group.copies == 0) {
    recorder_.unicast(packet, now);
    return;
  }
  MulticastLedger::Entry whole;
  if (ledger_.add(packet.traffic, group.group, group.copies, packet.birth, now, whole)) recorder_.multicast(whole);
}

void Sink::join_multicasts(std::span<const MulticastLedger::Entry> some) {
  MulticastLedger::Entry whole;
  for (const MulticastLedger::Entry& one : some) {
    if (ledger_.join(one, whole)) recorder_.multicast(whole);
  }
}

std::vector<MulticastLedger::Entry> Sink::open_multicasts() const {
  std::vector<MulticastLedger::Entry> open;
  ledger_.for_each([&](const MulticastLedger::Entry& one) { open.push_back(one); });
  return open;
}

}  // namespace banyan::engine
