// What the endpoints of one shard write down: totals, sums by class of packets, and sums by window of a steady run. All
// of it is integers, so that the order in which shards are merged cannot show.
#pragma once

#include <vector>

#include "banyan/base/archive.hpp"
#include "banyan/engine/endpoint_plan.hpp"
#include "banyan/engine/latency_sums.hpp"
#include "banyan/engine/multicast_ledger.hpp"

namespace banyan::engine {

/// The packets that count: generated in [from, to].
struct Window {
  Tick from = kNever;
  Tick to = kNever;

  [[nodiscard]] bool holds(Tick birth) const noexcept { return birth >= from && birth <= to; }
};

class Recorder {
 public:
  explicit Recorder(const EndpointPlan& plan);

  void reset();
  void set_window(Window window) noexcept { window_ = window; }
  [[nodiscard]] const Window& window() const noexcept { return window_; }
  /// Records a longer run; all ticks before the present end are done, none after it.
  void extend(const SteadyPlan& longer) {
    steady_plan_ = longer;
    record_.extend(longer);
  }

  // --- told by the source --------------------------------------------------------------------------------------
  // Those two of a steady run only:
  /// Flits of a message that was born at `birth` and begins to leave its source.
  void offered(u32 traffic, Tick birth, u32 flits) noexcept { note_offered(record_, traffic, birth, flits); }
  /// The same into another record: what still waits. False: born behind the end of the plan.
  bool note_offered(SteadyRecord& record, u32 traffic, Tick birth, u64 flits) const noexcept {
    if (birth >= steady_plan_.end) return false;
    const std::size_t window = birth >> steady_plan_.shift;
    record.offered[window] += flits;
    if (!record.shares.empty()) record.shares[traffic].offered[window] += flits;
    if (record.timeline.on()) [[unlikely]]
      record.timeline.offered(traffic, birth, flits);
    return true;
  }
  /// A packet was made that is no part of load and latency.
  void made_control(u32 flits) noexcept {
    ++taken_;
    taken_flits_ += flits;
    ++control_.taken;
    control_.taken_flits += flits;
  }
  /// A packet was made, for `copies` destinations. True: it was born in the window, or after it.
  bool made(Tick birth, u32 flits, u32 copies) noexcept {
    taken_ += copies;
    taken_flits_ += u64{copies} * flits;
    if (birth < window_.from) return false;
    counted_taken_ += birth <= window_.to ? copies : 0U;
    return true;
  }
  /// A packet was made that its source still keeps (Source::take_waiting); it begins to leave.
  void waits() noexcept { ++waiting_; }
  void left() noexcept { --waiting_; }
  [[nodiscard]] u64 waiting() const noexcept { return waiting_; }
  [[nodiscard]] bool steady() const noexcept { return steady_; }
  /// `flits` of `copies` packets left the source queue `local` into the network.
  void taken(u32 local, u32 traffic, u32 flits, Tick now, u32 copies) noexcept {
    if (now >= steady_plan_.end) return;
    if (record_.timeline.on()) [[unlikely]]
      record_.timeline.taken(traffic, now, flits, copies);
    record_.taken[now >> steady_plan_.shift] += flits;
    if (now >= steady_plan_.histogram_from) accepted_of_[local] += flits;
  }

  /// Whether postponed() is to be called.
  [[nodiscard]] bool has_timeline() const noexcept { return record_.timeline.on(); }
  /// A packet for one terminal that was taken has not entered the network yet, which it does at `now` at the earliest.
  void postponed(const core::Packet& packet, Tick now) noexcept {
    if (packet.enter >= steady_plan_.end) return;
    record_.timeline.not_taken(packet.traffic, packet.enter, packet.flits);
    if (now < steady_plan_.end) record_.timeline.taken(packet.traffic, now, packet.flits, 1);
  }

  // --- told by the sink ----------------------------------------------------------------------------------------
  void delivered(const core::Packet& packet) noexcept {
    ++delivered_;
    delivered_flits_ += packet.flits;
  }
  void delivered_control(const core::Packet& packet) noexcept {
    ++control_.delivered;
    control_.delivered_flits += packet.flits;
  }
  /// Sums of a packet that arrived, where it counts, and its flits in the window of `now`.
  void arrived(const core::Packet& packet, Tick now, u32 hops, Tick serialization) noexcept {
    if (packet.birth >= window_.from) account(packet, now, hops, serialization);
    if (steady_ && now < steady_plan_.end) accept(packet, now);
  }
  /// A whole message arrived; from its generation to the arrival of its first and its last packet.
  void message(const core::Packet& packet, Tick first, Tick last) noexcept;
  /// A message for one destination of a traffic that multicasts arrived.
  void unicast(const core::Packet& packet, Tick now) noexcept;
  /// A multicast arrived everywhere.
  void multicast(const MulticastLedger::Entry& group) noexcept;
  /// A packet arrived beside a disturbance, or as a part of it.
  void watched(const core::Packet& packet, Tick now);
  /// One more message of a finite traffic arrived.
  void finite(u32 traffic, Tick now) noexcept {
    ++finite_[traffic].delivered;
    finite_[traffic].latest = std::max(finite_[traffic].latest, now);
  }

