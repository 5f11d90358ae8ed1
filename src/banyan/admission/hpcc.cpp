// A window per flow from the utilization that switches write into packets: HPCC.
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
#include "banyan/core/utilization.hpp"

namespace banyan::admission::hpcc {
namespace {

using config::Parameter;

/// Windows are ticks for which packets occupy the link of their source, so that the share of the link that a window
/// asks for is the window over the round trip.
struct Settings {
  parts::FlowIs flow = parts::FlowIs::destination;
  core::Carrier carrier;
  double round_trip = 1.0;  ///< T
  double target = 0.95;     ///< eta
  u32 stages = 5;           ///< maxStage
  double increase = 1.0;    ///< W_ai
  double least = 1.0;       ///< window
};

class Hpcc final : public core::Admission {
 public:
  Hpcc(const Settings& settings, parts::Acknowledgments acknowledgments, const core::AdmissionContext& context)
      : set_(settings), acknowledgments_(std::move(acknowledgments)), context_(context) {}

  void begin() override {
    ends_.clear();
    acknowledgments_.begin();
  }
  [[nodiscard]] core::Carrier carrier() const noexcept override { return set_.carrier; }
  [[nodiscard]] Tick utilization_time() const noexcept override {
    return static_cast<Tick>(std::lround(set_.round_trip));
  }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(set_.flow, member);
  }
  void open(u32 end, const core::FlowEnd& what) override {
    ends_.resize(std::size_t{end} + 1);
    ends_[end].terminal = what.at_source ? what.terminal : what.peer;
    ends_[end].window = ends_[end].reference = set_.round_trip;  // what the link carries in a round trip: W_init
    acknowledgments_.open(end);
  }
  void fetch(u32 end, bool at_source) const noexcept override {
    if (at_source) __builtin_prefetch(&ends_[end]);
  }

