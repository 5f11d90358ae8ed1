// Time series of a steady run on request: what happened in each window of time, by when it happened (the windows that
// means stand on count packets by when they were generated).
#pragma once

#include <algorithm>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/base/types.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::engine {

/// Integer sums over one window.
struct TimelineWindow {
  u64 offered = 0;    ///< flits generated
  u64 taken = 0;      ///< flits that left their source queue
  u64 accepted = 0;   ///< flits that arrived
  u64 entered = 0;    ///< packets that left their source queue, once for each of their destinations
  u64 delivered = 0;  ///< packets that arrived
  u64 latency = 0;    ///< of those that arrived, from generation on, ticks
  /// Packets x ticks from an event to the end of the window: + when one enters, - when one is delivered. With the
  /// packets at the start of the window it gives the mean number in the network, exactly.
  u64 stay = 0;

  TimelineWindow& operator+=(const TimelineWindow& other) noexcept {
    offered += other.offered;
    taken += other.taken;
    accepted += other.accepted;
    entered += other.entered;
    delivered += other.delivered;
    latency += other.latency;
    stay += other.stay;
    return *this;
  }
};

/// Windows of one length from tick 0 on, per traffic. Sums: in whatever order events come and shards are merged.
class Timeline {
 public:
  Timeline() = default;
  /// `length` of a window in ticks; 0: nothing is recorded.
  Timeline(Tick length, Tick end, u32 traffics) : length_(length), traffics_(traffics) { extend(end); }

  [[nodiscard]] bool on() const noexcept { return length_ != 0; }
  [[nodiscard]] Tick length() const noexcept { return length_; }
  [[nodiscard]] u32 traffics() const noexcept { return traffics_; }
  [[nodiscard]] std::size_t size() const noexcept { return traffics_ == 0 ? 0 : windows_.size() / traffics_; }
  [[nodiscard]] const TimelineWindow& at(std::size_t window, u32 traffic) const noexcept {
    return windows_[window * traffics_ + traffic];
  }

  void offered(u32 traffic, Tick birth, u64 flits) noexcept { windows_[index(birth, traffic)].offered += flits; }
  /// `copies`: deliveries that the packet owes; `flits`: of all of them.
  void taken(u32 traffic, Tick now, u64 flits, u64 copies) noexcept {
    TimelineWindow& window = windows_[index(now, traffic)];
    window.taken += flits;
    window.entered += copies;
    window.stay += copies * (end_of(now) - now);
  }
  /// A packet was told to have been taken at `from`, and stood before the network until then.
  void not_taken(u32 traffic, Tick from, u64 flits) noexcept {
    TimelineWindow& window = windows_[index(from, traffic)];
    window.taken -= flits;
    --window.entered;
    window.stay -= end_of(from) - from;
  }
  void delivered(const core::Packet& packet, Tick now) noexcept {
    TimelineWindow& window = windows_[index(now, packet.traffic)];
    window.accepted += packet.flits;
    ++window.delivered;
    window.latency += now - packet.birth;
    window.stay -= end_of(now) - now;
  }

  void extend(Tick end) {
    if (on()) windows_.resize(((end + length_ - 1) / length_) * traffics_);
  }
  void clear() { windows_.assign(windows_.size(), {}); }
  /// What the other has behind the end of this one is left out.
  void merge(const Timeline& other) noexcept {
    const std::size_t both = std::min(windows_.size(), other.windows_.size());
    for (std::size_t i = 0; i < both; ++i) windows_[i] += other.windows_[i];
  }

  void archive(Archive& a) { a(length_, traffics_, windows_); }

 private:
  [[nodiscard]] Tick end_of(Tick now) const noexcept { return (now / length_ + 1) * length_; }
  [[nodiscard]] std::size_t index(Tick at, u32 traffic) const noexcept { return at / length_ * traffics_ + traffic; }

  Tick length_ = 0;
  u32 traffics_ = 0;
  std::vector<TimelineWindow> windows_;  ///< [window * traffics + traffic]
};

}  // namespace banyan::engine
