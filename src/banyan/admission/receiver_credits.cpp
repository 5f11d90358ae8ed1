// Receivers grant: sources request what they have queued, and every receiver grants it at a pace of its own, in
// turn to the flows that want something.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "banyan/admission/parts/carrier.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/admission/parts/times.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::receiver_credits {
namespace {

using config::Parameter;

enum Kind : u8 { kRequest, kGrant };

/// Time is counted in parts of a tick, so that any rate is kept exactly in the long run.
constexpr u32 kPartBits = 20;

struct Settings {
  core::Carrier carrier;
  double rate = 1.0;        ///< of the receiver's link
  u32 window = 0;           ///< flits; 0: by the round trip of the pair
  bool unsolicited = true;  ///< the first window of a flow leaves without a grant
};

class ReceiverCredits final : public core::Admission {
 public:
  ReceiverCredits(const Settings& settings, const core::AdmissionContext& context)
      : set_(settings),
        context_(context),
        parts_per_cycle_(static_cast<u64>(std::ceil(std::ldexp(1.0, kPartBits) / settings.rate))),
        parts_of_state_(parts_per_cycle_),
        receivers_(context.terminals) {}

  [[nodiscard]] core::Carrier carrier() const noexcept override { return set_.carrier; }

  void begin() override {
    ends_.clear();
    for (Receiver& r : receivers_) r = {};
  }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(parts::FlowIs::destination, member);
  }
  void open(u32 end, const core::FlowEnd& what) override {
    ends_.resize(std::size_t{end} + 1);
    End& e = ends_[end];
    e.what = what;
    if (multicast(end)) return;
    const bool source = e.what.at_source;
    e.trip = context_.round_trip
                 ? context_.round_trip(source ? what.terminal : what.peer, source ? what.peer : what.terminal)
                 : 1;
    e.window = set_.window != 0
                   ? set_.window
                   : window_of(source ? what.terminal : what.peer, source ? what.peer : what.terminal, e.trip);
    e.balance = set_.unsolicited ? e.window : 0;
    if (source) return;
    u32& share = receivers_[what.terminal].share;
    share = std::min(share, static_cast<u32>((e.window + 1) / 2));
  }

