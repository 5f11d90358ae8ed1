// A window that keeps the round trip at a target: Swift, with windows below a packet.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "banyan/admission/parts/acknowledgments.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/admission/parts/times.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::swift {
namespace {

using config::Parameter;

/// Times are ticks, windows packets.
struct Settings {
  parts::FlowIs flow = parts::FlowIs::destination;
  core::Carrier carrier;
  double packet = 1.0;   ///< flits of the longest packet
  double base = 0.0;     ///< target of a way without switches
  double hop = 0.0;      ///< what a switch adds to it
  double scaling = 0.0;  ///< what the smallest window adds to it (fs_range)
  double scaled_from = 0.1;
  double scaled_to = 100.0;
  double increase = 1.0;       ///< ai
  double decrease = 0.8;       ///< beta
  double most_decrease = 0.5;  ///< max_mdf
  double least = 0.001;
  double most = 1000.0;
};

class Swift final : public core::Admission {
 public:
  Swift(const Settings& settings, parts::Acknowledgments acknowledgments)
      : set_(settings), acknowledgments_(std::move(acknowledgments)) {
    if (set_.scaling > 0.0)
      slope_ = set_.scaling / (1.0 / std::sqrt(set_.scaled_from) - 1.0 / std::sqrt(set_.scaled_to));
  }

  void begin() override {
    ends_.clear();
    acknowledgments_.begin();
  }
  [[nodiscard]] core::Carrier carrier() const noexcept override { return set_.carrier; }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(set_.flow, member);
  }
  void open(u32 end, const core::FlowEnd&) override {
    ends_.resize(std::size_t{end} + 1);
    acknowledgments_.open(end);
  }
  void fetch(u32 end, bool at_source) const noexcept override {
    if (at_source) __builtin_prefetch(&ends_[end]);
  }

  /// A window below one packet sends one per round trip over the window (section 3.4).
  [[nodiscard]] Tick may_send(u32 end, const core::Departure& next, Tick now) const noexcept override {
    const End& e = ends_[end];
    if (e.in_flight != 0 && static_cast<double>(e.in_flight + next.flits) > e.window * set_.packet) return kNever;
    return e.window < 1.0 ? std::max(e.next, now) : now;
  }
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    End& e = ends_[end];
    e.in_flight += what.flits;
    if (e.window < 1.0) e.next = now + static_cast<Tick>(std::ceil(static_cast<double>(e.round_trip) / e.window));
  }
  /// The time in the network goes back with the acknowledgment, so that waiting at the source is no part of the delay;
  /// of several packets that of the last one, so that the wait of the others for it is none either.
  void arrived(u32 end, const core::Packet& packet, const core::Signals& signals, Tick now,
               core::Pace& pace) noexcept override {
    acknowledgments_.arrived(end,
                             {.flits = packet.flits,
                              .value = static_cast<u32>(std::min<Tick>(now - packet.enter, 0xffffffffU)),
                              .packets = 1,
                              .hops = static_cast<u8>(std::min<u16>(signals.hops, 255))},
                             now, pace);
  }
  void timer(u32 end, Tick now, core::Pace& pace) noexcept override { acknowledgments_.timer(end, now, pace); }
  /// Algorithm 1.
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    End& e = ends_[end];
    const bool full = e.window < 1.0 || static_cast<double>(e.in_flight) + set_.packet > e.window * set_.packet;
    e.in_flight -= feedback.flits;
    e.round_trip = feedback.value + (now - feedback.sent);
    const double delay = static_cast<double>(e.round_trip);
    const double target = target_of(e.window, feedback.hops);
    if (delay < target) {
      const double packets = feedback.flits / set_.packet;
      if (full) e.window += e.window >= 1.0 ? set_.increase * packets / e.window : set_.increase * packets;
    } else if (now >= e.cut_again) {
      e.window *= std::max(1.0 - set_.decrease * (delay - target) / delay, 1.0 - set_.most_decrease);
      e.cut_again = now + e.round_trip;
    }
    e.window = std::clamp(e.window, set_.least, set_.most);
    pace.gate(end, now);
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    const End& e = ends_[end];
    Hasher h;
    for (const u64 v :
         {std::bit_cast<u64>(e.window), e.in_flight, e.next, e.cut_again, e.round_trip, acknowledgments_.digest(end)}) {
      h.add(v);
    }
    return h.value();
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("{} flits of its window of {:.3g} packets are in flight", ends_[end].in_flight,
                       ends_[end].window);
  }
  [[nodiscard]] std::string violation() const override {
    for (const End& e : ends_) {
      if (e.in_flight >> 63U != 0) return "swift was told of more arrivals than it has sent";
    }
    return {};
  }
  void archive(Archive& a) override { a(acknowledgments_, ends_); }

 private:
  struct End {
    double window = 1.0;  ///< packets
    u64 in_flight = 0;    ///< flits
    Tick next = 0;        ///< of a window below a packet: when the next one may leave
    Tick cut_again = 0;
    Tick round_trip = 1;  ///< the last one
  };

  /// Section 3.5: longer ways and smaller windows have larger targets.
  [[nodiscard]] double target_of(double window, u32 hops) const noexcept {
    const double target = set_.base + hops * set_.hop;
    if (set_.scaling <= 0.0) return target;
    const double scaled = slope_ * (1.0 / std::sqrt(window) - 1.0 / std::sqrt(set_.scaled_to));
    return target + std::clamp(scaled, 0.0, set_.scaling);
  }

  Settings set_;
  parts::Acknowledgments acknowledgments_;
  double slope_ = 0.0;
  std::vector<End> ends_;  ///< [end]; of receiving ends nothing changes
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  Settings set;
  const double cycle = parts::cycle_ns(values, context);
  set.flow = parts::flow_is(values);
  set.carrier = parts::carrier(values);
  set.packet = context.longest_packet;
  set.base = values.real("target") / cycle;
  set.hop = values.real("hop_target") / cycle;
  set.scaling = values.real("flow_target") / cycle;
  set.increase = values.real("increase");
  set.decrease = values.real("decrease");
  set.most_decrease = values.real("most_decrease");
  set.least = values.real("least");
  set.most = values.real("most");
  if (set.least > set.most) {
    values.fail("least", fmt::format("windows from {} to {} packets", set.least, set.most),
                fmt::format("use least = {} or less", set.most));
  }
  return std::make_unique<Swift>(set, parts::acknowledgments(values, context));
}

}  // namespace

