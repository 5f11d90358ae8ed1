// The traffic of a program that steps a network and says itself what is sent (api/stepped_network.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "banyan/core/traffic.hpp"

namespace banyan::traffic {

class Injected final : public core::Traffic {
 public:
  /// A message that has arrived whole.
  struct Arrival {
    Tick at = 0;
    u32 terminal = 0;
    u64 key = 0;  ///< see key_of()
    [[nodiscard]] bool operator<(const Arrival& other) const noexcept {
      if (at != other.at) return at < other.at;
      return terminal != other.terminal ? terminal < other.terminal : key < other.key;
    }
  };

  /// `longest`: no message is longer, in flits. `longest_packet`: that they are cut into; kNone: they are not.
  /// `members`: terminals, ascending, whose messages the switches reduce, each to its own terminal; empty: they go
  /// where they are sent.
  Injected(u32 longest, u32 longest_packet, core::Service service, std::vector<u32> members)
      : longest_(longest), longest_packet_(longest_packet), service_(service), members_(std::move(members)) {}

  [[nodiscard]] bool is_member(u32 terminal) const noexcept {
    return std::binary_search(members_.begin(), members_.end(), terminal);
  }
  /// The tag of a message on its way, which is another for each; of contributions to a sum, which share one, the
  /// terminal too.
  [[nodiscard]] u64 key_of(u32 terminal, u32 tag) const noexcept {
    return reduces() ? u64{1} << 63U | u64{terminal} << 32U | tag : tag;
  }

  void begin(u32) override { count_ = 0; }
  [[nodiscard]] bool next(u32, u64, Tick, core::Message&) const noexcept override { return false; }
  [[nodiscard]] core::TrafficTraits traits() const noexcept override {
    return {.answers = true,
            .multicasts = !members_.empty(),
            .replicates = !members_.empty(),
            .reduces = !members_.empty(),
            .header_flits = members_.empty() ? 0U : 1U,  // switches know the members
            .longest_message = longest_,
            .longest_packet = longest_packet_,
            .random = false};
  }
  void members(std::span<u64> bits) const noexcept override {
    for (const u32 t : members_) bits[t / 64] |= u64{1} << (t % 64);
  }
  [[nodiscard]] u64 reduced(u32 tag) const noexcept override {
    u64 sum = 0;
    for (const u32 t : members_) sum += contribution(t, tag);
    return sum;
  }
  [[nodiscard]] core::MulticastGroup multicast_of(const core::Packet& packet) const noexcept override {
    if (members_.empty()) return Traffic::multicast_of(packet);
    return {static_cast<u32>(members_.size()), packet.message};
  }
  [[nodiscard]] core::Service service(bool) const noexcept override { return service_; }

  /// What arrives beyond the room that was made is nobody's: the traffic is run by itself.
  void delivered(const core::Packet& packet, u32 terminal, Tick now, core::Outbox&) noexcept override {
    const std::size_t place = count_.fetch_add(1, std::memory_order_relaxed);
    if (place < arrivals_.size()) arrivals_[place] = {now, terminal, key_of(terminal, packet.message)};
  }

  /// Between two ticks, when all arrivals have been taken, it remembers nothing.
  void archive(Archive&) override {}

  /// Makes room for the arrival of so many messages; between two ticks.
  void make_room(std::size_t messages) {
    if (messages > arrivals_.size()) arrivals_.resize(std::max(messages, 2 * arrivals_.size()));
  }
  /// Adds what has arrived since the last call, in the order of time, terminal and key; between two ticks.
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
  std::vector<u32> members_;
  std::vector<Arrival> arrivals_;  ///< the first count_ of them, in whatever order shards tell
  std::atomic<std::size_t> count_{0};
};

}  // namespace banyan::traffic
