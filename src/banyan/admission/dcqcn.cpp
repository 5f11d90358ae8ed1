// A rate per flow that notifications cut and timers raise: DCQCN.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>
#include <vector>

#include "banyan/admission/parts/carrier.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/admission/parts/times.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/base/pages.hpp"
#include "banyan/core/notification.hpp"

namespace banyan::admission::dcqcn {
namespace {

using config::Parameter;

/// Rates are shares of the flits that the source's link carries back to back, times are ticks.
struct Settings {
  parts::FlowIs flow = parts::FlowIs::destination;
  core::Carrier carrier;
  double gain = 0.0;        ///< g
  Tick notification = 1;    ///< N: least time between two notifications of a flow
  Tick estimate_timer = 1;  ///< after so long without one the estimate decays
  Tick increase_timer = 1;  ///< T
  u64 increase_flits = 1;   ///< B
  u32 recovery = 1;         ///< F: stages of fast recovery
  double additive = 0.0;    ///< R_AI
  double hyper = 0.0;       ///< R_HAI
  double least = 0.0;       ///< rate

  bool operator==(const Settings&) const = default;
};

/// A hash of values in fixed places: a sum with a factor for each, which is mixed once.
template <class... Values>
[[nodiscard]] constexpr u64 digest_of(Values... values) noexcept {
  u64 sum = 0;
  u64 place = 0;
  ((sum += values * (mix64(++place) | 1U)), ...);
  return mix64(sum);
}

class Dcqcn final : public core::Admission, public core::HearsSwitches {
 public:
  Dcqcn(const Settings& settings, std::vector<u32> injection) : set_(settings), injection_(std::move(injection)) {}

