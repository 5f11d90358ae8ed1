// A window that is cut by the share of packets that arrive marked: data center TCP, for networks that lose nothing.
#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "banyan/admission/parts/acknowledgments.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::dctcp {
namespace {

using config::Parameter;

struct Settings {
  parts::FlowIs flow = parts::FlowIs::destination;
  core::Carrier carrier;
  double gain = 0.0;     ///< g: weight of the last round in the estimate
  double packet = 1.0;   ///< flits of the longest packet: what a window grows by per round trip
  double initial = 1.0;  ///< window of a new flow, flits
  double least = 1.0;    ///< window, flits
};

class Dctcp final : public core::Admission {
 public:
  Dctcp(const Settings& settings, parts::Acknowledgments acknowledgments)
      : set_(settings), acknowledgments_(std::move(acknowledgments)) {}

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
    ends_[end].window = set_.initial;
    acknowledgments_.open(end);
  }
  void fetch(u32 end, bool) const noexcept override { __builtin_prefetch(&ends_[end]); }

  /// A packet that is longer than the window goes alone.
  [[nodiscard]] Tick may_send(u32 end, const core::Departure& next, Tick now) const noexcept override {
    const End& e = ends_[end];
    return e.in_flight == 0 || static_cast<double>(e.in_flight + next.flits) <= e.window ? now : kNever;
  }
  void sent(u32 end, const core::Departure& what, Tick, core::Pace&) noexcept override {
    ends_[end].in_flight += what.flits;
    ends_[end].sent += what.flits;
  }
  /// The receiver's state machine of section 3.1: an acknowledgment speaks of several packets only as long as all or
  /// none of them are marked, so that it goes at once with what came before a change.
  void arrived(u32 end, const core::Packet& packet, const core::Signals& signals, Tick now,
               core::Pace& pace) noexcept override {
    End& e = ends_[end];
    if (signals.marked != e.last_marked) acknowledgments_.flush(end, pace);
    e.last_marked = signals.marked;
    acknowledgments_.arrived(
        end, {.flits = packet.flits, .packets = 1, .marked = static_cast<u16>(signals.marked ? 1 : 0)}, now, pace);
  }
  void timer(u32 end, Tick now, core::Pace& pace) noexcept override { acknowledgments_.timer(end, now, pace); }
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    End& e = ends_[end];
    // A flow that does not use its window learns nothing about the network from it.
    const bool full = static_cast<double>(e.in_flight) + set_.packet > e.window;
    e.in_flight -= feedback.flits;
    e.acknowledged += feedback.flits;
    e.round += feedback.flits;
    if (feedback.marked != 0) {
      e.round_marked += feedback.flits;
      e.starting = false;
      if (!e.cut) e.window = std::max(set_.least, e.window * (1.0 - e.share / 2.0));  // equation 2
      e.cut = true;
    } else if (full && e.starting) {
      e.window += feedback.flits;
    } else if (full && !e.cut) {
      e.window += set_.packet * feedback.flits / e.window;
    }
    if (e.acknowledged >= e.round_end) end_round(e);
    pace.gate(end, now);
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    const End& e = ends_[end];
    Hasher h;
    for (const u64 v :
         {std::bit_cast<u64>(e.window), std::bit_cast<u64>(e.share), e.in_flight, e.sent, e.acknowledged, e.round,
          e.round_marked, e.round_end, u64{e.starting ? 1U : 0U} | (e.cut ? 2U : 0U) | (e.last_marked ? 4U : 0U),
          acknowledgments_.digest(end)}) {
      h.add(v);
    }
    return h.value();
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("{} flits of its window of {:.1f} are in flight", ends_[end].in_flight, ends_[end].window);
  }
  [[nodiscard]] std::string violation() const override {
    for (const End& e : ends_) {
      if (e.in_flight >> 63U != 0) return "dctcp was told of more arrivals than it has sent";
      if (e.share < 0.0 || e.share > 1.0) return "the share of marked packets that dctcp estimates is no share";
    }
    return {};
  }
  void archive(Archive& a) override { a(acknowledgments_, ends_); }

 private:
  struct End {
    double window = 0.0;
    double share = 1.0;  ///< alpha; 1 at first, so that the first mark halves the window
    u64 in_flight = 0;   ///< flits, as all below
    u64 sent = 0;
    u64 acknowledged = 0;
    u64 round = 0;  ///< acknowledged in this round trip
    u64 round_marked = 0;
    u64 round_end = 0;         ///< what is acknowledged when it is over
    bool starting = true;      ///< slow start: the window doubles in a round trip
    bool cut = false;          ///< in this round trip
    bool last_marked = false;  ///< receiver: the packet that arrived last was marked
  };

  void end_round(End& e) const noexcept {
    const double marked = static_cast<double>(e.round_marked) / static_cast<double>(e.round);
    e.share = (1.0 - set_.gain) * e.share + set_.gain * marked;  // equation 1
    e.round = e.round_marked = 0;
    e.round_end = e.sent;
    e.cut = false;
  }

  Settings set_;
  parts::Acknowledgments acknowledgments_;
  std::vector<End> ends_;  ///< [end]
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  Settings set;
  set.flow = parts::flow_is(values);
  set.carrier = parts::carrier(values);
  set.gain = values.real("gain");
  set.packet = context.longest_packet;
  set.initial = values.real("initial") * set.packet;
  set.least = values.real("least") * set.packet;
  if (set.least > set.initial) {
    values.fail("least",
                fmt::format("a window of {} packets at least, and a new flow has {}", values.real("least"),
                            values.real("initial")),
                fmt::format("use least = {} or less, or a larger initial", values.real("initial")));
  }
  return std::make_unique<Dctcp>(set, parts::acknowledgments(values, context, values.real("least")));
}

}  // namespace

extern const core::AdmissionRow row_dctcp;
const core::AdmissionRow row_dctcp{
    .info = {"dctcp", "A window per flow that is cut by the share of its packets that arrive marked",
             "M. Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; RFC 8257, 2017",
             parts::with_acknowledgments(
                 {parts::flow_parameter(),
                  Parameter::real("gain", 0.0625)
                      .above(0)
                      .range(0, 1)
                      .in_flight()
                      .doc("Weight of the last round trip in the estimate of the marked share (g; "
                           "1/16 in the paper and in RFC 8257)"),
                  Parameter::real("initial", 10.0)
                      .unit("packets")
                      .range(1, 1e6)
                      .doc("Window of a new flow, in longest packets (10 in RFC 6928)"),
                  Parameter::real("least", 2.0)
                      .unit("packets")
                      .range(1, 1e6)
                      .doc("Smallest window, in longest packets (2 in Linux)")},
                 2)},
    .make = &make,
    .needs_marks = true};

}  // namespace banyan::admission::dctcp
