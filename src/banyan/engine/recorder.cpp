#include "banyan/engine/recorder.hpp"

#include <algorithm>

namespace banyan::engine {

Recorder::Recorder(const EndpointPlan& plan)
    : plan_(plan),
      steady_plan_(plan.steady),
      steady_(plan.steady.end != 0),
      tallies_(static_cast<std::size_t>(plan.counted) * 2),
      finite_(plan.counted),
      record_(plan.steady, plan.counted),
      generated_(static_cast<std::size_t>(plan.counted) * 2, std::vector<u32>(plan.generation_series)) {
  if (plan.steady.series_window != 0) record_.fire = FireRecord(plan.traffics, plan.total_terminals);
}

void Recorder::reset() {
  window_ = {};
  std::fill(tallies_.begin(), tallies_.end(), LatencySums{});
  std::fill(finite_.begin(), finite_.end(), Finite{});
  record_.clear();
  accepted_of_.assign(plan_.size(), 0);
  for (std::vector<u32>& series : generated_) std::fill(series.begin(), series.end(), 0);
  control_ = {};
  waiting_ = 0;
  taken_ = taken_flits_ = delivered_ = delivered_flits_ = counted_taken_ = counted_delivered_ = 0;
}

void Recorder::account(const core::Packet& packet, Tick now, u32 hops, Tick serialization) noexcept {
  if (packet.birth > window_.to) return;
  const bool hot = plan_.is_hot(packet.destination);
  const Tick latency = now - packet.birth;
  add(packet.traffic, hot, packet.birth, [&](LatencySums& sums) {
    ++sums.packets;
    sums.flits += packet.flits;
    sums.latency += latency;
    sums.queueing += packet.enter - packet.birth;
    sums.serialization += serialization;
    sums.hops += hops;
  });
  ++counted_delivered_;
  if (plan_.is_finite[packet.traffic] != 0 && (plan_.special[packet.traffic] & kCut) == 0) finite(packet.traffic, now);
  if (plan_.generation_series != 0) {
    std::vector<u32>& series = generated_[tally_class(packet.traffic, hot)];
    if (packet.birth - window_.from < series.size()) ++series[packet.birth - window_.from];
  }
  if (!steady_ || packet.birth < steady_plan_.histogram_from) return;
  record_.latency.add(latency);
  record_.by_source.add(packet.source, latency);
  record_.by_destination.add(packet.destination, latency);
}

void Recorder::watched(const core::Packet& packet, Tick now) {
  const core::Traffic& traffic = *plan_.traffics[packet.traffic];
  const u32 stream = traffic.stream_of(packet);
  if (stream == kNone) return record_.fire.suffered(packet, now);
  record_.fire.burnt(packet.traffic, stream, packet.flits, now);
}

void Recorder::message(const core::Packet& packet, Tick first, Tick last) noexcept {
  add(packet.traffic, plan_.is_hot(packet.destination), packet.birth, [&](LatencySums& sums) {
    ++sums.messages;
    sums.message_first += first;
    sums.message_last += last;
  });
}

void Recorder::unicast(const core::Packet& packet, Tick now) noexcept {
  if (!window_.holds(packet.birth)) return;
  add(packet.traffic, false, packet.birth, [&](LatencySums& sums) {
    ++sums.unicasts;
    sums.unicast_latency += now - packet.birth;
  });
}

void Recorder::multicast(const MulticastLedger::Entry& group) noexcept {
  if (!window_.holds(group.birth)) return;
  const u64 mean = (group.sum - group.copies * group.birth) * LatencySums::kMeanUnit / group.copies;
  add(group.traffic, false, group.birth, [&](LatencySums& sums) {
    ++sums.multicasts;
    sums.multicast_first += group.first - group.birth;
    sums.multicast_last += group.last - group.birth;
    sums.multicast_mean += mean;
  });
}

}  // namespace banyan::engine
