// Priority flow control (IEEE 802.1Qbb): an input port tells the sender at the other end of its link to stop a class
// when it holds a threshold of it, and to go on when it has drained.
//
// No byte is ever without room: above the threshold there is headroom for all that arrives until the sender stands
// still (headroom_for). An audit recounts what ports hold, and a packet that found no room is a violation.
#include <fmt/core.h>

#include <algorithm>

#include "banyan/switching/cioq/steps.hpp"

namespace banyan::switching::cioq {

Tick Fabric::run_paused(Tick now) noexcept {
  switch (mode_) {
    case Mode::paused_recn:
      return large_ ? run_as<Mode::paused_recn, true>(now) : run_as<Mode::paused_recn, false>(now);
    case Mode::paused_classes:
      return large_ ? run_as<Mode::paused_classes, true>(now) : run_as<Mode::paused_classes, false>(now);
    default:
      return large_ ? run_as<Mode::paused_shared, true>(now) : run_as<Mode::paused_shared, false>(now);
  }
}

void Fabric::set_up_pauses() {
  mode_ = divides(mode_) ? Mode::paused_classes : sets_aside(mode_) ? Mode::paused_recn : Mode::paused_shared;
  pause_frames_.resize(latencies_);
  pausing_.resize(ingress_.size() * plan_.classes);
  heard_.resize(egress_.size() * plan_.classes);
  if (divides(mode_)) unpaused_.resize(class_open_.size());
  own_pauses_ = own_.declare("pauses", "frames", engine::OwnMetrics::Kind::total);
  own_headroom_ = own_.declare("pause_headroom_most", "B", engine::OwnMetrics::Kind::most);
}

void Fabric::reset_pauses() {
  for (auto& frames : pause_frames_) frames.clear();
  std::fill(pausing_.begin(), pausing_.end(), Pausing{});
  std::fill(heard_.begin(), heard_.end(), Heard{});
  std::fill(unpaused_.begin(), unpaused_.end(), ~u64{0});
  pause_counts_ = {};
}

void Fabric::note_arrival(u32 i, const Item& item) noexcept {
  Pausing& p = pausing(i, item);
  p.bytes += item.bytes;
  if (p.bytes < plan_.pause_xoff) return;
  pause_counts_.most_headroom = std::max<u64>(pause_counts_.most_headroom, p.bytes - plan_.pause_xoff);
  if (p.bytes > plan_.pause_xoff + plan_.pause_headroom) ++pause_counts_.overruns;
  if (!p.told) send_pause(i, item.queue_class & queue_of_class_, true);
}

void Fabric::note_departure(u32 i, const Item& item) noexcept {
  Pausing& p = pausing(i, item);
  p.bytes -= item.bytes;
  if (p.told && p.bytes <= plan_.pause_xon) send_pause(i, item.queue_class & queue_of_class_, false);
}

void Fabric::send_pause(u32 i, u32 queue_class, bool stops) noexcept {
  pausing_[std::size_t{i} * plan_.classes + queue_class].told = stops;
  pause_counts_.told += stops ? 1 : 0;
  if (ingress_[i].far != 0) {
    const Tick at = now_ + control_parts_ + Tick{far_up_[i].latency} * plan_.link_parts;
    return mail(far_up_[i], at, stops ? Message::stop : Message::go, queue_class, 0);
  }
  const u32 e = ingress_[i].upstream;
  const u32 wire = egress_[e].wire;
  pause_frames_[wire].push({now_ + control_parts_ + wire_parts_[wire], e, static_cast<u16>(queue_class), stops});
}

void Fabric::take_pauses(Fifo<PauseFrame>& frames, Tick part) noexcept {
  do {
    const PauseFrame frame = frames.front();
    frames.pop();
    Egress& out = egress_[frame.egress];
    heard(frame.egress, frame.queue_class) = {frame.stops, cycle_};
    if (divides(mode_)) {
      u64& word = unpaused_[std::size_t{frame.egress} * out_words_ + frame.queue_class / 64];
      const u64 bit = u64{1} << (frame.queue_class & 63U);
      word = frame.stops ? word & ~bit : word | bit;
    } else {
      out.paused = frame.stops;
    }
    if (!frame.stops) mark_link(frame.egress, out, out.item.packet == kNone);
  } while (frames.next() <= part);
}

bool Fabric::is_paused(u32 e, u32 queue_class, Tick now) const noexcept {
  const Heard& h = heard(e, queue_class);
  if (h.stop) return true;
  if (h.changed == kNever || now - h.changed >= Tick{plan_.pause_xoff} + plan_.pause_headroom) return false;
  const auto [fabric, i] = behind(e);
  if (fabric != nullptr) return fabric->pausing_[std::size_t{i} * plan_.classes + queue_class].bytes != 0;
  const auto told = border_.class_bytes.find(e);
  return told != border_.class_bytes.end() && told->second[queue_class] != 0;
}

u64 Fabric::digest_of(const PauseFrame& f) const {
  return mix64(mix64(f.at) + (u64{everywhere_out(f.egress)} << 32U | u64{f.queue_class} << 1U | (f.stops ? 1U : 0U)));
}

u64 Fabric::pause_digest() const {
  u64 sum = 0;
  for (const auto& frames : pause_frames_) {
    for (u64 n = 0; n < frames.size(); ++n) sum += digest_of(frames[n]);
  }
  for (std::size_t k = 0; k < pausing_.size(); ++k) {
    const u64 place = u64{everywhere_in(static_cast<u32>(k / plan_.classes))} * plan_.classes + k % plan_.classes;
    const u64 state = u64{pausing_[k].bytes} << 2U | (pausing_[k].told ? 2U : 0U);
    if (state != 0) sum += mix64(mix64(place + 1) + state);
  }
  for (std::size_t k = 0; k < heard_.size(); ++k) {
    const u64 place = u64{everywhere_out(static_cast<u32>(k / plan_.classes))} * plan_.classes + k % plan_.classes;
    if (heard_[k].stop) sum += mix64(mix64(~place) + 1);
  }
  return sum;
}

void Fabric::check_pauses(engine::Holdings& into) const {
  std::vector<u64> held(pausing_.size());
  const auto count = [&](u32 i, const Item& item) {
    if ((item.packet & kMarker) == 0)
      held[std::size_t{i} * plan_.classes + (queue_of_class_ & item.queue_class)] += item.bytes;
  };
  for (u32 i = 0; i < ingress_.size(); ++i) {
    for (u32 q = 0; q < in_.stride; ++q) {
      store_.for_each(in_.queue(i, q), [&](const Item& item) { count(i, item); });
    }
    count(i, ingress_[i].item);
  }
  for (std::size_t k = 0; k < held.size(); ++k) {
    if (held[k] == pausing_[k].bytes) continue;
    into.violations.push_back(fmt::format("class {} of ingress {} holds {} bytes and counts {}", k % plan_.classes,
                                          everywhere_in(static_cast<u32>(k / plan_.classes)), held[k],
                                          pausing_[k].bytes));
  }
  if (pause_counts_.overruns == 0) return;
  into.violations.push_back(
      fmt::format("{} packets found no room behind a link that pauses stop: {} bytes of headroom, and {} in use",
                  pause_counts_.overruns, plan_.pause_headroom, pause_counts_.most_headroom));
}

}  // namespace banyan::switching::cioq
