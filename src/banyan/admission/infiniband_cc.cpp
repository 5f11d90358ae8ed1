// Delays between the packets of a flow, from a table through which notifications go up and a timer goes down:
// congestion control of InfiniBand.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "banyan/admission/parts/carrier.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/admission/parts/times.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"
#include "banyan/core/notification.hpp"

namespace banyan::admission::infiniband_cc {
namespace {

using config::Parameter;

constexpr u32 kShiftBits = 14;  ///< of a table entry: the shift stands above its multiplier
constexpr u32 kMostShift = 3;
constexpr u32 kMostMultiplier = (1U << kShiftBits) - 1;
constexpr i64 kMostEntry = 65'535;

struct Settings {
  parts::FlowIs flow = parts::FlowIs::destination;
  core::Carrier carrier;
  u32 increase = 1;           ///< CCTI_Increase
  u32 limit = 127;            ///< CCTI_Limit
  u32 least = 0;              ///< CCTI_Min
  Tick timer = 1;             ///< CCTI_Timer
  std::vector<double> table;  ///< [index]: delay in transmission times of the packet
};

class InfinibandCc final : public core::Admission, public core::HearsSwitches {
 public:
  InfinibandCc(Settings settings, const core::AdmissionContext& context)
      : set_(std::move(settings)), context_(context), of_terminal_(context.terminals), due_(context.terminals) {}

  void begin() override {
    ends_.clear();
    for (std::vector<u32>& raised : of_terminal_) raised.clear();
    std::fill(due_.begin(), due_.end(), 0);
  }
  [[nodiscard]] core::Carrier carrier() const noexcept override { return set_.carrier; }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(set_.flow, member);
  }
  void open(u32 end, const core::FlowEnd& what) override {
    ends_.resize(std::size_t{end} + 1);
    ends_[end].terminal = what.terminal;
    ends_[end].index = set_.least;
  }
  void fetch(u32 end, bool at_source) const noexcept override {
    if (at_source) __builtin_prefetch(&ends_[end]);
  }

  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return std::max(ends_[end].next, now);
  }
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    End& e = ends_[end];
    const double delay = set_.table[e.index];
    if (delay <= 0.0) return;
    const double transmission = static_cast<double>(context_.injection_cycles(e.terminal, what.flits));
    e.next = now + static_cast<Tick>(std::ceil(transmission * (1.0 + delay)));
  }

  /// The forward notification of a packet goes back, one for every packet that arrives marked.
  void arrived(u32 end, const core::Packet&, const core::Signals& signals, Tick, core::Pace& pace) noexcept override {
    if (signals.marked) pace.tell(end, {.packets = 1, .marked = 1});
  }
  /// A receiver or a switch said something. The delay of the packet that left last stands; the next one gets that of
  /// the higher index.
  void heard(u32 end, const core::Feedback&, Tick now, core::Pace& pace) noexcept override {
    End& e = ends_[end];
    const u32 index = std::min(e.index + set_.increase, set_.limit);
    if (index == e.index) return;
    std::vector<u32>& raised = of_terminal_[e.terminal];
    if (raised.empty()) start_timer(e.terminal, now, pace);
    if (e.index == set_.least) raised.push_back(end);
    e.index = index;
  }
  /// The timer of the terminal lowers all its flows. It runs as long as one of them is above the minimum.
  void clock(u32 terminal, Tick now, core::Pace& pace) noexcept override {
    if (now != due_[terminal]) return;  // of a timer that goes_on() has cut short
    std::vector<u32>& raised = of_terminal_[terminal];
    for (const u32 end : raised) --ends_[end].index;
    std::erase_if(raised, [&](u32 end) { return ends_[end].index == set_.least; });
    if (!raised.empty()) start_timer(terminal, now, pace);
  }
  void goes_on(Tick from, core::Pace& pace) noexcept override {
    for (u32 terminal = 0; terminal < due_.size(); ++terminal) {
      if (!of_terminal_[terminal].empty() && due_[terminal] > from + set_.timer) start_timer(terminal, from, pace);
    }
  }

  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    return mix64(mix64(ends_[end].next + 1) + ends_[end].index);
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    const End& e = ends_[end];
    return fmt::format("its next packet leaves at tick {}, and the one behind it {:.4g} transmission times later",
                       e.next, 1.0 + set_.table[e.index]);
  }
  [[nodiscard]] std::string violation() const override {
    for (const End& e : ends_) {
      if (e.index < set_.least || e.index > set_.limit)
        return fmt::format("infiniband_cc has an index of {}, and its table those from {} to {}", e.index, set_.least,
                           set_.limit);
    }
    return {};
  }
  void archive(Archive& a) override { a(ends_, of_terminal_, due_); }

 private:
  void start_timer(u32 terminal, Tick now, core::Pace& pace) noexcept {
    due_[terminal] = now + set_.timer;
    pace.wake_terminal(terminal, due_[terminal]);
  }

  struct End {
    u32 terminal = 0;
    u32 index = 0;  ///< CCTI
    Tick next = 0;  ///< when the next packet may leave
  };

  Settings set_;
  core::AdmissionContext context_;
  std::vector<End> ends_;                      ///< [end]; of receiving ends nothing changes
  std::vector<std::vector<u32>> of_terminal_;  ///< [terminal]: ends whose index is above the minimum
  std::vector<Tick> due_;                      ///< [terminal]: when its timer is over, where it runs
};

