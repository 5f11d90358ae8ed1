// The traffic of a program that steps a network and says itself what is sent (api/stepped_network.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::traffic {

class Injected final : public core::Traffic {
 public:
  /// A message that has arrived whole.
  struct Arrival {
    Tick at = 0;
    u32 terminal = 0;
    u32 tag = 0;
    [[nodiscard]] bool operator<(const Arrival& other) const noexcept {
      if (at != other.at) return at < other.at;
      return terminal != other.terminal ? terminal < other.terminal : tag < other.tag;
    }
  };

  /// `longest`: no message is longer, in flits. `longest_packet`: that they are cut into; kNone: they are not.
  Injected(u32 longest, u32 longest_packet, core::Service service)
      : longest_(longest), longest_packet_(longest_packet), service_(service) {}

  void begin(u32) override { count_ = 0; }
  [[nodiscard]] bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true, .longest_message = longest_, .longest_packet = longest_packet_, .random = false};
  }
  [[nodiscard]] core::Service service(bool) const noexcept override { return service_; }

  /// What arrives beyond the room that was made is nobody's: the traffic is run by itself.
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox&) noexcept override {
    const std::size_t place = count_.fetch_add(1, std::memory_order_relaxed);
    if (place < arrivals_.size()) arrivals_[place] = {now, terminal, packet.message};
  }

  /// Between two ticks, when all arrivals have been taken, it remembers nothing.
  void archive(Archive&) override {}

  /// Makes room for the arrival of so many messages; between two ticks.
  void make_room(std::size_t messages) {
    if (messages > arrivals_.size()) arrivals_.resize(std::max(messages, 2 * arrivals_.size()));
  }
  /// Adds what has arrived since the last call, in the order of time, terminal and tag; between two ticks.
  void take(std::vector<Arrival>& into) {
    const std::size_t count = std::min(count_.exchange(0, std::memory_order_relaxed), arrivals_.size());
    const auto end = arrivals_.begin() + static_cast<std::ptrdiff_t>(count);
    std::sort(arrivals_.begin(), end);
    into.insert(into.end(), arrivals_.begin(), end);
  }

 private:
  u32 longest_;
  u32 longest_packet_;
  core::Service service_;
  std::vector<Arrival> arrivals_;  ///< the first count_ of them, in whatever order shards tell
  std::atomic<std::size_t> count_{0};
};

}  // namespace banyan::traffic