  void begin() override {
    ends_.clear();
    told_.clear();
  }
  [[nodiscard]] core::Carrier carrier() const noexcept override { return set_.carrier; }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(set_.flow, member);
  }
  void open(u32, const core::FlowEnd& what) override {
    ends_.push_back({.cycles = injection_.empty() ? 1 : injection_[what.terminal]});
  }
  /// Where nothing is marked a receiving end is not looked at.
  void fetch(u32 end, bool at_source) const noexcept override {
    if (at_source) __builtin_prefetch(&ends_[end]);
  }

  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return std::max(static_cast<Tick>(std::ceil(ends_[end].next)), now);
  }
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    auto& [place, cycles_per_flit, next] = ends_[end];
    next = std::max(next, static_cast<double>(now));
    const double cycles = static_cast<double>(what.flits) * cycles_per_flit;
    if (place == kNone) {
      next += cycles;
      return;
    }
    Told& e = told_[place];
    catch_up(e, now);
    next += cycles / e.rate;
    if (!e.limited) return;
    for (e.flits += what.flits; e.flits >= set_.increase_flits; e.flits -= set_.increase_flits) {
      ++e.flit_stages;
      increase(e);
    }
  }

  /// The notification point.
  void arrived(u32 end, const core::Packet&, const core::Signals& signals, Tick now,
               core::Pace& pace) noexcept override {
    if (!signals.marked) return;
    Told& e = told(end);
    if (now < e.quiet_until) return;
    e.quiet_until = now + set_.notification;
    pace.tell(end, {.packets = 1, .marked = 1});
  }
  /// The reaction point: a notification cuts the rate, and begins fast recovery (equation 1). Of switches it heeds as
  /// many as a receiver would have sent. A timer of the same tick is begun anew before it has run out.
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace&) noexcept override {
    Told& e = told(end);
    catch_up(e, now - 1);
    if (feedback.kind == core::kSwitchNotification) {
      if (now < e.quiet_until) return;
      e.quiet_until = now + set_.notification;
    }
    e.target = e.rate;
    e.rate = std::max(set_.least, e.rate * (1.0 - e.estimate / 2.0));
    e.estimate = (1.0 - set_.gain) * e.estimate + set_.gain;
    e.flits = 0;
    e.time_stages = e.flit_stages = 0;
    e.decay_at = now + set_.estimate_timer;
    e.increase_at = now + set_.increase_timer;
    e.limited = true;
  }
  void goes_on(Tick from, core::Pace&) noexcept override {
    if (of_state_ == set_) return;
    std::swap(of_state_, set_);
    for (Told& e : told_) catch_up(e, from - 1);
    set_ = of_state_;
    for (Told& e : told_) {
      e.quiet_until = std::min(e.quiet_until, from + set_.notification);
      e.decay_at = std::min(e.decay_at, from + set_.estimate_timer);
      e.increase_at = std::min(e.increase_at, from + set_.increase_timer);
    }
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    // Where an end was never notified, all else is as it was at the beginning.
    constexpr u64 kOne = std::bit_cast<u64>(1.0);
    const u64 next = std::bit_cast<u64>(ends_[end].next);
    const u32 place = ends_[end].told;
    if (place == kNone || told_[place].decay_at == 0) {
      const u64 quiet_until = place == kNone ? 0 : told_[place].quiet_until;
      return digest_of(kOne, kOne, kOne, next, u64{0}, quiet_until, u64{0}, u64{0}, u64{0}, u64{0});
    }
    const Told& e = told_[place];
    return digest_of(std::bit_cast<u64>(e.rate), std::bit_cast<u64>(e.target), std::bit_cast<u64>(e.estimate), next,
                     e.flits, e.quiet_until, e.decay_at, e.increase_at, u64{e.time_stages} << 32U | e.flit_stages,
                     u64{e.limited ? 1U : 0U});
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("its next packet leaves at tick {:.0f}, at {:.4g} flits per cycle", std::ceil(ends_[end].next),
                       (ends_[end].told == kNone ? 1.0 : told_[ends_[end].told].rate) / ends_[end].cycles);
  }
  [[nodiscard]] std::string violation() const override {
    for (const Told& e : told_) {
      if (!(e.rate >= set_.least && e.rate <= 1.0 && e.estimate >= 0.0 && e.estimate <= 1.0))
        return fmt::format("dcqcn has a rate of {} and an estimate of {}", e.rate, e.estimate);
    }
    return {};
  }
  void archive(Archive& a) override {
    of_state_ = set_;
    a(ends_, told_, of_state_);
  }

 private:
  /// What a packet of a flow at the link's rate needs, and no more: there are as many as pairs of terminals.
  struct End {
    u32 told = kNone;   ///< where what it was told is; kNone: nothing
    u32 cycles = 1;     ///< per flit of the source's link
    double next = 0.0;  ///< tick from which on the next packet may leave
  };
  /// What is known of an end to which something came: at the receiver a marked packet, at the source a notification.
  struct Told {
    double rate = 1.0;      ///< R_C
    double target = 1.0;    ///< R_T
    double estimate = 1.0;  ///< alpha
    u64 flits = 0;          ///< sent since the byte counter's last stage
    Tick quiet_until = 0;   ///< receiver: no notification before; source: none of a switch is heeded
    Tick decay_at = 0;
    Tick increase_at = 0;
    u32 time_stages = 0;  ///< since the last notification
    u32 flit_stages = 0;
    bool limited = false;  ///< it was notified, and is not back at the link's rate
  };

  [[nodiscard]] Told& told(u32 end) {
    u32& place = ends_[end].told;
    if (place == kNone) {
      place = static_cast<u32>(told_.size());
      told_.emplace_back();
    }
    return told_[place];
  }

  /// What the timers of an end have done up to `until`. A rate matters when a packet leaves and a notification comes:
  /// nobody is woken for a timer, of which there are as many as flows, most with nothing to send.
  void catch_up(Told& e, Tick until) const noexcept {
    if (e.decay_at == 0) return;  // never notified
    while (e.limited && e.increase_at <= until) {
      decay(e, e.increase_at);
      ++e.time_stages;
      e.increase_at += set_.increase_timer;
      increase(e);
    }
    decay(e, until);
  }

  /// Equation 2, which goes on where the rate is that of the link.
  void decay(Told& e, Tick until) const noexcept {
    if (e.decay_at > until) return;
    const u64 times = (until - e.decay_at) / set_.estimate_timer + 1;
    e.decay_at += times * set_.estimate_timer;
    constexpr double kNothing = 1e-20;  // a cut by half of it leaves the rate what it is
    for (u64 i = 0; i < times && e.estimate > kNothing; ++i) e.estimate *= 1.0 - set_.gain;
  }

  /// Fast recovery, additive or hyper increase (equations 3 and 4).
  void increase(Told& e) const noexcept {
    if (std::max(e.time_stages, e.flit_stages) > set_.recovery) {
      const u32 both = std::min(e.time_stages, e.flit_stages);
      e.target += both > set_.recovery ? (both - set_.recovery) * set_.hyper : set_.additive;
      e.target = std::min(e.target, 1.0);
    }
    e.rate = (e.target + e.rate) / 2.0;
    // The rest of the way is halved for ever otherwise: a thousandth of the link is no limit any more.
    if (e.target < 1.0 || e.rate < 0.999) return;
    e.rate = 1.0;
    e.limited = false;
  }

  Settings set_;
  std::vector<u32> injection_;  ///< [terminal]: cycles per flit of its link; empty: 1 each
  Settings of_state_;           ///< those of what was archived
  PageVector<End> ends_;        ///< [end]
  std::vector<Told> told_;      ///< in the order in which they were told something first
};

/// A published set of parameters: times in nanoseconds, rates as shares of the link's.
struct Published {
  double gain;
  double notification_time;
  double estimate_time;
  double increase_time;
  u32 increase_flits;
  u32 recovery;
  double additive;
  double hyper;
  double least;
};