extern const core::AdmissionRow row_swift;
const core::AdmissionRow row_swift{
    .info =
        {"swift", "A window per flow that keeps its round trip at a target, down to a fraction of a packet",
         "G. Kumar et al., Swift: Delay is Simple and Effective for Congestion Control in the Datacenter, SIGCOMM "
         "2020",
         parts::with_acknowledgments(
             {parts::flow_parameter(), parts::cycle_parameter(),
              Parameter::real("target", 25'000.0)
                  .unit("ns")
                  .above(0)
                  .range(0, 1e12)
                  .in_flight()
                  .doc("Round trip that is aimed at on a way without switches"),
              Parameter::real("hop_target", 1'000.0)
                  .unit("ns")
                  .range(0, 1e12)
                  .in_flight()
                  .doc("What every switch on the way adds to the target; 1 us is a packet of 4 kB at 40 Gbps and a "
                       "channel of 40 m"),
              Parameter::real("flow_target", 0.0)
                  .unit("ns")
                  .range(0, 1e12)
                  .in_flight()
                  .doc("What the target grows by, at most, as windows fall from 100 packets to 0.1 (fs_range); 0: "
                       "it does not"),
              Parameter::real("increase", 1.0)
                  .unit("packets")
                  .above(0)
                  .range(0, 1e6)
                  .in_flight()
                  .doc("What a window grows by per round trip below the target (ai)"),
              Parameter::real("decrease", 0.8)
                  .above(0)
                  .range(0, 1)
                  .in_flight()
                  .doc("Share of the excess over the target that a window is cut by (beta)"),
              Parameter::real("most_decrease", 0.5)
                  .above(0)
                  .range(0, 0.999)
                  .in_flight()
                  .doc("Most that a window is cut by at once (max_mdf)"),
              Parameter::real("least", 0.001).unit("packets").above(0).range(0, 1e6).in_flight().doc("Smallest window"),
              Parameter::real("most", 1000.0).unit("packets").range(1, 1e9).in_flight().doc("Largest window")},
             2)},
    .make = &make};

}  // namespace banyan::admission::swift
