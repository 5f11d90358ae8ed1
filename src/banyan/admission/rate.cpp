// A fixed rate: the packets of a flow leave their source no closer than a fraction of the channel allows.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "banyan/admission/parts/flow_key.hpp"
#include "banyan/base/archive.hpp"
#include "banyan/base/hash.hpp"

namespace banyan::admission::rate {
namespace {

using config::Parameter;

/// Time is counted in parts of a tick, so that any rate is kept exactly in the long run.
constexpr u32 kPartBits = 20;

class Rate final : public core::Admission {
 public:
  Rate(parts::FlowIs flow, double rate)
      : flow_(flow), rate_(rate), parts_per_flit_(static_cast<u64>(std::llround(std::ldexp(1.0, kPartBits) / rate))) {}

  void begin() override { next_.clear(); }
  [[nodiscard]] u64 flow_key(const core::FlowMember& member) const noexcept override {
    return parts::flow_key(flow_, member);
  }
  void open(u32 end, const core::FlowEnd&) override { next_.resize(std::size_t{end} + 1); }

  [[nodiscard]] Tick may_send(u32 end, const core::Departure&, Tick now) const noexcept override {
    return std::max(first_tick(end), now);
  }
  /// A packet that leaves at the first tick that it may leaves at its exact time, whatever the rounding. What a flow
  /// did not use is lost: it never sends a burst afterwards.
  void sent(u32 end, const core::Departure& what, Tick now, core::Pace&) noexcept override {
    if (first_tick(end) < now) next_[end] = now << kPartBits;
    next_[end] += what.flits * parts_per_flit_;
  }

  [[nodiscard]] u64 digest(u32 end) const noexcept override { return mix64(next_[end] + 1); }
  [[nodiscard]] std::string explain(u32 end) const override {
    return fmt::format("its next packet leaves at tick {}, at {} flits per cycle", next_[end] >> kPartBits, rate_);
  }
  void archive(Archive& a) override { a(next_); }

 private:
  [[nodiscard]] Tick first_tick(u32 end) const noexcept {
    return (next_[end] + (u64{1} << kPartBits) - 1) >> kPartBits;
  }

  parts::FlowIs flow_;
  double rate_;
  u64 parts_per_flit_;
  std::vector<u64> next_;  ///< [end]: parts of ticks, when the next packet may leave; of receiving ends 0
};

std::unique_ptr<core::Admission> make(const config::Values& values, const core::AdmissionContext&) {
  return std::make_unique<Rate>(parts::flow_is(values), values.real("rate"));
}

}  // namespace

extern const core::AdmissionRow row_rate;
const core::AdmissionRow row_rate{
    .info = {"rate",
             "The packets of a flow leave their source at no more than a fixed rate",
             "M. Gerla, L. Kleinrock, Flow Control: A Comparative Survey, IEEE Transactions on Communications 28(4), "
             "1980, section V (input rates at the network access)",
             {parts::flow_parameter(), Parameter::real("rate", 1.0)
                                           .unit("flits/cycle")
                                           .range(1e-6, 1.0)
                                           .doc("Most flits of a flow per cycle; what it does not use is lost")}},
    .make = &make};

}  // namespace banyan::admission::rate