  /// A packet leaves while less than a window is in flight, and not before the one ahead has had its time at the rate
  /// of the window over T (section 3.2).
  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    const End& e = ends_[end];
    if (e.in_flight != 0 && static_cast<double>(e.in_flight) >= e.window) return kNever;
    return std::max(static_cast<Tick>(std::ceil(e.next)), now);
  }
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    End& e = ends_[end];
    const u64 work = work_of(e, what.flits, 1);
    e.in_flight += work;
    e.sent += work;
    e.next = std::max(e.next, static_cast<double>(now)) + static_cast<double>(work) * set_.round_trip / e.window;
  }
  void arrived(u32 end, const core::Packet& packet, const core::Signals& signals, Tick now,
               core::Pace& pace) noexcept override {
    acknowledgments_.arrived(end, {.flits = packet.flits, .value = signals.value, .packets = 1}, now, pace);
  }
  void timer(u32 end, Tick now, core::Pace& pace) noexcept override { acknowledgments_.timer(end, now, pace); }
  /// Algorithm 1, NewAck.
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    End& e = ends_[end];
    const u64 work = work_of(e, feedback.flits, feedback.packets);
    e.in_flight -= work;
    e.acknowledged += work;
    const bool round_is_over = e.acknowledged > e.round_end;
    compute_window(e, core::decode_utilization(static_cast<u16>(feedback.value)), round_is_over);
    if (round_is_over) e.round_end = e.sent;
    pace.gate(end, now);
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    const End& e = ends_[end];
    Hasher h;
    for (const u64 v : {std::bit_cast<u64>(e.window), std::bit_cast<u64>(e.reference), std::bit_cast<u64>(e.next),
                        e.in_flight, e.sent, e.acknowledged, e.round_end, u64{e.stage}, acknowledgments_.digest(end)}) {
      h.add(v);
    }
    return h.value();
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("{} cycles of its link are in flight, of a window of {:.1f}", ends_[end].in_flight,
                       ends_[end].window);
  }
  [[nodiscard]] std::string violation() const override {
    for (const End& e : ends_) {
      if (e.in_flight >> 63U != 0) return "hpcc was told of more arrivals than it has sent";
      if (!(e.window >= set_.least && e.window <= set_.round_trip))
        return fmt::format("hpcc has a window of {}, and they are from {} to {}", e.window, set_.least,
                           set_.round_trip);
    }
    return {};
  }
  /// A network may go on with another target, whose smallest window is another one.
  void archive(Archive& a) override {
    a(acknowledgments_, ends_);
    for (End& e : ends_) {
      e.window = std::clamp(e.window, set_.least, set_.round_trip);
      e.reference = std::clamp(e.reference, set_.least, set_.round_trip);
    }
  }

 private:
  struct End {
    u32 terminal = 0;        ///< the source
    u32 stage = 0;           ///< incStage
    double window = 0.0;     ///< W
    double reference = 0.0;  ///< W^c
    double next = 0.0;       ///< tick from which on the next packet may leave
    u64 in_flight = 0;       ///< ticks of the source's link, as all below
    u64 sent = 0;
    u64 acknowledged = 0;
    u64 round_end = 0;  ///< lastUpdateSeq: what was sent when the reference was set last
  };

  [[nodiscard]] u64 work_of(const End& e, u32 flits, u32 packets) const noexcept {
    const u64 cycles = context_.injection.empty() ? 1 : context_.injection[e.terminal];
    return (u64{flits} + u64{packets} * context_.overhead) * cycles;
  }
  /// Algorithm 1, ComputeWind: at once towards the target, by the reference of this round trip; or a step up, at most
  /// `stages` times in a row.
  void compute_window(End& e, double utilization, bool sets_reference) const noexcept {
    const bool jumps = utilization >= set_.target || e.stage >= set_.stages;
    const double scaled = jumps ? e.reference * set_.target / std::max(utilization, 1e-6) : e.reference;
    e.window = std::clamp(scaled + set_.increase, set_.least, set_.round_trip);
    if (!sets_reference) return;
    e.stage = jumps ? 0 : e.stage + 1;
    e.reference = e.window;
  }

  Settings set_;
  parts::Acknowledgments acknowledgments_;
  core::AdmissionContext context_;
  std::vector<End> ends_;  ///< [end]; of receiving ends nothing changes
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  Settings set;
  set.flow = parts::flow_is(values);
  set.carrier = parts::carrier(values);
  auto acknowledgments = parts::prompt_acknowledgments(values, context);
  const double given = values.real("round_trip");
  // A window less than what the link carries until the acknowledgment is there would hold a flow below its target.
  set.round_trip = given > 0.0 ? static_cast<double>(parts::ticks_of(given, parts::cycle_ns(values, context)))
                               : static_cast<double>(context.longest() + acknowledgments.wait());
  set.target = values.real("target");
  set.stages = values.natural("stages");
  const double flows = values.natural("flows") != 0 ? values.natural("flows") : std::max(context.terminals, 2U) - 1;
  set.increase = set.round_trip * (1.0 - set.target) / flows;
  // A flow that is cut while the queue of an incast drains must not be silent for long after it.
  set.least = set.round_trip * std::min(0.01, 0.5 * set.target / flows);
  return std::make_unique<Hpcc>(set, std::move(acknowledgments), context);
}

}  // namespace

extern const core::AdmissionRow row_hpcc;
const core::AdmissionRow row_hpcc{
    .info =
        {"hpcc", "A window per flow from how busy the busiest link of its way is, which switches write into packets",
         "Y. Li et al., HPCC: High Precision Congestion Control, SIGCOMM 2019; R. Ben Basat et al., PINT: "
         "Probabilistic In-band Network Telemetry, SIGCOMM 2020, section 4.3",
         parts::with_acknowledgments(
             {parts::flow_parameter(), parts::cycle_parameter(),
              Parameter::real("round_trip", 0.0)
                  .unit("ns")
                  .range(0, 1e12)
                  .doc("Base round trip (T), for which windows are and over which switches measure; 0: the longest "
                       "of the network without load, and feedback_wait"),
              Parameter::real("target", 0.95)
                  .above(0)
                  .range(0, 0.999)
                  .in_flight()
                  .doc("Utilization that is aimed at (eta; 0.95)"),
              Parameter::integer("stages", 5)
                  .range(0, 1'000'000)
                  .in_flight()
                  .doc("Steps of additive increase in a row before a window is set by the utilization again "
                       "(maxStage; 5)"),
              Parameter::integer("flows", 0)
                  .range(0, 1'000'000'000)
                  .in_flight()
                  .doc("Most flows of a link at a time (N): a window grows by what its link carries in T, times (1 - "
                       "eta) / N (W_ai, section 3.3); 0: one of every other terminal")},
             2, "the time of feedback_every of the longest packets on the slowest link of a terminal")},
    .make = &make,
    .needs_utilization = true};

}  // namespace banyan::admission::hpcc
