// Seam 4: a traffic says which messages each terminal generates, when, to whom and how long.
#pragma once

#include <memory>
#include <string>

#include "banyan/config/schema.hpp"
#include "banyan/core/packet.hpp"
#include "banyan/core/topology.hpp"

namespace banyan::core {

struct Message {
  Tick birth = kNever;
  u32 destination = 0;
  u32 flits = 1;
  u32 word = 0;  ///< a random word for the routing's choice at generation
  u8 flags = 0;  ///< PacketFlag
};

struct TrafficContext {
  const Topology* topology = nullptr;
  u32 terminals = 0;
  u32 index = 0;  ///< position in the experiment; also the priority within one cycle (lower is first)
  u64 seed = 0;
  Tick ticks_per_cycle = 1;
};

/// Generation is a pure function of (terminal, nth): sources are cursors, never queues in memory. `begin` re-keys the
/// randomness for a replication; `closed` tells a finite traffic that its last message has arrived.
class Traffic {
 public:
  virtual ~Traffic() = default;

  virtual void begin(u32 replication) = 0;
  /// The nth message (from 0) of `terminal`, generated after `previous` (kNever for nth == 0: none before).
  /// Returns false when there is none any more.
  [[nodiscard]] virtual bool next(u32 terminal, u64 nth, Tick previous, Message& out) const noexcept = 0;

  /// Flits per terminal and cycle that it offers on average over all terminals (0 for a finite traffic).
  [[nodiscard]] virtual double offered_load() const noexcept { return 0.0; }
  /// Longest message in flits.
  [[nodiscard]] virtual u32 longest_message() const noexcept { return 1; }

  /// A finite traffic (one synchronization, one batch) defines a session: from its first birth to its last arrival.
  [[nodiscard]] virtual bool finite() const noexcept { return false; }
  [[nodiscard]] virtual u64 total_messages() const noexcept { return 0; }  ///< of a finite traffic, per session

  /// The hot spot that `pending` speaks of, or kNone.
  [[nodiscard]] virtual u32 hot_spot() const noexcept { return kNone; }
  /// True when `terminal` has a pending synchronization request at `at` (paper 1, section 4.2: local hot-spot flag),
  /// leaving aside that the session may have ended (the engine knows that).
  [[nodiscard]] virtual bool pending(u32 terminal, Tick at) const noexcept {
    static_cast<void>(terminal);
    static_cast<void>(at);
    return false;
  }
};

/// Registration row: `const core::TrafficRow row_NAME` in `namespace banyan::traffic`.
struct TrafficRow {
  config::ComponentInfo info;
  std::unique_ptr<Traffic> (*make)(const config::Values&, const TrafficContext&) = nullptr;
};

}  // namespace banyan::core