/// An entry of 16 bits: the transmission time, shifted right by the upper two, times the lower fourteen.
double delay_of(i64 entry) {
  return static_cast<double>(entry & kMostMultiplier) / static_cast<double>(1U << (entry >> kShiftBits));
}

/// Entries grow evenly; without a step the last one leaves every terminal an equal share of a link.
std::vector<double> table_of(const config::Values& values, u32 limit, u32 terminals) {
  const std::vector<i64>& entries = values.integers("cct");
  std::vector<double> table;
  for (const i64 entry : entries) {
    if (entry < 0 || entry > kMostEntry) {
      values.fail("cct", fmt::format("{} is no entry of 16 bits", entry),
                  fmt::format("use entries from 0 to {}: 16384 times the shift, and the multiplier", kMostEntry));
    }
    table.push_back(delay_of(entry));
  }
  if (!entries.empty()) {
    table.resize(std::size_t{limit} + 1, table.back());
    return table;
  }
  const double step = values.real("cct_step") > 0.0 ? values.real("cct_step") : (terminals - 1.0) / std::max(1U, limit);
  constexpr double kParts = 1U << kMostShift;
  for (u32 index = 0; index <= limit; ++index) {
    const double parts = std::round(index * step * kParts);
    const double whole = std::min(std::round(index * step), static_cast<double>(kMostMultiplier));
    table.push_back(parts <= kMostMultiplier ? parts / kParts : whole);
  }
  return table;
}

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  Settings set;
  set.flow = parts::flow_is(values);
  set.carrier = parts::carrier(values);
  set.increase = values.natural("ccti_increase");
  set.limit = values.natural("ccti_limit");
  set.least = values.natural("ccti_min");
  set.timer = parts::ticks_of(values.real("ccti_timer"), parts::cycle_ns(values, context));
  if (set.least > set.limit) {
    values.fail("ccti_min", fmt::format("the lowest index is {}, and the highest {}", set.least, set.limit),
                fmt::format("use ccti_min = {} or less, or a higher ccti_limit", set.limit));
  }
  set.table = table_of(values, set.limit, context.terminals);
  return std::make_unique<InfinibandCc>(std::move(set), context);
}

}  // namespace

extern const core::AdmissionRow row_infiniband_cc;
const core::AdmissionRow row_infiniband_cc{
    .info =
        {"infiniband_cc",
         "Delays between packets from a table, through which notifications of marked packets go up and a timer down",
         "InfiniBand Architecture Specification, volume 1, release 1.2.1, annex A10 (Congestion Control), 2007; M. "
         "Gusat et al., Congestion Control in InfiniBand Networks, HOTI 2005; E. G. Gran et al., First Experiences "
         "with Congestion Control in InfiniBand Hardware, IPDPS 2010",
         parts::with_carrier(
             {parts::flow_parameter(), parts::cycle_parameter(),
              Parameter::integer("ccti_increase", 1)
                  .range(1, 255)
                  .in_flight()
                  .doc(
                      "What a notification raises the index of its flow by (CCTI_Increase; 1 in Gran et al. and in the "
                      "Congestion Control Manager of OFED)"),
              Parameter::integer("ccti_limit", 127)
                  .range(0, 65'535)
                  .doc("Highest index (CCTI_Limit; 127 in Gran et al.: a table of two blocks of 64)"),
              Parameter::integer("ccti_min", 0)
                  .range(0, 255)
                  .doc("Lowest index, below which the timer lowers none (CCTI_Min; 0 in Gran et al. and in OFED)"),
              Parameter::real("ccti_timer", 153'600.0)
                  .unit("ns")
                  .above(0)
                  .range(0, 1e12)
                  .in_flight()
                  .doc("Period with which indices fall by one (CCTI_Timer; 150 in Gran et al., in units of 1.024 us)"),
              Parameter::integers("cct", {}).doc(
                  "Entries of the table from index 0 on, as the specification has them: 16384 times a shift, and a "
                  "multiplier; the last one stands for all above. Empty: entries that grow by cct_step"),
              Parameter::real("cct_step", 1.0)
                  .only_with("cct", {"[]"})
                  .unit("packets")
                  .range(0, 1000)
                  .in_flight()
                  .doc("What the delay grows by per index, in transmission times of the packet, to eighths; 0: the "
                       "highest index leaves every terminal an equal share of a link")})},
    .make = &make,
    .needs_marks = true,
    .open_until_told = true};

}  // namespace banyan::admission::infiniband_cc