  // --- at the source -------------------------------------------------------------------------------------------
  void queued(u32 end, u32 flits, Tick, core::Pace& pace) noexcept override {
    if (!set_.unsolicited) pace.tell(end, {.flits = flits, .kind = kRequest});
  }
  void fetch(u32 end, bool) const noexcept override { __builtin_prefetch(&ends_[end]); }
  /// A packet leaves once its first flit is granted; the grants that follow pay for the others. So no length of a
  /// packet or of a window can leave a flow with grants that are too short for what comes next.
  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return multicast(end) || ends_[end].balance > 0 ? now : kNever;
  }
  void sent(u32 end, const core::Departure& what, Tick, core::Pace&) noexcept override {
    if (!multicast(end)) ends_[end].balance -= what.flits;
  }

  // --- at the receiver -----------------------------------------------------------------------------------------
  /// What arrives unsolicited asks to be granted: it needs no requests. A packet that took more than four round trips
  /// has waited for others than those of its own grant: the first windows of many meet, and half of the rate lets them
  /// drain.
  void arrived(u32 end, const core::Packet& packet, const core::Signals&, Tick now,
               core::Pace& pace) noexcept override {
    if (multicast(end)) return;
    End& e = ends_[end];
    Receiver& r = receivers_[e.what.terminal];
    r.longest = std::max<u32>(r.longest, packet.flits);
    e.balance -= packet.flits;
    if (set_.unsolicited) {
      e.wanted += packet.flits;
      ++e.packets;
      // One of several that arrive in one tick, in any order, is enough.
      const bool first = std::exchange(r.slow_at, now) != now;
      r.slow = now - packet.enter > 4 * e.trip || (r.slow && !first);
    } else {
      // A grant pays for the overhead of one packet; where it let more of them go, that is paid for now.
      if (e.paid == 0)
        r.next = std::max(r.next, now << kPartBits) + context_.ejection_cycles(e.what.terminal, 0) * parts_per_cycle_;
      if (e.paid != 0) --e.paid;
      e.paid = std::min(e.paid, static_cast<u64>(std::max<i64>(e.balance, 0)));
    }
    join(end, now, pace);
  }
  void clock(u32 terminal, Tick now, core::Pace& pace) noexcept override {
    Receiver& r = receivers_[terminal];
    if (now != r.due) return;  // of a wait that goes_on() has cut short
    r.clock_runs = false;
    if (r.wanting.empty()) return;
    auto turn = std::upper_bound(r.wanting.begin(), r.wanting.end(), r.last,
                                 [&](const Place& last, u32 other) { return last < place(other); });
    if (turn == r.wanting.end()) turn = r.wanting.begin();
    const u32 next = *turn;
    End& e = ends_[next];
    const i64 most = set_.unsolicited ? i64{r.share} : std::min<i64>(r.longest, e.window - e.balance);
    const u32 flits = static_cast<u32>(std::min<i64>(most, static_cast<i64>(e.wanted)));
    const u64 packets = std::max<u64>((e.packets * flits + e.wanted - 1) / e.wanted, 1);
    const u64 cycles =
        context_.ejection_cycles(terminal, flits) + (packets - 1) * context_.ejection_cycles(terminal, 0);
    e.wanted -= flits;
    e.balance += flits;
    e.packets -= std::min(e.packets, packets);
    if (!set_.unsolicited) ++e.paid;
    r.last = place(next);
    if (!may_have(e)) r.wanting.erase(turn);
    // A grant that is made at the first tick that allows it counts from its exact time; what was not granted is lost.
    if (first_tick(r) < now) r.next = now << kPartBits;
    r.next += (r.slow ? 2 : 1) * cycles * parts_per_cycle_;
    pace.tell(next, {.flits = flits, .kind = kGrant});
    start(terminal, now, pace);
  }

  /// What is left of a wait for the next grant is at the new rate, where that is higher.
  void goes_on(Tick from, core::Pace& pace) noexcept override {
    const u64 before = std::exchange(parts_of_state_, parts_per_cycle_);
    if (parts_per_cycle_ >= before) return;
    for (u32 terminal = 0; terminal < receivers_.size(); ++terminal) {
      Receiver& r = receivers_[terminal];
      r.next = parts::sooner(r.next, from << kPartBits, before, parts_per_cycle_);
      if (!r.clock_runs || r.due <= std::max(from + 1, first_tick(r))) continue;
      r.clock_runs = false;
      start(terminal, from, pace);
    }
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
    h.add(e.packets ^ e.paid << 32U);
    if (!e.what.at_source) {
      const Receiver& r = receivers_[e.what.terminal];
      for (const u64 v :
           {r.next, u64{r.longest}, u64{std::get<0>(r.last)}, std::get<1>(r.last), u64{r.clock_runs}, u64{r.slow}})
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
      if (e.balance > e.window)
        return fmt::format("{} flits are granted at once, of a window of {}", e.balance, e.window);
    }
    return {};
  }
  void archive(Archive& a) override { a(ends_, receivers_, parts_of_state_); }

 private:
  using Place = std::tuple<u32, u64>;  ///< source, key: the order in which flows take turns
  struct End {
    core::FlowEnd what;
    Tick trip = 1;    ///< round trip without load
    i64 window = 0;   ///< flits
    i64 balance = 0;  ///< at the source: grants heard less flits sent; at the receiver: granted less arrived
    u64 wanted = 0;   ///< at the receiver: requested, or arrived unsolicited, and not granted
    u64 packets = 0;  ///< that it arrived in
    u64 paid = 0;     ///< at the receiver, of what was requested: packets whose overhead was granted before they came
  };
  struct Receiver {
    u64 next = 0;               ///< parts of ticks: when it may grant again
    u32 share = kNone;          ///< of what came unsolicited a turn grants so much: half of the smallest window here
    u32 longest = 1;            ///< packet that has arrived: a grant of what was requested is as long
    bool clock_runs = false;    ///< a timer is set
    Tick due = 0;               ///< when it is over
    bool slow = false;          ///< what arrived last, unsolicited, had waited in the network
    Tick slow_at = kNever;      ///< when that was
    Place last{kNone, ~u64{}};  ///< who had the last turn; at first the flow of the lowest source begins
    std::vector<u32> wanting;   ///< ends that may be granted something, by their place

    void archive(Archive& a) { a(next, share, longest, clock_runs, due, slow, slow_at, last, wanting); }
  };

  [[nodiscard]] bool multicast(u32 end) const noexcept { return static_cast<u32>(ends_[end].what.key) == kNone; }
  [[nodiscard]] Place place(u32 end) const noexcept { return {ends_[end].what.peer, ends_[end].what.key}; }
  /// What arrived unsolicited is granted from half a window on: the other half keeps the source going meanwhile.
  [[nodiscard]] bool may_have(const End& e) const noexcept {
    return set_.unsolicited ? static_cast<i64>(e.wanted) >= (e.window + 1) / 2 : e.wanted != 0 && e.balance < e.window;
  }
  /// Twice what the slower of the two links of a pair carries in its round trip, in whole packets.
  [[nodiscard]] i64 window_of(u32 source, u32 destination, Tick trip) const {
    const u32 flits = context_.longest_packet;
    const u64 cycles = std::max(context_.injection_cycles(source, flits), context_.ejection_cycles(destination, flits));
    return static_cast<i64>(std::max<u64>((2 * trip + cycles - 1) / cycles, 2) * flits);
  }
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
    r.due = std::max(now + 1, first_tick(r));
    pace.wake_terminal(terminal, r.due);
  }

  Settings set_;
  core::AdmissionContext context_;
  u64 parts_per_cycle_;
  u64 parts_of_state_;  ///< those of what was archived
  std::vector<End> ends_;
  std::vector<Receiver> receivers_;  ///< [terminal]
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  return std::make_unique<ReceiverCredits>(Settings{.carrier = parts::carrier(values),
                                                    .rate = values.real("rate"),
                                                    .window = values.natural("window"),
                                                    .unsolicited = values.flag("unsolicited")},
                                           context);
}

}  // namespace

