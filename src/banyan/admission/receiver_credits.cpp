// Receivers grant: sources request what they have queued, and every receiver grants it at a pace of its own, in
// turn to the flows that want something.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "banyan/admission/parts/carrier.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::receiver_credits {
namespace {

using config::Parameter;

enum Kind : u8 { kRequest, kGrant };

/// Time is counted in parts of a tick, so that any rate is kept exactly in the long run.
constexpr u32 kPartBits = 20;

class ReceiverCredits final : public core::Admission {
 public:
  ReceiverCredits(core::Carrier carrier, double rate, u32 window, u32 unsolicited, u32 terminals)
      : carrier_(carrier),
        parts_per_flit_(static_cast<u64>(std::ceil(std::ldexp(1.0, kPartBits) / rate))),
        window_(window),
        unsolicited_(unsolicited),
        receivers_(terminals) {}

  [[nodiscard]] core::Carrier carrier() const noexcept override { return carrier_; }

  void begin() override {
    ends_.clear();
    for (Receiver& r : receivers_) r = {};
  }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(parts::FlowIs::destination, member);
  }
  void open(u32 end, const core::FlowEnd& what) override {
    ends_.resize(std::size_t{end} + 1);
    ends_[end].what = what;
  }

  // --- at the source -------------------------------------------------------------------------------------------
  void queued(u32 end, u32 flits, Tick, core::Pace& pace) noexcept override {
    pace.tell(end, {.flits = flits, .kind = kRequest});
  }
  /// A packet leaves once its first flit is granted; the grants that follow pay for the others. So no length of a
  /// packet or of a window can leave a flow with grants that are too short for what comes next.
  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return multicast(end) || ends_[end].balance + unsolicited_ > 0 ? now : kNever;
  }
  void sent(u32 end, const core::Departure& what, Tick, core::Pace&) noexcept override {
    if (!multicast(end)) ends_[end].balance -= what.flits;
  }

  // --- at the receiver -----------------------------------------------------------------------------------------
  void arrived(u32 end, const core::Packet& packet, const core::Signals&, Tick now,
               core::Pace& pace) noexcept override {
    if (multicast(end)) return;
    Receiver& r = receivers_[ends_[end].what.terminal];
    r.longest = std::max<u32>(r.longest, packet.flits);
    ends_[end].balance -= packet.flits;
    join(end, now, pace);
  }
  void clock(u32 terminal, Tick now, core::Pace& pace) noexcept override {
    Receiver& r = receivers_[terminal];
    r.clock_runs = false;
    if (r.wanting.empty()) return;
    auto turn = std::upper_bound(r.wanting.begin(), r.wanting.end(), r.last,
                                 [&](const Place& last, u32 other) { return last < place(other); });
    if (turn == r.wanting.end()) turn = r.wanting.begin();
    const u32 next = *turn;
    End& e = ends_[next];
    const u32 flits =
        static_cast<u32>(std::min<i64>({i64{r.longest}, static_cast<i64>(e.wanted), window_ - e.balance}));
    e.wanted -= flits;
    e.balance += flits;
    r.last = place(next);
    if (!may_have(e)) r.wanting.erase(turn);
    // A grant that is made at the first tick that allows it counts from its exact time; what was not granted is lost.
    if (first_tick(r) < now) r.next = now << kPartBits;
    r.next += flits * parts_per_flit_;
    pace.tell(next, {.flits = flits, .kind = kGrant});
    start(terminal, now, pace);
  }

  // --- at either end -------------------------------------------------------------------------------------------
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    if (feedback.kind == kRequest) {
      ends_[end].wanted += feedback.flits;
      join(end, now, pace);
    } else {
      ends_[end].balance += feedback.flits;
      pace.gate(end, now);
    }
  }

  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    const End& e = ends_[end];
    Hasher h;
    h.add(static_cast<u64>(e.balance));
    h.add(e.wanted);
    if (!e.what.at_source) {
      const Receiver& r = receivers_[e.what.terminal];
      for (const u64 v : {r.next, u64{r.longest}, u64{std::get<0>(r.last)}, std::get<1>(r.last), u64{r.clock_runs}})
        h.add(v);
    }
    return h.value();
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("its receiver has granted {} flits {} than have left", std::abs(ends_[end].balance),
                       ends_[end].balance < 0 ? "less" : "more");
  }
  /// What a source holds is part of what its receiver has granted and not received: both are within the window.
  [[nodiscard]] std::string violation() const override {
    for (const End& e : ends_) {
      if (e.balance > window_)
        return fmt::format("{} flits are granted at once, of a window of {}", e.balance, window_);
    }
    return {};
  }

 private:
  using Place = std::tuple<u32, u64>;  ///< source, key: the order in which flows take turns
  struct End {
    core::FlowEnd what;
    i64 balance = 0;  ///< at the source: grants heard less flits sent; at the receiver: granted less arrived
    u64 wanted = 0;   ///< at the receiver: requested and not granted
  };
  struct Receiver {
    u64 next = 0;               ///< parts of ticks: when it may grant again
    u32 longest = 1;            ///< packet that has arrived: a grant is as long
    bool clock_runs = false;    ///< a timer is set
    Place last{kNone, ~u64{}};  ///< who had the last turn; at first the flow of the lowest source begins
    std::vector<u32> wanting;   ///< ends that may be granted something, by their place
  };

  [[nodiscard]] bool multicast(u32 end) const noexcept { return static_cast<u32>(ends_[end].what.key) == kNone; }
  [[nodiscard]] Place place(u32 end) const noexcept { return {ends_[end].what.peer, ends_[end].what.key}; }
  [[nodiscard]] bool may_have(const End& e) const noexcept { return e.wanted != 0 && e.balance < window_; }
  [[nodiscard]] static Tick first_tick(const Receiver& r) noexcept {
    return (r.next + (u64{1} << kPartBits) - 1) >> kPartBits;
  }
  void join(u32 end, Tick now, core::Pace& pace) noexcept {
    if (!may_have(ends_[end])) return;
    std::vector<u32>& wanting = receivers_[ends_[end].what.terminal].wanting;
    const auto at = std::lower_bound(wanting.begin(), wanting.end(), place(end),
                                     [&](u32 other, const Place& own) { return place(other) < own; });
    if (at == wanting.end() || *at != end) wanting.insert(at, end);
    start(ends_[end].what.terminal, now, pace);
  }
  void start(u32 terminal, Tick now, core::Pace& pace) noexcept {
    Receiver& r = receivers_[terminal];
    if (r.clock_runs || r.wanting.empty()) return;
    r.clock_runs = true;
    pace.wake_terminal(terminal, std::max(now + 1, first_tick(r)));
  }

  core::Carrier carrier_;
  u64 parts_per_flit_;
  i64 window_;
  i64 unsolicited_;
  std::vector<End> ends_;
  std::vector<Receiver> receivers_;  ///< [terminal]
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  return std::make_unique<ReceiverCredits>(parts::carrier(values), values.real("rate"), values.natural("window"),
                                           values.natural("unsolicited"), context.terminals);
}

}  // namespace

extern const core::AdmissionRow row_receiver_credits;
const core::AdmissionRow row_receiver_credits{
    .info = {"receiver_credits", "Every receiver grants what sources request, in turn and at a pace of its own",
             "M. Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance, "
             "SIGCOMM 2017 (NDP); V. Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI "
             "2022 (EQDS); B. Montazeri et al., Homa, SIGCOMM 2018",
             parts::with_carrier({Parameter::real("rate", 1.0)
                                      .unit("flits/cycle")
                                      .range(1e-6, 1.0)
                                      .doc("Most flits that a receiver grants per cycle"),
                                  Parameter::integer("window", 64)
                                      .unit("flits")
                                      .range(1, 1'000'000'000)
                                      .doc("Most flits of a flow that are granted and have not arrived"),
                                  Parameter::integer("unsolicited", 0)
                                      .unit("flits")
                                      .range(0, 1'000'000'000)
                                      .doc("How far a flow may be ahead of its grants")})},
    .make = &make};

}  // namespace banyan::admission::receiver_credits
