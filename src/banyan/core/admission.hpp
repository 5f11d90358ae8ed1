// Seam 6: an admission says when the next packet of a flow may leave its source: congestion control at the end hosts.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/config/schema.hpp"
#include "banyan/core/packet.hpp"

namespace banyan::core {

/// What one end of a flow tells the other.
struct Feedback {
  Tick sent = 0;    ///< when it was told; the engine writes it
  u32 flits = 0;    ///< that it speaks of
  u32 value = 0;    ///< an explicit rate, a grant: whatever the component means
  u16 packets = 0;  ///< that it speaks of
  u16 marked = 0;   ///< of these
  u8 hops = 0;
  u8 kind = 0;  ///< the component's own: report, request, grant ...

  bool operator==(const Feedback&) const = default;
};

/// How what one end tells the other gets there.
struct Carrier {
  /// As packets of a class of their own, which take bandwidth and wait like others, but are no part of load and
  /// latency; otherwise as words, which take the zero-load latency of the pair and no bandwidth.
  bool packets = false;
  u32 flits = 0;    ///< length of such a packet; 0: SwitchRow::control_flits
  u8 priority = 0;  ///< Service::priority of their class

  bool operator==(const Carrier&) const = default;
};

/// A packet that leaves a flow.
struct Departure {
  u32 flits = 1;
};

/// A message or packet as far as it says to which flow it belongs.
struct FlowMember {
  u32 source = 0;
  u32 destination = 0;    ///< kNone: a multidestination packet
  u32 service_class = 0;  ///< 2 * traffic, + 1 for replies
};

/// One end of a flow, as the engine tells it to the admission when it first meets it.
struct FlowEnd {
  u32 terminal = 0;
  bool at_source = false;
  u32 peer = 0;  ///< of a receiving end: the source; of a sending end: where its first message goes
  u64 key = 0;   ///< Admission::flow_key
};

/// What an admission may do. Ends are numbered from 0 in the order in which they are met.
class Pace {
 public:
  Pace() = default;
  virtual ~Pace() = default;
  Pace(const Pace&) = delete;
  Pace& operator=(const Pace&) = delete;

  /// Asks may_send of this sending end again at tick `at`.
  virtual void gate(u32 end, Tick at) noexcept = 0;
  /// Calls timer(end) at tick `at`, which is after now.
  virtual void wake(u32 end, Tick at) noexcept = 0;
  /// Calls clock(terminal) at tick `at`, which is after now: for what all flows of a terminal share. Which of them asks
  /// first in a tick cannot show then.
  virtual void wake_terminal(u32 terminal, Tick at) noexcept = 0;
  /// Tells the other end, by the carrier: it hears when the packet has arrived, or when the zero-load latency of the
  /// pair has passed. From a sending end it goes to the destination of the message that was queued or sent last.
  virtual void tell(u32 end, const Feedback& feedback) noexcept = 0;
};

/// The state of both ends of all flows of one shard, kept per end (or per terminal, that open() tells). What is heard
/// at one tick comes in an order that does not depend on shards; calls for different terminals may come in any order.
class Admission {
 public:
  virtual ~Admission() = default;

  /// Starts a replication: no end is known.
  virtual void begin() = 0;
  [[nodiscard]] virtual Carrier carrier() const noexcept { return {}; }
  /// Switches write into each packet how busy the busiest link of its way is (Signals::value), measured over so many
  /// ticks; 0: they write nothing.
  [[nodiscard]] virtual Tick utilization_time() const noexcept { return 0; }
  /// What shares a flow: messages of one source with equal keys. A pure function.
  [[nodiscard]] virtual u64 flow_key(const FlowMember& member) const noexcept = 0;
  /// A new end, the next number.
  virtual void open(u32 end, const FlowEnd& what) = 0;
  /// A packet of that end leaves or arrives soon: the memory of what that needs may be asked for.
  virtual void fetch(u32 end, bool at_source) const noexcept {
    static_cast<void>(end);
    static_cast<void>(at_source);
  }

  // --- at the source -------------------------------------------------------------------------------------------
  /// A message waits.
  virtual void queued(u32 end, u32 flits, Tick now, Pace& pace) noexcept {
    static_cast<void>(end);
    static_cast<void>(flits);
    static_cast<void>(now);
    static_cast<void>(pace);
  }
  /// The earliest tick at which `next` may leave; kNever: only after something was heard and gate() called. It changes
  /// nothing, and may be asked any number of times.
  [[nodiscard]] virtual Tick may_send(u32 end, const Departure& next, Tick now) const noexcept = 0;
  /// It left.
  virtual void sent(u32 end, const Departure& what, Tick now, Pace& pace) noexcept = 0;

