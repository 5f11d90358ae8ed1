// A fixed window: so many flits or packets of a flow may be in flight, from when they leave their source until the
// source hears that they arrived.
#include <fmt/core.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "banyan/admission/parts/acknowledgments.hpp"
#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::window {
namespace {

using config::Parameter;

class Window final : public core::Admission {
 public:
  Window(parts::FlowIs flow, core::Carrier carrier, parts::Acknowledgments acknowledgments, u64 size, bool packets)
      : flow_(flow), carrier_(carrier), acknowledgments_(std::move(acknowledgments)), size_(size), packets_(packets) {}

  [[nodiscard]] core::Carrier carrier() const noexcept override { return carrier_; }

  void begin() override {
    in_flight_.clear();
    acknowledgments_.begin();
  }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(flow_, member);
  }
  void open(u32 end, const core::FlowEnd&) override {
    in_flight_.resize(std::size_t{end} + 1);
    acknowledgments_.open(end);
  }

  /// A packet that is longer than the window goes alone.
  [[nodiscard]] Tick may_send(u32 end, const core::Departure& next, Tick now) const noexcept override {
    return in_flight_[end] == 0 || in_flight_[end] + units(next.flits, 1) <= size_ ? now : kNever;
  }
  void sent(u32 end, const core::Departure& what, Tick, core::Pace&) noexcept override {
    in_flight_[end] += units(what.flits, 1);
  }
  void arrived(u32 end, const core::Packet& packet, const core::Signals&, Tick now,
               core::Pace& pace) noexcept override {
    acknowledgments_.arrived(end, {.flits = packet.flits, .packets = 1}, now, pace);
  }
  void timer(u32 end, Tick now, core::Pace& pace) noexcept override { acknowledgments_.timer(end, now, pace); }
  void heard(u32 end, const core::Feedback& feedback, Tick now, core::Pace& pace) noexcept override {
    in_flight_[end] -= units(feedback.flits, feedback.packets);
    pace.gate(end, now);
  }

  [[nodiscard]] bool ends_are_apart() const noexcept override { return true; }
  [[nodiscard]] u64 digest(u32 end) const noexcept override {
    return mix64(in_flight_[end] + 1) + acknowledgments_.digest(end);
  }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("{} of the {} {} of its window are in flight", in_flight_[end], size_,
                       packets_ ? "packets" : "flits");
  }
  [[nodiscard]] std::string violation() const override {
    for (const u64 units : in_flight_) {
      if (units >> 63U != 0) return "a window was told of more arrivals than it has sent";
    }
    return {};
  }
  void archive(Archive& a) override { a(acknowledgments_, in_flight_); }

 private:
  [[nodiscard]] u64 units(u32 flits, u32 packets) const noexcept { return packets_ ? packets : flits; }

  parts::FlowIs flow_;
  core::Carrier carrier_;
  parts::Acknowledgments acknowledgments_;
  u64 size_;
  bool packets_;
  std::vector<u64> in_flight_;  ///< [end], flits or packets; of receiving ends 0
};

/// What the fastest link of a source carries in twice the longest round trip without load.
u64 size_of(const core::AdmissionContext& context, bool packets) {
  u64 cycles = context.injection_cycles(0, context.longest_packet);
  for (u32 t = 1; t < context.terminals; ++t)
    cycles = std::min(cycles, context.injection_cycles(t, context.longest_packet));
  const u64 in_packets = std::max<u64>((2 * context.longest() + cycles - 1) / cycles, 2);
  return packets ? in_packets : in_packets * context.longest_packet;
}

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext& context) {
  const bool packets = values.text("unit") == "packets";
  const u64 given = values.natural("size");
  const u64 size = given != 0 ? given : size_of(context, packets);
  const double half = static_cast<double>(size) / (packets ? 2.0 : 2.0 * context.longest_packet);
  return std::make_unique<Window>(parts::flow_is(values), parts::carrier(values),
                                  parts::acknowledgments(values, context, half), size, packets);
}

}  // namespace

extern const core::AdmissionRow row_window;
const core::AdmissionRow row_window{
    .info = {"window", "At most a fixed number of flits or packets of a flow are in flight",
             "M. Gerla, L. Kleinrock, Flow Control: A Comparative Survey, IEEE Transactions on Communications 28(4), "
             "1980, section IV (end-to-end windows)",
             parts::with_acknowledgments(
                 {parts::flow_parameter(),
                  Parameter::integer("size", 0)
                      .range(0, 1'000'000'000)
                      .in_flight()
                      .doc("Most units in flight per flow; a packet that is longer goes alone. 0: what "
                           "a source's link carries in twice the longest round trip without load"),
                  Parameter::choice("unit", {"flits", "packets"}, "flits").doc("What `size` counts")},
                 2)},
    .make = &make};

}  // namespace banyan::admission::window