/// Zhu et al. 2015, for 40 Gbps: g = 1/256, 50 us, 55 us, 55 us, 10 MB, F = 5, 40 Mbps; ten times that, as QCN has it,
/// for hyper increase; at least 10 Mbps.
constexpr Published kPaper{.gain = 1.0 / 256,
                           .notification_time = 50'000,
                           .estimate_time = 55'000,
                           .increase_time = 55'000,
                           .increase_flits = 10'000'000,
                           .recovery = 5,
                           .additive = 0.001,
                           .hyper = 0.01,
                           .least = 0.00025};
/// The vendor's, which HPCC's comparison uses for 25 Gbps: g = 1 - 1019/1024, 4 us, 1 us, 300 us, 32,767 bytes, F = 1,
/// 5 Mbps, 50 Mbps, at least 1 Mbps.
constexpr Published kVendor{.gain = 5.0 / 1024,
                            .notification_time = 4'000,
                            .estimate_time = 1'000,
                            .increase_time = 300'000,
                            .increase_flits = 32'767,
                            .recovery = 1,
                            .additive = 0.0002,
                            .hyper = 0.002,
                            .least = 0.00004};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  Settings set;
  const double cycle = parts::cycle_ns(values, context);
  const Published& published = values.text("set") == "vendor" ? kVendor : kPaper;
  const auto real = [&](const char* name, double of_set) {
    const double given = values.real(name);
    return given > 0.0 ? given : of_set;
  };
  const auto natural = [&](const char* name, u32 of_set) {
    const u32 given = values.natural(name);
    return given != 0 ? given : of_set;
  };
  set.flow = parts::flow_is(values);
  set.carrier = parts::carrier(values);
  set.gain = real("gain", published.gain);
  set.notification = parts::ticks_of(real("notification_time", published.notification_time), cycle);
  set.estimate_timer = parts::ticks_of(real("estimate_time", published.estimate_time), cycle);
  set.increase_timer = parts::ticks_of(real("increase_time", published.increase_time), cycle);
  set.increase_flits = natural("increase_flits", published.increase_flits);
  set.recovery = natural("recovery", published.recovery);
  set.additive = real("additive", published.additive);
  set.hyper = real("hyper", published.hyper);
  set.least = real("least", published.least);
  return std::make_unique<Dcqcn>(set, context.injection);
}

}  // namespace

extern const core::AdmissionRow row_dcqcn;
const core::AdmissionRow row_dcqcn{
    .info = {"dcqcn",
             "A rate per flow that notifications of marked packets cut, and timers and a byte counter raise again",
             "Y. Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015",
             parts::with_carrier(
                 {parts::flow_parameter(), parts::cycle_parameter(),
                  Parameter::choice("set", {"paper", "vendor"}, "paper")
                      .doc("Published set that gives what is 0 below: that of the paper (for 40 Gbps), or the one "
                           "that the vendor of its adapters ships and HPCC is compared with (for 25 Gbps)"),
                  Parameter::real("gain", 0.0)
                      .range(0, 1)
                      .in_flight()
                      .doc("Weight of a notification in the estimate (g; 1/256, vendor 5/1024)"),
                  Parameter::real("notification_time", 0.0)
                      .unit("ns")
                      .range(0, 1e12)
                      .in_flight()
                      .doc("Least time between two notifications of a flow (N; 50 us, vendor 4 us)"),
                  Parameter::real("estimate_time", 0.0)
                      .unit("ns")
                      .range(0, 1e12)
                      .in_flight()
                      .doc("Time without a notification after which the estimate decays (K; 55 us, vendor 1 us)"),
                  Parameter::real("increase_time", 0.0)
                      .unit("ns")
                      .range(0, 1e12)
                      .in_flight()
                      .doc("Period of the timer that raises the rate (T; 55 us, vendor 300 us)"),
                  Parameter::integer("increase_flits", 0)
                      .unit("flits")
                      .range(0, 1'000'000'000)
                      .in_flight()
                      .doc("Flits after which the byte counter raises the rate (B; 10 MB, vendor 32,767 B)"),
                  Parameter::integer("recovery", 0)
                      .range(0, 1'000'000)
                      .in_flight()
                      .doc("Stages of fast recovery before the target rises (F; 5, vendor 1)"),
                  Parameter::real("additive", 0.0)
                      .unit("flits/cycle")
                      .range(0, 1)
                      .in_flight()
                      .doc("What a stage of additive increase raises the target by (R_AI; 40 Mbps of 40 Gbps, vendor "
                           "5 Mbps of 25 Gbps)"),
                  Parameter::real("hyper", 0.0)
                      .unit("flits/cycle")
                      .range(0, 1)
                      .in_flight()
                      .doc("The same of hyper increase, times the stages of it (R_HAI; ten times R_AI, as in QCN and "
                           "in the vendor's set)"),
                  Parameter::real("least", 0.0)
                      .unit("flits/cycle")
                      .range(0, 1)
                      .doc("Smallest rate (10 Mbps of 40 Gbps, vendor 1 Mbps of 25 Gbps)")})},
    .make = &make,
    .needs_marks = true,
    .open_until_told = true};

}  // namespace banyan::admission::dcqcn