  // --- at the receiver -----------------------------------------------------------------------------------------
  /// A packet arrived: of a multidestination packet, its last copy.
  virtual void arrived(u32 end, const Packet& packet, const Signals& signals, Tick now, Pace& pace) noexcept {
    static_cast<void>(end);
    static_cast<void>(packet);
    static_cast<void>(signals);
    static_cast<void>(now);
    static_cast<void>(pace);
  }

  // --- at either end -------------------------------------------------------------------------------------------
  virtual void heard(u32 end, const Feedback& feedback, Tick now, Pace& pace) noexcept {
    static_cast<void>(end);
    static_cast<void>(feedback);
    static_cast<void>(now);
    static_cast<void>(pace);
  }
  virtual void timer(u32 end, Tick now, Pace& pace) noexcept {
    static_cast<void>(end);
    static_cast<void>(now);
    static_cast<void>(pace);
  }

  /// After everything that the terminal hears at this tick.
  virtual void clock(u32 terminal, Tick now, Pace& pace) noexcept {
    static_cast<void>(terminal);
    static_cast<void>(now);
    static_cast<void>(pace);
  }

  /// The digest of what is remembered of an end, for state hashes.
  [[nodiscard]] virtual u64 digest(u32 end) const noexcept = 0;
  /// Whether the digest of an end changes in calls with its number alone, which clock() is none of: it is asked for
  /// after those only.
  [[nodiscard]] virtual bool ends_are_apart() const noexcept { return false; }
  /// All that it remembers between two ticks.
  virtual void archive(Archive& a) {
    static_cast<void>(a);
    throw NotArchived("admission");
  }
  /// A state that was read goes on at tick `from`, perhaps with other values of parameters that may change in flight
  /// (Parameter::in_flight) than it was written with: they hold from then on. A timer that runs is over after the time
  /// that it has now at the latest. Where no value is another one this changes nothing.
  virtual void goes_on(Tick from, Pace& pace) noexcept {
    static_cast<void>(from);
    static_cast<void>(pace);
  }
  /// Why the gate of a sending end is shut, for the watchdog: "8 of its 8 flits are in flight".
  [[nodiscard]] virtual std::string explain(u32 end) const = 0;
  /// What is wrong with what it remembers, for audits between two ticks; empty: nothing.
  [[nodiscard]] virtual std::string violation() const { return {}; }
};

struct AdmissionContext {
  u32 terminals = 0;
  u32 longest_packet = 1;      ///< flits
  double cycle_ns = 0.0;       ///< length of a cycle; 0: the switch model gives it none
  u32 overhead = 0;            ///< flits that a packet occupies a link for, beyond its own
  std::vector<u32> injection;  ///< [terminal]: cycles per flit of its channel to the network; empty: 1 each
  std::vector<u32> ejection;   ///< likewise of its channel from the network
  /// (source, destination): ticks that the longest packet takes there and a packet of feedback back, on shortest ways
  /// where nobody waits. To be called by one thread at a time.
  std::function<Tick(u32, u32)> round_trip;
  /// The longest of them over all pairs. To be called while the network is built.
  std::function<Tick()> longest_round_trip;

  /// longest_round_trip, or a tick where nobody knows.
  [[nodiscard]] Tick longest() const { return longest_round_trip ? longest_round_trip() : 1; }
  /// Cycles for which a packet of so many flits occupies the channel of its source, or of its destination.
  [[nodiscard]] u64 injection_cycles(u32 terminal, u32 flits) const noexcept {
    return (u64{flits} + overhead) * (injection.empty() ? 1 : injection[terminal]);
  }
  [[nodiscard]] u64 ejection_cycles(u32 terminal, u32 flits) const noexcept {
    return (u64{flits} + overhead) * (ejection.empty() ? 1 : ejection[terminal]);
  }
};

/// Registration row: `const core::AdmissionRow row_NAME` in `namespace banyan::admission::NAME`. `make` throws
/// ConfigError (through Values::fail) when the parameters do not fit the network; it may return nullptr: no flows are
/// kept then.
struct AdmissionRow {
  config::ComponentInfo info;
  std::unique_ptr<Admission> (*make)(const config::Values&, const AdmissionContext&) = nullptr;
  /// It holds back only what it hears of by marks of switches (switch.mark).
  bool needs_marks = false;
  /// It reads what switches write into packets (Admission::utilization_time).
  bool needs_utilization = false;
  /// Until it hears something, a flow leaves as fast as its link takes it.
  bool open_until_told = false;
};

}  // namespace banyan::core