  // --- read ----------------------------------------------------------------------------------------------------
  [[nodiscard]] const std::vector<LatencySums>& tallies() const noexcept { return tallies_; }
  /// Deliveries owed: a multidestination packet counts once per destination.
  [[nodiscard]] u64 taken() const noexcept { return taken_; }
  [[nodiscard]] u64 taken_flits() const noexcept { return taken_flits_; }
  [[nodiscard]] u64 delivered() const noexcept { return delivered_; }
  [[nodiscard]] u64 delivered_flits() const noexcept { return delivered_flits_; }
  /// What of these is no part of load and latency.
  struct Control {
    u64 taken = 0;
    u64 taken_flits = 0;
    u64 delivered = 0;
    u64 delivered_flits = 0;
  };
  [[nodiscard]] const Control& control() const noexcept { return control_; }
  /// Counted packets taken here / delivered here.
  [[nodiscard]] u64 counted_taken() const noexcept { return counted_taken_; }
  [[nodiscard]] u64 counted_delivered() const noexcept { return counted_delivered_; }
  /// Messages of the finite traffics delivered here, and the tick of the latest.
  [[nodiscard]] u64 finite_delivered(u32 traffic) const noexcept { return finite_[traffic].delivered; }
  [[nodiscard]] Tick finite_latest(u32 traffic) const noexcept { return finite_[traffic].latest; }
  /// The record of a steady run.
  [[nodiscard]] SteadyRecord& record() noexcept { return record_; }
  [[nodiscard]] const SteadyRecord& record() const noexcept { return record_; }
  /// Flits that the network took from a terminal in the measured part of a steady run, by local terminal.
  [[nodiscard]] const std::vector<u64>& accepted_of() const noexcept { return accepted_of_; }
  /// Counted packets of a class (tally_class) generated at window.from + [index] * ticks per cycle.
  [[nodiscard]] const std::vector<u32>& generated(u32 tally) const noexcept { return generated_[tally]; }

  void archive(Archive& a) {
    a(steady_plan_, window_, tallies_, finite_, record_, accepted_of_, generated_);
    a(taken_, taken_flits_, delivered_, delivered_flits_, counted_taken_, counted_delivered_, control_, waiting_);
  }

 private:
  struct Finite {
    u64 delivered = 0;
    Tick latest = 0;
  };

  void account(const core::Packet& packet, Tick now, u32 hops, Tick serialization) noexcept;
  void accept(const core::Packet& packet, Tick now) noexcept {
    const std::size_t window = now >> steady_plan_.shift;
    if (record_.timeline.on()) [[unlikely]]
      record_.timeline.delivered(packet, now);
    record_.accepted[window] += packet.flits;
    if (!record_.shares.empty()) record_.shares[packet.traffic].accepted[window] += packet.flits;
  }
  /// Lets `f` add to every record that something of this class and birth belongs to.
  template <class F>
  [[gnu::always_inline]] void add(u32 traffic, bool hot, Tick birth, F&& f) noexcept {
    f(tallies_[tally_class(traffic, hot)]);
    if (!steady_) return;
    const std::size_t window = birth >> steady_plan_.shift;
    f(record_.births[window]);
    if (!record_.shares.empty()) f(record_.shares[traffic].births[window]);
  }

  const EndpointPlan& plan_;
  SteadyPlan steady_plan_;
  bool steady_ = false;
  Window window_;
  std::vector<LatencySums> tallies_;  ///< [tally_class]
  std::vector<Finite> finite_;        ///< [traffic]
  SteadyRecord record_;
  std::vector<u64> accepted_of_;             ///< [local]
  std::vector<std::vector<u32>> generated_;  ///< [class][tick after window.from]
  u64 taken_ = 0;
  u64 taken_flits_ = 0;
  u64 delivered_ = 0;
  u64 delivered_flits_ = 0;
  Control control_;
  u64 waiting_ = 0;
  u64 counted_taken_ = 0;
  u64 counted_delivered_ = 0;
};

}  // namespace banyan::engine