extern const core::AdmissionRow row_receiver_credits;
const core::AdmissionRow row_receiver_credits{
    .info =
        {"receiver_credits", "Every receiver grants what sources request, in turn and at a pace of its own",
         "M. Handley et al., Re-architecting datacenter networks and stacks for low latency and high performance, "
         "SIGCOMM 2017 (NDP); V. Olteanu et al., An edge-queued datagram service for all datacenter traffic, NSDI "
         "2022 (EQDS); B. Montazeri et al., Homa, SIGCOMM 2018",
         parts::with_carrier(
             {Parameter::real("rate", 0.95)
                  .range(1e-6, 1.0)
                  .in_flight()
                  .doc("Share of its link that a receiver grants; the rest drains what came unsolicited, and is "
                       "room for requests and grants"),
              Parameter::integer("window", 0)
                  .unit("flits")
                  .range(0, 1'000'000'000)
                  .doc("Most flits of a flow that are granted and have not arrived; 0: twice what the slower link "
                       "of source and receiver carries in the pair's round trip without load"),
              Parameter::boolean("unsolicited", true)
                  .doc("Whether the first window of a flow leaves at once, and what arrives asks for the next grants; "
                       "false: nothing leaves before it was requested and granted")})},
    .make = &make};

}  // namespace banyan::admission::receiver_credits
